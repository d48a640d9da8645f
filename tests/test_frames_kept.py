# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Of a live run only the first frames are kept one by one; devices with several outputs and with classes say nothing wrong of the rest.

Of the access edge: designs/access_edge/test/test_frames_kept.py.
"""

from typing import Any

import numpy as np
import pytest

from penstock.engine import engine
from penstock.engine.run import Request, prepare
from penstock.paths import ROOT

KEPT = 300


@pytest.mark.parametrize(
    ("name", "duration", "rows"),
    [("switch_uniform", "60 us", "outputs"), ("p4_codel", "8 s", "outputs"), ("deadline_voice_web_bulk", "50 ms", "classes")],
)
def test_of_the_first_frames_or_of_all(name: str, duration: str, rows: str) -> None:
    engine.build(print)
    found: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for keys in ({}, {"keep_most": KEPT}):
        run = prepare(Request(ROOT / f"scenarios/{name}.yaml", [f"duration={duration}"], engine="model"))
        run.plan.job.update(keys)
        raw = engine.run(run.plan.job)
        found.append((run.summary(raw), run.design.plot_data(raw, run.config, run.plan)))
        assert (len(raw["latency_cycles"]) == KEPT < raw["packets"]["out"]) == bool(keys)
    (whole, exact), (cut, curves) = found
    for key in ("queues", "bytes_out", "latency_mean_ns", "latency_max_ns", "frames"):
        assert np.allclose(curves[key], exact[key], equal_nan=True), key
    of_curves = curves["cdf_ns"][:, :-1]
    assert np.isnan(of_curves[:, exact["frames"] > KEPT]).all()
    assert len(cut[rows]) == len(whole[rows])
    for row, other in zip(cut[rows], whole[rows], strict=True):
        for key, value in other.items():
            if key == "latency_ns":
                assert row[key] == value or row[key]["count"] == 0
            else:
                assert row[key] == value or (key in ("throughput_bps", "line_share") and row[key] is None), key
