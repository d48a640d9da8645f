"""The last day of each subscriber: rate, drops and the longest backlog of every five minutes, in memory and in a file beside the store.

What it takes is bounded: BYTES for each place of a block in which there was a subscriber, in memory and on the disk, and 56 bytes for each
place that there is. Rows are of intervals, by the clock of the day, and go round in a ring; numbers have 4 bytes, and 0 says that there is
none.
"""

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LOG = logging.getLogger("penstock.control")
INTERVAL_SECONDS, POINTS = 300, 288  # a day
COLUMNS = 3  # rate, in RATE_STEP; packets dropped; most bytes queued
RATE_STEP = 100  # bit/s: what there is to 429 Gbit/s
BYTES = 4 * COLUMNS * POINTS  # of a subscriber
BLOCK = 256  # places whose rows stand together, from the first subscriber there on
MOST = 0xFFFF_FFFE
_MAGIC = 0x3154_5349_4854_5350  # "PSTHIST1"


@dataclass(frozen=True)
class Point:
    """An interval: when it began (seconds since 1970), the mean rate of what left in bit/s, packets dropped, most bytes queued."""

    at: int
    rate_bps: int
    dropped_packets: int
    most_queued_bytes: int


class History:
    """Of all subscribers of a device. Its caller holds a lock."""

    def __init__(self, places: int, path: Path | None = None, of_store: int = 0) -> None:
        """`path`: of the file, which begins anew where it is of another device or store (`of_store`: its seed), or is none."""
        self._places, self._path, self._of_store = places, path, of_store
        self._blocks: dict[int, NDArray[np.uint32]] = {}  # [row, column, place in the block]
        self._interval_of: NDArray[np.int64] = np.full(POINTS, -1, dtype=np.int64)  # of each row, by number since 1970
        self._of: NDArray[np.int64] = np.full(places, -1, dtype=np.int64)  # whose the place is: Plant.since
        self._first: NDArray[np.int64] = np.zeros(places, dtype=np.int64)  # the interval in which that one came
        self._now, self._began = -1, 0.0  # the interval that is not over: its number, and when it began for us, by time.monotonic()
        self._base = np.zeros((2, places), dtype=np.uint64)  # bytes and drops that were counted then
        self._seen = np.zeros((2, places), dtype=np.uint64)  # and at the last look
        self._most: NDArray[np.int64] = np.zeros(places, dtype=np.int64)
        self._monotonic = 0.0  # of the last look
        self._words = ""
        self._load()

    def look(
        self,
        clock: float,
        monotonic: float,
        since: NDArray[np.int64],
        counted: tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]],
    ) -> None:
        """Take a sweep: `clock` of the day, and time.monotonic(); of each place the version that made its subscriber (-1: none), and
        `counted`: bytes that left and packets that were dropped since that came, and bytes queued."""
        sent, dropped, queued = counted
        interval, begin = int(clock // INTERVAL_SECONDS), self._now < 0
        if begin:
            self._now, self._began = interval, monotonic
        new = np.flatnonzero(since != self._of)
        self._of[new], self._first[new] = since[new], interval
        self._base[:, new] = self._seen[:, new] = self._most[new] = 0  # its counters have begun with it
        if begin:
            self._base[:] = sent, dropped  # but after a start they go on from where they were
        if interval != self._now:
            self._close()
            self._now, self._began = interval, monotonic
            self._base[:] = sent, dropped
            self._most[:] = 0
        self._seen[:] = sent, dropped
        np.maximum(self._most, queued, out=self._most)
        self._monotonic = monotonic

    def of(self, place: int) -> list[Point]:
        """Return the day of the subscriber at a place, the oldest first, with what there is of the interval that is not over."""
        if self._now < 0 or self._of[place] < 0:
            return []
        first = max(int(self._first[place]), self._now - POINTS + 1)
        found = []
        block, within = divmod(place, BLOCK)
        for interval in range(first, self._now):
            row = interval % POINTS
            if self._interval_of[row] == interval and block in self._blocks:
                rate, dropped, queued = (int(number) - 1 for number in self._blocks[block][row, :, within])
                if rate >= 0:
                    found.append(Point(interval * INTERVAL_SECONDS, RATE_STEP * rate, dropped, queued))
        if self._monotonic > self._began:
            now = (int(numbers[0]) for numbers in self._running(slice(place, place + 1)))
            found.append(Point(self._now * INTERVAL_SECONDS, *now))
        return found

    def _running(self, places: slice) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return rates, drops and most that was queued in the interval that is not over."""
        seen = self._seen[:, places]
        sent, dropped = seen - np.minimum(self._base[:, places], seen)
        return np.rint(8.0 * sent / (self._monotonic - self._began)), dropped, self._most[places]

    def _close(self) -> None:
        """Put the interval that is over into its row. Of a single look nothing follows."""
        if self._monotonic <= self._began:
            return
        row, there = self._now % POINTS, self._of >= 0
        for block in range(-(-self._places // BLOCK)):
            places = slice(block * BLOCK, min((block + 1) * BLOCK, self._places))
            if block not in self._blocks:
                if not there[places].any():
                    continue
                self._blocks[block] = np.zeros((POINTS, COLUMNS, BLOCK), dtype=np.uint32)
            rate, dropped, queued = self._running(places)
            values = np.stack([np.rint(rate / RATE_STEP), dropped, queued])
            count = values.shape[1]
            self._blocks[block][row, :, :count] = np.where(there[places], np.minimum(values, MOST) + 1, 0)
        self._interval_of[row] = self._now
        self._write(row)

    # ---- the file: a head of four numbers, intervals of the rows, whose the places are and since when, then the blocks

    def _head(self) -> bytes:
        return np.array([_MAGIC, self._places, POINTS, self._of_store], dtype="<i8").tobytes()

    def _at(self, block: int, row: int) -> int:
        return 8 * (4 + POINTS + 2 * self._places) + 4 * COLUMNS * BLOCK * (block * POINTS + row)

    def _write(self, row: int) -> None:
        """Write a row and what it needs. A disk that is full is logged once; the history in memory goes on."""
        if self._path is None:
            return
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                for block, rows in self._blocks.items():
                    os.pwrite(file, rows[row].astype("<u4").tobytes(), self._at(block, row))
                whose = (self._interval_of, self._of, self._first)
                os.pwrite(file, b"".join([self._head(), *(part.astype("<i8").tobytes() for part in whose)]), 0)
            finally:
                os.close(file)
        except OSError as error:
            words = f"{self._path}: the history cannot be written ({(error.strerror or str(error)).lower()})"
            if words != self._words:
                LOG.warning("%s", words)
            self._words = words
        else:
            self._words = ""

    def _load(self) -> None:
        if self._path is None:
            return
        try:
            with self._path.open("rb") as file:
                head = file.read(self._at(0, 0))
                if len(head) < self._at(0, 0) or head[:32] != self._head():
                    raise ValueError
                numbers = np.frombuffer(head, dtype="<i8")[4:]
                self._interval_of[:] = numbers[:POINTS]
                self._of[:], self._first[:] = numbers[POINTS:].reshape(2, self._places)
                for block in range(-(-self._places // BLOCK)):
                    size = 4 * COLUMNS * BLOCK * POINTS
                    file.seek(self._at(block, 0))
                    values = np.frombuffer(file.read(size).ljust(size, b"\0"), dtype="<u4")
                    if values.any():
                        self._blocks[block] = values.astype(np.uint32).reshape(POINTS, COLUMNS, BLOCK)
        except FileNotFoundError:
            return
        except (OSError, ValueError):
            self._interval_of[:], self._of[:], self._first[:] = -1, -1, 0
            LOG.info("%s: is no history of this store, and begins anew", self._path)
            try:
                self._path.unlink()
            except OSError:
                self._path = None
