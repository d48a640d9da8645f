"""The key of what is compiled: equal keys, equal results, in whichever clone.

It stands for what the sources and all that they include say (`penstock.basics.tokens`: comments and layout do not count), for settings, and
for the tools. Nothing is started for it, except for a compiler that has not been asked for its version yet. Paths count from the top of the
project, so they are the same in each clone; settings must have no others.
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from penstock import cache
from penstock.basics import children, tokens
from penstock.paths import BUILD, ROOT

_INCLUDE = re.compile(rb'^[ \t]*[#`][ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_LAUNCHERS = ("ccache", "sccache", "distcc", "icecc")  # whose own time says nothing of the compiler behind them


def of_build(settings: object, sources: Iterable[Path], folders: Sequence[Path] = (), packages: Sequence[str] = ()) -> str:
    """Return 32 hex digits for what a compiler makes of `sources`, in this order.

    `settings` is all else that decides (flags, parameters, names), as JSON has it; `folders` are those that the compiler searches for
    headers; `packages` those of Python that it uses, whose versions count.
    """
    total = hashlib.sha256()
    versions = {name: importlib.metadata.version(name) for name in packages}
    total.update(json.dumps([settings, versions, compiler()], sort_keys=True).encode())
    ordered = list(dict.fromkeys(sources))
    for path in [*ordered, *sorted(set(included(ordered, folders)) - set(ordered))]:
        total.update(_name(path).encode() + b"\0" + tokens.digest(path))
    return total.hexdigest()[:32]


def _name(path: Path) -> str:
    if path.is_relative_to(BUILD):  # generated; of an installation it is elsewhere
        return f"build/{path.relative_to(BUILD)}"
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def included(sources: Iterable[Path], folders: Sequence[Path] = ()) -> list[Path]:
    """Return all files that sources of C++ or SystemVerilog include, and those include, from their own folder or one of `folders`.

    An include that a condition leaves out counts as well. What is in none of the folders is the system's.
    """
    with at_one_moment() as moment:
        places = tuple(map(str, folders))
        found: dict[str, None] = {}
        waiting = list(map(str, sources))
        while waiting:
            for header in moment.included(waiting.pop(), places):
                if header not in found:
                    found[header] = None
                    waiting.append(header)
        return list(map(Path, found))


class Moment:
    """Which files there are and what they include at one moment; `kept`: what follows from that, and from nothing else that can change."""

    def __init__(self) -> None:
        self.kept: dict[Any, Any] = {}
        self._listed: dict[str, tuple[int, list[tuple[str, bool]]]] = {}  # times of folders, and all that is in them
        self._folders: dict[str, tuple[int, frozenset[str]]] = {}  # their times, and the files in them
        self._asked: dict[str, set[str]] = {}  # what was looked for in each
        self._files: dict[str, tuple[int, int]] = {}  # of files that were read: sizes and times
        self._included: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}

    def included(self, path: str, folders: tuple[str, ...]) -> tuple[str, ...]:
        """Return what a file includes itself."""
        known = self._included.get((path, folders))
        if known is None:
            status = os.stat(path)
            self._files[path] = status.st_size, status.st_mtime_ns
            own, found = os.path.dirname(path), []
            for name, beside in _includes(path, status.st_size, status.st_mtime_ns):
                places = (os.path.normpath(f"{place}/{name}") for place in ((own, *folders) if beside else folders))
                if there := next(filter(self.is_file, places), ""):
                    found.append(there)
            known = self._included[path, folders] = tuple(found)
        return known

    def listed(self, folder: str) -> list[tuple[str, bool]]:
        """Return the names of what is in a folder, sorted, and whether each is a folder."""
        if folder not in self._listed:
            self._listed[folder] = _changed(folder), _names(folder)
        return self._listed[folder][1]

    def is_file(self, path: str) -> bool:
        """Return whether there is a file."""
        folder, name = os.path.split(path)
        self._asked.setdefault(folder, set()).add(name)
        if folder not in self._folders:
            self._folders[folder] = _changed(folder), _files(folder)
        return name in self._folders[folder][1]

    def is_still(self) -> bool:
        """Return whether all that was looked at is as it was."""
        for folder, (changed, names) in self._listed.items():
            if (now := _changed(folder)) != changed:
                if _names(folder) != names:
                    return False
                self._listed[folder] = now, names
        for folder, (changed, files) in self._folders.items():
            if (now := _changed(folder)) != changed:
                there = _files(folder)
                if any((name in there) != (name in files) for name in self._asked[folder]):
                    return False
                self._folders[folder] = now, there
        try:
            statuses = ((os.stat(path), known) for path, known in self._files.items())
            return all((status.st_size, status.st_mtime_ns) == known for status, known in statuses)
        except OSError:
            return False


def _changed(folder: str) -> int:
    """Return the time of a folder's last change, 0 where there is none."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _names(folder: str) -> list[tuple[str, bool]]:
    with os.scandir(folder) as entries:
        return sorted((entry.name, entry.is_dir()) for entry in entries)


def _files(folder: str) -> frozenset[str]:
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for entry in entries if entry.is_file())
    except OSError:
        return frozenset()


_here = threading.local()  # the moment of each thread, and how often it is used


@contextlib.contextmanager
def at_one_moment() -> Iterator[Moment]:
    """Look at files once meanwhile: what the process has found before holds, too, if nothing has changed since."""
    depth = getattr(_here, "depth", 0)
    if not depth:
        known = getattr(_here, "moment", None)
        _here.moment = known if known is not None and known.is_still() else Moment()
    _here.depth = depth + 1
    try:
        yield _here.moment
    finally:
        _here.depth = depth


@functools.lru_cache(maxsize=8192)
def _includes(path: str, size: int, changed: int) -> list[tuple[str, bool]]:
    """Return what a file includes, and whether its own folder is searched first."""
    found = _INCLUDE.findall(Path(path).read_bytes())
    return [((beside or angled).decode(errors="replace"), bool(beside)) for beside, angled in found]


def compiler() -> str:
    """Return what the C++ compiler (CXX, else c++) says of its version, "" when there is none. It is asked once for each of its builds."""
    words = os.environ.get("CXX", "").split() or ["c++"]
    program = shutil.which(words[0])
    if program is None:
        return ""
    status = os.stat(program)
    return _version((program, *words[1:]), status.st_size, status.st_mtime_ns)


@functools.cache
def _version(command: tuple[str, ...], size: int, changed: int) -> str:
    key = hashlib.sha256(repr((command, size, changed)).encode()).hexdigest()[:32]
    launched = any(Path(shutil.which(word) or word).resolve().name in _LAUNCHERS for word in command)
    if not launched and isinstance(known := cache.remembered("compilers", key), str):
        return known
    done = children.run([*command, "--version"])
    if done.returncode:
        return ""
    said = re.sub(r"^\S*[cg]\+\+\S* ", "", done.stdout) + sys.platform  # c++ and g++ are the same by another name
    cache.remember("compilers", key, said)
    return said
