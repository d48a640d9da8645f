# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What each queue below subscribers, nodes and ports should be sent: an independent judge, without a line of the product's code.

`max_min` says it for steady loads. Classes go in order, the first as if it were alone, the next with what is left, and so on. Within a
class bytes are shared between subscribers by their weights: weighted max-min below the rates of subscribers, nodes and ports. Within a
subscriber they are shared between its queues by theirs. `Fluid` says it for loads that change: the same shares from one moment to the next
(hierarchical GPS), with token buckets at every rate, and what has not been sent yet is kept; when a subscriber or a node moves, a packet
that waits at its old parent is sent from there.

Amounts are bytes or byte per second, as the caller likes. `why_not_max_min` checks an answer by what defines it, not by how it was found.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

SMALL = 1e-9  # of amounts: what is less is nothing


@dataclass
class Leaf:
    """A queue."""

    subscriber: int
    cls: int = 0
    weight: float = 1.0
    rate: float = inf
    burst: float = 0.0
    limit: float = inf


@dataclass
class Branch:
    """A subscriber, a node or a port."""

    parent: int = 0  # of a subscriber its node, of a node its port
    weight: float = 1.0  # of a subscriber
    rate: float = inf
    burst: float = 0.0


@dataclass
class Hierarchy:
    """Who is below whom."""

    queues: dict[int, Leaf]
    subscribers: dict[int, Branch]
    nodes: dict[int, Branch]
    ports: dict[int, Branch]

    def way(self, queue: int) -> tuple[int, int, int]:
        """Return a queue's subscriber, node and port."""
        subscriber = self.queues[queue].subscriber
        node = self.subscribers[subscriber].parent
        return subscriber, node, self.nodes[node].parent

    def levels(self) -> tuple[dict[int, Branch], dict[int, Branch], dict[int, Branch]]:
        """Return the levels above the queues, from below."""
        return self.subscribers, self.nodes, self.ports


Room = tuple[dict[int, float], dict[int, float], dict[int, float]]  # what subscribers, nodes and ports may carry


def rooms(hierarchy: Hierarchy, time: float = 1.0) -> Room:
    """Return what the rates of subscribers, nodes and ports carry in a time."""
    subscribers, nodes, ports = ({ident: branch.rate * time for ident, branch in level.items()} for level in hierarchy.levels())
    return subscribers, nodes, ports


def split(amount: float, wants: Mapping[int, tuple[float, float]]) -> dict[int, float]:
    """Share an amount by weighted max-min: `wants` is (what it can use, weight) by key."""
    given = dict.fromkeys(wants, 0.0)
    left, open_ = amount, {key for key, (want, _) in wants.items() if want > 0}
    while open_ and left > 0:
        level = left / sum(wants[key][1] for key in open_)
        content = {key for key in open_ if wants[key][0] <= level * wants[key][1]}
        if not content:
            return given | {key: level * wants[key][1] for key in open_}
        for key in content:
            given[key] = wants[key][0]
            left -= given[key]
        open_ -= content
    return given


def max_min(hierarchy: Hierarchy, wants: Mapping[int, float], room: Room | None = None) -> dict[int, float]:
    """Return what each queue gets: `wants` is what it could use (its own rate is no matter here), `room` what the parents may carry."""
    room = room or rooms(hierarchy)
    left: Room = (dict(room[0]), dict(room[1]), dict(room[2]))
    given = dict.fromkeys(wants, 0.0)
    for cls in sorted({hierarchy.queues[queue].cls for queue, want in wants.items() if want > 0}):
        mine = {queue: want for queue, want in wants.items() if want > 0 and hierarchy.queues[queue].cls == cls}
        for subscriber, amount in _between_subscribers(hierarchy, mine, left).items():
            own = {
                queue: (want, hierarchy.queues[queue].weight)
                for queue, want in mine.items()
                if hierarchy.queues[queue].subscriber == subscriber
            }
            given |= split(amount, own)
    return given


