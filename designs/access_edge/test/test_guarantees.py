# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Guaranteed rates in scenarios: what the device does of them, which are refused, and which remark is made."""

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.designs.access_edge import job
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.paths import ROOT
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration
from penstock.testing.testjobs import assert_clean
from penstock.testing.testkit import seed

SCENARIO = str(ROOT / "scenarios" / "guaranteed_rates.yaml")
MBIT = 1_000_000
# By hand: 24 Mbit/s less 12 guaranteed, by weights of 1, 4, 1 and 2; of the 3 of the last one 2 are guaranteed to video.
BUSY = {"plain": 1.5, "heavy": 6.0, "business": 13.5, "video": 2.5, "download": 0.5}
# While business is away: 24 by weights of 1, 4 and 2, but heavy has 9 at most; of home's 10 video has 2 guaranteed.
AWAY = {"plain": 5.0, "heavy": 9.0, "business": 0.0, "video": 6.0, "download": 4.0}


def run(capsys: pytest.CaptureFixture[str], out: Path, *more: str) -> dict[str, Any]:
    assert main(["run", SCENARIO, "--out", str(out), "--json", *more]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("engine", "config"),
    [("model", "tree_guaranteed_64"), ("model", "tree_guaranteed_2048"), pytest.param("rtl", "tree_guaranteed_64", marks=pytest.mark.slow)],
)
def test_shares_are_those_of_arithmetic(engine: str, config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before and after business is away, and meanwhile: by what leaves each queue in that time, within 1 % of the node and two frames."""
    run(capsys, tmp_path / "run", "--engine", engine, "--set", f"device.config={config}")
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


def test_guarantees_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the result, the tables, the page and a comparison, with what becomes of them; a device without guarantees says nothing of any."""
    changes = (
        "changes=[{at: 1 ms, queues: download, set: {guarantee: 500 kbit/s}}, {at: 1.5 ms, subscribers: 2, set: {guarantee: 0 bit/s}},"
        " {at: 5 ms, subscribers: 2, set: {guarantee: 1 Mbit/s}}]"
    )
    short = ("--engine", "model", "--set", "duration=10 ms", "--set", "traffic.2.stop=2 ms", "--set", "traffic.3.start=2 ms")
    result = run(capsys, tmp_path / "a", *short, "--set", changes)
    queues = {row["name"]: (row["guaranteed_rate_bps"], row["guarantee_changes"]) for row in result["queues"]}
    assert queues["video"] == (2 * MBIT, []) and queues["download"] == (0, [[0.001, 500_000]]) and queues["plain"] == (0, [])
    subscribers = {row["id"]: (row["guaranteed_rate_bps"], row["guarantee_changes"]) for row in result["subscribers"]}
    assert subscribers[2] == (12 * MBIT, [[0.0015, 0], [0.005, MBIT]]) and subscribers[0] == (0, [])
    assert all("guaranteed_rate_bps" not in row for row in (*result["nodes"], *result["ports"]))
    assert main(["run", SCENARIO, *short, "--set", changes, "--out", str(tmp_path / "b")]) == 0
    shown = capsys.readouterr().out
    assert "guaranteed" in shown and "2 Mbit/s" in shown
    page = (tmp_path / "a" / "report.html").read_text()
    data = json.loads(re.search(r"const data = (\{.*\});\n", page)[1])  # type: ignore[index]
    drawn = {item["name"]: item["guaranteed"] for curves in data["sets"] for item in curves["items"] if "guaranteed" in item}
    assert drawn["video"] == [[0.0, 2 * MBIT]] and drawn["download"] == [[0.0, 0], [0.001, 500_000]]
    assert drawn["subscriber 2"] == [[0.0, 12 * MBIT], [0.0015, 0], [0.005, MBIT]] and "plain" not in drawn
    assert (
        "12 Mbit/s, then none and others" in page and "none, then 500 kbit/s" in page and "dashed and dotted: the guaranteed rate" in page
    )
    run(capsys, tmp_path / "c", *short, "--set", "queues.video.guarantee=1 Mbit/s")
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "c"), "--out", str(tmp_path), "--json"]) == 0
    rows = {row["name"]: row["values"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["video: guaranteed"] == [2 * MBIT, MBIT] and "plain: guaranteed" not in rows
    assert main(["run", str(ROOT / "scenarios" / "handover.yaml"), "--engine", "model", "--json"]) == 0
    without = json.loads(capsys.readouterr().out)
    assert not [row for kind in ("queues", "subscribers", "groups") for row in without[kind] if "guaranteed_rate_bps" in row]


def changing(rng: random.Random) -> list[str]:
    """Return `--set` texts: 50 ms in which guarantees of queues and subscribers change, with weights and rates of subscribers."""
    changes = []
    for _ in range(rng.choice([10, 60])):
        bps = rng.choice([0, 8_000, 500_000, rng.randint(8_000, 20 * MBIT)])
        more = rng.choice(["", f", weight: {rng.randint(1, 8)}"])
        if rng.random() < 0.5:
            of = f"queues: {rng.choice(['video', 'download', 'plain', 'business'])}, set: {{guarantee: {bps} bit/s{more}}}"
        else:
            rate = f", rate: {rng.choice(['unshaped', f'{max(bps, MBIT)} bit/s'])}" if rng.random() < 0.4 else ", rate: unshaped"
            of = f"subscribers: {rng.choice([0, 1, 2, '2-3'])}, set: {{guarantee: {bps} bit/s{more}{rate}}}"
        changes.append(f"{{at: {rng.randrange(100, 45_000, 50)} us, {of}}}")
    stops = ["traffic.2.stop=30 ms", "traffic.3.start=35 ms"]
    return ["duration=50 ms", "drain=false", *stops, f"seed={rng.randrange(10**6)}", f"changes=[{', '.join(changes)}]"]


@pytest.mark.slow
def test_changes_are_equal_on_both_engines() -> None:
    """Guarantees that change in mid-traffic: every frame has the same fate in the same cycle on RTL and model."""
    rng, changed = random.Random(seed()), set()
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(8):
        settings = changing(rng)
        described, document = scenario.load(Path(SCENARIO), settings)
        config, found = configuration(described, document), []
        for name in ("rtl", "model"):
            planned = job.build(described, document, config, name).job
            if name == "rtl":
                planned["device"]["library"] = str(verilate.build_device(config, print))
            found.append(engine.run(planned | {"keep_departures": True}))
            assert_clean(found[-1])
        assert twins.differences(*found) == [], settings
        assert found[0]["packets"]["out"] > 100
        changed.add(tuple(found[0]["queue"]["out_packets"][:14].tolist()))
    assert len(changed) > 4
