"""Points on the cores of this machine: as many processes at a time as there are workers."""

import contextlib
import os
import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue

from penstock.basics import children
from penstock.sweeps.execute import Outcome, Task, execute


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def outcomes(tasks: Sequence[Task], workers: int, folder: Path) -> Generator[tuple[int, Outcome]]:
    """Yield the number of each task and what became of it, as they end. When the caller stops, or at Ctrl-C, all processes end first.

    Threads and two queues, and no pool of futures: Ctrl-C may come anywhere, and an exception in the middle of `as_completed` leaves locks
    of the futures taken, for which their threads then wait for ever.
    """
    stop = threading.Event()
    todo: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[tuple[int, Outcome | BaseException]] = SimpleQueue()
    for number in range(len(tasks)):
        todo.put(number)

    def tick() -> None:
        if stop.is_set():
            raise children.Stopped("the sweep ends")

    def work() -> None:
        with contextlib.suppress(Empty):
            while not stop.is_set():
                number = todo.get_nowait()
                try:
                    done.put((number, execute(tasks[number], tick, folder)))
                except BaseException as error:  # told to the caller, in the main thread
                    done.put((number, error))

    threads = [threading.Thread(target=work, name=f"sweep-{number}") for number in range(min(workers, len(tasks)))]
    try:
        for thread in threads:
            thread.start()
        for _ in tasks:
            number, outcome = done.get()
            if isinstance(outcome, BaseException):
                raise outcome
            yield number, outcome
    except BaseException:
        stop.set()
        children.end_all()
        for thread in threads:
            if thread.is_alive():
                thread.join()
        children.begin_again()
        raise
