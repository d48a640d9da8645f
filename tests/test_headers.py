# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Headers of generated frames: what leaves a device is read by dpkt and by plain arithmetic; what cannot be is refused in a sentence."""

import ipaddress
import random
import struct
from pathlib import Path
from typing import Any

import dpkt
import numpy as np
import pytest

from penstock.engine import engine
from penstock.errors import UserError
from penstock.scenarios import headers, scenario
from penstock.scenarios.device import configuration, design_of
from penstock.scenarios.headers import Headers
from penstock.testing.testkit import seed

SIZES = [66, 300, 1514]
QUEUES = 8


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The engine, up to date."""
    engine.build(print)


def ones_sum(data: bytes) -> int:
    """RFC 1071: the sum of big-endian 16-bit words, odd data filled with a zero, with the carries added back."""
    total = sum(byte << 8 if at % 2 == 0 else byte for at, byte in enumerate(data))
    while total > 0xFFFF:
        total = (total >> 16) + (total & 0xFFFF)
    return total


def check_frame(frame: bytes, given: dict[str, Any]) -> tuple[int, int]:
    """Compare a frame with what was asked for; return its DSCP and the last 16 bits of its destination."""
    vlan, at = given.get("vlan", []), 12
    for kind, tag in zip([0x88A8, 0x8100][2 - len(vlan) :], vlan, strict=True):
        assert struct.unpack_from("!H", frame, at)[0] == kind
        tci = struct.unpack_from("!H", frame, at + 2)[0]
        assert tci & 0xFFF == tag
        at += 4
    version = given.get("ip", 4)
    assert struct.unpack_from("!H", frame, at)[0] == {4: 0x0800, 6: 0x86DD}[version]
    packet = frame[at + 2 :]
    if version == 4:
        ip = dpkt.ip.IP(packet)
        traffic_class, pseudo, payload = ip.tos, packet[12:20], packet[20:]
        assert (ip.len, ip.hl, ip.p, ip.ttl) == (len(packet), 5, 17, 64)
        assert ones_sum(packet[:20]) == 0xFFFF
    else:
        ip = dpkt.ip6.IP6(packet)
        traffic_class, pseudo, payload = ip.fc, packet[8:40], packet[40:]
        assert (ip.plen, ip.nxt, ip.hlim) == (len(packet) - 40, 17, 64)
    assert traffic_class & 3 == given.get("ecn", 0)
    udp = dpkt.udp.UDP(payload)
    assert (udp.ulen, udp.sport, udp.dport) == (len(payload), given.get("sport", 9), given.get("dport", 9))
    assert udp.sum != 0 and ones_sum(pseudo + struct.pack("!HH", 17, len(payload)) + payload) == 0xFFFF
    for tag_at in range(14, 14 + 4 * len(vlan), 4):
        assert struct.unpack_from("!H", frame, tag_at)[0] >> 13 == traffic_class >> 5
    for key, address in (("src", ip.src), ("dst", ip.dst)):
        if key in given:
            assert ipaddress.ip_address(bytes(address)) == ipaddress.ip_address(given[key])
    return traffic_class >> 2, int.from_bytes(ip.dst[-2:], "big")


def drawn(rng: random.Random) -> dict[str, Any]:
    version = rng.choice((4, 6))
    found: dict[str, Any] = {"ip": version, "ecn": rng.randrange(4), "dscp": rng.randrange(64)}
    found["vlan"] = [rng.randrange(4095) for _ in range(rng.randrange(3) if version == 4 else rng.randrange(2))]
    if rng.random() < 0.5:
        found["sport"], found["dport"] = rng.randrange(65_536), rng.randrange(65_536)
    if rng.random() < 0.5:
        addresses = [rng.getrandbits(32 if version == 4 else 128) for _ in range(2)]
        kind = ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address
        found["src"], found["dst"] = (str(kind(address)) for address in addresses)
    return found


@pytest.mark.parametrize("pick", ["each", "round_robin", "random"])
@pytest.mark.parametrize("kind", ["constant", "poisson", "onoff"])
def test_frames_that_leave_have_the_headers(kind: str, pick: str, tmp_path: Path) -> None:
    rng = random.Random(f"{seed()} {kind} {pick}")
    print(f"PENSTOCK_SEED={seed()}")
    given = drawn(rng)
    # Of a frame switch a queue is a flow: source 0, destination q / classes, class q % classes; its model needs no RTL.
    data = {"device": {"config": "switch_4"}, "seed": rng.randrange(1000), "duration": "20 us", "traffic": []}
    data["traffic"] = [{"inputs": 0, "constant": {"outputs": 0, "rate": "1 Gbit/s", "size": 64}}]
    document = scenario.Document(None, data, None, {})
    design = design_of(document)
    described = scenario.validated(design.scenario, document)
    config = configuration(described, document)
    job = design.plan(described, document, config, "model").job
    queues = np.array(rng.sample(range(QUEUES), rng.randint(1, QUEUES)), dtype=np.uint32)
    dscps = [rng.randrange(64) for _ in queues]
    made = headers.in_job(Headers.model_validate(given), dscps, queues, SIZES)
    source = {"kind": kind, "queues": queues, "pick": pick, "bps": 4e9, "sizes": [[size, 1] for size in SIZES], "headers": made, "input": 0}
    if kind == "onoff":
        source |= {"on_cycles": 500, "off_cycles": 200}
    job |= {"sources": [source], "pcap_out": str(tmp_path / "out.pcap")}
    result = engine.run(job)
    assert result["conservation_ok"] and result["payload_errors"] == 0, result["findings"]
    with (tmp_path / "out.pcap").open("rb") as file:
        left = [bytes(frame) for _, frame in dpkt.pcap.Reader(file)]
    assert len(left) == result["packets"]["out"] > 10 and {len(frame) for frame in left} <= set(SIZES)
    for frame, queue, length in zip(left, result["departures"]["queue"].tolist(), result["departures"]["length"].tolist(), strict=True):
        code, destination = check_frame(frame, given)
        assert len(frame) == length
        assert code == dscps[queues.tolist().index(queue)] == headers.dscp_of(frame)
        if "dst" not in given:
            assert destination == queue
        assert frame[:6] == b"\x02\x00" + struct.pack("!I", queue) and frame[6:12] == b"\x02\x01" + struct.pack("!I", queue)
    payloads = {frame[-20:] for frame in left if len(frame) == 300}
    assert len(payloads) == sum(len(frame) == 300 for frame in left)  # random behind the headers


def test_scenario_has_them(tmp_path: Path) -> None:
    """By the key of a scenario of a design that looks at no DSCP; two values of each key."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for given in ({}, {"dscp": "af41", "ecn": 1}, drawn(rng), drawn(rng)):
        text = {"device": {"config": "switch_4"}, "duration": "20 us", "traffic": []}
        text["traffic"] = [{"inputs": "0-1", "headers": given, "poisson": {"outputs": "0-3", "rate": "2 Gbit/s", "size": SIZES[1]}}]
        document = scenario.Document(None, text, None, {})
        design = design_of(document)
        described = scenario.validated(design.scenario, document)
        plan = design.plan(described, document, configuration(described, document), "model")
        result = engine.run(plan.job | {"pcap_out": str(tmp_path / "out.pcap")})
        assert result["conservation_ok"] and result["packets"]["out"] > 20
        with (tmp_path / "out.pcap").open("rb") as file:
            codes = {check_frame(bytes(frame), given)[0] for _, frame in dpkt.pcap.Reader(file)}
        assert codes == {headers.dscp(given.get("dscp", 0))}


