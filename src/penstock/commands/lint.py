"""`penstock lint`: every rule of style that a machine can check."""

from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def lint(
    fix: Annotated[bool, typer.Option("--fix", help="First let the formatters rewrite Python and C++.")] = False,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="CHECK", help="Run this check alone (may be repeated).")] = None,
    count: Annotated[bool, typer.Option("--count", help="Instead count how often each rule is broken.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="With --count: print one JSON object, with all places.")] = False,
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

    if json_output and not count:
        raise UserError("lint: --json goes with --count")
    if count:
        _print_counts(json_output)
        return
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


def _print_counts(as_json: bool) -> None:
    import json
    from dataclasses import asdict

    from penstock.command_line.console import working
    from penstock.hardware import lint as rules

    with working("Counting"):
        found = rules.counted()
    if as_json:
        print(json.dumps({"schema": "penstock.counts/2", "seed": None, "config": {}, "counts": [asdict(one) for one in found]}))
        return
    for one in found:
        allowed = "" if one.allowed is None else f"at most {one.allowed}" if one.allowed else "none"
        most = sorted(one.places, key=lambda name: -one.places[name])
        notes = [f"{len(most)} files, most in {most[0]} ({one.places[most[0]]})"] if most else []
        if one.reasons:
            notes.append(f"{one.excused} more, with the reason in {one.reasons}")
        print(f"{one.value:>6}  {one.words:<48} {allowed:<12} {'; '.join(notes)}".rstrip())
