"""Benches: measurements with a fixed meaning, each one JSON object. `penstock bench NAME`.

`queue` and `schedule` keep both sides of queue manager and scheduler busy, without and with shaped queues; `idle-latency` sends single
packets into an idle system. All drive `pst_access_edge_core` at its descriptor ports and check every packet (engine/src/bench_core.cpp).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import UserError
from penstock.options import nothing_left, take_choice, take_number
from penstock.suggest import nearest

SCHEMA = "penstock.bench/1"
ENGINES = ("rtl",)
PATTERNS = ("random", "same", "neighbours")
KEYS = ("queues", "descriptors", "packets", "pattern", "engine", "shaping")

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
}


def plan(name: str, settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of bench `name` from `--set` values. Raises UserError for what is unknown or out of range."""
    if name not in BENCHES:
        raise UserError(f"there is no bench {name!r}{nearest(name, BENCHES)}")
    settings = dict(settings)
    queues = take_number(settings, "queues", 262_144, 2, 1 << 22)
    options = {
        "mode": name,
        "engine": take_choice(settings, "engine", ENGINES),
        "queues": queues,
        "descriptors": take_number(settings, "descriptors", max(queues, 4096), 64, 1 << 22),
        "packets": take_number(settings, "packets", BENCHES[name].packets, 1, 1 << 40),
        "pattern": take_choice(settings, "pattern", PATTERNS),
        "shaping": bool(take_number(settings, "shaping", 1, 0, 1)),
        "seed": seed,
    }
    nothing_left(settings, KEYS)
    if name == "schedule" and not options["shaping"]:
        raise UserError("bench schedule measures shaped queues, shaping=0 has none; bench queue takes it")
    return options


def prepare(options: dict[str, Any], report: Report | None = None) -> Path:
    """Build what the bench needs, if it is not there, and return the core's library; `report` gets a line for each build."""
    from penstock import engine, verilate

    engine.build(report)
    return verilate.build_core(options["queues"], options["descriptors"], options["shaping"], report)


def run(options: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    """Run the bench that `options` (from `plan`) describes and return its JSON object. Raises BenchError."""
    import numpy as np

    from penstock import engine
    from penstock.result import distribution

    core_options = {key: options[key] for key in ("mode", "pattern", "queues", "descriptors", "packets", "seed")}
    library = prepare(options)
    started = time.monotonic()
    try:
        raw = engine.module().core_bench({**core_options, "library": str(library)}, progress)
    except RuntimeError as error:
        raise BenchError(str(error)) from None
    if "latency_cycles" in raw:
        raw["latency_cycles"] = distribution(np.asarray(raw["latency_cycles"]))
    config = {key: value for key, value in options.items() if key not in ("mode", "seed", "packets")}
    wall = round(time.monotonic() - started, 3)
    return {"schema": SCHEMA, "bench": options["mode"], "seed": options["seed"], "config": config, **raw, "wall_seconds": wall}
