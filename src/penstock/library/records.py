"""What has become of frames, as tables: a row for each, columns as NumPy arrays.

`pandas.DataFrame(table.columns)` takes one as it is. Times are nanoseconds of the device's clock since it was started.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Frame:
    """A frame that has left the device."""

    number: int  # as `send` gave it
    queue: int
    data: bytes  # as it left; with ECN's mark where its queue has marked it
    time_ns: float  # its first beat left
    latency_ns: float  # from its last bit on the ingress line to its first beat on the egress line
    marked: bool
    output: int  # by which it left


@dataclass(frozen=True)
class Drop:
    """A frame that the device has dropped."""

    number: int
    queue: int
    length: int  # bytes
    reason: str  # a name of docs/result.md
    time_ns: float


class Received:
    """The frames that have left, in the order in which they did."""

    def __init__(self, raw: dict[str, NDArray[Any]], clock_hz: int) -> None:
        per_cycle = 1e9 / clock_hz
        self._offsets, self._data = raw["offsets"], raw["data"].tobytes()
        self.columns: dict[str, NDArray[Any]] = {
            "number": raw["number"],
            "queue": raw["queue"],
            "length": np.diff(raw["offsets"]),
            "time_ns": raw["cycle"] * per_cycle,
            "latency_ns": raw["latency"] * per_cycle,
            "marked": raw["marked"].astype(bool),
            "output": raw["output"].astype(np.int64),
        }

    def __len__(self) -> int:
        return len(self.columns["number"])

    def __getitem__(self, index: int) -> Frame:
        """Return one frame. Raises IndexError."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} frames, not one with index {index}")
        index %= len(self)
        row = {name: self.columns[name][index].item() for name in ("number", "queue", "time_ns", "latency_ns", "marked", "output")}
        return Frame(data=self._data[self._offsets[index] : self._offsets[index + 1]], **row)

    def __iter__(self) -> Iterator[Frame]:
        return (self[index] for index in range(len(self)))


class Dropped:
    """The frames that were dropped, in the order in which they were."""

    def __init__(self, raw: dict[str, NDArray[Any]], clock_hz: int, reasons: list[str]) -> None:
        """`reasons`: their names by number."""
        names = np.array(reasons)
        self.columns: dict[str, NDArray[Any]] = {
            "number": raw["number"],
            "queue": raw["queue"],
            "length": raw["length"],
            "reason": names[raw["reason"]],
            "time_ns": raw["cycle"] * (1e9 / clock_hz),
        }

    def __len__(self) -> int:
        return len(self.columns["number"])

    def __getitem__(self, index: int) -> Drop:
        """Return one drop. Raises IndexError."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} drops, not one with index {index}")
        return Drop(**{name: column[index].item() for name, column in self.columns.items()})

    def __iter__(self) -> Iterator[Drop]:
        return (self[index] for index in range(len(self)))
