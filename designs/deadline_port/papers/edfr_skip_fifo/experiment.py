"""The runs: all points with all seeds on all cores, and what the runs of a point say together."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from penstock.designs.deadline_port.papers.edfr_skip_fifo.points import FULL, SCHEDULERS, SHORT, Grid, Point, points
from penstock.papers import Options
from penstock.switch_sim.measure import mean_and_ci95

RIVALS = tuple(name for name in SCHEDULERS if name != "fifo")
Run = dict[str, Any]


def measure(options: Options, show: Callable[[str], None], grid: Grid | None = None) -> dict[str, Any]:
    """Return the grid and the summary of each of its points."""
    grid = grid or (FULL if options.full else SHORT)
    all_points = points(grid)
    runs = _runs(all_points, grid.seeds, options.seed, show)
    found = [{**point.config(), **summary(own)} for point, own in zip(all_points, runs, strict=True)]
    packets = sum(run["exact"]["offered"] for own in runs for run in own)
    return {"seeds": grid.seeds, "loads": list(grid.loads), "packets": packets, "points": found}


def _runs(all_points: Sequence[Point], seeds: int, seed: int, show: Callable[[str], None]) -> list[list[Run]]:
    """Return the runs of each point, condensed. Run number i of each point has the i-th seed that `seed` means."""
    from concurrent.futures import ThreadPoolExecutor, wait

    from penstock.engine import engine

    simulate = engine.models("deadline").edfr_experiment
    tasks = [(point, number) for point in all_points for number in range(seeds)]
    total, done = sum(point.packets() for point, _ in tasks), 0.0
    lock, stop = threading.Lock(), threading.Event()

    def work(point: Point, number: int) -> Run:
        nonlocal done
        if stop.is_set():
            raise KeyboardInterrupt
        found = condensed(point, simulate(**point.arguments(seed << 32 | number)))
        with lock:
            done += point.packets()
            show(f"{100 * done / total:.0f} % of {total / 1e6:.0f} M packets")
        return found

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # the engine lets go of the interpreter
        futures = [pool.submit(work, *task) for task in tasks]
        try:
            wait(futures, return_when="FIRST_EXCEPTION")
            runs = [future.result() for future in futures]
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return [runs[place : place + seeds] for place in range(0, len(runs), seeds)]


def condensed(point: Point, run: Run) -> Run:
    """Return what counts of one run, by scheduler; shares in points (hundredths) of what was offered."""
    deadlines = point.deadlines()
    order = sorted(range(point.classes), key=lambda number: deadlines[number])
    third = max(1, point.classes // 3)
    everyone, shortest, longest = range(point.classes), order[:third], order[-third:]
    found: Run = {}
    for name in SCHEDULERS:
        own = run[name]["classes"]
        sent_late = [cls["most_late_ps"] for cls in own if cls["most_late_ps"] is not None]
        found[name] = {
            "dropped": _dropped(own, everyone),
            "dropped_bytes": _dropped(own, everyone, "bytes"),
            "by_class": [_dropped(own, [number]) for number in everyone],
            "shortest_less_longest": _dropped(own, shortest) - _dropped(own, longest),
            "mean_delay_ms": sum(cls["delay_sum_ps"] for cls in own) / max(1, sum(cls["packets"]["sent"] for cls in own)) / 1e9,
            "longest_delay_over_deadline": max(cls["longest_ps"] / deadline for cls, deadline in zip(own, deadlines, strict=True)),
            "late": _share(own, [cls["late"] for cls in own]),
            "most_late_us": max(sent_late) / 1e6 if sent_late else None,
            "read_in_vain": _share(own, [cls["packets"]["expired_at_head"] for cls in own]),
            "fingerprint": run[name]["fingerprint"],
            "offered": run[name]["all"]["packets"]["offered"],
        }
    return found


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """Return what the runs of a point, condensed, say together: means with their 95 % intervals."""
    found: dict[str, Any] = {}
    for name in SCHEDULERS:
        own = [run[name] for run in runs]
        found[name] = {
            key: _mean([run[key] for run in own])
            # Differences are taken within a run: what is common to all classes, as a burst that came late, is not in them.
            for key in ("dropped", "dropped_bytes", "shortest_less_longest", "mean_delay_ms", "late", "read_in_vain")
        }
        found[name]["dropped_by_class"] = [_mean(values) for values in zip(*(run["by_class"] for run in own), strict=True)]
        # Within a run: the most unlucky class less the luckiest one.
        found[name]["spread"] = _mean([max(run["by_class"]) - min(run["by_class"]) for run in own])
        found[name]["longest_delay_over_deadline"] = max(run["longest_delay_over_deadline"] for run in own)
        # The largest start less deadline of all packets sent; at most 0 when none was late.
        known = [run["most_late_us"] for run in own if run["most_late_us"] is not None]
        found[name]["most_late_us"] = round(max(known), 6) if known else None
    for name, rival in [*((name, "fifo") for name in RIVALS), ("skip_check", "exact"), ("skip", "exact")]:
        found[name][f"less_{rival}"] = _mean([run[name]["dropped"] - run[rival]["dropped"] for run in runs])
        found[name][f"equal_to_{rival}"] = all(run[name]["fingerprint"] == run[rival]["fingerprint"] for run in runs)
    return found


def _mean(values: Sequence[float]) -> list[float | None]:
    """Return the mean and half of its 95 % interval."""
    mean, ci95 = mean_and_ci95(values)
    return [None if value is None else round(value, 6) for value in (mean, ci95)]


def _dropped(classes: list[dict[str, Any]], which: Sequence[int], unit: str = "packets") -> float:
    """Return what was dropped of what these classes were offered, in points."""
    offered = sum(classes[number][unit]["offered"] for number in which)
    return 100 * (1 - sum(classes[number][unit]["sent"] for number in which) / offered) if offered else 0.0


def _share(classes: list[dict[str, Any]], packets: list[int]) -> float:
    """Return packets in points of those offered."""
    return 100 * sum(packets) / max(1, sum(own["packets"]["offered"] for own in classes))
