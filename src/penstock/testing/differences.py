"""What is compared of two runs of the same job on two engines."""

from typing import Any

import numpy as np

TOTALS = (
    "init_cycles",
    "cycles",
    "packets",
    "marked_packets",
    "bytes",
    "drained",
    "order_errors",
    "payload_errors",
    "event_errors",
    "lost",
)


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return in words where two results differ: totals, drops, every departure with its cycle, and latencies."""
    found = [f"{key}: {one.get(key)} and {other.get(key)}" for key in TOTALS if one.get(key) != other.get(key)]
    columns = {key: (one["departures"][key], other["departures"][key]) for key in ("cycle", "queue", "length")}
    columns["latency"] = (one["latency_cycles"], other["latency_cycles"])
    for key, (a, b) in columns.items():
        count = min(len(a), len(b))
        differ = np.flatnonzero(np.asarray(a[:count]) != np.asarray(b[:count]))
        if differ.size:
            found.append(f"departure {differ[0]}: {key} is {a[differ[0]]} and {b[differ[0]]}")
        elif len(a) != len(b):
            found.append(f"{len(a)} and {len(b)} departures")
    for key, column in one["queue"].items():
        differ = np.flatnonzero(np.asarray(column) != np.asarray(other["queue"][key]))
        if differ.size:
            found.append(f"queue {differ[0]}: {key} is {column[differ[0]]} and {other['queue'][key][differ[0]]}")
    return found
