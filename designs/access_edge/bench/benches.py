"""The benches of the access edge.

`queue` and `schedule` keep both sides of queue manager and scheduler busy, without and with shaped queues; `idle-latency` sends single
packets into an idle system; `lateness` shapes every queue and takes the output at the pace of a link. They drive `pst_access_edge_core`
(or, with engine=model, its model) at its descriptor ports and check every packet (bench_core.cpp, bench_lateness.hpp).
`engine` measures how fast an engine is, and `loss-free` which load memories carry without a loss (loss_free.py), on a whole device.
`fairness`, `priority` and `reconfigure` are about the hierarchy
(bench_hierarchy.py), which the first four have with levels=4. docs/measurements.md has the figures.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from penstock.command_line.options import nothing_left, take_choice, take_number
from penstock.designs.access_edge import scheduler
from penstock.designs.access_edge.bench import bench_engine, bench_hierarchy, control, core, lateness, loss_free, provisioning
from penstock.designs.design import Bench
from penstock.errors import UserError
from penstock.hardware import part_model, plugs
from penstock.parts.manifest import Part
from penstock.parts.registry import find, parts

ENGINES = ("rtl", "model")
PATTERNS = ("random", "same", "neighbours")
HIERARCHY = (*bench_hierarchy.HIERARCHY_KEYS, "congested")
FLOWS = ("flows", "lanes", "each")
KEYS = ("queues", "descriptors", "packets", "pattern", "engine", "shaping", "scheduler", "aqm", "levels", *FLOWS, *HIERARCHY)
NO_AQM = "none"
AQM_CLOCK_HZ, AQM_TICK_SHIFT = 220_000_000, 8  # with which times of an AQM become ticks
# Settings of every queue, where they are not the AQM's defaults: CoDel's times are so short that it marks packets all the time.
AQM_SETTINGS = {"codel": {"target": 1, "interval": 16}}
AQM_NUMBERS = {"codel": {"guard_count": 0}}  # no overload guard: all packets are marked, and none is dropped for it
ENGINE_KEYS = ("queues", "packets", "size", "load", "engine", "levels")
LATENESS_KEYS = ("queues", "packets", "pattern", "rates", "size", "load", "engine", "levels", *bench_hierarchy.HIERARCHY_KEYS)
PACKETS = {"queue": 1_000_000, "schedule": 1_000_000, "idle-latency": 10_000, "engine": 2_000_000, "lateness": 1_000_000}

Progress = Callable[[int, int], None] | None
Report = Callable[[str], None] | None


def _plan_core(name: str, settings: dict[str, str], seed: int) -> dict[str, Any]:
    queues = take_number(settings, "queues", 262_144, 2, 1 << 22)
    options: dict[str, Any] = {
        "mode": name,
        "engine": take_choice(settings, "engine", ENGINES),
        "queues": queues,
        "descriptors": take_number(settings, "descriptors", max(queues, 4096), 64, 1 << 22),
        "packets": take_number(settings, "packets", PACKETS[name], 1, 1 << 40),
        "pattern": take_choice(settings, "pattern", PATTERNS),
        **_take_scheduler(settings),
        "aqm": take_choice(settings, "aqm", (NO_AQM, *sorted(parts("aqm")))),
        "seed": seed,
    }
    if options["aqm"] != NO_AQM and not options["shaping"]:
        raise UserError(f"--set aqm={options['aqm']}: an AQM needs the shaped scheduler, shaping=1")
    options |= bench_hierarchy.plan_core(name, settings, options)
    options |= _take_flows(settings, options)
    nothing_left(settings, KEYS)
    if name == "schedule" and not options["shaping"]:
        raise UserError("bench schedule measures shaped queues, shaping=0 has none; bench queue takes it")
    return options


def _take_flows(settings: dict[str, str], options: dict[str, Any]) -> dict[str, int]:
    """Return `flows` (0 without flow queues) and with them `lanes` and `each`, flows of a queue. Raises UserError."""
    queues, flows = options["queues"], take_number(settings, "flows", 0, 0, 1 << 22)
    if not flows:
        for key in ("lanes", "each"):
            if key in settings:
                raise UserError(f"--set {key}: only a core with flows has it")
        return {"flows": 0}
    lanes = take_number(settings, "lanes", 4, 1, 4)
    if lanes == 3:
        raise UserError("--set lanes=3: give 1, 2 or 4")
    if flows & (flows - 1) or flows < 32 * lanes:
        raise UserError(f"--set flows={flows}: give 0, or a power of two and at least {32 * lanes}")
    if queues % lanes or queues < 2 * lanes or queues * 8 > flows:
        raise UserError(f"--set flows={flows}: at most an eighth of them are queues, and {lanes} lanes need a multiple of {lanes} queues")
    if flows // 16 >= queues << 10:
        raise UserError(f"--set flows={flows}: with {queues:,} queues give less than {queues << 14:,}")
    if not options["shaping"]:
        raise UserError("--set shaping=0: flow queues need the shaped scheduler")
    if options["aqm"] != NO_AQM and not plugs.has_port(find("aqm", options["aqm"]), "s_look_setting_i"):
        raise UserError(f"--set aqm={options['aqm']}: it has no state for each flow queue with the setting of its queue (s_look_setting_i)")
    return {"flows": flows, "lanes": lanes, "each": take_number(settings, "each", min(4, flows // queues // 2), 1, 1024)}


def _flow_parameters(options: dict[str, Any]) -> dict[str, int] | None:
    """Return the parameters of the core's flow queues, None without."""
    return {"Flows": options["flows"], "FlowLanes": options["lanes"]} if options.get("flows") else None


