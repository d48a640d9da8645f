"""Signals that end a command: Ctrl-C, SIGTERM and SIGHUP are one exception, on whose way children end and what is half made goes."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CALM_SECONDS = 1.0  # after a signal, in which a further one does not disturb the tidying up
WAKE = signal.SIGURG  # which nothing else here uses, and which is ignored where no handler is
WAKE_SECONDS, WAKE_TRIES = 0.05, 40


class _Ended:
    """What the handler notes. Plain numbers: a lock in a handler could be one that the main thread holds."""

    def __init__(self) -> None:
        self.first = 0.0  # when the first signal came
        self.heard = 0  # how often the handler ran
        self.over = False
        self.number = 0  # of the first signal

    def interrupt(self, number: int, _frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, but not while the first one still has its second for tidying up."""
        self.heard += 1
        self.number = self.number or number
        now = time.monotonic()
        calm = now - self.first < CALM_SECONDS
        self.first = self.first or now
        if not calm:
            raise KeyboardInterrupt


_latest = _Ended()


def first_signal() -> int:
    """Return the number of the signal that ends the command, 0: none has come."""
    return _latest.number


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """Let each of ENDING raise KeyboardInterrupt in the main thread; those that the caller ignores (`nohup`) stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    global _latest
    ended = _latest = _Ended()
    handlers = {number: signal.getsignal(number) for number in ENDING}
    taken = {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}
    for number in taken:
        signal.signal(number, ended.interrupt)
    try:
        with _waking(ended):
            yield
    finally:
        for number, handler in taken.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _waking(ended: _Ended) -> Iterator[None]:
    """Wake the main thread for a signal that has met another one.

    The kernel may give a signal to any thread. Python runs handlers in the main thread alone, and that one hears of nothing while it waits
    for a lock, a queue or a pool, perhaps for ever. A signal of its own makes the wait look.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    handler = signal.signal(WAKE, lambda _number, _frame: None)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    thread = threading.Thread(target=_pass_on, args=(reader, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        ended.over = True
        os.close(writer)
        thread.join()
        os.close(reader)
        signal.signal(WAKE, handler)


def _pass_on(reader: int, ended: _Ended) -> None:
    """Read the numbers of signals as they come, until the other end is closed; wake the main thread until its handler was there."""
    main = threading.main_thread().ident
    assert main is not None
    heard = 0
    while numbers := os.read(reader, 1):
        if numbers[0] not in ENDING:
            continue
        for _ in range(WAKE_TRIES):  # not for ever: a process forked from this one, which shares the pipe, may have been meant
            if ended.heard > heard or ended.over:
                break
            signal.pthread_kill(main, WAKE)
            time.sleep(WAKE_SECONDS)
        heard = ended.heard
