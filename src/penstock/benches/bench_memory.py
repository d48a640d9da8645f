"""`bench memory`: how much of the memories' bandwidth the block `memory` uses, on the verilated hardware; every frame is checked.

Each pair of rx and tx handler stores and fetches frames as fast as it can, with a backlog between the two that all share; behind the fabric
is one memory for each channel, with the engine's timing.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.benches import library as bench_library
from penstock.benches import memory_job
from penstock.command_line.options import nothing_left, take_choice, take_number
from penstock.designs.design import Bench
from penstock.errors import UserError
from penstock.hardware import bundles, library, verilate
from penstock.paths import BLOCKS
from penstock.scenarios.common import IMIX

FRAMES = 50_000
LONGEST = 9600
ORDERS = ("random", "fifo")  # the numbers of pst_memory_job
BOUNDARY = 4096
MOST_PAIRS = 16
BURST = 64  # beats of the longest burst: what several pairs need in the FIFO of each for read data
KEYS = (
    *memory_job.KEYS, "size", "page_bytes", "pages", "order", "frames", "packets", "pairs", "outstanding", "write_fifo", "read_fifo",
)  # fmt: skip

Progress = Callable[[int, int], None]

_MOST_SIZES = 4


class Job(ctypes.Structure):
    """pst_memory_job of engine/src/shim_memory.cpp."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("warm_up", "frames", "backlog", "slack", "seed")),
        ("memories", memory_job.Memories),
        *((name, ctypes.c_uint32) for name in ("pairs", "fifo", "sizes")),
        ("size", ctypes.c_uint32 * _MOST_SIZES),
        ("weight", ctypes.c_uint32 * _MOST_SIZES),
    ]


_COUNTS = ("cycles", "frames", "bytes", "frames_in", "bytes_in", "input_waits", "output_beats")


