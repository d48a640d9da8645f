"""Benches: measurements with a fixed meaning, each one JSON object. `penstock bench NAME`.

`queue` and `schedule` keep both sides of queue manager and scheduler busy, without and with shaped queues; `idle-latency` sends single
packets into an idle system; `lateness` shapes every queue and takes the output at the pace of a link. They drive `pst_access_edge_core`
(or, with engine=model, its model) at its descriptor ports and check every packet (bench_core.cpp and bench_lateness.hpp of
designs/access_edge/bench). `engine` measures how fast an engine is, on a whole device; `fabric` the cell switch (bench_fabric.py).
`fairness`, `priority` and `reconfigure` are about the hierarchy (bench_tree.py), which the first four have with levels=4. Designs bring
benches of their own (Design.benches). docs/measurements.md has the figures.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.basics.suggest import nearest
from penstock.benches import bench_fabric, bench_tree, lateness
from penstock.command_line.options import nothing_left, take_choice, take_number
from penstock.designs import design as designs
from penstock.designs import registers
from penstock.errors import UserError

SCHEMA = "penstock.bench/1"
ENGINES = ("rtl", "model")
PATTERNS = ("random", "same", "neighbours")
KEYS = ("queues", "descriptors", "packets", "pattern", "engine", "shaping", "aqm", "levels", *bench_tree.TREE_KEYS, "congested")
AQMS = ("none", *sorted(set(registers.AQM_CODES) - {"none"}))
TREE_BENCHES = ("fairness", "priority", "reconfigure")
AQM_TICK_SHIFT = 8  # a tick of 256 cycles, as at 220 MHz
ENGINE_KEYS = ("queues", "packets", "size", "load", "engine", "levels")
LATENESS_KEYS = ("queues", "packets", "pattern", "rates", "size", "load", "engine", "levels", *bench_tree.TREE_KEYS)

Report = Callable[[str], None]
Progress = Callable[[int, int], None]  # packets out, cycles


class BenchError(RuntimeError):
    """The hardware lost, invented, changed or reordered a packet; the message says which."""


@dataclass(frozen=True)
class Bench:
    """A bench: what it measures, and how many packets it takes unless told otherwise."""

    summary: str
    packets: int


BENCHES = {
    "queue": Bench("packets per cycle in and out, unshaped queues", 1_000_000),
    "schedule": Bench("packets per cycle in and out, every queue shaped, the sum of rates above one packet per cycle", 1_000_000),
    "idle-latency": Bench("cycles from enqueue to decision for single packets in an idle system", 10_000),
    "engine": Bench("packets and cycles of a whole device, every queue shaped, in a second of CPU time", 2_000_000),
    "fabric": Bench("cells per cycle and latency of the cell switch, all inputs loaded", bench_fabric.CELLS),
    "lateness": Bench("cycles by which shaped packets leave after an ideal server on the same link", 1_000_000),
    "fairness": Bench("shares of subscribers below congested nodes, and of each one's queues: how far from fair", 0),
    "priority": Bench("cycles from enqueue to departure of class 0 below congested nodes", 20_000),
    "reconfigure": Bench("settings changed per second while traffic flows, and for how long it stands still", 0),
}


def own() -> dict[str, designs.Bench]:
    """Return the benches that designs bring, by name."""
    return {name: bench for design in designs.names() for name, bench in designs.load(design).benches().items()}


def summary(name: str) -> str:
    """Return what a bench measures."""
    return BENCHES[name].summary if name in BENCHES else own()[name].summary


def plan(name: str, settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of bench `name` from `--set` values. Raises UserError for what is unknown or out of range."""
    if name not in BENCHES and name not in own():
        raise UserError(f"there is no bench {name!r}{nearest(name, [*BENCHES, *own()])}")
    settings = dict(settings)
    if name in own():
        return {"mode": name, **own()[name].plan(settings, seed)}
    if name == "lateness":
        return _plan_lateness(settings, seed)
    if name == "engine":
        return _plan_engine(settings, seed)
    if name == "fabric":
        return bench_fabric.plan(settings, seed)
    if name in TREE_BENCHES:
        return bench_tree.plan(name, settings, seed)
    queues = take_number(settings, "queues", 262_144, 2, 1 << 22)
    options: dict[str, Any] = {
        "mode": name,
        "engine": take_choice(settings, "engine", ENGINES),
        "queues": queues,
        "descriptors": take_number(settings, "descriptors", max(queues, 4096), 64, 1 << 22),
        "packets": take_number(settings, "packets", BENCHES[name].packets, 1, 1 << 40),
        "pattern": take_choice(settings, "pattern", PATTERNS),
        "shaping": bool(take_number(settings, "shaping", 1, 0, 1)),
        "aqm": take_choice(settings, "aqm", AQMS),
        "seed": seed,
    }
    if options["aqm"] != "none" and not options["shaping"]:
        raise UserError(f"--set aqm={options['aqm']}: an AQM needs the shaped scheduler, shaping=1")
    options |= bench_tree.plan_core(name, settings, options)
    nothing_left(settings, KEYS)
    if name == "schedule" and not options["shaping"]:
        raise UserError("bench schedule measures shaped queues, shaping=0 has none; bench queue takes it")
    return options


