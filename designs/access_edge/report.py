"""What summary and report say of an access edge: what shaping did, where it is congested, and the tables of queues and levels."""

from fractions import Fraction
from math import ceil
from typing import Any

from penstock.basics.units import format_rate, format_time_ns
from penstock.designs.access_edge.registers import DROP_WORDS
from penstock.designs.design import Table
from penstock.reports.queues import mean_packets, measured_seconds, utilisation

LEVELS = {"ports": "Ports", "nodes": "Nodes", "subscribers": "Subscribers"}
BACKLOGGED = 0.5  # share of its time: such a queue was held to its rate
PRESSED = 0.1  # share of its time: such a queue waited for more than chance
NEAR = Fraction(95, 100)  # of its rate: so full a queue does not pass by
MORE = Fraction(11, 10)  # of a subscriber's rate: its queues' measured rates add up to as much only if they send at different times
CONGESTED = 0.2  # share of the run: what was congested for less is in the tables, and not spoken of


def sentences(result: dict[str, Any]) -> list[str]:
    """Return what shaping did, a line each: which queues were held to their rate, how the others fared, which gates were closed."""
    backlogged = [q for q in result["queues"] if q["configured_rate_bps"] and q["backlogged_share"] >= BACKLOGGED]
    held = [q for q in backlogged if q["out_packets"] >= 10]
    free = [q for q in result["queues"] if q["latency_ns"]["count"] and passes_by(q)]
    listed = result["queues_listed"]
    of_all = (
        "queues" if listed == result["queues_with_traffic"] else f"of the {listed:,} busiest queues"
    )  # of the others nothing is known here
    found = []
    if 0 < len(held) <= 3:
        found.append("Shaped   " + ", ".join(f"{q['name']} was held to {format_rate(q['measured_rate_bps'])}" for q in held))
    elif held:
        steady = [q for q in held if not q.get("rate_changes")]
        within = ""
        if len(steady) == len(held):
            error = max(abs(Fraction(q["measured_rate_bps"]) / q["configured_rate_bps"] - 1) for q in held)
            percent_off = max(1, ceil(error * 10_000)) / 100  # rounded up: all are within it
            within = f", all within {percent_off:.2f} %"
        found.append(f"Shaped   {len(held):,} {of_all} were held to their rates{within}")
    congested = [line for kind in LEVELS if (line := _congested(result, kind))]
    found += congested
    if (held or congested) and free:
        medians = sorted(q["latency_ns"]["p50"] for q in free)
        least, largest = format_time_ns(medians[0]), format_time_ns(medians[-1])
        half = f"medians {least} to {largest}" if least != largest else f"half within {least}"
        most = format_time_ns(max(q["latency_ns"]["p99"] for q in free))
        who = free[0]["name"] if len(free) == 1 else f"{len(free):,} {of_all}"
        found.append(f"Others   {who} passed by: {half}, 99 % within {most}")
    return found + _fairness(result) + _takes_turns(result) + _losers(result) + _gates(result)


def passes_by(queue: dict[str, Any]) -> bool:
    """Tell whether a queue is neither pressed against its rate, nor held by what is above it, nor loses anything."""
    rate = queue["configured_rate_bps"]
    near = bool(rate) and (queue.get("average_rate_bps") or 0) >= NEAR * rate
    return queue["backlogged_share"] < PRESSED and not near and not queue.get("drop_packets") and rate != 0


def _congested(result: dict[str, Any], kind: str) -> str:
    """Return which of a level were congested, since when, and at whose cost; nothing where none was."""
    rows = [row for row in result.get(kind, []) if row.get("congested_share", 0) >= CONGESTED]
    if not rows:
        return ""
    rows.sort(key=lambda row: -row["congested_s"])
    worst = rows[0]
    held = f"held to {format_rate(worst['congested_rate_bps'])}, " if worst.get("congested_rate_bps") else ""
    words = f"{worst['name']}, {held}{congested_text(worst)}"
    if lost := sum(worst["packets"]["dropped"].values()):
        words += f"; {lost:,} packets dropped" + (f", most of {worst['dropped_most']['name']}" if worst["dropped_most"] else "")
    if len(rows) == 1:
        return f"Full     {words}"
    return f"Full     {len(rows):,} {kind}, longest {words}"


