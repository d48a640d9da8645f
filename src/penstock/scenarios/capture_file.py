"""A file of a capture as a stream of bytes: unpacked on the way (gzip, bzip2, xz, zstd), and read no further than it is asked for."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from penstock.errors import UserError

CHUNK_BYTES = 1 << 20
SKIPPED_BYTES = 1 << 16  # at a time
ZSTD_BYTES = 1 << 10  # packed, at a time: some 32 MB at most when they are unpacked
MAX_ZSTD_WINDOW = 1 << 27  # as the program zstd takes without being told

# What a file may raise while it is read: EOFError where it ends too early.
ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError, ValueError)


class Cut(UserError):
    """A file ends within a record."""


class _Zstd(io.RawIOBase):
    """What a file of zstd's frames unpacks to. Raises EOFError where the last one is cut, which zstandard's own readers take for an end."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._frame = self._another()
        self._packed, self._unpacked, self._at = b"", b"", 0
        self._begun = False  # a frame

    @staticmethod
    def _another() -> Any:
        return zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW).decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while self._at == len(self._unpacked):
            self._packed = self._packed or self._file.read(ZSTD_BYTES)
            if not self._packed:
                if self._begun:
                    raise EOFError("it ends within a frame of zstd")
                return 0
            self._begun = True
            self._unpacked, self._at = self._frame.decompress(self._packed), 0
            self._packed = b""
            if self._frame.eof:
                self._packed = self._frame.unused_data
                self._frame, self._begun = self._another(), False
        part = self._unpacked[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


def _zstd(file: io.BufferedReader) -> io.BufferedIOBase:
    return io.BufferedReader(_Zstd(file), CHUNK_BYTES)


_PACKED: dict[bytes, Callable[[io.BufferedReader], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": _zstd,
}


def unpacked(file: io.BufferedReader) -> io.BufferedIOBase:
    """Return a file's content as a stream, whatever packed it."""
    head = file.read(max(len(magic) for magic in _PACKED))
    file.seek(0)
    return next((opened for magic, opened in _PACKED.items() if head.startswith(magic)), lambda plain: plain)(file)


class Source:
    """A stream that is read in large pieces."""

    def __init__(self, path: Path, file: io.BufferedIOBase) -> None:
        self.path, self._file = path, file
        self._chunk, self._at = b"", 0
        self.done = 0  # bytes

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes, fewer at the end."""
        while len(self._chunk) - self._at < count:
            # Piece by piece: what is unpacked before a packed file turns out to be cut is not lost.
            piece = self._file.read1(CHUNK_BYTES)
            if not piece:
                break
            self._chunk, self._at = self._chunk[self._at :] + piece, 0
        data = self._chunk[self._at : self._at + count]
        self._at += len(data)
        self.done += len(data)
        return data

    def skip(self, count: int) -> bool:
        """Read on by `count` bytes; return whether there were so many."""
        while count and (data := self.read(min(count, SKIPPED_BYTES))):
            count -= len(data)
        return not count

    def fail(self, words: str) -> UserError:
        return UserError(f"{self.path}: {words}")

    def cut(self, where: str) -> Cut:
        return Cut(f"{self.path}: is cut {where}")