def _take_scheduler(settings: dict[str, str]) -> dict[str, Any]:
    """Return `shaping`, and `scheduler` where that is one of the user's own. Raises UserError."""
    given = settings.pop("scheduler", None)
    shaping = bool(take_number(settings, "shaping", 1, 0, 1)) if given is None or "shaping" in settings else None
    try:
        name = scheduler.name(given, shaping)
    except ValueError as error:
        raise UserError(f"--set scheduler={given}: {error}") from None
    own = scheduler.own(name)
    return {"shaping": name == scheduler.SHAPED} | ({"scheduler": name} if own else {})


def _take_size(settings: dict[str, str]) -> int:
    """Return the one size of all packets in bytes, 0 for IMIX."""
    if settings.get("size") == "imix":
        settings.pop("size")
    return take_number(settings, "size", 0, 60, 9600)


def _plan_lateness(settings: dict[str, str], seed: int) -> dict[str, Any]:
    pattern = take_choice(settings, "pattern", lateness.PATTERNS)
    blocked = pattern == "blocked"
    options: dict[str, Any] = {
        "mode": "lateness",
        "engine": take_choice(settings, "engine", ENGINES),
        "queues": take_number(settings, "queues", 262_144, 2, 1 << 21),
        "packets": take_number(settings, "packets", 20_000 if blocked else PACKETS["lateness"], 1, 1 << 32),
        "pattern": pattern,
        "size": _take_size(settings),
        "shaping": True,
        "seed": seed,
    }
    if not blocked:
        options |= {"rates": take_choice(settings, "rates", lateness.RATES), "load": take_number(settings, "load", 95, 1, 99)}
    options |= bench_hierarchy.take_levels(settings, options)
    nothing_left(settings, LATENESS_KEYS)
    options["given"] = lateness.settings(options)
    options["descriptors"] = options["given"]["descriptors"]
    return options


def _plan_engine(settings: dict[str, str], seed: int) -> dict[str, Any]:
    model = settings.get("engine") == "model"
    options: dict[str, Any] = {
        "mode": "engine",
        "engine": take_choice(settings, "engine", ENGINES),
        "queues": take_number(settings, "queues", 262_144, 16, 1 << 20),
        "packets": take_number(settings, "packets", PACKETS["engine"] if model else 100_000, 1000, 1 << 32),
        "size": _take_size(settings),
        "load": take_number(settings, "load", 95, 1, 100),
        "seed": seed,
    }
    options["levels"] = bench_engine.take_levels(settings, options["queues"])
    nothing_left(settings, ENGINE_KEYS)
    return options


def _prepare(options: dict[str, Any], report: Report) -> Path | None:
    from penstock.engine import engine

    engine.build(report, "designs/access_edge/bench")
    if options["engine"] == "model":
        return None
    part, own = _aqm(options), _own(options)
    aqm = {"aqm": part.name, "TickShift": AQM_TICK_SHIFT, **_module_parameters(part)} if part else None
    return core.build_core(
        options["queues"],
        options["descriptors"],
        options["shaping"],
        report,
        aqm=aqm,
        hierarchy=bench_hierarchy.parameters(options),
        scheduler=own,
        numbers=_module_parameters(own) if own else None,
        flows=_flow_parameters(options),
    )


