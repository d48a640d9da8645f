# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`penstock live` through a device that finds queues in headers. All traffic is in namespaces that the runs make."""

import sys
from pathlib import Path

import pytest
from test_live import SCENARIO, ended, place, run

from penstock.network import spaces

__all__ = ["ended", "place"]  # fixtures

pytestmark = pytest.mark.skipif(sys.platform != "linux" or spaces.problem() is not None, reason=f"no namespaces here: {spaces.problem()}")


def test_a_device_that_finds_queues_in_headers(place: Path) -> None:
    """Hosts are subscribers by their MAC addresses; what is for none of them, as ARP's broadcasts, has a queue of its own."""
    at_home, at_internet = "02:00:00:00:00:02", "02:00:00:00:00:01"
    text = SCENARIO.replace("demo_codel_64", "headers_16").replace(", aqm: {}", "").replace("icmp, rate", "unknown, rate")
    text = text.replace(", map: [{match: {proto: icmp}, queue: icmp}], unmatched: down", "").replace(", unmatched: up", "")
    text += f"headers: {{unknown: unknown}}\nsubscribers:\n  - {{id: 0, match: {{mac: '{at_home}'}}, queues: '0'}}\n"
    (place / "s.yaml").write_text(text + f"  - {{id: 1, match: {{mac: '{at_internet}'}}, queues: '1'}}\n")
    result, found = run(place, "pings")
    assert result["findings"] == [] and result["conservation"]["ok"]
    assert all(seconds is not None and seconds >= 0.015 for seconds in found.values()), found
    internet, home = result["hosts"]
    counts = {queue["name"]: queue["in_packets"] for queue in result["live_queues"]}
    assert set(counts) == {"down", "up", "unknown"} and min(counts.values()) > 0
    assert sum(counts.values()) == internet["read"]["packets"] + home["read"]["packets"]
    assert counts["down"] <= internet["read"]["packets"] and counts["up"] <= home["read"]["packets"]
    gone = sum(host[key]["packets"] for host in (home, internet) for key in ("written", "failed", "pending"))
    assert sum(queue["out_packets"] for queue in result["live_queues"]) == gone
