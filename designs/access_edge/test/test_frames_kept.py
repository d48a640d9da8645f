# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Of a live run the first frames are kept one by one: what is said of all of them is right nevertheless, and no part stands for all."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.engine import engine
from penstock.engine.run import Request, prepare

KEPT = 300
SCENARIO = {
    "device": {"config": "tree_64"},
    "duration": "100 ms",
    "queues": [
        {"id": 0, "name": "held", "rate": "10 Mbit/s", "limit_packets": 10},
        {"id": 8, "name": "free"},
        {"id": 12, "name": "early"},
    ],
    "traffic": [
        {"poisson": {"queues": "held", "rate": "40 Mbit/s", "size": 500}},
        {"poisson": {"queues": "free", "rate": "20 Mbit/s", "size": "imix"}},
        {"constant": {"queues": "early", "rate": "10 Mbit/s", "size": 500}, "stop": "5 ms"},
    ],
    "report": {"series": ["held", "free"]},
}  # fmt: skip


def both(tmp_path: Path, scenario: dict[str, Any] = SCENARIO) -> list[tuple[dict[str, Any], dict[str, Any], Any]]:
    """Return (result, series, the engine's result) of a run of which all frames are kept, and of one of which the first are."""
    engine.build(print)
    (tmp_path / "s.yaml").write_text(json.dumps(scenario))
    found = []
    for keys in ({}, {"keep_most": KEPT}):
        run = prepare(Request(tmp_path / "s.yaml", engine="model"))
        run.plan.job.update(keys)
        raw = engine.run(run.plan.job)
        found.append((run.summary(raw), run.design.plot_data(raw, run.config, run.plan), raw))
    assert len(found[1][2]["latency_cycles"]) == KEPT < len(found[0][2]["latency_cycles"])
    return found


def test_curves_are_of_all_frames(tmp_path: Path) -> None:
    (whole, exact, _), (cut, curves, _) = both(tmp_path)
    rows = {row["id"]: row for row in cut["queues"]}
    assert curves["bytes_out"].sum(axis=0).tolist() == [rows[0]["out_bytes"], rows[8]["out_bytes"]]
    assert curves["frames"].tolist() == [rows[0]["out_packets"], rows[8]["out_packets"]]
    for key in ("bytes_out", "latency_mean_ns", "latency_max_ns", "drops"):
        assert np.allclose(curves[key], exact[key], equal_nan=True), key
    assert curves["latency_mean_ns"][-1, 0] > 0
    assert np.isnan(curves["cdf_ns"][:, :-1]).all(), "distributions of the first frames are not those of all"
    assert np.allclose(curves["cdf_ns"][:, -1], exact["cdf_ns"][:, -1], rtol=1 / 128)
    assert "drops_of" in exact and "drops_of" not in curves
    assert whole["packets"] == cut["packets"]


def test_rows_contradict_nothing(tmp_path: Path) -> None:
    (whole, _, _), (cut, _, _) = both(tmp_path)
    for row, exact in zip(cut["queues"], whole["queues"], strict=True):
        assert row["latency_ns"]["count"] in (0, row["out_packets"])
        assert "dropped" in exact and "dropped" not in row
        assert row["average_rate_bps"] == pytest.approx(exact["average_rate_bps"], rel=0.02)
        for key in ("in_bytes", "out_bytes", "drop_packets"):
            assert row[key] == exact[key]
    early, exact = ({row["name"]: row for row in found["queues"]}["early"] for found in (cut, whole))
    assert early == {key: value for key, value in exact.items() if key != "dropped"}, "all of its frames were kept"
    for level in ("subscribers", "nodes", "ports"):
        for row, exact in zip(cut[level], whole[level], strict=True):
            assert row["latency_ns"]["count"] == row["packets"]["out"] == exact["latency_ns"]["count"]
            assert row["latency_ns"]["p50"] == pytest.approx(exact["latency_ns"]["p50"], rel=1 / 128)


def test_queues_with_a_curve_are_those_with_a_series(tmp_path: Path) -> None:
    """Unless they are named: which are the slowest is known only where all frames are kept."""
    queues = [{"id": ident, "rate": "1 Mbit/s" if ident == 40 else "100 Mbit/s"} for ident in range(41)]
    traffic = [{"constant": {"queues": "0-40", "rate": "82 Mbit/s", "size": 200}}]
    scenario = {"device": {"config": "tree_64"}, "duration": "20 ms", "queues": queues, "traffic": traffic}
    (_, exact, _), (_, curves, raw) = both(tmp_path, scenario)
    assert 40 in exact["queues"]
    assert curves["queues"].tolist() == np.asarray(raw["series"]["queues"]).tolist()
    assert (curves["bytes_out"].sum(axis=0) == np.asarray(raw["queue"]["out_bytes"])[curves["queues"]]).all()
