"""`bench classify`: frames to queues on the verilated hardware: headers, profiles, lookups, and subscribers that come and go meanwhile.

A frame of 60 bytes comes in every cycle, with two VLAN tags or an IPv4 address. First the table is filled to its load, then subscribers
are deleted and inserted while the load stays. Each queue is judged.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.benches import library as bench_library
from penstock.command_line.options import nothing_left, take_number
from penstock.designs.design import Bench
from penstock.errors import UserError
from penstock.hardware import library, verilate
from penstock.paths import BLOCKS

ENTRIES = 262_144
LOAD = 92  # percent
INSERTS = 100_000  # while the load stays
CLOCK_MHZ = 220  # assumed
KEYS = ("entries", "load", "inserts", "clock_mhz")
FOLDER = BLOCKS / "profile" / "bench"

Progress = Callable[[int, int], None]


class Job(ctypes.Structure):
    """pst_classify_job of blocks/profile/bench/shim_classify.cpp."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("entries", "reserved")] + [
        (name, ctypes.c_uint64) for name in ("keys", "inserts", "seed")
    ]


_COUNTS = (
    "fill_cycles", "fill_moves", "cycles", "frames", "parsed", "lookups", "hits", "misses",
    "inserts", "deletes", "moves", "slowest", "keys",
)  # fmt: skip


class Result(ctypes.Structure):
    """pst_classify_result of blocks/profile/bench/shim_classify.cpp."""

    _fields_ = [*((name, ctypes.c_uint64) for name in _COUNTS), ("error", ctypes.c_char * 200)]


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of the bench from `--set` values (`settings` is used up). Raises UserError."""
    options: dict[str, Any] = {"mode": "classify", "engine": "rtl", "seed": seed}
    options["entries"] = take_number(settings, "entries", ENTRIES, 64, 1 << 20)
    if options["entries"] & (options["entries"] - 1):
        raise UserError(f"--set entries={options['entries']}: must be a power of two from 64 to 1048576")
    options["load"] = take_number(settings, "load", LOAD, 1, 95)
    options["packets"] = take_number(settings, "inserts", INSERTS, 100, 1 << 30)
    options["clock_mhz"] = take_number(settings, "clock_mhz", CLOCK_MHZ, 50, 1000)
    options["work"] = options["packets"] + _keys(options)
    nothing_left(settings, KEYS)
    return options


def _keys(options: dict[str, Any]) -> int:
    return -(-options["entries"] * options["load"] // 100)


def build(options: dict[str, Any], report: Callable[[str], None] | None = None) -> Path:
    """Return the library of the loop with the bench in it."""
    return verilate.build(
        verilate.Build(
            name=f"classify_{options['entries']}",
            top="classify_loop",
            sources=_sources(),
            shim=FOLDER / "shim_classify.cpp",
            parameters={"Entries": str(options["entries"])},
            assertions=False,
        ),
        report,
    )


def _sources() -> list[Path]:
    return list(dict.fromkeys([*library.sources_of("pst_parse"), *library.sources_of("pst_subscriber"), FOLDER / "classify_loop.sv"]))


def load(path: Path) -> ctypes.CDLL:
    """Return the library of `build`. Raises RuntimeError when its structs are not the ones above."""
    return bench_library.load(path, "classify", Job, Result, __name__)


def run(options: dict[str, Any], path: Path | None, progress: Progress | None) -> dict[str, Any]:
    """Run the bench and return what it found. Raises RuntimeError when a key or an answer was wrong."""
    assert path is not None
    job = Job(entries=options["entries"], keys=_keys(options), inserts=options["packets"], seed=options["seed"])
    result = Result()

    @ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_uint64, ctypes.c_uint64)
    def show(done: int, cycles: int) -> bool:
        if progress:
            progress(done, cycles)
        return True

    if load(path).pst_classify_bench(ctypes.byref(job), ctypes.byref(result), show):
        raise RuntimeError(result.error.decode())
    seconds = result.cycles / (options["clock_mhz"] * 10**6)
    return {
        "lookups_per_cycle": round(result.lookups / result.cycles, 6),
        "parsed_per_cycle": round(result.parsed / result.cycles, 6),
        "inserts_per_second": round(result.inserts / seconds),
        "load": round(result.keys / options["entries"], 6),
        "cycles": result.cycles,
        "frames": result.frames,
        "hits": result.hits,
        "misses": result.misses,
        "inserts": result.inserts,
        "deletes": result.deletes,
        "moves_per_insert": round(result.moves / result.inserts, 3),
        "slowest_cycles": result.slowest,
        "fill": {"cycles": result.fill_cycles, "moves": result.fill_moves},
        "packets": result.frames,
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return a result in words."""
    config = result["config"]
    return [
        f"{config['entries']:,} entries, {result['load']:.1%} of them used, seed {result['seed']}",
        f"{result['parsed_per_cycle']:.4f} frames of 60 bytes parsed and {result['lookups_per_cycle']:.4f} keys looked up per cycle",
        f"{result['inserts_per_second'] / 1e6:.2f} million inserts a second, and as many deletes, at an assumed {config['clock_mhz']} MHz",
        f"{result['moves_per_insert']:.2f} moves an insert; the slowest operation took {result['slowest_cycles']:,} cycles",
        f"{result['hits']:,} hits and {result['misses']:,} misses, each as a dictionary has it",
    ]


CLASSIFY = Bench(
    "frames parsed and subscribers found per cycle while others come and go, every answer judged", INSERTS, plan, build, run, lines
)
