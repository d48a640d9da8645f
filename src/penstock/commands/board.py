"""`penstock board`: bitstreams for boards, and the bridge on one."""

from typing import Annotated, Any

import typer

from penstock.commands import app


@app.command()
def board(
    name: Annotated[str, typer.Argument(metavar="BOARD", help="versa_ecp5: the Lattice ECP5 Versa; colorlight_i9: the Colorlight i9.")],
    build: Annotated[bool, typer.Option("--build", help="Synthesise, place, route and pack.")] = False,
    load: Annotated[
        bool, typer.Option("--load", help="Load the bitstream that was built, with --queues or --rates that of queues, over USB.")
    ] = False,
    port: Annotated[
        str | None, typer.Option(metavar="PORT", help="The board's serial port, as /dev/ttyUSB1: show links, counters and queues.")
    ] = None,
    rates: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Rate of each queue to port 0 and to port 1, Mbit/s: with --port now, with --build at reset."),
    ] = None,
    queues: Annotated[bool, typer.Option("--queues", help="Shaped queues, without a rate until --port sets it.")] = False,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Place and route this often, with seeds 1, 2, ...; the best is packed.")] = 3,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Build the bridge for a board, or talk to the one that runs there. It has not been run on a board: see docs/how-to/board.md."""
    import json

    from penstock.errors import UserError
    from penstock.hardware import board as boards
    from penstock.hardware import board_loader
    from penstock.paths import need_checkout, shown

    need_checkout("board")
    chosen = boards.find(name)
    both = None if rates is None else boards.rates_of(rates)
    boards.parameters(chosen, both)
    if (build or load) and port is not None:
        raise UserError("--port does not go together with --build or --load: build first, load, then use --port")
    if load and json_output and not build:
        raise UserError("--load prints no JSON: leave --json out")
    if port is not None:
        _talk(port, chosen.baud, both, json_output)
    if build:
        _build(chosen, list(range(1, seeds + 1)), both, queues, json_output)
    if load:
        path = boards.bitstream(chosen, queues or both is not None)
        board_loader.load(name, chosen.cable, path, str(shown(path)), lambda words: typer.echo(words, err=json_output))
    if not (build or load or port is not None):
        words = f"{name}: {chosen.title}, {chosen.device}; `./penstock board {name} --build` makes its bitstream"
        print(json.dumps({"schema": boards.SCHEMA, "board": name, "device": chosen.device}) if json_output else words)


def _talk(port: str, baud: int, rates: tuple[int, int] | None, json_output: bool) -> None:
    import json

    from penstock.hardware import bridge_registers, uart_bus

    device = bridge_registers.Bridge(uart_bus.open_port(port, baud))
    if rates is not None:
        for direction, bps in enumerate(rates):  # frames from port p leave by the other one
            device.set_rate(direction, bps)
    state = device.state()
    print(json.dumps(state) if json_output else "\n".join(bridge_registers.lines(state)))


def _build(chosen: Any, seeds: list[int], rates: tuple[int, int] | None, queues: bool, json_output: bool) -> None:
    import json
    from pathlib import Path

    from penstock.basics import groups
    from penstock.command_line.terminal import progress_line
    from penstock.hardware import board as boards
    from penstock.hardware import synth
    from penstock.paths import shown

    name = chosen.name
    groups.need("board", "synth", "wrappers")
    try:
        with progress_line(name) as line:
            result = boards.build(chosen, seeds, rates, queues, line)
    except synth.SynthesisError as error:
        typer.echo(f"penstock: {name} cannot be built:\n{error}", err=True)
        raise typer.Exit(1) from None
    if json_output:
        print(json.dumps(result))
        if not result["bitstream"]:
            raise typer.Exit(1)
        return
    print(f"{name}, {chosen.device}: {result['lut']:,} LUT4, {result['ff']:,} flip-flops, {result['bram']} DP16KD")
    for clock in result["clocks"]:
        speeds = ", ".join(f"{value:g}" for value in clock["achieved_mhz"])
        print(f"  {clock['name']:20} {clock['required_mhz']:g} MHz required, by seed {speeds}")
    if not result["bitstream"]:
        print("  no seed meets its timing, so nothing was packed")
        raise typer.Exit(1)
    print(f"  seed {result['best_seed']}, margin {result['margin']:.1%}: {shown(Path(result['bitstream']))}, {shown(Path(result['svf']))}")
