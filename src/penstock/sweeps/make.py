"""A sweep from FILE to table: what is kept is taken, the rest is checked, built and run, and everything becomes a table and a page."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.basics.growing import growing
from penstock.command_line.console import console, spinner
from penstock.command_line.terminal import progress_line
from penstock.engine.run import write_json
from penstock.errors import ToolError, UserError
from penstock.plots import figure
from penstock.scenarios.scenario import Document
from penstock.sweeps import build, cluster, curves, local, page, spec, store, table
from penstock.sweeps.check import check
from penstock.sweeps.execute import OtherFiles, OtherSources, Task
from penstock.sweeps.point import Point, points
from penstock.sweeps.sources import fingerprint

SCHEMA = "penstock.sweep/1"
RESULTS = Path("results") / "sweeps"


@dataclass
class Request:
    """What was asked for on the command line."""

    file: Path
    cluster: str | None = None
    out: Path | None = None
    workers: int | None = None
    plots: list[spec.Plot] = field(default_factory=list)
    any_sources: bool = False


@dataclass
class _Job:
    """A point with its hash, and what is known of its run."""

    point: Point
    key: str
    kept: Path | None = None  # the file with its result
    sources: str | None = None  # that it was run with
    result: table.Row = field(default_factory=dict)  # its single values
    error: str = ""

    def take(self, path: Path) -> None:
        """Take the result of a finished run, if its file is whole."""
        found = store.load(path)
        if found:
            outcome, self.sources = found
            self.kept, self.result, self.error = path, table.flatten(outcome.result or {}), outcome.error

    def row(self) -> tuple[table.Row, table.Row, table.Row]:
        """Return parameters, own columns and results."""
        kept = f"{store.FOLDER}/{self.kept.name}" if self.kept else None
        return self.point.parameters(), {"error": self.error or None, "sources": self.sources, "file": kept}, self.result


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: the message says what is kept."""


def make(request: Request) -> tuple[dict[str, Any], Path]:
    """Carry a sweep out and write its files; return what is in `result.json`, and the folder. Raises UserError, ToolError, Interrupted."""
    sweep, document = spec.load(request.file)
    name = sweep.name or request.file.stem
    out = request.out or RESULTS / name
    grids = points(sweep, request.file.resolve().parent)
    check(sweep, grids, document)
    sources = fingerprint()
    jobs = _jobs(point for grid in grids for point in grid)
    with growing(out) as grown, contextlib.closing(store.Store(out, sources)) as kept:
        before, stale = _take(jobs, kept, request.any_sources)
        try:
            _run(jobs, kept, request, grown, [*request.plots, *sweep.plots])
        except KeyboardInterrupt:
            done = sum(job.kept is not None for job in jobs)
            raise Interrupted(f"Interrupted: {done:,} of {len(jobs):,} runs are kept in {out}; the same command goes on.") from None
        found = table.build(job.row() for job in jobs)
        plots = [*((plot, None) for plot in request.plots), *((plot, number) for number, plot in enumerate(sweep.plots))]
        drawings, wrong = _draw(found, plots, document)
        facts = page.Facts(name, sweep.description, _of(jobs[0].point), sources)
        result = {
            "schema": SCHEMA,
            "seed": list(sweep.seeds),
            "config": document.data,
            "name": name,
            "sources": sources,
            "runs": len(jobs),
            "kept": before,
            "failed": sum(bool(row["error"]) for row in found.rows),
            "runs_of_other_sources": stale,
            "parameters": found.parameters,
            "columns": found.columns,
            "rows": [{column: row[column] for column in found.columns if row.get(column) is not None} for row in found.rows],
        }
        table.write_csv(grown / "table.csv", found)
        table.write_parquet(grown / "table.parquet", found)
        (grown / "report.html").write_text(page.page(facts, found, drawings), encoding="utf-8")
        figure.write(grown / figure.FILE, [page.figure(drawing) for drawing in drawings])
        write_json(grown / "result.json", result)
    if wrong:
        raise wrong
    return result, out


def _jobs(found: Iterator[Point]) -> list[_Job]:
    """Return the points, each once."""
    jobs: dict[str, _Job] = {}
    for point in found:
        key = point.key()
        jobs.setdefault(key, _Job(point, key))
    return list(jobs.values())


