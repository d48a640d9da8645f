"""Progress of commands that count something else than clock cycles, on standard error: a line or a bar on a terminal, lines in a log."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from penstock.command_line.console import console, log_lines, progress_display, working


@contextmanager
def progress_line(name: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows its text beside `name` and the time that has gone by."""
    started = time.monotonic()
    with working(name) as show:
        stamped = console().is_terminal  # a log has the time in its lines anyway
        yield lambda text: show(f"{name}: {text}, {time.monotonic() - started:.0f} s" if stamped else f"{name}: {text}")


@contextmanager
def progress_bar(name: str, packets: int) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes packets done and cycles gone by, and shows a bar with the rate and the time left."""
    with _bar(name, "cycles") as show:
        yield lambda done, cycles: show(min(done, packets), packets, cycles)


@contextmanager
def slot_progress(name: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes slots done and slots in all, and shows a bar with the rate and the time left."""
    with _bar(name, "slots") as show:
        yield lambda done, total: show(done, total, done)


@contextmanager
def _bar(name: str, unit: str) -> Iterator[Callable[[int, int, int], None]]:
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.percentage:>3.0f} %"), TextColumn("{task.fields[rate]}"))
    screen, started = console(), time.monotonic()
    with (
        log_lines(name) if not screen.is_terminal else nullcontext() as lines,
        progress_display(screen, *columns, TimeRemainingColumn()) as progress,
    ):
        task = progress.add_task(name, total=None, rate="")

        def show(done: int, total: int, counted: int) -> None:
            rate = f"{counted / max(1e-3, time.monotonic() - started) / 1e6:.2f} M {unit}/s"
            progress.update(task, completed=done, total=total, rate=rate)
            if lines:
                lines.update(f"{name} {100 * done // max(1, total)} %, {rate}")

        yield show
