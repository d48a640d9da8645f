"""report.html of a sweep: its plots, the numbers below each, and what failed. Self-contained; nothing is loaded."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from penstock import __version__
from penstock.plots.figure import Figure, Line, file_name
from penstock.reports.report import fill, library
from penstock.sweeps.curves import Axis, Curve, Drawing
from penstock.sweeps.table import Table

MAX_FAILURES = 20
MAX_VALUES = 12  # of a parameter, in words
MAX_LINES = 200  # of the numbers below a plot
TALL = 6  # curves: then there is room for the legend


@dataclass
class Facts:
    """What the page says besides the plots."""

    name: str
    description: str
    of: str  # what was run: `run codel.yaml`
    sources: str


def page(facts: Facts, table: Table, drawings: Sequence[Drawing]) -> str:
    """Return the page."""
    failed = [row for row in table.rows if row.get("error")]
    parts = {
        "TITLE": escape(facts.name),
        "TAG": _tag(len(table.rows), len(failed)),
        "DESCRIPTION": escape(facts.description),
        "FAILURES": _failures(table, failed),
        "WORDS": "".join(f"<dt>{escape(word)}</dt><dd>{escape(text)}</dd>" for word, text in _words(facts, table)),
        "CARDS": "".join(_card(number, drawing) for number, drawing in enumerate(drawings)) or _hint(table),
        "FOOTER": _footer(facts, table),
        "DATA": json.dumps([_data(drawing) for drawing in drawings], allow_nan=False, separators=(",", ":")).replace("</", "<\\/"),
        "PLOTLY": library(),
    }
    return fill("sweep.html", parts)


def parameters(row: dict[str, Any], names: Sequence[str]) -> str:
    """Return the parameters of a run in words."""
    return ", ".join(f"{name}={row[name]}" for name in names if row.get(name) is not None)


def _tag(runs: int, failed: int) -> str:
    words = f"{runs:,} run{'' if runs == 1 else 's'}"
    if failed:
        return f'<span class="tag bad">{failed:,} of {words} failed</span>'
    return f'<span class="tag good">{words}, none failed</span>'


def _failures(table: Table, failed: Sequence[dict[str, Any]]) -> str:
    lines = [escape(f"{parameters(row, table.parameters)}: {row['error']}") for row in failed[:MAX_FAILURES]]
    if len(failed) > MAX_FAILURES:
        lines.append(f"and {len(failed) - MAX_FAILURES:,} more; see the column error of table.csv")
    return f'<div class="failures">{"<br>".join(lines)}</div>' if lines else ""


def _words(facts: Facts, table: Table) -> list[tuple[str, str]]:
    lines = [("of", facts.of)]
    for name in table.parameters:
        values = list(dict.fromkeys(str(row[name]) for row in table.rows if row.get(name) is not None))
        more = f" and {len(values) - MAX_VALUES:,} more" if len(values) > MAX_VALUES else ""
        lines.append((name, ", ".join(values[:MAX_VALUES]) + more))
    return lines


def _footer(facts: Facts, table: Table) -> str:
    error = "Points are means over seeds, bars their 95 % confidence intervals (Student's t); a point of one run has none."
    mixed = len({row.get("sources") for row in table.rows if row.get("sources")} - {facts.sources})
    other = " Some rows are of other sources, see the column sources." if mixed else ""
    made = f"{len(table.rows):,} rows and {len(table.columns):,} columns in table.csv and table.parquet."
    return f"<p>{escape(error)}</p><p>{escape(made)} Sources {escape(facts.sources)}, Penstock {escape(__version__)}.{other}</p>"


def _hint(table: Table) -> str:
    names = ", ".join(column for column in table.columns if column not in table.parameters)
    return (
        '<section class="card wide"><h2>No plot was asked for</h2><p>The same command with <code>--plot X Y</code>, or <code>plots:</code> '
        f"in the file, draws one column against another. There are: {escape(names)}.</p></section>"
    )


def _card(number: int, drawing: Drawing) -> str:
    left = f"{drawing.left_out:,} runs failed or have no such number, and are left out." if drawing.left_out else ""
    height = "plot tall" if len(drawing.curves) > TALL else "plot"
    return (
        f'<section class="card wide"><h2>{escape(drawing.title)}</h2><p>{left}</p><div class="{height}" id="plot{number}"></div>'
        f"<details><summary>Numbers</summary>{_numbers(drawing)}</details></section>"
    )


def _numbers(drawing: Drawing) -> str:
    heads = [drawing.by or "curve", _axis_words(drawing.x), _axis_words(drawing.y), "+- 95 %", "least", "most", "runs"]
    lines = [[curve.name, *cells] for curve in drawing.curves for cells in _cells(curve)]
    rows = ["".join(f"<th>{escape(head)}</th>" for head in heads)]
    rows += ["".join(f"<td>{escape(cell)}</td>" for cell in line) for line in lines[:MAX_LINES]]
    more = f"<p>and {len(lines) - MAX_LINES:,} more</p>" if len(lines) > MAX_LINES else ""
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + f"</table>{more}"


def _cells(curve: Curve) -> list[list[str]]:
    columns = (curve.x, curve.y, curve.y_error, curve.least, curve.most, curve.runs)
    return [[_number(value) for value in values] for values in zip(*columns, strict=True)]


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _axis_words(axis: Axis) -> str:
    """Return an axis' name with the unit of its numbers where that does not stand in it."""
    return f"{axis.name} ({axis.unit})" if axis.unit and axis.scale == 1 and not axis.name.endswith("_bps") else axis.name


def _data(drawing: Drawing) -> dict[str, Any]:
    return {
        "x": _axis(drawing.x, [x for curve in drawing.curves for x in curve.x], "x" in drawing.log),
        "y": _axis(drawing.y, [y for curve in drawing.curves for y in curve.y], "y" in drawing.log),
        "by": drawing.by,
        "curves": [
            {"name": curve.name, "x": curve.x, "y": curve.y, "x_error": curve.x_error, "y_error": curve.y_error, "runs": curve.runs}
            for curve in drawing.curves
        ],
    }


def _axis(axis: Axis, values: Sequence[Any], log: bool) -> dict[str, Any]:
    positive = [value for value in values if axis.numeric and value > 0]
    found = {"name": axis.name, "numeric": axis.numeric, "scale": axis.scale, "unit": axis.unit, "log": log and bool(positive)}
    return found | ({"ends": [min(positive), max(positive)]} if found["log"] else {})


def figure(drawing: Drawing) -> Figure:
    """Return a plot as a figure for paper."""
    scale = {axis: drawing_axis.scale if drawing_axis.numeric else 1 for axis, drawing_axis in (("x", drawing.x), ("y", drawing.y))}

    def title(axis: Axis) -> str:
        return f"{axis.name} ({axis.unit})" if axis.unit else axis.name

    lines = [
        Line(
            curve.name,
            [value * scale["x"] if drawing.x.numeric else value for value in curve.x],
            [value * scale["y"] for value in curve.y],
            error=[None if half is None else half * scale["y"] for half in curve.y_error],
        )
        for curve in drawing.curves
    ]
    return Figure(file_name(drawing.title), drawing.title, title(drawing.x), title(drawing.y), lines, drawing.log, drawing.by)
