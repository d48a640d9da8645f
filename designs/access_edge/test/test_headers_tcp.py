# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""TCP connections to subscribers that the hardware finds in headers: the right queue, headers that are right, both engines alike."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.engine import engine
from penstock.engine import run as runs
from penstock.errors import UserError
from penstock.hardware import verilate

HEAD = """
device: {{ config: headers_16 }}
duration: {duration}
headers: {{ {headers} }}
queues:
  - {{ ids: "0-15", rate: 40 Mbit/s, burst: 3 kB, limit_packets: 4 }}
subscribers:
  - {{ id: 0, match: {match}, queues: "0-3" }}
  - {{ id: 1, match: {{ mac: "02:5e:00:00:00:01" }}, queues: "8-11" }}
traffic:
"""
MATCHES = {
    "two_tags": ("{ vlan: [100, 7] }", 14 + 8),
    "outer_tag": ("{ vlan: 7 }", 14 + 4),
    "pppoe": ('{ pppoe: 9, mac: "02:5e:00:00:00:07" }', 14 + 8),
    "mpls": ("{ mpls: 1000 }", 14 + 4),
    "mac": ('{ mac: "02:5e:00:00:00:07" }', 14),
}
CLASSES = 'class_of: dscp, classes: ["40-63", "24-39", "8-23", "0-7"]'


def prepared(folder: Path, match: str, traffic: str, headers: str = CLASSES, duration: str = "30 ms", **more: Any) -> Any:
    path = folder / "scenario.yaml"
    path.write_text(HEAD.format(match=match, headers=headers, duration=duration) + traffic)
    return runs.prepare(runs.Request(path, **more))


def outcome(run: Any) -> dict[str, Any]:
    raw = engine.run(run.plan.job)
    result: dict[str, Any] = run.summary(raw)
    assert result["conservation"]["ok"] and not result["findings"]
    assert all(flow["unreadable"] == 0 for flow in result["tcp"]["flows"])
    assert set(np.unique(raw["latency_queue"]).tolist()) == {flow["queue"] for flow in result["tcp"]["flows"]}
    return result


@pytest.mark.parametrize("kind", MATCHES)
def test_connections_fill_the_queue_of_their_headers(tmp_path: Path, kind: str) -> None:
    """Two classes of one subscriber, each with its own rate; losses are repaired, and of each frame the headers are no payload."""
    match, ip_at = MATCHES[kind]
    traffic = "  - tcp: { queues: [1, 3], flows: 2, rtt: 500 us, delayed_ack: 0, min_rto: 5 ms, spread: 0 }\n"
    result = outcome(prepared(tmp_path, match, traffic, duration="200 ms", engine="model"))
    flows = result["tcp"]["flows"]
    payload = 1514 - ip_at - 40
    assert [flow["queue"] for flow in flows] == [1, 3] and all(flow["dropped"] for flow in flows)
    for flow in flows:
        assert 0.8 < flow["goodput_bps"] / (40e6 * payload / 1514) <= 1.0
    assert result["tcp"]["goodput_bps"] == pytest.approx(sum(flow["goodput_bps"] for flow in flows), rel=1e-5)


@pytest.mark.parametrize("kind", ["pppoe", "two_tags"])
def test_engines_are_equal(tmp_path: Path, kind: str) -> None:
    match = MATCHES[kind][0]
    traffic = "  - tcp: { queues: [0, 2], flows: 3, rtt: 200 us, delayed_ack: 0, min_rto: 2 ms, bytes: 15001 }\n"
    traffic += "  - tcp: { queues: 9, flows: 1, rtt: 100 us, min_rto: 2 ms, size: 600 }\n"
    results = {}
    for name in ("model", "rtl"):
        run = prepared(tmp_path, match, traffic, duration="8 ms", engine=name)
        if name == "rtl":
            run.plan.job["device"]["library"] = str(verilate.build_device(run.config, print))
        results[name] = outcome(run)
    assert results["model"]["tcp"] == results["rtl"]["tcp"] and results["model"]["packets"] == results["rtl"]["packets"]


@pytest.mark.parametrize(
    ("traffic", "headers", "words"),
    [
        ("tcp: { queues: [1, 9], rtt: 1 ms }", CLASSES, "different lengths"),
        ("tcp: { queues: 5, rtt: 1 ms }", CLASSES, "sends to queue 5, which belongs to no subscriber"),
        ("tcp: { queues: 1, rtt: 1 ms }", 'class_of: ecn, classes: ["1", "0", "2", "3"]', "several ECN fields"),
        ("tcp: { queues: 1, rtt: 1 ms }\n    headers: { dscp: 3 }", CLASSES, "have the headers of their subscriber"),
    ],
)
def test_errors(tmp_path: Path, traffic: str, headers: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        prepared(tmp_path, "{ vlan: [100, 7] }", f"  - {traffic}\n", headers, engine="model")
