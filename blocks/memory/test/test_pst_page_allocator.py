"""pst_page_allocator against a FIFO that holds 0..Pages-1 to begin with."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit


class Bench:
    """One cycle at a time: what to ask for, what to give back; checks pages, their order and the count."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.pages = testkit.parameter("Pages", 1024)
        self.forget()

    def forget(self) -> None:
        self.free = deque(range(self.pages))  # in the order in which the module has to offer them
        self.held: list[int] = []
        self.waiting = 0  # cycles for which a page has been free and none was offered

    async def cycle(self, ready: bool, give_back: int | None, reset: bool = False) -> bool:
        """Run a cycle and return whether a page was taken. `give_back` is an index into the pages held."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.rst_i.value = int(reset)
        dut.m_alloc_ready_i.value = int(ready)
        page = self.held.pop(give_back) if give_back is not None else None
        dut.s_free_valid_i.value = int(page is not None)
        if page is not None:
            dut.s_free_page_i.value = page
        await ReadOnly()
        if reset:
            self.forget()
            return False
        assert int(dut.free_pages_o.value) == len(self.free)
        offered = bool(int(dut.m_alloc_valid_o.value))
        self.waiting = 0 if offered or not self.free else self.waiting + 1
        assert self.waiting <= 4, "a free page was not offered in time"
        if offered:
            assert int(dut.m_alloc_page_o.value) == self.free[0]
        if offered and ready:
            self.held.append(self.free.popleft())
        if page is not None:
            self.free.append(page)
        return offered and ready


async def begin(dut) -> Bench:
    dut.m_alloc_ready_i.value = dut.s_free_valid_i.value = dut.s_free_page_i.value = 0
    dut._log.info("seed %d", testkit.seed())
    await testkit.start(dut)
    return Bench(dut)


@cocotb.test()
async def mixed(dut) -> None:
    """Random takes and returns at changing rates, with a reset now and then."""
    bench = await begin(dut)
    rng = random.Random(testkit.seed())
    for _ in range(30):
        take, give = rng.choice(((0.9, 0.2), (0.2, 0.9), (0.5, 0.5), (1.0, 1.0), (1.0, 0.1)))
        for _ in range(rng.randint(20, 300)):
            back = rng.randrange(len(bench.held)) if bench.held and rng.random() < give else None
            await bench.cycle(rng.random() < take, back)
        if rng.random() < 0.3:
            for _ in range(rng.randint(1, 3)):
                await bench.cycle(rng.random() < 0.5, None, reset=True)


@cocotb.test()
async def every_cycle(dut) -> None:
    """One page out and one back in each cycle, with all free pages, with one, and through the end of the fresh ones."""
    bench = await begin(dut)
    while not await bench.cycle(True, None):
        pass
    if bench.pages == 1:
        return
    for free_pages in (bench.pages - 1, max(1, bench.pages // 2), 1):
        while len(bench.free) > free_pages:
            await bench.cycle(True, None)
        for _ in range(8):
            await bench.cycle(False, None)
        for _ in range(3 * bench.pages + 20):
            assert await bench.cycle(True, 0), f"no page in a cycle, {free_pages} free"


@cocotb.test()
async def all_out_and_back(dut) -> None:
    """Every page out once, none twice; nothing is offered then; the first that comes back is offered in the next cycle."""
    bench = await begin(dut)
    for _ in range(bench.pages + 10):
        await bench.cycle(True, None)
    assert sorted(bench.held) == list(range(bench.pages)) and not await bench.cycle(True, None)
    await bench.cycle(False, 0)
    assert await bench.cycle(True, None)
    while bench.held:
        await bench.cycle(False, 0)
    for _ in range(bench.pages + 10):
        await bench.cycle(True, None)
    assert sorted(bench.held) == list(range(bench.pages))


@pytest.mark.parametrize("pages, latency", [(1, 2), (5, 1), (64, 2)])
def test_pst_page_allocator(pages: int, latency: int) -> None:
    testkit.run_module("memory", "pst_page_allocator", {"Pages": pages, "ReadLatency": latency})
