# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What stands around pst_deadline_wide: AXI4-Stream of several segments, registers, memories; the book of all frames is the block's."""

import itertools
import random
import sys
from dataclasses import dataclass

from cocotb.triggers import with_timeout

from penstock.designs.deadline_port import registers
from penstock.paths import BLOCKS
from penstock.testing import testkit
from penstock.testing.testbus import axi_lite_master

sys.path[:0] = [str(BLOCKS / block / "test") for block in ("deadline", "memory")]

from chunks import LINE  # noqa: E402
from memory_bench import AxiMemories  # noqa: E402
from wide_bench import Bench, Frame  # noqa: E402

RUNT, OVERSIZE, BAD_FRAME = (registers.contract()["reasons"][name]["number"] for name in ("runt", "oversize", "bad_frame"))
SEGMENT_USER = 28
BUSY = 1 << registers.table()["status"]["fields"]["busy"][0]


@dataclass(eq=False)
class Damaged(Frame):
    """A frame that has to be refused, as its source says it, or because of `hole`, a segment that is not whole, or `wrong`, a class."""

    hole: int | None = None
    wrong: int | None = None


class DeviceBench(Bench):
    """Frames at AXI4-Stream, settings and counters at registers; every event has to name a frame that is inside."""

    ready_pin = "s_axis_tready_o"

    def __init__(self, dut, rng: random.Random) -> None:
        super().__init__(dut, rng)
        memories = testkit.parameter("Memories", 4)
        size = testkit.parameter("Chunks", 4096) * testkit.parameter("ChunkBeats", 64) * LINE * self.columns // memories
        self.memory = AxiMemories(dut, (size,) * memories, rng, (10, 30))
        self.class_width, self.from_user = 8, bool(testkit.parameter("ClassFromUser", 0))
        self.axil = None

    def forget(self) -> None:
        super().forget()
        self.user: dict[int, Frame] = {}  # by the bits that name it: all that came since the last reset
        self.deadline: dict[int, int] = {}
        self.entered: list[Frame] = []  # of a word that is behind the pins and not in the port
        self.amounts = [dict.fromkeys(("in", "out", "missed", "lost", "no_page"), (0, 0)) for _ in range(self.classes)]
        self.reasons: dict[int, tuple[int, int]] = {}

    def idle(self) -> None:
        for name in dir(self.dut):
            if name.endswith("_i") and name not in ("clk_i", "rst_i") and not name.startswith("s_axil"):
                getattr(self.dut, name).value = 0
        self.memory.idle()

    def bus(self) -> None:
        """Take hold of the registers, with random stalls."""
        self.axil = axi_lite_master(self.dut)
        write, read = self.axil.write_if, self.axil.read_if
        for channel in (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel):
            channel.set_pause_generator(self.rng.random() < 0.3 for _ in itertools.count())

    # ---- Frames ----
    def add(self, class_id: int, length: int, bad: bool = False) -> None:
        """Add a frame; a bad one is damaged in one of the ways that there are."""
        rng = self.rng
        how = rng.choice(("said", "hole", "class") if self.from_user else ("said", "hole")) if bad else ""
        if how == "hole":
            length = -(-length // LINE) * LINE  # a segment with a hole counts as a full one
        short = not self.from_user and length < 16  # it has no DSCP
        super().add(0 if short or how == "class" else class_id, length, bad)
        last = self.input[-1]
        if not self.from_user and not short:
            last.data = last.data[:12] + bytes((8, 0, 0x45, class_id << 2)) + last.data[16:]
        if bad:
            hole = rng.randrange(length // LINE) if how == "hole" else None
            wrong = rng.randrange(self.classes, 256) if how == "class" else None
            self.input[-1] = last = Damaged(last.class_id, last.data, how == "said", last.user, hole=hole, wrong=wrong)
        self.user[last.user] = last

    def refusal(self, frame: Frame) -> int:
        """Return the reason for which a frame has to be refused, 0: it is a good one."""
        if frame.bad or isinstance(frame, Damaged):
            return BAD_FRAME
        shortest = testkit.parameter("MinFrameBytes", 60)
        return RUNT if len(frame.data) < shortest else OVERSIZE if len(frame.data) > self.longest else 0

    def _word_pins(self, word: list[tuple[Frame, int, bool] | None]) -> None:
        dut, rng = self.dut, self.rng
        data = keep = user = 0
        for s, segment in enumerate(word):
            said = rng.getrandbits(SEGMENT_USER)
            piece = b""
            if segment:
                frame, at, last = segment
                piece = frame.data[at * LINE : (at + 1) * LINE]
                said = said & ~1 | last
                if last:
                    said = said & ~2 | frame.bad << 1
                if at == 0:
                    wrong = frame.wrong if isinstance(frame, Damaged) else None
                    said = said & ~0x3FFFFFC | (frame.class_id if wrong is None else wrong) << 18 | frame.user << 2
            kept = (1 << len(piece)) - 1
            if segment and isinstance(frame, Damaged) and frame.hole == at:
                bit = rng.randrange(LINE - 1)
                kept = (1 << bit + 1) - 1 if not last and rng.random() < 0.3 else kept & ~(1 << bit)
            data |= int.from_bytes(piece + rng.randbytes(LINE - len(piece)), "little") << 512 * s
            keep |= kept << LINE * s
            user |= said << SEGMENT_USER * s
        dut.s_axis_tdata_i.value, dut.s_axis_tkeep_i.value, dut.s_axis_tuser_i.value = data, keep, user
        dut.s_axis_tlast_i.value = rng.getrandbits(1)

    def _drive(self, ready: bool) -> None:
        self.dut.s_axis_tvalid_i.value = int(self.word is not None)
        self.dut.m_axis_tready_i.value = int(ready)

    def _words_out(self) -> dict[str, int] | None:
        dut = self.dut
        if not int(dut.m_axis_tvalid_o.value):
            return None
        assert int(dut.m_axis_tlast_o.value)
        keep, user = dut.m_axis_tkeep_o.value.to_unsigned(), dut.m_axis_tuser_o.value.to_unsigned()
        words = dict.fromkeys(("used", "data", "first", "last", "bytes_last", "class", "deadline", "user"), 0)
        words["data"] = dut.m_axis_tdata_o.value.to_unsigned()
        for s in range(self.columns):
            kept, said = keep >> LINE * s & (1 << LINE) - 1, user >> SEGMENT_USER * s & (1 << SEGMENT_USER) - 1
            count = kept.bit_count()
            assert kept == (1 << count) - 1 and (kept or not said)
            last, first, name = said & 1, said >> 26 & 1, said >> 2 & 0xFFFF
            assert last or count in (0, LINE)
            words["used"] |= (count > 0) << s
            words["last"] |= last << s
            words["first"] |= first << s
            words["bytes_last"] |= count << 7 * s
            if first:
                words["class"] |= (said >> 18 & 0xFF) << 8 * s
                words["user"] |= name << 16 * s
                words["deadline"] |= (self.deadline[name] & (1 << 32) - 1) << 32 * s
        return words

    # ---- Events ----
    def _fields(self, name: str, *fields: tuple[str, int]) -> list[list[int]]:
        port = {"refused": "in"}.get(name, name)
        if name == "passed":
            rows = super()._fields(name, *fields)
            for lost, class_id, frames, size in rows:
                self._add(class_id, frames, size, "lost" if lost else "missed")
            return rows
        wanted = [("len" if field == "bytes" else field, width) for field, width in fields]
        found = super()._fields(port, *wanted, ("user", 16), *([("reason", 4)] if name == "refused" else []))
        for class_id, size, user, *reason in found:
            frame = self.user[user]
            assert (class_id, size) == (frame.class_id, len(frame.data)), f"{name}: class {class_id}, {size} byte, user {user}"
            assert (self.refusal(frame) or None) == (reason[0] if reason else None), f"{name}: {frame.class_id}, {size} byte"
            if reason:
                self._count(reason[0], 1, size)
            elif name == "dropped":
                self._add(class_id, 1, size, "in", "no_page")
            else:
                self._add(class_id, 1, size, "missed")
        return [row[:2] for row in found]

    def _events(self) -> None:
        # A frame's time counts from the cycle in which its word gets into the port, a cycle behind the pins at least.
        inside = self.dut.u_dut
        if int(inside.word_valid.value) and int(inside.word_ready.value):
            for frame in self.entered:
                frame.arrived = self.now
            self.entered = []
        if self.word is not None and int(self.dut.s_axis_tready_o.value):
            self.entered = [segment[0] for segment in self.word if segment and segment[1] == 0]
        for class_id, size, user, deadline in super()._fields("taken", ("class", 8), ("len", 16), ("user", 16), ("deadline", 32)):
            frame = self.user[user]
            assert (class_id, size) == (frame.class_id, len(frame.data)) and user not in self.deadline
            self.deadline[user] = deadline
            self._add(class_id, 1, size, "in")
        super()._events()

    def _segment(self, stream: int, s: int, words: dict[str, int]) -> None:
        if words["first"] >> s & 1:
            self.leaves = self.user[words["user"] >> 16 * s & 0xFFFF]
        sent = self.count["sent"]
        super()._segment(stream, s, words)
        if self.count["sent"] > sent:
            self._add(self.leaves.class_id, 1, len(self.leaves.data), "out")

    def _add(self, class_id: int, frames: int, size: int, *names: str) -> None:
        for name in names:
            have = self.amounts[class_id][name]
            self.amounts[class_id][name] = have[0] + frames, have[1] + size

    def _count(self, reason: int, frames: int, size: int) -> None:
        have = self.reasons.get(reason, (0, 0))
        self.reasons[reason] = have[0] + frames, have[1] + size

    # ---- Registers ----
    async def write(self, name: str, value: int) -> None:
        answer = await with_timeout(self.axil.write(registers.address(name), value.to_bytes(4, "little")), 100, "us")
        assert answer.resp == 0

    async def read(self, name: str) -> int:
        entry, value = registers.table()[name], 0
        for offset in range(0, entry["bytes"], 4):
            answer = await with_timeout(self.axil.read(entry["address"] + offset, 4), 100, "us")
            value |= int.from_bytes(answer.data, "little") << 8 * offset
        return value

    async def command(self, name: str) -> None:
        await self.write("command", registers.command(name))
        while await self.read("status") & BUSY:
            pass

    async def set_table(self) -> None:
        """Give DSCP n the class n, and all else the class 0, as it is after reset."""
        for dscp in range(0 if self.from_user else self.classes):
            await self.write("dscp_index", dscp)
            await self.write("dscp_class", dscp)
            await self.command("write_dscp")

    async def wait(self, class_id: int, cycles: int) -> None:
        """Set for how long frames of a class may wait; from now on both settings may count."""
        self.of[class_id].waits.add(cycles)
        await self.write("class_index", class_id)
        await self.write("class_deadline", cycles)
        await self.command("write_class")

    async def snapshot(self, class_id: int) -> dict[str, tuple[int, int]]:
        await self.write("class_index", class_id)
        await self.command("snapshot")
        names = ("in", "out", "missed", "lost", "no_page", "queued")
        return {name: (await self.read(f"{name}_frames"), await self.read(f"{name}_bytes")) for name in names}
