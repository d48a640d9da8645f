# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Registers behind a serial port: the commands of LiteX's UARTBone.

LiteX has a client of its own (`litex_server --uart`), which waits for ever where nothing answers.
"""

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from penstock.errors import UserError

T = TypeVar("T")

_WRITE, _READ = 1, 2  # with addresses that count up
_ANSWER_SECONDS = 1.0
_FORGET_SECONDS = 0.15  # after 100 ms UARTBone forgets a command that has begun


class Line(Protocol):
    """A serial line. `read` returns less than `size` bytes where no more came in time."""

    def write(self, data: bytes, /) -> object:
        """Send bytes."""

    def read(self, size: int, /) -> bytes:
        """Return what has come, `size` bytes at most."""


def read_command(address: int, words: int = 1) -> bytes:
    """Return the command that reads `words` registers from a byte address on; each is answered by four bytes, the highest first."""
    return bytes([_READ, words]) + (address // 4).to_bytes(4, "big")


def write_command(address: int, *words: int) -> bytes:
    """Return the command that writes registers from a byte address on. It has no answer."""
    return bytes([_WRITE, len(words)]) + (address // 4).to_bytes(4, "big") + b"".join(word.to_bytes(4, "big") for word in words)


class UartBus:
    """Registers by their byte addresses. `name` is that of the port, for messages."""

    def __init__(self, line: Line, name: str) -> None:
        self.name = name
        self._line = line

    def read(self, address: int, words: int = 1) -> list[int]:
        """Return registers that follow each other. Raises UserError where no answer comes."""
        self._send(read_command(address, words))
        answer = self._do(lambda: self._line.read(4 * words))
        if len(answer) < 4 * words:
            raise UserError(f"{self.name}: {len(answer)} of {4 * words} bytes came within {_ANSWER_SECONDS:g} s; "
                            "is the bridge loaded, and is this the serial port of its board?")  # fmt: skip
        return [int.from_bytes(answer[place : place + 4], "big") for place in range(0, 4 * words, 4)]

    def write(self, address: int, *words: int) -> None:
        """Write registers that follow each other. Raises UserError."""
        self._send(write_command(address, *words))

    def _send(self, command: bytes) -> None:
        self._do(lambda: self._line.write(command))

    def _do(self, step: Callable[[], T]) -> T:
        try:
            return step()
        except OSError as error:  # that of pyserial is one, too
            raise UserError(f"{self.name}: the serial port has failed: {error}; is the board still connected?") from None


def open_port(name: str, baud: int) -> UartBus:
    """Open a serial port, or what else pyserial has a URL for. Raises UserError."""
    from penstock.basics import groups

    groups.need("board", "serial")
    import serial

    try:
        port = serial.serial_for_url(name, baud, timeout=_ANSWER_SECONDS, write_timeout=_ANSWER_SECONDS)
    except (serial.SerialException, ValueError, OSError) as error:
        raise UserError(f"{name}: cannot be opened as a serial port: {error}") from None
    time.sleep(_FORGET_SECONDS)
    port.reset_input_buffer()
    return UartBus(port, name)
