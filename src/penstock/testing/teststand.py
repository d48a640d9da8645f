"""The stand-in device of engine/test/stand_in.cpp: a device without hardware whose frames' fates tests dictate one by one."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from penstock.basics import programs
from penstock.engine import engine
from penstock.paths import ROOT
from penstock.testing.testkit import seed

SEND, MARK, DROP, MARK_AND_DROP = range(4)  # enum Verdict of stand_in.cpp
STAYS = 0xFFFF_FFFF  # as a delay: the frame never leaves
MEMORY_BYTES = 65_536  # of its one memory, which it does not use

CLOCK_HZ = 125_000_000  # of `run`
LINE_BPS = 100e9

Job = dict[str, Any]
MakeJob = Callable[..., Job]
Writes = list[tuple[int, int]]


def library(segments: int = 1) -> str:
    """Return the path of the device's library, compiled if need be; its streams have so many segments."""
    flags = ["-O1", *programs.STRICT, "-shared", "-fPIC", f"-DPST_SEGMENTS={segments}"]
    return str(programs.built("stand_in.so", [ROOT / "engine/test/stand_in.cpp"], flags))


def with_aqm(ahead: int = 1) -> Writes:
    """Return the register write that gives the device an AQM: it reports each frame that a queue gives away.

    `ahead`: frames that may have been given away and have not left yet.
    """
    return [(0x808, ahead)]


def dictate(frame: int, delay: int | None = None, reason: int = 0, verdict: int = SEND, patches: Iterable[tuple[int, int]] = ()) -> Writes:
    """Return the register writes that say what becomes of a frame (from 1, as they come).

    `delay`: cycles from its last beat in to its first beat out; `reason`: code of the drop reason, 1 to 4 by classify, 5 to 8 by its
    queue; `verdict` of the AQM when its turn comes; `patches`: bytes that change in it, as (offset, value).
    """
    writes = [(0x810, frame), (0x818, reason), (0x81C, verdict)]
    writes += [] if delay is None else [(0x814, delay)]
    return writes + [(0x820, offset << 8 | value) for offset, value in patches]


def maker(device: Job) -> MakeJob:
    """Return a function that makes jobs for the stand-in, of which `device` says what design it is taken for."""

    def make(sources: list[Job], fault: int = 0, parameter: int = 0, **keys: Any) -> Job:
        job: Job = {
            "device": dict(device),
            "seed": seed(),
            "duration_cycles": 20_000,
            "drain": True,
            "max_cycles": 200_000,
            "quiet_cycles": 2_000,
            "ingress_bps": LINE_BPS,
            "egress_bps": LINE_BPS,
            "register_writes": [(0x804, parameter), (0x800, fault)],
            "sources": sources,
            "keep_departures": True,
        }
        return job | keys

    return make


def recorded(frames: list[tuple[int, int, int]], content: list[bytes] | None = None) -> Job:
    """A source of frames (queue, first bit on the line, bytes); `content`: what they begin with, else noise."""
    queues, starts, lengths = (np.array(column, dtype=np.int64) for column in zip(*frames, strict=True))
    stored = [len(data) for data in content] if content else [0] * len(frames)
    data = np.frombuffer(b"".join(content or []) + b"\0", dtype=np.uint8)
    offsets = np.cumsum([0, *stored])[:-1]
    return {"kind": "frames", "cycles": starts, "queues": queues, "offsets": offsets, "lengths": lengths, "stored": stored, "data": data}


def run(make: MakeJob, source: Job, orders: Writes, fault: int = 0, parameter: int = 0, **keys: Any) -> Job:
    """Run a job at 125 MHz between lines of 1 Gbit/s; `orders` are register writes of this module."""
    job = make([source], fault, parameter, **({"ingress_bps": 1e9, "egress_bps": 1e9, "sample_queues": list(range(16))} | keys))
    job["device"] |= {"clock_hz": keys.pop("clock_hz", CLOCK_HZ)}
    job.pop("clock_hz", None)
    job["register_writes"] += orders
    return engine.run(job)


# Queue 3: accepted, but dropped by the AQM when its turn comes; dropped by the AQM on arrival; at the tail; sent; sent with a mark.
IPV4 = bytes.fromhex("020000000001 020000000002 0800 450200560000000040116693 0A000001 0A000002")
AQM_FRAMES = recorded([(3, 400 * i, 100 + i) for i in range(5)], [b"", b"", b"", b"", IPV4])
AQM_ORDERS = [
    *with_aqm(),
    *dictate(1, verdict=DROP),
    *dictate(2, reason=8),
    *dictate(3, reason=6),
    *dictate(5, verdict=MARK, patches=[(15, 3), (25, 0x92)]),
]
