"""Progress of commands that count something else than clock cycles, on standard error; silent when nobody watches."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.console import console


@contextmanager
def progress_line(name: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows its text beside `name` and the time that has gone by."""
    started = time.monotonic()
    with console().status(name) as status:
        yield lambda text: status.update(f"{name}: {text}, {time.monotonic() - started:.0f} s")


@contextmanager
def progress_bar(name: str, packets: int) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes packets done and cycles gone by, and shows a bar with the rate and the time left."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.percentage:>3.0f} %"), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeRemainingColumn(), console=console(), transient=True) as progress:
        task = progress.add_task(name, total=packets, rate="")
        started = time.monotonic()

        def show(done: int, cycles: int) -> None:
            speed = cycles / max(1e-3, time.monotonic() - started)
            progress.update(task, completed=min(done, packets), rate=f"{speed / 1e6:.2f} M cycles/s")

        yield show


@contextmanager
def slot_progress(name: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes slots done and slots in all, and shows a bar with the rate and the time left."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.percentage:>3.0f} %"), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeRemainingColumn(), console=console(), transient=True) as progress:
        task = progress.add_task(name, total=None, rate="")
        started = time.monotonic()

        def show(done: int, total: int) -> None:
            speed = done / max(1e-3, time.monotonic() - started)
            progress.update(task, completed=done, total=total, rate=f"{speed / 1e6:.2f} M slots/s")

        yield show
