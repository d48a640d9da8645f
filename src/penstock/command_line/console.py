"""What a person sees while something takes time: a spinner for builds, a bar with rate and time left for runs. All on standard error."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from penstock.basics.units import format_cycle_rate


def console() -> Console:
    """Return the console for progress and remarks (standard error)."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True)


QUIET_SECONDS = 2.0  # after these a log hears what is being done, and then again and again
FIRST_WAIT_SECONDS, LAST_WAIT_SECONDS = 10.0, 60.0  # from one line in a log to the next, which comes later and later


class LogLines:
    """What is being done, for a log: nothing of what is done within two seconds, then a line now and then with the time gone by."""

    def __init__(self, name: str, quiet: float = QUIET_SECONDS) -> None:
        self.text = name
        self._started = time.monotonic()
        self._next, self._wait = quiet, FIRST_WAIT_SECONDS
        self._ended = threading.Event()
        self._lock = threading.Lock()

    def update(self, text: str) -> None:
        """Take what is being done now."""
        self.text = text
        self._say_when_due()

    def _say_when_due(self) -> None:
        with self._lock:
            gone = time.monotonic() - self._started
            if gone < self._next or self._ended.is_set():
                return
            self._next, self._wait = gone + self._wait, min(2 * self._wait, LAST_WAIT_SECONDS)
            with contextlib.suppress(OSError):  # the reader of the log is gone
                print(f"penstock: {self.text} ... {gone:.0f} s", file=sys.stderr, flush=True)

    def watch(self) -> None:
        """Say it also while nothing comes from what works; in a thread of its own."""
        while not self._ended.wait(max(0.05, self._started + self._next - time.monotonic())):
            self._say_when_due()

    def end(self) -> None:
        """Say nothing any more."""
        with self._lock:
            self._ended.set()


@contextmanager
def log_lines(name: str, quiet: float = QUIET_SECONDS) -> Iterator[LogLines]:
    """Yield lines for a log, kept up in the background; the first after `quiet` seconds."""
    lines = LogLines(name, quiet)
    thread = threading.Thread(target=lines.watch, daemon=True)
    thread.start()
    try:
        yield lines
    finally:
        lines.end()
        thread.join()


@contextmanager
def working(name: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done while it takes time; yields a function for what it is by now. On a terminal a line that goes away again."""
    screen = console()
    if screen.is_terminal:
        with screen.status(name) as status:
            yield status.update
    else:
        with log_lines(name) as lines:
            yield lines.update


@contextmanager
def progress_display(screen: Console, *columns: ProgressColumn) -> Iterator[Progress]:
    """Yield rich's progress on a terminal; elsewhere one that shows nothing, beside which `log_lines` speaks."""
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        yield progress


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows what is being built; nothing is shown until it is called. A log hears it at once, and that it goes on."""
    screen = console()
    if not screen.is_terminal:
        with ExitStack() as stack:
            lines: list[LogLines] = []

            def say(text: str) -> None:
                print(f"{text} ...", file=sys.stderr, flush=True)
                for line in lines:
                    line.end()
                lines.append(stack.enter_context(log_lines(text, FIRST_WAIT_SECONDS)))

            yield say
        return
    with progress_display(screen, SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as progress:

        def report(text: str) -> None:
            for task in progress.task_ids:
                progress.remove_task(task)
            progress.add_task(text, total=None)

        yield report


class _CycleRate(ProgressColumn):
    """Simulated clock cycles per second of wall time."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(format_cycle_rate(speed) if speed else "", style="dim")


STATE_WORDS = {"packets_in": "in", "packets_out": "out", "queued": "queued"}


@contextmanager
def run_progress(total_cycles: int, doing: str = "") -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function that takes the engine's progress {cycles, phase, packets_in, packets_out, queued} and shows it.

    `doing` says which run this is, where there are several.
    """
    which = f"{doing}: " if doing else ""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(24),
        TextColumn("{task.percentage:>3.0f} %"),
        _CycleRate(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[state]}", style="dim"),
    )
    screen = console()
    with log_lines(f"{which}Running") if not screen.is_terminal else nullcontext() as lines, progress_display(screen, *columns) as progress:
        task = progress.add_task(f"{which}Running", total=total_cycles, state="")

        def show(now: dict[str, Any]) -> None:
            done = int(now.get("cycles", 0))
            draining = done > total_cycles
            state = ", ".join(f"{int(now.get(key, 0)):,} {word}" for key, word in STATE_WORDS.items())
            phase = which + ("Draining" if draining else {"init": "Starting"}.get(str(now.get("phase", "")), "Running"))
            progress.update(task, completed=min(done, total_cycles), description=phase, state=state)
            if lines:
                lines.update(f"{phase} {100 * min(done, total_cycles) // max(1, total_cycles)} %: {state}")

        yield show
