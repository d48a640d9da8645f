"""Puts figures on paper with Matplotlib: one file each, SVG or PDF, the same bytes for the same numbers.

Curves differ in colour, dash and mark, so that they do in grey, too. Marks are staggered from curve to curve, and of curves that coincide
the first is drawn widest and the last thinnest, so that each is seen.
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from penstock.basics import groups
from penstock.basics.growing import growing
from penstock.command_line.console import working
from penstock.errors import UserError
from penstock.plots.figure import Figure, Line

FORMATS = ("svg", "pdf")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")  # told apart by the colour-blind
MARKS = "os^Dvx*P"
HATCHES = ("", "///", "...", "\\\\\\", "xxx")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
WIDTH_INCHES, HEIGHT_SHARE = 5.0, 0.62
MARKS_OF_A_CURVE = 8
COINCIDE = 0.004  # of the height of the axis
MOST_IN_LEGEND_INSIDE = 6
LEGEND_ROW_INCHES = 0.17  # by which a figure is higher for its legend below
STYLE: Any = {
    "font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 9, "axes.labelsize": 9, "legend.fontsize": 8,
    "svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "penstock", "axes.grid": True, "grid.color": "#dddddd",
    "grid.linewidth": 0.6, "axes.axisbelow": True, "lines.linewidth": 1.4, "lines.markersize": 4.5, "axes.spines.top": False,
    "axes.spines.right": False, "path.simplify": True, "legend.framealpha": 0.85, "legend.edgecolor": "#cccccc",
}  # fmt: skip


def formats(text: str) -> list[str]:
    """Return the formats that --format names. Raises UserError."""
    kinds = [kind.strip() for kind in text.split(",")]
    if wrong := next((kind for kind in kinds if kind not in FORMATS), None):
        raise UserError(f"--format {text}: {wrong!r} is no format; there are {', '.join(FORMATS)}")
    return list(dict.fromkeys(kinds))


def into(folder: Path, figures: Sequence[Figure], kinds: Sequence[str], width: float = WIDTH_INCHES) -> list[Path]:
    """Draw figures into a folder, which gets all of them or none; return the files. Raises UserError."""
    with working("Drawing"), growing(folder) as grown:
        return [folder / path.name for path in files(figures, grown, kinds, width)]


def files(figures: Sequence[Figure], folder: Path, kinds: Sequence[str], width: float = WIDTH_INCHES) -> list[Path]:
    """Write each figure in each format; return the files. Raises UserError where a figure cannot be drawn."""
    groups.need("plots", "plots")
    written = []
    for figure in figures:
        with _drawn(figure, width) as picture:
            for kind in kinds:
                path = folder / f"{figure.name}.{kind}"
                metadata = {"Date": None} if kind == "svg" else {"CreationDate": None, "ModDate": None}
                picture.savefig(path, format=kind, metadata=metadata, bbox_inches="tight")
                written.append(path)
    return written


@contextlib.contextmanager
def _drawn(figure: Figure, width: float) -> Iterator[Any]:
    import matplotlib

    matplotlib.use("Agg", force=False)
    from matplotlib import pyplot

    with matplotlib.rc_context(STYLE):
        rows = -(-len(_shown(figure)) // _columns(width)) if len(_shown(figure)) > MOST_IN_LEGEND_INSIDE else 0
        picture, axes = pyplot.subplots(figsize=(width, width * HEIGHT_SHARE + LEGEND_ROW_INCHES * rows), layout="constrained")
        try:
            if figure.map is not None:
                _map(figure, picture, axes)
            else:
                _curves(figure, axes, width)
            axes.set_xlabel(figure.x)
            axes.set_ylabel(figure.y)
            axes.set_title(figure.title, loc="left", wrap=True)
            yield picture
        except (TypeError, ValueError) as error:
            raise UserError(f"{figure.name}: cannot be drawn: {error}") from None
        finally:
            pyplot.close(picture)


def _map(figure: Figure, picture: Any, axes: Any) -> None:
    assert figure.map is not None
    numbers = np.array([[math.nan if value is None else float(value) for value in row] for row in figure.map["z"]])
    image = axes.imshow(numbers, aspect="auto", origin="lower", cmap="viridis", interpolation="nearest")
    axes.grid(False)
    for put, names in ((axes.set_xticks, figure.map["x"]), (axes.set_yticks, figure.map["y"])):
        step = max(1, -(-len(names) // 12))
        put(range(0, len(names), step), names[::step])
    picture.colorbar(image, ax=axes, label=figure.map.get("unit", ""))


def _shown(figure: Figure) -> list[Line]:
    """Return the lines that have a value."""
    return [line for line in figure.lines if any(value is not None for value in line.y)]


def _columns(width: float) -> int:
    """Return the columns of a legend below a figure of so many inches."""
    return max(1, int(width // 1.6))


def _curves(figure: Figure, axes: Any, width: float) -> None:
    lines = _shown(figure)
    words = any(isinstance(value, str) for line in lines for value in line.x)
    places = list(dict.fromkeys(str(value) for line in lines for value in line.x)) if words else []
    bars = [line for line in lines if line.kind == "bars"]
    with contextlib.suppress(ValueError):
        if "x" in figure.log and not words:
            axes.set_xscale("log")
        if "y" in figure.log:
            axes.set_yscale("log")
    numbers = [_numbers(line, places, figure.log) for line in lines]
    of = [(x, y) for x, y, _ in numbers]
    depth = coinciding(of, "y" in figure.log)
    names = list(dict.fromkeys(line.name for line in lines))  # what has one name is drawn alike, and is once in the legend
    for number, (line, (x, y, there)) in enumerate(zip(lines, numbers, strict=True)):
        index = names.index(line.name)
        label = "_" if any(other.name == line.name for other in lines[:number]) else line.name
        colour = COLOURS[index % len(COLOURS)]
        if line.kind == "bars":
            share = 0.8 / len(bars)
            places_of_bars = x + share * (bars.index(line) - (len(bars) - 1) / 2)
            axes.bar(places_of_bars, y, share, label=label, color=colour, hatch=HATCHES[index % len(HATCHES)], edgecolor="white")
            _errors(axes, line, there, places_of_bars, y, "#333333")
            continue
        # Of curves in one place each is thinner than the one below it.
        thick = 1.4 + 1.6 * depth[number]
        style: dict[str, Any] = {"color": colour, "label": label, "linewidth": thick, "zorder": 3 + index * 0.01 - depth[number]}
        turn = index // len(COLOURS)  # a colour comes again with another mark, hollow, and another dash
        mark = MARKS[(index + turn) % len(MARKS)]
        style |= {"markerfacecolor": "white"} if turn % 2 else {}
        if line.kind == "points":
            many = len(x) > 200
            axes.plot(x, y, linestyle="none", marker="." if many else mark, markersize=2 if many else 5, alpha=0.5 if many else 1,
                      rasterized=many and len(x) > 5000, **style)  # fmt: skip
            continue
        every = max(1, len(x) // MARKS_OF_A_CURVE)
        first = (index * every // max(1, len(lines))) % every if every > 1 else 0
        marked = None if len(lines) == 1 and len(x) > 2 * MARKS_OF_A_CURVE else mark
        axes.plot(x, y, linestyle=DASHES[(index + turn) % len(DASHES)], marker=marked, markevery=(first, every),
                  drawstyle="steps-post" if line.kind == "steps" else "default", **style)  # fmt: skip
        _errors(axes, line, there, x, y, colour)
        labels = np.array(line.labels)[there].tolist() if line.labels else []
        for place, height, text in zip(x, y, labels, strict=False):
            axes.annotate(text, (place, height), xytext=(0, 4), textcoords="offset points", ha="center", fontsize=7)
    if words:
        step = max(1, -(-len(places) // 12))
        axes.set_xticks(range(0, len(places), step), places[::step], rotation=30 if max(map(len, places)) > 6 else 0, ha="right")
    _thousands(axes, figure, of, words)
    if any(line.labels for line in lines):
        axes.margins(y=0.12)  # words above the highest point are within
    if figure.zero and "y" not in figure.log:
        axes.set_ylim(bottom=0)
    if len(lines) > 1 or (lines and figure.legend):
        below = len(lines) > MOST_IN_LEGEND_INSIDE
        where = {"loc": "outside lower center", "ncols": _columns(width)} if below else {"loc": "best"}
        legend = (axes.figure if below else axes).legend(title=figure.legend or None, **where)
        for handle in legend.get_lines():  # small points are seen there, too
            handle.set_markersize(max(handle.get_markersize(), 4.5))
            handle.set_alpha(1)


def _errors(axes: Any, line: Line, there: Any, x: Any, y: Any, colour: str) -> None:
    """Draw what a line has of error bars, of the points that are `there`."""
    if line.error and any(line.error):
        half = np.array([0.0 if value is None else value for value in line.error])
        axes.errorbar(x, y, yerr=half[there], fmt="none", ecolor=colour, elinewidth=0.8, capsize=2)


def _thousands(axes: Any, figure: Figure, lines: Sequence[tuple[Any, Any]], words: bool) -> None:
    """Let large and small numbers of linear axes have k, M, m, ... in place of a power of ten in the corner."""
    from matplotlib.ticker import EngFormatter

    for place, name, axis in ((0, "x", axes.xaxis), (1, "y", axes.yaxis)):
        values = np.concatenate([np.abs(line[place]) for line in lines]) if lines else np.zeros(0)
        most = float(values.max(initial=0))
        if name not in figure.log and not (words and name == "x") and most > 0 and not 1e-2 <= most < 1e5:
            axis.set_major_formatter(EngFormatter(sep=""))


def _numbers(line: Line, places: list[str], log: str) -> tuple[Any, Any, Any]:
    """Return a line as numbers, without what is not there, or not on a logarithmic axis; and of which of its points they are."""
    y = np.array([math.nan if value is None else float(value) for value in line.y])
    if places:
        x = np.array([float(places.index(str(value))) for value in line.x])
    else:
        x = np.array([math.nan if value is None else float(value) for value in line.x])
    if "y" in log:
        y = np.where(y > 0, y, math.nan)
    if "x" in log and not places:
        x = np.where(x > 0, x, math.nan)
    there = np.isfinite(x) & np.isfinite(y)  # a curve goes on over an interval in which nothing left
    return x[there], y[there], there


def coinciding(lines: Sequence[tuple[Any, Any]], log: bool) -> list[int]:
    """Return of each line how many later ones go the same way, everywhere, as nearly as can be seen."""
    heights = [np.log10(y) if log else y for _, y in lines]
    known = np.concatenate([y[np.isfinite(y)] for y in heights]) if heights else np.zeros(0)
    near = COINCIDE * float(np.ptp(known)) if known.size else 0.0
    depth = [0] * len(lines)
    for first, (x, _) in enumerate(lines):
        for second in range(first + 1, len(lines)):
            if len(x) != len(lines[second][0]) or not np.array_equal(x, lines[second][0], equal_nan=True):
                continue
            apart = np.abs(heights[first] - heights[second])
            if not (np.isfinite(heights[first]) != np.isfinite(heights[second])).any() and (apart[np.isfinite(apart)] <= near).all():
                depth[first] += 1
    return depth
