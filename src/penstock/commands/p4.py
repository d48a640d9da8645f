"""`penstock p4`: the control law of CoDel in P4, the compiled programs, and a run on bmv2."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands import app

group = typer.Typer(no_args_is_help=True, help="Programs in P4: CoDel's control law, compiling, comparing with bmv2, a run on bmv2.")
app.add_typer(group, name="p4")


@group.command("law")
def law_table(
    interval: Annotated[list[str] | None, typer.Option(metavar="TIME", help="INTERVAL, such as 20ms; may be given more than once.")] = None,
    bits: Annotated[int, typer.Option(min=2, max=12, help="Each power of two of counts has 2^BITS entries.")] = 8,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the P4 file of one interval (100 ms unless given).")] = None,
    check: Annotated[bool, typer.Option("--check", help="Say whether p4/codel_law.p4 is what this makes; status 1 if not.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Make the match table of INTERVAL / sqrt(count), and say how far it is off at worst over all counts from 1 to 65,535."""
    import json
    import sys

    from penstock.errors import UserError
    from penstock.p4 import law
    from penstock.paths import need_checkout

    if check:
        need_checkout("p4 law --check")
        if out or interval:
            raise UserError("--check: is about the committed file; leave out --interval and --out")
        if problem := law.stale():
            print(problem, file=sys.stderr)
            raise typer.Exit(1)
        return
    intervals = [law.interval_of(text) for text in interval or []]
    if out is not None:
        if len(intervals) > 1:
            raise UserError(f"--out {out}: a file has one interval; give --interval once")
        intervals = intervals or [law.DEFAULT_INTERVAL_US]
    made = [law.law(us, bits) for us in intervals or law.SHOWN_INTERVALS_US]
    if out is not None:
        from penstock.basics.growing import growing

        if out.is_dir():
            raise UserError(f"--out {out}: is a folder; give the file to write")
        with growing(out.parent) as folder:
            (folder / out.name).write_text(law.text(made[0]))
    if json_output:
        tables = [
            {
                "interval_us": one.interval_us,
                "entries": len(one.entries),
                "worst_error": float(one.worst_error),
                "worst_count": one.worst_count,
            }
            for one in made
        ]
        head = {"schema": "penstock.p4_law/1", "seed": None, "config": {"bits": bits, "intervals_us": [one.interval_us for one in made]}}
        print(json.dumps({**head, "worst_error": max(table["worst_error"] for table in tables), "tables": tables}))
        return
    print("INTERVAL        entries   worst error   at count")
    for one in made:
        print(f"{one.interval_us:>12,} us {len(one.entries):>6,} {one.worst_error * 100:>11.4f} % {one.worst_count:>10,}")
    if out is not None:
        print(out)


