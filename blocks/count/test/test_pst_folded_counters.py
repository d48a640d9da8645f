"""pst_folded_counters against sums in Python: events at every pattern, reads in between, memories slow and fast, reset in mid-traffic.

How large a part gets is tried by an adversary that knows which entry is folded next.
"""

import json
import os
import random
import sys
from collections import Counter, deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.paths import BLOCKS
from penstock.testing.testkit import parameter, run_module, seed, start

sys.path.append(str(BLOCKS / "memory" / "test"))
LINE = 64


# Steps so small that entries are taken all the time: 8 to 32 packets.
@pytest.mark.parametrize(
    "parameters",
    [
        {"Entries": 64, "Banks": 3, "BankKinds": "32'h122", "PartPackets": 9, "PartBytes": 22, "Slots": 4},
        {"Entries": 5, "Banks": 1, "BankKinds": "32'h1", "PartPackets": 9, "PartBytes": 22, "Slots": 2, "LevelBits": 6},
        {
            "Entries": 300,
            "Banks": 2,
            "BankKinds": "32'h13",
            "PartPackets": 9,
            "PartBytes": 21,
            "LevelBits": 4,
            "Slots": 16,
            "PacketWidth": 50,
            "HaveBytes": "32'h5",
        },
    ],
    ids=lambda parameters: f"{parameters['Entries']}-entries",
)
def test_folded_counters(parameters: dict[str, object]) -> None:
    run_module("count", "pst_folded_counters", parameters, testcase="every_pattern,reset_in_mid_traffic,memory_with_errors")


# A part alone leaves the FIFO in 6 cycles, so with steps of 16 packets each level is reached some 2.5 times less often than the one below
# (README), and 16 levels are plenty for 64 entries. Of steps of 4 packets no 4 levels hold, if the adversary is any good.
@pytest.mark.parametrize(
    ("bits", "levels", "testcase"), [(8, 4, "adversary_is_held"), (4, 2, "adversary_wins")], ids=["held", "too-narrow"]
)
def test_adversary(bits: int, levels: int, testcase: str) -> None:
    parameters = {"Entries": 64, "Banks": 1, "BankKinds": "32'h1", "PartPackets": bits, "LevelBits": levels}
    inside = [f"pst_fold_bank.{name}" for name in ("fold", "index_q", "level_q")] + ["pst_folded_counters.state_q"]
    run_module("count", "pst_folded_counters", parameters, testcase=testcase, inside=inside)


# What the widths of parts are computed from (README): each bank has a part taken in 32 cycles, by a memory of 70 to 80 cycles a burst.
def test_parts_go_to_the_store_in_time() -> None:
    parameters = {"Entries": 64, "Banks": 3, "BankKinds": "32'h122", "PartPackets": 8, "PartBytes": 26}
    run_module(
        "count", "pst_folded_counters", parameters, testcase="parts_leave_in_time", inside=["pst_fold_bank.level_q", "pst_fold_bank.pop"]
    )