def _take(jobs: Sequence[_Job], kept: store.Store, any_sources: bool) -> tuple[int, int]:
    """Note the runs that are kept; return how many, and how many of the others are kept of other sources."""
    for job in jobs:
        path = kept.find(job.key, any_sources)
        if path:
            job.take(path)
    old = kept.keys_of_others()
    stale = sum(job.kept is None and job.key in old for job in jobs)
    if stale:
        words = "run is" if stale == 1 else "runs are"
        _say(f"{stale:,} finished {words} of other sources and not used; --any-sources would take them")
    return sum(job.kept is not None for job in jobs), stale


def _run(jobs: Sequence[_Job], kept: store.Store, request: Request, grown: Path, plots: Sequence[spec.Plot]) -> None:
    """Run what is not kept, and keep it."""
    todo = [job for job in jobs if job.kept is None]
    if not todo:
        return
    if not request.cluster:  # workers elsewhere build their own, one at a time on each machine
        with spinner() as report:
            of = {id(job.point): job for job in todo}
            for point, reason in build.prepare((job.point for job in todo), report):
                of[id(point)].error = reason
        todo = [job for job in todo if not job.error]
    tasks = [Task(job.point, kept.sources, tuple(job.point.digests())) for job in todo]
    workers = request.workers or local.cores()
    results = cluster.outcomes(tasks, request.cluster) if request.cluster else local.outcomes(tasks, workers, grown)
    failed = sum(bool(job.error) for job in jobs)
    with progress_line("Sweep") as show, contextlib.closing(results):
        watch = _watch(plots, jobs)
        report_progress = _progress(show, len(jobs) - len(todo), len(jobs))
        report_progress(0, failed)
        done = 0
        try:
            for number, outcome in results:
                job = todo[number]
                if outcome.result is None:
                    job.error = outcome.error
                else:
                    job.take(kept.keep(job.key, job.point, outcome))
                    watch(job)
                failed += bool(outcome.error)
                done += 1
                report_progress(done, failed)
        except (OtherSources, OtherFiles) as error:
            raise ToolError(f"{error}; what was run until then is kept, and the same command goes on with what is there now") from None


def _progress(show: Callable[[str], None], before: int, total: int) -> Callable[[int, int], None]:
    """Return what shows how far a sweep is, given the runs done by this call and those that failed."""
    started = time.monotonic()

    def report(done: int, failed: int) -> None:
        left = (time.monotonic() - started) / done * (total - before - done) if done else None
        words = [f"{before + done:,} of {total:,} runs"]
        words += [f"{failed:,} failed"] if failed else []
        words += [f"about {_time(left)} left"] if left else []
        show(", ".join(words))

    return report


def _time(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _watch(plots: Sequence[spec.Plot], jobs: Sequence[_Job]) -> Callable[[_Job], None]:
    """Return what warns, at the first good run, of plots of columns that it does not have: that need not wait for the last run."""
    left = list(plots)
    names = dict.fromkeys(name for job in jobs for name in job.point.parameters())

    def watch(job: _Job) -> None:
        if job.error or not left:
            return
        _, own, result = job.row()
        first = table.build([(dict(names), own, result)])
        for plot in left:
            error = curves.unknown(first, plot)
            if error and table.COUNTERS not in str(error):
                _say(f"after the first run a plot {error}")
        left.clear()

    return watch


def _draw(
    found: table.Table, plots: Sequence[tuple[spec.Plot, int | None]], document: Document
) -> tuple[list[curves.Drawing], UserError | None]:
    """Return the plots that can be drawn, and what is wrong with the first other one."""
    drawings, wrong = [], None
    if all(row.get("error") for row in found.rows):
        return [], None  # there is nothing to draw, which the errors say
    for plot, number in plots:
        try:
            drawings.append(curves.draw(found, plot))
        except curves.PlotError as error:
            wrong = wrong or _wrong(document, number, error)
    return drawings, wrong


def _wrong(document: Document, number: int | None, error: curves.PlotError) -> UserError:
    if number is None:
        return UserError(f"--{'by' if error.part == 'by' else 'plot'}: {error}")
    try:
        document.fail(("plots", number, error.part), str(error))
    except UserError as found:
        return found


def _of(point: Point) -> str:
    return " ".join(word for word in (point.kind, point.target.rpartition("/")[2]) if word)


def _say(sentence: str) -> None:
    console().print(f"penstock: {sentence}", markup=False)
