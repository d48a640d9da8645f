"""What was asked for, in SQLite: one file, durable when a change is acknowledged, brought up to date by numbered migrations.

A row has the message of the noun as it was asked for, so a store outlives versions of the hardware.
"""

import contextlib
import itertools
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from penstock.errors import UserError
from penstock.v1 import headers_pb2, hierarchy_pb2, plans_pb2, subscribers_pb2

DAY_SECONDS = 86_400
KEPT_ANSWERS, MOST_ANSWERS = 10_000, 1_000_000  # so many are kept whatever the clock says, and so many at most
# The log: so many of the last changes, and of the last requests that were refused; older ones than so many days go before that, but for the
# last ones, whatever the clock says. A line has at most MAX_WHAT bytes of each word, so all of it at most 80 MB.
KEPT_LINES = {"audit": 100_000, "refused": 10_000}
LOG_DAYS, LEAST_LINES, LOOK_LINES = 400, 1_000, 256
KEY_BYTES = 10  # of headers
MAX_WHO, MAX_WHAT = 128, 400  # bytes
# SQLite's own log (WAL): written back at so many pages of 4 kB, and written anew from its beginning then. It is given ROOM bytes when the
# store is opened: a write into a file that need not grow is durable in half of the time.
WAL_PAGES, ROOM = 4_096, 8 << 20
_MIGRATIONS = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE subscriber (idx INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, node INTEGER NOT NULL, version INTEGER NOT NULL,
                             intent BLOB NOT NULL);
    CREATE INDEX subscriber_node ON subscriber (node);
    CREATE TABLE retired (idx INTEGER PRIMARY KEY);
    CREATE TABLE parent (level TEXT, idx INTEGER, version INTEGER NOT NULL, intent BLOB NOT NULL, PRIMARY KEY (level, idx)) WITHOUT ROWID;
    CREATE TABLE request (id TEXT PRIMARY KEY, digest BLOB NOT NULL, at REAL NOT NULL, answer BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE audit (id INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, method TEXT NOT NULL, what TEXT NOT NULL,
                        status TEXT NOT NULL);
    CREATE TABLE counters (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    """,
    """
    ALTER TABLE request ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX request_number ON request (number);
    """,
    # Name, node and version stand in the message: a row is one entry of the hierarchy. What was refused is in a log of its own, so that it
    # cannot push out what was done.
    """
    CREATE TABLE subscriber_new (idx INTEGER PRIMARY KEY, intent BLOB NOT NULL);
    INSERT INTO subscriber_new SELECT idx, intent FROM subscriber;
    DROP TABLE subscriber;
    ALTER TABLE subscriber_new RENAME TO subscriber;
    CREATE TABLE refused (id INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, method TEXT NOT NULL, what TEXT NOT NULL,
                          status TEXT NOT NULL);
    """,
    """
    -- The revision in meta is of what is gone: that of what is there stands in its message.
    """,
    # Whose the counters of a place are that were kept: `came` is the version that made a subscriber, and no change of it changes that.
    """
    ALTER TABLE subscriber ADD COLUMN came INTEGER NOT NULL DEFAULT 0;
    """,
    # Keys of headers that may be in the device and are not intended.
    """
    CREATE TABLE gone_key (key BLOB PRIMARY KEY) WITHOUT ROWID;
    """,
)

# What a transaction of few rows does is one statement, for Python lets go of its lock around each, and others go on then: a row of this
# view is a subscriber, a line of a log, or both.
_TOGETHER = """
    CREATE TEMP VIEW together AS SELECT 0 AS idx, 0 AS intent, 0 AS came, 0 AS id, 0 AS at, 0 AS who, 0 AS method, 0 AS what, 0 AS status;
    CREATE TEMP TRIGGER together_put INSTEAD OF INSERT ON together WHEN NEW.idx NOT NULL
        BEGIN INSERT OR REPLACE INTO subscriber VALUES (NEW.idx, NEW.intent, NEW.came); END;
    CREATE TEMP TRIGGER together_audit INSTEAD OF INSERT ON together WHEN NEW.status = 'OK'
        BEGIN INSERT INTO audit VALUES (NEW.id, NEW.at, NEW.who, NEW.method, NEW.what, NEW.status); END;
    CREATE TEMP TRIGGER together_refused INSTEAD OF INSERT ON together WHEN NEW.status <> 'OK'
        BEGIN INSERT INTO refused VALUES (NEW.id, NEW.at, NEW.who, NEW.method, NEW.what, NEW.status); END;
"""
_NO_SUBSCRIBER, _NO_LINE = (None,) * 3, (None,) * 6
MOST_TOGETHER = 128  # rows of such a statement
# Of messages of subscribers that are kept in memory as well: all of a device of 262,144 queues, unless these are unusually long. What a
# stream replaces is known so without being read, in case the device refuses.
RECENT_BYTES = 32 << 20


class TakenError(UserError):
    """Another server has the store."""


class Intent:
    """The store. One writer at a time: its caller holds a lock."""

    def __init__(self, path: Path | None, patience_seconds: float = 5.0) -> None:
        """Open the file, or make it; None: in memory, gone with the process. Raises UserError; TakenError where another server has it for
        longer than one is patient."""
        self.path = path
        try:
            self._db = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None, timeout=patience_seconds)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._db.execute(f"PRAGMA wal_autocheckpoint={WAL_PAGES}")
            self._migrate()
            self._db.execute("PRAGMA temp_store=MEMORY")
            self._db.executescript(_TOGETHER)
            self._inside = self._begun = False  # of a transaction; and of one that has more than one statement
            self._subscribers: list[tuple[int, bytes, int]] = []  # of a transaction, not written yet
            self._lines: list[tuple[Any, ...]] = []
            self._recent: dict[int, bytes] = {}  # messages that were read or written last, by index
            self._recent_bytes = 0
            self._make_room()
            (self._line,) = self._db.execute(
                "SELECT MAX((SELECT COALESCE(MAX(id), 0) FROM audit), (SELECT COALESCE(MAX(id), 0) FROM refused))"
            ).fetchone()
        except sqlite3.Error as error:
            with contextlib.suppress(AttributeError):
                self._db.close()
            if "locked" in str(error):
                raise TakenError(f"{path}: another server has it") from None
            raise UserError(f"{path}: is no store of a control plane ({error})") from None

    def _migrate(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > len(_MIGRATIONS):
            raise UserError(f"{self.path}: is of a later version of Penstock (store {version}, this software knows {len(_MIGRATIONS)})")
        for number in range(version, len(_MIGRATIONS)):
            self._db.executescript(f"BEGIN; {_MIGRATIONS[number]} PRAGMA user_version={number + 1}; COMMIT;")
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("COMMIT")

    def _make_room(self) -> None:
        log = Path(f"{self.path}-wal")
        if self.path is None or (log.exists() and log.stat().st_size >= ROOM):
            return
        with self.transaction():
            self._begin()
            self._db.execute("INSERT INTO meta VALUES ('room', zeroblob(?))", (ROOM,))
            self._db.execute("DELETE FROM meta WHERE key = 'room'")
        self.checkpoint()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is done inside is durable at the end, or not done."""
        self._inside, self._begun = True, False
        try:
            yield
            self._write()
            if self._begun:
                self._db.execute("COMMIT")
        except BaseException:
            self._forget_recent()  # it has what is not written now
            if self._begun:
                self._db.execute("ROLLBACK")
            raise
        finally:
            self._inside = False
            self._subscribers.clear()
            self._lines.clear()

    def _begin(self) -> None:
        """Write what waits, in this transaction, so that statements of other kinds may follow."""
        if not self._inside:
            return
        if not self._begun:
            self._db.execute("BEGIN IMMEDIATE")
            self._begun = True
        self._write()

    def _write(self) -> None:
        """Write what waits in one statement."""
        pairs = itertools.zip_longest(self._subscribers, self._lines)
        rows = [(subscriber or _NO_SUBSCRIBER) + (line or _NO_LINE) for subscriber, line in pairs]
        if rows:
            self._subscribers.clear()
            self._lines.clear()
            words = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(rows))
            self._db.execute(f"INSERT INTO together VALUES {words}", list(itertools.chain.from_iterable(rows)))

    def _add(self, waiting: list[Any], row: tuple[Any, ...]) -> None:
        """Write a row, in its turn."""
        waiting.append(row)
        if not self._inside:
            self._write()
        elif len(waiting) >= MOST_TOGETHER:
            self._begin()

    def _remember_recent(self, indices: Sequence[int], messages: Sequence[bytes]) -> None:
        if self._recent_bytes > RECENT_BYTES:
            self._begin()  # what waits will be looked for in the store
            self._forget_recent()
        replaced = map(self._recent.get, indices, itertools.repeat(b""))
        self._recent_bytes += sum(map(len, messages)) - sum(map(len, replaced))
        self._recent.update(zip(indices, messages, strict=True))

    def _forget_recent(self) -> None:
        self._recent.clear()
        self._recent_bytes = 0

    # ---- what belongs to the whole

    def bind(self, device: str) -> None:
        """Note for which device this is, or raise UserError when it is of another one. Earlier versions have noted the beginning only."""
        (known,) = self._db.execute("SELECT value FROM meta WHERE key = 'device'").fetchone() or (None,)
        if known is None or device.startswith(f"{known}, "):
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('device', ?)", (device,))
        elif known != device:
            raise UserError(f"{self.path}: is the store of another device ({known}; this one is {device})")

    def revision(self) -> int:
        """Return the version of what was noted last."""
        (found,) = self._db.execute("SELECT value FROM meta WHERE key = 'revision'").fetchone() or (0,)
        return int(found)

    def set_revision(self, revision: int) -> None:
        """Note a version that no message has any more."""
        self._begin()
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('revision', ?)", (revision,))

    # ---- subscribers

    def put(self, indices: Sequence[int], messages: Sequence[bytes], came: Sequence[int]) -> None:
        """Write subscribers, in place of those at the same index; `came`: the versions that made them."""
        few = MOST_TOGETHER // 2
        for row in zip(indices[:few], messages[:few], came[:few], strict=True):
            self._add(self._subscribers, row)
        self._remember_recent(indices[:few], messages[:few])
        for begin in range(few, len(indices), MOST_TOGETHER):
            some = slice(begin, begin + MOST_TOGETHER)
            self._begin()
            self._remember_recent(indices[some], messages[some])
            values: list[Any] = [None] * (3 * len(indices[some]))
            values[::3], values[1::3], values[2::3] = indices[some], messages[some], came[some]
            words = ", ".join(["(?, ?, ?)"] * len(indices[some]))
            self._db.execute(f"INSERT OR REPLACE INTO subscriber VALUES {words}", values)

    def delete(self, indices: Iterable[int]) -> None:
        """Take subscribers away, and remember that their places are empty."""
        ids = [(index,) for index in indices]
        self._begin()
        for (index,) in ids:
            self._recent_bytes -= len(self._recent.pop(index, b""))
        self._db.executemany("DELETE FROM subscriber WHERE idx = ?", ids)
        self._db.executemany("INSERT OR IGNORE INTO retired VALUES (?)", ids)

    def occupy(self, indices: Iterable[int]) -> None:
        """Forget that some places are empty."""
        if ids := [(index,) for index in indices]:
            self._begin()
            self._db.executemany("DELETE FROM retired WHERE idx = ?", ids)

    def get(self, index: int) -> subscribers_pb2.Subscriber:
        """Return the subscriber at an index that has one."""
        return subscribers_pb2.Subscriber.FromString(self.message(index))

    def message(self, index: int) -> bytes:
        """Return its message, unread."""
        blob = self._recent.get(index)
        if blob is None:
            (blob,) = self._db.execute("SELECT intent FROM subscriber WHERE idx = ?", (index,)).fetchone()
            self._remember_recent([index], [blob])
        return blob

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield the indices that have a subscriber, in their order, and its message, unread."""
        for index, blob in self._db.execute("SELECT idx, intent FROM subscriber ORDER BY idx"):
            self._remember_recent([index], [blob])
            yield index, blob

    def subscribers(self) -> Iterator[subscribers_pb2.Subscriber]:
        """Yield all, by index."""
        for _, blob in self.messages():
            yield subscribers_pb2.Subscriber.FromString(blob)

    def came(self) -> dict[int, int]:
        """Return the versions that made them, by index; 0 of what an earlier Penstock has noted."""
        return dict(self._db.execute("SELECT idx, came FROM subscriber"))

    def retired(self) -> list[int]:
        """Return the places that had a subscriber and are empty."""
        return [index for (index,) in self._db.execute("SELECT idx FROM retired ORDER BY idx")]

    # ---- headers

    def keys_go(self, keys: Iterable[int]) -> None:
        """Remember keys that may be in the device and are not intended."""
        if rows := [(key.to_bytes(KEY_BYTES, "big"),) for key in keys]:
            self._begin()
            self._db.executemany("INSERT OR IGNORE INTO gone_key VALUES (?)", rows)

    def keys_are_gone(self, keys: Iterable[int]) -> None:
        """Forget such keys."""
        if rows := [(key.to_bytes(KEY_BYTES, "big"),) for key in keys]:
            self._begin()
            self._db.executemany("DELETE FROM gone_key WHERE key = ?", rows)

    def gone_keys(self) -> list[int]:
        """Return them."""
        return [int.from_bytes(key, "big") for (key,) in self._db.execute("SELECT key FROM gone_key")]

    def headers(self) -> headers_pb2.HeaderSettings | None:
        """Return how queues are found in headers, if somebody has said."""
        found = self._db.execute("SELECT intent FROM parent WHERE level = 'headers'").fetchone()
        return headers_pb2.HeaderSettings.FromString(found[0]) if found else None

    def seed(self) -> int:
        """Return what the device's hash is made from: drawn once, since who knows it can crowd the table."""
        (found,) = self._db.execute("SELECT value FROM meta WHERE key = 'seed'").fetchone() or (None,)
        if found is None:
            found = int.from_bytes(os.urandom(7), "big")
            self._db.execute("INSERT INTO meta VALUES ('seed', ?)", (found,))
        return int(found)

    # ---- nodes and ports

    def put_parent(self, level: str, index: int, version: int, message: bytes) -> None:
        """Write a node or port."""
        self._begin()
        self._db.execute("INSERT OR REPLACE INTO parent VALUES (?, ?, ?, ?)", (level, index, version, message))

    def delete_parent(self, level: str, index: int) -> None:
        """Take a node or port away."""
        self._begin()
        self._db.execute("DELETE FROM parent WHERE level = ? AND idx = ?", (level, index))

    def nodes(self) -> list[hierarchy_pb2.Node]:
        """Return the nodes that were set, by index."""
        found = self._db.execute("SELECT intent FROM parent WHERE level = 'node' ORDER BY idx")
        nodes = [hierarchy_pb2.Node.FromString(blob) for (blob,) in found]
        for node in nodes:
            node.port = node.port  # an earlier version has left 0 out
        return nodes

    def ports(self) -> list[hierarchy_pb2.Port]:
        """Return the ports that were set, by index."""
        found = self._db.execute("SELECT intent FROM parent WHERE level = 'port' ORDER BY idx")
        return [hierarchy_pb2.Port.FromString(blob) for (blob,) in found]

    def plans(self) -> list[tuple[int, plans_pb2.Plan]]:
        """Return the plans with their places."""
        found = self._db.execute("SELECT idx, intent FROM parent WHERE level = 'plan' ORDER BY idx")
        return [(place, plans_pb2.Plan.FromString(blob)) for place, blob in found]

    # ---- requests, audit, counters

    def answer(self, request: str) -> tuple[bytes, bytes] | None:
        """Return digest and answer of a request that was done within the last day, or is one of the last KEPT_ANSWERS."""
        return self._db.execute("SELECT digest, answer FROM request WHERE id = ?", (request,)).fetchone()

    def remember(self, request: str, digest: bytes, answer: bytes) -> None:
        """Keep the answer to a request, and forget old ones: their age is of a clock that may be set, so their number counts as well."""
        self._begin()
        now = time.time()
        (number,) = self._db.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM request").fetchone()
        oldest = "SELECT number, at FROM request ORDER BY number LIMIT 64"
        old = f"DELETE FROM request WHERE number IN (SELECT number FROM ({oldest}) WHERE number <= ? AND (at < ? OR number <= ?))"
        self._db.execute(old, (number - KEPT_ANSWERS, now - DAY_SECONDS, number - MOST_ANSWERS))
        self._db.execute("INSERT OR REPLACE INTO request VALUES (?, ?, ?, ?, ?)", (request, digest, now, answer, number))

    def forget(self, request: str) -> None:
        """Forget a request, for it was taken back."""
        self._begin()
        self._db.execute("DELETE FROM request WHERE id = ?", (request,))

    def audit(self, who: str, method: str, what: str, status: str) -> int:
        """Note a change, or what was refused: who, what, and how it went; and forget what is too much, or too old. Returns the line's
        number."""
        self._line += 1
        line = (self._line, _now(), _cut(who, MAX_WHO), _cut(method, MAX_WHO), _cut(what, MAX_WHAT), status)
        self._add(self._lines, line)
        if self._line % LOOK_LINES == 0:
            self._begin()
            self._rotate()
        return self._line

    def audit_more(self, line: int, what: str) -> None:
        """Say more of what was changed in a line that is there."""
        self._begin()
        self._db.execute("UPDATE audit SET what = ? WHERE id = ?", (_cut(what, MAX_WHAT), line))

    def _rotate(self) -> None:
        oldest = _now(time.time() - LOG_DAYS * DAY_SECONDS)
        for table, most in KEPT_LINES.items():
            behind = f"(SELECT id FROM {table} ORDER BY id DESC LIMIT 1 OFFSET ?)"
            self._db.execute(f"DELETE FROM {table} WHERE id <= {behind}", (most,))
            self._db.execute(f"DELETE FROM {table} WHERE id <= {behind} AND at < ?", (LEAST_LINES, oldest))

    def audited(self, count: int, since: str = "", who: str = "", noun: str = "") -> Sequence[tuple[str, str, str, str, str]]:
        """Return the last changes and what was refused, the newest first: time, who, method, what, status. Unless empty, `since`: of this
        time and later; `who`: of this name; `noun` (letters): of calls of this service, in singular or plural, and of the page."""
        noun = noun.lower().removesuffix("s")
        rules = [("at >= ?", since), ("who = ?", who), ("(method LIKE ? OR method LIKE ?)", noun)]
        given = [(rule, word) for rule, word in rules if word]
        values = [
            value for rule, word in given for value in ((f"/penstock.v1.{word}%/%", f"POST /api/{word}%") if rule[0] == "(" else (word,))
        ]
        where = f"WHERE {' AND '.join(rule for rule, _ in given)}" if given else ""
        both = f"SELECT * FROM audit {where} UNION ALL SELECT * FROM refused {where}"
        found = self._db.execute(f"SELECT at, who, method, what, status FROM ({both}) ORDER BY id DESC LIMIT ?", (*values, *values, count))
        return found.fetchall()

    def checkpoint(self) -> None:
        """Write SQLite's log back into the file; its own file keeps its size."""
        self._db.execute("PRAGMA wal_checkpoint(RESTART)")

    def backup(self, path: Path) -> None:
        """Copy all that is durable to a new file, which is whole without a log beside it, and no larger than it must be. Raises
        sqlite3.Error."""
        self._db.execute("VACUUM INTO ?", (str(path),))

    def keep(self, name: str, value: bytes) -> None:
        """Keep counters."""
        self._db.execute("INSERT OR REPLACE INTO counters VALUES (?, ?)", (name, value))

    def kept(self, name: str) -> bytes | None:
        """Return counters that were kept."""
        found = self._db.execute("SELECT value FROM counters WHERE name = ?", (name,)).fetchone()
        return found[0] if found else None

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _now(at: float | None = None) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() if at is None else at))


def _cut(words: str, most: int) -> str:
    return words if len(words) * 4 <= most else words.encode()[:most].decode(errors="ignore")
