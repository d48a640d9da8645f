"""`bench skipfifo`: how much of the memories' bandwidth the deadline port uses, on the verilated hardware; every frame is checked.

Frames of all classes go in and come out as fast as they can, with a backlog between the two that is larger than what waits on the chip: so
each frame is written to memory and read from there. No deadline is over.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.benches import library as bench_library
from penstock.benches import memory_job
from penstock.benches.compiled_once import compiled_once
from penstock.command_line.options import nothing_left, take_number
from penstock.designs.design import Bench
from penstock.engine import memories
from penstock.errors import UserError
from penstock.hardware import bundles, library, verilate
from penstock.paths import BLOCKS
from penstock.scenarios.common import IMIX

FRAMES = 30_000
SHORTEST, LONGEST = 60, 9600
CHUNKS = 2048  # of each memory
HEADER_BYTES = 8
KEYS = (*memory_job.KEYS, "packet_bytes", "packets", "classes", "chunk_bytes", "places", "outstanding", "columns", "run_frames", "ordered")
COLUMN_BYTES = 4 << 20  # of memory of each column of a wide port
LONGEST_WAIT = 2**30 - 1  # cycles

Progress = Callable[[int, int], None]

_MOST_SIZES = 4


class Job(ctypes.Structure):
    """pst_skipfifo_job of engine/src/shim_skipfifo.cpp."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("warm_up", "frames", "backlog", "slack", "seed")),
        ("memories", memory_job.Memories),
        ("sizes", ctypes.c_uint32),
        ("size", ctypes.c_uint32 * _MOST_SIZES),
        ("weight", ctypes.c_uint32 * _MOST_SIZES),
    ]


class Result(ctypes.Structure):
    """pst_skipfifo_result of engine/src/shim_skipfifo.cpp."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("cycles", "frames", "bytes", "frames_in", "bytes_in", "input_waits", "output_waits")),
        ("memories", memory_job.Counts),
        ("backlog", ctypes.c_uint64),
        ("error", ctypes.c_char * 200),
    ]


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of the bench from `--set` values (`settings` is used up). Raises UserError."""
    options: dict[str, Any] = {"mode": "skipfifo", "engine": "rtl", "seed": seed, **memory_job.take(settings)}
    size = settings.get("packet_bytes")
    options["packet_bytes"] = "imix" if size == "imix" else take_number(settings, "packet_bytes", 1514, SHORTEST, LONGEST)
    settings.pop("packet_bytes", None)
    options["packets"] = take_number(settings, "packets", FRAMES, 1000, 1 << 30)
    options["classes"] = take_number(settings, "classes", 3, 2, 256)
    options["chunk_bytes"] = take_number(settings, "chunk_bytes", 4096, 512, 4096)
    options["places"] = take_number(settings, "places", 8, 2, 16)
    options["outstanding"] = take_number(settings, "outstanding", 16, 2, 64)
    for key in ("chunk_bytes", "places", "channels"):
        if options[key] & (options[key] - 1):
            raise UserError(f"--set {key}={options[key]}: give a power of two")
    _take_columns(settings, options)
    nothing_left(settings, KEYS)
    return options


def _take_columns(settings: dict[str, str], options: dict[str, Any]) -> None:
    """Take what concerns a wide port. Up to four memories are one stream's of 512 bit unless the user says otherwise."""
    channels = options["channels"]
    columns = take_number(settings, "columns", 1 if channels <= 4 else 8, 1, 8)
    if columns & (columns - 1) or columns > channels:
        raise UserError(f"--set columns={columns}: give a power of two, at most as many as there are channels ({channels})")
    options["columns"] = columns
    if columns == 1:
        return
    options["run_frames"] = take_number(settings, "run_frames", 16, columns, 256)
    if options["run_frames"] & (options["run_frames"] - 1):
        raise UserError(f"--set run_frames={options['run_frames']}: give a power of two")
    options["ordered"] = take_number(settings, "ordered", 1, 0, 1)


def _memory_bytes(options: dict[str, Any]) -> int:
    """Return the bytes of each memory."""
    if options["columns"] == 1:
        return CHUNKS * int(options["chunk_bytes"])
    return COLUMN_BYTES * int(options["columns"]) // int(options["channels"])


