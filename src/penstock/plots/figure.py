"""A figure in numbers: axes with units, and curves that can be told apart. `penstock.plots.draw` puts it on paper.

`plots.json` in a result folder holds figures that cannot be made from the other files there: those of sweeps and papers.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from penstock.basics.files import read_text
from penstock.errors import UserError

SCHEMA = "penstock.plots/1"
FILE = "plots.json"
MAX_BYTES = 500_000_000

Kind = Literal["line", "points", "steps", "bars"]


@dataclass(frozen=True)
class Line:
    """A curve, or single points; None: nothing there. `error`: half the heights of its bars; `labels`: words at its points."""

    name: str
    x: list[Any]
    y: list[float | None]
    kind: Kind = "line"
    error: list[float | None] | None = None
    labels: list[str] | None = None


@dataclass(frozen=True)
class Figure:
    """One figure. Axes are titles with units; `log` names those that are logarithmic; `map` is a picture of numbers over two axes."""

    name: str  # of its file
    title: str
    x: str
    y: str
    lines: list[Line] = field(default_factory=list)
    log: str = ""
    legend: str = ""  # what tells the curves apart
    map: dict[str, Any] | None = None  # {x, y: names of columns and rows, z: rows of numbers, unit}
    zero: bool = False  # the y axis begins at 0


def file_name(text: str) -> str:
    """Return a title as the name of a file."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:80] or "figure"


def numbered(figures: Sequence[Figure]) -> list[Figure]:
    """Return figures with names that no two have."""
    seen: dict[str, int] = {}
    found = []
    for figure in figures:
        seen[figure.name] = seen.get(figure.name, 0) + 1
        number = seen[figure.name]
        found.append(figure if number == 1 else Figure(**(vars(figure) | {"name": f"{figure.name}_{number}"})))
    return found


def write(path: Path, figures: Sequence[Figure]) -> None:
    """Write figures as plots.json."""
    content = {"schema": SCHEMA, "figures": [asdict(figure) for figure in numbered(figures)]}
    path.write_text(json.dumps(content, allow_nan=False) + "\n", encoding="utf-8")


def read(folder: Path) -> list[Figure]:
    """Return the figures in plots.json of a folder. Raises UserError."""
    path = folder / FILE
    try:
        content = json.loads(read_text(path, "figures", MAX_BYTES))
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA!r}")
        return [Figure(**(figure | {"lines": [Line(**line) for line in figure["lines"]]})) for figure in content["figures"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None


# ---- from the cards of a paper's page


def of_cards(cards: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Return the figures of a page of cards (penstock.reports.cards), one for each of their plots."""
    found = []
    for card in cards:
        plots = card.get("plots", [])
        for plot in plots:
            title = str(card["title"]) + (f": {plot['title']}" if plot.get("title") else "")
            found.append(_of_traces(title, plot))
    return numbered(found)


def _of_traces(title: str, plot: Mapping[str, Any]) -> Figure:
    def words(axis: str) -> str:
        given = plot[axis].get("title", "")
        text = str(given.get("text", "") if isinstance(given, Mapping) else given)
        if axis == "y" and not text:
            text = str(plot.get("title", ""))  # where that says what is shown, as "flip-flops"
        return re.sub(r", ([^,()]+)$", r" (\1)", text)  # "latency, us" is "latency (us)" on paper

    log = "".join(axis for axis in "xy" if plot[axis].get("type") == "log")
    heat = next((trace for trace in plot["traces"] if trace.get("type") == "heatmap"), None)
    if heat is not None:
        bar = heat.get("colorbar", {}).get("title", {})
        unit = bar.get("text", "") if isinstance(bar, Mapping) else str(bar)
        picture = {"x": [str(value) for value in heat["x"]], "y": [str(value) for value in heat["y"]], "z": heat["z"], "unit": unit}
        return Figure(file_name(title), title, words("x"), words("y"), log="", map=picture)
    lines = []
    for trace in plot["traces"]:
        mode = trace.get("mode", "lines")
        step = trace.get("line", {}).get("shape", "").startswith("hv")
        kind: Kind = "bars" if trace.get("type") == "bar" else "points" if "lines" not in mode else "steps" if step else "line"
        error = trace.get("error_y", {}).get("array")
        labels = [str(text) for text in trace["text"]] if "text" in mode else None
        name, halves = str(trace.get("name", "")), None if error is None else list(error)
        lines.append(Line(name, list(trace["x"]), list(trace["y"]), kind, halves, labels))
    return Figure(file_name(title), title, words("x"), words("y"), lines, log, zero=plot["y"].get("rangemode") == "tozero")
