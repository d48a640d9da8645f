# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The bridge of a board, from RGMII pins to RGMII pins: PHYs whose clocks are 100 ppm apart, and all that a wire can bring.

The top of the board without and with queues, LiteEth's MAC, LiteX's UART and the cells at the pins are simulated. Frames are judged by
zlib's CRC-32 and by plain lists; registers are those that the program for boards reads and writes at the serial pins.
"""

import random
import tempfile
import zlib
from pathlib import Path

import cocotb
import pytest
from cocotb.task import bridge
from cocotb.triggers import Timer

from penstock.designs.bridge.testing.bridge_pins import PREAMBLE, UP, Phy, Serial, begin, settled, with_fcs
from penstock.errors import UserError
from penstock.hardware import bridge_setting as setting
from penstock.hardware.bridge_registers import Bridge, Count, Link
from penstock.hardware.uart_bus import UartBus
from penstock.testing.testkit import parameter, run_module, seed

SHAPED = parameter("Shaped", 0)  # with queues that are set to no rate: flows may overtake each other
CLOCK_HZ = 62_500_000
CYCLES_TO_SET = 512  # until a queue has what was written
BAUD = CLOCK_HZ // (5 if SHAPED else 8)


@pytest.mark.parametrize(
    ("board", "shaped"),
    [
        pytest.param("versa_ecp5", 0, id="versa_ecp5-unshaped"),
        pytest.param("versa_ecp5", 1, id="versa_ecp5-queues", marks=pytest.mark.slow),
        pytest.param("colorlight_i9", 0, id="colorlight_i9-unshaped", marks=pytest.mark.slow),
        pytest.param("colorlight_i9", 1, id="colorlight_i9-queues"),
    ],
)
def test_from_pins_to_pins(board: str, shaped: int) -> None:
    from penstock.hardware import board as boards

    chosen = boards.find(board)
    with tempfile.TemporaryDirectory() as folder:
        files = boards.sources(chosen, Path(folder), CLOCK_HZ // (5 if shaped else 8))
        run_module("bridge", boards.TOP, chosen.top | {"WaitBits": 4, "Shaped": shaped}, sources=files)


@pytest.mark.slow
@pytest.mark.synthesis
def test_the_netlist_does_the_same() -> None:
    """What Yosys made of the bridge without queues, cell by cell, passes all that its source does."""
    from penstock.designs.bridge.testing.bridge_netlist import Netlist
    from penstock.hardware import board as boards
    from penstock.paths import BUILD, alone_in

    chosen, folder = boards.find("versa_ecp5"), BUILD / "boards" / "versa_ecp5-netlist"
    with alone_in(folder):
        boards.netlist(chosen, {"WaitBits": 4}, folder, print, CLOCK_HZ // 8)
        made = folder / "netlist.sv"
        made.write_text(Netlist(folder / "netlist.json", boards.TOP).verilog())
        run_module("bridge", boards.TOP, sources=[*(boards.FOLDER / name for name in ("ecp5_cells.sv", "pst_ecp5_ram.sv")), made])


def address(rng: random.Random, control: bool) -> bytes:
    return bytes.fromhex("0180c20000") + bytes([rng.randrange(16)]) if control else b"\x02" + rng.randbytes(5)


def compare(phy: Phy, expected: list[bytes]) -> None:
    for wire in phy.got:
        assert wire.startswith(PREAMBLE) and wire[-4:] == zlib.crc32(wire[8:-4]).to_bytes(4, "little"), wire.hex()
    got = [wire[8:-4] for wire in phy.got]
    for control in (True, False):
        of = [frame for frame in expected if (frame[:5] == bytes.fromhex("0180c20000") and frame[5] < 16) == control]
        found = [frame for frame in got if (frame[:5] == bytes.fromhex("0180c20000") and frame[5] < 16) == control]
        assert found == of or (SHAPED and not control and sorted(found) == sorted(of))
    assert all(gap >= 12 for gap in phy.gaps)


def drawn(rng: random.Random, count: int) -> tuple[list[tuple[bytes, int]], list[bytes]]:
    """Return what is sent, and the frames of it that must come out at the other port."""
    sent: list[tuple[bytes, int]] = []
    out: list[bytes] = []
    for kind in rng.choices(["good", "fcs", "short", "cut", "runt", "long", "wordless"], [12, 2, 2, 2, 1, 0.4, 1], k=count):
        length = rng.choice([60, 61, rng.randint(60, 200), rng.randint(60, 200), rng.randint(60, 1514)])
        frame = address(rng, rng.random() < 0.2) + rng.randbytes(length - 6)
        if rng.random() < 0.1:
            frame = bytes.fromhex("0180c2000010") + frame[6:]  # the next after the reserved ones
        preamble = PREAMBLE[rng.randrange(3) :]  # a PHY may take some of it
        wire = preamble + with_fcs(frame)
        if kind == "good":
            out.append(frame)
        elif kind == "fcs":
            place = rng.randrange(len(preamble), len(wire))
            wire = wire[:place] + bytes([wire[place] ^ 1 << rng.randrange(8)]) + wire[place + 1 :]
        elif kind == "short":
            wire = preamble + with_fcs(frame[: rng.randint(2, 59)])
        elif kind == "cut":  # the link goes down
            wire = wire[: rng.randint(20, len(wire) - 1)]
        elif kind == "runt":
            wire = preamble + rng.randbytes(rng.randint(1, 5))
        elif kind == "long":
            wire = preamble + with_fcs(address(rng, False) + rng.randbytes(rng.choice([1531, 1600, 2500])))
        else:
            wire = preamble[: rng.randint(1, len(preamble) - 1)]  # no start of a frame
        sent.append((wire, rng.choice([12, 12, 12, 13, rng.randint(12, 100)])))
    return sent, out


@cocotb.test()
async def all_that_a_wire_brings(dut) -> None:
    rng = random.Random(seed())
    phys = await begin(dut, rng)
    expected = []
    for phy in phys:
        phy.send, out = drawn(rng, 60)
        expected.append(out)
        phy.stop = {rng.randint(500, 6000): rng.randint(100, 5000)}  # the PHY's clock stops, mostly within a frame
    await settled(phys)
    compare(phys[1], expected[0])
    compare(phys[0], expected[1])
    assert min(map(len, expected)) > 10


@cocotb.test()
async def the_whole_rate(dut) -> None:
    """Frames come with the least gap in both directions: all leave, and no gap is made longer than the clocks make it."""
    rng = random.Random(seed() + 1)
    phys = await begin(dut, rng)
    frames = [[address(rng, False) + rng.randbytes(54 if turn % 3 else 500) for turn in range(20)] for _ in phys]
    for phy, own in zip(phys, frames, strict=True):
        phy.send = [(PREAMBLE + with_fcs(frame), 12) for frame in own]
    await settled(phys)
    for phy, own in zip(phys, reversed(frames), strict=True):
        got = [wire[8:-4] for wire in phy.got]
        assert got == own or (SHAPED and sorted(got) == sorted(own))
        dut._log.info(f"gaps {phy.gaps}")
    # Frames of one length that no word divides: each leaves as long after the one before as it came.
    for phy in phys:
        phy.got.clear()
        phy.times.clear()
    length = rng.choice([61, 62, 63])
    frames = [[address(rng, False) + rng.randbytes(length - 6) for _ in range(40)] for _ in phys]
    for phy, own in zip(phys, frames, strict=True):
        phy.send = [(PREAMBLE + with_fcs(frame), 12) for frame in own]
    await settled(phys)
    for phy, own in zip(phys, reversed(frames), strict=True):
        assert sorted(wire[8:-4] for wire in phy.got) == sorted(own)
        late_ns = phy.times[-1] - phy.times[0] - 8 * (len(own) - 1) * (length + 24)
        dut._log.info(f"{length} bytes: {late_ns} ns late")
        assert late_ns < (200 if SHAPED else 17), "the bridge is slower than its ports"


def counted(frames: list[bytes]) -> Count:
    return Count(len(frames), sum(map(len, frames)))


@cocotb.test()
async def counters_and_links(dut) -> None:
    """What became of each frame is read at the serial pins, and so are the links: one is slow and down, then its clock stops."""
    rng = random.Random(seed() + 2)
    phys = await begin(dut, rng)
    device: Bridge = await bridge(Bridge)(UartBus(Serial(dut, BAUD, rng.choice([-5000, 0, 5000])), "pins"))
    assert (device.queues, device.flows, device.cells) == ((16, 1024, 512) if SHAPED else (0, 0, 0))
    assert (device.version, device.clock_hz, device.max_frame_bytes) == ("1.0", CLOCK_HZ, 1536)

    expected: list[dict[str, list[bytes]]] = []
    for phy in phys:
        kinds: dict[str, list[bytes]] = {name: [] for name in ("in", "control", "bad_frame", "runt", "oversize")}
        for kind in rng.sample(["in"] * 9 + ["control"] * 3 + ["bad_frame"] * 2 + ["runt"] * 3 + ["oversize"], 18):
            length = {"runt": rng.randint(2, 59), "oversize": rng.randint(1537, 1600)}.get(kind, rng.choice([60, rng.randint(60, 300)]))
            frame = (address(rng, kind == "control") + rng.randbytes(1600))[:length]
            wire = with_fcs(frame)
            if kind == "bad_frame":
                place = rng.randrange(len(wire))
                wire = wire[:place] + bytes([wire[place] ^ 1 << rng.randrange(8)]) + wire[place + 1 :]
            kinds[kind].append(frame[:1537])  # all too long ones count alike
            phy.send.append((PREAMBLE + wire, 12))
        expected.append(kinds)
    await settled(phys)
    for phy in phys:
        phy.clock = False  # registers answer without it, and the simulation is quicker
    for direction, kinds in enumerate(expected):
        sent = kinds["in"] + kinds["control"]
        assert sorted(wire[8:-4] for wire in phys[1 - direction].got) == sorted(sent)
        names = ["in", "control", "bad_frame", "runt", "oversize", "out", "no_room", "flow_overflow"]
        for name in names if direction else rng.sample(names, 2):
            found = await bridge(device.counter)(direction, name)
            assert found == counted(sent if name == "out" else kinds.get(name, [])), (direction, name)

    port = rng.randrange(2)
    phys[port].idle = 0xAA  # in-band status 1010
    for phy in phys:
        phy.clock = True
    await Timer(3, unit="us")
    assert await bridge(device.link)(port) == Link(True, False, True, "100 Mbit/s")
    assert await bridge(device.link)(1 - port) == Link(True, True, True, "1 Gbit/s")
    phys[port].clock = False
    await Timer(80, unit="us")
    assert await bridge(device.link)(port) == Link(False, False, False, "10 Mbit/s")
    assert await bridge(device.link)(1 - port) == Link(True, True, True, "1 Gbit/s")
    phys[port].idle, phys[port].clock = UP, True
    await Timer(3, unit="us")
    assert await bridge(device.link)(port) == Link(True, True, True, "1 Gbit/s")


@cocotb.test()
async def rates_under_traffic(dut) -> None:
    """While frames come without a pause, the serial line gives a queue a rate, then another one, then none, and reads each back."""
    rng = random.Random(seed() + 3)
    phys = await begin(dut, rng)
    device: Bridge = await bridge(Bridge)(UartBus(Serial(dut, BAUD), "pins"))
    source, size = rng.randrange(2), 250
    if not SHAPED:
        with pytest.raises(UserError, match="this bridge was built without queues, so it has no rates"):
            await bridge(device.set_rate)(source, 50_000_000)
        with pytest.raises(UserError, match="the bridge refused `write`: bad_queue"):
            await bridge(device.set_queue)(source, 0, setting.UNSHAPED)
        return
    sink = phys[1 - source]
    sink.clock = False  # nothing comes from there
    sent: list[bytes] = []

    async def offered() -> None:
        while True:
            if len(phys[source].send) < 4:
                sent.append(b"\x02" + rng.randbytes(11) + b"\x08\x06" + rng.randbytes(size - 14))
                phys[source].send.append((PREAMBLE + with_fcs(sent[-1]), 12))
            await Timer(500, unit="ns")

    async def rate_bps(window_ns: int) -> float:
        """Return the rate of what leaves in the middle of a time: the first frames are of the time before."""
        await Timer(window_ns // 4, unit="ns")
        begun = len(sink.got)
        await Timer(window_ns, unit="ns")
        times = sink.times[begun : len(sink.got)]
        return (len(times) - 1) * size * 8e9 / (times[-1] - times[0])

    stream = cocotb.start_soon(offered())
    await Timer(30, unit="us")
    line_bps = 1e9 * size / (size + 24)
    assert abs(await rate_bps(40_000) / line_bps - 1) < 0.001, "before it is set, it is unshaped"
    for bps in rng.sample([150_000_000, 200_000_000, 317_000_000], 2):
        to = setting.numbers(bps, CLOCK_HZ)
        await bridge(device.set_queue)(source, 0, to)
        await Timer(CYCLES_TO_SET * 16, unit="ns")
        found = await rate_bps(400_000)
        dut._log.info(f"{bps} bit/s: {found / bps - 1:+.4%}")
        assert abs(found / bps - 1) < 0.001
        assert await bridge(device.queue)(source, 0) == to
        assert await bridge(device.queue)(1 - source, 0) == await bridge(device.queue)(source, 1) == setting.UNSHAPED
    await bridge(device.shape)((source != 0, source != 1))
    await Timer(CYCLES_TO_SET * 16, unit="ns")
    assert abs(await rate_bps(40_000) / line_bps - 1) < 0.001, "shaping is off"
    assert await bridge(device.queue)(source, 0) == to, "and the setting is kept"
    for wrong in ({"mantissa": 2, "exponent": 0}, {"mantissa": 1, "exponent": 1}, {"mantissa": 32767, "exponent": 20}):
        with pytest.raises(UserError, match="the bridge refused `write`: bad_rate"):
            await bridge(device.set_queue)(source, 0, to | wrong)
    with pytest.raises(UserError, match="the bridge refused `read_back`: bad_queue"):
        await bridge(device.queue)(source, 16)
    stream.cancel()
    await settled(phys)
    phys[source].clock = False
    await Timer(150, unit="us")  # the packet memory is full, and empties at the line's rate
    counts = {name: await bridge(device.counter)(source, name) for name in ("in", "out", "flow_overflow", "aqm", "no_page")}
    dut._log.info(f"{counts}")
    assert counts["in"] == counted(sent) and counts["flow_overflow"].frames > 20
    assert counts["out"] == counted([wire[8:-4] for wire in sink.got])
    assert counts["in"].frames == sum(counts[name].frames for name in counts if name != "in")
    assert counts["in"].bytes == sum(counts[name].bytes for name in counts if name != "in")
