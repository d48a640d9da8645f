"""What is kept of a sweep: one file for each finished run, in the folder `runs` of the out folder.

A file appears whole or not at all, named by the hashes of what was run and of the sources it was run with. Kept is every run that printed
a result; one that printed none (a refusal, a build that failed, a kill) is tried again by the next call.
"""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from penstock.errors import UserError
from penstock.sweeps.execute import Outcome
from penstock.sweeps.point import Point

SCHEMA = "penstock.sweep-run/1"
FOLDER = "runs"
PARTIAL = ".partial-"


class Store:
    """The kept runs of an out folder. One sweep at a time works there."""

    def __init__(self, out: Path, sources: str) -> None:
        """Raises UserError when another sweep works there, or nothing can be written."""
        self.folder = out / FOLDER
        self.sources = sources
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / "lock").open("a")
        except OSError as error:
            raise UserError(f"--out {out}: cannot be written: {(error.strerror or str(error)).lower()}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise UserError(f"--out {out}: another sweep works there now; wait until it is done, or give another folder") from None
        for path in self.folder.glob(f"{PARTIAL}*"):  # of a call that was killed while it wrote
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let others work there."""
        self._lock.close()

    def find(self, key: str, any_sources: bool = False) -> Path | None:
        """Return the file of a finished run, of these sources; with `any_sources` of any, the youngest, when there is none of these."""
        path = self.folder / f"{key}-{self.sources}.json"
        if path.exists():
            return path
        others = sorted(self.folder.glob(f"{key}-*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name)) if any_sources else []
        return others[-1] if others else None

    def keys_of_others(self) -> set[str]:
        """Return the keys of the runs that are kept of other sources."""
        names = (path.stem.partition("-") for path in self.folder.glob("*-*.json"))
        return {key for key, _, sources in names if sources != self.sources}

    def keep(self, key: str, point: Point, outcome: Outcome) -> Path:
        """Keep a finished run, whole or not at all, and return its file."""
        path = self.folder / f"{key}-{self.sources}.json"
        content = {
            "schema": SCHEMA,
            "key": key,
            "sources": self.sources,
            "command": ["penstock", *point.arguments()],
            "error": outcome.error,
            "result": outcome.result,
        }
        partial = self.folder / f"{PARTIAL}{path.name}"
        with partial.open("w", encoding="utf-8") as file:
            json.dump(content, file, allow_nan=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        return path


def load(path: Path) -> tuple[Outcome, str] | None:
    """Return a kept run and its sources, None when the file is damaged."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        if content["schema"] == SCHEMA and isinstance(content["result"], dict):
            return Outcome(content["result"], str(content["error"])), str(content["sources"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None
