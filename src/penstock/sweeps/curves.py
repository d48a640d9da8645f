"""The curves of a plot, from the table: means over seeds with their 95 % confidence interval.

Nothing but seeds is averaged. Against a parameter there is a curve for each value of `by` and of every other parameter that the grid
changes. Against a result there is one for each value of `by`, through all settings in the order of the grid.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.basics.suggest import nearest
from penstock.basics.units import PS_PER_SECOND, parse_rate, parse_size, parse_time
from penstock.sweeps.spec import Plot
from penstock.sweeps.table import Table
from penstock.switch_sim.measure import mean_and_ci95

SEED = "seed"
# Units in the names of columns: what a number is multiplied by, and the unit then.
_UNITS = {
    "bps": (1, "bit/s"),
    "ns": (1e-9, "s"),
    "us": (1e-6, "s"),
    "ms": (1e-3, "s"),
    "seconds": (1, "s"),
    "hz": (1, "Hz"),
    "bytes": (1, "byte"),
}
_UNIT = re.compile(r"(?:^|_)(" + "|".join(_UNITS) + r")$")
_QUANTITIES: tuple[tuple[Callable[[object], int], float, str], ...] = (
    (parse_rate, 1, "bit/s"), (parse_time, PS_PER_SECOND, "s"), (parse_size, 1, "byte"),
)  # fmt: skip


class PlotError(ValueError):
    """A plot cannot be drawn; `part` is x, y or by."""

    def __init__(self, part: str, sentence: str) -> None:
        super().__init__(sentence)
        self.part = part


@dataclass
class Axis:
    """A column along an axis: its numbers (None: none in that row), or words when it has no numbers. Times `scale` they are in `unit`."""

    name: str
    values: list[Any]
    numeric: bool
    scale: float = 1
    unit: str = ""


@dataclass
class Curve:
    """One curve: means, half the widths of their intervals (None: one run, or x is no result), and how many runs each is of."""

    name: str
    x: list[Any] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    x_error: list[float | None] = field(default_factory=list)
    y_error: list[float | None] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)


@dataclass
class Drawing:
    """A plot as it is drawn."""

    title: str
    x: Axis
    y: Axis
    by: str
    curves: list[Curve]
    log: str
    left_out: int  # runs that failed, or have no such number


def unknown(table: Table, plot: Plot) -> PlotError | None:
    """Return what is wrong with the names of columns, or None."""
    for part, names in (("x", (plot.x,)), ("y", (plot.y,)), ("by", plot.by)):
        for name in names:
            if name not in table.columns:
                return PlotError(part, f'names "{name}", which is no column of the table{nearest(name, table.columns)}')
    return None


def draw(table: Table, plot: Plot) -> Drawing:
    """Return the curves of a plot. Raises PlotError."""
    error = unknown(table, plot)
    if error:
        raise error
    x, y = axis(table, plot.x), axis(table, plot.y)
    if not y.numeric:
        raise PlotError("y", f'names "{plot.y}", which holds words; y needs numbers')
    for part, found in (("x", x), ("y", y)):
        if all(value is None for value in found.values):
            raise PlotError(part, f'names "{found.name}", which is empty in every row')
    names = _names(table, plot)
    groups: dict[tuple[str, ...], dict[tuple[Any, ...], list[int]]] = {}
    left_out = 0
    for number, row in enumerate(table.rows):
        if row.get("error") or x.values[number] is None or y.values[number] is None:
            left_out += 1
            continue
        curve = tuple(str(row.get(name)) for name in names)
        groups.setdefault(curve, {}).setdefault(_setting(table, plot, row), []).append(number)
    curves = [_curve(_label(names, values), settings, x, y, plot.x in table.parameters) for values, settings in groups.items()]
    return Drawing(plot.title or f"{plot.y} over {plot.x}", x, y, ", ".join(names), curves, plot.log or "", left_out)


def axis(table: Table, name: str) -> Axis:
    """Return a column as an axis: numbers as they are, quantities such as "5 ms" in their base unit, else words."""
    values = [row.get(name) for row in table.rows]
    known = [value for value in values if value is not None]
    if all(isinstance(value, (int, float)) for value in known):
        scale, unit = _unit(name) if name not in table.parameters else (1, "")
        return Axis(name, values, True, scale, unit)
    for parse, divisor, unit in _QUANTITIES:
        try:
            parsed = {value: parse(value) / divisor for value in set(known)}
        except ValueError:
            continue
        return Axis(name, [None if value is None else parsed[value] for value in values], True, 1, unit)
    return Axis(name, [None if value is None else str(value) for value in values], False)


def _unit(name: str) -> tuple[float, str]:
    parts = name.split(".")
    if parts[-1] in ("count", "share"):
        return 1, ""
    found = next((match for part in reversed(parts) if (match := _UNIT.search(part))), None)
    return _UNITS[found[1]] if found else (1, "")


def _names(table: Table, plot: Plot) -> list[str]:
    """Return the columns whose values tell one curve from another."""
    others = [name for name in table.parameters if len({str(row.get(name)) for row in table.rows}) > 1]
    of_x = others if plot.x in table.parameters else []
    return list(dict.fromkeys([*plot.by, *(name for name in of_x if name not in (plot.x, SEED))]))


def _setting(table: Table, plot: Plot, row: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the runs have in common that are averaged."""
    own = {plot.x, *plot.by} & {SEED}
    return tuple(str(row.get(name)) for name in table.parameters if name != SEED or name in own)


def _label(names: Sequence[str], values: Sequence[str]) -> str:
    return values[0] if len(names) == 1 else ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))


def _curve(name: str, settings: dict[tuple[Any, ...], list[int]], x: Axis, y: Axis, ascending: bool) -> Curve:
    curve = Curve(name)
    groups = list(settings.values())
    if ascending and x.numeric:
        groups.sort(key=lambda rows: x.values[rows[0]])
    for rows in groups:
        heights = [float(y.values[row]) for row in rows]
        mean, error = mean_and_ci95(heights)
        assert mean is not None
        place, place_error = (x.values[rows[0]], None) if ascending or not x.numeric else mean_and_ci95([x.values[row] for row in rows])
        curve.x.append(place)
        curve.y.append(mean)
        curve.x_error.append(place_error)
        curve.y_error.append(error)
        curve.least.append(min(heights))
        curve.most.append(max(heights))
        curve.runs.append(len(rows))
    return curve
