"""pst_ram_fifo against lists: committed words come out in order, words taken back never do."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

LATENCY = 3  # cycles from a committing write to m_valid_o
PREFETCH = 2  # words that stand outside the RAM


async def _start(dut) -> None:
    for name in ("s_valid_i", "s_data_i", "s_commit_i", "s_rewind_i", "m_ready_i"):
        getattr(dut, name).value = 0
    await testkit.start(dut)


@cocotb.test()
async def mixed(dut) -> None:
    """Random writes, commits, rewinds, reads and resets at changing rates."""
    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    width, depth = testkit.parameter("Width", 32), testkit.parameter("Depth", 512)
    await _start(dut)

    kept: deque[tuple[int, int]] = deque()  # (word, cycle of its commit)
    pending: list[int] = []
    source = sink = commits = 0.5
    out = refused = overruns = 0
    for cycle in range(12000):
        await FallingEdge(dut.clk_i)
        if cycle % 64 == 0:
            source, sink = rng.choice([0.1, 0.6, 1.0]), rng.choice([0.0, 0.5, 1.0])
            commits = rng.choice([0.02, 0.3, 1.0])
        reset, rewind = rng.random() < 0.001, rng.random() < 0.02
        valid, commit, ready = rng.random() < source, rng.random() < commits, rng.random() < sink
        word = rng.getrandbits(width)
        dut.rst_i.value, dut.s_rewind_i.value = int(reset), int(rewind)
        dut.s_valid_i.value, dut.s_data_i.value, dut.s_commit_i.value = int(valid), word, int(commit)
        dut.m_ready_i.value = int(ready)

        await ReadOnly()
        take = int(dut.s_ready_o.value)
        inside = len(kept) + len(pending)
        assert take or inside >= depth, f"cycle {cycle}: refuses with {inside} words inside"
        assert not take or inside < depth + PREFETCH, f"cycle {cycle}: takes more words than it can hold"
        assert int(dut.s_overrun_o.value) == (len(pending) == depth)
        assert not int(dut.m_valid_o.value) or kept, f"cycle {cycle}: shows a word that was not committed"
        if kept and kept[0][1] + LATENCY <= cycle:
            assert int(dut.m_valid_o.value), f"cycle {cycle}: a word committed in cycle {kept[0][1]} is not there"
        if int(dut.m_valid_o.value):
            assert int(dut.m_data_o.value) == kept[0][0], f"cycle {cycle}: wrong word"
            assert kept[0][1] + LATENCY <= cycle, "faster than the promised latency: the documentation is wrong"

        refused += not take
        overruns += len(pending) == depth
        if ready and int(dut.m_valid_o.value):
            kept.popleft()
            out += 1
        if rewind:
            pending.clear()
        elif valid and take:
            pending.append(word)
            if commit:
                kept.extend((w, cycle) for w in pending)
                pending.clear()
        if reset:
            kept.clear()
            pending.clear()
    assert out > 1000 and refused > 100 and (overruns > 10 or depth > 100), "the traffic was too tame"


@cocotb.test()
async def full_rate(dut) -> None:
    """A word in and a word out per cycle, for many times the depth."""
    width = testkit.parameter("Width", 32)
    await _start(dut)
    for cycle in range(8 * min(testkit.parameter("Depth", 512), 64)):
        await FallingEdge(dut.clk_i)
        dut.s_valid_i.value = dut.s_commit_i.value = dut.m_ready_i.value = 1
        dut.s_data_i.value = cycle % 2**width
        await ReadOnly()
        assert int(dut.s_ready_o.value), f"input stalls in cycle {cycle}"
        if cycle >= LATENCY:
            assert int(dut.m_valid_o.value) and int(dut.m_data_o.value) == (cycle - LATENCY) % 2**width


# Depth 4 is the least at which the three cycles of latency cannot be seen in the rate.
@pytest.mark.parametrize("width, depth", [(8, 4), (70, 32)])
def test_pst_ram_fifo(width: int, depth: int) -> None:
    testkit.run_module("stream", "pst_ram_fifo", {"Width": width, "Depth": depth})
