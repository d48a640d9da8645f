"""Many runs at once: on all cores of this machine, or on a Dask cluster. The results do not depend on which, nor on how many work."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.basics.dask_cluster import connected
from penstock.errors import UserError
from penstock.switch_sim.measure import Run, run_one, summary
from penstock.switch_sim.setting import Setting

SCHEMA = "penstock.switch-sim/1"
MAX_SEEDS = 100_000
Progress = Callable[[int, int], None]  # slots done, slots in all


@dataclass(frozen=True)
class Point:
    """One setting, run with several seeds."""

    setting: Setting
    seeds: int
    first: int = 0  # number of the first run


def simulate(
    setting: Setting, seeds: int = 10, seed: int = 1, progress: Progress | None = None, cluster: str | None = None
) -> dict[str, Any]:
    """Return the result of `seeds` runs; docs/switch-sim.md has its keys. Raises UserError."""
    if not 1 <= seeds <= MAX_SEEDS:
        raise UserError(f"--seeds {seeds}: give 1 to {MAX_SEEDS:,}")
    (measured,) = sweep([Point(setting, seeds)], seed, progress, cluster)
    return {"schema": SCHEMA, "seed": seed, "config": setting.config() | {"seeds": seeds}, **measured}


def sweep(points: Sequence[Point], seed: int, progress: Progress | None = None, cluster: str | None = None) -> list[dict[str, Any]]:
    """Return the summary (`measure.summary`) of every point, in order. Run number i of each point gets the i-th seed that `seed` means.

    On this machine: one thread for each core (the engine lets go of the interpreter), stopped by Ctrl-C. `cluster`: address of a Dask
    scheduler, `tcp://host:8786`. Raises UserError when it cannot be reached.
    """
    tasks = [(point.setting, number) for point in points for number in range(point.first, point.first + point.seeds)]
    total = sum(setting.slots for setting, _ in tasks)
    done = 0

    def count(slots: int) -> None:
        nonlocal done
        done += slots
        if progress:
            progress(done, total)

    runs = _on_cluster(cluster, tasks, seed, count) if cluster else _on_this_machine(tasks, seed, count)
    found = iter(runs)
    return [summary(point.setting, [next(found) for _ in range(point.seeds)]) for point in points]


def _on_this_machine(tasks: list[tuple[Setting, int]], seed: int, count: Callable[[int], None]) -> list[Run]:
    from concurrent.futures import ThreadPoolExecutor, wait

    from penstock.engine import engine

    engine.module("engine/src/switch_sim")
    stop = threading.Event()
    lock = threading.Lock()

    def progress(slots: int) -> bool:
        with lock:
            count(slots)
        return not stop.is_set()

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        futures = [pool.submit(run_one, setting, seed, number, progress) for setting, number in tasks]
        try:
            wait(futures, return_when="FIRST_EXCEPTION")
            return [future.result() for future in futures]
        finally:
            stop.set()  # after an error or Ctrl-C: runs under way end with their chunk
            pool.shutdown(cancel_futures=True)


def _on_cluster(address: str, tasks: list[tuple[Setting, int]], seed: int, count: Callable[[int], None]) -> list[Run]:
    with connected(address) as client:
        from distributed import as_completed

        futures = [client.submit(run_one, setting, seed, number, pure=False) for setting, number in tasks]
        slots = {future.key: setting.slots for future, (setting, _) in zip(futures, tasks, strict=True)}
        for future in as_completed(futures, loop=client.loop):
            if future.status == "error":
                raise UserError(f"--cluster {address}: a worker failed: {type(future.exception()).__name__}: {future.exception()}")
            count(slots[future.key])
        return [future.result() for future in futures]
