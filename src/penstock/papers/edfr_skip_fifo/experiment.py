"""The runs: all points with all seeds on all cores, and what the runs of a point say together."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from penstock.papers import Options
from penstock.papers.edfr_skip_fifo.points import FULL, SCHEDULERS, SHORT, Grid, Point, points
from penstock.switch_sim.measure import mean_and_ci95

RIVALS = tuple(name for name in SCHEDULERS if name != "fifo")
Run = dict[str, Any]


def measure(options: Options, show: Callable[[str], None], grid: Grid | None = None) -> dict[str, Any]:
    """Return the grid and the summary of each of its points."""
    grid = grid or (FULL if options.full else SHORT)
    all_points = points(grid)
    runs = _runs(all_points, grid.seeds, options.seed, show)
    found = [{**point.config(), **summary(point, own)} for point, own in zip(all_points, runs, strict=True)]
    packets = sum(run["exact"]["all"]["packets"]["offered"] for own in runs for run in own)
    return {"seeds": grid.seeds, "loads": list(grid.loads), "packets": packets, "points": found}


def _runs(all_points: Sequence[Point], seeds: int, seed: int, show: Callable[[str], None]) -> list[list[Run]]:
    """Return the runs of each point. Run number i of each point has the i-th seed that `seed` means."""
    from concurrent.futures import ThreadPoolExecutor, wait

    from penstock.engine import engine

    simulate = engine.module().models.edfr_experiment
    tasks = [(point, number) for point in all_points for number in range(seeds)]
    total, done = sum(point.packets() for point, _ in tasks), 0.0
    lock, stop = threading.Lock(), threading.Event()

    def work(point: Point, number: int) -> Run:
        nonlocal done
        if stop.is_set():
            raise KeyboardInterrupt
        found = simulate(**point.arguments(seed << 32 | number))
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


def summary(point: Point, runs: Sequence[Run]) -> dict[str, Any]:
    """Return what the runs of a point say: each share of packets in points (hundredths), as a mean with its 95 % interval."""
    deadlines = point.deadlines()
    order = sorted(range(point.classes), key=lambda number: deadlines[number])
    third = max(1, point.classes // 3)
    everyone, shortest, longest = range(point.classes), order[:third], order[-third:]
    found: dict[str, Any] = {}
    for name in SCHEDULERS:
        own = [run[name]["classes"] for run in runs]
        by_class = [[_dropped(run, [number]) for run in own] for number in everyone]
        late = [_share(run, "late") for run in own]
        found[name] = {
            "dropped": _mean([_dropped(run, everyone) for run in own]),
            "dropped_bytes": _mean([_dropped(run, everyone, "bytes") for run in own]),
            "dropped_by_class": [_mean(values) for values in by_class],
            # Paired by run: what is common to all classes, as a burst that came late, is not in it.
            "shortest_less_longest": _mean([_dropped(run, shortest) - _dropped(run, longest) for run in own]),
            # Within a run: the most unlucky class less the luckiest one.
            "spread": _mean([max(column) - min(column) for column in zip(*by_class, strict=True)]),
            "mean_delay_ms": _mean([_mean_delay_ms(run) for run in own]),
            "longest_delay_over_deadline": max(
                (cls["longest_ps"] / deadline for run in own for cls, deadline in zip(run, deadlines, strict=True)), default=0.0
            ),
            "late": _mean(late),
            "most_late_us": _most_late_us(own),
            "read_in_vain": _mean([_share(run, "expired_at_head") for run in own]),
        }
    for name in RIVALS:
        pairs = [(_dropped(run[name]["classes"], everyone), _dropped(run["fifo"]["classes"], everyone)) for run in runs]
        found[name]["less_fifo"] = _mean([ours - fifo for ours, fifo in pairs])
        found[name]["equal_to_fifo"] = all(run[name]["fingerprint"] == run["fifo"]["fingerprint"] for run in runs)
    for name in ("skip_check", "skip"):
        pairs = [(_dropped(run[name]["classes"], everyone), _dropped(run["exact"]["classes"], everyone)) for run in runs]
        found[name]["less_exact"] = _mean([ours - exact for ours, exact in pairs])
        found[name]["equal_to_exact"] = all(run[name]["fingerprint"] == run["exact"]["fingerprint"] for run in runs)
    return found


def _mean(values: Sequence[float]) -> list[float | None]:
    """Return the mean and half of its 95 % interval."""
    mean, ci95 = mean_and_ci95(values)
    return [None if value is None else round(value, 6) for value in (mean, ci95)]


def _dropped(classes: list[dict[str, Any]], which: Sequence[int], unit: str = "packets") -> float:
    """Return what was dropped of what these classes were offered, in points."""
    offered = sum(classes[number][unit]["offered"] for number in which)
    return 100 * (1 - sum(classes[number][unit]["sent"] for number in which) / offered) if offered else 0.0


def _share(classes: list[dict[str, Any]], what: str) -> float:
    """Return packets that were late, or read only to be dropped, in points of those offered."""
    counted = sum(own["late"] if what == "late" else own["packets"][what] for own in classes)
    return 100 * counted / max(1, sum(own["packets"]["offered"] for own in classes))


def _mean_delay_ms(classes: list[dict[str, Any]]) -> float:
    return sum(own["delay_sum_ps"] for own in classes) / max(1, sum(own["packets"]["sent"] for own in classes)) / 1e9


def _most_late_us(runs: list[list[dict[str, Any]]]) -> float | None:
    """Return the largest start less deadline of all packets sent; at most 0 when none was late."""
    known = [own["most_late_ps"] for run in runs for own in run if own["most_late_ps"] is not None]
    return round(max(known) / 1e6, 6) if known else None
