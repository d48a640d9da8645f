"""pst_page_pools with several ports: a page for each port in a cycle, of the right size, none twice, none lost, and no port starves."""

import random
from collections import Counter

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import Geometry, random_length

from penstock.testing import testkit

# Cycles from a free to the first decision that must see the page: ReadLatency + 4, and one more for each page of its memory before it.
LATEST = 6
LEN_WIDTH = 14
SLOTS = 3  # of pst_free_route, at each port
LATE = 3  # a request and its grant wait for a cycle each; and a grant is sampled in the cycle after its decision


class Port:
    """One port's request on offer, those without a grant, and what it holds."""

    def __init__(self) -> None:
        self.offered: int | None = None
        self.asked: list[tuple[int, int]] = []  # length, since when
        self.held: list[int] = []
        self.granted = self.refused = 0
        self.longest = 0  # cycles from a request that was taken to its grant


class Bench:
    """Ports that ask with probability `ask`, take grants with `take`; ports of freed pages give back with `back`."""

    def __init__(self, dut) -> None:
        self.dut, self.rng, self.geometry = dut, random.Random(testkit.seed()), Geometry.under_test()
        dut._log.info("seed %d", testkit.seed())
        self.ports, self.free_ports = testkit.parameter("Ports", 2), testkit.parameter("FreePorts", 3)
        self.width = max(1, (self.geometry.descriptors - 1).bit_length())
        self.ask, self.take, self.back = [1.0] * self.ports, [1.0] * self.ports, [1.0] * self.free_ports
        self.longest = max(self.geometry.page_bytes)
        self.forget()

    def forget(self) -> None:
        self.now = 0
        self.port = [Port() for _ in range(self.ports)]
        self.coming: list[int | None] = [None] * self.free_ports
        self.free = dict.fromkeys(range(self.geometry.descriptors), 0)  # since when
        self.out: set[int] = set()  # held by somebody

    async def begin(self) -> None:
        for name in ("s_req_valid", "s_req_len", "s_req_memories", "m_gnt_ready", "s_free_valid", "s_free_desc"):
            getattr(self.dut, f"{name}_i").value = 0
        await testkit.start(self.dut)

    async def cycles(self, count: int, lengths: tuple[int, ...] = ()) -> None:
        for _ in range(count):
            await FallingEdge(self.dut.clk_i)
            self._drive(lengths)
            await ReadOnly()
            self._sample()
            self.now += 1

    def _drive(self, lengths: tuple[int, ...]) -> None:
        dut, rng = self.dut, self.rng
        for p, port in enumerate(self.port):
            if port.offered is None and rng.random() < self.ask[p]:
                port.offered = rng.choice(lengths) if lengths else random_length(rng, self.longest)
        for f in range(self.free_ports):
            holders = [port for port in self.port if port.held]
            if self.coming[f] is None and holders and rng.random() < self.back[f]:
                held = rng.choice(holders).held
                self.coming[f] = held.pop(rng.randrange(len(held)))
        self.ready = sum(int(rng.random() < take) << p for p, take in enumerate(self.take))
        dut.s_req_valid_i.value = sum(int(port.offered is not None) << p for p, port in enumerate(self.port))
        dut.s_req_len_i.value = sum((port.offered or 0) << LEN_WIDTH * p for p, port in enumerate(self.port))
        dut.s_req_memories_i.value = (1 << len(self.geometry.pages) * self.ports) - 1
        dut.m_gnt_ready_i.value = self.ready
        dut.s_free_valid_i.value = sum(int(desc is not None) << f for f, desc in enumerate(self.coming))
        dut.s_free_desc_i.value = sum((desc or 0) << self.width * f for f, desc in enumerate(self.coming))

    def _sample(self) -> None:
        dut = self.dut
        valid = int(dut.m_gnt_valid_o.value) & self.ready
        for p, port in enumerate(self.port):
            if valid >> p & 1:
                length, since = port.asked.pop(0)
                port.longest = max(port.longest, self.now - since)
                desc = int(dut.m_gnt_desc_o.value) >> self.width * p & (1 << self.width) - 1
                self._granted(port, length, since, desc if int(dut.m_gnt_ok_o.value) >> p & 1 else None)
        accepted = int(dut.s_req_ready_o.value)
        for p, port in enumerate(self.port):
            if port.offered is not None and accepted >> p & 1:
                port.asked.append((port.offered, self.now))
                port.offered = None
        home = int(dut.s_free_ready_o.value)
        for f, desc in enumerate(self.coming):
            if desc is not None and home >> f & 1:
                self.out.discard(desc)
                self.free[desc] = self.now
                self.coming[f] = None

    def _granted(self, port: Port, length: int, asked: int, desc: int | None) -> None:
        geometry = self.geometry
        # Sizes of which a page was there when this was decided, whenever that was: at home when it was asked for, and still. Each port may
        # have two grants that it has not taken yet, whose pages look free from here.
        home = max(0, asked - LATEST - self.free_ports * SLOTS)
        pages = Counter(geometry.page_bytes[geometry.memory_of(d)] for d, since in self.free.items() if since <= home)
        sure = {size for size, count in pages.items() if count > 2 * self.ports}
        if desc is None:
            assert not [size for size in sure if size >= length], f"no page for {length} byte, but some of {sure} were free"
            port.refused += 1
            return
        size = geometry.page_bytes[geometry.memory_of(desc)]
        assert size >= length, f"{length} byte in a page of {size}"
        assert desc not in self.out and desc in self.free, f"page {desc} was given twice"
        assert not [other for other in sure if length <= other < size], f"{length} byte in a page of {size}, smaller ones were free: {sure}"
        del self.free[desc]
        self.out.add(desc)
        port.held.append(desc)
        port.granted += 1


