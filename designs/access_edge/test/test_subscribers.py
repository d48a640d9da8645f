"""Scenarios whose subscribers are found in headers: keys, errors, frames and results, the same on both engines."""

import json
import random
import struct
from collections import Counter
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge import find, job, matches
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.scenario import Scenario
from penstock.engine import engine
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration_as
from penstock.testing.testkit import seed

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


def equal_on_both(path: Path, folder: Path) -> dict[str, Any]:
    """Return what both engines count, departure by departure, which must be the same."""
    results = [run(path, folder / name, name) for name in ("rtl", "model")]
    rtl, model = ({key: value for key, value in result.items() if key in ("packets", "queues", "headers")} for result in results)
    assert rtl == model
    return rtl


def planned(path: Path) -> tuple[Config, job.EdgePlan]:
    document = scenario.open_file(path)
    given = scenario.validated(Scenario, document)
    config = configuration_as(Config, given, document)
    return config, job.build(given, document, config, "model")


def test_all_kinds_on_both_engines(tmp_path: Path) -> None:
    """The engine says that each frame was found for its queue; both engines count the same, departure by departure."""
    path = written(tmp_path, ALL_KINDS)
    rtl = equal_on_both(path, tmp_path)
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
    ("2001:db8:0:7::/64", "2001:db8::/65", r"must be an IPv6 prefix of 64 bits or fewer"),
    ("2001:db8:0:7::/64", "2001:db8::/48", r"subscribers.4.match` is a prefix, but configuration headers_16 finds whole addresses alone"),
    ("10.0.0.255", "10.0.0.1/24", r'must be an IPv4 address such as "10.0.0.7" or a prefix such as'),
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


def test_a_configuration_needs_both_or_neither() -> None:
    for name, overrides in (("tiny_16", {"queue_id": "headers"}), ("headers_16", {"queue_id": "tdest"})):
        with pytest.raises(UserError, match="headers goes with queue_id: headers"):
            configs.with_overrides(configs.load(name), overrides)


# ---- prefixes

PREFIXES = """\
name: prefixes
seed: 4
duration: 60us
drain: 100us
device: {config: routed_16}
headers: {class_of: dscp, classes: ["32-63", "0-31"], unknown: 15}
subscribers:
  - {id: 0, name: mill, match: {ipv4: 10.1.0.0/16}, queues: "0-1"}
  - {id: 1, match: {ipv4: 10.1.2.0/24}, queues: 2}
  - {ids: "2-3", match: {ipv4: 10.1.2.0}, queues: "3-4"}
  - {ids: "4-5", match: {ipv4: 192.0.2.0/25}, queues: "5-6"}
  - {id: 6, match: {ipv6: "2001:db8::/32"}, queues: 7}
  - {ids: "7-8", match: {ipv6: "2001:db8:0:7::/64"}, queues: "8-9"}
  - {id: 9, match: {vlan: 5}, queues: 10}
traffic:
  - poisson: {queues: "0-10", pick: random, rate: 20Gbit/s, size: [[90, 1], [300, 1]]}
"""


def test_prefixes_on_both_engines(tmp_path: Path) -> None:
    """Frames of a prefix have an address that no longer prefix has; addresses are prefixes, too, so that all are found by the longest."""
    path = written(tmp_path, PREFIXES)
    rtl = equal_on_both(path, tmp_path)
    assert rtl["packets"]["dropped"] == {} and rtl["packets"]["out"] > 300
    kinds = {row["match"]: (row["hits"], row["misses"]) for row in rtl["headers"]["profiles"]}
    assert list(kinds) == ["outer_tag", "prefix"] and kinds["outer_tag"][0] + kinds["prefix"][0] == rtl["packets"]["in"]
    assert {row["id"] for row in rtl["queues"] if row["in_packets"]} == set(range(11))


def draw_prefix(rng: random.Random) -> IPv4Network | IPv6Network:
    """Draw one, often inside of another."""
    if rng.random() < 0.6:
        return IPv4Network(
            (rng.choice((0x0A010200, 0x0A01FF00, 0xC0000200)) ^ rng.getrandbits(9), rng.choice((0, 8, 16, 24, 31, 32))), strict=False
        )
    return IPv6Network((0x20010DB8 << 96 | rng.getrandbits(3) << 64, rng.choice((0, 3, 32, 62, 63, 64))), strict=False)


def framed(address: IPv4Address | IPv6Address) -> bytes:
    """Return a frame to an address."""
    if address.version == 4:
        head = bytes.fromhex("08004500002800000000401100000a000001") + address.packed
    else:
        head = bytes.fromhex("86dd6000000000003b40") + bytes(16) + address.packed
    return (bytes(12) + head).ljust(80, b"\0")


@pytest.mark.parametrize("number", range(6))
def test_frames_of_a_capture_are_found_by_the_longest_prefix(tmp_path: Path, number: int) -> None:
    """Python's ipaddress says which one that is; on the RTL as on the model."""
    rng = random.Random(number + seed())
    print(f"PENSTOCK_SEED={seed()}")
    networks = list(dict.fromkeys(draw_prefix(rng) for _ in range(14)))
    addresses: list[IPv4Address | IPv6Address] = []
    for _ in range(300):
        near = rng.choice(networks)
        flip = rng.choice((0, rng.getrandbits(near.max_prefixlen - near.prefixlen), 1 << rng.randrange(near.max_prefixlen)))
        addresses.append(type(near.network_address)(int(near.network_address) ^ flip))
    expected: Counter[int] = Counter()
    for address in addresses:
        having = [
            (network.prefixlen, at) for at, network in enumerate(networks) if address.version == network.version and address in network
        ]
        expected[max(having)[1] if having else 15] += 1
    capture = tmp_path / "c.pcap"
    records = (struct.pack("<IIII", 1, i, 80, 80) + framed(address) for i, address in enumerate(addresses))
    capture.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1) + b"".join(records))
    entries = "".join(f'  - {{id: {at}, match: {{ipv{one.version}: "{one}"}}, queues: {at}}}\n' for at, one in enumerate(networks))
    head = "duration: 400us\ndrain: 100us\ndevice: {config: routed_16}\nheaders: {unknown: 15}\nsubscribers:\n"
    path = written(tmp_path, f"{head}{entries}traffic: [{{pcap: {capture}}}]\n")
    for name in ("model", "rtl") if number < 2 else ("model",):
        found = run(path, tmp_path / name, name)
        assert {row["id"]: row["in_packets"] for row in found["queues"] if row["in_packets"]} == expected, name
        assert found["packets"]["out"] == len(addresses)


