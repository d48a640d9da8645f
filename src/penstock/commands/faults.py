"""`penstock faults`: do the tests see what they are for?"""

from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def faults(
    place: Annotated[
        str | None,
        typer.Argument(
            help="blocks/queue, queue, designs, engine, ..., or one fault: queue:NAME; a commit with --changed.", show_default=False
        ),
    ] = None,
    changed: Annotated[
        bool,
        typer.Option(
            "--changed", help="Faults in files that differ from a commit (default: where main was left), and mutants of the lines."
        ),
    ] = False,
    only_list: Annotated[bool, typer.Option("--list", help="Only say which faults there are.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Try those again whose outcome is known.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Faults at a time, each in a copy of its own; default: one, or one a core with --changed."),
    ] = None,
    most: Annotated[int, typer.Option("--most", min=0, help="With --changed: mutants that are tried, drawn at random.")] = 24,
    minutes: Annotated[float, typer.Option("--minutes", min=0.1, help="With --changed: time after which no more is tried.")] = 10,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Plant faults in a copy of the sources, and see tests turn red: those of the register, or those of a change (--changed).

    Outcomes are kept until a source changes that matters; Ctrl-C at any time, the next call goes on.
    """
    import json
    import os

    from penstock.basics import groups
    from penstock.faults import planting, progress, register
    from penstock.faults.summary import SCHEMA, lines, listing, summary
    from penstock.paths import need_checkout

    need_checkout("faults")
    groups.need("faults")
    try:
        if changed:
            raise typer.Exit(_changed(place, only_list, again, jobs or len(os.sched_getaffinity(0)), most, minutes, json_output))
        found = [fault for fault in register.chosen(register.read(), place) if not fault.equivalent]
        head = {"schema": SCHEMA, "seed": planting.seed(), "config": {"place": place}}
        if only_list:
            print(json.dumps(head | {"faults": [fault.as_json() for fault in found]}) if json_output else "\n".join(listing(found)))
            return
        outcomes = progress.tried(found, again, jobs or 1)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    print(json.dumps(head | summary(found, outcomes)) if json_output else "\n".join(lines(found, outcomes)))
    if any(outcome.outcome not in (planting.KILLED, planting.SKIPPED) for outcome in outcomes.values()):
        raise typer.Exit(1)


def _changed(revision: str | None, only_list: bool, again: bool, jobs: int, most: int, minutes: float, json_output: bool) -> int:
    """Try the faults of a change and return the exit status."""
    import json
    import time

    from penstock.command_line.console import console, working
    from penstock.errors import UserError
    from penstock.faults import planting, progress, register
    from penstock.faults.changed import campaign
    from penstock.faults.summary import SCHEMA, changed_lines, changed_summary
    from penstock.graph import changes

    until = time.monotonic() + 60 * minutes
    found = changes.since(planting.ROOT, revision)
    screen = console()
    with planting.opened(jobs, lambda: screen.print("penstock: another call is planting faults; waiting for it")) as laboratory:
        seed = planting.seed() or 1
        with working("Looking for the tests of what has changed"):
            plan = campaign(laboratory.graph, register.read(), found, most, seed)
        head = {"schema": SCHEMA, "seed": seed, "config": {"since": found.since, "most": most, "minutes": minutes}}
        outcomes = {}
        if not only_list:
            outcomes = progress.tried_in(laboratory, plan.faults, again, jobs, quickly=True, until=until)
    red = [outcome.words for outcome in outcomes.values() if outcome.words.startswith(planting.RED_ANYWAY)]
    if red and len(red) == len(outcomes):
        raise UserError(f"nothing can be said of this change: {red[0]}; mend the tests first")
    print(
        json.dumps(head | changed_summary(found, plan, outcomes)) if json_output else "\n".join(changed_lines(found, plan, outcomes, seed))
    )
    return int(any(outcome.outcome in (planting.SURVIVED, planting.STALE) for outcome in outcomes.values()))
