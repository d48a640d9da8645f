"""Flows in `result.json`: what each flow of a queue sent, lost and waited, and how alike the flows of a queue were served.

A flow is what the hash of flow queues tells apart (blocks/fq/README.md): addresses, protocol and ports. They are measured in front of and
behind the device, so a device without flow queues has them, too.
"""

import ipaddress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge.config import Config
from penstock.engine.result import distribution

MOST = 1 << 18  # flows of a run that are told apart
LISTED = 200  # in the result, those that sent the most bytes; and of queues with flows
SPARSE = 0.1  # of the bytes of its queue's fattest flow: who sent less is sparse
PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 50: "ESP", 58: "ICMPv6", 132: "SCTP"}
WITH_PORTS = (6, 17, 132)


def in_job(asked: bool | None, config: Config) -> dict[str, Any]:
    """Return key `flows` of a job, where flows are measured: if a scenario says so, or where there are flow queues."""
    measured = config.flows is not None if asked is None else asked
    return {"flows": {"most": MOST}} if measured else {}


def rows(raw: dict[str, Any], clock_hz: int, name_of: Any) -> dict[str, Any]:
    """Return key `flow_shares` of a result, {} where they were not measured; `name_of(queue)`: its name."""
    if "flows" not in raw:
        return {}
    table = raw["flows"]
    queues = np.asarray(table["queue"])
    order = np.argsort(queues, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.asarray(table["kept"]))])
    edges = np.flatnonzero(np.diff(queues[order], prepend=-1))
    per_queue = []
    for low, high in zip(edges.tolist(), [*edges[1:].tolist(), len(order)], strict=True):
        per_queue.append(_queue(table, order[low:high], begins, clock_hz, name_of))
    measured = np.asarray(table["measured_bytes"])
    busiest = np.sort(np.argsort(-measured, kind="stable")[:LISTED])
    sparse = {flow for row in per_queue for flow in row.pop("sparse_ids")}
    indices = [row["jain"] for row in per_queue if row["jain"] is not None]
    found: dict[str, Any] = {
        "number": len(queues),
        "not_told_apart_packets": int(table["others"]),
        "queues_with_flows": len(per_queue),
        "jain_least": min(indices, default=None),
        "jain_mean": round(sum(indices) / len(indices), 6) if indices else None,
    }
    shown = sorted(per_queue, key=lambda row: -row["out_bytes"])[:LISTED]
    found["queues"] = sorted(shown, key=lambda row: row["id"])
    found["list"] = [
        {**_flow(table, flow, begins, clock_hz), "queue": int(queues[flow]), "sparse": flow in sparse} for flow in busiest.tolist()
    ]
    return {"flow_shares": found}


def jain(shares: NDArray[np.float64]) -> float | None:
    """Return Jain's index of shares; None of fewer than two."""
    squares = float((shares**2).sum())
    return round(float(shares.sum()) ** 2 / (len(shares) * squares), 6) if len(shares) > 1 and squares else None


def _queue(table: dict[str, Any], flows: NDArray[np.int64], begins: NDArray[np.int64], clock_hz: int, name_of: Any) -> dict[str, Any]:
    sent = np.asarray(table["measured_bytes"])[flows].astype(np.float64)
    fattest = int(flows[int(sent.argmax())])
    bulk = sent >= SPARSE * max(1.0, sent.max())
    sparse = flows[~bulk]
    kept = np.asarray(table["latency"])
    waited = [kept[begins[flow] : begins[flow + 1]] for flow in sparse.tolist()]
    queue = int(np.asarray(table["queue"])[fattest])
    return {
        "id": queue,
        "name": name_of(queue),
        "flows": len(flows),
        "sparse_flows": len(sparse),
        "out_bytes": int(np.asarray(table["out_bytes"])[flows].sum()),
        "fattest": name(table, fattest),
        "fattest_share": round(float(sent.max() / sent.sum()), 6) if sent.sum() else None,
        "jain": jain(sent[bulk]),
        "sparse_drop_packets": int(np.asarray(table["drop_packets"])[sparse].sum()),
        "sparse_latency_ns": distribution(np.concatenate(waited) if waited else np.zeros(0), 1e9 / clock_hz),
        "sparse_ids": sparse.tolist(),
    }


def _flow(table: dict[str, Any], flow: int, begins: NDArray[np.int64], clock_hz: int) -> dict[str, Any]:
    counters = ("in_packets", "out_packets", "out_bytes", "drop_packets", "marked_packets")
    first, last = (int(np.asarray(table[key])[flow]) for key in ("first_departure", "last_departure"))
    rate = 8 * clock_hz * int(np.asarray(table["measured_bytes"])[flow]) / (last - first) if last > first else None
    return {
        "name": name(table, flow),
        **{key: int(np.asarray(table[key])[flow]) for key in counters},
        "rate_bps": None if rate is None else round(rate, 3),
        "latency_ns": distribution(np.asarray(table["latency"])[begins[flow] : begins[flow + 1]], 1e9 / clock_hz),
    }


def name(table: dict[str, Any], flow: int) -> str:
    """Return what a flow is called: `10.0.0.1:5001 > 10.1.0.2:443 TCP`."""
    ip, protocol, ports = (int(np.asarray(table[key])[flow]) for key in ("ip", "protocol", "ports"))
    if ip == 0:
        return f"EtherType 0x{int(np.asarray(table['ethertype'])[flow]):04X}"
    both = bytes(np.asarray(table["addresses"])[flow])
    ends = [ipaddress.ip_address(half[12:] if ip == 4 else half) for half in (both[:16], both[16:])]
    word = PROTOCOLS.get(protocol, f"protocol {protocol}")
    if protocol not in WITH_PORTS:
        return f"{ends[0]} > {ends[1]} {word}"
    source, destination = (f"[{end}]" if ip == 6 else str(end) for end in ends)
    return f"{source}:{ports >> 16} > {destination}:{ports & 0xFFFF} {word}"
