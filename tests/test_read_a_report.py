# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What docs/how-to/read-a-report.md quotes of four scenarios stands in their summaries."""

import re
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.paths import ROOT

PAGE = (ROOT / "docs" / "how-to" / "read-a-report.md").read_text()


@pytest.mark.parametrize("name", ["household", "olt_2000", "flood_64", "handover"])
def test_quoted_lines(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line, to the digit, and a page of less than 2.5 MB."""
    (block,) = re.findall(rf"^## [^\n]*`{name}`\n\n((?:    .*\n)+)", PAGE, re.MULTILINE)
    assert main(["run", str(ROOT / "scenarios" / f"{name}.yaml"), "--engine", "model", "--out", str(tmp_path / "out")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    lines = [" ".join(line.split()) for line in block.splitlines()]
    assert len(lines) >= 2
    assert [line for line in lines if line not in said] == []
    assert (tmp_path / "out" / "report.html").stat().st_size < 2_500_000
