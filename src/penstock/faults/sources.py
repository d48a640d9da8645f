"""Which files there are, and which of them can change the outcome of a test.

A result is kept as long as nothing has changed that could change it. The answer here may name a file too many, never one too few:

- a test of the workbench (tests/) may read everything of hardware and engine; one of a design or of the engine, all but what blocks test
  themselves with; a block's test, its block and those that a file of it names, in turn;
- of Python, the files that the test imports, directly or through others (they are read, not run: an import inside a function counts);
- a test file only matters to those that import it; Markdown only to a test that names it.
"""

import ast
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

# What is made, not written.
SKIPPED = {".git", ".venv", "build", "results", "__pycache__", ".pytest_cache", ".ruff_cache"}
_MADE = re.compile(r"\.(so|so\.new|pyc)$")
# Modules of the workbench that find hardware by name: a module that imports one may read all of it.
_FINDERS = {
    *(f"src/penstock/hardware/{name}.py" for name in ("library", "verilate", "lint", "synth")),
    "src/penstock/designs/configs.py",
}
_ENGINE = "src/penstock/engine/engine.py"
_OF_ALL = {"CMakeLists.txt", "pyproject.toml", "requirements.txt"}


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


def _files_of(tests: Iterable[str]) -> list[str]:
    return sorted({test.partition("::")[0] for test in tests})


