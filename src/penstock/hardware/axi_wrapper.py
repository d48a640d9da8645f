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
from penstock.errors import UserError
from penstock.hardware import crossings as crossing

MOST_BEATS = 64  # of a burst at m_axi
INTERRUPT = "irq"  # of the device, a level
PTP_TIME = "ptp_time"  # of the wrapper, in the clock of the streams
PTP_BITS = (64, 96)  # of a time of day, as IEEE 1588 and MACs have it

_KINDS = {"axis": "axis", "axi": "aximm", "axil": "aximm"}  # how Vivado calls what ports are called here
_AXIS_WIDTHS = {"TID_WIDTH": "tid", "TDEST_WIDTH": "tdest", "TUSER_WIDTH": "tuser"}


_ADDRESSES = ("awaddr", "araddr")


@dataclass(frozen=True)
class Choice:
    """What a wrapper is to have that the device has not."""

    mark_debug: bool = False  # its events have the attribute by which Vivado offers nets to a logic analyser
    bases: tuple[int, ...] = ()  # where each memory begins on its bus; none: all at 0
    ptp_time: int = 0  # bits of a time at an input, which frames that leave have in tuser; 0: none


PLAIN = Choice()


def bases_of(text: str, config: Configuration) -> tuple[int, ...]:
    """Return what `--memory-base` says: an address for each memory. Raises UserError."""
    option, sizes = f"--memory-base {text}", config.memory_sizes
    if not sizes:
        raise UserError(f"{option}: {config.design} has no memories")
    words = [word.strip() for word in text.split(",")]
    if len(words) != len(sizes):
        count = (
            f"one address, for there is one memory, not {len(words)}"
            if len(sizes) == 1
            else (f"an address for each of the {len(sizes)} memories, separated by commas, not {len(words)}")
        )
        raise UserError(f"{option}: give {count}")
    return tuple(_base(option, which, word, size) for which, (word, size) in enumerate(zip(words, sizes, strict=True)))


def ptp_time_of(bits: int, config: Configuration, ports: list[Port]) -> int:
    """Return what `--ptp-time` says. Raises UserError."""
    if bits not in PTP_BITS:
        raise UserError(f"--ptp-time {bits}: a time has {' or '.join(map(str, PTP_BITS))} bits")
    if any(port.count for port in ports if port.name.startswith("m_axis_")):
        raise UserError(f"--ptp-time {bits}: {config.design} has several outputs; the option is for designs with one")
    return bits


def _base(option: str, which: int, word: str, size: int) -> int:
    try:
        base = int(word, 0)
    except ValueError:
        raise UserError(f"{option}: {word!r} is no address; give a number such as 0x8000_0000") from None
    unit = 1 << (size - 1).bit_length()
    if base < 0 or base % unit or base + unit > 1 << 64:
        allowed = f"a multiple of 0x{unit:x} below 2^64"
        raise UserError(f"{option}: memory {which} has {size:,} bytes, so its address must be {allowed}, not {word}")
    return base


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
    base: int | None = None  # of an address: what is added to the device's
    stamped: bool = False  # it is of the stream that gets times of departure

    @property
    def inner(self) -> int:
        """Bits at the device."""
        return self.of.bits // (self.of.count or 1)

    @property
    def at_device(self) -> str:
        """What is connected to the device."""
        return self.name if self.base is None and not self.stamped else f"d_{self.name}"


def name_of(config: Configuration) -> str:
    """Return the name of the wrapper's module."""
    return f"{config.module}_axi"


def flat(ports: list[Port], choice: Choice = PLAIN) -> list[Flat]:
    """Return the ports of the wrapper, without clock and reset: an interface's ports stand together."""
    found = [each for port in ports if port.name not in ("clk_i", "rst_i") for each in _flattened(port, choice)]
    if bits := choice.ptp_time:
        found.append(Flat("input", bits, PTP_TIME, Port("input", f"logic [{bits - 1}:0]", f"{PTP_TIME}_i", bits, 0), 0, "", ""))
    order = list(dict.fromkeys(each.interface for each in found))
    return sorted(found, key=lambda each: order.index(each.interface))


