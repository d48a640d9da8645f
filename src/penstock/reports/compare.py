"""Several results beside each other: one table, and one page with their curves laid over each other."""

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from penstock.basics.units import format_rate, format_time_ns
from penstock.designs.design import Table
from penstock.engine.result import failures
from penstock.errors import UserError
from penstock.reports.report import SMOOTHED_POINTS, Series, fill, library, rate_curve, read_result, read_series, table_card
from penstock.reports.summary import design_of, text_table

SCHEMA = "penstock.compare/1"
MOST = 8  # results: as many as there are colours
MOST_QUEUES = 12  # with rows of their own
WIDTH = 120  # of the table in the terminal
POINTS = 200  # of a curve

Figure = tuple[str, Callable[[Mapping[str, Any]], float | None], Callable[[float], str]]


def _count(value: float) -> str:
    return f"{value:,.0f}"


FIGURES: Sequence[Figure] = (
    ("carried", lambda of: of["throughput_bps"], format_rate),
    ("packets in", lambda of: of["packets"]["in"], _count),
    ("packets out", lambda of: of["packets"]["out"], _count),
    ("dropped", lambda of: sum(of["packets"]["dropped"].values()), _count),
    ("lost at the input", lambda of: of["ingress_lost"]["packets"] if "ingress_lost" in of else None, _count),
    ("marked", lambda of: of.get("marked_packets"), _count),
    ("latency, median", lambda of: of["latency_ns"]["p50"], format_time_ns),
    ("latency, p99", lambda of: of["latency_ns"]["p99"], format_time_ns),
    ("latency, slowest", lambda of: of["latency_ns"]["max"], format_time_ns),
)
OF_A_QUEUE: Sequence[Figure] = (
    ("guaranteed", lambda of: of.get("guaranteed_rate_bps") or None, format_rate),
    ("rate", lambda of: of.get("measured_rate_bps"), format_rate),
    ("dropped", lambda of: of.get("drop_packets"), _count),
    ("median", lambda of: of["latency_ns"]["p50"], format_time_ns),
    ("p99", lambda of: of["latency_ns"]["p99"], format_time_ns),
)


@dataclass(frozen=True)
class Row:
    """One figure of every result."""

    name: str
    values: list[float | None]
    shown: Callable[[float], str]


@dataclass(frozen=True)
class Comparison:
    """What is compared: results by the names that they go by here, what went wrong in each, the rows, and their series."""

    names: list[str]
    results: list[dict[str, Any]]
    failed: list[list[str]]
    series: list[Series]
    rows: list[Row]

    def as_json(self) -> dict[str, Any]:
        """Return the table as an object."""
        rows = [{"name": row.name, "values": row.values} for row in self.rows]
        seeds, configs, interrupted = ([of[key] for of in self.results] for key in ("seed", "config", "interrupted"))
        state = {"interrupted": interrupted, "failures": self.failed}
        return {"schema": SCHEMA, "seed": seeds, "config": configs, "results": self.names, **state, "rows": rows}

    def warnings(self) -> list[str]:
        """Return which results are not to be trusted, and why: a run that failed or was stopped."""
        found = []
        for name, of, failed in zip(self.names, self.results, self.failed, strict=True):
            stopped = ["It was interrupted: its figures are up to there."] if of["interrupted"] else []
            found += [f"{name}: {' '.join([*failed, *stopped])}"] if failed or stopped else []
        return found


def comparison(folders: Sequence[Path]) -> Comparison:
    """Read the results of some folders. Raises UserError."""
    if not 2 <= len(folders) <= MOST:
        raise UserError(f"compare: takes 2 to {MOST} folders of results, not {len(folders)}")
    results = [read_result(folder) for folder in folders]
    series = [read_series(folder) for folder in folders]
    try:
        rows, failed = _rows(results), [failures(of) for of in results]
        return Comparison(_names(folders), results, failed, series, rows)
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"compare: one of the results is not whole: {error}") from None


def _names(folders: Sequence[Path]) -> list[str]:
    """Return the last parts of their paths, as many as tell them apart."""
    parts = [folder.resolve().parts for folder in folders]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-depth:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    raise UserError(f"compare: {folders[0]} is there twice; each result is taken once")


def _rows(results: Sequence[Mapping[str, Any]]) -> list[Row]:
    rows = [Row(name, [value(of) for of in results], shown) for name, value, shown in FIGURES]
    queues = [_by_name([row for row in of.get("queues", []) if "latency_ns" in row]) for of in results]
    common = [name for name in queues[0] if all(name in of for of in queues)]
    common.sort(key=lambda name: -max(of[name].get("in_bytes", 0) for of in queues))
    for name in sorted(common[:MOST_QUEUES], key=list(queues[0]).index):
        rows += [Row(f"{name}: {what}", [value(of[name]) for of in queues], shown) for what, value, shown in OF_A_QUEUE]
    return [row for row in rows if any(value is not None for value in row.values)]


