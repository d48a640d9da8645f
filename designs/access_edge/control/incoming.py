"""What comes over a socket of the page within a time."""

import io
import socket
import time
from typing import Any


class Incoming(io.RawIOBase):
    """What comes over a socket until a moment (time.monotonic()), in however small pieces; then TimeoutError."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection, self.until = connection, 0.0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what has come, and return how much that is. Raises TimeoutError."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)
