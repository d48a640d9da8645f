# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""docs/how-to/p4-program.md: its files and its commands, and what it says that comes out."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from penstock.basics.units import parse_rate
from penstock.paths import ROOT
from penstock.testing import page

PAGE = ROOT / "docs" / "how-to" / "p4-program.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all commands of the page were run, in their order."""
    here = tmp_path_factory.mktemp("p4")
    assert page.write_files(PAGE, here) == ["steady.yaml", "tables.txt", "load.yaml", "tcp.yaml"]
    for command in page.commands(PAGE):
        done = page.run(command, here)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return here


def result(folder: Path, name: str) -> Any:
    return json.loads((folder / "results" / name / "result.json").read_text())


def test_delay_over_load(folder: Path) -> None:
    """All is carried below the line's rate, and no more than it above; the longest queue is 100 frames of 82 us."""
    rows = list(csv.DictReader((folder / "swept" / "table.csv").open()))
    assert len(rows) == 8
    for row in rows:
        offered, carried = parse_rate(row["traffic.0.poisson.rate"]), float(row["throughput_bps"])
        assert carried == pytest.approx(min(offered, 1e8 * 1000 / 1024), rel=0.05 if offered < 1e8 else 0.005), row
        delay = float(row["latency_ns.p99"])
        assert (8.1e6 < delay < 8.3e6) if offered > 1e8 else delay < (2e6 if offered < 9e7 else 8.3e6)
    assert {path.suffix for path in (folder / "swept" / "plots").iterdir()} == {".svg"}
    assert len(list((folder / "swept" / "plots").iterdir())) == 2


def test_tcp_with_and_without_codel(folder: Path) -> None:
    full, codel = result(folder, "tcp"), result(folder, "tcp_codel")
    for found in (full, codel):
        assert found["outputs"][1]["throughput_bps"] > 0.9e8 * 1448 / 1538
    delays = [next(queue for queue in found["queues"] if queue["output"] == 1)["sojourn_ns"]["p50"] for found in (full, codel)]
    assert delays[0] > 3 * delays[1] and 2e6 < delays[1] < 9e6
    assert {path.name for path in (folder / "compared").iterdir()} == {"throughput.svg", "delay_cdf.svg"}
