"""What summary and report say of a deadline port: what was missed, and each class's delay against its deadline."""

from typing import Any

from penstock.basics.units import format_time_ns
from penstock.designs.deadline_port import registers
from penstock.designs.design import Curve, Plot, Table

DROP_WORDS = registers.drop_words() | {"missed": "missed their deadlines"}
LEAST_SHARE = 1e-5  # that is said as a number
SHOWN_OVER_TIME = 8  # classes with a curve of their own; of more the others are one


def _percent(share: float | None) -> str:
    """Return a share in per cent; what is not nothing does not look like nothing."""
    if share is None:
        return "-"
    if 0 < share < LEAST_SHARE:
        return f"< {100 * LEAST_SHARE:g} %"
    return "0 %" if not share else f"{100 * share:.3f} %" if share < 0.0095 else f"{100 * share:.1f} %"


def sentences(result: dict[str, Any]) -> list[str]:
    """Return what was missed, beside the exact EDFR, and what left too late."""
    found = []
    if result["missed_share"] is not None and result["discipline"] == "edfr":
        ideal = result.get("exact_missed_share")
        beside = "" if ideal is None else f"; an exact EDFR with endless memory would have missed {_percent(ideal)}"
        found.append(f"Missed   {_percent(result['missed_share'])} of the packets missed their deadlines{beside}")
    late, out = sum(row["late_packets"] for row in result["classes"]), result["packets"]["out"]
    if late:
        found.append(f"Late     {late:,} packets ({_percent(late / out)} of those that left) left after the deadlines of their classes")
    elif out:
        found.append("Late     no packet left after its deadline")
    return found


def table(result: dict[str, Any], most: int, short: bool) -> Table:
    """Return the table of classes; `short`: the columns that fit a terminal."""
    fifo, classes = result["discipline"] == "fifo", [row for row in result["classes"] if row["in_packets"]]
    exact = any("exact" in row for row in classes)
    dscp = any(row["dscp"] for row in classes) and not short
    slack = not short and not fifo and any("least_slack_ns" in row for row in classes)
    heads = ["class", *(["DSCP"] if dscp else []), "deadline", "in", "out", "missed", *(["exact EDFR"] if exact else [])]
    heads += [
        "no memory",
        *(["too late"] if fifo else []),
        "median",
        "p99",
        *([] if short else ["slowest"]),
        *(["least slack"] if slack else []),
    ]
    rows = []
    for row in classes[:most]:
        latency = row["latency_ns"]
        times = [format_time_ns(latency[key]) if latency["count"] else "-" for key in (["p50", "p99"] if short else ["p50", "p99", "max"])]
        least = row.get("least_slack_ns")
        rows.append((
            row["name"],
            *([ranges(row["dscp"])] if dscp else []),
            format_time_ns(row["deadline_ns"]) + (" *" if "deadline_changes" in row else ""),
            f"{row['in_packets']:,}",
            f"{row['out_packets']:,}",
            _percent(row["missed_share"]),
            *([_percent(row["exact"]["missed_share"]) if "exact" in row else "-"] if exact else []),
            f"{row['no_page_packets']:,}",
            *([f"{row['late_packets']:,}"] if fifo else []),
            *times,
            *(["-" if least is None else format_time_ns(least)] if slack else []),
        ))  # fmt: skip
    parts = ["Share missed of the packets that came"]
    if exact:
        parts[0] += ", beside an exact EDFR with endless memory on the same arrivals"
    parts.append("delays from the last bit in to the first bit out")
    if any("deadline_changes" in row for row in classes):
        parts.append("*: the deadline at the beginning, it changed")
    left = len(classes) - len(rows)
    return Table(
        "Classes", "; ".join(parts) + ".", tuple(heads), rows, 2 if dscp else 1, f"and {left:,} more in the report" if left else ""
    )


def ranges(codes: list[int]) -> str:
    """Return DSCPs as a user writes them, `46, 8-15`."""
    parts: list[list[int]] = []
    for code in codes:
        if parts and code == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], code]
        else:
            parts.append([code])
    return ", ".join("-".join(map(str, part)) for part in parts)


def plots(result: dict[str, Any]) -> list[Plot]:
    """Return the pictures of the report: delays against deadlines, shares missed, and what was missed over time."""
    classes = [row for row in result["classes"] if row["in_packets"]]
    if not classes:
        return []
    names = tuple(row["name"] for row in classes)

    def delays(key: str) -> tuple[float | None, ...]:
        return tuple(None if row["latency_ns"][key] is None else row["latency_ns"][key] / 1e9 for row in classes)

    curves = [Curve(words, delays(key), "points") for words, key in (("median", "p50"), ("99 %", "p99"), ("slowest", "max"))]
    curves.append(Curve("deadline", tuple(row["deadline_ns"] / 1e9 for row in classes), "limit"))
    if any("deadline_changes" in row for row in classes):
        last = tuple(row["deadline_changes"][-1]["deadline_ns"] / 1e9 if "deadline_changes" in row else None for row in classes)
        curves = [*curves[:-1], Curve("deadline at first", curves[-1].values, "limit"), Curve("later", last, "limit")]
    words = "From the last bit in to the first bit out, which may wait for a packet on the line when the device has let go in time."
    found = [Plot("Delay against the deadline", words, names, "time", curves)]
    own = "missed" if result["discipline"] == "edfr" else "left too late"
    key = "missed_packets" if result["discipline"] == "edfr" else "late_packets"
    bars = [Curve(own, tuple(row[key] / row["in_packets"] for row in classes), "bars")]
    no_memory = tuple(row["no_page_packets"] / row["in_packets"] for row in classes)
    if any(no_memory):
        bars.append(Curve("no memory", no_memory, "bars"))
    note = "Share of the packets that came"
    if any("exact" in row for row in classes):
        bars.append(Curve("exact EDFR", tuple(row["exact"]["missed_share"] if "exact" in row else None for row in classes), "bars"))
        note += "; beside it what an exact EDFR with endless memory misses on the same arrivals"
    found.append(Plot("Missed deadlines", f"{note}.", names, "share", bars))
    if "missed" in result and any(map(any, result["missed"]["packets"])):
        found.append(_over_time(result))
    return found


def _over_time(result: dict[str, Any]) -> Plot:
    interval, counts = result["missed"]["interval_ns"] / 1e9, result["missed"]["packets"]
    times = tuple(round((point + 0.5) * interval, 9) for point in range(len(counts[0])))
    most = sorted(range(len(counts)), key=lambda number: -sum(counts[number]))
    most = [number for number in most if any(counts[number])]
    own = sorted(most if len(most) <= SHOWN_OVER_TIME else most[: SHOWN_OVER_TIME - 1])
    curves = [Curve(result["classes"][number]["name"], tuple(counts[number]), "stack") for number in own]
    if rest := [number for number in most if number not in own]:
        together = tuple(sum(counts[number][point] for number in rest) for point in range(len(times)))
        curves.append(Curve(f"{len(rest)} other classes", together, "stack"))
    note = f"Packets in each {format_time_ns(result['missed']['interval_ns'])}, by class."
    return Plot("Missed deadlines over time", note, times, "count", curves)
