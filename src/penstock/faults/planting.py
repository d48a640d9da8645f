"""Plants faults, one at a time, in a copy of the project, and runs their tests there.

The copy (build/faults/copy) stays from run to run, with what is built in it, so a fault costs its own builds only: what the tests build is
keyed by content, and the engine's build folder is put back as it was after each fault. Nothing here writes into the project itself.

A run may end at any moment. The next one makes the copy equal to the project again, whatever is planted in it, and goes on: each outcome is
kept (build/faults/results.json) with a hash of the fault and of every file that could change it. What other machines have found is in the
record (`record`).
"""

import contextlib
import fcntl
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.faults import record
from penstock.faults.register import Fault, Stale
from penstock.faults.sources import Sources, files_of
from penstock.paths import BUILD, ROOT, tool_environment

KILLED, SURVIVED, STALE, BROKEN, SKIPPED = OUTCOMES = ("killed", "survived", "stale", "broken", "skipped")

# What a test says when it was not the fault that it saw: something did not compile, was not found, or took too long.
_OTHER_REASON = re.compile(
    r"(failed on \w+ with \")?([\w.]*\.)?(\w*BuildError|VerilateError|CalledProcessError|SyntaxError|IndentationError|ImportError"
    r"|ModuleNotFoundError|NameError|Failed: Timeout)\b"
)
_GREEN, _RED = 0, 1  # pytest's exit status
_BROKEN_ENGINE = 3  # pytest's own for what breaks outside of the tests


@dataclass(frozen=True)
class Outcome:
    """What became of a fault. `words` say why it is stale, broken or skipped; `key` stands for everything that it depends on."""

    outcome: str
    key: str
    seconds: float
    words: str = ""