def _aqm(options: dict[str, Any]) -> Part | None:
    """Return the AQM that is asked for."""
    name = options.get("aqm", NO_AQM)
    return None if name == NO_AQM else find("aqm", name)


def _own(options: dict[str, Any]) -> Part | None:
    """Return the scheduler of the user's own that is asked for."""
    return scheduler.own(options["scheduler"]) if "scheduler" in options else None


def _module_parameters(part: Part) -> dict[str, int]:
    """Return the parameters of a part's module: its numbers, as they are unless given."""
    usual = {n.name: n.in_hardware(n.read(n.default), AQM_CLOCK_HZ, AQM_TICK_SHIFT) for n in part.numbers}
    return part.module_parameters(usual | AQM_NUMBERS.get(part.name, {}))


def _setting_word(part: Part) -> int:
    """Return the setting word of every queue."""
    usual = {s.name: s.in_hardware(s.read(s.default), AQM_CLOCK_HZ, AQM_TICK_SHIFT) for s in part.settings}
    return part.pack(usual | AQM_SETTINGS.get(part.name, {}))


def _prepare_engine(options: dict[str, Any], report: Report) -> Path | None:
    from penstock.engine import engine
    from penstock.hardware import verilate

    engine.build(report, "designs/access_edge/model")
    return None if options["engine"] == "model" else verilate.build_device(bench_engine.configuration(options), report)


def _run_core(options: dict[str, Any], library: Path | None, progress: Progress) -> dict[str, Any]:
    import numpy as np

    from penstock.engine import engine
    from penstock.engine.result import distribution

    keys = (
        "mode",
        "pattern",
        "queues",
        "descriptors",
        "packets",
        "shaping",
        "aqm",
        "seed",
        "levels",
        *bench_hierarchy.HIERARCHY_KEYS,
        "congested",
    )
    core_options = {key: options[key] for key in (*keys, *(FLOWS if options["flows"] else ()))}
    part = _aqm(options)
    core_options |= {
        "library": str(library or ""),
        "aqm": part_model.told(part, _module_parameters(part)) if part else None,
        "aqm_word": _setting_word(part) if part else 0,
    }
    if own := _own(options):
        core_options["scheduler_word"] = _setting_word(own)
        core_options["scheduler"] = None if library else scheduler.told(own, _module_parameters(own))
    try:
        raw: dict[str, Any] = engine.module("designs/access_edge/bench").core_bench(core_options, progress)
    except ValueError as error:  # a model of a part that is not ours refuses its numbers
        raise UserError(str(error)) from None
    if "latency_cycles" in raw:
        raw["latency_cycles"] = distribution(np.asarray(raw["latency_cycles"]))
    hidden = (
        "mode",
        "seed",
        "packets",
        *(bench_hierarchy.HIERARCHY_KEYS if options["levels"] == 1 else ()),
        *(() if options["flows"] else FLOWS),
    )
    config = {key: value for key, value in options.items() if key not in hidden and value != ""}
    return {"config": config, **raw}


def _run_engine(options: dict[str, Any], library: Path | None, progress: Progress) -> dict[str, Any]:
    config = {key: value for key, value in options.items() if key not in ("mode", "seed", "packets")} | {"size": options["size"] or "imix"}
    return {"config": config, **bench_engine.run(options, library, progress)}


def _run_hierarchy(options: dict[str, Any], library: Path | None, progress: Progress) -> dict[str, Any]:
    config = {key: value for key, value in options.items() if key not in ("mode", "seed", "packets", "work", "cycles")}
    return {"config": config, **bench_hierarchy.run(options, library, progress)}


