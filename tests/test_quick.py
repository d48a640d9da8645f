# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`penstock test --quick`: kinds are found by what tests call, what is chosen fits, and what is left out is said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.paths import ROOT
from penstock.testing import testkinds, verdicts
from penstock.testing.testkinds import FILE_SECONDS, KINDS, QUICK_SECONDS, Collected, choose

CONFTEST = """
from pathlib import Path

from penstock import paths
from penstock.testing import testkinds, verdicts

paths.ROOT = Path(__file__).parent
paths.BUILD = paths.ROOT / "build"
from penstock.testing.testkinds import pytest_addoption, pytest_configure
"""

TESTS = """
import pytest
from penstock import paths

def run_proof(): pass
def run_soak(): pass
def run_module(): pass
def build_device(): pass
def main(words): pass

def soak(): run_soak()

class Bench:
    def go(self): run_module()

@pytest.fixture
def device():
    build_device()
    return sum(range(20_000_000))

@pytest.fixture
def ends():
    yield
    sum(range(20_000_000))

def test_proof(): run_proof()
def test_soak(): soak()
def test_simulation(): Bench().go()
def test_device(device): pass
def test_that_ends(ends): pass
def test_synthesis(): main(["synth", "x"])
@pytest.mark.slow
def test_slow(): run_proof()
@pytest.mark.parametrize("n", range(5))
def test_software(n): assert sum(range(n * 1_000_000)) >= 0
def test_that_builds(tmp_path):
    with paths.alone_in(tmp_path):
        sum(range(40_000_000))
def test_that_fails(): assert False
"""


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A small house with one test of each kind, the real settings, and times of its own."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    settings = (ROOT / "pyproject.toml").read_text().replace('testpaths = ["blocks", "designs", "engine", "p4", "tests"]', "")
    (tmp_path / "pyproject.toml").write_text(settings.replace('pythonpath = ["src"]', f'pythonpath = ["{ROOT / "src"}"]'))
    for name in ("test_one.py", "test_two.py"):
        (tmp_path / name).write_text(TESTS)
    return tmp_path


def run(house: Path, *arguments: str) -> str:
    """Run pytest there and return what it prints."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    environment = os.environ | {"PENSTOCK_CACHE": str(house / "build" / "cache"), verdicts.AGAIN: "1"}
    return subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True, check=False).stdout


def times(house: Path) -> dict[str, float]:
    return json.loads((house / "build" / "test-times.json").read_text())


@pytest.mark.parametrize("processes", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_what_is_left_out_is_said(house: Path, processes: int) -> None:
    """By kind, with how to run it; in one process and in several."""
    side_by_side = ["-n", str(processes), "--dist", "loadscope"] if processes else []
    printed = run(house, "--quick", *side_by_side)
    assert "2 failed, 20 passed" in printed  # of each file: soak, simulation, device and seven of software
    said = [line.split() for line in printed.splitlines()]
    assert "--quick leaves out 6 of 28 tests:" in printed
    for kind in ("slow", "proof", "synthesis"):
        how = "./penstock test --slow" if kind == "slow" else f'./penstock test -m "{kind} and not slow"'
        assert ["2", "of", "2", *KINDS[kind].words.split(), *how.split()] in said
    assert "(0 of them were measured here before," in printed
    kept = times(house)
    assert len(kept) == 20 and not any("fails" in name for name in kept)
    assert 0 < kept["test_one.py::test_software[1]"] + kept["test_one.py::test_software[2]"] < kept["test_one.py::test_software[4]"] * 2
    assert kept["test_one.py::test_device"] > kept["test_one.py::test_software[4]"], "its fixture is"
    assert kept["test_one.py::test_that_ends"] > kept["test_one.py::test_software[4]"], "what ends with it is"
    assert kept["test_one.py::test_that_builds"] < kept["test_one.py::test_software[4]"], "what is built is not the test's"
    assert "(20 of them were measured here before," in run(house, "--quick", *side_by_side)


@pytest.mark.parametrize("processes", [0, 2])
def test_what_took_long_is_left_out(house: Path, processes: int) -> None:
    """Times are those of the last run here, and the same for all processes; a test's cheapest variant goes before all others."""
    slow = {f"test_one.py::test_software[{n}]": QUICK_SECONDS / 4 + n for n in range(5)}
    (house / "build").mkdir()
    (house / "build" / "test-times.json").write_text(json.dumps(slow | {"test_gone.py::test_x": 1.0}))
    side_by_side = ["-n", str(processes), "--dist", "loadscope"] if processes else []
    printed = run(house, "--quick", "test_one.py", *side_by_side)
    assert "--quick leaves out 7 of 14 tests:" in printed and "4 of     8  of models" in printed
    kept = times(house)
    assert kept["test_one.py::test_software[0]"] < 1 and kept["test_one.py::test_software[1]"] == slow["test_one.py::test_software[1]"]
    assert "test_gone.py::test_x" not in kept


