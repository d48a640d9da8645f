"""Memories of a bench on verilated hardware: options of `--set`, and the structs that bench_memories.hpp of the engine takes and gives."""

import ctypes
from typing import Any

from penstock.command_line.options import take_number
from penstock.engine import memories
from penstock.errors import UserError
from penstock.hardware import verilate

IDEAL = {"read_latency": 40, "write_latency": 20, "gap_permille": 0}  # cycles, as in scenarios that say nothing
# What can be set of a channel's controller, with its range; all by default as the kind of memory has it.
CONTROLLER = {"queue": (4, 1024), "batch": (1, 1024), "close_rows": (0, 1), "hash_groups": (0, 1)}
KEYS = ("memory", "channels", "clock_mhz", "mapping", "crossbar", *CONTROLLER)
# The sources that stand behind the header, for the library of a bench.
SOURCES = tuple(verilate.ENGINE / "src" / f"{name}.cpp" for name in ("memory_model", "hbm_switch", "dram_port", "dram_controller"))

_TIMING = (
    "burst", "cl", "cwl", "rcd_read", "rcd_write", "rp", "ras", "rrd_s", "rrd_l", "faw", "ccd_s", "ccd_l", "wtr_s", "wtr_l", "rtw", "rtp",
    "wr", "rfc", "refi",
)  # fmt: skip
_PLACES = ("access_bytes", "groups", "banks", "row_accesses")
_QUEUES = (
    "hash_groups", "row_bus", "read_queue", "write_queue", "batch", "drain_from", "drain_after", "hit_limit", "close_rows", "forward",
    "bursts", "reorder_beats", "read_latency", "write_latency",
)  # fmt: skip
_CROSSBAR = ("one_id", "fragment_beats", "beat_ticks", "turn_ticks", "request", "answer")
_BOUNDARIES = 7
_MAPPINGS = ("own", "across", "spread")  # penstock::engine::HbmSwitchSettings::Mapping
_FIELDS = {"column": 0, "group": 1, "bank": 2}  # penstock::engine::DramField::Of
_MOST_FIELDS = 32
_DRAM_COUNTS = ("reads", "writes", "forwarded", "activates", "refreshes", "turns")


class Timing(ctypes.Structure):
    """penstock::engine::DramTiming."""

    _fields_ = [(name, ctypes.c_uint32) for name in _TIMING]


class Memories(ctypes.Structure):
    """pst_bench_memories."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("bytes", "ticks", "per_cycles")),
        *((name, ctypes.c_uint32) for name in (*_PLACES, "fields")),
        ("of", ctypes.c_uint32 * _MOST_FIELDS),
        ("bits", ctypes.c_uint32 * _MOST_FIELDS),
        *((name, ctypes.c_uint32) for name in _QUEUES),
        ("timing", Timing),
        ("first_refresh", ctypes.c_uint32 * memories.MAX_CHANNELS),
        *((name, ctypes.c_uint32) for name in ("dram", "channels", "crossbar", "crossbar_mapping")),
        *((name, ctypes.c_uint64) for name in ("crossbar_ticks", "crossbar_per_cycles")),
        *((f"crossbar_{name}", ctypes.c_uint32) for name in _CROSSBAR),
        ("hop_request", ctypes.c_uint32 * _BOUNDARIES),
        ("hop_answer", ctypes.c_uint32 * _BOUNDARIES),
    ]


class Counts(ctypes.Structure):
    """pst_bench_memory_counts."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("read_beats", "write_beats", *_DRAM_COUNTS)),
        ("beats", ctypes.c_uint64 * memories.MAX_CHANNELS),
    ]


def take(settings: dict[str, str]) -> dict[str, Any]:
    """Return the options that say which memories there are, from `--set` values (those are used up). Raises UserError."""
    memory = settings.pop("memory", "ddr4_2400")
    try:
        memories.check_kind(memory)
    except ValueError as error:
        raise UserError(f"--set memory: {error}") from None
    options: dict[str, Any] = {"memory": memory, "channels": take_number(settings, "channels", 1, 1, memories.MAX_CHANNELS)}
    options["clock_mhz"] = take_number(settings, "clock_mhz", 300, 50, 1000)
    given: dict[str, Any] = {key: take_number(settings, key, 0, *CONTROLLER[key]) for key in CONTROLLER if key in settings}
    given |= {key: bool(given[key]) for key in ("close_rows", "hash_groups") if key in given}
    given |= {key: settings.pop(key) for key in ("mapping", "crossbar") if key in settings}
    try:
        memories.check_controller(memory, memories.Controller(**given))
    except ValueError as error:
        raise UserError(f"--set: {error}") from None
    return options | given