def sizes_of(options: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    """Return the sizes of frames in bytes with the weight of each."""
    return IMIX if options["packet_bytes"] == "imix" else ((options["packet_bytes"], 1),)


def build(options: dict[str, Any], report: Callable[[str], None] | None = None) -> Path:
    """Return the library of the deadline port with the bench and the memories in it."""
    wide = options["columns"] > 1
    each = options["channels"] // options["columns"]
    address = (_memory_bytes(options) * each - 1).bit_length()
    chunks = _memory_bytes(options) // options["chunk_bytes"]
    engine = verilate.ENGINE
    fabric = library.sources_of("pst_memory_spread")
    sources = [*fabric, *(path for path in library.sources_of("pst_edfr_wide") if path not in fabric)]
    parameters = {
        "Classes": str(options["classes"]),
        "ChunkBeats": str(options["chunk_bytes"] // memories.BEAT_BYTES),
        "Places": str(options["places"]),
        "MaxFrameBytes": str(LONGEST),
        "MinFrameBytes": str(SHORTEST),
        "Memories": str(options["channels"]),
        "ChunksOfMemory": str(chunks),
        "MaxOutstanding": str(options["outstanding"]),
    }
    defines = {"PST_ADDR_WIDTH": address, "PST_CLASSES": options["classes"], "PST_COLUMNS": options["columns"]}
    defines |= {"PST_ORDERED": 1, "PST_RUN_FRAMES": 1}
    generated: dict[str, str] = {}
    if wide:
        ordered = options["ordered"]
        parameters |= {"Columns": str(options["columns"]), "RunFrames": str(options["run_frames"]), "Ordered": f"1'b{ordered}"}
        defines |= {"PST_ORDERED": ordered, "PST_RUN_FRAMES": options["run_frames"]}
        generated = _compiled_once(options, parameters, chunks * each, address)
        sources = [path for path in sources if path.name not in generated]
    loop = BLOCKS / "deadline" / "bench" / ("skipfifo_wide_loop.sv" if wide else "skipfifo_loop.sv")
    top, flat = bundles.flat_module(loop)
    return verilate.build(
        verilate.Build(
            name=f"skipfifo_{options['classes']}_{options['channels']}",
            top=top,
            sources=[*sources, loop, *memory_job.SOURCES],
            shim=engine / "src" / "shim_skipfifo.cpp",
            parameters=parameters,
            defines=defines,
            generated={**generated, f"{top}.sv": flat},
            assertions=False,
            hierarchical=wide,
        ),
        report,
    )


def _compiled_once(options: dict[str, Any], parameters: dict[str, str], chunks: int, address: int) -> dict[str, str]:
    """Return what stands for the modules that each column has one of, by file."""
    each, beats = options["channels"] // options["columns"], options["chunk_bytes"] // memories.BEAT_BYTES
    ordered = options["ordered"]
    blocks = {
        "deadline/rtl/pst_edfr.sv": {
            **{key: parameters[key] for key in ("Classes", "ChunkBeats", "Places", "MinFrameBytes", "MaxFrameBytes", "RunFrames")},
            "Columns": str(options["columns"] if ordered else 1),
            "ClassFromUser": "1'b1",
            "ArrivedGiven": "1'b1",
            "Chunks": str(chunks),
            "Reads": parameters["MaxOutstanding"],
            "Writes": parameters["MaxOutstanding"],
            "Decided": "64" if ordered else "4",
            "DefaultCycles": str(LONGEST_WAIT),
        },
        "memory/rtl/pst_memory_fabric.sv": {
            "Memories": str(each),
            "MemBytes": f"{{{each}{{64'd{_memory_bytes(options)}}}}}",
            "AddrWidth": str(address),
            "MaxOutstanding": parameters["MaxOutstanding"],
            "WriteFifoBeats": str(2 * beats),
            "ReadFifoBeats": str(2 * beats),
        },
    }
    return {Path(path).name: compiled_once(BLOCKS / path, values) for path, values in blocks.items()}


def load(path: Path) -> ctypes.CDLL:
    """Return the library of `build`. Raises RuntimeError when its structs are not the ones above."""
    return bench_library.load(path, "skipfifo", Job, Result, __name__)


def job_of(options: dict[str, Any]) -> Job:
    """Return the run as the library takes it.

    The backlog is half of the memory's bytes: each frame goes through memory, and chunks are given out and come back in all orders.
    """
    sizes = sizes_of(options)
    mean = sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)
    every = _memory_bytes(options) * options["channels"] / (mean + HEADER_BYTES)
    job = Job(
        warm_up=round(every), frames=options["packets"], backlog=round(every / 2), slack=round(every / 8), seed=options["seed"],
        memories=memory_job.job(options, _memory_bytes(options)),
    )  # fmt: skip
    for job.sizes, (size, weight) in enumerate(sizes, 1):
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

    if load(path).pst_skipfifo_bench(ctypes.byref(job), ctypes.byref(result), show):
        raise RuntimeError(result.error.decode())
    seconds = result.cycles / (options["clock_mhz"] * 10**6)
    return {
        **memory_job.moved(options, result.memories, result.cycles),
        "goodput_bps": round(8 * result.bytes / seconds),
        "input_bps": round(8 * result.bytes_in / seconds),
        "frames_per_second": round(result.frames / seconds),
        "frames_per_cycle": round(result.frames / result.cycles, 6),
        "cycles": result.cycles,
        "packets": result.frames,
        "backlog": result.backlog,
        "input_waits": round(result.input_waits / result.cycles, 6),
        "output_waits": round(result.output_waits / result.cycles, 6),
        "clock_hz": options["clock_mhz"] * 10**6,
        "port_bits": 8 * memories.BEAT_BYTES * options["columns"],
        "assumed": {"clock_mhz": options["clock_mhz"]},
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return a result in words."""
    config = result["config"]
    size = "IMIX" if config["packet_bytes"] == "imix" else f"frames of {config['packet_bytes']:,} bytes"
    return [
        f"{config['channels']} x {config['memory']}, {size} in {config['classes']} classes, chunks of {config['chunk_bytes']:,} bytes; "
        f"{config['clock_mhz']} MHz (assumed), {result['port_bits']} bit, seed {result['seed']}",
        f"{result['efficiency']:.1%} of {result['theoretical_bps'] / 1e9:.1f} Gbit/s used: {result['buffer_bps'] / 1e9:.1f} Gbit/s, "
        "reads and writes, headers counted",
        f"{result['goodput_bps'] / 1e9:.2f} Gbit/s of frames each way, {result['frames_per_second'] / 1e6:.2f} million frames a second",
        f"{result['write_beats_per_cycle']:.3f} beats written and {result['read_beats_per_cycle']:.3f} read per cycle "
        f"of at most {config['columns']}",
        *memory_job.words(result),
        f"{result['packets']:,} frames out in {result['cycles']:,} cycles; none lost or changed",
    ]


SKIPFIFO = Bench(
    "share of the memories' bandwidth that frames with deadlines get, stored and fetched at once", FRAMES, plan, build, run, lines
)
