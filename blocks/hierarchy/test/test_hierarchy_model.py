# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The hierarchy's model against what a network needs of it: rates, priority, fair shares, no idle gate, moves between nodes."""

import heapq
import random
from collections import Counter
from collections.abc import Callable

import pytest

from penstock.engine import engine
from penstock.testing.shapers import rate_code
from penstock.testing.testkit import seed

models = engine.models("hierarchy")
Level = models.Level
CLOCK_HZ = 220_000_000
LOOP_CYCLES = 20  # from a queue's departure until its next head packet is at the first gate


def cycles(length: int, bps: float) -> float:
    """Return how long a packet takes at a rate."""
    return length * 8 * CLOCK_HZ / bps


class Network:
    """A hierarchy with sources in its queues; every departure is written down."""

    def __init__(self, subscribers: int, per_subscriber: int = 4, nodes: int = 1, ports: int = 1, classes: int = 4) -> None:
        self.model = models.Hierarchy(per_subscriber, subscribers, nodes, ports, classes)
        self.per_subscriber = per_subscriber
        self.sources: dict[int, Callable[[], int | None]] = {}  # length of a queue's next packet, None: there is none
        self.departures: list[tuple[int, int, int]] = []  # cycle, queue, length
        self._heads: dict[int, int] = {}
        self._coming: list[tuple[int, int]] = []
        self._single: set[int] = set()  # queues with one packet
        self._pauses: dict[int, tuple[int, int]] = {}  # of a queue: from when on, and how long
        self._away: dict[int, int] = {}  # the same length, from its last packet on
        self._pace: dict[int, tuple[float, float]] = {}  # of a queue that is not backlogged: when its next packet may come, cycles per byte

    def shape(self, level: "models.Level", ident: int, bps: int, burst: int = 0) -> None:
        """Set the rate of a subscriber, a node or a port, and its burst in cycles."""
        self.model.set_shaper(level, ident, *rate_code(bps, CLOCK_HZ), burst=burst)

    def backlog(self, queue: int, length: Callable[[], int], cls: int = 0, weight: int = 1, start: int = 0) -> None:
        """Keep a queue backlogged from cycle `start` on."""
        self.model.set_queue(queue, cls, weight)
        self.sources[queue] = length
        heapq.heappush(self._coming, (start, queue))

    def pace(self, queue: int, length: Callable[[], int], bps: int, cls: int = 0, weight: int = 1) -> None:
        """Have a queue send at a rate, or at less when it is held up."""
        self.backlog(queue, length, cls, weight)
        self._pace[queue] = (0, cycles(1, bps))

    def pause(self, queue: int, at: int, length: int) -> None:
        """Have a backlogged queue run empty at a cycle, for so many."""
        self._pauses[queue] = (at, length)

    def once(self, queue: int, length: int, at: int) -> None:
        """Have one packet in a queue at a cycle."""
        lengths = iter([length])
        self._single.add(queue)
        self.sources[queue] = lambda: next(lengths, None)
        heapq.heappush(self._coming, (at, queue))

    def run(self, until: int) -> None:
        """Let time pass."""
        while True:
            gate = self.model.next_time()
            source = self._coming[0][0] if self._coming else None
            now = min(time for time in (gate, source, until) if time is not None)
            if now >= until:
                return
            left = self.model.advance(now)
            while self._coming and self._coming[0][0] <= now:
                _, queue = heapq.heappop(self._coming)
                length = self.sources[queue]()
                if length is not None:
                    self._heads[queue] = length
                    left += self.model.arrive(now, queue, length, self._empties(queue, now))
            for queue in left:
                length = self._heads.pop(queue)
                self.departures.append((now, queue, length))
                ready = now + LOOP_CYCLES + self._away.pop(queue, 0)
                if queue in self._pace:
                    due, per_byte = self._pace[queue]
                    self._pace[queue] = (due + length * per_byte, per_byte)
                    ready = max(ready, int(self._pace[queue][0]))
                heapq.heappush(self._coming, (ready, queue))

    def _empties(self, queue: int, now: int) -> bool:
        """Find whether the packet that is coming is the queue's last one for now."""
        if queue in self._pauses and now >= self._pauses[queue][0]:
            self._away[queue] = self._pauses.pop(queue)[1]
            return True
        if queue in self._pace:
            due, per_byte = self._pace[queue]
            return due + self._heads[queue] * per_byte > now
        return queue in self._single

    def bytes_by(self, key: Callable[[int], int], since: int = 0) -> Counter[int]:
        """Return the bytes that left, by what `key` makes of the queue."""
        sums: Counter[int] = Counter()
        for cycle, queue, length in self.departures:
            if cycle >= since:
                sums[key(queue)] += length
        return sums

    def subscriber(self, queue: int) -> int:
        """Return whose queue it is."""
        return queue // self.per_subscriber


