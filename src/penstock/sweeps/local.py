"""Points on the cores of this machine: as many processes at a time as there are workers."""

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from penstock.basics import children
from penstock.sweeps.execute import Outcome, Task, execute

MAX_WORKERS = 1024


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def outcomes(tasks: Sequence[Task], workers: int, folder: Path) -> Iterator[tuple[int, Outcome]]:
    """Yield the number of each task and what became of it, as they end. When the caller stops, or at Ctrl-C, all processes end first."""
    stop = threading.Event()

    def tick() -> None:
        if stop.is_set():
            raise children.Stopped("the sweep ends")

    def work(task: Task) -> Outcome:
        tick()
        return execute(task, tick, folder)

    with ThreadPoolExecutor(workers) as pool:
        try:
            numbers = {pool.submit(work, task): number for number, task in enumerate(tasks)}
            for future in as_completed(numbers):
                yield numbers[future], future.result()
        except BaseException:
            stop.set()
            children.end_all()
            pool.shutdown(cancel_futures=True)
            children.begin_again()
            raise
