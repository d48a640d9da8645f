"""What a run on simple_switch has measured (`bmv2.json`), and the same figures of the P4 device beside them.

Delays are from the moment in which a frame goes to the switch, its last bit, to that in which it comes out of it, by one clock; the time
that simple_switch and the kernel take for it is in them.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock import __version__
from penstock.basics.units import format_rate, format_time_ns
from penstock.engine.result import distribution, rates_over_time

SCHEMA = "penstock.bmv2/1"
MOST_ROWS = 8  # connections and counters that are shown one by one


def of(run: Any, made: Mapping[str, Any], raw: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], version: str) -> dict[str, Any]:
    """Return what is in `bmv2.json`."""
    planned, job = run.plan, made["job"]
    begin, end = int(raw["begin_ns"]), int(raw["end_ns"])
    after = begin + int(job["after_ns"])
    went, came = arrays["in_ns"], arrays["out_ns"]
    back = came >= 0
    delay = (came - went)[back]
    left = {
        "ns": np.concatenate([came[back], arrays["copy_out_ns"]]),
        "delay": np.concatenate([delay, arrays["copy_out_ns"] - arrays["copy_in_ns"]]),
        "output": np.concatenate([arrays["output"][back], arrays["copy_output"]]),
        "length": np.concatenate([arrays["out_length"][back], arrays["copy_length"]]).astype(np.int64),
    }
    seconds = (end - begin) / 1e9
    queues = made["queues"]
    notes = list(made["notes"])
    if raw["too_many"]:
        notes.append("The run ended early: more frames came than it takes.")
    if troubles := trouble(raw):
        notes.append(f"This machine lost frames beside the switch: {troubles}; the figures of this run are those of its load, too.")
    return {
        "schema": SCHEMA,
        "penstock": __version__,
        "name": run.name,
        "description": run.described.description,
        "simple_switch": version,
        "program": planned.program.name,
        "seed": run.described.seed,
        "seconds": seconds,
        "measured_from_s": job["after_ns"] / 1e9,
        "queues": [_queue(queue) for queue in queues],
        "packets": {
            "in": len(went),
            "out": int(back.sum()),
            "missing": int((~back).sum()),
            "copies": len(arrays["copy_in_ns"]),
            "unknown": int(raw["unknown"]),
        },
        "bytes": {"in": int(arrays["length"].sum()), "out": int(left["length"].sum())},
        "outputs": [_output(queue, left, after, end) for queue in queues],
        "flows": _flows(planned, arrays, after),
        **_tcp(planned, raw, job, begin, end),
        "counters": raw["counters"],
        "over_time": _over_time(planned, left, begin, end),
        "delay_line": {
            "late_ns": distribution(arrays["late_ns"]),
            **{key: int(raw[key]) for key in ("lost_at_lines", "same", "others", "send_failures", "host_failures")},
        },
        "switch_cpu_share": round(float(raw["switch_cpu_seconds"]) / seconds, 3) if seconds else None,
        "notes": notes,
        "scenario": run.document.data,
    }


def trouble(raw: Mapping[str, Any]) -> str:
    """Return what was lost outside the switch, in words; nothing as it should be."""
    words = {
        "lost_at_lines": "that came out of the switch, and no room",
        "send_failures": "that the kernel took not for the switch",
        "host_failures": "that it took not for a host",
    }
    return ", ".join(f"{raw[key]:,} {text}" for key, text in words.items() if raw[key])


def _queue(queue: Any) -> dict[str, Any]:
    return {
        "output": queue.output,
        "port_number": queue.port_number,
        "line_bps": queue.line_bps,
        "packet_bytes": queue.packet_bytes,
        "packets_per_second": queue.packets_per_second,
        "as_bps": round(queue.bps, 3),
        "packets": queue.packets,
    }


def _output(queue: Any, left: Mapping[str, NDArray[Any]], after: int, end: int) -> dict[str, Any]:
    mine = left["output"] == queue.output
    window = mine & (left["ns"] >= after) & (left["ns"] < end)
    size, frames, span = int(left["length"][window].sum()), int(window.sum()), (end - after) / 1e9
    return {
        "output": queue.output,
        "port_number": queue.port_number,
        "line_bps": queue.line_bps,
        "out_packets": int(mine.sum()),
        "out_bytes": int(left["length"][mine].sum()),
        "throughput_bps": round(8 * size / span, 3),
        "line_share": round(8 * (size + queue.overhead_bytes * frames) / span / queue.line_bps, 6),
        "latency_ns": distribution(left["delay"][mine & (left["ns"] >= after)]),
    }


def _flows(planned: Any, arrays: Mapping[str, NDArray[Any]], after: int) -> list[dict[str, Any]]:
    found = []
    back, measured = arrays["out_ns"] >= 0, arrays["out_ns"] >= after
    for number, name in enumerate(planned.names):
        mine = arrays["flow"] == number
        out = mine & back
        found.append({
            **name,
            "in_packets": int(mine.sum()),
            "in_bytes": int(arrays["length"][mine].sum()),
            "out_packets": int(out.sum()),
            "out_bytes": int(arrays["out_length"][out].sum()),
            "missing_packets": int((mine & ~back).sum()),
            "latency_ns": distribution((arrays["out_ns"] - arrays["in_ns"])[out & measured]),
        })  # fmt: skip
    return found


def _tcp(planned: Any, raw: Mapping[str, Any], job: Mapping[str, Any], begin: int, end: int) -> dict[str, Any]:
    """Return key `tcp`: of each connection what it has delivered, and what the kernel says of it."""
    if not raw["flows"]:
        return {}
    measured = [flow["delivered_bytes"] - flow["delivered_before_bytes"] for flow in raw["flows"]]  # behind the warm-up
    total = sum(measured)
    found = []
    for known, told, given, size in zip(planned.flows, raw["flows"], job["connections"], measured, strict=True):
        stop = told["finished_ns"] or min(given["stop_ns"], end - begin)
        seconds = (stop - max(given["start_ns"], int(job["after_ns"]))) / 1e9
        trips = np.asarray(told["round_trips_us"], dtype=np.float64) * 1000
        found.append({
            **known,
            "start_s": given["start_ns"] / 1e9,
            "finished_s": None if told["finished_ns"] is None else told["finished_ns"] / 1e9,
            "connected": told["connected_ns"] is not None,
            "goodput_bps": round(8 * size / seconds, 3) if seconds > 0 else None,
            "share": round(size / total, 6) if total else None,
            "delivered_bytes": told["delivered_bytes"],
            "retransmits": told.get("retransmits", 0),
            "smoothed_rtt_ns": distribution(trips),
            "least_rtt_ns": 1000 * told["min_rtt_us"] if told.get("min_rtt_us") else None,
            "error": told["error"],
        })  # fmt: skip
    goodputs = np.array([flow["goodput_bps"] or 0.0 for flow in found])
    squares = float((goodputs**2).sum())
    return {
        "tcp": {
            "goodput_bps": round(float(goodputs.sum()), 3),
            "fairness": round(float(goodputs.sum()) ** 2 / len(goodputs) / squares, 6) if squares else None,
            "retransmits": sum(flow["retransmits"] for flow in found),
            "flows": found,
        }
    }


def _over_time(planned: Any, left: Mapping[str, NDArray[Any]], begin: int, end: int) -> dict[str, Any]:
    """Return delay and throughput of the outputs that were used, by interval of the scenario's report."""
    interval = planned.job["interval_cycles"] * 1e9 / planned.config.clock_hz
    length = round((end - begin) / interval, 9)  # of the run, in intervals; what comes after it, while the switch runs empty, is in none
    points = max(1, math.ceil(length))
    place = ((left["ns"] - begin) // interval).astype(np.int64)
    rows = []
    for output in np.unique(left["output"]).tolist():
        mine = (left["output"] == output) & (place < points) & (left["ns"] < end)
        where, delays = place[mine], left["delay"][mine]
        count = np.bincount(where, minlength=points)
        total = np.bincount(where, weights=delays, minlength=points)
        size = np.bincount(where, weights=left["length"][mine], minlength=points)
        longest = np.zeros(points)
        np.maximum.at(longest, where, delays)
        rows.append({
            "output": output,
            "latency_mean_ns": [round(float(all_) / n, 1) if n else None for all_, n in zip(total, count, strict=True)],
            "latency_max_ns": [round(float(value), 1) if n else None for value, n in zip(longest, count, strict=True)],
            "throughput_bps": [round(rate) for rate in rates_over_time(size, interval / 1e9, length).tolist()],
        })  # fmt: skip
    return {"interval_ns": round(interval, 3), "outputs": rows}


Row = tuple[str, float | None, float | None, str]  # what it is, on bmv2, on the P4 device, kind of value


def rows(bmv2: Mapping[str, Any], device: Mapping[str, Any] | None) -> list[Row]:
    """Return the figures side by side; `device`: `result.json` of the same scenario, None: there is none."""
    there: Mapping[str, Any] = device or {}
    found: list[Row] = []
    if "tcp" in bmv2:
        other = there.get("tcp", {"goodput_bps": None, "fairness": None, "retransmits": None, "flows": []})
        found.append(("goodput of all connections", bmv2["tcp"]["goodput_bps"], other["goodput_bps"], "rate"))
        if len(bmv2["tcp"]["flows"]) > 1:
            of_name = {flow["name"]: flow["goodput_bps"] for flow in other["flows"]}
            shown = bmv2["tcp"]["flows"][:MOST_ROWS]
            found += [(f"goodput of {flow['name']}", flow["goodput_bps"], of_name.get(flow["name"]), "rate") for flow in shown]
            found.append(("fairness (Jain)", bmv2["tcp"]["fairness"], other["fairness"], "number"))
        found.append(("segments sent again", bmv2["tcp"]["retransmits"], other["retransmits"], "count"))
    outputs = {row["output"]: row for row in there.get("outputs", [])}
    for row in bmv2["outputs"]:
        if not row["out_packets"]:
            continue
        name, other_row = f"output {row['output']}", outputs.get(row["output"], {})
        found.append((f"{name}: throughput", row["throughput_bps"], other_row.get("throughput_bps"), "rate"))
        found.append((f"{name}: share of its line", row["line_share"], other_row.get("line_share"), "share"))
        waits = other_row.get("latency_ns", {})
        for key, words in (("min", "least"), ("mean", "mean"), ("p50", "median"), ("p99", "99 %"), ("max", "longest")):
            found.append((f"{name}: delay, {words}", row["latency_ns"][key], waits.get(key), "time"))
    packets = there.get("packets")
    found.append(("packets that came", bmv2["packets"]["in"], packets["in"] if packets else None, "count"))
    lost = _share(bmv2["packets"]["missing"], bmv2["packets"]["in"])
    found.append(("share that was dropped", lost, _share(sum(packets["dropped"].values()), packets["in"]) if packets else None, "share"))
    return found


def compared(bmv2: Mapping[str, Any], device: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the same as objects: {`figure`, `bmv2`, `device`, `ratio` (bmv2 / device)}, times in ns, rates in bit/s."""
    return [
        {"figure": name, "bmv2": here, "device": there, "ratio": round(here / there, 6) if here is not None and there else None}
        for name, here, there, _ in rows(bmv2, device)
    ]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def lines(bmv2: Mapping[str, Any], device: Mapping[str, Any] | None) -> list[str]:
    """Return the figures for people."""
    found = [f"{bmv2['name']}: done  simple_switch {bmv2['simple_switch']}, {bmv2['program']}, {bmv2['seconds']:g} s by the clock"]
    for queue in bmv2["queues"]:
        if not any(row["output"] == queue["output"] and row["out_packets"] for row in bmv2["outputs"]):
            continue
        found.append(
            f"Queue    output {queue['output']}: {queue['packets_per_second']:,} packets/s, which is {format_rate(queue['as_bps'])} "
            f"(its line: {format_rate(queue['line_bps'])}) in packets of {queue['packet_bytes']:,.0f} byte; {queue['packets']:,} "
            f"packets deep"
        )
    late = bmv2["delay_line"]["late_ns"]
    if late["count"]:
        times = ", ".join(f"{words} {format_time_ns(late[key])}" for words, key in (("half", "p50"), ("99 %", "p99"), ("at most", "max")))
        found.append(
            f"Delays   frames were let go late by this machine: {times}; simple_switch took {bmv2['switch_cpu_share']:.0%} of a core"
        )
    if "tcp" in bmv2:
        flows = bmv2["tcp"]["flows"]
        trips = [flow["smoothed_rtt_ns"]["mean"] for flow in flows if flow["smoothed_rtt_ns"]["count"]]
        if trips:
            found.append(f"TCP      the kernel's smoothed round trips: {format_time_ns(sum(trips) / len(trips))} in the mean")
        failed = [f"{flow['name']} ({flow['error'] or 'no connection'})" for flow in flows if flow["error"] or not flow["connected"]]
        if failed:
            found.append(f"TCP      not carried through: {', '.join(failed[:MOST_ROWS])}")
    counted = [
        f"{name}[{cell}] {value['packets']:,}"
        for name, cells in bmv2["counters"].items()
        for cell, value in cells.items()
        if value["packets"]
    ]
    if counted:
        more = f" and {len(counted) - MOST_ROWS:,} more" if len(counted) > MOST_ROWS else ""
        found.append(f"Counters of the program, packets: {', '.join(counted[:MOST_ROWS])}{more}")
    found.append("")
    found += _table(rows(bmv2, device), device is not None)
    return found


def _table(figures: list[Row], both: bool) -> list[str]:
    cells = [("", "bmv2", *(("P4 device", "bmv2 / device") if both else ()))]
    for name, here, there, kind in figures:
        ratio = f"{here / there:.3f}" if here is not None and there else "-"
        cells.append((name, _text(here, kind), *((_text(there, kind), ratio) if both else ())))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([f"{row[0]:<{widths[0]}}", *(f"{text:>{wide}}" for text, wide in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in cells
    ]


def _text(value: float | None, kind: str) -> str:
    if value is None:
        return "-"
    if kind == "rate":
        return format_rate(value)
    if kind == "time":
        return format_time_ns(value)
    if kind == "share":
        return f"{100 * value:.2f} %"
    return f"{value:,.0f}" if kind == "count" else f"{value:.3f}"
