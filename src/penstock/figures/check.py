"""Measures again and compares with the result files, and the pages with both: `penstock figures --check`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.errors import UserError
from penstock.figures import pages, results
from penstock.figures.definitions import Row, Topic
from penstock.figures.measure import Done
from penstock.figures.results import Measured
from penstock.paths import shown

QUICK_SECONDS = 25.0  # of CPU time that a check takes without --slow
START_SECONDS = 0.5  # of these, for the process of each command


@dataclass
class Report:
    """What a check has found; empty lists are good."""

    different: list[dict[str, Any]] = field(default_factory=list)  # command, key, was, is
    failed: list[dict[str, str]] = field(default_factory=list)  # command, words
    findings: list[str] = field(default_factory=list)  # about result files and pages
    not_measured: list[str] = field(default_factory=list)  # commands without a result, which pages say: no finding

    @property
    def red(self) -> bool:
        """Whether something is not as it should be."""
        return bool(self.different or self.failed or self.findings)


def is_slow(row: Row, measured: Measured) -> bool:
    """Return whether a row is left to --slow whatever it takes: hardware is compiled for it, or its rates want a quiet machine."""
    return row.rates is not None or measured.engine == "rtl"


def quick(rows: Mapping[str, Row], measured: Mapping[str, Measured]) -> list[str]:
    """Return the commands that are checked without --slow: the cheapest, as many as fit into QUICK_SECONDS."""
    cheap = [command for command, row in rows.items() if command in measured and not is_slow(row, measured[command])]
    found, spent = [], 0.0
    for command in sorted(cheap, key=lambda command: (measured[command].cpu_seconds, command)):
        spent += measured[command].cpu_seconds + START_SECONDS
        if spent > QUICK_SECONDS:
            break
        found.append(command)
    return found


def compare(report: Report, row: Row, old: Measured, done: Done) -> None:
    """Take what a row gave now into the report."""
    if done.measured is None:
        report.failed.append({"command": row.command, "words": done.failure})
        return
    tolerance = row.rates.tolerance if row.rates else None
    report.different += [{"command": row.command, **found} for found in results.differences(old, done.measured, tolerance)]


def of_files(report: Report, topic: Topic, rows: Mapping[str, Row], measured: Mapping[str, Measured]) -> None:
    """Compare a result file with its definitions: a command or a key without a result; commands that must give the same."""
    where = shown(topic.result)
    for command, row in rows.items():
        found = measured.get(command)
        if found is None:
            report.not_measured.append(command)
            continue
        for key in row.keys:
            if key not in found.values:
                report.findings.append(f"{where}: {command}: has no {key}; measure it")
        other = measured.get(row.equal) if row.equal else None
        if other:
            unequal = [key for key in row.keys if found.values.get(key) != other.values.get(key)]
            if unequal:
                report.findings.append(f"{where}: {command}: {', '.join(unequal)} must be as with {row.equal}")


def of_pages(report: Report, root: Path, topics: Mapping[str, Topic], files: Mapping[str, Mapping[str, Measured]], names: set[str]) -> None:
    """Compare all pages with the result files of the topics in `names`."""
    writer, places = pages.Writer(topics, files), []
    for page in pages.pages(root):
        try:
            places += writer.places(page)
        except UserError as error:
            report.findings.append(str(error))
    for place in places:
        if place.name.partition(".")[0] in names and place.was != place.fresh:
            report.findings.append(
                f"{shown(place.page)}:{place.line}: {place.name} is not what {_file(topics, place)} gives{_first(place)}"
            )
    hidden = [name for name in pages.not_shown(topics, places) if name.partition(".")[0] in names]
    known = {command for rows in files.values() for command in rows}
    report.findings += [f"{name}: no page shows it" for name in hidden if _is_measured(topics, name, known)]


def _is_measured(topics: Mapping[str, Topic], name: str, known: set[str]) -> bool:
    """Return whether a table or value has all its results: a definition without them may wait for its first measurement."""
    topic, _, part = name.partition(".")
    return known >= topics[topic].rows(part).keys()


def _file(topics: Mapping[str, Topic], place: pages.Place) -> str:
    return shown(topics[place.name.partition(".")[0]].result)


def _first(place: pages.Place) -> str:
    """Return the first line that differs, as the end of a sentence."""
    for was, fresh in zip(place.was.strip().split("\n"), place.fresh.strip().split("\n"), strict=False):
        if was != fresh:
            return f": {was!r} should be {fresh!r}"
    return ": it has more or fewer lines"
