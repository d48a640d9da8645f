"""pst_access_edge_counters, in banks and folded, against a tally: events of any kind in any cycle, reads among them, resets."""

import random
import sys
from collections import Counter

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.paths import BLOCKS, DESIGNS, block_file_list, read_file_list
from penstock.testing.testkit import parameter, run_module, seed, start

sys.path.append(str(BLOCKS / "memory" / "test"))
SOURCES = [*read_file_list(block_file_list("count")), DESIGNS / "access_edge/rtl/pst_access_edge_counters.sv"]
NONE, TAIL_DROP, AQM = 0, 7, 8  # drop reasons: `tail_drop_bytes` and `aqm`
RECORD = 64  # bytes
OTHERS = ("in", "drop", "aqm")  # counters of packets and bytes that are read in one moment, beside the marks
NARROW = {"PacketWidth": 7, "ByteWidth": 16}


@pytest.mark.parametrize(
    "parameters",
    [
        {"Queues": 64, "Aqm": 1},
        {"Queues": 64, "Aqm": 1, "Folded": 1, "MaxFrameBytes": 9600},
        {"Queues": 300, "Aqm": 2, "Folded": 1, "PacketWidth": 46, "ByteWidth": 54},
        {"Queues": 2, "Aqm": 2, **NARROW},
        {"Queues": 5, "Aqm": 0, "Folded": 1},
        {"Queues": 16, "Aqm": 0, **NARROW},
    ],
    ids=lambda parameters: f"aqm-{parameters['Aqm']}-{'folded' if 'Folded' in parameters else 'banks'}",
)
def test_counters_by_queue(parameters: dict[str, object]) -> None:
    run_module("access_edge", "pst_access_edge_counters", parameters, sources=SOURCES)


