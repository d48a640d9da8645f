"""Rules for live frames, in C++, against those for captures, in Python: the same frames go to the same queues."""

import random
import struct

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from penstock.engine import engine
from penstock.scenarios import network
from penstock.scenarios import rules as rules_of_captures
from penstock.scenarios.common import Match
from penstock.scenarios.frame_fields import Fields, fields_of
from penstock.testing.foreign_frames import MACS, drawn
from penstock.testing.testkit import seed

FRAMES = 1000


def _rule(rng: random.Random) -> Match:
    given: dict[str, object] = {}
    if rng.random() < 0.5:
        given["proto"] = rng.choice(("tcp", "udp", "icmp", "sctp", 58))
    if rng.random() < 0.1:
        key = rng.choice(("dscp", "vlan", "src_mac", "dst_mac", "mpls", "pppoe"))
        given[key] = rng.choice(MACS) if key.endswith("mac") else rng.randrange(64)
    for key in ("src", "dst"):
        if rng.random() < 0.3:
            given[key] = rng.choice(("10.0.0.0/24", "10.0.0.64/26", "fd00::/64", "2001:db8::/32", "192.0.2.9", "fd00::77"))
    for key in ("sport", "dport"):
        if rng.random() < 0.3:
            given[key] = rng.choice(("80", "5000-5009", "0-100", "443-65535"))
    return Match.model_validate(given)


def _seen(frame: bytes) -> Fields:
    return Fields(**engine.module().wire_fields(frame))


def _damaged(rng: random.Random, frame: bytes) -> bytes:
    """Return a frame that may be cut and may have other bytes."""
    damaged = bytearray(frame[: rng.choice((len(frame), len(frame), rng.randrange(len(frame) + 1)))])
    for _ in range(rng.choice((0, 0, 1, 8)) if damaged else 0):
        damaged[rng.randrange(len(damaged))] = rng.choice((0, 6, 44, 60, 0x45, 0x60, rng.randrange(256)))
    return bytes(damaged)


def _frames(rng: random.Random) -> list[bytes]:
    return [_damaged(rng, drawn(rng)[0]) for _ in range(FRAMES)]


def test_fields_are_those_of_captures() -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    frames = _frames(rng)
    for frame in frames:
        assert _seen(frame) == fields_of(frame), frame.hex()
    for name in Fields._fields:
        assert len({getattr(_seen(frame), name) for frame in frames}) > 2, name


def test_rules_choose_as_for_captures() -> None:
    rng = random.Random(seed() + 1)
    frames = _frames(rng)
    for _ in range(30):
        rules = [_rule(rng) for _ in range(rng.randrange(1, 8))]
        chosen = engine.module().wire_match({"rules": [network.rule(rule) for rule in rules]}, frames)
        decide = rules_of_captures.decider(rules)
        assert chosen == [decide(frame) for frame in frames]


@pytest.mark.parametrize("length", [0, 3, 4, 15, 255])
def test_a_length_in_a_header_that_is_a_lie_hides_the_ports(length: int) -> None:
    frame = bytearray(bytes(Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=2) / bytes(20)))
    struct.pack_into("!H", frame, 16, length)
    seen = _seen(bytes(frame))
    assert seen == fields_of(bytes(frame))
    assert (seen.source_port is None) == (seen.destination_port is None) == (0 < length < 24)
