"""pst_access_edge_nodes against a tally: events of every kind in any cycle, settings and reads among them, reset in mid-traffic."""

import random
from collections import defaultdict

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.paths import BLOCKS, DESIGNS, block_file_list, read_file_list
from penstock.testing.testkit import parameter, run_module, seed, start

SOURCES = [
    *read_file_list(block_file_list("count")),
    BLOCKS / "hierarchy/rtl/pst_hierarchy_pkg.sv",
    BLOCKS / "hierarchy/rtl/pst_hierarchy_place.sv",
    DESIGNS / "access_edge/rtl/pst_access_edge_nodes.sv",
]
NONE, TAIL_DROP, AQM = 0, 7, 8  # drop reasons: `tail_drop_bytes` and `aqm`
SET_QUEUE, SET_SUBSCRIBER, SET_NODE, SET_PORT = range(4)
KINDS = ("in", "out", "lost", "aqm", "marks")
LATENCY = 5  # cycles from an event until a read has it


@pytest.mark.parametrize(
    "parameters",
    [
        {"Queues": 64, "QueuesPerSubscriber": 4, "Nodes": 4, "Classes": 3, "Aqm": 1},
        {"Queues": 16, "QueuesPerSubscriber": 1, "Nodes": 16, "Classes": 8, "Aqm": 2, "PacketWidth": 6, "ByteWidth": 16},
        {"Queues": 32, "QueuesPerSubscriber": 8, "Nodes": 2, "Classes": 1, "Aqm": 0},
    ],
    ids=["judged-when-they-leave", "judged-when-they-come", "without-aqm"],
)
def test_counters_by_node_and_class(parameters: dict[str, object]) -> None:
    run_module("access_edge", "pst_access_edge_nodes", parameters, sources=SOURCES)


