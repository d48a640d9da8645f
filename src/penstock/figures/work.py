"""What `penstock figures` does: chooses what is measured, measures it, and writes result files and pages, or compares them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.figures import check, definitions, measure, pages, results
from penstock.figures.definitions import Row, Topic
from penstock.figures.measure import Done
from penstock.figures.results import Measured
from penstock.paths import ROOT, alone_in, shown

SCHEMA = "penstock.figures.report/1"
UNKNOWN_SECONDS = 30.0  # what a row takes that nobody has measured yet

Run = Callable[[list[Row], dict[str, float], dict[str, Done]], None]  # rows, what each takes, and what has ended


@dataclass
class Work:
    """One call."""

    name: str | None
    again: bool = False  # also what is known
    root: Path = ROOT
    ended: dict[str, Done] = field(default_factory=dict)
    known: dict[str, Measured] = field(default_factory=dict)  # measured before with the same sources

    def __post_init__(self) -> None:
        self._read()

    def _read(self) -> None:
        self.topics = definitions.topics(self.root)
        self.owners = definitions.owners(self.topics)
        self.chosen = definitions.chosen(self.topics, self.name)
        self.rows: dict[str, Row] = {}
        for _, rows in self.chosen:
            for command, row in rows.items():
                mine = self.rows.setdefault(command, Row(command, [], row.rates, row.equal))
                mine.keys += [key for key in row.keys if key not in mine.keys]
        self.files = {topic.name: results.read(topic.result) for topic in self.topics.values()}
        self.committed = {command: row for rows in self.files.values() for command, row in rows.items()}

    def _run(self, todo: list[Row], run: Run, afresh: Collection[str] = ()) -> None:
        """Measure what is not known; of the commands in `afresh` the result files alone say nothing."""
        if not self.again:
            self.known = {row.command: found for row in todo if (found := self._recorded(row, afresh) or measure.known(row))}
        todo = [row for row in todo if row.command not in self.known]
        if todo:
            todo = measure.with_references(todo, self.rows)
            took = {row.command: self.committed.get(row.command) for row in todo}
            run(todo, {command: (row.cpu_seconds if row else UNKNOWN_SECONDS) for command, row in took.items()}, self.ended)

    def _recorded(self, row: Row, afresh: Collection[str]) -> Measured | None:
        return None if row.command in afresh else measure.recorded(row, self.committed.get(row.command))

    def write(self, run: Run, only_missing: bool) -> dict[str, Any]:
        """Measure, and write the result files and pages, also when the user interrupts; return the report."""
        todo = [row for row in self.rows.values() if not (only_missing and self._has(row))]
        written: list[str] = []
        try:
            self._run(todo, run)
        finally:
            with alone_in(measure.WRITING):
                self._read()  # measuring takes hours: definitions and files may be others by now
                written += self._write_files()
                written += self._write_pages()
        failed = [{"command": command, "words": done.failure} for command, done in self.ended.items() if done.failure]
        return {"measured": self._measured(), "known": sorted(self.known), "failed": failed, "written": written}

    def compare(self, run: Run, slow: bool) -> dict[str, Any]:
        """Measure what is cheap (`slow`: all) and compare; return the report."""
        report = check.Report()
        for topic, rows in self.chosen:
            check.of_files(report, topic, rows, self.files[topic.name])
            if self.name in (None, topic.name):
                gone = [command for command in self.files[topic.name] if command not in self._kept_in(topic)]
                report.findings += [f"{shown(topic.result)}: {command}: no longer in {topic.path.name}" for command in gone]
        check.of_pages(report, self.root, self.topics, self.files, {topic.name for topic, _ in self.chosen})
        there = {command: row for command, row in self.rows.items() if command in self.committed}
        cheap = check.quick(there, self.committed)  # a number that somebody typed into a result file would be found here
        try:
            self._run([there[command] for command in (there if slow else cheap)], run, afresh=cheap)
        finally:
            outcomes = self.ended | {command: Done(self.rows[command], found) for command, found in self.known.items()}
            for topic, rows in self.chosen:
                for command in rows:
                    if command in outcomes and command in self.files[topic.name]:
                        measured = outcomes[command].measured
                        own = Done(rows[command], measured and _only(measured, rows[command]), outcomes[command].failure)
                        check.compare(report, rows[command], self.files[topic.name][command], own)
        left = [command for command in there if command not in outcomes]
        return {
            "measured": self._measured(), "known": sorted(self.known), "left_out": left, "not_measured": report.not_measured,
            "different": report.different, "failed": report.failed, "findings": report.findings, "red": report.red,
        }  # fmt: skip

    def _kept_in(self, topic: Topic) -> set[str]:
        """Return the commands whose results are in the file of a topic."""
        return {command for command in topic.rows() if self.owners.get(command, topic) is topic}

    def _measured(self) -> list[str]:
        return [command for command, done in self.ended.items() if done.measured]

    def _has(self, row: Row) -> bool:
        return all(
            command in self.files[topic.name] and set(mine.keys) <= set(self.files[topic.name][command].values)
            for topic, rows in self.chosen
            for command, mine in rows.items()
            if command == row.command
        )

    def _write_files(self) -> list[str]:
        """Write what there is into the files of the chosen topics; a command that is no longer defined goes."""
        ready = self.known | {command: done.measured for command, done in self.ended.items() if done.measured}
        written = []
        for topic, rows in self.chosen:
            file = self.files[topic.name]
            fresh = {command: row for command, row in file.items() if command in self._kept_in(topic)}
            for command, row in rows.items():
                if command in ready:
                    fresh[command] = results.merged(file.get(command), _only(ready[command], row))
            if fresh != file:
                results.write(topic.result, fresh)
                written.append(shown(topic.result))
            self.files[topic.name] = fresh
        return written

    def _write_pages(self) -> list[str]:
        writer, written = pages.Writer(self.topics, self.files), []
        for page in pages.pages(self.root):
            fresh = writer.updated(page)
            if fresh != page.read_text(encoding="utf-8"):
                page.write_text(fresh, encoding="utf-8")
                written.append(shown(page))
        return written


def _only(measured: Measured, row: Row) -> Measured:
    """Return a measurement with the keys of `row` alone: another topic may keep others of the same command."""
    values = {key: measured.values[key] for key in row.keys if key in measured.values}
    return Measured(**{**vars(measured), "values": values})
