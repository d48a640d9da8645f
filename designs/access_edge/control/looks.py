"""Looks at the queues of a subscriber that somebody has open on the page."""

import threading
import time
from collections import deque

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.sweep import DROP_P, OUT_B, Sweep

# A subscriber that is open is read once in so many seconds at most. Its rates are of the last LOOKS readings, and the page asks for one a
# second: a slow queue sends nothing in a much shorter time, or a packet.
LOOK_SECONDS, LOOKS = 0.3, 5
MOST = 64  # subscribers whose looks are kept


class Looks:
    """Looks at the queues of single subscribers, for those who have one open: of this moment, however long a sweep takes."""

    def __init__(self, plant: Plant, sweep: Sweep) -> None:
        self._plant, self._sweep = plant, sweep
        self._lock = threading.Lock()
        self._of: dict[int, deque[tuple[float, int, NDArray[np.int64], NDArray[np.int64]]]] = {}  # by index, the one of last first

    def look(self, index: int, queues: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Read the queues now, and return their rates in bit/s and their drops per second since a look of some seconds ago; None: there was
        none. However many ask, a subscriber is read once in LOOK_SECONDS. Raises CarrierError."""
        with self._lock:
            looks = self._of.pop(index, deque(maxlen=LOOKS))
            self._of[index] = looks
            while len(self._of) > MOST:
                self._of.pop(next(iter(self._of)))
            now, since = time.monotonic(), int(self._plant.since[index])
            if looks and (now - looks[-1][0] > LOOKS or looks[-1][1] != since):
                looks.clear()
            if not looks or now - looks[-1][0] > LOOK_SECONDS:
                times = self._sweep.look(queues)
                looks.append((now, since, times, self._sweep.counts[queues][:, (OUT_B, DROP_P)].astype(np.int64)))
            (_, _, first, before), (_, _, last, after) = looks[0], looks[-1]
            if not (last > first).all():
                return None
            change = np.maximum(after - before, 0) * 1e9 / (last - first)[:, None]
            return 8 * change[:, 0], change[:, 1]
