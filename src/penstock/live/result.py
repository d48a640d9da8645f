"""What a live run says beside what every run says; docs/live.md describes every key."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from penstock.basics.units import PS_PER_SECOND, format_time_ns
from penstock.engine.result import Departures, binned
from penstock.engine.run import Prepared

BEHIND_NS = 5_000_000  # further behind, at one look at the clock in a hundred, is worth a remark


def own(found: dict[str, Any], raw: dict[str, Any], run: Prepared, told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what is in `result.json` of a live run; `found`: as of every run, `told`: what the applications tell."""
    wire, clock = raw["wire"], run.config.clock_hz
    seconds = min(int(raw["cycles"]) / clock, run.described.duration / PS_PER_SECOND)
    names = [end.name for end in run.network.ends]
    queues = [_queue(run, number, counts, clock) for number, counts in wire["queues"].items()]
    bottlenecks = _outputs(found, raw, run, seconds) or _bottlenecks(queues, raw, run, seconds)
    first = max(bottlenecks, key=lambda row: row["carried_bps"] / row["bottleneck_bps"], default=None)
    behind, late = binned(wire["behind_ns"], 1e-6), binned(wire["late_ns"], 1e-6)
    notes = list(run.plan.notes)
    if (kept := len(raw["latency_cycles"])) < raw["packets"]["out"]:
        notes.append(f"Only {kept:,} of the {raw['packets']['out']:,} frames that left were kept one by one.")
    if wire["stops"]:
        stood = format_time_ns(wire["stood_still_ns"])
        slack = format_time_ns(run.network.slack / 1000)
        times = f"{wire['stops']:,} times it was {slack} behind, and the device stood still for {stood} in all"
        ran = int(raw["cycles"]) / clock
        took = format_time_ns(ran * 1e9 + wire["stood_still_ns"])
        notes.append(f"The engine did not keep real time: {times}; {format_time_ns(ran * 1e9)} took {took}.")
    elif behind["count"] and behind["p99"] * 1e6 > BEHIND_NS:
        notes.append(f"The device was behind real time by more than {behind['p99']:.1f} ms in one of a hundred looks.")
    if wire["unplugged"] is not None:
        at = format_time_ns(int(raw["cycles"]) / clock * 1e9)
        notes.append(f"The interface of {names[wire['unplugged']]} was gone, or down, after {at}; the run ended there.")
    notes += [f"{one['name']}: {one['error']}" for one in told if one.get("error")]
    flows = [{"application": one["name"], "kind": one["kind"], **flow} for one in told for flow in one.get("flows", [])]
    device_flows = {"device_flows": found["flows"]} if "flows" in found else {}
    return {
        **found,
        **device_flows,
        "interrupted": found["interrupted"] or wire["unplugged"] is not None,
        "notes": notes,
        "carried_bps": first["carried_bps"] if first else 0.0,
        "bottleneck_bps": first["bottleneck_bps"] if first else None,
        "bottlenecks": bottlenecks,
        "flows": flows,
        "sojourn_ms": {queue["name"]: queue.pop("sojourn_ms") for queue in queues},
        "live_queues": queues,
        "behind_real_time_ms": behind,
        "let_go_late_ms": late,
        "stood_still_ms": round(wire["stood_still_ns"] / 1e6, 3),
        "fell_behind": wire["fell_behind"],
        "unplugged": None if wire["unplugged"] is None else names[wire["unplugged"]],
        "hosts": [{"name": name, **counts} for name, counts in zip(names, wire["ends"], strict=True)],
        "applications": [{key: value for key, value in one.items() if key != "flows"} for one in told],
    }


def _queue(run: Prepared, number: int, counts: dict[str, Any], clock: int) -> dict[str, Any]:
    known = run.design.live_queue(run.config, run.plan, number)
    amounts = {f"{word}_{part}": int(counts[key][part]) for word, key in (("in", "in"), ("out", "out"), ("drop", "dropped"))
               for part in ("packets", "bytes")}  # fmt: skip
    return {
        "queue": number,
        "name": known.name,
        "bottleneck": known.bottleneck,
        "bottleneck_bps": known.bottleneck_bps,
        **amounts,
        "marked_packets": int(counts["marked"]),
        "sojourn_ms": binned(counts["sojourn_cycles"], 1e3 / clock),
    }


def _points(run: Prepared, seconds: float) -> tuple[int, float]:
    """Return how many intervals of the series are within the time that traffic came, and how long these are in seconds."""
    points = int(seconds * run.config.clock_hz // run.plan.job["interval_cycles"])
    return points, points * run.plan.job["interval_cycles"] / run.config.clock_hz if points else seconds


def _outputs(found: dict[str, Any], raw: dict[str, Any], run: Prepared, seconds: float) -> list[dict[str, Any]]:
    """Return the lines of a device with several outputs, by what they carried; by the series where not all frames were kept."""
    lines = run.plan.job["egress_bps"]
    points, length = _points(run, seconds)
    carried = np.asarray(raw["series"]["outputs"]["bytes"])[:points].sum(axis=0) if "outputs" in raw["series"] else None
    whole = all(output["throughput_bps"] is not None for output in found.get("outputs", []))
    rows: dict[int, dict[str, Any]] = {}
    for output in found.get("outputs", []):
        number = output["output"]
        row = rows.setdefault(number, {"name": f"output {number}", "bottleneck_bps": lines[number], "queues": [], "carried_bps": 0.0})
        row["carried_bps"] = round(row["carried_bps"] + (output["throughput_bps"] or 0.0), 3)
        if not whole and carried is not None and length:
            row["carried_bps"] = round(8 * int(carried[number]) / length, 3)
    return list(rows.values())


def _bottlenecks(queues: Sequence[dict[str, Any]], raw: dict[str, Any], run: Prepared, seconds: float) -> list[dict[str, Any]]:
    """Return what holds the queues back, with what it carried while traffic came: frame bytes, without what a frame costs on a line."""
    out = np.asarray(raw["series"]["bytes"]) if run.plan.job.get("series_queues") else None
    series = list(run.plan.job.get("series_queues", []))
    points, length = _points(run, seconds)
    rows: dict[str, dict[str, Any]] = {}
    for queue in queues:
        if not queue["bottleneck"]:
            continue
        row = rows.setdefault(
            queue["bottleneck"], {"name": queue["bottleneck"], "bottleneck_bps": queue["bottleneck_bps"], "queues": [], "bytes": 0}
        )
        row["queues"].append(queue["name"])
        # By the series what left within the time; a queue without one has all that left.
        inside = queue["queue"] in series and out is not None and points > 0
        row["bytes"] += int(out[:points, series.index(queue["queue"])].sum()) if inside and out is not None else queue["out_bytes"]
    for row in rows.values():
        row["carried_bps"] = round(8 * row.pop("bytes") / length, 3) if length else 0.0
    return list(rows.values())


def write_departures(path: Path, raw: dict[str, Any], clock: int) -> None:
    """Write each frame that left, as far as they are kept one by one: arrays `time_s` (its first bit), `queue`, `length`, `sojourn_ms`."""
    left = Departures.of(raw)
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            time_s=left.cycle / clock,
            queue=left.queue,
            length=left.length,
            sojourn_ms=(left.latency * (1e3 / clock)).astype(np.float32),
        )
