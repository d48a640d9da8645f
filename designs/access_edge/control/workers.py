"""Threads for calls: one that is idle is woken for a call, and no other one.

ThreadPoolExecutor keeps what waits in a queue whose reader wakes the next reader, in case there is more: with a thread for each call there
never is, so for each call one thread woke up for nothing and asked for the interpreter's lock while the call had it.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Workers(Executor):
    """As many threads as there have been calls at once: what is submitted never waits."""

    def __init__(self, name: str) -> None:
        """`name`: of the threads."""
        self._name, self._ended = name, False
        self._idle: list[_Worker] = []  # the last one has become idle last, and is the next: the processor still knows what it has used

    def submit(self, do: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have it done by a thread."""
        future: Future[T] = Future()
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker()
            threading.Thread(target=self._run, args=(worker,), name=self._name).start()
        worker.give(lambda: _do(future, do, *args, **kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let each thread end when it is idle; nothing is waited for."""
        self._ended = True
        while self._idle:
            self._idle.pop().give(None)

    def _run(self, worker: "_Worker") -> None:
        while worker.work():
            self._idle.append(worker)
            if self._ended:
                self.shutdown()


class _Worker:
    """What a thread does next."""

    def __init__(self) -> None:
        self._next: Callable[[], None] | None = None
        self._given = threading.Lock()  # held until there is something
        self._given.acquire()

    def give(self, do: Callable[[], None] | None) -> None:
        """Have it done next; None: nothing more."""
        self._next = do
        self._given.release()

    def work(self) -> bool:
        """Wait for what is next, do it, and return whether there was anything."""
        self._given.acquire()
        do, self._next = self._next, None
        if do:
            do()
        return do is not None


def _do(future: Future[T], do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> None:
    if not future.set_running_or_notify_cancel():
        return  # it was cancelled
    try:
        future.set_result(do(*args, **kwargs))
    except BaseException as error:
        future.set_exception(error)
