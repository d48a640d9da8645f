"""The faults of a change: those that are written by hand for its files, and mutants of its lines; and the tests to try on each."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from penstock.faults.made import writes
from penstock.faults.operators import Mutant, mutants
from penstock.faults.register import Change, Fault, Stale
from penstock.graph.changes import Changes
from penstock.graph.tests import Graph
from penstock.testing import testkinds

TEST_SECONDS = 60.0  # CPU seconds of tests that are tried on one mutant, at most
_FEWEST = 3  # tests that are tried whatever they cost
_MOST = 80  # tests that are tried however cheap they are: what they cost is a guess until they have run here
_DEFAULT_VARIANTS = 3  # of a test that was not measured here


@dataclass
class Campaign:
    """`generated`: mutants of all changed lines; `equivalent` of them are marked so; `faults`: what is tried, a sample of the mutants among
    it; `untested`: changed files that no test is about."""

    faults: list[Fault]
    generated: int
    equivalent: int
    by_hand: int
    untested: list[str]


def campaign(graph: Graph, register: Sequence[Fault], changes: Changes, most: int, seed: int) -> Campaign:
    """Return what to try for `changes`: hand-written faults nearest to the changed lines and at most `most` mutants, in turn."""
    data = graph.project.data
    found: list[Mutant] = []
    for file, lines in changes.lines.items():
        if file in data and not _is_of_tests(file):
            found += mutants(file, data[file], lines)
    marked = [fault for fault in register if fault.equivalent]
    left = [mutant for mutant in found if not any(writes(fault, mutant, data[mutant.file]) for fault in marked)]
    equivalent = len(found) - len(left)
    chosen = sorted(random.Random(seed).sample(left, min(most, len(left))), key=lambda mutant: (mutant.file, mutant.start))
    random.Random(seed).shuffle(chosen)  # what the time does not suffice for is no one place
    times = testkinds.read_times()
    planned = {file: tests_for(graph, file, times) for file in {mutant.file for mutant in chosen}}
    untested = sorted(file for file, tests in planned.items() if not tests)
    trials = [_as_fault(mutant, data[mutant.file], planned[mutant.file]) for mutant in chosen if planned[mutant.file]]
    by_hand = sorted(
        (fault for fault in register if not fault.equivalent and set(fault.files) & changes.lines.keys()),
        key=lambda fault: (_cost(graph, fault.tests, times) > TEST_SECONDS, _distance(fault, changes, data)),
    )
    mixed = [fault for pair in zip(trials, by_hand, strict=False) for fault in pair]
    mixed += trials[len(by_hand) :] + by_hand[len(trials) :]
    return Campaign(mixed, len(found), equivalent, len(by_hand), untested)


def tests_for(graph: Graph, file: str, times: dict[str, float]) -> tuple[str, ...]:
    """Return the tests to try on a mutant of `file`, the most telling and cheapest first, as many as `TEST_SECONDS` allow."""
    stem = PurePosixPath(file).stem
    by_function: dict[str, float] = {}
    for name, seconds in times.items():
        function = name.partition("[")[0]
        by_function[function] = by_function.get(function, 0.0) + seconds

    def cost(name: str) -> float:
        return by_function.get(name, _usual(graph.tests[name].kind))

    near = {name: rank for name, rank in graph.near(file).items() if graph.tests[name].kind not in ("slow", "synthesis")}

    def order(name: str) -> tuple[float, ...]:
        of_it = PurePosixPath(name.partition("::")[0]).stem.removeprefix("test_").startswith(stem)
        return (not of_it, graph.tests[name].kind == "device", near[name], cost(name))

    chosen: list[str] = []
    spent = 0.0
    for name in sorted(near, key=lambda name: (order(name), name)):
        spent += cost(name)
        if (spent > TEST_SECONDS and len(chosen) >= _FEWEST) or len(chosen) >= _MOST:
            break
        chosen.append(name)
    return tuple(chosen)


def _usual(kind: str) -> float:
    return testkinds.KINDS[kind].seconds * (1 if kind == "software" else _DEFAULT_VARIANTS)


def _cost(graph: Graph, names: Sequence[str], times: dict[str, float]) -> float:
    """Return what tests cost (pytest's names), those that were not measured by their kind."""
    return sum(times.get(name, sum(_usual(test.kind) for test in graph.of(name))) for name in names)


def _is_of_tests(file: str) -> bool:
    return bool({"test", "tests", "formal", "testing"} & set(file.split("/")))


def _as_fault(mutant: Mutant, source: bytes, tests: tuple[str, ...]) -> Fault:
    at = len(source[: mutant.start].decode())
    old, new = (" ".join(text.split()) for text in (mutant.old, mutant.new))
    return Fault(
        place=f"{mutant.file}:{mutant.line}",
        name=f"{mutant.operator} at {mutant.start}: {mutant.new}",
        words=f"{mutant.operator}: {old}  ->  {new or 'nothing'}",
        changes=(Change(mutant.file, mutant.old, mutant.new, at),),
        tests=tests,
    )


def _distance(fault: Fault, changes: Changes, data: dict[str, bytes]) -> int:
    """Return how many lines lie between a fault and the nearest changed line."""
    distances = []
    for change in fault.changes:
        if change.file in changes.lines and change.file in data:
            text = data[change.file].decode(errors="replace")
            try:
                line = text[: change.place_in(text)[0]].count("\n") + 1
            except Stale:
                continue
            distances += [abs(line - other) for other in changes.lines[change.file]]
    return min(distances, default=0)
