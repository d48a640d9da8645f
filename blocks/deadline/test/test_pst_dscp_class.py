"""pst_dscp_class: the class of frames that Scapy has built, behind up to two VLAN tags, cut and damaged; beats pass unchanged."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, with_timeout

from penstock.testing import testkit
from penstock.testing.testkit import BLOCKS, parameter, run_module, seed, start

BEAT = 64
TAGS = (0x8100, 0x88A8)


def dscp_of(frame: bytes) -> int | None:
    """Model: the DSCP of a frame by RFC 2474 and the layouts of IEEE 802.3, 802.1Q, RFC 791 and RFC 8200; None: it has none."""
    at, tags = 12, 0
    while tags < 2 and int.from_bytes(frame[at : at + 2], "big") in TAGS:
        at, tags = at + 4, tags + 1
    header = frame[at + 2 : at + 4]
    if len(header) < 2:
        return None
    version = {0x0800: 4, 0x86DD: 6}.get(int.from_bytes(frame[at : at + 2], "big"))
    if version is None or header[0] >> 4 != version:
        return None
    traffic_class = header[1] if version == 4 else (header[0] & 15) << 4 | header[1] >> 4
    return traffic_class >> 2


def built(rng: random.Random) -> tuple[bytes, int | None]:
    """Return a frame and the DSCP that it was given, None for one that must have the default class."""
    from scapy.layers.inet import IP, TCP, UDP
    from scapy.layers.inet6 import IPv6
    from scapy.layers.l2 import ARP, LLC, Dot1AD, Dot1Q, Dot3, Ether
    from scapy.packet import Raw

    kind = rng.choice(("ipv4", "ipv4", "ipv6", "ipv6", "arp", "llc", "raw", "version"))
    dscp, ecn = rng.randrange(64), rng.randrange(4)
    tags = rng.choice((0, 0, 0, 1, 1, 2, 2, 3))
    payload = Raw(rng.randbytes(rng.choice((0, 1, 20, rng.randrange(300)))))
    packet = Dot3() if kind == "llc" else Ether(src=rng.randbytes(6), dst=rng.randbytes(6))
    if kind != "llc":
        for _ in range(tags):
            packet /= rng.choice((Dot1Q, Dot1AD))(prio=rng.randrange(8), vlan=rng.randrange(4096))
    upper = rng.choice((UDP, TCP))()
    if kind == "ipv4":
        packet /= IP(tos=dscp << 2 | ecn, options=rng.choice(([], [b"\x01" * 4]))) / upper / payload
    elif kind == "ipv6":
        packet /= IPv6(tc=dscp << 2 | ecn, fl=rng.getrandbits(20)) / upper / payload
    elif kind == "version":
        packet /= rng.choice((IP(tos=dscp << 2, version=rng.choice((0, 5, 6, 15))), IPv6(tc=dscp << 2, version=rng.choice((0, 4, 7)))))
    elif kind == "arp":
        packet /= ARP()
    elif kind == "llc":
        packet /= LLC() / payload
    else:
        packet.lastlayer().type = rng.choice((0x0801, 0x86DC, 0x9100, 0x88B5, 0x0806))
        packet /= payload
    frame = bytes(packet)
    found = dscp if kind in ("ipv4", "ipv6") and tags <= 2 else None
    if rng.random() < 0.2:  # it ends early, often around the field
        field = 14 + 4 * min(tags, 2) + 2
        frame = frame[: rng.choice((field - 2, field - 1, field, field + 1, rng.randint(1, BEAT), BEAT, BEAT + 1))]
        if len(frame) < field:
            found = None
    return frame, found


class Bench:
    def __init__(self, dut, rng: random.Random, source: float, sink: float) -> None:
        self.dut, self.rng = dut, rng
        self.classes = parameter("Classes", 64)
        self.handed_over = parameter("ClassFromUser", 0)
        fields = ("data", "bytes", "last", "bad", "user", "class")
        self.inputs = {name: getattr(dut, f"s_{name}_i") for name in fields}
        self.outputs = {name: getattr(dut, f"m_{name}_o") for name in fields}
        self.source = testkit.Stream(dut.clk_i, dut.s_valid_i, dut.s_ready_o, self.inputs, source, random.Random(rng.random()))
        self.sink = testkit.Stream(dut.clk_i, dut.m_valid_o, dut.m_ready_i, self.outputs, sink, random.Random(rng.random()))
        self.table, self.default = [0] * 64, 0
        self.received: list[dict] = []

    def idle(self) -> None:
        for signal in (*self.inputs.values(), self.dut.s_valid_i, self.dut.m_ready_i, self.dut.set_valid_i):
            signal.value = 0

    async def write(self, dscp: int, class_: int) -> None:
        """Write the table; 64 and above: the default."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.set_valid_i.value, dut.set_dscp_i.value, dut.set_class_i.value = 1, dscp, class_
        await FallingEdge(dut.clk_i)
        dut.set_valid_i.value = 0
        if dscp < 64:
            self.table[dscp] = class_
        else:
            self.default = class_

    def beats(self, frame: bytes, found: int | None) -> tuple[list[dict], list[dict]]:
        """Return the beats of a frame as they go in, with noise where nothing counts, and as they must come out."""
        rng = self.rng
        assert dscp_of(frame) == found, f"{frame.hex()}: the model finds {dscp_of(frame)}, it was given {found}"
        ins, outs, first = [], [], rng.randrange(self.classes)
        class_ = first if self.handed_over else self.default if found is None else self.table[found]
        for start_ in range(0, len(frame), BEAT):
            part, last = frame[start_ : start_ + BEAT], start_ + BEAT >= len(frame)
            beat = {
                "data": int.from_bytes(part + rng.randbytes(BEAT - len(part)), "little"), "last": int(last),
                "bytes": len(part) if last else rng.randrange(128), "bad": rng.getrandbits(1), "user": rng.getrandbits(16),
            }  # fmt: skip
            ins.append({**beat, "class": rng.randrange(self.classes) if start_ else first})
            outs.append({**beat, "class": class_})
        return ins, outs

    async def run(self, frames: int) -> set[int | None]:
        """Send frames and compare what comes out; return the DSCPs that there were."""
        expected, seen = [], set()
        receiver = cocotb.start_soon(self.sink.receive(self.received))
        for _ in range(frames):
            frame, found = built(self.rng)
            ins, outs = self.beats(frame, found)
            seen.add(found)
            expected += outs
            await with_timeout(self.source.send(ins), 10, "us")

        async def whole() -> None:
            while len(self.received) < len(expected):
                await FallingEdge(self.dut.clk_i)

        await with_timeout(whole(), 10, "us")
        receiver.cancel()
        for number, (got, want) in enumerate(zip(self.received, expected, strict=True)):
            assert got == want, f"beat {number}: {got} instead of {want}"
        self.received.clear()
        return seen


