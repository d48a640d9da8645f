"""Figures 7 and 9, and the numbers that section 5.1 states beside them: the slot simulator."""

from collections.abc import Callable
from typing import Any

from penstock.designs.frame_switch.papers.fpga_network_switch import stated
from penstock.papers import Options
from penstock.switch_sim import Point, Setting, sweep

PORTS = 16
TRAFFICS = ("uniform", "bursty", "nonuniform")
LATENCY_SLOTS = 25_000  # gives the paper's latencies; its text does not say how long it ran
DROP_SLOTS = 50_000  # gives the paper's FIFO depths
MAX_DEPTH = 1024

Progress = Callable[[int, int], None]
Bar = Callable[[str], Any]  # a context manager that yields a Progress

# The curves of figure 7: name -> (algorithm, iterations); None: log2(P), as in the paper.
CURVES: dict[str, tuple[str, int | None]] = {"cprra": ("cprra", None), "oq": ("oq", None)} | {
    f"{name}{suffix}": (name, iterations)
    for suffix, iterations in (("", None), ("-1", 1))
    for name in ("pim", "rrm", "islip", "drrm", "edrrm")
}


def latency(options: Options, bar: Bar) -> dict[str, Any]:
    """Figure 7 and the worst cases: mean and worst latency of every curve by load, FIFOs without limit."""
    rates = [n / 20 for n in range(1, 21)] if options.full else [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0]
    seeds, seeds_at_full_load = (20, 200) if options.full else (4, 20)
    keys = [(traffic, curve, rate) for traffic in TRAFFICS for curve in CURVES for rate in rates]
    points = [
        Point(
            Setting(CURVES[curve][0], CURVES[curve][1], PORTS, traffic, rate, slots=LATENCY_SLOTS),
            seeds_at_full_load if rate == 1 else seeds,
        )
        for traffic, curve, rate in keys
    ]
    with bar("figure 7") as progress:
        found = sweep(points, options.seed, progress, options.cluster)
    curves: dict[str, Any] = {traffic: {} for traffic in TRAFFICS}
    for (traffic, curve, rate), result in zip(keys, found, strict=True):
        entry = {"rate": rate} | result["latency_slots"] | {"throughput": result["throughput"]}
        curves[traffic].setdefault(curve, []).append(entry)
    return {"ports": PORTS, "slots": LATENCY_SLOTS, "seeds": seeds, "seeds_at_full_load": seeds_at_full_load, "curves": curves}


def drops(options: Options, bar: Bar) -> dict[str, Any]:
    """Figure 9: share of dropped packets by FIFO depth and load, of this switch and of the best scheduler, and the depth without drops."""
    rates = [n / 20 for n in range(10, 21)] if options.full else [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0]
    depths = [1, 2, 3, 4, 6, 8, 12, 16, 24, 33, 48, 64, 96, 128, 153, 192, 256]
    if not options.full:
        depths = [1, 2, 4, 8, 16, 33, 64, 96, 153, 256]
    seeds, seeds_at_full_load = (5, 20) if options.full else (1, 10)
    keys = [
        (traffic, algorithm, depth, rate)
        for traffic in TRAFFICS
        for algorithm in ("cprra", stated.BEST[traffic])
        for depth in depths
        for rate in rates
    ]
    points = [
        Point(
            Setting(algorithm, None, PORTS, traffic, rate, slots=DROP_SLOTS, depth=depth),
            seeds_at_full_load if (depth, rate) == (1, 1) else seeds,
        )
        for traffic, algorithm, depth, rate in keys
    ]
    with bar("figure 9") as progress:
        found = iter(sweep(points, options.seed, progress, options.cluster))
    maps = [
        {
            "traffic": traffic,
            "algorithm": algorithm,
            "drop_share": [[next(found)["drop_share"] for _ in rates] for _ in depths],  # [depth][rate]
        }
        for traffic in TRAFFICS
        for algorithm in ("cprra", stated.BEST[traffic])
    ]
    needed = {}
    for algorithm in ("cprra", stated.BEST["uniform"]):
        with bar(f"depth of {algorithm}") as progress:
            setting = Setting(algorithm, None, PORTS, "uniform", 1.0, slots=DROP_SLOTS)
            needed[algorithm] = depth_without_drops(setting, 40 if options.full else 20, options, progress)
    return {
        "ports": PORTS, "slots": DROP_SLOTS, "seeds": seeds, "rates": rates, "depths": depths, "maps": maps,
        "seeds_at_depth_1_full_load": seeds_at_full_load, "depth_without_drops": needed,
    }  # fmt: skip


def depth_without_drops(setting: Setting, seeds: int, options: Options, progress: Progress | None = None) -> list[int]:
    """Return for each run the smallest depth at which it drops nothing, sorted; MAX_DEPTH where even that drops.

    A run without drops does not depend on the depth, so a deeper FIFO never drops where a shallower does not: halving finds the depth.
    """
    from dataclasses import replace

    low, high = [1] * seeds, [MAX_DEPTH] * seeds
    rounds = (MAX_DEPTH - 1).bit_length()
    for number in range(rounds):
        middle = [(a + b) // 2 for a, b in zip(low, high, strict=True)]
        points = [Point(replace(setting, depth=depth), 1, first=run) for run, depth in enumerate(middle)]

        def show(done: int, total: int, number: int = number) -> None:
            if progress:
                progress(number * total + done, rounds * total)

        for run, result in enumerate(sweep(points, options.seed, show, options.cluster)):
            if result["packets"]["dropped"]:
                low[run] = middle[run] + 1
            else:
                high[run] = middle[run]
    return sorted(high)
