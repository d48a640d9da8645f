# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A run that a reset ends goes before the run that is measured (job key `reset_after_cycles`): nothing of it is in the result."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.engine import engine
from penstock.engine.run import Request, prepare
from penstock.paths import ROOT

EDGE = {
    "device": {"config": "tree_64"},
    "duration": "20 ms",
    "drain": False,
    "queues": [{"id": 0, "rate": "200 kbit/s"}],
    "traffic": [{"constant": {"queues": "0-3", "rate": "4 Mbit/s", "size": 500}}],
}


def assert_equal(one: Any, other: Any, where: str) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key, value in one.items():
            if key not in ("wall_seconds", "run_cpu_seconds"):
                assert_equal(value, other[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for at, value in enumerate(one):
            assert_equal(value, other[at], f"{where}[{at}]")
    else:
        assert np.array_equal(one, other), where


@pytest.mark.parametrize(
    ("name", "settings", "share"),
    [
        ("edge", [], 3),  # what waits at the run's end leaves, so its capture would be the longer one
        ("switch_uniform", ["duration=40 us", "report.after=10 us"], 0.9),
        ("deadline_voice_web_bulk", ["duration=50 ms"], 0.9),
        ("p4_codel", ["duration=4 s"], 0.9),
    ],
)
def test_the_run_before_is_in_no_figure(tmp_path: Path, name: str, settings: list[str], share: float) -> None:
    """`share`: how long it is, of the run."""
    engine.build(print)
    path = ROOT / f"scenarios/{name}.yaml"
    if name == "edge":
        path = tmp_path / "edge.yaml"
        path.write_text(json.dumps(EDGE))
    found = []
    for after in (0, share):
        run = prepare(Request(path, settings, engine="model"))
        capture = tmp_path / f"{after}.pcap"
        before = {"reset_after_cycles": int(after * run.plan.job["duration_cycles"]), "pcap_out": str(capture)}
        found.append((engine.run(run.plan.job | before), capture.read_bytes()))
    assert found[0][0]["findings"] == found[1][0]["findings"] == [] and found[0][0]["packets"]["out"] > 10
    assert_equal(found[0][0], found[1][0], name)
    assert found[0][1] == found[1][1]