class Bench:
    """Drives events, reads at random, and compares each answer with what was counted before the read was taken."""

    def __init__(self, dut, latency: tuple[int, int] = (4, 40), probability: float = 0.7) -> None:
        from memory_bench import AxiMemories

        self.dut, self.rng = dut, random.Random(seed())
        dut._log.info(f"PENSTOCK_SEED={seed()}")
        self.entries, self.banks = parameter("Entries", 512), parameter("Banks", 3)
        kinds = int(json.loads(os.environ["PENSTOCK_PARAMETERS"])["BankKinds"].split("'h")[1], 16)
        self.kinds = [kinds >> 4 * bank & 15 for bank in range(self.banks)]
        self.base = 64 * self.rng.randrange(8)
        size = -(-(self.base + LINE * self.entries) // 4096) * 4096
        self.memories = AxiMemories(dut, (size,), self.rng, latency=latency, probability=probability)
        self.packet_width = parameter("PacketWidth", 46)
        self.have_bytes = int(json.loads(os.environ["PENSTOCK_PARAMETERS"]).get("HaveBytes", "32'hff").split("'h")[1], 16)
        self.index_width = max(1, (self.entries - 1).bit_length())
        self.clear()

    def clear(self) -> None:
        self.sums: Counter[tuple[int, int, int]] = Counter()  # packets, by bank, kind, entry
        self.byte_sums: Counter[tuple[int, int, int]] = Counter()
        self.asked: tuple[int, list[tuple[int, int]]] | None = None  # entry, what it had
        self.reads = 0

    def counters(self, entry: int) -> list[tuple[int, int]]:
        """Packets and bytes of the entry's counters, in the order of an answer."""
        places = [(bank, kind, entry) for bank, kinds in enumerate(self.kinds) for kind in range(kinds)]
        return [(self.sums[at], self.byte_sums[at] if self.have_bytes >> number & 1 else 0) for number, at in enumerate(places)]

    def rest(self) -> None:
        self.dut.base_i.value = self.base
        self.dut.inc_valid_i.value = 0
        self.dut.s_read_valid_i.value = 0

    async def start(self) -> None:
        self.rest()
        self.memories.idle()
        await start(self.dut)
        cocotb.start_soon(self.memories.run())
        await self.initialised()

    async def initialised(self) -> None:
        while not int(self.dut.init_done_o.value):
            await FallingEdge(self.dut.clk_i)

    async def cycle(self, events: list[tuple[int, int, int] | None], read: int | None = None) -> None:
        """Offer an event (entry, kind, length) to each bank, and a read, which is kept until it is taken."""
        dut = self.dut
        valid = index = kind = length = 0
        for bank, event in enumerate(events):
            if event is not None:
                valid |= 1 << bank
                index |= event[0] << self.index_width * bank
                kind |= event[1] << 4 * bank
                length |= event[2] << 16 * bank
        dut.inc_valid_i.value, dut.inc_index_i.value, dut.inc_kind_i.value, dut.inc_len_i.value = valid, index, kind, length
        dut.s_read_valid_i.value = read is not None
        if read is not None:
            dut.s_read_index_i.value = read
        await ReadOnly()
        self.read_taken = read is not None and bool(int(dut.s_read_ready_o.value))
        if int(dut.m_read_valid_o.value):
            self.compare()
        if self.read_taken:
            assert read is not None and self.asked is None
            self.asked = read, self.counters(read)
        for bank, event in enumerate(events):
            if event is not None:
                self.sums[bank, event[1], event[0]] += 1
                self.byte_sums[bank, event[1], event[0]] += event[2]
        assert not int(dut.overflow_o.value), "a part was full"
        await FallingEdge(dut.clk_i)

    def compare(self) -> None:
        assert self.asked is not None, "an answer that nobody has asked for"
        entry, expected = self.asked
        packets, octets = int(self.dut.m_read_packets_o.value), int(self.dut.m_read_bytes_o.value)
        width = self.packet_width
        found = [(packets >> width * number & (1 << width) - 1, octets >> 56 * number & (1 << 56) - 1) for number in range(len(expected))]
        assert found == expected, f"entry {entry}: {found}, not {expected}"
        self.asked = None
        self.reads += 1

    async def mix(self, cycles: int, load: float, pick, read_load: float) -> None:
        """Random events with probability `load` in each bank. While a read is under way a bank has none in one cycle of fifty."""
        pending: int | None = None
        recent: deque[int] = deque([0], maxlen=6)
        for number in range(cycles):
            events: list[tuple[int, int, int] | None] = []
            for bank in range(self.banks):
                if self.rng.random() >= load or (self.asked and self.rng.random() < 0.02):
                    events.append(None)
                    continue
                recent.append(pick(number + bank))
                length = self.rng.choice([0, 1, 60, 1514, 9600, self.rng.randrange(9601)])
                events.append((recent[-1], self.rng.randrange(self.kinds[bank]), length))
            if pending is None and self.rng.random() < read_load:
                pending = self.rng.choice(recent) if self.rng.random() < 0.7 else self.rng.randrange(self.entries)
            await self.cycle(events, pending)
            if self.read_taken:
                pending = None

    async def read_all(self) -> None:
        """Read every entry, at rest: each answer is exact."""
        nothing: list[tuple[int, int, int] | None] = [None] * self.banks
        for entry in range(self.entries):
            while True:
                await self.cycle(nothing, entry)
                if self.read_taken:
                    break
        while self.asked is not None:
            await self.cycle(nothing)


@cocotb.test()
async def every_pattern(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    await bench.read_all()
    entries, rng = bench.entries, bench.rng
    patterns = [
        lambda n: rng.randrange(entries),
        lambda n: entries - 1,  # the same entry again and again: its record never leaves its slot
        lambda n: n % min(3, entries),
        lambda n: n // 16 % entries,  # more entries than there are slots, one window each
        lambda n: rng.randrange(min(6, entries)),
        lambda n: n % entries,
    ]
    for pick in patterns:
        for load in (1.0, 0.3):
            bench.memories.latency = rng.choice([(1, 1), (4, 40), (100, 130)])
            await bench.mix(1500, load, pick, 0.3)
    await bench.read_all()
    assert bench.reads > 2 * entries
    kinds = Counter(kind for kind, *_ in bench.memories.bursts)
    assert kinds["aw"] > 100 and kinds["ar"] > 50, "the memory was hardly used"
    assert not int(dut.error_o.value)


@cocotb.test()
async def reset_in_mid_traffic(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    for _ in range(3):
        await bench.mix(bench.rng.randrange(100, 400), 0.8, lambda n: bench.rng.randrange(bench.entries), 0.3)
        dut.rst_i.value = 1
        bench.rest()
        await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        bench.clear()
        await bench.initialised()
    await bench.mix(300, 0.8, lambda n: bench.rng.randrange(bench.entries), 0.3)
    await bench.read_all()


@cocotb.test()
async def memory_with_errors(dut) -> None:
    """An error is told, and stays; what else is counted goes on."""
    bench = Bench(dut)
    bench.memories.refused.add((0, bench.base // LINE + 3))
    await bench.start()
    await bench.mix(600, 0.5, lambda n: bench.rng.choice([0, 1, 2]), 0)
    assert not int(dut.error_o.value)
    nothing: list[tuple[int, int, int] | None] = [None] * bench.banks
    await bench.cycle([(3, 0, 60), *nothing[1:]])
    await bench.cycle(nothing, 3)  # a read takes what the entry has on the chip
    assert bench.read_taken
    for _ in range(300):
        await bench.cycle(nothing)
    assert int(dut.error_o.value)
    await bench.mix(600, 0.5, lambda n: bench.rng.choice([0, 1, 2]), 0)
    assert int(dut.error_o.value)


async def greedy(bench: Bench, cycles: int) -> int:
    """Raise one entry's part as far as it goes; return the packets of the largest part there was.

    It sees the number of parts in the FIFO and when the next one leaves, and brings all entries to one level after the other. To do so it
    keeps as many parts in the FIFO as the level has, with entries of that level, which are lost; the others count while there are so many.
    """
    inside = bench.dut.u_dut
    bank = inside.g_bank[0].u_bank
    step = 1 << parameter("PartPackets", 13) - parameter("LevelBits", 5)
    parts, most, level = [0] * bench.entries, 0, 0
    under_way: deque[int] = deque([0] * 4, maxlen=4)  # parts that will be in the FIFO, by events of the last cycles
    for _ in range(cycles):
        will, event, lost = int(bank.level_q.value) + sum(under_way), None, 0
        here = [entry for entry in range(bench.entries) if parts[entry] // step == level]
        if not here:
            above = [part // step for part in parts if part // step > level]
            level = min(above) if len(above) > 2 else 0  # too few are left for the next level: again from the first
            continue
        leaving = int(inside.state_q.value) >= 2 and not sum(under_way)  # a part leaves before this cycle's event is compared
        if will - leaving >= level:
            event = max(here, key=lambda entry: parts[entry])
        elif will < level:
            large = [entry for entry in range(bench.entries) if parts[entry] // step > will]
            event, lost = (min(large, key=lambda entry: parts[entry]), 1) if large else (here[0], 0)
        under_way.append(lost)
        await bench.cycle([None if event is None else (event, 0, 0)])
        if event is not None:
            parts[event] += 1
            most = max(most, parts[event])
            if lost:
                parts[event] = 1
        if int(bank.fold.value):
            parts[int(bank.index_q.value) >> 2 * bench.index_width & (1 << bench.index_width) - 1] = 1
    return most


@cocotb.test()
async def adversary_is_held(dut) -> None:
    bench = Bench(dut, latency=(1, 8), probability=1.0)
    await bench.start()
    most = await greedy(bench, 20_000)
    dut._log.info(f"{most} packets in the largest part")
    assert most >= 3 * 16, f"an adversary that comes to {most} packets tells nothing"
    assert not int(dut.overflow_o.value)
    await bench.read_all()


@cocotb.test()
async def adversary_wins(dut) -> None:
    """Steps too small are full, and it is told: the adversary is one."""
    bench = Bench(dut, latency=(1, 8), probability=1.0)
    await bench.start()
    with pytest.raises(AssertionError, match="a part was full"):
        await greedy(bench, 20_000)


@cocotb.test()
async def parts_leave_in_time(dut) -> None:
    """All banks have parts, and software reads all the time: each bank loses one in 32 cycles."""
    bench = Bench(dut, latency=(70, 80), probability=1.0)
    await bench.start()
    banks = [dut.u_dut.g_bank[bank].u_bank for bank in range(bench.banks)]
    busy, taken = [0] * bench.banks, [0] * bench.banks
    for number in range(6000):
        # Ten events in a row for each entry: they are large sooner than their parts leave. Entries that are read have none, as steps are so
        # small here that one would be large again before its answer has come.
        events: list[tuple[int, int, int] | None] = [((number // 10 + 16 * bank) % 48, 0, 9600) for bank in range(bench.banks)]
        await bench.cycle([None if bench.asked and bench.rng.random() < 0.1 else event for event in events], bench.rng.randrange(48, 64))
        for bank, inside in enumerate(banks):
            busy[bank] += int(inside.level_q.value) > 0
            taken[bank] += int(inside.pop.value)
    cycles = [round(busy[bank] / taken[bank], 1) for bank in range(bench.banks)]
    dut._log.info(f"cycles for a part of each bank: {cycles}")
    assert min(taken) > 100 and min(busy) > 5000
    assert max(cycles) <= 32
