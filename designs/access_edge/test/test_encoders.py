# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Python and C++ make the same words of the same settings."""

import random

import numpy as np

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.bench import lateness
from penstock.engine.engine import module as engine
from penstock.testing.testkit import seed

LOW, HIGH = registers.MIN_RATE_BPS, registers.MAX_RATE_BPS


def place(code: int) -> int:
    """Return where a shaper's code stands among all: one more is the next slower rate."""
    mantissa, exponent = code & registers.most("mantissa"), code >> registers.EXPONENT_AT
    return exponent << registers.MANTISSA_BITS - 1 | mantissa - registers.MIN_MANTISSA


def test_rates() -> None:
    """Each rounds in its own way (nearest rate, nearest period), so neighbouring codes are allowed, and seldom."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    other, count = 0, 5_000
    for _ in range(count):
        clock, rate = rng.randint(10 * 10**6, 400 * 10**6), round(LOW * (HIGH / LOW) ** rng.random())
        if rng.random() < 0.1:
            rate = 8 * clock >> rng.randrange(2, 9)  # a power of two cycles per byte
        ours, theirs = registers.shaper_code(rate, 0, clock), engine().shaper_code(8 * clock / rate)
        assert abs(place(ours) - place(theirs)) <= 1, (rate, clock, hex(ours), hex(theirs))
        other += ours != theirs
    assert other < count / 100


def test_rates_of_the_bench() -> None:
    rng = np.random.default_rng(seed())
    rates = np.exp(rng.uniform(np.log(LOW), np.log(10**10), 2_000))
    for rate, code in zip(rates, lateness.rate_codes(rates).tolist(), strict=True):
        assert abs(place(code) - place(engine().shaper_code(8 * lateness.CLOCK_HZ / rate))) <= 1, rate


def test_words() -> None:
    """Bursts, exponents and mantissas stand at the same places, at the ends of their ranges, too."""
    rng = random.Random(seed())
    for _ in range(2_000):
        clock, rate = rng.randint(10 * 10**6, 400 * 10**6), round(LOW * (HIGH / LOW) ** rng.random())
        burst = rng.randrange(registers.MAX_BURST_CYCLES * rate // (8 * clock) + 1)
        setting = (*registers.rate_code(rate, clock), registers.burst_cycles(burst, rate, clock))
        word = registers.shaper_code(rate, burst, clock)
        assert engine().encode_shaper(*setting) == word and engine().decode_shaper(word) == setting, setting
    most = (registers.most("mantissa"), registers.MAX_EXPONENT, registers.MAX_BURST_CYCLES)
    assert engine().decode_shaper(engine().encode_shaper(*most)) == most and engine().encode_shaper(*most) == (1 << 50) - 1
