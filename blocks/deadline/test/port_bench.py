# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What stands around pst_edfr: source, sink and memory, each random in time, and the book of all frames."""

import random
from collections import deque
from dataclasses import dataclass, field

from chunks import LINE, to_beats
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import AxiMemories

from penstock.testing import testkit

TAKEN, NO_CHUNK, BAD, LENGTH = range(4)
MASK32 = (1 << 32) - 1


def signed(value: int) -> int:
    """Return a difference of two times modulo 2^32 as a signed number."""
    value &= MASK32
    return value - (1 << 32) if value >> 31 else value


@dataclass(eq=False)
class Frame:
    class_id: int
    data: bytes
    bad: bool = False
    user: int = 0
    began: int = 0  # cycle of its first beat
    deadline: int | None = None


@dataclass
class Class:
    """What is known of a class's frames."""

    waits: list[tuple[int, int]] = field(default_factory=list)  # (from cycle, setting), oldest first
    queue: deque[Frame] = field(default_factory=deque)  # taken, and neither sent nor passed by a later one that was sent
    lost: list[Frame] = field(default_factory=list)  # passed by
    losses: list[tuple[int, int, int]] = field(default_factory=list)  # (cycle, frames, bytes) of each event
    errors: list[tuple[int, int]] = field(default_factory=list)  # (frames, bytes) lost by memory errors


