"""A device in another process: programs and answers over a Unix socket. The device lives on when a client goes.

Each message is a head of 16 bytes (magic, what it is, how many 32-bit words follow, 0; little-endian) and the words. A client sends RUN
with the rows of a program, or CYCLES; it is answered DONE with what was read (of CYCLES: two words, the lower first), or ERROR with text.
"""

import contextlib
import os
import socket
import socketserver
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penstock.driver.carrier import Carrier, CarrierError, parts

MAGIC = 0x50535444  # "PSTD"
RUN, CYCLES, DONE, ERROR = 1, 2, 3, 4
HEAD = struct.Struct("<4I")
MAX_WORDS = 1 << 26  # of a message: 16 M accesses
# So long a device may take for an answer, and for each access besides: RTL on a slow machine sets a queue in a millisecond or two. The
# first answer of a device that was lost must come soon: who tries one that hangs has other things to do.
SECONDS, SECONDS_OF_ACCESS, SECONDS_OF_FIRST = 10.0, 0.01, 2.0
_NOTHING = np.zeros(0, dtype=np.uint32)


class Remote:
    """A carrier to a device that another process has. Where that is gone, or does not answer in time, what was asked for has failed; the
    next one who asks connects anew."""

    def __init__(self, path: Path) -> None:
        """Connect to the socket at `path`. Raises CarrierError."""
        self.name, self.losses = f"unix:{path}", 0
        self._path = str(path)
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        try:
            self._connected()
        except OSError as error:
            self.close()
            raise CarrierError(f"{path}: no device answers there ({(error.strerror or str(error)).lower()})") from None

    def run(self, program: NDArray[np.uint32], step: int = 0) -> NDArray[np.uint32]:
        """Have a program done. Raises CarrierError."""
        found = [self._ask(RUN, np.ascontiguousarray(part, dtype=np.uint32).reshape(-1)) for part in parts(program, step)]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def cycles(self) -> int:
        """Return the time of the device's clock."""
        low, high = self._ask(CYCLES, _NOTHING).tolist()
        return int(high << 32 | low)

    def close(self) -> None:
        """Close the connection; the device goes on."""
        if self._socket:
            self._socket.close()
        self._socket = None

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.settimeout(SECONDS_OF_FIRST)
            self._socket.connect(self._path)
        return self._socket

    def _ask(self, what: int, words: NDArray[np.uint32]) -> NDArray[np.uint32]:
        with self._lock:
            try:
                if self._socket is None:
                    _exchange(self._connected(), CYCLES, _NOTHING, SECONDS_OF_FIRST)
                kind, found = _exchange(self._connected(), what, words, SECONDS + SECONDS_OF_ACCESS * (words.size // 4))
            except (OSError, CarrierError) as error:  # an answer that comes later is not the next one's
                self.losses += 1
                self.close()
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                raise CarrierError(f"{self.name}: the device is gone ({reason.lower()})") from None
        if kind == ERROR:
            raise CarrierError(found.tobytes().rstrip(b"\0").decode())
        return found


def _exchange(device: socket.socket, what: int, words: NDArray[np.uint32], seconds: float) -> tuple[int, NDArray[np.uint32]]:
    """Return what is answered. Raises OSError, also where nothing comes in time, and CarrierError for what is no answer."""
    device.settimeout(seconds)
    send(device, what, words)
    answer = receive(device)
    if answer is None:
        raise ConnectionResetError("its process has ended")
    return answer


def send(to: socket.socket, what: int, words: NDArray[np.uint32]) -> None:
    """Send a message. Raises OSError."""
    to.sendall(HEAD.pack(MAGIC, what, words.size, 0))
    if words.size:
        to.sendall(words.data.cast("B"))


def receive(source: socket.socket) -> tuple[int, NDArray[np.uint32]] | None:
    """Return what a message is, and its words; None at the end. Raises OSError, and CarrierError for what is no message."""
    head = _exactly(source, HEAD.size)
    if head is None:
        return None
    magic, what, count, _ = HEAD.unpack(head)
    if magic != MAGIC or what not in (RUN, CYCLES, DONE, ERROR) or count > MAX_WORDS:
        raise CarrierError("what came over the socket is no message of a device")
    data = _exactly(source, 4 * count)
    return None if data is None else (what, np.frombuffer(data, dtype="<u4"))


def _exactly(source: socket.socket, size: int) -> bytes | bytearray | None:
    data = bytearray(size)
    view, there = memoryview(data), 0
    while there < size:
        got = source.recv_into(view[there:])
        if not got:
            return None
        there += got
    return data


class _Clients(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    carrier: Carrier


class _Client(socketserver.BaseRequestHandler):
    server: _Clients

    def handle(self) -> None:
        """Answer one client until it goes."""
        with contextlib.suppress(OSError, CarrierError):
            while (message := receive(self.request)) is not None and not self._has_gone():
                self._answer(*message)

    def _has_gone(self) -> bool:
        """Return whether the client waits no longer: then what it has asked for is not done, for it counts as failed."""
        try:
            return not self.request.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False

    def _answer(self, what: int, words: NDArray[np.uint32]) -> None:
        carrier = self.server.carrier
        try:
            if what == CYCLES:
                now = carrier.cycles()
                found = np.array([now & 0xFFFFFFFF, now >> 32], dtype=np.uint32)
            elif what == RUN and words.size % 4 == 0:
                found = carrier.run(words.reshape(-1, 4).astype(np.uint32, copy=False))
            else:
                raise CarrierError("a program is rows of four words")
        except CarrierError as error:
            text = str(error).encode()
            send(self.request, ERROR, np.frombuffer(text.ljust(-(-len(text) // 4) * 4, b"\0"), dtype=np.uint32))
        else:
            send(self.request, DONE, found)


@contextlib.contextmanager
def listening(path: Path, carrier: Carrier) -> Iterator[None]:
    """Let clients at the socket `path` use a device, inside of the `with`. Only this user may connect. Raises CarrierError."""
    with contextlib.suppress(FileNotFoundError):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as there:
            if there.connect_ex(str(path)) == 0:
                raise CarrierError(f"{path}: another process has a device there")
        path.unlink()
    mask = os.umask(0o177)
    try:
        clients = _Clients(str(path), _Client)
    except OSError as error:
        raise CarrierError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    finally:
        os.umask(mask)
    clients.carrier = carrier
    thread = threading.Thread(target=clients.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        clients.shutdown()
        clients.server_close()
        thread.join()
        with contextlib.suppress(OSError):
            path.unlink()
