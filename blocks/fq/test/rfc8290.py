"""RFC 8290 in plain Python: the lists of flows of one queue, an operation at a time or a whole dequeue at once.

The lists are lists, a flow is what has the same bucket. Nothing here is taken from the model.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

Packet = tuple[int, int]  # descriptor, bytes


@dataclass
class Flow:
    """A flow queue: packets, credits (bytes), and whether it is in a list."""

    name: int
    packets: deque[Packet] = field(default_factory=deque)
    credits: int = 0
    bytes: int = 0
    listed: bool = False
    since: int = 0  # when it came to the new list


@dataclass
class Turn:
    """What a turn of the RFC's loop did with a flow."""

    did: str  # sent, rotated, moved, removed
    flow: Flow
    packet: Packet | None = None
    old: bool = False


class FlowQueues:
    """The flows of one queue (section 4), its limits (section 4.1), and the fattest flow as the block finds it."""

    def __init__(self, quantum: int = 1514, packets: int = 0xFFFF, bytes_: int = 0xFFFFFF) -> None:
        self.quantum, self.limit_packets, self.limit_bytes = quantum, packets, bytes_
        self.flows: dict[int, Flow] = {}
        self.new: deque[Flow] = deque()
        self.old: deque[Flow] = deque()
        self.packets = self.bytes = 0
        self.fat: Flow | None = None

    def flow(self, name: int) -> Flow:
        return self.flows.setdefault(name, Flow(name))

    def touched(self, flow: Flow) -> None:
        """An operation on a flow: is it the fattest?"""
        if self.fat is None or flow.bytes > self.fat.bytes:
            self.fat = flow

    def over(self) -> bool:
        return self.packets > self.limit_packets or self.bytes > self.limit_bytes

    def far_over(self) -> bool:
        return self.packets > self.limit_packets + 64 or self.bytes > self.limit_bytes + 2**17

    def enqueue(self, name: int, packet: Packet, now: int = 0) -> Flow:
        """4.1: to the tail of its flow; a flow in no list goes to the end of the new ones with a quantum of credits."""
        flow = self.flow(name)
        flow.packets.append(packet)
        flow.bytes += packet[1]
        self.packets += 1
        self.bytes += packet[1]
        if not flow.listed:
            flow.listed, flow.credits, flow.since = True, self.quantum, now
            self.new.append(flow)
        self.touched(flow)
        return flow

    def head(self) -> Flow | None:
        """4.2: whose turn it is."""
        return self.new[0] if self.new else self.old[0] if self.old else None

    def take(self, flow: Flow) -> Packet:
        packet = flow.packets.popleft()
        flow.bytes -= packet[1]
        self.packets -= 1
        self.bytes -= packet[1]
        return packet

    def turn(self, flow: Flow, grant: int | None = None) -> Turn:
        """4.2: one turn of the loop, with the flow at the head of a list. `grant`: in the place of the quantum."""
        old = not (self.new and self.new[0] is flow)
        assert flow is (self.old if old else self.new)[0], "it is at the head of no list"
        if flow.credits <= 0:
            flow.credits += self.quantum if grant is None else grant
            (self.old if old else self.new).popleft()
            self.old.append(flow)
            done = Turn("rotated", flow, old=old)
        elif not flow.packets and not old:
            self.old.append(self.new.popleft())
            done = Turn("moved", flow)
        elif not flow.packets:
            self.old.popleft()
            flow.listed = False
            done = Turn("removed", flow, old=True)
        else:
            packet = self.take(flow)
            flow.credits -= packet[1]
            done = Turn("sent", flow, packet, old)
        self.touched(flow)
        return done

    def dequeue(self, drops: Callable[[Packet], bool] = lambda packet: False) -> tuple[Flow, Packet] | None:
        """4.2, all at once. `drops` stands for the AQM of a flow: it goes on in its flow until a packet passes or none is left."""
        while (flow := self.head()) is not None:
            done = self.turn(flow)
            while done.packet is not None and drops(done.packet):
                flow.credits += done.packet[1]
                done = self.turn(flow)
            if done.packet is not None:
                return flow, done.packet
        return None

    def fattest(self) -> Flow:
        """Return the flow that really has most bytes."""
        return max(self.flows.values(), key=lambda flow: flow.bytes)

    def drop(self, flow: Flow) -> Packet:
        """4.1: the head of the fattest flow goes."""
        packet = self.take(flow)
        self.touched(flow)
        return packet
