"""pst_fabric_fifo against a deque, cycle by cycle, from registers, LUT RAM and block RAM."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing.testkit import parameter, run_module, seed, start


@cocotb.test()
async def mixed(dut) -> None:
    """Random pushes and pops at changing rates: latency 1, a word every cycle, a word into a full FIFO while one leaves."""
    width, depth, rng = parameter("Width", 32), parameter("Depth", 16), random.Random(seed())
    dut._log.info("seed %d", seed())
    dut.s_valid_i.value = dut.s_data_i.value = dut.m_ready_i.value = 0
    await start(dut)
    words: deque[int] = deque()
    full = taken_when_full = 0
    for cycle in range(6_000):
        # Fills and drains, and hovers where the RAM has just run empty or just got its first word.
        if cycle % 40 == 0:
            pushes, pops = rng.choice([(1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (0.5, 1.0), (0.8, 0.9), (0.6, 0.6), (0.9, 0.5)])
        push, pop, word = rng.random() < pushes, rng.random() < pops, rng.getrandbits(width)
        dut.s_valid_i.value, dut.s_data_i.value, dut.m_ready_i.value = int(push), word, int(pop)
        await ReadOnly()
        valid, ready = bool(words), len(words) < depth or pop
        assert int(dut.m_valid_o.value) == valid and int(dut.s_ready_o.value) == ready, f"cycle {cycle}, {len(words)} words"
        assert int(dut.level_o.value) == len(words)
        if valid:
            assert int(dut.m_data_o.value) == words[0], f"cycle {cycle}"
        full += len(words) == depth
        taken_when_full += len(words) == depth and push and pop
        if pop and valid:
            words.popleft()
        if push and ready:
            words.append(word)
        await FallingEdge(dut.clk_i)
    assert full > 20 and taken_when_full > 5


@pytest.mark.parametrize("width, depth", [(8, 5), (33, 65)])
def test_pst_fabric_fifo(width: int, depth: int) -> None:
    run_module("fabric", "pst_fabric_fifo", {"Width": width, "Depth": depth})
