"""Files that users name: opened only when they are files, and read only as far as is sensible."""

import os
import stat
from io import BufferedReader
from pathlib import Path

from penstock.errors import UserError

_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}


def open_file(path: Path, what: str) -> BufferedReader:
    """Open `path` for reading; `what` is what it should be ("a capture"). Raises UserError for what is no file: it may have no end.

    Other errors are OSError, or ValueError for a name with a zero byte.
    """
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe without a writer is opened at once, too
    kind = _KINDS.get(stat.S_IFMT(os.fstat(number).st_mode))
    if kind:
        os.close(number)
        raise UserError(f"{path}: is {kind}, not {what}")
    return os.fdopen(number, "rb")


def read_text(path: Path, what: str, most_bytes: int) -> str:
    """Return the text of a file. Raises UserError for what is no file or too large; OSError and ValueError, too."""
    with open_file(path, what) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise UserError(f"{path}: is larger than {most_bytes // 10**6} MB; is this {what}?")
    return content.decode("utf-8")
