"""`penstock figures`: the measured numbers of the pages."""

from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def figures(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A topic (core), or one of its tables (core.rates); all unless given.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Measure again what takes seconds, write nothing, and compare.")] = False,
    slow: Annotated[bool, typer.Option("--slow", help="With --check: also all whose sources have changed (hours).")] = False,
    again: Annotated[bool, typer.Option("--again", help="Also measure what was measured with the same sources.")] = False,
    missing: Annotated[bool, typer.Option("--missing", help="Only measure what has no result yet.")] = False,
    only_list: Annotated[bool, typer.Option("--list", help="Only say which there are, and how long they take.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=64, help="Commands at a time.")] = 1,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure the numbers that the pages show, and write them into result files and pages; or check that all of them still hold.

    Exit status of --check: 1 when a number, a setting, a page or a result file is not as it should be. Ctrl-C keeps what was measured.
    """
    import functools
    import json

    from penstock.basics import groups
    from penstock.command_line.console import console
    from penstock.errors import UserError
    from penstock.figures import listing, progress
    from penstock.figures.work import SCHEMA, Work
    from penstock.paths import need_checkout

    need_checkout("figures")
    groups.need("figures")
    if slow and not check:
        raise UserError("--slow: only --check leaves something out; without it everything is measured")
    if missing and (check or again):
        raise UserError(f"--missing: goes without {'--check' if check else '--again'}")
    work = Work(name, again)
    head = {"schema": SCHEMA, "config": {"name": name, "check": check, "slow": slow}}
    if only_list:
        print(json.dumps(head | {"topics": listing.as_json(work)}) if json_output else "\n".join(listing.lines(work)))
        return
    try:
        run = functools.partial(progress.run, jobs)
        report = work.compare(run, slow) if check else work.write(run, missing)
    except KeyboardInterrupt:
        if work.ended:
            console().print(f"penstock: interrupted; what was measured ({len(work.ended)}) is kept, and the next call goes on")
        raise typer.Exit(130) from None
    print(json.dumps(head | report) if json_output else "\n".join(listing.of_check(report) if check else listing.of_writing(report)))
    if report.get("red") or report["failed"]:
        raise typer.Exit(1)
