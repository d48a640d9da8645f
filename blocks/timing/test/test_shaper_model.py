"""The shaper's model against exact fractions."""

import random
from fractions import Fraction

import pytest

from penstock.engine import engine
from penstock.testing.testkit import seed

models = engine.models("timing")


def test_increment_is_length_times_period() -> None:
    rng = random.Random(seed())
    for _ in range(20_000):
        mantissa, exponent, length = rng.randrange(32768, 65536), rng.randrange(64), rng.randrange(14, 9601)
        exact = Fraction(length * mantissa) * Fraction(2) ** (exponent - 15)  # in 2^-16 cycles
        for width in (32, 35):
            got, longest = models.shaper_increment(mantissa, exponent, length, width), 2 ** (width - 3 + 16) - 1
            if exact > longest:
                assert got == longest
            else:
                assert 0 <= exact - got < 1


@pytest.mark.parametrize("most, width", [(1522, 32), (9600, 35)])
@pytest.mark.parametrize("clock", [220_000_000, 300_000_000])
def test_time_of_a_packet_at_a_low_rate(clock: int, most: int, width: int) -> None:
    """From 8 kbit/s on a packet takes its bits by the rate, within 2^-16, with the times that a device with such packets has."""
    from penstock.testing.shapers import rate_code

    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    assert models.time_width_of(most) == width
    for _ in range(5_000):
        rate, length = rng.choice([8_000, round(8_000 * 10 ** (rng.random() * 2))]), rng.choice([most, rng.randint(14, most)])
        exact = Fraction(8 * length * clock, rate)
        got = Fraction(models.shaper_increment(*rate_code(rate, clock), length, width), 65536)
        assert abs(got / exact - 1) <= Fraction(1, 2**16) + Fraction(1, 2**32), (rate, length)


@pytest.mark.parametrize("rate", [8_000, 64_000, 20_000_000, 1_000_000_000, 100_000_000_000])
def test_long_term_rate(rate: int) -> None:
    """1,000 packets of a backlogged queue that is always served late by up to the tolerance leave at the rate, within 0.01 %."""
    from penstock.testing.shapers import rate_code

    rng, clock = random.Random(seed()), 220_000_000
    mantissa, exponent = rate_code(rate, clock)
    time = start = 10**9 << 16
    total = 0
    for _ in range(1000):
        length = rng.choice([64, 594, 1518, 9600])
        now = models.shaper_eligible_cycle(time) + rng.randrange(1000)
        time = models.shaper_update(mantissa, exponent, 0, time, now, length, time_width=35)
        total += length
    measured = Fraction(total * 8 * clock * 65536, time - start)
    assert abs(measured / rate - 1) < Fraction(1, 10_000)


def test_burst_after_idle() -> None:
    """After a long pause a queue may send its burst at once, and no more than one packet beyond it (GCRA conformance)."""
    mantissa, exponent, length, burst = 40_000, 16, 1000, 50_000
    period = models.shaper_increment(mantissa, exponent, length) / 65536
    now, time, sent = 10**8, 0, 0
    while models.shaper_eligible_cycle(time) <= now:
        time = models.shaper_update(mantissa, exponent, burst, time, now, length)
        sent += 1
    assert sent == int(burst / period) + 1
