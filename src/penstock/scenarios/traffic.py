"""Sources of a scenario made into those of the engine's job: what all designs share.

Times become clock cycles (rounded down). Designs say which queues frames are for.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from penstock.basics.units import PS_PER_SECOND, describe, format_rate, format_time_ns
from penstock.basics.where import Fail
from penstock.command_line.console import working
from penstock.designs.design import Configuration
from penstock.errors import UserError
from penstock.scenarios import headers, pcap, rules
from penstock.scenarios.common import Capture, CommonScenario, CommonSetup, Generated, LiveTraffic, Match
from penstock.scenarios.network import WireTraffic
from penstock.scenarios.scenario import Document, KeyPath

MAX_CYCLES = 2**52  # as far as the engine's clock reaches (kMaxCycles)
INTERVALS = 200
MAX_INTERVALS = 20_000
MIN_ETHERNET_BYTES = 60
MAX_ENGINE_BYTES = 65_535
MAX_PLAYED_FRAMES = 20_000_000  # of one capture, repetitions counted
MAX_KEPT_FRAMES = 4_000_000  # of longer runs only the frames of the queues with a series are kept one by one

Chosen = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int32]]  # frames of a capture, their queues, their lengths


def cycles(picoseconds: int, clock_hz: int) -> int:
    """Return a time in whole clock cycles, rounded down."""
    return picoseconds * clock_hz // PS_PER_SECOND


def reached_cycles(picoseconds: int, clock_hz: int, key: KeyPath, fail: Fail) -> int:
    """Return a time in whole clock cycles, rounded down. `fail` raises UserError for one that the engine's clock does not reach."""
    found = cycles(picoseconds, clock_hz)
    if found > MAX_CYCLES:
        most = format_time_ns(MAX_CYCLES / clock_hz * 1e9)
        fail(key, f"must be at most {most} at {clock_hz / 1e6:g} MHz, not {format_time_ns(picoseconds / 1000)}")
    return found


def interval_cycles(given: int | None, duration: int, drain: int, clock_hz: int, document: Document, notes: list[str]) -> int:
    """Return how wide a point in time is; `given`: `report.interval`. A note says where that makes too many of them. Raises UserError."""
    asked = duration // INTERVALS if given is None else reached_cycles(given, clock_hz, ("report", "interval"), document.fail)
    least = (duration + drain) // MAX_INTERVALS
    if given is not None and asked < least:
        wide = format_time_ns(least / clock_hz * 1e9)
        notes.append(f"Points in time are {wide} wide, not {format_time_ns(given / 1000)}: a run has at most {MAX_INTERVALS:,} of them.")
    return max(1, asked, least)


def before_end(picoseconds: int, end: int, clock_hz: int, key: KeyPath, document: Document) -> int:
    """Return a time in whole clock cycles. Raises UserError for one at or after cycle `end`, at which the run is over, drained or not."""
    found = cycles(picoseconds, clock_hz)
    if found >= end:
        last = format_time_ns(end / clock_hz * 1e9)
        document.fail(key, f"is {format_time_ns(picoseconds / 1000)}, which is not before the end of the run at {last}")
    return found


def span(scenario: CommonScenario, document: Document, clock: int) -> tuple[int, int]:
    """Return how many cycles traffic comes, and how many the device has to run empty. Raises UserError."""
    duration = cycles(scenario.duration, clock)
    if duration < 1:
        document.fail(("duration",), "must be at least one clock cycle")
    drain = duration if scenario.drain is True else cycles(scenario.drain, clock) if scenario.drain else 0
    if duration + drain > MAX_CYCLES:
        most = format_time_ns(MAX_CYCLES / clock * 1e9)
        document.fail(("duration",), f"and the time to drain must be at most {most} together at {clock / 1e6:g} MHz")
    return duration, drain


