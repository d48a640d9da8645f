"""What the tests of this block share: the map of the memories, AXI4 memories that answer at random, frames as beats."""

import json
import os
import random
from collections import deque
from dataclasses import dataclass

LINE = 64  # bytes of a beat
WORD = (1 << 512) - 1
ALL_BYTES = (1 << LINE) - 1  # strobes of a line


@dataclass(frozen=True)
class Geometry:
    """Pages, page size and size in bytes of each memory, and the module parameters that say so."""

    pages: tuple[int, ...]
    page_bytes: tuple[int, ...]
    mem_bytes: tuple[int, ...]

    @classmethod
    def of(cls, *memories: tuple[int, int]) -> "Geometry":
        """Make a geometry of (pages, page size) per memory; a memory is as large as its pages, in steps of 4 KiB."""
        return cls(
            tuple(pages for pages, _ in memories),
            tuple(size for _, size in memories),
            tuple(-(-pages * size // 4096) * 4096 for pages, size in memories),
        )

    def parameters(self, *names: str) -> dict[str, str]:
        """Return `names` of Memories, MemPages, MemPageBytes, MemBytes as Verilog literals (all by default)."""
        values = {
            "Memories": str(len(self.pages)),
            "MemPages": _packed(self.pages, 32),
            "MemPageBytes": _packed(self.page_bytes, 32),
            "MemBytes": _packed(self.mem_bytes, 64),
        }
        return {name: values[name] for name in names or values}

    @classmethod
    def under_test(cls) -> "Geometry":
        """Return the geometry that `run_module` was given (inside the simulation); unknown numbers are 0."""
        given = json.loads(os.environ["PENSTOCK_PARAMETERS"])
        count = int(given["Memories"])

        def unpack(name: str, width: int) -> tuple[int, ...]:
            value = int(given.get(name, "'h0").split("'h")[1], 16)
            return tuple(value >> width * m & (1 << width) - 1 for m in range(count))

        return cls(unpack("MemPages", 32), unpack("MemPageBytes", 32), unpack("MemBytes", 64))

    @property
    def descriptors(self) -> int:
        return sum(self.pages)

    def memory_of(self, desc: int) -> int:
        """Return the memory that holds `desc`."""
        memory = 0
        while desc >= sum(self.pages[: memory + 1]):
            memory += 1
        return memory

    def address(self, desc: int) -> int:
        """Return the first byte of `desc`'s page in the whole range."""
        m = self.memory_of(desc)
        return sum(self.mem_bytes[:m]) + (desc - sum(self.pages[:m])) * self.page_bytes[m]


def _packed(values: tuple[int, ...], width: int) -> str:
    word = sum(value << width * m for m, value in enumerate(values))
    return f"{width * len(values)}'h{word:x}"


def random_length(rng: random.Random, longest: int) -> int:
    """Return a frame length: often short, often at the edge of a line, a page or a 4 KiB boundary, up to `longest`."""
    longest = min(longest, (1 << 14) - 1)  # pst_pkg::len_t
    kind = rng.random()
    if kind < 0.4:
        length = rng.randint(1, 2 * LINE)
    elif kind < 0.8:
        length = rng.choice((512, 1536, 2048, 4096, 8192, longest)) + rng.choice((-65, -64, -1, 0, 1, 64, 65))
    else:
        length = rng.randint(1, longest)
    return max(1, min(length, longest))


def to_beats(frame: bytes) -> list[int]:
    """Return the frame as 512-bit words, byte 0 in the lowest bits, the last word filled with zeros."""
    return [int.from_bytes(frame[at : at + LINE], "little") for at in range(0, len(frame), LINE)]


def merged(old: int, new: int, strobes: int) -> int:
    """Return the line `old` with those bytes of `new` whose strobe is set."""
    if strobes == ALL_BYTES:
        return new
    mask = sum(0xFF << 8 * byte for byte in range(LINE) if strobes >> byte & 1)
    return old & ~mask | new & mask


class AxiMemories:
    """AXI4 memories behind `count` packed ports of `dut`: they check the protocol, and answer late and with gaps.

    `sizes` is each memory's size in bytes, `latency` the least and most cycles from a burst to its answer (one pair for
    all, or a list of pairs), `probability` that of each ready and valid in a cycle. A write can be read once its response
    has been taken, not before, and read data is looked up when it is handed over: a module that frees a page too early, or reads
    one too early, gets the wrong bytes.
    """

    def __init__(
        self,
        dut,
        sizes: tuple[int, ...],
        rng: random.Random,
        latency: tuple[int, int] | list[tuple[int, int]] = (1, 1),
        probability: float = 1.0,
        write: bool = True,
        read: bool = True,
    ) -> None:
        self.dut, self.sizes, self.rng, self.latency, self.probability = dut, sizes, rng, latency, probability
        self.write, self.read = write, read
        self.count = len(sizes)
        self.lines: list[dict[int, int]] = [{} for _ in sizes]
        self.refused: set[tuple[int, int]] = set()  # (memory, line): accesses are answered with `error`
        self.error = 2  # SLVERR; 3: DECERR
        self.forgets = True  # with the module's reset what is under way is forgotten; without, the memory goes on
        self.may_owe = False  # it may owe answers when the module is reset
        self.whole_lines = True  # the handlers write nothing else; without, bytes without a strobe stay
        self.bursts: list[tuple[str, int, int, int]] = []  # every burst: "aw" or "ar", memory, address, beats
        self.addr_width = len(dut.m_axi_awaddr_o if write else dut.m_axi_araddr_o) // self.count
        self.reset()

    def reset(self) -> None:
        """Forget what is under way; the contents stay."""
        self.now = 0
        self.beats_read = 0  # handed over
        self.aw: list[deque] = [deque() for _ in self.sizes]
        self.w: list[deque] = [deque() for _ in self.sizes]
        self.b: list[deque] = [deque() for _ in self.sizes]
        self.r: list[deque] = [deque() for _ in self.sizes]
        self.offer_b = [False] * self.count
        self.offer_r = [False] * self.count
        self.held: dict[tuple[str, int], tuple] = {}

    @property
    def under_way(self) -> int:
        """Bursts that were asked for, or whose data came, and that are not answered whole."""
        reads = sum(1 for queue in self.r for _, _, last in queue if last)
        return reads + sum(len(queue) for queues in (self.aw, self.w, self.b) for queue in queues)

    def idle(self) -> None:
        """Drive every input of the module's AXI ports to rest."""
        if self.write:
            for name in ("awready", "wready", "bvalid", "bresp"):
                getattr(self.dut, f"m_axi_{name}_i").value = 0
        if self.read:
            for name in ("arready", "rvalid", "rdata", "rresp", "rlast"):
                getattr(self.dut, f"m_axi_{name}_i").value = 0

    async def run(self) -> None:
        """Serve for ever."""
        from cocotb.triggers import FallingEdge, ReadOnly

        while True:
            await FallingEdge(self.dut.clk_i)
            self._drive()
            await ReadOnly()
            if int(self.dut.rst_i.value):
                if self.forgets:
                    self.reset()
                assert self.may_owe or not self.under_way, "the module is reset while this memory owes answers"
            else:
                self._sample()
            self.now += 1

    def _chance(self) -> bool:
        return self.rng.random() < self.probability

    def _bits(self) -> int:
        return sum(int(self._chance()) << m for m in range(self.count))

    def _drive(self) -> None:
        dut = self.dut
        if self.write:
            self.ready_aw, self.ready_w = self._bits(), self._bits()
            dut.m_axi_awready_i.value = self.ready_aw
            dut.m_axi_wready_i.value = self.ready_w
            resp = 0
            for m, queue in enumerate(self.b):
                self.offer_b[m] = self.offer_b[m] or bool(queue and queue[0][0] <= self.now and self._chance())
                if self.offer_b[m]:
                    resp |= queue[0][1] << 2 * m
            dut.m_axi_bvalid_i.value = sum(int(offered) << m for m, offered in enumerate(self.offer_b))
            dut.m_axi_bresp_i.value = resp
        if self.read:
            self.ready_ar = self._bits()
            dut.m_axi_arready_i.value = self.ready_ar
            data = resp = last = 0
            for m, queue in enumerate(self.r):
                self.offer_r[m] = self.offer_r[m] or bool(queue and queue[0][0] <= self.now and self._chance())
                if self.offer_r[m]:
                    _, line, is_last = queue[0]
                    # A line that was never written reads as something that no frame contains by chance.
                    data |= self.lines[m].get(line, WORD ^ line) << 512 * m
                    resp |= (self.error if (m, line) in self.refused else 0) << 2 * m
                    last |= is_last << m
            dut.m_axi_rvalid_i.value = sum(int(offered) << m for m, offered in enumerate(self.offer_r))
            dut.m_axi_rdata_i.value = data
            dut.m_axi_rresp_i.value = resp
            dut.m_axi_rlast_i.value = last

    def _channel(self, name: str, ready: int, *fields: tuple[str, int]) -> list[tuple[int, tuple]]:
        """Return what the module hands over on a channel in this cycle, and check that it holds what is not taken."""
        valid = int(getattr(self.dut, f"m_axi_{name}valid_o").value)
        taken = []
        words = None
        for m in range(self.count):
            if not valid >> m & 1:
                assert (name, m) not in self.held, f"{name} of memory {m} was withdrawn"
                continue
            if words is None:
                words = [(int(getattr(self.dut, f"m_axi_{field}_o").value), width) for field, width in fields]
            payload = tuple(word >> width * m & (1 << width) - 1 for word, width in words)
            assert self.held.get((name, m), payload) == payload, f"{name} of memory {m} changed while it waited"
            if ready >> m & 1:
                self.held.pop((name, m), None)
                taken.append((m, payload))
            else:
                self.held[name, m] = payload
        return taken

    def _burst(self, kind: str, m: int, addr: int, beats: int) -> None:
        assert addr % LINE == 0, f"{kind} address {addr:#x} is not that of a line"
        assert beats <= 64 and addr % 4096 + beats * LINE <= 4096, f"{kind} of {beats} beats at {addr:#x} crosses 4 KiB"
        assert addr + beats * LINE <= self.sizes[m], f"{kind} of {beats} beats at {addr:#x} leaves memory {m}"
        self.bursts.append((kind, m, addr, beats))

    def _due(self, m: int) -> int:
        return self.now + self.rng.randint(*(self.latency[m] if isinstance(self.latency, list) else self.latency))

    def _sample(self) -> None:
        dut = self.dut
        if self.write:
            for m in range(self.count):
                if self.offer_b[m] and int(dut.m_axi_bready_o.value) >> m & 1:
                    _, resp, content = self.b[m].popleft()
                    self.offer_b[m] = False
                    if resp == 0:
                        for line, (data, strb) in content.items():
                            self.lines[m][line] = merged(self.lines[m].get(line, 0), data, strb)
            for m, (addr, length) in self._channel("aw", self.ready_aw, ("awaddr", self.addr_width), ("awlen", 8)):
                self._burst("aw", m, addr, length + 1)
                self.aw[m].append((addr // LINE, length + 1))
            for m, beat in self._channel("w", self.ready_w, ("wdata", 512), ("wstrb", 64), ("wlast", 1)):
                self.w[m].append(beat)
            for m in range(self.count):
                while self.aw[m] and len(self.w[m]) >= self.aw[m][0][1]:
                    line, count = self.aw[m].popleft()
                    content = {}
                    for k in range(count):
                        data, strb, last = self.w[m].popleft()
                        assert last == (k == count - 1), f"wlast at beat {k} of {count}"
                        assert not self.whole_lines or strb == ALL_BYTES, "not a whole line is written"
                        content[line + k] = data, strb
                    resp = self.error if any((m, address) in self.refused for address in content) else 0
                    due = max(self._due(m), self.b[m][-1][0] if self.b[m] else 0)
                    self.b[m].append((due, resp, content))
        if self.read:
            for m in range(self.count):
                if self.offer_r[m] and int(dut.m_axi_rready_o.value) >> m & 1:
                    self.r[m].popleft()
                    self.offer_r[m] = False
                    self.beats_read += 1
            for m, (addr, length) in self._channel("ar", self.ready_ar, ("araddr", self.addr_width), ("arlen", 8)):
                self._burst("ar", m, addr, length + 1)
                due = self._due(m)
                self.r[m].extend((due, addr // LINE + k, int(k == length)) for k in range(length + 1))
