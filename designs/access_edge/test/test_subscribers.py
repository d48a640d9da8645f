"""Scenarios whose subscribers are found in headers: keys, errors, frames and results, the same on both engines."""

import json
import random
import struct
from pathlib import Path
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge import job, matches
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.scenario import Scenario
from penstock.engine import engine
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration_as

ALL_KINDS = """\
name: kinds
seed: 3
duration: 60us
drain: 100us
device: {config: headers_16, overrides: {headers.profiles: 6}}
headers: {class_of: dscp, classes: ["32-63", "0-31"], unknown: 15}
subscribers:
  - {id: 0, name: mill, match: {vlan: [100, 7]}, queues: "0-1"}
  - {id: 1, match: {vlan: 5}, queues: 2}
  - {ids: "2-3", match: {pppoe: "9-10", mac: "02:5e:00:00:00:01"}, queues: "3-6"}
  - {ids: "5-6", match: {ipv4: "10.0.0.255"}, queues: "7-8"}
  - {id: 7, match: {ipv6: "2001:db8:0:7::/64"}, queues: "9-10"}
  - {id: 8, match: {mpls: 700}, queues: 11}
traffic:
  - poisson: {queues: "0-11", pick: random, rate: 20Gbit/s, size: [[90, 1], [300, 1]]}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "s.yaml"
    path.write_text(text)
    return path


def run(path: Path, out: Path, engine_name: str) -> dict[str, Any]:
    assert main(["run", str(path), "--engine", engine_name, "--out", str(out)]) == 0
    found: dict[str, Any] = json.loads((out / "result.json").read_text())
    return found


def planned(path: Path) -> tuple[Config, job.EdgePlan]:
    document = scenario.open_file(path)
    given = scenario.validated(Scenario, document)
    config = configuration_as(Config, given, document)
    return config, job.build(given, document, config, "model")


def test_all_kinds_on_both_engines(tmp_path: Path) -> None:
    """The engine says that each frame was found for its queue; both engines count the same, departure by departure."""
    path = written(tmp_path, ALL_KINDS)
    results = [run(path, tmp_path / name, name) for name in ("rtl", "model")]
    rtl, model = ({key: value for key, value in result.items() if key in ("packets", "queues", "headers")} for result in results)
    assert rtl == model
    assert rtl["packets"]["dropped"] == {} and rtl["packets"]["out"] > 300
    kinds = {row["match"]: row["hits"] for row in rtl["headers"]["profiles"]}
    assert list(kinds) == list(matches.KINDS[:-1]) and min(kinds.values()) > 5
    assert sum(kinds.values()) == rtl["packets"]["in"] and all(row["misses"] == 0 for row in rtl["headers"]["profiles"])


def test_a_capture_needs_no_map(tmp_path: Path) -> None:
    """Known and unknown frames, and malformed ones: each goes where the models say, and is counted by its kind."""
    rng = random.Random(5)
    frames = []
    for _ in range(200):
        tags = bytes.fromhex("88a80064810000") + bytes([rng.choice((7, 8))])
        ip = bytes.fromhex("0800") + bytes([0x45 if rng.random() < 0.9 else 0x55, 0, 0, 40]) + bytes(36)
        frames.append(rng.choice((bytes(12) + tags + ip, bytes(12) + ip, bytes.fromhex("0a00000077ff") + bytes(6) + ip)).ljust(80, b"\0"))
    capture = tmp_path / "c.pcap"
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    records = (struct.pack("<IIII", 1, i, len(frame), len(frame)) + frame for i, frame in enumerate(frames))
    capture.write_bytes(head + b"".join(records))
    text = ALL_KINDS[: ALL_KINDS.index("traffic:")].replace("duration: 60us", "duration: 300us") + f"traffic: [{{pcap: {capture}}}]\n"
    results = [run(written(tmp_path, text), tmp_path / name, name) for name in ("rtl", "model")]
    assert results[0]["headers"] == results[1]["headers"] and results[0]["queues"] == results[1]["queues"]
    found = {row["match"]: (row["hits"], row["misses"]) for row in results[0]["headers"]["profiles"]}
    assert found["two_tags"][0] > 20 and found["two_tags"][1] > 20 and found["ipv4"][1] > 20
    assert results[0]["headers"]["reading_ended"]["bad_version"] > 5
    assert any("Frames of no subscriber" in note for note in results[0]["notes"])


def test_each_frame_has_the_key_of_its_subscriber(tmp_path: Path) -> None:
    """The headers that frames are made with, read by the parser's and profiles' models."""
    config, plan = planned(written(tmp_path, ALL_KINDS))
    assert plan.subscribers and config.headers
    heads = plan.job["sources"][0]["headers"]
    parse, each = engine.models("parse").parse, heads["each"]
    for number, queue in enumerate(range(12)):
        for size, at in ((90, 2 * number), (300, 2 * number + 1)):
            frame = heads["bytes"].tobytes()[each * at : each * (at + 1)].ljust(size, b"\0")
            fields = parse(frame, extension_headers=2, tunnels=False)
            assert fields["ending"] == 0 and fields["ip"] in (4, 6), (queue, fields)
    assert len(plan.subscribers.found) == 8


WRONG = [
    ("queues: 2}", "queues: 2, rate: 1Gbit/s}", r"subscribers.1.rate` is there, but configuration headers_16 has no hierarchy"),
    ("match: {vlan: 5}, ", "", r"subscribers.1` needs a `match`"),
    ("vlan: 5}", "vlan: [100, 7]}", r"gives subscriber 1 vlan 100, 7, which subscriber 0 \(mill\) has already"),
    ("vlan: 5}", "vlan: 5000}", r"must be one VLAN or two"),
    ("vlan: 5}", "vlan: [1, 2, 3]}", r"must be one VLAN or two"),
    ("mpls: 700", "mpls: 1048576", r"must be an MPLS label, one or a range, 0 to 1,048,575"),
    ("mpls: 700", 'mpls: "700-701"', r"has a `mpls` of 2 values for 1 subscriber"),
    ("mpls: 700", 'mpls: 700, mac: "02:00:00:00:00:01"', r"needs exactly one of `vlan`"),
    (', mac: "02:5e:00:00:00:01"', "", r"has a `pppoe` without `mac`"),
    ("2001:db8:0:7::/64", "2001:db8::/48", r"must be an IPv6 prefix of 64 bits"),
    ('queues: "3-6"', 'queues: "3-5"', r"are 3 for 2 subscribers"),
    ("queues: 11}", "queues: 16}", r"has queue 16, but configuration headers_16 has the queues 0 to 15"),
    ("unknown: 15", "unknown: 16", r'must be "drop" or a queue, by its name or 0 to 15, not 16'),
    ("headers.profiles: 6", "headers.profiles: 5", r"have matches of 6 kinds .*, but configuration headers_16 has 5 profiles"),
    ("mpls: 700", 'mac: "02:00:00:00:00:01"', r"have matches by ipv4 and by mac"),
    ("0-11", "0-12", r"sends to queue 12, which belongs to no subscriber"),
    ("size: [[90, 1], [300, 1]]", "size: 40", r"has frames of 40 byte, but the headers of these queues have"),
    ("id: 1, match", "id: 0, match", r"has subscriber 0, which another entry of `subscribers` has already"),
    ("headers_16, overrides: {headers.profiles: 6}", "tiny_16", r"is there, but configuration tiny_16 does not find"),
    ('classes: ["32-63", "0-31"]', "classes: []", r"needs both `class_of` and `classes`, or neither"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_errors_say_what_and_where(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert ALL_KINDS.count(old) == 1
    with pytest.raises(UserError, match=message):
        planned(written(tmp_path, ALL_KINDS.replace(old, new)))


def test_a_configuration_needs_both_or_neither() -> None:
    for name, overrides in (("tiny_16", {"queue_id": "headers"}), ("headers_16", {"queue_id": "tdest"})):
        with pytest.raises(UserError, match="headers goes with queue_id: headers"):
            configs.with_overrides(configs.load(name), overrides)


@pytest.mark.slow
def test_32768_subscribers_on_both_engines(tmp_path: Path) -> None:
    results = [run(ROOT / "scenarios" / "qinq_pppoe.yaml", tmp_path / name, name) for name in ("rtl", "model")]
    rtl, model = ({key: value for key, value in result.items() if key in ("packets", "queues", "headers")} for result in results)
    assert rtl == model
    assert rtl["packets"]["out"] == rtl["packets"]["in"] > 2000


BYPASS = """\
duration: 2 ms
drain: 1 ms
device: {config: %s}
defaults: {rate: 1 Mbit/s, limit_packets: 2}
%s
traffic: [constant: {queues: [0, 4], rate: 20 Mbit/s, size: 500}]
"""
IN_TREE = "subscribers: [{id: 0, rate: 2 Mbit/s, bypass: true}, {id: 1, rate: 2 Mbit/s}]"
IN_HEADERS = "subscribers: [{id: 0, bypass: true, match: {vlan: 5}, queues: 0}, {id: 1, match: {vlan: 6}, queues: 4}]"


@pytest.mark.parametrize(("config", "entries"), [("tree_64", IN_TREE), ("headers_16", IN_HEADERS)])
def test_bypass(tmp_path: Path, config: str, entries: str) -> None:
    """Whom nothing of its own holds back loses nothing; its neighbour with the same settings does."""
    result = run(written(tmp_path, BYPASS % (config, entries)), tmp_path / "out", "model")
    queues = {row["id"]: row for row in result["queues"]}
    free, held = queues[0], queues[4]
    assert free["out_packets"] == free["in_packets"] >= 4 and not free["drop_packets"]
    assert held["drop_packets"] > 0 and held["out_packets"] < free["out_packets"]