def _between_subscribers(hierarchy: Hierarchy, wants: Mapping[int, float], left: Room) -> dict[int, float]:
    """Return what each subscriber gets in a class, by progressive filling, and take it from what is left."""
    use: dict[int, float] = {}
    for queue, want in wants.items():
        subscriber = hierarchy.queues[queue].subscriber
        use[subscriber] = use.get(subscriber, 0.0) + want
    use = {subscriber: min(amount, left[0][subscriber]) for subscriber, amount in use.items()}
    weight = {subscriber: hierarchy.subscribers[subscriber].weight for subscriber in use}
    node = {subscriber: hierarchy.subscribers[subscriber].parent for subscriber in use}
    port = {subscriber: hierarchy.nodes[node[subscriber]].parent for subscriber in use}
    given = dict.fromkeys(use, 0.0)
    most = [max(use.values()), *(room for level in left for room in level.values() if room != inf)]
    scale = SMALL * min(max(most[1:], default=1.0), 1.0 if most[0] == inf else most[0])

    def may_grow(subscriber: int) -> bool:
        full = min(left[1][node[subscriber]], left[2][port[subscriber]]) <= scale
        return not full and use[subscriber] - given[subscriber] > scale

    filling = [subscriber for subscriber in use if may_grow(subscriber)]
    while filling:
        below: list[dict[int, float]] = [{}, {}]
        for subscriber in filling:
            for sums, parent in zip(below, (node[subscriber], port[subscriber]), strict=True):
                sums[parent] = sums.get(parent, 0.0) + weight[subscriber]
        step = min(
            min((use[subscriber] - given[subscriber]) / weight[subscriber] for subscriber in filling),
            min(left[1][ident] / sums for ident, sums in below[0].items()),
            min(left[2][ident] / sums for ident, sums in below[1].items()),
        )
        if step == inf:
            raise ValueError("nothing bounds what these queues are sent")
        for subscriber in filling:
            given[subscriber] += step * weight[subscriber]
            left[1][node[subscriber]] -= step * weight[subscriber]
            left[2][port[subscriber]] -= step * weight[subscriber]
        filling = [subscriber for subscriber in filling if may_grow(subscriber)]
    for subscriber, amount in given.items():
        left[0][subscriber] -= amount
    return given


def why_not_max_min(hierarchy: Hierarchy, wants: Mapping[int, float], given: Mapping[int, float], slack: float = 1e-6) -> str:
    """Return why an answer is not the max-min one, "" if it is: feasible, and no queue gains but from one that has less, or as much.

    A queue that wants more needs a reason: a full parent at which no subscriber has more of its class by weight, and lower classes nothing.
    """
    room = rooms(hierarchy)
    members: list[dict[int, list[int]]] = [{}, {}, {}]
    for queue in wants:
        for level, ident in enumerate(hierarchy.way(queue)):
            members[level].setdefault(ident, []).append(queue)
    for queue, want in wants.items():
        if not -slack <= given[queue] <= want + slack:
            return f"queue {queue} is given {given[queue]}, wants {want}"
    full: list[set[int]] = [set(), set(), set()]
    for level in range(3):
        for ident, queues in members[level].items():
            carried = sum(given[queue] for queue in queues)
            if carried > room[level][ident] + slack:
                return f"{('subscriber', 'node', 'port')[level]} {ident} carries {carried} of {room[level][ident]}"
            if carried >= room[level][ident] - slack:
                full[level].add(ident)

    def of_subscriber(subscriber: int, cls: int) -> float:
        return sum(given[queue] for queue in members[0][subscriber] if hierarchy.queues[queue].cls == cls)

    for queue, want in wants.items():
        if given[queue] >= want - slack:
            continue
        cls, way = hierarchy.queues[queue].cls, hierarchy.way(queue)
        siblings = [other for other in members[0][way[0]] if hierarchy.queues[other].cls == cls]
        level = given[queue] / hierarchy.queues[queue].weight
        if any(given[other] / hierarchy.queues[other].weight > level + slack for other in siblings):
            return f"queue {queue} has less than another one of its subscriber"
        mine = of_subscriber(way[0], cls) / hierarchy.subscribers[way[0]].weight
        reasons = []
        for step in (0, 1, 2):
            if way[step] not in full[step]:
                continue
            lower = any(given[other] > slack and hierarchy.queues[other].cls > cls for other in members[step][way[step]])
            others = {hierarchy.queues[other].subscriber for other in members[step][way[step]] if hierarchy.queues[other].cls == cls}
            more = step > 0 and any(of_subscriber(other, cls) / hierarchy.subscribers[other].weight > mine + slack for other in others)
            reasons.append(not lower and not more)
        if not any(reasons):
            return f"queue {queue} wants more, and nothing is in its way"
    return ""


