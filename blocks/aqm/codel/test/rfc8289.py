"""CoDel as RFC 8289 writes it (section 5.3 to 5.6): real square root, one reading of the clock per packet that is asked for.

Times are integer ticks, so the control law rounds to the nearest tick. Nothing here knows the model or the hardware. ECN is Linux's
(include/net/codel_impl.h): a marked packet counts as a drop and is sent, which ends the loop; entering by a mark sends that packet.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

PASS, MARK, DROP = 0, 1, 2


@dataclass(frozen=True)
class Packet:
    """One packet in a queue: a number, the tick of its enqueueing, bytes, and whether it is ECN-capable."""

    number: int
    tstamp: int
    length: int
    ect: bool = False


class CodelQueue:
    """A queue with CoDel; `verdicts` collects (packet number, verdict) of everything that left it, dropped or sent."""

    def __init__(
        self,
        target: int,
        interval: int,
        maxpacket: int,
        ecn: bool,
        delay: Callable[[int, "Packet", int], int] | None = None,
        guard: int = 0,
    ):
        self.guard = guard  # from so many marks and drops on in one dropping state nothing is marked; 0: never
        self.target, self.interval, self.maxpacket, self.ecn = target, interval, maxpacket, ecn
        self.delay = delay or (lambda now, packet, left: now - packet.tstamp)
        self.packets: deque[Packet] = deque()
        self.bytes = 0
        self.first_above_time = 0
        self.drop_next = 0
        self.count = 0
        self.lastcount = 0
        self.dropping = False
        self.entries = 0  # statistics only: how often the dropping state was entered, and with more than one
        self.reentries = 0
        self.verdicts: list[tuple[int, int]] = []

    def enqueue(self, packet: Packet) -> None:
        self.packets.append(packet)
        self.bytes += packet.length

    def control_law(self, t: int, count: int) -> int:
        return t + math.floor(self.interval / math.sqrt(count) + 0.5)

    def dodequeue(self, now: int) -> tuple[Packet | None, bool]:
        if not self.packets:
            self.first_above_time = 0
            return None, False
        packet = self.packets.popleft()
        self.bytes -= packet.length
        ok_to_drop = False
        sojourn_time = self.delay(now, packet, self.bytes)
        if sojourn_time < self.target or self.bytes <= self.maxpacket:
            self.first_above_time = 0
        elif self.first_above_time == 0:
            self.first_above_time = now + self.interval
        elif now >= self.first_above_time:
            ok_to_drop = True
        return packet, ok_to_drop

    def drop(self, packet: Packet | None) -> None:
        assert packet is not None
        self.verdicts.append((packet.number, DROP))

    def mark(self, packet: Packet | None) -> bool:
        guarded = self.guard and self.dropping and self.count >= self.guard
        return self.ecn and packet is not None and packet.ect and not guarded

    def dequeue(self, now: int) -> Packet | None:
        """The RFC's deque(): the packet that is sent, None when there is none."""
        packet, ok_to_drop = self.dodequeue(now)
        marked = False
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while now >= self.drop_next and self.dropping:
                marks = self.mark(packet)
                self.count += 1
                if marks:
                    marked = True
                    self.drop_next = self.control_law(self.drop_next, self.count)
                    break
                self.drop(packet)
                packet, ok_to_drop = self.dodequeue(now)
                if not ok_to_drop:
                    self.dropping = False
                else:
                    self.drop_next = self.control_law(self.drop_next, self.count)
        elif ok_to_drop:
            if self.mark(packet):
                marked = True
            else:
                self.drop(packet)
                packet, ok_to_drop = self.dodequeue(now)
            self.dropping = True
            delta = self.count - self.lastcount
            self.count = 1
            if delta > 1 and now - self.drop_next < 16 * self.interval:
                self.count = delta
                self.reentries += 1
            self.entries += 1
            self.drop_next = self.control_law(now, self.count)
            self.lastcount = self.count
        if packet is not None:
            self.verdicts.append((packet.number, MARK if marked else PASS))
        return packet
