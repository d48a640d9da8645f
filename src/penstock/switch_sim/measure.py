"""One run, and what several runs that differ only in their seed say together."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.switch_sim.setting import Setting

CHUNK_SLOTS = 100_000  # between two looks at the clock: some 20 ms

# Two-sided 95 % quantiles of Student's t distribution for 1, 2, ... 30 degrees of freedom.
T95 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314,
    2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
NORMAL95 = 1.95996


@dataclass(frozen=True)
class Run:
    """What one run measured. Latencies are those of the packets that left within the run, in slots; None when none did."""

    slots: int
    arrived: int
    sent: int
    dropped: int
    queued: int
    mean: float | None
    p99: int | None
    worst: int | None
    cpu_seconds: float


def run_one(setting: Setting, seed: int, number: int, progress: Callable[[int], bool] | None = None) -> Run:
    """Run number `number` of those that `seed` stands for. `progress` gets the slots done since its last call; when it returns False the
    run ends early, and its result is of the slots until then.
    """
    from penstock.engine import engine

    simulation = engine.module("engine/src/switch_sim").SwitchSimulation(**setting.engine_arguments(seed << 32 | number))
    left = setting.slots
    while left:
        part = min(left, CHUNK_SLOTS)
        simulation.advance(part)
        left -= part
        if progress and not progress(part):
            break
    raw = simulation.result()
    mean = p99 = worst = None
    if raw["sent"]:
        values, up_to = raw["latency_values"], np.cumsum(raw["latency_packets"])
        mean = raw["latency_sum"] / raw["sent"]
        p99 = int(values[np.searchsorted(up_to, -(-raw["sent"] * 99 // 100))])  # nearest rank
        worst = int(values[-1])
    counts = {key: int(raw[key]) for key in ("slots", "arrived", "sent", "dropped", "queued")}
    return Run(**counts, mean=mean, p99=p99, worst=worst, cpu_seconds=raw["cpu_seconds"])


def mean_and_ci95(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return the mean and half the width of its 95 % confidence interval (Student's t); None where there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return None, None
    mean = math.fsum(known) / len(known)
    free = len(known) - 1
    if not free:
        return mean, None
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / free)
    # Beyond the table: the first term of the expansion about the normal distribution (error below 0.001).
    quantile = T95[free - 1] if free <= len(T95) else NORMAL95 + (NORMAL95**3 + NORMAL95) / (4 * free)
    return mean, quantile * deviation / math.sqrt(len(known))


def summary(setting: Setting, runs: Sequence[Run]) -> dict[str, Any]:
    """Return `latency_slots`, `throughput`, `drop_share`, `packets` and `slots_per_second` of runs of one setting."""
    mean, mean_ci95 = mean_and_ci95([run.mean for run in runs])
    p99, p99_ci95 = mean_and_ci95([run.p99 for run in runs])
    worst_mean, worst_ci95 = mean_and_ci95([run.worst for run in runs])
    worst = [run.worst for run in runs if run.worst is not None]
    packets = {key: sum(getattr(run, key) for run in runs) for key in ("arrived", "sent", "dropped", "queued")}
    slots = sum(run.slots for run in runs)
    latency = {
        "mean": mean, "mean_ci95": mean_ci95, "p99": p99, "p99_ci95": p99_ci95,
        "worst_mean": worst_mean, "worst_ci95": worst_ci95, "worst": max(worst, default=None),
    }  # fmt: skip
    cpu_seconds = sum(run.cpu_seconds for run in runs)
    return {
        "latency_slots": {key: round(value, 4) if value is not None else None for key, value in latency.items()},
        # Rounded down and up to six digits: 1 is all, and 0 is none.
        "throughput": packets["sent"] * 10**6 // (slots * setting.ports) / 10**6,
        "drop_share": -(-packets["dropped"] * 10**6 // packets["arrived"]) / 10**6 if packets["arrived"] else 0.0,
        "packets": packets,
        "slots_per_second": round(slots / cpu_seconds) if cpu_seconds else None,
    }