def line_rate(scenario: CommonSetup, document: Document, config: Configuration, side: str, bus_bits: int, otherwise: int) -> int:
    """Return the rate of the line at each port of one side (`ingress`, `egress`) in bit/s; `otherwise`: where none is given."""
    bus = bus_bits * config.clock_hz
    given: int | None = getattr(scenario.link, side)
    if given is not None and given > bus:
        carries = f"{format_rate(bus)}, the {bus_bits} bit a cycle of {config.name} at {config.clock_hz / 1e6:g} MHz"
        document.fail(("link", side), f"must be at most {carries}, not {format_rate(given)}")
    return given or otherwise


def line_bits(source: dict[str, Any], overhead_bytes: int, clock_hz: int) -> float:
    """Return the bits that a source of a job wants to put on the ingress line, on average where it is random."""
    if source["kind"] in ("tcp", "wire"):
        return 0.0  # it sends what gets through
    if source["kind"] == "frames":
        return 8.0 * float(source["lengths"].sum() + overhead_bytes * len(source["lengths"]))
    size = sum(size * weight for size, weight in source["sizes"]) / sum(weight for _, weight in source["sizes"])
    share = source["on_cycles"] / (source["on_cycles"] + source["off_cycles"]) if "on_cycles" in source else 1.0
    seconds = (source["stop_cycle"] - source["start_cycle"]) / clock_hz
    each = len(source["queues"]) if source["pick"] == "each" else 1
    bps = float(source["bps_each"].sum()) if "bps_each" in source else source["bps"] * each
    return float(bps * seconds * share * (size + overhead_bytes) / size)


def frame_count(source: dict[str, Any], clock_hz: int) -> float:
    """Return how many frames a source of a job brings, on average where it is random."""
    if source["kind"] in ("tcp", "wire"):
        return 0.0  # as its queues allow: tcp.most_frames(); of live traffic only the first ones are kept
    if source["kind"] == "frames":
        return float(len(source["lengths"]))
    size = sum(size * weight for size, weight in source["sizes"]) / sum(weight for _, weight in source["sizes"])
    return line_bits(source, 0, clock_hz) / 8 / size


def check_start(entry: Capture | Generated | LiveTraffic | WireTraffic, key: KeyPath, scenario: CommonScenario, document: Document) -> None:
    """Raise UserError for a source that begins after the end of the run."""
    if not isinstance(entry, WireTraffic) and entry.start >= scenario.duration:
        end = format_time_ns(scenario.duration / 1000)
        document.fail((*key, "start"), f"is {format_time_ns(entry.start / 1000)}, which is not before the end of the run at {end}")


