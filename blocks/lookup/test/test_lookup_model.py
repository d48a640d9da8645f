"""The model of pst_lookup: beside a dictionary, and how full it gets with random, regular and chosen keys."""

import random

import pytest

from penstock.engine import engine
from penstock.testing.testkit import seed

ADDED, REPLACED, DELETED, ABSENT, FULL = range(5)
SIZE = 6  # bytes of a key


@pytest.fixture(scope="module")
def lookup():
    return engine.models("lookup").Lookup


def test_as_a_dictionary(lookup) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    table, wanted = lookup(entries=256, stash=4, seed=rng.getrandbits(64)), {}
    pool = [rng.randbytes(SIZE) for _ in range(400)]
    refused = 0
    for _ in range(30_000):
        key, value = rng.choice(pool), rng.getrandbits(32)
        if rng.random() < 0.55:
            done, _ = table.insert(key, value)
            assert done == REPLACED if key in wanted else done in (ADDED, FULL)
            refused += done == FULL
            if done != FULL:
                wanted[key] = value
        else:
            done, _ = table.delete(key)
            assert done == (ABSENT if wanted.pop(key, None) is None else DELETED)
        assert table.keys == len(wanted)
        for other in rng.sample(pool, 3):
            assert table.find(other) == wanted.get(other)
    assert {key: table.find(key) for key in pool if table.find(key) is not None} == wanted


def regular(name: str, count: int, rng: random.Random) -> list[int]:
    """Return keys as networks, and attackers who do not know the seed, have them."""
    if name == "random":
        return rng.sample(range(1 << 48), count)
    if name == "consecutive":
        return list(range(count))
    if name == "steps":  # one address of each small network
        return [i << 8 for i in range(count)]
    if name == "high":  # only the highest bits differ
        return [i << 30 for i in range(count)]
    if name == "two-vlans":
        return [1 << 40 | (i // 64) << 12 | i % 64 + 100 for i in range(count)]
    if name == "bits":  # keys with few bits set: nearly all sums of three
        singles = [1 << i for i in range(48)]
        sums = {a ^ b ^ c for a in singles for b in singles for c in singles}
        sums |= {a ^ b ^ c ^ d for a in singles[:24] for b in singles[:24] for c in singles[:24] for d in singles[:24]}
        return sorted(sums)[:count]
    return [int(f"{i:b}", 4) for i in range(count)]  # every second bit


@pytest.mark.parametrize("name", ["random", "consecutive", "steps", "high", "two-vlans", "bits", "alternate"])
@pytest.mark.parametrize("entries", [4096, pytest.param(262_144, marks=pytest.mark.slow)])
def test_92_percent_with_regular_keys(lookup, name: str, entries: int) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    count = -(-entries * 92 // 100)
    keys = regular(name, count, rng)
    if len(keys) < count:
        pytest.skip(f"there are {len(keys)} such keys")
    rng.shuffle(keys)
    for _ in range(3):
        table = lookup(entries=entries, seed=rng.getrandbits(64))
        assert table.insert_all(b"".join(key.to_bytes(SIZE, "big") for key in keys), SIZE) == 0
        assert table.keys == count
        assert table.find(keys[-1].to_bytes(SIZE, "big")) == count - 1


def test_who_knows_the_seed_fills_it_and_another_seed_helps(lookup) -> None:
    """800 chosen keys want 512 places of 4,096: they are refused, and after a change of the random words none is."""
    known = lookup(entries=4096, seed=7)
    keys = known.crowding(count=800, bits=3, size=SIZE)
    assert len(keys) == 800 * SIZE
    assert known.insert_all(keys, SIZE) >= 800 - 512 - 8
    assert lookup(entries=4096, seed=8).insert_all(keys, SIZE) == 0


def test_moves_stay_few_at_92_percent(lookup) -> None:
    """At 92 % an insert beside a delete takes 60 cycles on average, so a million a second need 60 MHz."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    table, keys = lookup(entries=4096, seed=seed()), []
    for i in range(3769):
        keys.append(rng.randbytes(SIZE))
        table.insert(keys[-1], i)
    table.settle()
    before, moves = table.cycles, table.moves
    for _ in range(3000):
        place = rng.randrange(len(keys))
        assert table.delete(keys[place])[0] == DELETED
        keys[place] = rng.randbytes(SIZE)
        assert table.insert(keys[place], 0)[0] == ADDED
    cycles = (table.cycles - before) / 3000
    print(f"{(table.moves - moves) / 3000:.2f} moves and {cycles:.1f} cycles for an insert and a delete")
    assert cycles < 250
