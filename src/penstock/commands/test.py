"""`penstock test`: the test suite."""

from typing import Annotated

import typer

from penstock.commands import app


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def test(
    context: typer.Context,
    slow: Annotated[bool, typer.Option("--slow", help="Run the long tests as well.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Run what fits into five minutes, and say what is left out.")] = False,
    changed: Annotated[
        bool,
        typer.Option("--changed", help="Run the tests of what differs from a commit, the next word; default: from where main was left."),
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Run what is known to pass, too (proofs, simulations, devices).")] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-n", min=0, help="Files under test at a time; default: one for each core, or 1 when something is given to pytest."
        ),
    ] = None,
) -> None:
    """Run the tests: blocks, designs, engine and workbench. What else is given goes to pytest (-k NAME, -x, a file, ...)."""
    import os
    import sys
    import time
    from pathlib import Path

    from penstock.basics import children, groups
    from penstock.engine import engine
    from penstock.errors import UserError
    from penstock.paths import ROOT, need_checkout, tool_environment
    from penstock.testing import basis, verdicts

    need_checkout("test")
    os.environ[basis.BEGAN] = str(time.time())
    groups.need("test")
    if slow and quick:
        raise UserError("--slow runs all tests and --quick as many as fit into five minutes: give one of them")
    given = list(context.args)
    chosen: list[str] = []
    if changed:
        chosen = _of_a_change(given)
        if not chosen:
            return
    engine.build(lambda line: print(f"penstock: {line}", file=sys.stderr))

    def absolute(argument: str) -> str:
        # pytest runs at the root of the repository, where its settings are; paths are the caller's.
        path, separator, name = argument.partition("::")
        return f"{Path(path).resolve()}{separator}{name}" if path and not path.startswith("-") and Path(path).exists() else argument

    arguments = [absolute(argument) for argument in given]
    os.chdir(ROOT)
    sys.stdout.flush()
    if jobs is None:
        jobs = 1 if arguments else len(os.sched_getaffinity(0))
    side_by_side = ["-n", str(jobs), "--dist", "loadscope"] if jobs > 1 else []
    command = [sys.executable, "-m", "pytest", *side_by_side, *(["-m", ""] if slow else []), *(["--quick"] if quick else []), *arguments]
    command += chosen
    environment = tool_environment() | ({verdicts.AGAIN: "1"} if again else {})
    # The tests start Python some thousand times: what it compiles is kept.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if {"--pdb", "--trace"} & set(arguments):  # the debugger needs the terminal
        os.execve(sys.executable, command, environment)
    raise typer.Exit(children.hand_over(command, environment))


def _of_a_change(given: list[str]) -> list[str]:
    """Return the tests of a change, and say which; take the commit off the front of `given`, when one stands there."""
    import sys

    from penstock.command_line.console import working
    from penstock.graph import changes, selection
    from penstock.graph.tests import Graph
    from penstock.paths import ROOT

    revision = given.pop(0) if given and not given[0].startswith("-") and changes.is_revision(ROOT, given[0]) else None
    found = changes.since(ROOT, revision)
    with working("Looking for the tests of what has changed"):
        chosen, lines = selection.selected(Graph(ROOT), found)
    for line in lines:
        print(f"penstock: {line}", file=sys.stderr)
    return chosen
