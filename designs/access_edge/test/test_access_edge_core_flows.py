# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Flow queues in the core: a flow that floods its queue harms none of its neighbours, sparse flows go first, bulk flows share."""

import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterator

import pytest

from penstock.designs.access_edge.bench.core import build_core
from penstock.designs.access_edge.registers import rate_code
from penstock.designs.access_edge.testing import compare
from penstock.designs.access_edge.testing.compare import compared
from penstock.designs.access_edge.testing.testcore import BURST_AT, EXPONENT_AT, MOST_BYTES, CoreLibrary
from penstock.testing.testkit import seed

CLOCK_HZ = 220_000_000
QUEUES, DESCRIPTORS = 16, 256
FLOWS = {"Flows": 1024, "FlowLanes": 2}
LARGE = 1514
RATE = 10**9
LARGE_CYCLES = LARGE * 8 * CLOCK_HZ // RATE  # that the largest packet takes at RATE
LIMIT = 64  # packets of a queue


class Line:
    """A core whose packets are told apart by their descriptor: (queue, bucket, length, cycle in which it was taken)."""

    def __init__(self, flows: dict[str, int] | None) -> None:
        self.flows = flows is not None
        self.core = CoreLibrary(build_core(QUEUES, DESCRIPTORS, True, assertions=True, flows=flows))
        pins = self.core.pins
        pins.rst = 1
        for _ in range(2):
            self.core.step()
        pins.rst = 0
        pins.m_out_ready = pins.m_drop_ready = 1
        while not pins.init_done:
            self.core.step()
        self.free = deque(range(DESCRIPTORS))
        self.packets: dict[int, tuple[int, int, int, int]] = {}
        self.offers: deque[tuple[int, int, int]] = deque()
        self.sent: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)  # by flow: cycle, delay
        self.sent_bytes: dict[tuple[int, int], int] = defaultdict(int)
        self.lost: dict[tuple[int, int], int] = defaultdict(int)
        self.now = 0

    def set_queue(self, queue: int, rate: int = RATE) -> None:
        mantissa, exponent = rate_code(rate, CLOCK_HZ)
        pins = self.core.pins
        pins.s_cfg_valid, pins.s_cfg_queue, pins.s_cfg_shaper = 1, queue, 1 << BURST_AT | exponent << EXPONENT_AT | mantissa
        pins.s_cfg_limit_packets, pins.s_cfg_limit_bytes = LIMIT, MOST_BYTES
        self.core.step()
        while not pins.s_cfg_ready:
            self.core.step()
        pins.s_cfg_valid = 0

    def cycle(self) -> None:
        pins = self.core.pins
        if not pins.s_enq_valid and self.offers and self.free:
            queue, bucket, length = self.offers.popleft()
            pins.s_enq_valid, pins.s_enq_queue, pins.s_enq_hashes, pins.s_enq_len = 1, queue, bucket, length
            pins.s_enq_desc = self.free.popleft()
            self.packets[pins.s_enq_desc] = (queue, bucket, length, self.now)
        self.core.step()
        self.now += 1
        if pins.s_enq_valid and pins.s_enq_ready:
            pins.s_enq_valid = 0
        if pins.m_drop_valid:
            queue, bucket, _, _ = self.packets.pop(pins.m_drop_desc)
            self.lost[queue, bucket] += 1
            self.free.append(pins.m_drop_desc)
        if pins.m_out_valid:
            queue, bucket, length, came = self.packets.pop(pins.m_out_desc)
            assert (pins.m_out_queue, pins.m_out_len) == (queue, length)
            self.sent[queue, bucket].append((self.now, self.now - came))
            self.sent_bytes[queue, bucket] += length
            self.free.append(pins.m_out_desc)


@pytest.fixture(params=[FLOWS, None], ids=["flows", "fifo"])
def line(request: pytest.FixtureRequest) -> Iterator[Line]:
    print(f"PENSTOCK_SEED={seed()}")
    made = Line(request.param)
    yield made
    made.core.close()


