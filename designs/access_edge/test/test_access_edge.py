"""The whole access edge, configurations tiny_16 and tiny_tdest_16: frames byte by byte, every drop counted, settings,
reset, and no page lost.

The bulk tests run in the C++ engine; here every byte, event and counter of a few hundred frames is looked at.
"""

import random
import sys
from collections import defaultdict, deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, with_timeout

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.contract_numbers import contract
from penstock.paths import BLOCKS, BUILD
from penstock.testing.testbus import axi_lite_master
from penstock.testing.testkit import Stream, run_module, seed, start, watch_held

sys.path.insert(0, str(BLOCKS / "memory" / "test"))  # the AXI4 memories of the memory block's tests

CONFIG = configs.load("tiny_16")
# Generated from the SystemRDL: software and hardware must answer with the same number.
MAP_VERSION = contract()["registers"]["version"]["fields"]["value"][2]
BESIDE = configs.load("tiny_tdest_16")  # the same but for the queue id
REASONS = {name: code for code, name in registers.DROP_REASONS.items()} | {"passed": 0}
PREFIX_BYTES = 4
LINE = 64


@pytest.mark.parametrize("config", [CONFIG, pytest.param(BESIDE, marks=pytest.mark.slow)], ids=lambda config: config.name)
def test_access_edge(config: Config) -> None:
    run_module("access_edge", config.module, sources=[*configs.sources(config), *configs.write_generated(config, BUILD / "wrappers")])