async def begin(dut) -> Bench:
    bench = Bench(dut)
    await bench.begin()
    return bench


@cocotb.test()
async def mixed(dut) -> None:
    """Random requests, grants taken late, pages back at all ports; used up and filled again; resets in between."""
    bench = await begin(dut)
    for round_number in range(8):
        bench.ask = [bench.rng.choice((0.2, 0.6, 1.0)) for _ in bench.ask]
        bench.take = [bench.rng.choice((0.3, 1.0)) for _ in bench.take]
        bench.back = [bench.rng.choice((0.05, 0.3, 1.0)) for _ in bench.back]
        await bench.cycles(400)
        if round_number == 4:
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 1
            dut.s_req_valid_i.value = dut.s_free_valid_i.value = 0
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 0
            bench.forget()
    assert min(port.granted for port in bench.port) > 50


@cocotb.test()
async def each_page_once(dut) -> None:
    """All pages can be taken, by all ports together or by one alone, and after that each request is told that there is none."""
    bench = await begin(dut)
    for alone in (False, True):
        bench.back, bench.take = [0.0] * bench.free_ports, [1.0] * bench.ports
        bench.ask = [1.0] + [0.0 if alone else 1.0] * (bench.ports - 1)
        await bench.cycles(2 * bench.geometry.descriptors + 20, lengths=(1,))
        assert bench.out == set(range(bench.geometry.descriptors)) and not bench.free, f"{len(bench.free)} pages were never given"
        assert bench.port[0].refused > 0
        bench.ask, bench.back = [0.0] * bench.ports, [1.0] * bench.free_ports
        await bench.cycles(bench.geometry.descriptors + 40)
        assert not bench.out and len(bench.free) == bench.geometry.descriptors, f"{len(bench.out)} pages did not come back"


@cocotb.test()
async def a_page_for_each_port_in_a_cycle(dut) -> None:
    """Ports that all ask in each cycle get a page each, as long as memories of the size are as many; else all pages there are, in turns."""
    bench = await begin(dut)
    small = min(bench.geometry.page_bytes)
    memories = bench.geometry.page_bytes.count(small)
    bench.back = [1.0] * bench.free_ports
    await bench.cycles(60, lengths=(small,))
    before, held = [port.granted for port in bench.port], len(bench.out)
    await bench.cycles(400, lengths=(small,))
    got = [port.granted - at for port, at in zip(bench.port, before, strict=True)]
    dut._log.info("%s pages in 400 cycles, %d and %d held", got, held, len(bench.out))
    if memories >= bench.ports:
        assert min(got) >= 0.9 * 400
    else:
        assert sum(got) >= 0.95 * 400 * memories and max(got) - min(got) <= 2 + 0.05 * max(got)
        longest = max(port.longest for port in bench.port)
        assert longest <= 2 * bench.ports + LATE, f"a request waited for {longest} cycles"


@cocotb.test()
async def a_port_without_ready_holds_up_nobody(dut) -> None:
    bench = await begin(dut)
    bench.take[0], bench.back = 0.0, [1.0] * bench.free_ports
    small = min(bench.geometry.page_bytes)
    await bench.cycles(400, lengths=(small,))
    others = sum(port.granted for port in bench.port[1:])
    assert bench.port[0].granted == 0
    assert others >= 0.9 * 370 * min(bench.ports - 1, bench.geometry.page_bytes.count(small)), others


# Four ports and as many memories, and more memories than pages of one size; three ports that share one memory with small pages; one memory.
GEOMETRIES = {
    "four alike": (4, Geometry.of((20, 2048), (21, 2048), (19, 2048), (20, 2048), (20, 2048), (20, 2048))),
    "one small": (3, Geometry.of((30, 512), (15, 9600), (30, 2048), (9, 2048))),
    "one memory": (2, Geometry.of((25, 2048))),
}


@pytest.mark.parametrize("name", list(GEOMETRIES))
def test_pages_for_several(name: str) -> None:
    ports, geometry = GEOMETRIES[name]
    parameters = {"Ports": ports, "FreePorts": ports + 1, **geometry.parameters("Memories", "MemPages", "MemPageBytes")}
    testkit.run_module("memory", "pst_page_pools", parameters)
