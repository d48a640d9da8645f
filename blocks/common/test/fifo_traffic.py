"""Random traffic against a FIFO whose behaviour is known cycle by cycle; pst_fifo and pst_skid_buffer share it."""

import random
from collections import deque

from cocotb.triggers import FallingEdge, ReadOnly


async def mixed_traffic(dut, width: int, depth: int, cycles: int, rng: random.Random) -> None:
    """Push, pop and reset at random and compare every output in every cycle with a deque of at most `depth` words.

    The rates of both sides change every 64 cycles, so that the FIFO is full, empty and in between. Ends empty.
    """
    words: deque[int] = deque()
    source = sink = 1.0
    offer: int | None = None
    full = empty_again = 0
    for cycle in range(cycles):
        await FallingEdge(dut.clk_i)
        if cycle % 64 == 0:
            source, sink = rng.choice([0.1, 0.5, 0.9, 1.0]), rng.choice([0.1, 0.5, 0.9, 1.0])
        reset = rng.random() < 0.005
        if offer is None and rng.random() < source:
            offer = rng.getrandbits(width)
        ready = rng.random() < sink
        dut.rst_i.value = int(reset)
        dut.s_valid_i.value = int(offer is not None)
        dut.s_data_i.value = offer if offer is not None else rng.getrandbits(width)
        dut.m_ready_i.value = int(ready)

        await ReadOnly()
        assert int(dut.s_ready_o.value) == (len(words) < depth), f"cycle {cycle}: ready with {len(words)} of {depth} words"
        assert int(dut.m_valid_o.value) == (len(words) > 0), f"cycle {cycle}: valid with {len(words)} words"
        if words:
            assert int(dut.m_data_o.value) == words[0], f"cycle {cycle}: wrong word"
        if hasattr(dut, "level_o"):
            assert int(dut.level_o.value) == len(words), f"cycle {cycle}: wrong level"

        push, pop = offer is not None and len(words) < depth, ready and bool(words)
        if pop:
            words.popleft()
        if push:
            words.append(offer)
            offer = None
        if reset:
            words.clear()
        full += len(words) == depth
        empty_again += not words
    assert full > cycles // 20 and empty_again > cycles // 20, "the traffic never filled or emptied the FIFO"


async def full_rate(dut, cycles: int) -> None:
    """Offer a word and take a word in each of `cycles` cycles; nothing may stall and latency is one cycle."""
    for cycle in range(cycles):
        await FallingEdge(dut.clk_i)
        dut.s_valid_i.value, dut.s_data_i.value, dut.m_ready_i.value = 1, cycle & 0xFF, 1
        await ReadOnly()
        assert int(dut.s_ready_o.value), f"input stalls in cycle {cycle}"
        if cycle:
            assert int(dut.m_valid_o.value) and int(dut.m_data_o.value) == (cycle - 1) & 0xFF
