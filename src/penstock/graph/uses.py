"""What each file uses directly: instantiated modules and packages, includes, lists of files, imports, names that are bound to Python.

A header and the source of the same name that includes it are one *unit*: who uses the one uses the other.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import PurePosixPath

from penstock.graph.project import Project
from penstock.graph.python import PythonFile, Readers

_WORD = re.compile(r"\b[A-Za-z_]\w+\b")
_INCLUDE = re.compile(r'(?:^|\0)\s*[#`]\s*include\s*[\0\s]*["<]([^">]+)[">]', re.MULTILINE)
_LISTED = re.compile(r"[\w./-]+\.(?:sv|svh|v|f)\b")
_BOUND = re.compile(r'\b\w+\.def\(\s*\0?"(\w+)"|\b(?:class_|enum_)<[^;"]*?>\(\s*\w+\s*,\s*\0?"(\w+)"')


def is_border(file: str) -> bool:
    """Return whether `file` only stands between a test and what it tests: it is of the tests, or binds C++ to Python."""
    parts, name = file.split("/"), PurePosixPath(file).name
    return (
        parts[0] == "tests"
        or bool({"test", "formal", "testing"} & set(parts[:-1]))
        or name in ("part.yaml", "conftest.py", "bind.hpp", "bind.cpp", "module.cpp")
        or name.startswith(("bind_", "python_"))
        or file in ("src/penstock/engine/engine.py", "src/penstock/engine/parts.py")
    )


class Uses:
    """The direct uses of every file of `project`, and the other way round."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._readers = Readers(project, project.root / "build/graph/python")
        self._of: dict[str, frozenset[str]] = {}
        self._python: dict[str, PythonFile] = {}

    def of(self, file: str) -> frozenset[str]:
        """Return the files that `file` uses directly."""
        if file not in self._of:
            self._of[file] = frozenset(self._find(file)) - {file}
        return self._of[file]

    @cached_property
    def users(self) -> dict[str, set[str]]:
        """The files that use each file directly."""
        found: dict[str, set[str]] = defaultdict(set)
        for file in self.project.files:
            for used in self.of(file):
                found[used].add(file)
        self._readers.keep()
        return found

    def unit(self, file: str) -> set[str]:
        """Return `file` and the header or source that belongs to it."""
        if not file.endswith((".hpp", ".cpp", ".h")):
            return {file}
        stem = PurePosixPath(file).stem
        near = self.users.get(file, set()) | self.of(file)
        return {file, *(other for other in near if PurePosixPath(other).stem == stem and other.endswith((".hpp", ".cpp", ".h")))}

    def python(self, file: str) -> PythonFile:
        """Return what is known of a file of Python."""
        if file not in self._python:
            self._python[file] = self._readers.read(file)
        return self._python[file]

    @cached_property
    def modules(self) -> dict[str, str]:
        """The file of each module and package of SystemVerilog; a stand-in of a proof does not count beside the real one."""
        files = [file for file in self.project.files if file.endswith((".sv", ".v")) and "/paper" not in file]
        return {PurePosixPath(file).stem: file for file in sorted(files, key=lambda file: "/rtl/" in file)}

    @cached_property
    def proofs(self) -> dict[str, str]:
        """The .sby file of each proof."""
        return {PurePosixPath(file).stem: file for file in self.project.files if file.endswith(".sby")}

    @cached_property
    def parts(self) -> dict[str, str]:
        """The manifest of each part of a design that is found by its name."""
        return {file.split("/")[-2]: file for file in self.project.named.get("part.yaml", ())}

    @cached_property
    def bound(self) -> dict[str, set[str]]:
        """The files that bind each name to Python."""
        found: dict[str, set[str]] = defaultdict(set)
        for file in self.project.files:
            if file.endswith((".hpp", ".cpp")) and b"nanobind" in self.project.data[file]:
                for one, other in _BOUND.findall(self.project.text(file)):
                    found[one or other].add(file)
        return found

    def binding(self, names: Iterable[str]) -> set[str]:
        """Return the files that bind one of `names`."""
        return set().union(*(self.bound[name] for name in names if name in self.bound))

    def parts_in(self, strings: Iterable[str]) -> set[str]:
        """Return what binds the compiled parts of the engine that `strings` name: a block (`aqm/codel`) or a folder."""
        names = (f"{place}/module.cpp" for text in strings for place in (f"blocks/{text}/model", text))
        return {name for name in names if name in self.project.known}

    def _find(self, file: str) -> Iterable[str]:
        folder, suffix = str(PurePosixPath(file).parent), PurePosixPath(file).suffix
        if suffix == ".py":
            python = self.python(file)
            compiled = any(words in self.project.data[file] for words in (b"_engine", b"engine.module(", b"engine.models("))
            bound = self.binding(python.all.names) | self.parts_in(python.all.strings) if compiled else set()
            return python.imported | {path for path in python.paths if not path.endswith(".py")} | bound
        if suffix not in (".sv", ".svh", ".v", ".cpp", ".hpp", ".h", ".sby", ".yaml"):
            return set()
        text = self.project.text(file)
        if suffix in (".sv", ".svh", ".v") or PurePosixPath(file).name == "part.yaml":
            return {self.modules[word] for word in set(_WORD.findall(text)) & self.modules.keys()} | self._included(text, folder)
        if suffix in (".cpp", ".hpp", ".h"):
            return self._included(text, folder)
        if suffix == ".sby":
            listed = {self.project.found(name, folder) for name in _LISTED.findall(text)} - {None}
            return {name for name in listed if name and "/formal/" in name} or {name for name in listed if name}
        return set()

    def _included(self, text: str, folder: str) -> set[str]:
        found = (self.project.found(name, folder) for name in _INCLUDE.findall(text))
        return {name for name in found if name}
