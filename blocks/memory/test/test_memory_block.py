"""The whole block, store to send: page pools, rx handler, memory fabric, tx handler, and memories of different latency.

The test stands for the queue manager: stored frames come back in random order, or their pages are dropped.
"""

import random
from collections import deque
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import LINE, WORD, AxiMemories, Geometry, random_length, to_beats

from penstock.paths import block_file_list, read_file_list
from penstock.testing import testkit

NO_PAGE, WRITE_ERROR = 5, 13  # pst_pkg::drop_e
QUEUES = 200


class Device:
    """Feeds frames in, plays queue manager, and checks every frame that comes out, all cycle by cycle.

    `probability` is that of every valid and ready of the test bench; the test may change it at any time, and likewise
    `hold` (stored frames that are kept before one is sent) and `drop` (share of stored frames that are dropped).
    """

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng, self.geometry = dut, rng, Geometry.under_test()
        self.probability, self.hold, self.drop = 1.0, 0, 0.0
        self.memories = AxiMemories(dut, self.geometry.mem_bytes, rng)
        self.forget()

    def forget(self) -> None:
        """Start over, as a reset does."""
        self.arriving: deque[tuple[int, bytes]] = deque()  # metadata not yet taken
        self.beats: deque[tuple[int, int]] = deque()  # data not yet taken: word, last
        self.stored: deque[tuple[int, bytes]] = deque()  # taken, not yet out of m_enq
        self.queued: list[tuple[int, int, bytes]] = []  # descriptor, queue, frame
        self.sending: deque[tuple[int, int, bytes]] = deque()  # in the order in which s_deq took them
        self.owned: set[int] = set()  # descriptors between m_enq and s_deq or s_drop
        self.outgoing = b""
        self.counts = {"taken": 0, "sent": 0, "no_page": 0, "write_error": 0, "dropped": 0, "errors": 0}
        self.offer: dict[str, object] = {"meta": None, "data": None, "deq": None, "drop": None}

    def add(self, queue: int, frame: bytes) -> None:
        """Queue a frame for arrival."""
        self.arriving.append((queue, frame))
        words = to_beats(frame)
        self.beats.extend((word, int(k == len(words) - 1)) for k, word in enumerate(words))

    def add_random(self, longest: int) -> None:
        self.add(self.rng.randrange(QUEUES), self.rng.randbytes(random_length(self.rng, longest)))

    def idle(self) -> None:
        dut = self.dut
        for name in ("s_meta_valid", "s_meta_queue", "s_meta_len", "s_data_valid", "s_data", "s_data_last", "m_enq_ready"):
            getattr(dut, f"{name}_i").value = 0
        for name in ("s_drop_valid", "s_drop_desc", "s_deq_valid", "s_deq_queue", "s_deq_desc", "s_deq_len", "m_axis_tready"):
            getattr(dut, f"{name}_i").value = 0
        self.memories.idle()

    @property
    def empty(self) -> bool:
        return not (self.arriving or self.beats or self.stored or self.queued or self.sending or any(self.offer.values()))

    def _chance(self) -> bool:
        return self.rng.random() < self.probability

    def _drive(self) -> None:
        dut, offer = self.dut, self.offer
        if offer["meta"] is None and self.arriving and self._chance():
            offer["meta"] = self.arriving.popleft()
            dut.s_meta_queue_i.value, dut.s_meta_len_i.value = offer["meta"][0], len(offer["meta"][1])
        if offer["data"] is None and self.beats and self._chance():
            offer["data"] = self.beats.popleft()
            dut.s_data_i.value, dut.s_data_last_i.value = offer["data"]
        for kind in ("deq", "drop"):
            if offer[kind] is None and len(self.queued) > self.hold and self._chance():
                if (kind == "drop") != (self.rng.random() < self.drop):
                    continue
                desc, queue, frame = offer[kind] = self.queued.pop(self.rng.randrange(len(self.queued)))
                self.owned.remove(desc)
                getattr(dut, f"s_{kind}_desc_i").value = desc
                if kind == "deq":
                    dut.s_deq_queue_i.value, dut.s_deq_len_i.value = queue, len(frame)
        for kind in ("meta", "data", "deq", "drop"):
            getattr(dut, f"s_{kind}_valid_i").value = int(offer[kind] is not None)
        self.enq_ready, self.out_ready = self._chance(), self._chance()
        dut.m_enq_ready_i.value, dut.m_axis_tready_i.value = int(self.enq_ready), int(self.out_ready)

    def _sample(self) -> None:
        dut, offer = self.dut, self.offer
        if offer["meta"] is not None and int(dut.s_meta_ready_o.value):
            self.stored.append(offer["meta"])
            self.counts["taken"] += 1
            offer["meta"] = None
        if offer["data"] is not None and int(dut.s_data_ready_o.value):
            offer["data"] = None
        if offer["drop"] is not None and int(dut.s_drop_ready_o.value):
            self.counts["dropped"] += 1
            offer["drop"] = None
        if offer["deq"] is not None and int(dut.s_deq_ready_o.value):
            self.sending.append(offer["deq"])
            offer["deq"] = None
        if self.enq_ready and int(dut.m_enq_valid_o.value):
            self._enqueued()
        if self.out_ready and int(dut.m_axis_tvalid_o.value):
            self._sent()

    def _enqueued(self) -> None:
        dut = self.dut
        queue, frame = self.stored.popleft()
        assert (int(dut.m_enq_queue_o.value), int(dut.m_enq_len_o.value)) == (queue, len(frame)), "frames out of order"
        reason = int(dut.m_enq_reason_o.value)
        if reason:
            self.counts[{NO_PAGE: "no_page", WRITE_ERROR: "write_error"}[reason]] += 1
            return
        desc = int(dut.m_enq_desc_o.value)
        memory = self.geometry.memory_of(desc)
        assert self.geometry.page_bytes[memory] >= len(frame), f"{len(frame)} byte in a page of memory {memory}"
        assert desc not in self.owned, f"page {desc} was handed out twice"
        self.owned.add(desc)
        self.queued.append((desc, queue, frame))

    def _sent(self) -> None:
        dut = self.dut
        desc, queue, frame = self.sending[0]
        assert int(dut.m_axis_tid_o.value) == queue, "frames sent out of order"
        at = len(self.outgoing)
        expected = frame[at : at + LINE]
        last = at + LINE >= len(frame)
        if not int(dut.m_axis_tkeep_o.value):
            assert not at and int(dut.m_axis_tlast_o.value) and int(dut.m_axis_tuser_o.value) and self.memories.refused
            self.sending.popleft()
            self.counts["sent"] += 1
            self.counts["errors"] += 1
            return
        assert int(dut.m_axis_tlast_o.value) == int(last)
        assert int(dut.m_axis_tkeep_o.value) == (1 << len(expected)) - 1
        error = int(dut.m_axis_tuser_o.value)
        assert not error or (last and self.memories.refused)
        data = (int(dut.m_axis_tdata_o.value) & WORD).to_bytes(LINE, "little")[: len(expected)]
        assert data == expected, f"wrong bytes at {at} of {len(frame)} in page {desc}"
        self.outgoing += data
        if last:
            self.sending.popleft()
            self.outgoing = b""
            self.counts["sent"] += 1
            self.counts["errors"] += error

    async def run(self, cycles: int) -> int:
        """Run `cycles` cycles, or until nothing is left when that comes first; return the cycles run."""
        for cycle in range(cycles):
            if self.empty:
                return cycle
            await FallingEdge(self.dut.clk_i)
            self._drive()
            await ReadOnly()
            self._sample()
        return cycles

    async def drain(self, cycles: int = 20000) -> None:
        """Send everything, and check that nothing is missing."""
        self.hold = 0
        await self.run(cycles)
        assert self.empty, f"stuck: {self.counts}, {len(self.stored)} in, {len(self.sending)} out"
        counts = self.counts
        assert counts["taken"] == counts["sent"] + counts["no_page"] + counts["write_error"] + counts["dropped"], counts

    async def reset(self) -> None:
        """Reset device and memories in the middle of whatever they do."""
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_i.value = 1
        self.idle_streams()
        for _ in range(self.rng.randint(1, 3)):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_i.value = 0
        self.forget()

    def idle_streams(self) -> None:
        for kind in ("meta", "data", "deq", "drop"):
            getattr(self.dut, f"s_{kind}_valid_i").value = 0
        self.dut.m_enq_ready_i.value = self.dut.m_axis_tready_i.value = 0


