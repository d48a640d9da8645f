"""Rules for live frames, in C++, against those for captures, in Python (dpkt): the same frames go to the same queues."""

import random
import struct

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.layers.sctp import SCTP

from penstock.engine import engine
from penstock.scenarios import network, pcap
from penstock.scenarios.common import Match
from penstock.testing.testkit import seed

FRAMES = 400
V4 = ("10.0.0.1", "10.0.0.77", "10.0.1.1", "192.0.2.9")
V6 = ("fd00::1", "fd00::77", "2001:db8::1")
PORTS = (0, 53, 80, 443, 5000, 5010, 65535)


def _frame(rng: random.Random) -> bytes:
    """A frame of any kind that rules look at."""
    layers = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        layers /= Dot1Q(vlan=rng.randrange(4096))
    if rng.random() < 0.05:
        return bytes(layers / ARP())
    ports = {"sport": rng.choice(PORTS), "dport": rng.choice(PORTS)}
    above = rng.choice((TCP(**ports), TCP(**ports, options=[("MSS", 1460)]), UDP(**ports), SCTP(**ports), ICMP()))
    if rng.random() < 0.5:
        ip = IP(src=rng.choice(V4), dst=rng.choice(V4), tos=rng.randrange(256), frag=rng.choice((0, 0, 0, 7)))
        return bytes(layers / ip / above / bytes(rng.randrange(40)))
    made = layers / IPv6(src=rng.choice(V6), dst=rng.choice(V6))
    if rng.random() < 0.3:
        made /= IPv6ExtHdrHopByHop()
    if rng.random() < 0.3:
        made /= IPv6ExtHdrDestOpt()
    if rng.random() < 0.3:
        made /= IPv6ExtHdrFragment(offset=rng.choice((0, 3)), m=1)
    return bytes(made / above / bytes(rng.randrange(40)))


def _rule(rng: random.Random) -> Match:
    given: dict[str, object] = {}
    if rng.random() < 0.5:
        given["proto"] = rng.choice(("tcp", "udp", "icmp", "sctp", 58))
    for key in ("src", "dst"):
        if rng.random() < 0.3:
            given[key] = rng.choice(("10.0.0.0/24", "10.0.0.64/26", "fd00::/64", "2001:db8::/32", "192.0.2.9", "fd00::77"))
    for key in ("sport", "dport"):
        if rng.random() < 0.3:
            given[key] = rng.choice(("80", "5000-5009", "0-100", "443-65535"))
    return Match.model_validate(given)


def _seen(frame: bytes) -> pcap.Headers:
    found = engine.module().wire_fields(frame)

    def number(address: bytes | None) -> int | None:
        return None if address is None else int.from_bytes(address, "big")

    return pcap.Headers(
        found["protocol"],
        number(found["source"]),
        number(found["destination"]),
        found["version"],
        found["source_port"],
        found["destination_port"],
    )


def test_fields_are_those_of_captures() -> None:
    rng = random.Random(seed())
    frames = [_frame(rng) for _ in range(FRAMES)]
    for frame in frames:
        assert _seen(frame) == pcap.parse_headers(frame), frame.hex()
    assert len({_seen(frame).protocol for frame in frames}) >= 4 and len({_seen(frame).version for frame in frames}) == 3


def test_rules_choose_as_for_captures() -> None:
    rng = random.Random(seed() + 1)
    frames = [_frame(rng) for _ in range(FRAMES)]
    for _ in range(30):
        rules = [_rule(rng) for _ in range(rng.randrange(1, 8))]
        chosen = engine.module().wire_match({"rules": [network.rule(rule) for rule in rules]}, frames)
        decide = pcap.decider(rules)
        assert chosen == [decide(frame) for frame in frames]


def test_what_is_cut_is_read_to_its_end_only() -> None:
    rng = random.Random(seed() + 2)
    for _ in range(100):
        frame = _frame(rng)
        for length in range(0, len(frame), 1 + len(frame) // 40):
            _seen(frame[:length])
        noise = bytearray(frame)
        for _ in range(8):
            noise[rng.randrange(len(noise))] = rng.randrange(256)
        _seen(bytes(noise))


@pytest.mark.parametrize("length", [0, 3, 4, 15, 255])
def test_a_length_in_a_header_that_is_a_lie_hides_the_ports(length: int) -> None:
    frame = bytearray(bytes(Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=2) / bytes(20)))
    struct.pack_into("!H", frame, 16, length)
    seen = _seen(bytes(frame))
    assert seen == pcap.parse_headers(bytes(frame))
