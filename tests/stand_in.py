# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A stand-in for the engine and small captures, so that the workbench is tested without building a device."""

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.designs.access_edge import registers

PASS_CYCLES = 40  # what the stand-in takes for a frame that need not wait


def frame(proto: int = 17, src: str = "10.0.0.1", dst: str = "10.0.0.2", sport: int = 1000, dport: int = 2000, size: int = 100) -> bytes:
    """Return an Ethernet frame of `size` bytes with IPv4 and ports."""
    addresses = bytes(int(part) for part in (*src.split("."), *dst.split(".")))
    ports = struct.pack(">HH", sport, dport)
    body = ports + (struct.pack(">HH", size - 34, 0) if proto == 17 else struct.pack(">IIBBHHH", 0, 0, 0x50, 0x10, 1000, 0, 0))
    ip = struct.pack(">BBHHHBBH", 0x45, 0, size - 14, 1, 0, 64, proto, 0) + addresses
    return (b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\x00" + ip + body).ljust(size, b"\xaa")


def pcap_bytes(records: list[tuple[int, bytes]], lengths: list[int] | None = None, link_type: int = 1) -> bytes:
    """Return a pcap file with nanosecond time stamps; `records` are (time in ns, bytes), `lengths` the lengths on the line."""
    head = struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, link_type)
    body = b""
    for index, (at, data) in enumerate(records):
        length = lengths[index] if lengths else len(data)
        body += struct.pack("<IIII", at // 10**9, at % 10**9, len(data), length) + data
    return head + body


def simulate(job: dict[str, Any], progress: Callable[[dict[str, Any]], bool] | None = None) -> dict[str, Any]:
    """Do what the engine does, without hardware: every queue is a shaper behind an infinite line. `constant` sources and frames only."""
    clock, queues = job["device"]["clock_hz"], job["device"]["queues"]
    rates, bursts, limits = _settings(job["register_writes"], clock)
    arrivals = sorted(_arrivals(job, clock), key=lambda arrival: arrival[0])
    if progress is not None and not progress({"cycles": job["duration_cycles"] // 2, "phase": "run", "packets_in": len(arrivals) // 2}):
        arrivals, job = arrivals[: len(arrivals) // 2], {**job, "interrupted": True}
    counters = {
        key: np.zeros(queues, dtype=np.int64)
        for key in ("in_packets", "in_bytes", "out_packets", "out_bytes", "drop_packets", "drop_bytes")
    }
    packets: dict[str, Any] = {"in": 0, "out": 0, "queued": 0, "dropped": {}}
    size: dict[str, Any] = {"in": 0, "out": 0, "queued": 0, "dropped": {}}
    left, next_time, waiting = [], {}, {}
    for at, queue, length in arrivals:
        packets["in"] += 1
        size["in"] += length
        held = [t for t in waiting.get(queue, []) if t > at]
        reason = (
            "bad_queue_id"
            if queue >= queues
            else "oversize"
            if length > 1522
            else "tail_drop_packets"
            if len(held) >= limits.get(queue, 65535)
            else None
        )
        if queue < queues:
            counters["in_packets"][queue] += 1
            counters["in_bytes"][queue] += length
        if reason:
            packets["dropped"][reason] = packets["dropped"].get(reason, 0) + 1
            size["dropped"][reason] = size["dropped"].get(reason, 0) + length
            if queue < queues:
                counters["drop_packets"][queue] += 1
                counters["drop_bytes"][queue] += length
            continue
        rate = rates.get(queue)
        due = max(at, next_time.get(queue, 0))
        if rate == 0 or due > job["max_cycles"]:
            packets["queued"] += 1
            size["queued"] += length
            continue
        next_time[queue] = max(next_time.get(queue, 0), due - bursts.get(queue, 0)) + (8 * length * clock / rate if rate else 1)
        waiting[queue] = [*held, due]
        left.append((int(due) + PASS_CYCLES, queue, length, int(due) + PASS_CYCLES - at))
        packets["out"] += 1
        size["out"] += length
        counters["out_packets"][queue] += 1
        counters["out_bytes"][queue] += length
    left.sort()
    columns = np.array(left, dtype=np.int64).reshape(-1, 4)
    cycles = max(job["duration_cycles"], int(columns[:, 0].max(initial=0)))
    return {
        "cycles": cycles,
        "interrupted": job.get("interrupted", False),
        "packets": packets,
        "bytes": size,
        "order_errors": 0,
        "payload_errors": 0,
        "event_errors": 0,
        "lost": 0,
        "counter_mismatches": 0,
        "findings": [],
        "drained": not packets["queued"],
        "memory": [
            {"frames": 0, "write_bursts": 0, "write_beats": 0, "read_bursts": 0, "read_beats": 0, "lost": False}
            for _ in job["device"]["memories"]
        ],
        "conservation_ok": True,
        "latency_cycles": columns[:, 3].astype(np.uint32),
        "latency_queue": columns[:, 1].astype(np.uint32),
        "queue": counters,
        "series": {},
        "wall_seconds": 0.5,
        "init_cycles": 100,
        "departures": {"cycle": columns[:, 0], "queue": columns[:, 1], "length": columns[:, 2]},
    }


def _settings(writes: list[tuple[int, int]], clock: int) -> tuple[dict[int, float | None], dict[int, int], dict[int, int]]:
    """Read the settings of queues back from register writes."""
    names = {registers.address(name): name for name in ("queue_index", "queue_rate", "queue_burst", "queue_limit_packets", "queue_command")}
    now: dict[str, int] = {}
    rates, bursts, limits = {}, {}, {}
    for address, value in writes:
        name = names.get(address)
        now[name or ""] = value
        if name == "queue_command":
            queue = now["queue_index"]
            rates[queue] = registers.code_rate(now["queue_rate"] & 0xFFFF, now["queue_rate"] >> 16, clock)
            bursts[queue], limits[queue] = now["queue_burst"], now["queue_limit_packets"]
    return rates, bursts, limits


def _arrivals(job: dict[str, Any], clock: int) -> list[tuple[int, int, int]]:
    found = []
    for source in job["sources"]:
        if source["kind"] == "frames":
            found += zip(source["cycles"].tolist(), source["queues"].tolist(), source["lengths"].tolist(), strict=True)
            continue
        length = source["sizes"][0][0]
        step = 8 * length * clock / source["bps"]
        for index in range(int((source["stop_cycle"] - source["start_cycle"]) / step)):
            queue = int(source["queues"][index % len(source["queues"])])
            found.append((int(source["start_cycle"] + index * step), queue, length))
    return found
