"""Captures: the frames of pcap and pcapng files as arrays, in order of time.

A file is read record by record, and no further than the time that is wanted, however large it is or becomes when it is unpacked. A cut or
damaged file is an error that says at which record.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from penstock.basics.files import open_file
from penstock.errors import UserError
from penstock.scenarios.capture_file import ERRORS, Cut, Source, unpacked
from penstock.scenarios.capture_records import Record, records

DAY_NS = 86_400 * 10**9
MAX_SPAN_NS = 366 * DAY_NS
MAX_FRAMES = 20_000_000  # that are kept, about 50 byte each beside their own
MAX_BYTES = 2_000_000_000  # of them together
DISORDER_NS = 10**9  # captures of several interfaces may be out of order by this much; later frames are looked for no longer
DISORDER_FRAMES = 1 << 20  # and in no more of them than these
REPORT_RECORDS = 1 << 16  # from one report of progress to the next

Report = Callable[[str], None]


@dataclass(frozen=True)
class Frames:
    """Frames of one capture in order of time; arrays have one element a frame."""

    times_ns: NDArray[np.int64]  # from the earliest frame of the file
    lengths: NDArray[np.int32]  # bytes on the line without FCS
    offsets: NDArray[np.int64]  # where it begins in `buffer`
    stored: NDArray[np.int32]  # bytes that the file holds of it; fewer than `lengths` where the snap length cut it
    buffer: bytearray
    records: NDArray[np.int32] | None = None  # of the file, counted from 1; None: the frames are all of them, and in order
    whole: bool = True  # the file was read to its end
    earliest: int = 1  # the record that times count from
    first_ns: int = 0  # its stamp
    early_ns: int = 0  # by which it is before that of the file's first record
    left_out: dict[str, int] = field(default_factory=dict)  # records that are no frames: how many, by why ("carry no IP")
    cut: str = ""  # where the file ends too early: "is cut within record 7"
    jump: tuple[int, int] | None = None  # a record that is stamped very much later than the one before, and by how many ns

    def __len__(self) -> int:
        return len(self.times_ns)

    def frame(self, index: int) -> bytes:
        """Return what the file holds of one frame."""
        start = int(self.offsets[index])
        return bytes(self.buffer[start : start + int(self.stored[index])])

    def record(self, index: int) -> int:
        """Return the number of a frame's record in the file, counted from 1."""
        return index + 1 if self.records is None else int(self.records[index])


Scalar = TypeVar("Scalar", bound=np.generic)


def read(path: Path, until_ns: int | None = None, report: Report | None = None, up_to_cut: bool = False) -> Frames:
    """Read a pcap or pcapng file (packed by gzip, bzip2, xz or zstd, too), from its earliest frame to `until_ns` after it, or whole.

    `report` hears how far it is; `up_to_cut`: a file that ends within a record is read up to there. Raises UserError: missing, no file,
    empty, cut, damaged, too large, link types without Ethernet frames.
    """
    try:
        with open_file(path, "a capture") as raw:
            return _Collection(Source(path, unpacked(raw)), until_ns, report, up_to_cut).frames()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such capture") from None
    except ERRORS as error:  # ValueError: a name with a zero byte
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


