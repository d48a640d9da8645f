"""What the tests of the wide port's deal side share: frames into words of segments, and where each frame must go."""

import random
from collections import deque
from dataclasses import dataclass

from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

LINE = 64
BAD, LENGTH = 2, 3


@dataclass(frozen=True)
class Dealt:
    """A frame as it goes in."""

    number: int
    class_id: int
    user: int
    data: bytes
    bad: bool


class Place:
    """Model of the rule: frame k of a class that is dealt goes to column (class + k / run) mod columns."""

    def __init__(self, columns: int, run: int) -> None:
        self.columns, self.run = columns, run
        self.dealt: dict[int, int] = {}

    def of(self, class_id: int) -> int:
        return (class_id + self.dealt.get(class_id, 0) // self.run) % self.columns

    def count(self, class_id: int) -> None:
        self.dealt[class_id] = self.dealt.get(class_id, 0) + 1


def part(value: int, index: int, width: int) -> int:
    """Return element `index` of a packed array."""
    return value >> (index * width) & ((1 << width) - 1)


class Bench:
    """Drives pst_edfr_deal and judges it: what comes out of each column, and what is said of all else."""

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.columns, self.classes = testkit.parameter("Columns", 8), testkit.parameter("Classes", 64)
        self.run, self.from_user = testkit.parameter("RunFrames", 16), bool(testkit.parameter("ClassFromUser", 0))
        self.shortest, self.longest = testkit.parameter("MinFrameBytes", 60), testkit.parameter("MaxFrameBytes", 9600)
        self.class_width = (self.classes - 1).bit_length()
        self.table = dict.fromkeys(range(65), 0)
        self.cycle_number, self.next_number = 0, 1
        self.source = self.sink = 1.0
        self.holes = 0.0
        self.room = (1 << self.columns) - 1
        self.forget()

    def forget(self) -> None:
        self.waiting: deque[Dealt] = deque()  # whole frames that have not begun
        self.under_way: tuple[Dealt, int] | None = None
        self.word: list[tuple[Dealt, int] | None] | None = None
        self.place = Place(self.columns, self.run)
        self.good: list[Dealt] = []  # taken, in order
        self.arrived: dict[int, int] = {}
        self.refused: list[tuple[int, int, int, int]] = []
        self.found_refused: list[tuple[int, int, int, int]] = []
        self.dropped: list[tuple[int, int, int]] = []
        self.out: list[list[int]] = [[] for _ in range(self.columns)]  # numbers of frames, by column
        self.parts: list[bytearray] = [bytearray() for _ in range(self.columns)]
        self.beside: list[set] = [set() for _ in range(self.columns)]
        self.frames: dict[int, Dealt] = {}
        self.segments_in = self.segments_out = 0

    def idle(self) -> None:
        for name in ("valid", "used", "data", "last", "bytes_last", "bad", "class", "user"):
            getattr(self.dut, f"s_{name}_i").value = 0
        self.dut.m_ready_i.value = 0
        self.dut.now_i.value = 0
        self.dut.room_i.value = self.room
        self.dut.set_dscp_valid_i.value = 0

    def add(self, length: int, class_id: int | None = None, bad: bool = False) -> None:
        rng, number = self.rng, self.next_number
        self.next_number += 1
        data = bytearray(rng.randbytes(min(length, 128)) + bytes(max(0, length - 128)))
        asked = rng.randrange(self.classes) if class_id is None else class_id
        if not self.from_user and length >= 60:
            dscps = [dscp for dscp, of in self.table.items() if of == asked]
            if dscps:
                dscp = rng.choice(dscps)
                data[12:16] = bytes((8, 0, 0x45, dscp << 2)) if dscp < 64 else bytes((8, 6, 0x45, 0))
                asked = self.table[dscp]
            else:
                data[12:14] = bytes((8, 6))
                asked = self.table[64]
        elif not self.from_user:
            data[12:14] = bytes((8, 6))[: max(0, min(2, length - 12))]
            asked = self.table[64]
        if length >= 24:
            data[16:24] = number.to_bytes(8, "little")
        self.waiting.append(Dealt(number, asked, rng.getrandbits(16), bytes(data), bad))

    def _make_word(self) -> None:
        """Fill a word: the next segments of the frames that wait, perhaps with holes."""
        word: list[tuple[Dealt, int] | None] = []
        for _ in range(self.columns):
            if self.under_way is None and self.waiting:
                self.under_way = (self.waiting.popleft(), 0)
            if self.under_way is None or self.rng.random() < self.holes:
                word.append(None)
                continue
            frame, beat = self.under_way
            word.append((frame, beat))
            self.under_way = (frame, beat + 1) if LINE * (beat + 1) < len(frame.data) else None
        self.word = word
        used = last = data = bytes_last = bad = class_id = user = 0
        for lane, segment in enumerate(word):
            length = self.rng.randint(1, LINE)
            if segment:
                frame, beat = segment
                chunk = frame.data[LINE * beat : LINE * (beat + 1)]
                used |= 1 << lane
                ends = LINE * (beat + 1) >= len(frame.data)
                last |= int(ends) << lane
                length = len(chunk) if ends else length
                data |= int.from_bytes(chunk, "little") << (512 * lane)
                bad |= int(frame.bad if ends else self.rng.random() < 0.5) << lane
                first = beat == 0
                class_id |= (frame.class_id if first else self.rng.randrange(self.classes)) << (self.class_width * lane)
                user |= (frame.user if first else self.rng.getrandbits(16)) << (16 * lane)
            else:
                last |= self.rng.getrandbits(1) << lane
            bytes_last |= length << (7 * lane)
        dut = self.dut
        dut.s_used_i.value, dut.s_last_i.value, dut.s_data_i.value = used, last, data
        dut.s_bytes_last_i.value, dut.s_bad_i.value, dut.s_class_i.value, dut.s_user_i.value = bytes_last, bad, class_id, user

    async def cycle(self) -> None:
        dut, rng = self.dut, self.rng
        await FallingEdge(dut.clk_i)
        self.cycle_number += 1
        dut.now_i.value = self.cycle_number
        if self.word is None and (self.waiting or self.under_way) and rng.random() < self.source:
            self._make_word()
        dut.s_valid_i.value = int(self.word is not None)
        ready = sum(1 << c for c in range(self.columns) if rng.random() < self.sink)
        dut.m_ready_i.value = ready
        dut.room_i.value = self.room
        await ReadOnly()
        self._events()
        self._out(ready & int(dut.m_valid_o.value))
        if self.word is not None and int(dut.s_ready_o.value):
            for segment in self.word:
                if segment:
                    self._take(*segment)
            self.word = None

    def _take(self, frame: Dealt, beat: int) -> None:
        self.segments_in += 1
        if beat == 0:
            self.arrived[frame.number] = self.cycle_number
        if LINE * (beat + 1) < len(frame.data):
            return
        length = len(frame.data)
        if frame.bad or not self.shortest <= length <= self.longest:
            self.refused.append((frame.class_id, min(length, 65535), frame.user, BAD if frame.bad else LENGTH))
        else:
            self.good.append(frame)
            self.frames[frame.number] = frame

    def _events(self) -> None:
        dut = self.dut
        for kind, to in (("refused", self.found_refused), ("dropped", self.dropped)):
            valid = int(getattr(dut, f"ev_{kind}_valid_o").value)
            if not valid:
                continue
            fields = [int(getattr(dut, f"ev_{kind}_{name}_o").value) for name in ("class", "bytes", "user")]
            widths = [self.class_width, 16, 16]
            if kind == "refused":
                fields.append(int(dut.ev_refused_reason_o.value))
                widths.append(2)
            for lane in range(self.columns):
                if valid >> lane & 1:
                    to.append(tuple(part(value, lane, width) for value, width in zip(fields, widths, strict=True)))

    def _out(self, taken: int) -> None:
        if not taken:
            return
        dut = self.dut
        data, last, count = int(dut.m_data_o.value), int(dut.m_last_o.value), int(dut.m_bytes_last_o.value)
        class_id, user, arrived = int(dut.m_class_o.value), int(dut.m_user_o.value), int(dut.m_arrived_o.value)
        for c in range(self.columns):
            if not taken >> c & 1:
                continue
            self.segments_out += 1
            ends = last >> c & 1
            length = part(count, c, 7)
            assert ends or length == LINE
            self.parts[c] += part(data, c, 512).to_bytes(LINE, "little")[:length]
            self.beside[c].add((part(class_id, c, self.class_width), part(user, c, 16), part(arrived, c, 32)))
            if ends:
                number = int.from_bytes(self.parts[c][16:24], "little")
                frame = self.frames[number]
                assert bytes(self.parts[c]) == frame.data, f"frame {number} has other bytes in column {c}"
                assert self.beside[c] == {(frame.class_id, frame.user, self.arrived[number])}, f"frame {number}: {self.beside[c]}"
                self.out[c].append(number)
                self.parts[c], self.beside[c] = bytearray(), set()

    async def drain(self) -> int:
        cycles = quiet = 0
        while quiet < 60:
            before = self.segments_out
            await self.cycle()
            cycles += 1
            still = before == self.segments_out and not self.waiting and not self.under_way and self.word is None
            quiet = quiet + 1 if still else 0
            assert cycles < 200000, "stuck"
        return cycles - quiet

    def judge(self, exactly: bool) -> None:
        """Compare all that came in since the last judgement with what came out. `exactly`: room did not change meanwhile."""
        assert self.found_refused == self.refused
        came = {number for numbers in self.out for number in numbers}
        places = {number: c for c, numbers in enumerate(self.out) for number in numbers}
        for numbers in self.out:
            assert numbers == sorted(set(numbers)), "a column has frames out of order, or twice"
        gone: list[tuple[int, int, int]] = []
        for frame in self.good:
            column = self.place.of(frame.class_id)
            if frame.number in came:
                assert places[frame.number] == column, f"frame {frame.number} is in column {places[frame.number]}, not in {column}"
                assert not exactly or self.room >> column & 1, "a frame went where there is no room"
                self.place.count(frame.class_id)
            else:
                assert not exactly or not self.room >> column & 1, f"frame {frame.number} was dropped though there is room"
                gone.append((frame.class_id, len(frame.data), frame.user))
        assert sorted(gone) == sorted(self.dropped)
        self.good, self.refused, self.found_refused, self.dropped = [], [], [], []
        self.out = [[] for _ in range(self.columns)]

    async def set_table(self) -> None:
        """Give each DSCP a class, written while nothing is under way."""
        for dscp in range(65):
            self.table[dscp] = self.rng.randrange(self.classes)
            await FallingEdge(self.dut.clk_i)
            self.dut.set_dscp_valid_i.value = 1
            self.dut.set_dscp_i.value = dscp if dscp < 64 else self.rng.randint(64, 127)
            self.dut.set_dscp_class_i.value = self.table[dscp]
        await FallingEdge(self.dut.clk_i)
        self.dut.set_dscp_valid_i.value = 0
