# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Guaranteed rates in scenarios: what the device does of them, which are refused, and which remark is made."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.paths import ROOT

SCENARIO = str(ROOT / "scenarios" / "guaranteed_rates.yaml")
MBIT = 1_000_000
# By hand: 24 Mbit/s less 12 guaranteed, by weights of 1, 4, 1 and 2; of the 3 of the last one 2 are guaranteed to video.
BUSY = {"plain": 1.5, "heavy": 6.0, "business": 13.5, "video": 2.5, "download": 0.5}
# While business is away: 24 by weights of 1, 4 and 2, but heavy has 9 at most; of home's 10 video has 2 guaranteed.
AWAY = {"plain": 5.0, "heavy": 9.0, "business": 0.0, "video": 6.0, "download": 4.0}


def run(capsys: pytest.CaptureFixture[str], out: Path, *more: str) -> dict[str, Any]:
    assert main(["run", SCENARIO, "--out", str(out), "--json", *more]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("engine", ["model", pytest.param("rtl", marks=pytest.mark.slow)])
def test_shares_are_those_of_arithmetic(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before and after business is away, and meanwhile: by what leaves each queue in that time, within 1 % of the node and two frames."""
    run(capsys, tmp_path / "run", "--engine", engine)
    series = np.load(tmp_path / "run" / "series.npz")
    interval = float(series["interval_ns"]) / 1e9
    for (since, until), expected in {(0.06, 0.3): BUSY, (0.34, 0.45): AWAY, (0.48, 0.6): BUSY}.items():
        part = slice(round(since / interval), round(until / interval))
        seconds = (part.stop - part.start) * interval
        rates = dict(zip(series["names"].tolist(), (series["bytes_out"][part].sum(axis=0) * 8 / MBIT / seconds).tolist(), strict=True))
        assert rates == pytest.approx(expected, abs=0.24 + 0.02 / seconds), since


def errors(capsys: pytest.CaptureFixture[str], *given: str) -> str:
    assert main(["run", SCENARIO, *given]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_wrong_guarantees_are_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert "queues.video.guarantee" in (said := errors(capsys, "--set", "queues.video.guarantee=20 kbit"))
    assert "unit" in said
    assert "must be at least" in errors(capsys, "--set", "queues.video.guarantee=1 kbit/s")
    assert "configuration tree_64 has no guarantees" in errors(capsys, "--set", "device.config=tree_64")
    said = errors(capsys, "--set", "subscribers.0.guarantee=10 Mbit/s")
    assert "subscribers.0.guarantee" in said and "must be at most the rate, 9 Mbit/s" in said


def test_more_guarantees_than_rate_is_remarked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = ("--engine", "model", "--set", "duration=2 ms", "--set", "traffic.2.stop=1 ms", "--set", "traffic.3.start=1 ms")
    assert not [note for note in run(capsys, tmp_path / "a", *short)["notes"] if "guaranteed" in note]
    notes = run(capsys, tmp_path / "b", *short, "--set", "nodes.0.rate=11 Mbit/s")["notes"]
    assert [note for note in notes if "node 0 are guaranteed 12 Mbit/s together, but it carries 11 Mbit/s" in note]