class Sources:
    """The sources below `root` as they are at one moment: an edit meanwhile changes nothing here."""

    def __init__(self, root: Path) -> None:
        self.files = files_of(root)
        self.data = {file: (root / file).read_bytes() for file in self.files}
        self._known = set(self.files)
        self._digests = {file: hashlib.sha256(data).digest() for file, data in self.data.items()}
        self._imports: dict[str, set[str]] = {}
        self._matter: dict[str, set[str]] = {}
        self._texts: dict[str, str] = {}

    def digest(self, files: Iterable[str]) -> str:
        """Return a hash of the names and contents of `files`."""
        total = hashlib.sha256()
        for file in sorted(files):
            total.update(file.encode() + b"\0" + self._digests.get(file, b"none"))
        return total.hexdigest()

    def that_matter_to(self, tests: Iterable[str]) -> set[str]:
        """Return the files that can change the outcome of these tests (pytest's names)."""
        found: set[str] = set()
        for file in _files_of(tests):
            if file not in self._matter:
                self._matter[file] = self._of_test(file)
            found |= self._matter[file]
        return found

    def need_engine(self, tests: Iterable[str]) -> bool:
        """Return whether one of these tests uses the engine or the models that are bound with it."""
        return any(_ENGINE in self._imported_by(file) for file in _files_of(tests))

    def _of_test(self, test: str) -> set[str]:
        python = self._imported_by(test)
        folder = test.split("/")
        block = folder[0] == "blocks"
        common = {file for file in self.files if file in _OF_ALL or file.startswith(("lint/", "tools/"))}
        if not block:
            common |= {file for file in self.files if "/" not in file or (file.startswith("src/") and not file.endswith(".py"))}
        hardware = {file for file in self.files if file.startswith("blocks/")}
        if block and not python & _FINDERS:
            blocks = self._blocks_named_by(folder[1])
            hardware = {file for file in hardware if self._is_of(file, folder[1], blocks) or (_ENGINE in python and "/model/" in file)}
        elif not block and folder[0] != "tests":
            hardware = {file for file in hardware if self._is_of(file, folder[1], set(self._named))}
        if not block or python & _FINDERS:
            hardware |= {file for file in self.files if file.startswith("designs/")}
        found = common | hardware
        if not block or python & {_ENGINE, *_FINDERS}:
            found |= {file for file in self.files if file.startswith("engine/")}
        rooms = {"tests": ("tests/", "scenarios/", "p4/"), "designs": ("scenarios/", "p4/"), "p4": ("p4/",)}.get(folder[0], ())
        found |= {file for file in self.files if file.startswith(rooms)}
        if ".md" in self._text(test) or "docs" in self._text(test):
            found |= {file for file in self.files if file.endswith(".md")}
        else:
            found = {file for file in found if not file.endswith(".md")}
        if "faults.yaml" not in self._text(test):
            found = {file for file in found if not file.endswith("faults.yaml")}
        found = {file for file in found if not (Path(file).name.startswith("test_") and file.endswith(".py"))}
        return found | python

    def _is_of(self, file: str, block: str, blocks: set[str]) -> bool:
        """Return whether `file` is of `block`, or of one of `blocks` and not of its tests (unless they are named)."""
        _, other, room, *_ = file.split("/")
        return other == block or (other in blocks and (room != "test" or f"{other}/test" in self._named_tests))

    def _text(self, file: str) -> str:
        if file not in self._texts:
            self._texts[file] = self.data.get(file, b"").decode(errors="replace")
        return self._texts[file]

    # --- blocks that a block builds on

    @cached_property
    def _modules(self) -> dict[str, str]:
        """The block of each module."""
        return {Path(file).stem: file.split("/")[1] for file in self.files if re.fullmatch(r"blocks/\w+/rtl/pst_\w+\.sv", file)}

    @cached_property
    def _named(self) -> dict[str, set[str]]:
        """The blocks that each block's own files name: by a path through their folder, or by a module."""
        blocks = {file.split("/")[1] for file in self.files if file.startswith("blocks/")}
        path, module = re.compile(r"\b(" + "|".join(sorted(blocks)) + r")/"), re.compile(r"\bpst_\w+")
        named: dict[str, set[str]] = {block: set() for block in blocks}
        for file in self.files:
            if file.startswith("blocks/") and not file.endswith((".md", ".yaml")):
                text = self._text(file)
                words = {self._modules[word] for word in set(module.findall(text)) if word in self._modules}
                named[file.split("/")[1]] |= words | set(path.findall(text))
        return named

    @cached_property
    def _named_tests(self) -> set[str]:
        """The test folders (`fabric/test`) that some file of hardware or engine names."""
        rooms = ("blocks/", "designs/", "engine/", "src/")
        texts = (self._text(file) for file in self.files if file.startswith(rooms) and not file.endswith((".md", ".yaml")))
        return {name for text in texts for name in re.findall(r"\b(\w+/test)\b", text)}

    def _blocks_named_by(self, block: str) -> set[str]:
        found, todo = {block}, [block]
        while todo:
            for other in self._named.get(todo.pop(), set()) - found:
                found.add(other)
                todo.append(other)
        return found

    # --- what a Python file imports

    def _imported_by(self, test: str) -> set[str]:
        """Return the Python files that `test` imports, in turn, itself and the conftest files above it among them."""
        above = [str(parent / "conftest.py") for parent in Path(test).parents]
        todo = [test, *(file for file in above if file in self._known)]
        found: set[str] = set()
        while todo:
            file = todo.pop()
            if file not in found:
                found.add(file)
                todo += self._imports_of(file)
        return found

    def _imports_of(self, file: str) -> set[str]:
        if file in self._imports:
            return self._imports[file]
        names: set[str] = set()
        for node in ast.walk(ast.parse(self._text(file), file)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
                if "penstock" in names:  # as a whole: `penstock.open` and all that it needs
                    names.add("penstock.library.open")
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        if "-m" in self._text(file) and '"penstock"' in self._text(file):  # runs the command line in a process of its own
            names.add("penstock.command_line.app")
        if file == "src/penstock/__init__.py":  # loads what it is asked for, and no more
            names = set()
        if any(name.startswith("penstock._engine") for name in names):
            names.add("penstock.engine.engine")  # builds it
        found = {path for name in names for path in self._files_of_module(name, Path(file).parent)}
        if file == "src/penstock/command_line/app.py":  # imports every command, whatever is there
            found |= {path for path in self.files if path.startswith("src/penstock/commands/") and path.endswith(".py")}
        self._imports[file] = found
        return found

    def _files_of_module(self, name: str, folder: Path) -> set[str]:
        """Return the files of module `name`: of the workbench, or beside the file that imports it, or anywhere among test helpers."""
        parts = name.split(".")
        packages = {"src/" + "/".join(parts[:n]) + "/__init__.py" for n in range(1, len(parts) + 1)}
        found = {"src/" + "/".join(parts) + ".py", *packages, str(folder / f"{name}.py")} & self._known
        if len(parts) == 1:
            found |= {path for path in self.files if path.endswith(f"/{name}.py") and "/test" in f"/{path}"}
        return found
