"""pst_rx_handler against a memory that answers late: order, contents at the time of m_enq, frames without page, refused writes."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import LINE, AxiMemories, Geometry, random_length, to_beats

from penstock.testing import testkit

NO_PAGE, WRITE_ERROR = 5, 13  # pst_pkg::drop_e
QUEUES = 64


class Bench:
    """Upstream, page pools and downstream of the handler; pages are given at random, or refused with `no_page`."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng, self.geometry = dut, rng, Geometry.under_test()
        self.probability, self.no_page, self.free_probability = 1.0, 0.0, 1.0
        self.memory = AxiMemories(dut, (sum(self.geometry.mem_bytes),), rng, read=False)
        self.forget()

    def forget(self) -> None:
        self.meta: deque = deque()
        self.beats: deque = deque()
        self.requests: deque = deque()  # lengths asked for
        self.frames: deque = deque()  # in order of arrival: queue, frame
        self.grants: deque = deque()  # in the same order: descriptor or None
        self.refused: list[int] = []  # pages that have to come back
        self.freed: list[int] = []  # pages that did, possibly before m_enq told why
        self.free = list(range(self.geometry.descriptors))
        self.offer: dict = {"meta": None, "data": None, "gnt": None}
        self.done: list[int] = []  # reasons

    def idle(self) -> None:
        for name in ("s_meta_valid", "s_meta_queue", "s_meta_len", "s_data_valid", "s_data", "s_data_last", "m_req_ready"):
            getattr(self.dut, f"{name}_i").value = 0
        for name in ("s_gnt_valid", "s_gnt_ok", "s_gnt_desc", "m_enq_ready", "m_free_ready"):
            getattr(self.dut, f"{name}_i").value = 0
        self.memory.idle()

    def add(self, frame: bytes) -> None:
        self.meta.append((self.rng.randrange(QUEUES), frame))
        words = to_beats(frame)
        self.beats.extend((word, int(k == len(words) - 1)) for k, word in enumerate(words))

    def _grant(self, length: int) -> int | None:
        fits = [desc for desc in self.free if self.geometry.page_bytes[self.geometry.memory_of(desc)] >= length]
        if not fits or self.rng.random() < self.no_page:
            return None
        desc = self.rng.choice(fits)
        self.free.remove(desc)
        return desc

    def _chance(self) -> bool:
        return self.rng.random() < self.probability

    async def cycle(self) -> None:
        dut, offer = self.dut, self.offer
        await FallingEdge(dut.clk_i)
        if offer["meta"] is None and self.meta and self._chance():
            queue, frame = offer["meta"] = self.meta.popleft()
            dut.s_meta_queue_i.value, dut.s_meta_len_i.value = queue, len(frame)
        if offer["data"] is None and self.beats and self._chance():
            offer["data"] = self.beats.popleft()
            dut.s_data_i.value, dut.s_data_last_i.value = offer["data"]
        if offer["gnt"] is None and self.requests and self._chance():
            desc = self._grant(self.requests.popleft())
            offer["gnt"] = (desc,)
            self.grants.append(desc)
            dut.s_gnt_ok_i.value = int(desc is not None)
            dut.s_gnt_desc_i.value = desc if desc is not None else self.rng.randrange(self.geometry.descriptors)
        for name, key in (("s_meta", "meta"), ("s_data", "data"), ("s_gnt", "gnt")):
            getattr(dut, f"{name}_valid_i").value = int(offer[key] is not None)
        ready = {name: self._chance() for name in ("m_req", "m_enq", "m_free")}
        ready["m_free"] &= self.rng.random() < self.free_probability
        for name, chance in ready.items():
            getattr(dut, f"{name}_ready_i").value = int(chance)
        await ReadOnly()
        if ready["m_req"] and int(dut.m_req_valid_o.value):
            assert offer["meta"] is not None and int(dut.s_meta_ready_o.value), "a page was asked for without its frame"
            assert int(dut.m_req_len_o.value) == len(offer["meta"][1])
            self.requests.append(len(offer["meta"][1]))
        if offer["meta"] is not None and int(dut.s_meta_ready_o.value):
            self.frames.append(offer["meta"])
            offer["meta"] = None
        for name, key in (("s_data", "data"), ("s_gnt", "gnt")):
            if offer[key] is not None and int(getattr(dut, f"{name}_ready_o").value):
                offer[key] = None
        if ready["m_free"] and int(dut.m_free_valid_o.value):
            self.freed.append(int(dut.m_free_desc_o.value))
            self.free.append(self.freed[-1])
        if ready["m_enq"] and int(dut.m_enq_valid_o.value):
            self._enqueued()

    def _enqueued(self) -> None:
        dut = self.dut
        (queue, frame), desc = self.frames.popleft(), self.grants.popleft()
        assert (int(dut.m_enq_queue_o.value), int(dut.m_enq_len_o.value)) == (queue, len(frame)), "frames out of order"
        reason = int(dut.m_enq_reason_o.value)
        self.done.append(reason)
        if desc is None:
            assert reason == NO_PAGE
            return
        first = self.geometry.address(desc) // LINE
        words = to_beats(frame)
        if any((0, first + k) in self.memory.refused for k in range(len(words))):
            assert reason == WRITE_ERROR
            self.refused.append(desc)
            return
        assert reason == 0 and int(dut.m_enq_desc_o.value) == desc
        stored = [self.memory.lines[0].get(first + k) for k in range(len(words))]
        assert stored == words, f"page {desc} was announced before it held the frame"
        self.free.append(desc)

    async def drain(self, count: int) -> None:
        for _ in range(500 * count):
            if len(self.done) == count and len(self.freed) == len(self.refused):
                break
            await self.cycle()
        assert len(self.done) == count, f"stuck: {len(self.done)} of {count} frames came out"
        assert self.freed == self.refused, "pages of refused frames"


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    bench.idle()
    await testkit.start(dut)
    cocotb.start_soon(bench.memory.run())
    fields = {name: getattr(dut, f"m_enq_{name}_o") for name in ("queue", "len", "reason")}
    cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, dut.m_enq_valid_o, dut.m_enq_ready_i, fields))
    return bench