def beats(data: bytes, error: bool = False, hole: int | None = None, dest: list[int] | None = None) -> list[dict[str, int]]:
    """Return a frame as beats of an AXI4-Stream; at place `hole` a byte is not kept. `dest`: tdest of the first beat, of the others."""
    chunks = [data[at : at + LINE] for at in range(0, len(data), LINE)]
    frame = [
        {
            "tdata": int.from_bytes(chunk, "little"),
            "tkeep": (1 << len(chunk)) - 1,
            "tlast": number == len(chunks) - 1,
            "tuser": error and number == len(chunks) - 1,
        }
        for number, chunk in enumerate(chunks)
    ]
    for number, beat in enumerate(frame if dest else ()):
        beat["tdest"] = dest[number > 0]
    if hole is not None:
        frame[hole // LINE]["tkeep"] &= ~(1 << hole % LINE)
    return frame


class Bench:
    """The device between a source, a sink and two memories. Each frame that was sent is followed to its end."""

    def __init__(self, dut) -> None:
        from memory_bench import AxiMemories

        self.dut, self.rng = dut, random.Random(seed())
        dut._log.info(f"PENSTOCK_SEED={seed()}")
        self.memories = AxiMemories(dut, tuple(memory.bytes for memory in CONFIG.memories), self.rng, latency=(10, 60), probability=0.8)
        self.beside = hasattr(dut, "s_axis_tdest_i")
        dest = ["tdest"] if self.beside else []
        source = self._signals("s_axis", "i", "tdata", "tkeep", "tlast", "tuser", *dest)
        self.source = Stream(dut.clk_i, dut.s_axis_tvalid_i, dut.s_axis_tready_o, source, 0.8, self.rng)
        sink = self._signals("m_axis", "o", "tdata", "tkeep", "tlast", "tid", "tuser", *dest)
        self.sink = Stream(dut.clk_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, sink, 0.8, self.rng)
        self.forget()

    def _signals(self, bus: str, suffix: str, *names: str) -> dict:
        return {name: getattr(self.dut, f"{bus}_{name}_{suffix}") for name in names}

    def forget(self) -> None:
        """Start counting from nothing."""
        self.sent: deque[tuple[bytes, bool, int | None]] = deque()  # (frame with prefix, error flag, tdest), not yet judged by the device
        self.stored: dict[int, deque[bytes]] = defaultdict(deque)  # passed, not yet enqueued
        self.queued: dict[int, deque[bytes]] = defaultdict(deque)
        self.departures: list[tuple[int, int, int]] = []  # (cycle of the first beat, queue, length)
        self.dropped: dict[str, list[int]] = {reason: [0, 0] for reason in registers.DROP_REASONS.values()}
        self.counts: dict[str, dict[int, list[int]]] = {bank: defaultdict(lambda: [0, 0]) for bank in ("in", "out", "drop")}
        self.arriving = bytearray()
        self.arriving_since = 0

    async def start(self, wait: bool = True) -> None:
        dut = self.dut
        for name in ("s_axis_tvalid", "s_axis_tuser", "m_axis_tready", "m_axi_bid", "m_axi_rid"):
            getattr(dut, f"{name}_i").value = 0
        self.memories.idle()
        self.axil = axi_lite_master(dut)
        await start(dut)
        cocotb.start_soon(self.memories.run())
        cocotb.start_soon(self._watch_events())
        self.tasks = [cocotb.start_soon(self._drain())]
        cocotb.start_soon(watch_held(dut.clk_i, dut.rst_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, self.sink.fields))
        if wait:
            await self.initialised()

    async def initialised(self) -> None:
        while not int(self.dut.init_done_o.value):
            assert not int(self.dut.s_axis_tready_o.value), "a frame was taken before the memories were cleared"
            await FallingEdge(self.dut.clk_i)

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await FallingEdge(self.dut.clk_i)

    # ---- what the device says and does ----

    async def _watch_events(self) -> None:
        from penstock.engine import engine

        models = engine.models("classify")

        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            if int(dut.rst_i.value):
                continue
            if int(dut.ev_classify_valid_o.value):
                frame, error, dest = self.sent.popleft()
                sizes = {"min_frame_bytes": CONFIG.min_frame_bytes, "max_frame_bytes": CONFIG.max_frame_bytes}
                verdict = models.classify(frame, queues=CONFIG.queues, error=error, dest=dest, **sizes)
                seen = tuple(int(getattr(dut, f"ev_classify_{name}_o").value) for name in ("reason", "queue", "len"))
                assert seen == verdict, f"a frame of {len(frame)} bytes: the device says {seen}, the model {verdict}"
                if verdict[0]:
                    self._count(self.dropped[registers.DROP_REASONS[verdict[0]]], verdict[2])
                else:
                    self.stored[verdict[1]].append(frame if self.beside else frame[PREFIX_BYTES:])
            if int(dut.ev_enqueue_valid_o.value):
                reason, queue, length = (int(getattr(dut, f"ev_enqueue_{name}_o").value) for name in ("reason", "queue", "len"))
                frame = self.stored[queue].popleft()
                assert length == len(frame)
                if reason:
                    self._count(self.dropped[registers.DROP_REASONS[reason]], length)
                    self._count(self.counts["drop"][queue], length)
                else:
                    self.queued[queue].append(frame)
                    self._count(self.counts["in"][queue], length)

    @staticmethod
    def _count(pair: list[int], length: int) -> None:
        pair[0] += 1
        pair[1] += length

    async def _drain(self) -> None:
        class Arrivals(list):
            def append(_, beat: dict[str, int]) -> None:
                self._beat(beat)

        await self.sink.receive(Arrivals())

    def _beat(self, beat: dict[str, int]) -> None:
        if not self.arriving:
            self.arriving_since = int(self.dut.now_o.value)
        keep = beat["tkeep"]
        size = keep.bit_length()
        assert keep == (1 << size) - 1 and size and (size == LINE or beat["tlast"]), f"tkeep is {keep:#x}"
        assert not beat["tuser"]
        assert beat.get("tdest", beat["tid"]) == beat["tid"]
        self.arriving += (beat["tdata"] & (1 << 8 * size) - 1).to_bytes(size, "little")
        if beat["tlast"]:
            frame, queue = bytes(self.arriving), beat["tid"]
            assert self.queued[queue], f"queue {queue} sends a frame although it has none"
            expected = self.queued[queue].popleft()
            assert frame == expected, f"queue {queue}: a frame of {len(expected)} bytes left as one of {len(frame)}, or with other bytes"
            self._count(self.counts["out"][queue], len(frame))
            self.departures.append((self.arriving_since, queue, len(frame)))
            self.arriving = bytearray()

    # ---- what the test does ----

    async def send(self, *frames: tuple[int, int] | tuple[int, int, bool] | tuple[int, int, bool, bool]) -> None:
        """Send frames of (queue id, length without prefix, error flag, tkeep has a hole); a negative length cuts into the prefix."""
        for queue, length, *flags in frames:
            data = (queue.to_bytes(PREFIX_BYTES, "big") + self.rng.randbytes(max(length, 0)))[: PREFIX_BYTES + length]
            if self.beside:
                data = self.rng.randbytes(max(length, 1))
            error, holed = [*flags, False, False][:2]
            hole = None
            if holed:
                last = (len(data) - 1) // LINE
                hole = LINE * self.rng.choice([0, last, self.rng.randint(0, last)]) + self.rng.randrange(LINE - 1)
                if hole // LINE == last:  # a beat with a hole counts as a full one
                    data += self.rng.randbytes(-len(data) % LINE)
            self.sent.append((data, error or holed, queue if self.beside else None))
            await self.source.send(beats(data, error, hole, [queue, self.rng.getrandbits(32)] if self.beside else None))

    async def write(self, address: int, value: int) -> None:
        answer = await with_timeout(self.axil.write(address, value.to_bytes(4, "little")), 200, "us")
        assert answer.resp == 0

    async def read(self, name: str) -> int:
        entry = registers.table()[name]
        value = 0
        for offset in range(0, entry["bytes"], 4):
            answer = await with_timeout(self.axil.read(entry["address"] + offset, 4), 200, "us")
            value |= int.from_bytes(answer.data, "little") << 8 * offset
        return value

    async def set_queue(
        self, queue: int, rate: int | None = None, burst: int = 0, limit_packets: int = 65_535, limit_bytes: int = 16_777_215
    ) -> None:
        for address, value in registers.queue_writes(queue, rate, burst, limit_packets, limit_bytes, CONFIG.clock_hz):
            await self.write(address, value)
        while await self.read("status") & registers.STATUS_BUSY:
            pass

    async def empty(self, most: int = 20_000) -> None:
        """Wait until every frame has met its end."""
        for _ in range(most):
            if not self.sent and not any(self.stored.values()) and not any(self.queued.values()):
                break
            await FallingEdge(self.dut.clk_i)
        else:
            raise AssertionError(f"frames are stuck: {len(self.sent)} at the input, queued {[len(q) for q in self.queued.values()]}")
        await self.cycles(20)

    async def settled(self, most: int = 20_000) -> None:
        """Wait until every frame that was sent is in its queue or dropped."""
        for _ in range(most):
            if not self.sent and not any(self.stored.values()):
                return
            await FallingEdge(self.dut.clk_i)
        raise AssertionError("frames are stuck at the input")

    async def snapshot(self, queue: int) -> None:
        """Have the counters of a queue read."""
        await self.write(registers.address("queue_index"), queue)
        await self.write(registers.address("queue_command"), registers.COMMAND_SNAPSHOT)
        while await self.read("status") & registers.STATUS_BUSY:
            pass

    async def compare_counters(self) -> None:
        """Compare every counter of the device with what was seen."""
        for reason, expected in self.dropped.items():
            assert [await self.read(f"dropped_{reason}_packets"), await self.read(f"dropped_{reason}_bytes")] == expected, reason
        for queue in range(CONFIG.queues):
            await self.snapshot(queue)
            for bank, counts in self.counts.items():
                seen = [await self.read(f"{bank}_packets"), await self.read(f"{bank}_bytes")]
                assert seen == counts[queue], f"queue {queue}, {bank}"

    async def fill_and_empty(self) -> None:
        """Fill every page behind closed gates and see that just as many frames fit as there are pages."""
        small = CONFIG.memories[1].page_bytes
        for queue in range(CONFIG.queues):
            await self.set_queue(queue, rate=0)
        before = self.dropped["no_page"][0]
        await self.send(
            *[(n % CONFIG.queues, self.rng.randrange(small + 1, CONFIG.max_frame_bytes + 1)) for n in range(CONFIG.memories[0].pages)]
        )
        await self.settled()
        assert self.dropped["no_page"][0] == before, "a page of the large memory is missing"
        await self.send(*[(n % CONFIG.queues, self.rng.randrange(14, small + 1)) for n in range(CONFIG.memories[1].pages)])
        await self.settled()
        assert self.dropped["no_page"][0] == before, "a page of the small memory is missing"
        await self.send((3, 60), (4, CONFIG.max_frame_bytes))
        await self.settled()
        assert self.dropped["no_page"][0] == before + 2, "there are more pages than there should be"
        gone = len(self.departures)
        await self.cycles(500)
        assert len(self.departures) == gone, "a closed gate let a frame through"
        for queue in range(CONFIG.queues):
            await self.set_queue(queue)
        await self.empty()


def random_frame(rng: random.Random) -> tuple[int, int, bool, bool]:
    """Return (queue id, length, error flag, tkeep has a hole): mostly good, at every edge of size, id and flags."""
    queue = rng.randrange(CONFIG.queues)
    length = rng.choice(
        [14, 60, 61, 124, 125, 188, 256, 257, 1514, CONFIG.max_frame_bytes, rng.randrange(14, 300), rng.randrange(14, 1523)]
    )
    kind = rng.random()
    if kind < 0.08:
        length = rng.choice([-3, -1, 0, 1, 13, rng.randrange(14)])
    elif kind < 0.16:
        length = rng.choice([CONFIG.max_frame_bytes + 1, 1600, rng.randrange(1523, 4000)])
    elif kind < 0.24:
        queue = rng.choice([CONFIG.queues, 1 << 31, 0xFFFFFFFF, rng.randrange(CONFIG.queues, 1 << 32), 1 << 24, 256])
    return queue, length, rng.random() < 0.08, rng.random() < 0.04


@cocotb.test()
async def identity(dut) -> None:
    bench = Bench(dut)
    await bench.start(wait=False)
    early = cocotb.start_soon(bench.set_queue(2, limit_packets=0))  # waits for the walkers, and is not lost
    offered = cocotb.start_soon(bench.send((2, 60), (1, 60)))
    await bench.initialised()
    await early
    await offered
    await bench.empty()
    expected = {
        "type": 0x50535401, "version": MAP_VERSION, "queues": 16, "descriptors": 64, "memories": 2, "max_frame_bytes": 1522,
        "clock_hz": 220_000_000, "features": 1, "next": 0, "status": 1,
    }  # fmt: skip
    for name, value in expected.items():
        assert await bench.read(name) == value, name
    await bench.write(registers.address("queue_index"), CONFIG.queues)
    await bench.write(registers.address("queue_command"), registers.COMMAND_WRITE)
    index_out_of_range = 2 << 4
    assert await bench.read("status") == registers.STATUS_INIT_DONE | registers.STATUS_REFUSED | index_out_of_range
    assert dut.m_axi_awsize_o.value == 0o66 and dut.m_axi_arsize_o.value == 0o66
    assert dut.m_axi_awburst_o.value == 0b0101 and dut.m_axi_arburst_o.value == 0b0101
    await bench.compare_counters()


@cocotb.test()
async def every_byte_and_every_drop(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    rng = bench.rng
    await bench.set_queue(0, rate=10**9, limit_packets=2)
    await bench.set_queue(1, rate=10**9, limit_bytes=1600)
    await bench.set_queue(2, rate=2 * 10**9, burst=3000)
    await bench.set_queue(3, rate=100 * 10**9)
    gated = range(4, CONFIG.queues)
    for source, sink, memory, gate in ((1.0, 1.0, 1.0, False), (1.0, 0.5, 0.8, True), (0.4, 0.15, 0.5, False), (1.0, 0.9, 0.3, False)):
        bench.source.probability, bench.sink.probability, bench.memories.probability = source, sink, memory
        for queue in gated if gate else ():
            await bench.set_queue(queue, rate=0)
        for _ in range(160):
            queue, *rest = random_frame(rng)
            # Some of the time two queues get most of the frames, so that they are full.
            await bench.send((rng.randrange(2) if queue < CONFIG.queues and rng.random() < 0.3 and not gate else queue, *rest))
        await bench.settled()
        for queue in gated if gate else ():
            await bench.set_queue(queue)
        await bench.empty()
    for reason, (packets, _) in bench.dropped.items():
        # This device has no AQM, no admission and no headers, and its memories give no errors; others have tests of their own.
        never = ("aqm", "no_share", "read_error", "write_error", "no_subscriber", "flow_overflow")
        assert packets or reason in never, f"no frame was dropped for {reason}"
    packets, size = bench.dropped["oversize"]
    await bench.send((5, 60), (5, 100_000), (5, 60))
    await bench.empty()
    assert bench.dropped["oversize"] == [packets + 1, size + 100_000], "a giant does not count to the byte"
    await bench.compare_counters()
    await bench.fill_and_empty()
    await bench.compare_counters()


@cocotb.test()
async def rate_gate_and_limits(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.source.probability = bench.sink.probability = 1.0
    await bench.set_queue(5, rate=10**9)
    await bench.send(*[(5, 1000)] * 8)
    await bench.empty()
    times = [cycle for cycle, _, _ in bench.departures]
    period = 8 * 1000 * CONFIG.clock_hz / 10**9  # the first packet may be early by the tolerance, so it is left out
    assert abs((times[-1] - times[1]) / 6 - period) < 0.03 * period, f"{times}, where a packet takes {period:.0f} cycles"

    await bench.set_queue(6, rate=0)
    await bench.send(*[(6, 200)] * 3, (7, 300))
    await bench.cycles(2000)
    assert [queue for _, queue, _ in bench.departures[8:]] == [7]
    opened = int(dut.now_o.value)
    await bench.set_queue(6)
    await bench.empty()
    assert bench.departures[9][0] - opened < 300, "the gate was opened, but the packets did not leave"

    await bench.set_queue(8, rate=0, limit_packets=2)
    await bench.set_queue(9, rate=0, limit_bytes=500)
    await bench.send((8, 100), (9, 400), (8, 100), (9, 101), (8, 100), (9, 100), (9, 14))
    await bench.settled()
    assert bench.dropped["tail_drop_packets"] == [1, 100]
    assert bench.dropped["tail_drop_bytes"] == [2, 115]
    for queue in (8, 9):
        await bench.set_queue(queue)
    await bench.empty()
    await bench.compare_counters()


@cocotb.test()
async def counters_of_one_moment(dut) -> None:
    """Packets and bytes belong together while traffic flows: all frames of a queue have one length, so bytes are packets times length."""
    bench = Bench(dut)
    await bench.start()
    bench.source.probability, bench.sink.probability = 0.5, 1.0
    lengths = {0: 100, 1: 61, 2: 1514}
    await bench.set_queue(0, rate=10**9, limit_packets=2)  # most of its frames are dropped, and no others
    frames = [(queue, lengths[queue]) for queue in bench.rng.choices([0, 1, 2], weights=[9, 9, 1], k=2500)]
    sending = cocotb.start_soon(bench.send(*frames))
    seen: dict[tuple[int, str], set[int]] = defaultdict(set)
    while not sending.done():
        pair = [await bench.read("dropped_tail_drop_packets_packets"), await bench.read("dropped_tail_drop_packets_bytes")]
        assert pair[1] == pair[0] * lengths[0], f"tail drops: {pair[0]} packets and {pair[1]} bytes are not of one moment"
        seen[0, "reason"].add(pair[0])
        for queue, length in lengths.items():
            await bench.snapshot(queue)
            packets = {bank: await bench.read(f"{bank}_packets") for bank in bench.counts}
            for bank, count in packets.items():
                size = await bench.read(f"{bank}_bytes")
                assert size == count * length, f"queue {queue}, {bank}: {count} packets and {size} bytes are not of one moment"
                seen[queue, bank].add(count)
            assert packets["out"] <= packets["in"], f"queue {queue}: more sent than accepted"
    for which in ((0, "reason"), (0, "in"), (0, "drop"), (1, "in"), (1, "out"), (2, "in"), (2, "out")):
        assert len(seen[which]) > 10, f"{which} was not read while it changed"
    await bench.empty()
    await bench.compare_counters()


@cocotb.test()
async def reset_in_mid_traffic(dut) -> None:
    """After a reset there is no frame, page, setting or counter left of what was before."""
    bench = Bench(dut)
    await bench.start()
    for _ in range(3):
        await bench.set_queue(bench.rng.randrange(16), rate=0)
        bench.sink.probability, bench.source.probability = 0.3, 1.0
        sender = cocotb.start_soon(bench.send(*[random_frame(bench.rng) for _ in range(200)]))
        await bench.cycles(bench.rng.randrange(300, 1200))
        sender.cancel()
        for task in bench.tasks:
            task.cancel()
        dut.rst_i.value = 1
        dut.s_axis_tvalid_i.value = dut.m_axis_tready_i.value = 0
        await bench.cycles(4)
        bench.forget()
        dut.rst_i.value = 0
        bench.tasks = [cocotb.start_soon(bench._drain())]
        assert not int(dut.init_done_o.value)
        await bench.initialised()
        await bench.cycles(300)
        assert not bench.departures
        await bench.compare_counters()
    await bench.fill_and_empty()
    await bench.send(*[random_frame(bench.rng) for _ in range(60)])
    await bench.empty()
    await bench.compare_counters()


@cocotb.test()
async def drained_before_a_reset(dut) -> None:
    """Drained in mid-traffic and reset, while the memories are not: they owe nothing, and traffic behind the reset is whole. And traffic
    goes on where it was when `stop` is taken back instead."""
    bench = Bench(dut)
    bench.memories.forgets = False
    await bench.start()
    rng, busy = bench.rng, 0
    for _ in range(8):
        bench.sink.probability, bench.source.probability = rng.choice([0.3, 1.0]), rng.choice([0.3, 1.0])
        bench.memories.probability = rng.choice([0.3, 0.9])
        sender = cocotb.start_soon(bench.send(*[random_frame(rng) for _ in range(200)]))
        await bench.cycles(rng.randrange(300, 1200))
        busy += bench.memories.under_way
        await bench.write(registers.address("drain"), 1)
        done = 0
        while not await bench.read("drained"):
            done += 1
            assert done < 500, "it does not come to rest"
        gone = len(bench.departures)
        for _ in range(rng.randrange(1, 400)):
            await FallingEdge(dut.clk_i)
            assert not int(dut.s_axis_tready_o.value) and not bench.memories.under_way, "it is not at rest"
        assert (await bench.read("outstanding"), await bench.read("drained")) == (0, 1)
        assert len(bench.departures) == gone and not bench.arriving
        if rng.random() < 0.4:
            await bench.write(registers.address("drain"), 0)
            await sender
            await bench.empty(200_000)
            await bench.compare_counters()
            continue
        sender.cancel()
        for task in bench.tasks:
            task.cancel()
        await FallingEdge(dut.clk_i)
        dut.rst_i.value = 1
        dut.s_axis_tvalid_i.value = dut.m_axis_tready_i.value = 0
        await bench.cycles(rng.randrange(1, 5))
        bench.forget()
        dut.rst_i.value = 0
        bench.tasks = [cocotb.start_soon(bench._drain())]
        await bench.initialised()
    assert busy > 8, "the memories had nothing to do when the device was stopped"
    bench.sink.probability = bench.source.probability = bench.memories.probability = 1.0
    await bench.fill_and_empty()
    await bench.compare_counters()
