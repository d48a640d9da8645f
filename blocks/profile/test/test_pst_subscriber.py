"""pst_subscriber: the queue of every frame while subscribers come and go, judged by the model of profiles and a dictionary."""

import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "parse" / "test")]
import parse_frames  # noqa: E402
import test_profile_model  # noqa: E402

INSERT, DELETE, READ = range(3)
ADDED, REPLACED, DELETED, ABSENT, FULL, FOUND = range(6)


class Bench:
    """A vector a cycle, and an operation at a time; every answer is compared."""

    def __init__(self, dut, rng: random.Random) -> None:
        from penstock.engine import engine

        self.dut, self.rng = dut, rng
        self.parser, self.models, self.lookup = engine.models("parse"), engine.models("profile"), engine.models("lookup")
        self.profiles = testkit.parameter("Profiles", 8)
        self.entries, self.levels = testkit.parameter("Entries", 256), testkit.parameter("PrefixLevels", 3)
        # With stages that are split: cycles to the queue, and to the rise of m_done_valid_o of the last operation that a vector sees.
        split = testkit.parameter("SplitStages", 0)
        self.latency, self.sees = (6 + max(9, 2 * self.levels), 10) if split else (3 + max(7, 2 * self.levels), 6)
        self.drawn: list[tuple[int, int, int, int, bytes]] = []
        self.misses: list[tuple[int, int]] = []
        self.prefixes: list[tuple[int, int, int]] = []
        self.subscribers: dict[int, int] = {}
        self.pool: list[int] = []  # keys that frames have had
        self.frames: list[dict[str, Any]] = []
        self.expected: list[dict[str, Any] | None] = []
        self.operation: tuple[int, int, int] | None = None
        self.changed: tuple[int, tuple[int, int, int, int, bytes]] | None = None  # a profile, from the next cycle on
        self.seen: Counter[str] = Counter()
        self.inputs = (
            "profile_we", "class_we", "miss_we", "seed_valid", "s_op_valid", "s_write_valid", "s_headers_valid", "bank", "prefixes",
            "profile_index", "profile", "class_profile", "class_value", "class", "miss_index", "miss", "seed_chunk", "seed_index",
            "seed_word", "s_op", "s_op_key", "s_op_value", "s_write_level", "s_write_node", "s_write_word", "s_headers", "s_port",
        )  # fmt: skip

    def put(self, **values: int) -> None:
        for name, value in values.items():
            getattr(self.dut, f"{name}_i").value = value

    async def write(self, enable: str, **values: int) -> None:
        await FallingEdge(self.dut.clk_i)
        self.put(**{enable: 1}, **values)
        await FallingEdge(self.dut.clk_i)
        self.put(**{enable: 0})

    async def start(self) -> None:
        """Reset, and draw profiles, misses, random words and prefixes."""
        rng, dut = self.rng, self.dut
        await FallingEdge(dut.clk_i)
        self.put(**dict.fromkeys(self.inputs, 0))
        await testkit.reset(dut)
        self.expected, self.subscribers, self.pool = [None] * self.latency, {}, []
        self.drawn = test_profile_model.drawn(rng, self.profiles)
        self.drawn[0] = (rng.getrandbits(16), rng.choice((14, 15)), *self.drawn[0][2:])  # by prefix, often enough to count
        for i, (ports, kind, space, class_of, classes) in enumerate(self.drawn):
            await self.write("profile_we", profile_index=i, profile=ports << 11 | kind << 7 | space << 3 | class_of)
            for value, number in enumerate(classes):
                await self.write("class_we", class_profile=i, class_value=value, **{"class": number})
        self.misses = [(rng.getrandbits(1), rng.getrandbits(28)) for _ in range(self.profiles + 1)]
        for i, (drop, queue) in enumerate(self.misses):
            await self.write("miss_we", miss_index=i, miss=drop << 28 | queue)
        for chunk, index, word in self.lookup.seed_words(self.entries, 80, 6, rng.getrandbits(64)):
            await self.write("seed_valid", seed_chunk=chunk, seed_index=index, seed_word=int.from_bytes(word, "big"))
        self.prefixes, self.frames = [], [self.draw() for _ in range(60)]
        if self.levels:
            await self.write_prefixes()
        while not int(dut.init_done_o.value):
            await FallingEdge(dut.clk_i)

    async def write_prefixes(self) -> None:
        found = {}
        routed = [frame["prefix"] for frame in self.frames if frame["routed"]]
        most = 2 ** (2 * self.levels - 1) - 1
        for _ in range(self.rng.randint(most // 2, most)):
            length = self.rng.choice((self.levels + 1, self.levels + 3, 9, 33, 65))  # some addresses have none
            address = self.rng.choice(routed) if routed and self.rng.random() < 0.5 else self.rng.getrandbits(65)
            bits = address >> (65 - length) << (65 - length)
            found[bits, length] = self.rng.getrandbits(32)
        self.prefixes = [(bits, length, value) for (bits, length), value in found.items()]
        tree = self.lookup.PrefixTree([(bits.to_bytes(9, "big"), length, value) for bits, length, value in self.prefixes], 65, self.levels)
        for level, node, separators in tree.writes(65):
            word = sum(int.from_bytes(separator, "big") << (65 * i) for i, separator in enumerate(separators))
            await self.write("s_write_valid", s_write_level=level, s_write_node=node, s_write_word=word)
        for node, value in enumerate(tree.values()):
            await self.write(
                "s_write_valid", s_write_level=self.levels, s_write_node=node, s_write_word=0 if value is None else 1 << 32 | value
            )
        self.put(bank=1, prefixes=1)

    def longest(self, key: int) -> int | None:
        found = [(length, value) for bits, length, value in self.prefixes if (key ^ bits) >> (65 - length) == 0]
        return max(found)[1] if found else None

    def draw(self) -> dict[str, Any]:
        """Return a frame's vector and what its profile makes of it."""
        frame, mode = parse_frames.odd(self.rng)
        port = self.rng.randrange(16)
        headers, vector = self.parser.parse(frame, mpls=mode), 0
        for name, bits in self.parser.fields():
            vector = vector << bits | headers[name]
        profile, routed, key, prefix, number = self.models.choose(frame, port, self.drawn, mode)
        if profile is not None and not routed:
            self.pool.append(key)
        chosen = {"profile": profile, "routed": routed, "key": key, "prefix": prefix, "class": number}
        return {"vector": vector, "port": port, "bytes": frame, "mode": mode, **chosen}

    def choose(self, frame: dict[str, Any]) -> None:
        """Say which profile fits now."""
        names = ("profile", "routed", "key", "prefix", "class")
        frame.update(zip(names, self.models.choose(frame["bytes"], frame["port"], self.drawn, frame["mode"]), strict=True))
        if frame["profile"] is not None and not frame["routed"]:
            self.pool.append(frame["key"])

    def change(self, chosen: int | None) -> None:
        """Change the ports and the space of a profile in the next cycle: frames that came before, and that of the cycle, do not see it."""
        i = self.rng.randrange(self.profiles) if chosen is None else chosen
        _, kind, space, class_of, classes = self.drawn[i]
        ports, space = self.rng.getrandbits(16) | self.rng.getrandbits(16), space ^ 8
        self.put(profile_we=1, profile_index=i, profile=ports << 11 | kind << 7 | space << 3 | class_of)
        self.changed = (i, (ports, kind, space, class_of, classes))

    def look_up(self, frame: dict[str, Any]) -> None:
        """Say what the frame must get, by what is there now."""
        profile = frame["profile"]
        if profile is None:
            value, found = None, 2
        else:
            value = self.longest(frame["prefix"]) if frame["routed"] else self.subscribers.get(frame["key"])
            found = 1 if value is None else 0
        drop, queue = (
            (0, self.models.queue(value, frame["class"])) if value is not None else self.misses[self.profiles if found == 2 else profile]
        )
        frame["answer"] = (found, profile or 0, drop, 0 if drop else queue)
        self.seen[f"{('found', 'no key', 'no profile')[found]}{' by prefix' if frame['routed'] else ''}"] += 1

    def operate(self) -> None:
        """Compare what is done, and offer another operation."""
        dut = self.dut
        if int(dut.m_done_valid_o.value):
            assert self.operation
            op, key, value = self.operation
            done, had = divmod(int(dut.m_done_o.value), 1 << 32)
            there = key in self.subscribers
            assert had == self.subscribers.get(key, 0)
            if op == INSERT:
                assert done == (REPLACED if there else ADDED)
                self.subscribers[key] = value
            elif op == READ:
                assert done == (FOUND if there else ABSENT)
            else:
                assert done == (DELETED if there else ABSENT)
                self.subscribers.pop(key, None)
            self.operation = None
            assert int(dut.keys_o.value) == len(self.subscribers)

    async def cycle(self, frame: dict[str, Any] | None) -> None:
        rng, dut = self.rng, self.dut
        await FallingEdge(dut.clk_i)
        self.operate()
        offered = None
        if self.operation is None and self.pool and rng.random() < 0.8:
            op = INSERT if rng.random() < (0.9 if len(self.subscribers) < self.entries * 0.8 else 0.3) else rng.choice((DELETE, READ))
            offered = (op, rng.choice(self.pool[-300:]), rng.getrandbits(32))
            self.put(s_op=op, s_op_key=offered[1], s_op_value=offered[2])
        if frame:
            self.choose(frame)
        self.put(s_op_valid=offered is not None, s_headers_valid=frame is not None, profile_we=0)
        if rng.random() < 0.1:
            self.change(frame["profile"] if frame else None)
        self.put(s_headers=frame["vector"] if frame else rng.getrandbits(40), s_port=frame["port"] if frame else rng.randrange(16))
        await ReadOnly()
        looked_up = self.expected[-self.sees] if len(self.expected) >= self.sees else None
        if looked_up:
            self.look_up(looked_up)
        due = self.expected.pop(0)
        self.expected.append(frame)
        assert int(dut.m_queue_valid_o.value) == (due is not None)
        if due:
            signals = (dut.m_queue_found_o, dut.m_queue_profile_o, dut.m_queue_drop_o, dut.m_queue_o)
            assert tuple(int(signal.value) for signal in signals) == due["answer"], due
        if offered and int(dut.s_op_ready_o.value):
            self.operation = offered
        if self.changed:
            self.drawn[self.changed[0]], self.changed = self.changed[1], None


@cocotb.test()
async def every_queue(dut) -> None:
    rng = random.Random(testkit.seed())
    dut._log.info("PENSTOCK_SEED=%d", testkit.seed())
    Clock(dut.clk_i, 10, unit="ns").start()
    seen: Counter[str] = Counter()
    for _ in range(9):
        bench = Bench(dut, rng)
        await bench.start()
        for i in range(700):
            frame = rng.choice(bench.frames) if rng.random() < 0.6 else bench.draw()
            bench.frames.append(frame)
            await bench.cycle(dict(frame) if i % 7 or rng.random() < 0.5 else None)
        for _ in range(bench.latency + 2):
            await bench.cycle(None)
        seen += bench.seen
    wanted = ["found", "no key", "no profile"] + (["found by prefix", "no key by prefix"] if bench.levels else [])
    assert min(seen[name] for name in wanted) > 20, seen


@pytest.mark.parametrize(
    "parameters",
    [
        {"Entries": 256, "PrefixLevels": 5},
        pytest.param({"Entries": 64, "PrefixLevels": 0, "Profiles": 4}, marks=pytest.mark.slow),
        pytest.param({"Entries": 1024, "PrefixLevels": 2, "Profiles": 15}, marks=pytest.mark.slow),
        {"Entries": 64, "PrefixLevels": 5, "SplitStages": 1},
        pytest.param({"Entries": 256, "PrefixLevels": 0, "Profiles": 4, "SplitStages": 1}, marks=pytest.mark.slow),
    ],
    ids=["usual", "no-prefixes", "keys-are-last", "split-prefixes-are-last", "split-no-prefixes"],
)
def test_pst_subscriber(parameters: dict[str, int]) -> None:
    from penstock.engine import engine

    engine.build()
    testkit.run_module("profile", "pst_subscriber", parameters)


def test_no_profile_is_refused() -> None:
    with pytest.raises(RuntimeError, match="return code"):
        testkit.run_module("profile", "pst_profile", {"Profiles": 17})
