"""Settings as people say them, made into register words: each distinct setting once.

Operators have few plans and many subscribers: what was translated before is found by the bytes of its message.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.facts import Facts
from penstock.designs.access_edge.control.problems import Code, Problem, invalid
from penstock.designs.access_edge.settings import plain
from penstock.designs.access_edge.settings.parents import ParentSettings
from penstock.errors import UserError
from penstock.v1 import common_pb2 as pb

# Registers of a queue and of a parent, in the order in which they are written.
QUEUE_COLUMNS = (
    "queue_aqm", "queue_aqm_target", "queue_aqm_interval", "queue_class", "queue_rate", "queue_burst", "queue_limit_packets",
    "queue_limit_bytes", "tree_class", "tree_guarantee",
)  # fmt: skip
PARENT_COLUMNS = ("tree_rate", "tree_burst", "tree_class", "tree_guarantee")
MAX_REMEMBERED = 1 << 20  # different settings of queues, and of parents
MAX_KEY = 256  # bytes of a message that is found again by them
# Of memory for such messages, which may be many of the same settings: then they are forgotten. Here, and once more in compiled code; all of
# 262,144 queues that differ are within it.
MAX_KEPT_BYTES, OF_KEY = 64 << 20, 160

CLASS_COLUMN = QUEUE_COLUMNS.index("tree_class")
_RATE = QUEUE_COLUMNS.index("queue_rate")
_BURST = QUEUE_COLUMNS.index("queue_burst")


class _Rows:
    """Rows of words that only become more."""

    def __init__(self, columns: int) -> None:
        self.count = 0
        self.words: NDArray[np.uint32] = np.zeros((64, columns), dtype=np.uint32)

    def add(self, words: tuple[int, ...]) -> int:
        """Add a row and return its number."""
        if self.count == len(self.words):  # a reader in another thread keeps the array that it has
            self.words = np.concatenate([self.words, np.zeros_like(self.words)])
        self.words[self.count] = words
        self.count += 1
        return self.count - 1


def _enter(rows: _Rows, words: tuple[int, ...]) -> int:
    """Add a row and return its number. Raises Problem where there are too many."""
    if rows.count == MAX_REMEMBERED:
        raise Problem(Code.RESOURCE_EXHAUSTED, f"there have been {MAX_REMEMBERED:,} different settings, which is the most until a restart")
    return rows.add(words)


class Codes:
    """Rows of register words by number; the number of a setting stays the same."""

    def __init__(self, facts: Facts, line_bps: int | None = None) -> None:
        """`line_bps`: of the egress link, above whose rate no queue can be."""
        self._facts, self._line_bps = facts, line_bps
        self._least_bps = registers.least_rate(facts.clock_hz, facts.max_frame_bytes)
        self._known: tuple[dict[bytes, int], dict[bytes, int]] = ({}, {})  # by the bytes of the message; open and closed
        self._known_bytes = 0
        self._queue_rows = _Rows(len(QUEUE_COLUMNS))
        self._parents: dict[tuple[int | None, int, int, int], int] = {}
        self._parent_rows = _Rows(len(PARENT_COLUMNS))
        self._number_of: dict[tuple[int, ...], int] = {}
        self.drop_all = self._enter(self._words({"limit_packets": 0, "limit_bytes": 0}))

    def known(self, closed: bool) -> dict[bytes, int]:
        """Return the numbers of the settings that were met before, by the bytes of their message; to be read only."""
        return self._known[closed]

    def queue(self, settings: pb.QueueSettings, closed: bool = False) -> int:
        """Return the number of a queue's settings; `closed`: its gate is. Raises Problem that names the field."""
        key, known = settings.SerializeToString(), self._known[closed]
        found = known.get(key)
        if found is None:
            words = list(self._words(_plain(settings)))
            if closed:
                words[_RATE] = words[_BURST] = 0
            found = self._enter(tuple(words))
            if len(key) <= MAX_KEY:
                if self._known_bytes + len(key) + OF_KEY > MAX_KEPT_BYTES:
                    for some in self._known:
                        some.clear()
                    self._known_bytes = 0
                known[key] = found
                self._known_bytes += len(key) + OF_KEY
        return found

    def parent(self, rate_bps: int | None, burst_bytes: int, weight: int = 1, guarantee_bps: int = 0) -> int:
        """Return the number of the settings of a subscriber, node or port. Raises Problem."""
        key = (rate_bps, burst_bytes, weight, guarantee_bps)
        found = self._parents.get(key)
        if found is None:
            found = self._parents[key] = _enter(self._parent_rows, self._parent_words(*key))
        return found

    def queue_rows(self, numbers: NDArray[np.int32]) -> NDArray[np.uint32]:
        """Return the words of some settings of queues, a row each, in the order of QUEUE_COLUMNS."""
        return self._queue_rows.words[numbers]

    def parent_rows(self, numbers: NDArray[np.int32]) -> NDArray[np.uint32]:
        """Return the words of some settings of parents, a row each, in the order of PARENT_COLUMNS."""
        return self._parent_rows.words[numbers]

    def rows(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the words of all settings of queues and of parents by number; what is behind the last one says nothing."""
        return self._queue_rows.words, self._parent_rows.words

    def classes(self, numbers: NDArray[np.int32]) -> NDArray[np.uint8]:
        """Return the traffic class of some settings of queues."""
        return (self._queue_rows.words[numbers, CLASS_COLUMN] & 0xFF).astype(np.uint8)

    def _enter(self, words: tuple[int, ...]) -> int:
        number = self._number_of.get(words)
        if number is None:
            number = self._number_of[words] = _enter(self._queue_rows, words)
        return number

    def _words(self, values: dict[str, Any]) -> tuple[int, ...]:
        """Return the words of plain values by the code that checks those of scenarios."""
        written = dict(_checked(lambda: plain.queue_settings(self._facts, values, line_bps=self._line_bps).writes(0, self._facts)))
        return tuple(written.get(registers.address(name), 0) for name in QUEUE_COLUMNS)

    def _parent_words(self, rate_bps: int | None, burst_bytes: int, weight: int, guarantee_bps: int) -> tuple[int, ...]:
        if self._facts.hierarchy is None:
            raise invalid("is set, but the device has no hierarchy", "rate_bps")
        if not 1 <= weight <= registers.MAX_WEIGHT:
            raise invalid(f"must be 1 to {registers.MAX_WEIGHT}, not {weight}", "weight")
        if rate_bps and not self._least_bps <= rate_bps <= registers.MAX_RATE_BPS:
            most = f"{self._least_bps:,} to {registers.MAX_RATE_BPS:,}"
            raise invalid(f"must be {most} bit/s, 0 (closed) or absent, not {rate_bps:,}", "rate_bps")
        if guarantee_bps:
            self._check_guarantee(guarantee_bps, rate_bps)
        settings = ParentSettings(rate_bps, burst_bytes, 0, weight, guarantee_bps)
        written = dict(_checked(lambda: settings.writes("subscriber", 0, self._facts), "burst_bytes"))
        return tuple(written.get(registers.address(name), 0) for name in PARENT_COLUMNS)

    def _check_guarantee(self, guarantee_bps: int, rate_bps: int | None) -> None:
        """Raise Problem for a guaranteed rate that a subscriber cannot have."""
        if self._facts.hierarchy is None or not self._facts.hierarchy.guarantees:
            raise invalid("is set, but the device has no guarantees", "guarantee_bps")
        if not self._least_bps <= guarantee_bps <= registers.MAX_RATE_BPS:
            most = f"{self._least_bps:,} to {registers.MAX_RATE_BPS:,}"
            raise invalid(f"must be {most} bit/s, 0 or absent (none), not {guarantee_bps:,}", "guarantee_bps")
        if rate_bps and guarantee_bps > rate_bps:
            raise invalid(f"must be at most the rate, {rate_bps:,} bit/s, not {guarantee_bps:,}", "guarantee_bps")


def _plain(settings: pb.QueueSettings) -> dict[str, Any]:
    """Return the values in the words of scenarios."""
    values: dict[str, Any] = {}
    for field, key in (("burst_bytes", "burst"), ("limit_packets", "limit_packets"), ("limit_bytes", "limit_bytes"),
                       ("traffic_class", "traffic_class"), ("weight", "weight")):  # fmt: skip
        if settings.HasField(field):
            values[key] = f"{getattr(settings, field)} B" if key in ("burst", "limit_bytes") else getattr(settings, field)
    if settings.HasField("rate_bps"):
        values["rate"] = f"{settings.rate_bps} bit/s"
    if settings.guarantee_bps:
        values["guarantee"] = f"{settings.guarantee_bps} bit/s"
    if settings.HasField("aqm"):
        values["aqm"] = {"ecn": settings.aqm.ecn} | dict(settings.aqm.settings)
    return values


_FIELDS = {"rate": "rate_bps", "burst": "burst_bytes", "limit_bytes": "limit_bytes", "guarantee": "guarantee_bps"}


def _checked(do: Callable[[], Any], field: str = "") -> Any:
    try:
        return do()
    except UserError as error:
        path, _, words = str(error).partition(": ")
        if not words or " " in path:
            raise invalid(str(error), field) from None
        head, *rest = path.split(".")
        raise invalid(words, ".".join((_FIELDS.get(head, head), *rest))) from None