def _flattened(port: Port, choice: Choice) -> Iterator[Flat]:
    match = re.fullmatch(r"([sm])_(axis|axil|axi)_(\w+)_[io]", port.name)
    if match is None:
        yield Flat(port.direction, port.bits, re.sub(r"_[io]$", "", port.name), port, 0, "", "")
        return
    side, kind, signal = match.groups()
    for place in range(port.count or 1):
        interface = f"{side}_{'axi' if kind == 'axil' else kind}" + (f"_{place}" if port.count > 1 else "")
        bits, base = port.bits // (port.count or 1), None
        if choice.bases and kind == "axi" and signal in _ADDRESSES:
            base = choice.bases[place]
            bits = max(bits, base.bit_length())
        stamped = bool(choice.ptp_time) and (side, kind) == ("m", "axis")
        bits += choice.ptp_time if stamped and signal == "tuser" else 0
        yield Flat(port.direction, bits, f"{interface}_{signal}", port, place, interface, signal, base, stamped)


def clock_of(each: Flat, crossings: Sequence[str]) -> str:
    """Return the wrapper's clock of a port."""
    name = crossing.of_port(each.of, crossings)
    return f"{name}_aclk" if name else "aclk"


def verilog(config: Configuration, ports: list[Port], crossings: Sequence[str] = (), choice: Choice = PLAIN) -> str:
    """Return the wrapper."""
    found = flat(ports, choice)
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
        elif each.name == INTERRUPT:
            lines += _attributes(f"signal:interrupt:1.0 {INTERRUPT} INTERRUPT", f"XIL_INTERFACENAME {INTERRUPT}, SENSITIVITY LEVEL_HIGH")
        lines += ['    (* mark_debug = "true" *)'] if choice.mark_debug and each.name.startswith("ev_") else []
        lines.append(f"    {each.direction:6} wire {_width(each.bits):9} {each.name}{',' if each is not found[-1] else ''}")
    pins = [
        "      .clk_i(aclk)",
        "      .rst_i(!aresetn)",
        *_own_clocks("      .{0}_clk_i({0}_aclk)", "      .{0}_rst_o({0}_rst)", crossings),
    ]
    pins += [f"      .{port.name}({_joined(port, found)})" for port in ports[2:]]
    resets = "".join(f"  wire {name}_rst;\n  assign {name}_aresetn = !{name}_rst;\n" for name in crossings)
    based = [each for each in found if each.base is not None]
    stamped = [each for each in found if each.stamped]
    moved = "".join(f"  wire {_width(each.inner):9} d_{each.name};\n" for each in (*based, *stamped))
    moved += "".join(f"  assign {each.name} = {each.bits}'h{each.base:x} | {_wide(f'd_{each.name}', each)};\n" for each in based)
    head, body = "\n".join(lines), ",\n".join(pins)
    return f"""// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// {config.module} behind scalar ports with the names of AXI, and attributes by which Vivado finds the interfaces.
// Written by penstock generate; do not edit.
module {name_of(config)} (
{head}
);

{resets}{moved}  {crossing.name_of(config, crossings)} u_device (
{body}
  );
{_stamp(stamped, choice, clock_of(stamped[0], crossings)) if stamped else ""}
endmodule
"""


def _stamp(ports: list[Flat], choice: Choice, clock: str) -> str:
    """Return what puts times of departure into the stream that leaves."""
    by = {each.signal: each for each in ports}
    beside = [each for each in ports if each.signal not in ("tdata", "tkeep", "tlast", "tuser", "tvalid", "tready")]
    reset = "!aresetn" if clock == "aclk" else clock.replace("_aclk", "_rst")
    inner = {"tid": ", ".join(each.at_device for each in beside)} | {key: by[key].at_device for key in by if key not in {"tid", "tdest"}}
    outer = {"tid": ", ".join(each.name for each in beside)} | {key: by[key].name for key in by if key not in {"tid", "tdest"}}
    numbers = {"DataBytes": by["tdata"].bits // 8, "IdWidth": sum(each.bits for each in beside), "UserWidth": by["tuser"].inner,
               "TimeWidth": choice.ptp_time}  # fmt: skip
    pins = [f".clk_i({clock})", f".rst_i({reset})", f".time_i({PTP_TIME})"]
    for side, names, taken in (("s", inner, "i"), ("m", outer, "o")):
        given = {"i": "o", "o": "i"}[taken]
        pins += [f".{side}_axis_{key}_{given if key == 'tready' else taken}({{{name}}})" for key, name in names.items()]
    set_to = ", ".join(f".{key}({value})" for key, value in numbers.items())
    body = ",\n".join(f"      {pin}" for pin in pins)
    return f"\n  pst_departure_stamp #({set_to}) u_stamp (\n{body}\n  );\n"


def _own_clocks(clock: str, reset: str, crossings: Sequence[str]) -> list[str]:
    return [f"      {text.format(name)}" for name in crossings for text in (clock, reset)]


