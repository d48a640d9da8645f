"""pst_memory_fabric between a random master and memories of different latency: order, routing, contents, overlap, rate."""

import random
from dataclasses import dataclass, field

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from memory_bench import ALL_BYTES, LINE, AxiMemories, Geometry, merged

from penstock.testing import testkit


@dataclass
class Traffic:
    """Bursts for both directions, and what has to come of them."""

    aw: list[dict] = field(default_factory=list)
    w: list[dict] = field(default_factory=list)
    b: list[dict] = field(default_factory=list)
    ar: list[dict] = field(default_factory=list)
    r: list[dict] = field(default_factory=list)


class Bench:
    """The master's five channels; bursts are written in the lower half of each memory and read in the upper half."""

    def __init__(self, dut) -> None:
        self.dut, self.rng = dut, random.Random(testkit.seed())
        self.sizes = Geometry.under_test().mem_bytes
        self.memories = AxiMemories(dut, self.sizes, self.rng)
        self.memories.whole_lines = False
        self.expected: list[dict[int, int]] = [{} for _ in self.sizes]
        self.tasks: list = []
        for m, size in enumerate(self.sizes):
            self.memories.lines[m] = {line: self.rng.getrandbits(512) for line in range(size // LINE // 2, size // LINE)}
            self.memories.refused |= {(m, line) for line in range(size // LINE) if self.rng.random() < 0.02}

    def idle(self) -> None:
        for name in ("awvalid", "awaddr", "awlen", "wvalid", "wdata", "wstrb", "wlast", "bready", "arvalid", "araddr", "arlen", "rready"):
            getattr(self.dut, f"s_axi_{name}_i").value = 0
        self.memories.idle()

    def burst(self, m: int, upper: bool, longest: int) -> tuple[int, int]:
        """Return (line in memory m, beats) of a random burst that stays inside 4 KiB."""
        half = self.sizes[m] // LINE // 2
        line = self.rng.randrange(half) + (half if upper else 0)
        return line, self.rng.randint(1, min(longest, 64 - line % 64, self.sizes[m] // LINE - line, half if upper else half - line))

    def write(self, traffic: Traffic, m: int, longest: int) -> None:
        line, beats = self.burst(m, False, longest)
        traffic.aw.append({"addr": sum(self.sizes[:m]) + line * LINE, "len": beats - 1})
        words = [(self.rng.getrandbits(512), self.rng.choice([ALL_BYTES, self.rng.getrandbits(LINE)])) for _ in range(beats)]
        traffic.w.extend({"data": word, "strb": strobes, "last": int(k == beats - 1)} for k, (word, strobes) in enumerate(words))
        refused = any((m, line + k) in self.memories.refused for k in range(beats))
        traffic.b.append({"resp": self.memories.error if refused else 0})
        if not refused:
            for k, (word, strobes) in enumerate(words):
                self.expected[m][line + k] = merged(self.expected[m].get(line + k, 0), word, strobes)

    def read(self, traffic: Traffic, m: int, longest: int) -> None:
        line, beats = self.burst(m, True, longest)
        traffic.ar.append({"addr": sum(self.sizes[:m]) + line * LINE, "len": beats - 1})
        for k in range(beats):
            resp = self.memories.error if (m, line + k) in self.memories.refused else 0
            traffic.r.append({"data": self.memories.lines[m][line + k], "resp": resp, "last": int(k == beats - 1)})

    def start(self, traffic: Traffic, probability: float) -> tuple[list, list]:
        """Start all channels; return the lists in which responses and read data arrive."""
        dut = self.dut

        def stream(channel: str, outgoing: bool, *names: str) -> testkit.Stream:
            way = ("i", "o") if outgoing else ("o", "i")
            fields = {name: getattr(dut, f"s_axi_{channel}{name}_{way[0]}") for name in names}
            valid, ready = getattr(dut, f"s_axi_{channel}valid_{way[0]}"), getattr(dut, f"s_axi_{channel}ready_{way[1]}")
            return testkit.Stream(dut.clk_i, valid, ready, fields, probability, self.rng)

        responses: list[dict] = []
        data: list[dict] = []
        self.tasks = [
            cocotb.start_soon(stream("aw", True, "addr", "len").send(traffic.aw)),
            cocotb.start_soon(stream("w", True, "data", "strb", "last").send(traffic.w)),
            cocotb.start_soon(stream("ar", True, "addr", "len").send(traffic.ar)),
            cocotb.start_soon(stream("b", False, "resp").receive(responses, len(traffic.b))),
            cocotb.start_soon(stream("r", False, "data", "resp", "last").receive(data, len(traffic.r))),
        ]
        return responses, data

    async def run(self, traffic: Traffic, probability: float, limit: int) -> int:
        """Run until everything has come back, compare, and return the cycles."""
        responses, data = self.start(traffic, probability)
        cycles = 0
        while not all(task.done() for task in self.tasks):
            await RisingEdge(self.dut.clk_i)
            cycles += 1
            assert cycles < limit, f"{len(responses)} of {len(traffic.b)} responses, {len(data)} of {len(traffic.r)} beats"
        assert responses == traffic.b, "responses out of order"
        assert data == traffic.r, "read data out of order"
        for m, lines in enumerate(self.expected):
            assert all(self.memories.lines[m][line] == word for line, word in lines.items()), f"wrong contents of memory {m}"
        return cycles


async def begin(dut) -> Bench:
    bench = Bench(dut)
    dut._log.info("seed %d", testkit.seed())
    bench.idle()
    await testkit.start(dut)
    cocotb.start_soon(bench.memories.run())
    for channel, names in (("b", ("resp",)), ("r", ("data", "resp", "last"))):
        fields = {name: getattr(dut, f"s_axi_{channel}{name}_o") for name in names}
        valid, ready = getattr(dut, f"s_axi_{channel}valid_o"), getattr(dut, f"s_axi_{channel}ready_i")
        cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, valid, ready, fields))
    return bench


@cocotb.test()
async def mixed(dut) -> None:
    """Random bursts to random memories, each with its own latency, with gaps everywhere and a reset in the middle."""
    bench = await begin(dut)
    rng = bench.rng
    for step in range(4):
        bench.memories.latency = [rng.choice(((1, 1), (5, 60), (40, 50))) for _ in bench.sizes]
        bench.memories.probability = rng.choice((0.4, 0.9, 1.0))
        bench.memories.error = 2 + step % 2  # SLVERR, DECERR
        traffic = Traffic()
        for _ in range(80):
            bench.write(traffic, rng.randrange(len(bench.sizes)), rng.choice((1, 8, 64)))
            bench.read(traffic, rng.randrange(len(bench.sizes)), rng.choice((1, 8, 64)))
        if step == 1:
            bench.start(traffic, 0.8)
            for _ in range(rng.randint(60, 120)):
                await RisingEdge(dut.clk_i)
            for task in bench.tasks:
                task.cancel()
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 1
            for name in ("awvalid", "wvalid", "bready", "arvalid", "rready"):
                getattr(dut, f"s_axi_{name}_i").value = 0
            for _ in range(2):
                await FallingEdge(dut.clk_i)
            dut.rst_i.value = 0
            # What the memories took before the reset is there.
            bench.expected = [dict(lines) for lines in bench.memories.lines]
        else:
            await bench.run(traffic, rng.choice((0.5, 1.0)), 20000)


@cocotb.test()
async def rate(dut) -> None:
    """One single-beat burst per cycle in both directions at once, memories in turn and at random."""
    bench = await begin(dut)
    bench.memories.latency = (8, 8)
    for pick in (lambda k: k % len(bench.sizes), lambda k: bench.rng.randrange(len(bench.sizes))):
        traffic = Traffic()
        for k in range(400):
            bench.write(traffic, pick(k), 1)
            bench.read(traffic, pick(k), 1)
        cycles = await bench.run(traffic, 1.0, 2000)
        dut._log.info("400 bursts in %d cycles", cycles)
        assert cycles <= 400 / 0.95 + 40


@cocotb.test()
async def overlap(dut) -> None:
    """A fast memory works while a slow one keeps the order waiting."""
    bench = await begin(dut)
    if len(bench.sizes) < 2:
        return
    bench.memories.latency = [(150, 150)] + [(1, 1)] * (len(bench.sizes) - 1)
    traffic = Traffic()
    for _ in range(8):
        for m in (0, 1):
            bench.read(traffic, m, 1)
            bench.write(traffic, m, 1)
    cycles = await bench.run(traffic, 1.0, 2000)
    dut._log.info("16 bursts, half of them slow, in %d cycles", cycles)
    assert cycles < 200, "the slow memory's requests did not overlap"


GEOMETRIES = {
    "one": Geometry((0,), (0,), (65536,)),
    "three": Geometry((0, 0, 0), (0, 0, 0), (12288, 1 << 20, 8192)),
}


@pytest.mark.parametrize("name, outstanding", [("one", 32), ("three", 20)])
def test_pst_memory_fabric(name: str, outstanding: int) -> None:
    parameters = {**GEOMETRIES[name].parameters("Memories", "MemBytes"), "AddrWidth": 22, "MaxOutstanding": outstanding}
    testkit.run_module("memory", "pst_memory_fabric", parameters)
