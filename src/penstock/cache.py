"""The user's cache of an installation stays below a stated size: what was not used for longest goes first.

What is built is a folder, `<kind>/<key>`, below `paths.BUILD`. One is in use while a process builds it (and holds its file `lock`, see
`paths.alone_in`), or has asked for it and not ended yet (and holds its file `used`, together with others, whose time is that of the last
use). The kernel takes locks back when a process ends, whatever ends it. A checkout's build/ is the checkout's: there nothing is removed.
"""

import contextlib
import fcntl
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from penstock.basics.units import parse_size
from penstock.errors import UserError
from penstock.paths import BUILD, INSTALLED, alone_in, is_still

VARIABLE = "PENSTOCK_CACHE_LIMIT"
LIMIT_BYTES = 4 * 10**9  # unless the variable says another one
KINDS = ("devices", "engine", "generate", "parts", "synth")
_REMOVED = ".removed-"  # begins the name of a folder that cannot be asked for any more

_held: dict[Path, TextIO] = {}
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Entry:
    """A folder with what was built once; `used` in seconds since 1970."""

    path: Path
    bytes: int
    used: float


def limit() -> int:
    """Return the size in bytes that the cache may have. Raises UserError."""
    given = os.environ.get(VARIABLE, "")
    try:
        return parse_size(given) if given else LIMIT_BYTES
    except ValueError as error:
        raise UserError(f"{VARIABLE}: {error}") from None


def hold(folder: Path) -> bool:
    """Note that `folder` is used now, and keep it from being removed until this process ends; False when it is not there any more.

    In a checkout nothing is noted, as nothing is removed.
    """
    return hold_in_cache(folder) if INSTALLED else True


def hold_in_cache(folder: Path) -> bool:
    """Do what `hold` does, wherever it is."""
    with _one_at_a_time:
        known = _held.get(folder)
        if known and is_still(known.fileno(), folder / "used"):
            os.utime(known.fileno())
            return True
        try:
            file = (folder / "used").open("a")
        except FileNotFoundError:
            return False
        except OSError:  # it may be used and not written: then it is not ours to remove either
            return True
        fcntl.flock(file, fcntl.LOCK_SH)  # waits while `remove` moves it away
        if not is_still(file.fileno(), folder / "used"):
            file.close()
            return False
        os.utime(file.fileno())
        _held[folder] = file  # not closed on purpose: the lock lasts as long as the process
        return True


def once(file: Path, make: Callable[[], None]) -> Path:
    """Return `file`, in a folder of its own in the cache; `make` makes it if it is not there. Several processes may call this at once."""
    if file.exists() and hold(file.parent):
        return file
    with alone_in(file.parent):
        if not file.exists():
            make()
        hold(file.parent)
    tidy()
    return file


def tidy() -> None:
    """Bring an installation's cache below its limit and say in one sentence what was removed. Raises UserError for a bad limit."""
    if INSTALLED:
        sentence = told(remove(BUILD, limit()), limit())
        if sentence:
            print(f"penstock: {sentence}", file=sys.stderr, flush=True)


def remove(root: Path, allowed: int) -> list[Entry]:
    """Remove what was not used for longest until `root` has at most `allowed` bytes; what is in use stays. Return what was removed.

    Safe to call from several processes at once, also while others build and use.
    """
    removed = []
    with _alone(root):
        for rest in root.glob(f"*/{_REMOVED}*"):  # of a call that was killed
            shutil.rmtree(rest, ignore_errors=True)
        found = entries(root)
        total = sum(entry.bytes for entry in found)
        for entry in sorted(found, key=lambda entry: entry.used):
            if total <= allowed:
                break
            if _remove(entry.path):
                total -= entry.bytes
                removed.append(entry)
    return removed


def entries(root: Path) -> list[Entry]:
    """Return all that was built below `root`."""
    folders = [folder for kind in KINDS for folder in _folders(root / kind)]
    return [Entry(folder, _size(folder), _last_use(folder)) for folder in folders]


def told(removed: list[Entry], allowed: int) -> str:
    """Return the sentence about what was removed, nothing when nothing was."""
    if not removed:
        return ""
    what = f"{len(removed)} folder{'s' if len(removed) > 1 else ''} of what was built"
    size = sum(entry.bytes for entry in removed) / 1e6
    day = time.strftime("%Y-%m-%d", time.localtime(max(entry.used for entry in removed)))
    return f"removed {what} and not used since {day} ({size:,.0f} MB): the cache may have {allowed / 1e6:,.0f} MB ({VARIABLE})"


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    root.mkdir(parents=True, exist_ok=True)
    with (root / "removal.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _folders(kind: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return [path for path in kind.iterdir() if path.is_dir() and not path.is_symlink() and not path.name.startswith(".")]
    return []


def _size(folder: Path) -> int:
    """Return the bytes of all files in a folder; what goes away meanwhile counts for nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _last_use(folder: Path) -> float:
    for path in (folder / "used", folder):
        with contextlib.suppress(OSError):
            return path.stat().st_mtime
    return time.time()


def _remove(folder: Path) -> bool:
    """Remove a folder that is not in use; return whether that was done."""
    with contextlib.ExitStack() as locks:
        try:
            for name in ("lock", "used"):
                file = locks.enter_context((folder / name).open("a"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Under its own name it is gone at once, and a process that waited for a lock sees that (`is_still`).
            away = Path(tempfile.mkdtemp(prefix=_REMOVED, dir=folder.parent))
            folder.rename(away)
        except OSError:  # in use, or not ours
            return False
    shutil.rmtree(away, ignore_errors=True)
    return True