class Bench:
    """Drives a cycle at a time, and counts beside it what each event should have changed."""

    def __init__(self, dut) -> None:
        from memory_bench import AxiMemories

        self.dut, self.rng = dut, random.Random(seed())
        dut._log.info(f"PENSTOCK_SEED={seed()}")
        self.queues, self.aqm, self.folded = parameter("Queues", 16), parameter("Aqm", 0), parameter("Folded", 0)
        self.widths = parameter("PacketWidth", 50), parameter("ByteWidth", 56)
        self.longest = parameter("MaxFrameBytes", 1522)
        size = -(-RECORD * self.queues // 4096) * 4096
        self.memories = AxiMemories(dut, (size,), self.rng, latency=(4, 40), probability=0.7)
        self.clear()

    def clear(self) -> None:
        self.packets: Counter[tuple[str, int]] = Counter()  # by counter and queue
        self.bytes: Counter[tuple[str, int]] = Counter()
        self.pending: dict[str, int] = {}  # reads on offer: the queue
        self.asked: dict[str, tuple[int, tuple[int, ...]]] = {}  # reads that were taken: the cycle, what they must give
        self.reads: Counter[str] = Counter()
        self.number = 0

    def rest(self) -> None:
        for name in ("ev_come", "ev_left", "ev_judged", "s_out", "s_others"):
            getattr(self.dut, f"{name}_valid_i").value = 0

    async def start(self) -> None:
        self.rest()
        self.memories.idle()
        await start(self.dut)
        cocotb.start_soon(self.memories.run())
        await self.cleared()

    async def cleared(self) -> None:
        while not int(self.dut.init_done_o.value):
            await FallingEdge(self.dut.clk_i)

    def _add(self, counter: str, queue: int, length: int) -> None:
        self.packets[counter, queue] += 1
        self.bytes[counter, queue] += length

    def counts(self, counter: str, queue: int) -> tuple[int, int]:
        at = counter, queue
        return self.packets[at] % (1 << self.widths[0]), self.bytes[at] % (1 << self.widths[1])

    def expected(self, kind: str, queue: int) -> tuple[int, ...]:
        if kind == "out":
            return self.counts("out", queue)
        return *(number for counter in OTHERS for number in self.counts(counter, queue)), self.counts("mark", queue)[0]

    async def cycle(self, came=None, left=None, judged=None) -> None:
        """One cycle. `came`: queue, length, reason; `left`: queue, length; `judged`: queue, length, reason, mark. Offers pending reads."""
        dut = self.dut
        for name, event, fields in (
            ("come", came, ("queue", "len", "reason")),
            ("left", left, ("queue", "len")),
            ("judged", judged, ("queue", "len", "reason", "mark")),
        ):
            getattr(dut, f"ev_{name}_valid_i").value = event is not None
            for field, value in zip(fields, event or (), strict=False):
                getattr(dut, f"ev_{name}_{field}_i").value = value
        for kind in ("out", "others"):
            getattr(dut, f"s_{kind}_valid_i").value = kind in self.pending
            if kind in self.pending:
                getattr(dut, f"s_{kind}_index_i").value = self.pending[kind]
        await ReadOnly()
        self.compare()
        for kind in ("out", "others"):
            ready = bool(int(getattr(dut, f"s_{kind}_ready_o").value))
            if not self.folded:
                assert ready == (left is None if kind == "out" else self.quiet(came, judged)), f"ready of {kind}"
            if kind in self.pending and ready:
                assert not self.folded or not self.asked, "one read at a time"
                self.asked[kind] = self.number, self.expected(kind, self.pending.pop(kind))
        self.count(came, left, judged)
        assert not int(dut.wrong_o.value)
        self.number += 1
        await FallingEdge(dut.clk_i)

    def quiet(self, came, judged) -> bool:
        """Nothing counts in this cycle but what was sent."""
        if came is not None and (came[2] != AQM or self.aqm == 2):
            return False
        return judged is None or self.aqm == 0 or not (judged[3] or (self.aqm == 1 and judged[2] != NONE))

    def count(self, came, left, judged) -> None:
        if came is not None:
            queue, length, reason = came
            if reason == NONE:
                self._add("in", queue, length)
            elif reason != AQM:
                self._add("drop", queue, length)
            elif self.aqm == 2:
                self._add("aqm", queue, length)
        if left is not None:
            self._add("out", *left)
        if judged is not None and self.aqm:
            queue, length, reason, mark = judged
            if reason != NONE and self.aqm == 1:
                self._add("aqm", queue, length)
            if mark:
                self._add("mark", queue, 0)

    def compare(self) -> None:
        dut = self.dut
        for kind, names in (
            ("out", ("out_packets", "out_bytes")),
            ("others", (*(f"{counter}_{unit}" for counter in OTHERS for unit in ("packets", "bytes")), "mark_packets")),
        ):
            if not int(getattr(dut, f"m_{kind}_valid_o").value):
                assert self.folded or kind not in self.asked or self.number < self.asked[kind][0] + 3, "an answer is late"
                continue
            taken, expected = self.asked.pop(kind)
            assert tuple(int(getattr(dut, f"m_{name}_o").value) for name in names) == expected, f"counters of {kind}"
            assert self.folded or self.number == taken + 3
            self.reads[kind] += 1

    def events(self, pick, load: float) -> dict[str, tuple[int, ...]]:
        """Events of one cycle, of which each may be."""
        rng, given = self.rng, {}
        length = lambda: rng.choice([1, 60, 61, 1514, self.longest])  # noqa: E731
        if rng.random() < load:
            reasons = [NONE, NONE, TAIL_DROP, AQM] if self.aqm == 2 else [NONE, TAIL_DROP]
            given["came"] = pick(), length(), rng.choice(reasons)
        if rng.random() < load:
            given["left"] = pick(), length()
        if self.aqm and rng.random() < load:
            reason = rng.choice([NONE, AQM]) if self.aqm == 1 else NONE
            given["judged"] = pick(), length(), reason, int(reason == NONE and rng.random() < 0.5)
        return given

    async def mix(self, cycles: int, pick, load: float) -> None:
        for number in range(cycles):
            for kind in ("out", "others"):
                if kind not in self.pending and kind not in self.asked and self.rng.random() < 0.2:
                    self.pending[kind] = pick() if self.rng.random() < 0.7 else self.rng.randrange(self.queues)
            await self.cycle(**(self.events(pick, load) if number % 16 else {}))
        await self.answered()

    async def answered(self) -> None:
        for _ in range(2000):
            if not self.pending and not self.asked:
                return
            await self.cycle()
        raise AssertionError(f"reads that were not answered: {self.pending} {self.asked}")

    async def read_all(self) -> None:
        for queue in range(self.queues):
            self.pending = {"out": queue, "others": queue}
            await self.answered()


@cocotb.test()
async def every_event_counts_at_its_queue(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    few = lambda: bench.rng.randrange(min(4, bench.queues))  # noqa: E731
    every = lambda: bench.rng.randrange(bench.queues)  # noqa: E731
    for pick in (every, few, lambda: bench.queues - 1):
        for load in (1.0, 0.4):
            bench.memories.latency = bench.rng.choice([(1, 1), (4, 40), (100, 130)])
            await bench.mix(800, pick, load)
    await bench.read_all()
    assert min(bench.reads[kind] for kind in ("out", "others")) > bench.queues + 40
    kinds = Counter(kind for kind, *_ in bench.memories.bursts)
    assert (kinds["aw"] > 100 and kinds["ar"] > 30) if bench.folded else not kinds
    # reset in mid-traffic: everything is 0, whatever the memory has
    for _ in range(200):
        await bench.cycle(**bench.events(every, 0.8))
    dut.rst_i.value = 1
    bench.rest()
    await FallingEdge(dut.clk_i)
    dut.rst_i.value = 0
    bench.clear()
    await bench.cleared()
    await bench.mix(200, every, 0.8)
    await bench.read_all()


@cocotb.test()
async def a_memory_with_errors_is_told(dut) -> None:
    """An answer of the memory with an error makes counts wrong: this is told, and stays until reset."""
    bench = Bench(dut)
    if not bench.folded:
        return
    bench.memories.refused.add((0, 1))
    await bench.start()
    for queue in (0, 1):
        assert not int(dut.wrong_o.value)
        await bench.cycle(came=(queue, 60, NONE))
        bench.pending = {"others": queue}  # which takes what there is
        await bench.cycle()
        bench.rest()
        for _ in range(200):
            await FallingEdge(dut.clk_i)
        bench.asked.clear()
    assert int(dut.wrong_o.value)
    dut.rst_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.rst_i.value = 0
    await FallingEdge(dut.clk_i)
    assert not int(dut.wrong_o.value)
