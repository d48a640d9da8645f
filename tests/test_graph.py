"""The graph of dependencies, on a small project with each kind of edge and on this one; what a change touches, in a repository."""

import subprocess
from pathlib import Path

import pytest

from penstock import paths
from penstock.errors import UserError
from penstock.graph import changes
from penstock.graph.selection import selected
from penstock.graph.tests import Graph

FILES = {
    "blocks/a/rtl/pst_low.sv": "module pst_low; // below pst_high\nendmodule\n",
    "blocks/a/rtl/pst_middle.sv": "module pst_middle;\n  pst_low u_low ();\nendmodule\n",
    "blocks/a/rtl/pst_high.sv": "module pst_high;\n  pst_middle u_middle ();\nendmodule\n",
    "blocks/a/formal/pst_low_proof.sv": "module pst_low_proof;\n  pst_low u_low ();\nendmodule\n",
    "blocks/a/formal/pst_low_proof.sby": "[files]\n../rtl/pst_low.sv\npst_low_proof.sv\n",
    "blocks/a/model/low.hpp": "struct Low;\n",
    "blocks/a/model/low.cpp": '#include "low.hpp"\nint low = 1;\n',
    "blocks/a/model/high.hpp": '#include "blocks/a/model/low.hpp"\n',
    "blocks/a/model/bind.hpp": '#include <nanobind/nanobind.h>\n#include "high.hpp"\nvoid f() { m.def("high_of", &f); }\n',
    "blocks/a/test/soak_low.cpp": '#include "blocks/a/model/low.hpp"\n',
    "blocks/a/test/test_hardware.py": """\
from bench import drive

def test_low():
    run_module("a", "pst_low")

def test_middle():
    drive("pst_middle")

def test_high():
    run_module("a", "pst_high")

def test_proof():
    run_proof("a", "pst_low_proof")

def test_soak():
    run_soak("soak_low.cpp", "a", "pst_high")
""",
    "blocks/a/test/bench.py": "def drive(name):\n    run_module('a', name)\n\ndef other():\n    run_module('a', 'pst_low')\n",
    "blocks/a/test/test_model.py": """\
from penstock._engine import models

def test_high_of():
    assert models.a.high_of() == 1
""",
    "src/penstock/one.py": "ONE = 1\n",
    "src/penstock/two.py": "from penstock.one import ONE\nTWO = 2 * ONE\n",
    "src/penstock/three.py": "from penstock.two import TWO\n",
    "src/penstock/commands/count.py": "from penstock.two import TWO\n",
    "src/penstock/command_line/app.py": "def main(words): pass\n",
    "tests/test_numbers.py": """\
from penstock import three
from penstock.command_line.app import main
from penstock.one import ONE

def test_one():
    assert ONE == 1

def test_three():
    assert three.TWO

def test_count():
    main(["count", "x"])

def test_help():
    main(["help"])
""",
    "README.md": "pst_low\n",
    "lint/verible.rules": "pst_low\n",
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


HARDWARE, MODEL, NUMBERS = "blocks/a/test/test_hardware.py", "blocks/a/test/test_model.py", "tests/test_numbers.py"


@pytest.mark.parametrize(
    ("file", "about", "through_users"),
    [
        ("blocks/a/rtl/pst_low.sv", {f"{HARDWARE}::test_low", f"{HARDWARE}::test_proof"}, {f"{HARDWARE}::test_middle"}),
        ("blocks/a/rtl/pst_middle.sv", {f"{HARDWARE}::test_middle"}, {f"{HARDWARE}::test_high", f"{HARDWARE}::test_soak"}),
        ("blocks/a/rtl/pst_high.sv", {f"{HARDWARE}::test_high", f"{HARDWARE}::test_soak"}, set()),
        ("blocks/a/formal/pst_low_proof.sv", {f"{HARDWARE}::test_proof"}, set()),
        ("blocks/a/model/low.cpp", {f"{HARDWARE}::test_soak"}, {f"{MODEL}::test_high_of"}),
        ("blocks/a/model/high.hpp", {f"{MODEL}::test_high_of"}, set()),
        ("blocks/a/model/bind.hpp", {f"{MODEL}::test_high_of"}, set()),
        ("blocks/a/test/soak_low.cpp", {f"{HARDWARE}::test_soak"}, set()),
        ("blocks/a/test/bench.py", {f"{HARDWARE}::test_middle"}, set()),
        ("src/penstock/one.py", {f"{NUMBERS}::test_one"}, set()),
        ("src/penstock/two.py", set(), {f"{NUMBERS}::test_three", f"{NUMBERS}::test_count"}),
        ("src/penstock/commands/count.py", {f"{NUMBERS}::test_count"}, set()),
        ("README.md", set(), set()),
        ("lint/verible.rules", set(), set()),
    ],
)
def test_who_tests_a_file(small: Path, file: str, about: set[str], through_users: set[str]) -> None:
    found = Graph(small).near(file)
    assert {name for name, rank in found.items() if rank == 0} == about
    assert {name for name, rank in found.items() if rank == 1} == through_users


def test_an_import_for_types_alone_leads_nowhere(small: Path) -> None:
    three = small / "src/penstock/three.py"
    for condition, users in (("True", {f"{NUMBERS}::test_three"}), ("TYPE_CHECKING", set())):
        three.write_text(f"from typing import TYPE_CHECKING\nif {condition}:\n    from penstock.two import TWO\n")
        found = Graph(small).near("src/penstock/two.py")
        assert {name for name, rank in found.items() if rank == 1} == {f"{NUMBERS}::test_count"} | users


def key(root: Path, *tests: str) -> str:
    graph = Graph(root)
    return graph.project.digest(graph.that_matter_to(tests))


@pytest.mark.parametrize(
    ("file", "text", "test", "same"),
    [
        ("README.md", "other", f"{HARDWARE}::test_low", True),
        ("lint/verible.rules", "other", f"{HARDWARE}::test_low", True),
        ("blocks/a/rtl/pst_low.sv", "module   pst_low; // other\nendmodule\n", f"{HARDWARE}::test_low", True),
        ("blocks/a/rtl/pst_low.sv", "module pst_low(input x);\nendmodule\n", f"{HARDWARE}::test_low", False),
        ("blocks/a/rtl/pst_low.sv", "module pst_low(input x);\nendmodule\n", f"{HARDWARE}::test_middle", False),
        ("blocks/a/rtl/pst_low.sv", "module pst_low(input x);\nendmodule\n", f"{HARDWARE}::test_high", True),
        ("blocks/a/rtl/pst_low.sv", "module pst_low(input x);\nendmodule\n", f"{HARDWARE}::test_proof[prove_3]", False),
        ("blocks/a/model/low.cpp", '#include "low.hpp"\nint low = 2;\n', f"{MODEL}::test_high_of", False),
        ("blocks/a/test/soak_low.cpp", "int x;\n", f"{MODEL}::test_high_of", True),
        ("blocks/a/model/low.hpp", "struct Low { int x; };\n", f"{MODEL}::test_high_of", False),
        ("src/penstock/one.py", "ONE = 2\n", f"{NUMBERS}::test_three", True),
        ("src/penstock/one.py", "ONE = 2\n", f"{NUMBERS}::test_one", False),
        (HARDWARE, "def test_low(): pass\n", f"{NUMBERS}::test_one", True),
    ],
)
def test_what_an_edit_voids(small: Path, file: str, text: str, test: str, same: bool) -> None:
    before = key(small, test)
    (small / file).write_text(text)
    assert (key(small, test) == before) == same


def test_what_is_kept_is_only_of_use(small: Path) -> None:
    first = Graph(small).near("src/penstock/one.py")
    (kept,) = (small / "build/graph").iterdir()
    assert Graph(small).near("src/penstock/one.py") == first
    for damaged in (b"", kept.read_bytes()[:100], b"x" * 99):
        kept.write_bytes(damaged)
        assert Graph(small).near("src/penstock/one.py") == first


def test_of_this_project() -> None:
    graph = Graph(paths.ROOT)
    fifo, rules, page = (graph.near(file) for file in ("blocks/common/rtl/pst_fifo.sv", "lint/verible.rules", "docs/verification.md"))
    assert fifo["blocks/common/test/test_pst_fifo.py::test_pst_fifo"] == 0
    assert 20 < len(fifo) < 200 and not any(name.startswith("blocks") for name in [*rules, *page])
    measure = graph.near("engine/src/measure.cpp")
    assert "engine/test/test_measure.py::test_every_event_is_checked" in measure and len(measure) < 500
    assert "blocks/aqm/codel/test/test_pst_codel.py::test_a_packet_every_cycle" in graph.near("blocks/aqm/codel/model/codel.hpp")
    without = [test.name for test in graph.tests.values() if not test.subjects and test.name.startswith(("blocks", "engine", "designs"))]
    assert len(without) < 30, without  # those of judges that are of the tests themselves


# --- what a change touches


def git(root: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@y", *words]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(small: Path) -> Path:
    (small / ".gitignore").write_text("build\n")
    git(small, "init", "-q", "-b", "main")
    git(small, "add", "-A")
    git(small, "commit", "-qm", "one")
    return small


def test_lines_of_a_change(repository: Path) -> None:
    two, low, high = (repository / name for name in ("src/penstock/two.py", "blocks/a/rtl/pst_low.sv", "blocks/a/rtl/pst_high.sv"))
    git(repository, "checkout", "-qb", "work")
    two.write_text("from penstock.one import ONE\nONE += 1\nTWO = 2 * ONE\n")
    git(repository, "commit", "-qam", "two")
    low.write_text("module pst_low; // another comment\nendmodule\n")
    high.unlink()
    (repository / "src/penstock/new file.py").write_text("a = 1\nb = 2\n")
    found = changes.since(repository)
    assert found.lines == {"src/penstock/two.py": {2}, "src/penstock/new file.py": {1, 2, 3}}
    assert found.alike == ["blocks/a/rtl/pst_low.sv"] and found.gone == ["blocks/a/rtl/pst_high.sv"] and "in main" in found.since
    assert changes.since(repository, "HEAD").lines.keys() == {"src/penstock/new file.py"}
    two.write_text("TWO = 2\n")  # removed lines: the ones beside them count
    assert changes.since(repository, "HEAD").lines["src/penstock/two.py"] == {1}
    with pytest.raises(UserError, match="git knows no commit 'nothing'"):
        changes.since(repository, "nothing")


def test_tests_of_a_change(repository: Path) -> None:
    assert selected(Graph(repository), changes.since(repository))[0] == []
    (repository / "README.md").write_text("other\n")
    names, lines = selected(Graph(repository), changes.since(repository))
    assert names == [] and "No test names 1 of the files (README.md)" in " ".join(lines)
    (repository / "blocks/a/rtl/pst_high.sv").write_text("module pst_high(input x);\nendmodule\n")
    names, lines = selected(Graph(repository), changes.since(repository))
    assert names == [f"{HARDWARE}::test_high", f"{HARDWARE}::test_soak"] and "2 of 10 test functions" in " ".join(lines)


def test_no_repository(small: Path) -> None:
    with pytest.raises(UserError, match="git "):
        changes.since(small)
