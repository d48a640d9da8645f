# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Several processes get what takes longest first; a file stays together, but for tests that share nothing."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.testing.testkinds import KINDS
from penstock.testing.testorder import ALONE, LongestFirst

TESTS = {
    "a.py::test_one": ("software", 1.0),
    "a.py::test_two": ("software", 2.0),
    "b.py::test_proof[x]": ("proof", 9.0),
    "b.py::test_proof[y]": ("proof", 4.0),
    "c.py::test_soak[1]": ("soak", 3.0),
    "c.py::test_soak[2]": ("soak", 3.0),
    "d.py::test_small": ("software", 0.5),
}


class Node:
    """A process that only notes what it is given."""

    def __init__(self, number: int) -> None:
        self.gateway = SimpleNamespace(id=f"gw{number}")
        self.shutting_down = False
        self.given: list[str] = []

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.given += [list(TESTS)[number] for number in numbers]

    def shutdown(self) -> None:
        self.shutting_down = True


def units(tmp_path: Path, nodes: int, cheapest: bool = False) -> list[list[str]]:
    """Let each process in turn end its tests; return the tests of each."""
    kinds = tmp_path / "kinds.json"
    kinds.write_text(json.dumps({name: kind for name, (kind, _) in TESTS.items()}))
    config: Any = SimpleNamespace(getvalue=lambda name: ["popen"] * nodes, option=SimpleNamespace(loadscopereorder=True, verbose=0))
    config.getoption = config.getvalue
    log: Any = SimpleNamespace(loadscopesched=None)
    order = LongestFirst(config, log, kinds, lambda name, kind: TESTS[name][1], cheapest)
    order.log = lambda *words: None  # type: ignore[method-assign]
    made: list[Any] = [Node(number) for number in range(nodes)]
    for node in made:
        order.add_node(node)
    for node in made:
        order.add_node_collection(node, list(TESTS))
    order.schedule()
    while order.workqueue or order.has_pending:
        for node in made:
            pending = [name for unit in order.assigned_work[node].values() for name, done in unit.items() if not done]
            if pending:
                order.mark_test_complete(node, list(TESTS).index(pending[0]))
    return [node.given for node in made]


def test_what_takes_longest_is_first(tmp_path: Path) -> None:
    """A unit of several tests counts with their sum."""
    alone = ["b.py::test_proof[x]", "c.py::test_soak[1]", "c.py::test_soak[2]", "b.py::test_proof[y]"]
    assert units(tmp_path, 1) == [[*alone, "a.py::test_one", "a.py::test_two", "d.py::test_small"]]
    assert [given[0] for given in units(tmp_path, 2)] == ["b.py::test_proof[x]", "c.py::test_soak[1]"]


def test_what_is_cheapest_is_first_when_time_is_short(tmp_path: Path) -> None:
    given = units(tmp_path, 1, cheapest=True)[0]
    assert given[:3] == ["d.py::test_small", "a.py::test_one", "a.py::test_two"] and given[-1] == "b.py::test_proof[x]"


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_all_run_once_and_files_stay_together(tmp_path: Path, nodes: int) -> None:
    given = units(tmp_path, nodes)
    assert sorted(name for of in given for name in of) == sorted(TESTS)
    for file in "ac":
        assert sum(any(name.startswith(file) for name in of) for of in given) == 1


def test_what_is_alone_is_a_kind() -> None:
    assert KINDS.keys() > ALONE
