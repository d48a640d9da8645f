"""What keeps builds by Verilator short: one file of C++, and object files of its own runtime.

The runtime is the same in every build of a kind, so it is compiled once and lent to the next build.

A kind is a way to call Verilator (`soak`, `cocotb`, `device`), whose options decide how the runtime is compiled. This saves up to nine
seconds of compiler a build.
"""

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from penstock import cache
from penstock.basics import keys

# One file of C++ for all but the largest designs, as reading headers is most of a small build's time. Verilator's own limit, 20,000
# statements, makes up to ten files and two precompiled headers of them: more than twice the work.
ONE_FILE = ("--output-split", "200000")
NAMES = ("verilated.o", "verilated_dpi.o", "verilated_threads.o", "verilated_vpi.o")


def _key(kind: str, options: Sequence[str]) -> str:
    return keys.of_build([kind, *options], [], packages=["verilator"])


def lend(folder: Path, kind: str, options: Sequence[str] = ()) -> None:
    """Put what `keep` has kept of this kind into `folder`, before Verilator and make run there.

    `options`: those by which builds of this kind differ and that change how the runtime is compiled.
    """
    folder.mkdir(parents=True, exist_ok=True)
    kept = cache.found("verilated", _key(kind, options))
    tomorrow = time.time() + 86400  # make compares them with a makefile that is yet to be written
    for path in kept.glob("*.o") if kept else ():
        if not (folder / path.name).exists():
            shutil.copyfile(path, folder / path.name)
            os.utime(folder / path.name, (tomorrow, tomorrow))


def keep(folder: Path, kind: str, options: Sequence[str] = ()) -> None:
    """Keep the runtime's objects of a finished build for the next one. Safe to call from several processes at once."""
    objects = [folder / name for name in NAMES if (folder / name).exists()]

    def make(place: Path) -> None:
        for path in objects:
            shutil.copyfile(path, place / path.name)

    if objects:
        cache.once("verilated", _key(kind, options), make)