class Result(ctypes.Structure):
    """pst_memory_result of engine/src/shim_memory.cpp."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in _COUNTS),
        ("memories", memory_job.Counts),
        ("backlog", ctypes.c_uint64),
        ("bytes_of", ctypes.c_uint64 * MOST_PAIRS),
        ("error", ctypes.c_char * 200),
    ]


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of the bench from `--set` values (`settings` is used up). Raises UserError."""
    options: dict[str, Any] = {"mode": "memory", "engine": "rtl", "seed": seed, **memory_job.take(settings)}
    channels = options["channels"]
    options["size"] = "imix" if settings.get("size") == "imix" else take_number(settings, "size", 1514, 1, LONGEST)
    settings.pop("size", None)
    longest = max(size for size, _ in sizes_of(options))
    page = take_number(settings, "page_bytes", max(2048, -(-longest // 64) * 64), 64, 16384)
    if page % 64 or page < longest:
        raise UserError(f"--set page_bytes={page}: give a multiple of 64 that holds the longest frame of {longest:,} bytes")
    options["page_bytes"] = page
    options["pages"] = take_number(settings, "pages", 8192, 256, 65536)
    options["order"] = take_choice(settings, "order", ORDERS)
    every = options["pages"] * channels
    options["frames"] = take_number(settings, "frames", every // 2, 1, every * 3 // 4)
    options["packets"] = take_number(settings, "packets", FRAMES, 1000, 1 << 30)
    options["pairs"] = take_number(settings, "pairs", 1, 1, MOST_PAIRS)
    options["outstanding"] = take_number(settings, "outstanding", 64, 2, 1024)
    options["write_fifo"] = take_number(settings, "write_fifo", 32, 2, 1024)
    several = options["pairs"] > 1
    options["read_fifo"] = take_number(settings, "read_fifo", BURST if several else 32, BURST if several else 2, 1024)
    nothing_left(settings, KEYS)
    return options


def sizes_of(options: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    """Return the sizes of frames in bytes with the weight of each."""
    return IMIX if options["size"] == "imix" else ((options["size"], 1),)


def _memory_bytes(options: dict[str, Any]) -> int:
    return -(-options["pages"] * options["page_bytes"] // BOUNDARY) * BOUNDARY


def _packed(value: int, width: int, count: int) -> str:
    return f"{width * count}'h" + f"{value:0{width // 4}x}" * count


def build(options: dict[str, Any], report: Callable[[str], None] | None = None) -> Path:
    """Return the library of the block with the bench and the memories in it."""
    count, memory_bytes = options["channels"], _memory_bytes(options)
    address = max(13, (memory_bytes * count - 1).bit_length())
    engine = verilate.ENGINE
    loop = BLOCKS / "memory" / "bench" / "memory_loop.sv"
    top, flat = bundles.flat_module(loop)
    return verilate.build(
        verilate.Build(
            name=f"memory_{options['pairs']}_{count}",
            top=top,
            sources=[
                *library.sources_of("pst_memory_fabric"),
                loop,
                *memory_job.SOURCES,
            ],
            shim=engine / "src" / "shim_memory.cpp",
            parameters={
                "Pairs": str(options["pairs"]),
                "Memories": str(count),
                "MemPages": _packed(options["pages"], 32, count),
                "MemPageBytes": _packed(options["page_bytes"], 32, count),
                "MemBytes": _packed(memory_bytes, 64, count),
                "AddrWidth": str(address),
                "MaxOutstanding": str(options["outstanding"]),
                "WriteFifoBeats": str(options["write_fifo"]),
                "ReadFifoBeats": str(options["read_fifo"]),
            },
            generated={f"{top}.sv": flat},
            defines={
                "PST_ADDR_WIDTH": address,
                "PST_PAIRS": options["pairs"],
                "PST_DESC_WIDTH": (options["pages"] * count - 1).bit_length(),
            },  # fmt: skip
            assertions=False,
        ),
        report,
    )


def load(path: Path) -> ctypes.CDLL:
    """Return the library of `build`. Raises RuntimeError when its structs are not the ones above."""
    return bench_library.load(path, "memory", Job, Result, __name__)


def job_of(options: dict[str, Any]) -> Job:
    """Return the run as the library takes it.

    It warms up until each page has been given out: from then on pages come in the order in which they came back. Beside the backlog there
    are at most twice as many frames as all handlers can have under way: enough for both, few enough that as much goes in as out.
    """
    every = options["pages"] * options["channels"]
    job = Job(
        warm_up=every, frames=options["packets"], backlog=options["frames"], seed=options["seed"],
        slack=min(every // 4, (4 * options["outstanding"] + 64) * options["pairs"]), pairs=options["pairs"],
        memories=memory_job.job(options, _memory_bytes(options)), fifo=ORDERS.index(options["order"]),
    )  # fmt: skip
    for job.sizes, (size, weight) in enumerate(sizes_of(options), 1):
        job.size[job.sizes - 1], job.weight[job.sizes - 1] = size, weight
    return job


def run(options: dict[str, Any], path: Path | None, progress: Progress | None) -> dict[str, Any]:
    """Run the bench and return what it found. Raises RuntimeError when a frame was lost, doubled, changed or out of order."""
    assert path is not None
    job, result = job_of(options), Result()

    @ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_uint64, ctypes.c_uint64)
    def show(out: int, cycles: int) -> bool:
        if progress:
            progress(out * options["packets"] // (job.warm_up + job.frames), cycles)
        return True

    if load(path).pst_memory_bench(ctypes.byref(job), ctypes.byref(result), show):
        raise RuntimeError(result.error.decode())
    seconds = result.cycles / (options["clock_mhz"] * 10**6)
    return {
        **memory_job.moved(options, result.memories, result.cycles),
        "goodput_bps": round(8 * result.bytes / seconds),
        "input_bps": round(8 * result.bytes_in / seconds),
        "frames_per_second": round(result.frames / seconds),
        "cycles": result.cycles,
        "packets": result.frames,
        "backlog": result.backlog,
        "input_waits": round(result.input_waits / result.cycles / options["pairs"], 6),
        "pairs": [{"goodput_bps": round(8 * count / seconds)} for count in result.bytes_of[: options["pairs"]]],
        "assumed": {"clock_mhz": options["clock_mhz"]},
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return a result in words."""
    config = result["config"]
    size = "IMIX" if config["size"] == "imix" else f"frames of {config['size']:,} bytes"
    found = [
        f"{config['channels']} x {config['memory']}, {size} in pages of {config['page_bytes']:,}, out in {config['order']} order, "
        f"{config['frames']:,} waiting; {config['clock_mhz']} MHz (assumed), seed {result['seed']}",
        f"{result['efficiency']:.1%} of {result['theoretical_bps'] / 1e9:.1f} Gbit/s used: {result['buffer_bps'] / 1e9:.1f} Gbit/s, "
        "reads and writes",
        f"{result['goodput_bps'] / 1e9:.2f} Gbit/s of frames each way, {result['frames_per_second'] / 1e6:.2f} million frames a second",
        f"{result['write_beats_per_cycle']:.3f} beats written and {result['read_beats_per_cycle']:.3f} read per cycle of at most "
        f"{config['pairs']}, one for each pair of handlers",
        *memory_job.words(result),
    ]
    return [*found, f"{result['packets']:,} frames out in {result['cycles']:,} cycles; none lost or changed"]


MEMORY = Bench("share of the memories' bandwidth that frames get, stored and fetched at once", FRAMES, plan, build, run, lines)
