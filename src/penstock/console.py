"""What a person sees while something takes time: a spinner for builds, a bar with rate and time left for runs. All on standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text


def console() -> Console:
    """Return the console for progress and remarks (standard error)."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True)


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows what is being built; nothing is shown until it is called."""
    screen = console()
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=screen, transient=True) as progress:

        def report(text: str) -> None:
            if not screen.is_terminal:
                screen.print(f"{text} ...")
            for task in progress.task_ids:
                progress.remove_task(task)
            progress.add_task(text, total=None)

        yield report


class _CycleRate(ProgressColumn):
    """Simulated clock cycles per second of wall time."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed / 1e6:.2f} M cycles/s" if speed else "", style="dim")


STATE_WORDS = {"packets_in": "in", "packets_out": "out", "queued": "queued"}


@contextmanager
def run_progress(total_cycles: int) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function that takes the engine's progress {cycles, phase, packets_in, packets_out, queued} and shows it."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(24),
        TextColumn("{task.percentage:>3.0f} %"),
        _CycleRate(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[state]}", style="dim"),
    )
    with Progress(*columns, console=console(), transient=True) as progress:
        task = progress.add_task("Running", total=total_cycles, state="")

        def show(now: dict[str, Any]) -> None:
            done = int(now.get("cycles", 0))
            draining = done > total_cycles
            state = ", ".join(f"{int(now.get(key, 0)):,} {word}" for key, word in STATE_WORDS.items())
            phase = "Draining" if draining else {"init": "Starting"}.get(str(now.get("phase", "")), "Running")
            progress.update(task, completed=min(done, total_cycles), description=phase, state=state)

        yield show
