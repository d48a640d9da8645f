"""Rates of many queues with a given sum."""

import numpy as np
from numpy.typing import NDArray


def mixed_rates(queues: int, total_bps: float, least_bps: float, most_bps: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return rates from `least_bps` to `most_bps` whose sum is `total_bps`, or as near to it as `least_bps` or `most_bps` for all comes.

    They are drawn from a Pareto distribution that is cut at both ends, with the exponent that has the right mean: some fast
    queues, many slow ones.
    """
    least, most = float(least_bps), float(most_bps)
    if not queues * least < total_bps < queues * most:
        return np.full(queues, most if total_bps >= queues * most else least)
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


def equal_rates(queues: int, total_bps: float, least_bps: float, most_bps: float, _rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the same rate for every queue, so that their sum is `total_bps`, or as near to it as the limits allow."""
    return np.full(queues, np.clip(total_bps / queues, least_bps, most_bps))


def _pareto_mean(exponent: float, least: float, most: float) -> float:
    """Mean of the Pareto distribution cut to [least, most]; by a sum, so that no exponent is a special case."""
    share = (np.arange(20_000) + 0.5) / 20_000
    exponent = exponent if abs(exponent) > 1e-6 else 1e-6
    return float((least * (1 - share * (1 - (least / most) ** exponent)) ** (-1 / exponent)).mean())