class Bench:
    """Drives and checks every cycle; `drain` and `settle` check what must be true at the end."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        get = testkit.parameter
        self.classes, self.beats, self.chunks = get("Classes", 64), get("ChunkBeats", 64), get("Chunks", 4096)
        self.shortest, self.longest = get("MinFrameBytes", 60), get("MaxFrameBytes", 9600)
        self.from_user, self.default = get("ClassFromUser", 0), get("DefaultCycles", 100000)
        self.start = get("StartTime", 0)  # of the clock at the ports; in the book times count from reset
        self.memory = AxiMemories(dut, (self.chunks * self.beats * LINE,), rng, (10, 30))
        self.source = self.sink = 1.0
        self.forget()

    def forget(self) -> None:
        self.now = 0
        self.input: deque[tuple[Frame, list[int]]] = deque()
        self.beat = 0  # of the first frame in `input`
        self.offered = False
        self.at_intake: deque[Frame] = deque()  # whole at the input, not yet refused or through the tail
        self.refused: deque[Frame] = deque()
        self.of: list[Class] = [Class([(0, self.default)]) for _ in range(self.classes)]
        self.out: list[int] | None = None  # beats of the frame that leaves
        self.count = dict.fromkeys(("in", "bytes", "sent", "refused", "tail", "expired", "late", "skipped", "lost", "beats"), 0)
        self.inside_bytes = 0
        self.serial = 0
        self.set_offer: tuple[int, int] | None = None

    def idle(self) -> None:
        for name in ("s_valid", "s_data", "s_bytes_last", "s_last", "s_bad", "s_class", "s_user", "m_ready", "set_dscp_valid", "set_dscp",
                     "set_dscp_class", "s_set_valid", "s_set_class", "s_set_cycles"):  # fmt: skip
            getattr(self.dut, f"{name}_i").value = 0
        self.memory.idle()

    async def ready(self) -> None:
        """Wait for the end of the walks; give each DSCP its class."""
        dut = self.dut
        while not int(dut.init_done_o.value):
            await FallingEdge(dut.clk_i)
        for dscp in range(65):
            dut.set_dscp_valid_i.value, dut.set_dscp_i.value, dut.set_dscp_class_i.value = 1, dscp, dscp % self.classes
            await FallingEdge(dut.clk_i)
        dut.set_dscp_valid_i.value = 0

    def add(self, class_id: int, length: int, bad: bool = False) -> None:
        data = bytearray(self.rng.randbytes(length))
        if not self.from_user and length >= 16:
            dscp = self.rng.choice([d for d in range(64) if d % self.classes == class_id])
            data[12:16] = bytes((0x08, 0x00, 0x45, dscp << 2))
        elif not self.from_user:
            class_id = 64 % self.classes
        self.serial += 1
        frame = Frame(class_id, bytes(data), bad, self.serial & 0xFFFF)
        self.input.append((frame, to_beats(frame.data)))

    def change(self, class_id: int, cycles: int) -> bool:
        """Let frames of a class wait for so long, if no other setting is on its way."""
        if self.set_offer is None:
            self.set_offer = (class_id, cycles)
            return True
        return False

    async def cycle(self) -> None:
        dut, rng = self.dut, self.rng
        await FallingEdge(dut.clk_i)
        if not self.offered and self.input and (self.source >= 1 or rng.random() < self.source):
            self.offered = True
            frame, words = self.input[0]
            last = self.beat == len(words) - 1
            dut.s_data_i.value = words[self.beat]
            dut.s_last_i.value = int(last)
            dut.s_bytes_last_i.value = len(frame.data) - LINE * self.beat if last else rng.randint(0, 127)
            dut.s_bad_i.value = int(frame.bad) if last else rng.getrandbits(1)
            if self.beat == 0:
                dut.s_class_i.value, dut.s_user_i.value = frame.class_id, frame.user
        dut.s_valid_i.value = int(self.offered)
        ready = self.sink >= 1 or rng.random() < self.sink
        dut.m_ready_i.value = int(ready)
        dut.s_set_valid_i.value = int(self.set_offer is not None)
        if self.set_offer:
            dut.s_set_class_i.value, dut.s_set_cycles_i.value = self.set_offer
        await ReadOnly()
        self.now = self._since_reset(dut.now_o)
        self._events()
        if int(dut.m_valid_o.value):
            self._sending(ready)
        if self.offered and int(dut.s_ready_o.value):
            self._taken()
        if self.set_offer and int(dut.s_set_ready_o.value):
            class_id, cycles = self.set_offer
            self.of[class_id].waits.append((self.now, cycles))
            self.set_offer = None

    def _since_reset(self, time) -> int:
        return int(time.value) - self.start & MASK32

    def _taken(self) -> None:
        self.offered = False
        frame, words = self.input[0]
        if self.beat == 0:
            frame.began = self.now
        self.beat += 1
        if self.beat == len(words):
            self.beat = 0
            self.input.popleft()
            good = not frame.bad and self.shortest <= len(frame.data) <= self.longest
            (self.at_intake if good else self.refused).append(frame)
            self.count["in"] += 1
            self.count["bytes"] += len(frame.data)
            self.inside_bytes += len(frame.data)

    def _event(self, name: str, *fields: str) -> list[int] | None:
        if not int(getattr(self.dut, f"ev_{name}_valid_o").value):
            return None
        return [int(getattr(self.dut, f"ev_{name}_{field}_o").value) for field in fields]

    def _events(self) -> None:
        if event := self._event("refused", "class", "bytes", "reason"):
            frame = self.refused.popleft()
            assert event == [frame.class_id, len(frame.data), BAD if frame.bad else LENGTH]
            self.inside_bytes -= len(frame.data)
            self.count["refused"] += 1
        if event := self._event("fate", "class", "bytes", "reason"):
            frame = self.at_intake.popleft()
            assert event[:2] == [frame.class_id, len(frame.data)]
            if event[2] == TAKEN:
                self.of[frame.class_id].queue.append(frame)
            else:
                assert event[2] == NO_CHUNK
                self.inside_bytes -= len(frame.data)
                self.count["tail"] += 1
        for name in ("expired", "late"):
            if event := self._event(name, "class", "bytes"):
                self._loss(name, event[0], 1, event[1])
        if event := self._event("passed", "lost", "class", "frames", "bytes"):
            lost, class_id, frames, size = event
            self._loss("lost" if lost else "skipped", class_id, frames, size)

    def _loss(self, name: str, class_id: int, frames: int, size: int) -> None:
        self.count[name] += frames
        self.inside_bytes -= size
        if name == "lost":
            self.of[class_id].errors.append((frames, size))
        else:
            self.of[class_id].losses.append((self.now, frames, size))

    def _sending(self, ready: bool) -> None:
        dut = self.dut
        if self.out is None:
            self.out = []
            late = signed(self.now - self._since_reset(dut.m_deadline_o))
            assert late <= 0, f"a frame of class {int(dut.m_class_o.value)} begins {late} cycles after its deadline"
        if not ready:
            return
        self.out.append(int(dut.m_data_o.value))
        self.count["beats"] += 1
        if not int(dut.m_last_o.value):
            return
        data = b"".join(word.to_bytes(LINE, "little") for word in self.out)
        data = data[: LINE * (len(self.out) - 1) + int(dut.m_bytes_last_o.value)]
        class_id, user, deadline = int(dut.m_class_o.value), int(dut.m_user_o.value), self._since_reset(dut.m_deadline_o)
        self.out = None
        of = self.of[class_id]
        while of.queue and of.queue[0].user != user:
            of.lost.append(of.queue.popleft())
        assert of.queue, f"class {class_id}: a frame comes out that is not inside, or out of order"
        frame = of.queue.popleft()
        assert data == frame.data, f"class {class_id}: another frame comes out, of {len(data)} byte for {len(frame.data)}"
        self._check_deadline(frame, deadline)
        self.count["sent"] += 1
        self.inside_bytes -= len(data)

    def _waits(self, frame: Frame) -> list[int]:
        """Return the settings of a frame's class that may have counted when it began: they do some cycles after they are taken."""
        waits = self.of[frame.class_id].waits
        return [w for k, (_, w) in enumerate(waits) if k + 1 == len(waits) or waits[k + 1][0] + 3000 > frame.began]

    def _check_deadline(self, frame: Frame, deadline: int) -> None:
        delays = [signed(deadline - frame.began - wait) for wait in self._waits(frame)]
        assert any(0 <= delay <= 3000 for delay in delays), f"deadline {deadline} of a frame that began at {frame.began}: {delays}"

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.cycle()

    def inside(self) -> int:
        left = self.count
        return left["in"] - sum(left[name] for name in ("sent", "refused", "tail", "expired", "late", "skipped", "lost"))

    async def drain(self, limit: int) -> None:
        """Let all go that is inside; then check that all is accounted for."""
        start = self.count["beats"]
        for _ in range(limit):
            if not self.input and not self.inside() and self.set_offer is None:
                break
            await self.cycle()
        else:
            raise AssertionError(f"stuck: {self.inside()} frames inside, {len(self.input)} before it: {self.count}, {start} beats before")
        await self.run(300)
        self.settle()

    def settle(self) -> None:
        """Nothing is inside: what was lost is what the events said, to the byte, and no sooner than its deadline."""
        assert self.inside() == 0 and self.inside_bytes == 0, f"{self.inside()} frames, {self.inside_bytes} bytes too much or too few"
        for class_id, of in enumerate(self.of):
            of.lost += of.queue
            of.queue.clear()
            said = [
                sum(e[1] for e in of.losses) + sum(e[0] for e in of.errors),
                sum(e[2] for e in of.losses) + sum(e[1] for e in of.errors),
            ]
            assert [len(of.lost), sum(len(f.data) for f in of.lost)] == said, f"class {class_id}: frames and bytes that did not come out"
            if not of.errors:
                # A frame's deadline is not before its first beat plus the setting. As each of them was lost after it, so are they in order.
                times = sorted(cycle for cycle, frames, _ in of.losses for _ in range(frames))
                deadlines = sorted(frame.began + min(self._waits(frame)) for frame in of.lost)
                for deadline, cycle in zip(deadlines, times, strict=True):
                    assert cycle > deadline, f"class {class_id}: a frame is given up at {cycle}, before its deadline, {deadline} or later"
            of.lost.clear()
            of.losses.clear()
            of.errors.clear()
            del of.waits[:-1]
        free = int(self.dut.free_o.value)
        units, room = (self.longest + 7) // 8, 8 * (self.beats - 1)
        kept = 2 * self.classes + (units + room - 1) // room + 1 + 2  # two slots of each class, numbers at hand, on their way
        assert free >= self.chunks - kept, f"{self.chunks - free} chunks are in use and nothing is inside, {kept} may be"
