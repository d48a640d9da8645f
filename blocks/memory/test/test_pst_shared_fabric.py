"""pst_shared_fabric: random masters in front of memories of different latency: order, contents, turns; no wait in a circle."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import ALL_BYTES, LINE, AxiMemories, Geometry, merged

from penstock.testing import testkit

Beat = tuple[int, int, int]


class Master:
    """One pair's five channels: what it still has to say, what it waits for, what it has heard."""

    def __init__(self) -> None:
        self.aw: deque[tuple[int, int]] = deque()
        self.w: deque[Beat] = deque()  # data, strobes, last
        self.ar: deque[tuple[int, int]] = deque()
        self.b: deque[int] = deque()  # responses owed
        self.r: deque[Beat] = deque()  # data, response and last owed
        self.offered = dict.fromkeys(("aw", "w", "ar"), False)
        self.send = self.take = self.take_data = 1.0
        self.bursts = 0  # answered, of both directions

    def done(self) -> bool:
        return not (self.aw or self.w or self.ar or self.b or self.r)


class Bench:
    """Masters, memories, and what must be in these."""

    def __init__(self, dut) -> None:
        self.dut, self.rng = dut, random.Random(testkit.seed())
        dut._log.info("seed %d", testkit.seed())
        self.sizes = Geometry.under_test().mem_bytes
        self.pairs = testkit.parameter("Pairs", 2)
        self.address_width = testkit.parameter("AddrWidth", 32)
        self.memories = AxiMemories(dut, self.sizes, self.rng)
        self.memories.whole_lines = False
        self.expected: list[dict[int, int]] = [{} for _ in self.sizes]
        for m, size in enumerate(self.sizes):
            self.memories.lines[m] = {line: self.rng.getrandbits(512) for line in range(size // LINE // 2, size // LINE)}
            self.memories.refused |= {(m, line) for line in range(size // LINE) if self.rng.random() < 0.02}
        self.masters = [Master() for _ in range(self.pairs)]
        self.answered: list[list[int]] = [[] for _ in self.sizes]  # which pair's bursts each memory was given, writes then reads

    async def begin(self) -> None:
        for name in ("awvalid", "awaddr", "awlen", "wvalid", "wdata", "wstrb", "wlast", "bready", "arvalid", "araddr", "arlen", "rready"):
            getattr(self.dut, f"s_axi_{name}_i").value = 0
        self.memories.idle()
        await testkit.start(self.dut)
        cocotb.start_soon(self.memories.run())

    def burst(self, pair: int, m: int, upper: bool, longest: int) -> tuple[int, int]:
        """Return (line, beats) in the part of memory `m` that only `pair` writes (lower half) or that is only read (upper half)."""
        half = self.sizes[m] // LINE // 2
        part = half if upper else half // self.pairs
        first = half if upper else part * pair
        line = first + self.rng.randrange(part)
        return line, self.rng.randint(1, min(longest, 64 - line % 64, first + part - line))

    def write(self, pair: int, m: int, longest: int) -> None:
        master = self.masters[pair]
        line, beats = self.burst(pair, m, False, longest)
        master.aw.append((sum(self.sizes[:m]) + line * LINE, beats - 1))
        words = [(self.rng.getrandbits(512), self.rng.choice([ALL_BYTES, self.rng.getrandbits(LINE)])) for _ in range(beats)]
        master.w.extend((word, strobes, int(k == beats - 1)) for k, (word, strobes) in enumerate(words))
        refused = any((m, line + k) in self.memories.refused for k in range(beats))
        master.b.append(self.memories.error if refused else 0)
        if not refused:
            for k, (word, strobes) in enumerate(words):
                self.expected[m][line + k] = merged(self.expected[m].get(line + k, 0), word, strobes)

    def read(self, pair: int, m: int, longest: int) -> None:
        master = self.masters[pair]
        line, beats = self.burst(pair, m, True, longest)
        master.ar.append((sum(self.sizes[:m]) + line * LINE, beats - 1))
        for k in range(beats):
            resp = self.memories.error if (m, line + k) in self.memories.refused else 0
            master.r.append((self.memories.lines[m][line + k], resp, int(k == beats - 1)))

    def _drive(self) -> None:
        dut, rng = self.dut, self.rng
        words = dict.fromkeys(("awaddr", "awlen", "wdata", "wstrb", "wlast", "araddr", "arlen"), 0)
        for p, master in enumerate(self.masters):
            for channel, waiting in (("aw", master.aw), ("w", master.w), ("ar", master.ar)):
                master.offered[channel] = master.offered[channel] or bool(waiting and rng.random() < master.send)
            for channel, waiting in (("aw", master.aw), ("ar", master.ar)):
                if master.offered[channel]:
                    words[f"{channel}addr"] |= waiting[0][0] << self.address_width * p
                    words[f"{channel}len"] |= waiting[0][1] << 8 * p
            if master.offered["w"]:
                data, strobes, last = master.w[0]
                words["wdata"] |= data << 512 * p
                words["wstrb"] |= strobes << 64 * p
                words["wlast"] |= last << p
        for name, value in words.items():
            getattr(dut, f"s_axi_{name}_i").value = value
        for channel in ("aw", "w", "ar"):
            valid = sum(int(master.offered[channel]) << p for p, master in enumerate(self.masters))
            getattr(dut, f"s_axi_{channel}valid_i").value = valid
        self.ready_b = sum(int(rng.random() < master.take) << p for p, master in enumerate(self.masters))
        self.ready_r = sum(int(rng.random() < master.take_data) << p for p, master in enumerate(self.masters))
        dut.s_axi_bready_i.value, dut.s_axi_rready_i.value = self.ready_b, self.ready_r

    def _sample(self) -> None:
        def of(name: str) -> int:
            return int(getattr(self.dut, f"s_axi_{name}_o").value)

        ready = {channel: of(f"{channel}ready") for channel in ("aw", "w", "ar")}
        responses, data = of("bvalid") & self.ready_b, of("rvalid") & self.ready_r
        for p, master in enumerate(self.masters):
            for channel, waiting in (("aw", master.aw), ("w", master.w), ("ar", master.ar)):
                if master.offered[channel] and ready[channel] >> p & 1:
                    waiting.popleft()
                    master.offered[channel] = False
            if responses >> p & 1:
                assert of("bresp") >> 2 * p & 3 == master.b.popleft(), f"pair {p} has another response"
                master.bursts += 1
            if data >> p & 1:
                found = (of("rdata") >> 512 * p & (1 << 512) - 1, of("rresp") >> 2 * p & 3, of("rlast") >> p & 1)
                assert found == master.r.popleft(), f"pair {p} has other data"
                master.bursts += found[2]

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await FallingEdge(self.dut.clk_i)
            self._drive()
            await ReadOnly()
            self._sample()

    async def run(self, limit: int, *pairs: int) -> int:
        """Run until `pairs` (all by default) have heard everything; return the cycles."""
        wanted = pairs or range(self.pairs)
        for cycle in range(limit):
            if all(self.masters[p].done() for p in wanted):
                return cycle
            await self.cycles(1)
        owed = [(len(master.b), len(master.r)) for master in self.masters]
        raise AssertionError(f"after {limit} cycles responses and data are owed: {owed}")

    def check(self) -> None:
        for m, lines in enumerate(self.expected):
            assert all(self.memories.lines[m][line] == word for line, word in lines.items()), f"wrong contents of memory {m}"


@cocotb.test()
async def mixed(dut) -> None:
    """Random bursts of all pairs to all memories, each with its own latency, with gaps everywhere."""
    bench = Bench(dut)
    await bench.begin()
    rng = bench.rng
    for step in range(4):
        bench.memories.latency = [rng.choice(((1, 1), (5, 60), (40, 50))) for _ in bench.sizes]
        bench.memories.probability = rng.choice((0.4, 0.9, 1.0))
        bench.memories.error = 2 + step % 2  # SLVERR, DECERR
        for pair, master in enumerate(bench.masters):
            master.send, master.take, master.take_data = (rng.choice((0.3, 0.8, 1.0)) for _ in range(3))
            for _ in range(40):
                bench.write(pair, rng.randrange(len(bench.sizes)), rng.choice((1, 8, 64)))
                bench.read(pair, rng.randrange(len(bench.sizes)), rng.choice((1, 8, 64)))
        await bench.run(20000)
        bench.check()


@cocotb.test()
async def long_bursts_never_wait_in_a_circle(dut) -> None:
    """Bursts of 64 beats, twice what a FIFO for write data holds, in an order that sends the pairs to the memories crosswise."""
    bench = Bench(dut)
    await bench.begin()
    count = len(bench.sizes)
    for k in range(12):
        for pair in range(bench.pairs):
            bench.write(pair, (k + pair) % count, 64)
            bench.read(pair, (k + pair) % count, 64)
            bench.write(pair, (k - pair) % count, 64)
            bench.read(pair, (k - pair) % count, 64)
    for master in bench.masters:
        master.take_data = 0.6
    await bench.run(20000)
    bench.check()


@cocotb.test()
async def a_pair_that_stands_still_holds_up_nobody(dut) -> None:
    """Pair 0 asks for reads and takes no data, and has an address without data: the others finish, and then pair 0 does."""
    bench = Bench(dut)
    await bench.begin()
    rng = bench.rng
    first = bench.masters[0]
    first.take_data = 0.0
    for _ in range(30):
        bench.read(0, rng.randrange(len(bench.sizes)), 16)
    bench.write(0, 0, 8)
    kept, first.w = first.w, deque()
    for pair in range(1, bench.pairs):
        for _ in range(40):
            bench.write(pair, rng.randrange(len(bench.sizes)), 16)
            bench.read(pair, rng.randrange(len(bench.sizes)), 16)
    await bench.run(4000, *range(1, bench.pairs))
    assert first.bursts == 0
    first.w, first.take_data = kept, 1.0
    await bench.run(4000)
    bench.check()


@cocotb.test()
async def turns(dut) -> None:
    """All pairs at one memory: it moves a beat per cycle and direction, and each pair has its turn."""
    bench = Bench(dut)
    await bench.begin()
    bench.memories.latency = (8, 8)
    for pair in range(bench.pairs):
        for _ in range(400):
            bench.write(pair, 0, 1)
            bench.read(pair, 0, 1)
    await bench.cycles(60)
    begin = [master.bursts for master in bench.masters]
    await bench.cycles(300)
    got = [master.bursts - before for master, before in zip(bench.masters, begin, strict=True)]
    dut._log.info("single beats by pair in 300 cycles: %s", got)
    assert sum(got) >= 0.97 * 600
    assert max(got) - min(got) <= 4


@cocotb.test()
async def each_its_own(dut) -> None:
    """Each pair at a memory of its own: a beat per cycle and direction for each."""
    bench = Bench(dut)
    await bench.begin()
    bench.memories.latency = (8, 8)
    if len(bench.sizes) < bench.pairs:
        return
    for pair in range(bench.pairs):
        for _ in range(300):
            bench.write(pair, pair, 1)
            bench.read(pair, pair, 1)
    cycles = await bench.run(1000)
    dut._log.info("300 bursts of each pair in %d cycles", cycles)
    assert cycles <= 300 / 0.95 + 40


GEOMETRIES = {
    "one": Geometry((0,), (0,), (65536,)),
    "three": Geometry((0, 0, 0), (0, 0, 0), (32768, 1 << 20, 16384)),
}


@pytest.mark.parametrize("name, pairs, outstanding", [pytest.param("one", 2, 32, marks=pytest.mark.slow), ("three", 3, 20)])
def test_pst_shared_fabric(name: str, pairs: int, outstanding: int) -> None:
    parameters = {
        **GEOMETRIES[name].parameters("Memories", "MemBytes"), "Pairs": pairs, "AddrWidth": 22, "MaxOutstanding": outstanding,
        "WriteFifoBeats": 32,
    }  # fmt: skip
    testkit.run_module("memory", "pst_shared_fabric", parameters)
