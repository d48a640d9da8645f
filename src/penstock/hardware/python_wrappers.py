# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The wrapper with scalar ports as a module of LiteX and as a component of Amaranth: one file of Python each, in the package."""

from collections.abc import Iterable, Sequence

from penstock import __version__
from penstock.designs.configs import Port
from penstock.designs.design import Configuration
from penstock.hardware import axi_wrapper
from penstock.hardware.axi_wrapper import PLAIN, Choice, Flat

_STREAM = {"tdata": "data", "tkeep": "keep", "tid": "id", "tdest": "dest", "tuser": "user", "tvalid": "valid", "tready": "ready",
           "tlast": "last"}  # fmt: skip
_CHANNELS = ("aw", "ar", "w", "b", "r")


def _by_interface(found: Iterable[Flat]) -> dict[str, list[Flat]]:
    grouped: dict[str, list[Flat]] = {}
    for each in found:
        grouped.setdefault(each.interface, []).append(each)
    return grouped


def _kind(ports: list[Flat]) -> str:
    return ports[0].of.name.split("_")[1]


def _head(config: Configuration, what: str, more: str) -> str:
    return f'''# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""{axi_wrapper.name_of(config)} {what}. Written by Penstock {__version__}; do not edit.

{more}
"""
'''


def litex(config: Configuration, ports: list[Port], crossings: Sequence[str], choice: Choice = PLAIN) -> str:
    """Return the module for LiteX, with adapters to the streams of LiteEth."""
    grouped = _by_interface(axi_wrapper.flat(ports, choice))
    lines, pins = [], ["i_aclk=ClockSignal(clock_domain)", "i_aresetn=~ResetSignal(clock_domain)"]
    for name in crossings:
        lines.append(f"        self.{name}_aresetn = Signal()  # out, of that clock")
        pins += [f'i_{name}_aclk=ClockSignal(domains["{name}"])', f"o_{name}_aresetn=self.{name}_aresetn"]
    for interface, found in grouped.items():
        if not interface:
            lines += [f"        self.{each.name} = Signal({each.bits})" for each in found]
            pins += [f"{each.direction[0]}_{each.name}=self.{each.name}" for each in found]
            continue
        bits = {each.signal: each.bits for each in found}
        kind, clock = _kind(found), axi_wrapper.clock_of(found[0], crossings)
        domain = "clock_domain" if clock == "aclk" else f'domains["{clock.removesuffix("_aclk")}"]'
        if kind == "axis":
            widths = ", ".join(f"{key}_width={bits[f't{key}']}" for key in ("data", "keep", "id", "dest", "user") if f"t{key}" in bits)
            lines.append(f"        self.{interface} = axi.AXIStreamInterface({widths}, clock_domain={domain})")
        else:
            kinds = {"axi": "AXIInterface", "axil": "AXILiteInterface"}
            id_width = f", id_width={bits['awid']}" if kind == "axi" else ""
            lines.append(
                f"        self.{interface} = axi.{kinds[kind]}(data_width={bits['wdata']}, address_width={bits['awaddr']}{id_width},"
                f" clock_domain={domain})"
            )
        pins += [f"{each.direction[0]}_{each.name}=self.{interface}.{_signal(each.signal, kind)}" for each in found]
    if "        self.irq = Signal(1)" in lines:
        lines += [
            "        # Of a peripheral with an interrupt: `soc.irq.add(NAME)`. Software clears it by the device's registers.",
            "        self.ev = _Level(self.irq)",
        ]
    domains = f"{{{', '.join(f'{chr(34)}{name}{chr(34)}: clock_domain' for name in crossings)}}}"
    body, connected = "\n".join(lines), ",\n            ".join(pins)
    more = f"""    from {config.module}_litex import Device
    self.edge = Device(platform)

Streams are `axi.AXIStreamInterface`, memories `axi.AXIInterface`, registers `axi.AXILiteInterface`; what remains are signals. A memory
belongs behind `litex.soc.interconnect.axi`; `soc.bus.add_slave` takes the registers."""
    return f"""{_head(config, "as a module of LiteX", more)}
from pathlib import Path

from litex.gen import LiteXModule
from litex.soc.interconnect import axi, stream
from migen import Array, Case, ClockSignal, If, Instance, Mux, ResetSignal, Signal

PACKAGE = Path(__file__).resolve().parents[1]
NAME = "{axi_wrapper.name_of(config)}"


class Device(LiteXModule):
    \"\"\"The device; `clocks` has the domains of interfaces with clocks of their own.\"\"\"

    def __init__(self, platform=None, clock_domain="sys", clocks=None):
        domains = {{**{domains}, **(clocks or {{}})}}  # noqa: F841
{body}
        self.specials += Instance(
            NAME,
            {connected},
        )
        if platform is not None:
            add_sources(platform)


class _Level:
    \"\"\"An interrupt that is a level, in the place of LiteX's event manager.\"\"\"

    def __init__(self, irq):
        self.irq = irq


def add_sources(platform):
    \"\"\"Add the sources of the package, in their order.\"\"\"
    for name in (PACKAGE / f"{{NAME}}.f").read_text().split():
        path = PACKAGE / name
        platform.add_source(str(path), "verilog" if path.suffix == ".v" else "systemverilog")

{_LITEETH}"""


