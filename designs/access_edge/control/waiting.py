"""Changes of several callers that go to store and device together: one transaction, one fsync, one program.

Whoever comes first leads: it does all that waits, its own and that of others, and hands over to the first of those that have come
meanwhile. So a call waits for the disk at most twice, and a hundred of them at once cost little more than one.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.designs.access_edge.control.problems import Problem
from penstock.v1 import common_pb2, subscribers_pb2

Subscriber = subscribers_pb2.Subscriber
Maker = Callable[[], Subscriber | str]
MOST_TOGETHER, MOST_OF_ONE = 64, 8  # requests; and of one client, where others wait as well


@dataclass
class Failure:
    """What became of an item that was not done."""

    item: int
    problem: Problem


@dataclass
class Done:
    """What became of some changes."""

    failures: list[Failure] = field(default_factory=list)
    subscribers: list[Subscriber] = field(default_factory=list)  # as they are now, in the order asked, without those that failed
    applied: common_pb2.Applied = field(default_factory=common_pb2.Applied)
    answer: bytes | None = None  # of the first time, where a request was done before


@dataclass
class Entry:
    """Who does what: a line of the audit log."""

    who: str
    method: str
    what: str
    client: str = ""  # whose turn it is
    # Whether the caller is still there: no deadline has passed, nothing is cancelled. Asked during the call, and let go with it: gRPC
    # refuses calls of a client when too many that have ended are still held.
    waits: Callable[[], bool] | None = None
    logged: bool = False
    line: int = 0  # its number in the log, once it is there
    more: str = ""  # how it went, before `what`: known when the line is there already


@dataclass
class Once:
    """A request that may come twice, and is done once."""

    ident: str
    digest: bytes
    answer_of: Callable[[Done], Any]  # the message to answer with


@dataclass
class Request:
    """Changes of one caller that are done together, and what became of them: `problem`, or `done`."""

    makers: Sequence[Maker]
    all_or_nothing: bool
    done: Done
    once: Once | None = None
    entry: Entry | None = None
    batch: Any = None  # of plant.py, once it is made
    finished: bool = False
    problem: BaseException | None = None
    told: "threading.Lock | None" = None  # let go when it is finished, or leads; None: it has led from the first on

    def check(self) -> None:
        """Raise what went wrong, if anything did, and have it no longer: it has the frames that it went through, and so this request. What
        the request holds would wait for the collector of cycles."""
        problem, self.problem = self.problem, None
        if problem:
            try:
                raise problem
            finally:
                del problem  # it has this frame, too


class Waiting:
    """Requests that wait for somebody to do them, by client: each has its turn, however many another one has waiting."""

    def __init__(self, do: Callable[[list[Request]], int]) -> None:
        """`do` is called by one thread at a time, and finishes requests: at least the first one. It returns how many, from the front."""
        self._do = do
        self._requests: dict[str, deque[Request]] = {}  # the client whose turn is next is the first
        self._lock = threading.Lock()
        self._led = False

    def join(self, request: Request) -> None:
        """Return when it is finished."""
        with self._lock:
            self._requests.setdefault(_client(request), deque()).append(request)
            lead, self._led = not self._led, True
            if not lead:
                request.told = threading.Lock()
                request.told.acquire()
        if request.told:
            request.told.acquire()
            if request.finished:
                return
        with self._lock:
            group = self._group()
        count = len(group)
        try:
            count = self._do(group)
        except BaseException as error:  # nobody is told that it is done
            for one in group:
                one.problem = one.problem or error
            raise
        finally:
            with self._lock:
                for one in reversed(group[count:]):
                    self._requests.setdefault(_client(one), deque()).appendleft(one)
                following = next(iter(self._requests.values()))[0] if self._requests else None
                self._led = following is not None
            for one in group[:count]:
                one.finished = True
                if one.told:
                    one.told.release()
            if following and following.told:
                following.told.release()

    def _group(self) -> list[Request]:
        """Take what is done together: some of each client, and first of those that were not in the last group."""
        each = MOST_TOGETHER if len(self._requests) == 1 else MOST_OF_ONE
        group: list[Request] = []
        for client in list(self._requests):
            some = self._requests.pop(client)
            while some and len(group) < MOST_TOGETHER and each:
                group.append(some.popleft())
                each -= 1
            each = MOST_OF_ONE
            if some:
                self._requests[client] = some
        return group


def _client(request: Request) -> str:
    return request.entry.client if request.entry else ""
