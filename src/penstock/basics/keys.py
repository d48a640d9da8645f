"""The key of what is compiled: equal keys, equal results, in whichever clone.

It stands for what the sources and all that they include say (`penstock.basics.tokens`: comments and layout do not count), for settings, and
for the tools. Nothing is started for it, except for a compiler that has not been asked for its version yet. Paths count from the top of the
project, so they are the same in each clone; settings must have no others.
"""

import functools
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

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
    found: dict[Path, None] = {}
    waiting = list(sources)
    while waiting:
        path = waiting.pop()
        status = path.stat()
        for name, beside in _includes(str(path), status.st_size, status.st_mtime_ns):
            places = (path.parent, *folders) if beside else folders
            header = next((place / name for place in places if (place / name).is_file()), None)
            if header is not None and (header := Path(os.path.normpath(header))) not in found:
                found[header] = None
                waiting.append(header)
    return list(found)


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
