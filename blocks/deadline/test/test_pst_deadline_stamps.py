# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_deadline_stamps: skips neither early nor late, in order; rings that run full; settings that change; time that wraps."""

import json
import os
import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

MASK32, SERIALS = (1 << 32) - 1, 1 << 24


def word(serial: int, number: int, frames: int, size: int) -> int:
    """`stamp_t`; previous is not of interest, and is the number's complement."""
    return ((serial % SERIALS << 20 | number) << 20 | number ^ 0xFFFFF) << 72 | (frames & MASK32) << 40 | size


class Bench:
    """The tail, as far as looks go, and the head, as far as skips do. Each chunk has a serial, and a moment when all before is over."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.classes = testkit.parameter("Classes", 64)
        self.round = max(8, 1 << (self.classes - 1).bit_length())
        self.now = MASK32 + 1 - rng.choice((500, 5000, 1 << 20))
        each = range(self.classes)
        self.serial = [SERIALS - rng.randint(1, 40) for _ in each]  # wraps, too
        self.number = [0] * self.classes
        self.wait = [0] * self.classes
        self.fresh = [False] * self.classes  # a frame came since the last look
        self.over: list[dict[int, int]] = [
            {serial: 0} for serial in self.serial
        ]  # of a serial: the latest deadline of all frames before it
        self.latest = [0] * self.classes
        self.noted: list[deque[tuple[int, int]]] = [deque() for _ in each]  # serial, seen when
        self.looks: deque[tuple[int, bool, int]] = deque()
        self.skipped = [0] * self.classes
        self.set: tuple[int, int] | None = None
        self.ready, self.ready_share = 1, 1.0
        self.skips = self.stalled = 0
        self.bound: list[dict[int, int]] = [{} for _ in each]  # of a noted serial: its moment
        self.settled: deque[tuple[int, int, int]] = deque()  # when its stamp is made, class, serial
        self.last, self.longest = [-1] * self.classes, [0] * self.classes

    async def start(self) -> None:
        for name in ("now", "tick", "s_set_valid", "s_set_class", "s_set_cycles", "look_any", "look", "m_skip_ready"):
            getattr(self.dut, f"{name}_i").value = 0
        await testkit.start(self.dut)
        while not int(self.dut.init_done_o.value):
            await FallingEdge(self.dut.clk_i)

    def frame(self, cls: int, new_chunk: bool) -> None:
        """A frame of the class comes now; it may begin another chunk."""
        if new_chunk:
            self.serial[cls] += 1
            self.number[cls] = self.rng.getrandbits(20)
            self.over[cls][self.serial[cls]] = self.latest[cls]
        self.fresh[cls] = True
        self.latest[cls] = max(self.latest[cls], self.now + self.wait[cls])

    async def cycle(self, tick: bool = False) -> None:
        dut = self.dut
        await FallingEdge(dut.clk_i)
        self.now += 1
        dut.now_i.value = self.now & MASK32
        dut.tick_i.value = int(tick)
        self._settle()
        dut.s_set_valid_i.value = int(self.set is not None)
        if self.set:
            dut.s_set_class_i.value, dut.s_set_cycles_i.value = self.set
        if self.looks and self.looks[0][0] == self.now:
            _, found, answer = self.looks.popleft()
            dut.look_any_i.value, dut.look_i.value = int(found), answer
        else:
            dut.look_any_i.value, dut.look_i.value = self.rng.getrandbits(1), self.rng.getrandbits(136)
        self.ready = int(self.rng.random() < self.ready_share)
        dut.m_skip_ready_i.value = self.ready
        await ReadOnly()
        if self.set and int(dut.s_set_ready_o.value):
            self.wait[self.set[0]] = self.set[1]
            self.longest[self.set[0]] = max(self.longest[self.set[0]], self.set[1])
            self.set = None
        if int(dut.look_valid_o.value):
            self._look(int(dut.look_class_o.value))
        if int(dut.m_skip_valid_o.value) and self.ready:
            self._skip(int(dut.m_skip_class_o.value), dut.m_skip_o.value.to_unsigned())

    def _look(self, cls: int) -> None:
        serial, fresh = self.serial[cls], self.fresh[cls]
        self.looks.append((self.now + 2, fresh, word(serial, self.number[cls], serial * 3, serial * 100)))
        self.fresh[cls] = False
        if fresh and serial not in (seen[0] for seen in self.noted[cls]) and serial > self.skipped[cls] and serial in self.over[cls]:
            self.noted[cls].append((serial, self.now))
            self.bound[cls][serial] = self.now + (1 << 40)
            self.settled.append((self.now + 3, cls, serial))

    def _skip(self, cls: int, stamp: int) -> None:
        # Serials are compared modulo 2^24, as the hardware has them.
        low = stamp >> 112
        serial = next((s for s in self.over[cls] if s % SERIALS == low), None)
        assert serial is not None, f"class {cls}: a skip to {low}, which was not noted"
        assert serial > self.skipped[cls], f"class {cls}: a skip to {serial} behind one to {self.skipped[cls]}"
        assert self.now > self.over[cls][serial], f"class {cls}: a skip to {serial} is {self.over[cls][serial] - self.now} cycles early"
        assert stamp & (1 << 112) - 1 == word(0, stamp >> 92 & 0xFFFFF, serial * 3, serial * 100) & (1 << 112) - 1
        self.skipped[cls] = serial
        self.skips += 1
        for gone in [s for s in self.over[cls] if s < serial]:
            del self.over[cls][gone]
        while self.noted[cls] and self.noted[cls][0][0] <= serial:
            self.noted[cls].popleft()

    def check_none_is_kept(self) -> None:
        """What was noted is gone when the round behind its moment has come, its class is visited, and the skip is offered."""
        for cls in range(self.classes):
            for serial, _ in self.noted[cls]:
                late = self.now - self.bound[cls][serial]
                assert late <= self.round + self.classes + 4, f"class {cls}: the stamp of chunk {serial} is {late} cycles late"

    def _settle(self) -> None:
        """A stamp is made now: it is over behind the one before it, and behind the longest wait that was set since."""
        while self.settled and self.settled[0][0] == self.now:
            _, cls, serial = self.settled.popleft()
            self.last[cls] = max(self.last[cls], self.now + self.longest[cls])
            self.bound[cls][serial] = self.last[cls]
            self.longest[cls] = self.wait[cls]


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    await bench.start()
    return bench


async def set_wait(bench: Bench, cls: int, cycles: int) -> None:
    bench.set = (cls, cycles)
    for _ in range(3 * bench.round):
        if bench.set is None:
            return
        await bench.cycle()
    raise AssertionError("a setting is not taken")


@cocotb.test()
async def prompt(dut) -> None:
    """Rings that never run full: each stamp leaves within two rounds behind its moment, and none before."""
    bench = await begin(dut)
    rng = bench.rng
    stamps = int(json.loads(os.environ["PENSTOCK_PARAMETERS"])["Stamps"][-4:], 16)
    tick = 3 * bench.round
    longest = (stamps - 2) * tick - bench.round
    for cls in range(bench.classes):
        await set_wait(bench, cls, rng.randint(1, longest))
    busy = 0.3
    for cycle in range(120 * bench.round):
        if cycle % (20 * bench.round) == 0:
            busy = rng.choice((0.02, 0.3, 0.8))
        if rng.random() < busy:
            bench.frame(rng.randrange(bench.classes), rng.random() < 0.5)
        if bench.set is None and rng.random() < 0.01:
            bench.set = (rng.randrange(bench.classes), rng.choice((1, rng.randint(1, longest))))
        await bench.cycle(cycle % tick == 0)
        if cycle % 4 == 0:
            bench.check_none_is_kept()
    dut._log.info("%d skips", bench.skips)
    assert bench.skips > 20


@cocotb.test()
async def full(dut) -> None:
    """Rings that run full, a head that stands still for long: nothing early, all in order, and in the end all that was noted goes."""
    bench = await begin(dut)
    rng = bench.rng
    for cls in range(bench.classes):
        await set_wait(bench, cls, rng.choice((1, 300, 4000)))
    for cycle in range(150 * bench.round):
        if cycle % (10 * bench.round) == 0:
            bench.ready_share = rng.choice((0.0, 0.05, 0.5, 1.0))
        if rng.random() < 0.7:
            bench.frame(rng.randrange(bench.classes), rng.random() < 0.7)
        await bench.cycle(rng.random() < 1 / bench.round)
    # Two ticks for what came last.
    bench.ready_share = 1.0
    for cycle in range(4200 + 100 * bench.round):
        await bench.cycle(cycle in (0, 3 * bench.round))
    left = {cls: list(bench.noted[cls]) for cls in range(bench.classes) if bench.noted[cls]}
    assert not left, f"noted and kept: {left}"
    dut._log.info("%d skips", bench.skips)


@cocotb.test()
async def long_idle(dut) -> None:
    """A class that was idle for more than half the time's range gets its stamps as if it were new."""
    bench = await begin(dut)
    await set_wait(bench, 1, 100)
    for tries in range(4):
        bench.frame(1, True)
        bench.frame(1, True)
        skips = bench.skips
        for cycle in range(100 + 8 * bench.round):
            await bench.cycle(cycle == 2)
        assert bench.skips == skips + 1, f"round {tries}: the class is not skipped"
        # No test waits so long: the time jumps, by whole rounds, in steps in which the class is visited.
        for _ in range(6):
            bench.now += (1 << 29) // bench.round * bench.round
            for _ in range(2 * bench.round):
                await bench.cycle()


@pytest.mark.parametrize("classes, ring, skips", [(3, 4, 2), (3, 24, 4), (64, 16, 4)])
def test_pst_deadline_stamps(classes: int, ring: int, skips: int) -> None:
    stamps = f"{16 * classes}'h" + f"{ring:04x}" * classes
    testkit.run_module("deadline", "pst_deadline_stamps", {"Classes": classes, "Stamps": stamps, "Skips": skips})
