"""Benches: measurements with a fixed meaning, each one JSON object. `penstock bench NAME`.

Designs bring them (Design.benches); `classify`, `edfr`, `fabric`, `flows`, `memory` and `skipfifo` are those of blocks (bench_*.py).
docs/measurements.md has the figures.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.basics.suggest import nearest
from penstock.benches import bench_classify, bench_edfr, bench_fabric, bench_flows, bench_memory, bench_skipfifo
from penstock.designs import design as designs
from penstock.designs.design import Bench
from penstock.errors import UserError

SCHEMA = "penstock.bench/1"

Report = Callable[[str], None]
Progress = Callable[[int, int], None]  # packets out, cycles


class BenchError(RuntimeError):
    """The hardware lost, invented, changed or reordered a packet; the message says which."""


def benches() -> dict[str, Bench]:
    """Return all benches by name."""
    found = {name: bench for design in designs.names() for name, bench in designs.load(design).benches().items()}
    of_blocks = {
        "classify": bench_classify.CLASSIFY,
        "edfr": bench_edfr.EDFR,
        "fabric": bench_fabric.FABRIC,
        "flows": bench_flows.FLOWS,
        "memory": bench_memory.MEMORY,
        "skipfifo": bench_skipfifo.SKIPFIFO,
    }
    return found | of_blocks


def plan(name: str, settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of bench `name` from `--set` values. Raises UserError for what is unknown or out of range."""
    known = benches()
    if name not in known:
        raise UserError(f"there is no bench {name!r}{nearest(name, known)}")
    return {**known[name].plan(dict(settings), seed), "mode": name}


def prepare(options: dict[str, Any], report: Report | None = None) -> Path | None:
    """Build what the bench needs, if it is not there, and return the library (None: the model); `report` gets a line for each build."""
    return benches()[options["mode"]].prepare(options, report)


def run(options: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    """Run the bench that `options` (from `plan`) describes and return its JSON object. Raises BenchError."""
    library = prepare(options)
    started = time.monotonic()
    try:
        found = benches()[options["mode"]].run(options, library, progress)
    except RuntimeError as error:
        raise BenchError(str(error)) from None
    config = {key: value for key, value in options.items() if key not in ("mode", "seed", "packets", "engine")}
    head = {"schema": SCHEMA, "bench": options["mode"], "engine": options["engine"], "seed": options["seed"], "config": config}
    return {**head, **found, "wall_seconds": round(time.monotonic() - started, 3)}
