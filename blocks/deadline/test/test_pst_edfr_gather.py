# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_edfr_gather: every frame once, in the order of decisions, byte for byte; voids, late frames, stalls, reset; rates in cycles."""

import random
from collections import deque
from dataclasses import dataclass

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

SEGMENT = 64
MASK32 = (1 << 32) - 1


@dataclass(eq=False)
class Frame:
    """A frame, and what became of it."""

    column: int
    cls: int
    data: bytes
    deadline: int
    user: int
    ready_at: int  # when its first beat may come
    void: bool = False
    fate: str = ""

    @property
    def segments(self) -> int:
        return -(-len(self.data) // SEGMENT)


class Bench:
    """Columns that decide and send, a sink, and the order of all frames; `knobs` say how busy each side is."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        value = testkit.parameter
        self.columns, self.classes, self.longest = value("Columns", 8), value("Classes", 64), value("MaxFrameBytes", 9600)
        self.knobs = {
            "decide": 0.3,
            "pair": 0.5,
            "beat": 1.0,
            "sink": 1.0,
            "delay": (6, 10),
            "wait": (1 << 20, 1 << 20),
            "void": 0.0,
            "size": self.size,
        }
        self.now = rng.choice((0, MASK32 - 1000))
        self.cycles = 0
        self.order: deque[Frame] = deque()  # decided, and not yet out or gone, in order
        self.waiting: list[deque[Frame]] = [deque() for _ in range(self.columns)]
        self.beat = [0] * self.columns  # of each column's first frame
        self.offered = [False] * self.columns
        self.deciding: list[Frame] = []
        self.open: Frame | None = None  # at the output
        self.got = b""
        self.held: tuple | None = None
        self.sum = dict.fromkeys(("sent", "void", "late", "segments", "rows", "held", "paired"), 0)
        self.limit = 100  # frames of a column that are decided and have not come

    def size(self) -> int:
        rng = self.rng
        return min(self.longest, rng.choice((60, 64, 65, 128, 129, rng.randint(1, self.longest), self.longest)))

    async def start(self) -> None:
        dut = self.dut
        for name in ("now", "s_decided_valid", "s_decided_class", "s_decided_segments", "s_decided_pair", "s_valid", "s_void", "s_data",
                     "s_last", "s_bytes_last", "s_class", "s_deadline", "s_user", "m_ready"):  # fmt: skip
            getattr(dut, f"{name}_i").value = 0
        await testkit.start(dut)

    def _pack(self, name: str, width: int, values: list[int]) -> None:
        word = 0
        for at, value in enumerate(values):
            word |= value << (width * at)
        getattr(self.dut, f"{name}_i").value = word

    def _decide(self) -> None:
        """Some columns decide, in the cycle before it is told; hold_o counts at once. A class is in one column in one cycle."""
        rng, knobs = self.rng, self.knobs
        told = self.deciding
        self._pack("s_decided_valid", 1, [int(any(f.column == i for f in told)) for i in range(self.columns)])
        of = {f.column: f for f in told}
        pair = [sum(f.column == i for f in told) == 2 for i in range(self.columns)]
        width = max(1, (self.classes - 1).bit_length())
        self._pack("s_decided_class", width, [of[i].cls if i in of else rng.randrange(self.classes) for i in range(self.columns)])
        segments = [of[i].segments + pair[i] if i in of else rng.randrange(2048) for i in range(self.columns)]
        self._pack("s_decided_segments", 11, segments)
        self._pack("s_decided_pair", 1, [int(pair[i] if i in of else rng.random() < 0.5) for i in range(self.columns)])
        self.deciding = []
        if int(self.dut.hold_o.value):
            self.sum["held"] += 1
            return
        classes = list(range(self.classes))
        rng.shuffle(classes)
        for i in range(self.columns):
            if not classes or len(self.waiting[i]) >= self.limit or rng.random() >= knobs["decide"]:
                continue
            cls, size, comes = classes.pop(), knobs["size"](), self.cycles + rng.randint(*knobs["delay"])
            sizes = [size]
            if size <= SEGMENT and rng.random() < knobs["pair"]:
                sizes.append(rng.randint(1, SEGMENT))
                self.sum["paired"] += 1
            for size in sizes:
                frame = Frame(i, cls, rng.randbytes(size), self.now + rng.randint(*knobs["wait"]), rng.getrandbits(16), comes)
                self.deciding.append(frame)
                self.order.append(frame)
                self.waiting[i].append(frame)

    def _send(self) -> None:
        valid, void, data, last, size, cls, deadline, user = ([0] * self.columns for _ in range(8))
        for i in range(self.columns):
            queue = self.waiting[i]
            if not queue or queue[0].ready_at > self.cycles:
                continue
            frame = queue[0]
            if not self.offered[i]:
                if self.beat[i] == 0:
                    # As the sender does: what is over by now is not sent.
                    frame.void = self.now > frame.deadline or self.rng.random() < self.knobs["void"]
                self.offered[i] = self.rng.random() < self.knobs["beat"]
                if not self.offered[i]:
                    continue
            chunk = frame.data[SEGMENT * self.beat[i] :][:SEGMENT]
            valid[i], void[i] = 1, int(frame.void)
            noise = self.rng.randbytes(SEGMENT)
            data[i] = int.from_bytes(noise if frame.void else (chunk + noise)[:SEGMENT], "little")
            if self.held_data[i] is not None:
                data[i] = self.held_data[i]
            self.held_data[i] = data[i]
            last[i] = int(frame.void or self.beat[i] == frame.segments - 1)
            size[i] = (len(frame.data) - 1) % SEGMENT + 1
            cls[i], deadline[i], user[i] = frame.cls, frame.deadline & MASK32, frame.user
        self._pack("s_valid", 1, valid)
        self._pack("s_void", 1, void)
        self._pack("s_data", 512, data)
        self._pack("s_last", 1, last)
        self._pack("s_bytes_last", 7, size)
        self._pack("s_class", max(1, (self.classes - 1).bit_length()), cls)
        self._pack("s_deadline", 32, deadline)
        self._pack("s_user", 16, user)

    held_data: list[int | None]

    async def cycle(self) -> None:
        dut = self.dut
        await FallingEdge(dut.clk_i)
        self.cycles += 1
        self.now += 1
        dut.now_i.value = self.now & MASK32
        if self.cycles == 1:
            self.held_data = [None] * self.columns
        self._decide()
        self._send()
        ready = int(self.rng.random() < self.knobs["sink"])
        dut.m_ready_i.value = ready
        await ReadOnly()
        taken = dut.s_ready_o.value.to_unsigned()
        for i in range(self.columns):
            if self.offered[i] and taken >> i & 1:
                self.offered[i], self.held_data[i] = False, None
                self.beat[i] += 1
                frame = self.waiting[i][0]
                if frame.void or self.beat[i] == frame.segments:
                    self.waiting[i].popleft()
                    self.beat[i] = 0
        self._late()
        self._row(ready)

    def _pass_voids(self) -> None:
        while self.order and self.order[0].void and self.open is None:
            self.order.popleft()
            self.sum["void"] += 1

    def _late(self) -> None:
        events = self.dut.ev_late_valid_o.value.to_unsigned()
        size = self.dut.ev_late_bytes_o.value.to_unsigned()
        # They are in the row that is offered now, so their order is known with it.
        self.late_now = [size >> 16 * s & 0xFFFF for s in range(self.columns) if events >> s & 1]

    def _gone_late(self) -> None:
        frame = self.order.popleft()
        expected = self.late_now.pop(0)
        assert not frame.void and len(frame.data) == expected, f"late: {expected} byte, frame of {len(frame.data)}"
        assert self.now > frame.deadline, "a frame is late before its deadline"
        self.sum["late"] += 1

    def _row(self, ready: int) -> None:
        dut = self.dut
        new = not self.held
        if not int(dut.m_valid_o.value):
            assert new, "an offer is taken back"
            while self.late_now:
                self._pass_voids()
                self._gone_late()
            return
        used = dut.m_used_o.value.to_unsigned()
        assert used, "a row of nothing"
        fields = {name: getattr(dut, f"m_{name}_o").value.to_unsigned() for name in ("data", "first", "last", "bytes_last", "class",
                                                                                 "deadline", "user")}  # fmt: skip
        state = (used, *fields.values())
        assert new or self.held == state, "what is offered changes"
        if new:
            self._offer(used, fields)
        self.held = None if ready else state
        if ready:
            self.sum["rows"] += 1
            self.sum["segments"] += used.bit_count()

    def _offer(self, used: int, fields: dict[str, int]) -> None:
        width = max(1, (self.classes - 1).bit_length())
        for s in range(self.columns):
            if not used >> s & 1:
                continue
            first, last = fields["first"] >> s & 1, fields["last"] >> s & 1
            if first:
                assert self.open is None, "a frame begins within another"
                self._pass_voids()
                deadline = fields["deadline"] >> 32 * s & MASK32
                user = fields["user"] >> 16 * s & 0xFFFF
                while self.late_now and self.order[0].user != user:
                    self._gone_late()
                    self._pass_voids()
                frame = self.open = self.order[0]
                cls = fields["class"] >> width * s & (1 << width) - 1
                known = (frame.cls, frame.deadline & MASK32, frame.user)
                assert known == (cls, deadline, user), "another frame comes out than is next by decisions"
                assert self.now <= frame.deadline, f"a frame begins {self.now - frame.deadline} cycles after its deadline"
                self.got = b""
            assert self.open is not None, "a segment of no frame"
            data = (fields["data"] >> 512 * s & (1 << 512) - 1).to_bytes(SEGMENT, "little")
            self.got += data[: fields["bytes_last"] >> 7 * s & 127] if last else data
            if last:
                assert self.got == self.open.data, f"a frame of {len(self.open.data)} byte comes out as {len(self.got)} others"
                self.order.popleft()
                self.open = None
                self.sum["sent"] += 1
        while self.late_now:
            self._pass_voids()
            self._gone_late()

    async def drain(self, limit: int = 20000) -> None:
        self.knobs["decide"] = 0.0
        for _ in range(limit):
            if not self.order and not self.deciding and not self.held:
                break
            await self.cycle()
            self._pass_voids() if not any(self.waiting) else None
        assert not self.order, f"stuck: {len(self.order)} frames inside, {self.sum}"
        for _ in range(30):
            await self.cycle()


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    await bench.start()
    return bench


@cocotb.test()
async def mixed(dut) -> None:
    """Random sizes, delays, voids, deadlines that pass on the way, a sink that stands still for long."""
    bench = await begin(dut)
    rng, knobs = bench.rng, bench.knobs
    for phase in range(12):
        knobs.update(
            decide=rng.choice((0.02, 0.2, 1.0)), beat=rng.choice((0.4, 1.0)), sink=rng.choice((0.2, 0.7, 1.0)),
            delay=rng.choice(((6, 6), (6, 40), (30, 200))), wait=rng.choice(((1 << 20, 1 << 20), (30, 400), (10, 3000))),
            void=rng.choice((0.0, 0.1)),
        )  # fmt: skip
        for cycle in range(300):
            if cycle == 200 and phase % 3 == 0:
                knobs["sink"] = 0.0
            await bench.cycle()
    knobs.update(sink=1.0, beat=1.0)
    await bench.drain()
    dut._log.info("%s in %d cycles", bench.sum, bench.cycles)
    for what in ("sent", "void", "late", "held", "paired"):
        assert bench.sum[what], f"the test does not see frames {what}"


@cocotb.test()
async def alone(dut) -> None:
    """A frame with nothing behind it leaves by itself, in its row that is not full."""
    bench = await begin(dut)
    bench.knobs.update(decide=0.0)
    longest = 0
    for _ in range(40):
        bench.knobs.update(decide=0.6 / bench.columns)
        while not bench.deciding:
            await bench.cycle()
        bench.knobs.update(decide=0.0)
        start = bench.cycles
        while bench.order:
            await bench.cycle()
            assert bench.cycles - start < 200 + 2 * bench.longest // SEGMENT, "it does not leave"
        longest = max(longest, bench.cycles - start)
        for _ in range(bench.rng.randint(0, 20)):
            await bench.cycle()
    dut._log.info("at most %d cycles from a decision to the last segment", longest)


@cocotb.test()
async def reset_in_traffic(dut) -> None:
    """After a reset in the middle of everything nothing of before comes out, and all goes on."""
    bench = await begin(dut)
    for again in range(3):
        if again:
            await FallingEdge(dut.clk_i)
            bench = Bench(dut, random.Random(testkit.seed() + again))
            for name in ("s_decided_valid", "s_valid", "m_ready"):
                getattr(dut, f"{name}_i").value = 0
            await testkit.reset(dut)
        bench.knobs.update(decide=0.4, sink=0.6)
        for _ in range(150):
            await bench.cycle()
    bench.knobs.update(sink=1.0)
    await bench.drain()


@cocotb.test()
async def rates(dut) -> None:
    """All columns busy: the longest frames of any column, one-segment frames of columns that take turns."""
    bench = await begin(dut)
    n = bench.columns
    bench.knobs.update(delay=(7, 7), decide=1.0, size=lambda: bench.longest)
    if bench.classes >= n:
        for _ in range(600):
            await bench.cycle()
        before, start = bench.sum["segments"], bench.cycles
        for _ in range(400):
            await bench.cycle()
        full = (bench.sum["segments"] - before) / (bench.cycles - start)
        dut._log.info("frames of %d byte: %.2f segments a cycle of %d", bench.longest, full, n)
        assert full > 0.85 * n or bench.longest < 200
    bench.knobs.update(size=lambda: 64)
    for _ in range(300):
        await bench.cycle()
    before, start = bench.sum["segments"], bench.cycles
    for _ in range(400):
        await bench.cycle()
    small = (bench.sum["segments"] - before) / (bench.cycles - start)
    dut._log.info("frames of 64 byte: %.2f segments a cycle of %d", small, n)
    assert small > 0.5 * min(n, bench.classes)
    await bench.drain()


SIZES = [(3, 2, 64, 256), (64, 8, 256, 1518)]
MORE = [(8, 4, 128, 1024), (16, 8, 64, 200)]


@pytest.mark.parametrize("classes, columns, rows, longest", [*SIZES, *(pytest.param(*m, marks=pytest.mark.slow) for m in MORE)])
def test_pst_edfr_gather(classes: int, columns: int, rows: int, longest: int) -> None:
    testkit.run_module("deadline", "pst_edfr_gather", {"Classes": classes, "Columns": columns, "Rows": rows, "MaxFrameBytes": longest})