def test_nothing_begins_when_the_time_is_over(house: Path) -> None:
    """However long something was built, and whatever was expected."""
    (house / "conftest.py").write_text(f"{CONFTEST}\ntestkinds.QUICK_WALL_SECONDS = testkinds.QUICK_LEAST_SECONDS = 0\n")
    printed = run(house, "--quick", "test_one.py")
    assert "11 skipped, 3 deselected" in printed and "11 of these had not begun after 0 s" in printed
    assert not (house / "build" / "test-times.json").exists()


def test_what_was_not_measured_counts_with_its_builds() -> None:
    """So a cold tree runs less of what is compiled."""
    tests = [made(f"f{number}", 0, "device", str(number)) for number in range(200)]
    unmeasured = KINDS["device"].seconds + KINDS["device"].build
    assert len(choose(tests, {})) == int(QUICK_SECONDS / unmeasured) < len(choose(tests, {test.name: 5.0 for test in tests}))


def test_kinds_are_marks(house: Path) -> None:
    assert "2 passed, 26 deselected" in run(house, "-m", "proof")
    assert "2 passed, 26 deselected" in run(house, "-m", "device and not slow")
    assert "2 failed, 24 passed, 2 deselected" in run(house)


def made(function: str, variant: int, kind: str = "software", file: str = "a") -> Collected:
    return Collected(f"{file}::{function}[{variant}]", f"{file}::{function}", file, kind)


def test_the_choice_fits() -> None:
    """First the cheapest variant of each test, then the cheapest of all others; never more than the sum, or than a file may take."""
    tests = [made(function, variant, "soak", file) for file in "abcdef" for function in ("f", "g") for variant in range(20)]
    cost = {test.name: 5.0 + 7 * (test.function[-1] == "g") + int(test.name.split("[")[1][:-1]) for test in tests}
    chosen = choose(tests, cost)
    assert all(made(function, 0, file=file).name in chosen for file in "abcdef" for function in "fg")
    assert QUICK_SECONDS - 24 < sum(cost[name] for name in chosen) <= QUICK_SECONDS
    for file in "abcdef":
        assert sum(cost[name] for name in chosen if name[0] == file) <= FILE_SECONDS
    left = [cost[test.name] for test in tests if test.name not in chosen]
    assert max(cost[name] for name in chosen if "[0]" not in name) <= min(left)
    alone = choose([test for test in tests if test.file == "a"], cost)
    assert FILE_SECONDS - 24 < sum(cost[name] for name in alone) <= FILE_SECONDS


def test_what_takes_long_by_its_nature_is_out() -> None:
    tests = [made(kind, 0, kind) for kind in KINDS]
    assert {name.split("::")[1][:-3] for name in choose(tests, {})} == {"soak", "simulation", "device", "software"}
    assert choose(tests, {test.name: 0.0 for test in tests}) == choose(tests, {}), "however little it took"


def test_this_suite_has_tests_of_each_kind(request: pytest.FixtureRequest) -> None:
    """What the kinds look for is what the test kit's functions are called."""
    from penstock.designs.access_edge.bench import core
    from penstock.hardware import verilate
    from penstock.testing import testkit

    for kind, owner in (("proof", testkit), ("soak", testkit), ("simulation", testkit)):
        assert all(hasattr(owner, name) for name in KINDS[kind].calls)
    assert hasattr(verilate, "build_device") and hasattr(core, "build_core")
    assert testkinds.called(request.node) == "software"


def test_quick_and_slow_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "--quick", "--slow"]) == 2
    assert "give one of them" in capsys.readouterr().err
