"""What summary and report say of an access edge: what shaping did, and the table of queues."""

from fractions import Fraction
from math import ceil
from typing import Any

from penstock.basics.units import format_rate, format_time_ns
from penstock.designs.design import Table


def sentences(result: dict[str, Any]) -> list[str]:
    """Return what shaping did, a line each: which queues were held to their rate, how the others fared, which gates were closed."""
    backlogged = [q for q in result["queues"] if q["configured_rate_bps"] and q["backlogged_share"] >= 0.5]
    held = [q for q in backlogged if q["out_packets"] >= 10]
    slow = {q["id"] for q in backlogged}
    free = [q for q in result["queues"] if q["id"] not in slow and q["latency_ns"]["count"]]
    closed = [q["name"] for q in result["queues"] if q["configured_rate_bps"] == 0]
    listed = result["queues_listed"]
    of_all = (
        "queues" if listed == result["queues_with_traffic"] else f"of the {listed:,} busiest queues"
    )  # of the others nothing is known here
    found = []
    if 0 < len(held) <= 3:
        found.append("Shaped   " + ", ".join(f"{q['name']} was held to {format_rate(q['measured_rate_bps'])}" for q in held))
    elif held:
        error = max(abs(Fraction(q["measured_rate_bps"]) / q["configured_rate_bps"] - 1) for q in held)
        percent = max(1, ceil(error * 10_000)) / 100  # rounded up: all are within it
        found.append(f"Shaped   {len(held):,} {of_all} were held to their rates, all within {percent:.2f} %")
    if held and free:
        medians = sorted(q["latency_ns"]["p50"] for q in free)
        typical, slowest = format_time_ns(medians[len(medians) // 2]), format_time_ns(medians[-1])
        spread = f"{typical}, at most {slowest}" if typical != slowest else typical
        who = free[0]["name"] if len(free) == 1 else f"{len(free):,} {of_all}"
        found.append(f"Others   {who} passed by: median latency {spread}")
    if closed:
        found.append(f"Closed   the gate of {', '.join(closed[:3])}{' and others' if len(closed) > 3 else ''}")
    return found


def rows(result: dict[str, Any], most: int) -> list[dict[str, Any]]:
    """Return the rows of the table: all queues in order of id where they fit; otherwise the named groups, or without those the busiest."""
    queues = result["queues"]
    if by_group(result, most):
        return [{**group, "subscriber": None, "measured_rate_bps": group["mean_rate_bps"]} for group in result["groups"]]
    if len(queues) > most + 1:  # the line that says "and 1 more" may as well be that one
        queues = sorted(queues, key=lambda q: -q["in_bytes"])[:most]
    return list(queues)


def by_group(result: dict[str, Any], most: int) -> bool:
    """Tell whether the table shows groups of queues: there are some, and too many queues for `most` rows."""
    return bool(result.get("groups")) and result["queues_with_traffic"] > most + 1


def table(result: dict[str, Any], most: int, short: bool) -> Table:
    """Return the table of queues or of groups of them; `short`: the columns that fit a terminal."""
    shown, grouped = rows(result, most), by_group(result, most)
    owned = not short and any(queue["subscriber"] for queue in shown)  # groups of queues, and devices without a hierarchy, have none
    first = "group of queues" if grouped and short else "queue"
    heads = [first, *(["subscriber"] if owned else []), "configured", "measured", *([] if short else ["in"]), "out", "dropped"]
    heads += ["median", "p99"] if short else ["median", "p99", "slowest"]
    lines = []
    for queue in shown:
        latency, measured = queue["latency_ns"], queue["measured_rate_bps"]
        counts = ["out_packets", "drop_packets"] if short else ["in_packets", "out_packets", "drop_packets"]
        times = ["p50", "p99"] if short else ["p50", "p99", "max"]
        lines.append((
            queue["name"],
            *([queue["subscriber"] or ""] if owned else []),
            rate_text(queue["configured_rate_bps"], "unshaped"),
            rate_text(measured) if measured else "-",
            *(f"{queue[key]:,}" for key in counts),
            *(format_time_ns(latency[key]) if latency["count"] else "-" for key in times),
        ))  # fmt: skip
    left = 0 if grouped else result["queues_with_traffic"] - len(shown)
    return Table("Queues", _note(result, most), tuple(heads), lines, 1 + owned, f"and {left:,} more queues" if left else "")


def _note(result: dict[str, Any], most: int) -> str:
    if by_group(result, most):
        return (
            "Groups of queues. Rates count frame bytes; the measured rate is that of one queue of the group on average, over the whole run."
        )
    shown, total = min(len(result["queues"]), most), result["queues_with_traffic"]
    which = f"All {total:,} with traffic." if shown == total else f"The {shown:,} busiest of {total:,} with traffic."
    return which + " Rates count frame bytes; the measured rate of a backlogged queue is taken while it was backlogged."


def rate_text(bps: float | None, none: str = "-") -> str:
    """Return a rate, or `none`."""
    return none if bps is None else "closed" if bps == 0 else format_rate(bps)
