"""`run`: a scenario through the hardware."""

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.command_line.parts import With
from penstock.commands import app

INTERRUPTED = 130


@app.command()
def run(
    scenario: Annotated[Path, typer.Argument(help="Scenario file (YAML); docs/scenario-access-edge.md describes it.", show_default=False)],
    engine: Annotated[
        str | None,
        typer.Option(
            help="rtl: the SystemVerilog, cycle by cycle; model: the same device as a model, some 20 times as fast. rtl unless given, or "
            "model where the device has no RTL.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help='Change one value, such as queues.bulk.rate="5 Mbit/s".')
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random; the scenario's unless given.")] = None,
    _parts: With = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the result; results/NAME unless given.")] = None,
    packets: Annotated[bool, typer.Option("--packets", help="Write every packet, too: packets.parquet.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Run a scenario and write result.json and report.html.

    Exit status: 0; 1 when packets were lost, reordered or changed by the hardware; 2 for bad input; 130 when interrupted (the result is
    written up to there).
    """
    execute(scenario, engine, settings or [], seed, out, json_output, packets)


def execute(
    scenario: Path,
    engine: str | None,
    settings: list[str],
    seed: int | None,
    out: Path | None,
    json_output: bool,
    packets: bool = False,
) -> None:
    """Carry out a run, show it, and leave with its exit status unless that is 0."""
    import json

    from penstock.command_line.console import console
    from penstock.engine.result import failures
    from penstock.engine.run import Request, RunError, carry_out
    from penstock.reports.summary import show

    try:
        result, folder = carry_out(Request(scenario, settings, seed, out, engine, packets))
    except RunError as error:
        console().print(f"The run failed. {error}", style="bold red", markup=False)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        console().print("Interrupted before there was a result.")
        raise typer.Exit(INTERRUPTED) from None
    if json_output:
        print(json.dumps(result, allow_nan=False))
    else:
        show(result, folder)
    _leave(result, failures(result))


def _leave(result: dict[str, Any], failed: list[str]) -> None:
    from penstock.command_line.console import console

    for sentence in failed:
        console().print(f"FAILED: {sentence}", style="bold red", markup=False)
    if failed:
        raise typer.Exit(1)
    if result["interrupted"]:
        raise typer.Exit(INTERRUPTED)