_LITEETH = '''
def eth_layout(dw):
    """Return the layout of a stream of LiteEth: `last_be` marks the last byte of a frame, `error` bytes that are damaged."""
    return stream.EndpointDescription([("data", dw), ("last_be", dw // 8), ("error", dw // 8)])


class FromLiteEth(LiteXModule):
    """Frames of LiteEth (`sink`, `dw` bits) as an AXI4-Stream of `width` bits (`source`): an error anywhere in a frame is `user` bit 0 at
    its last beat.

    Latency: 1 cycle after the last part of a beat. Throughput: a part per cycle; the input stands while a beat waits.
    """

    def __init__(self, dw, width, user_width=1):
        self.sink = sink = stream.Endpoint(eth_layout(dw))
        self.source = source = axi.AXIStreamInterface(data_width=width, user_width=user_width)
        parts, lane = width // dw, dw // 8
        assert parts * dw == width and dw % 8 == 0
        at, full, bad = Signal(max=max(2, parts)), Signal(), Signal()
        data, keep = Array(Signal(dw) for _ in range(parts)), Array(Signal(lane) for _ in range(parts))
        last, error = Signal(), Signal()
        part_keep = Signal(lane)
        load, ends = Signal(), Signal()
        self.comb += [
            # A PHY of 8 bits drives `last` alone.
            part_keep.eq(Mux(sink.last & (sink.last_be != 0), sink.last_be | (sink.last_be - 1), 2**lane - 1)),
            sink.ready.eq(~full | source.ready),
            load.eq(sink.valid & sink.ready),
            ends.eq(sink.last | (at == parts - 1)),
            source.valid.eq(full),
            source.last.eq(last),
            source.user.eq(error),
            *(source.data[dw * n : dw * (n + 1)].eq(data[n]) for n in range(parts)),
            *(source.keep[lane * n : lane * (n + 1)].eq(keep[n]) for n in range(parts)),
        ]
        self.sync += [
            If(source.ready, full.eq(0)),
            If(
                load,
                If(at == 0, *(keep[n].eq(0) for n in range(parts))),
                data[at].eq(sink.data),
                keep[at].eq(part_keep),
                at.eq(Mux(ends, 0, at + 1)),
                full.eq(ends),
                last.eq(sink.last),
                error.eq(sink.last & (bad | (sink.error != 0))),
                bad.eq(~sink.last & (bad | (sink.error != 0))),
            ),
        ]


class ToLiteEth(LiteXModule):
    """Frames of an AXI4-Stream of `width` bits (`sink`) for LiteEth (`source`, `dw` bits): `user` bit 0 at the last beat is `error`.

    Latency: none. Throughput: a part per cycle; parts without a byte are left out.
    """

    def __init__(self, width, dw, id_width=0, user_width=1):
        self.sink = sink = axi.AXIStreamInterface(data_width=width, id_width=id_width, user_width=user_width)
        self.source = source = stream.Endpoint(eth_layout(dw))
        parts, lane = width // dw, dw // 8
        assert parts * dw == width and dw % 8 == 0
        at, end, following = Signal(max=max(2, parts)), Signal(), Signal()
        data, keep = Signal(dw), Signal(lane)
        self.comb += [
            Case(
                at,
                {
                    n: [
                        data.eq(sink.data[dw * n : dw * (n + 1)]),
                        keep.eq(sink.keep[lane * n : lane * (n + 1)]),
                        following.eq(sink.keep[lane * (n + 1)] if n + 1 < parts else 0),
                    ]
                    for n in range(parts)
                },
            ),
            end.eq(sink.last & ~following),
            source.valid.eq(sink.valid),
            source.data.eq(data),
            source.last.eq(end),
            If(end, source.last_be.eq(keep & ~(keep >> 1)), If(sink.user[0], source.error.eq(keep & ~(keep >> 1)))),
            sink.ready.eq(source.ready & (end | (at == parts - 1))),
        ]
        self.sync += If(source.valid & source.ready, at.eq(Mux(end | (at == parts - 1), 0, at + 1)))
'''


