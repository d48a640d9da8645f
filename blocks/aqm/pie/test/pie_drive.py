"""Drives PIE to any drop probability, to the last bit: a delay and a target for each update. For tests of its constants.

With alpha = 4096 and beta = 1 an update adds (4096 (delay - target) + delay - delay before) >> s, where s is 11 to 0 by the range that the
probability is in (RFC 8033, section 4.2), so quotient and remainder of the wanted step by 4096 give target and delay.
"""

ALPHA, BETA = 4096, 1
HIGHEST_TARGET = (1 << 18) - 1
FIFTIETH = (1 << 32) // 50  # the largest step at a probability of 0.1 and more
# Where the ranges end, in 2^-32: 10^-6 .. 10^-1; a probability below has the shift beside it.
RANGES = [(-(-(1 << 32) // 10**n), shift) for n, shift in zip(range(6, 0, -1), (11, 9, 7, 5, 3, 1), strict=True)]
FIFTH = -(-(1 << 32) // 5)
START_DELAY = 180_000


def shift_at(probability: int) -> int:
    """By how many bits a step is shifted at this probability."""
    return next((shift for limit, shift in RANGES if probability < limit), 0)


def step(probability: int, delay: int, wanted: int) -> tuple[int, int, int]:
    """Return (delay, target, next probability) of one update that brings `probability` as far to `wanted` as one can."""
    shift = shift_at(probability)
    most = ALPHA * 150_000 >> shift
    if shift == 0:
        most = FIFTIETH // ALPHA * ALPHA  # a multiple, so that the delay stays what it is
    change = max(-(ALPHA * 50_000 >> shift), min(most, wanted - probability))
    quotient, remainder = divmod(change << shift, ALPHA)
    return delay + remainder, delay + remainder - quotient, probability + change


def way(wanted: int) -> list[tuple[int, int]]:
    """Return the (delay, target) of each update that leads from a fresh start to the probability `wanted`; the first is the start's."""
    delay, probability = START_DELAY, 0
    updates = [(delay, 1)]
    while probability != wanted:
        delay, target, probability = step(probability, delay, wanted)
        if delay > START_DELAY + 40_000:
            raise AssertionError("the remainders have used up the delay")
        updates.append((delay, target))
    assert all(0 <= target <= HIGHEST_TARGET for _, target in updates)
    return updates


# What is done to a queue: ("update", delay, target), or ("arrive", whether the number drawn is below the probability).
Script = list[tuple]


def _updates(updates: list[tuple[int, int]]) -> Script:
    return [("update", delay, target) for delay, target in updates]


def _arrivals(kinds: str) -> Script:
    """Arrivals: `l` with a number below the probability, `h` with one that is not."""
    return [("arrive", kind == "l") for kind in kinds]


def _guarded(probability: int, low: bool) -> Script:
    """Lead to `probability` with a delay just below half of its target, or just not."""
    updates = way(FIFTH + 40_000_000)
    at = FIFTH + 40_000_000 - (updates[-1][0] - 10)
    updates.append((10, 10))  # now the delay is short
    remainder = (probability - at) % ALPHA
    delay = 10 + remainder
    target = 2 * delay + low
    before = probability + ALPHA * (target - delay)
    updates += [(delay, delay - (before - at - remainder) // ALPHA), (delay, target)]
    return _updates(updates)


def scripts() -> dict[str, Script]:
    """Return what shows each constant of PIE to the last bit, by a name."""
    found: dict[str, Script] = {}
    for limit, _ in RANGES:
        for wanted in (limit - 1, limit):
            updates = way(wanted)
            delay = updates[-1][0] + 123
            found[f"a step at {wanted}"] = _updates([*updates, (delay, delay - 7000)])
            found[f"a large step at {wanted}"] = _updates([*updates, (delay, delay - 60_000)])
    for change in (FIFTIETH - 1, FIFTIETH, FIFTIETH + 1):
        updates = way(700_000_000)
        quotient, remainder = divmod(change, ALPHA)
        delay = updates[-1][0] + remainder
        found[f"a step of {change}"] = _updates([*updates, (delay, delay - quotient)])
    for wanted in (429_496_729, 429_496_730):
        found[f"mark or drop at {wanted}"] = _updates(way(wanted)) + _arrivals("h" * 8 + "l" * 3)
    found["0.85, just reached"] = _updates(way(1_825_361_101)) + _arrivals("hll")
    found["0.85, just missed"] = _updates(way(521_531_743)) + _arrivals("hhhhhhll")
    found["8.5, just reached"] = _updates(way(1 << 31)) + _arrivals("h" * 18)
    found["8.5, just missed"] = _updates(way(2_433_814_801)) + _arrivals("h" * 16)
    for probability in (FIFTH - 1, FIFTH):
        for low in (True, False):
            found[f"guard at {probability}, low {low}"] = _guarded(probability, low) + _arrivals("hhhhll")
    return found