WRONG_PREFIXES = [
    ("10.1.2.0/24", "10.1.0.0/16", r"gives subscriber 1 ipv4 10.1.0.0/16, which subscriber 0 \(mill\) has already"),
    ("10.1.2.0/24", "10.1.2.0/31", r"sends to subscriber 1, but longer prefixes of others have all addresses of ipv4 10.1.2.0/31"),
    ("192.0.2.0/25", "255.255.255.128/25", r"has an `ipv4` of which there are 1 up to the last address, for 2 subscribers"),
    ("{config: routed_16}", "{config: routed_16, overrides: {headers.prefix_levels: 2}}", r"have 9 prefixes, but .* has room for 7"),
    ("unknown: 15}", "unknown: 15, kinds: [outer_tag, ipv4]}", r"has ipv4, but subscribers have prefixes"),
    ("vlan: 5", 'mac: "02:00:00:00:00:01"', r"have matches by prefix and by mac"),
]


@pytest.mark.parametrize(
    ("text", "old", "new", "message"), [*((ALL_KINDS, *row) for row in WRONG), *((PREFIXES, *row) for row in WRONG_PREFIXES)]
)
def test_errors_say_what_and_where(tmp_path: Path, text: str, old: str, new: str, message: str) -> None:
    assert text.count(old) == 1
    with pytest.raises(UserError, match=message):
        planned(written(tmp_path, text.replace(old, new)))


def test_prefixes_beside_keys(tmp_path: Path) -> None:
    """Who has addresses that are keys has no prefixes while the device is open; who has prefixes has room for so many."""
    text = PREFIXES[: PREFIXES.index("subscribers:")] + 'subscribers: [{id: 0, match: {ipv4: "10.0.0.1"}, queues: 0}]\n'
    text += "traffic: [constant: {queues: 0, rate: 1Mbit/s, size: 90}]\n"
    _, plan = planned(written(tmp_path, text))
    assert plan.subscribers
    for given, message in (
        ({"ipv4": "10.9.0.0/16"}, r"ipv4: must be an IPv4 address, not 10.9.0.0/16; other prefixes need a device with a tree of them"),
        ({"ipv6": "2001:db8::/48"}, r"ipv6: must be an IPv6 prefix of 64 bits, not 2001:db8::/48"),
    ):
        with pytest.raises(UserError, match=message):
            plan.subscribers.put(20, [given], (12, 12), ("subscriber(20)",))
    _, plan = planned(written(tmp_path, PREFIXES))
    assert plan.subscribers
    assert plan.subscribers.put(0, [{"vlan": [9]}], (12, 12), ("subscriber(0)",))
    room = find.Prefixes(3).most - sum(one.match.kind == matches.ROUTED for some in plan.subscribers._of_ident.values() for one in some)
    plan.subscribers.put(20, [{"ipv4": f"172.16.{n}.0/24"} for n in range(room)], (12, 12), ("subscriber(20)",))
    with pytest.raises(UserError, match="the device has room for 31 prefixes, and all are taken"):
        plan.subscribers.put(21, [{"ipv4": "10.9.0.1"}], (12, 12), ("subscriber(21)",))


@pytest.mark.slow
def test_32768_subscribers_on_both_engines(tmp_path: Path) -> None:
    rtl = equal_on_both(ROOT / "scenarios" / "qinq_pppoe.yaml", tmp_path)
    assert rtl["packets"]["out"] == rtl["packets"]["in"] > 2000


BYPASS = """\
duration: 2 ms
drain: 1 ms
device: {config: %s}
defaults: {rate: 1 Mbit/s, limit_packets: 2}
%s
traffic: [constant: {queues: [0, 4], rate: 20 Mbit/s, size: 500}]
"""
IN_HIERARCHY = "subscribers: [{id: 0, rate: 2 Mbit/s, bypass: true}, {id: 1, rate: 2 Mbit/s}]"
IN_HEADERS = "subscribers: [{id: 0, bypass: true, match: {vlan: 5}, queues: 0}, {id: 1, match: {vlan: 6}, queues: 4}]"


@pytest.mark.parametrize(("config", "entries"), [("tree_64", IN_HIERARCHY), ("headers_16", IN_HEADERS)])
def test_bypass(tmp_path: Path, config: str, entries: str) -> None:
    """Whom nothing of its own holds back loses nothing; its neighbour with the same settings does."""
    result = run(written(tmp_path, BYPASS % (config, entries)), tmp_path / "out", "model")
    queues = {row["id"]: row for row in result["queues"]}
    free, held = queues[0], queues[4]
    assert free["out_packets"] == free["in_packets"] >= 4 and not free["drop_packets"]
    assert held["drop_packets"] > 0 and held["out_packets"] < free["out_packets"]
