# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_bridge_shaped between its three clocks, with CoDel in it: rates, flows that share a queue, control frames, every byte.

Times are counted in cycles of the queues' clock, and frames in their bytes without FCS.
"""

import random
import struct
from dataclasses import dataclass, field

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time

from penstock.hardware import bridge_setting as setting
from penstock.paths import BUILD, DESIGNS, read_file_list
from penstock.testing.testkit import parameter, run_module, seed

CLOCK_HZ, CYCLE_NS, BYTE_NS = 62_500_000, 16, 8
RATE_BPS = 80_000_000
RESETS = ("rx_rst_i", "rst_i", "tx_rst_i", "settings_rst_i")
PULSES = ("kept", "damaged", "short", "long", "no_room", "queued", "no_cell", "overflow", "codel")
CELLS, QUEUES = parameter("Cells", 512), parameter("Queues", 16)


def run(parameters: dict[str, object], testcase: str) -> None:
    from penstock.hardware import plugs
    from penstock.parts.registry import find

    part = find("aqm", "codel")
    sources = plugs.sources(read_file_list(DESIGNS / "bridge" / "rtl" / "bridge.f"), part, plugs.written(part, {}, BUILD / "bridge"))
    run_module("bridge", "pst_bridge_shaped", parameters, testcase, sources=sources)


@pytest.mark.parametrize("cells, queues, flows", [(512, 16, 1024), (256, 4, 64)], ids=["full", "small"])
def test_shaped(cells: int, queues: int, flows: int) -> None:
    given = setting.literal(setting.value(RATE_BPS, CLOCK_HZ, target_us=cells * 200 // 512 - 50, interval_us=1000))
    run({"Cells": cells, "Queues": queues, "Flows": flows, "AgeCycles": 100, "Setting": given}, "shaped_queues")


def test_all_queues_busy() -> None:
    given = setting.literal(setting.value(RATE_BPS // 4, CLOCK_HZ))
    run({"AgeCycles": 100, "Setting": given}, "all_queues")


def test_unshaped() -> None:
    run({"Cells": 256, "Queues": 2, "Flows": 64, "AgeCycles": 100}, "the_whole_rate")


@dataclass
class Wire:
    """What goes in, and what has come out: (time in ns of the first byte, frame). `counts`: pulses by name."""

    out: list[tuple[float, bytes]] = field(default_factory=list)
    ends_in: dict[bytes, float] = field(default_factory=dict)  # time of the last byte in
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PULSES, 0))


async def transmitter(dut, wire: Wire) -> None:
    """Take frames as a MAC does: without a gap in them, and with FCS, gap and preamble between them."""
    part, begun = bytearray(), 0.0
    dut.m_ready_i.value = 1
    while True:  # at a falling edge: what is on offer is taken at the next edge
        if not int(dut.m_valid_o.value):
            assert not part, "a gap in a frame"
            await RisingEdge(dut.m_valid_o)
            await FallingEdge(dut.tx_clk_i)
            continue
        begun = begun if part else get_sim_time("ns")
        part.append(int(dut.m_data_o.value))
        if int(dut.m_last_o.value):
            wire.out.append((begun, bytes(part)))
            part.clear()
            await FallingEdge(dut.tx_clk_i)
            dut.m_ready_i.value = 0
            await Timer(23 * BYTE_NS - 1, unit="ns")
            await FallingEdge(dut.tx_clk_i)
            dut.m_ready_i.value = 1
        else:
            await FallingEdge(dut.tx_clk_i)


async def pulses(dut, wire: Wire, name: str) -> None:
    signal, clock = getattr(dut, f"{name}_o"), dut.rx_clk_i if name in PULSES[:5] else dut.clk_i
    while True:
        await RisingEdge(signal)
        await FallingEdge(clock)
        while int(signal.value):
            wire.counts[name] += 1
            await FallingEdge(clock)


async def send(dut, wire: Wire, frame: bytes, error: bool = False) -> None:
    """Send a frame as a MAC does, and the time that preamble, FCS and gap take."""
    for place, byte in enumerate(frame):
        await FallingEdge(dut.rx_clk_i)
        dut.s_valid_i.value, dut.s_data_i.value = 1, byte
        dut.s_last_i.value, dut.s_error_i.value = int(place == len(frame) - 1), int(error and place == len(frame) - 1)
    wire.ends_in[frame] = get_sim_time("ns")
    await FallingEdge(dut.rx_clk_i)
    dut.s_valid_i.value = 0
    await Timer(23 * BYTE_NS, unit="ns")


async def begin(dut, rng: random.Random) -> Wire:
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    for name in ("s_valid_i", "s_data_i", "s_count_i", "s_last_i", "s_error_i", "m_ready_i"):
        getattr(dut, name).value = 0
    for name in RESETS:
        getattr(dut, name).value = 1
    dut.shape_i.value, dut.access_i.value = 1, 0
    wire = Wire()
    for clock, period in ((dut.rx_clk_i, 8000), (dut.clk_i, 16000), (dut.tx_clk_i, 8000)):
        await Timer(rng.randrange(1, 8000), unit="ps")
        Clock(clock, period, unit="ps").start()
    await Timer(200, unit="ns")
    for name in RESETS:
        getattr(dut, name).value = 0
    cocotb.start_soon(transmitter(dut, wire))
    for name in PULSES:
        cocotb.start_soon(pulses(dut, wire, name))
    return wire


def frame_of(flow: int, vlan: int, number: int, length: int) -> bytes:
    """Return an IPv4 frame of UDP; the number makes it the only one of its kind."""
    tag = b"\x81\x00" + struct.pack(">H", vlan) if vlan else b""
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 28, 0, 0, 64, 17, 0, 0x0A000001, 0x0A000100 + flow)
    head = bytes(6) + b"\x02" + bytes(5) + tag + b"\x08\x00" + ip + struct.pack(">HHHHI", 1000 + flow, 53, 8, 0, number)
    return (b"\x02" + head[1:]).ljust(length, bytes([flow & 255]))


def control(number: int) -> bytes:
    return (bytes.fromhex("0180c200000e") + bytes(6) + b"\x88\xcc" + struct.pack(">I", number)).ljust(60, b"\0")


def read(frame: bytes) -> tuple[int, int, int]:
    """Return VLAN, flow and number of a frame of `frame_of`."""
    tagged = frame[12:14] == b"\x81\x00"
    at = 18 if tagged else 14
    return (struct.unpack(">H", frame[14:16])[0] if tagged else 0), frame[at + 19], struct.unpack(">I", frame[at + 28 : at + 32])[0]


@cocotb.test()
async def shaped_queues(dut) -> None:
    """Two queues get more than their rate, by two flows each, one of which is sparse; there are control frames and wrong ones."""
    rng = random.Random(seed())
    wire = await begin(dut, rng)
    bulk = rng.randint(280, 320)
    vlans = [rng.choice([0, QUEUES]), rng.randrange(1, QUEUES)]
    sent: list[bytes] = []
    wrong = controls = 0
    for number in range(700):
        for vlan in vlans:
            frame = frame_of(1, vlan, number, bulk)
            sent.append(frame)
            await send(dut, wire, frame)
        if number % 50 == 20:
            for vlan in vlans:
                frame = frame_of(2, vlan, number, rng.randint(60, 120))
                sent.append(frame)
                await send(dut, wire, frame)
        if number % 40 == 7:
            controls += 1
            await send(dut, wire, control(number))
        if rng.random() < 0.05:
            wrong += 1
            await send(dut, wire, frame_of(3, 0, number, 100), error=True)
        await Timer(rng.randrange(10_000), unit="ns")
    await Timer(4_000_000, unit="ns")

    plain = [(when, frame) for when, frame in wire.out if frame[:5] != bytes.fromhex("0180c20000")]
    counts = wire.counts
    dut._log.info(f"{counts}, out {len(wire.out)}")
    assert counts["damaged"] == wrong and counts["kept"] == len(sent) + controls
    assert counts["short"] == counts["long"] == counts["no_room"] == counts["no_cell"] == 0
    assert counts["queued"] == len(sent), "frames that came into a queue"
    assert len(plain) + counts["overflow"] + counts["codel"] == len(sent), "frames that left, or were lost there"
    assert counts["overflow"] > 50 and counts["codel"] > 5

    # Control frames leave at once, in their order: at most two frames of the queues are before them, one of them on the wire.
    found = [(when, frame) for when, frame in wire.out if frame[:5] == bytes.fromhex("0180c20000")]
    assert [frame for _, frame in found] == [control(number) for number in range(700) if number % 40 == 7]
    assert all(when - wire.ends_in[frame] < (2 * (bulk + 24) + 200) * BYTE_NS for when, frame in found)

    whole = set(sent)
    assert all(frame in whole for _, frame in plain), "frames are equal"
    assert len({frame for _, frame in plain}) == len(plain), "each left once"
    cycles_a_byte = 8 * CLOCK_HZ / RATE_BPS
    for vlan in vlans:
        of_queue = [(when, frame) for when, frame in plain if read(frame)[0] == vlan]
        for flow in (1, 2):
            numbers = [read(frame)[2] for _, frame in of_queue if read(frame)[1] == flow]
            assert numbers == sorted(numbers), "the order of a flow"
            if flow == 2:
                assert numbers == list(range(20, 700, 50)), "a sparse flow loses nothing"
        # The rate, while the queue has more than it may send: from the 20th frame to the last one before the input ends.
        end = wire.ends_in[frame_of(1, vlan, 699, bulk)]
        busy = [(when, len(frame)) for when, frame in of_queue[20:] if when < end]
        took = (busy[-1][0] - busy[0][0]) / CYCLE_NS
        rate = sum(length for _, length in busy[:-1]) / took
        dut._log.info(f"VLAN {vlan}: {len(busy)} frames in {took:.0f} cycles, {rate * cycles_a_byte - 1:+.5%} of its rate")
        assert abs(rate * cycles_a_byte - 1) < 0.001
        # A sparse flow's frame waits for the frame on its way and the one that was chosen, not for the backlog of the other flow.
        waits = [(when - wire.ends_in[frame]) / CYCLE_NS for when, frame in of_queue if read(frame)[1] == 2]
        others = [(when - wire.ends_in[frame]) / CYCLE_NS for when, frame in of_queue[20:] if read(frame)[1] == 1 and when < end]
        dut._log.info(f"VLAN {vlan}: the sparse flow waits {max(waits):.0f} cycles at most, the other one {min(others):.0f} at least")
        assert max(waits) < 3 * bulk * cycles_a_byte + 400
        assert sorted(others)[len(others) // 2] > 2 * max(waits)


@cocotb.test()
async def all_queues(dut) -> None:
    """Each of 16 queues gets twice its rate or more: they share the memory, no frame is without room, and each has its rate."""
    rng = random.Random(seed())
    wire = await begin(dut, rng)
    sent = []
    for number in range(80):
        for vlan in rng.sample(range(16), 16):
            sent.append(frame_of(number & 1, vlan, number, rng.choice([250, 300, 350])))
            await send(dut, wire, sent[-1])
    end = get_sim_time("ns")
    await Timer(2_000_000, unit="ns")
    counts = wire.counts
    dut._log.info(f"{counts}, out {len(wire.out)}")
    assert counts["no_cell"] == counts["no_room"] == 0 and counts["queued"] == len(sent) and counts["overflow"] > 100
    assert len(wire.out) + counts["overflow"] + counts["codel"] == len(sent)
    whole = set(sent)
    assert all(frame in whole for _, frame in wire.out)
    for vlan in range(16):
        busy = [(when, len(frame)) for when, frame in wire.out if read(frame)[0] == vlan and when < end][2:]
        took = (busy[-1][0] - busy[0][0]) / CYCLE_NS
        rate = sum(length for _, length in busy[:-1]) / took * 8 * CLOCK_HZ / (RATE_BPS / 4)
        dut._log.info(f"VLAN {vlan}: {len(busy)} frames, {rate - 1:+.4%}")
        # Frames of other queues on the line move either end by some of them: 16 frames are 1.4 % of what is measured.
        assert abs(rate - 1) < 0.014


@cocotb.test()
async def the_whole_rate(dut) -> None:
    """As it is after reset: frames of all sizes come without a pause, and all leave, each flow in its order."""
    rng = random.Random(seed())
    wire = await begin(dut, rng)
    sent = []
    for number in range(250):
        length = 60 if number < 150 else rng.choice([60, rng.randint(60, 200), 1514, 1536])
        sent.append(frame_of(rng.randrange(5), rng.choice([0, 0, 1, 2]), number, length))
        await send(dut, wire, sent[-1])
    await Timer(100_000, unit="ns")
    assert sorted(frame for _, frame in wire.out) == sorted(sent)
    for key in {read(frame)[:2] for frame in sent}:
        assert [frame for _, frame in wire.out if read(frame)[:2] == key] == [frame for frame in sent if read(frame)[:2] == key]
    assert wire.counts == {**dict.fromkeys(PULSES, 0), "kept": 250, "queued": 250}
