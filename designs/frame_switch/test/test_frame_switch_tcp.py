# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""TCP connections through the model of a frame switch."""

import re
from pathlib import Path

import pytest

from penstock.engine import engine
from penstock.engine import run as runs
from penstock.paths import ROOT


def test_connections_of_two_inputs_share_an_output(tmp_path: Path) -> None:
    """Each input has connections of its own; together they nearly fill the output, and what they send adds up."""
    base = (ROOT / "scenarios" / "switch_uniform.yaml").read_text()
    head = re.sub(r"duration:.*", "duration: 3 ms", base[: base.index("traffic:")])
    entry = "  - { name: bulk, inputs: [0, 1], tcp: { outputs: 2, flows: 2, rtt: 100 us, min_rto: 1 ms, delayed_ack: 50 us } }"
    path = tmp_path / "tcp.yaml"
    path.write_text(f"{head}traffic:\n{entry}\n")
    run = runs.prepare(runs.Request(path, engine="model"))
    result = run.summary(engine.run(run.plan.job))
    flows = result["tcp"]["flows"]
    assert [flow["name"] for flow in flows] == [f"bulk of input {port} {flow}" for port in (0, 1) for flow in (1, 2)]
    assert result["conservation"]["ok"] and not result["findings"]
    assert sum(flow["received"] + flow["dropped"] for flow in flows) <= sum(flow["segments"] for flow in flows)
    assert sum(flow["share"] for flow in flows) == pytest.approx(1, abs=1e-5)
    assert 30e9 < result["tcp"]["goodput_bps"] < 100e9
