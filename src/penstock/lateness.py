"""The settings of `bench lateness`: rates of all queues, sizes, first departures. The measurement is in engine/src/bench_lateness.hpp."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.errors import UserError
from penstock.registers import MIN_RATE_BPS
from penstock.units import format_rate

CLOCK_HZ = 220_000_000
LINK_BPS = 100 * 10**9
OVERHEAD_BYTES = 24  # preamble, gap, FCS
LARGEST_RATE_BPS = 10**9
IMIX = [(60, 7), (590, 4), (1514, 1)]  # 64, 594 and 1,518 byte with FCS
PATTERNS = ("backlogged", "blocked")
RATES = ("mixed", "equal")
BURST_CYCLES = 1 << 20  # far beyond any lateness, so that a late packet delays none of its successors
LATE_CYCLES = 16_384  # a queue holds what it may send in this time, and two packets more, so it never runs empty
BLOCKED_LEN = 9600  # byte; at 64 kbit/s a queue that has sent one is blocked for 1.2 s
CLOSED_GATE = 0


def settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `_engine.lateness_bench`, and `rate_sum_bps` and `link_load` (share of the link's time, overhead included).

    Raises UserError when the smallest rates together are already more than the load asked for.
    """
    rng = np.random.default_rng(options["seed"])
    sizes = [(options["size"], 1)] if options["size"] else IMIX
    mean = sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)
    if options["pattern"] == "blocked":
        rates, first = _blocked(options["queues"], rng)
        link_load = rates[first >= 0].max() / LINK_BPS * (mean + OVERHEAD_BYTES) / mean
    else:
        target = LINK_BPS * options["load"] / 100 * mean / (mean + OVERHEAD_BYTES)
        rates = mixed_rates(options["queues"], target, rng) if options["rates"] == "mixed" else equal_rates(options["queues"], target)
        first = _first_departures(rates, sizes, rng)
        link_load = float(rates.sum()) / LINK_BPS * (mean + OVERHEAD_BYTES) / mean
    depth = (2 + rates / 8 / CLOCK_HZ * LATE_CYCLES / min(size for size, _ in sizes)).astype(np.uint32)
    waiting = int(depth.sum()) + 64
    return {
        "descriptors": 1 << (waiting - 1).bit_length(),
        "link_bps": LINK_BPS,
        "clock_hz": CLOCK_HZ,
        "overhead_bytes": OVERHEAD_BYTES,
        "sizes": sizes,
        "shapers": rate_codes(rates) | np.uint64(BURST_CYCLES << 21),
        "first": first,
        "depth": depth,
        "rate_sum_bps": round(float(rates.sum())),
        "link_load": float(link_load),
    }


def mixed_rates(queues: int, total_bps: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return rates from 64 kbit/s to 1 Gbit/s whose sum is `total_bps`, or as near to it as 1 Gbit/s for every queue comes.

    They are drawn from a Pareto distribution that is cut at both ends, with the exponent that has the right mean: some fast
    queues, many slow ones.
    """
    least, most = float(MIN_RATE_BPS), float(LARGEST_RATE_BPS)
    _check_least(queues, total_bps)
    if total_bps >= queues * most:
        return np.full(queues, most)
    low, high = -20.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _pareto_mean(middle, least, most) > total_bps / queues else (low, middle)
    exponent, share = low if abs(low) > 1e-6 else 1e-6, rng.random(queues)
    rates = least * (1 - share * (1 - (least / most) ** exponent)) ** (-1 / exponent)
    for _ in range(100):  # the draw's sum is not yet exact; what the limits cut off goes to the others
        rates = np.clip(rates, least, most)
        missing = total_bps - rates.sum()
        free = (rates < most) if missing > 0 else (rates > least)
        if abs(missing) < 1e-6 * total_bps or not free.any():
            break
        room = (most - rates if missing > 0 else rates - least)[free]
        rates[free] += missing * room * rates[free] / (room * rates[free]).sum()
    return np.clip(rates, least, most)


def equal_rates(queues: int, total_bps: float) -> NDArray[np.float64]:
    """Return the same rate for every queue, so that their sum is `total_bps`, but at most 1 Gbit/s."""
    _check_least(queues, total_bps)
    return np.full(queues, min(total_bps / queues, float(LARGEST_RATE_BPS)))


def rate_codes(rates: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return `exponent << 16 | mantissa` of each rate in bit/s (docs/architecture.md), 0 (closed gate) for 0."""
    period = 8 * CLOCK_HZ * 65536 / np.where(rates > 0, rates, 1e6)  # 2^-16 cycles per byte
    exponent = np.floor(np.log2(period)).astype(np.int64)
    mantissa = np.rint(np.ldexp(period, 15 - exponent)).astype(np.int64)
    carry = mantissa == 1 << 16
    mantissa, exponent = np.where(carry, 1 << 15, mantissa), exponent + carry
    return np.where(rates > 0, exponent << 16 | mantissa, CLOSED_GATE).astype(np.uint64)


def _check_least(queues: int, total_bps: float) -> None:
    if queues * MIN_RATE_BPS > total_bps:
        least = f"{queues:,} queues of at least {format_rate(MIN_RATE_BPS)}"
        raise UserError(f"bench lateness: {least} are more than the load; at most {int(total_bps // MIN_RATE_BPS):,} queues")


def _pareto_mean(exponent: float, least: float, most: float) -> float:
    """Mean of the Pareto distribution cut to [least, most]; by a sum, so that no exponent is a special case."""
    share = (np.arange(20_000) + 0.5) / 20_000
    exponent = exponent if abs(exponent) > 1e-6 else 1e-6
    return float((least * (1 - share * (1 - (least / most) ** exponent)) ** (-1 / exponent)).mean())


def _first_departures(rates: NDArray[np.float64], sizes: list[tuple[int, int]], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return when each queue first may send, in cycles: what is left of a period that one looks into at random.

    Longer periods are met more often, so the link's load is the same from the beginning.
    """
    lengths = np.array([size for size, _ in sizes], dtype=np.float64)
    weights = lengths * [weight for _, weight in sizes]
    met = rng.choice(lengths, size=len(rates), p=weights / weights.sum())
    return (rng.random(len(rates)) * met * 8 * CLOCK_HZ / rates).astype(np.int64)


def _blocked(queues: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return rates and first departures: one queue may send, half of the others have closed gates, the rest wait for long."""
    chosen = int(rng.integers(queues))
    closed = rng.permutation(queues) % 2 == 0
    far = BLOCKED_LEN * 8 * CLOCK_HZ // MIN_RATE_BPS
    rates = np.where(closed, 0.0, float(MIN_RATE_BPS))
    first = np.where(closed, -1, far).astype(np.int64)
    rates[chosen], first[chosen] = LARGEST_RATE_BPS, 0
    return rates, first
