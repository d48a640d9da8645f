"""A queue whose packets are judged by test/codel_trace.p4, and RFC 8289 with any control law; times in us.

`Machine` is what runs the compiled program packet by packet; the program takes clock, sojourn time and bytes left from a packet's header.
"""

import struct
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any

from rfc8289 import DROP, CodelQueue, Packet

from penstock.p4 import law

INTERVAL_US = law.DEFAULT_INTERVAL_US
MTU = 1514
PORTS, QUEUES = 5, 3  # of codel_trace.p4
LEFT = 3  # passed, and the dropping state ended
HEADER = struct.Struct(">HIIIIHBBBBH")


def exact_step(count: int) -> Fraction:
    """INTERVAL / sqrt(count) to 2^-64 us."""
    return Fraction(isqrt((INTERVAL_US << 64) ** 2 // count), 2**64)


_STEPS = law.steps(law.table(INTERVAL_US, law.DEFAULT_BITS))


def table_step(count: int) -> Fraction:
    """The step as the table has it."""
    return Fraction(_STEPS[min(count, law.MAX_COUNT)], 2**16)


class RfcQueue(CodelQueue):
    """RFC 8289's deque() with a control law in fractions of a microsecond."""

    def __init__(self, target: int, ecn: bool, step: Callable[[int], Fraction]) -> None:
        super().__init__(target, INTERVAL_US, MTU, ecn)
        self.step = step

    def control_law(self, t: int | Fraction, count: int) -> Fraction:  # type: ignore[override]
        return t + self.step(count)


class P4Queue:
    """A queue in front of the program. `charged`: a dropped packet takes its turn on the link, so each turn has one decision."""

    def __init__(self, machine: Any, target: int, ecn: bool, offset: int = 0, port: int = 0, queue: int = 0, charged: bool = False) -> None:
        self.machine, self.target, self.ecn, self.offset, self.charged = machine, target, ecn, offset, charged
        self.port, self.queue = port, queue
        self.packets: deque[Packet] = deque()
        self.bytes = 0
        self.verdicts: list[tuple[int, int]] = []

    def enqueue(self, packet: Packet) -> None:
        self.packets.append(packet)
        self.bytes += packet.length

    def judge(self, now: int, sojourn: int, left: int, ect: bool) -> int:
        """Return the program's verdict on one packet."""
        clock = now + self.offset & 2**48 - 1
        ask = HEADER.pack(clock >> 32, clock & 0xFFFFFFFF, sojourn & 0xFFFFFFFF, self.target, left, self.port, self.queue, ect, 255, 2, 0)
        ((port, answer),) = self.machine.process(0, ask, now)
        assert port == 0 and len(answer) == len(ask)
        return HEADER.unpack(answer)[8]

    def dequeue(self, now: int) -> Packet | None:
        while self.packets:
            packet = self.packets.popleft()
            self.bytes -= packet.length
            verdict = self.judge(now, now - packet.tstamp, self.bytes, self.ecn and packet.ect)
            self.verdicts.append((packet.number, 0 if verdict == LEFT else verdict))
            if verdict != DROP or self.charged:
                return packet
        return None
