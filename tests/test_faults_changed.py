"""`faults --changed`, in a small repository of its own: what it plants and tries, what it says of what no test sees."""

import json
import subprocess
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.faults import changed, planting, register
from penstock.graph import changes
from penstock.graph.tests import Graph

PROJECT = """\
[tool.pytest.ini_options]
pythonpath = ["src"]
addopts = "--import-mode=importlib -m 'not slow'"
"""
SOURCE = """\
def clipped(value, least, most):
    if value < least:
        return least
    return min(value, most)


def untouched(value):
    return value + 1
"""
TEST = """\
from numbers_of_ours import clipped, untouched


def test_clipped():
    assert [clipped(x, 2, 5) for x in (1, 3, 7)] == [2, 3, 5]


def test_untouched():
    assert untouched(1) == 2
"""
BY_HAND = [
    {"name": "most-is-forgotten", "words": "there is no most", "file": "src/numbers_of_ours.py", "replace": "min(value, most)",
     "with": "min(value, value)", "tests": ["tests/test_numbers.py::test_clipped"]},
    {"name": "elsewhere", "words": "another file", "file": "src/other.py", "replace": "1", "with": "3", "tests": ["tests/test_numbers.py"]},
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PENSTOCK_SEED", raising=False)
    for module in (register, planting):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(planting, "BUILD", tmp_path / "build")
    files = {
        "pyproject.toml": PROJECT, ".gitignore": "build\n", "src/other.py": "ONE = 1\n",
        "src/numbers_of_ours.py": SOURCE.replace("<", ">="),
        "tests/test_numbers.py": TEST, "src/faults.yaml": json.dumps(BY_HAND), "README.md": "x\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "src/numbers_of_ours.py").write_text(SOURCE)
    return tmp_path


def tried(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict]:
    status = main(["faults", "--changed", "--json", "--jobs", "1", *options])
    return status, json.loads(capsys.readouterr().out)


def test_a_survivor_is_told_with_its_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`value <= least` is the same: at the limit either way gives it. No test can see that, so it is marked."""
    status, found = tried(capsys)
    assert status == 1 and found["changed"] == {"src/numbers_of_ours.py": 1}
    assert found["mutants"] == {
        "generated": 4, "equivalent": 0, "tried": 4, "killed": 3, "survived": 1, "stale": 0, "skipped": 0, "not_compiled": 0,
    }  # fmt: skip
    assert found["by_hand"]["generated"] == 1 and found["by_hand"]["killed"] == 1
    (survivor,) = found["survivors"]
    assert (survivor["file"], survivor["line"], survivor["before"], survivor["after"]) == ("src/numbers_of_ours.py", 2, "<", "<=")
    mark = BY_HAND[0] | {"name": "at-the-limit", "replace": "value   < least", "with": "value <= least", "equivalent": "both give least"}
    del mark["tests"]
    (project / "src/faults.yaml").write_text(json.dumps([*BY_HAND, mark]))
    status, found = tried(capsys)
    assert status == 0 and (found["mutants"]["generated"], found["mutants"]["equivalent"], found["survivors"]) == (4, 1, [])
    assert main(["faults", "--list"]) == 0 and "at-the-limit" not in capsys.readouterr().out


def test_what_is_known_is_not_tried_again(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = tried(capsys)
    monkeypatch.setattr(planting.Laboratory, "try_fault", lambda *_: pytest.fail("tried again"))
    assert tried(capsys) == first


def test_a_sample_with_its_seed(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["faults", "--changed", "--most", "2", "--jobs", "1"]) in (0, 1)
    assert "Mutants: 4 generated, 2 drawn with seed 1, 2 tried" in capsys.readouterr().out
    graph = Graph(project)
    drawn = {
        frozenset(fault.words for fault in changed.campaign(graph, [], changes.since(project), 2, seed).faults) for seed in range(1, 12)
    }
    assert len(drawn) > 1


def test_time_runs_out(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "tests/test_numbers.py").write_text(
        "import time\n" + TEST.replace("    assert [clip", "    time.sleep(30)\n    assert [clip")
    )
    assert main(["faults", "--changed", "--minutes", "0.1", "--jobs", "1"]) == 0
    assert "were not tried in the time" in capsys.readouterr().out


def test_a_mutant_that_ends_python_is_seen(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As code in C++ may: then pytest says nothing of its tests."""
    ends = "    if [clipped(x, 2, 5) for x in (1, 3, 7)] != [2, 3, 5]:\n        os.kill(os.getpid(), signal.SIGSEGV)\n    assert [clip"
    (project / "tests/test_numbers.py").write_text("import os, signal\n" + TEST.replace("    assert [clip", ends))
    status, found = tried(capsys)
    assert status == 1 and (found["mutants"]["killed"], found["mutants"]["survived"], found["mutants"]["not_compiled"]) == (3, 1, 0)


def test_a_comment_costs_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "src/numbers_of_ours.py").write_text("# what is ours\n" + SOURCE.replace("<", ">="))
    (project / "README.md").write_text("y\n")
    status, found = tried(capsys)
    assert status == 0 and found["mutants"]["generated"] == 0 and found["by_hand"]["generated"] == 0


def test_tests_that_are_red_anyway_say_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "tests/test_numbers.py").write_text(TEST.replace("[2, 3, 5]", "[2, 3, 6]").replace("== 2", "== 3"))
    assert main(["faults", "--changed", "--jobs", "1"]) == 2
    assert "tests/test_numbers.py::test_clipped" in capsys.readouterr().err


def test_an_unknown_commit(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--changed", "nothing"]) == 2
    assert "git knows no commit 'nothing'" in capsys.readouterr().err


def test_the_most_telling_tests_come_first(project: Path) -> None:
    """Named after the file, then cheap: a slow one only when it is among the first three."""
    (project / "tests/test_numbers_of_ours.py").write_text("from numbers_of_ours import clipped\n\ndef test_it():\n    assert clipped\n")
    (project / "tests/test_more.py").write_text(
        "".join(f"def test_{n}():\n    import numbers_of_ours as n\n    assert n.clipped\n" for n in "abc")
    )
    graph = Graph(project)
    times = {f"tests/test_more.py::test_{n}[{variant}]": 25.0 for n in "ab" for variant in (1, 2)}
    tests = changed.tests_for(graph, "src/numbers_of_ours.py", times)
    assert tests[0] == "tests/test_numbers_of_ours.py::test_it"
    assert tests[-1] == "tests/test_more.py::test_a" and "tests/test_more.py::test_c" in tests and "tests/test_more.py::test_b" not in tests
