"""Results that appear whole: files grow in a folder of their own inside the result's and are moved out when all are there."""

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from penstock.errors import UserError

PARTIAL = ".partial-"


@contextlib.contextmanager
def growing(out: Path) -> Iterator[Path]:
    """Make the folder `out` and yield one in which its files grow; they are moved to `out` at the end, or with an error thrown away.

    So an older result is there until then. What calls that were killed have left behind is removed: its lock is free.
    """
    try:
        made = not out.exists()
        out.mkdir(parents=True, exist_ok=True)
        grown = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=out))
    except FileExistsError:
        raise UserError(f"--out {out}: is a file, not a folder") from None
    except OSError as error:
        raise UserError(f"--out {out}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    lock = os.open(grown, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _remove_left(out, grown)
        yield grown
        made = False
        with _undisturbed():
            _move(grown, out)
    finally:
        os.close(lock)
        shutil.rmtree(grown, ignore_errors=True)
        if made:
            with contextlib.suppress(OSError):
                out.rmdir()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let signals wait for a moment."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _remove_left(out: Path, own: Path) -> None:
    for path in out.glob(f"{PARTIAL}*"):
        if path == own or not path.is_dir() or path.is_symlink():
            continue
        with contextlib.suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)
            finally:
                os.close(lock)


def _move(grown: Path, out: Path) -> None:
    for path in sorted(grown.iterdir(), key=lambda path: (path.name == "result.json", path.name)):  # what says that there is one is last
        if path.is_dir():
            (out / path.name).mkdir(exist_ok=True)
            _move(path, out / path.name)
        else:
            os.replace(path, out / path.name)
