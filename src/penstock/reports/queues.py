"""What follows from the figures of a queue in a result: its mean length, and how much of its configured rate it has used."""

from collections.abc import Mapping
from typing import Any


def measured_seconds(result: Mapping[str, Any]) -> float:
    """Return how long was measured: without the warm-up."""
    return float(result["device_seconds"]) - float(result.get("measured_from_s", 0))


def mean_packets(row: Mapping[str, Any], seconds: float) -> float | None:
    """Return the mean number of packets in the device, by Little's law over the measured time; None: none left."""
    latency = row["latency_ns"]
    return round(latency["count"] * latency["mean"] / 1e9 / seconds, 6) if latency["count"] and seconds > 0 else None


def utilisation(row: Mapping[str, Any]) -> float | None:
    """Return the mean rate as a share of the configured one; None where it has none."""
    rate, configured = row.get("average_rate_bps"), row["configured_rate_bps"]
    return round(rate / configured, 6) if rate is not None and configured else None
