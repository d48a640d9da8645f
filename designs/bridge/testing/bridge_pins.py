# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Both ends of a board in simulation: PHYs at the RGMII pins, whose clocks are their own, and a computer at the serial port."""

import random
import zlib
from typing import Any

import cocotb
from cocotb.task import resume
from cocotb.triggers import FallingEdge, Timer
from cocotb.utils import get_sim_time

from penstock.testing.testkit import seed

PREAMBLE = bytes([0x55] * 7 + [0xD5])
UP = 0xDD  # in-band status: link up, 1 Gbit/s, full duplex


def with_fcs(frame: bytes) -> bytes:
    return frame + zlib.crc32(frame).to_bytes(4, "little")


class Phy:
    """What is on the wire of one port. `send` has (bytes with preamble and FCS, idle bytes behind them)."""

    def __init__(self, dut: Any, port: int, ppm: int) -> None:
        self.dut, self.port, self.half_ps = dut, port, 4000 * (1 + ppm * 1e-6)
        self.send: list[tuple[bytes, int]] = []
        self.stop: dict[int, int] = {}  # at this number of a byte sent the clock stops, for so many ns
        self.bytes_sent = 0
        self.got: list[bytes] = []
        self.gaps: list[int] = []
        self.times: list[float] = []  # of each frame got: when its first byte began, in ns
        self.idle = UP  # what is sent between frames
        self.clock = True  # it runs


class Pins:
    """Values of pins that are bits of a vector: the PHYs share them."""

    def __init__(self, dut: Any) -> None:
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
        while not phy.clock:
            await Timer(to_next(100), unit="ps")
        if not phy.send:
            await cycle(0, phy.idle)
            continue
        sent, idle = phy.send.pop(0)
        for byte in sent:
            await cycle(1, byte)
            phy.bytes_sent += 1
            if stop := phy.stop.pop(phy.bytes_sent, 0):
                await Timer(stop, unit="ns")
        for _ in range(idle):
            await cycle(0, phy.idle)


async def transmit_side(dut: Any, phys: list[Phy]) -> None:
    """Make the transmitters' clock, and read what they send in the middle of each half of a cycle, as a PHY does that delays the clock."""
    low, parts, idle = [0, 0], [bytearray(), bytearray()], [0, 0]
    while True:
        halves = []
        for edge in (1, 0):
            dut.clk_i.value = edge
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
                    phy.times.append(get_sim_time("ns"))
                idle[port] = 0
                parts[port].append(low[port] | (second >> 4 * port & 15) << 4)
            else:
                idle[port] += 1
                if parts[port]:
                    phy.got.append(bytes(parts[port]))
                    parts[port].clear()


class Serial:
    """The computer's end of the serial line: a `uart_bus.Line` for a thread of cocotb.bridge. A byte that is not framed is an error."""

    def __init__(self, dut: Any, baud: int, ppm: int = 0) -> None:
        self.dut, self.bit_ps = dut, round(1e12 / baud * (1 + ppm * 1e-6))
        self.got = bytearray()
        cocotb.start_soon(self._receive())
        self.write, self._take = resume(self._send), resume(self._wait)

    def read(self, size: int) -> bytes:
        self._take(size)
        found = bytes(self.got[:size])
        del self.got[:size]
        return found

    async def _send(self, data: bytes) -> None:
        for byte in data:
            for bit in (0, *(byte >> place & 1 for place in range(8)), 1):
                self.dut.uart_rx_i.value = bit
                await Timer(self.bit_ps, unit="ps")

    async def _wait(self, size: int) -> None:
        for _ in range(size * 15 + 100):
            if len(self.got) >= size:
                return
            await Timer(self.bit_ps, unit="ps")

    async def _receive(self) -> None:
        while True:
            await FallingEdge(self.dut.uart_tx_o)
            await Timer(self.bit_ps // 2, unit="ps")
            assert not int(self.dut.uart_tx_o.value), "a start bit"
            byte = 0
            for place in range(8):
                await Timer(self.bit_ps, unit="ps")
                byte |= int(self.dut.uart_tx_o.value) << place
            await Timer(self.bit_ps, unit="ps")
            assert int(self.dut.uart_tx_o.value), "a stop bit"
            self.got.append(byte)


async def begin(dut: Any, rng: random.Random) -> list[Phy]:
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    ppm = rng.choice([(100, 0), (0, 100), (-100, 0), (50, -50)])
    phys, pins = [Phy(dut, 0, ppm[0]), Phy(dut, 1, ppm[1])], Pins(dut)
    dut.rst_ni.value, dut.uart_rx_i.value = 0, 1
    for port in range(2):
        pins.clock(port, 0)
        pins.drive(port, 0, 0)
        cocotb.start_soon(receive_side(phys[port], pins))
    cocotb.start_soon(transmit_side(dut, phys))
    await Timer(100, unit="ns")
    dut.rst_ni.value = 1
    await Timer(1000, unit="ns")
    assert int(dut.phy_run_o.value) == (1 << len(dut.phy_run_o)) - 1
    return phys


async def settled(phys: list[Phy]) -> None:
    while any(phy.send for phy in phys):
        await Timer(1000, unit="ns")
    await Timer(40, unit="us")  # two longest frames and more
