"""pst_lookup_prefix: the longest prefix of every key, by a search through all of them, while sets of prefixes change in mid-traffic."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

Prefix = tuple[int, int, int]  # bits, length, value


def longest(prefixes: list[Prefix], key: int, key_bits: int) -> int | None:
    """By definition: the longest of all prefixes that the key begins with."""
    found = [(length, value) for bits, length, value in prefixes if (key ^ bits) >> (key_bits - length) == 0]
    return max(found)[1] if found else None


def drawn(rng: random.Random, count: int, key_bits: int) -> list[Prefix]:
    """Return prefixes, many of them within others and beside others, no two alike."""
    found: dict[tuple[int, int], int] = {}
    while len(found) < count:
        length = rng.choice((0, 1, key_bits, key_bits, rng.randrange(key_bits + 1), rng.randrange(key_bits + 1)))
        bits = rng.getrandbits(key_bits)
        if found and rng.random() < 0.7:
            near, _ = rng.choice(list(found))
            bits = near ^ (1 << rng.randrange(key_bits) if rng.random() < 0.5 else rng.getrandbits(3))
        found.setdefault((bits >> (key_bits - length) << (key_bits - length), length), rng.getrandbits(32))
    return [(bits, length, value) for (bits, length), value in found.items()]


def asked(rng: random.Random, prefixes: list[Prefix], key_bits: int) -> int:
    """Return a key, often the first or last of a prefix, or the one beside it."""
    last = (1 << key_bits) - 1
    if prefixes and rng.random() < 0.8:
        bits, length, _ = rng.choice(prefixes)
        end = bits | last >> length
        return rng.choice((bits, end, (bits - 1) & last, (end + 1) & last, rng.randint(bits, end)))
    return rng.choice((0, last, rng.getrandbits(key_bits)))


def in_bytes(prefixes: list[Prefix], key_bits: int) -> list[tuple[bytes, int, int]]:
    return [(bits.to_bytes((key_bits + 7) // 8, "big"), length, value) for bits, length, value in prefixes]


@pytest.mark.parametrize("count, key_bits, levels", [(31, 12, 3), (8191, 65, 7), (4096, 32, 7), (0, 65, 2)])
def test_the_tree_of_the_model(count: int, key_bits: int, levels: int) -> None:
    from penstock.engine import engine

    rng = random.Random(testkit.seed())
    print(f"PENSTOCK_SEED={testkit.seed()}")
    prefixes = drawn(rng, count, key_bits)
    tree = engine.models("lookup").PrefixTree(in_bytes(prefixes, key_bits), key_bits, levels)
    for _ in range(400):
        key = asked(rng, prefixes, key_bits)
        assert tree.find(key.to_bytes((key_bits + 7) // 8, "big")) == longest(prefixes, key, key_bits), hex(key)


@pytest.mark.parametrize(
    "prefixes, words",
    [
        ([(b"\x80", 9, 1)], "longer than a key"),
        ([(b"\x81", 7, 1)], "bits behind its length"),
        ([(b"\x80", 7, 1), (b"\x80", 7, 2)], "there twice"),
        ([(bytes([2 * i + 1]), 8, i) for i in range(8)], "more prefixes than the tree has room for"),
    ],
)
def test_prefixes_that_do_not_fit_are_refused(prefixes: list[tuple[bytes, int, int]], words: str) -> None:
    from penstock.engine import engine

    with pytest.raises(ValueError, match=words):
        engine.models("lookup").PrefixTree(prefixes, 8, 2)


class Bench:
    def __init__(self, dut, rng: random.Random) -> None:
        from penstock.engine import engine

        self.dut, self.rng, self.models = dut, rng, engine.models("lookup")
        self.key_bits, self.levels = testkit.parameter("KeyWidth", 65), testkit.parameter("Levels", 7)
        self.latency = 2 * self.levels + 1
        self.prefixes: list[Prefix] = []
        self.expected: list[tuple[int, int] | None] = [None] * self.latency
        self.answered = self.hits = 0

    async def cycle(self, key: int | None, write: tuple[int, int, int] | None = None, bank: int | None = None) -> None:
        """Look a key up, write a word or change the bank, and compare the answer that is due."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.s_key_valid_i.value = key is not None
        dut.s_key_i.value = self.rng.getrandbits(self.key_bits) if key is None else key
        dut.s_write_valid_i.value = write is not None
        if write:
            dut.s_write_level_i.value, dut.s_write_node_i.value, dut.s_write_word_i.value = write
        if bank is not None:
            dut.bank_i.value = bank
        await ReadOnly()
        due = self.expected.pop(0)
        value = None if key is None else longest(self.prefixes, key, self.key_bits)
        self.expected.append(None if key is None else (int(value is not None), value or 0))
        assert int(dut.m_value_valid_o.value) == (due is not None)
        if due is not None:
            assert (int(dut.m_value_hit_o.value), int(dut.m_value_o.value)) == due
            self.answered += 1
            self.hits += due[0]

    def key(self) -> int | None:
        return asked(self.rng, self.prefixes, self.key_bits) if self.rng.random() < 0.9 else None

    async def change(self, prefixes: list[Prefix]) -> None:
        """Write a set into the other bank beside lookups, and change over."""
        tree = self.models.PrefixTree(in_bytes(prefixes, self.key_bits), self.key_bits, self.levels)
        words = [
            (level, node, sum(int.from_bytes(separator, "big") << (self.key_bits * i) for i, separator in enumerate(separators)))
            for level, node, separators in tree.writes(self.key_bits)
        ]
        words += [(self.levels, node, 0 if value is None else 1 << 32 | value) for node, value in enumerate(tree.values())]
        self.rng.shuffle(words)
        for word in words:
            await self.cycle(self.key(), word)
        await self.cycle(self.key(), bank=1 - int(self.dut.bank_i.value))  # still in the old set
        self.prefixes = prefixes
        for _ in range(max(200, self.latency + 2)):
            await self.cycle(self.key())


@cocotb.test()
async def sets_of_prefixes(dut) -> None:
    rng = random.Random(testkit.seed())
    print(f"PENSTOCK_SEED={testkit.seed()}")
    Clock(dut.clk_i, 10, unit="ns").start()
    bench = Bench(dut, rng)
    for signal in (dut.s_key_valid_i, dut.s_write_valid_i, dut.bank_i, dut.s_key_i):
        signal.value = 0
    await testkit.reset(dut)
    most = 2 ** (2 * bench.levels - 1) - 1
    bench.prefixes = []
    key = bench.key
    bench.key = lambda: None  # type: ignore[method-assign]  # nothing counts before the first set is there
    await bench.change([])
    bench.key = key  # type: ignore[method-assign]
    for count in (most, 1, most // 2, most, 0, most):
        await bench.change(drawn(rng, count, bench.key_bits))
    assert bench.answered > 1000 and bench.hits > 500


@pytest.mark.parametrize("parameters", [{"Levels": 3, "KeyWidth": 12}, {"Levels": 4}], ids=["12-bit", "65-bit"])
def test_pst_lookup_prefix(parameters: dict[str, int]) -> None:
    from penstock.engine import engine

    engine.build()
    testkit.run_module("lookup", "pst_lookup_prefix", parameters)
