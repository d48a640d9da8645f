"""What summary and report say of a P4 device: outputs and queues, how long packets waited and when, what was dropped and where."""

from typing import Any

from penstock.basics.units import format_rate, format_time_ns
from penstock.designs.design import Curve, Plot, Table

DROP_WORDS = {
    "ingress_program": "dropped by the program in ingress",
    "egress_program": "dropped by the program in egress",
    "tail_drop_packets": "queue full (packets)",
    "tail_drop_bytes": "queue full (bytes)",
    "no_output": "sent to no output that there is",
    "resubmits": "resubmitted without end",
    "oversize": "too long",
    "bad_frame": "marked as bad",
}
CURVES = 6  # queues with a curve of their own


def _queue(row: dict[str, Any], result: dict[str, Any]) -> str:
    """Return the name of a queue: its priority is said where the output has several that were used."""
    several = sum(other["output"] == row["output"] for other in result["queues"]) > 1
    return f"output {row['output']}" + (f", priority {row['priority']}" if several else "")


def sentences(result: dict[str, Any]) -> list[str]:
    """Return which program ran, how full the busiest output was and how long packets waited for it."""
    found = [
        f"Program  {result['program']}, drops in egress {'cost time on the link' if result['egress_drops'] == 'charged' else 'are free'}"
    ]
    used = [row for row in result["outputs"] if row["out_packets"]]
    outputs = []
    if used and (busiest := max(used, key=lambda row: row["line_share"] or 0.0))["line_share"] is not None:
        outputs.append(f"{len(used)} used; output {busiest['output']} was {100 * busiest['line_share']:.1f} % full while traffic came")
    # Also of outputs by which nothing left: all was dropped there, or recirculated.
    if lost := sum(row["lost_ns"] for row in result["outputs"]):
        outputs.append(f"drops in egress and recirculation took {format_time_ns(lost)} of links")
    if outputs:
        found.append(f"Outputs  {'; '.join(outputs)}")
    if waited := [row for row in result["queues"] if row["sojourn_ns"]["count"]]:
        most = max(waited, key=lambda row: row["sojourn_ns"]["p50"])
        times = ", ".join(f"{word} {format_time_ns(most['sojourn_ns'][key])}" for word, key in (("median", "p50"), ("p99", "p99")))
        found.append(f"Queueing {times} at {_queue(most, result)}")
    if any(result["copies"].values()):
        copies = {"multicast_copies": "copies of multicasts", "clones": "clones", "recirculated": "recirculated packets"}
        found.append(
            "Copies   " + ", ".join(f"{result['copies'][key]:,} {words}" for key, words in copies.items() if result["copies"][key])
        )
    return found


def table(result: dict[str, Any], most: int, short: bool) -> Table:
    """Return the table of queues; `short`: the columns that fit a terminal."""
    heads = [
        "queue",
        *([] if short else ["in"]),
        "sent",
        "rate",
        "full",
        "egress",
        "median",
        "p99",
        *([] if short else ["longest", "most"]),
    ]
    rows = []
    rates = {row["output"]: row["throughput_bps"] for row in result["outputs"]}
    for row in result["queues"][:most]:
        waited = row["sojourn_ns"]
        alone = sum(other["output"] == row["output"] for other in result["queues"]) == 1
        times = [format_time_ns(waited[key]) if waited["count"] else "-" for key in ("p50", "p99", *([] if short else ["max"]))]
        rows.append((
            _queue(row, result),
            *([] if short else [f"{row['in_packets']:,}"]),
            f"{row['sent_packets']:,}",
            format_rate(rates[row["output"]]) if alone and rates[row["output"]] is not None else "-",
            f"{row['full_packets']:,}",
            f"{row['egress_packets']:,}",
            *times,
            *([] if short else [f"{row['most_packets']:,}"]),
        ))  # fmt: skip
    left = len(result["queues"]) - len(rows)
    note = "Packets: dropped at the full queue, dropped behind it by the program's egress; how long those waited that were taken from it."
    return Table("Queues", note, tuple(heads), rows, 1, f"and {left:,} more in the report" if left else "")


def plots(result: dict[str, Any]) -> list[Plot]:
    """Return the pictures of the report: queueing delay, throughput and drops over time."""
    measured = result["over_time"]
    rows = sorted(measured["queues"], key=lambda row: -sum(value or 0 for value in row["throughput_bps"]))[:CURVES]
    if not rows:
        return []
    interval = measured["interval_ns"] / 1e9
    times = tuple(round((point + 0.5) * interval, 9) for point in range(len(rows[0]["full_packets"])))
    each = format_time_ns(measured["interval_ns"])

    def seconds(values: list[float | None]) -> tuple[float | None, ...]:
        return tuple(None if value is None else value / 1e9 for value in values)

    waits = [Curve(f"{_queue(row, result)}, mean", seconds(row["sojourn_mean_ns"]), "line") for row in rows]
    waits += [Curve(f"{_queue(row, result)}, longest", seconds(row["sojourn_max_ns"]), "points") for row in rows[:2]]
    found = [Plot("Queueing delay", f"Of the packets that were taken from their queue in each {each}.", times, "time", waits)]
    lines = {row["output"]: row["line_bps"] for row in result["outputs"]}
    shares = [Curve(_queue(row, result), tuple(value / lines[row["output"]] for value in row["throughput_bps"]), "line") for row in rows]
    found.append(
        Plot(
            "Throughput",
            f"Bytes sent in each {each}, without what packets cost on the line besides, as a share of it.",
            times,
            "share",
            shares,
        )
    )
    if len(waited := [row for row in result["queues"] if row["sojourn_ns"]["count"]]) > 1:
        names = tuple(_queue(row, result) for row in waited)
        spread = [
            Curve(words, tuple(row["sojourn_ns"][key] / 1e9 for row in waited), "points")
            for words, key in (("median", "p50"), ("99 %", "p99"), ("longest", "max"))
        ]
        found.append(Plot("Queueing delay by queue", "Of all packets that were taken from it.", names, "time", spread))
    drops = [
        Curve(f"{_queue(row, result)}: {words}", tuple(row[key]), "stack")
        for row in rows
        for key, words in (("full_packets", "queue full"), ("egress_packets", "egress"))
        if any(row[key])
    ]
    if drops:
        found.append(Plot("Drops at the queues", f"Packets in each {each}.", times, "count", drops))
    return found
