# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Packages that proofs have with other widths (`blocks/*/formal/*_pkg.sv`) are otherwise what the RTL has, line by line."""

import re
from pathlib import Path

import pytest

from penstock.paths import ROOT

PACKAGES = sorted(ROOT.glob("blocks/*/formal/*_pkg.sv"))
# What a proof may have in another width: the value of a constant, and how many bits a type has.
WIDTH = re.compile(r"^(localparam int unsigned \w+ +=) [\w:$() +*-]+;|^(typedef logic) \[[^\]]+\]( \w+;)")


def lines_of(path: Path) -> list[str]:
    """Return the lines of code, without comments and with one space where there are several."""
    lines = (" ".join(line.split("//")[0].split()) for line in path.read_text().splitlines())
    return [line for line in lines if line]


def test_there_are_some() -> None:
    assert len(PACKAGES) >= 3


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: str(path.relative_to(ROOT / "blocks").with_suffix("")))
def test_only_widths_differ(path: Path) -> None:
    (original,) = ROOT.glob(f"blocks/*/rtl/{path.name}")
    ours, theirs = lines_of(path), lines_of(original)
    other = [(own, there) for own, there in zip(ours, theirs, strict=True) if own != there]
    assert other, "it is the RTL's: the proof takes that one"
    for own, there in other:
        assert WIDTH.sub(r"\1\2\3", own) == WIDTH.sub(r"\1\2\3", there) != there, f"{own!r} is {there!r} in {original.relative_to(ROOT)}"
