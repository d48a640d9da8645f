"""Drives the model of pst_fq a cycle at a time, with a scheduler of queues that wait, and lets the judge follow each operation."""

import random
from collections import deque
from collections.abc import Callable
from typing import Any

from cake_hosts import HostShares
from rfc8290 import Flow, FlowQueues

ENQUEUED, REFUSED, SENT, ROTATED, MOVED, REMOVED, DROPPED, NOTHING = range(8)
TURNS = {SENT: "sent", ROTATED: "rotated", MOVED: "moved", REMOVED: "removed"}
OWN = -1  # the name of a queue's own flow queue

Packet = tuple[int, int, int]  # queue, bucket, bytes


class Judge:
    """RFC 8290 beside the operations of the block: each must do with its flow what the RFC says, to the flow whose turn it is."""

    def __init__(self, model: Any, settings: dict[int, tuple[int, int, int]], hosts: dict[int, HostShares]) -> None:
        self.model, self.hosts = model, hosts
        self.queues = {queue: FlowQueues(*setting) for queue, setting in settings.items()}
        self.turn_of: dict[int, Flow | None] = {}  # of a queue whose next visit is on its way
        self.staged: dict[int, tuple[Flow, tuple[int, int], bool]] = {}
        self.taken: dict[int, int] = {}  # the cycle in which the staged packet was taken
        self.verdict: dict[int, bool] = {}
        self.far: dict[int, deque[bool]] = {queue: deque([False] * 12, 12) for queue in settings}
        self.holder: dict[int, tuple[int, int]] = {}
        self.places: dict[tuple[int, int], int] = {}  # of flows that are in a list
        self.last_place: dict[tuple[int, int], int] = {}
        self.latest = Flow(0)  # the flow of the latest operation
        self.counts = dict.fromkeys(("enqueued", "refused", "sent", "rotated", "moved", "removed", "dropped", "nothing", "own", "late"), 0)
        self.behind = 0  # by how much the flow that lost a packet was less than the fattest
        self.named: dict[int, deque[Flow]] = {queue: deque([], 40) for queue in settings}
        self.lost = dict.fromkeys(settings, 0)  # bytes that the flows named as fattest have lost, in all
        self.lost_then: dict[tuple[int, int], int] = {}  # the same at the latest operation of a flow
        self.sent: dict[tuple[int, int], int] = {}  # bytes of a flow that were staged
        self.hosts_of: dict[int, tuple[int, int]] = {}  # of the packet with a descriptor

    def name(self, queue: int, bucket: int, place: int) -> int:
        return OWN if place == self.model.own(queue) else bucket

    def check(self, operations: list[tuple[int, ...]]) -> None:
        for cycle, did, number, bucket, place, desc, length in operations:
            queue = self.queues[number]
            named, before = queue.fat, queue.fat.bytes if queue.fat else 0
            if did == ENQUEUED:
                self.enqueued(cycle, number, self.name(number, bucket, place), place, (desc, length))
            elif did == REFUSED:
                flow = queue.flow(self.name(number, bucket, place))
                assert any(self.far[number]) and flow.bytes + length > queue.quantum
                self.counts["refused"] += 1
                continue
            elif did in TURNS:
                self.turned(cycle, number, place, TURNS[did], (desc, length))
            else:
                self.dropped(number, place, (desc, length) if did == DROPPED else None)
            self.far[number].append(queue.far_over())
            if named is not None:
                self.lost[number] += max(0, before - named.bytes)
            self.lost_then[number, self.latest.name] = self.lost[number]
            if queue.fat is not None:
                self.named[number].append(queue.fat)
                # No flow is fatter than the named one by more than the named ones have lost since its latest operation.
                fattest = queue.fattest()
                assert fattest.bytes - queue.fat.bytes <= self.lost[number] - self.lost_then[number, fattest.name]

    def enqueued(self, cycle: int, number: int, name: int, place: int, packet: tuple[int, int]) -> None:
        queue = self.queues[number]
        idle = queue.head() is None and number not in self.staged
        comes = not queue.flow(name).listed
        self.latest = flow = queue.enqueue(name, packet, cycle)
        if comes and number in self.hosts:
            self.hosts[number].comes(flow, self.hosts_of[packet[0]], cycle)
        if name == OWN:
            self.counts["own"] += 1
        else:
            assert self.holder.setdefault(place, (number, name)) == (number, name), "two flows have one flow queue"
        assert place == self.places.setdefault((number, name), place), "a flow has two flow queues"
        self.last_place[number, name] = place
        if idle:
            self.turn_of[number] = flow
        self.counts["enqueued"] += 1

    def expected(self, number: int) -> Flow | None:
        """Whose turn it is: what was chosen after the last visit, or when the last packet left."""
        queue = self.queues[number]
        if number not in self.staged:
            return self.turn_of[number]
        flow, packet, old = self.staged.pop(number)
        if self.verdict.pop(number):
            flow.credits += packet[1]
            return flow
        if old and queue.new and queue.new[0].since < self.taken[number]:
            return queue.new[0]
        return flow

    def turned(self, cycle: int, number: int, place: int, did: str, packet: tuple[int, int]) -> None:
        queue = self.queues[number]
        flow = self.expected(number)
        assert flow is not None
        self.latest = flow
        assert self.places[number, flow.name] == place, f"flow {flow.name} of queue {number} was to be visited"
        self.counts["late"] += flow is not queue.head()
        shares = self.hosts.get(number)
        turn = queue.turn(flow, shares.grant(flow, cycle) if shares else None)
        assert turn.did == did
        if shares and did == "rotated":
            shares.counts(flow, cycle)
        elif shares and did == "removed":
            shares.leaves(flow)
        assert turn.packet is None or turn.packet == packet
        self.counts[did] += 1
        if did == "sent":
            assert turn.packet is not None
            self.staged[number] = (flow, turn.packet, turn.old)
            key = (number, flow.name)
            self.sent[key] = self.sent.get(key, 0) + turn.packet[1]
        else:
            self.turn_of[number] = queue.head()
        if did == "removed":
            self.holder.pop(place, None)
            self.places.pop((number, flow.name))

    def dropped(self, number: int, place: int, packet: tuple[int, int] | None) -> None:
        queue = self.queues[number]
        if packet is None:
            self.latest = next(flow for flow in queue.flows.values() if self.last_place.get((number, flow.name)) == place)
            assert not self.latest.packets
            queue.touched(self.latest)
            self.counts["nothing"] += 1
            return
        self.latest = flow = next(flow for flow in queue.flows.values() if flow.listed and self.places[number, flow.name] == place)
        assert any(flow is named for named in self.named[number]), "it was not named as the fattest lately"
        self.behind = max(self.behind, queue.fattest().bytes - flow.bytes)
        assert queue.drop(flow) == packet
        self.counts["dropped"] += 1


