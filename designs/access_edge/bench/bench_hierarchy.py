"""The benches of the hierarchy (queue, subscriber, node, port) at the core's descriptor ports: settings and results.

`fairness`: shares of the subscribers below congested nodes, and of a subscriber's queues, all backlogged or mixed with others
(bench_mixes.py). `priority`: delay of class 0 below congested nodes. `reconfigure`: settings changed while traffic flows at full rate. The
measurements are in designs/access_edge/bench (bench_shares.cpp, bench_reconfigure.cpp); every packet is checked there. With engine=model
its model is measured, whose times below congested parents differ a little from the RTL's (docs/architecture.md).
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.basics.units import format_rate, parse_rate
from penstock.command_line.options import nothing_left, take_choice, take_number, take_power_of_two
from penstock.designs.access_edge.bench import bench_mixes
from penstock.errors import UserError

CLOCK_HZ = 220_000_000
HIERARCHY_KEYS = ("queues_per_subscriber", "nodes", "ports", "classes")
SHARE_KEYS = ("queues", *HIERARCHY_KEYS, "congested_nodes", "subscribers", "overload", "size", "rate", "engine")
MIXES = ("backlogged", "siblings", "random", "guarantees")
GUARANTEE_CYCLES = CLOCK_HZ // 16  # lateness that guarantees make up for
LEVELS = ("subscriber", "node", "port")
FLAT = {"levels": 1, "queues_per_subscriber": 1, "nodes": 1, "ports": 1, "classes": 1}
MOST_QUEUES = 1 << 21
MIXED_SIZES = 1  # what the engine calls sizes by queue; 0: IMIX
LARGEST_RATE_BPS = 100 * 10**9
VOICE_BYTES, VOICE_SHARE = 200, 0.05
SUBSCRIBERS_PER_NODE = 4


def take_hierarchy(settings: dict[str, str], queues: int) -> dict[str, int]:
    """Take the sizes of the hierarchy out of `settings`. Raises UserError for what the hardware does not have."""
    if queues & (queues - 1):
        raise UserError(f"--set queues={queues}: with a hierarchy give a power of two")
    per = take_power_of_two(settings, "queues_per_subscriber", min(4, queues // 2), 1, min(8, queues // 2))
    subscribers = queues // per
    nodes = take_power_of_two(settings, "nodes", max(2, min(64, subscribers // 8)), 2, queues)
    ports = take_power_of_two(settings, "ports", min(4, nodes), 2, queues)
    return {
        "levels": 4,
        "queues_per_subscriber": per,
        "nodes": nodes,
        "ports": ports,
        "classes": take_number(settings, "classes", 4, 1, 8),
    }


def parameters(options: dict[str, Any]) -> dict[str, int] | None:
    """Return the parameters of the core (`verilate.build_core`), None for one without a hierarchy."""
    if options.get("levels", 1) == 1:
        return None
    names = {"queues_per_subscriber": "QueuesPerSubscriber", "nodes": "Nodes", "ports": "Ports", "classes": "Classes"}
    guarantees = {"GuaranteeCycles": options["guarantee_cycles"]} if "guarantee_cycles" in options else {}
    return {"Hierarchy": 1} | {name: options[key] for key, name in names.items()} | guarantees


def take_levels(settings: dict[str, str], options: dict[str, Any]) -> dict[str, int]:
    """Take `levels` and the sizes of the hierarchy out of `settings`; `FLAT` without one. Raises UserError for what there is not."""
    levels = take_number(settings, "levels", 1, 1, 4)
    if levels not in (1, 4):
        raise UserError(f"--set levels={levels}: give 1 (queues alone) or 4 (queue, subscriber, node, port)")
    if levels == 1:
        for key in (*HIERARCHY_KEYS, "congested"):
            if key in settings:
                raise UserError(f"--set {key}: only a core with levels=4 has it")
        return FLAT
    if not options["shaping"]:
        raise UserError("--set shaping=0: a hierarchy needs the shaped scheduler")
    return take_hierarchy(settings, options["queues"])


def plan_core(name: str, settings: dict[str, str], options: dict[str, Any]) -> dict[str, Any]:
    """Return what the hierarchy adds to the options of the benches `queue`, `schedule` and `idle-latency`: the sizes and `congested`."""
    hierarchy = take_levels(settings, options)
    if hierarchy["levels"] == 1:
        return {**hierarchy, "congested": ""}
    congested = take_choice(settings, "congested", LEVELS) if "congested" in settings else ""
    if congested and (name != "schedule" or options["pattern"] != "random"):
        raise UserError("--set congested: only bench schedule with pattern=random has it")
    return {**hierarchy, "congested": congested}


def plan(name: str, settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of bench `name` (fairness, priority, reconfigure). Raises UserError for what is unknown or out of range."""
    engine = take_choice(settings, "engine", ("rtl", "model"))
    queues = take_number(settings, "queues", 2048, 16, MOST_QUEUES)
    mix = take_choice(settings, "mix", MIXES) if name == "fairness" else MIXES[0]
    if mix != MIXES[0]:  # subscribers have many queues, of any sizes, and weights, unless told otherwise
        for key, value in {"queues_per_subscriber": str(min(8, queues // 2)), "size": "mixed", "weights": "1"}.items():
            settings.setdefault(key, value)
        if "overload" in settings:
            raise UserError(f"--set overload: with mix={mix} backlogged queues offer as much as they can; mix=backlogged takes it")
    hierarchy = take_hierarchy(settings, queues)
    options: dict[str, Any] = {"mode": name, "engine": engine, "queues": queues, "descriptors": max(queues, 4096), **hierarchy}
    options |= {"shaping": True, "seed": seed}
    if name == "reconfigure":
        options["cycles"] = options["work"] = take_number(settings, "cycles", 1_000_000, 10_000, 1 << 40)
        nothing_left(settings, ("queues", *HIERARCHY_KEYS, "cycles", "engine"))
        return options
    options |= _take_congestion(settings, options)
    if name == "priority":
        if hierarchy["classes"] < 2 or hierarchy["queues_per_subscriber"] < 2:
            raise UserError("bench priority needs classes=2 and queues_per_subscriber=2 at least")
        options["packets"] = options["work"] = take_number(settings, "packets", 20_000, 100, 1 << 32)
        nothing_left(settings, (*SHARE_KEYS, "packets"))
        return options
    options["mix"] = mix
    if mix == "guarantees":
        options["guarantee_cycles"] = GUARANTEE_CYCLES
    options["weights"] = take_number(settings, "weights", 0, 0, 1)
    options["megabytes"] = take_number(settings, "megabytes", 4, 1, 100_000)
    per_node = -(-options["subscribers"] // options["congested_nodes"])
    options["work"] = round(options["megabytes"] * 1e6 * per_node / node_rate(options))
    nothing_left(settings, (*SHARE_KEYS, "mix", "weights", "megabytes"))
    if mix != MIXES[0]:
        del options["overload"]
    return options


def _take_congestion(settings: dict[str, str], options: dict[str, Any]) -> dict[str, Any]:
    nodes = take_number(settings, "congested_nodes", min(4, options["nodes"]), 1, options["nodes"])
    below = options["queues"] // options["queues_per_subscriber"] // options["nodes"] * nodes
    if below == 0:
        raise UserError(f"--set nodes={options['nodes']}: more nodes than subscribers leave nodes without any")
    held = (options["descriptors"] - 64) // (4 * options["queues_per_subscriber"])
    subscribers = take_number(settings, "subscribers", min(below, SUBSCRIBERS_PER_NODE * nodes), 1, min(below, held))
    text = settings.pop("rate", "2 Gbit/s")
    try:
        rate = parse_rate(text)
    except ValueError as error:
        raise UserError(f"--set rate={text}: {error}") from None
    if not 10**6 <= rate <= LARGEST_RATE_BPS:
        raise UserError(f"--set rate={text}: give {format_rate(10**6)} to {format_rate(LARGEST_RATE_BPS)}")
    return {
        "congested_nodes": nodes,
        "subscribers": subscribers,
        "overload": take_number(settings, "overload", 3, 1, 1000),
        "size": _take_size(settings),
        "rate": rate,
    }


def _take_size(settings: dict[str, str]) -> str | int:
    text = settings.get("size", "imix")
    if text in ("imix", "mixed"):
        settings.pop("size", None)
        return text
    return take_number(settings, "size", 0, 60, 9600)


def node_rate(options: dict[str, Any]) -> float:
    """Return a congested node's rate in byte per cycle."""
    return options["rate"] / 8 / CLOCK_HZ


def run(options: dict[str, Any], library: Path | None, progress: Any) -> dict[str, Any]:
    """Run the bench and return what it found. Raises RuntimeError when a packet was lost, changed or reordered that is not counted."""
    from penstock.engine import engine
    from penstock.engine.result import distribution

    module = engine.module("designs/access_edge/bench")
    given = {**options, "library": str(library or "")}
    if options["mode"] == "reconfigure":
        return _reconfigure(module, given, progress)
    if options.get("mix", MIXES[0]) != MIXES[0]:
        plan = bench_mixes.draw(options, node_rate(options))
        found = bench_mixes.errors(plan, module.mix_bench({**given, **plan.for_engine(), "cycles": options["work"]}, progress))
        return {key: round(value, 6) if isinstance(value, float) else value for key, value in found.items()}
    given |= {"node_rate": node_rate(options), "size": {"imix": 0, "mixed": MIXED_SIZES}.get(options["size"], options["size"])}
    given["overload"] = float(options["overload"])
    if options["mode"] == "fairness":
        raw = module.fairness_bench({**given, "cycles": options["work"], "weights": bool(options["weights"])}, progress)
        return {key: round(value, 6) if isinstance(value, float) else value for key, value in raw.items()}
    raw = module.priority_bench({**given, "voice_bytes": VOICE_BYTES, "voice_share": VOICE_SHARE}, progress)
    raw["latency_cycles"] = distribution(np.asarray(raw["latency_cycles"]))
    return raw


def _reconfigure(module: Any, given: dict[str, Any], progress: Any) -> dict[str, Any]:
    """Run with changes and without: what the first stands still longer is because of the changes."""
    from penstock.engine.result import distribution

    with_changes = module.reconfigure_bench({**given, "changes": True}, progress)
    without = module.reconfigure_bench({**given, "changes": False}, None)
    sides = {}
    excess = []
    for side in ("enqueue", "output"):
        changed, plain = (np.asarray(raw[f"{side}_standstills"]) for raw in (with_changes, without))
        sides[f"{side}_standstill_cycles"] = {"with_changes": distribution(changed), "without": distribution(plain)}
        excess.append(longer(changed, plain))
    kinds = dict(with_changes["changes"])
    count = sum(kinds.values())
    return {
        "changes_per_second": round(count / with_changes["cycles"] * CLOCK_HZ),
        "clock_hz": CLOCK_HZ,
        "stall_cycles": distribution(np.maximum(*excess)),
        "lost": with_changes["lost"],
        "reordered": with_changes["reordered"],
        "ready_cycles": distribution(np.asarray(with_changes["ready"])),
        **sides,
        "changes": count,
        "changes_by_kind": kinds,
        "cycles": with_changes["cycles"],
        "packets": with_changes["packets"],
        **{key: with_changes[key] for key in ("enqueues_per_cycle", "dequeues_per_cycle")},
        "dequeues_per_cycle_without": without["dequeues_per_cycle"],
    }


def longer(changed: NDArray[np.int64], plain: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return by how much each of `changed` is longer than its peer: both sorted, the n-th longest beside the n-th longest; at least 0."""
    return np.maximum(np.sort(changed).astype(np.int64) - np.sort(plain), 0)


def lines(result: dict[str, Any]) -> list[str]:
    """Return the result in words, for the terminal."""

    def spread(key: str) -> str:
        return f"{key.replace('_', ' ')}: " + ", ".join(f"{name} {value:g}" for name, value in result[key].items())

    config = result["config"]
    hierarchy = (
        f"{config['queues_per_subscriber']} a subscriber, {config['nodes']:,} nodes, {config['ports']:,} ports, {config['classes']} classes"
    )
    told = [f"{config['queues']:,} queues, {hierarchy}, seed {result['seed']}"]
    if result["bench"] == "reconfigure":
        told += [
            f"{result['changes_per_second']:,} changes per second at {CLOCK_HZ / 1e6:g} MHz,"
            f" {result['changes']:,} in {result['cycles']:,} cycles"
        ]
        told += [spread("stall_cycles"), spread("ready_cycles")]
        told += [f"{result['dequeues_per_cycle']:.3f} dequeues per cycle, {result['dequeues_per_cycle_without']:.3f} without changes"]
        told += [f"{result['packets']:,} packets, {result['lost']:,} lost, {result['reordered']:,} reordered"]
        return told
    load = f"{config['congested_nodes']} nodes of {format_rate(config['rate'])}, {config['subscribers']} subscribers"
    if config.get("mix", MIXES[0]) == MIXES[0]:
        told += [f"{load}, {result['flows']} backlogged queues, {config['overload']} times overload, size {config['size']}"]
    else:
        told += [f"{load}, {result['flows']} queues, {result['backlogged']} of them backlogged, mix {config['mix']}, size {config['size']}"]
    if result["bench"] == "fairness":
        parts = f"subscribers {result['subscriber_error_points']:.3f}, queues of one {result['queue_error_points']:.3f}"
        told += [f"largest error of a share: {result['share_error_points']:.3f} percentage points ({parts})"]
    else:
        told += [spread("latency_cycles"), f"the largest packet takes {result['packet_cycles']:g} cycles at the node's rate"]
        told += [f"{result['packets']:,} packets of class 0, {result['lost']:,} packets lost"]
    return [*told, f"nodes' rates reached: {result['parent_utilisation']:.4f} to {result['parent_utilisation_max']:.4f}"]
