"""pst_async_fifo against a deque, between clocks whose ratio is drawn."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time

from penstock.testing import testkit

WORDS = 600  # of each ratio


class Pair:
    """The FIFO between two clocks of their own, and a deque of the words that are inside."""

    def __init__(self, dut, ratio: str, rng: random.Random) -> None:
        from clocks import periods

        self.dut, self.rng, self.width = dut, rng, testkit.parameter("Width", 32)
        self.period_s, self.period_m = periods(ratio, rng)
        dut._log.info("%s: %d ps in, %d ps out", ratio, self.period_s, self.period_m)
        dut.s_valid_i.value = dut.s_data_i.value = dut.m_ready_i.value = 0
        self.words: deque[int] = deque()
        self.stop = self.ready = False
        self.filled = self.emptied = self.taken = 0

    async def start(self) -> None:
        """Start both clocks at any phase, in reset."""
        self.dut.s_rst_i.value = self.dut.m_rst_i.value = 1
        self.clocks = [Clock(self.dut.s_clk_i, self.period_s, "ps"), Clock(self.dut.m_clk_i, self.period_m, "ps")]
        self.clocks[0].start()
        await Timer(2 * self.rng.randint(1, self.period_m), "ps")
        self.clocks[1].start()
        await self.reset()

    async def reset(self) -> None:
        """Reset both sides, at different times, until each has had an edge in it; one side goes on before the other one does."""
        dut, slow = self.dut, max(self.period_s, self.period_m)
        first, second = self.rng.sample([dut.s_rst_i, dut.m_rst_i], 2)
        first.value = 1
        second.value = 1
        self.words.clear()
        await Timer(2 * slow, "ps")
        clock = dut.s_clk_i if first is dut.s_rst_i else dut.m_clk_i
        await FallingEdge(clock)
        first.value = 0
        await Timer(self.rng.choice([2, self.rng.randint(1, 40) * slow]), "ps")
        await FallingEdge(dut.m_clk_i if first is dut.s_rst_i else dut.s_clk_i)
        second.value = 0

    async def source(self, share: float) -> None:
        """Offer words; an offer stands until it is taken."""
        dut, offer = self.dut, None
        while not self.stop:
            await FallingEdge(dut.s_clk_i)
            if int(dut.s_rst_i.value) or self.ready:
                offer = None
            self.filled += not int(dut.s_ready_o.value) and not int(dut.s_rst_i.value)
            if offer is None and self.rng.random() < share and not int(dut.s_rst_i.value):
                offer = self.rng.getrandbits(self.width)
            dut.s_valid_i.value = int(offer is not None)
            dut.s_data_i.value = offer if offer is not None else self.rng.getrandbits(self.width)
            # Ready comes from registers of this clock, so it holds to the next edge. The word counts as inside from now on: before the
            # next falling edge a fast reader may have it.
            self.ready = offer is not None and bool(int(dut.s_ready_o.value))
            if self.ready:
                self.words.append(offer)
                self.taken += 1
        dut.s_valid_i.value = 0

    async def sink(self, share: float) -> None:
        """Take words; each must be the oldest one."""
        dut = self.dut
        while not self.stop:
            await FallingEdge(dut.m_clk_i)
            ready = self.rng.random() < share
            dut.m_ready_i.value = int(ready)
            if int(dut.m_rst_i.value):
                continue
            valid = int(dut.m_valid_o.value)
            self.emptied += not valid
            if valid:
                # A word is on its way for three edges: it was taken long ago, or it was never there.
                assert self.words, "a word came out of an empty FIFO"
                assert int(dut.m_data_o.value) == self.words[0], "another word came out"
                if ready:
                    self.words.popleft()

    async def withdraw(self) -> None:
        """End an offer that was taken."""
        await FallingEdge(self.dut.s_clk_i)
        self.dut.s_valid_i.value = 0

    async def end(self) -> None:
        self.stop = True
        await Timer(2 * max(self.period_s, self.period_m), "ps")
        for clock in self.clocks:
            clock.stop()
        await Timer(1, "ns")


@cocotb.test()
async def mixed(dut) -> None:
    """Random words, pauses on both sides and resets, at every ratio: each word comes out in its order, once, as it was."""
    from clocks import RATIOS

    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    filled = emptied = 0
    for ratio in RATIOS:
        pair = Pair(dut, ratio, rng)
        await pair.start()
        for shares in ((1.0, 0.2), (0.2, 1.0), (0.8, 0.8)):
            pair.stop = pair.ready = False
            running = [cocotb.start_soon(pair.source(shares[0])), cocotb.start_soon(pair.sink(shares[1]))]
            goal = pair.taken + WORDS // 3
            for _ in range(100):
                await Timer(20 * max(pair.period_s, pair.period_m), "ps")
                if pair.taken >= goal:
                    break
            assert pair.taken >= goal, f"{pair.taken} words of {goal} were taken: it stands"
            filled, emptied = filled + pair.filled, emptied + pair.emptied
            pair.stop = True
            for one in running:
                await one
            await pair.reset()
        await pair.end()
    assert filled > 100 and emptied > 100, "the FIFO was never full or never empty"


@cocotb.test()
async def latency_and_rate(dut) -> None:
    """A word takes 3 to 4 edges of the reader's clock; at depth 16 one comes in every cycle of the slower clock."""
    from clocks import RATIOS

    rng = random.Random(testkit.seed() + 1)
    seen = set()
    for ratio in RATIOS:
        pair = Pair(dut, ratio, rng)
        await pair.start()
        for _ in range(10):
            dut.m_ready_i.value = 1
            await Timer(rng.randint(20, 40) * max(pair.period_s, pair.period_m), "ps")
            dut.m_ready_i.value = 0
            await FallingEdge(dut.s_clk_i)
            dut.s_valid_i.value, dut.s_data_i.value = 1, 5
            await RisingEdge(dut.s_clk_i)
            taken = get_sim_time("ps")
            cocotb.start_soon(pair.withdraw())
            await RisingEdge(dut.m_valid_o)
            waited = get_sim_time("ps") - taken
            assert 2 * pair.period_m <= waited <= 3 * pair.period_m, f"{waited / pair.period_m:.2f} cycles"
            seen.add(round(2 * waited / pair.period_m))
        # full rate
        dut.s_valid_i.value = dut.m_ready_i.value = 1
        await Timer(40 * max(pair.period_s, pair.period_m), "ps")
        slow = dut.s_clk_i if pair.period_s > pair.period_m else dut.m_clk_i
        count = 0
        for _ in range(200):
            await FallingEdge(slow)
            count += int(dut.s_ready_o.value if slow is dut.s_clk_i else dut.m_valid_o.value)
        assert count >= 199 or testkit.parameter("Depth", 16) < 16, f"{count} words in 200 cycles of the slower clock, {ratio}"
        dut.s_valid_i.value = 0
        await pair.end()
    assert {4, 6} <= seen, f"the phases were not tried: {seen}"


@pytest.mark.parametrize("width, depth", [(33, 16), (8, 4)])
def test_pst_async_fifo(width: int, depth: int) -> None:
    testkit.run_module("crossing", "pst_async_fifo", {"Width": width, "Depth": depth})
