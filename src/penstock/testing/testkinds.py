"""Pytest plugin: what kind each test is of, what it costs, and which ones `--quick` runs. The root's conftest.py loads it.

A kind is found from what a test calls, itself or through helpers beside it, never from a list of names, unless the test is marked with one;
it is a mark, so `-m proof` works.
The cost of a test is the CPU time from the end of the test before it to its own when it last passed here, fixtures and what ends with them
with it, without what was built for it; every run keeps it, in build/test-times.json. `--quick` leaves the kinds out that take long by their
nature and fills `QUICK_SECONDS` with the rest: of each test function its cheapest variant first, then the cheapest of all others. One that
has not passed here yet counts with what is built for it. Whatever was expected, `--quick` begins no test after `QUICK_WALL_SECONDS`.
"""

import fcntl
import inspect
import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from penstock import paths
from penstock.testing import basis, unchanged, verdicts

QUICK_SECONDS = 370.0  # of CPU: with what pytest itself takes and tests wait for, under five minutes on two cores
OWN_SECONDS = 60.0  # of pytest, which collects all tests in each of its processes
FILE_SECONDS = 150.0  # of one file, whose tests run one after the other
QUICK_WALL_SECONDS = 270.0  # from the start of the command: then no further test begins, so that all is over within five minutes
QUICK_LEAST_SECONDS = 60.0  # that the tests get in any case, however long the engine was built
NO_TIME = "--quick has no time left"


@dataclass(frozen=True)
class Kind:
    """`words`: for people; `calls`, `says`: names and words in a test that give it away; `quick`: --quick may run it."""

    name: str
    words: str
    seconds: float  # assumed until it was measured
    quick: bool
    calls: frozenset[str] = frozenset()
    says: frozenset[str] = frozenset()
    build: float = 0.0  # assumed for what is built for it, until it has passed

    @property
    def unmeasured(self) -> float:
        """What a test costs that has not passed here."""
        return self.seconds + self.build


# The first that fits.
KINDS = {
    kind.name: kind
    for kind in (
        Kind("slow", "marked slow: minutes each", 300, False),
        Kind("proof", "proofs", 60, False, frozenset({"run_proof"})),
        Kind("synthesis", "of synthesis", 60, False, says=frozenset({"synth"})),
        Kind("soak", "soaks of a module in C++", 2, True, frozenset({"run_soak"}), build=4),
        Kind("simulation", "simulations of a module in cocotb", 5, True, frozenset({"run_module"}), build=2),
        Kind(
            "device", "of whole devices and cores in RTL", 5, True, frozenset({"build_device", "build_core", "TestCore", "bench"}), build=8
        ),
        Kind("build", "of what is compiled for the test alone", 15, False),
        Kind("software", "of models, engine and workbench", 0.1, True),
    )
}


# ---- kinds


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _of_the_tests(function: object) -> bool:
    """Whether `function` is written in Python beside the tests: not the workbench's, nor of a library."""
    return inspect.isfunction(function) and not function.__module__.startswith(("penstock.", "_pytest", "cocotb"))


@lru_cache(maxsize=4096)  # variants of a test share it
def mentioned(functions: tuple[Callable[..., Any] | None, ...]) -> tuple[set[str], set[str]]:
    """Return the names that `functions` use, and their words: theirs and those of the functions and classes beside them that they use."""
    names: set[str] = set()
    words: set[str] = set()
    waiting = [inspect.unwrap(function) for function in functions if function]
    seen: set[object] = set()
    while waiting:
        function = waiting.pop()
        if function in seen or not isinstance(function, FunctionType):
            continue
        seen.add(function)
        codes = list(_codes(function.__code__))
        used = {name for code in codes for name in code.co_names}
        names |= used
        words |= {constant for code in codes for constant in code.co_consts if isinstance(constant, str)}
        for name in used:
            found = function.__globals__.get(name)
            if isinstance(found, type) and not found.__module__.startswith("penstock."):
                waiting += [member for member in vars(found).values() if inspect.isfunction(member)]
            elif _of_the_tests(found):
                waiting.append(found)
    return names, words


def kind_of(item: pytest.Item) -> str:
    """Return the kind of a collected test: by its marks, else by its code, and its fixtures'."""
    if item.get_closest_marker("slow"):
        return "slow"
    return next((name for name in KINDS if item.get_closest_marker(name)), None) or called(item)


def called(item: pytest.Item) -> str:
    """Return the kind that the code of a collected test and of its fixtures gives away."""
    fixtures = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    used = [definition.func for definitions in fixtures.values() for definition in definitions if _of_the_tests(definition.func)]
    names, words = mentioned((getattr(item, "function", None), *used))
    return next((kind.name for kind in KINDS.values() if kind.calls & names or kind.says & words), "software")


# ---- what --quick runs