async def begin(dut) -> Device:
    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    device = Device(dut, rng)
    device.idle()
    await testkit.start(dut)
    cocotb.start_soon(device.memories.run())
    return device


@cocotb.test()
async def mixed(dut) -> None:
    """Random frames, gaps, latencies, drops, refused lines and resets."""
    device = await begin(dut)
    rng, memories = device.rng, device.memories
    longest = max(device.geometry.page_bytes)
    for round_number in range(6):
        device.probability, memories.probability = rng.choice((0.3, 0.7, 1.0)), rng.choice((0.3, 0.8, 1.0))
        memories.latency = rng.choice(((1, 1), (5, 60), (30, 40)))
        device.drop, device.hold = rng.choice((0.0, 0.3)), rng.choice((0, device.geometry.descriptors // 2))
        for _ in range(40):
            device.add_random(longest)
        if round_number % 3 == 2:
            await device.run(rng.randint(50, 500))
            await device.reset()
        else:
            await device.run(rng.randint(100, 1500))
            await device.drain()


@cocotb.test()
async def exhaustion(dut) -> None:
    """Every page gets used, further frames are reported and swallowed, and afterwards every page is there again."""
    device = await begin(dut)
    total = device.geometry.descriptors
    for _ in range(2):
        device.counts = dict.fromkeys(device.counts, 0)
        device.hold = total
        for _ in range(total + 20):
            device.add(device.rng.randrange(QUEUES), device.rng.randbytes(device.rng.randint(1, 3 * LINE)))
        await device.run(20 * total + 500)
        assert device.counts["no_page"] == 20 and device.owned == set(range(total)), device.counts
        # A frame that needs a page which is not there does not hold up the frame behind it.
        await device.drain()
        for _ in range(20):
            await FallingEdge(dut.clk_i)


@cocotb.test()
async def refused(dut) -> None:
    """Lines that the memory refuses: a failed write is reported and its page comes back, a failed read is not sent."""
    device = await begin(dut)
    rng, geometry = device.rng, device.geometry
    for _ in range(60):
        device.add_random(max(geometry.page_bytes))
    first_lines = [(m, page * geometry.page_bytes[m] // LINE) for m, count in enumerate(geometry.pages) for page in range(count)]
    device.memories.refused = {line for line in first_lines if rng.random() < 0.3}
    await device.run(300)
    device.hold = 0
    await device.drain()
    assert device.counts["write_error"] > 0, device.counts
    device.memories.refused.clear()
    device.hold = geometry.descriptors
    for _ in range(geometry.descriptors):
        device.add_random(LINE)
    await device.run(20 * geometry.descriptors + 500)
    assert len(device.owned) == geometry.descriptors, "pages were lost"
    device.hold = 0
    device.memories.refused = set(first_lines)
    await device.drain()
    assert device.counts["errors"] >= geometry.descriptors


@cocotb.test()
async def single_beat_rate(dut) -> None:
    """A frame of one beat per cycle, stored and sent at the same time, when nothing stalls."""
    device = await begin(dut)
    device.memories.latency = (8, 8)
    frames = 1000
    for _ in range(frames):
        device.add(device.rng.randrange(QUEUES), device.rng.randbytes(device.rng.randint(1, LINE)))
    cycles = await device.run(3 * frames)
    dut._log.info("%d frames in %d cycles", frames, cycles)
    assert device.counts["sent"] == frames, device.counts
    assert cycles <= frames / 0.95 + 80, f"{frames} frames took {cycles} cycles"


@cocotb.test()
async def idle_latency(dut) -> None:
    """The cycles that the README promises, for one frame in an idle block: handlers and fabric together."""
    device = await begin(dut)
    for _ in range(10):  # after reset the pools take their first request when each has a page to offer
        await FallingEdge(dut.clk_i)
    seen: dict[str, int] = {}
    device.add(1, device.rng.randbytes(LINE))
    signals = ("s_meta_valid_i", "m_axi_awvalid_o", "m_axi_bvalid_i", "m_enq_valid_o")
    signals += ("s_deq_valid_i", "m_axi_arvalid_o", "m_axi_rvalid_i", "m_axis_tvalid_o")
    for cycle in range(100):
        device.hold = int(cycle < 50)
        await device.run(1)
        for name in signals:
            if int(getattr(dut, name).value):
                seen.setdefault(name, cycle)
    cycles = [seen[end] - seen[start] for start, end in zip(signals[::2], signals[1::2], strict=True)]
    assert cycles == [5 + 2, 1 + 1, 4 + 2, 2 + 1], f"{seen}"


GEOMETRIES = {
    "one jumbo memory": Geometry.of((60, 9600)),
    "two alike": Geometry.of((40, 2048), (40, 2048)),
    "small, jumbo, standard": Geometry.of((50, 512), (15, 9600), (30, 2048)),
}


@pytest.mark.parametrize("name, outstanding", [("one jumbo memory", 32), ("two alike", 64), ("small, jumbo, standard", 48)])
def test_memory_block(name: str, outstanding: int) -> None:
    geometry = GEOMETRIES[name]
    sources = [*read_file_list(block_file_list("memory")), Path(__file__).parents[1] / "bench" / "memory_loop.sv"]
    parameters = {**geometry.parameters(), "Queues": QUEUES, "MaxOutstanding": outstanding, "AddrWidth": 24}
    testkit.run_module("memory", "memory_loop", parameters, sources=sources)