def _by_name(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return queues by their names, with the ids of those that go by one name, as older results have them."""
    times = Counter(row["name"] for row in rows)
    return {row["name"] if times[row["name"]] == 1 else f"{row['name']} (queue {row['id']})": row for row in rows}


def table(found: Comparison) -> Table:
    """Return the table: a row for each figure, a column for each result, and how far the others are from the first."""
    cells = []
    for row in found.rows:
        first, *others = row.values
        shown = ["-" if value is None else row.shown(value) for value in row.values]
        cells.append((row.name, *shown, *(_change(first, value) for value in others)))
    changes = [f"{name} against {found.names[0]}" for name in found.names[1:]] if len(found.names) > 2 else ["change"]
    return Table("Figures", "Of queues those that all results have.", ("", *found.names, *changes), cells)


def _change(first: float | None, value: float | None) -> str:
    if first is None or value is None:
        return "-"
    if first == value:
        return "same"
    return "-" if first == 0 else f"{100 * (value / first - 1):+,.1f} %"


def text_lines(found: Comparison) -> list[str]:
    """Return the table for the terminal, and what is wrong with results."""
    warnings = [line for warning in found.warnings() for line in textwrap.wrap(warning, WIDTH, break_on_hyphens=False)]
    return text_table(table(found), WIDTH) + (["", *warnings] if warnings else [])


def write_page(found: Comparison, path: Path) -> None:
    """Write the page. Raises UserError where it cannot be written."""
    data = {"plots": [_rates(found), _distributions(found), *([_drops(found)] if any(of["drops"].any() for of in found.series) else [])]}
    warnings = "<br>".join(map(escape, found.warnings()))
    parts = {
        "FAILURES": f'<div class="failures">{warnings}</div>' if warnings else "",
        "TITLE": escape(" and ".join(found.names) if len(found.names) == 2 else f"{len(found.names)} results"),
        "WORDS": "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(_run(of))}</dd>" for name, of in zip(found.names, found.results, strict=True)
        ),
        "TABLE": table_card(table(found), still=True),
        "DATA": json.dumps(data, allow_nan=False, separators=(",", ":")).replace("</", "<\\/"),
        "PLOTLY": library(),
    }
    try:
        path.write_text(fill("compare.html", parts), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def _run(of: Mapping[str, Any]) -> str:
    hardware = design_of(dict(of)).hardware(dict(of))
    return f"{of['name']} on {of['config']} ({hardware}), engine {of['engine']}, seed {of['seed']}. {of['description']}"


def _rates(found: Comparison) -> dict[str, Any]:
    """Return what left in each interval, of all queues with a series."""
    curves = []
    for name, result, series in zip(found.names, found.results, found.series, strict=True):
        curves.append(_curve(name, _times(series), rate_curve(result, series, series["bytes_out"].sum(axis=1), SMOOTHED_POINTS), True))
    return {
        "title": "What left",
        "note": f"Of all queues that have curves, mean over {SMOOTHED_POINTS} intervals.",
        "x": "time",
        "y": "rate",
        "curves": curves,
    }


def _distributions(found: Comparison) -> dict[str, Any]:
    curves = [
        _curve(name, series["cdf_ns"][:, -1] / 1e9, series["cdf_share"]) for name, series in zip(found.names, found.series, strict=True)
    ]
    return {"title": "Latency", "note": "Share of all packets that took at most this long.", "x": "latency", "y": "share", "curves": curves}


def _drops(found: Comparison) -> dict[str, Any]:
    curves = [
        _curve(name, _times(series), np.cumsum(series["drops"].sum(axis=1))) for name, series in zip(found.names, found.series, strict=True)
    ]
    return {"title": "Drops", "note": "Packets dropped up to then.", "x": "time", "y": "count", "curves": curves}


def _times(series: Series) -> Any:
    """Return the middles of intervals in seconds; not a number within the warm-up, which has no curve."""
    places = np.arange(len(series["bytes_out"]))
    measured = places >= (int(series["from_interval"]) if "from_interval" in series else 0)
    return np.where(measured, (places + 0.5) * float(series["interval_ns"]) / 1e9, np.nan)


def _curve(name: str, x: Any, y: Any, means: bool = False) -> dict[str, Any]:
    """Return a curve of at most twice POINTS points: of more, each stands for some, as their mean with `means`, else as the last."""
    kept = np.isfinite(x) & np.isfinite(y)
    x, y = np.asarray(x, dtype=float)[kept], np.asarray(y, dtype=float)[kept]
    if len(x) > 2 * POINTS:
        ends = np.append(np.arange(0, len(x), len(x) // POINTS), len(x))
        if means:
            x, y = (np.add.reduceat(values, ends[:-1]) / np.diff(ends) for values in (x, y))
        else:
            x, y = x[ends[1:] - 1], y[ends[1:] - 1]
    return {"name": name, "x": [float(f"{value:.6g}") for value in x], "y": [float(f"{value:.7g}") for value in y]}
