"""pst_wheel_when against plain arithmetic on times that do not wrap."""

import random

import cocotb
import pytest
from cocotb.triggers import Timer

from penstock.testing import testkit


@cocotb.test()
async def times(dut) -> None:
    """Times anywhere in the range that fits the modulus, half of them near the edges: due, slot, horizon."""
    slots, cycles, width = (testkit.parameter(name, 0) for name in ("Slots", "SlotCycles", "TimeWidth"))
    rng, seen = random.Random(testkit.seed()), set()
    dut._log.info("seed %d", testkit.seed())
    for _ in range(20_000):
        now = rng.randrange(2**width, 2 ** (width + 2))
        cursor = now // cycles - rng.choice([0, 0, 1, 2])
        edge = rng.choice([now, cursor * cycles, (cursor + 1) * cycles, (cursor + 2) * cycles, (cursor + slots) * cycles])
        reach = 2 ** (width - 2)
        hold = edge + rng.randint(-2, 2) if rng.random() < 0.5 else now + rng.randrange(-reach, reach)
        dut.now_i.value, dut.hold_i.value = now % 2**width, hold % 2**width
        dut.cursor_i.value = cursor % (2**width // cycles)
        await Timer(1, "ns")
        ahead = hold // cycles - cursor
        what = f"now {now}, cursor {cursor}, hold {hold}"
        assert int(dut.due_o.value) == (hold < now), what
        assert int(dut.slot_o.value) == hold // cycles % slots, what
        if hold >= now:  # else it is not asked
            assert int(dut.beyond_o.value) == (ahead >= slots), what
        seen.add((hold < now, max(-1, min(ahead, 2)), ahead >= slots))
    assert len(seen) >= 7, seen


@pytest.mark.parametrize(("slots", "cycles", "width"), [(256, 32, 32), (8, 8, 16)])
def test_pst_wheel_when(slots: int, cycles: int, width: int) -> None:
    testkit.run_module("timing", "pst_wheel_when", {"Slots": slots, "SlotCycles": cycles, "TimeWidth": width})
