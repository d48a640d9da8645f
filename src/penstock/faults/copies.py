"""A copy of the project, in which one fault at a time is planted and its tests run.

It stays from run to run, with what is built in it, so a fault costs its own builds only: what the tests build is stored by content in the
user's cache. Nothing here writes into the project itself.
"""

import contextlib
import os
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.engine.parts import PLANTED
from penstock.faults.register import Fault
from penstock.faults.sessions import Sessions
from penstock.graph.project import files_of
from penstock.graph.tests import Graph
from penstock.paths import tool_environment

GREEN, RED = 0, 1  # pytest's exit status


class Copy:
    """One copy in `folder`, with what its tests say; for one thread at a time."""

    def __init__(self, root: Path, folder: Path, graph: Graph, sessions: Sessions) -> None:
        self.root, self.folder, self.path = root, folder, folder / "copy"
        self._project, self._sessions = graph.project, sessions
        self._report = folder / "report.xml"
        self._equal = False

    # --- tests

    def test(self, tests: Sequence[str], slow: bool) -> tuple[int, list[str]]:
        """Run `tests` until one fails; return pytest's exit status and what the failures say, each in a line."""
        self._make_equal()
        return self._tested(tests, slow)

    def test_with(self, fault: Fault, tests: Sequence[str] = (), seconds: int = 0) -> tuple[int, list[str]]:
        """Do the same with `tests` (those of `fault`) while it is planted; each may take `seconds`. Raises Stale when it does not apply."""
        self._make_equal()
        texts = fault.planted(self.path)
        times = {file: (self.path / file).stat() for file in texts}
        clean = {file: (self.path / file).read_bytes() for file in texts}
        for file, text in texts.items():
            (self.path / file).write_text(text)
        found = self._tested(tests or fault.tests, fault.slow, {PLANTED: ":".join(texts)}, seconds)
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

    def _tested(self, tests: Sequence[str], slow: bool, also: Mapping[str, str] = {}, seconds: int = 0) -> tuple[int, list[str]]:
        self._report.unlink(missing_ok=True)
        options = ["-x", "-q", "-p", "no:cacheprovider", f"--junitxml={self._report}", "-o", "junit_family=xunit1"]
        options += [*(["-m", ""] if slow else []), *([f"--timeout={seconds}"] if seconds else [])]
        status = self._python("pytest", *options, *tests, **also)
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


__all__ = ["GREEN", "RED", "Copy"]
