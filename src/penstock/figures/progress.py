"""Shows how far measuring is: a bar with the command and the time left on a terminal, a line for each command in a log."""

import time
from dataclasses import dataclass, field

from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from penstock.command_line.console import console, progress_display
from penstock.figures import measure
from penstock.figures.definitions import Row
from penstock.figures.measure import Done


@dataclass
class _Left:
    """How long the rest takes if it takes as long for its CPU time as what has ended did."""

    costs: dict[str, float]
    begun: float = field(default_factory=time.monotonic)
    ended: set[str] = field(default_factory=set)

    def words(self) -> str:
        """Return the time left in words; nothing at the beginning."""
        done = sum(self.costs[command] for command in self.ended)
        if not done:
            return ""
        seconds = (time.monotonic() - self.begun) * (sum(self.costs.values()) - done) / done
        return f", some {seconds:.0f} s left" if seconds < 90 else f", some {seconds / 60:.0f} min left"


def run(jobs: int, rows: list[Row], costs: dict[str, float], ended: dict[str, Done]) -> None:
    """Measure rows, `jobs` at a time, and show it; what has ended goes into `ended`."""
    screen, left = console(), _Left({command: cost + 1 for command, cost in costs.items()})
    columns = (SpinnerColumn(), MofNCompleteColumn(), BarColumn(24), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with progress_display(screen, *columns) as progress:
        bar = progress.add_task("", total=len(rows))

        def report(command: str, done: Done | None) -> None:
            if done is None:
                progress.update(bar, description=f"{command}{left.words()}")
                if not screen.is_terminal:
                    number = f"{len(left.ended) + 1} of {len(rows)}"
                    screen.print(f"penstock: {number}: {command}{left.words()}", markup=False)
                return
            left.ended.add(command)
            progress.advance(bar)
            if done.failure:
                screen.print(f"  failed: {command}: {done.failure}", markup=False)
            elif done.measured and screen.is_terminal:
                screen.print(f"  {command} ({done.measured.cpu_seconds:g} s)", markup=False)

        measure.measure(rows, jobs, report, ended)
