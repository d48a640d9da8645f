"""What keeps builds by Verilator short: one file of C++, what the compiler need not do, and object files of its own runtime.

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
from penstock.basics import children, keys
from penstock.errors import ToolError
from penstock.paths import plain, tool_environment

# One file of C++ for all but the largest designs, as reading headers is most of a small build's time. Verilator's own limit, 20,000
# statements, makes up to ten files and two precompiled headers of them: more than twice the work.
ONE_FILE = ("--output-split", "200000")
# Verilator writes functions of thousands of statements, all about members of one struct. By default GCC looks at up to 1,000 stores before
# each load, and at 256 statements behind each store: half of its time, for less than it finds among the next ones.
_FRUGAL = "--param=sccvn-max-alias-queries-per-access=10 --param=dse-max-alias-queries-per-store=10"
# To be run where Verilator has written its C++: takes out what the compiler reads for long and nothing uses, `<` of structs, of which
# registers have hundreds. Only sorting structs or finding something by them would need it; a build that does so fails.
SHORTEN = ("sh", "-c", "sed -i '/^    bool operator<(/,/^    }$/d' *.h")
NAMES = ("verilated.o", "verilated_dpi.o", "verilated_threads.o", "verilated_vpi.o")


class VerilatedError(ToolError):
    """What all builds share does not compile; the message ends with the compiler's words."""


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


def frugal() -> str:
    """Return the options by which the compiler takes half as long for what Verilator writes, "" where it is not GCC."""
    return _FRUGAL if _is_gcc() else ""


def _is_gcc() -> bool:
    return "Free Software Foundation" in keys.compiler()


# What Verilator's C++ and the tests' benches include: reading it is most of a small build.
_HEADERS = """verilated.h verilated_vpi.h algorithm array cinttypes cstdint cstdio cstdlib cstring deque iostream map memory optional random
set sstream string unordered_map utility vector"""
# With which Verilator's makefiles call the compiler; with others it would not use what is precompiled, and read the headers instead.
_DEFINES = "-DVERILATOR=1 -DVM_COVERAGE=0 -DVM_SC=0 -DVM_TIMING=0 -DVM_TRACE=0 -DVM_TRACE_FST=0 -DVM_TRACE_VCD=0 -DVM_TRACE_SAIF=0"


def precompiled(flags: str) -> str:
    """Return the compiler's options by which it begins with precompiled headers, for builds with `flags`; "" where it is not GCC.

    They are compiled once, in some seconds, and have some 100 MB: worth it for what builds many small modules, as the tests do. All that
    is compiled with them must have the level of optimisation in `flags`: with another one GCC 12 takes them, and crashes.
    """
    if not _is_gcc():
        return ""
    environment = tool_environment()
    text = "".join(f"#include <{name}>\n" for name in _HEADERS.split())
    include = Path(environment["VERILATOR_ROOT"]) / "include"

    def make(folder: Path) -> None:
        (folder / "headers.h").write_text(text)
        compiler = os.environ.get("CXX", "").split() or ["c++"]
        options = [*_DEFINES.split(), *flags.split(), f"-I{include}", f"-I{include}/vltstd"]
        part = [str(plain(folder) / "headers.h"), "-o", str(plain(folder) / "headers.h.gch")]
        done = children.run([*compiler, *options, "-x", "c++-header", *part], env=environment)
        if done.returncode:
            raise VerilatedError(f"Verilator's headers do not compile:\n{done.stderr}")

    folder = cache.once("verilated", keys.of_build([text, flags, _DEFINES], [], packages=["verilator"]), make)
    return f"-include {plain(folder) / 'headers.h'} "
