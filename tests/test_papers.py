# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What the papers of several designs have in common, and that these know nothing of each other."""

import re
from pathlib import Path

import pytest

from penstock.papers import ns3, ns3_codel
from penstock.paths import DESIGNS

IMPORTS = re.compile(r"^\s*(?:from|import) penstock\.designs\.(\w+)", re.M)


def test_what_ns3_prints_is_read() -> None:
    found = ns3_codel.read("1000.000 3500.000\n2000.000 4000.500\ndropped 7 2\n")
    assert found.time_s.tolist() == pytest.approx([0.0035, 0.0040005]) and found.delay_ms.tolist() == pytest.approx([2.5, 2.0005])
    assert (found.dropped, found.full) == (7, 2)
    assert len(ns3_codel.read("dropped 0 0\n").time_s) == 0


@pytest.mark.slow
@pytest.mark.skipif(ns3.missing() is not None, reason=ns3.missing() or "")
def test_codel_in_ns3() -> None:
    """Three connections fill the link of 2,000 packets a second, and CoDel holds their queue to some ms."""
    left = ns3_codel.run(ns3_codel.CUBIC, 3, 2000, 20_000, 10.0, 1)
    late = left.time_s > 3
    assert late.sum() / 7 == pytest.approx(2000, rel=0.02) and 2 < left.delay_ms[late].mean() < 15
    assert left.dropped > 20 and left.full == 0


def others(path: Path) -> set[str]:
    """Return the designs that a file of one imports from, beside its own."""
    names = {folder.name for folder in DESIGNS.iterdir() if (folder / "design.py").exists()}
    return {name for name in IMPORTS.findall(path.read_text(encoding="utf-8")) if name in names} - {path.relative_to(DESIGNS).parts[0]}


def test_no_design_imports_from_another() -> None:
    files = sorted(DESIGNS.glob("*/**/*.py"))
    found = {path.name: others(path) for path in files}
    assert len(files) > 100 and any(IMPORTS.search(path.read_text(encoding="utf-8")) for path in files)
    assert {name: names for name, names in found.items() if names} == {}