def _take_size(settings: dict[str, str]) -> int:
    """Return the one size of all packets in bytes, 0 for IMIX."""
    if settings.get("size") == "imix":
        settings.pop("size")
    return take_number(settings, "size", 0, 60, 9600)


def _plan_lateness(settings: dict[str, str], seed: int) -> dict[str, Any]:
    pattern = take_choice(settings, "pattern", lateness.PATTERNS)
    blocked = pattern == "blocked"
    options = {
        "mode": "lateness",
        "engine": take_choice(settings, "engine", ENGINES),
        "queues": take_number(settings, "queues", 262_144, 2, 1 << 21),
        "packets": take_number(settings, "packets", 20_000 if blocked else BENCHES["lateness"].packets, 1, 1 << 32),
        "pattern": pattern,
        "size": _take_size(settings),
        "shaping": True,
        "seed": seed,
    }
    if not blocked:
        options |= {"rates": take_choice(settings, "rates", lateness.RATES), "load": take_number(settings, "load", 95, 1, 99)}
    options |= bench_tree.take_levels(settings, options)
    nothing_left(settings, LATENESS_KEYS)
    options["given"] = lateness.settings(options)
    options["descriptors"] = options["given"]["descriptors"]
    return options


def _plan_engine(settings: dict[str, str], seed: int) -> dict[str, Any]:
    from penstock.benches import bench_engine

    model = settings.get("engine") == "model"
    options = {
        "mode": "engine",
        "engine": take_choice(settings, "engine", ENGINES),
        "queues": take_number(settings, "queues", 262_144, 16, 1 << 20),
        "packets": take_number(settings, "packets", BENCHES["engine"].packets if model else 100_000, 1000, 1 << 32),
        "size": _take_size(settings),
        "load": take_number(settings, "load", 95, 1, 100),
        "seed": seed,
    }
    options["levels"] = bench_engine.take_levels(settings, options["queues"])
    nothing_left(settings, ENGINE_KEYS)
    return options


def prepare(options: dict[str, Any], report: Report | None = None) -> Path | None:
    """Build what the bench needs, if it is not there, and return the library (None: the model); `report` gets a line for each build."""
    from penstock.benches import bench_engine
    from penstock.engine import engine
    from penstock.hardware import verilate

    if options["mode"] == "fabric":
        return bench_fabric.build(options, report)
    engine.build(report)
    if options["mode"] in own():
        return own()[options["mode"]].prepare(options, report)
    if options["engine"] == "model":
        return None
    if options["mode"] == "engine":
        return verilate.build_device(bench_engine.configuration(options), report)
    code = registers.AQM_CODES[options.get("aqm", "none")]
    aqm = {"Aqm": code, "TickShift": AQM_TICK_SHIFT} if code else None
    return verilate.build_core(
        options["queues"], options["descriptors"], options["shaping"], report, aqm=aqm, tree=bench_tree.parameters(options)
    )


