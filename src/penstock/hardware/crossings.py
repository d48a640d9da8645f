"""Interfaces of a generated package in clocks of their own: a module around the device, and the constraints of what crosses."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.designs.configs import Port
from penstock.designs.design import Configuration
from penstock.errors import UserError
from penstock.paths import BLOCKS

KINDS = {"stream": "axis", "memory": "axi", "registers": "axil"}  # what can cross, and how its ports are called
DEPTH = 16  # words of each FIFO: the least that passes a word per cycle
SETTING = "crossings"  # of `generate --set`

_CHANNELS = {"axis": ("t",), "axi": ("aw", "w", "b", "ar", "r"), "axil": ("aw", "w", "b", "ar", "r")}
_CLOCK = "clk_i"


@dataclass(frozen=True)
class Fifo:
    """One channel of one interface: its instance, the clocks on both sides, and the ports that are its word, each with its place."""

    instance: str
    outwards: bool  # the device gives the words
    s_clock: str
    m_clock: str
    valid: str
    ready: str
    word: tuple[str, ...]
    bits: int


def taken(text: str, design: str, ports: list[Port]) -> tuple[str, ...]:
    """Return the interfaces that `--set crossings=` names. Raises UserError for one that there is not, or that the design lacks."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in KINDS:
            raise UserError(f"--set {SETTING}={text}: there is no interface {name!r}; give some of {', '.join(KINDS)}")
    there = [name for name, kind in KINDS.items() if any(_kind(port) == kind for port in ports)]
    if lacking := next((name for name in names if name not in there), None):
        raise UserError(f"--set {SETTING}={text}: {design} has no interface {lacking}; give some of {', '.join(there)}")
    return tuple(name for name in KINDS if name in names)


def of_port(port: Port, crossings: Sequence[str]) -> str:
    """Return which of these interfaces a port belongs to, nothing for none."""
    return next((name for name in crossings if KINDS[name] == _kind(port)), "")


def name_of(config: Configuration, crossings: Sequence[str]) -> str:
    """Return the name of the outermost module with the device's own ports."""
    return f"{config.module}_cdc" if crossings else config.module


def with_clocks(ports: list[Port], crossings: Sequence[str]) -> list[Port]:
    """Return the ports of that module: each interface has a clock, and a reset for what is at its other end."""
    clocks = [Port("input", "logic", f"{name}_clk_i", 1, 0) for name in crossings]
    resets = [Port("output", "logic", f"{name}_rst_o", 1, 0) for name in crossings]
    return [*ports[:2], *(port for pair in zip(clocks, resets, strict=True) for port in pair), *ports[2:]]


def sources() -> list[Path]:
    """Return the modules that a crossing is made of."""
    return [BLOCKS / "crossing" / "rtl" / f"{name}.sv" for name in ("pst_async_fifo", "pst_crossing_reset")]


def fifos(ports: list[Port], crossings: Sequence[str]) -> list[Fifo]:
    """Return all crossings of the device's ports, interface by interface."""
    return [fifo for name in crossings for fifo in _of_interface(ports, name)]


def _kind(port: Port) -> str:
    match = re.match(r"[sm]_(axis|axil|axi)_", port.name)
    return match[1] if match else ""


def _of_interface(ports: list[Port], name: str) -> Iterator[Fifo]:
    kind = KINDS[name]
    for side in "sm":
        of_side = [port for port in ports if re.match(rf"{side}_{kind}_", port.name)]
        for place in range(max((port.count or 1 for port in of_side), default=0)):
            for channel in _CHANNELS[kind]:
                yield _of_channel([port for port in of_side if _is_of(port, kind, channel)], name, f"{side}_{kind}_{channel}", place)


def _is_of(port: Port, kind: str, channel: str) -> bool:
    signal = port.name[len(f"s_{kind}_") : -2]
    return next(one for one in ("aw", "ar", "w", "b", "r", "t") if signal.startswith(one)) == channel


