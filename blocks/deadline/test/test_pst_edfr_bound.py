# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_edfr_bound against plain arithmetic: of each column the least of the others, log2(columns) + 1 cycles later; times wrap; reset."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.testing import testkit

MASK = (1 << 32) - 1


def fields(valid: int, deadlines: int, columns: int) -> list[int | None]:
    return [deadlines >> 32 * i & MASK if valid >> i & 1 else None for i in range(columns)]


@cocotb.test()
async def least_of_the_others(dut) -> None:
    rng, columns = random.Random(testkit.seed()), testkit.parameter("Columns", 8)
    print(f"PENSTOCK_SEED={testkit.seed()}")
    latency = columns.bit_length()
    dut.front_valid_i.value = dut.front_deadline_i.value = 0
    await testkit.start(dut)
    seen = {"none": 0, "equal": 0, "wrapped": 0}
    sent: deque[list[int | None]] = deque([[None] * columns] * latency)
    for cycle in range(1500):
        await FallingEdge(dut.clk_i)
        reset = cycle % 400 == 399
        dut.rst_i.value = int(reset)
        got = fields(int(dut.others_valid_o.value), int(dut.others_deadline_o.value), columns)
        came = sent.popleft()
        for i in range(columns):
            others = [d for j, d in enumerate(came) if j != i and d is not None]
            # All of them lie near each other, so the first one's distance orders them.
            first = min(others, key=lambda d: (d - others[0] + 2**31) % 2**32) if others else None
            assert got[i] == first, f"cycle {cycle}, column {i}: {got[i]}, expected {first} of {came}"
            seen["none"] += first is None
            seen["equal"] += others.count(first) > 1 if others else 0
            seen["wrapped"] += bool(others) and max(others) - min(others) > 2**31
        base = rng.choice((0, rng.getrandbits(32)))
        spread = rng.choice((2, 1000, 2**30))
        chance = rng.choice((0.1, 0.5, 0.9))
        front = [(base + rng.randrange(-spread, spread)) & MASK if rng.random() < chance else None for _ in range(columns)]
        noise = [rng.getrandbits(32) if d is None else d for d in front]
        dut.front_valid_i.value = sum((d is not None) << i for i, d in enumerate(front))
        dut.front_deadline_i.value = sum(d << 32 * i for i, d in enumerate(noise))
        sent.append(front)
        if reset:
            sent = deque([[None] * columns] * latency)
    dut._log.info("%s", seen)
    needed = seen if columns > 2 else {"none": seen["none"]}  # of one other there is nothing to compare
    assert min(needed.values()) > 10, f"the run did not try everything: {seen}"


@pytest.mark.parametrize("columns", [2, 4, 8])
def test_pst_edfr_bound(columns: int) -> None:
    testkit.run_module("deadline", "pst_edfr_bound", {"Columns": columns})