@dataclass(frozen=True)
class Collected:
    """A collected test, as far as the choice needs to know it; `function`: its id without parameters."""

    name: str
    function: str
    file: str
    kind: str


def choose(tests: Iterable[Collected], times: Mapping[str, float]) -> set[str]:
    """Return the names of the tests that --quick runs."""
    candidates = [test for test in tests if KINDS[test.kind].quick]
    cost = {test.name: times.get(test.name, KINDS[test.kind].unmeasured) for test in candidates}
    candidates.sort(key=lambda test: (cost[test.name], test.name))
    functions: set[str] = set()
    first: list[Collected] = []
    others: list[Collected] = []
    for test in candidates:
        (others if test.function in functions else first).append(test)
        functions.add(test.function)
    chosen: set[str] = set()
    total, by_file = 0.0, defaultdict[str, float](float)
    for test in [*first, *others]:
        seconds = cost[test.name]
        if total + seconds <= QUICK_SECONDS and by_file[test.file] + seconds <= FILE_SECONDS:
            chosen.add(test.name)
            total += seconds
            by_file[test.file] += seconds
    return chosen


def summary(all_of: Mapping[str, int], left_out: Mapping[str, int], expected_seconds: float, measured: int, chosen: int) -> list[str]:
    """Return in lines what --quick has left out, by kind, and how to run it."""
    lines = [f"--quick leaves out {sum(left_out.values()):,} of {sum(all_of.values()):,} tests:"]
    for name, kind in KINDS.items():
        if left_out.get(name):
            how = "./penstock test --slow" if name == "slow" else f'./penstock test -m "{name} and not slow"'
            lines.append(f"  {left_out[name]:5,} of {all_of[name]:5,}  {kind.words:35}  {how}")
    lines.append("All but those marked slow: ./penstock test; all: ./penstock test --slow.")
    lines.append(
        f"The {chosen:,} that ran should take {(expected_seconds + OWN_SECONDS) / 2:.0f} s on two cores"
        f" ({measured:,} of them were measured here before, and count without what is built for them)."
    )
    return lines


# ---- times


def times_file() -> Any:
    """Return where times are kept."""
    return paths.BUILD / "test-times.json"


def read_times() -> dict[str, float]:
    """Return the CPU seconds of each test that has passed here; nothing, when the file is not there or not readable."""
    try:
        found = json.loads(times_file().read_text())
        return {str(name): float(seconds) for name, seconds in found.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def keep_times(new: Mapping[str, float]) -> None:
    """Add times to those that are kept; several runs may do it at once."""
    if not new:
        return
    file = times_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Of tests whose file is gone nothing is asked any more.
        kept = {name: seconds for name, seconds in read_times().items() if (paths.ROOT / name.split("::")[0]).exists()}
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(kept | {name: round(seconds, 2) for name, seconds in new.items()}, indent=0, sort_keys=True))
        part.replace(file)


# ---- hooks


def pytest_addoption(parser: pytest.Parser) -> None:
    """--quick."""
    parser.addoption("--quick", action="store_true", help="run what fits into a few minutes, and say what is left out")


def _spent() -> float:
    """Return the CPU time of this process and its children until now, but for what was built."""
    return paths.cpu_seconds() - paths.building_seconds()