def _of_channel(ports: list[Port], name: str, prefix: str, place: int) -> Fifo:
    valid, ready = (next(port for port in ports if port.name.startswith(f"{prefix}{what}_")) for what in ("valid", "ready"))
    words = [port for port in ports if port not in (valid, ready)]
    outwards = valid.direction == "output"
    clocks = (_CLOCK, f"{name}_clk_i") if outwards else (f"{name}_clk_i", _CLOCK)
    number = f"_{place}" if valid.count else ""
    at = f"[{place}]" if valid.count else ""
    channel = prefix.rsplit("_", 1)[1]
    instance = f"u_{prefix.rsplit('_', 1)[0]}{number}" + ("" if channel == "t" else f"_{channel}")
    bits = sum(port.bits // (port.count or 1) for port in words)
    return Fifo(instance, outwards, *clocks, valid.name + at, ready.name + at, tuple(port.name + at for port in words), bits)


def verilog(config: Configuration, ports: list[Port], crossings: Sequence[str]) -> str:
    """Return the module around the device with these ports."""
    found = with_clocks(ports, crossings)
    width = max(len(port.kind) for port in found)
    head = ",\n".join(f"    {port.direction:6} {port.kind:{width}} {port.name}" for port in found)
    crossed = [port for port in ports if of_port(port, crossings)]
    wires = "\n".join(f"  {port.kind:{width}} d_{port.name};" for port in crossed)
    pins = [f".{port.name}" + (f"(d_{port.name})" if port in crossed else "") for port in ports[2:]]
    device = ",\n".join(f"      {pin}" for pin in (f".{_CLOCK}", ".rst_i(device_rst)", *pins))
    clocks = ", ".join((*(f"{name}_clk_i" for name in reversed(crossings)), _CLOCK))
    resets = ", ".join((*(f"{name}_rst_o" for name in reversed(crossings)), "device_rst"))
    instances = "\n".join(_instance(fifo) for fifo in fifos(ports, crossings))
    return f"""// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// {config.module} with {_listed(crossings)} in clocks of their own, which know nothing of clk_i or of each other.
//
// Latency: each way 3 to 4 edges of the clock that the words go to. Events and state ({plain(ports)}) stay with clk_i.
// Reset:   rst_i, from any clock, resets everything; it ends nowhere before each clock has had two edges in it. What is at the other end of
//          an interface has to be reset by the output *_rst_o, which is of its clock and active high; alone it cannot be reset.
// The constraints are in constraints/. Written by penstock generate; do not edit.
module {name_of(config, crossings)} (
{head}
);

  // Of the device, whose ports have the same names without d_.
{wires}
  logic device_rst;

  pst_crossing_reset #(.Domains({len(crossings) + 1})) u_reset (
      .clk_i ({{{clocks}}}),
      .rst_ni(!rst_i),
      .rst_o ({{{resets}}})
  );

  {config.module} u_device (
{device}
  );

{instances}
endmodule
"""


def plain(ports: list[Port]) -> str:
    """Return the ports of the device that belong to no interface, events as `ev_*`."""
    names = [port.name for port in ports[2:] if not _kind(port)]
    return ", ".join(dict.fromkeys("ev_*" if name.startswith("ev_") else name for name in names))


def _listed(crossings: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(crossings[:-1]), crossings[-1])))


def _instance(fifo: Fifo) -> str:
    device, outside = ("s", "m") if fifo.outwards else ("m", "s")
    word = {device: _wrapped([f"d_{name}" for name in fifo.word]), outside: _wrapped(list(fifo.word))}
    valid = {device: f"d_{fifo.valid}", outside: fifo.valid}
    ready = {device: f"d_{fifo.ready}", outside: fifo.ready}
    reset = {fifo.s_clock: fifo.s_clock.replace("_clk_i", "_rst_o"), fifo.m_clock: fifo.m_clock.replace("_clk_i", "_rst_o")}
    reset[_CLOCK] = "device_rst"
    return f"""  pst_async_fifo #(.Width({fifo.bits}), .Depth({DEPTH})) {fifo.instance} (
      .s_clk_i({fifo.s_clock}), .s_rst_i({reset[fifo.s_clock]}), .s_valid_i({valid["s"]}), .s_ready_o({ready["s"]}),
      .s_data_i({{{word["s"]}}}),
      .m_clk_i({fifo.m_clock}), .m_rst_i({reset[fifo.m_clock]}), .m_valid_o({valid["m"]}), .m_ready_i({ready["m"]}),
      .m_data_o({{{word["m"]}}})
  );
"""


@dataclass(frozen=True)
class Crossing:
    """Flip-flops of one clock that those of another sample: cells by the names that Vivado gives them, below the module."""

    start: str
    end: str
    clock: str  # of the start
    count: bool  # a Gray code: its bits must not come further apart than a cycle


def paths(ports: list[Port], crossings: Sequence[str]) -> list[Crossing]:
    """Return what crosses in the FIFOs."""
    found = []
    for fifo in fifos(ports, crossings):
        for start, end, clock, count in (
            ("wgray_q_reg[*]", "wgray_meta_q_reg[*]", fifo.s_clock, True),
            ("rgray_q_reg[*]", "rgray_meta_q_reg[*]", fifo.m_clock, True),
            ("mem_reg*", "m_data_q_reg[*]", fifo.s_clock, False),
        ):
            found.append(Crossing(f"{fifo.instance}/{start}", f"{fifo.instance}/{end}", clock, count))
    return found