def congested_text(row: dict[str, Any]) -> str:
    """Return how long something was congested, and from when: `98.2 % of the time from 12.6 ms on`."""
    return f"congested {percent(row['congested_share'])} of the time from {format_time_ns(row['congested_from_s'] * 1e9)} on"


def percent(share: float) -> str:
    """Return a share in percent, rounded down: 100 % is all."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{int(share * 1000) / 10:.1f} %"


def _takes_turns(result: dict[str, Any]) -> list[str]:
    """Return which subscribers have queues whose measured rates, each of the time in which it sent, add up to more than their own."""
    per = (result.get("device", {}).get("hierarchy") or {}).get("queues_per_subscriber", 1)
    sums: dict[int, list[dict[str, Any]]] = {}
    for queue in result["queues"]:
        sums.setdefault(queue["id"] // per, []).append(queue)
    found = []
    for row in result.get("subscribers", []):
        of = [queue for queue in sums.get(row["id"], []) if queue["measured_rate_bps"]]
        together, rate = sum(queue["measured_rate_bps"] for queue in of), row["configured_rate_bps"]
        if len(of) > 1 and rate and not row["rate_changes"] and together > MORE * rate:
            found.append(
                (together, rate, ", ".join(queue["name"] for queue in of[:3]) + (" and others" if len(of) > 3 else ""), row["name"])
            )
    if not found:
        return []
    together, rate, names, who = max(found)
    more = f"; so do those of {len(found) - 1:,} more subscribers" if len(found) > 1 else ""
    return [
        f"Turns    {names} sent at different times: their measured rates, each of its own time, add up to {format_rate(together)} of the "
        f"{format_rate(rate)} of {who}{more}"
    ]


def _losers(result: dict[str, Any]) -> list[str]:
    """Return whose packets were dropped."""
    losers = sorted((q for q in result["queues"] if q.get("drop_packets")), key=lambda q: -q["drop_packets"])
    if not losers:
        return []
    words = ", ".join(f"{q['name']} ({q['drop_packets']:,})" for q in losers[:3])
    return [f"Losers   {words}{f', and {len(losers) - 3:,} more queues' if len(losers) > 3 else ''}"]


def _gates(result: dict[str, Any]) -> list[str]:
    """Return whose gates were closed, and from when to when."""
    ends, found = result["device_seconds"], []
    rows = [*result["queues"], *(row for kind in LEVELS for row in result.get(kind, []))]
    for row in rows:
        if row["configured_rate_bps"] != 0 and all(rate != 0 for _, rate in row.get("rate_changes", [])):
            continue
        steps = [(0.0, row["configured_rate_bps"]), *map(tuple, row.get("rate_changes", []))]
        spans = [(at, until) for (at, rate), (until, _) in zip(steps, [*steps[1:], (ends, None)], strict=True) if rate == 0 and until > at]
        if spans:
            found.append((row["name"], spans))
    if not found:
        return []

    def when(spans: list[tuple[float, float]]) -> str:
        if spans == [(0.0, ends)]:
            return ""
        words = []
        for at, until in spans[:2]:
            opened = f"until {format_time_ns(until * 1e9)}" if until < ends else ""
            words.append(" ".join(part for part in (f"from {format_time_ns(at * 1e9)}" if at else "", opened or "on") if part))
        return f" ({' and '.join(words)}{' and again' if len(spans) > 2 else ''})"

    words = ", ".join(f"{name}{when(spans)}" for name, spans in found[:3])
    return [f"Closed   the gate of {words}{' and others' if len(found) > 3 else ''}"]


def rows(result: dict[str, Any], most: int) -> list[dict[str, Any]]:
    """Return the rows of the table: all queues in order of id where they fit; otherwise those of no group and the named groups, or without
    groups the busiest."""
    queues = result["queues"]
    if by_group(result, most):
        alone = sorted(of_no_group(result), key=lambda q: -q["in_bytes"])[: max(0, most - len(result["groups"]))]
        return [*sorted(alone, key=lambda q: q["id"]), *(group_row(group) for group in result["groups"])]
    if len(queues) > most + 1:  # the line that says "and 1 more" may as well be that one
        queues = sorted(queues, key=lambda q: -q["in_bytes"])[:most]
    return list(queues)


def of_no_group(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the queues that belong to no named group."""
    groups = [group["name"] for group in result["groups"]]
    return [queue for queue in result["queues"] if queue["name"] not in {f"{group} {queue['id']}" for group in groups}]


