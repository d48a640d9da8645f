"""Handles of the entries of a table, by which bmv2's runtime CLI modifies and deletes them."""

import heapq

PLACE_BITS = 24  # of a handle


class Handles:
    """The handles of a table's entries, as bmv2 gives them: the lowest place that is free, and above it how often it was given back."""

    def __init__(self) -> None:
        self.keys: dict[int, tuple[int, ...]] = {}  # of the entries, by place
        self.there: set[tuple[int, ...]] = set()  # these keys
        self._free: list[int] = []  # a heap
        self._versions: dict[int, int] = {}

    def take(self, key: tuple[int, ...]) -> int:
        """Return a place for an entry with this key."""
        place = heapq.heappop(self._free) if self._free else len(self.keys)
        self.keys[place] = key
        self.there.add(key)
        return place

    def give_back(self, place: int) -> None:
        """Let another entry have the place; the handle of this one is none any more."""
        self.there.remove(self.keys.pop(place))
        heapq.heappush(self._free, place)
        self._versions[place] = (self._versions.get(place, 0) + 1) % 256

    def of(self, place: int) -> int:
        """Return the handle of the entry at a place."""
        return self._versions.get(place, 0) << PLACE_BITS | place
