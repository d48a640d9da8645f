"""`penstock synth`: area and speed."""

from enum import StrEnum
from typing import Annotated

import typer

from penstock.command_line.parts import With
from penstock.commands import app

_NAMES = {"lut": "LUT", "ff": "FF", "bram": "BRAM", "uram": "URAM", "dsp": "DSP", "logic_levels": "logic levels", "fmax_mhz": "Fmax"}


class Target(StrEnum):
    """What can be synthesised for."""

    XCUP = "xcup"
    ECP5 = "ecp5"


@app.command()
def synth(
    what: Annotated[str, typer.Argument(metavar="DESIGN_OR_BLOCK", help="A file list of a design, a block, or a module pst_*.")],
    target: Annotated[
        Target, typer.Option(help="xcup: UltraScale+, area and an estimate of delays. ecp5: area, and speed after place and route.")
    ] = Target.XCUP,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A parameter (queues=512), or config=NAME of a design.")
    ] = None,
    _parts: With = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Place and route this often, with seeds 1, 2, ... (ecp5).")] = 3,
    paths: Annotated[
        int,
        typer.Option(
            min=0, max=1000, metavar="N", help="Also tell the N longest groups of paths of each seed (ecp5): what limits the clock."
        ),
    ] = 0,
    timing_weight: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            metavar="N",
            help="How much time counts when cells are placed (ecp5): 10, or that of expected.yaml. See docs/synthesis.md.",
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 unless the figures are as expected.yaml says.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Synthesise a design, a block or a module, and report area, logic levels, and clock frequency (ecp5) or an estimate of it (xcup).

    Where expected.yaml has an entry for this module, target and size, what it expects stands beside the figures.
    """
    import dataclasses
    import json
    import statistics

    from penstock.basics import groups
    from penstock.command_line.options import parse_settings
    from penstock.command_line.terminal import progress_line
    from penstock.errors import UserError
    from penstock.hardware import delay_estimate, expected
    from penstock.hardware import synth as flow

    if paths and target != Target.ECP5:
        raise UserError(f"--paths {paths}: only --target ecp5 is placed and routed, so only there paths have a length")
    if timing_weight and target != Target.ECP5:
        raise UserError(f"--timing-weight {timing_weight}: only --target ecp5 is placed")
    groups.need("synth", "generate", "synth")
    job, config = flow.plan(what, target.value, parse_settings(settings), list(range(1, seeds + 1)))
    # A configuration's wrapper is made for it; what is expected of it stands with the design's top module.
    top, named = (f"pst_{config['design']}", config["name"]) if "design" in config else (job.top, None)
    entry = expected.find(top, target.value, config["parameters"], named)
    if target == Target.ECP5:
        config["timing_weight"] = timing_weight or (entry and entry.timing_weight) or flow.TIMING_WEIGHT
        job = dataclasses.replace(job, paths=paths, timing_weight=config["timing_weight"])
    if entry and not entry.figures():
        entry = None
    if check and entry is None:
        sizes = [
            ", ".join(f"{k}={v}" for k, v in known.parameters.items()) or "its default parameters"
            for known in expected.entries(top, target.value, named)
        ]
        known = f"; there is one for {' and for '.join(sizes)}" if sizes else ""
        raise UserError(f"nothing is expected of {job.top} of this size on {target.value}{known}")
    if check and entry and entry.fmax_mhz and seeds < expected.LEAST_SEEDS:
        raise UserError(f"--check compares the median of at least {expected.LEAST_SEEDS} seeds")
    try:
        with progress_line(job.top) as line:
            result = flow.run(job, line)
    except flow.SynthesisError as error:
        typer.echo(f"penstock: {job.top} cannot be synthesised:\n{error}", err=True)
        raise typer.Exit(1) from None
    outside = entry.outside(result) if entry else []
    result = {"schema": flow.SCHEMA, "seed": 1, "config": config, "size": flow.size(config), "units": flow.UNITS[target.value], **result}
    if entry:
        result |= {"expected": entry.figures(), "outside": outside}
    if json_output:
        print(json.dumps(result))
        raise typer.Exit(1 if check and outside else 0)
    print(f"{job.top} on {target.value}, size: {', '.join(f'{key} {value}' for key, value in result['size'].items()) or 'the only one'}")
    for key, name in _NAMES.items():
        value, unit = result.get(key), flow.UNITS[target.value][key]
        if key == "fmax_mhz" and value:
            speeds = sorted(value)
            print(f"  {name:12} {statistics.median(speeds):>9,g} {unit}, median of {len(speeds)} seeds, {speeds[0]:g} to {speeds[-1]:g}")
        elif key != "fmax_mhz":
            more = f", {result['lut_memory']:,} of these as memory" if key == "lut" else ""
            print(f"  {name:12} {f'{value:,}' if isinstance(value, int) else f'{value:g}':>9} {unit}{more}")
    if estimate := result.get("estimate"):
        typer.echo("\n".join(delay_estimate.lines(estimate)))
    for seed, longest in zip(job.seeds, result.get("paths", []), strict=False):
        print(f"  longest paths of seed {seed}, from register to register (vectors and memories as one):")
        for group in longest:
            share = group["wires_ns"] / group["ns"]
            print(
                f"    {group['ns']:5.2f} ns, {share:.0%} of it wires, {group['levels']} levels, {group['paths']:4} bits: "
                f"{group['start']} -> {group['end']}"
            )
    if entry:
        print("  expected     " + "  ".join(f"{_NAMES[key]} {value:,g}" for key, value in entry.figures().items()))
        for key in outside:
            print(f"  {_NAMES[key]} is more than {expected.TOLERANCE[key]:.0%} off; if that is meant, measure it again with figures")
    if check and outside:
        raise typer.Exit(1)
