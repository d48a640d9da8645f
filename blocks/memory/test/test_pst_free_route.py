"""pst_free_route: each page comes home once, to its own memory; one that waits holds up none of other memories; all ports at full rate."""

import random
from collections import Counter

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import Geometry

from penstock.testing import testkit


async def run(dut, cycles: int, offer: float, memories: tuple[int, ...] = (), drain: bool = True) -> tuple[int, int, list[int]]:
    """Give pages back at each port with probability `offer`, of `memories` only, if any are named. Checks each page.

    Returns pages given, pages that came home, and of each port the cycles in which it waited.
    """
    geometry, rng = Geometry.under_test(), random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    ports, count = testkit.parameter("Ports", 2), len(geometry.pages)
    width = max(1, (geometry.descriptors - 1).bit_length())
    dut.s_free_valid_i.value = dut.s_free_desc_i.value = 0
    await testkit.start(dut)
    outside = [desc for desc in range(geometry.descriptors) if not memories or geometry.memory_of(desc) in memories]
    coming: list[int | None] = [None] * ports
    inside: Counter = Counter()
    given = came = 0
    waited = [0] * ports
    for cycle in range(cycles + (60 if drain else 0)):
        await FallingEdge(dut.clk_i)
        for p in range(ports):
            if coming[p] is None and outside and cycle < cycles and rng.random() < offer:
                coming[p] = outside.pop(rng.randrange(len(outside)))
        dut.s_free_valid_i.value = sum(int(desc is not None) << p for p, desc in enumerate(coming))
        dut.s_free_desc_i.value = sum((desc or 0) << width * p for p, desc in enumerate(coming))
        await ReadOnly()
        valid = int(dut.m_free_valid_o.value)
        for m in range(count):
            if valid >> m & 1:
                desc = int(dut.m_free_desc_o.value) >> width * m & (1 << width) - 1
                assert geometry.memory_of(desc) == m, f"page {desc} came to memory {m}"
                assert inside[desc] == 1, f"page {desc} came home {'twice' if desc in outside else 'unasked'}"
                inside[desc] = 0
                outside.append(desc)
                came += 1
        ready = int(dut.s_free_ready_o.value)
        for p, desc in enumerate(coming):
            if desc is not None and ready >> p & 1:
                inside[desc] += 1
                coming[p] = None
                given += 1
            elif desc is not None:
                waited[p] += 1
    if drain:
        assert not any(inside.values()) and coming == [None] * ports, f"{sum(inside.values())} pages did not come home"
    return given, came, waited


@cocotb.test()
async def mixed(dut) -> None:
    given, came, _ = await run(dut, 1500, 0.5)
    assert given == came > 500


@cocotb.test()
async def all_ports_at_once(dut) -> None:
    """Pages of all memories at random: nearly a page at each port in a cycle, and each port its share."""
    ports, memories = testkit.parameter("Ports", 2), len(Geometry.under_test().pages)
    given, _, waited = await run(dut, 600, 1.0, drain=False)
    dut._log.info("%.3f pages a cycle, waited %s of 600", given / 600, waited)
    assert given >= 600 * min(0.93 * ports, 0.8 * memories)
    assert max(waited) - min(waited) <= 0.12 * 600


@cocotb.test()
async def one_memory_alone(dut) -> None:
    """All pages of one memory: one a cycle comes home, in turns."""
    ports = testkit.parameter("Ports", 2)
    given, _, waited = await run(dut, 300, 1.0, memories=(0,), drain=False)
    assert given >= 290
    assert max(waited) - min(waited) <= 3 * ports


@pytest.mark.parametrize("ports, memories", [(2, 2), (5, 8)])
def test_pst_free_route(ports: int, memories: int) -> None:
    geometry = Geometry.of(*((40 + m, 2048) for m in range(memories)))
    testkit.run_module("memory", "pst_free_route", {"Ports": ports, **geometry.parameters("Memories", "MemPages")})
