"""pst_page_choice against a choice that lets one port after the other take a page; and with requests that name memories at random."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import Geometry, random_length

from penstock.testing import testkit

LEN_WIDTH = 14


class Greedy:
    """The ports in turn, each of which takes a page before the next one looks: what the hardware does at once."""

    def __init__(self, ports: int, sizes: tuple[int, ...]) -> None:
        self.sizes = sizes
        self.order = list(range(ports))  # ports in turn
        self.turn = {size: [m for m, other in enumerate(sizes) if other == size] for size in set(sizes)}

    def decide(self, requests: list[int | None], offers: int) -> dict[int, int | None]:
        """Return, of each port that is decided, its memory or None for "no page"."""
        decided: dict[int, int | None] = {}
        given: dict[int, list[int]] = {size: [] for size in self.turn}
        waits = []
        for port in self.order:
            length = requests[port]
            if length is None:
                continue
            able = [size for size in self.turn if size >= length and any(offers >> m & 1 for m in self.turn[size])]
            if not able:
                decided[port] = None
                continue
            left = [m for m in self.turn[min(able)] if offers >> m & 1 and m not in given[min(able)]]
            if left:
                decided[port] = left[0]
                given[min(able)].append(left[0])
            else:
                waits.append(port)
        for size, memories in given.items():
            if memories:
                at = self.turn[size].index(memories[-1]) + 1
                self.turn[size] = self.turn[size][at:] + self.turn[size][:at]
        if waits:
            at = self.order.index(waits[0])
            self.order = self.order[at:] + self.order[:at]
        return decided


class Bench:
    def __init__(self, dut) -> None:
        self.dut, self.rng, self.geometry = dut, random.Random(testkit.seed()), Geometry.under_test()
        dut._log.info("seed %d", testkit.seed())
        self.ports, self.memories = testkit.parameter("Ports", 2), len(self.geometry.page_bytes)
        self.lengths: list[int | None] = [None] * self.ports
        self.named = [0] * self.ports

    async def begin(self) -> None:
        for name in ("req_valid", "req_len", "req_memories", "offer"):
            getattr(self.dut, f"{name}_i").value = 0
        await testkit.start(self.dut)

    async def cycle(self, ask: float, offers: int, any_memories: bool) -> dict[int, int | None]:
        """Return what is decided: of each port its memory, or None."""
        dut, rng = self.dut, self.rng
        await FallingEdge(dut.clk_i)
        for p in range(self.ports):
            if self.lengths[p] is None and rng.random() < ask:
                self.lengths[p] = random_length(rng, max(self.geometry.page_bytes) + 64)
                self.named[p] = rng.randrange(1 << self.memories) if any_memories else (1 << self.memories) - 1
        self.asked = list(self.lengths)
        dut.req_valid_i.value = sum(int(length is not None) << p for p, length in enumerate(self.lengths))
        dut.req_len_i.value = sum((length or 0) << LEN_WIDTH * p for p, length in enumerate(self.lengths))
        dut.req_memories_i.value = sum(named << self.memories * p for p, named in enumerate(self.named))
        dut.offer_i.value = offers
        await ReadOnly()
        decided, winners = int(dut.decided_o.value), int(dut.winner_o.value)
        found: dict[int, int | None] = {}
        for p in range(self.ports):
            winner = winners >> self.memories * p & (1 << self.memories) - 1
            assert winner & winner - 1 == 0, f"port {p} gets two pages"
            assert not winner or decided >> p & 1
            if decided >> p & 1:
                assert self.lengths[p] is not None
                found[p] = winner.bit_length() - 1 if winner else None
                self.lengths[p] = None
        return found


@cocotb.test()
async def as_one_after_the_other(dut) -> None:
    """Requests that name all memories: cycle by cycle what ports would get that took their pages in turn."""
    bench = Bench(dut)
    await bench.begin()
    greedy = Greedy(bench.ports, bench.geometry.page_bytes)
    several = 0
    for step in range(3000):
        ask = (0.3, 1.0)[step // 100 % 2]
        offers = sum(int(bench.rng.random() < (0.3, 0.9)[step // 200 % 2]) << m for m in range(bench.memories))
        found = await bench.cycle(ask, offers, any_memories=False)
        assert found == greedy.decide(bench.asked, offers), f"step {step}: {found}"
        several += sum(memory is not None for memory in found.values()) > 1
    assert several > 300


@cocotb.test()
async def of_those_that_are_named(dut) -> None:
    """Requests that name memories at random: a page of the smallest size that is there, none twice, and no request waits for long."""
    bench = Bench(dut)
    await bench.begin()
    sizes, waits = bench.geometry.page_bytes, [0] * bench.ports
    for step in range(3000):
        offers = sum(int(bench.rng.random() < (0.3, 0.9)[step // 200 % 2]) << m for m in range(bench.memories))
        found = await bench.cycle((0.3, 1.0)[step // 100 % 2], offers, any_memories=True)
        for p, memory in found.items():
            length = bench.asked[p]
            assert length is not None
            able = {size: m for m, size in enumerate(sizes) if size >= length and (offers & bench.named[p]) >> m & 1}
            assert (memory is None) == (not able), f"port {p}"
            if memory is not None:
                assert offers >> memory & bench.named[p] >> memory & 1 and sizes[memory] == min(able)
        given = [memory for memory in found.values() if memory is not None]
        assert len(given) == len(set(given)), "a page for two ports"
        waits = [waits[p] + 1 if bench.lengths[p] is not None else 0 for p in range(bench.ports)]
        assert max(waits) <= bench.ports - 1


@pytest.mark.parametrize("ports, sizes", [(2, (2048, 2048)), (4, (512, 2048, 512, 9600, 2048, 2048, 2048))], ids=["two", "four"])
def test_pst_page_choice(ports: int, sizes: tuple[int, ...]) -> None:
    geometry = Geometry.of(*((8, size) for size in sizes))
    testkit.run_module("memory", "pst_page_choice", {"Ports": ports, **geometry.parameters("Memories", "MemPageBytes")})
