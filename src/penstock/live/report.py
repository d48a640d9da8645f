"""A live run in words and pictures: what is in the summary and the report beside what every run has there."""

from collections.abc import Callable, Mapping
from typing import Any

from penstock.basics.units import format_rate, format_time_ns
from penstock.designs.design import Curve, Plot

MOST_ROWS = 8


def sentences(result: Mapping[str, Any]) -> list[str]:
    """Return what was seen of a live run, a line each; none of another."""
    if "behind_real_time_ms" not in result:
        return []
    lines = [
        f"Carried  {format_rate(row['carried_bps'])} of {format_rate(row['bottleneck_bps'])}: {row['name']}"
        for row in result["bottlenecks"][:MOST_ROWS]
        if row["carried_bps"]
    ]
    lines += [f"App      {one['name']}: {words}" for one in result["applications"][:MOST_ROWS] if (words := _felt(one))]
    behind, late = result["behind_real_time_ms"], result["let_go_late_ms"]
    if behind["count"]:
        words = f"Clock    the device was at most {_ms(behind['max'])} behind real time, {_ms(behind['p99'])} at 99 %"
        words += f"; frames were let go {_ms(late['p50'])} late, {_ms(late['p99'])} at 99 %" if late["count"] else ""
        lines.append(words)
    return lines


def _ms(value: float) -> str:
    return format_time_ns(value * 1e6)


def _spread(found: Any) -> str:
    return f"{_ms(found['p50'])}, {_ms(found['p99'])} at 99 %" if found and found.get("count") else ""


# What an application may have felt: its key, the word for it, and how it is shown; nothing where there is none.
FELT: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("throughput_bps", "payload", lambda value: "" if value is None else format_rate(value)),
    ("delay_ms", "delay", _spread),
    ("round_trip_ms", "round trip", _spread),
    ("load_ms", "page", _spread),
    ("loss_share", "lost", lambda value: "" if value is None else f"{100 * value:.1f} %"),
    ("mos", "MOS", lambda value: "" if value is None else f"{value:.2f}"),
    ("stalled_s", "stood still", lambda value: "" if value is None else f"{value:.1f} s"),
)


def _felt(application: Mapping[str, Any]) -> str:
    """Return what an application felt, in a few words."""
    return ", ".join(f"{words} {text}" for key, words, show in FELT if (text := show(application.get(key))))


def plots(result: Mapping[str, Any]) -> list[Plot]:
    """Return the pictures of the applications over time; none of a run without."""
    found = []
    for key, title, note, values, scale in (
        ("throughput_bps", "Applications: payload", "What each program got, in bit/s, over time.", "count", 1.0),
        ("delay_ms", "Applications: delay", "One way, or there and back, as each program saw it, over time.", "time", 1e-3),
    ):
        curves: list[Curve] = []
        places: tuple[float, ...] = ()
        for one in result.get("applications", []):
            series = one.get("over_time") or {}
            points = series.get(key)
            if not points:
                continue
            times = tuple(round(float(time), 6) for time in series["time_s"])
            if len(times) > len(places):
                places = times
            curves.append(Curve(one["name"], tuple(None if p is None else p * scale for p in points), "line"))
        if curves:
            whole = [Curve(c.name, c.values + (None,) * (len(places) - len(c.values)), c.style) for c in curves]
            found.append(Plot(title, note, places, values, whole))  # type: ignore[arg-type]
    return found
