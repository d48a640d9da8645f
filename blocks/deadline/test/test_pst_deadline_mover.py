"""pst_deadline_mover: every chunk once, in its class's order, by the loop or through the memory, whatever these two do."""

import random
from collections import deque

import cocotb
import pytest
from chunks import Meta
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import LINE, AxiMemories

from penstock.testing import testkit

CHUNKS = 64  # in memory
PLACES = 3  # of a class on the head side
SETTLE = 4  # cycles after which loop_ok_i knows


class Bench:
    """Plays the tail, its memory, the lists and the head side."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.classes, self.beats = testkit.parameter("Classes", 64), testkit.parameter("ChunkBeats", 64)
        self.memory = AxiMemories(dut, (CHUNKS * self.beats * LINE,), rng, read=False)
        self.probability = 1.0  # of each ready
        self.fetch = 0.5  # of a chunk that leaves its list, and of a place that gets free
        self.forget()

    def forget(self) -> None:
        n = self.classes
        self.slots = [[None, None] for _ in range(n)]  # what the tail holds: beats of a chunk, without meta
        self.next_serial, self.head_serial = [0] * n, [0] * n
        self.free = list(range(CHUNKS))
        self.waiting: deque[dict] = deque()  # closed chunks
        self.chunks: dict[tuple[int, int], dict] = {}  # by class and serial, until the head has them
        self.to_push: deque[dict] = deque()  # chunks that go to memory
        self.lists: list[deque] = [deque() for _ in range(n)]
        self.places = [0] * n
        self.reads: deque = deque([None, None])
        self.ok: deque[int] = deque([(1 << n) - 1] * SETTLE)
        self.loop: list[int] = []  # beats of the chunk in the loop
        self.offered: dict | None = None
        self.looped = self.stored = self.bad = self.cycles = 0

    def idle(self) -> None:
        for name in ("s_chunk_valid", "s_chunk_class", "s_chunk_serial", "s_chunk_number", "s_chunk_meta", "m_read_data", "loop_ok"):
            getattr(self.dut, f"{name}_i").value = 0
        self.dut.m_loop_ready_i.value = self.dut.m_push_ready_i.value = 0
        self.memory.idle()

    def add(self, class_id: int, longest: int) -> bool:
        """Close a chunk of up to `longest` beats of data, if its class has a slot for it."""
        serial = self.next_serial[class_id]
        if self.slots[class_id][serial & 1] is not None or not self.free:
            return False
        frames = self.rng.randint(0, max(1, self.beats - 2))
        headers = -(-(1 + frames) // 8)
        units = self.rng.randint(1, 8 * max(1, min(longest, self.beats - headers)))
        meta = Meta(frames, units, self.rng.randint(0, units), self.rng.getrandbits(24), self.rng.getrandbits(11), self.rng.getrandbits(1))
        word = meta.word
        content = [self.rng.getrandbits(512) for _ in range(meta.beats)]
        number = self.free.pop(self.rng.randrange(len(self.free)))
        expected = [content[0] >> 64 << 64 | word, *content[1:]]
        chunk = {"class": class_id, "serial": serial, "number": number, "meta": word, "expected": expected}
        self.slots[class_id][serial & 1] = (meta.header_beats, content)
        self.next_serial[class_id] += 1
        self.waiting.append(chunk)
        self.chunks[class_id, serial] = chunk
        return True

    def _chance(self, probability: float) -> bool:
        return probability >= 1 or self.rng.random() < probability

    async def cycle(self) -> None:
        dut = self.dut
        await FallingEdge(dut.clk_i)
        self.cycles += 1
        if self.offered is None and self.waiting and self._chance(self.probability):
            self.offered = self.waiting.popleft()
            for name in ("class", "serial", "number", "meta"):
                getattr(dut, f"s_chunk_{name}_i").value = self.offered[name]
        dut.s_chunk_valid_i.value = int(self.offered is not None)
        ready = {name: self._chance(self.probability) for name in ("loop", "push")}
        for name, value in ready.items():
            getattr(dut, f"m_{name}_ready_i").value = int(value)
        dut.loop_ok_i.value = self.ok.popleft()
        word = self.reads.popleft()
        dut.m_read_data_i.value = self.rng.getrandbits(512) if word is None else word
        await ReadOnly()
        if self.offered and int(dut.s_chunk_ready_o.value):
            self.offered = None
        self._read()
        if int(dut.m_moved_valid_o.value):
            self.slots[int(dut.m_moved_class_o.value)][int(dut.m_moved_slot_o.value)] = None
        if ready["loop"] and int(dut.m_loop_valid_o.value):
            self._loop()
        if ready["push"] and int(dut.m_push_valid_o.value):
            self._push()
        self._head()

    def _read(self) -> None:
        dut = self.dut
        if not int(dut.m_read_valid_o.value):
            self.reads.append(None)
            return
        slot = self.slots[int(dut.m_read_class_o.value)][int(dut.m_read_slot_o.value)]
        assert slot is not None, "a slot is read that the tail has back"
        headers, content = slot
        beat = int(dut.m_read_beat_o.value)
        self.reads.append(content[beat if int(dut.m_read_header_o.value) else headers + beat])

    def _loop(self) -> None:
        dut = self.dut
        c, serial = int(dut.m_loop_class_o.value), int(dut.m_loop_serial_o.value)
        if not self.loop:
            assert serial == self.head_serial[c], f"class {c}: chunk {serial} comes by the loop before {self.head_serial[c]} is there"
            assert not self.lists[c] and self.places[c] < PLACES, f"class {c}: there is no place for a chunk from the loop"
        self.loop.append(int(dut.m_loop_data_o.value))
        if int(dut.m_loop_last_o.value):
            chunk = self.chunks.pop((c, serial))
            assert self.loop == chunk["expected"], f"class {c}: another chunk comes by the loop"
            self.loop = []
            self.head_serial[c] += 1
            self.places[c] += 1
            self.free.append(chunk["number"])
            self.looped += 1

    def _push(self) -> None:
        dut = self.dut
        c, number, bad = (int(getattr(dut, f"m_push_{name}_o").value) for name in ("class", "number", "bad"))
        serial = self.head_serial[c] + len(self.lists[c])
        chunk = self.chunks.pop((c, serial))
        assert number == chunk["number"], f"class {c}: pushes out of order"
        lines = range(number * self.beats, number * self.beats + len(chunk["expected"]))
        assert bad == any((0, line) in self.memory.refused for line in lines), f"class {c}: mark of a bad chunk"
        if not bad:
            stored = [self.memory.lines[0].get(line) for line in lines]
            assert stored == chunk["expected"], f"class {c}: the memory has another chunk"
        self.lists[c].append(number)
        self.stored, self.bad = self.stored + 1, self.bad + bad

    def _head(self) -> None:
        ok = 0
        for c in range(self.classes):
            if self.places[c] and self._chance(self.fetch):
                self.places[c] -= 1
            if self.lists[c] and self.places[c] < PLACES and self._chance(self.fetch):
                self.free.append(self.lists[c].popleft())
                self.head_serial[c] += 1
                self.places[c] += 1
            ok |= int(self.places[c] < PLACES and not self.lists[c]) << c
        self.ok.append(ok)

    async def drain(self) -> None:
        end = self.cycles + 300 * self.beats + 3000 * self.classes
        while self.chunks or self.waiting:
            await self.cycle()
            assert self.cycles < end, f"stuck: {len(self.chunks)} chunks have not come out"
        for _ in range(10):
            await self.cycle()
        assert not int(self.dut.busy_o.value), "busy although nothing is on its way"


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    bench.idle()
    await testkit.start(dut)
    cocotb.start_soon(bench.memory.run())
    for name, fields in (("loop", ("class", "serial", "data", "last")), ("push", ("class", "number", "bad"))):
        signals = {field: getattr(dut, f"m_{name}_{field}_o") for field in fields}
        valid, ready = getattr(dut, f"m_{name}_valid_o"), getattr(dut, f"m_{name}_ready_i")
        cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, valid, ready, signals))
    return bench


@cocotb.test()
async def mixed(dut) -> None:
    """Random chunks, stalls on every side, refused writes, heads that are quick and slow; a reset in the middle."""
    bench = await begin(dut)
    rng = bench.rng
    looped = stored = bad = 0
    for step in range(8):
        bench.probability, bench.memory.probability = rng.choice((0.3, 0.8, 1.0)), rng.choice((0.3, 0.8, 1.0))
        bench.memory.latency = rng.choice(((1, 2), (5, 80)))
        bench.fetch = rng.choice((0.01, 0.05, 0.5))
        bench.memory.refused = {(0, rng.randrange(CHUNKS * bench.beats)) for _ in range(CHUNKS // 4)}
        bench.memory.error = 2 + step % 2
        classes, longest = rng.choice((1, 2, bench.classes)), rng.choice((2, bench.beats))
        count = 0
        while count < 50:
            if rng.random() < 0.3:
                count += bench.add(rng.randrange(classes), longest)
            await bench.cycle()
            assert bench.cycles < 200000, "stuck"
            if step == 4 and count == 25:
                break
        if step == 4:
            looped, stored, bad = looped + bench.looped, stored + bench.stored, bad + bench.bad
            await FallingEdge(dut.clk_i)
            bench.idle()
            dut.rst_i.value = 1
            await FallingEdge(dut.clk_i)
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 0
            bench.forget()
        else:
            await bench.drain()
    looped, stored, bad = looped + bench.looped, stored + bench.stored, bad + bench.bad
    dut._log.info("%d chunks by the loop, %d through the memory, %d of them refused", looped, stored, bad)
    assert looped > 30 and stored > 30 and bad > 0


@cocotb.test(skip=testkit.parameter("Classes", 64) < 8)
async def rate(dut) -> None:
    """A beat per cycle, through a memory that answers after 40 cycles and by the loop, with long chunks and with short ones."""
    bench = await begin(dut)
    bench.memory.latency = (40, 40)
    for loop in (False, True):
        for longest in (bench.beats, 1):
            bench.fetch = 0.0
            bench.places = [0 if loop else PLACES] * bench.classes
            bench.looped = bench.stored = bench.cycles = 0
            for _ in range(SETTLE):
                await bench.cycle()
            start = bench.cycles
            for c in range(bench.classes // 2):
                assert bench.add(c, longest)
            beats = sum(len(chunk["expected"]) for chunk in bench.waiting)
            while bench.chunks:
                await bench.cycle()
                assert bench.cycles < 5000, "stuck"
            took = bench.cycles - start
            dut._log.info("%d beats, %d chunks by the loop, %d to memory: %d cycles", beats, bench.looped, bench.stored, took)
            assert (bench.looped if loop else bench.stored) == bench.classes // 2
            assert took <= beats + 60
            bench.fetch = 1.0
            await bench.drain()


@pytest.mark.parametrize("classes, chunk_beats, outstanding", [(3, 8, 2), (64, 64, 16)], ids=["3-8", "64-64"])
def test_pst_deadline_mover(classes: int, chunk_beats: int, outstanding: int) -> None:
    parameters = {"Classes": classes, "ChunkBeats": chunk_beats, "MaxOutstanding": outstanding, "AddrWidth": 24}
    testkit.run_module("deadline", "pst_deadline_mover", parameters)
