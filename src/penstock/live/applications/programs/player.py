"""Arithmetic of a player: what is in its buffer, when it stands still, which rate it takes. Time is an argument, in seconds."""

from collections.abc import Sequence
from typing import Any

# Throughput is the harmonic mean of the last segments, of which a part is used: J. Jiang, V. Sekar, H. Zhang, "Improving Fairness,
# Efficiency, and Stability in HTTP-based Adaptive Video Streaming with FESTIVE", CoNEXT 2012. It takes 20 segments; a short run has fewer.
LOOK_BACK = 5
USED = 0.85


class Player:
    """Film comes by `arrived`; it plays in real time while there is some, and begins (again) when there is enough."""

    def __init__(self, rates: Sequence[int], segment_s: float, buffer_s: float, begin_s: float) -> None:
        self.rates, self.segment_s, self.buffer_s, self.begin_s = list(rates), segment_s, buffer_s, begin_s
        self.throughputs: list[float] = []
        self.chosen: list[int] = []
        self.stalls: list[list[float]] = []  # begin, length
        self.startup_s: float | None = None
        self._level, self._at, self._plays = 0.0, 0.0, False

    def level(self, now: float) -> float:
        """Return the seconds of film in the buffer."""
        if now <= self._at:
            return self._level
        if self._plays:
            left = self._level - (now - self._at)
            if left <= 0:
                self._plays = False
                self.stalls.append([self._at + self._level, -left])
            self._level = max(0.0, left)
        elif self.stalls:
            self.stalls[-1][1] += now - self._at
        self._at = now
        return self._level

    def arrived(self, now: float, rate: int, size: int, took_s: float) -> None:
        """Take a segment of `rate` and `size` bytes that has taken `took_s`."""
        self.level(now)
        self._level += self.segment_s
        self.chosen.append(rate)
        self.throughputs.append(8 * size / max(took_s, 1e-6))
        if not self._plays and self._level >= self.begin_s - 1e-9:
            self._plays = True
            self.startup_s = now if self.startup_s is None else self.startup_s

    def wait_s(self, now: float) -> float:
        """Return how long the buffer has no room for a further segment."""
        return max(0.0, self.level(now) + self.segment_s - self.buffer_s)

    def choose(self) -> int:
        """Return the rate of the next segment: the lowest at first."""
        last = self.throughputs[-LOOK_BACK:]
        if not last:
            return self.rates[0]
        estimate = len(last) / sum(1 / value for value in last)
        return max((rate for rate in self.rates if rate <= USED * estimate), default=self.rates[0])

    def summary(self, now: float) -> dict[str, Any]:
        """Return what a film felt until now."""
        self.level(now)
        changes = sum(one != other for one, other in zip(self.chosen, self.chosen[1:], strict=False))
        return {
            "startup_s": self.startup_s,
            "stalls": len(self.stalls),
            "stalled_s": round(sum(length for _, length in self.stalls), 3),
            "rate_bps": round(sum(self.chosen) / len(self.chosen)) if self.chosen else None,
            "rate_changes": changes,
        }