def _run_lateness(options: dict[str, Any], library: Path | None, progress: Progress) -> dict[str, Any]:
    from penstock.engine import engine
    from penstock.engine.result import distribution

    given = dict(options["given"])
    link_load, rate_sum = given.pop("link_load"), given.pop("rate_sum_bps")
    warm_up = options["packets"] // 10
    job = {**given, "queues": options["queues"], "packets": options["packets"], "warm_up": warm_up, "seed": options["seed"]}
    job |= {key: options[key] for key in bench_hierarchy.FLAT}
    raw = engine.module("designs/access_edge/bench").lateness_bench({**job, "library": str(library or "")}, progress)
    hidden = ("mode", "seed", "packets", "given", *(bench_hierarchy.HIERARCHY_KEYS if options["levels"] == 1 else ()))
    config = {key: value for key, value in options.items() if key not in hidden}
    config |= {"size": options["size"] or "imix", "link_bps": given["link_bps"], "overhead_bytes": given["overhead_bytes"]}
    on_link = raw["bytes"] + options["packets"] * given["overhead_bytes"]
    return {
        "config": config,
        "clock_hz": given["clock_hz"],
        "rate_sum_bps": rate_sum,
        "link_load": round(link_load, 4),
        "measured_link_load": round(on_link * 8 * given["clock_hz"] / given["link_bps"] / raw["cycles"], 4),
        "cycles": raw["cycles"],
        "packets": options["packets"],
        "lateness_cycles": distribution(raw["lateness"]),
        "after_earliest_departure_cycles": distribution(raw["core"]),
        "ideal_link_cycles": distribution(raw["ideal"]),
    }


def _lines(result: dict[str, Any]) -> list[str]:
    """Return a result of the core's benches in words."""
    config = result["config"]
    found = [f"{config['queues']:,} queues, {config['descriptors']:,} descriptors, {config['pattern']} queues, seed {result['seed']}"]
    if "lateness_cycles" in result:
        found.append(f"load {100 * result['link_load']:.1f} % of the link, measured {100 * result['measured_link_load']:.1f} %")
        for key in ("lateness_cycles", "after_earliest_departure_cycles", "ideal_link_cycles"):
            found.append(f"{key.replace('_', ' ')}: " + ", ".join(f"{name} {value:g}" for name, value in result[key].items()))
    elif "latency_cycles" in result:
        found.append("latency in cycles: " + ", ".join(f"{key} {value:g}" for key, value in result["latency_cycles"].items()))
    else:
        found.append(f"{result['enqueues_per_cycle']:.3f} enqueues and {result['dequeues_per_cycle']:.3f} dequeues per cycle")
    if "marked" in result:
        found.append(f"{config['aqm']} on every queue: {result['marked']:,} of {result['total_packets']:,} packets marked")
    wall = f"{result['wall_seconds']:g} s"
    found.append(f"{result['packets']:,} packets in {result['cycles']:,} cycles, {wall}; none lost, changed or reordered")
    return found


def _engine_lines(result: dict[str, Any]) -> list[str]:
    config = result["config"]
    speed = f"{result['packets_per_cpu_second']:,} packets and {result['cycles_per_cpu_second']:,} cycles"
    return [
        f"{result['engine']}, {config['queues']:,} queues, {config['size']} at {config['load']} % of the line, seed {result['seed']}",
        f"{speed} in a second of CPU time ({result['packets']:,} packets, {result['cpu_seconds']:g} s)",
    ]


def _core(name: str, summary: str) -> Bench:
    return Bench(summary, PACKETS[name], partial(_plan_core, name), _prepare, _run_core, _lines)


def _hierarchy(name: str, summary: str, packets: int) -> Bench:
    return Bench(summary, packets, partial(bench_hierarchy.plan, name), _prepare, _run_hierarchy, bench_hierarchy.lines)


BENCHES = {
    "control": control.BENCH,
    "provisioning": provisioning.BENCH,
    "queue": _core("queue", "packets per cycle in and out, unshaped queues"),
    "schedule": _core("schedule", "packets per cycle in and out, every queue shaped, the sum of rates above one packet per cycle"),
    "idle-latency": _core("idle-latency", "cycles from enqueue to decision for single packets in an idle system"),
    "engine": Bench(
        "packets and cycles of a whole device, every queue shaped, in a second of CPU time",
        PACKETS["engine"],
        _plan_engine,
        _prepare_engine,
        _run_engine,
        _engine_lines,
    ),
    "lateness": Bench(
        "cycles by which shaped packets leave after an ideal server on the same link",
        PACKETS["lateness"],
        _plan_lateness,
        _prepare,
        _run_lateness,
        _lines,
    ),
    "loss-free": loss_free.LOSS_FREE,
    "fairness": _hierarchy("fairness", "shares of subscribers below congested nodes, and of each one's queues: how far from fair", 0),
    "priority": _hierarchy("priority", "cycles from enqueue to departure of class 0 below congested nodes", 20_000),
    "reconfigure": _hierarchy("reconfigure", "settings changed per second while traffic flows, and for how long it stands still", 0),
}
