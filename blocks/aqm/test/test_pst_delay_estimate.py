"""pst_delay_estimate against the model, and the model against exact fractions."""

import random
from fractions import Fraction

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.testing.testkit import parameter, run_module, seed


def setting(rng: random.Random) -> tuple[int, int, int]:
    """Backlog, mantissa, exponent."""
    return rng.randrange(1 << rng.randrange(1, 26)), rng.choice([0, 1, rng.randrange(32768, 65536)]), rng.randrange(rng.choice([32, 64]))


@cocotb.test()
async def estimates(dut) -> None:
    from cocotb.clock import Clock

    from penstock.engine import engine

    models = engine.models("aqm")

    width, shift, rng = parameter("TimeWidth", 26), parameter("TickShift", 8), random.Random(seed())
    Clock(dut.clk_i, 10, unit="ns").start()
    expected: list[int] = []
    for step in range(5000):
        await FallingEdge(dut.clk_i)
        if step >= 2:
            assert int(dut.delay_o.value) == expected[step - 2], f"estimate {step - 2}, seed {seed()}"
        backlog, mantissa, exponent = setting(rng)
        dut.backlog_i.value, dut.mantissa_i.value, dut.exponent_i.value = backlog, mantissa, exponent
        expected.append(models.delay_estimate(backlog, mantissa, exponent, shift, width))


@pytest.mark.parametrize("width, shift", [(16, 0)])
def test_estimates(width: int, shift: int) -> None:
    run_module("aqm", "pst_delay_estimate", {"TimeWidth": width, "TickShift": shift})


def test_model_is_backlog_times_period() -> None:
    from penstock.engine import engine

    models, rng = engine.models("aqm"), random.Random(seed())
    for _ in range(20_000):
        backlog, mantissa, exponent = setting(rng)
        exact = Fraction(backlog * mantissa) * Fraction(2) ** (exponent - 15 - 16 - 8)
        assert models.delay_estimate(backlog, mantissa, exponent) == min(int(exact), 2**25 - 1)


def test_delay_of_a_known_rate() -> None:
    """100,000 byte at 10 Mbit/s are 80 ms."""
    from penstock.engine import engine
    from penstock.testing.shapers import rate_code

    ticks = engine.models("aqm").delay_estimate(100_000, *rate_code(10_000_000, 220_000_000))
    assert abs(ticks * 256 / 220e6 - 0.080) < 1e-5
