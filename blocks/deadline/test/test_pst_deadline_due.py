"""pst_deadline_due: a frame's deadline is its first beat's cycle and a setting; the stamps know of no less than frames have."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

FIELDS = ("data", "bytes_last", "last", "bad", "class", "user")


class Bench:
    """Drives frames and settings, plays intake, tail and stamps, and knows which waits the stamps know of."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.classes, self.default = testkit.parameter("Classes", 64), testkit.parameter("DefaultCycles", 1000000)
        self.forget()

    def forget(self) -> None:
        self.now = self.rng.choice((0, 2**32 - 500))
        self.input: deque[dict] = deque()
        self.offered = False
        self.expected: deque[dict] = deque()
        self.first = True  # of the beats at the input
        self.began = 0
        self.known = [self.default] * self.classes  # by the stamps
        self.told = 0
        self.frames: list[dict] = []  # begun here and not through the tail: class, and its wait once it is known
        self.inside: deque[dict] = deque()  # in intake and tail
        self.fresh: dict | None = None
        self.refused: dict | None = None
        self.set_offer: dict | None = None
        self.counts = [self.default] * self.classes  # settings as they were taken, and which may still count
        self.allowed = [{self.default} for _ in range(self.classes)]
        self.deadlines = self.sets = 0

    def idle(self) -> None:
        for name in (*(f"s_{field}" for field in FIELDS), "now", "s_set_valid", "s_set_class", "s_set_cycles", "m_set_ready", "s_valid",
                     "m_ready", "refused", "fate"):  # fmt: skip
            getattr(self.dut, f"{name}_i").value = 0

    def add(self) -> None:
        rng, class_id = self.rng, self.rng.randrange(self.classes)
        beats = rng.choice((1, 1, 2, 9))
        for k in range(beats):
            last = k == beats - 1
            self.input.append({"data": rng.getrandbits(512), "bytes_last": rng.randint(1, 64), "last": int(last), "bad": rng.getrandbits(1),
                               "class": class_id, "user": rng.getrandbits(16)})  # fmt: skip

    async def cycle(self) -> None:
        dut, rng = self.dut, self.rng
        await FallingEdge(dut.clk_i)
        self.now = (self.now + 1) % 2**32
        dut.now_i.value = self.now
        if not self.offered and self.input and rng.random() < 0.9:
            self.offered = True
            for name, value in self.input[0].items():
                getattr(dut, f"s_{name}_i").value = value
        dut.s_valid_i.value = int(self.offered)
        ready, set_ready = rng.random() < 0.8, rng.random() < 0.3
        dut.m_ready_i.value, dut.m_set_ready_i.value = int(ready), int(set_ready)
        if self.set_offer is None and rng.random() < 0.05:
            self.set_offer = {"class": rng.randrange(self.classes), "cycles": rng.choice((10, 1000, 5000, rng.getrandbits(29)))}
            for name, value in self.set_offer.items():
                getattr(dut, f"s_set_{name}_i").value = value
        dut.s_set_valid_i.value = int(self.set_offer is not None)
        refused, self.refused = self.refused, None
        dut.refused_i.value = int(refused is not None)
        if refused:
            self.frames.remove(refused)
        if self.fresh:
            self.inside.append(self.fresh)
            self.fresh = None
        fate = bool(self.inside) and rng.random() < 0.1
        dut.fate_i.value = int(fate)
        await ReadOnly()
        if fate:
            self.frames.remove(self.inside.popleft())
        if set_ready and int(dut.m_set_valid_o.value):
            self._told(int(dut.m_set_class_o.value), int(dut.m_set_cycles_o.value))
        if self.offered and int(dut.s_ready_o.value):
            self._taken()
        if ready and int(dut.m_valid_o.value):
            self._out()
        if self.set_offer and int(dut.s_set_ready_o.value):
            class_id, cycles = self.set_offer["class"], self.set_offer["cycles"]
            self.allowed[class_id].add(cycles)
            self.counts[class_id] = cycles
            self.set_offer = None
            self.sets += 1

    def _taken(self) -> None:
        self.offered = False
        beat = self.input.popleft()
        if self.first:
            self.began = self.now
            self.frames.append({"class": beat["class"], "wait": None})
        self.expected.append({**beat, "began": self.began, "frame": self.frames[-1] if self.first else self.current})
        self.current = self.expected[-1]["frame"]
        self.first = bool(beat["last"])

    def _out(self) -> None:
        dut = self.dut
        beat = self.expected.popleft()
        assert {name: int(getattr(dut, f"m_{name}_o").value) for name in FIELDS} == {name: beat[name] for name in FIELDS}
        wait = (int(dut.m_deadline_o.value) - beat["began"]) % 2**32
        frame, class_id = beat["frame"], beat["class"]
        assert wait in self.allowed[class_id], f"class {class_id} waits for {wait}, not for one of {self.allowed[class_id]}"
        assert frame["wait"] in (None, wait), "the deadline changes within a frame"
        if frame["wait"] is None:
            self.deadlines += 1
            assert wait <= self.known[class_id], f"a frame of class {class_id} waits for {wait}, the stamps know of {self.known[class_id]}"
        frame["wait"] = wait
        if beat["last"]:
            if self.rng.random() < 0.2:
                self.refused = frame
            else:
                self.fresh = frame

    def _told(self, class_id: int, cycles: int) -> None:
        self.told += 1
        if self.told <= self.classes:
            assert (class_id, cycles) == (self.told - 1, self.default), "what the stamps learn after reset"
            return
        assert cycles == self.counts[class_id]
        for frame in self.frames:
            if frame["class"] == class_id and frame["wait"] is not None:
                assert frame["wait"] <= cycles, (
                    f"class {class_id}: told {cycles} while a frame that waits for {frame['wait']} is on its way"
                )
        if cycles <= self.known[class_id]:
            self.allowed[class_id] = {cycles}
        self.known[class_id] = cycles


@cocotb.test()
async def mixed(dut) -> None:
    """Frames, settings up and down, refusals, a slow tail; a reset in the middle."""
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    bench.idle()
    await testkit.start(dut)
    for _ in range(2):
        for _ in range(4000):
            if len(bench.input) < 3 and len(bench.inside) < 40:
                bench.add()
            await bench.cycle()
        assert bench.deadlines > 150 and bench.sets > 8, (bench.deadlines, bench.sets)
        await FallingEdge(dut.clk_i)
        bench.idle()
        dut.rst_i.value = 1
        await FallingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        bench.forget()


@pytest.mark.parametrize("classes", [3, 16])
def test_pst_deadline_due(classes: int) -> None:
    testkit.run_module("deadline", "pst_deadline_due", {"Classes": classes, "DefaultCycles": 3000, "StoreFrames": 64})
