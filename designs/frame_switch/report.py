"""What summary and report say of a frame switch: how full the outputs were, and the table of outputs by class."""

from typing import Any

from penstock.basics.units import format_rate, format_time_ns
from penstock.designs.design import Table

DROP_WORDS = {
    "lost_in_switch": "lost in the switch (no room)",
    "bad_frame": "marked as bad",
    "oversize": "too long",
    "bad_queue_id": "without a destination",
}


def sentences(result: dict[str, Any]) -> list[str]:
    """Return how full the outputs' lines were while traffic came, and how classes fared."""
    by_port: dict[int, float] = {}
    for row in result["outputs"]:
        if row["line_share"] is not None:  # None: the run ended before `report.after`
            by_port[row["output"]] = by_port.get(row["output"], 0.0) + row["line_share"]
    found = []
    if by_port:
        full, least = max(by_port.values()), min(by_port.values())
        shares = f"{100 * least:.1f} %" if full - least < 0.0005 else f"{100 * least:.1f} to {100 * full:.1f} %"
        found.append(f"Outputs  {len(by_port)} used, their lines were {shares} full while traffic came")
    return found


def table(result: dict[str, Any], most: int, short: bool) -> Table:
    """Return the table of outputs by class; `short`: the columns that fit a terminal."""
    heads = ["output", "class", "line", "rate", *([] if short else ["in"]), "out", "lost", "median", "p99", *([] if short else ["slowest"])]
    rows = []
    for row in result["outputs"][:most]:
        latency = row["latency_ns"]
        times = [format_time_ns(latency[key]) if latency["count"] else "-" for key in (["p50", "p99"] if short else ["p50", "p99", "max"])]
        rows.append((
            str(row["output"]),
            str(row["traffic_class"]),
            "-" if row["line_share"] is None else f"{100 * row['line_share']:.1f} %",
            "-" if row["throughput_bps"] is None else format_rate(row["throughput_bps"]),
            *([] if short else [f"{row['in_packets']:,}"]),
            f"{row['out_packets']:,}",
            f"{row['drop_packets']:,}",
            *times,
        ))  # fmt: skip
    left = len(result["outputs"]) - len(rows)
    line = "Line: share of the output's line, with what a frame costs there, while traffic came."
    note = f"By class. {line} A frame counts at each of its outputs."
    return Table("Outputs", note, tuple(heads), rows, 1, f"and {left:,} more in the report" if left else "")
