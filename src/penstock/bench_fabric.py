"""`bench fabric`: cells per cycle and latency of the cell switch `pst_fabric`, on the verilated hardware; every cell is checked."""

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock import library, verilate
from penstock.errors import UserError
from penstock.options import nothing_left, take_choice, take_number

PATTERNS = ("uniform", "permutation", "hotspot")
KEYS = ("ports", "stages", "width", "fifo_depth", "classes", "back_pressure", "arbiter", "pattern", "load", "cells")
PORTS = (2, 4, 8, 16, 32, 64)
STAGES = (1, 2, 4)
CELLS = 200_000

Progress = Callable[[int, int], None]


class Job(ctypes.Structure):
    """pst_fabric_job of engine/src/shim_fabric.cpp."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("ports", "width", "classes", "pattern", "load_permille", "order")] + [
        (name, ctypes.c_uint64) for name in ("cells", "seed")
    ]


_COUNTS = (
    "pipeline_cycles", "cycles", "offered", "departed", "dropped", "queued", "measured_cycles", "measured_departures", "overtaken", "latencies",
)  # fmt: skip


class Result(ctypes.Structure):
    """pst_fabric_result of engine/src/shim_fabric.cpp."""

    _fields_ = [*((name, ctypes.c_uint64) for name in _COUNTS), ("error", ctypes.c_char * 200)]


def take_size(settings: dict[str, str], key: str, allowed: tuple[int, ...], default: int) -> int:
    """Take one of a few numbers out of `settings`. Raises UserError that names them."""
    value = take_number(settings, key, default, 0, 1 << 32)
    if value not in allowed:
        raise UserError(f"--set {key}={value}: give {', '.join(map(str, allowed[:-1]))} or {allowed[-1]}")
    return value


def pipeline_cycles(ports: int, stages: int) -> int:
    """Return the pipeline's latency in cycles by the paper's formula (section 4.2); `ports` a power of two, `stages` its S."""
    log = ports.bit_length() - 1
    latency = log + max(log * (log + 1) // 2, 2 * log + 1)
    return -(-(latency - log) // stages) + -(-(1 + log) // stages) - 1


def take_hardware(settings: dict[str, str]) -> dict[str, Any]:
    """Take the parameters of `pst_fabric` out of `settings`. Raises UserError for those that it refuses."""
    options = {
        "ports": take_size(settings, "ports", PORTS, 16),
        "stages": take_size(settings, "stages", STAGES, 1),
        "width": take_number(settings, "width", 256, 1, 4096),
        "fifo_depth": take_number(settings, "fifo_depth", 64, 1, 65536),
        "classes": take_number(settings, "classes", 1, 1, 256),
        "back_pressure": take_number(settings, "back_pressure", 0, 0, 1),
    }
    usual = int(not options["back_pressure"] or options["classes"] > 1)
    options["arbiter"] = take_number(settings, "arbiter", usual, 0, 1)
    if options["classes"] > 1 and not options["arbiter"]:
        raise UserError(f"--set classes={options['classes']}: more than one class needs the full arbiter, arbiter=1")
    least = pipeline_cycles(options["ports"], options["stages"]) + 2
    if options["back_pressure"] and options["fifo_depth"] < least:
        raise UserError(f"--set fifo_depth={options['fifo_depth']}: give {least} or more with back_pressure=1 (pipeline cycles + 2)")
    return options


def parameters(options: dict[str, Any]) -> dict[str, str]:
    """Return the parameters of `pst_fabric` for these options."""
    names = {"ports": "Ports", "stages": "Stages", "width": "Width", "fifo_depth": "FifoDepth", "classes": "Classes"}
    flags = {"back_pressure": "BackPressure", "arbiter": "Arbiter"}
    found = {name: str(options[key]) for key, name in names.items()}
    return found | {name: f"1'b{options[key]}" for key, name in flags.items()}


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of the bench from `--set` values (`settings` is used up). Raises UserError."""
    options = {"mode": "fabric", "engine": "rtl", "seed": seed, **take_hardware(settings)}
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
            parameters=parameters(options),
            assertions=False,
        ),
        report,
    )


def run(options: dict[str, Any], path: Path, progress: Progress | None) -> dict[str, Any]:
    """Run the bench and return what it found. Raises RuntimeError when a cell was lost, doubled, changed, misrouted or out of order."""
    import numpy as np

    from penstock.result import distribution

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

    started = time.monotonic()
    failed = ctypes.CDLL(str(path)).pst_fabric_bench(
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
        "wall_seconds": round(time.monotonic() - started, 3),
    }
