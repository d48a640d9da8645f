"""`bench fabric`: cells per cycle and latency of the cell switch `pst_fabric`, on the verilated hardware; every cell is checked."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.benches import library as bench_library
from penstock.command_line.options import nothing_left, take_choice, take_number
from penstock.designs.design import Bench
from penstock.errors import UserError
from penstock.hardware import fabric, library, verilate

PATTERNS = ("uniform", "permutation", "hotspot")
KEYS = (*fabric.KEYS, "pattern", "load", "cells")
CELLS = 200_000

Progress = Callable[[int, int], None]


class Job(ctypes.Structure):
    """pst_fabric_job of engine/src/shim_fabric.cpp."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("ports", "width", "classes", "pattern", "load_permille", "order")] + [
        (name, ctypes.c_uint64) for name in ("cells", "seed")
    ]


_COUNTS = (
    "pipeline_cycles", "cycles", "offered", "departed", "dropped", "queued", "measured_cycles", "measured_departures", "overtaken",
    "latencies",
)  # fmt: skip


class Result(ctypes.Structure):
    """pst_fabric_result of engine/src/shim_fabric.cpp."""

    _fields_ = [*((name, ctypes.c_uint64) for name in _COUNTS), ("error", ctypes.c_char * 200)]


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of the bench from `--set` values (`settings` is used up). Raises UserError."""
    options: dict[str, Any] = {"mode": "fabric", "engine": "rtl", "seed": seed, **fabric.take(settings)}
    if options["width"] < 32:
        raise UserError(f"--set width={options['width']}: give 32 or more, the bench writes a number into each cell")
    options["pattern"] = take_choice(settings, "pattern", PATTERNS)
    options["load"] = take_number(settings, "load", 100, 1, 100)
    options["packets"] = take_number(settings, "cells", CELLS, 1000, 1 << 30)
    nothing_left(settings, KEYS)
    return options


def build(options: dict[str, Any], report: Callable[[str], None] | None = None) -> Path:
    """Return the library of the switch with the bench in it."""
    return verilate.build(
        verilate.Build(
            name=f"fabric_{options['ports']}",
            top="pst_fabric",
            sources=library.sources_of("pst_fabric"),
            shim=verilate.ENGINE / "src" / "shim_fabric.cpp",
            parameters=fabric.parameters(options),
            assertions=False,
        ),
        report,
    )


def load(path: Path) -> ctypes.CDLL:
    """Return the library of `build`. Raises RuntimeError when its structs are not the ones above."""
    return bench_library.load(path, "fabric", Job, Result, __name__)


def run(options: dict[str, Any], path: Path | None, progress: Progress | None) -> dict[str, Any]:
    """Run the bench and return what it found. Raises RuntimeError when a cell was lost, doubled, changed, misrouted or out of order."""
    import numpy as np

    from penstock.engine.result import distribution

    assert path is not None
    job = Job(
        ports=options["ports"], width=options["width"], classes=options["classes"], pattern=PATTERNS.index(options["pattern"]),
        load_permille=10 * options["load"], order=options["arbiter"], cells=options["packets"], seed=options["seed"],
    )  # fmt: skip
    result = Result()
    times = np.zeros(options["packets"], dtype=np.uint32)

    @ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_uint64, ctypes.c_uint64)
    def show(done: int, cycles: int) -> bool:
        if progress:
            progress(done, cycles)
        return True

    failed = load(path).pst_fabric_bench(
        ctypes.byref(job), ctypes.byref(result), times.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32)), show
    )
    if failed:
        raise RuntimeError(result.error.decode())
    cells = {"in": result.offered, "out": result.departed, "dropped": result.dropped, "queued": result.queued}
    return {
        "cycles": result.cycles,
        "packets": result.offered,
        "cells": cells,
        "cells_per_cycle_per_port": round(result.measured_departures / result.measured_cycles / options["ports"], 6),
        "latency_cycles": distribution(times[: result.latencies]),
        "pipeline_cycles": result.pipeline_cycles,
        "overtaken": result.overtaken,
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return a result in words."""
    config, cells = result["config"], result["cells"]
    size = f"{config['ports']} ports of {config['width']} bit, S = {config['stages']}, {config['fifo_depth']} cells a FIFO"
    return [
        f"{size}, seed {result['seed']}",
        f"{result['cells_per_cycle_per_port']:.4f} cells per cycle and port, pipeline of {result['pipeline_cycles']} cycles",
        "latency in cycles: " + ", ".join(f"{key} {value:g}" for key, value in result["latency_cycles"].items()),
        f"{cells['in']:,} cells in, {cells['out']:,} out, {cells['dropped']:,} dropped at full FIFOs; none lost, changed or misrouted",
    ]


FABRIC = Bench("cells per cycle and latency of the cell switch, all inputs loaded", CELLS, plan, build, run, lines)
