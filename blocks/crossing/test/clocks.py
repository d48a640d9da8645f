"""Pairs of clocks for the tests of crossings: slower, faster, equal with a phase that drifts, equal with any phase."""

import random

RATIOS = ("slower", "faster", "drifting", "equal")


def periods(ratio: str, rng: random.Random) -> tuple[int, int]:
    """Return two periods in ps, both even; the second is the one that the ratio is said of."""
    first = 2 * rng.randint(1000, 5000)
    factor = {
        "slower": rng.uniform(1.05, 7),
        "faster": 1 / rng.uniform(1.05, 7),
        "drifting": 1 + rng.choice([-1, 1]) * rng.uniform(0.001, 0.01),
    }
    return first, first if ratio == "equal" else 2 * round(first * factor[ratio] / 2)
