"""Whose call is worked on next: a client that asks for much has its share, and no more, when others ask as well.

What Python does for a call goes on under one lock of the interpreter, so calls that are worked on at once only take turns in smaller
pieces. A few have a turn at a time. While several clients want something none of them may have all turns, and a turn goes to the one that
has worked least, by processor time (start-time fair queueing: a client that comes anew begins where the others are).
"""

import contextlib
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass

AT_ONCE = 2  # turns
RECENT_SECONDS = 0.1  # so long a client that has gone without a call keeps others from having all turns
MOST_CLIENTS = 512  # whose work is remembered


@dataclass
class _Turn:
    client: str
    given: threading.Lock  # held until it is given
    begin: float = 0.0  # processor time of the thread


class Turns:
    """Turns of clients."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._lock = threading.Lock()
        self._worked: dict[str, float] = {}  # virtual time: processor seconds, not before `_now`
        self._seen: dict[str, float] = {}  # time.monotonic() of the last turn that was asked for or given back
        self._now = 0.0
        self._waiting: dict[str, deque[_Turn]] = {}
        self._running: Counter[str] = Counter()
        self._of_thread = threading.local()

    @contextlib.contextmanager
    def one(self, client: str) -> Iterator[None]:
        """Have a turn inside of the `with`, unless it is left there."""
        self.take(client)
        try:
            yield
        finally:
            self.leave()

    def leave(self) -> None:
        """Give the turn of this thread back, if it has one: it is going to wait, or is done."""
        turn: _Turn | None = getattr(self._of_thread, "turn", None)
        if turn is None:
            return
        self._of_thread.turn = None
        worked = time.thread_time() - turn.begin
        with self._lock:
            self._worked[turn.client] = self._worked.get(turn.client, self._now) + worked
            self._running[turn.client] -= 1
            if not self._running[turn.client]:
                del self._running[turn.client]
            self._seen[turn.client] = time.monotonic()
            self._give()

    def take(self, client: str) -> None:
        """Wait for a turn, and have it until this thread leaves it."""
        turn = _Turn(client, threading.Lock())
        turn.given.acquire()
        with self._lock:
            if len(self._seen) > MOST_CLIENTS:
                self._seen.clear()
                self._worked.clear()
            self._seen[client] = time.monotonic()
            if client not in self._waiting and client not in self._running:
                self._worked[client] = max(self._worked.get(client, 0.0), self._now)
            self._waiting.setdefault(client, deque()).append(turn)
            self._give()
        turn.given.acquire()
        turn.begin = time.thread_time()
        self._of_thread.turn = turn

    def _give(self) -> None:
        """Give free turns to those that wait. Called with the lock held."""
        recent = time.monotonic() - RECENT_SECONDS
        while self._waiting and self._running.total() < self._at_once:
            wanting = {client for client, seen in self._seen.items() if seen > recent} | self._running.keys() | self._waiting.keys()
            most = self._at_once if len(wanting) == 1 else max(1, self._at_once - 1)
            able = [client for client in self._waiting if self._running[client] < most]
            if not able:
                return
            client = min(able, key=lambda one: self._worked.get(one, 0.0))
            turns = self._waiting[client]
            turn = turns.popleft()
            if not turns:
                del self._waiting[client]
            self._now = max(self._now, self._worked.get(client, 0.0))
            self._running[client] += 1
            turn.given.release()
