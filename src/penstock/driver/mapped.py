"""A memory-mapped PCIe BAR: `resource0` of a device below /sys/bus/pci/devices, or any file of the same shape."""

import mmap
import os
import threading
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penstock.driver.carrier import READ, TIME, WAIT_READS, WRITE, CarrierError, check, parts


class Mapped:
    """A carrier to registers in a mapped file. 32-bit accesses, in the order of the program."""

    losses = 0

    def __init__(self, path: Path, size: int = 4096) -> None:
        """Map the first `size` bytes of a file. Raises CarrierError."""
        self.name, self.size = str(path), size
        self._lock = threading.Lock()
        try:
            file = os.open(path, os.O_RDWR | os.O_SYNC)
            try:
                there = os.fstat(file).st_size
                if there < size:
                    raise CarrierError(f"{path}: has {there:,} byte, and a register block has {size:,}")
                self._map = mmap.mmap(file, size)
            finally:
                os.close(file)
        except OSError as error:
            raise CarrierError(f"{path}: {(error.strerror or str(error)).lower()}") from None
        # Elements of 32 bits: each access to one is a single load or store.
        self._words = memoryview(self._map).cast("I")

    def run(self, program: NDArray[np.uint32], step: int = 0) -> NDArray[np.uint32]:
        """Do a program. Raises CarrierError."""
        check(program, self.size)
        words, found = self._words, []
        for part in parts(program, step):
            with self._lock:
                for kind, address, value, mask in part.tolist():
                    at = address >> 2
                    if kind == WRITE:
                        words[at] = value
                    elif kind == READ:
                        found.append(words[at])
                    elif kind == TIME:
                        now = time.monotonic_ns()
                        found += [now & 0xFFFFFFFF, now >> 32]
                    else:
                        self._wait(at, value, mask)
        return np.array(found, dtype=np.uint32)

    def _wait(self, at: int, value: int, mask: int) -> None:
        for _ in range(WAIT_READS):
            if self._words[at] & mask == value:
                return
        raise CarrierError(f"{self.name}: the device does not come to an end with what it was told to do")

    def cycles(self) -> int:
        """Return 0: the registers do not tell the time."""
        return 0

    def close(self) -> None:
        """Unmap the file."""
        self._words.release()
        self._map.close()
