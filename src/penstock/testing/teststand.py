"""The stand-in device of engine/test/stand_in.cpp: a device without hardware whose frames' fates tests dictate one by one."""

import hashlib
import os
import subprocess
from collections.abc import Iterable

from penstock.paths import BUILD, ROOT, alone_in

SEND, MARK, DROP, MARK_AND_DROP = range(4)  # enum Verdict of stand_in.cpp
STAYS = 0xFFFF_FFFF  # as a delay: the frame never leaves
MEMORY_BYTES = 65_536  # of its one memory, which it does not use

Writes = list[tuple[int, int]]


def library() -> str:
    """Return the path of the device's library, compiled if need be."""
    source, header = ROOT / "engine/test/stand_in.cpp", ROOT / "engine/include/penstock/pins.h"
    digest = hashlib.sha256(source.read_bytes() + header.read_bytes()).hexdigest()[:16]
    found = BUILD / "stand_in" / f"{digest}.so"
    if found.exists():
        return str(found)
    with alone_in(found.parent):
        made = found.with_suffix(".new")
        command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
        subprocess.run([*command, f"-I{ROOT / 'engine/include'}", str(source), "-o", str(made)], check=True)
        made.rename(found)
    return str(found)


def with_aqm() -> Writes:
    """Return the register write that gives the device an AQM: it reports each frame that a queue gives away."""
    return [(0x808, 1)]


def dictate(frame: int, delay: int | None = None, reason: int = 0, verdict: int = SEND, patches: Iterable[tuple[int, int]] = ()) -> Writes:
    """Return the register writes that say what becomes of a frame (from 1, as they come).

    `delay`: cycles from its last beat in to its first beat out; `reason`: code of the drop reason, 1 to 4 by classify, 5 to 8 by its
    queue; `verdict` of the AQM when its turn comes; `patches`: bytes that change in it, as (offset, value).
    """
    writes = [(0x810, frame), (0x818, reason), (0x81C, verdict)]
    writes += [] if delay is None else [(0x814, delay)]
    return writes + [(0x820, offset << 8 | value) for offset, value in patches]