@group.command("compile")
def compile_programs(
    program: Annotated[
        list[str] | None, typer.Argument(metavar="[PROGRAM]...", help="FILE.p4, yours; or names, such as router; all of p4/ unless given.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The JSON of your program; FILE.json beside it unless given.", show_default=False)
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Compile nothing; say which committed JSON is not of its sources.")] = False,
) -> None:
    """Compile a program of yours for scenarios, or those of p4/ again: their JSON, and p4/compiled.yaml with what it was made of.

    Needs p4c-bm2-ss on the PATH; docs/how-to/p4-program.md says how to get it.
    """
    import sys

    from penstock.errors import UserError
    from penstock.p4 import compiled
    from penstock.paths import need_checkout

    own = [name for name in program or [] if name.endswith(".p4")]
    if own:
        if len(own) != len(program or []) or check or (out and len(own) > 1):
            raise UserError("p4 compile: takes files of yours alone, without --check; and one of them with --out")
        for name in own:
            print(compiled.compile_own(Path(name), out))
        return
    if out is not None:
        raise UserError(f"--out {out}: is for a FILE.p4 of yours")
    need_checkout("p4 compile")
    names = compiled.chosen(program or [])
    if check:
        problems = compiled.stale(names)
        for problem in problems:
            print(problem, file=sys.stderr)
        if problems:
            raise typer.Exit(1)
        return
    for path in compiled.compile_all(names):
        print(path)


@group.command("compare")
def compare_programs(
    given: Annotated[list[Path], typer.Argument(metavar="PROGRAM...", help=".p4 or .json files; of folders all .p4 files for v1model.")],
    frames: Annotated[int, typer.Option(min=0, max=100_000, help="Frames at random for each run of a program.")] = 100,
    seed: Annotated[int, typer.Option(help="Of frames and entries.")] = 1,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Run programs of anyone frame by frame on bmv2's simple_switch and on the P4 device, and compare what they send.

    Needs simple_switch and simple_switch_CLI on the PATH, and p4c-bm2-ss for .p4 files. Entries and frames come from a .stf file beside the
    program (p4c's tests) or an s1-runtime.json (p4lang's tutorials), and both at random. A program
    whose run ends before its last frame does not count as agreeing: it is `cut`, with how far it came and why. Status 1 if a program
    differs or was cut; those that one of the tools does not take are counted, and no reason for it.
    """
    import json
    import sys

    from penstock.command_line.console import working
    from penstock.p4 import compare

    paths = compare.programs(given)
    compare.need(paths)

    def told(outcome: compare.Outcome) -> None:
        frames_run, differ = sum(run.frames for run in outcome.runs), sum(run.differ for run in outcome.runs)
        words = [f"{differ} of {frames_run} frames"] if differ else []
        words += [outcome.words] if outcome.words else []
        print(
            f"{outcome.outcome:<9} {outcome.program}: {'; '.join(words) or f'{frames_run} frames'}",
            file=sys.stderr if json_output else sys.stdout,
            flush=True,
        )
        for run in outcome.runs:
            for one in run.shown if not json_output else []:
                print(f"    {run.entries}, frame {one['number']} at port {one['port']}: {one['frame']}")
                print(f"      simple_switch: {one['simple_switch']}")
                print(f"      P4 device:     {one['device']}")

    with working(f"comparing {len(paths)} programs"):
        found = compare.summary(compare.compare_all(paths, frames, seed, told))
    if json_output:
        head = {"schema": "penstock.p4_compare/1", "seed": seed, "config": {"programs": [str(path) for path in paths], "frames": frames}}
        print(json.dumps({**head, **found}))
    else:
        print(
            f"{found['programs']} programs: {found['agrees']} agree, {found['differs']} differ, {found['cut']} agree as far as they "
            f"came, {found['refused']} refused by the P4 device, "
            f"{found['bmv2']} not run by bmv2, {found['compiler']} refused by the compiler; {found['frames']:,} frames, "
            f"{found['differ']:,} differ"
        )
    if found["differs"] or found["cut"]:
        raise typer.Exit(1)


@group.command("bmv2")
def on_bmv2(
    scenario: Annotated[
        Path, typer.Argument(help="Scenario of a P4 device (YAML); docs/scenario-p4-device.md describes it.", show_default=False)
    ],
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one value, as for `run`.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the frames and of when connections begin; the scenario's unless given.")] = None,
    packet_bytes: Annotated[
        int | None,
        typer.Option(min=60, max=65_535, metavar="BYTES", help="Packet for which queues are paced; the scenario's longest mean."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of bmv2.json and of the P4 device's result; results/NAME.")
    ] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Do not run the P4 device on the same scenario.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Run a scenario's program on bmv2's simple_switch, with TCP of the kernel, in network namespaces; the P4 device's figures beside it.

    It takes as long as the scenario says. Exit status: 0; 1 when simple_switch or a run failed; 2 for bad input, and where simple_switch or
    the right to make network namespaces is missing; 130 when interrupted.
    """
    import json

    from penstock.basics.growing import growing
    from penstock.command_line.console import console, working
    from penstock.engine.result import failures
    from penstock.engine.run import Request, RunError, carry_out, prepare, write_json
    from penstock.errors import ToolError, UserError
    from penstock.paths import shown

    request = Request(scenario, settings or [], seed, out)
    run = prepare(request)
    target = run.design.targets().get("bmv2")
    if target is None:
        raise UserError(f"{scenario}: is one of {run.design.name}; bmv2 runs P4 programs, so it must be one of a P4 device")
    with working("Running on simple_switch") as report:
        measured = target.run(run, packet_bytes, report)
    folder = out or Path("results") / run.name
    device, failed = None, []
    if not alone:
        try:
            device, folder = carry_out(request)
        except RunError as error:
            raise ToolError(f"the P4 device's run failed: {error}") from None
        failed = failures(device)
    measured["compared"] = target.compared(measured, device)
    with growing(folder) as grown:
        write_json(grown / "bmv2.json", measured)
    if json_output:
        head = {"schema": "penstock.p4_bmv2/1", "seed": measured["seed"], "config": run.config.name}
        print(json.dumps({**head, "bmv2": measured, "device": device}, allow_nan=False))
    else:
        for line in target.lines(measured, device):
            print(line)
        print()
        for note in measured["notes"]:
            print(note)
        print(f"Result   {shown((folder / 'bmv2.json').resolve())}")
    for sentence in failed:
        console().print(f"FAILED: {sentence}", style="bold red", markup=False)
    if failed:
        raise typer.Exit(1)