def generator(
    entry: Generated,
    key: KeyPath,
    scenario: CommonScenario,
    document: Document,
    config: Configuration,
    queues: NDArray[np.uint32],
    pick: str,
    bps: dict[str, Any],
    dscps: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return the job's source for an entry that the engine makes frames for. Raises UserError.

    `bps`: its key `bps` or `bps_each`. `dscps`: of each of the `queues`; otherwise the one of the entry's headers is that of all.
    """
    source, clock = entry.source, config.clock_hz
    stop = min(entry.stop, scenario.duration) if entry.stop else scenario.duration
    if cycles(entry.start, clock) == cycles(stop, clock):
        end = f"{format_time_ns(entry.start / 1000)} to {format_time_ns(stop / 1000)}"
        document.fail(
            (*key, "stop" if entry.stop else "start"), f"leaves it {end}, which is less than a clock cycle at {clock / 1e6:g} MHz"
        )
    job: dict[str, Any] = {
        "kind": entry.kind,
        "queues": queues,
        "pick": pick,
        **bps,
        "sizes": [list(pair) for pair in source.size],
        "start_cycle": cycles(entry.start, clock),
        "stop_cycle": cycles(stop, clock),
    }
    if entry.headers is not None:
        sizes = [size for size, _ in source.size]
        try:
            headers.check(entry.headers, sizes, len(queues))
        except ValueError as error:
            document.fail((*key, "headers"), str(error))
        codes = list(dscps) if dscps is not None else [entry.headers.dscp or 0] * len(queues)
        job["headers"] = headers.in_job(entry.headers, codes, queues, sizes)
    if entry.onoff:
        for word, length in (("on", entry.onoff.on), ("off", entry.onoff.off)):
            job[f"{word}_cycles"] = max(1, reached_cycles(length, clock, (*key, "onoff", word), document.fail))
    return job


def capture(
    entry: Capture,
    key: KeyPath,
    scenario: CommonScenario,
    document: Document,
    config: Configuration,
    notes: list[str],
    line: int,
    choose: Callable[[pcap.Frames, str], Chosen],
    skipped: int = 0,
) -> dict[str, Any]:
    """Return the job's source for a capture. `choose(frames, name)` says which of its frames are taken, one at least, for which queues, and
    their lengths without the first `skipped` bytes; `line`: rate of the line in bit/s. Raises UserError.
    """
    path = _located(entry, document)
    shown = path.name
    begin_ns = entry.start / 1000 + _behind_clock_ns(entry, key, scenario, document)
    end_ns = scenario.duration / 1000 - begin_ns
    if end_ns <= 0:
        late = format_time_ns(begin_ns)
        document.fail((*key, "pcap"), f"has its first frame at {late} of the clock that is shared, which is after the end of the run")
    with working(f"Reading {shown}") as report:
        try:
            frames = pcap.read(path, int(end_ns / entry.time_scale) + 1, report, entry.cut == "play")
        except UserError as error:
            document.fail((*key, "pcap"), f"names {error}")
        report(f"Looking for the queues of {len(frames):,} frames of {shown}")
        used, queues, lengths = choose(frames, shown)
    _say_what_is_odd(frames, shown, notes)
    if lengths.max() > MAX_ENGINE_BYTES:
        short = np.flatnonzero(lengths <= MAX_ENGINE_BYTES)
        if not len(short):
            say_none_plays(frames, shown, f"has at most {MAX_ENGINE_BYTES:,} byte", key, document)
        notes.append(f"{len(used) - len(short):,} frames of {shown} are longer than {MAX_ENGINE_BYTES:,} byte and were left out.")
        used, queues, lengths = used[short], queues[short], lengths[short]
    if entry.pad:
        lengths = np.maximum(lengths, MIN_ETHERNET_BYTES)
    times = frames.times_ns[used] * entry.time_scale
    length = float(frames.times_ns[-1]) * entry.time_scale
    # Repetitions follow each other at the mean distance of the frames, and not faster than the line.
    on_line = float(lengths.sum() + len(used) * scenario.link.overhead_bytes) * 8e9 / line
    period = max(length * len(frames) / max(1, len(frames) - 1), on_line)
    repeats = min(entry.repeat, int(end_ns // period) + 1) if frames.whole else 1
    if len(used) * repeats > MAX_PLAYED_FRAMES:
        document.fail((*key, "repeat"), f"plays {len(used) * repeats:,} frames of {shown}, allowed: {MAX_PLAYED_FRAMES:,}; take fewer")
    all_times = (times[None, :] + period * np.arange(repeats)[:, None]).ravel() + begin_ns
    at = np.floor(all_times * (config.clock_hz / 1e9)).astype(np.int64)
    keep = at < cycles(scenario.duration, config.clock_hz)
    after = len(used) * entry.repeat - int(keep.sum())
    if not frames.whole:
        notes.append(f"{shown} goes on after the end of the run; the frames there were left out.")
    elif after:
        notes.append(f"{after:,} frames of {shown} come after the end of the run and were left out.")

    def tiled(array: NDArray[Any]) -> NDArray[Any]:
        return np.tile(array, repeats)[keep]

    return {
        "kind": "frames",
        "cycles": at[keep],
        "queues": tiled(queues),
        "offsets": tiled(frames.offsets[used] + skipped),
        "lengths": tiled(lengths.astype(np.int32)),
        "stored": tiled(frames.stored[used] - np.int32(skipped)),
        "data": np.frombuffer(frames.buffer, dtype=np.uint8),
    }


def _located(entry: Capture, document: Document) -> Path:
    path = Path(entry.pcap)
    return path if path.is_absolute() or document.path is None else document.path.parent / path


def _behind_clock_ns(entry: Capture, key: KeyPath, scenario: CommonScenario, document: Document) -> float:
    """Return when a capture's earliest frame comes, from the earliest of all captures on the shared clock. Raises UserError."""
    if entry.clock != "shared":
        return 0.0
    others = [one for one in scenario.traffic if isinstance(one, Capture) and one.clock == "shared"]
    if any(one.time_scale != entry.time_scale for one in others):
        document.fail((*key, "time_scale"), "must be the same for all captures on the shared clock")
    firsts = {}
    for one in (entry, *others):
        path = _located(one, document)
        try:
            firsts[path] = _first_ns(path, path.stat().st_mtime_ns) if path.exists() else None
        except UserError as error:
            document.fail((*key, "pcap"), f"shares its clock with {error}")
    own = firsts[_located(entry, document)]
    return 0.0 if own is None else (own - min(first for first in firsts.values() if first is not None)) * entry.time_scale


@lru_cache(maxsize=256)
def _first_ns(path: Path, changed_ns: int) -> int:
    """Return the stamp of a capture's earliest frame; `changed_ns`: of the file."""
    return pcap.read(path, 0, None, True).first_ns


def _say_what_is_odd(frames: pcap.Frames, shown: str, notes: list[str]) -> None:
    """Note what of a file is not as one expects of a capture."""
    if frames.early_ns:
        early = format_time_ns(frames.early_ns)
        notes.append(f"Frame {frames.earliest:,} of {shown} is stamped {early} before the first one; times count from it.")
    if frames.jump:
        record, days = frames.jump[0], frames.jump[1] // pcap.DAY_NS
        notes.append(f"Record {record:,} of {shown} is stamped {days:,} days after the one before; only what is before it was read.")
    if frames.cut:
        notes.append(f"{shown} {frames.cut}; what is before is played.")
    for why, count in frames.left_out.items():
        notes.append(f"Left out were {count:,} records of {shown}, which {why}.")


def say_none_plays(frames: pcap.Frames, shown: str, why: str, key: KeyPath, document: Document) -> NoReturn:
    """Raise the UserError for a capture of which none that was taken `why`: "has at most 65,535 byte"."""
    document.fail((*key, "pcap"), f"has no frame to play: none of the {len(frames):,} frames of {_in_time(frames, shown)} {why}")


def _in_time(frames: pcap.Frames, shown: str) -> str:
    return shown if frames.whole else f"{shown} in the time that is played"


def matched(
    frames: pcap.Frames,
    matches: Sequence[Match],
    key: KeyPath,
    unmatched: str | None,
    shown: str,
    document: Document,
    notes: list[str],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the frames that are taken and the number of the rule that each one matches, -1: none.

    `unmatched`: "ignore" leaves these out, "error" refuses them, None takes them. Raises UserError.
    """
    numbers = rules.match_frames(frames, list(matches))
    shown = _in_time(frames, shown)
    missed = np.flatnonzero(numbers < 0)
    if missed.size and unmatched == "error":
        document.fail((*key, "unmatched"), f"is {describe('error')}, and frame {frames.record(missed[0]):,} of {shown} matches no rule")
    if missed.size and unmatched == "ignore":
        notes.append(f"{missed.size:,} of {len(frames):,} frames of {shown} match no rule and were left out.")
    hit = np.bincount(numbers[numbers >= 0], minlength=len(matches))
    for index in np.flatnonzero(hit == 0):
        notes.append(f"Rule {document.key_text((*key, 'map', int(index)))} matches no frame of {shown}.")
    used = np.arange(len(frames)) if unmatched is None else np.flatnonzero(numbers >= 0)
    if not len(used):
        document.fail((*key, "map"), f"matches none of the {len(frames):,} frames of {shown}")
    return used, numbers[used]
