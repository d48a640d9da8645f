"""pst_counter_bank against its model: increments at every pattern, reads squeezed in between, wrap-around, reset in mid-traffic."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing.testkit import parameter, run_module, seed, start

READ_LATENCY = 3


@pytest.mark.parametrize(
    "parameters",
    [
        {"Entries": 37, "PacketWidth": 50, "ByteWidth": 56},
        {"Entries": 64, "PacketWidth": 5, "ByteWidth": 16},  # small enough to wrap around
        {"Entries": 1, "PacketWidth": 32, "ByteWidth": 40},
    ],
    ids=lambda parameters: f"{parameters['Entries']}-entries",
)
def test_counter_bank(parameters: dict[str, int]) -> None:
    run_module("count", "pst_counter_bank", parameters)


class Bench:
    """Drives one operation per cycle and compares every answer with the model at the moment at which its read was taken."""

    def __init__(self, dut) -> None:
        from penstock.engine import engine

        models = engine.models("count")

        self.dut, self.rng = dut, random.Random(seed())
        dut._log.info(f"PENSTOCK_SEED={seed()}")
        self.entries = parameter("Entries", 512)
        self.new_model = lambda: models.CounterBank(self.entries, parameter("PacketWidth", 50), parameter("ByteWidth", 56))
        self.model = self.new_model()
        self.expected: list[tuple[int, int] | None] = [None] * READ_LATENCY
        self.answers = 0

    async def start(self) -> None:
        self.dut.inc_valid_i.value = 0
        self.dut.s_read_valid_i.value = 0
        await start(self.dut)

    async def initialised(self) -> int:
        """Wait for the walker and return the cycles that it took."""
        cycles = 0
        while not int(self.dut.init_done_o.value):
            assert not int(self.dut.s_read_ready_o.value), "a read was taken before the counters were cleared"
            await FallingEdge(self.dut.clk_i)
            cycles += 1
        return cycles

    async def cycle(self, increment: tuple[int, int] | None, read: int | None) -> bool:
        """Offer an increment (entry, length) and a read; return whether the read was taken. Called and returns at a falling edge."""
        dut = self.dut
        dut.inc_valid_i.value = increment is not None
        if increment is not None:
            dut.inc_index_i.value, dut.inc_len_i.value = increment
        dut.s_read_valid_i.value = read is not None
        if read is not None:
            dut.s_read_index_i.value = read
        await ReadOnly()
        taken = read is not None and bool(int(dut.s_read_ready_o.value))
        assert read is None or taken == (increment is None), "a read must be taken exactly in a cycle without increment"
        answer = self.expected.pop(0)
        assert int(dut.m_read_valid_o.value) == (answer is not None), "an answer came at the wrong time"
        if answer is not None:
            assert (int(dut.m_read_packets_o.value), int(dut.m_read_bytes_o.value)) == answer
            self.answers += 1
        self.expected.append(self.model.read(read) if taken else None)
        if increment is not None:
            self.model.increment(*increment)
        await FallingEdge(dut.clk_i)
        return taken

    async def read_all(self) -> None:
        """Compare every entry."""
        for entry in range(self.entries):
            await self.cycle(None, entry)
        for _ in range(READ_LATENCY):
            await self.cycle(None, None)

    async def mix(self, cycles: int, load: float, pick, read_load: float) -> None:
        """Random increments with probability `load`; reads wait until they are taken and often follow the last entries."""
        pending, recent = None, [0]
        for number in range(cycles):
            increment = None
            if self.rng.random() < load:
                increment = (pick(number), self.rng.choice([0, 1, 60, 1514, 65535, self.rng.randrange(65536)]))
                recent = [*recent[-5:], increment[0]]
            if pending is None and self.rng.random() < read_load:
                pending = self.rng.choice(recent) if self.rng.random() < 0.7 else self.rng.randrange(self.entries)
            if await self.cycle(increment, pending):
                pending = None


@cocotb.test()
async def every_pattern(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    assert bench.entries - 1 <= await bench.initialised() <= bench.entries + 1
    await bench.read_all()
    entries, rng = bench.entries, bench.rng
    patterns = [
        lambda n: rng.randrange(entries),
        lambda n: entries - 1,  # the same entry back to back
        lambda n: n % min(2, entries),  # every distance at which a sum is still in the pipeline
        lambda n: n % min(3, entries),
        lambda n: n % min(4, entries),
        lambda n: n % min(5, entries),
        lambda n: rng.randrange(min(4, entries)),
        lambda n: n % entries,
    ]
    for pick in patterns:
        for load in (1.0, 0.7, 0.3):
            await bench.mix(1000, load, pick, 0.5)
    await bench.read_all()
    assert bench.answers > 2000


@cocotb.test()
async def reset_in_mid_traffic(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    for _ in range(3):
        await bench.initialised()
        await bench.mix(bench.rng.randrange(20, 200), 0.8, lambda n: bench.rng.randrange(bench.entries), 0.5)
        dut.rst_i.value = 1
        dut.inc_valid_i.value = 0
        dut.s_read_valid_i.value = 0
        await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        bench.model, bench.expected = bench.new_model(), [None] * READ_LATENCY
        assert not int(dut.init_done_o.value)
        assert not int(dut.m_read_valid_o.value)
    await bench.initialised()
    await bench.read_all()