def theoretical_bps(options: dict[str, Any]) -> int:
    """Return what all memories carry at most: over the data pins of DRAM, or over both directions of the AXI4 ports of the others."""
    kinds = memories.dram_kinds()
    if options["memory"] in kinds:
        return kinds[options["memory"]].bytes_per_second * 8 * options["channels"]
    return 2 * 8 * memories.BEAT_BYTES * options["clock_mhz"] * 10**6 * options["channels"]


def job(options: dict[str, Any], memory_bytes: int) -> Memories:
    """Return the memories of `options` (from `take`), of so many bytes each, as the library takes them."""
    found = Memories(bytes=memory_bytes, channels=options["channels"])
    given = memories.Controller(**{key: options[key] for key in ("mapping", "crossbar", *CONTROLLER) if key in options})
    for channel in range(options["channels"]):
        keys = memories.in_job(options["memory"], given, options["clock_mhz"] * 10**6, channel, IDEAL, (0, options["channels"]))
        if "dram" in keys:
            found.first_refresh[channel] = keys["dram"].pop("first_refresh")
    if "dram" not in keys:
        found.read_latency, found.write_latency = keys["read_latency"], keys["write_latency"]
        return found
    if "crossbar" in keys:
        _set_crossbar(found, keys["crossbar"])
    dram = keys["dram"]
    found.dram, found.timing = 1, Timing(**dram.pop("timing"))
    for found.fields, field in enumerate(dram.pop("mapping"), 1):
        found.of[found.fields - 1], found.bits[found.fields - 1] = _FIELDS[field["of"]], field["bits"]
    for key, value in dram.items():
        if key not in ("ticks", "per_cycles", *_PLACES, *_QUEUES):
            raise RuntimeError(f"penstock.benches.memory_job.Memories has no {key}")
        setattr(found, key, value)
    return found


def _set_crossbar(found: Memories, keys: dict[str, Any]) -> None:
    found.crossbar, found.crossbar_mapping = 1, _MAPPINGS.index(keys["mapping"])
    for key in ("ticks", "per_cycles", *_CROSSBAR):
        setattr(found, f"crossbar_{key}", keys[key])
    for key in ("hop_request", "hop_answer"):
        for boundary, hop in enumerate(keys[key]):
            getattr(found, key)[boundary] = hop["ticks"]


def moved(options: dict[str, Any], counts: Counts, cycles: int) -> dict[str, Any]:
    """Return what the memories moved in so many cycles, as keys of a bench's result."""
    seconds = cycles / (options["clock_mhz"] * 10**6)
    most, beats = theoretical_bps(options), counts.read_beats + counts.write_beats
    found: dict[str, Any] = {
        "efficiency": round(8 * memories.BEAT_BYTES * beats / seconds / most, 6),
        "buffer_bps": round(8 * memories.BEAT_BYTES * beats / seconds),
        "theoretical_bps": most,
        "write_beats_per_cycle": round(counts.write_beats / cycles, 6),
        "read_beats_per_cycle": round(counts.read_beats / cycles, 6),
        "channels": [{"share": round(count / beats, 6)} for count in counts.beats[: options["channels"]]],
    }
    if options["memory"] in memories.dram_kinds():
        found["dram"] = {key: getattr(counts, key) for key in _DRAM_COUNTS}
    return found


def words(result: dict[str, Any]) -> list[str]:
    """Return what the memories did, in lines for people."""
    shares = [channel["share"] for channel in result["channels"]]
    found = [f"each memory carries {min(shares):.1%} to {max(shares):.1%} of the beats"]
    if "dram" in result:
        dram = result["dram"]
        accesses = dram["reads"] + dram["writes"]
        rows, turns = (accesses / max(dram[key], 1) for key in ("activates", "turns"))
        found.append(f"DRAM: an activate for {rows:.1f} accesses, {turns:.1f} accesses between two turns of the bus")
    return found