def group_row(group: dict[str, Any]) -> dict[str, Any]:
    """Return a group as a row of the table of queues."""
    return {**group, "subscriber": None, "measured_rate_bps": group["mean_rate_bps"]}


def by_group(result: dict[str, Any], most: int) -> bool:
    """Tell whether the table shows groups of queues: there are some, and too many queues for `most` rows."""
    return bool(result.get("groups")) and result["queues_with_traffic"] > most + 1


def table(result: dict[str, Any], most: int, short: bool) -> Table:
    """Return the table of queues or of groups of them; `short`: the columns that fit a terminal."""
    shown, grouped = rows(result, most), by_group(result, most)
    left = len(of_no_group(result)) + len(result["groups"]) - len(shown) if grouped else result["queues_with_traffic"] - len(shown)
    alone = grouped and len(shown) > len(result["groups"])
    first = "queue or group" if alone and short else "group of queues" if grouped and short else "queue"
    return Table("Queues", _note(result, most), *_queue_cells(shown, first, short), f"and {left:,} more queues" if left else "")


def says_something(result: dict[str, Any], kind: str) -> bool:
    """Tell whether a level is worth its room: it has several members, or one with a rate."""
    rows = [row for row in result.get(kind, []) if "congested_s" in row]  # older results know no congestion
    return len(rows) > 1 or any(row["configured_rate_bps"] is not None or row["rate_changes"] for row in rows)


def tables(result: dict[str, Any], most: int) -> list[Table]:
    """Return the tables of the report: the levels from the top down, the named groups, the queues."""
    found = [_level(result, kind, most) for kind in LEVELS if says_something(result, kind)]
    if result.get("groups"):
        note = "Rates count frame bytes; the measured rate is that of one queue of the group on average, while packets came for the group."
        found.append(Table("Groups of queues", note, *_queue_cells([group_row(group) for group in result["groups"]], "group"), ""))
    found += flow_tables(result, most)
    queues = sorted(sorted(result["queues"], key=lambda q: -q["in_bytes"])[:most], key=lambda q: q["id"])
    left = result["queues_with_traffic"] - len(queues)
    total = result["queues_with_traffic"]
    which = f"The {len(queues):,} busiest of {total:,} with traffic." if left else f"All {len(queues):,} with traffic."
    found.append(Table("Queues", f"{which} {RATES}", *_queue_cells(queues, "queue", seconds=measured_seconds(result)), ""))
    return found


def flow_tables(result: dict[str, Any], most: int) -> list[Table]:
    """Return how alike the flows of each queue were served, and the flows."""
    flows = result.get("flow_shares")
    if not flows or not flows["queues"]:
        return []
    heads = ("queue", "fattest flow", "flows", "sparse", "its share", "Jain's index", "sparse: lost", "median", "p99", "slowest")
    lines: list[tuple[str, ...]] = []
    for row in sorted(flows["queues"], key=lambda row: -row["out_bytes"])[:most]:
        share, index = row["fattest_share"], row["jain"]
        lines.append((
            row["name"],
            row["fattest"],
            f"{row['flows']:,}",
            f"{row['sparse_flows']:,}",
            "-" if share is None else percent(share),
            "-" if index is None else f"{index:.4f}",
            f"{row['sparse_drop_packets']:,}" if row["sparse_flows"] else "-",
            *_times(row["sparse_latency_ns"]),
        ))  # fmt: skip
    which = f"{flows['number']:,} flows in {_so_many_queues(flows)}"
    note = f"{which}. A flow with less than a tenth of the fattest one's bytes is sparse; Jain's index is that of the others' bytes."
    of_queues = Table("Flows by queue", note, heads, lines, 2)
    lines = []
    for row in sorted(flows["list"], key=lambda row: -row["out_bytes"])[:most]:
        counts = (f"{row[key]:,}" for key in ("out_packets", "drop_packets", "marked_packets"))
        lines.append((row["name"], f"{row['queue']:,}", rate_text(row["rate_bps"]), *counts, *_times(row["latency_ns"])))
    names = ("flow", "queue", "rate", "out", "dropped", "marked", "median", "p99", "slowest")
    left = flows["number"] - len(lines)
    note = (
        "The busiest. Rates are from a flow's first frame to its last one."
        if left
        else "Rates are from a flow's first frame to its last one."
    )
    return [of_queues, Table("Flows", note, names, lines, 1, f"and {left:,} more flows" if left else "")]


