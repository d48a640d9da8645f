"""What a person sees of a live run while it goes on: a table in the terminal, ten times a second; in a log a line now and then."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from penstock.basics.units import format_rate, format_time_ns
from penstock.command_line.console import console, log_lines
from penstock.engine.run import Prepared
from penstock.live.result import BEHIND_NS

SPAN_SECONDS = 1.0  # over which rates are measured
MOST_ROWS = 16


@dataclass(frozen=True)
class View:
    """What is shown."""

    screen: Console
    show: Callable[[dict[str, Any]], None]  # the engine's progress

    def say(self, sentence: str) -> None:
        """Say something once; above the table, where there is one."""
        self.screen.print(f"penstock: {sentence}", style="bold", markup=False)


class _Past:
    """What counters showed a while ago."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, dict[int, dict[str, Any]]]] = []

    def rates(self, queues: dict[int, dict[str, Any]]) -> dict[int, float]:
        """Return the bits a second that left each queue lately."""
        now = time.monotonic()
        self._seen.append((now, queues))
        while len(self._seen) > 2 and now - self._seen[1][0] > SPAN_SECONDS:
            self._seen.pop(0)
        then, before = self._seen[0]
        span = max(now - then, 1e-3)
        nothing = {"out": {"bytes": 0}}
        return {q: 8 * (c["out"]["bytes"] - before.get(q, nothing)["out"]["bytes"]) / span for q, c in queues.items()}


@contextlib.contextmanager
def shown(run: Prepared, applications: Sequence[Any], quiet: bool) -> Iterator[View]:
    """Yield what shows the engine's progress. `quiet`: a program of the user's has the terminal."""
    screen = console()
    clock, past = run.config.clock_hz, _Past()
    if quiet:
        yield View(screen, lambda now: None)
        return
    if not screen.is_terminal:
        with log_lines(f"{run.name}: live") as lines:
            yield View(screen, lambda now: lines.update(_line(run, now, clock)))
        return
    with Live(console=screen, refresh_per_second=10, transient=True) as live:
        yield View(screen, lambda now: live.update(_page(run, applications, now, past)))


def _line(run: Prepared, now: dict[str, Any], clock: int) -> str:
    seconds = now["cycles"] / clock
    return (
        f"{run.name}: live, {seconds:.0f} of {now['duration_cycles'] / clock:.0f} s: {now['packets_out']:,} packets out, "
        f"{now['dropped']:,} dropped, {format_time_ns(now['wire']['behind_ns'])} behind real time"
    )


def _page(run: Prepared, applications: Sequence[Any], now: dict[str, Any], past: _Past) -> Group:
    wire, clock = now["wire"], run.config.clock_hz
    rates = past.rates(wire["queues"])
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for head in ("queue", "rate", "backlog", "sojourn", "drops", "marks"):
        table.add_column(head, justify="left" if head == "queue" else "right")
    for number, counts in list(wire["queues"].items())[:MOST_ROWS]:
        backlog = counts["in"]["bytes"] - counts["out"]["bytes"] - counts["dropped"]["bytes"]
        table.add_row(
            run.design.live_queue(run.config, run.plan, number).name,
            format_rate(rates[number]),
            f"{max(0, backlog):,} byte",
            format_time_ns(counts["last_sojourn"] / clock * 1e9),
            f"{counts['dropped']['packets']:,}",
            f"{counts['marked']:,}",
        )
    seconds, whole = now["cycles"] / clock, run.described.duration / 1e12
    behind = wire["behind_ns"]
    state = Text(f"{run.name}: {seconds:.1f} of {whole:.0f} s  ", style="bold")
    far = behind > BEHIND_NS or wire["stood_still_ns"] > 0
    words = f"{format_time_ns(behind)} behind real time"
    if wire["stood_still_ns"]:
        words += f"; the device stood still for {format_time_ns(wire['stood_still_ns'])}"
    state.append(words, style="bold red" if far else "not bold dim")
    programs = [Text(f"{one.name}: {_sample(one)}", style="dim") for one in applications]
    return Group(state, table, *programs)


def _sample(application: Any) -> str:
    sample = application.sample()
    words = []
    if (rate := sample.get("throughput_bps")) is not None:
        words.append(format_rate(rate))
    if (delay := sample.get("delay_ns")) is not None:
        words.append(format_time_ns(delay))
    return ", ".join(words) or "-"