def _signal(signal: str, kind: str) -> str:
    if kind == "axis":
        return _STREAM[signal]
    channel = next(name for name in _CHANNELS if signal.startswith(name))
    return f"{channel}.{signal.removeprefix(channel)}"


def amaranth(config: Configuration, ports: list[Port], crossings: Sequence[str], choice: Choice = PLAIN) -> str:
    """Return the component for Amaranth."""
    members, pins = [], ['i_aclk=ClockSignal(self._domains["aclk"])', 'i_aresetn=~ResetSignal(self._domains["aclk"])']
    for name in crossings:
        members.append(f'                "{name}_aresetn": Out(1),')
        pins += [f'i_{name}_aclk=ClockSignal(self._domains["{name}_aclk"])', f"o_{name}_aresetn=self.{name}_aresetn"]
    for interface, found in _by_interface(axi_wrapper.flat(ports, choice)).items():
        if not interface:
            members += [f'                "{each.name}": {_way(each, False)}({each.bits}),' for each in found]
            pins += [f"{each.direction[0]}_{each.name}=self.{each.name}" for each in found]
            continue
        kind, inside = _kind(found), interface.startswith("s_")
        if kind == "axis":
            payload = ", ".join(f'"{_STREAM[each.signal]}": {each.bits}' for each in found if each.signal not in ("tvalid", "tready"))
            signature = f"stream.Signature(data.StructLayout({{{payload}}}))"
            inner = {
                each.signal: _STREAM[each.signal] if each.signal in ("tvalid", "tready") else f"p.{_STREAM[each.signal]}" for each in found
            }
        else:
            shapes = ", ".join(f'"{each.signal}": {_way(each, inside)}({each.bits})' for each in found)
            signature = f"wiring.Signature({{{shapes}}})"
            inner = {each.signal: each.signal for each in found}
        members.append(f'                "{interface}": {"In" if inside else "Out"}({signature}),')
        pins += [f"{each.direction[0]}_{each.name}=self.{interface}.{inner[each.signal]}" for each in found]
    domains = ", ".join(f'"{name}": "sync"' for name in ["aclk", *(f"{name}_aclk" for name in crossings)])
    body, connected = "\n".join(members), ",\n            ".join(pins)
    more = f"""    from {config.module}_amaranth import Device
    m.submodules.edge = edge = Device()

Streams have the signature of `amaranth.lib.stream`, with data, keep, last and what else there is as payload; memories and registers have
AXI's names. `domains` names other clock domains than `sync`."""
    return f"""{_head(config, "as a component of Amaranth", more)}
from pathlib import Path

from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

PACKAGE = Path(__file__).resolve().parents[1]
NAME = "{axi_wrapper.name_of(config)}"


class Device(wiring.Component):
    \"\"\"The device; `domains` are its clock domains by the names of its clocks.\"\"\"

    def __init__(self, domains=None):
        self._domains = {{{domains}, **(domains or {{}})}}
        super().__init__(
            {{
{body}
            }}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.device = Instance(
            NAME,
            {connected},
        )
        if platform is not None:
            for name in (PACKAGE / f"{{NAME}}.f").read_text().split():
                platform.add_file(name, (PACKAGE / name).read_text())
        return m
"""


def _way(each: Flat, inside: bool) -> str:
    """Return the direction of a port in its interface's signature, which is that of the side that begins."""
    return "Out" if (each.direction == "output") != inside else "In"
