# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What rules see of a frame: all that its kept bytes decide, for frames of all kinds that Scapy builds, whole, cut and damaged."""

import random
from typing import Any

import pytest

from penstock.scenarios.common import Match
from penstock.scenarios.frame_fields import Fields, fields_of
from penstock.scenarios.rules import decider, matches
from penstock.testing.foreign_frames import drawn
from penstock.testing.testkit import seed

FRAMES = 1500


def test_whole_frames_show_all() -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    found = [drawn(rng) for _ in range(FRAMES)]
    for frame, stated in found:
        assert fields_of(frame) == stated, frame.hex()
    for name in Fields._fields:
        assert len({getattr(stated, name) for _, stated in found}) > 2, f"{name} was not varied"


def test_kept_bytes_decide() -> None:
    """A cut at any byte: what is seen is as in the whole frame, is never lost again, and an address is there when its bytes are."""
    rng = random.Random(seed() + 1)
    for _ in range(200):
        frame, stated = drawn(rng)
        before = Fields()
        for length in range(len(frame) + 1):
            cut = fields_of(frame[:length])
            for name, value, all_of_it, earlier in zip(Fields._fields, cut, stated, before, strict=True):
                if name in ("source", "destination", "vlans"):
                    assert value is None or value == all_of_it[: len(value)], (name, length, frame.hex())
                    assert len(value or ()) >= len(earlier or ()), (name, length, frame.hex())
                else:
                    assert value in (None, all_of_it) and (earlier is None or value is not None), (name, length, frame.hex())
            before = cut
        assert before == stated
        if stated.source and stated.destination:
            at = frame.index(stated.source + stated.destination, 14) + len(stated.source)
            cut = fields_of(frame[:at])
            assert (cut.source, cut.destination) == (stated.source, None)
            assert fields_of(frame[: at + len(stated.source)]).destination == stated.destination


def test_flows_are_remembered_for_what_they_are() -> None:
    """Cut and damaged frames among good ones of the same flow: each is decided as if it were alone."""
    rng = random.Random(seed() + 2)
    given: list[dict[str, Any]] = [
        {"proto": "tcp", "dport": 80}, {"vlan": 3}, {"dscp": 46}, {"src_mac": "02:00:00:00:00:01", "sport": "0-100"},
        {"proto": "esp"}, {"dst": "10.0.0.0/28"}, {"src": "fd00::/16"}, {"dport": "5000-5010"}, {"pppoe": 7}, {"mpls": 9},
    ]  # fmt: skip
    rules = [Match.model_validate(rule) for rule in given]
    frames = []
    for frame, _ in [drawn(rng) for _ in range(150)]:
        for _ in range(6):
            damaged = bytearray(frame[: rng.choice((len(frame), len(frame), rng.randrange(len(frame) + 1)))])
            for _ in range(rng.choice((0, 0, 1, 3))):
                if damaged:
                    damaged[rng.randrange(len(damaged))] = rng.choice((0, 6, 17, 80, 0x45, rng.randrange(256)))
            frames.append(bytes(damaged))
    rng.shuffle(frames)
    decide = decider(rules)
    for frame in frames:
        seen = fields_of(frame)
        assert decide(frame) == next((index for index, rule in enumerate(rules) if matches(rule, seen)), -1), frame.hex()


@pytest.mark.parametrize(
    ("rule", "key", "value", "other"),
    [
        ({"dscp": "ef"}, "dscp", 46, 45),
        ({"vlan": 7}, "vlans", (7,), (8,)),
        ({"vlan": 7}, "vlans", (7, 9), (9, 7)),
        ({"vlan": [7, 9]}, "vlans", (7, 9), (7,)),
        ({"src_mac": "02:00:00:00:00:0A"}, "source_mac", b"\2\0\0\0\0\x0a", b"\2\0\0\0\0\x0b"),
        ({"dst_mac": "02:00:00:00:00:0a"}, "destination_mac", b"\2\0\0\0\0\x0a", None),
        ({"mpls": 1048575}, "mpls", 1048575, 0),
        ({"pppoe": 0}, "pppoe", 0, None),
        ({"proto": "esp"}, "protocol", 50, 51),
    ],
)
def test_one_key(rule: dict[str, Any], key: str, value: object, other: object) -> None:
    asked = Match.model_validate(rule)
    assert matches(asked, Fields(**{key: value})) and not matches(asked, Fields(**{key: other})) and not matches(asked, Fields())


def test_networks_by_the_bytes_that_are_there() -> None:
    """Random addresses and prefixes, cut at any byte: a network has an address when all bits of its prefix are there, and right."""
    rng = random.Random(seed() + 3)
    for _ in range(2000):
        version, size = rng.choice(((4, 4), (6, 16)))
        address, bits = rng.randbytes(size), rng.randrange(8 * size + 1)
        near = int.from_bytes(address, "big") ^ (1 << rng.randrange(8 * size) if rng.random() < 0.7 else 0)
        text = ".".join(map(str, near.to_bytes(4, "big"))) if version == 4 else near.to_bytes(16, "big").hex(":", 2)
        kept = rng.randrange(size + 1)
        shown = "".join(f"{byte:08b}" for byte in address[:kept])
        wanted = f"{near:0{8 * size}b}"[:bits]
        asked = Match.model_validate({"dst": f"{text}/{bits}"})
        assert matches(asked, Fields(version=version, destination=address[:kept])) == (len(shown) >= bits and shown[:bits] == wanted)
        assert not matches(asked, Fields(version=10 - version, destination=address))
