"""Counters of frames by how their queues were found in headers: hits and misses by kind of match, and why reading ended.

The device counts by profile, of which each kind of match has one as long as it is looked for. Here the counters are of kinds and only grow.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import find, matches, registers
from penstock.driver.carrier import READ, WRITE, Carrier

KINDS = (*matches.KINDS, matches.ROUTED)
_ROWS, _EACH = len(find.COUNTERS), 16  # counters by what they are of, and by index
_MASK = np.uint64((1 << registers.table()["find_count"]["fields"]["value"][1]) - 1)
Counts = NDArray[np.uint64]
_SIZES = (len(matches.KINDS), len(KINDS))  # of what was kept: prefixes came later


def read(carrier: Carrier) -> tuple[Counts, int]:
    """Return all counters of the device, and how many keys it has. Raises CarrierError."""
    at, shown = registers.address("find_item"), registers.address("find_count")
    rows: list[list[int]] = []
    for number in range(_ROWS * _EACH):
        rows += [[WRITE, at, number, 0], [READ, shown, 0, 0], [READ, shown + 4, 0, 0]]
    rows.append([READ, registers.address("find_keys"), 0, 0])
    words = carrier.run(np.array(rows, dtype=np.uint32)).astype(np.uint64)
    return (words[:-1:2] | words[1:-1:2] << np.uint64(32)).reshape(_ROWS, _EACH), int(words[-1])


class Found:
    """What was counted so far."""

    def __init__(self) -> None:
        self.hits: Counts = np.zeros(len(KINDS), dtype=np.uint64)
        self.misses: Counts = np.zeros(len(KINDS), dtype=np.uint64)
        self.endings: Counts = np.zeros(len(find.ENDINGS), dtype=np.uint64)
        self.without_profile = 0
        self.keys = 0  # that the device has now
        self.kinds: list[str] = []  # that are looked for
        self._raw: Counts = np.zeros((_ROWS, _EACH), dtype=np.uint64)

    def take(self, raw: Counts, keys: int, kinds: list[str]) -> None:
        """Add what was counted since the last reading; `kinds`: whose profiles are where. A device that was reset counts from 0 on."""
        change = (raw - self._raw) & _MASK
        if ((raw < self._raw) & (change > _MASK >> np.uint64(8))).any():
            change = raw
        at = [KINDS.index(kind) for kind in kinds]
        hit, miss, ending, none = (change[find.COUNTERS.index(name)] for name in ("hit", "miss", "ending", "none"))
        self.hits[at] += hit[: len(at)]
        self.misses[at] += miss[: len(at)]
        self.endings += ending[: len(self.endings)]
        self.without_profile += int(none[0])
        self._raw, self.keys, self.kinds = raw, keys, list(kinds)

    def profiles(self) -> list[tuple[str, int, int]]:
        """Return kind, hits and misses of the kinds that are looked for, and behind them of those that once were."""
        known = [kind for n, kind in enumerate(KINDS) if kind not in self.kinds and (self.hits[n] or self.misses[n])]
        return [(kind, int(self.hits[KINDS.index(kind)]), int(self.misses[KINDS.index(kind)])) for kind in (*self.kinds, *known)]

    def ended(self) -> list[tuple[str, int, bool]]:
        """Return why reading ended, frames, and whether these are malformed."""
        return [(name, int(frames), name in find.MALFORMED) for name, frames in zip(find.ENDINGS, self.endings, strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """Return all of it by name."""
        return {
            "profiles": [{"match": kind, "hits": hits, "misses": misses} for kind, hits, misses in self.profiles()],
            "without_profile": self.without_profile,
            "endings": [{"name": name, "frames": frames, "malformed": bad} for name, frames, bad in self.ended()],
            "keys": self.keys,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is to be kept."""
        return {
            "headers_raw": self._raw,
            "headers_hits": self.hits.copy(),
            "headers_misses": self.misses.copy(),
            "headers_endings": self.endings.copy(),
            "headers_none": np.array([self.without_profile], dtype=np.uint64),
        }

    def load(self, kept: Any) -> None:
        """Go on from what was kept, if that has such counters."""
        if "headers_raw" not in kept or kept["headers_raw"].shape != self._raw.shape or len(kept["headers_hits"]) not in _SIZES:
            return
        self._raw = kept["headers_raw"]
        self.hits[: len(kept["headers_hits"])], self.misses[: len(kept["headers_misses"])] = kept["headers_hits"], kept["headers_misses"]
        self.endings, self.without_profile = kept["headers_endings"], int(kept["headers_none"][0])