def run(options: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    """Run the bench that `options` (from `plan`) describes and return its JSON object. Raises BenchError."""
    import numpy as np

    from penstock.engine import engine
    from penstock.engine.result import distribution

    if options["mode"] in own():
        return _run_own(options, progress)
    if options["mode"] == "lateness":
        return _run_lateness(options, progress)
    if options["mode"] == "engine":
        return _run_engine(options, progress)
    if options["mode"] == "fabric":
        return _run_fabric(options, progress)
    if options["mode"] in TREE_BENCHES:
        return _run_tree(options, progress)
    keys = ("mode", "pattern", "queues", "descriptors", "packets", "shaping", "aqm", "seed", "levels", *bench_tree.TREE_KEYS, "congested")
    core_options = {key: options[key] for key in keys}
    library = prepare(options)
    started = time.monotonic()
    try:
        raw = engine.module().core_bench({**core_options, "library": str(library or "")}, progress)
    except RuntimeError as error:
        raise BenchError(str(error)) from None
    if "latency_cycles" in raw:
        raw["latency_cycles"] = distribution(np.asarray(raw["latency_cycles"]))
    hidden = ("mode", "seed", "packets", *(bench_tree.TREE_KEYS if options["levels"] == 1 else ()))
    config = {key: value for key, value in options.items() if key not in hidden and value != ""}
    wall = round(time.monotonic() - started, 3)
    head = {"schema": SCHEMA, "bench": options["mode"], "engine": options["engine"]}
    return {**head, "seed": options["seed"], "config": config, **raw, "wall_seconds": wall}


def _run_own(options: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    library = prepare(options)
    started = time.monotonic()
    try:
        found = own()[options["mode"]].run(options, library, progress)
    except RuntimeError as error:
        raise BenchError(str(error)) from None
    config = {key: value for key, value in options.items() if key not in ("mode", "seed", "packets", "engine")}
    head = {"schema": SCHEMA, "bench": options["mode"], "engine": options["engine"], "seed": options["seed"], "config": config}
    return {**head, **found, "wall_seconds": round(time.monotonic() - started, 3)}


def _run_engine(options: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    from penstock.benches import bench_engine

    library = prepare(options)
    started = time.monotonic()
    try:
        found = bench_engine.run(options, library, progress)
    except RuntimeError as error:
        raise BenchError(str(error)) from None
    config = {key: value for key, value in options.items() if key not in ("mode", "seed", "packets")} | {"size": options["size"] or "imix"}
    head = {"schema": SCHEMA, "bench": "engine", "engine": options["engine"], "seed": options["seed"], "config": config}
    return {**head, **found, "wall_seconds": round(time.monotonic() - started, 3)}


def _run_fabric(options: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    path = prepare(options)
    assert path is not None
    try:
        found = bench_fabric.run(options, path, progress)
    except RuntimeError as error:
        raise BenchError(str(error)) from None
    config = {key: value for key, value in options.items() if key not in ("mode", "seed", "packets", "engine")}
    return {"schema": SCHEMA, "bench": "fabric", "engine": "rtl", "seed": options["seed"], "config": config, **found}


def _run_tree(options: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    library = prepare(options)
    started = time.monotonic()
    try:
        found = bench_tree.run(options, library, progress)
    except RuntimeError as error:
        raise BenchError(str(error)) from None
    config = {key: value for key, value in options.items() if key not in ("mode", "seed", "packets", "work", "cycles")}
    head = {"schema": SCHEMA, "bench": options["mode"], "engine": options["engine"], "seed": options["seed"], "config": config}
    return {**head, **found, "wall_seconds": round(time.monotonic() - started, 3)}


def _run_lateness(options: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    from penstock.engine import engine
    from penstock.engine.result import distribution

    given = dict(options["given"])
    link_load, rate_sum = given.pop("link_load"), given.pop("rate_sum_bps")
    warm_up = options["packets"] // 10
    job = {**given, "queues": options["queues"], "packets": options["packets"], "warm_up": warm_up, "seed": options["seed"]}
    job |= {key: options[key] for key in bench_tree.FLAT}
    library = prepare(options)
    started = time.monotonic()
    try:
        raw = engine.module().lateness_bench({**job, "library": str(library or "")}, progress)
    except RuntimeError as error:
        raise BenchError(str(error)) from None
    hidden = ("mode", "seed", "packets", "given", *(bench_tree.TREE_KEYS if options["levels"] == 1 else ()))
    config = {key: value for key, value in options.items() if key not in hidden}
    config |= {"size": options["size"] or "imix", "link_bps": given["link_bps"], "overhead_bytes": given["overhead_bytes"]}
    on_link = raw["bytes"] + options["packets"] * given["overhead_bytes"]
    return {
        "schema": SCHEMA,
        "bench": "lateness",
        "engine": options["engine"],
        "seed": options["seed"],
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
        "wall_seconds": round(time.monotonic() - started, 3),
    }