def _wide(name: str, each: Flat) -> str:
    """Return an address of the device in as many bits as the wrapper has."""
    return name if each.bits == each.inner else f"{{{each.bits - each.inner}'b0, {name}}}"


def native(config: Configuration, ports: list[Port], crossings: Sequence[str] = (), choice: Choice = PLAIN) -> str:
    """Return a module with the ports of the device around the wrapper, so that a bench of the one also tries the other.

    Addresses are those of the device again; one below the base of its memory, or too far above it, ends the simulation.
    """
    found = flat(ports, choice)
    width = max(len(port.kind) for port in ports)
    heads = ",\n".join(f"    {port.direction:6} {port.kind:{width}} {port.name}" for port in crossing.with_clocks(ports, crossings))
    pins = [
        "      .aclk(clk_i)",
        "      .aresetn(!rst_i)",
        *_own_clocks("      .{0}_aclk({0}_clk_i)", "      .{0}_aresetn({0}_rst_n)", crossings),
    ]
    around = crossing.name_of(config, crossings)
    resets = "".join(f"  wire {name}_rst_n;\n  assign {name}_rst_o = !{name}_rst_n;\n" for name in crossings)
    wide = [each for each in found if each.stamped and each.signal == "tuser"]
    pins += [f"      .{each.name}({_outside(each) if each.base is None and each not in wide else f'w_{each.name}'})" for each in found]
    moved = "".join(_checked(each, clock_of(each, crossings).replace("aclk", "clk_i")) for each in found if each.base is not None)
    moved += "".join(_stamps_checked(each, choice, clock_of(each, crossings).replace("aclk", "clk_i")) for each in wide)
    body = ",\n".join(pins)
    return f"""// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// {name_of(config)} behind the ports of {around}, for its test bench. Written by penstock generate; do not edit.
module {name_of(config)}_native (
{heads}
);

{resets}{moved}  {name_of(config)} u_axi (
{body}
  );

endmodule
"""


def _outside(each: Flat) -> str:
    return f"{each.of.name}[{each.place}]" if each.interface and each.of.count else each.of.name


def _checked(each: Flat, clock: str) -> str:
    """Return what takes the base of a memory off an address."""
    valid, name, base = _outside(each).replace("addr_", "valid_"), each.name, f"{each.bits}'h{each.base:x}"
    wrong = [f"w_{name} < {base}"] if each.base else []
    wrong += [f"o_{name}[{each.bits - 1}:{each.inner}] != 0"] if each.bits > each.inner else []
    check = f"""  always @(posedge {clock}) begin
    if ({valid} && ({" || ".join(wrong)})) $fatal(1, "FAIL: {name} is 0x%0h", w_{name});
  end
"""
    return f"""  wire [{each.bits - 1}:0] w_{name}, o_{name};
  assign o_{name} = w_{name} - {base};
  assign {_outside(each)} = o_{name}[{each.inner - 1}:0];
{check if wrong else ""}"""


def _stamps_checked(each: Flat, choice: Choice, clock: str) -> str:
    """Return a time that runs, and what holds the stamps at tuser against it: each is of the edge that brought its frame's first beat."""
    bits, reset = choice.ptp_time, "rst_i" if clock == "clk_i" else clock.replace("_clk_i", "_rst_o")
    return f"""  reg [{bits - 1}:0] {PTP_TIME}_i = 0, last_time, stamp;
  reg in_frame = 0, shown = 0;
  wire [{each.bits - 1}:0] w_{each.name};
  wire [{bits - 1}:0] w_stamp = w_{each.name}[{each.bits - 1}:{each.inner}];
  assign {_outside(each)} = w_{each.name}[{each.inner - 1}:0];
  always @(posedge {clock}) begin
    {PTP_TIME}_i <= {PTP_TIME}_i + {bits}'h1_0000_0001;
    last_time <= {PTP_TIME}_i;
    if (!in_frame && !shown) stamp <= w_stamp;
    shown  <= !{reset} && m_axis_tvalid_o && !m_axis_tready_i;
    in_frame <= !{reset} && (m_axis_tvalid_o && m_axis_tready_i ? !m_axis_tlast_o : in_frame);
    if (!{reset} && m_axis_tvalid_o && w_stamp != (in_frame || shown ? stamp : last_time))
      $fatal(1, "FAIL: a frame has time 0x%0h", w_stamp);
  end
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
    names = [each.at_device for each in found if each.of is port]
    return names[0] if len(names) == 1 else f"{{{', '.join(reversed(names))}}}"