@cocotb.test()
async def mixed(dut) -> None:
    """Random frames, gaps and latencies; frames without page; refused lines; a reset in the middle."""
    bench = await begin(dut)
    rng = bench.rng
    for step in range(5):
        bench.probability, bench.memory.probability = rng.choice((0.3, 0.8, 1.0)), rng.choice((0.3, 0.8, 1.0))
        bench.memory.latency = rng.choice(((1, 2), (5, 60)))
        bench.no_page = rng.choice((0.0, 0.3))
        bench.memory.refused = {(0, rng.randrange(sum(bench.geometry.mem_bytes) // LINE)) for _ in range(40)}
        bench.memory.error = 2 + step % 2  # SLVERR, DECERR
        bench.done.clear()
        count = 40
        for _ in range(count):
            bench.add(rng.randbytes(random_length(rng, max(bench.geometry.page_bytes))))
        if step == 2:
            for _ in range(rng.randint(50, 150)):
                await bench.cycle()
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 1
            for name in ("s_meta_valid", "s_data_valid", "s_gnt_valid"):
                getattr(dut, f"{name}_i").value = 0
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 0
            bench.forget()
        else:
            await bench.drain(count)


@cocotb.test()
async def every_write_refused(dut) -> None:
    """A run of write errors while pages are taken back slowly: each page comes back, none is lost on the way."""
    bench = await begin(dut)
    bench.memory.refused = {(0, line) for line in range(sum(bench.geometry.mem_bytes) // LINE)}
    for probability in (0.05, 0.3):
        bench.free_probability = probability
        bench.done.clear()
        for _ in range(60):
            bench.add(bench.rng.randbytes(bench.rng.randint(1, 2 * LINE)))
        await bench.drain(60)
        assert bench.done.count(WRITE_ERROR) > 20
    assert sorted(bench.free) == list(range(bench.geometry.descriptors)), "a page is lost, or is there twice"


@cocotb.test()
async def rate(dut) -> None:
    """A single-beat frame per cycle; frames without page do not disturb it."""
    bench = await begin(dut)
    bench.memory.latency = (6, 6)
    for no_page in (0.0, 0.2):
        bench.no_page = no_page
        bench.done.clear()
        for _ in range(400):
            bench.add(bench.rng.randbytes(bench.rng.randint(1, LINE)))
        cycles = 0
        while len(bench.done) < 400:
            await bench.cycle()
            cycles += 1
            assert cycles <= 400 / 0.95 + 40, f"{len(bench.done)} frames in {cycles} cycles"
        dut._log.info("400 frames in %d cycles", cycles)


@pytest.mark.parametrize(
    "geometry, outstanding", [(Geometry.of((60, 9600)), 32), (Geometry.of((30, 512), (40, 4096)), 17)], ids=["one", "two"]
)
def test_pst_rx_handler(geometry: Geometry, outstanding: int) -> None:
    parameters = {**geometry.parameters(), "Queues": QUEUES, "MaxOutstanding": outstanding, "AddrWidth": 24}
    testkit.run_module("memory", "pst_rx_handler", parameters)
