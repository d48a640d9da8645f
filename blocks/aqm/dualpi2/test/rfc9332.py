"""DualPI2 as RFC 9332 writes it: appendix A.1, with the overload code of appendix A.2. Names are the RFC's.

Nothing here knows the model or the hardware. Probabilities are exact fractions. Three things are the device's, not the RFC's: p' and its
square are rounded down to multiples of 2^-32; p', p_CL and p_C are bounded to 0 .. 1 (A.1 leaves that out "for clarity"); and `Taken`
reads a queue's time off the packet that left it last, where the RFC reads it off the packet that is first in it.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

PASS, MARK, DROP = 0, 1, 2
NOT_ECT, ECT1, ECT0, CE = 0, 1, 2, 3
ONE = 1 << 32


@dataclass
class Packet:
    came: int  # A.1, enqueue: its time stamp
    bytes: int
    ecn: int


@dataclass
class Queue:
    """lq or cq."""

    packets: deque[Packet] = field(default_factory=deque)
    count: Fraction = Fraction(0)  # of recur()
    left_last: int = 0  # sojourn time of the packet that left last, 0 if it left nothing behind

    def byt(self) -> int:
        return sum(packet.bytes for packet in self.packets)

    def time(self, now: int) -> int:
        """A.1: the sojourn time of the packet that is first in the queue."""
        return now - self.packets[0].came if self.packets else 0


class Taken(Queue):
    """The same as the device knows it."""

    def time(self, now: int) -> int:
        return self.left_last


@dataclass
class DualPi2:
    """Both queues. Times in ticks, alpha and beta per tick, in 2^-32 (A.1, dualpi2_params_init())."""

    lq: Queue
    cq: Queue
    target: int
    alpha: int
    beta: int
    minTh: int
    range: int  # 0: a step
    k: int = 2
    limit: int = 10**9
    mtu: int = 1514
    l4s: frozenset[int] = frozenset({ECT1, CE})  # 2.3: ECT(1) and CE; other identifiers beside them
    ecn: bool = True  # packets may be marked
    weight: int | None = None  # the scheduler: bytes of lq to a byte of cq; None: a time-shifted FIFO (A.1)
    shift: int = 0  # of the latter
    p: Fraction = Fraction(0)  # p'
    p_CL: Fraction = Fraction(0)
    p_C: Fraction = Fraction(0)
    prevq: int = 0
    owed: int = 0  # bytes that the weighted scheduler owes lq

    @property
    def p_Cmax(self) -> Fraction:
        """A.1: min(1/k^2, 1)."""
        return min(Fraction(1, self.k * self.k), Fraction(1))

    p_Lmax = Fraction(1)

    def enqueue(self, packet: Packet) -> bool:
        """A.1, dualpi2_enqueue(): the limit first, then the classifier."""
        if self.lq.byt() + self.cq.byt() + self.mtu > self.limit:
            return False
        (self.lq if packet.ecn in self.l4s else self.cq).packets.append(packet)
        return True

    def scheduler(self, now: int) -> Queue:
        """A.1: a conditional priority scheduler; the RFC names a weighted one and a time-shifted FIFO."""
        if not self.lq.packets or not self.cq.packets:
            return self.lq if self.lq.packets else self.cq
        if self.weight is None:
            return self.lq if now - self.lq.packets[0].came + self.shift >= now - self.cq.packets[0].came else self.cq
        return self.lq if self.owed >= 0 else self.cq

    def pay(self, queue: Queue, length: int) -> None:
        assert self.weight is not None
        self.owed += length * self.weight if queue is self.cq else -length
        self.owed = max(-self.mtu * self.weight, min(self.owed, self.mtu * self.weight))

    @staticmethod
    def recur(q: Queue, likelihood: Fraction) -> bool:
        """A.1: true as often as the likelihood says, at even distances."""
        q.count += likelihood
        if q.count > 1:
            q.count -= 1
            return True
        return False

    def laqm(self, qdelay: int) -> Fraction:
        """A.1: the native AQM of lq, a ramp."""
        if qdelay >= self.minTh + self.range:
            return Fraction(1)
        if qdelay > self.minTh:
            return Fraction(qdelay - self.minTh, self.range)
        return Fraction(0)

    def turns(self, now: int) -> Iterator[tuple[Queue, Packet, int]]:
        """A.2, dualpi2_dequeue(): each turn of its loop with the packet and what becomes of it. The last one is sent, if there is one."""
        while self.lq.packets or self.cq.packets:
            queue = self.scheduler(now)
            packet = queue.packets.popleft()
            qdelay = now - packet.came
            queue.left_last = qdelay if queue.packets else 0
            verdict, able = PASS, self.ecn and packet.ecn != NOT_ECT
            if queue is self.lq:
                if not able:  # 2.5.1.1: in lq by another identifier; dropped as Classic traffic would be
                    verdict = DROP if self.recur(queue, self.p_C) else PASS
                elif self.p_CL < self.p_Lmax:
                    # A.1, Th_len: a packet that is alone in the queue is not marked by the native AQM.
                    native = self.laqm(qdelay) if queue.packets else Fraction(0)
                    verdict = MARK if self.recur(queue, max(native, self.p_CL)) else PASS
                elif self.recur(queue, self.p_C):  # overload saturation
                    verdict = DROP
                elif self.recur(queue, self.p_CL):
                    verdict = MARK
            elif self.recur(queue, self.p_C):
                verdict = DROP if not able or self.p_C >= self.p_Cmax else MARK
            if self.weight is not None and verdict != DROP:
                self.pay(queue, packet.bytes)
            yield queue, packet, verdict
            if verdict != DROP:
                return

    def update(self, now: int) -> None:
        """A.2, dualpi2_update(), every Tupdate: the greater of both delays drives p'."""
        curq = max(self.lq.time(now), self.cq.time(now))
        self.p += Fraction(self.alpha * (curq - self.target) + self.beta * (curq - self.prevq), ONE)
        self.p = min(max(self.p, Fraction(0)), Fraction(1))
        self.p_CL = min(self.k * self.p, Fraction(1))
        self.p_C = Fraction(floor(self.p * self.p * ONE), ONE)
        self.prevq = curq
