# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What stands around pst_deadline_head: tail, mover, lists, memory, stamps and encoder, each random in time; and the book of all frames."""

import random
from collections import deque
from dataclasses import dataclass, field

from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

UNIT, BEAT_UNITS, BEAT = 8, 8, 64
MASK32 = (1 << 32) - 1


@dataclass(eq=False)
class Frame:
    """A frame, and what became of it."""

    cls: int
    data: bytes
    deadline: int
    user: int
    index: int = 0  # in its class
    chunks: list["Chunk"] = field(default_factory=list)  # the first is where it begins
    taken: bool = False


@dataclass(eq=False)
class Chunk:
    """A chunk of a class: its number in memory, what is in it."""

    cls: int
    serial: int
    number: int
    frames_before: int
    bytes_before: int
    front: int = 0
    frames: list[Frame] = field(default_factory=list)
    data: bytearray = field(default_factory=bytearray)
    open: bool = False
    lost: bool = False

    def beats(self, chunk_beats: int, rng: random.Random, whole: bool) -> list[int]:
        """As it stands in memory, with `whole` up to its last beat, which mean nothing."""
        meta = self.front << 18 | (len(self.data) // UNIT) << 8 | len(self.frames)
        meta |= int(self.open) << 63 | (self.frames_before % 2048) << 52 | (self.bytes_before % 2**24) << 28
        units = [meta] + [f.user << 48 | (f.deadline & MASK32) << 16 | len(f.data) for f in self.frames]
        units += [rng.getrandbits(64)] * (-len(units) % BEAT_UNITS)
        words = b"".join(unit.to_bytes(UNIT, "little") for unit in units) + bytes(self.data)
        words += rng.randbytes(-len(words) % BEAT)
        assert len(words) <= chunk_beats * BEAT
        if whole:
            words += rng.randbytes(chunk_beats * BEAT - len(words))
        return [int.from_bytes(words[at : at + BEAT], "little") for at in range(0, len(words), BEAT)]


def header_beats(frames: int) -> int:
    return (frames + BEAT_UNITS) // BEAT_UNITS


class Bench:
    """One loop of clock cycles; `knobs` say how busy each side is."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        value = testkit.parameter
        self.classes, self.chunk_beats, self.places = value("Classes", 64), value("ChunkBeats", 64), value("Places", 4)
        self.chunks, self.longest = value("Chunks", 4096), value("MaxFrameBytes", 9600)
        self.now = rng.choice((0, MASK32 - 3000))  # the time wraps in some runs
        self.knobs = {
            "out": 1.0, "encoder": 1.0, "memory": 1.0, "loop": 1.0, "lists": 1.0, "latency": (5, 40), "bad_read": 0.0, "bad_write": 0.0,
            "tick": 150,
        }  # fmt: skip
        self.use_loop, self.use_skips, self.flush = True, True, True
        self.cycles = 0
        each = range(self.classes)
        # frames of each class in order, and how far they have come
        self.frames: list[list[Frame]] = [[] for _ in each]
        self.by_deadline: list[dict[int, Frame]] = [{} for _ in each]
        self.last_deadline = [0] * self.classes
        self.taken_to = [0] * self.classes  # frames up to here are taken or gone
        self.gap_frames, self.gap_bytes = [0] * self.classes, [0] * self.classes
        self.passed_frames, self.passed_bytes = [0] * self.classes, [0] * self.classes
        self.sum = {"sent": 0, "expired": 0, "late": 0, "skipped": 0, "lost": 0, "splices": 0, "skips": 0, "looped": 0, "read": 0}
        self.sum |= {"failed_last": 0, "failed_before": 0}  # chunks, by the beat that was not read
        # tail and mover
        self.filling: list[Chunk | None] = [None] * self.classes
        self.serial = [0] * self.classes
        self.kept: list[int | None] = [None] * self.classes  # a number that the loop has left
        self.last_number = [0] * self.classes
        self.closed: deque[Chunk] = deque()
        self.closed_of = [0] * self.classes
        self.total = [[0, 0] for _ in each]  # frames, bytes
        self.writing: deque[tuple[int, Chunk]] = deque()  # when, which
        self.writing_of = [0] * self.classes
        self.push: Chunk | None = None
        self.loop: tuple[Chunk, list[int]] | None = None
        self.loop_settle = 0
        # lists and memory
        self.free = list(range(self.chunks))
        rng.shuffle(self.free)
        self.lists: list[deque[tuple[int, bool, Chunk]]] = [deque() for _ in each]
        self.answers: deque[tuple[int, int, bool]] = deque()  # when, number, bad
        self.memory: dict[int, Chunk] = {}
        self.reads: deque[tuple[int, int]] = deque()  # when, number
        self.burst: list[tuple[int, int]] | None = None
        self.on_head: dict[int, Chunk] = {}  # popped, not free yet
        # encoder
        self.heads: dict[int, int] = {}
        self.order: dict[int, int] = {}
        # stamps
        self.stamps: list[deque[tuple[int, dict]]] = [deque() for _ in each]
        self.last_over = [self.now] * self.classes
        self.stamped = [-1] * self.classes
        self.skip: tuple[int, dict] | None = None
        self.skipped_to = [0] * self.classes
        # sender
        self.decided: deque[Frame] = deque()
        self.out = bytearray()
        self.offered = False
        self.beats_out: list[int] = []  # cycles
        self.sent_at: list[int] = []
        self.last_drop: tuple[int, int] | None = None
        # the rest of the ring: tokens that are elsewhere, and when they come; how often each has gone
        self.columns, self.run_frames = value("Columns", 1), value("RunFrames", 16)
        self.knobs.update(hold=0.0, ring=(1, 30))
        self.tokens = [[rng.randint(1, 100), cls] for cls in each if self.columns > 1 and cls % self.columns]
        self.visits = [0] * self.classes
        self.void = False

    # ---- tail ----

    def _number(self, cls: int) -> int:
        kept, self.kept[cls] = self.kept[cls], None
        return self.free.pop() if kept is None else kept

    def _begin(self, cls: int) -> Chunk:
        chunk = Chunk(cls, self.serial[cls], self._number(cls), *self.total[cls])
        self.serial[cls] += 1
        self.filling[cls] = chunk
        return chunk

    def _close(self, cls: int) -> None:
        chunk = self.filling[cls]
        self.filling[cls] = None
        self.last_number[cls] = chunk.number
        self.closed.append(chunk)
        self.closed_of[cls] += 1

    def add(self, cls: int, size: int, wait: int) -> None:
        """A frame comes; `wait` is how long it may wait, from now."""
        deadline = max(self.now + wait, self.last_deadline[cls] + 1)
        self.last_deadline[cls] = deadline
        frame = Frame(cls, self.rng.randbytes(size), deadline, self.rng.getrandbits(16), len(self.frames[cls]))
        self.frames[cls].append(frame)
        self.by_deadline[cls][deadline & MASK32] = frame
        data = frame.data + bytes(-size % UNIT)
        chunk = self.filling[cls]
        if chunk and (self.chunk_beats - header_beats(len(chunk.frames) + 1)) * BEAT <= len(chunk.data):
            self._close(cls)
            chunk = None
        chunk = chunk or self._begin(cls)
        chunk.frames.append(frame)
        self.total[cls][0] += 1
        self.total[cls][1] += size
        while True:
            room = (self.chunk_beats - header_beats(len(chunk.frames))) * BEAT - len(chunk.data)
            chunk.data += data[:room]
            frame.chunks.append(chunk)
            data = data[room:]
            if not data:
                return
            chunk.open = True
            self._close(cls)
            chunk = self._begin(cls)
            chunk.front = min(len(data) // UNIT, (self.chunk_beats - 1) * BEAT_UNITS)

    def backlog(self, cls: int) -> int:
        """Frames of a class that have not been taken and are not known to be gone."""
        return len(self.frames[cls]) - self.taken_to[cls]

    # ---- one cycle ----

    def idle(self) -> None:
        for name in (
            "now", "s_loop_valid", "s_loop_class", "s_loop_serial", "s_loop_data", "s_loop_last", "s_push_valid", "s_push_class",
            "s_push_number", "s_push_bad", "m_push_ready", "m_pop_ready", "s_popped_valid", "s_popped_number", "s_popped_bad",
            "m_free_ready", "m_splice_ready", "m_axi_arready", "m_axi_rvalid", "m_axi_rdata", "m_axi_rresp", "m_axi_rlast",
            "s_skip_valid", "s_skip_class", "s_skip_stamp", "m_head_ready", "take_valid", "take_class", "take_drop", "m_ready",
            "column", "s_token_valid", "s_token_class", "hold",
        ):  # fmt: skip
            getattr(self.dut, f"{name}_i").value = 0

    async def start(self) -> None:
        """Begin with the clock and a reset."""
        self.idle()
        await testkit.start(self.dut)
        await self._cleared()

    async def restart(self) -> None:
        """Reset while all goes on; between clock edges."""
        self.idle()
        await testkit.reset(self.dut)
        await self._cleared()

    async def _cleared(self) -> None:
        while not int(self.dut.init_done_o.value):
            await FallingEdge(self.dut.clk_i)

    def _chance(self, knob: str) -> bool:
        return self.knobs[knob] >= 1 or self.rng.random() < self.knobs[knob]

    def _over(self, deadline: int) -> bool:
        return self.now > deadline

    def _drive_mover(self) -> None:
        dut, rng = self.dut, self.rng
        loop_ok = dut.loop_ok_o.value.to_unsigned()
        dry = dut.dry_o.value.to_unsigned()
        if self.flush and self.cycles % 4 == 0 and dry:
            for cls in range(self.classes):
                if dry >> cls & 1 and self.filling[cls] and not self.closed_of[cls] and not self.writing_of[cls]:
                    self._close(cls)
        self.loop_settle = max(0, self.loop_settle - 1)
        if self.closed and self.loop is None and self.loop_settle == 0:
            chunk = self.closed[0]
            if self.use_loop and loop_ok >> chunk.cls & 1 and not self.writing_of[chunk.cls]:
                self.closed.popleft()
                self.closed_of[chunk.cls] -= 1
                self.loop = (chunk, chunk.beats(self.chunk_beats, rng, False))
                self.sum["looped"] += 1
            else:
                self.closed.popleft()
                self.closed_of[chunk.cls] -= 1
                self.writing.append((self.cycles + rng.randint(*self.knobs["latency"]), chunk))
                self.writing_of[chunk.cls] += 1
        if self.loop and (self.loop_offered or self._chance("loop")):
            chunk, beats = self.loop
            dut.s_loop_valid_i.value = 1
            dut.s_loop_class_i.value, dut.s_loop_serial_i.value = chunk.cls, chunk.serial % 2**24
            dut.s_loop_data_i.value, dut.s_loop_last_i.value = beats[0], int(len(beats) == 1)
            self.loop_offered = True
        else:
            dut.s_loop_valid_i.value = 0
            self.loop_offered = False
        if self.push is None and self.writing and self.writing[0][0] <= self.cycles:
            self.push = self.writing.popleft()[1]
            if rng.random() < self.knobs["bad_write"]:
                self.push.lost = True
        dut.s_push_valid_i.value = int(self.push is not None)
        if self.push:
            dut.s_push_class_i.value, dut.s_push_number_i.value = self.push.cls, self.push.number
            dut.s_push_bad_i.value = int(self.push.lost)

    def _drive_memory(self) -> None:
        dut, rng = self.dut, self.rng
        answer = bool(self.answers and self.answers[0][0] <= self.cycles)
        dut.s_popped_valid_i.value = int(answer)
        if answer:
            _, number, bad = self.answers.popleft()
            dut.s_popped_number_i.value, dut.s_popped_bad_i.value = number, int(bad)
        self.ready = {
            name: int(self._chance(knob)) for name, knob in
            (("m_push", "lists"), ("m_pop", "lists"), ("m_free", "lists"), ("m_splice", "lists"), ("m_axi_ar", "memory"), ("m_", "out"))
        }  # fmt: skip
        for name, ready in self.ready.items():
            getattr(dut, f"{name}ready_i" if name in ("m_", "m_axi_ar") else f"{name}_ready_i").value = ready
        if self.burst is None and self.reads and self.reads[0][0] <= self.cycles:
            chunk = self.memory[self.reads.popleft()[1]]
            beats = chunk.beats(self.chunk_beats, rng, True)
            fails = rng.choice((0, rng.randrange(len(beats)), len(beats) - 1)) if rng.random() < self.knobs["bad_read"] else None
            if fails is not None:
                chunk.lost = True
                self.sum["failed_last" if fails == len(beats) - 1 else "failed_before"] += 1
            # A beat that fails has any data; the others are right.
            self.burst = [(rng.getrandbits(512), rng.choice((2, 3))) if at == fails else (beat, 0) for at, beat in enumerate(beats)]
        if self.burst and (self.beat_offered or self._chance("memory")):
            dut.m_axi_rvalid_i.value = 1
            dut.m_axi_rdata_i.value, dut.m_axi_rresp_i.value = self.burst[0]
            dut.m_axi_rlast_i.value = int(len(self.burst) == 1)
            self.beat_offered = True
        else:
            dut.m_axi_rvalid_i.value = 0
            self.beat_offered = False

    loop_offered = beat_offered = False

    def _drive_skips(self) -> None:
        dut = self.dut
        if self.use_skips and self.cycles % self.knobs["tick"] == 0:
            for cls in range(self.classes):
                chunk = self.filling[cls]
                if chunk is None or self.stamped[cls] == chunk.serial:
                    continue
                self.stamped[cls] = chunk.serial
                self.last_over[cls] = max(self.last_over[cls], self.last_deadline[cls])
                stamp = {"serial": chunk.serial, "number": chunk.number, "previous": self.last_number[cls]}
                stamp.update(frames=chunk.frames_before, bytes=chunk.bytes_before)
                self.stamps[cls].append((self.last_over[cls], stamp))
        if self.skip is None:
            over = [cls for cls in range(self.classes) if self.stamps[cls] and self._over(self.stamps[cls][0][0])]
            if over:
                cls = self.rng.choice(over)
                self.skip = (cls, self.stamps[cls].popleft()[1])
                self.skipped_to[cls] = self.skip[1]["serial"]
                self.sum["skips"] += 1
        dut.s_skip_valid_i.value = int(self.skip is not None)
        if self.skip:
            cls, stamp = self.skip
            dut.s_skip_class_i.value = cls
            word = stamp["serial"] % 2**24
            for name, width in (("number", 20), ("previous", 20), ("frames", 32), ("bytes", 40)):
                word = word << width | stamp[name] % 2**width
            dut.s_skip_stamp_i.value = word

    def _drive_ring(self) -> None:
        dut, rng = self.dut, self.rng
        due = [token for token in self.tokens if token[0] <= self.cycles]
        dut.s_token_valid_i.value = int(bool(due))
        dut.s_token_class_i.value = rng.randrange(self.classes)
        if due:
            token = rng.choice(due)
            self.tokens.remove(token)
            dut.s_token_class_i.value = token[1]
        self.hold = rng.random() < self.knobs["hold"]
        dut.hold_i.value = int(self.hold)

    def _read_ring(self) -> None:
        if int(self.dut.m_token_valid_o.value):
            cls = int(self.dut.m_token_class_o.value)
            assert self.columns > 1 and cls not in {token[1] for token in self.tokens}, f"a second token of class {cls}"
            self.visits[cls] += 1
            self.tokens.append([self.cycles + self.rng.randint(*self.knobs["ring"]), cls])

    def _check_run(self, frame: Frame) -> None:
        """A frame that is taken to be sent is of the run for which the class's token is here; what is over may count for another."""
        visit = self.visits[frame.cls]
        assert frame.index // self.run_frames == visit, f"class {frame.cls}: frame {frame.index} is taken when {visit} runs were over"
        assert frame.cls not in {token[1] for token in self.tokens}, f"class {frame.cls}: its token is elsewhere"

    def _drive_encoder(self) -> int | None:
        """Return the class that is taken."""
        dut = self.dut
        dut.m_head_ready_i.value = self.head_ready = int(self._chance("encoder"))
        dut.take_valid_i.value = 0
        if not self.heads or not self._chance("encoder"):
            return None
        cls = min(self.heads, key=lambda c: (self.heads[c], self.order[c]))
        drop = self._over(self.heads[cls])
        if not drop and (self.hold or not int(dut.take_ready_o.value)):
            return None
        dut.take_valid_i.value, dut.take_class_i.value, dut.take_drop_i.value = 1, cls, int(drop)
        return cls

    def _take(self, cls: int) -> None:
        """The class's head is taken: which frame that is, and what lies between it and the one before."""
        dut = self.dut
        frame = self.by_deadline[cls][self.heads[cls] & MASK32]
        assert not frame.taken and frame.index >= self.taken_to[cls], f"class {cls}: frame {frame.index} again"
        for gone in self.frames[cls][self.taken_to[cls] : frame.index]:
            self._gone(gone)
        assert self.gap_frames[cls] <= self.passed_frames[cls], f"class {cls}: frames are gone before {frame.index}"
        assert not any(chunk.lost for chunk in frame.chunks), f"class {cls}: frame {frame.index} cannot be whole"
        self.taken_to[cls] = frame.index + 1
        frame.taken = True
        if self._over(self.heads[cls]):
            self.sum["expired"] += 1
            self.drops.append(frame)
        else:
            if self.columns > 1:
                self._check_run(frame)
            self.decided.append(frame)
        del self.heads[cls]
        if int(dut.next_valid_o.value):
            self._head(cls, dut.next_deadline_o.value.to_unsigned())

    @property
    def drops(self) -> deque:
        if not hasattr(self, "_drops"):
            self._drops: deque[Frame] = deque()
        return self._drops

    def _gone(self, frame: Frame) -> None:
        cls = frame.cls
        skipped = frame.chunks[0].serial < self.skipped_to[cls]
        assert skipped or any(chunk.lost for chunk in frame.chunks), f"class {cls}: frame {frame.index} is gone without a reason"
        self.gap_frames[cls] += 1
        self.gap_bytes[cls] += len(frame.data)

    def _head(self, cls: int, deadline: int) -> None:
        assert cls not in self.heads, f"class {cls} has a second head"
        frame = self.by_deadline[cls].get(deadline)
        assert frame, f"class {cls} has no frame of deadline {deadline}"
        self.heads[cls] = frame.deadline
        self.order[cls] = self.cycles

    def _read_events(self) -> None:
        dut = self.dut
        if int(dut.ev_expired_valid_o.value):
            frame = self.drops.popleft()
            assert int(dut.ev_expired_class_o.value) == frame.cls and int(dut.ev_expired_bytes_o.value) == len(frame.data)
        if int(dut.ev_late_valid_o.value):
            frame = self.decided.popleft()
            assert int(dut.ev_late_class_o.value) == frame.cls and int(dut.ev_late_bytes_o.value) == len(frame.data)
            assert self.now >= frame.deadline, "a frame is late before its deadline"
            assert not self.out and not self.offered and not self.void
            assert self.columns == 1 or (int(dut.m_valid_o.value) and int(dut.m_void_o.value))
            self.sum["late"] += 1
        if int(dut.ev_passed_valid_o.value):
            cls = int(dut.ev_passed_class_o.value)
            frames = int(dut.ev_passed_frames_o.value)
            self.passed_frames[cls] += frames
            self.passed_bytes[cls] += int(dut.ev_passed_bytes_o.value)
            self.sum["lost" if int(dut.ev_passed_lost_o.value) else "skipped"] += frames

    def _read_out(self) -> None:
        dut = self.dut
        if not int(dut.m_valid_o.value):
            assert not self.offered and not self.void, "an offer is taken back"
            return
        if self.columns > 1 and int(dut.m_void_o.value):
            # The frame was reported in the word's first cycle.
            assert int(dut.m_last_o.value) and not self.offered and (self.void or int(dut.ev_late_valid_o.value))
            self.void = not self.ready["m_"]
            return
        assert not int(dut.m_void_o.value)
        frame = self.decided[0]
        if not self.out and not self.offered:
            assert not self._over(frame.deadline), f"class {frame.cls}: frame {frame.index} starts {self.now - frame.deadline} cycles late"
        self.offered = True
        if not self.ready["m_"]:
            return
        self.offered = False
        self.beats_out.append(self.cycles)
        last = len(frame.data) - len(self.out) <= BEAT
        assert int(dut.m_last_o.value) == int(last)
        assert int(dut.m_class_o.value) == frame.cls and int(dut.m_user_o.value) == frame.user
        size = int(dut.m_bytes_last_o.value) if last else BEAT
        self.out += dut.m_data_o.value.to_unsigned().to_bytes(BEAT, "little")[:size]
        if last:
            assert bytes(self.out) == frame.data, (
                f"class {frame.cls}: frame {frame.index} of {len(frame.data)} byte, begins in {frame.chunks[0].serial}"
            )
            assert int(dut.m_deadline_o.value) == frame.deadline & MASK32
            self.decided.popleft()
            self.out.clear()
            self.sum["sent"] += 1
            self.sent_at.append(self.cycles)

    def _read_lists(self) -> None:
        dut, rng = self.dut, self.rng
        if self.ready["m_push"] and int(dut.m_push_valid_o.value):
            chunk = self.push
            assert int(dut.s_push_ready_o.value) and int(dut.m_push_number_o.value) == chunk.number
            self.lists[chunk.cls].append((chunk.number, chunk.lost, chunk))
            self.memory[chunk.number] = chunk
            self.writing_of[chunk.cls] -= 1
            self.push = None
        else:
            assert not (self.push and int(dut.s_push_ready_o.value) and not self.ready["m_push"])
        if self.ready["m_pop"] and int(dut.m_pop_valid_o.value):
            number, bad, chunk = self.lists[int(dut.m_pop_class_o.value)].popleft()
            self.answers.append((self.cycles + 2, number, bad))
            self.on_head[number] = chunk
            self.sum["read"] += 1
        if self.ready["m_splice"] and int(dut.m_splice_valid_o.value):
            self._splice()
        if self.ready["m_free"] and int(dut.m_free_valid_o.value):
            number = int(dut.m_free_number_o.value)
            del self.on_head[number], self.memory[number]
            self.free.append(number)
        if self.ready["m_axi_ar"] and int(dut.m_axi_arvalid_o.value):
            address = dut.m_axi_araddr_o.value.to_unsigned()
            number, rest = divmod(address, self.chunk_beats * BEAT)
            assert not rest and number in self.on_head and int(dut.m_axi_arlen_o.value) == self.chunk_beats - 1
            self.reads.append((self.cycles + rng.randint(*self.knobs["latency"]), number))

    def _splice(self) -> None:
        dut = self.dut
        cls, count = int(dut.m_splice_class_o.value), int(dut.m_splice_count_o.value)
        chunks = self.lists[cls]
        assert 1 <= count <= len(chunks)
        if int(dut.m_splice_all_o.value):
            assert count == len(chunks), f"class {cls}: all of {len(chunks)} chunks, {count} are meant"
        else:
            assert chunks[count][0] == int(dut.m_splice_number_o.value) and chunks[count - 1][0] == int(dut.m_splice_previous_o.value)
        for _ in range(count):
            number, _, chunk = chunks.popleft()
            assert chunk.serial < self.skipped_to[cls], f"class {cls}: chunk {chunk.serial} is spliced away"
            del self.memory[number]
            self.free.append(number)
        self.sum["splices"] += 1

    async def cycle(self) -> None:
        dut = self.dut
        await FallingEdge(dut.clk_i)
        self.cycles += 1
        self.now += 1
        dut.now_i.value = self.now & MASK32
        self._drive_mover()
        self._drive_memory()
        self._drive_skips()
        self._drive_ring()
        taken = self._drive_encoder()
        await ReadOnly()
        self._read_ring()
        if taken is not None:
            self._take(taken)
        if self.head_ready and int(dut.m_head_valid_o.value):
            self._head(int(dut.m_head_class_o.value), dut.m_head_deadline_o.value.to_unsigned())
        self._read_events()
        self._read_out()
        self._read_lists()
        if self.loop_offered and int(dut.s_loop_ready_o.value):
            chunk, beats = self.loop
            beats.pop(0)
            self.loop_offered = False
            if not beats:
                self._keep(chunk)
                self.loop = None
                self.loop_settle = 4
        if self.beat_offered and int(dut.m_axi_rready_o.value):
            self.burst.pop(0)
            self.burst = self.burst or None
            self.beat_offered = False
        if self.skip and int(dut.s_skip_ready_o.value):
            self.skip = None

    def _keep(self, chunk: Chunk) -> None:
        """A chunk that went by the loop leaves its number to the next one of its class, or to all."""
        if self.kept[chunk.cls] is None:
            self.kept[chunk.cls] = chunk.number
        else:
            self.free.append(chunk.number)

    # ---- the end of a run ----

    def at_rest(self) -> bool:
        return not (
            self.decided or self.heads or self.closed or self.writing or self.loop or self.push or self.burst or self.reads or self.on_head
            or self.answers or self.drops or self.skip or any(self.filling) or any(self.lists)
        )  # fmt: skip

    async def drain(self, limit: int) -> None:
        """Until all is out, or gone; then the book is closed."""
        self.flush = True
        quiet = 0
        for _ in range(limit):
            await self.cycle()
            quiet = quiet + 1 if self.at_rest() else 0
            if quiet > 60:
                break
        assert quiet > 60, f"stuck: {self.state()}"
        for cls in range(self.classes):
            for frame in self.frames[cls][self.taken_to[cls] :]:
                self._gone(frame)
            self.taken_to[cls] = len(self.frames[cls])
            # What is lost is known with the next chunk that is not, whether frames begin in it or not.
            tail_lost = 0
            ends_lost = bool(self.frames[cls]) and self.frames[cls][-1].chunks[-1].lost
            for frame in reversed(self.frames[cls] if ends_lost else []):
                if frame.taken or not any(chunk.lost for chunk in frame.chunks):
                    break
                tail_lost += 1
            missing = self.gap_frames[cls] - self.passed_frames[cls]
            assert 0 <= missing <= tail_lost, f"class {cls}: {self.gap_frames[cls]} frames gone, {self.passed_frames[cls]} told"
            if not missing:
                assert self.gap_bytes[cls] == self.passed_bytes[cls], f"class {cls}: bytes of what is gone"
        given, back = self.dut.u_dut.u_fetch.given_q.value, self.dut.u_dut.u_fetch.released_q.value
        assert given == back, f"places: {given} given, {back} came back"
        free = self.free + [number for number in self.kept if number is not None]
        assert sorted(free) == list(range(self.chunks)), "numbers do not all come back"

    def state(self) -> str:
        waiting = {cls: self.backlog(cls) for cls in range(self.classes) if self.backlog(cls)}
        return (
            f"{len(self.decided)} decided, heads {self.heads}, {len(self.closed)} closed, {len(self.writing)} written, "
            f"loop {self.loop is not None}, "
            f"on head {sorted(self.on_head)}, lists {[len(chunks) for chunks in self.lists if chunks]}, backlog {waiting}, {self.sum}"
        )
