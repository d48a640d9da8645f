"""The device behind scalar ports with the names that tools know: s_axis_*, m_axis_*, m_axi_*, s_axi_*, aclk, aresetn.

It is plain Verilog, as Vivado wants it at the top of what goes into a block design, and says with attributes which ports are an interface.
An interface of which there are several is numbered (m_axi_0_awaddr), a lone one is not. Where interfaces have clocks of their own, each of
these has an input <interface>_aclk and an output <interface>_aresetn, for what is at the other end.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.designs.configs import Port
from penstock.designs.design import Configuration
from penstock.hardware import crossings as crossing

MOST_BEATS = 64  # of a burst at m_axi

_KINDS = {"axis": "axis", "axi": "aximm", "axil": "aximm"}  # how Vivado calls what ports are called here
_AXIS_WIDTHS = {"TID_WIDTH": "tid", "TDEST_WIDTH": "tdest", "TUSER_WIDTH": "tuser"}


@dataclass(frozen=True)
class Flat:
    """A port of the wrapper: which of the device's it belongs to, at which place, and its interface, if it is of one."""

    direction: str
    bits: int
    name: str
    of: Port
    place: int
    interface: str  # m_axi_0, or nothing
    signal: str  # awaddr


def name_of(config: Configuration) -> str:
    """Return the name of the wrapper's module."""
    return f"{config.module}_axi"


def flat(ports: list[Port]) -> list[Flat]:
    """Return the ports of the wrapper, without clock and reset: an interface's ports stand together."""
    found = [each for port in ports if port.name not in ("clk_i", "rst_i") for each in _flattened(port)]
    order = list(dict.fromkeys(each.interface for each in found))
    return sorted(found, key=lambda each: order.index(each.interface))


