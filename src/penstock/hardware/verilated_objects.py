"""What keeps builds by Verilator short: one file of C++, and object files of its own runtime.

The runtime is the same in every build of a kind, so it is compiled once and lent to the next build.

A kind is a way to call Verilator (`soak`, `cocotb`, `device`), whose options decide how the runtime is compiled. This saves up to nine
seconds of compiler a build.
"""

import importlib.metadata
import os
import shutil
import time
from pathlib import Path

from penstock.paths import BUILD

# One file of C++ for all but the largest designs, as reading headers is most of a small build's time. Verilator's own limit, 20,000
# statements, makes up to ten files and two precompiled headers of them: more than twice the work.
ONE_FILE = ("--output-split", "200000")
NAMES = ("verilated.o", "verilated_dpi.o", "verilated_threads.o", "verilated_vpi.o")


def _store(kind: str) -> Path:
    return BUILD / "verilated" / f"{kind}-{importlib.metadata.version('verilator')}"


def lend(folder: Path, kind: str) -> None:
    """Put what `keep` has kept of this kind into `folder`, before Verilator and make run there."""
    folder.mkdir(parents=True, exist_ok=True)
    tomorrow = time.time() + 86400  # make compares them with a makefile that is yet to be written
    for path in _store(kind).glob("*.o"):
        if not (folder / path.name).exists():
            shutil.copyfile(path, folder / path.name)
            os.utime(folder / path.name, (tomorrow, tomorrow))


def keep(folder: Path, kind: str) -> None:
    """Keep the runtime's objects of a finished build for the next one. Safe to call from several processes at once."""
    store = _store(kind)
    store.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        if (folder / name).exists() and not (store / name).exists():
            part = store / f"{name}.{os.getpid()}"
            shutil.copyfile(folder / name, part)
            part.rename(store / name)