def _times(latency: dict[str, Any]) -> tuple[str, ...]:
    return tuple(format_time_ns(latency[key]) if latency["count"] else "-" for key in ("p50", "p99", "max"))


def _so_many_queues(flows: dict[str, Any]) -> str:
    return "one queue" if flows["queues_with_flows"] == 1 else f"{flows['queues_with_flows']:,} queues"


def _fairness(result: dict[str, Any]) -> list[str]:
    """Return how alike flows were served."""
    flows = result.get("flow_shares")
    if not flows or flows["number"] <= flows["queues_with_flows"]:
        return []
    words = f"{flows['number']:,} in {_so_many_queues(flows)}"
    if flows["jain_least"] is not None:
        words += f"; Jain's index of the busy ones of a queue {flows['jain_least']:.3f} at least"
    waited = [row["sparse_latency_ns"]["p99"] for row in flows["queues"] if row["sparse_latency_ns"]["count"]]
    if waited:
        words += f"; 99 % of the sparse ones' frames within {format_time_ns(max(waited))}"
    return [f"Flows    {words}"]


def _queue_cells(
    shown: list[dict[str, Any]], first: str, short: bool = False, seconds: float = 0.0
) -> tuple[tuple[str, ...], list[tuple[str, ...]], int]:
    """Return heads, rows, and how many columns are words; `seconds`: that were measured, where lengths and use are shown."""
    owned = not short and any(queue["subscriber"] for queue in shown)  # groups of queues, and devices without a hierarchy, have none
    marks = not short and any(queue.get("marked_packets") for queue in shown)
    guaranteed = any(guarantee_text(queue) != "-" for queue in shown)
    heads = [
        first,
        *(["subscriber"] if owned else []),
        "configured",
        *(["guaranteed"] if guaranteed else []),
        "measured",
        *([] if short else ["in"]),
        "out",
        "dropped",
    ]
    heads += ["marked"] if marks else []
    heads += ["median", "p99"] if short else ["median", "p99", "slowest"]
    used = seconds > 0 and any(queue["configured_rate_bps"] for queue in shown)
    heads += (["of its rate"] if used else []) + (["packets, mean"] if seconds > 0 else [])
    lines = []
    for queue in shown:
        latency, measured = queue["latency_ns"], queue["measured_rate_bps"]
        counts = ["out_packets", "drop_packets"] if short else ["in_packets", "out_packets", "drop_packets"]
        times = ["p50", "p99"] if short else ["p50", "p99", "max"]
        lines.append((
            queue["name"],
            *([queue["subscriber"] or ""] if owned else []),
            configured_text(queue),
            *([guarantee_text(queue)] if guaranteed else []),
            rate_text(measured) if measured else "-",
            *(f"{queue[key]:,}" for key in counts),
            *([f"{queue.get('marked_packets', 0):,}"] if marks else []),
            *(format_time_ns(latency[key]) if latency["count"] else "-" for key in times),
            *([_share(utilisation(queue))] if used else []),
            *([_length(mean_packets(queue, seconds))] if seconds > 0 else []),
        ))  # fmt: skip
    return tuple(heads), lines, 1 + owned


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _length(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def _level(result: dict[str, Any], kind: str, most: int) -> Table:
    """Return the table of a level."""
    shown = sorted(sorted(result[kind], key=lambda row: -row["bytes"]["in"])[:most], key=lambda row: row["id"])
    reasons = sorted({reason for row in shown for reason in row["packets"]["dropped"]})
    marks = any(row.get("marked_packets") for row in shown)
    above = {"subscribers": ("node",), "nodes": ("port",), "ports": ()}[kind]
    guaranteed = any(guarantee_text(row) != "-" for row in shown)
    heads = [
        kind[:-1],
        *above,
        "configured",
        *(["guaranteed"] if guaranteed else []),
        "offered",
        "carried",
        "of its rate",
        "congested",
        "since",
        "until",
        "held to",
    ]
    heads += ["median", "p99", "dropped", "most of", *(["marked"] if marks else [])]
    heads += [DROP_WORDS.get(reason, reason.replace("_", " ")) for reason in reasons] if len(reasons) > 1 else []
    lines = []
    for row in shown:
        latency, rate = row["latency_ns"], row["configured_rate_bps"]
        congested, whole = row["congested_s"] > 0, bool(rate) and not row["rate_changes"]
        lines.append((
            row["name"],
            *(f"{row[key]:,}" for key in above),
            configured_text(row),
            *([guarantee_text(row)] if guaranteed else []),
            rate_text(row["offered_rate_bps"]),
            rate_text(row["carried_rate_bps"]) if row["carried_rate_bps"] else "-",
            f"{100 * (row['carried_rate_bps'] or 0) / rate:.1f} %" if whole else "-",
            *((percent(row["congested_share"]), *(format_time_ns(row[f"congested_{key}_s"] * 1e9) for key in ("from", "until")))
              if congested else ("-", "-", "-")),
            rate_text(row.get("congested_rate_bps")) if congested else "-",
            *(format_time_ns(latency[key]) if latency and latency["count"] else "-" for key in ("p50", "p99")),
            f"{sum(row['packets']['dropped'].values()):,}",
            row["dropped_most"]["name"] if row["dropped_most"] else "-",
            *([f"{row.get('marked_packets', 0):,}"] if marks else []),
            *(f"{row['packets']['dropped'].get(reason, 0):,}" for reason in (reasons if len(reasons) > 1 else [])),
        ))  # fmt: skip
    which = f"All {len(shown):,} with traffic." if len(shown) == len(result[kind]) else f"The {len(shown):,} busiest."
    note = f"{which} Offered and carried: while packets came. {CONGESTION}"
    return Table(LEVELS[kind], note, tuple(heads), lines, 1)


RATES = "Rates count frame bytes; the measured rate of a backlogged queue is taken while it was backlogged."
CONGESTION = "Congested: packets waited below it while it carried its whole rate; held to: what it carried then."


def _note(result: dict[str, Any], most: int) -> str:
    if by_group(result, most):
        return (
            "Groups of queues. Rates count frame bytes; the measured rate is that of one queue of the group on average, while packets came "
            "for the group."
        )
    shown, total = min(len(result["queues"]), most), result["queues_with_traffic"]
    which = f"All {total:,} with traffic." if shown == total else f"The {shown:,} busiest of {total:,} with traffic."
    return f"{which} {RATES}"


def configured_text(row: dict[str, Any]) -> str:
    """Return the configured rate, with what becomes of it: `closed, then 5 Mbit/s`."""
    first = rate_text(row["configured_rate_bps"], "unshaped") + (" on average" if row.get("drawn") else "")
    return _in_turn(first, [rate_text(rate, "unshaped") for _, rate in row.get("rate_changes", [])])


def guarantee_text(row: dict[str, Any]) -> str:
    """Return the guaranteed rate, with what becomes of it; "-": there is none."""
    first, *later = (
        rate_text(bps or None, "none") for bps in (row.get("guaranteed_rate_bps"), *(b for _, b in row.get("guarantee_changes", [])))
    )
    words = _in_turn(first, later)
    return "-" if words == "none" else words


def _in_turn(first: str, later: list[str]) -> str:
    words = [first]
    for word in later:
        words += [word] if word != words[-1] else []
    return f"{words[0]}, then {words[1]}{' and others' if len(words) > 2 else ''}" if len(words) > 1 else words[0]


def rate_text(bps: float | None, none: str = "-") -> str:
    """Return a rate, or `none`."""
    return none if bps is None else "closed" if bps == 0 else format_rate(bps)


def rate_steps(result: dict[str, Any], kind: str) -> dict[int, list[list[Any]]]:
    """Return what becomes of the rates of queues, or of those of a level, by id: seconds and bit/s, None: unshaped."""
    return {row["id"]: row["rate_changes"] for row in result.get(kind, []) if row.get("rate_changes")}


def guarantee_steps(result: dict[str, Any], kind: str) -> dict[int, list[list[Any]]]:
    """Return the guaranteed rates of queues, or of those of a level, by id, where there are any: since when (seconds), and bit/s."""
    found = {}
    for row in result.get(kind, []):
        steps = [[0.0, row.get("guaranteed_rate_bps", 0)], *row.get("guarantee_changes", [])]
        if any(bps for _, bps in steps):
            found[row["id"]] = steps
    return found
