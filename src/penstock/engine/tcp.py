"""What a run says of its TCP connections: key `tcp` of result.json, and the arrays of their curves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.design import Plan

COUNTERS = (
    "delivered_bytes", "duplicate_bytes", "segments", "retransmits", "recoveries", "timeouts", "ecn_reductions", "probes", "received",
    "marked", "dropped", "lost", "unreadable",
)  # fmt: skip


def own(raw: dict[str, Any], plan: Plan, clock_hz: int) -> dict[str, Any]:
    """Return key `tcp` of result.json; nothing where there are no connections."""
    if "tcp" not in raw:
        return {}
    table = {key: np.asarray(value) for key, value in raw["tcp"].items() if key != "series"}
    stops = [source["stop_cycle"] for source in plan.job["sources"] if source["kind"] == "tcp" for _ in source["queues"]]
    delivered, begun = table["measured_bytes"], int(raw.get("measured", {}).get("from_cycle", 0))  # behind the warm-up
    total = int(delivered.sum())
    flows = []
    for number, (known, stop) in enumerate(zip(plan.flows, stops, strict=True)):
        start, finished = int(table["start"][number]), int(table["finished"][number])
        end = finished if finished >= 0 else min(stop, int(raw["cycles"]))
        seconds = (end - max(start, begun)) / clock_hz
        flows.append({
            **known,
            "start_s": start / clock_hz,
            "finished_s": finished / clock_hz if finished >= 0 else None,
            "goodput_bps": round(8 * int(delivered[number]) / seconds, 3) if seconds > 0 else None,
            "share": round(int(delivered[number]) / total, 6) if total else None,
            **{key: int(table[key][number]) for key in COUNTERS},
        })  # fmt: skip
    goodputs = np.array([flow["goodput_bps"] or 0.0 for flow in flows])
    squares = float((goodputs**2).sum())
    return {
        "tcp": {
            "goodput_bps": round(float(goodputs.sum()), 3),
            "fairness": round(float(goodputs.sum()) ** 2 / len(goodputs) / squares, 6) if squares else None,
            "retransmits": int(table["retransmits"].sum()),
            "timeouts": int(table["timeouts"].sum()),
            "flows": flows,
        }
    }


def series(raw: dict[str, Any], plan: Plan, clock_hz: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of series.npz that connections have; [interval][flow]."""
    if "tcp" not in raw or "series" not in raw["tcp"]:
        return {}
    rows = raw["tcp"]["series"]
    count = np.asarray(rows["cwnd"]).shape[1]
    return {
        "tcp_names": np.array([flow["name"] for flow in plan.flows[:count]], dtype=str),
        "tcp_cwnd": np.asarray(rows["cwnd"]),
        "tcp_flight": np.asarray(rows["flight"]),
        "tcp_srtt_ns": np.asarray(rows["srtt"]) * 1e9 / clock_hz,
        "tcp_delivered_bytes": np.asarray(rows["delivered_bytes"]),
    }
