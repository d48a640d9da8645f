"""What a run of a P4 device says beyond what every run says: outputs, queues by priority, flows, copies, and all that over time."""

from typing import Any

import numpy as np

from penstock.designs.p4_switch.config import Config
from penstock.designs.p4_switch.job import SwitchPlan
from penstock.engine.result import Departures, binned, distribution, measured_of, measured_out, rates_over_time

SHOWN_OVER_TIME = 16  # queues with points of their own in the result: those that most packets left


def own(raw: dict[str, Any], config: Config, plan: SwitchPlan) -> dict[str, Any]:
    """Return the keys of a P4 device; docs/scenario-p4-device.md describes them."""
    measured = raw["p4"]
    left = Departures.of(raw)
    return {
        "program": plan.program.name,
        "egress_drops": config.egress_drops,
        "clock_start_us": plan.clock_start_us,
        "measured_from_cycle": plan.after,
        "copies": {key: int(measured[key]) for key in ("multicast_copies", "clones", "recirculated")},
        "outputs": [_output(raw, left, plan, port) for port in range(config.ports)],
        "queues": [_queue(queue, plan) for queue in measured["queues"]],
        "flows": _flows(raw, left, plan),
        "over_time": _over_time(raw, plan),
    }


def _output(raw: dict[str, Any], left: Departures, plan: SwitchPlan, port: int) -> dict[str, Any]:
    """Return what left by an output, in all and while traffic came."""
    counts = raw["p4"]["outputs"][port]
    end = min(plan.end, int(raw["cycles"]))
    span = end - plan.after
    mine = left.only(outputs_of(raw, left) == port)
    # The device counts what it sends when that begins, the measurement when it has come out: at the end of a warm-up these differ.
    whole = len(left.cycle) == measured_out(raw, "packets") or len(mine.cycle) == counts["measured_packets"]
    mine, is_known = mine if whole else mine.if_all(-1), whole and span > 0
    window = (mine.cycle >= plan.after) & (mine.cycle < end)
    size, frames = int(mine.length[window].sum()), int(window.sum())

    def rate(count: int) -> float:
        return 8 * count * plan.config.clock_hz / span

    line = plan.job["egress_bps"][port]
    on_line = size + plan.job["overhead_bytes"] * frames
    return {
        "output": port,
        "port_number": plan.port_numbers[port],
        "line_bps": line,
        "out_packets": int(counts["packets"]),
        "out_bytes": int(counts["bytes"]),
        "throughput_bps": round(rate(size), 3) if is_known else None,
        "line_share": round(rate(on_line) / line, 6) if is_known else None,
        "lost_ns": round(float(counts["lost_cycles"]) * 1e9 / plan.config.clock_hz, 3),
        "latency_ns": distribution(mine.latency, 1e9 / plan.config.clock_hz),
    }


def outputs_of(raw: dict[str, Any], left: Departures) -> Any:
    """Return the output by which each frame left."""
    return np.asarray(raw["departures"]["output"]) if "output" in raw["departures"] else np.zeros(len(left.cycle), dtype=np.int64)


def _queue(queue: dict[str, Any], plan: SwitchPlan) -> dict[str, Any]:
    amounts = {name: queue[name] for name in ("in", "full", "egress", "recirculated", "sent")}
    return {
        "output": int(queue["output"]),
        "priority": int(queue["priority"]),
        **{f"{name}_{what}": int(amount[what]) for name, amount in amounts.items() for what in ("packets", "bytes")},
        "most_packets": int(queue["most_packets"]),
        "most_bytes": int(queue["most_bytes"]),
        "sojourn_ns": binned(queue["waits"], 1e9 / plan.config.clock_hz),
    }


def _flows(raw: dict[str, Any], left: Departures, plan: SwitchPlan) -> list[dict[str, Any]]:
    """Return what became of the frames of each flow, and of the copies that the program made, by output."""
    ports, counts, drops = plan.config.ports, raw["queue"], raw["p4"]["drops"]
    copies = [{"name": f"{kind} to output {port}", "input": None} for kind in ("multicast copies", "clones") for port in range(ports)]
    found = []
    order = np.argsort(left.queue, kind="stable")
    ends = np.searchsorted(left.queue[order], np.arange(len(plan.names) + len(copies) + 1))
    for number, name in enumerate([*plan.names, *copies]):
        row = {f"{part}_{what}": int(counts[f"{part}_{what}"][number]) for part in ("in", "out", "drop") for what in ("packets", "bytes")}
        if name["input"] is None and not row["in_packets"]:
            continue
        latency = left.only(order[ends[number] : ends[number + 1]]).if_all(int(measured_of(raw)[number])).latency
        dropped = {reason: int(of["packets"][number]) for reason, of in drops.items() if of["packets"][number]}
        found.append({**name, **row, "dropped": dropped, "latency_ns": distribution(latency, 1e9 / plan.config.clock_hz)})
    return found


def _over_time(raw: dict[str, Any], plan: SwitchPlan) -> dict[str, Any]:
    """Return what happened at the busiest queues in each interval: how long what left had waited, throughput, drops."""
    scale, interval = 1e9 / plan.config.clock_hz, int(plan.job["interval_cycles"])
    points = max(1, -(-int(raw["cycles"]) // interval))
    busiest = sorted(raw["p4"]["queues"], key=lambda queue: -queue["in"]["packets"])[:SHOWN_OVER_TIME]
    seconds = interval / plan.config.clock_hz
    rows = []
    for queue in sorted(busiest, key=lambda queue: (queue["output"], queue["priority"])):
        of = {key: np.zeros(points, dtype=np.int64) for key in queue["points"]}
        for key, values in queue["points"].items():
            of[key][: len(values)] = np.asarray(values, dtype=np.int64)[:points]
        some = of["packets"] > 0
        mean = [
            round(float(total) / count * scale, 1) if count else None for total, count in zip(of["wait_sum"], of["packets"], strict=True)
        ]
        highest = [round(float(value) * scale, 1) if yes else None for value, yes in zip(of["wait_max"], some, strict=True)]
        rows.append({
            "output": int(queue["output"]),
            "priority": int(queue["priority"]),
            "sojourn_mean_ns": mean,
            "sojourn_max_ns": highest,
            "throughput_bps": [round(rate) for rate in rates_over_time(of["sent_bytes"], seconds, int(raw["cycles"]) / interval).tolist()],
            "full_packets": of["full"].tolist(),
            "egress_packets": of["egress"].tolist(),
        })  # fmt: skip
    return {"interval_ns": round(interval * scale, 3), "queues": rows}
