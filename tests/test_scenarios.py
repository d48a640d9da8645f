"""The ready-made scenarios of all designs: every file is valid."""

from pathlib import Path

import pytest

from penstock.paths import ROOT
from penstock.scenarios import pcap, scenario

SCENARIOS = ROOT / "scenarios"


@pytest.mark.parametrize("path", sorted([*SCENARIOS.glob("*.yaml"), *SCENARIOS.glob("paper/*/*.yaml")]), ids=lambda path: path.stem)
def test_scenario_is_valid(path: Path) -> None:
    """Every scenario is valid, is called like its file, says what it is for, and its captures are there."""
    read = scenario.load(path)[0]
    assert read.name == path.stem
    assert read.description
    for source in read.traffic:
        if hasattr(source, "pcap"):
            assert len(pcap.read(path.parent / source.pcap)) > 0
