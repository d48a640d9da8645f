# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""DualPI2 and COBALT in the device: both engines alike, and what scalable and other TCP connections get beside each other."""

from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

import penstock
from penstock.engine import engine
from penstock.engine import run as runs
from penstock.errors import UserError
from penstock.hardware import verilate
from penstock.paths import ROOT

SCENARIO = ROOT / "scenarios" / "l4s.yaml"
OF_THE_RUN = {"engine", "wall_seconds", "cycles_per_second"}  # what differs between the engines

# A pair of queues below one subscriber, so quick that overload comes and goes: packets that may be marked and others in both.
PAIR = """
device:
  config: tree_64
  overrides: { aqm: dualpi2, dualpi2: { update_us: 2000, alpha: 1, beta: 3, ramp_log2: 6 } }
duration: 60 ms
subscribers: [ { id: 3, rate: 20 Mbit/s, burst: 3 kB } ]
queues:
  - { id: 12, name: classic, traffic_class: 1, weight: 1, limit_packets: 300, aqm: { ecn: true, target: 1 ms } }
  - { id: 13, name: l4s, traffic_class: 1, weight: 8, limit_packets: 300, aqm: { ecn: true, threshold: 200 us } }
traffic:
  - { name: plain, onoff: { queues: classic, rate: 12 Mbit/s, size: 700, on: 6 ms, off: 9 ms } }
  - { name: ect0, poisson: { queues: classic, rate: 12 Mbit/s, size: 300 }, headers: { ip: 4, ecn: 2 } }
  - { name: ect1, onoff: { queues: l4s, rate: 24 Mbit/s, size: 400, on: 4 ms, off: 5 ms }, headers: { ip: 4, ecn: 1 } }
  - { name: none, poisson: { queues: l4s, rate: 2 Mbit/s, size: 200 } }
"""

COBALT = """
device: { config: demo_64, overrides: { aqm: cobalt } }
duration: 60 ms
queues:
  - { id: 2, name: slow, rate: 5 Mbit/s, burst: 3 kB, limit_packets: 80, aqm: { ecn: true, target: 100 us, interval: 1 ms, full_log2: 14 } }
traffic:
  - { name: ect, onoff: { queues: slow, rate: 16 Mbit/s, size: 500, on: 6 ms, off: 12 ms }, headers: { ip: 4, ecn: 2 } }
  - { name: plain, poisson: { queues: slow, rate: 2 Mbit/s, size: 300 } }
"""


def both(folder: Path, text: str) -> dict[str, Any]:
    """Run it on both engines; every number and curve is the same. Return the result."""
    path = folder / "scenario.yaml"
    path.write_text(text)
    found = []
    for name in ("rtl", "model"):
        run = runs.prepare(runs.Request(path, engine=name))
        if name == "rtl":
            run.plan.job["device"]["library"] = str(verilate.build_device(run.config, print))
        outcome = engine.run(run.plan.job)
        result = run.summary(outcome)
        assert result["conservation"]["ok"] and not result["findings"], name
        found.append({key: value for key, value in result.items() if key not in OF_THE_RUN})
    assert found[0] == found[1]
    return found[0]


def test_dualpi2_on_both_engines(tmp_path: Path) -> None:
    classic, l4s = both(tmp_path, PAIR)["queues"]
    assert min(classic["drop_packets"], classic["marked_packets"], l4s["marked_packets"], l4s["drop_packets"]) > 3, (classic, l4s)


def test_cobalt_on_both_engines(tmp_path: Path) -> None:
    (slow,) = both(tmp_path, COBALT)["queues"]
    assert min(slow["drop_packets"], slow["marked_packets"]) > 10


def shares(**more: str) -> dict[str, Any]:
    """Return the result of the scenario for 20 s, of which the first 5 do not count."""
    given = {"duration": "20 s", "report.after": "5 s", **{key.replace("__", "."): value for key, value in more.items()}}
    run = runs.prepare(runs.Request(SCENARIO, engine="model", settings=[f"{key}={value}" for key, value in given.items()]))
    result: dict[str, Any] = run.summary(engine.run(run.plan.job))
    return result


@pytest.mark.parametrize(("classic", "least"), [("10 ms", 0.8), ("40 ms", 0.62)])
def test_a_scalable_connection_beside_cubic(classic: str, least: float) -> None:
    """The L4S packets hardly wait, and the Classic connection is not starved: blocks/aqm/dualpi2/README.md has the shares in full."""
    result = shares(traffic__classic__tcp__rtt=classic)
    queues = {queue["name"]: queue for queue in result["queues"]}
    assert result["tcp"]["fairness"] > least
    assert result["tcp"]["goodput_bps"] > 0.9 * 40e6 * 1460 / 1514
    assert queues["l4s"]["latency_ns"]["p50"] < 2e6 < queues["classic"]["latency_ns"]["p50"]
    assert queues["l4s"]["drop_packets"] == 0 < queues["l4s"]["marked_packets"]


def test_the_coupling_sets_the_shares() -> None:
    """Four times the base probability in place of once makes the L4S connection's window a quarter, for the same Classic one."""
    shared = []
    for coupling in ("1", "4"):
        flows = shares(device__overrides__dualpi2__coupling=coupling)["tcp"]["flows"]
        shared.append(flows[1]["goodput_bps"] / flows[0]["goodput_bps"])
    assert shared[0] > 1.5 * shared[1], shared


def test_a_scalable_connection_lives_by_marks(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.read_text().replace("algorithm: prague", "algorithm: prague, ecn: false"))
    with pytest.raises(UserError, match=r"l4s\.tcp\.ecn` must not be false with `algorithm: prague`, which answers marks"):
        runs.prepare(runs.Request(path, engine="model"))


def test_the_ecn_field_chooses_the_queue() -> None:
    """2.3 of RFC 9332: ECT(1) and CE go to the L4S queue, Not-ECT and ECT(0) to the Classic one; a setting says which."""
    device = {"config": "headers_16", "overrides": {"aqm": "dualpi2"}}
    for classes, l4s in ((["0, 2", "1, 3"], {1, 3}), (["0", "1-3"], {1, 2, 3})):
        with penstock.open(device, engine="model", headers={"class_of": "ecn", "classes": classes}) as edge:
            edge.subscriber(1).set(match={"ipv4": "10.0.0.7"}, queues="6-7")
            edge.subscriber(2).set(match={"ipv6": "2001:db8:0:7::/64"}, queues="10-11")
            for ecn in range(4):
                edge.send(Ether() / IP(dst="10.0.0.7", tos=46 << 2 | ecn) / UDP() / bytes(60))
                edge.send(Ether() / IPv6(dst="2001:db8:0:7::1", tc=46 << 2 | ecn) / UDP() / bytes(60))
            edge.drain()
            queues = sorted(frame.queue for frame in edge.received())
        assert queues == sorted(base + (ecn in l4s) for base in (6, 10) for ecn in range(4))
