"""pst_deadline_tail: frames into chunks. Every chunk is read by chunks.Reader, which shares nothing with the hardware."""

import random
from collections import deque

import cocotb
import pytest
from chunks import Frame, Meta, Reader, random_frame, to_beats
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

TAKEN, NO_CHUNK = 0, 1
FIELDS = ("class", "serial", "number", "meta")


class Bench:
    """Drives frames, numbers and looks, plays the mover, and knows what must come out."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.classes, self.chunk_beats = testkit.parameter("Classes", 64), testkit.parameter("ChunkBeats", 64)
        self.longest = testkit.parameter("MaxFrameBytes", 9600)
        self.source = self.sink = self.giver = 1.0  # chances of an offer, of a ready and a read, of a number
        self.looped = 0.5  # share of chunks that go by the loop
        self.chunks = 4 * self.classes + 40  # in memory
        self.reading = True  # or chunks are moved unread
        self.come_back = True  # chunks in memory are free again at once
        self.forget()

    def forget(self) -> None:
        self.metas: deque[Frame] = deque()
        self.beats: deque[int] = deque()
        self.offer: dict = {"meta": None, "data": None, "number": None}
        self.sent: deque[Frame] = deque()  # whose fate is not known
        self.taken: list[deque[Frame]] = [deque() for _ in range(self.classes)]
        self.readers = [Reader(c, self.chunk_beats) for c in range(self.classes)]
        self.fates = [0, 0]
        self.free = list(range(self.chunks))
        self.owners: dict[int, int | None] = {}  # of the numbers that the tail has: the class, once it is known
        self.serials = [0] * self.classes
        self.numbers: list[list[int]] = [[] for _ in range(self.classes)]  # of the chunks, by serial
        self.began: list[list[tuple[int, int]]] = [[(0, 0)] for _ in range(self.classes)]  # frames and bytes before each
        self.job: dict | None = None
        self.pipe: deque = deque([None, None])  # reads on their way
        self.moved: deque[tuple[int, int, int]] = deque()
        self.dry = 0
        self.flagged = [False] * self.classes  # took a frame since the last look that said so
        self.since = [False] * self.classes  # since the last look
        self.look_pipe: deque = deque([None, None])
        self.looks: list[tuple[int, dict]] = []
        self.said_none = 0
        self.cycles = self.out = 0

    def idle(self) -> None:
        for name in ("s_meta_valid", "s_data_valid", "s_number_valid", "more_numbers", "dry", "m_chunk_ready", "s_moved_valid",
                     "read_valid", "look_valid", "s_meta_class", "s_meta_header", "s_data", "s_number", "s_moved_class", "s_moved_slot",
                     "s_moved_looped", "read_class", "read_slot", "read_header", "read_beat", "look_class"):  # fmt: skip
            getattr(self.dut, f"{name}_i").value = 0

    async def ready(self) -> None:
        while not int(self.dut.init_done_o.value):
            await FallingEdge(self.dut.clk_i)

    def add(self, frame: Frame) -> None:
        self.metas.append(frame)
        self.beats.extend(to_beats(frame.data))

    def _chance(self, probability: float) -> bool:
        return probability >= 1 or self.rng.random() < probability

    async def cycle(self, look: int | None = None) -> None:
        dut, offer = self.dut, self.offer
        await FallingEdge(dut.clk_i)
        self.cycles += 1
        if offer["meta"] is None and self.metas and self._chance(self.source):
            frame = offer["meta"] = self.metas.popleft()
            dut.s_meta_class_i.value, dut.s_meta_header_i.value = frame.class_id, frame.header
        if offer["data"] is None and self.beats and self._chance(self.source):
            offer["data"] = self.beats.popleft()
            dut.s_data_i.value = offer["data"]
        if offer["number"] is None and self.free and self._chance(self.giver):
            offer["number"] = self.free.pop(self.rng.randrange(len(self.free)))
            dut.s_number_i.value = offer["number"]
        for name in offer:
            getattr(dut, f"s_{name}_valid_i").value = int(offer[name] is not None)
        dut.more_numbers_i.value = int(bool(self.free))
        dut.dry_i.value = self.dry
        take = self.job is None and self._chance(self.sink)
        dut.m_chunk_ready_i.value = int(take)
        self._drive_read()
        moved = self.moved.popleft() if self.moved else None
        dut.s_moved_valid_i.value = int(moved is not None)
        if moved:
            dut.s_moved_class_i.value, dut.s_moved_slot_i.value, dut.s_moved_looped_i.value = moved
        dut.look_valid_i.value = int(look is not None)
        if look is not None:
            dut.look_class_i.value = look
        await ReadOnly()
        for name in offer:
            if offer[name] is not None and int(getattr(dut, f"s_{name}_ready_o").value):
                if name == "meta":
                    self.sent.append(offer[name])
                if name == "number":
                    assert offer[name] not in self.owners
                    self.owners[offer[name]] = None
                offer[name] = None
        self._sample_read()
        self._sample_look(look)
        if take and int(dut.m_chunk_valid_o.value):
            self._begin({name: int(getattr(dut, f"m_chunk_{name}_o").value) for name in FIELDS})

    # --- looks

    def _sample_look(self, look: int | None) -> None:
        dut = self.dut
        if int(dut.m_fate_valid_o.value):
            frame = self.sent.popleft()
            reason = int(dut.m_fate_reason_o.value)
            assert (int(dut.m_fate_class_o.value), int(dut.m_fate_bytes_o.value)) == (frame.class_id, len(frame.data))
            self.fates[reason] += 1
            if reason == TAKEN:
                self.taken[frame.class_id].append(frame)
                self.flagged[frame.class_id] = self.since[frame.class_id] = True
        asked = self.look_pipe.popleft()
        if asked is not None:
            class_id, flagged = asked
            said = int(dut.look_any_o.value)
            assert flagged or not said, f"class {class_id} took nothing since the last look"
            self.said_none += flagged and not said
            if said:
                stamp = int(dut.look_o.value)
                fields = {}
                for name, width in (("bytes", 40), ("frames", 32), ("previous", 20), ("number", 20), ("serial", 24)):
                    fields[name], stamp = stamp & (1 << width) - 1, stamp >> width
                self.looks.append((class_id, fields))
                self.flagged[class_id] = self.since[class_id]
        if look is not None:
            self.since[look] = False
        self.look_pipe.append(None if look is None else (look, self.flagged[look]))

    # --- the mover

    def _begin(self, chunk: dict) -> None:
        c = chunk["class"]
        assert chunk["serial"] == self.serials[c], f"class {c}: chunk {chunk['serial']} came for {self.serials[c]}"
        self.serials[c] += 1
        number = chunk["number"]
        assert number in self.owners and self.owners[number] in (None, c), f"class {c}: chunk {number} is of {self.owners.get(number)}"
        self.owners[number] = c
        self.numbers[c].append(number)
        meta = Meta.of(chunk["meta"])
        self.job = {**chunk, "beats": meta.beats, "headers": meta.header_beats, "asked": 0, "words": []}
        if not self.reading:
            self._end()

    def _drive_read(self) -> None:
        dut, job = self.dut, self.job
        ask = job is not None and job["asked"] < job["beats"] and self._chance(self.sink)
        dut.read_valid_i.value = int(ask)
        if ask:
            header = job["asked"] < job["headers"]
            dut.read_class_i.value, dut.read_slot_i.value, dut.read_header_i.value = job["class"], job["serial"] & 1, int(header)
            dut.read_beat_i.value = job["asked"] - (0 if header else job["headers"])
            job["asked"] += 1
        self.pipe.append(job if ask else None)

    def _sample_read(self) -> None:
        job = self.pipe.popleft()
        if job is None:
            return
        word = int(self.dut.read_data_o.value)
        if not job["words"]:
            word = word >> 64 << 64 | job["meta"]
        job["words"].append(word)
        if len(job["words"]) == job["beats"]:
            self._end()

    def _end(self) -> None:
        job, self.job = self.job, None
        c, slot = job["class"], job["serial"] & 1
        if self.reading:
            reader = self.readers[c]
            for frame in reader.feed(job["words"]):
                self.out += 1
                expected = self.taken[c].popleft()
                assert frame == expected, f"class {c}: another frame comes out, of {len(frame.data)} for {len(expected.data)} byte"
            self.began[c].append((reader.frames, reader.bytes))
        looped = self._chance(self.looped) if self.looped else False
        if not looped:
            del self.owners[job["number"]]
            if self.come_back:
                self.free.append(job["number"])
        self.moved.append((c, slot, int(looped)))

    async def drain(self) -> None:
        """Everything out: what is under way, then all that the classes hold."""
        limit = self.cycles + 4000 + 60 * (len(self.beats) + self.chunk_beats * self.classes)
        self.dry = (1 << self.classes) - 1
        while self.metas or self.sent or any(self.taken) or self.offer["meta"] or self.job or self.moved:
            await self.cycle()
            assert self.cycles < limit, f"stuck: {sum(map(len, self.taken))} frames inside, {len(self.sent) + len(self.metas)} before it"

    def check_looks(self) -> None:
        for c, stamp in self.looks:
            serial = stamp["serial"]
            assert serial < len(self.numbers[c]) and self.numbers[c][serial] == stamp["number"], f"class {c}: {stamp}"
            assert serial == 0 or self.numbers[c][serial - 1] == stamp["previous"], f"class {c}: {stamp}"
            assert self.began[c][serial] == (stamp["frames"], stamp["bytes"]), f"class {c}: {stamp}"


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    bench.idle()
    await testkit.start(dut)
    fields = {name: getattr(dut, f"m_chunk_{name}_o") for name in FIELDS}
    cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, dut.m_chunk_valid_o, dut.m_chunk_ready_i, fields))
    await bench.ready()
    return bench


@cocotb.test()
async def mixed(dut) -> None:
    """Random frames, gaps, flushes, looks and moves; a reset in the middle."""
    bench = await begin(dut)
    rng = bench.rng
    for step in range(6):
        bench.source, bench.sink = rng.choice((0.3, 0.8, 1.0)), rng.choice((0.2, 0.8, 1.0))
        bench.looped, bench.giver = rng.choice((0.0, 0.5, 1.0)), rng.choice((0.1, 1.0))
        classes = rng.choice((1, 2, bench.classes))
        longest = rng.choice((128, bench.longest))
        for _ in range(150 if longest == 128 else 40):
            bench.add(random_frame(rng, classes, 60, longest))
        cycles = 0
        while bench.metas or bench.beats:
            if cycles % 50 == 0:
                bench.dry = rng.choice((0, rng.getrandbits(bench.classes), (1 << bench.classes) - 1))
            look = rng.randrange(classes) if rng.random() < 0.2 else None
            if any(asked and asked[0] == look for asked in bench.look_pipe):
                look = None
            await bench.cycle(look)
            cycles += 1
            assert cycles < 60000, "stuck"
            if step == 3 and cycles == 200:
                break
        if step == 3:
            await FallingEdge(dut.clk_i)
            bench.idle()
            dut.rst_i.value = 1
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 0
            bench.forget()
            await bench.ready()
        else:
            await bench.drain()
            bench.check_looks()
    dut._log.info("%d frames since the reset; %d looks, %d without a chunk", bench.out, len(bench.looks), bench.said_none)
    assert bench.fates[NO_CHUNK] == 0, "there were enough chunks"
    assert bench.out == bench.fates[TAKEN] >= 80 and len(bench.looks) > 10


@cocotb.test()
async def no_chunk(dut) -> None:
    """With few chunks in memory: frames are dropped whole, for that reason alone, and all others come out."""
    bench = await begin(dut)
    bench.come_back, bench.looped, bench.free = False, 0.2, []
    number = 0
    for _ in range(12):
        for _ in range(bench.rng.randint(2, 9)):
            bench.free.append(number)
            number += 1
        for _ in range(20):
            bench.add(random_frame(bench.rng, min(4, bench.classes), 60, bench.longest))
        limit = bench.cycles + 20000
        while bench.metas or bench.beats or bench.offer["data"] is not None:
            await bench.cycle()
            assert bench.cycles < limit, "a frame was begun for which there are no chunks"
    for _ in range(10):
        await bench.cycle()
    assert bench.fates[NO_CHUNK] > 5 and bench.fates[TAKEN] > 5, bench.fates
    await bench.drain()
    dut._log.info("%d frames taken, %d refused", *bench.fates)


@cocotb.test()
async def slow_numbers(dut) -> None:
    """As long as free chunks are on their way no frame is dropped."""
    bench = await begin(dut)
    bench.giver, bench.looped = 0.03, 0.0
    for _ in range(60):
        bench.add(random_frame(bench.rng, bench.classes, 60, min(bench.longest, 1500)))
    await bench.drain()
    assert bench.fates[NO_CHUNK] == 0


@cocotb.test()
async def looks(dut) -> None:
    """Each class is looked at after a frame: it says so once, and where it is."""
    bench = await begin(dut)
    for c in range(bench.classes):
        bench.add(Frame(c, c, c, bench.rng.randbytes(100)))
    while sum(bench.fates) < bench.classes:
        await bench.cycle()
    for said in (1, 0):
        bench.looks.clear()
        for c in range(bench.classes):
            await bench.cycle(c)
        for _ in range(4):
            await bench.cycle()
        assert [c for c, _ in bench.looks] == list(range(bench.classes)) * said
    # A frame ends in nearly each cycle, also in those of the looks: none is forgotten.
    for _ in range(300):
        bench.add(Frame(bench.rng.randrange(2), 0, 0, bench.rng.randbytes(64)))
    while bench.metas or bench.offer["meta"]:
        look = bench.rng.randrange(2) if bench.rng.random() < 0.4 else None
        await bench.cycle(None if any(asked and asked[0] == look for asked in bench.look_pipe) else look)
    assert bench.said_none == 0, "a class with a frame since the last look does not say so"


@cocotb.test()
async def flush(dut) -> None:
    """Once a class is dry, the chunk with its frame comes out 8 cycles later; before that it does not."""
    bench = await begin(dut)
    for c in (1, 0, 1):
        bench.add(Frame(c, 1, 2, bench.rng.randbytes(130)))
        while sum(bench.fates) == 0:
            await bench.cycle()
        bench.fates[TAKEN] = 0
        for _ in range(30):
            await bench.cycle()
        assert bench.job is None and bench.taken[c], "flushed although not dry"
        bench.dry = 1 << c
        cycles = 0
        while bench.job is None:
            await bench.cycle()
            cycles += 1
            assert cycles <= 8, "the flush does not come"
        dut._log.info("chunk of a dry class after %d cycles", cycles)
        bench.dry = 0
        while bench.taken[c]:
            await bench.cycle()


@cocotb.test()
async def rate(dut) -> None:
    """A beat in each cycle: frames of one beat from one class and from all, and long ones at any alignment."""
    bench = await begin(dut)
    bench.reading = False
    everything = (1 << bench.classes) - 1
    kinds = ((64, 1, 0), (64, bench.classes, 0), (64, bench.classes, everything), (1513, 1, 0), (1513, bench.classes, everything))
    for length, classes, dry in kinds:
        beats = -(-length // 64)
        if bench.chunk_beats == 8 and (classes == 1 or beats > 1):
            continue  # two slots of 7 beats do not cover the mover's way
        bench.dry = dry
        count = 600 // beats
        for k in range(count):
            bench.add(Frame(k % classes, 0, 0, bytes(length)))
        bench.fates[TAKEN] = start = 0
        while bench.fates[TAKEN] < count:
            await bench.cycle()
            start += 1
            assert start < 3000, "stuck"
        dut._log.info("%d beats of %d-byte frames, %d classes, dry %x: %d cycles", count * beats, length, classes, dry, start)
        assert start <= count * beats + 8
        for _ in range(300):
            await bench.cycle()


@pytest.mark.parametrize(
    "classes, chunk_beats, longest",
    [(3, 8, 1518), (64, 64, 9600), pytest.param(64, 8, 9600, marks=pytest.mark.slow)],
    ids=["3-8", "64-64", "64-8"],
)
def test_pst_deadline_tail(classes: int, chunk_beats: int, longest: int) -> None:
    testkit.run_module("deadline", "pst_deadline_tail", {"Classes": classes, "ChunkBeats": chunk_beats, "MaxFrameBytes": longest})
