# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What results of the P4 device and of simple_switch say, of runs so small that every number was worked out by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from penstock.designs.p4_switch import report, result
from penstock.designs.p4_switch.bmv2 import result as bmv2

PLAN: Any = SimpleNamespace(config=SimpleNamespace(clock_hz=1_000_000), job={"interval_cycles": 300_000})  # a cycle is 1 us


@pytest.mark.parametrize(
    ("cycles", "sent", "mbits"),
    [
        (1_000_000, [375_000, 375_000, 375_000, 125_000], [10, 10, 10, 10]),
        (900_000, [375_000, 375_000, 375_000], [10, 10, 10]),
        (900_010, [375_000, 375_000, 375_000, 1500], [10, 10, 10, 10.04]),  # one frame in the last 10 us
        (100_000, [125_000], [10]),
    ],
)
def test_throughput_ends_as_the_run_ends(cycles: int, sent: list[int], mbits: list[float]) -> None:
    """What there is of the last interval is no rate of a whole one, and an instant with a frame in it none of its own."""
    counts = dict.fromkeys(("wait_sum", "wait_max", "packets", "full", "egress"), [0] * len(sent))
    queue = {"output": 1, "priority": 0, "in": {"packets": 9}, "points": {**counts, "sent_bytes": sent}}
    over = result._over_time({"cycles": cycles, "p4": {"queues": [queue]}}, PLAN)
    assert over["queues"][0]["throughput_bps"] == pytest.approx([1e6 * rate for rate in mbits], rel=1e-4)


def test_throughput_of_simple_switch_ends_as_the_traffic_ends() -> None:
    """Frames of 1,250 byte each ms for a second; those that come while the switch runs empty are in no interval."""
    begin = 5_000_000_000
    ns = begin + np.arange(0, 1_050) * 1_000_000
    left = {"ns": ns, "delay": np.full(1_050, 7_000), "output": np.full(1_050, 2), "length": np.full(1_050, 1_250)}
    left["delay"][1_000:] = 9_000
    over = bmv2._over_time(PLAN, left, begin, begin + 1_000_000_000)
    assert over["interval_ns"] == 300e6
    assert [row["output"] for row in over["outputs"]] == [2]
    assert over["outputs"][0]["throughput_bps"] == [10_000_000] * 4
    assert over["outputs"][0]["latency_max_ns"] == [7_000] * 4


def test_outputs_that_sent_nothing_have_taken_time_of_links() -> None:
    """All was dropped in egress at one output, another recirculates; the third one has sent."""
    shares = [None, 0.0, 0.0]
    rows = [{"output": n, "out_packets": 0, "line_share": shares[n], "lost_ns": lost} for n, lost in enumerate((0.0, 560_900.0, 112_900.0))]
    whole: dict[str, Any] = {"program": "lab", "egress_drops": "charged", "outputs": rows, "queues": [], "copies": {}}
    lost = "drops in egress and recirculation took 673.8 us of links"
    assert report.sentences(whole)[1:] == [f"Outputs  {lost}"]
    rows[0] |= {"out_packets": 3, "line_share": 0.5}
    assert report.sentences(whole)[1:] == [f"Outputs  1 used; output 0 was 50.0 % full while traffic came; {lost}"]
    for row in rows:
        row["lost_ns"] = 0.0
    assert report.sentences(whole)[1:] == ["Outputs  1 used; output 0 was 50.0 % full while traffic came"]