def share_error(sums: Counter[int], weights: dict[int, float]) -> float:
    """Return the largest difference of a share from what its weight says, in percentage points."""
    total, weight = sum(sums.values()), sum(weights.values())
    return max(abs(sums[key] / total - weights[key] / weight) * 100 for key in weights)


def always(length: int) -> Callable[[], int]:
    return lambda: length


def any_length(rng: random.Random) -> Callable[[], int]:
    return lambda: rng.choice([60, 590, 1514, 9600])


@pytest.mark.parametrize("subscribers", [2, 7, 64])
def test_equal_subscribers_get_equal_bytes(subscribers: int) -> None:
    """Under a node at several times its rate: whatever the packet sizes, however many queues a subscriber has backlogged."""
    net, rng = Network(subscribers), random.Random(seed())
    net.shape(Level.NODE, 0, 2 * 10**9)
    for subscriber in range(subscribers):
        length = rng.choice([60, 300, 1514, 9600])
        for queue in range(1 + subscriber % 4):
            net.backlog(4 * subscriber + queue, always(length) if rng.random() < 0.5 else any_length(rng))
    net.run(40_000_000 if subscribers < 64 else 200_000_000)
    assert share_error(net.bytes_by(net.subscriber, 200_000), dict.fromkeys(range(subscribers), 1)) <= 0.2


@pytest.mark.parametrize("level", [Level.SUBSCRIBER, Level.NODE, Level.PORT])
def test_equal_queues_of_a_subscriber_get_equal_bytes(level: "models.Level") -> None:
    """Queues of one class share by bytes at every level that is the bottleneck, whatever their packet sizes."""
    net = Network(2)
    net.shape(level, 0, 10**9)
    lengths = {0: 60, 1: 1514, 2: 590, 4: 1514}  # the last is another subscriber's
    for queue, length in lengths.items():
        net.backlog(queue, always(length))
    net.run(20_000_000)
    own = net.bytes_by(lambda queue: queue, 1_000_000)
    assert share_error(Counter({q: own[q] for q in (0, 1, 2)}), {0: 1, 1: 1, 2: 1}) <= 0.2
    if level != Level.SUBSCRIBER:
        assert share_error(net.bytes_by(net.subscriber, 1_000_000), {0: 1, 1: 1}) <= 0.2


@pytest.mark.parametrize("level", [Level.NODE, Level.PORT])
@pytest.mark.parametrize("per_subscriber", [2, 4, 8])
def test_what_a_slow_queue_leaves_is_for_its_siblings(level: "models.Level", per_subscriber: int) -> None:
    """Two equal subscribers, one with slow queues beside its backlogged one: each gets half, the slow ones all that they want."""
    net, slow = Network(2, per_subscriber), range(1, per_subscriber)
    net.shape(level, 0, 10**9)
    net.backlog(0, always(1514))
    net.backlog(per_subscriber, always(1514))
    for queue in slow:
        net.pace(queue, always(200), 2 * 10**7)
    net.run(60_000_000)
    sums = net.bytes_by(net.subscriber, 1_000_000)
    assert share_error(sums, {0: 1, 1: 1}) <= 0.05
    own = net.bytes_by(lambda queue: queue, 1_000_000)
    for queue in slow:
        assert own[queue] / sum(own.values()) == pytest.approx(0.02, rel=0.01)


