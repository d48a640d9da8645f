"""A queue and a link in ticks, open loop (arrivals are given) and closed loop (additive increase, multiplicative decrease).

The queue is whatever has `enqueue(packet)`, `dequeue(now)`, `packets` and `verdicts`: the reference of rfc8289.py, or ModelQueue.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from arrivals import Arrival
from rfc8289 import DROP, MARK, PASS, Packet


class ModelQueue:
    """A queue whose head packets are judged by penstock's model, an operation a packet."""

    def __init__(self, model: Any, queue: int = 0, delay: Callable[[int, Packet, int], int] | None = None) -> None:
        self.model, self.queue, self.delay = model, queue, delay
        self.packets: deque[Packet] = deque()
        self.bytes = 0
        self.verdicts: list[tuple[int, int]] = []

    def enqueue(self, packet: Packet) -> None:
        self.packets.append(packet)
        self.bytes += packet.length

    def dequeue(self, now: int) -> Packet | None:
        while self.packets:
            packet = self.packets.popleft()
            self.bytes -= packet.length
            time = self.delay(now, packet, self.bytes) if self.delay else packet.tstamp
            verdict = self.model.step(self.queue, now, time, self.bytes, packet.ect)
            self.verdicts.append((packet.number, verdict))
            if verdict != DROP:
                return packet
        return None


def open_loop(queue: Any, arrivals: Iterable[Arrival], ticks_per_byte: float) -> list[int]:
    """Send `arrivals` (in order of time) through `queue` and a link; returns the tick in which each packet that was sent began."""
    arrivals = list(arrivals)
    sent, begins, free = 0, [], 0
    while sent < len(arrivals) or queue.packets:
        now = free if queue.packets else max(free, arrivals[sent][0])
        while sent < len(arrivals) and arrivals[sent][0] <= now:
            tick, length, ect = arrivals[sent]
            queue.enqueue(Packet(sent, tick, length, ect))
            sent += 1
        packet = queue.dequeue(now)
        if packet is not None:
            begins.append(now)
            free = now + max(1, round(packet.length * ticks_per_byte))
    return begins


def closed_loop(queue: Any, flows: int, packets: int, round_trip: int, ticks_per_byte: float, ect: bool, limit: int = 2000) -> None:
    """Windows of `flows` senders: one more packet per round trip, half at each drop or mark (once a round trip). Deterministic."""
    window, flight, cut = [2.0] * flows, [0] * flows, [-1] * flows
    owner: dict[int, int] = {}
    events: list[tuple[int, int, int, int]] = [(flow, flow, flow, PASS) for flow in range(flows)]  # tick, order, flow, verdict; the start
    order, free, number, seen = flows, 0, 0, 0
    started = set()
    while number < packets:
        now = events[0][0] if not queue.packets else min(events[0][0], free) if events else free
        while events and events[0][0] <= now:
            tick, _, flow, verdict = heapq.heappop(events)
            if flow in started:
                flight[flow] -= 1
                if verdict == PASS:
                    window[flow] += 1 / window[flow]
                elif tick > cut[flow]:
                    window[flow], cut[flow] = max(2.0, window[flow] / 2), tick + round_trip
            started.add(flow)
            while flight[flow] < int(window[flow]) and len(queue.packets) < limit:
                owner[number] = flow
                queue.enqueue(Packet(number, now, 1514, ect))
                flight[flow] += 1
                number += 1
        if queue.packets and free <= now:
            packet = queue.dequeue(now)
            for left, verdict in queue.verdicts[seen:]:
                heapq.heappush(events, (now + round_trip, order, owner[left], verdict))
                order += 1
            seen = len(queue.verdicts)
            if packet is not None:
                free = now + max(1, round(packet.length * ticks_per_byte))


def counts(verdicts: list[tuple[int, int]]) -> dict[str, int]:
    """Number of packets that passed, were marked, were dropped."""
    return {name: sum(v == value for _, v in verdicts) for name, value in (("pass", PASS), ("mark", MARK), ("drop", DROP))}
