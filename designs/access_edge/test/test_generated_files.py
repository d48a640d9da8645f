"""The committed files that come from the SystemRDL are what it gives today."""

import importlib.util

from penstock.paths import ROOT


def test_registers_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("generate_registers", ROOT / "tools" / "generate_registers.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert [str(path) for path in tool.stale()] == [], "run tools/generate_registers.py"
