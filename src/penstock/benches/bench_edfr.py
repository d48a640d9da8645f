"""`bench edfr`: decisions per cycle of the encoder `pst_deadline_encoder`, on the verilated hardware; every decision is judged.

A run takes each number of classes through each pattern; `decisions_per_cycle` is the least of all.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.benches import library as bench_library
from penstock.command_line.options import nothing_left, take_number
from penstock.designs.design import Bench
from penstock.hardware import library, verilate

# As pst_edfr_job numbers them, with words.
PATTERNS = {
    "random": "all classes, deadlines at random",
    "hot": "one class has all frames",
    "two": "two classes in turn",
    "alone": "every frame alone in its class",
    "expired": "all are over, the output is not ready",
}
CLASSES = (64, 256)
FRAMES = 50_000  # decisions of each run
LINE = 8  # headers of 8 bytes in a beat: what the head side has at hand of a class
REFILL = 3  # cycles from the last of them to the class's next head
MARGIN = 0.68
KEYS = ("classes", "frames", "line", "refill")

Progress = Callable[[int, int], None]


class Job(ctypes.Structure):
    """pst_edfr_job of engine/src/shim_edfr.cpp."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("classes", "pattern", "line", "refill")] + [
        (name, ctypes.c_uint64) for name in ("frames", "seed")
    ]


_COUNTS = ("cycles", "decisions", "drops", "heads", "longest_wait", "heads_waited", "idle")


class Result(ctypes.Structure):
    """pst_edfr_result of engine/src/shim_edfr.cpp."""

    _fields_ = [*((name, ctypes.c_uint64) for name in _COUNTS), ("error", ctypes.c_char * 200)]


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of the bench from `--set` values (`settings` is used up). Raises UserError."""
    options: dict[str, Any] = {"mode": "edfr", "engine": "rtl", "seed": seed}
    options["classes"] = [take_number(settings, "classes", 64, 2, 256)] if "classes" in settings else list(CLASSES)
    options["packets"] = take_number(settings, "frames", FRAMES, 1000, 1 << 30) * len(options["classes"]) * len(PATTERNS)
    options["line"] = take_number(settings, "line", LINE, 1, 1 << 20)
    options["refill"] = take_number(settings, "refill", REFILL, 1, 1000)
    nothing_left(settings, KEYS)
    return options


def _build(classes: int, report: Callable[[str], None] | None) -> Path:
    return verilate.build(
        verilate.Build(
            name=f"edfr_{classes}",
            top="pst_deadline_encoder",
            sources=[path for path in library.sources_of("pst_deadline_encoder") if path.stem == "pst_deadline_encoder"],
            shim=verilate.ENGINE / "src" / "shim_edfr.cpp",
            parameters={"Classes": str(classes)},
            assertions=False,
        ),
        report,
    )


def build(options: dict[str, Any], report: Callable[[str], None] | None = None) -> Path:
    """Build the encoder with the bench in it, once for each number of classes; return the last library."""
    return [_build(classes, report) for classes in options["classes"]][-1]


def load(path: Path) -> ctypes.CDLL:
    """Return the library of `build`. Raises RuntimeError when its structs are not the ones above."""
    return bench_library.load(path, "edfr", Job, Result, __name__)


def run(options: dict[str, Any], _path: Path | None, progress: Progress | None) -> dict[str, Any]:
    """Run the bench and return what it found. Raises RuntimeError when a decision was not the earliest of all heads."""
    runs: list[dict[str, Any]] = []
    frames = options["packets"] // len(options["classes"]) // len(PATTERNS)
    cycles = 0
    for classes in options["classes"]:
        library_ = load(_build(classes, None))
        for number, pattern in enumerate(PATTERNS):
            job = Job(classes=classes, pattern=number, line=options["line"], refill=options["refill"], frames=frames, seed=options["seed"])
            result, before, of_run = Result(), len(runs) * frames, cycles

            @ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_uint64, ctypes.c_uint64)
            def show(done: int, run_cycles: int, before: int = before, of_run: int = of_run) -> bool:
                if progress:
                    progress(before + done, of_run + run_cycles)
                return True

            if library_.pst_edfr_bench(ctypes.byref(job), ctypes.byref(result), show):
                raise RuntimeError(f"{classes} classes, {pattern}: {result.error.decode()}")
            cycles += result.cycles
            runs.append({
                "classes": classes, "pattern": pattern, "decisions_per_cycle": round(result.decisions / result.cycles, 6),
                "cycles": result.cycles, "decisions": result.decisions, "drops": result.drops, "heads": result.heads,
                "head_waits": {"mean": round(result.heads_waited / max(result.heads, 1), 6), "max": result.longest_wait},
            })  # fmt: skip
    return {
        "decisions_per_cycle": min(run["decisions_per_cycle"] for run in runs),
        "at_least": MARGIN,
        "runs": runs,
        "cycles": cycles,
        "packets": len(runs) * frames,
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return a result in words."""
    config = result["config"]
    return [
        f"up to {config['line']} frames of a class at hand, its next head {config['refill']} cycles later, seed {result['seed']}",
        *(
            f"{run['classes']:4} classes, {PATTERNS[run['pattern']]}: {run['decisions_per_cycle']:.4f} decisions per cycle, "
            f"a head waits {run['head_waits']['mean']:.2f} cycles, {run['head_waits']['max']} at most"
            for run in result["runs"]
        ),
        f"least {result['decisions_per_cycle']:.4f}, wanted {result['at_least']}; every decision was the earliest of all heads",
    ]


EDFR = Bench("decisions per cycle of the deadline encoder, every decision judged", 10 * FRAMES, plan, build, run, lines)
