"""What every carrier can do: register accesses in programs, each done without another one in between."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from penstock.errors import UserError

WRITE, READ, WAIT, TIME = 0, 1, 2, 3  # an access: kind, address, value, mask
PROGRAM = np.dtype(np.uint32)
PART = 1024  # accesses that a carrier which cannot be interrupted does at once, where others may come in
WAIT_READS = 100_000  # of a wait, before the device counts as stuck


class CarrierError(UserError):
    """The device cannot be reached, or does not do what it was told."""


class Carrier(Protocol):
    """Access to the registers of one device: 32-bit words at byte addresses."""

    @property
    def name(self) -> str:
        """How the device is reached, for people."""

    @property
    def losses(self) -> int:
        """Return how often the device was lost so far: it may have begun anew each time, and have nothing of what was written before."""

    def run(self, program: NDArray[np.uint32], step: int = 0) -> NDArray[np.uint32]:
        """Do the accesses of a program (rows of kind, address, value, mask) and return what its reads have read, in their order.

        A wait reads until the value, masked, is the one given. A time is answered with two words, the lower first: nanoseconds of the
        device's clock, or of ours where that cannot be told. All of a program is done before the next one begins, whichever thread
        brings it; but with `step` others may come in after each so many accesses, or a multiple of that, so that a long
        program keeps no other one waiting. Raises CarrierError.
        """

    def cycles(self) -> int:
        """Return the time of the device's clock in cycles; 0 where that cannot be told."""

    def close(self) -> None:
        """Let go of the device."""


def program(rows: Iterable[tuple[int, int, int, int]]) -> NDArray[np.uint32]:
    """Return a program from rows of kind, address, value and mask."""
    return np.array(list(rows), dtype=PROGRAM).reshape(-1, 4)


def reads(addresses: Iterable[int]) -> NDArray[np.uint32]:
    """Return the program that reads these addresses."""
    return program((READ, address, 0, 0) for address in addresses)


def writes(pairs: Iterable[tuple[int, int]]) -> NDArray[np.uint32]:
    """Return the program that writes (address, value) in their order."""
    return program((WRITE, address, value, 0) for address, value in pairs)


def parts(program: NDArray[np.uint32], step: int) -> list[NDArray[np.uint32]]:
    """Return the parts of a program between which others may come in; one at least."""
    if not step or not len(program):
        return [program]
    size = step * max(1, PART // step)
    return [program[begin : begin + size] for begin in range(0, len(program), size)]


def check(rows: NDArray[np.uint32], size: int) -> None:
    """Raise CarrierError unless the rows are a program for registers of `size` bytes."""
    if rows.dtype != PROGRAM or rows.ndim != 2 or rows.shape[1] != 4:
        raise CarrierError("a program is an array of rows of four 32-bit words")
    if rows.size and (int(rows[:, 0].max()) > TIME or int(rows[:, 1].max()) > size - 4 or (rows[:, 1] & 3).any()):
        raise CarrierError(f"an access is 0 (write), 1 (read), 2 (wait) or 3 (time) at a multiple of 4 below {size:,}")