def test_a_flood_of_20_times_the_rate_harms_no_polite_flow(line: Line) -> None:
    """Of one subscriber: a flood with the largest packets, and a call of 200 byte at a twentieth of the rate. The call loses nothing, and
    waits for three largest packets at most: the one on the line, the one that was chosen before it came, and the flood's turn. Without
    flow queues it loses most. A neighbour with the same call notices nothing in either case."""
    rng = random.Random(seed())
    line.set_queue(3)
    line.set_queue(4)
    flood, calls = LARGE_CYCLES / 20, 200 * 8 * CLOCK_HZ / RATE * 20
    next_flood, next_call, offered = 0.0, 1000.0, 0
    for cycle in range(500_000):
        if cycle >= next_flood and len(line.offers) < 4:
            line.offers.append((3, 17, LARGE))
            next_flood += flood
        if cycle >= next_call:
            line.offers.append((3, 900, 200))
            line.offers.append((4, 900, 200))
            offered += 1
            next_call += calls * rng.uniform(0.5, 1.5)
        line.cycle()
    worst = max(delay for _, delay in line.sent[3, 900]) / LARGE_CYCLES if line.sent[3, 900] else 0
    print(
        f"flows {line.flows}: flood {len(line.sent[3, 17])} sent, {line.lost[3, 17]} lost; call {offered} offered, "
        f"{line.lost[3, 900]} lost, worst delay {worst:.2f} largest packets"
    )
    assert line.lost[4, 900] == 0 and max(delay for _, delay in line.sent[4, 900]) < LARGE_CYCLES
    assert line.lost[3, 17] > 2000 and len(line.sent[3, 17]) > 100
    if line.flows:
        assert line.lost[3, 900] == 0 and len(line.sent[3, 900]) >= offered - 1
        assert worst < 3.1
    else:
        assert line.lost[3, 900] > offered / 2


@pytest.mark.parametrize("count", [4, 30])
def test_bulk_flows_share_alike(line: Line, count: int) -> None:
    """Backlogged flows with packets of 100 to 1,500 byte get the same bytes: Jain's index of 0.99 and more. With one queue for all of them
    those with large packets get more."""
    if not line.flows and count == 4:
        pytest.skip("one case is enough")
    line.set_queue(5, 4 * RATE)
    sizes = {bucket: 100 + 1400 * n // (count - 1) for n, bucket in enumerate(range(0, 31 * count, 31))}
    rng = random.Random(seed())
    for _ in range(300_000):
        if not line.offers and len(line.packets) < LIMIT - 2:
            held = Counter(bucket for _, bucket, _, _ in line.packets.values())
            poor = [bucket for bucket in sizes if held[bucket] < 2]
            if poor:
                bucket = rng.choice(poor)
                line.offers.append((5, bucket, sizes[bucket]))
        line.cycle()
    shares = [line.sent_bytes[5, bucket] for bucket in sizes]
    jain = sum(shares) ** 2 / (count * sum(share * share for share in shares))
    print(f"flows {line.flows}, {count} flows: Jain's index {jain:.4f}, {sum(shares):,} bytes")
    assert not any(line.lost.values())
    if line.flows:
        assert jain >= 0.99
    else:
        assert jain < 0.9


# As compare_core.cpp has them; ticks so short that thousands of packets meet a delay.
AQM = {"aqm": "codel", "TickShift": 2, "MaxPacketBytes": 100, "GuardCount": 12}
HIERARCHY = {"Hierarchy": 1, "QueuesPerSubscriber": 4, "Nodes": 4, "Ports": 2, "Classes": 4}
SHORT = 100  # cycles of tolerance
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("kind", "queues", "lanes", "host_bits"),
    [
        pytest.param(10, 16, 1, 0, id="one_lane"),
        pytest.param(10, 16, 4, 2, id="lanes", marks=SLOW),
        pytest.param(11, 16, 2, 0, id="codel", marks=SLOW),
        pytest.param(12, 64, 2, 0, id="hierarchy", marks=SLOW),
        pytest.param(13, 64, 4, 6, id="codel_hierarchy_hosts"),
    ],
)
def test_core_with_flow_queues_is_equal_in_every_cycle(kind: int, queues: int, lanes: int, host_bits: int) -> None:
    """Flow queues in the place of the queue manager: few flows and many, low limits, CoDel's state by flow and its setting by queue."""
    aqm, hierarchy = (AQM if kind in (11, 13) else None), (HIERARCHY if kind >= 12 else None)
    flows = {"Flows": 1024, "FlowLanes": lanes, "FlowAgeCycles": 3, "FlowHostBits": host_bits}
    library = build_core(queues, 256, True, print, assertions=True, aqm=aqm, hierarchy=hierarchy, tolerance=SHORT, flows=flows)
    sums = [0] * 7
    for number in range(seed(), seed() + 4):
        counts = compared(
            compare.program(),
            library,
            queues,
            256,
            kind,
            300_000,
            number,
            tolerance=SHORT,
            hierarchy=hierarchy,
            flows=flows,
            busy=number % 2 == 1,
        )
        sums = [a + b for a, b in zip(sums, counts, strict=False)]
    taken, left, dropped, _, marked, heads, *_ = sums
    assert taken > 20_000 and left > 10_000 and dropped > 500, sums
    if aqm:
        assert marked > 20 and heads > 100, sums
