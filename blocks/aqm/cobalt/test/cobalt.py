"""COBALT as CAKE in Linux writes it (net/sched/sch_cake.c: cobalt_should_drop(), cobalt_queue_full(), cobalt_queue_empty()): real square
roots, times in ticks that never wrap. Nothing here knows the model or the hardware.

`unrolled` is what the device does in place of it, one step of the control law a packet; blocks/aqm/cobalt/README.md says why. Without it
this is CAKE's, but for three things: a queue is above its target only with more than a packet behind (CAKE: with four times a packet's
time), it is full from so many bytes on (CAKE: when its memory is full), and a probability is a multiple of 2^-12.
"""

import math
from dataclasses import dataclass

PASS, MARK, DROP = 0, 1, 2
P_INC, P_DEC, P_MOST = 16, 1, 4095  # in 2^-12: 2^-8 and 2^-12


@dataclass
class Cobalt:
    target: int
    interval: int
    full: int  # bytes
    ecn: bool = True
    max_packet: int = 1514
    unrolled: bool = True
    max_lag: int = 1 << 22  # `unrolled`: longer ago than this nothing counts
    count: int = 0
    dropping: bool = False
    drop_next: int = -(1 << 40)
    blue_timer: int = -(1 << 40)
    p_drop: int = 0

    def control(self, t: int) -> int:
        return t + math.floor(self.interval / math.sqrt(max(1, self.count)) + 0.5)

    def queue_full(self, now: int) -> None:
        if now - self.blue_timer > self.target:
            self.p_drop = min(self.p_drop + P_INC, P_MOST)
            self.blue_timer = now
        self.dropping = True
        self.drop_next = now
        self.count = max(self.count, 1)

    def queue_empty(self, now: int) -> None:
        if self.p_drop and now - self.blue_timer > self.target:
            self.p_drop = max(0, self.p_drop - P_DEC)
            self.blue_timer = now
        self.dropping = False
        if not self.unrolled and self.count and now - self.drop_next >= 0:
            self.count -= 1
            self.drop_next = self.control(self.drop_next)

    def should_drop(self, now: int, sojourn: int, left: int, ect: bool, drawn: int) -> int:
        if self.unrolled and now - self.drop_next >= self.max_lag:
            self.count, self.dropping = 0, False
        verdict = PASS
        schedule = now - self.drop_next
        over_target = sojourn > self.target and left > self.max_packet
        next_due = self.count > 0 and schedule >= 0
        if over_target:
            if not self.dropping:
                self.dropping = True
                self.drop_next = self.control(now)
                next_due = next_due and not self.unrolled
            self.count = max(self.count, 1)
        elif self.dropping:
            self.dropping = False
        if next_due and self.dropping:
            verdict = MARK if self.ecn and ect else DROP
            self.count = min(self.count + 1, 65535)
            self.drop_next = self.control(self.drop_next)
            schedule = now - self.drop_next
        elif not over_target:
            while next_due:
                self.count -= 1
                self.drop_next = self.control(self.drop_next)
                schedule = now - self.drop_next
                next_due = self.count > 0 and schedule >= 0 and not self.unrolled
        if self.p_drop and drawn >> 20 < self.p_drop and left > 0:  # "lack of ECN is deliberate"; the last packet is never dropped
            verdict = DROP
        if self.count == 0:
            self.drop_next = now + self.interval
        elif schedule > 0 and verdict != DROP and (over_target or not self.unrolled):
            self.drop_next = now
        return verdict

    def departs(self, now: int, sojourn: int, left: int, ect: bool, drawn: int) -> int:
        """A packet leaves, and `left` bytes stay: is it full, is it empty?"""
        verdict = self.should_drop(now, sojourn, left, ect, drawn)
        if left >= self.full:
            self.queue_full(now)
        elif left == 0:
            self.queue_empty(now)
        return verdict
