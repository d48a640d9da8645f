"""pst_find_queue: every frame comes out as it went in, with the queue that the models of parser and profiles and a dictionary say."""

import random
import sys
from collections import Counter, deque
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
PROFILE, CLASS, MISS, SEED, MPLS, SEPARATOR, INTERVAL, BANK = range(8)
PREFIX_BITS = 65


class Bench:
    """Beats with pauses at both ends, and an operation at a time; every frame that comes out is compared."""

    def __init__(self, dut, rng: random.Random, source: float, sink: float) -> None:
        from penstock.engine import engine

        self.dut, self.rng, self.source, self.sink = dut, rng, source, sink
        self.parser, self.models, self.lookup = engine.models("parse"), engine.models("profile"), engine.models("lookup")
        self.width = testkit.parameter("DataBytes", 64)
        self.profiles, self.entries = testkit.parameter("Profiles", 8), testkit.parameter("Entries", 256)
        self.headers, self.window = testkit.parameter("ExtensionHeaders", 2), testkit.parameter("WindowBytes", 128)
        self.levels, self.bank, self.prefixes = testkit.parameter("PrefixLevels", 0), 0, {}
        # Cycles to a vector; from there to the rise of m_done_valid_o of the last operation that it sees, and to the frame.
        split = testkit.parameter("SplitStages", 0)
        self.to_vector, self.sees = (12, 10) if split else (6, 6)
        self.to_frame = 4 + max(7, 2 * self.levels) if not split else 7 + max(9, 2 * self.levels)
        self.cycle_now = 0
        self.beats: deque[dict[str, int]] = deque()  # to be sent
        self.frames: deque[dict[str, Any]] = deque()  # begun, and not come out whole
        self.sending: dict[str, Any] | None = None
        self.history: dict[int, list[tuple[int, int | None]]] = {}  # by key: value from this cycle on
        self.pool: list[int] = []
        self.operation: tuple[int, int, int] | None = None
        self.seen: Counter[str] = Counter()
        self.counts: Counter[tuple[int, int]] = Counter()
        self.out = bytearray()
        self.offered: dict[str, int] | None = None

    def put(self, **values: int) -> None:
        for name, value in values.items():
            getattr(self.dut, f"{name}_i").value = value

    async def set(self, what: int, index: int, value: int = 0, word: int = 0) -> None:
        await FallingEdge(self.dut.clk_i)
        self.put(set_valid=1, set_what=what, set_index=index, set_value=value, set_word=word)
        await FallingEdge(self.dut.clk_i)
        self.put(set_valid=0)

    async def start(self) -> None:
        rng, dut = self.rng, self.dut
        await FallingEdge(dut.clk_i)
        self.put(
            **dict.fromkeys(
                ("set_valid", "set_what", "set_index", "set_value", "set_word", "s_op_valid", "s_op", "s_op_key", "s_op_value"), 0
            ),
            **dict.fromkeys(("s_axis_tvalid", "s_axis_tdata", "s_axis_tkeep", "s_axis_tlast", "s_axis_tuser", "m_axis_tready"), 0),
            count_index=0,
        )
        await testkit.reset(dut)
        self.mpls = rng.randrange(4)
        self.drawn = test_profile_model.drawn(rng, self.profiles)
        await self.set(MPLS, 0, self.mpls)
        if self.levels:  # by prefix, often enough to count
            kinds = [14, 15, *(kind for _, kind, *_ in self.drawn[2:])]
            self.drawn = [(ports, kind, *others) for (ports, _, *others), kind in zip(self.drawn, kinds, strict=True)]
        for i, (_, kind, space, class_of, classes) in enumerate(self.drawn):
            ports = rng.getrandbits(16) | (rng.random() < 0.9)
            self.drawn[i] = (ports, kind, space, class_of, classes)
            await self.set(PROFILE, i, ports << 11 | kind << 7 | space << 3 | class_of)
            for value, number in enumerate(classes):
                await self.set(CLASS, i << 6 | value, number)
        self.misses = [(1, 0)] * (self.profiles + 1)  # as they are after reset
        for i in range(self.profiles + 1):
            if rng.random() < 0.7:
                self.misses[i] = (rng.getrandbits(1), rng.getrandbits(28))
                await self.set(MISS, i, self.misses[i][0] << 28 | self.misses[i][1])
        for chunk, index, word in self.lookup.seed_words(self.entries, 80, 6, rng.getrandbits(64)):
            await self.set(SEED, chunk << 6 | index, 0, int.from_bytes(word, "big"))
        while not int(dut.init_done_o.value):
            await FallingEdge(dut.clk_i)
        for _ in range(2 if self.levels else 0):
            await self.write_prefixes()

    async def write_prefixes(self) -> None:
        """Write other prefixes into the bank that is not in use, and use it; between two writes other bits of the settings are noise."""
        rng, found = self.rng, {}
        for _ in range(2 ** (2 * self.levels - 1) - 1):
            bits = rng.choice((1, 2, 3, 4, 9, 17))
            address = rng.getrandbits(1) << 64 | rng.choice((0x0A << 56, 0x2001 << 48, rng.getrandbits(64)))
            found[address >> (PREFIX_BITS - bits) << (PREFIX_BITS - bits), bits] = rng.getrandbits(32)
        given = [(key.to_bytes(9, "big"), bits, value) for (key, bits), value in found.items()]
        tree = self.lookup.PrefixTree(given, PREFIX_BITS, self.levels)
        for level, node, separators in tree.writes(PREFIX_BITS):
            for number, word in enumerate(separators):
                await self.set(
                    SEPARATOR, level << 24 | node << 2 | number, rng.getrandbits(32),
                    int.from_bytes(word, "big") | rng.getrandbits(96 - PREFIX_BITS) << PREFIX_BITS,
                )  # fmt: skip
                self.put(set_what=rng.choice((SEPARATOR, INTERVAL, BANK)), set_index=rng.getrandbits(32), set_value=rng.getrandbits(32))
        for interval, value in enumerate(tree.values()):
            await self.set(INTERVAL, interval, value or 0, int(value is not None) | rng.getrandbits(95) << 1)
        self.bank ^= 1
        await self.set(BANK, 0, self.bank | rng.getrandbits(31) << 1)
        for _ in range(2 * self.levels + 2):  # no write before the lookups of the other bank are out
            await FallingEdge(self.dut.clk_i)
        self.prefixes = found

    def draw(self, most: int | None = None) -> None:
        """Line up a frame, of so many bytes at most."""
        rng, width = self.rng, self.width
        data, mode = parse_frames.odd(rng)
        while mode != self.mpls and rng.random() < 0.7:
            data, mode = parse_frames.odd(rng)
        data = data[:most] or b"\0"
        error, last, hole = rng.random() < 0.1, (len(data) - 1) // width, -1
        if rng.random() < 0.08:
            hole = rng.randint(0, last)
            if hole == last:
                data += rng.randbytes(-len(data) % width)
        beats = []
        for at in range(0, len(data), width):
            part = data[at : at + width]
            keep = (1 << len(part)) - 1
            if at // width == hole:
                keep &= ~(1 << rng.randrange(width - 1))
            word = int.from_bytes(part + rng.randbytes(width - len(part)), "little")
            is_last = at // width == last
            beats.append({"tdata": word, "tkeep": keep, "tlast": is_last, "tuser": error if is_last else rng.getrandbits(1)})
        frame = {"data": data, "error": error or hole >= 0, "beats": len(beats), "window": min(len(beats), self.window // width)}
        self.beats += [beat | {"frame": 0} for beat in beats]
        self.lined.append(frame)
        found = self.models.choose(data, 0, self.drawn, self.mpls)
        if found[0] is not None and not found[1]:
            self.pool.append(found[2])

    lined: deque[dict[str, Any]]

    def taken(self, beat: dict[str, int]) -> None:
        """A beat was taken in this cycle."""
        if self.sending is None:
            self.sending = self.lined.popleft() | {"taken": 0}
            self.frames.append(self.sending)
        frame = self.sending
        frame["taken"] += 1
        if frame["taken"] == frame["window"]:
            frame["vector"] = self.cycle_now + self.to_vector
            sizes = {"window_bytes": self.window, "extension_headers": self.headers, "tunnels": False}
            ending = self.parser.parse(frame["data"], mpls=self.mpls, **sizes)["ending"]
            self.counts[2, ending] += 1
        if beat["tlast"]:
            self.sending = None

    def expected(self, frame: dict[str, Any]) -> tuple[int, int]:
        """Return whether it has no queue, and its queue."""
        profile, routed, key, prefix, number = self.models.choose(frame["data"], 0, self.drawn, self.mpls)
        value = None
        if routed:
            value = max(
                ((bits, value) for (key, bits), value in self.prefixes.items() if (key ^ prefix) >> (PREFIX_BITS - bits) == 0),
                default=(0, None),
            )[1]
            self.seen["by prefix"] += value is not None
        elif profile is not None:
            past = [value for cycle, value in self.history.get(key, []) if cycle <= frame["vector"] + self.sees]
            value = past[-1] if past else None
        self.seen["found" if value is not None else "no profile" if profile is None else "no key"] += 1
        self.counts[(3, 0) if profile is None else (int(value is None), profile)] += 1
        if value is not None:
            return 0, self.models.queue(value, number)
        drop, queue = self.misses[self.profiles if profile is None else profile]
        return drop, 0 if drop else queue

    def operate(self) -> None:
        """See what became of an operation, and offer another."""
        dut, rng = self.dut, self.rng
        if int(dut.m_done_valid_o.value):
            assert self.operation
            op, key, value = self.operation
            past = self.history.get(key, [])
            there = bool(past) and past[-1][1] is not None
            done, had = divmod(int(dut.m_done_o.value), 1 << 32)
            assert done == ((REPLACED if there else ADDED) if op == INSERT else (DELETED, FOUND)[op == READ] if there else ABSENT)
            assert had == ((past[-1][1] or 0) if past else 0)
            self.seen["read"] += done == FOUND
            if op != READ:
                self.history[key] = [*past, (self.cycle_now, value if op == INSERT else None)]
            self.operation = None
        self.offer = None
        if self.operation is None and self.pool and rng.random() < 0.8:
            present = sum(past[-1][1] is not None for past in self.history.values())
            op = INSERT if rng.random() < (0.8 if present < self.entries * 0.7 else 0.2) else rng.choice((DELETE, READ))
            self.offer = (op, rng.choice(self.pool[-60:]), rng.getrandbits(32))
            self.put(s_op=self.offer[0], s_op_key=self.offer[1], s_op_value=self.offer[2])
        self.put(s_op_valid=self.offer is not None)

    async def cycle(self) -> None:
        dut, rng = self.dut, self.rng
        await FallingEdge(dut.clk_i)
        self.cycle_now += 1
        self.operate()
        if self.offered is None and self.beats and rng.random() < self.source:
            self.offered = self.beats.popleft()
            self.put(**{f"s_axis_{name}": int(value) for name, value in self.offered.items() if name != "frame"})
        ready = rng.random() < self.sink
        self.put(s_axis_tvalid=self.offered is not None, m_axis_tready=ready)
        await ReadOnly()
        if self.offer and int(dut.s_op_ready_o.value):
            self.operation = self.offer
        if self.offered and int(dut.s_axis_tready_o.value):
            self.taken(self.offered)
            self.offered = None
        if ready and int(dut.m_axis_tvalid_o.value):
            self.came()

    def came(self) -> None:
        """Compare a beat that came out."""
        dut, frame = self.dut, self.frames[0]
        if not self.out:
            answer = (int(dut.m_axis_tdrop_o.value), int(dut.m_axis_tdest_o.value))
            assert answer == self.expected(frame), frame
            self.latencies.append(self.cycle_now - frame["vector"])
        keep = int(dut.m_axis_tkeep_o.value)
        size = keep.bit_length()
        assert keep == (1 << size) - 1
        self.out += (int(dut.m_axis_tdata_o.value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        if int(dut.m_axis_tlast_o.value):
            assert self.out == frame["data"] and int(dut.m_axis_tuser_o.value) == frame["error"]
            self.frames.popleft()
            self.out = bytearray()

    latencies: list[int]

    async def compare_counts(self) -> None:
        for kind in range(4):
            for index in range(16):
                await FallingEdge(self.dut.clk_i)
                self.put(count_index=kind << 4 | index)
                await FallingEdge(self.dut.clk_i)
                await ReadOnly()
                assert int(self.dut.count_o.value) == self.counts[kind, index], (kind, index)


@cocotb.test()
async def every_queue(dut) -> None:
    rng = random.Random(testkit.seed())
    dut._log.info("PENSTOCK_SEED=%d", testkit.seed())
    Clock(dut.clk_i, 10, unit="ns").start()
    seen: Counter[str] = Counter()
    for source, sink in ((1.0, 1.0), (0.6, 1.0), (1.0, 0.5), (0.9, 0.9)):
        bench = Bench(dut, rng, source, sink)
        bench.lined, bench.latencies = deque(), []
        await bench.start()
        for _ in range(250):
            bench.draw()
        for _ in range(20_000):
            if not bench.beats and not bench.frames and bench.offered is None:
                break
            await bench.cycle()
        else:
            raise AssertionError("frames are stuck")
        await bench.compare_counts()
        if sink == 1:
            assert min(bench.latencies) == bench.to_frame, "cycles from the vector to the frame"
        seen += bench.seen
    names = ["found", "no key", "no profile", "by prefix" if testkit.parameter("PrefixLevels", 0) else "read"]
    assert min(seen[name] for name in names) > 20, seen


@cocotb.test()
async def full_rate(dut) -> None:
    """Frames of a beat each, and frames that outlast the window, never wait while the output is taken."""
    rng = random.Random(testkit.seed())
    Clock(dut.clk_i, 10, unit="ns").start()
    bench = Bench(dut, rng, 1.0, 1.0)
    bench.lined, bench.latencies = deque(), []
    await bench.start()
    for beats in [1] * 300 + [60] * 5:
        bench.draw(beats * bench.width)
    began = bench.cycle_now
    while bench.beats or bench.frames or bench.offered:
        await bench.cycle()
    assert bench.cycle_now - began <= 300 + 5 * 60 + 40 + bench.headers, "the input waited"


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({"Entries": 256, "DataBytes": 64}, marks=pytest.mark.slow),
        pytest.param({"Entries": 64, "DataBytes": 16, "Profiles": 3, "ExtensionHeaders": 4}, marks=pytest.mark.slow),
        {"Entries": 64, "DataBytes": 32, "PrefixLevels": 4},
        pytest.param({"Entries": 64, "DataBytes": 64, "PrefixLevels": 2, "Profiles": 4}, marks=pytest.mark.slow),
        {"Entries": 256, "DataBytes": 8, "SplitStages": 1, "WindowBytes": 104, "ExtensionHeaders": 0, "WaitBeats": 48},
        pytest.param({"Entries": 64, "DataBytes": 64, "PrefixLevels": 5, "SplitStages": 1}, marks=pytest.mark.slow),
    ],
    ids=["64-byte-beats", "16-byte-beats", "prefixes", "few-prefixes", "split-8-byte-beats", "split-prefixes"],
)
def test_pst_find_queue(parameters: dict[str, int]) -> None:
    from penstock.engine import engine

    engine.build()
    testkit.run_module("profile", "pst_find_queue", parameters)


@pytest.mark.parametrize("parameters", [{"Profiles": 16}, {"WindowBytes": 96, "DataBytes": 8}], ids=["profiles", "window"])
def test_sizes_out_of_range_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(RuntimeError, match="return code"):
        testkit.run_module("profile", "pst_find_queue", parameters)