@dataclass
class Bucket:
    """The credit of a rate, as the time in which it comes in; so a change of the rate makes another amount of it."""

    credit: float = 0.0  # a run begins with none
    most: float = 0.0

    def room(self, of: Leaf | Branch, time: float, tolerance: float) -> float:
        """Return what may be sent in the time that comes."""
        if of.rate == inf:
            return inf
        self.most = max(of.burst / of.rate, tolerance) if of.rate else self.most
        self.credit = min(self.credit, self.most)
        return (self.credit + time) * of.rate

    def spend(self, of: Leaf | Branch, time: float, amount: float, tolerance: float) -> None:
        """Charge what was sent in a time. What is sent without a rate leaves no credit for a rate that comes."""
        self.credit += time
        if of.rate != inf:
            self.credit -= amount / of.rate if of.rate else 0.0
            self.credit = min(self.credit, self.most)
        elif amount > 0:
            self.credit = min(self.credit, tolerance)


@dataclass
class Behind:
    """A packet that waits where its queue is not below any more, and what is left of it."""

    amount: float
    node: int  # its node; -1 - P: it was let go by its node and waits at port P


@dataclass
class Fluid:
    """A hierarchy that carries what comes as a fluid, in steps of time. `hierarchy` may change between steps.

    `tolerance`: time whose worth of credit every rate has at least.
    """

    hierarchy: Hierarchy
    tolerance: float = 0.0
    backlog: dict[int, float] = field(default_factory=dict)
    carried: dict[int, float] = field(default_factory=dict)
    dropped: dict[int, float] = field(default_factory=dict)
    behind: dict[int, Behind] = field(default_factory=dict)  # by queue, which waits for it
    sent_behind: list[float] = field(default_factory=list)  # when each of these was sent, in time since the first step
    now: float = 0.0
    cuts: int = 0  # how often a burst was cut because a queue was full, once until that queue has run empty
    _buckets: dict[tuple[str, int], Bucket] = field(default_factory=dict)
    _full: set[int] = field(default_factory=set)
    _short: dict[int, int] = field(default_factory=dict)  # queues that could have used more, and the first level with no room left: 0, 1, 2

    def __post_init__(self) -> None:
        for totals in (self.backlog, self.carried, self.dropped):
            totals |= dict.fromkeys(self.hierarchy.queues, 0.0)

    def _all(self) -> Iterable[tuple[str, dict[int, Branch]]]:
        return zip(("subscriber", "node", "port"), self.hierarchy.levels(), strict=True)

    def _bucket(self, kind: str, ident: int) -> Bucket:
        return self._buckets.setdefault((kind, ident), Bucket())

    def step(self, time: float, arrivals: Mapping[int, float], bursts: Mapping[int, float] | None = None) -> None:
        """Let time pass, in which so much arrives evenly, and so much at once when it begins."""
        self.now += time
        self._arrive(bursts or {})
        full = self._cut()
        self.cuts += len(full - self._full)
        self._full |= full
        self._arrive(arrivals)
        wants = {}
        for queue, backlog in self.backlog.items():
            leaf = self.hierarchy.queues[queue]
            wants[queue] = min(backlog, self._bucket("queue", queue).room(leaf, time, self.tolerance))
        whole = self._with_what_is_behind()
        for queue, left in self.behind.items():
            wants[queue], wants[-1 - queue] = 0.0, left.amount
        subscribers, nodes, ports = (
            {ident: self._bucket(kind, ident).room(branch, time, self.tolerance) if ident >= 0 else inf for ident, branch in level.items()}
            for (kind, _), level in zip(self._all(), whole.levels(), strict=True)
        )
        given = max_min(whole, wants, (subscribers, nodes, ports)) if any(want > 0 for want in wants.values()) else {}
        sums: dict[tuple[str, int], float] = {}
        for queue, amount in given.items():
            own = self._send(queue, amount)
            for kind, ident in zip(("queue", "subscriber", "node", "port"), (own, *whole.way(queue)), strict=True):
                sums[kind, ident] = sums.get((kind, ident), 0.0) + amount
        self._note_short(wants, given, (subscribers, nodes, ports), sums)
        for kind, level in (("queue", self.hierarchy.queues), *self._all()):
            for ident, branch in level.items():
                self._bucket(kind, ident).spend(branch, time, sums.get((kind, ident), 0.0), self.tolerance)
        self._cut()

    def move(self, of: str, ident: int, parent: int, sizes: Mapping[int, float]) -> None:
        """Put one of the `subscribers` or `nodes` below another parent. Of each queue of it that waits at the old one a packet, of `sizes`
        bytes, waits there until it is sent, and the others behind it."""
        for queue, level in self._short.items():
            way = self.hierarchy.way(queue)
            at_old_one = level >= 1 if of == "subscribers" else level == 2
            if at_old_one and way[("subscribers", "nodes").index(of)] == ident and queue not in self.behind:
                amount = min(sizes[queue], self.backlog[queue])
                self.backlog[queue] -= amount
                self.behind[queue] = Behind(amount, way[1] if of == "subscribers" else -1 - way[2])
        getattr(self.hierarchy, of)[ident].parent = parent

    def _with_what_is_behind(self) -> Hierarchy:
        """Return the hierarchy with what waits at old parents: queue Q's packet as queue -1 - Q, of a subscriber as its own, but there."""
        if not self.behind:
            return self.hierarchy
        whole = Hierarchy(*map(dict, (self.hierarchy.queues, *self.hierarchy.levels())))
        places = sorted({(self.hierarchy.queues[queue].subscriber, left.node) for queue, left in self.behind.items()})
        for queue, left in self.behind.items():
            leaf = self.hierarchy.queues[queue]
            subscriber = -1 - places.index((leaf.subscriber, left.node))
            whole.queues[-1 - queue] = replace(leaf, subscriber=subscriber)
            whole.subscribers[subscriber] = Branch(left.node, self.hierarchy.subscribers[leaf.subscriber].weight)
            if left.node < 0:
                whole.nodes[left.node] = Branch(-1 - left.node)
        return whole

    def _send(self, queue: int, amount: float) -> int:
        """Take from a queue what is sent of it, or of its packet that is behind (-1 - queue), and return the queue."""
        if queue < 0:
            queue = -1 - queue
            self.behind[queue].amount -= amount
            if self.behind[queue].amount <= SMALL:
                del self.behind[queue]
                self.sent_behind.append(self.now)
        else:
            self.backlog[queue] -= amount
        self.carried[queue] += amount
        if self.backlog[queue] <= SMALL and queue not in self.behind:
            self._full.discard(queue)
        return queue

    def _note_short(
        self, wants: Mapping[int, float], given: Mapping[int, float], room: Room, sums: Mapping[tuple[str, int], float]
    ) -> None:
        self._short = {}
        for queue in self.hierarchy.queues:
            if wants[queue] - given.get(queue, 0.0) > SMALL * (1 + wants[queue]):
                for level, (kind, ident) in enumerate(zip(("subscriber", "node", "port"), self.hierarchy.way(queue), strict=True)):
                    if room[level][ident] - sums.get((kind, ident), 0.0) <= 1e-6 * (1 + min(room[level][ident], wants[queue])):
                        self._short[queue] = level
                        break

    def _arrive(self, amounts: Mapping[int, float]) -> None:
        for queue, amount in amounts.items():
            self.backlog[queue] += amount

    def _cut(self) -> set[int]:
        """Drop what is over the limits, and return of which queues."""
        over = set()
        for queue, leaf in self.hierarchy.queues.items():
            limit = leaf.limit - (self.behind[queue].amount if queue in self.behind else 0.0)
            if self.backlog[queue] > limit:
                over.add(queue)
                self.dropped[queue] += self.backlog[queue] - limit
                self.backlog[queue] = limit
        return over