@pytest.mark.parametrize("number", range(12))
def test_shares_of_any_mix(number: int) -> None:
    """Subscribers with weights, one to eight queues each with weights of their own, backlogged or slow: weighted max-min at both levels."""
    rng = random.Random(seed() * 1000 + number)
    level, per = rng.choice([Level.NODE, Level.PORT]), rng.choice([1, 2, 4, 8])
    subscribers, bps = rng.randint(2, 12), rng.choice([2, 10]) * 10**8
    net = Network(subscribers, per)
    net.shape(level, 0, bps)
    wants, weights = {}, {}
    for subscriber in range(subscribers):
        weights[subscriber] = rng.randint(1, 8)
        net.model.set_weight(subscriber, weights[subscriber])
        for queue in range(subscriber * per, subscriber * per + rng.randint(1, per)):
            weight, length = rng.randint(1, 8), rng.choice([always(60), always(590), always(1514), any_length(rng)])
            if rng.random() < 0.5:
                net.backlog(queue, length, weight=weight)
                wants[queue] = (float(bps), weight)
            else:
                rate = rng.choice([0.002, 0.02, 0.1]) * bps
                net.pace(queue, length, int(rate), weight=weight)
                wants[queue] = (rate, weight)
    net.run(int(cycles(25_000_000, bps)))
    own = net.bytes_by(lambda queue: queue, int(cycles(500_000, bps)))
    expected = {}
    offered = {s: sum(want for queue, (want, _) in wants.items() if queue // per == s) for s in weights}
    for subscriber, rate in max_min(bps, {s: (offered[s], weights[s]) for s in weights}).items():
        expected |= max_min(rate, {queue: both for queue, both in wants.items() if queue // per == subscriber})
    scale = sum(own.values()) / min(bps, sum(offered.values()))
    errors = {queue: abs(own[queue] - rate * scale) / sum(own.values()) * 100 for queue, rate in expected.items()}
    assert max(errors.values()) <= 0.2, (errors, wants, weights)


def max_min(capacity: float, wants: dict[int, tuple[float, int]]) -> dict[int, float]:
    """Share by weight; what one does not want is for the others. `wants`: rate and weight by name."""
    found: dict[int, float] = {}
    while wants:
        level = capacity / sum(weight for _, weight in wants.values())
        content = {name: want for name, (want, weight) in wants.items() if want <= level * weight}
        if not content:
            return found | {name: level * weight for name, (_, weight) in wants.items()}
        found |= content
        capacity = max(0.0, capacity - sum(content.values()))
        wants = {name: both for name, both in wants.items() if name not in content}
    return found


def test_weights() -> None:
    net, rng = Network(4, per_subscriber=1), random.Random(seed())
    net.shape(Level.NODE, 0, 5 * 10**9)
    weights = {0: 8, 1: 4, 2: 3, 3: 1}
    for subscriber, weight in weights.items():
        net.model.set_weight(subscriber, weight)
        net.backlog(subscriber, any_length(rng), weight=rng.choice([1, 8]))  # a queue's own weight counts inside its subscriber only
    net.run(40_000_000)
    assert share_error(net.bytes_by(net.subscriber, 1_000_000), weights) <= 0.2


@pytest.mark.parametrize("level", [Level.SUBSCRIBER, Level.NODE, Level.PORT])
@pytest.mark.parametrize("bps", [3 * 10**6, 2 * 10**9])
def test_rate_of_each_level(level: "models.Level", bps: int) -> None:
    """The sum below a parent leaves at the parent's rate, within 0.05 %, from its first packet on."""
    net, rng = Network(8, nodes=2), random.Random(seed())
    net.shape(level, 0, bps)
    below = {Level.SUBSCRIBER: range(4), Level.NODE: range(16), Level.PORT: range(32)}[level]
    for subscriber in range(4, 8):
        net.model.set_node(subscriber, 1)
    for queue in below:
        net.backlog(queue, any_length(rng), cls=queue % 4)
    net.run(int(cycles(2_000_000, bps)))
    sent = sum(length for _, _, length in net.departures[:-1])
    assert sent * 8 * CLOCK_HZ / (net.departures[-1][0] - net.departures[0][0]) == pytest.approx(bps, rel=5e-3)


def test_priority_over_all_subscribers_of_a_node() -> None:
    """Voice of one customer goes before the downloads of all others: it waits for the packet that is under way and no more."""
    net, rng = Network(65), random.Random(seed())
    net.shape(Level.NODE, 0, 10**9)
    for subscriber in range(64):
        net.backlog(4 * subscriber + 3, any_length(rng), cls=3)
    net.model.set_queue(256, 0)
    asked = []
    for number in range(300):
        at = 1_000_000 + number * 50_000 + rng.randrange(20_000)
        net.run(at)
        net.once(256, 200, at)
        asked.append(at)
    net.run(asked[-1] + 100_000)
    left = [cycle for cycle, queue, _ in net.departures if queue == 256]
    delays = [cycle - at for cycle, at in zip(left, asked, strict=True)]
    assert max(delays) <= cycles(9600, 1e9) + 1


def test_no_gate_is_idle_while_a_packet_waits() -> None:
    """Work-conserving: what one subscriber does not use goes to the others, to the last byte.

    That subscriber keeps its own rate: its burst makes up for what the busy node holds back.
    """
    net, rng = Network(3, per_subscriber=1), random.Random(seed())
    net.shape(Level.NODE, 0, 10**9)
    net.shape(Level.SUBSCRIBER, 0, 10**8, burst=1_000_000)
    for queue in range(3):
        net.backlog(queue, any_length(rng))
    net.run(40_000_000)
    sums = net.bytes_by(net.subscriber, 2_000_000)
    total = sum(sums.values())
    assert total * 8 * CLOCK_HZ / 38_000_000 == pytest.approx(1e9, rel=2e-3)
    assert sums[0] / total == pytest.approx(0.1, abs=2e-3)
    assert abs(sums[1] - sums[2]) / total <= 2e-3


def test_a_subscriber_moves_to_another_node() -> None:
    """Nothing is lost or doubled, and from then on it counts at its new node."""
    net, rng = Network(8, nodes=2), random.Random(seed())
    for node, bps in ((0, 10**9), (1, 4 * 10**9)):
        net.shape(Level.NODE, node, bps)
    for queue in range(32):
        net.backlog(queue, any_length(rng))
    net.run(5_000_000)
    net.model.set_node(7, 1)
    net.run(5_200_000)
    net.departures.clear()
    net.run(45_200_000)
    sums = net.bytes_by(net.subscriber)
    assert sums[7] * 8 * CLOCK_HZ / 40_000_000 == pytest.approx(4e9, rel=0.01)
    assert share_error(Counter({s: sums[s] for s in range(7)}), dict.fromkeys(range(7), 1)) <= 0.2


@pytest.mark.parametrize("level", [Level.SUBSCRIBER, Level.NODE])
def test_closed_gate(level: "models.Level") -> None:
    """A closed gate holds every packet; opening lets them go at once, the highest class first."""
    net = Network(2)
    net.model.set_shaper(level, 0, 0, 0)
    for queue, cls in ((0, 3), (1, 1), (2, 0)):
        net.model.set_queue(queue, cls)
        net.once(queue, 500, 100 + queue)
    net.run(100_000)
    assert net.departures == [] and net.model.waiting(level, 0) == 3
    net.model.set_shaper(level, 0, 1, 0, now=100_000)
    net.run(100_100)
    assert [queue for _, queue, _ in net.departures] == [2, 1, 0] and net.departures[-1][0] <= 100_064


def test_nobody_starves_among_equals() -> None:
    """A thousand subscribers under one node: between two turns of any of them each other one gets a bounded number of bytes."""
    net, rng = Network(1000, per_subscriber=1), random.Random(seed())
    net.shape(Level.NODE, 0, 100 * 10**9)
    for queue in range(1000):
        net.backlog(queue, any_length(rng))
    net.run(12_000_000)
    sums = net.bytes_by(net.subscriber, 1_000_000)
    assert max(sums.values()) - min(sums.values()) <= 4 * 9600


@pytest.mark.parametrize("level", [Level.SUBSCRIBER, Level.NODE, Level.PORT])
@pytest.mark.parametrize("weight", [1, 3, 8])
def test_a_queue_is_not_paid_for_its_pause(level: "models.Level", weight: int) -> None:
    """One that comes back shares from then on: it is ahead of its weight by 1.25 kB of weight 1 and a packet or two, no more."""
    net, back = Network(1), 6_000_000
    net.shape(level, 0, 10**9)
    net.backlog(0, always(1000), weight=weight)
    net.backlog(1, always(1000))
    net.pause(0, at=2_000_000, length=back - 2_000_000)
    net.run(back + int(cycles(400_000, 1e9)))
    own = net.bytes_by(lambda queue: queue, back)
    assert sum(own.values()) > 390_000
    paid = own[0] - sum(own.values()) * weight / (weight + 1)
    assert -2_000 <= paid <= 1_248 * weight + 2_000, own
    before = net.bytes_by(lambda queue: queue, 2_100_000)
    assert before[1] - own[1] > 2_000_000, "the other queue has all of it meanwhile"


@pytest.mark.parametrize("pause", [10_000, 30_000, 50_000, 60_000, 130_000, 150_000])
def test_a_queue_that_was_idle_goes_next(pause: int) -> None:
    """However many bytes its subscriber's other queue was sent meanwhile: tags of 22 bits wrap after 80 kB."""
    net, at = Network(1), int(cycles(pause, 10**7))
    net.shape(Level.SUBSCRIBER, 0, 10**7)
    net.backlog(0, always(1000))
    net.once(1, 1000, 10)
    net.run(at)
    net.once(1, 1000, at)
    net.run(at + int(cycles(3_100, 10**7)))
    assert 1 in [queue for cycle, queue, _ in net.departures if cycle >= at][:2]
