# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What docs/tutorial.md quotes of its runs stands in them: lines of summaries, and figures in sentences."""

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.engine import run
from penstock.paths import ROOT

PAGE = (ROOT / "docs" / "tutorial.md").read_text()


def quoted(page: str) -> list[str]:
    """Return the lines of the demo's summary that the page quotes, single spaces."""
    (block,) = re.findall(r"stands, among other lines:\n\n((?:    .*\n|\n)+)", page)
    return [" ".join(line.split()) for line in block.splitlines() if line.strip()]


def test_the_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The model takes the RTL's cycles, so the figures are those of the demo."""
    assert main(["run", str(ROOT / "scenarios" / "first_light.yaml"), "--engine", "model", "--out", str(tmp_path / "out")]) == 0
    said = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    joined = " ".join(said)
    lines = quoted(PAGE)
    assert len(lines) >= 6
    assert [line for line in lines if line not in said and line not in joined] == []


def slowest(tmp_path: Path, *settings: str, name: str = "anna-bulk") -> dict[str, Any]:
    result, _ = run.carry_out(run.Request(ROOT / "scenarios" / "first_light.yaml", list(settings), out=tmp_path / "out", engine="model"))
    found: dict[str, Any] = next(queue for queue in result["queues"] if queue["name"] == name)
    return found


def test_a_number_that_is_changed(tmp_path: Path) -> None:
    """The download at 12 Mbit/s, how long it waits, and that it loses packets with a short queue."""
    assert 'queues.anna-bulk.rate="12 Mbit/s"' in PAGE
    (said,) = re.findall(r"held to 12 Mbit/s, and waits up to ([0-9.]+) s", PAGE)
    bulk = slowest(tmp_path, "queues.anna-bulk.rate=12 Mbit/s")
    assert bulk["measured_rate_bps"] == pytest.approx(12e6, rel=0.002)
    assert f"{bulk['latency_ns']['max'] / 1e9:.1f}" == said
    assert slowest(tmp_path, "queues.anna-bulk.limit_packets=200")["drop_packets"] > 0


def test_what_is_said_of_the_demo(tmp_path: Path) -> None:
    """How long Anna's download waits, and at most her telephone call."""
    (download,) = re.findall(r"packets waited up to ([0-9.]+) s", PAGE)
    assert f"{slowest(tmp_path)['latency_ns']['max'] / 1e9:.1f}" == download
    (telephone,) = re.findall(r"telephone call, on the same line at the same\s+time, waited ([0-9.]+) ms at worst", PAGE)
    assert f"{slowest(tmp_path, name='anna-voice')['latency_ns']['max'] / 1e6:.2f}" == telephone
