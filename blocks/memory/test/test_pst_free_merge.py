"""pst_free_merge: every page comes through once, in its port's order; port 0 never waits, and the others have equal shares."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

WIDTH = 12


async def run(dut, cycles: int, offer: float, ready: float, first: float | None = None) -> list[list[int]]:
    """Offer with probability `offer` at each port (`first`: at port 0), take with `ready`; check order; return what each port delivered."""
    ports = testkit.parameter("Ports", 2)
    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    dut.s_free_valid_i.value = dut.s_free_desc_i.value = dut.m_free_ready_i.value = 0
    await testkit.start(dut)
    sent: list[list[int]] = [[] for _ in range(ports)]
    came: list[list[int]] = [[] for _ in range(ports)]
    offered: list[int | None] = [None] * ports
    for _ in range(cycles):
        await FallingEdge(dut.clk_i)
        for p in range(ports):
            if offered[p] is None and rng.random() < (offer if first is None or p else first):
                # The port is in the lowest bits, so that the receiver knows where a page is from.
                offered[p] = rng.randrange(1 << WIDTH) // ports * ports + p
                offered[p] -= ports if offered[p] >= 1 << WIDTH else 0
        take = rng.random() < ready
        dut.s_free_valid_i.value = sum(int(page is not None) << p for p, page in enumerate(offered))
        dut.s_free_desc_i.value = sum((page or 0) << WIDTH * p for p, page in enumerate(offered))
        dut.m_free_ready_i.value = int(take)
        await ReadOnly()
        if take and int(dut.m_free_valid_o.value):
            page = int(dut.m_free_desc_o.value)
            came[page % ports].append(page)
        accepted = int(dut.s_free_ready_o.value)
        if offered[0] is not None and (take or not int(dut.m_free_valid_o.value)):
            assert accepted == 1
        for p in range(ports):
            if offered[p] is not None and accepted >> p & 1:
                sent[p].append(offered[p])
                offered[p] = None
    for p in range(ports):
        assert 0 <= len(sent[p]) - len(came[p]) <= 1 and sent[p][: len(came[p])] == came[p]
    return came


@cocotb.test()
async def mixed(dut) -> None:
    """Random offers and back-pressure."""
    assert sum(map(len, await run(dut, 2000, 0.4, 0.7))) > 1000


@cocotb.test()
async def shares(dut) -> None:
    """All ports at once: one page per cycle, and each port behind the first its share of what that leaves."""
    came = await run(dut, 600, 1.0, 1.0, first=0.4)
    assert sum(map(len, came)) >= 598 and len(came[0]) > 200
    assert max(map(len, came[1:])) - min(map(len, came[1:])) <= 1


@cocotb.test()
async def first(dut) -> None:
    """Port 0 in each cycle: no other has a page taken."""
    assert sum(map(len, (await run(dut, 300, 1.0, 1.0))[1:])) == 0


@pytest.mark.parametrize("ports", [2, 3, 4])
def test_pst_free_merge(ports: int) -> None:
    testkit.run_module("memory", "pst_free_merge", {"Ports": ports, "Width": WIDTH})
