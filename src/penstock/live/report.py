"""A live run in words and pictures: what is in the summary and the report beside what every run has there."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from penstock.basics.units import format_rate, format_time_ns
from penstock.designs.design import Curve, Plot

MOST_ROWS = 8
POINTS = 150  # of a curve over time


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
    ("jain", "Jain's index", lambda value: "" if value is None else f"{value:.4f}"),
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
    pictures: tuple[tuple[str, str, str, Literal["rate", "time"], float], ...] = (
        ("throughput_bps", "Applications: payload", "What each program got, over time.", "rate", 1.0),
        ("delay_ms", "Applications: delay", "One way, or there and back, as each program saw it, over time.", "time", 1e-3),
    )
    for key, title, note, values, scale in pictures:
        series = {
            one["name"]: (one["over_time"]["time_s"], one["over_time"][key])
            for one in result.get("applications", [])
            if (one.get("over_time") or {}).get(key)
        }
        if not series:
            continue
        end = max(times[-1] for times, _ in series.values())
        places, curves = _together(series, end, scale)
        found.append(Plot(title, note, places, values, curves))
    return found


def _together(series: Mapping[str, Any], end: float, scale: float) -> tuple[tuple[float, ...], list[Curve]]:
    """Return curves with the same places: means of equal intervals up to `end`, of series that have times of their own."""
    width = end / POINTS
    curves = []
    for name, (times, values) in series.items():
        sums, counts = [0.0] * POINTS, [0] * POINTS
        for time, value in zip(times, values, strict=True):
            if value is not None:
                at = min(POINTS - 1, max(0, int(time / width)))
                sums[at] += value
                counts[at] += 1
        points = tuple(scale * total / count if count else None for total, count in zip(sums, counts, strict=True))
        curves.append(Curve(name, points, "line"))
    return tuple(round((place + 0.5) * width, 6) for place in range(POINTS)), curves
