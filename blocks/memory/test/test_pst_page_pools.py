"""pst_page_pools against its model, and against the order of each memory's pages when requests and frees overlap."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import Geometry, random_length

from penstock.testing import testkit

LATEST = 5  # cycles from a free to the first request that must see the page: ReadLatency + 3


class Bench:
    """One cycle at a time: a request, a free, or both; returns what was taken and granted."""

    def __init__(self, dut) -> None:
        self.dut, self.now = dut, 0

    async def cycle(
        self, length: int | None, free: int | None = None, ready: bool = True, reset: bool = False, memories: int = -1
    ) -> tuple[bool, int | None]:
        """Return (request taken, grant): the descriptor, -1 for "no page", None when no grant was handed over.

        `memories`: those that may give a page, by default all.
        """
        dut = self.dut
        await FallingEdge(dut.clk_i)
        self.now += 1
        dut.rst_i.value = int(reset)
        dut.s_req_valid_i.value = int(length is not None)
        dut.s_req_len_i.value = length or 0
        dut.s_req_memories_i.value = memories & (1 << len(dut.s_req_memories_i)) - 1
        dut.s_free_valid_i.value = int(free is not None)
        dut.s_free_desc_i.value = free or 0
        dut.m_gnt_ready_i.value = int(ready)
        await ReadOnly()
        assert int(dut.s_free_ready_o.value) or reset
        taken = length is not None and bool(int(dut.s_req_ready_o.value)) and not reset
        grant = None
        if ready and not reset and int(dut.m_gnt_valid_o.value):
            grant = int(dut.m_gnt_desc_o.value) if int(dut.m_gnt_ok_o.value) else -1
        return taken, grant

    async def request(self, length: int, memories: int = -1) -> int:
        """Ask for a page and wait for the grant."""
        while not (await self.cycle(length, memories=memories))[0]:
            pass
        while True:
            _, grant = await self.cycle(None)
            if grant is not None:
                return grant


async def begin(dut) -> tuple[Bench, Geometry, random.Random]:
    for name in ("s_req_valid", "s_req_len", "s_free_valid", "s_free_desc", "m_gnt_ready"):
        getattr(dut, f"{name}_i").value = 0
    dut._log.info("seed %d", testkit.seed())
    await testkit.start(dut)
    return Bench(dut), Geometry.under_test(), random.Random(testkit.seed())


@cocotb.test()
async def against_model(dut) -> None:
    """The same descriptor as the model, request by request, when frees have settled; resets in between."""
    from penstock.engine import engine

    models = engine.models("memory")

    bench, geometry, rng = await begin(dut)
    for _ in range(3):
        model = models.PagePools(list(geometry.pages), list(geometry.page_bytes))
        held: list[int] = []
        fill = 0.9
        for _ in range(300):
            fill = rng.choice((0.3, 0.7)) if rng.random() < 0.05 else fill
            if held and rng.random() > fill:
                desc = held.pop(rng.randrange(len(held)))
                model.free(desc)
                await bench.cycle(None, desc)
                for _ in range(LATEST - 1):
                    await bench.cycle(None)
            else:
                length = random_length(rng, max(geometry.page_bytes) + 64)
                expected = model.allocate(length)
                grant = await bench.request(length)
                assert grant == (-1 if expected is None else expected), f"{length} byte: {grant}, model {expected}"
                if expected is not None:
                    held.append(expected)
        await bench.cycle(None, reset=True)


@cocotb.test()
async def overlapping(dut) -> None:
    """Requests and frees in every cycle: the pages of a memory in order, and never a worse page than must be."""
    bench, geometry, rng = await begin(dut)
    count = len(geometry.pages)
    bases = [sum(geometry.pages[:m]) for m in range(count)]
    free: list[deque] = [deque((bases[m] + page, 0) for page in range(geometry.pages[m])) for m in range(count)]  # page, since when
    held: list[int] = []
    asked: deque = deque()  # requests taken: length, time
    request, refused = None, 0
    for step in range(4000):
        phase = ((1.0, 0.2), (0.4, 1.0), (1.0, 1.0))[step // 300 % 3]
        if request is None and rng.random() < phase[0]:
            request = random_length(rng, max(geometry.page_bytes))
        back = held.pop(rng.randrange(len(held))) if held and rng.random() < phase[1] else None
        taken, grant = await bench.cycle(request, back, ready=rng.random() < 0.9)
        if grant is not None:
            length, when = asked.popleft()
            sure = [m for m in range(count) if length <= geometry.page_bytes[m] and free[m] and free[m][0][1] + LATEST <= when]
            if grant == -1:
                assert not sure, f"no page for {length} byte, but memory {sure[0]} had one"
                refused += 1
            else:
                m = geometry.memory_of(grant)
                assert free[m] and grant == free[m][0][0], f"page {grant} is not the next one of memory {m}"
                assert length <= geometry.page_bytes[m]
                assert all(geometry.page_bytes[k] >= geometry.page_bytes[m] for k in sure), "a smaller page would have done"
                free[m].popleft()
                held.append(grant)
        if taken:
            asked.append((request, bench.now))
            request = None
        if back is not None:
            free[geometry.memory_of(back)].append((back, bench.now))
    assert refused > 0, "the test never ran out of pages"


@cocotb.test()
async def only_of_memories_that_may(dut) -> None:
    """A page comes from one of the memories that the request names, or not at all, also when another one would be the better choice."""
    bench, geometry, rng = await begin(dut)
    count = len(geometry.pages)
    for _ in range(300):
        length, memories = random_length(rng, max(geometry.page_bytes)), rng.randrange(1 << count)
        grant = await bench.request(length, memories)
        able = [m for m in range(count) if memories >> m & 1 and length <= geometry.page_bytes[m]]
        assert (grant >= 0) == bool(able), f"{length} byte of memories {memories:b}: {grant}"
        if able:
            assert geometry.memory_of(grant) in able
            await bench.cycle(None, grant)
            for _ in range(LATEST - 1):
                await bench.cycle(None)


@cocotb.test()
async def every_cycle(dut) -> None:
    """One request, one grant and one free per cycle."""
    bench, geometry, rng = await begin(dut)
    while not (await bench.cycle(1))[0]:
        pass
    held: deque = deque()
    for step in range(1000):
        back = held.popleft() if len(held) > 2 else None
        taken, grant = await bench.cycle(1, back)
        assert taken and grant is not None, f"stalled at step {step}"
        assert grant >= 0, f"no page at step {step}"
        held.append(grant)


@pytest.mark.parametrize("geometry", [Geometry.of((20, 2048)), Geometry.of((7, 2048), (5, 512), (1, 9600), (6, 2048))], ids=["one", "four"])
def test_pst_page_pools(geometry: Geometry) -> None:
    testkit.run_module("memory", "pst_page_pools", geometry.parameters("Memories", "MemPages", "MemPageBytes"))
