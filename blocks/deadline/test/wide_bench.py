# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What stands around pst_edfr_wide: source and sink of several segments a word, a memory for each column, and the book of all frames."""

import random
from collections import deque
from dataclasses import dataclass, field

from chunks import LINE
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import AxiMemories
from port_bench import MASK32, signed

from penstock.testing import testkit

EVENTS = ("refused", "dropped", "expired", "late", "overdue")


@dataclass(eq=False)
class Frame:
    class_id: int
    data: bytes
    bad: bool
    user: int
    arrived: int = -1


@dataclass
class Class:
    """What is known of a class's frames."""

    waits: set[int] = field(default_factory=set)  # settings that may count for frames inside
    queue: deque[Frame] = field(default_factory=deque)  # came in, and neither out nor passed by a later one that is
    lost: list[Frame] = field(default_factory=list)  # passed by
    losses: list[tuple[int, int, int, bool]] = field(default_factory=list)  # cycle, frames, bytes, because of time


class Bench:
    """Drives and checks every cycle; `drain` checks what must be true at the end."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        get = testkit.parameter
        self.columns, self.classes, self.longest = get("Columns", 8), get("Classes", 64), get("MaxFrameBytes", 9600)
        self.run_frames, self.default = get("RunFrames", 16), get("DefaultCycles", 100000)
        self.apart = not get("Ordered", 1)
        self.start = get("StartTime", 0)  # of the clock at the ports; in the book times count from reset
        size = get("Chunks", 4096) * get("ChunkBeats", 64) * LINE
        self.memory = AxiMemories(dut, (size,) * self.columns, rng, (10, 30))
        self.class_width = max(1, (self.classes - 1).bit_length())
        self.hold, self.limit = False, 0
        self.source = self.sink = self.fill = 1.0  # chances of a word, of ready, of a segment
        self.serial = 0
        self.forget()

    def forget(self) -> None:
        self.now = 0
        self.input: deque[Frame] = deque()
        self.at = 0  # segments of the first one that are in words
        self.word: list[tuple[Frame, int, bool] | None] | None = None  # what is offered
        self.of = [Class({self.default}) for _ in range(self.classes)]
        # Of the one stream out, or, where columns are ports by themselves, of each.
        self.out: list[tuple[Frame, bytearray] | None] = [None] * (self.columns if self.apart else 1)
        self.held: list[tuple | None] = [None] * len(self.out)
        self.count = dict.fromkeys(("in", "sent", "skipped", "lost", "segments", "words", *EVENTS), 0)
        self.order: list[int] = []  # classes of the frames that left
        self.setting: tuple[int, int] | None = None

    def idle(self) -> None:
        for name in ("s_valid", "s_used", "s_data", "s_last", "s_bytes_last", "s_bad", "s_class", "s_user", "m_ready", "set_dscp_valid",
                     "set_dscp", "set_dscp_class", "s_set_valid", "s_set_class", "s_set_cycles",
                     "hold", "limit"):  # fmt: skip
            getattr(self.dut, f"{name}_i").value = 0
        self.memory.idle()

    async def ready(self) -> None:
        while not int(self.dut.init_done_o.value):
            await FallingEdge(self.dut.clk_i)

    def add(self, class_id: int, length: int, bad: bool = False) -> None:
        self.serial += 1
        self.input.append(Frame(class_id, self.rng.randbytes(length), bad, self.serial & 0xFFFF))

    def change(self, class_id: int, cycles: int) -> None:
        assert self.setting is None
        self.setting = (class_id, cycles)

    def _offer(self) -> None:
        """The next word: frames follow each other, some segments are not used."""
        rng = self.rng
        if self.word is None and self.input and rng.random() < self.source:
            self.word = []
            for _ in range(self.columns):
                if not self.input or rng.random() >= self.fill:
                    self.word.append(None)
                    continue
                frame = self.input[0]
                last = (self.at + 1) * LINE >= len(frame.data)
                self.word.append((frame, self.at, last))
                self.at += 1
                if last:
                    self.input.popleft()
                    self.at = 0
            self._word_pins(self.word)

    def _word_pins(self, word: list[tuple[Frame, int, bool] | None]) -> None:
        """Put a word at the pins, with noise where nothing is looked at."""
        rng = self.rng
        fields = {"used": (1, 0), "data": (512, 0), "last": (1, 0), "bytes_last": (7, 0), "bad": (1, 0),
                  "class": (self.class_width, 0), "user": (16, 0)}  # fmt: skip
        words = dict.fromkeys(fields, 0)
        for s, segment in enumerate(word):
            values = {name: rng.getrandbits(width) for name, (width, _) in fields.items()}
            values["used"], values["class"] = int(segment is not None), rng.randrange(self.classes)
            if segment:
                frame, at, last = segment
                piece = frame.data[at * LINE : (at + 1) * LINE]
                values.update(last=int(last), data=int.from_bytes(piece + rng.randbytes(LINE - len(piece)), "little"))
                if at == 0:
                    values.update({"class": frame.class_id, "user": frame.user})
                if last:
                    values.update(bytes_last=len(piece), bad=int(frame.bad))
            for name, (width, _) in fields.items():
                words[name] |= values[name] << width * s
        for name, value in words.items():
            getattr(self.dut, f"s_{name}_i").value = value

    async def cycle(self) -> None:
        dut, rng = self.dut, self.rng
        await FallingEdge(dut.clk_i)
        self._offer()
        ready = rng.random() < self.sink
        self._drive(ready)
        await ReadOnly()
        self.now = int(dut.now_o.value) - self.start & MASK32
        self._events()
        self._sending(ready)
        if self.word is not None and int(getattr(dut, self.ready_pin).value):
            for segment in self.word:
                if segment and segment[1] == 0:
                    segment[0].arrived = self.now
                    self.of[segment[0].class_id].queue.append(segment[0])
                    self.count["in"] += 1
            self.word = None
        if self.setting and int(dut.s_set_ready_o.value):
            self.of[self.setting[0]].waits.add(self.setting[1])
            self.setting = None

    ready_pin = "s_ready_o"

    def _drive(self, ready: bool) -> None:
        dut = self.dut
        dut.s_valid_i.value = int(self.word is not None)
        dut.m_ready_i.value = int(ready)
        dut.hold_i.value, dut.limit_i.value = int(self.hold), self.limit
        dut.s_set_valid_i.value = int(self.setting is not None)
        if self.setting:
            dut.s_set_class_i.value, dut.s_set_cycles_i.value = self.setting

    def _fields(self, name: str, *fields: tuple[str, int]) -> list[list[int]]:
        valid = getattr(self.dut, f"ev_{name}_valid_o").value.to_unsigned()
        if not valid:
            return []
        values = [(getattr(self.dut, f"ev_{name}_{field}_o").value.to_unsigned(), width) for field, width in fields]
        return [[value >> width * i & (1 << width) - 1 for value, width in values] for i in range(self.columns) if valid >> i & 1]

    def _events(self) -> None:
        for name in EVENTS:
            for class_id, size in self._fields(name, ("class", self.class_width), ("bytes", 16)):
                self.count[name] += 1
                self.of[class_id].losses.append((self.now, 1, size, name in ("expired", "late", "overdue")))
        for lost, class_id, frames, size in self._fields("passed", ("lost", 1), ("class", self.class_width), ("frames", 32), ("bytes", 40)):
            self.count["lost" if lost else "skipped"] += frames
            self.of[class_id].losses.append((self.now, frames, size, not lost))

    def _sending(self, ready: bool) -> None:
        words = self._words_out()
        if words is None:
            assert not any(self.held), "an offer is taken back"
            return
        if self.apart:
            for s in range(self.columns):
                own = {name: value >> s * self._width(name) & (1 << self._width(name)) - 1 for name, value in words.items()}
                self._offered(s, [s] if own["used"] else [], tuple(own.values()) if own["used"] else None, words, ready)
        else:
            self._offered(0, [s for s in range(self.columns) if words["used"] >> s & 1], tuple(words.values()), words, ready)
        if ready:
            self.count["words"] += 1
            self.count["segments"] += words["used"].bit_count()

    def _words_out(self) -> dict[str, int] | None:
        """Return what is offered, by the names of the ports."""
        if not int(self.dut.m_valid_o.value):
            return None
        names = ("used", "data", "first", "last", "bytes_last", "class", "deadline", "user")
        return {name: getattr(self.dut, f"m_{name}_o").value.to_unsigned() for name in names}

    def _width(self, name: str) -> int:
        return {"data": 512, "bytes_last": 7, "class": self.class_width, "deadline": 32, "user": 16}.get(name, 1)

    def _offered(self, stream: int, segments: list[int], offer: tuple | None, words: dict[str, int], ready: bool) -> None:
        """Look at what a stream offers: it stays until it is taken."""
        held = self.held[stream]
        assert held is None or offer is not None, "an offer is taken back"
        assert held in (None, offer), "what is offered changes"
        if held is None:
            for s in segments:
                self._segment(stream, s, words)
        self.held[stream] = None if ready else offer

    def _segment(self, stream: int, s: int, words: dict[str, int]) -> None:
        def at(name: str, width: int) -> int:
            return words[name] >> width * s & (1 << width) - 1

        if at("first", 1):
            assert self.out[stream] is None, "a frame begins within another"
            class_id, user, deadline = at("class", self.class_width), at("user", 16), at("deadline", 32) - self.start & MASK32
            late = signed(self.now - deadline)
            assert late <= 0, f"a frame of class {class_id} begins {late} cycles after its deadline"
            of = self.of[class_id]
            if self.apart:  # of one class several columns have frames
                of.queue = deque(sorted(of.queue, key=lambda frame: frame.user != user))
            while of.queue and of.queue[0].user != user:
                of.lost.append(of.queue.popleft())
            assert of.queue, f"class {class_id}: a frame comes out that is not inside, or out of order"
            frame = of.queue.popleft()
            assert signed(deadline - frame.arrived) in of.waits, f"deadline {deadline} of a frame that arrived at {frame.arrived}"
            self.out[stream] = (frame, bytearray())
        assert self.out[stream] is not None, "a segment of no frame"
        frame, data = self.out[stream]
        data += at("data", 512).to_bytes(LINE, "little")[: at("bytes_last", 7) if at("last", 1) else LINE]
        if at("last", 1):
            assert bytes(data) == frame.data, f"class {frame.class_id}: another frame comes out, {len(data)} byte for {len(frame.data)}"
            self.out[stream] = None
            self.order.append(frame.class_id)
            self.count["sent"] += 1

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.cycle()

    def inside(self) -> int:
        return self.count["in"] - sum(self.count[name] for name in ("sent", "skipped", "lost", *EVENTS))

    async def drain(self, limit: int) -> None:
        """Let all go that is inside; then check that all is accounted for, to the byte, and nothing given up before its time."""
        for _ in range(limit):
            if not self.input and self.word is None and not self.inside() and not any(self.out) and self.setting is None:
                break
            await self.cycle()
        else:
            raise AssertionError(f"stuck: {self.inside()} frames inside, {len(self.input)} before it: {self.count}")
        await self.run(300)
        assert self.inside() == 0 and not any(self.out)
        for class_id, of in enumerate(self.of):
            of.lost += of.queue
            of.queue.clear()
            told = [sum(e[1] for e in of.losses), sum(e[2] for e in of.losses)]
            assert [len(of.lost), sum(len(f.data) for f in of.lost)] == told, f"class {class_id}: frames and bytes that did not come out"
            if all(e[3] for e in of.losses):
                times = sorted(cycle for cycle, frames, _, _ in of.losses for _ in range(frames))
                deadlines = sorted(frame.arrived + min(of.waits) for frame in of.lost)
                for deadline, cycle in zip(deadlines, times, strict=True):
                    assert cycle > deadline, f"class {class_id}: a frame is given up at {cycle}, before its deadline, {deadline} or later"
            of.lost.clear()
            of.losses.clear()
