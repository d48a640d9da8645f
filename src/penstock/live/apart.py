"""A function in namespaces of its own: networks, mounts and processes. Whatever ends it, nothing is left.

The function runs as the first process of a namespace of processes, and the kernel ends all others with that one, also those that have left
their group or their parents; networks are gone with the last process in them. A process in between waits for it, and each of the two is
killed with its parent: so is all of it, when the command is killed.
"""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from penstock.errors import UserError
from penstock.network import spaces

CLONE_NEWPID = 0x20000000
PR_SET_PDEATHSIG = 1
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Handlers = dict[signal.Signals, Callable[[int, FrameType | None], Any] | int | None]  # what is done at signals

_LIBC = ctypes.CDLL(None, use_errno=True)


def need() -> None:
    """Raise UserError where there can be no namespaces: what is missing, and what to do without."""
    import shutil

    without = "without live traffic there is `./penstock run`, with simulated TCP in scenarios/tcp_codel.yaml"
    if shutil.which("ip") is None:
        raise UserError(f"live: ip is not on the PATH: install iproute2, with which hosts are set up; {without}")
    if problem := spaces.problem():
        raise UserError(f"live: hosts cannot be made here: {problem}; {without}")


def _die_with_parent(parent: int) -> None:
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it is gone already
        os._exit(1)


def run(work: Callable[[], int]) -> int:
    """Let `work` run apart and return its exit status. Signals that ask to end reach it, wherever they come from; threads do not.

    Raises UserError where the kernel refuses.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    me = os.getpid()
    between = os.fork()
    if between == 0:
        os.close(reading)
        _between(work, me, writing)
    os.close(writing)
    heard = _pass_on(between)
    with os.fdopen(reading) as words:
        refused = words.read()
    status = _wait(between)
    _stop_passing(heard)
    if refused:
        raise UserError(f"live: {refused}")
    return status


def _between(work: Callable[[], int], parent: int, writing: int) -> None:
    """The process in between; does not return."""
    status = 1
    try:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # they are for the one that it waits for
        _die_with_parent(parent)
        try:
            spaces.enter_own()
            if _LIBC.unshare(CLONE_NEWPID) != 0:
                reason = os.strerror(ctypes.get_errno())
                raise spaces.Refused(f"the kernel gives no namespace of processes ({reason})")
        except (spaces.Refused, OSError) as error:
            os.write(writing, str(error).encode())
            os._exit(2)
        me = os.getpid()
        first = os.fork()
        if first == 0:
            os.close(writing)
            _first(work, me)
        os.close(writing)
        _forward_to(first)
        status = _wait(first)
    finally:
        os._exit(status)


def _first(work: Callable[[], int], parent: int) -> None:
    """The first process of the namespace; does not return."""
    status = 1
    try:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # the parent has another number from here: 0
        for number in SIGNALS:
            signal.signal(number, signal.default_int_handler)
        with contextlib.suppress(OSError):
            spaces.call("mount", b"proc", b"/proc", b"proc", 0, None)
        status = work()
    except KeyboardInterrupt:
        status = 130
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(status)


def _wait(child: int) -> int:
    while True:
        try:
            _, status = os.waitpid(child, 0)
            break
        except InterruptedError:
            continue
    return os.waitstatus_to_exitcode(status) if not os.WIFSIGNALED(status) else 128 + os.WTERMSIG(status)


def _forward_to(child: int) -> None:
    def forward(number: int, _frame: object) -> None:
        with contextlib.suppress(OSError):
            os.kill(child, number)

    for number in SIGNALS:
        signal.signal(number, forward)


def _pass_on(child: int) -> Handlers:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    _forward_to(child)
    return before


def _stop_passing(before: Handlers) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)
