"""What a run of an access edge says beyond what every run says: its queues, groups of queues, and the levels above them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import find, flow_rows, hierarchy_rows, registers
from penstock.designs.access_edge.config import DEFAULT_TOLERANCE_CYCLES, Config
from penstock.designs.access_edge.hierarchy_rows import changes_until, guarantee
from penstock.designs.access_edge.job import EdgePlan
from penstock.engine.result import Departures, all_kept, binned, distribution, mean_rate, measured_of

MAX_QUEUES_LISTED = 1000
MIN_FRAMES_OF_A_RATE = 10  # a few frames, perhaps one burst, say nothing of a rate
QUEUE_COUNTERS = ("in_packets", "in_bytes", "out_packets", "out_bytes", "drop_packets", "drop_bytes")
AQM_COUNTERS = ("aqm_drop_packets", "marked_packets")  # of each queue, where the configuration has an AQM


def rates(
    left: Departures,
    rate_bps: int | None,
    burst_bytes: int,
    clock_hz: int,
    egress_bps: int,
    idle_latency: int,
    tolerance_cycles: int = DEFAULT_TOLERANCE_CYCLES,
) -> dict[str, Any]:
    """Return the rates of one queue in bit/s, None where they do not exist; docs/result.md defines them.

    `tolerance_cycles`: what its shaper makes up for where the burst is less (docs/hardware.md, "Rates as the hardware sees them").
    """
    none = {"measured_rate_bps": None, "average_rate_bps": None, "backlogged_rate_bps": None, "backlogged_share": 0.0}
    if len(left.cycle) < 2 or left.cycle[-1] == left.cycle[0]:
        return none
    whole = int(left.cycle[-1] - left.cycle[0])
    before = np.concatenate([[0], np.cumsum(left.length)])  # bytes that left before frame i
    average = 8 * clock_hz * float(before[-2]) / whole
    enough = len(left.cycle) >= MIN_FRAMES_OF_A_RATE
    found: dict[str, float | None] = {
        "measured_rate_bps": average if enough else None,
        "average_rate_bps": average,
        "backlogged_rate_bps": None,
        "backlogged_share": 0.0,
    }
    # Frame i+1 was waiting when frame i left: an idle device could have sent it by then.
    waiting = np.diff(left.cycle) + idle_latency <= left.latency[1:]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], waiting, [False]]).astype(np.int8)))
    starts, ends = edges[0::2], edges[1::2]  # frames starts[k]..ends[k] left one after the other without the queue running empty
    found["backlogged_share"] = share = round(float((left.cycle[ends] - left.cycle[starts]).sum()) / whole, 6)
    if rate_bps:
        burst = max(burst_bytes, tolerance_cycles * rate_bps / (8 * clock_hz))
        # The burst leaves at the rate of the line while credit comes in at the queue's own.
        credit = burst / (1 - rate_bps / egress_bps) if rate_bps < 0.99 * egress_bps else 0
        paced = np.minimum(np.searchsorted(before, before[starts] + credit), ends)
        cycles = float((left.cycle[ends] - left.cycle[paced]).sum())
        size = float((before[ends] - before[paced]).sum())
        if cycles:
            found["backlogged_rate_bps"] = 8 * clock_hz * size / cycles
            if enough and share >= 0.5:
                found["measured_rate_bps"] = found["backlogged_rate_bps"]
    return {key: round(value, 3) if key.endswith("_bps") and value is not None else value for key, value in found.items()}


def totals_rates(table: dict[str, Any], queue: int, clock_hz: int) -> dict[str, Any]:
    """Return the rates of a queue whose frames were not kept one by one: its average rate, the last frame taken for one of mean size."""
    packets, size = (int(table.get(f"measured_{what}", table[f"out_{what}"])[queue]) for what in ("packets", "bytes"))
    span = int(table["last_departure"][queue]) - int(table["first_departure"][queue])
    average = round(8 * clock_hz * size * (packets - 1) / packets / span, 3) if packets > 1 and span > 0 else None
    measured = average if packets >= MIN_FRAMES_OF_A_RATE else None
    return {"measured_rate_bps": measured, "average_rate_bps": average, "backlogged_rate_bps": None, "backlogged_share": 0.0}


def own(raw: dict[str, Any], config: Config, plan: EdgePlan) -> dict[str, Any]:
    """Return what `result.json` holds of an access edge besides the keys of every design."""
    plan.notes += [note for note in _lost_memories(raw["memory"], config, plan) if note not in plan.notes]
    queues, with_traffic = _queues(raw, Departures.of(raw), config, plan)
    return {
        **({"marked_packets": int(raw["marked_packets"])} if config.aqm != "none" else {}),
        "groups": _groups(raw, config, plan),
        "queues_with_traffic": with_traffic,
        "queues_listed": len(queues),
        "queues": queues,
        **hierarchy_rows.rows(raw, plan, config.clock_hz),
        **({"headers": _headers(raw["own_counters"], config, plan)} if plan.subscribers and config.headers else {}),
        **flow_rows.rows(raw, config.clock_hz, plan.settings.name),
        "memories": _memories(raw["memory"], config),
        **_counter_memory(raw["memory"], config),
    }


def _headers(counts: list[int], config: Config, plan: EdgePlan) -> dict[str, Any]:
    """Return how many frames found their subscriber, by kind of match, and why reading of their headers ended."""
    assert config.headers and plan.subscribers
    profiles = config.headers.profiles
    hits, misses, endings = counts[:profiles], counts[profiles : 2 * profiles], counts[2 * profiles : -1]
    kinds = plan.subscribers.kinds
    found: dict[str, Any] = {
        "profiles": [{"match": kind, "hits": hits[i], "misses": misses[i]} for i, kind in enumerate(kinds)],
        "without_profile": counts[-1],
        "reading_ended": dict(zip(find.ENDINGS, endings, strict=True)),
    }
    unknown = [f"{misses[i]:,} by {kind}" for i, kind in enumerate(kinds) if misses[i]]
    unknown += [f"{counts[-1]:,} with none of these headers"] if counts[-1] else []
    if unknown:
        plan.notes.append(f"Frames of no subscriber: {', '.join(unknown)}.")
    bad = [f"{number:,} {name}" for name, number in found["reading_ended"].items() if number and name in find.MALFORMED]
    if bad:
        plan.notes.append(f"Frames with malformed headers: {', '.join(bad).replace('_', ' ')}.")
    return found


def _memories(counts: list[dict[str, int]], config: Config) -> list[dict[str, Any]]:
    """Return what each memory has done, and which share of all frames and of all bytes (in whole beats) was written to it."""

    def share(key: str, of: dict[str, int]) -> float | None:
        total = sum(memory[key] for memory in counts[: len(config.channels)])
        return round(of[key] / total, 6) if total else None

    return [
        {"name": memory.name, "kind": memory.kind, **of, "share_of_frames": share("frames", of), "share_of_bytes": share("write_beats", of)}
        for memory, of in zip(config.channels, counts[: len(config.channels)], strict=True)
    ]


def _counter_memory(counts: list[dict[str, int]], config: Config) -> dict[str, Any]:
    """Return what the memory of the counters has done; nothing where there is none, nor of the model, which has none."""
    own = counts[len(config.channels) :]
    if not own or not config.counter_memory:
        return {}
    return {"counter_memory": {"name": config.counter_memory.name, "kind": config.counter_memory.kind, **own[0]}}


def _lost_memories(counts: list[dict[str, int]], config: Config, plan: EdgePlan) -> list[str]:
    writes = [value for at, value in plan.job["register_writes"] if at == registers.address("memory_timeout")]
    timeout = writes[-1] if writes else registers.table()["memory_timeout"]["fields"]["cycles"][2]
    return [
        f"Memory {memory.name} has not answered for {timeout:,} cycles and is out of use."
        for memory, of in zip(config.memory_ports, counts, strict=False)  # the model has no memory of counters
        if of["lost"]
    ]


def _groups(raw: dict[str, Any], config: Config, plan: EdgePlan) -> list[dict[str, Any]]:
    """Return what became of the frames of each named group of queues."""
    entries, of = plan.settings.groups(), plan.settings.group_of()
    if of is None:
        return []
    table = {key: np.asarray(raw["queue"][key]) for key in QUEUE_COUNTERS}
    scale, guarantees = 1e9 / config.clock_hz, config.hierarchy is not None and config.hierarchy.guarantees
    rows = []
    for number, entry in enumerate(entries):
        mine = np.flatnonzero(of == number)
        sums = {key: int(column[mine].sum()) for key, column in table.items()}
        histograms = raw.get("latency_histograms", [])
        rows.append({
            "name": plan.settings.group_name(entry),
            "queues": len(mine),
            **_group_configured(plan, entry, mine),
            **({"guaranteed_rate_bps": plan.settings.group_settings(entry).guarantee_bps} if guarantees else {}),
            "mean_rate_bps": _group_rate(raw["groups"], number, len(mine), config.clock_hz) if "groups" in raw else None,
            **sums,
            "latency_ns": binned(histograms[1 + number], scale) if len(histograms) > 1 + number else distribution(np.zeros(0)),
        })  # fmt: skip
    return rows


def _group_configured(plan: EdgePlan, entry: int, queues: NDArray[np.int64]) -> dict[str, Any]:
    """Return the rate that each queue of a group has, or the mean of those that were drawn for them."""
    if not plan.settings.is_drawn(entry):
        return {"configured_rate_bps": plan.settings.group_settings(entry).rate_bps}
    drawn = [plan.settings.settings(queue).rate_bps or 0 for queue in queues.tolist()]
    return {"configured_rate_bps": round(sum(drawn) / len(drawn)), "drawn": True}


def _group_rate(groups: dict[str, Any], number: int, queues: int, clock_hz: int) -> float | None:
    """Return the rate of one of its queues on average, from the first frame that came for the group up to the last."""
    cycles = int(groups["last_arrival"][number] - groups["first_arrival"][number])
    rate = mean_rate(int(groups["out_before_last"][number]), cycles, clock_hz)
    return None if rate is None else round(rate / queues, 3)


def _queues(raw: dict[str, Any], left: Departures, config: Config, plan: EdgePlan) -> tuple[list[dict[str, Any]], int]:
    """Return the busiest queues (by bytes in) and how many had traffic at all."""
    counters = QUEUE_COUNTERS if config.aqm == "none" else QUEUE_COUNTERS + AQM_COUNTERS
    table = {key: np.asarray(raw["queue"][key]) for key in counters}
    had_traffic, measured = np.flatnonzero(table["in_packets"]), measured_of(raw)
    weight = table["in_bytes"][had_traffic]
    ids = np.sort(had_traffic[np.argsort(-weight.astype(np.int64), kind="stable")[:MAX_QUEUES_LISTED]])
    order = np.argsort(left.queue, kind="stable")
    sorted_queue = left.queue[order]
    idle = int(left.latency.min()) if len(left.latency) else 0
    reasons = _drops_by_queue(raw, config.queues) if all_kept(raw, left) and "drop_events" in raw else None
    rows = []
    for queue in ids.tolist():
        low, high = np.searchsorted(sorted_queue, [queue, queue + 1])
        own = left.only(order[low:high]).if_all(int(measured[queue]))
        settings = plan.settings.settings(queue)
        rows.append({
            "id": queue,
            "name": plan.settings.name(queue),
            "subscriber": plan.settings.subscriber(queue),
            "configured_rate_bps": settings.rate_bps,
            "rate_changes": changes_until(int(raw["cycles"]), plan.rate_changes.get(queue, []), config.clock_hz),
            "burst_bytes": settings.burst_bytes,
            **(
                guarantee(settings.guarantee_bps, int(raw["cycles"]), plan.guarantee_changes.get(queue, []), config.clock_hz)
                if config.hierarchy and config.hierarchy.guarantees
                else {}
            ),
            **(
                rates(own, settings.rate_bps, settings.burst_bytes, config.clock_hz, plan.job["egress_bps"], idle, config.tolerance_cycles)
                if len(own.cycle) == measured[queue]
                else totals_rates(raw["queue"], queue, config.clock_hz)
            ),
            **{key: int(column[queue]) for key, column in table.items()},
            **({"dropped": {reason: int(of[queue]) for reason, of in reasons.items() if of[queue]}} if reasons is not None else {}),
            "latency_ns": distribution(own.latency, 1e9 / config.clock_hz),
        })  # fmt: skip
    return rows, len(had_traffic)


def _drops_by_queue(raw: dict[str, Any], queues: int) -> dict[str, Any] | None:
    """Return how many packets each queue lost, by reason; None where not all drops were kept one by one."""
    found = {reason: np.bincount(events["queue"], minlength=queues) for reason, events in raw["drop_events"].items()}
    kept = sum(found.values(), start=np.zeros(queues, dtype=np.int64))
    return found if np.array_equal(kept, np.asarray(raw["queue"]["drop_packets"]).astype(np.int64)) else None
