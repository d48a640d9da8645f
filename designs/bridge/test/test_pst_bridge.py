# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The bridge of a board, from RGMII pins to RGMII pins: PHYs whose clocks are 100 ppm apart, and all that a wire can bring.

The top of the board without and with queues, LiteEth's MAC and the cells at the pins are simulated. Frames are judged by zlib's CRC-32 and
by plain lists.
"""

import random
import tempfile
import zlib
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import Timer

from penstock.testing.testkit import parameter, run_module, seed

PREAMBLE = bytes([0x55] * 7 + [0xD5])
SHAPED = parameter("Shaped", 0)  # with queues that are set to no rate: flows may overtake each other


@pytest.mark.parametrize("shaped", [0, 1], ids=["unshaped", "queues"])
@pytest.mark.parametrize("board", ["versa_ecp5"])
def test_from_pins_to_pins(board: str, shaped: int) -> None:
    from penstock.hardware import board as boards

    with tempfile.TemporaryDirectory() as folder:
        files = [*boards.sources(Path(folder)), boards.find(board).folder / f"{board}.sv"]
        run_module("bridge", board, {"WaitBits": 4, "Shaped": shaped}, sources=files)


def with_fcs(frame: bytes) -> bytes:
    return frame + zlib.crc32(frame).to_bytes(4, "little")


class Phy:
    """What is on the wire of one port. `send` has (bytes with preamble and FCS, idle bytes behind them)."""

    def __init__(self, dut, port: int, ppm: int) -> None:
        self.dut, self.port, self.half_ps = dut, port, 4000 * (1 + ppm * 1e-6)
        self.send: list[tuple[bytes, int]] = []
        self.stop: dict[int, int] = {}  # at this number of a byte sent the clock stops, for so many ns
        self.bytes_sent = 0
        self.got: list[bytes] = []
        self.gaps: list[int] = []


class Pins:
    """Values of pins that are bits of a vector: the PHYs share them."""

    def __init__(self, dut) -> None:
        self.dut, self.clk, self.ctl, self.data = dut, [0, 0], [0, 0], [0, 0]

    def clock(self, port: int, value: int) -> None:
        self.clk[port] = value
        self.dut.rgmii_rx_clk_i.value = self.clk[0] | self.clk[1] << 1

    def drive(self, port: int, ctl: int, data: int) -> None:
        self.ctl[port], self.data[port] = ctl, data
        self.dut.rgmii_rx_ctl_i.value = self.ctl[0] | self.ctl[1] << 1
        self.dut.rgmii_rx_data_i.value = self.data[0] | self.data[1] << 4


async def receive_side(phy: Phy, pins: Pins) -> None:
    """Drive the pins that the bridge reads: data first, its clock edge a quarter of a cycle later, as a PHY with RGMII-ID does."""
    ideal, now = 0.0, 0

    def to_next(share: float) -> int:
        nonlocal ideal, now
        ideal += phy.half_ps * share
        step, now = round(ideal) - now, round(ideal)
        return step

    async def cycle(ctl: int, byte: int) -> None:
        for edge, nibble in ((1, byte & 15), (0, byte >> 4)):
            pins.drive(phy.port, ctl, nibble)
            await Timer(to_next(0.5), unit="ps")
            pins.clock(phy.port, edge)
            await Timer(to_next(0.5), unit="ps")

    while True:
        if not phy.send:
            await cycle(0, 0xDD)
            continue
        sent, idle = phy.send.pop(0)
        for byte in sent:
            await cycle(1, byte)
            phy.bytes_sent += 1
            if stop := phy.stop.pop(phy.bytes_sent, 0):
                await Timer(stop, unit="ns")
        for _ in range(idle):
            await cycle(0, 0xDD)


async def transmit_side(dut, phys: list[Phy]) -> None:
    """Make the transmitters' clock, and read what they send in the middle of each half of a cycle, as a PHY does that delays the clock."""
    low, parts, idle = [0, 0], [bytearray(), bytearray()], [0, 0]
    while True:
        halves = []
        for edge in (1, 0):
            dut.clk100_i.value = edge
            await Timer(2000, unit="ps")
            assert int(dut.rgmii_tx_clk_o.value) == (3 if edge else 0) or not int(dut.phy_run_o.value), "the PHY's clock"
            halves.append((int(dut.rgmii_tx_ctl_o.value), int(dut.rgmii_tx_data_o.value)))
            await Timer(2000, unit="ps")
        for port, phy in enumerate(phys):
            (ctl, first), (ctl_b, second) = halves
            on = ctl >> port & 1
            assert on == (ctl_b >> port & 1), "an error is sent"
            low[port] = first >> 4 * port & 15
            if on:
                if not parts[port]:
                    phy.gaps.append(idle[port])
                idle[port] = 0
                parts[port].append(low[port] | (second >> 4 * port & 15) << 4)
            else:
                idle[port] += 1
                if parts[port]:
                    phy.got.append(bytes(parts[port]))
                    parts[port].clear()


def address(rng: random.Random, control: bool) -> bytes:
    return bytes.fromhex("0180c20000") + bytes([rng.randrange(16)]) if control else b"\x02" + rng.randbytes(5)


async def begin(dut, rng: random.Random) -> list[Phy]:
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    ppm = rng.choice([(100, 0), (0, 100), (-100, 0), (50, -50)])
    phys, pins = [Phy(dut, 0, ppm[0]), Phy(dut, 1, ppm[1])], Pins(dut)
    dut.rst_ni.value = 0
    for port in range(2):
        pins.clock(port, 0)
        pins.drive(port, 0, 0)
        cocotb.start_soon(receive_side(phys[port], pins))
    cocotb.start_soon(transmit_side(dut, phys))
    await Timer(100, unit="ns")
    dut.rst_ni.value = 1
    await Timer(1000, unit="ns")
    assert int(dut.phy_run_o.value) == 3
    return phys


async def settled(phys: list[Phy]) -> None:
    while any(phy.send for phy in phys):
        await Timer(1000, unit="ns")
    await Timer(40, unit="us")  # two longest frames and more


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
