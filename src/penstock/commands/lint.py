"""`penstock lint`: every rule of style that a machine can check."""

from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def lint(
    fix: Annotated[bool, typer.Option("--fix", help="First let the formatters rewrite Python and C++.")] = False,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="CHECK", help="Run this check alone (may be repeated).")] = None,
) -> None:
    """Check SystemVerilog, C++ and Python: one line a check, every finding is fatal."""
    import sys

    from penstock.basics import groups
    from penstock.basics.suggest import nearest
    from penstock.command_line.console import working
    from penstock.command_line.terminal import progress_line
    from penstock.errors import UserError
    from penstock.paths import need_checkout

    need_checkout("lint")
    groups.need("lint")
    from penstock.hardware import lint as rules

    for name in only or []:
        if name not in rules.CHECKS:
            raise UserError(f"there is no check {name!r}{nearest(name, rules.CHECKS)}")
    if fix:
        with working("Laying out Python and C++"):
            rules.fix()
    chosen = [name for name in rules.CHECKS if not only or name in only]
    failed = 0
    with progress_line("lint") as report:
        for name, result in rules.run(chosen, report):
            for finding in result.findings:
                print(finding)
            failed += bool(result.findings)
            print(f"{'FAIL' if result.findings else 'ok  '} {name:<10} {result.summary}")
            sys.stdout.flush()
    if failed:
        print(f"penstock: {failed} of {len(chosen)} checks failed", file=sys.stderr)
        raise typer.Exit(1)
