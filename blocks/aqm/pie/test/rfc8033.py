"""PIE as RFC 8033 writes it (sections 4 and 5, appendix A and B): floating-point probabilities.

Two things are the device's, not the RFC's: the probability is kept as a multiple of 2^-32 (rounded down after each update), and the decay
is 1 - 1/64, which the RFC calls sufficient. Nothing here knows the model or the hardware. The latency is that of the latest departure
(section 4.3's time stamps), 0 when it left the queue empty.
"""

import math
from dataclasses import dataclass

PASS, MARK, DROP = 0, 1, 2
GRID = 2.0**-32


@dataclass
class Pie:
    """One queue's PIE. Times in ticks; alpha and beta per tick."""

    qdelay_ref: int
    max_burst: int
    t_update: int
    alpha: float
    beta: float
    mean_pktsize: int
    ecn: bool
    drop_prob: float = 0.0
    accu_prob: float = 0.0
    qdelay_old: int = 0
    current_qdelay: int = 0
    burst_allowance: int = 0

    def __post_init__(self) -> None:
        self.burst_allowance = self.max_burst

    def enqueue(self, queue_bytes: int, ect: bool, u: float) -> int:
        if self.burst_allowance == 0 and self.drop_early(queue_bytes, u):
            self.accu_prob = 0.0
            return MARK if self.ecn and ect and self.drop_prob <= 0.1 else DROP
        return PASS

    def drop_early(self, queue_bytes: int, u: float) -> bool:
        if (self.qdelay_old < self.qdelay_ref / 2 and self.drop_prob < 0.2) or queue_bytes <= 2 * self.mean_pktsize:
            return False
        if self.drop_prob == 0:
            self.accu_prob = 0.0
        self.accu_prob += self.drop_prob
        if self.accu_prob < 0.85:
            return False
        if self.accu_prob >= 8.5:
            return True
        return u < self.drop_prob

    def calculate_drop_prob(self) -> None:
        """Every T_UPDATE."""
        p = self.alpha * (self.current_qdelay - self.qdelay_ref) + self.beta * (self.current_qdelay - self.qdelay_old)
        for limit, divisor in ((0.000001, 2048), (0.00001, 512), (0.0001, 128), (0.001, 32), (0.01, 8), (0.1, 2)):
            if self.drop_prob < limit:
                p /= divisor
                break
        if self.drop_prob >= 0.1 and p > 0.02:
            p = 0.02
        self.drop_prob = math.floor((self.drop_prob + p) / GRID) * GRID
        self.drop_prob = min(max(self.drop_prob, 0.0), 1 - GRID)
        if self.current_qdelay == 0 and self.qdelay_old == 0:
            self.drop_prob -= math.floor(self.drop_prob / 64 / GRID) * GRID
        if self.drop_prob == 0 and self.current_qdelay < self.qdelay_ref / 2 and self.qdelay_old < self.qdelay_ref / 2:
            self.burst_allowance = self.max_burst
        else:
            self.burst_allowance = max(0, self.burst_allowance - self.t_update)
        self.qdelay_old = self.current_qdelay
