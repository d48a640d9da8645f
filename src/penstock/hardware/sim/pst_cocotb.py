# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What the cocotb tests of a package share: clock, reset and every interface of the wrapper with scalar ports, found by name."""

import itertools
import json
import logging
import os
import random
from pathlib import Path

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import (
    AxiBus,
    AxiLiteBus,
    AxiLiteMaster,
    AxiRam,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)

HERE = Path(__file__).resolve().parent
NUMBERS = json.loads((HERE / "numbers.json").read_text())  # of the configuration: written by penstock generate
FRAMES = int(os.environ.get("FRAMES", "100"))
SEED = int(os.environ.get("SEED", "1"))


class Bench:
    """The device with something at each of its interfaces; `sources` and `sinks` are AXI4-Streams, by number."""

    def __init__(self, dut):
        self.dut = dut
        self.random = random.Random(SEED)
        names = NUMBERS["interfaces"]
        self.sources = [AxiStreamSource(AxiStreamBus.from_prefix(dut, n), *self.clock(n)) for n in names if n[:6] == "s_axis"]
        self.sinks = [AxiStreamSink(AxiStreamBus.from_prefix(dut, n), *self.clock(n)) for n in names if n[:6] == "m_axis"]
        axi = [n for n in names if n.startswith("m_axi") and not n.startswith("m_axis")]
        self.memories = [AxiRam(AxiBus.from_prefix(dut, n), *self.clock(n), size=NUMBERS["memory_bytes"]) for n in axi]
        for memory in self.memories:
            memory.write_if.log.setLevel(logging.WARNING)
            memory.read_if.log.setLevel(logging.WARNING)
        self.registers = None
        if "s_axi" in names:
            self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), *self.clock("s_axi"))
            self.registers.write_if.log.setLevel(logging.WARNING)
            self.registers.read_if.log.setLevel(logging.WARNING)
        for end in (*self.sources, *self.sinks):
            end.log.setLevel(logging.WARNING)  # or it prints every byte
            end.set_pause_generator(self.random.random() < 0.25 for _ in itertools.count())

    def clock(self, interface):
        """Return clock and reset of an interface, and at which level the reset is."""
        clock = NUMBERS["clocks"][interface]
        return getattr(self.dut, clock), getattr(self.dut, clock.replace("aclk", "aresetn")), False

    async def start(self):
        """Give it its clocks, reset it, and wait until it is ready."""
        Clock(self.dut.aclk, 4, "ns").start()
        for name in sorted({*NUMBERS["clocks"].values()} - {"aclk"}):  # 0.4 to 2.5 times as long, of even steps
            Clock(getattr(self.dut, name), 2 * self.random.randint(800, 5000), "ps").start()
        self.dut.aresetn.value = 0
        await ClockCycles(self.dut.aclk, 8)
        self.dut.aresetn.value = 1
        for _ in range(NUMBERS["init_cycles"] if self.registers else 1):
            await RisingEdge(self.dut.aclk)
            if self.registers and int(self.dut.init_done.value):
                return
        assert self.registers is None, "init_done has not risen"

    def content(self, number, least=64, most=None):
        """Return frame `number` of a random length: its number, then random bytes; no IP, so nothing is marked."""
        length = self.random.randint(least, most or min(NUMBERS["max_frame_bytes"], least + 400))
        return number.to_bytes(4, "big") + self.random.randbytes(8) + b"\x88\xb5" + self.random.randbytes(length - 14)

    async def read(self, register):
        """Return the word of a register of the map in regs/."""
        low = int.from_bytes((await self.registers.read(register.address, 4)).data, "little")
        if register.bytes == 4:
            return low
        return low | int.from_bytes((await self.registers.read(register.address + 4, 4)).data, "little") << 32

    async def write(self, register, **fields):
        """Write fields of a register."""
        await self.registers.write(register.address, register.pack(**fields).to_bytes(4, "little"))


def frame(content, **more):
    """Return an AXI4-Stream frame."""
    return AxiStreamFrame(content, **more)


def one(values):
    """Return the value that all beats of a frame have, which cocotbext-axi gives as a number or as a list."""
    return int(values) if isinstance(values, int) else int(values[0])
