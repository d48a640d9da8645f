"""What was asked for, in SQLite: one file, durable when a change is acknowledged, brought up to date by numbered migrations.

A row has the message of the noun as it was asked for, so a store outlives versions of the hardware.
"""

import contextlib
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from penstock.errors import UserError
from penstock.v1 import subscribers_pb2, tree_pb2

DAY_SECONDS = 86_400
KEPT_ANSWERS, MOST_ANSWERS = 10_000, 1_000_000  # so many are kept whatever the clock says, and so many at most
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
)

Row = tuple[int, str, int, int, bytes]  # index, name, node, version, message


class Intent:
    """The store. One writer at a time: its caller holds a lock."""

    def __init__(self, path: Path | None) -> None:
        """Open the file, or make it; None: in memory, gone with the process. Raises UserError."""
        self.path = path
        try:
            self._db = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None, timeout=5)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._migrate()
        except sqlite3.Error as error:
            raise UserError(f"{path}: {self._words(error)}") from None

    @staticmethod
    def _words(error: sqlite3.Error) -> str:
        return "another server has it" if "locked" in str(error) else f"is no store of a control plane ({error})"

    def _migrate(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > len(_MIGRATIONS):
            raise UserError(f"{self.path}: is of a later version of Penstock (store {version}, this software knows {len(_MIGRATIONS)})")
        for number in range(version, len(_MIGRATIONS)):
            self._db.executescript(f"BEGIN; {_MIGRATIONS[number]} PRAGMA user_version={number + 1}; COMMIT;")
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("COMMIT")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is done inside is durable at the end, or not done."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # ---- what belongs to the whole

    def bind(self, device: str) -> None:
        """Note for which device this is, or raise UserError when it is of another one."""
        (known,) = self._db.execute("SELECT value FROM meta WHERE key = 'device'").fetchone() or (None,)
        if known is None:
            self._db.execute("INSERT INTO meta VALUES ('device', ?)", (device,))
        elif known != device:
            raise UserError(f"{self.path}: is the store of another device ({known}; this one is {device})")

    def revision(self) -> int:
        """Return the version of what was changed last."""
        (found,) = self._db.execute("SELECT value FROM meta WHERE key = 'revision'").fetchone() or (0,)
        return int(found)

    def set_revision(self, revision: int) -> None:
        """Note it."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('revision', ?)", (revision,))

    # ---- subscribers

    def put(self, rows: Iterable[Row]) -> None:
        """Write subscribers, in place of those at the same index."""
        self._db.executemany("INSERT OR REPLACE INTO subscriber VALUES (?, ?, ?, ?, ?)", rows)

    def delete(self, indices: Iterable[int]) -> None:
        """Take subscribers away, and remember that their places are empty."""
        ids = [(index,) for index in indices]
        self._db.executemany("DELETE FROM subscriber WHERE idx = ?", ids)
        self._db.executemany("INSERT OR IGNORE INTO retired VALUES (?)", ids)

    def vacate(self, indices: Iterable[int]) -> None:
        """Take the rows of subscribers away that are about to be written again."""
        self._db.executemany("DELETE FROM subscriber WHERE idx = ?", [(index,) for index in indices])

    def occupy(self, indices: Iterable[int]) -> None:
        """Forget that some places are empty."""
        self._db.executemany("DELETE FROM retired WHERE idx = ?", [(index,) for index in indices])

    def get(self, index: int) -> subscribers_pb2.Subscriber:
        """Return the subscriber at an index that has one."""
        (blob,) = self._db.execute("SELECT intent FROM subscriber WHERE idx = ?", (index,)).fetchone()
        return subscribers_pb2.Subscriber.FromString(blob)

    def subscribers(self) -> Iterator[subscribers_pb2.Subscriber]:
        """Yield all, by index."""
        for (blob,) in self._db.execute("SELECT intent FROM subscriber ORDER BY idx"):
            yield subscribers_pb2.Subscriber.FromString(blob)

    def page(self, after: str, count: int, node: int | None, contains: str) -> list[subscribers_pb2.Subscriber]:
        """Return at most `count` subscribers behind a name, by name."""
        where, values = ["name > ?"], [after]
        if node is not None:
            where.append("node = ?")
            values.append(str(node))
        if contains:
            where.append("instr(name, ?) > 0")
            values.append(contains)
        text = f"SELECT intent FROM subscriber WHERE {' AND '.join(where)} ORDER BY name LIMIT ?"
        return [subscribers_pb2.Subscriber.FromString(blob) for (blob,) in self._db.execute(text, (*values, count))]

    def retired(self) -> list[int]:
        """Return the places that had a subscriber and are empty."""
        return [index for (index,) in self._db.execute("SELECT idx FROM retired ORDER BY idx")]

    # ---- nodes and ports

    def put_parent(self, level: str, index: int, version: int, message: bytes) -> None:
        """Write a node or port."""
        self._db.execute("INSERT OR REPLACE INTO parent VALUES (?, ?, ?, ?)", (level, index, version, message))

    def nodes(self) -> list[tree_pb2.Node]:
        """Return the nodes that were set, by index."""
        found = self._db.execute("SELECT intent FROM parent WHERE level = 'node' ORDER BY idx")
        return [tree_pb2.Node.FromString(blob) for (blob,) in found]

    def ports(self) -> list[tree_pb2.Port]:
        """Return the ports that were set, by index."""
        found = self._db.execute("SELECT intent FROM parent WHERE level = 'port' ORDER BY idx")
        return [tree_pb2.Port.FromString(blob) for (blob,) in found]

    # ---- requests, audit, counters

    def answer(self, request: str) -> tuple[bytes, bytes] | None:
        """Return digest and answer of a request that was done within the last day, or is one of the last KEPT_ANSWERS."""
        return self._db.execute("SELECT digest, answer FROM request WHERE id = ?", (request,)).fetchone()

    def remember(self, request: str, digest: bytes, answer: bytes) -> None:
        """Keep the answer to a request, and forget old ones: their age is of a clock that may be set, so their number counts as well."""
        now = time.time()
        (number,) = self._db.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM request").fetchone()
        oldest = "SELECT number, at FROM request ORDER BY number LIMIT 64"
        old = f"DELETE FROM request WHERE number IN (SELECT number FROM ({oldest}) WHERE number <= ? AND (at < ? OR number <= ?))"
        self._db.execute(old, (number - KEPT_ANSWERS, now - DAY_SECONDS, number - MOST_ANSWERS))
        self._db.execute("INSERT OR REPLACE INTO request VALUES (?, ?, ?, ?, ?)", (request, digest, now, answer, number))

    def audit(self, who: str, method: str, what: str, status: str) -> None:
        """Note a change: who, what, and how it went."""
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._db.execute("INSERT INTO audit (at, who, method, what, status) VALUES (?, ?, ?, ?, ?)", (at, who, method, what, status))

    def audited(self, count: int) -> Sequence[tuple[str, str, str, str, str]]:
        """Return the last changes, the newest first: time, who, method, what, status."""
        text = "SELECT at, who, method, what, status FROM audit ORDER BY id DESC LIMIT ?"
        return self._db.execute(text, (count,)).fetchall()

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