class Bench:
    """Drives a cycle at a time, and counts beside it what each event should have changed."""

    def __init__(self, dut) -> None:
        self.dut, self.rng = dut, random.Random(seed())
        dut._log.info(f"PENSTOCK_SEED={seed()}")
        self.queues, self.each = parameter("Queues", 64), parameter("QueuesPerSubscriber", 4)
        self.nodes, self.classes, self.aqm = parameter("Nodes", 2), parameter("Classes", 4), parameter("Aqm", 0)
        self.widths = parameter("PacketWidth", 50), parameter("ByteWidth", 56)
        self.low = max(1, (self.classes - 1).bit_length())  # bits of a class in a place
        self.answers = 0
        self.clear()

    def clear(self) -> None:
        self.class_of, self.node_of = defaultdict(int), defaultdict(int)  # by queue, by subscriber
        self.counts = {kind: defaultdict(lambda: (0, 0)) for kind in KINDS}
        self.asked = {"left": [], "others": []}  # what the reads that were taken must give, with the cycle

    async def start(self) -> None:
        for name in (
            "cfg_valid_i",
            "ev_come_valid_i",
            "ev_left_valid_i",
            "ev_judged_valid_i",
            "s_read_left_valid_i",
            "s_read_others_valid_i",
        ):
            getattr(self.dut, name).value = 0
        await start(self.dut)
        await self.cleared()

    async def cleared(self) -> None:
        while not int(self.dut.init_done_o.value):
            await FallingEdge(self.dut.clk_i)

    def _add(self, kind: str, queue: int, length: int) -> None:
        place = self.node_of[queue // self.each], self.class_of[queue]
        packets, size = self.counts[kind][place]
        self.counts[kind][place] = (packets + 1) % (1 << self.widths[0]), (size + length) % (1 << self.widths[1])

    async def cycle(self, setting=None, came=None, left=None, judged=None, read_left=None, read_others=None) -> tuple[bool, bool]:
        """One cycle. `setting`: what, id, parent, class; `came`: queue, length, reason; `left`: queue, length; `judged`: queue, length,
        reason, mark; reads: node, class. Returns which reads were taken."""
        dut = self.dut
        dut.cfg_valid_i.value = setting is not None
        if setting is not None:
            dut.cfg_what_i.value, dut.cfg_id_i.value, dut.cfg_parent_i.value, dut.cfg_class_i.value = setting
        dut.ev_come_valid_i.value, dut.ev_left_valid_i.value, dut.ev_judged_valid_i.value = (
            came is not None,
            left is not None,
            judged is not None,
        )
        if came is not None:
            dut.ev_come_queue_i.value, dut.ev_come_len_i.value, dut.ev_come_reason_i.value = came
        if left is not None:
            dut.ev_left_queue_i.value, dut.ev_left_len_i.value = left
        if judged is not None:
            dut.ev_judged_queue_i.value, dut.ev_judged_len_i.value, dut.ev_judged_reason_i.value, dut.ev_judged_mark_i.value = judged
        read = read_left or read_others
        dut.s_read_left_valid_i.value, dut.s_read_others_valid_i.value = read_left is not None, read_others is not None
        if read is not None:
            dut.s_read_place_i.value = read[0] << self.low | read[1]
        await ReadOnly()
        taken = (read_left is not None and bool(int(dut.s_read_left_ready_o.value)),
                 read_others is not None and bool(int(dut.s_read_others_ready_o.value)))  # fmt: skip
        self._check_answers()
        await FallingEdge(dut.clk_i)
        if setting is not None:
            what, index, parent, cls = setting
            if what == SET_QUEUE:
                self.class_of[index] = cls
            if what == SET_SUBSCRIBER:
                self.node_of[index] = parent
        if came is not None:
            queue, length, reason = came
            if reason not in (NONE, AQM):
                self._add("lost", queue, length)
            elif reason == NONE or self.aqm == 2:
                self._add("in" if reason == NONE else "aqm", queue, length)
        if left is not None:
            self._add("out", *left)
        if judged is not None and self.aqm:
            queue, length, reason, mark = judged
            if reason and self.aqm == 1:
                self._add("aqm", queue, length)
            if mark:
                self._add("marks", queue, 0)
        return taken

    def _check_answers(self) -> None:
        dut = self.dut
        if int(dut.m_left_valid_o.value):
            found = int(dut.m_left_packets_o.value), int(dut.m_left_bytes_o.value)
            assert found == self.asked["left"].pop(0), "what left"
            self.answers += 1
        if int(dut.m_others_valid_o.value):
            found = tuple(int(getattr(dut, f"m_{name}_o").value) for name in
                          ("in_packets", "in_bytes", "drop_packets", "drop_bytes", "aqm_packets", "aqm_bytes", "mark_packets"))  # fmt: skip
            assert found == self.asked["others"].pop(0), "what came, was lost, dropped and marked"
            self.answers += 1

    def others(self, place: tuple[int, int]) -> tuple[int, ...]:
        """What a read of a place must give, when nothing is under way."""
        amounts = [self.counts[kind][place] for kind in ("in", "lost", "aqm")]
        return *(number for amount in amounts for number in amount), self.counts["marks"][place][0]

    def event(self, queues: list[int]) -> dict[str, object]:
        """Events of one cycle, of which each may be, and a setting."""
        rng, given = self.rng, {}
        length = lambda: rng.choice([60, 61, 1514, 9600, 16383])  # noqa: E731
        if rng.random() < 0.7:
            given["came"] = rng.choice(queues), length(), rng.choice([NONE, NONE, TAIL_DROP, AQM if self.aqm == 2 else NONE])
        if rng.random() < 0.7:
            given["left"] = rng.choice(queues), length()
        if self.aqm and rng.random() < 0.7:
            reason = rng.choice([NONE, AQM]) if self.aqm == 1 else NONE
            given["judged"] = rng.choice(queues), length(), reason, int(reason == NONE and rng.random() < 0.5)
        if rng.random() < 0.3:
            what, queue = rng.randrange(4), rng.choice(queues)
            index = queue if what == SET_QUEUE else queue // self.each
            given["setting"] = what, index, rng.randrange(self.nodes), rng.randrange(self.classes)
        return given

    async def quiet(self) -> None:
        for _ in range(LATENCY):
            await self.cycle()

    async def read_all(self) -> None:
        """Nothing is under way: every counter of every place."""
        await self.quiet()
        for place in ((node, cls) for node in range(self.nodes) for cls in range(self.classes)):
            self.asked["left"].append(self.counts["out"][place])
            assert await self.cycle(read_left=place) == (True, False)
            self.asked["others"].append(self.others(place))
            assert await self.cycle(read_others=place) == (False, True)
        await self.quiet()
        assert not any(self.asked.values()), "reads that were not answered"


@cocotb.test()
async def every_event_counts_where_its_queue_is(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    for _ in range(3):
        for queues in (list(range(bench.queues)), [3], list(range(min(8, bench.queues)))):  # few: settings meet their own queue's events
            for _ in range(300):
                await bench.cycle(**bench.event(queues))
            await bench.read_all()
    assert bench.answers > 9 * bench.nodes * bench.classes
    # reset in mid-traffic: everything is 0, of class 0 and at node 0
    dut.rst_i.value = 1
    await bench.cycle()
    dut.rst_i.value = 0
    bench.clear()
    await bench.cleared()
    await bench.read_all()
    for _ in range(100):
        given = bench.event(list(range(bench.queues)))
        given.pop("setting", None)
        await bench.cycle(**given)
    await bench.read_all()
    assert set(bench.counts["out"]) <= {(0, 0), *((node, cls) for node in range(bench.nodes) for cls in range(bench.classes))}
    assert bench.counts["out"][0, 0] != (0, 0)


@cocotb.test()
async def reads_wait_for_idle_cycles(dut) -> None:
    """A read among events is taken in a cycle in which its counters count nothing, and has what came five cycles before it at least, and
    nothing of its own cycle or later. Then no event is lost for it."""
    bench = Bench(dut)
    await bench.start()
    await bench.cycle(setting=(SET_SUBSCRIBER, 1, 1, 0))
    places, queues = [(0, 0), (1, 0)], [0, bench.each]  # of which the one, or the other, counts in almost every cycle
    history: list[dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]]] = []
    waited, taken = 0, 0
    for _ in range(1500):
        given = bench.event(queues)
        given.pop("setting", None)
        history.append({place: (bench.counts["out"][place], bench.others(place)) for place in places})
        side, place = bench.rng.randrange(2), bench.rng.choice(places)
        if any(await bench.cycle(**given, **{("read_left", "read_others")[side]: place})):
            taken += 1
            least = history[max(0, len(history) - 1 - 3)][place][side]  # an event is two cycles on its way to the counter
            most = bench.others(place) if side else bench.counts["out"][place]
            bench.asked["others" if side else "left"].append(_Between(least, most))
        else:
            waited += 1
    await bench.read_all()
    assert taken > 200 and waited > 200


class _Between:
    """Equal to counters that are, one by one, between two readings; they may have wrapped around in between."""

    def __init__(self, least: tuple[int, ...], most: tuple[int, ...]) -> None:
        self.least, self.most = least, most

    def __eq__(self, found: object) -> bool:
        assert isinstance(found, tuple)
        rows = zip(self.least, found, self.most, strict=True)
        return all(low <= number <= high if low <= high else number >= low or number <= high for low, number, high in rows)

    __hash__ = None  # type: ignore[assignment]
