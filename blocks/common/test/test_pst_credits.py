"""pst_credits against a counter, cycle by cycle."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.hardware import elaborated, library
from penstock.testing import testkit


@cocotb.test()
async def mixed(dut) -> None:
    """Random takes, up to three credits back at once, resets; at rates that keep it empty, full and in between."""
    credits, rng = testkit.parameter("Credits", 32), random.Random(testkit.seed())
    kept_back = testkit.parameter("Late", 0)
    dut._log.info("seed %d", testkit.seed())
    dut.take_i.value = dut.give_i.value = 0
    await testkit.start(dut)
    count, seen = credits, set()
    take_rate = give_rate = 0.5
    for cycle in range(10_000):
        await FallingEdge(dut.clk_i)
        if cycle % 200 == 0:
            take_rate, give_rate = rng.choice([0.1, 0.5, 1.0]), rng.choice([0.1, 0.5, 1.0])
        take = int(count > 0 and rng.random() < take_rate)
        give = rng.randint(0, min(3, credits - count + take)) if rng.random() < give_rate else 0
        reset = rng.random() < 0.002
        dut.take_i.value, dut.give_i.value, dut.rst_i.value = take, give, int(reset)
        await ReadOnly()
        assert int(dut.any_o.value) == (count > kept_back), f"cycle {cycle}: {count} credits"
        seen.add((give, take, count))
        count = credits if reset else count + give - take
    possible = {
        (give, take, count)
        for count in range(credits + 1)
        for take in range(min(count, 1) + 1)
        for give in range(min(3, credits - count + take) + 1)
    }
    assert len(seen) > 0.5 * len(possible), f"{len(seen)} of {len(possible)} cases"


@pytest.mark.parametrize(("credits", "late"), [(0, 0), (1, 1)])
def test_a_counter_that_would_never_have_one_is_refused(credits: int, late: int) -> None:
    sources = library.sources_of("pst_credits")
    said = elaborated.complaint("pst_credits", sources, {"Credits": credits, "Late": late})
    assert said == f"pst_credits: Credits is {credits}, allowed: {late + 1} and more"
    assert elaborated.complaint("pst_credits", sources, {"Credits": credits + 1, "Late": late}) is None


@pytest.mark.parametrize(("credits", "late"), [(1, 0), (2, 0), (5, 0), (32, 0), (2, 1), (32, 1)])
def test_pst_credits(credits: int, late: int) -> None:
    testkit.run_module("common", "pst_credits", {"Credits": credits, "Late": late})
