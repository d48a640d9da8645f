# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""PIE in the device: what it does to each queue is what RFC 8033 does to the same queue. (Its marks in frames: test_access_edge_aqm.py.)"""

import random
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.designs.access_edge.registers import Aqm, rate_code
from penstock.designs.access_edge.testing.testcore import TestCore
from penstock.paths import BLOCKS
from penstock.testing.testkit import seed

sys.path.insert(0, str(BLOCKS / "aqm" / "pie" / "test"))

from rfc8033 import DROP, GRID, MARK, PASS, Pie

CLOCK_HZ = 220_000_000
TICK_SHIFT, UPDATE, ALPHA, BETA = 2, 10, 2000, 20_000
QUEUES, MEAN_PACKET = 16, 1024
PIE_UPDATE = 7  # cycles from the reading of an update to when arrivals see it
BACKLOG_TO_ARRIVAL, COMMIT_TO_PIE, COMMIT_TO_EVENT = 2, 4, 3  # from a dequeue's commit: until an arrival, an update, ev_deq sees it


def xorshift32() -> Iterator[int]:
    """Marsaglia's generator, as the RTL has it."""
    state = 0x2545F491
    while True:
        yield state
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF


@dataclass
class Held:
    """A packet in its queue: the cycle of its enqueue's commit, the tick it was enqueued in, and which arrival it was."""

    commit: int
    tick: int
    length: int
    arrival: int


class Recorder:
    """Watches the core's ports and asks the RFC about every packet. Backlogs and delays are counted from the events alone."""

    def __init__(self, core: TestCore, settings: dict[int, Aqm]) -> None:
        self.core, self.settings, self.draws = core, settings, xorshift32()
        self.offered: deque[tuple[int, int, int, bool]] = deque()  # cycle, queue, length, ect: not decided
        self.held: dict[int, deque[Held]] = defaultdict(deque)
        self.left: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # departures: cycle of the commit, bytes left, delay
        self.arrivals: dict[int, list[tuple[int, bool, int]]] = defaultdict(list)  # cycle, ect, number drawn
        self.verdicts: dict[int, list[int]] = defaultdict(list)

    def cycle(self) -> None:
        pins = self.core.pins
        coming = (pins.s_enq_queue, pins.s_enq_len, bool(pins.s_enq_ect)) if pins.s_enq_valid else None
        self.core.cycle()
        if coming and not pins.s_enq_valid:
            self.offered.append((pins.now, *coming))
        if pins.ev_valid:
            cycle, queue, length, ect = self.offered.popleft()
            assert (queue, length) == (pins.ev_queue, pins.ev_len) and pins.ev_reason in (0, 8)
            self.arrivals[queue].append((cycle, ect, next(self.draws)))
            self.verdicts[queue].append(DROP if pins.ev_reason else PASS)
            if pins.ev_reason == 0:
                tick = (pins.now - 4) >> TICK_SHIFT  # of the handshake with the queue manager
                self.held[queue].append(Held(pins.now - 1, tick, length, len(self.verdicts[queue]) - 1))
        if pins.ev_deq_valid:
            queue, commit = pins.ev_deq_queue, pins.now - COMMIT_TO_EVENT
            packet = self.held[queue].popleft()
            if pins.ev_deq_mark:
                self.verdicts[queue][packet.arrival] = MARK
            left = sum(other.length for other in self.held[queue] if other.commit < commit)
            self.left[queue].append((commit, left, ((commit + 3) >> TICK_SHIFT) - packet.tick))

    def expected(self, queue: int, set_at: int) -> list[int]:
        """What the RFC does to the queue's arrivals, its updates at the device's times. `set_at`: cycle in which PIE was turned on."""
        aqm = self.settings[queue]
        pie = Pie(aqm.halves[0], aqm.halves[1], UPDATE, ALPHA * GRID, BETA * GRID, MEAN_PACKET, aqm.ecn)
        begun, walk, on = (QUEUES - 1) >> TICK_SHIFT, 1, False
        departures, guards = deque(self.left[queue]), deque(self.left[queue])
        queued, verdicts = 0, []
        for cycle, ect, drawn in self.arrivals[queue]:
            while (reads := (begun + walk * UPDATE << TICK_SHIFT) + 1 + queue) + PIE_UPDATE <= cycle:
                while departures and departures[0][0] + COMMIT_TO_PIE <= reads:
                    _, left, delay = departures.popleft()
                    pie.current_qdelay = delay if left else 0
                walk += 1
                if on:
                    pie.calculate_drop_prob()
                on |= reads >= set_at
            while guards and guards[0][0] + BACKLOG_TO_ARRIVAL <= cycle:
                queued = guards.popleft()[1]
            verdicts.append(pie.enqueue(queued, ect, drawn * GRID) if on else PASS)
        return verdicts


# A queue's rate, its PIE, and the load that it gets.
LOADS = [
    (10**10, Aqm.of_halves(100, 40), 1.3),
    (10**10, Aqm.of_halves(100, 40, ecn=True), 1.05),
    (3 * 10**9, Aqm.of_halves(300, 400), 2.0),
    (25 * 10**9, Aqm.of_halves(50, 20, ecn=True), 1.1),
    (10**10, Aqm.of_halves(100, 40, enable=False), 1.1),
]


def test_pie_is_the_rfcs() -> None:
    """Unresponsive overload with pauses: every drop and mark of every queue is the RFC's, on the same random numbers."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    core = TestCore(QUEUES, 1024, aqm={"aqm": "pie", "TickShift": TICK_SHIFT, "UpdateTicks": UPDATE, "Alpha": ALPHA, "Beta": BETA})
    recorder = Recorder(core, {queue: aqm for queue, (_, aqm, _) in enumerate(LOADS)})
    set_at = []
    for queue, (rate, aqm, _) in enumerate(LOADS):
        core.configure(queue, *rate_code(rate, CLOCK_HZ), aqm=aqm)
        set_at.append(core.pins.now)
    due = [0.0] * len(LOADS)  # cycle of each queue's next packet
    pauses = [rng.randrange(20_000, 60_000) for _ in LOADS]
    for step in range(450_000):
        recorder.cycle()
        for queue, (rate, _, load) in enumerate(LOADS):
            if step > pauses[queue]:
                due[queue] = step + rng.choice([400, 4_000])
                pauses[queue] = step + rng.randrange(20_000, 60_000)
            if step >= due[queue] and len(core.held[queue]) < 180:
                length = rng.choice([60, 200, 590])
                if core.offer(queue, length, ect=rng.random() < 0.9):
                    due[queue] += length * 8 * CLOCK_HZ / (rate * load * rng.uniform(0.7, 1.3))
    seen: Counter[int] = Counter()
    for queue, (_, aqm, _) in enumerate(LOADS):
        assert len(recorder.verdicts[queue]) > 1000
        if not aqm.enable:
            assert set(recorder.verdicts[queue]) == {PASS}
            continue
        expected = recorder.expected(queue, set_at[queue])
        # A packet that waits in its queue has not shown its mark yet.
        waiting = {packet.arrival for packet in recorder.held[queue]}
        wrong = [n for n, (a, b) in enumerate(zip(expected, recorder.verdicts[queue], strict=True)) if a != b and n not in waiting]
        assert not wrong, f"queue {queue}: packet {wrong[0]} of {len(expected)}, RFC {expected[wrong[0]]}"
        seen.update(expected)
    print(seen)
    assert seen[DROP] > 300 and seen[MARK] > 50, seen
    core.close()