def reset_cells(crossings: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the flip-flops that sample another clock in the reset, and all that rst_i clears."""
    registers = [f"{name}_{stage}_q_reg" for name in ("walk", "end") for stage in ("meta", "sync")]
    cells = [f"u_reset/g_domain[{domain}].{register}" for domain in range(len(crossings) + 1) for register in registers]
    return [cell for cell in cells if "_meta_" in cell], cells


def xdc(config: Configuration, ports: list[Port], crossings: Sequence[str]) -> str:
    """Return the constraints for Vivado, to be read for every instance of the module (SCOPED_TO_REF)."""
    name = name_of(config, crossings)
    clocks = [_CLOCK, *(f"{one}_clk_i" for one in crossings)]
    periods = [f"set {clock} [get_clocks -of_objects [get_ports {clock}]]" for clock in clocks]
    lines = []
    for path in paths(ports, crossings):
        ends = f"-from [get_cells {{{path.start}}}] -to [get_cells {{{path.end}}}]"
        lines.append(f"set_max_delay -datapath_only {ends} [get_property -min PERIOD ${path.clock}]")
        lines += [f"set_bus_skew {ends} [get_property -min PERIOD ${path.clock}]"] if path.count else []
    sampled, cleared = reset_cells(crossings)
    lines += [f"set_false_path -to [get_pins {{{cell}/D}}]" for cell in sampled]
    lines += [f"set_false_path -to [get_pins {{{cell}/CLR}}]" for cell in cleared]
    return "\n".join((
        "# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1",
        f"# What crosses between the clocks of {name}. The clocks themselves are defined where they come from. In Vivado:",
        f"#   source constraints/{name}.tcl           in a project",
        f"#   read_xdc -ref {name} constraints/{name}.xdc     without one, after synth_design",
        "# No version of Vivado has seen it yet. Written by penstock generate; do not edit.",
        *periods, *lines, "",
    ))  # fmt: skip


def project(config: Configuration, crossings: Sequence[str]) -> str:
    """Return Tcl that adds the constraints to a project of Vivado: for each instance, behind those of the clocks, after synthesis."""
    name = name_of(config, crossings)
    return f"""# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# Adds {name}.xdc to the project that is open: for every instance of {name}, and behind all
# constraints that define clocks, whose periods it asks for. Cells have their names only after synthesis.
# No version of Vivado has seen it yet. Written by penstock generate; do not edit.
set crossing [file join [file dirname [file normalize [info script]]] {name}.xdc]
add_files -fileset constrs_1 $crossing
set_property SCOPED_TO_REF {name} [get_files $crossing]
set_property PROCESSING_ORDER LATE [get_files $crossing]
set_property USED_IN_SYNTHESIS false [get_files $crossing]
"""


def sdc(config: Configuration, ports: list[Port], crossings: Sequence[str]) -> str:
    """Return the constraints for tools that take SDC, which has no clock's period as a property and no bus skew."""
    name = name_of(config, crossings)
    clocks = [_CLOCK, *(f"{one}_clk_i" for one in crossings)]
    given = [f"set {clock}_ns {1e9 / config.clock_hz:.3f}" for clock in clocks]
    lines = []
    for path in paths(ports, crossings):
        ends = f'-from [get_cells "${{below}}{_quoted(path.start)}"] -to [get_cells "${{below}}{_quoted(path.end)}"]'
        lines += [f"set_max_delay ${path.clock}_ns {ends}", f"set_false_path -hold {ends}"]
    sampled, cleared = reset_cells(crossings)
    lines += [f'set_false_path -to [get_pins "${{below}}{_quoted(cell)}/D"]' for cell in sampled]
    lines += [f'set_false_path -to [get_pins "${{below}}{_quoted(cell)}/CLR"]' for cell in cleared]
    return "\n".join((
        "# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1",
        f"# What crosses between the clocks of {name}, for tools that take SDC. Set the periods below to those of your clocks;",
        "# `below` is the path of the instance, with a slash behind it. SDC cannot bound skew: that of each Gray code must be below the",
        "# period, too. Cells and pins have the names of Vivado; yours may call them otherwise. Written by penstock generate; do not edit.",
        "set below {}", *given, *lines, "",
    ))  # fmt: skip


def _quoted(path: str) -> str:
    return path.replace("[", "\\[").replace("]", "\\]")


def _wrapped(names: list[str]) -> str:
    return "\n".join(textwrap.wrap(", ".join(names), 110, subsequent_indent=" " * 17, break_on_hyphens=False))
