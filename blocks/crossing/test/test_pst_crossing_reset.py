"""pst_crossing_reset: its end waits for every clock, whatever their periods, and one that stands holds all of them."""

import random

import cocotb
import pytest
from cocotb.triggers import Timer

from penstock.testing import testkit


@cocotb.test()
async def resets(dut) -> None:
    """Resets of random lengths, some shorter than a cycle of the slowest clock, some while a clock stands."""
    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    domains = testkit.parameter("Domains", 2)
    periods = [rng.randint(1000, 20000) for _ in range(domains)]  # half ones, in ps
    dut._log.info("half periods: %s ps", periods)
    due = [rng.randint(1, period) for period in periods]
    level = edges = 0
    now, standing = 0, None
    begun, begins, ends = False, 0, 0  # the reset's
    seen = [0] * domains  # edges of each clock in this reset
    before = (1 << domains) - 1  # rst_o
    since = [0] * domains  # edges since the reset ended
    released = 0
    dut.clk_i.value, dut.rst_ni.value = 0, 0
    await Timer(1, "ps")
    begun, begins, ends = True, 0, rng.randint(1, 100_000)
    while released < 60:
        at = min(*(due[d] for d in range(domains) if d != standing), ends if begun else begins)
        await Timer(max(at - now, 1), "ps")
        now = max(at, now + 1)
        rose = 0
        if begun and at == ends:
            begun, begins, since = False, now + rng.choice([rng.randint(1, 40_000), rng.randint(1, 1_500_000)]), [0] * domains
            standing = rng.randrange(domains) if rng.random() < 0.2 else None
            dut.rst_ni.value = 1
        elif not begun and at == begins:
            begun, ends = True, now + rng.choice([rng.randint(1, 3000), rng.randint(1, 100_000)])
            if standing is not None:
                due[standing], standing = now + periods[standing], None
            seen = [0] * domains
            dut.rst_ni.value = 0
        else:
            for d in range(domains):
                if due[d] <= now and d != standing:
                    level ^= 1 << d
                    rose |= level & 1 << d
                    due[d] = now + periods[d]
            dut.clk_i.value = level
        await Timer(1, "ps")
        now += 1
        rst = int(dut.rst_o.value)
        edges += rose != 0
        if begun:
            assert rst == (1 << domains) - 1, "a clock is not in reset"
        fell = before & ~rst
        for d in range(domains):
            if rose & 1 << d:
                seen[d] += 1
                since[d] += 1
        if fell:
            assert fell & ~rose == 0, f"reset {fell:b} ended at another clock's edge"
            assert all(count >= 2 for count in seen), f"reset ended when the clocks had had {seen} edges"
            assert standing is None or seen[standing] >= 2
            released += rst == 0
        assert begun or not rst & ~before, "a reset began by itself"
        if not begun and standing is None and min(since) > 2 * sum(-(-3 * max(periods) // period) for period in periods):
            assert rst == 0, f"reset has not ended after {since} edges"
        before = rst
    dut._log.info("%d resets ended, %d edges", released, edges)


@pytest.mark.parametrize("domains", [2, 5])
def test_pst_crossing_reset(domains: int) -> None:
    testkit.run_module("crossing", "pst_crossing_reset", {"Domains": domains})