class Laboratory:
    """The copy, and the outcomes that are kept. One process at a time: use `opened`."""

    def __init__(self, root: Path, folder: Path, lock: int | None = None) -> None:
        self.root, self.folder, self.copy = root, folder, folder / "copy"
        self.sources = Sources(root)
        self._lock = lock
        self._results = folder / "results.json"
        self._engine = folder / "engine"  # the copy's engine as it is without a fault
        self._kept: dict[str, Outcome] = {}
        self._green: dict[str, str] = {}
        self._ready = False
        self._recorded = record.read(root)
        try:
            found = json.loads(self._results.read_text())
            self._kept = {name: Outcome(**outcome) for name, outcome in found["faults"].items()}
            self._green = found["green"]
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            pass  # nothing kept yet, or by another version of this file

    # --- what is kept

    def outcome_of(self, fault: Fault) -> Outcome | None:
        """Return the kept outcome of `fault`, if nothing has changed since; what is stale is always known, what is broken or
        skipped never."""
        reason = fault.stale(self.root)
        if reason:
            return Outcome(STALE, "", 0.0, reason)
        key, kept = self._key(fault), self._kept.get(fault.id)
        if kept and kept.key == key:
            return kept if kept.outcome in (KILLED, SURVIVED) else None
        recorded = self._recorded.get(fault.id)
        return Outcome(KILLED, key, 0.0) if recorded == key[: record.DIGITS] else None

    def record(self, faults: Sequence[Fault]) -> None:
        """Record those of `faults`, the whole register, that are known to be killed."""
        known = {fault.id: self.outcome_of(fault) for fault in faults}
        self._recorded = {name: found.key for name, found in known.items() if found and found.outcome == KILLED}
        record.write(self.root, self._recorded)

    def _key(self, fault: Fault) -> str:
        files = self.sources.that_matter_to(fault.tests) | set(fault.files)
        changes = [asdict(change) for change in fault.changes]
        return _hash(self.sources.digest(files), changes, fault.tests, fault.slow)

    def _test_key(self, test: str) -> str:
        return _hash(self.sources.digest(self.sources.that_matter_to([test])))

    def _save(self) -> None:
        found = {"faults": {name: asdict(outcome) for name, outcome in self._kept.items()}, "green": self._green}
        part = self._results.with_suffix(".part")
        part.write_text(json.dumps(found, indent=1))
        part.rename(self._results)

    # --- one fault

    def try_fault(self, fault: Fault) -> Outcome:
        """Plant `fault`, run its tests, and return (and keep) what became of it."""
        started = time.monotonic()
        self._make_ready()
        key = self._key(fault)
        try:
            outcome, words = self._red_without(fault) or self._with(fault)
        except Stale as error:  # the sources have changed since this command began
            outcome, words = STALE, str(error)
        kept = Outcome(outcome, key, round(time.monotonic() - started, 1), words)
        self._kept[fault.id] = kept
        self._save()
        return kept

    def _red_without(self, fault: Fault) -> tuple[str, str] | None:
        """Run those tests of `fault` that are not known to pass without it."""
        unknown = [test for test in fault.tests if self._green.get(test) != self._test_key(test)]
        if unknown:
            status, reasons = self._run_tests(unknown, fault.slow)
            if status != _GREEN:
                return BROKEN, f"its tests do not pass without it (status {status} of pytest): {'; '.join(reasons)}"
            self._green |= {test: self._test_key(test) for test in unknown}
            self._save()
            self._keep_engine()
        return None

    def _with(self, fault: Fault) -> tuple[str, str]:
        texts = fault.planted(self.copy)
        times = {file: (self.copy / file).stat() for file in texts}
        clean = {file: (self.copy / file).read_bytes() for file in texts}
        built = self._built()
        for file, text in texts.items():
            (self.copy / file).write_text(text)
        status, reasons = self._run_tests(fault.tests, fault.slow)
        # The engine first: objects that were compiled with the fault must never meet sources that are older than they are.
        self._restore_engine()
        for file, data in clean.items():
            (self.copy / file).write_bytes(data)
            os.utime(self.copy / file, ns=(times[file].st_atime_ns, times[file].st_mtime_ns))
        for path in self._built() - built:
            shutil.rmtree(path, ignore_errors=True)
        if status == _GREEN:
            skipped = _skipped(self.folder / "report.xml")
            return (SKIPPED, f"its tests do not run here: {skipped[0]}") if skipped else (SURVIVED, "")
        right = [reason for reason in reasons if not _OTHER_REASON.match(reason)]
        if status == _RED and right:
            return KILLED, right[0]
        return BROKEN, f"its tests ended with status {status} of pytest, but no assertion failed: {'; '.join(reasons)}"

    def _built(self) -> set[Path]:
        """Return the folders that tests have built, each keyed by its content (the engine's is not, see _restore_engine)."""
        return {path for path in (self.copy / "build").glob("*/*") if path.is_dir() and path.parent.name != "engine"}

    # --- the copy

    def _make_ready(self) -> None:
        """Make the copy's sources equal to the project's. What is equal is not touched, so nothing is built again for it."""
        if self._ready:
            return
        self.copy.mkdir(parents=True, exist_ok=True)
        for file in set(files_of(self.copy)) - set(self.sources.files):
            (self.copy / file).unlink()
        for file, data in self.sources.data.items():
            there = self.copy / file
            if not there.is_file() or there.read_bytes() != data:
                there.parent.mkdir(parents=True, exist_ok=True)
                there.write_bytes(data)
                with contextlib.suppress(OSError):
                    there.chmod((self.root / file).stat().st_mode)
        self._lend_devices()
        self._ready = True

    def _lend_devices(self) -> None:
        """Devices and Verilator's objects that the project has built are as good in the copy: their names stand for their contents."""
        for path in [*self.root.glob("build/devices/*/*.so"), *self.root.glob("build/verilated/*/*.o")]:
            there = self.copy / path.relative_to(self.root)
            if not there.exists():
                there.parent.mkdir(parents=True, exist_ok=True)
                with contextlib.suppress(OSError):
                    os.link(path, there)

    def _engine_parts(self, of: Path) -> list[tuple[Path, Path]]:
        """Return what the engine's build leaves in the copy, beside where it is kept; what says that it is complete comes last."""
        package = self.copy / "src/penstock"
        modules = (package if of == self.copy else of).glob("_engine*.so")
        return [
            *((package / path.name, self._engine / path.name) for path in modules),
            (self.copy / "build/engine", self._engine / "build"),
        ]

    def _engine_is_clean(self) -> bool:
        """Nothing was compiled since the engine was kept."""
        return all(_same(self.copy / "build/engine" / name, self._engine / "build" / name) for name in ("stamp", ".ninja_log"))

    def _keep_engine(self) -> None:
        """Keep the engine that was built without a fault."""
        if (self.copy / "build/engine/stamp").exists() and not self._engine_is_clean():
            shutil.rmtree(self._engine, ignore_errors=True)
            self._engine.mkdir()
            for path, kept in self._engine_parts(self.copy):
                _copy(path, kept)

    def _restore_engine(self) -> None:
        """Put back the engine as it was without a fault, times of files too, so that nothing is compiled again."""
        if (self.copy / "build/engine").exists() and not self._engine_is_clean():
            if not (self._engine / "build/stamp").exists():
                shutil.rmtree(self.copy / "build/engine")  # built with this fault for the first time
            for path, kept in self._engine_parts(self._engine):
                if kept.exists():
                    _copy(kept, path)

    # --- tests

    def _run_tests(self, tests: Sequence[str], slow: bool) -> tuple[int, list[str]]:
        """Run `tests` in the copy until one fails; return pytest's exit status and what the failures say, each in a line."""
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        environment = tool_environment() | {
            "PYTHONPATH": str(self.copy / "src"),
            "PYTEST_ADDOPTS": "",  # what was asked of the tests around these
            # A file of byte code is told from its source by whole seconds and size: too coarse for what is planted here.
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if self.sources.need_engine(tests):
            with (self.folder / "log").open("wb") as log:
                command = [sys.executable, "-m", "penstock.engine.engine"]
                if _call(command, cwd=self.copy, env=environment, log=log, keep_open=self._lock):
                    return _BROKEN_ENGINE, ["EngineBuildError: the engine does not compile"]
        options = ["-x", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *(["-m", ""] if slow else [])]
        with (self.folder / "log").open("wb") as log:
            status = _call(
                [sys.executable, "-m", "pytest", *options, *tests], cwd=self.copy, env=environment, log=log, keep_open=self._lock
            )
        reasons = _reasons(report)
        if status != _GREEN and not reasons:
            lines = (self.folder / "log").read_text(errors="replace").splitlines()
            reasons = [line for line in lines if line.startswith(("ERROR", "E  "))][:1] or lines[-1:]
        return status, reasons


@contextlib.contextmanager
def opened(waiting: Callable[[], None] = lambda: None) -> Iterator[Laboratory]:
    """Yield the laboratory, which no other process uses meanwhile; `waiting` is called once if it is in use."""
    folder = BUILD / "faults"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield Laboratory(ROOT, folder, lock.fileno())


def _call(command: list[str], *, cwd: Path, env: dict[str, str], log: object, keep_open: int | None) -> int:
    """Run `command` in a session of its own and end all of that with this call, however this call ends.

    The child holds the lock, too: should this process be killed outright, the next one waits until the tests have ended.
    """
    keep = () if keep_open is None else (keep_open,)
    child = subprocess.Popen(
        command, cwd=cwd, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, pass_fds=keep
    )
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    try:
        for number in before:
            signal.signal(number, leave)
        return child.wait()
    finally:
        _end_session(child.pid)
        child.wait()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_session(leader: int) -> None:
    """Kill every process of a session. Its process groups are not enough to go by: ninja gives each compiler one of its own."""
    while True:
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                state, _, _, session = path.read_text().rpartition(")")[2].split()[:4]
                if int(session) == leader and state not in "ZX":
                    found.append(int(path.parent.name))
        if not found:
            return
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)


def seed() -> int | None:
    """Return the seed that the tests are run with, None for their own."""
    given = os.environ.get("PENSTOCK_SEED", "")
    return int(given) if given.isdecimal() else None


def _reasons(report: Path) -> list[str]:
    """Return what every failure and error in pytest's report says, in a line each."""
    return [_reason(element) for element in _elements(report) if element.tag in ("failure", "error")]


def _skipped(report: Path) -> list[str]:
    """Return why tests did not run, in a line for each that did not."""
    return [_reason(element) for element in _elements(report) if element.get("type") == "pytest.skip"]


def _elements(report: Path) -> list[ElementTree.Element]:
    """Return what pytest's report says of its tests."""
    try:
        tree = ElementTree.parse(report)
    except (OSError, ElementTree.ParseError):
        return []
    return [element for case in tree.iter("testcase") for element in case]


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


def _hash(*parts: object) -> str:
    tools = [sys.version, importlib.metadata.version("verilator"), seed()]
    return hashlib.sha256(json.dumps([*parts, *tools]).encode()).hexdigest()


__all__ = ["BROKEN", "KILLED", "OUTCOMES", "STALE", "SURVIVED", "Laboratory", "Outcome", "opened", "seed"]
