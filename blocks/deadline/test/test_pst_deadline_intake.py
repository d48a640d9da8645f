"""pst_deadline_intake: good frames come out whole, with their length and what stood beside them; the others leave an event."""

import random
from collections import deque

import cocotb
import pytest
from chunks import Frame, random_frame, to_beats
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

BAD, LENGTH = 2, 3


class Bench:
    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.classes, self.shortest = testkit.parameter("Classes", 64), testkit.parameter("MinFrameBytes", 60)
        self.longest = testkit.parameter("MaxFrameBytes", 9600)
        self.source = self.sink = 1.0
        self.forget()

    def forget(self) -> None:
        self.input: deque[dict] = deque()
        self.frames: deque[tuple[Frame, int]] = deque()  # not yet whole at the input, and the reason against it
        self.refused: deque[tuple] = deque()
        self.metas: deque[Frame] = deque()
        self.beats: deque[int] = deque()
        self.offered = False
        self.events = [0, 0, 0, 0]

    def idle(self) -> None:
        for name in ("valid", "data", "bytes_last", "last", "bad", "class", "deadline", "user"):
            getattr(self.dut, f"s_{name}_i").value = 0
        self.dut.m_meta_ready_i.value = self.dut.m_data_ready_i.value = 0

    def add(self, frame: Frame, bad: bool) -> None:
        reason = BAD if bad else 0 if self.shortest <= len(frame.data) <= self.longest else LENGTH
        words = to_beats(frame.data)
        for k, word in enumerate(words):
            last = k == len(words) - 1
            self.input.append({
                "data": word, "last": int(last), "class": frame.class_id, "deadline": frame.deadline, "user": frame.user,
                "bytes_last": len(frame.data) - 64 * k if last else self.rng.randint(0, 127),
                "bad": int(bad) if last else self.rng.getrandbits(1),
            })  # fmt: skip
        self.frames.append((frame, reason))

    async def cycle(self) -> None:
        dut, rng = self.dut, self.rng
        await FallingEdge(dut.clk_i)
        if not self.offered and self.input and rng.random() < self.source:
            self.offered = True
            for name, value in self.input[0].items():
                getattr(dut, f"s_{name}_i").value = value
        dut.s_valid_i.value = int(self.offered)
        ready = {name: rng.random() < self.sink for name in ("meta", "data")}
        for name, value in ready.items():
            getattr(dut, f"m_{name}_ready_i").value = int(value)
        await ReadOnly()
        if int(dut.m_refused_valid_o.value):
            event = tuple(int(getattr(dut, f"m_refused_{name}_o").value) for name in ("class", "bytes", "reason"))
            assert event == self.refused.popleft()
            self.events[event[2]] += 1
        else:
            assert not self.refused, "a frame is dropped without an event"
        if ready["meta"] and int(dut.m_meta_valid_o.value):
            frame = self.metas.popleft()
            assert (int(dut.m_meta_class_o.value), int(dut.m_meta_header_o.value)) == (frame.class_id, frame.header)
            self.events[0] += 1
        if ready["data"] and int(dut.m_data_valid_o.value):
            assert int(dut.m_data_o.value) == self.beats.popleft()
        if self.offered and int(dut.s_ready_o.value):
            self.offered = False
            if self.input.popleft()["last"]:
                frame, reason = self.frames.popleft()
                if reason:
                    self.refused.append((frame.class_id, len(frame.data), reason))
                else:
                    self.metas.append(frame)
                    self.beats.extend(to_beats(frame.data))

    async def drain(self) -> int:
        cycles = 0
        while self.input or self.metas or self.beats or self.refused:
            await self.cycle()
            cycles += 1
            assert cycles < 100000, "stuck"
        return cycles


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    bench.idle()
    await testkit.start(dut)
    return bench


@cocotb.test()
async def mixed(dut) -> None:
    """Frames of every length, too short and far too long ones, bad ones; a reset in the middle."""
    bench = await begin(dut)
    rng = bench.rng
    for step in range(4):
        bench.source, bench.sink = rng.choice((0.3, 1.0)), rng.choice((0.3, 1.0))
        for _ in range(40 if bench.longest < 2000 else 20):
            bench.add(random_frame(rng, bench.classes, 1, bench.longest + 64), rng.random() < 0.2)
            for length in (bench.shortest - 1, bench.shortest, bench.longest, bench.longest + 1):
                if rng.random() < 0.1:
                    bench.add(Frame(rng.randrange(bench.classes), rng.getrandbits(16), rng.getrandbits(32), rng.randbytes(length)), False)
        if step == 2:
            for _ in range(rng.randint(50, 150)):
                await bench.cycle()
            await FallingEdge(dut.clk_i)
            bench.idle()
            dut.rst_i.value = 1
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 0
            bench.forget()
        else:
            await bench.drain()
    assert bench.events[0] > 10 and bench.events[BAD] > 1 and bench.events[LENGTH] > 1


@cocotb.test()
async def endless(dut) -> None:
    """A frame longer than any store, and than the count of its bytes, is swallowed; the next one comes through."""
    bench = await begin(dut)
    for length in (65535, 70000, 140000):
        bench.add(Frame(0, 0, 0, bytes(length)), False)
        bench.add(Frame(1, 2, 3, bench.rng.randbytes(100)), False)
    await bench.drain()
    assert bench.events == [3, 0, 0, 3]


@cocotb.test()
async def rate(dut) -> None:
    """A beat per cycle, frames of one beat and long ones."""
    bench = await begin(dut)
    for length in (64, bench.longest):
        beats = 0
        while beats < 600:
            bench.add(Frame(0, 0, 0, bytes(length)), False)
            beats += -(-length // 64)
        cycles = await bench.drain()
        dut._log.info("%d beats in %d cycles", beats, cycles)
        assert cycles <= beats + -(-length // 64) + 8


@pytest.mark.parametrize("classes, shortest, longest, store", [(64, 60, 9600, 512), (3, 64, 1518, 64)], ids=["jumbo", "small"])
def test_pst_deadline_intake(classes: int, shortest: int, longest: int, store: int) -> None:
    parameters = {"Classes": classes, "MinFrameBytes": shortest, "MaxFrameBytes": longest, "StoreBeats": store}
    testkit.run_module("deadline", "pst_deadline_intake", parameters)
