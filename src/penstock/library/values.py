"""Values that are given to a device held open, as what they must be: whole numbers and the bytes of frames. Others raise UserError."""

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.errors import UserError


def whole(value: Any, what: str) -> int:
    """Return a whole number, NumPy's too."""
    try:
        return operator.index(value)
    except TypeError:
        raise UserError(f"{what} is a whole number, not {value!r}") from None


def word(value: Any, what: str) -> int:
    """Return a number of 32 bits."""
    number = whole(value, what)
    if not 0 <= number < 1 << 32:
        raise UserError(f"{what} is a number of 32 bits, not {number:,}")
    return number


def wholes(values: Iterable[Any], what: str) -> NDArray[np.int64]:
    """Return whole numbers of 64 bits."""
    try:
        return np.fromiter(map(operator.index, values), dtype=np.int64)
    except (TypeError, OverflowError) as error:
        raise UserError(f"{what} are whole numbers: {error}") from None


def data(frame: Any, least: int = 0) -> bytes:
    """Return the bytes of a frame, `least` (0 or 1) at least."""
    if _is_number(frame):  # bytes() makes so many zeros of it
        raise UserError(f"a frame is bytes, or what bytes() makes such of, not the number {frame!r}")
    try:
        found = bytes(frame)
    except (TypeError, ValueError) as error:
        raise UserError(f"a frame is bytes, or what bytes() makes such of, not {type(frame).__name__}: {error}") from error
    if len(found) < least:
        raise UserError("a frame has at least 1 byte")
    return found


def _is_number(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return True
