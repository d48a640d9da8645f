"""pst_event_counts beside a list of numbers: events in any order and density, and any counter shown in any cycle."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

LATE = 2  # cycles from an event to the first one in which a counter that is asked for has it; it is shown in the cycle after


@cocotb.test()
async def every_count(dut) -> None:
    rng = random.Random(testkit.seed())
    dut._log.info("PENSTOCK_SEED=%d", testkit.seed())
    counts, width = testkit.parameter("Counts", 16), testkit.parameter("Width", 50)
    dut.event_valid_i.value = dut.event_index_i.value = dut.index_i.value = 0
    await testkit.start(dut)
    now, under_way, asked, wrapped, shown = [0] * counts, deque([None] * LATE), None, 0, 0
    for cycle in range(6000):
        await FallingEdge(dut.clk_i)
        if cycle % 1500 == 1499:  # events inside are forgotten
            dut.rst_i.value, dut.event_valid_i.value = 1, rng.getrandbits(1)
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 0
            now, under_way, asked = [0] * counts, deque([None] * LATE), None
        near = counts if cycle % 600 < 300 else 2  # some time only two of them, which follow each other closely
        event = rng.randrange(near) if rng.random() < 0.7 else None
        index = rng.randrange(near)
        dut.event_valid_i.value, dut.index_i.value = event is not None, index
        dut.event_index_i.value = rng.randrange(counts) if event is None else event
        await ReadOnly()
        if asked is not None:
            assert int(dut.count_o.value) == asked, (cycle, index)
            shown += asked > 0
        under_way.append(event)
        written = under_way.popleft()  # in this cycle
        if written is not None:
            now[written] = (now[written] + 1) % 2**width
            wrapped += now[written] == 0
        asked = now[index]
    assert shown > 1000 and (width > 8 or wrapped > 5)


@pytest.mark.parametrize(
    "parameters", [{"Counts": 32}, {"Counts": 8, "Width": 7}, {"Counts": 3, "Width": 20}], ids=["usual", "wraps", "three"]
)
def test_pst_event_counts(parameters: dict[str, int]) -> None:
    testkit.run_module("profile", "pst_event_counts", parameters)


def test_a_single_counter_is_refused() -> None:
    with pytest.raises(RuntimeError, match="return code"):
        testkit.run_module("profile", "pst_event_counts", {"Counts": 1})