def _flattened(port: Port) -> Iterator[Flat]:
    match = re.fullmatch(r"([sm])_(axis|axil|axi)_(\w+)_[io]", port.name)
    if match is None:
        yield Flat(port.direction, port.bits, re.sub(r"_[io]$", "", port.name), port, 0, "", "")
        return
    side, kind, signal = match.groups()
    for place in range(port.count or 1):
        interface = f"{side}_{'axi' if kind == 'axil' else kind}" + (f"_{place}" if port.count > 1 else "")
        yield Flat(port.direction, port.bits // (port.count or 1), f"{interface}_{signal}", port, place, interface, signal)


def clock_of(each: Flat, crossings: Sequence[str]) -> str:
    """Return the wrapper's clock of a port."""
    name = crossing.of_port(each.of, crossings)
    return f"{name}_aclk" if name else "aclk"


def verilog(config: Configuration, ports: list[Port], crossings: Sequence[str] = (), mark_debug: bool = False) -> str:
    """Return the wrapper; with `mark_debug` its events have the attribute by which Vivado offers nets to a logic analyser."""
    found = flat(ports)
    lines = []
    for name in ("", *crossings):
        clock, reset = (f"{name}_aclk", f"{name}_aresetn") if name else ("aclk", "aresetn")
        busses = ":".join(dict.fromkeys(each.interface for each in found if each.interface and clock_of(each, crossings) == clock))
        said = f"XIL_INTERFACENAME {clock}, {f'ASSOCIATED_BUSIF {busses}, ' if busses else ''}ASSOCIATED_RESET {reset}"
        lines += [
            *_attributes(f"signal:clock:1.0 {clock} CLK", said),
            f"    {'input':6} wire {'':9} {clock},",
            *_attributes(f"signal:reset:1.0 {reset} RST", f"XIL_INTERFACENAME {reset}, POLARITY ACTIVE_LOW"),
            f"    {'output' if name else 'input':6} wire {'':9} {reset},",
        ]
    begun: set[str] = set()
    for each in found:
        if each.interface:
            kind = _KINDS[each.of.name.split("_")[1]]
            about = (
                None
                if each.interface in begun
                else _parameters(config, each.interface, [one for one in found if one.interface == each.interface])
            )
            begun.add(each.interface)
            lines += _attributes(f"interface:{kind}:1.0 {each.interface} {each.signal.upper()}", about)
        lines += ['    (* mark_debug = "true" *)'] if mark_debug and each.name.startswith("ev_") else []
        lines.append(f"    {each.direction:6} wire {_width(each.bits):9} {each.name}{',' if each is not found[-1] else ''}")
    pins = [
        "      .clk_i(aclk)",
        "      .rst_i(!aresetn)",
        *_own_clocks("      .{0}_clk_i({0}_aclk)", "      .{0}_rst_o({0}_rst)", crossings),
    ]
    pins += [f"      .{port.name}({_joined(port, found)})" for port in ports[2:]]
    resets = "".join(f"  wire {name}_rst;\n  assign {name}_aresetn = !{name}_rst;\n" for name in crossings)
    head, body = "\n".join(lines), ",\n".join(pins)
    return f"""// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// {config.module} behind scalar ports with the names of AXI, and attributes by which Vivado finds the interfaces.
// Written by penstock generate; do not edit.
module {name_of(config)} (
{head}
);

{resets}  {crossing.name_of(config, crossings)} u_device (
{body}
  );

endmodule
"""


def _own_clocks(clock: str, reset: str, crossings: Sequence[str]) -> list[str]:
    return [f"      {text.format(name)}" for name in crossings for text in (clock, reset)]


def native(config: Configuration, ports: list[Port], crossings: Sequence[str] = ()) -> str:
    """Return a module with the ports of the device around the wrapper, so that a bench of the one also tries the other."""
    found = flat(ports)
    width = max(len(port.kind) for port in ports)
    heads = ",\n".join(f"    {port.direction:6} {port.kind:{width}} {port.name}" for port in crossing.with_clocks(ports, crossings))
    pins = [
        "      .aclk(clk_i)",
        "      .aresetn(!rst_i)",
        *_own_clocks("      .{0}_aclk({0}_clk_i)", "      .{0}_aresetn({0}_rst_n)", crossings),
    ]
    around = crossing.name_of(config, crossings)
    resets = "".join(f"  wire {name}_rst_n;\n  assign {name}_rst_o = !{name}_rst_n;\n" for name in crossings)
    pins += [f"      .{each.name}({each.of.name}{f'[{each.place}]' if each.interface and each.of.count else ''})" for each in found]
    body = ",\n".join(pins)
    return f"""// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// {name_of(config)} behind the ports of {around}, for its test bench. Written by penstock generate; do not edit.
module {name_of(config)}_native (
{heads}
);

{resets}  {name_of(config)} u_axi (
{body}
  );

endmodule
"""


def _attributes(info: str, parameter: str | None) -> list[str]:
    lines = [f'    (* X_INTERFACE_INFO = "xilinx.com:{info}" *)']
    return lines + ([f'    (* X_INTERFACE_PARAMETER = "{parameter}" *)'] if parameter else [])


def _parameters(config: Configuration, interface: str, ports: list[Flat]) -> str:
    """Return what Vivado should know of an interface beyond its signals."""
    bits = {each.signal: each.bits for each in ports}
    if "tdata" in bits:
        widths = {name: bits.get(signal, 0) for name, signal in _AXIS_WIDTHS.items()}
        said: dict[str, int | str] = {
            "TDATA_NUM_BYTES": bits["tdata"] // 8,
            **widths,
            "HAS_TREADY": 1,
            "HAS_TSTRB": 0,
            "HAS_TKEEP": 1,
            "HAS_TLAST": 1,
        }
    elif "awlen" in bits:
        said = {
            "PROTOCOL": "AXI4", "DATA_WIDTH": bits["wdata"], "ADDR_WIDTH": bits["awaddr"], "ID_WIDTH": bits["awid"],
            "READ_WRITE_MODE": "READ_WRITE", "NUM_READ_OUTSTANDING": config.bursts[0], "NUM_WRITE_OUTSTANDING": config.bursts[1],
            "HAS_BURST": 1, "SUPPORTS_NARROW_BURST": 0, "MAX_BURST_LENGTH": MOST_BEATS, "HAS_LOCK": 1,
            "HAS_CACHE": 1, "HAS_PROT": 1, "HAS_QOS": 0, "HAS_REGION": 0, "HAS_WSTRB": 1, "HAS_BRESP": 1, "HAS_RRESP": 1,
        }  # fmt: skip
    else:
        said = {"PROTOCOL": "AXI4LITE", "DATA_WIDTH": bits["wdata"], "ADDR_WIDTH": bits["awaddr"], "READ_WRITE_MODE": "READ_WRITE"}
    return ", ".join((f"XIL_INTERFACENAME {interface}", *(f"{key} {value}" for key, value in said.items())))


def _width(bits: int) -> str:
    return f"[{bits - 1}:0]" if bits > 1 else ""


def _joined(port: Port, found: list[Flat]) -> str:
    """Return what is connected to a port of the device; element 0 of an array is on the right."""
    names = [each.name for each in found if each.of is port]
    return names[0] if len(names) == 1 else f"{{{', '.join(reversed(names))}}}"
