"""The control law's inverse square root, for every count, against exact arithmetic."""

import math
from fractions import Fraction

import pytest

from penstock.engine import engine

models = engine.models("aqm/codel")


def test_error_for_every_count() -> None:
    """0 <= y * sqrt(count) - 1 <= 2^-24: squared, so that the comparison is between fractions."""
    high = (1 + Fraction(1, 2**24)) ** 2
    for count in range(1, 65_536):
        mantissa, shift = models.inverse_sqrt(count)
        square = Fraction(mantissa**2 * count, 4 ** (27 + shift))
        assert 1 <= square <= high, count
    for power in range(8):
        assert models.inverse_sqrt(4**power) == (1 << 27, power)


@pytest.mark.parametrize("interval", [1, 55, 859, 85_938, 200_001, 2**18 - 1])
def test_control_law_is_rounded_to_nearest(interval: int) -> None:
    """At most one tick from round(interval / sqrt(count)), and nearly always equal to it."""
    different = 0
    for count in range(1, 65_536):
        exact = math.isqrt((4 * interval * interval) // count) + 1 >> 1  # floor(2 interval / sqrt(count)), rounded half up
        step = models.control_law_step(interval, count)
        assert abs(step - exact) <= 1, count
        different += step != exact
    print(f"interval {interval}: {different} of 65,535 counts are a tick off")
    assert different <= 6