@pytest.mark.parametrize(
    ("given", "size", "says"),
    [
        ({"ip": 5}, 300, "`traffic.0.headers.ip` must be one of 4 or 6, not 5"),
        ({"dscp": 64}, 300, "`traffic.0.headers.dscp` must be a DSCP, a number from 0 to 63 or a name such as ef, af41 or cs6, not 64"),
        ({"dscp": "eff"}, 300, "did you mean 'ef'?"),
        ({"dscp": True}, 300, "`traffic.0.headers.dscp` must be a DSCP"),
        ({"ecn": 4}, 300, "`traffic.0.headers.ecn` must be at most 3, not 4"),
        ({"vlan": [1, 2, 3]}, 300, "`traffic.0.headers.vlan` must be a VLAN id from 0 to 4094, or a list of at most two"),
        ({"vlan": 4095}, 300, "`traffic.0.headers.vlan` must be a VLAN id from 0 to 4094"),
        ({"src": "somewhere"}, 300, "`traffic.0.headers.src` must be an address such as"),
        ({"ip": 6, "dst": "10.0.0.1"}, 300, "`traffic.0.headers` has a `dst` of IPv4, but `ip` is 6"),
        ({"sport": 65_536}, 300, "`traffic.0.headers.sport` must be at most 65,535, not 65536"),
        ({"dport": -1}, 300, "`traffic.0.headers.dport` must be at least 0, not -1"),
        ({}, 41, "`traffic.0.headers` are 42 byte, but `size` has frames of 41 byte"),
        ({"ip": 6, "vlan": [1, 2]}, 69, "`traffic.0.headers` are 70 byte, but `size` has frames of 69 byte"),
        ({"port": 1}, 300, "`traffic.0.headers.port` is not a known key"),
    ],
)
def test_errors_are_one_sentence(given: dict[str, Any], size: int, says: str) -> None:
    text = {"device": {"config": "switch_4"}, "duration": "20 us", "traffic": []}
    text["traffic"] = [{"inputs": 0, "headers": given, "poisson": {"outputs": 0, "rate": "2 Gbit/s", "size": size}}]
    document = scenario.Document(None, text, None, {})
    design = design_of(document)
    with pytest.raises(UserError) as caught:
        described = scenario.validated(design.scenario, document)
        design.plan(described, document, configuration(described, document), "model")
    assert says in str(caught.value).replace("'4' or '6'", "4 or 6") and "\n" not in str(caught.value)


