"""The user's cache: what is compiled is stored by what it was made from, for all clones, installations and branches of this user.

An entry is a folder, `<kind>/<key>`; its key stands for all that it was made from (`penstock.basics.keys`), so it never gets stale. It is
whole or not there: what is made appears under its name when it is finished, with a `seal` that has the size and hash of each file, and an
entry that does not match its seal is made again. An entry is in use while a process makes it (and holds its file `lock`, see
`paths.alone_in`), or has asked for it and not ended yet (and holds its file `used`, together with others, whose time is that of the last
use). The kernel takes locks back when a process ends, whatever ends it. The cache stays below a stated size: what was not used for longest
goes first. A checkout's build/ is the checkout's: there nothing is removed; where the cache cannot be written, entries go there.

Small facts ("this proof has passed for this key") are files beside the entries.
"""

import contextlib
import errno
import fcntl
import functools
import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from penstock.basics.units import parse_size
from penstock.errors import UserError
from penstock.paths import BUILD, CACHE, INSTALLED, alone_in, cannot_be_written, is_still

VARIABLE = "PENSTOCK_CACHE_LIMIT"
LIMIT_BYTES = 4 * 10**9  # unless the variable says another one
KINDS = ("cocotb", "devices", "engine", "generate", "parts", "programs", "soak", "synth", "verilated")
_REMOVED = ".removed-"  # begins the name of a folder that cannot be asked for any more
_PARTIAL = ".partial-"  # and of one that is being made
_SEAL = "seal"
_FACTS_IN_A_FOLDER = 64  # of 256 folders: some 16,000 of a kind

_held: dict[Path, TextIO] = {}
_whole: dict[Path, int] = {}  # entries that this process has compared with their seals, and the seals' times
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


def once(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """Return the folder with what `make` makes for this key; it is called with an empty folder to fill if the cache has no whole entry.

    `make` leaves what it needs only meanwhile in a `workshop`, not in that folder. Several processes may call this at once, also in
    different clones: one makes it, the others wait. What `make` raises is raised.
    """
    if there := found(kind, key):
        return there
    folder = root() / kind / key
    try:
        _make(folder, make)
    except OSError as error:
        if INSTALLED or folder.is_relative_to(BUILD) or error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise
        _say_unwritable(error)
        folder = BUILD / kind / key
        _make(folder, make)
    tidy()
    return folder / "made"


def found(kind: str, key: str) -> Path | None:
    """Return the folder of an entry if there is a whole one."""
    places = (place / kind / key for place in dict.fromkeys((CACHE, BUILD)))
    return next((place / "made" for place in places if _take(place)), None)


def _make(folder: Path, make: Callable[[Path], None]) -> None:
    with alone_in(folder):
        if _take(folder):
            return
        for rest in folder.iterdir():  # of a call that was killed, or damaged
            if rest.is_dir():
                away = folder / f"{_REMOVED}{rest.name}"
                rest.rename(away)
                shutil.rmtree(away, ignore_errors=True)
        part = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=folder))
        try:
            make(part)
            (part / _SEAL).write_text(json.dumps(_contents(part)))
            part.rename(folder / "made")
        finally:
            shutil.rmtree(part, ignore_errors=True)
        hold_in_cache(folder)


def _contents(made: Path) -> dict[str, list[Any]]:
    """Return size, hash and whether it is a program of each file in a finished entry, by its path there."""
    found = {}
    for place, _, names in os.walk(made):
        for path in (Path(place, name) for name in names):
            if path != made / _SEAL:
                data = path.read_bytes()
                found[str(path.relative_to(made))] = [len(data), hashlib.sha256(data).hexdigest(), os.access(path, os.X_OK)]
    return found


def _take(folder: Path) -> bool:
    """Return whether there is a whole entry, which then stays until this process ends."""
    seal = folder / "made" / _SEAL
    if not seal.exists() or not hold_in_cache(folder):
        return False
    try:
        changed = seal.stat().st_mtime_ns
        if _whole.get(folder) != changed:
            if json.loads(seal.read_text()) != _contents(folder / "made"):
                return False
            _whole[folder] = changed
    except (OSError, ValueError):
        return False
    return True


def root() -> Path:
    """Return where entries are made: the user's cache, or a checkout's build/ when that cannot be written, which is said once."""
    return CACHE if INSTALLED or _is_writable(CACHE) else BUILD  # an installation has no other: whoever makes something says what is wrong


@functools.cache
def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        _say_unwritable(error)
        return False
    return True


def _say_unwritable(error: OSError) -> None:
    why = (error.strerror or str(error)).lower()
    sentence = f"{CACHE}: cannot be written: {why}; what is compiled goes to build/ and is not shared with other clones"
    print(f"penstock: {sentence}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def workshop(name: str) -> Iterator[Path]:
    """Yield an empty folder of this call in build/ (of an installation in the cache), and remove it afterwards.

    It is as deep in each clone: where paths are told from it, they are the same in all. Raises UserError where it cannot be made.
    """
    place = BUILD / "work"
    try:
        place.mkdir(parents=True, exist_ok=True)
        for old in place.iterdir():  # of calls that were killed
            with contextlib.suppress(OSError):
                if time.time() - old.stat().st_mtime > 86400:
                    shutil.rmtree(old, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=place))
    except OSError as error:
        raise cannot_be_written(place, error) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remember(kind: str, key: str, fact: Any) -> None:
    """Store a small fact for a key; it must be what JSON has. Where nothing can be written nothing is remembered."""
    path = _fact(root(), kind, key)
    words = json.dumps({"fact": fact, "hash": _fact_hash(kind, key, fact)})
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{_PARTIAL}{os.getpid()}-{threading.get_ident()}")
        part.write_text(words)
        part.rename(path)
        others = sorted(path.parent.iterdir(), key=lambda other: other.stat().st_mtime)
        for old in others[:-_FACTS_IN_A_FOLDER]:
            old.unlink(missing_ok=True)


def remembered(kind: str, key: str) -> Any:
    """Return the fact that is stored for a key, None when there is none, or what is there is damaged."""
    path = _fact(root(), kind, key)
    try:
        found = json.loads(path.read_text())
        if found["hash"] != _fact_hash(kind, key, found["fact"]):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return found["fact"]
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _fact(place: Path, kind: str, key: str) -> Path:
    return place / "facts" / kind / key[:2] / f"{key}.json"


def _fact_hash(kind: str, key: str, fact: Any) -> str:
    return hashlib.sha256(json.dumps([kind, key, fact], sort_keys=True).encode()).hexdigest()


def tidy() -> None:
    """Bring the user's cache below its limit and say in one sentence what was removed. Raises UserError for a bad limit."""
    with contextlib.suppress(OSError):  # one that cannot be written does not grow either
        sentence = told(remove(CACHE, limit()), limit())
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
