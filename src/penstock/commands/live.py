"""`live`: real programs on hosts of this machine, and a device between them in real time."""

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.command_line.parts import With
from penstock.commands import app


@app.command()
def live(
    scenario: Annotated[
        Path, typer.Argument(help="Scenario file (YAML) with live traffic; docs/live.md describes it.", show_default=False)
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(help="Behind `--`: a program that runs on a host, as a shell; the run ends with it.", show_default=False),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="rtl: the SystemVerilog, cycle by cycle, for slow clocks; model: the same device as a model. rtl unless given, or "
            "model where the device has no RTL.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help='Change one value, such as queues.bulk.rate="5 Mbit/s".')
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="HOST", help="Where the command runs; unless given where the first live traffic goes.")
    ] = None,
    uplink: Annotated[
        str | None,
        typer.Option(
            metavar="IFACE",
            help="Let the hosts out through this interface of the machine, by NAT: behind `from` of the first live traffic.",
        ),
    ] = None,
    _parts: With = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the result; results/NAME unless given.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Put a device between real programs, in real time: kernel TCP through the hardware.

    Makes hosts (network namespaces) and takes them away again; needs root, or user namespaces. Exit status: 0; 1 when packets were lost,
    reordered or changed by the hardware; 2 for bad input, or where this machine has no namespaces; 130 when interrupted (the result is
    written up to there).
    """
    from penstock.engine.run import Request
    from penstock.live.stage import Live, carry_out

    status = carry_out(Live(Request(scenario, settings or [], None, out, engine), command or (), at, uplink, json_output, _show))
    if status:
        raise typer.Exit(status)


def _show(result: dict[str, Any], folder: Path) -> None:
    from penstock.reports.summary import show

    show(result, folder)