def test_names_of_dscps() -> None:
    """RFC 4594, figure 3, has the values."""
    stated = {
        "ef": 46,
        "cs1": 8,
        "cs5": 40,
        "cs7": 56,
        "af11": 10,
        "af12": 12,
        "af13": 14,
        "af21": 18,
        "af31": 26,
        "af43": 38,
        "be": 0,
        "va": 44,
    }
    assert {name: headers.dscp(name) for name in stated} == stated
    assert [headers.dscp(value) for value in (0, 63, "0", "63", "EF")] == [0, 63, 0, 63, 46]


def test_dscp_of_any_frame() -> None:
    """Frames of all kinds, whole and cut, against dpkt and the place of the field."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(2000):
        code, tags, version = rng.randrange(64), rng.randrange(4), rng.choice((4, 6, 4, 6, 0))
        packet = bytes(dpkt.ip.IP(tos=code << 2 | 1)) if version == 4 else bytes(dpkt.ip6.IP6(fc=code << 2 | 1))
        kind = {4: 0x0800, 6: 0x86DD, 0: rng.choice((0x0806, 0x88B5))}[version]
        stack = b"".join(struct.pack("!HH", rng.choice((0x8100, 0x88A8)), rng.getrandbits(16)) for _ in range(tags))
        frame = rng.randbytes(12) + stack + struct.pack("!H", kind) + packet
        assert headers.dscp_of(frame) == (code if version and tags <= 2 else None)
        needed = 14 + 4 * min(tags, 2) + 2
        assert headers.dscp_of(frame[: rng.randrange(needed)]) is None
        assert headers.dscp_of(frame[:needed]) == (code if version and tags <= 2 else None)
        if version:  # the version in the packet is not the one that the type says
            wrong = 14 + 4 * tags
            other = frame[:wrong] + bytes([frame[wrong] ^ 0x70]) + frame[wrong + 1 :]
            assert headers.dscp_of(other) is None


@pytest.mark.parametrize("key", ["bytes", "each", "sum_at", "sum_from", "other"])
def test_engine_refuses_headers_that_do_not_fit(key: str) -> None:
    document = scenario.Document(None, {"device": {"config": "switch_4"}, "duration": "1 us", "traffic": [
        {"inputs": 0, "headers": {}, "constant": {"outputs": 0, "rate": "1 Gbit/s", "size": 64}}]}, None, {})  # fmt: skip
    design = design_of(document)
    described = scenario.validated(design.scenario, document)
    job = design.plan(described, document, configuration(described, document), "model").job
    given = job["sources"][0]["headers"]
    given[key] = {"bytes": given["bytes"][1:], "each": 0, "sum_at": 42, "sum_from": 41, "other": 1}[key]
    with pytest.raises(ValueError, match=rf"sources\[0\].headers.{key}"):
        engine.run(job)
