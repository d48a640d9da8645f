"""The settings of `bench lateness`: rates of all queues, sizes, first departures.

The measurement is in designs/access_edge/bench/bench_lateness.hpp.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.basics.rates import equal_rates, mixed_rates
from penstock.basics.units import format_rate
from penstock.designs.access_edge.registers import BURST_AT, EXPONENT_AT, MANTISSA_BITS, MIN_MANTISSA
from penstock.errors import UserError

CLOCK_HZ = 220_000_000
LINK_BPS = 100 * 10**9
OVERHEAD_BYTES = 24  # preamble, gap, FCS
LARGEST_RATE_BPS = 10**9
IMIX = [(60, 7), (590, 4), (1514, 1)]  # 64, 594 and 1,518 byte with FCS
PATTERNS = ("backlogged", "blocked")
RATES = ("mixed", "equal")
BURST_CYCLES = 1 << 20  # far beyond any lateness, so that a late packet delays none of its successors
LATE_CYCLES = 16_384  # a queue holds what it may send in this time, and two packets more, so it never runs empty
LEAST_RATE_BPS = 64_000
BLOCKED_LEN = 9600  # byte; at 64 kbit/s a queue that has sent one is blocked for 1.2 s
CLOSED_GATE = 0


def settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `lateness_bench`, and `rate_sum_bps` and `link_load` (share of the link's time, overhead included).

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
        _check_least(options["queues"], target)
        mixed = options["rates"] == "mixed"
        rates = (mixed_rates if mixed else equal_rates)(options["queues"], target, LEAST_RATE_BPS, LARGEST_RATE_BPS, rng)
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
        "shapers": rate_codes(rates) | np.uint64(BURST_CYCLES << BURST_AT),
        "first": first,
        "depth": depth,
        "rate_sum_bps": round(float(rates.sum())),
        "link_load": float(link_load),
    }


def rate_codes(rates: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return exponent and mantissa in one word of each rate in bit/s (docs/architecture.md), 0 (closed gate) for 0."""
    period = 8 * CLOCK_HZ * 65536 / np.where(rates > 0, rates, 1e6)  # 2^-16 cycles per byte
    exponent = np.floor(np.log2(period)).astype(np.int64)
    mantissa = np.rint(np.ldexp(period, MANTISSA_BITS - 1 - exponent)).astype(np.int64)
    carry = mantissa == 1 << MANTISSA_BITS
    mantissa, exponent = np.where(carry, MIN_MANTISSA, mantissa), exponent + carry
    return np.where(rates > 0, exponent << EXPONENT_AT | mantissa, CLOSED_GATE).astype(np.uint64)


def _check_least(queues: int, total_bps: float) -> None:
    if queues * LEAST_RATE_BPS > total_bps:
        least = f"{queues:,} queues of at least {format_rate(LEAST_RATE_BPS)}"
        raise UserError(f"bench lateness: {least} are more than the load; at most {int(total_bps // LEAST_RATE_BPS):,} queues")


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
    far = BLOCKED_LEN * 8 * CLOCK_HZ // LEAST_RATE_BPS
    rates = np.where(closed, 0.0, float(LEAST_RATE_BPS))
    first = np.where(closed, -1, far).astype(np.int64)
    rates[chosen], first[chosen] = LARGEST_RATE_BPS, 0
    return rates, first
