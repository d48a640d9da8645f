"""pst_tx_handler against a memory that answers late: order, bytes, tkeep and tlast, errors, and when a page is free."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import LINE, AxiMemories, Geometry, random_length

from penstock.testing import testkit

QUEUES = 64


class Bench:
    """Upstream and downstream of the handler; the memory holds random bytes."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng, self.geometry = dut, rng, Geometry.under_test()
        self.probability = self.free_probability = 1.0
        size = sum(self.geometry.mem_bytes)
        self.memory = AxiMemories(dut, (size,), rng, write=False)
        self.memory.lines[0] = {line: rng.getrandbits(512) for line in range(size // LINE)}
        self.forget()

    def forget(self) -> None:
        self.todo: deque = deque()  # queue, descriptor, length
        self.offer: tuple[int, int, int] | None = None
        self.sending: deque = deque()  # the same, taken
        self.at = 0  # bytes of the frame that have come
        self.freeing: deque = deque()  # descriptor, beats that must have been read by then
        self.beats = 0  # of the frames taken
        self.done = self.not_sent = 0

    def idle(self) -> None:
        for name in ("s_deq_valid", "s_deq_queue", "s_deq_desc", "s_deq_len", "m_axis_tready", "m_free_ready"):
            getattr(self.dut, f"{name}_i").value = 0
        self.memory.idle()

    def add(self, longest: int | None = None) -> None:
        desc = self.rng.randrange(self.geometry.descriptors)
        page = self.geometry.page_bytes[self.geometry.memory_of(desc)]
        self.todo.append((self.rng.randrange(QUEUES), desc, random_length(self.rng, min(page, longest or page))))

    def _chance(self) -> bool:
        return self.rng.random() < self.probability

    async def cycle(self) -> None:
        dut = self.dut
        await FallingEdge(dut.clk_i)
        if self.offer is None and self.todo and self._chance():
            self.offer = self.todo.popleft()
            dut.s_deq_queue_i.value, dut.s_deq_desc_i.value, dut.s_deq_len_i.value = self.offer
        dut.s_deq_valid_i.value = int(self.offer is not None)
        out_ready, free_ready = self._chance(), self._chance() and self.rng.random() < self.free_probability
        dut.m_axis_tready_i.value, dut.m_free_ready_i.value = int(out_ready), int(free_ready)
        beats_read = self.memory.beats_read
        await ReadOnly()
        if self.offer is not None and int(dut.s_deq_ready_o.value):
            self.sending.append(self.offer)
            self.beats += -(-self.offer[2] // LINE)
            self.freeing.append((self.offer[1], self.beats))
            self.offer = None
        if free_ready and int(dut.m_free_valid_o.value):
            desc, needed = self.freeing.popleft()
            assert int(dut.m_free_desc_o.value) == desc, "pages freed out of order"
            assert beats_read >= needed, f"page {desc} was freed before its last beat came"
        if out_ready and int(dut.m_axis_tvalid_o.value):
            self._sent()

    def _sent(self) -> None:
        dut = self.dut
        queue, desc, length = self.sending[0]
        first = self.geometry.address(desc) // LINE
        here = min(LINE, length - self.at)
        last = self.at + here == length
        refused = any((0, first + k) in self.memory.refused for k in range(-(-length // LINE)))
        assert int(dut.m_axis_tid_o.value) == queue
        assert int(dut.ev_sent_len_o.value) == length
        assert int(dut.ev_sent_valid_o.value) == int(last and not refused), "a frame counts as sent that is not, or the other way round"
        if (0, first) in self.memory.refused:
            found = tuple(int(getattr(dut, f"m_axis_{name}_o").value) for name in ("tlast", "tuser", "tkeep"))
            assert self.at == 0 and found == (1, 1, 0), f"{found} for a frame that is not sent"
            self.sending.popleft()
            self.done += 1
            self.not_sent += 1
            return
        assert int(dut.m_axis_tlast_o.value) == int(last)
        assert int(dut.m_axis_tkeep_o.value) == (1 << here) - 1
        assert int(dut.m_axis_tuser_o.value) == int(last and refused)
        mask = (1 << 8 * here) - 1
        assert int(dut.m_axis_tdata_o.value) & mask == self.memory.lines[0][first + self.at // LINE] & mask, f"page {desc} at {self.at}"
        self.at += here
        if last:
            self.sending.popleft()
            self.at = 0
            self.done += 1


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    bench.idle()
    await testkit.start(dut)
    cocotb.start_soon(bench.memory.run())
    fields = {name: getattr(dut, f"m_axis_{name}_o") for name in ("tdata", "tkeep", "tlast", "tuser", "tid")}
    cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, fields))
    return bench


@cocotb.test()
async def mixed(dut) -> None:
    """Random frames, gaps and latencies; refused lines; a reset in the middle."""
    bench = await begin(dut)
    rng = bench.rng
    for step in range(5):
        bench.probability, bench.memory.probability = rng.choice((0.3, 0.8, 1.0)), rng.choice((0.3, 0.8, 1.0))
        bench.memory.latency = rng.choice(((1, 2), (5, 60)))
        lines = sum(bench.geometry.mem_bytes) // LINE
        firsts = {bench.geometry.address(rng.randrange(bench.geometry.descriptors)) // LINE for _ in range(8)}
        bench.memory.refused = {(0, rng.randrange(lines)) for _ in range(40)} | {(0, line) for line in firsts}
        bench.memory.error = 2 + step % 2  # SLVERR, DECERR
        bench.done = 0
        for _ in range(40):
            bench.add()
        if step == 2:
            for _ in range(rng.randint(50, 150)):
                await bench.cycle()
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 1
            dut.s_deq_valid_i.value = 0
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 0
            bench.forget()
            continue
        for _ in range(20000):
            if bench.done == 40 and not bench.freeing:
                break
            await bench.cycle()
        assert bench.done == 40 and not bench.freeing, f"stuck after {bench.done} frames"
    assert bench.not_sent, "no frame was refused from its first beat on"


@cocotb.test()
async def slow_pools(dut) -> None:
    """Frames of one beat, one a cycle, while pages are taken back slowly: each comes back, none is lost on the way."""
    bench = await begin(dut)
    bench.free_probability = 0.1
    for _ in range(100):
        bench.add(LINE)
    for _ in range(5000):
        if bench.done == 100 and not bench.freeing:
            break
        await bench.cycle()
    assert bench.done == 100 and not bench.freeing, f"{len(bench.freeing)} pages did not come back after {bench.done} frames"


@cocotb.test()
async def rate(dut) -> None:
    """A single-beat frame per cycle."""
    bench = await begin(dut)
    bench.memory.latency = (8, 8)
    for _ in range(500):
        bench.add(LINE)
    cycles = 0
    while bench.done < 500:
        await bench.cycle()
        cycles += 1
        assert cycles <= 500 / 0.95 + 40, f"{bench.done} frames in {cycles} cycles"
    dut._log.info("500 frames in %d cycles", cycles)


@pytest.mark.parametrize(
    "geometry, outstanding", [(Geometry.of((60, 9600)), 32), (Geometry.of((30, 512), (40, 4096)), 17)], ids=["one", "two"]
)
def test_pst_tx_handler(geometry: Geometry, outstanding: int) -> None:
    parameters = {**geometry.parameters(), "Queues": QUEUES, "MaxOutstanding": outstanding, "AddrWidth": 24}
    testkit.run_module("memory", "pst_tx_handler", parameters)