@cocotb.test()
async def classes_of_frames(dut) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    bench = Bench(dut, rng, 0.8, 0.7)
    bench.idle()
    await start(dut)
    seen = await bench.run(20)  # all of class 0
    for _ in range(4):
        for dscp in range(64):
            await bench.write(dscp, rng.randrange(bench.classes))
        await bench.write(rng.randrange(64, 128), rng.randrange(bench.classes))
        for _ in range(10):
            await bench.write(rng.randrange(65), rng.randrange(bench.classes))
            seen |= await bench.run(20)
    assert seen == {None, *range(64)}, f"never seen: {({None, *range(64)}) - seen}"


@cocotb.test()
async def a_beat_a_cycle(dut) -> None:
    """With a sink that is always ready nothing waits: a beat goes in, and comes out two cycles later, in each cycle."""
    bench = Bench(dut, random.Random(seed()), 1.0, 1.0)
    bench.idle()
    await start(dut)
    dut.m_ready_i.value = 1
    out = []
    for cycle in range(60):
        await FallingEdge(dut.clk_i)
        ins, _ = bench.beats(bytes(BEAT), None)
        for name, value in ins[0].items():
            bench.inputs[name].value = value
        dut.s_valid_i.value = cycle < 50
        await ReadOnly()
        assert int(dut.s_ready_o.value)
        out.append(int(dut.m_valid_o.value))
    assert out == [0, 0, *[1] * 50, *[0] * 8]


@cocotb.test()
async def reset_in_mid_frame(dut) -> None:
    """The beat after a reset is a frame's first, and the table is empty again."""
    rng = random.Random(seed())
    bench = Bench(dut, rng, 1.0, 1.0)
    bench.idle()
    await start(dut)
    for dscp in range(65):
        await bench.write(dscp, 1)
    ins, _ = bench.beats(rng.randbytes(12) + bytes(1000), None)
    dut.m_ready_i.value = 1
    await with_timeout(bench.source.send(ins[:3]), 1, "us")
    await testkit.reset(dut)
    bench.table, bench.default = [0] * 64, 0
    await bench.run(20)


@pytest.mark.parametrize("classes, handed_over", [(64, 0), (3, 0), (256, 1)])
def test_pst_dscp_class(classes: int, handed_over: int) -> None:
    parameters = {"Classes": classes, "ClassFromUser": handed_over}
    run_module("deadline", "pst_dscp_class", parameters, sources=[BLOCKS / "deadline" / "rtl" / "pst_dscp_class.sv"])
