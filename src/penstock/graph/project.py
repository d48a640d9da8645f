"""The sources of a project at one moment, and what they say."""

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from penstock.basics import tokens

# What is made, not written.
SKIPPED = {".git", ".venv", "build", "results", "__pycache__", ".pytest_cache", ".ruff_cache"}
_MADE = re.compile(r"\.(so|so\.new|pyc)$")


def files_of(root: Path) -> list[str]:
    """Return every source of the project below `root`, as a path from there, sorted."""
    return sorted(_walk(root, ""))


def _walk(root: Path, folder: str) -> Iterator[str]:
    with os.scandir(root / folder) as entries:
        for entry in entries:
            path = f"{folder}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED:
                    yield from _walk(root, f"{path}/")
            elif entry.is_file() and not _MADE.search(entry.name) and entry.name not in SKIPPED:  # a worktree's .git is a file
                yield path


class Project:
    """The sources below `root` as they are now: an edit meanwhile changes nothing here."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = files_of(root)
        self.data = {file: (root / file).read_bytes() for file in self.files}
        self.known = set(self.files)
        self.named: dict[str, list[str]] = defaultdict(list)  # the files of each name
        for file in self.files:
            self.named[PurePosixPath(file).name].append(file)
        self._texts: dict[str, str] = {}

    def text(self, file: str) -> str:
        """Return what `file` says, without comments and layout ("" for none)."""
        if file not in self._texts:
            self._texts[file] = tokens.meaning(file, self.data.get(file, b"")).decode(errors="replace")
        return self._texts[file]

    def digest(self, files: Iterable[str]) -> str:
        """Return a hash of the names of `files` and of what they say."""
        total = hashlib.sha256()
        for file in sorted(set(files)):
            total.update(f"{file}\0{hashlib.sha256(self.text(file).encode()).hexdigest()}\0".encode())
        return total.hexdigest()

    def found(self, name: str, folder: str = "") -> str | None:
        """Return the file that `name` means: from the root, from `folder`, or the one file whose path ends so."""
        beside = os.path.normpath(f"{folder}/{name}") if folder else name
        for path in (name, beside):
            if path in self.known:
                return path
        ends = [file for file in self.named.get(PurePosixPath(name).name, ()) if f"/{file}".endswith(f"/{name}")]
        return ends[0] if len(ends) == 1 else None
