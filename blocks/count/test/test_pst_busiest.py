"""pst_busiest against a sort: values that grow beside the scan, reads that wait, ties, wrap-around, levels, reset in mid-scan."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing.testkit import parameter, run_module, seed, start


@pytest.mark.parametrize(
    "parameters",
    [
        {"Entries": 37, "Keep": 5, "ValueWidth": 38},
        {"Entries": 16, "Keep": 16, "ValueWidth": 6},
        {"Entries": 9, "Keep": 1, "ValueWidth": 20},
    ],
    ids=lambda parameters: f"{parameters['Entries']}-entries",
)
def test_busiest(parameters: dict[str, int]) -> None:
    run_module("count", "pst_busiest", parameters)


class Bench:
    """Values that can be read, and what the table has to be. `cycle` counts what the hardware's clock does."""

    def __init__(self, dut) -> None:
        self.dut, self.rng = dut, random.Random(seed())
        dut._log.info(f"PENSTOCK_SEED={seed()}")
        self.entries, self.keep, self.width = parameter("Entries", 512), parameter("Keep", 16), parameter("ValueWidth", 38)
        self.most = (1 << self.width) - 1
        self.total, self.level = [0] * self.entries, [0] * self.entries
        self.forget()
        self.cycle = 0

    def forget(self) -> None:
        """Forget the scans, as a reset does."""
        self.before, self.started, self.number = [0] * self.entries, None, 0

    async def start(self) -> None:
        for name in ("s_start_valid", "s_start_level", "m_read_ready", "s_value_valid", "s_value", "show"):
            getattr(self.dut, f"{name}_i").value = 0
        await start(self.dut)

    async def step(self) -> None:
        await FallingEdge(self.dut.clk_i)
        self.cycle += 1

    def traffic(self) -> None:
        """Something is added somewhere, and levels change."""
        index = self.rng.randrange(self.entries)
        self.total[index] = self.total[index] + self.rng.choice([1, 1, 2, 60, self.most // 5]) & self.most
        self.level[self.rng.randrange(self.entries)] = self.rng.choice([0, 1, 2, self.rng.getrandbits(self.width)])

    async def scan(self, level: bool, ends_after: int | None = None) -> list[int]:
        """Do a scan beside traffic and return what its reads were answered; with `ends_after` only so many of them."""
        dut, rng, answers = self.dut, self.rng, []
        dut.s_start_valid_i.value, dut.s_start_level_i.value = 1, level
        started = self.cycle
        await self.step()
        dut.s_start_valid_i.value, dut.s_start_level_i.value = 0, rng.getrandbits(1)
        while int(dut.busy_o.value) and len(answers) != ends_after:
            dut.m_read_ready_i.value = rng.random() < 0.6
            if rng.random() < 0.3:
                self.traffic()
            await ReadOnly()
            taken = int(dut.m_read_valid_o.value) and int(dut.m_read_ready_i.value)
            if taken:
                assert int(dut.m_read_index_o.value) == len(answers) and int(dut.m_read_level_o.value) == level
            await self.step()
            dut.m_read_ready_i.value = 0
            if taken:
                for _ in range(rng.choice([1, 1, 1, 4])):
                    dut.s_value_i.value = rng.getrandbits(self.width)
                    await self.step()
                answers.append((self.level if level else self.total)[len(answers)])
                dut.s_value_i.value, dut.s_value_valid_i.value = answers[-1], 1
                await self.step()
                dut.s_value_valid_i.value = 0
        if ends_after is None:
            assert len(answers) == self.entries
            self.window = self.window if level else 0 if self.started is None else started - self.started
            self.started = self.started if level else started
            self.number += 1
        return answers

    window = 0

    async def check(self, level: bool, answers: list[int]) -> None:
        """Compare the table with a sort of what was read."""
        dut = self.dut
        values = answers if level else [now - before & self.most for now, before in zip(answers, self.before, strict=True)]
        if not level:
            self.before = answers
        order = sorted((index for index, value in enumerate(values) if value), key=lambda index: (-values[index], index))[: self.keep]
        for place in range(self.keep):
            dut.show_i.value = place
            await ReadOnly()
            shown = int(dut.shown_index_o.value), int(dut.shown_value_o.value)
            assert shown == ((order[place], values[order[place]]) if place < len(order) else (0, 0)), (place, level)
            await self.step()
        assert (int(dut.level_o.value), int(dut.window_o.value), int(dut.number_o.value)) == (level, self.window, self.number)


@cocotb.test()
async def scans(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    for _ in range(25):
        level = bench.rng.random() < 0.3
        for _ in range(bench.rng.choice([0, 3, 40])):
            bench.traffic()
        answers = await bench.scan(level)
        await bench.check(level, answers)
        for _ in range(bench.rng.randrange(20)):
            await bench.step()


@cocotb.test()
async def reset_in_mid_scan(dut) -> None:
    """The table is empty, and all values of before count as 0."""
    bench = Bench(dut)
    await bench.start()
    for _ in range(4):
        for _ in range(60):
            bench.traffic()
        await bench.check(False, await bench.scan(False))
        await bench.scan(False, ends_after=bench.entries // 2)
        dut.rst_i.value = 1
        await bench.step()
        dut.rst_i.value = 0
        bench.forget()
        bench.window = 0
        assert not int(dut.busy_o.value)
        for place in range(bench.keep):
            dut.show_i.value = place
            await ReadOnly()
            assert not int(dut.shown_value_o.value)
            await bench.step()
