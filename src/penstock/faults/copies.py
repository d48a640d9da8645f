"""A copy of the project, in which one fault at a time is planted and its tests run.

It stays from run to run, with what is built in it, so a fault costs its own builds only: what the tests build is stored by content in the
user's cache, and the engine's build folder is put back as it was after each fault. Nothing here writes into the project itself.
"""

import contextlib
import os
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

from penstock.faults.register import Fault
from penstock.faults.sessions import Sessions
from penstock.graph.project import files_of
from penstock.graph.tests import Graph
from penstock.paths import tool_environment

GREEN, RED = 0, 1  # pytest's exit status
BROKEN_ENGINE = 3  # pytest's own for what breaks outside of the tests
# Of what is compiled with a fault: in half the time, for tests that run once. Objects without one stay as they are.
_PLANTED_FLAGS = "-O1"
# CMake takes this from the environment when it configures; ninja then calls each compiler through it, whose last option wins.
_LAUNCHER = '/bin/sh;-c;exec "$@" $PLANTED_FLAGS;sh'
_NO_ENGINE = ["EngineBuildError: the engine does not compile"]


class Copy:
    """One copy in `folder`, with what its tests say; for one thread at a time."""

    def __init__(self, root: Path, folder: Path, graph: Graph, sessions: Sessions) -> None:
        self.root, self.folder, self.path = root, folder, folder / "copy"
        self._graph, self._project, self._sessions = graph, graph.project, sessions
        self._engine = folder / "engine"  # the copy's engine as it is without a fault
        self._report = folder / "report.xml"
        self._equal = self._engine_kept = False

    # --- tests

    def test(self, tests: Sequence[str], slow: bool) -> tuple[int, list[str]]:
        """Run `tests` until one fails; return pytest's exit status and what the failures say, each in a line."""
        self._make_equal()
        found = self._tested(tests, slow)
        if found[0] == GREEN and (self.path / "build/engine/stamp").exists():
            self._keep_engine()
        return found

    def test_with(self, fault: Fault, tests: Sequence[str] = (), seconds: int = 0) -> tuple[int, list[str]]:
        """Do the same with `tests` (those of `fault`) while it is planted; each may take `seconds`. Raises Stale when it does not apply."""
        self._make_equal()
        tests = tests or fault.tests
        if self._graph.need_engine(tests) and not self._engine_kept:  # its tests have passed in another copy
            if self._build_engine() != GREEN:
                return BROKEN_ENGINE, _NO_ENGINE
            self._keep_engine()
        texts = fault.planted(self.path)
        times = {file: (self.path / file).stat() for file in texts}
        clean = {file: (self.path / file).read_bytes() for file in texts}
        for file, text in texts.items():
            (self.path / file).write_text(text)
        found = self._tested(tests, fault.slow, _PLANTED_FLAGS, seconds)
        # The engine first: objects that were compiled with the fault must never meet sources that are older than they are.
        self._restore_engine()
        for file, data in clean.items():
            (self.path / file).write_bytes(data)
            os.utime(self.path / file, ns=(times[file].st_atime_ns, times[file].st_mtime_ns))
        return found

    def skipped(self) -> list[str]:
        """Return why tests of the last call did not run, in a line for each that did not."""
        return [_reason(element) for element in _elements(self._report) if element.get("type") == "pytest.skip"]

    def passed(self) -> int:
        """Return how many tests have passed in the last call."""
        return sum(len(case) == 0 or all(element.tag == "properties" for element in case) for case in _cases(self._report))

    def failed(self) -> str | None:
        """Return the name of the test that failed in the last call."""
        for case in _cases(self._report):
            if any(element.tag in ("failure", "error") for element in case) and case.get("file"):
                path = str(case.get("file"))
                classes = str(case.get("classname")).rpartition(path.removesuffix(".py").replace("/", "."))[2].strip(".").split(".")
                return "::".join([path, *filter(None, classes), str(case.get("name"))])
        return None

    def _tested(self, tests: Sequence[str], slow: bool, flags: str = "", seconds: int = 0) -> tuple[int, list[str]]:
        self._report.unlink(missing_ok=True)
        if self._graph.need_engine(tests) and self._build_engine(flags) != GREEN:
            return BROKEN_ENGINE, _NO_ENGINE
        options = ["-x", "-q", "-p", "no:cacheprovider", f"--junitxml={self._report}", "-o", "junit_family=xunit1"]
        options += [*(["-m", ""] if slow else []), *([f"--timeout={seconds}"] if seconds else [])]
        status = self._python("pytest", *options, *tests)
        reasons = [_reason(element) for element in _elements(self._report) if element.tag in ("failure", "error")]
        if status != GREEN and not reasons:
            lines = self._log.read_text(errors="replace").splitlines()
            reasons = [line for line in lines if line.startswith(("ERROR", "E  "))][:1] or lines[-1:]
        return status, reasons

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _python(self, module: str, *arguments: str, **also: str) -> int:
        environment = tool_environment() | {
            "PYTHONPATH": str(self.path / "src"),
            "PYTEST_ADDOPTS": "",  # what was asked of the tests around these
            # A file of byte code is told from its source by whole seconds and size: too coarse for what is planted here.
            "PYTHONDONTWRITEBYTECODE": "1",
            **also,
        }
        with self._log.open("wb") as log:
            return self._sessions.call([sys.executable, "-m", module, *arguments], cwd=self.path, env=environment, log=log)

    # --- sources

    def _make_equal(self) -> None:
        """Make the sources equal to the project's, once. What is equal is not touched, so nothing is built again for it."""
        if self._equal:
            return
        self.path.mkdir(parents=True, exist_ok=True)
        for file in set(files_of(self.path)) - set(self._project.files):
            (self.path / file).unlink()
        for file, data in self._project.data.items():
            there = self.path / file
            if not there.is_file() or there.read_bytes() != data:
                there.parent.mkdir(parents=True, exist_ok=True)
                there.write_bytes(data)
                with contextlib.suppress(OSError):
                    there.chmod((self.root / file).stat().st_mode)
        self._equal = True

    # --- the engine

    def _build_engine(self, flags: str = "") -> int:
        return self._python("penstock.engine.engine", CMAKE_CXX_COMPILER_LAUNCHER=_LAUNCHER, PLANTED_FLAGS=flags)

    def _engine_parts(self, of: Path) -> list[tuple[Path, Path]]:
        """Return what the engine's build leaves in the copy, beside where it is kept; what says that it is complete comes last."""
        package = self.path / "src/penstock"
        modules = (package if of == self.path else of).glob("_engine*.so")
        return [
            *((package / path.name, self._engine / path.name) for path in modules),
            (self.path / "build/engine", self._engine / "build"),
        ]

    def _engine_is_clean(self) -> bool:
        """Nothing was compiled since the engine was kept."""
        return all(_same(self.path / "build/engine" / name, self._engine / "build" / name) for name in ("stamp", ".ninja_log"))

    def _keep_engine(self) -> None:
        """Keep the engine that was built without a fault."""
        if not self._engine_is_clean():
            shutil.rmtree(self._engine, ignore_errors=True)
            self._engine.mkdir()
            for path, kept in self._engine_parts(self.path):
                _copy(path, kept)
        self._engine_kept = True

    def _restore_engine(self) -> None:
        """Put back the engine as it was without a fault, times of files too, so that nothing is compiled again."""
        if (self.path / "build/engine").exists() and not self._engine_is_clean():
            if not (self._engine / "build/stamp").exists():
                shutil.rmtree(self.path / "build/engine")  # built with this fault for the first time
            for path, kept in self._engine_parts(self._engine):
                if kept.exists():
                    _copy(kept, path)


def _cases(report: Path) -> list[ElementTree.Element]:
    """Return the tests of pytest's report."""
    try:
        return list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return []


def _elements(report: Path) -> list[ElementTree.Element]:
    """Return what pytest's report says of its tests."""
    return [element for case in _cases(report) for element in case]


def _reason(element: ElementTree.Element) -> str:
    message, text = element.get("message") or "", element.text or ""
    if message == "collection failure":  # what happened stands below
        message = ([line[1:].strip() for line in text.splitlines() if line.startswith("E ")] or [message])[-1]
    return message.strip().partition("\n")[0][:200]


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.read_bytes() == other.read_bytes()


def _copy(path: Path, to: Path) -> None:
    """Copy a file or folder with its times, in place of what is there."""
    if path.is_dir():
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(path, to, symlinks=True)
    else:
        to.unlink(missing_ok=True)
        shutil.copy2(path, to)


__all__ = ["GREEN", "RED", "Copy"]
