# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Tests of devices, of synthesis, of builds and what takes long do not run again while all code is as it was; any other test does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import cache
from penstock.basics import tokens
from penstock.paths import ROOT
from penstock.testing import unchanged, verdicts

CONFTEST = """
from pathlib import Path

from penstock import paths

paths.ROOT = Path(__file__).parent
paths.BUILD = paths.ROOT / "build"
from penstock.testing.testkinds import pytest_addoption, pytest_configure
"""
HELPER = "def build_device(): pass\n"
TEST = """
import sys
sys.path.insert(0, str(__import__("pathlib").Path(__file__).parent))
from helper import build_device

def test_device(): build_device()
def test_other(): pass
"""
LEFT_OUT = "tests that take long were not run"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A small house with two files of a device's test and another one."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "helper.py").write_text(HELPER)
    settings = (
        (ROOT / "pyproject.toml").read_text().replace('testpaths = ["blocks", "designs", "engine", "p4", "tests"]', 'testpaths = ["."]')
    )
    (tmp_path / "pyproject.toml").write_text(settings.replace('pythonpath = ["src"]', f'pythonpath = ["{ROOT / "src"}"]'))
    for name in ("test_one.py", "test_two.py"):
        (tmp_path / name).write_text(TEST)
    return tmp_path


def run(house: Path, *arguments: str, **variables: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    environment = {name: value for name, value in os.environ.items() if name not in (verdicts.AGAIN, "PENSTOCK_SEED")}
    environment |= {"PENSTOCK_CACHE": str(house / "build" / "cache"), **variables}
    return subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("processes", [0, 2])
def test_only_while_nothing_has_changed(house: Path, processes: int) -> None:
    side_by_side = ["-n", str(processes), "--dist", "loadscope"] if processes else []
    assert "4 passed" in run(house, *side_by_side)
    printed = run(house, *side_by_side)
    assert "2 passed" in printed and f"2 {LEFT_OUT}" in printed
    (house / "test_two.py").write_text(TEST + "\nX = 1\n")
    (house / "helper.py").write_text(HELPER + "# said\n")
    (house / "page.md").write_text("A page.")
    printed = run(house, *side_by_side)
    assert "3 passed" in printed and f"1 {LEFT_OUT}" in printed, "of the file that has changed it does"
    (house / "helper.py").write_text(HELPER + "X = 1\n")
    assert "4 passed" in run(house, *side_by_side)


def test_what_is_named_or_asked_for_runs(house: Path) -> None:
    assert "4 passed" in run(house)
    assert "2 passed" in run(house, "test_one.py")
    assert "4 passed" in run(house, **{verdicts.AGAIN: "1"})
    assert "4 passed" in run(house, PENSTOCK_SEED="1")
    assert "4 passed" in run(house, PENSTOCK_OPTIMISE="2"), "with another variable that tools read"
    assert f"2 {LEFT_OUT}" in run(house)


def test_what_fails_is_not_kept(house: Path) -> None:
    (house / "test_two.py").write_text(TEST.replace("build_device()\n", "build_device(); assert False\n"))
    for _ in range(2):
        assert "1 failed" in run(house)


def test_a_test_may_say_its_kind(house: Path) -> None:
    """By a mark, where its code does not give it away."""
    (house / "test_two.py").write_text(TEST.replace("def test_other()", "import pytest\n\n@pytest.mark.build\ndef test_other()"))
    assert "4 passed" in run(house)
    printed = run(house)
    assert "1 passed" in printed and f"3 {LEFT_OUT}" in printed


def test_what_took_long_is_kept(house: Path) -> None:
    """Software, too; what was built for it does not count."""
    (house / "conftest.py").write_text(f"{CONFTEST}\nfrom penstock.testing import unchanged\nunchanged.LONG_SECONDS = 0.5\n")
    (house / "test_two.py").write_text(f"{TEST}\ndef test_long():\n    sum(n % 7 for n in range(30_000_000))\n")
    assert "5 passed" in run(house)
    printed = run(house)
    assert "2 passed" in printed and f"3 {LEFT_OUT}" in printed


def test_a_test_that_writes_into_the_tree_is_told(house: Path) -> None:
    """Nothing would ever be kept, and nobody would know why."""
    (house / "test_two.py").write_text(f"{TEST}\ndef test_writes(): open(__file__[: -len('test_two.py')] + 'left.html', 'w').close()\n")
    printed = run(house)
    assert "5 passed" in printed and "something has changed meanwhile: left.html." in printed


def test_texts_are_read_once(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process takes what they say from the cache, and reads those alone that have changed."""
    monkeypatch.setattr(cache, "root", lambda: house / "build" / "cache")
    monkeypatch.setattr(tokens, "known", {})
    before = unchanged.State(house, {}).key
    meaning, asked = tokens.meaning, []
    monkeypatch.setattr(tokens, "meaning", lambda name, data: asked.append(Path(name).name) or meaning(name, data))
    for text, key_stays, names in ((HELPER, True, []), (HELPER + "# more\n", True, ["helper.py"]), ("X = 1\n", False, ["helper.py"])):
        (house / "helper.py").write_text(text)
        tokens.known.clear()
        tokens._digest.cache_clear()
        asked.clear()
        assert (unchanged.State(house, {}).key == before, asked) == (key_stays, names)
