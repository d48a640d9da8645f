"""Hashes of what a result depends on besides its settings: the sources of Penstock, and input files.

Two sets of sources are the same when every file below `src`, `engine`, `blocks`, `designs` and `p4` that can change a figure has the same
content: Python, C++, SystemVerilog, P4 and what the compiler made of it, register maps, configurations, file lists; and the pinned tools.
So do the folders of parts that `--with` or PENSTOCK_WITH names, wherever they are. Tests and documents do not count.
"""

import hashlib
import os
from pathlib import Path

from penstock.parts import registry
from penstock.paths import INSTALLED, PACKAGE, ROOT

FOLDERS = ("src", "engine", "blocks", "designs", "p4")
FILES = ("requirements.txt",)
SUFFIXES = {".py", ".cpp", ".hpp", ".h", ".in", ".sv", ".svh", ".v", ".vh", ".f", ".rdl", ".yaml", ".p4", ".json"}
LEFT_OUT = {"test", "formal", "__pycache__", "_tree"}  # folders; _tree: an installation's hardware, which counts as the repository's
NO_SOURCES = {"faults.yaml", "expected.yaml", "expected.json"}
DIGITS = 12
INSIDE = "@/"  # before the path of a file of the repository, whose place differs from machine to machine

_known: dict[str, tuple[tuple[int, int, int], str]] = {}


def fingerprint(root: Path = ROOT) -> str:
    """Return DIGITS hex digits that stand for the sources. Files that have not changed since the last call are not read again."""
    total = hashlib.sha256()
    for name, path in _sources(root):
        total.update(f"{name}\0{digest(path)}\n".encode())
    return total.hexdigest()[:DIGITS]


def digest(path: Path | str) -> str:
    """Return the SHA-256 of a file's content, or `missing` when it cannot be read."""
    name = str(path)
    try:
        found = os.stat(name)
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        known = _known.get(name)
        if known is None or known[0] != stamp:
            with open(name, "rb") as file:
                known = stamp, hashlib.file_digest(file, "sha256").hexdigest()
            _known[name] = known
    except OSError:
        return "missing"
    return known[1]


def portable(path: Path) -> str:
    """Return a path as it is given to other machines: of a file in the repository the path below it."""
    path = path.resolve()
    return INSIDE + str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def resolved(text: str) -> Path:
    """Return the path on this machine that `portable` stands for."""
    return ROOT / text.removeprefix(INSIDE) if text.startswith(INSIDE) else Path(text)


def _sources(root: Path) -> list[tuple[str, str]]:
    """Return names and paths; an installation names its files as a checkout does, so that one can work for the other.

    They are words: a sweep asks twice for each of its points, and a `Path` for each of a thousand files takes longer than all else here.
    """
    found = [(name, f"{root}/{name}") for name in FILES]
    places = {top: root / top for top in FOLDERS}
    if INSTALLED and root == ROOT:
        places["src"] = PACKAGE.parent
    places |= {f"with/{folder.name}": folder for folder in registry.others() if folder.is_dir()}
    found += [(f"with/{file.name}", str(file)) for file in registry.others() if not file.is_dir()]
    for top, place in places.items():
        for folder, folders, names in os.walk(place / "penstock" if top == "src" else place):
            folders[:] = [name for name in folders if name not in LEFT_OUT and not name.startswith(".")]
            kept = (name for name in names if not name.startswith(".") and name not in NO_SOURCES)
            inside = os.path.normpath(os.path.join(top, os.path.relpath(folder, place)))
            found += [(f"{inside}/{name}", f"{folder}/{name}") for name in kept if os.path.splitext(name)[1] in SUFFIXES]
    return sorted(found)
