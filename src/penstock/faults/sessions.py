"""Programs that plant and test, each in a session of its own that ends with its call, however the call ends."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import BinaryIO


class Stopped(RuntimeError):
    """All sessions were told to end (`Sessions.end_all`)."""


class Sessions:
    """The sessions that run now, of any number of threads.

    Every child keeps `lock`, an open file, too: should this process be killed outright, the next one waits until the tests have ended.
    """

    def __init__(self, lock: int | None = None) -> None:
        self._keep_open = () if lock is None else (lock,)
        self._mutex = threading.Lock()
        self._leaders: set[int] = set()
        self._stopping = False

    def call(self, command: list[str], *, cwd: Path, env: dict[str, str], log: BinaryIO) -> int:
        """Run `command` to its end and return its exit status; raise Stopped where `end_all` ended it."""
        with self._mutex:
            if self._stopping:
                raise Stopped
            child = subprocess.Popen(
                command, cwd=cwd, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
                pass_fds=self._keep_open,
            )  # fmt: skip
            self._leaders.add(child.pid)
        try:
            status = child.wait()
        finally:
            _end(child.pid)
            child.wait()
            with self._mutex:
                self._leaders.discard(child.pid)
        if self._stopping:
            raise Stopped
        return status

    def go_on(self) -> None:
        """Raise Stopped after `end_all`."""
        if self._stopping:
            raise Stopped

    def end_all(self) -> None:
        """End what runs and begin nothing more."""
        with self._mutex:
            self._stopping = True
            leaders = list(self._leaders)
        for leader in leaders:
            _end(leader)


def _end(leader: int) -> None:
    """Kill every process of a session. Its process groups are not enough to go by: children have groups of their own."""
    while True:
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                state, _, _, session = path.read_text().rpartition(")")[2].split()[:4]
                if int(session) == leader and state not in "ZX":
                    found.append(int(path.parent.name))
        if not found:
            return
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