class _Collection:
    """Frames while they are read."""

    def __init__(self, source: Source, until_ns: int | None, report: Report | None, up_to_cut: bool) -> None:
        self._source, self._until, self._report, self._up_to_cut = source, until_ns, report, up_to_cut
        self._times, self._lengths, self._offsets, self._stored = array("q"), array("i"), array("q"), array("i")
        self._numbers, self._buffer = array("i"), bytearray()
        self._first: int | None = None  # the earliest stamp until now
        self._began = 0  # the first one
        self._last: int | None = None
        self._earliest, self._beyond, self._whole = 1, 0, True
        self._left_out: Counter[str] = Counter()
        self._cut = ""
        self._jump: tuple[int, int] | None = None

    def frames(self) -> Frames:
        """Read and return them."""
        count = 0
        for count, record in enumerate(self._records(), 1):
            if self._report and count % REPORT_RECORDS == 0:
                self._report(f"Reading {self._source.path.name}: {count:,} frames, {self._source.done / 1e6:,.0f} MB")
            if not self._take(count, record):
                self._whole = False
                break
        if not self._times:
            reasons = ", ".join(f"{number:,} {why}" for why, number in self._left_out.items())
            raise self._source.fail("holds no frames" + (f": of its {count:,} records {reasons}" if reasons else ""))
        return self._ordered()

    def _records(self) -> Iterator[Record]:
        """Yield the records, up to where the file is cut if that is asked for."""
        found = False
        try:
            for record in records(self._source):
                yield record
                found = True
        except (Cut, EOFError) as error:
            if not (self._up_to_cut and found):
                raise
            where = str(error).removeprefix(f"{self._source.path}: ")
            self._cut = where if isinstance(error, Cut) else f"ends too early ({where[0].lower()}{where[1:]})"

    def _take(self, number: int, record: Record) -> bool:
        """Take a record; return whether others may follow that belong to the time that is wanted."""
        if isinstance(record.found, str):
            after = (record.time or 0) - self._first if self._first is not None and record.time is not None else 0
            self._left_out[record.found] += self._until is None or after <= self._until
            return self._until is None or after <= self._until + DISORDER_NS
        if record.time is not None and not self._timed(number, record.time):
            return False
        last, first = self._last or 0, self._first or 0
        if self._until is not None and last - first > self._until:
            self._beyond += 1
            return last - first <= self._until + DISORDER_NS and self._beyond <= DISORDER_FRAMES
        length, data = record.found
        if len(self._times) == MAX_FRAMES or len(self._buffer) + len(data) > MAX_BYTES:
            most = f"{MAX_FRAMES:,} frames or {MAX_BYTES / 1e9:g} GB"
            raise self._source.fail(f"holds more than {most} in the time that is played: take a shorter duration, or a part of the capture")
        self._times.append(last)
        self._lengths.append(length)
        self._offsets.append(len(self._buffer))
        self._stored.append(len(data))
        self._numbers.append(number)
        self._buffer += data
        return True

    def _timed(self, number: int, time: int) -> bool:
        """Take the stamp of a record; return whether it is not so late that others are looked for no longer."""
        if self._first is None:
            self._first = self._began = time
            for index in range(len(self._times)):  # those before have no time of their own
                self._times[index] = time
        elif time < self._first:
            if self._began - time > MAX_SPAN_NS:
                raise self._jumps(number, f"{(self._began - time) // DAY_NS:,} days before the first one")
            self._first, self._earliest = time, number
        elif time - self._first > MAX_SPAN_NS:
            if self._until is None:
                raise self._jumps(number, f"{(time - self._first) // DAY_NS:,} days after the earliest one")
            self._jump = number, time - (self._first if self._last is None else self._last)
            return False
        self._last = time
        return True

    def _jumps(self, number: int, words: str) -> UserError:
        return self._source.fail(f"is joined from several captures, or damaged: record {number:,} is stamped {words}")

    def _ordered(self) -> Frames:
        from_first = np.frombuffer(self._times, dtype=np.int64) - (self._first or 0)
        order = np.argsort(from_first, kind="stable")
        whole = self._whole
        if self._until is not None:  # the earliest stamp may have become earlier since
            order = order[from_first[order] <= self._until]
            whole = whole and not self._beyond and len(order) == len(self._times)

        def ordered(values: "array[int]", kind: type[Scalar]) -> NDArray[Scalar]:
            return np.frombuffer(values, dtype=kind)[order]

        return Frames(
            from_first[order],
            ordered(self._lengths, np.int32),
            ordered(self._offsets, np.int64),
            ordered(self._stored, np.int32),
            self._buffer or bytearray(1),  # an empty one is no array
            ordered(self._numbers, np.int32),
            whole,
            self._earliest,
            self._first or 0,
            self._began - (self._first or 0),
            dict(self._left_out),
            self._cut,
            self._jump,
        )
