"""pst_share_pages between several rx handlers and a stand-in for the pools: order, turns, and ports that take no grants."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

DESC_WIDTH, MEMORIES, LEN_WIDTH = 20, 3, 14


class Bench:
    """Ports and pools. A grant is the request's number, so that its port knows whether it is its own."""

    def __init__(self, dut) -> None:
        self.dut, self.rng = dut, random.Random(testkit.seed())
        dut._log.info("seed %d", testkit.seed())
        self.ports = testkit.parameter("Ports", 2)
        self.offer, self.take, self.pool = [1.0] * self.ports, [1.0] * self.ports, 1.0
        self.offered: list[tuple[int, int] | None] = [None] * self.ports
        self.owed: list[deque[tuple[int, int]]] = [deque() for _ in range(self.ports)]  # requests without a grant
        self.order: deque[tuple[int, tuple[int, int]]] = deque()  # port and request, taken and not yet at the pools
        self.asked: deque[tuple[int, int]] = deque()  # at the pools, without a grant
        self.granted: list[deque[tuple[int, int]]] = [deque() for _ in range(self.ports)]  # what the pools gave for the port
        self.turn: deque[int] = deque()  # whose request each one at the pools is
        self.got = [0] * self.ports
        self.grant: tuple[int, int] | None = None

    async def begin(self) -> None:
        for name in ("s_req_valid", "s_req_len", "s_req_memories", "m_gnt_ready", "m_req_ready", "s_gnt_valid", "s_gnt_ok", "s_gnt_desc"):
            getattr(self.dut, f"{name}_i").value = 0
        await testkit.start(self.dut)

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await FallingEdge(self.dut.clk_i)
            self._drive()
            await ReadOnly()
            self._sample()

    def _drive(self) -> None:
        dut, rng = self.dut, self.rng
        for p in range(self.ports):
            if self.offered[p] is None and rng.random() < self.offer[p]:
                self.offered[p] = rng.randrange(1, 1 << LEN_WIDTH), rng.randrange(1 << MEMORIES)
        dut.s_req_valid_i.value = sum(int(request is not None) << p for p, request in enumerate(self.offered))
        dut.s_req_len_i.value = sum((request or (0, 0))[0] << LEN_WIDTH * p for p, request in enumerate(self.offered))
        dut.s_req_memories_i.value = sum((request or (0, 0))[1] << MEMORIES * p for p, request in enumerate(self.offered))
        self.ready = sum(int(rng.random() < take) << p for p, take in enumerate(self.take))
        dut.m_gnt_ready_i.value = self.ready
        self.pool_ready = rng.random() < self.pool
        dut.m_req_ready_i.value = int(self.pool_ready)
        if self.grant is None and self.asked and rng.random() < self.pool:
            self.asked.popleft()
            self.grant = int(rng.random() < 0.9), rng.getrandbits(DESC_WIDTH)
            self.granted[self.turn.popleft()].append(self.grant)
        dut.s_gnt_valid_i.value = int(self.grant is not None)
        if self.grant:
            dut.s_gnt_ok_i.value, dut.s_gnt_desc_i.value = self.grant

    def _sample(self) -> None:
        dut = self.dut
        assert int(dut.s_gnt_ready_o.value) == 1, "a grant is held up"
        self.grant = None
        accepted = int(dut.s_req_ready_o.value)
        assert accepted & accepted - 1 == 0, "two requests in a cycle"
        if self.pool_ready and int(dut.m_req_valid_o.value):
            request = int(dut.m_req_len_o.value), int(dut.m_req_memories_o.value)
            assert self.order and request == self.order[0][1], "another request at the pools"
            self.turn.append(self.order.popleft()[0])
            self.asked.append(request)
        for p in range(self.ports):
            if accepted >> p & 1 and self.offered[p] is not None:
                self.order.append((p, self.offered[p]))
                self.offered[p] = None
        valid = int(dut.m_gnt_valid_o.value)
        for p in range(self.ports):
            if valid & self.ready & 1 << p:
                found = int(dut.m_gnt_ok_o.value) >> p & 1, int(dut.m_gnt_desc_o.value) >> DESC_WIDTH * p & (1 << DESC_WIDTH) - 1
                assert self.granted[p], f"port {p} has a grant that is not its own"
                assert found == self.granted[p].popleft(), f"port {p} has another grant"
                self.got[p] += 1


@cocotb.test()
async def mixed(dut) -> None:
    """Random requests, pools that wait, ports that take their grants late."""
    bench = Bench(dut)
    await bench.begin()
    for _ in range(6):
        bench.offer = [bench.rng.choice((0.1, 0.5, 1.0)) for _ in bench.offer]
        bench.take = [bench.rng.choice((0.1, 0.5, 1.0)) for _ in bench.take]
        bench.pool = bench.rng.choice((0.5, 1.0))
        await bench.cycles(300)
    assert min(bench.got) > 50


@cocotb.test()
async def fair(dut) -> None:
    """All ports at once: a page per cycle, and each port its share; one alone has them all."""
    bench = Bench(dut)
    await bench.begin()
    await bench.cycles(300)
    assert sum(bench.got) >= 290 and max(bench.got) - min(bench.got) <= 1
    bench.offer[1:] = [0.0] * (bench.ports - 1)
    await bench.cycles(20)
    before = bench.got[0]
    await bench.cycles(200)
    depth = testkit.parameter("Depth", 4)
    assert bench.got[0] - before >= 200 * min(depth, 4) // 4 - 4


@cocotb.test()
async def a_port_without_ready_holds_up_nobody(dut) -> None:
    bench = Bench(dut)
    await bench.begin()
    bench.take[0] = 0.0
    await bench.cycles(300)
    assert bench.got[0] == 0 and sum(bench.got) >= 300 - 4 - 10
    bench.take[0], bench.offer = 1.0, [0.0] * bench.ports
    await bench.cycles(30)
    # The places for grants, and the request that already stood at the port.
    assert bench.got[0] == testkit.parameter("Depth", 4) + 1 and not any(bench.granted)


@pytest.mark.parametrize("ports, depth", [(2, 4), (3, 6)])
def test_pst_share_pages(ports: int, depth: int) -> None:
    testkit.run_module("memory", "pst_share_pages", {"Ports": ports, "Memories": MEMORIES, "DescWidth": DESC_WIDTH, "Depth": depth})