class Drive:
    """Offers packets, looks at queues that wait, gives verdicts; every descriptor has one owner."""

    def __init__(
        self,
        model: Any,
        rng: random.Random,
        descriptors: int,
        settings: dict[int, tuple[int, int, int]],
        hosts: dict[int, HostShares] | None = None,
        hosts_of: Callable[[int], tuple[int, int]] = lambda bucket: (0, 0),
    ) -> None:
        self.model, self.rng, self.hosts_of = model, rng, hosts_of
        for queue, (quantum, packets, bytes_) in settings.items():
            model.set(queue, quantum=quantum, packets=packets, bytes=bytes_, sides=hosts[queue].sides if hosts else 0)
        model.done()
        self.judge = Judge(model, settings, hosts or {})
        self.free = deque(range(descriptors))
        self.waiting: list[int] = []
        self.looks: deque[int | None] = deque([None, None])
        self.verdicts: deque[tuple[int, int, bool]] = deque()  # from which cycle on, queue, dropped
        self.offered: tuple[int, int, int, int] | None = None
        self.left: list[tuple[int, int, int]] = []  # queue, descriptor, bytes
        self.pool = 0xFFFFFFFF

    def cycle(
        self,
        packet: Callable[[], Packet | None],
        looks: float = 1.0,
        takes: float = 1.0,
        drops: float = 0.0,
        stalls: float = 0.0,
        delay: int = 1,
    ) -> None:
        model, rng, now = self.model, self.rng, self.model.now
        active_ready, drop_ready = rng.random() >= stalls, rng.random() >= stalls
        if (active := model.active) is not None and active_ready:
            self.waiting.append(active[0])
        if (dropped := model.dropped) is not None and drop_ready:
            self.free.append(dropped)
        if (left := model.left) is not None:
            queue, _, desc, length, _ = left
            verdict = rng.random() < drops
            self.verdicts.append((now + delay, queue, verdict))
            self.left.append((queue, desc, length))
            self.free.append(desc)
        if self.offered is None and self.free and (wanted := packet()) is not None:
            self.offered = (wanted[0], wanted[1], self.free.popleft(), wanted[2])
        enqueue = self.offered if self.offered is not None and model.enqueue_ready(self.offered[0]) else None
        look = None
        if self.waiting and model.look_ready and rng.random() < looks:
            place = rng.randrange(len(self.waiting))
            self.waiting[place], self.waiting[-1] = self.waiting[-1], self.waiting[place]
            look = self.waiting.pop()
        looked = self.looks.popleft()
        self.looks.append(look)
        take = looked is not None and rng.random() < takes
        if looked is not None:
            if take:
                self.judge.taken[looked] = now
            else:
                self.waiting.append(looked)
        given = None
        if self.verdicts and self.verdicts[0][0] <= now:
            _, queue, given = self.verdicts.popleft()
            self.judge.verdict[queue] = given
        hosts = (0, 0)
        if self.offered is not None:
            hosts = self.judge.hosts_of[self.offered[2]] = self.hosts_of(self.offered[1])
        model.cycle(
            enqueue=enqueue, look=look, take=take, verdict=given, active_ready=active_ready, drop_ready=drop_ready, pool=self.pool,
            hosts=hosts,
        )  # fmt: skip
        if enqueue is not None:
            self.offered = None
        self.judge.check(model.done())

    def drain(self, cycles: int = 4000, **arguments: Any) -> None:
        """Let all packets leave."""
        for _ in range(cycles):
            self.cycle(lambda: None, **arguments)