class _Plugin:
    """The plugin's state; in the controller of several processes, and in each of them."""

    def __init__(self, config: pytest.Config) -> None:
        self.quick = config.getoption("quick")
        self.worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        # All processes must choose the same: they have the controller's times.
        self.times: dict[str, float] = self.worker["times"] if self.worker else read_times()
        self.measured: dict[str, float] = {}
        self.passed: set[str] = set()
        self.until: float | None = None  # _spent() at the end of the last test
        self.summary: list[str] = []
        self.known = 0  # verdicts that were used instead of a run
        # Tests that need not run; all processes must leave out the same. What was named runs.
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        self.state = None if self.worker or named else unchanged.State(paths.ROOT, os.environ)
        self.unchanged: dict[str, str] = self.worker["unchanged"] if self.worker else self.state.passed() if self.state else {}
        self.unchanged_count = 0
        self.changed = ""  # what has changed while the tests ran
        self.of_this_state: list[str] = []
        self.left_out: set[str] = set()
        self.kinds: dict[str, str] = {}
        self.late = 0  # tests that --quick had no time for
        now = time.time()
        began = float(os.environ.get(basis.BEGAN, now))
        self.end: float = self.worker["end"] if self.worker else max(began + QUICK_WALL_SECONDS, now + QUICK_LEAST_SECONDS)
        self.kinds_file = Path(self.worker["kinds"]) if self.worker else paths.BUILD / f"test-kinds-{os.getpid()}.json"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput |= {"times": self.times, "end": self.end, "kinds": str(self.kinds_file), "unchanged": self.unchanged}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        if config.getoption("dist") != "loadscope":
            return None
        from penstock.testing.testorder import LongestFirst

        return LongestFirst(config, log, self.kinds_file, self._cost, cheapest=self.quick)

    def _need_not_run(self, name: str, kind: str) -> bool:
        if kind not in {*unchanged.KINDS, "software"} or name not in self.unchanged:
            return False
        return self.unchanged[name] == unchanged.said(paths.ROOT, name)

    def _cost(self, name: str, kind: str) -> float:
        return self.times.get(name, KINDS[kind].unmeasured)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.summary = self.summary or getattr(node, "workeroutput", {}).get("quick", [])
        self.unchanged_count = max(self.unchanged_count, getattr(node, "workeroutput", {}).get("left_out", 0))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
        kinds = self.kinds = {item.nodeid: kind_of(item) for item in items}
        for item in items:
            if kinds[item.nodeid] != "slow":
                item.add_marker(kinds[item.nodeid])
        yield  # -k and -m
        self.left_out = {item.nodeid for item in items if self._need_not_run(item.nodeid, kinds[item.nodeid])}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in self.left_out])
        items[:] = [item for item in items if item.nodeid not in self.left_out]
        if self.worker and self.worker["workerid"] == "gw0":  # all have the same
            self.kinds_file.parent.mkdir(parents=True, exist_ok=True)
            self.kinds_file.write_text(json.dumps({item.nodeid: kinds[item.nodeid] for item in items}))
        if not self.quick:
            return
        tests = [Collected(item.nodeid, item.nodeid.split("[")[0], item.nodeid.split("::")[0], kinds[item.nodeid]) for item in items]
        chosen = choose(tests, self.times)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]
        all_of = Counter(kinds.values()) - Counter(kinds[name] for name in self.left_out)
        left_out = all_of - Counter(kinds[item.nodeid] for item in items)
        expected = sum(self.times.get(name, KINDS[kinds[name]].unmeasured) for name in chosen)
        self.summary = summary(all_of, left_out, expected, len(chosen & self.times.keys()), len(chosen))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        if self.until is None:  # the first one: what was before is collection
            self.until = _spent()
        self.used = verdicts.used()
        if self.quick and time.time() > self.end:
            pytest.skip(NO_TIME)
        yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        try:
            yield
        finally:
            before, self.until = self.until or 0.0, _spent()
            item.user_properties.append(("cpu_seconds", self.until - before))
            item.user_properties.append(("kind", self.kinds.get(item.nodeid, "")))
            item.user_properties.append(("known", verdicts.used() - self.used))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.worker:
            return
        if report.skipped and isinstance(report.longrepr, tuple) and report.longrepr[2].endswith(NO_TIME):
            self.late += 1
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)
        elif report.when == "teardown" and report.passed and report.nodeid in self.passed:
            properties: dict[str, Any] = dict(report.user_properties)
            self.known += properties["known"]
            if self.state and unchanged.is_kept(properties["kind"], properties["cpu_seconds"]):
                self.of_this_state.append(report.nodeid)
            if not properties["known"]:
                self.measured[report.nodeid] = properties["cpu_seconds"]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.worker:
            session.config.workeroutput["quick"] = self.summary  # type: ignore[attr-defined]
            session.config.workeroutput["left_out"] = len(self.left_out)  # type: ignore[attr-defined]
        else:
            keep_times(self.measured)
            if self.state:
                self.changed = self.state.keep(self.of_this_state)
            self.kinds_file.unlink(missing_ok=True)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for line in self.summary:
            terminalreporter.write_line(line)
        if self.late:
            what = f"{self.late:,} of these had not begun after {QUICK_WALL_SECONDS:.0f} s, as something was built"
            line = f"{what}; run ./penstock test --quick again."
            terminalreporter.write_line(line)
        if self.changed:
            line = f"What has passed is not kept for the next run, as something has changed meanwhile: {self.changed}."
            terminalreporter.write_line(line)
        if count := max(self.unchanged_count, len(self.left_out)):
            what = f"{count:,} tests that take long were not run"
            line = f"{what}: they have passed with all code as it is (--again runs them)."
            terminalreporter.write_line(line)
        if self.known:
            what = "a proof, soak or simulation was" if self.known == 1 else f"{self.known:,} proofs, soaks and simulations were"
            terminalreporter.write_line(f"{what} not run: the same has passed before (--again runs them).")


def pytest_configure(config: pytest.Config) -> None:
    """Make each kind a mark."""
    for kind in KINDS.values():
        if kind.name != "slow":  # pyproject.toml has it
            config.addinivalue_line("markers", f"{kind.name}: {kind.words}")
    config.pluginmanager.register(_Plugin(config), "penstock-kinds")
