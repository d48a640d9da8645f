"""`penstock faults`: do the tests see what they are for?"""

from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def faults(
    place: Annotated[
        str | None, typer.Argument(help="blocks/queue, queue, designs, engine, ..., or one fault: queue:NAME.", show_default=False)
    ] = None,
    only_list: Annotated[bool, typer.Option("--list", help="Only say which faults there are.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Try those again whose outcome is known.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Faults at a time, each in a copy of its own.")] = 1,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Plant each fault of the register in a copy of the sources, and see its tests turn red.

    Outcomes are kept until a source changes that matters; Ctrl-C at any time, the next call goes on.
    """
    import json

    from penstock.faults import planting, progress, register
    from penstock.faults.summary import SCHEMA, lines, listing, summary
    from penstock.paths import need_checkout

    need_checkout("faults")
    found = register.chosen(register.read(), place)
    head = {"schema": SCHEMA, "seed": planting.seed(), "config": {"place": place}}
    if only_list:
        print(json.dumps(head | {"faults": [fault.as_json() for fault in found]}) if json_output else "\n".join(listing(found)))
        return
    try:
        outcomes = progress.tried(found, again, jobs)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    print(json.dumps(head | summary(found, outcomes)) if json_output else "\n".join(lines(found, outcomes)))
    if any(outcome.outcome not in (planting.KILLED, planting.SKIPPED) for outcome in outcomes.values()):
        raise typer.Exit(1)
