"""The model of pst_profile against what each kind means, written down in Python on the fields of the parser's model."""

import random
from collections import Counter

import parse_frames
import pytest

from penstock.engine import engine
from penstock.testing.testkit import seed


def meanings(h: dict[str, int]) -> list[int | None]:
    """Return the fields of each kind, None where the headers do not have them; the last two are keys of 65 bits."""
    v4, v6 = h["ip"] == 4, h["ip"] == 6
    addresses = [(h[f"{end}_high"], h[f"{end}_low"]) for end in ("source", "destination")]
    routed = [(1 << 64 | high) if v6 else (low << 32) if v4 else None for high, low in addresses]
    return [
        None,
        0,
        h["outer_id"] << 12 | h["inner_id"] if h["tags"] == 2 else None,
        h["outer_id"] if h["tags"] else None,
        h["session"] << 48 | h["source_mac"] if h["pppoe"] else None,
        h["session"] << 48 | h["destination_mac"] if h["pppoe"] else None,
        h["source_mac"] if h["ethernet"] else None,
        h["destination_mac"] if h["ethernet"] else None,
        addresses[0][1] if v4 else None,
        addresses[1][1] if v4 else None,
        addresses[0][0] if v6 else None,
        addresses[1][0] if v6 else None,
        h["label0"] if h["labels"] else None,
        h[f"label{h['labels'] - 1}"] if h["labels"] else None,
        *routed,
    ]


def drawn(rng: random.Random, count: int) -> list[tuple[int, int, int, int, bytes]]:
    """Return profiles: input ports, kind, space, what gives the class, and the classes."""
    return [
        (
            rng.choice((0xFFFF, 0xFFFF, rng.getrandbits(16))),
            rng.randrange(16),
            rng.randrange(16),
            rng.randrange(6),
            bytes(rng.choices(range(16), k=64)),
        )
        for _ in range(count)
    ]


def test_as_the_kinds_are_defined() -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    models, parse = engine.models("profile"), engine.models("parse").parse
    kinds: Counter[int] = Counter()
    classes: Counter[int] = Counter()
    for _ in range(4000):
        profiles = drawn(rng, rng.randrange(1, 16))
        frame, mode = parse_frames.odd(rng)
        port = rng.randrange(16)
        headers = parse(frame, mpls=mode)
        fields = meanings(headers)
        fitting = [i for i, p in enumerate(profiles) if p[0] >> port & 1 and fields[p[1]] is not None]
        found = models.choose(frame, port, profiles, mode)
        if not fitting:
            assert found == (None, False, 0, 0, 0)
            continue
        _, kind, space, class_of, of = profiles[fitting[0]]
        value = [0, headers["dscp"], headers["outer_pcp"], headers["inner_pcp"], headers["traffic_class0"], headers["ecn"]][class_of]
        key, prefix = (0, fields[kind]) if kind >= 14 else (space << 76 | fields[kind], 0)
        assert found == (fitting[0], kind >= 14, key, prefix, of[value]), frame.hex()
        kinds[kind] += 1
        classes[class_of] += value > 0
    assert set(kinds) == set(range(1, 16)) and min(classes[c] for c in range(1, 6)) > 10, (kinds, classes)


@pytest.mark.parametrize("base, last, number, queue", [(100, 3, 2, 102), (100, 3, 9, 103), (0, 0, 15, 0), (0xFFF_FFFF, 15, 1, 0)])
def test_a_queue_is_base_and_class(base: int, last: int, number: int, queue: int) -> None:
    assert engine.models("profile").queue(last << 28 | base, number) == queue
