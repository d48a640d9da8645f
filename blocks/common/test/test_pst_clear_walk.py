# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_clear_walk: after each reset every address once, in order, one a cycle; then nothing until the next reset."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit


@cocotb.test()
async def resets(dut) -> None:
    """Walks that end, and walks that a reset of some cycles cuts off at any place."""
    depth, rng = testkit.parameter("Depth", 512), random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    await testkit.start(dut)
    due = None  # the address that comes next; depth: the walk is over
    rate, cut, whole = 0.0, 0, 0
    for cycle in range(100 * depth + 400):
        await FallingEdge(dut.clk_i)
        if cycle % (3 * depth) == 0:
            rate = rng.choice([0.0, 0.5 / depth, 0.4])
        reset = due is None or rng.random() < rate
        dut.rst_i.value = int(reset)
        await ReadOnly()
        if due is not None:
            assert int(dut.busy_o.value) == (due < depth), f"cycle {cycle}: address {due} of {depth}"
            if due < depth:
                assert int(dut.addr_o.value) == due, f"cycle {cycle}"
            cut, whole = cut + (reset and 0 < due < depth), whole + (reset and due == depth)
        due = 0 if reset else min((due or 0) + 1, depth)
    assert whole > 2 and (cut > 2 or depth == 1), (whole, cut)


@pytest.mark.parametrize("parameters", [{"Depth": 1}, {"Depth": 3}, {"Depth": 8}, {"Depth": 37, "AddrWidth": 8}])
def test_pst_clear_walk(parameters: dict[str, object]) -> None:
    testkit.run_module("common", "pst_clear_walk", parameters)
