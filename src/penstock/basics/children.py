"""Programs that a command starts: each in a process group of its own, which ends with the command, whatever ends that.

An exception (Ctrl-C, SIGTERM and SIGHUP are one, see `penstock.command_line.app`) ends the group of the call that it meets, and `end_all`
those of all threads. A process that is killed cannot do that: for it a minder, started with the first child, reads a pipe that ends with
this process. A process that is forked has children and a minder of its own: its numbers may be those of another namespace, in which its
parent's minder would end strangers.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from penstock.errors import UserError
from penstock.paths import INSTALLED

GRACE_SECONDS = 2.0  # between SIGTERM, at which compilers and make remove what is half done, and SIGKILL
TICK_SECONDS = 0.5

_MINDER = """
import os, signal, sys, time
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for number in (signal.SIGTERM, signal.SIGKILL):
    for group in groups:
        try:
            os.killpg(group, number)
        except OSError:
            pass
    time.sleep(1)
"""

# A child waits until the minder knows it: one whose command is killed in between begins nothing.
_GATE = 'read -r _ && exec "$@" </dev/null'


class Stopped(RuntimeError):
    """All children were told to end (`end_all`), so no further one is started."""


class _Groups:
    """The groups that run now."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: set[int] = set()
        self.stopping = False
        self._minder: subprocess.Popen[bytes] | None = None

    def enter(self, group: int) -> None:
        with self.lock:
            if self._minder is None:
                command = [sys.executable, "-I", "-S", "-c", _MINDER]
                nothing = subprocess.DEVNULL
                self._minder = subprocess.Popen(
                    command, bufsize=0, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, start_new_session=True
                )
            self.running.add(group)
            self._tell(f"+{group}\n")

    def leave(self, group: int) -> None:
        with self.lock:
            if group in self.running:
                self.running.discard(group)
                self._tell(f"-{group}\n")

    def forget(self) -> None:
        """Be without groups and minder, in a process that has just been forked: both are its parent's."""
        minder, self._minder = self._minder, None
        self.lock, self.running, self.stopping = threading.Lock(), set(), False
        if minder is not None and minder.stdin is not None:
            minder.stdin.close()  # it ends with the parent, whatever this process does
            minder.returncode = 0  # nobody waits for it here

    def _tell(self, line: str) -> None:
        assert self._minder is not None and self._minder.stdin is not None
        with contextlib.suppress(OSError):  # the minder was killed: the rest goes on without it
            self._minder.stdin.write(line.encode())


_GROUPS = _Groups()
os.register_at_fork(after_in_child=_GROUPS.forget)


@contextlib.contextmanager
def _started(command: Sequence[str], env: Mapping[str, str] | None, **options: object) -> Iterator[subprocess.Popen[str]]:
    """Yield a running program; whatever happens, nothing of its group is left afterwards."""
    with _at_the_gate(command, env, **options) as process:
        _let_begin(process)
        yield process


def _let_begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    with process.stdin as go:
        go.write("\n")
    process.stdin = None


@contextlib.contextmanager
def _at_the_gate(command: Sequence[str], env: Mapping[str, str] | None, **options: object) -> Iterator[subprocess.Popen[str]]:
    """Yield a program that has not begun yet."""
    name = Path(command[0]).name
    if _GROUPS.stopping:
        raise Stopped(f"{name} was not started: the command ends")
    path = (env or os.environ).get("PATH")
    if not shutil.which(command[0], path=path):
        again = "install penstock again" if INSTALLED else "remove .venv, and ./penstock sets it up anew"
        raise UserError(f"the program {command[0]} is not there; {again}")
    gate = ["/bin/sh", "-c", _GATE, "sh", *command]
    process = subprocess.Popen(gate, process_group=0, stdin=subprocess.PIPE, env=env, **options)  # type: ignore[call-overload]
    try:
        _GROUPS.enter(process.pid)
        if _GROUPS.stopping:
            raise Stopped(f"{name} was ended with the command")
        yield process
    except BaseException:
        _end(process)
        raise
    finally:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)  # what the program has left behind
        process.wait()
        _GROUPS.leave(process.pid)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGTERM)
    end = time.monotonic() + GRACE_SECONDS
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)


def run(
    command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None, tick: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and return its status and words; `tick` is called every half second meanwhile.

    Raises UserError when there is no such program, Stopped when `end_all` was called.
    """
    pipe = subprocess.PIPE
    options = {"cwd": cwd, "stdout": pipe, "stderr": pipe, "text": True, "errors": "replace"}
    with _started(command, env, **options) as process:
        while True:
            try:
                out, err = process.communicate(timeout=TICK_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if tick:
                    tick()
        if _GROUPS.stopping:
            raise Stopped(f"{Path(command[0]).name} was ended with the command")
    return subprocess.CompletedProcess(list(command), process.returncode, out, err)


@contextlib.contextmanager
def beside(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: TextIO | int = subprocess.DEVNULL,
    stderr: TextIO | int = subprocess.DEVNULL,
) -> Iterator[subprocess.Popen[str]]:
    """Run a program beside what is done in the `with`, and end it there."""
    with _started(command, env, cwd=cwd, stdout=stdout, stderr=stderr, text=True) as process:
        yield process


def hand_over(command: Sequence[str], env: Mapping[str, str] | None = None) -> int:
    """Run a program that speaks for itself on this terminal and return its exit status; Ctrl-C is passed on."""
    with _at_the_gate(command, env, text=True) as process:
        try:  # from before it begins: what it has said so far and its last words are not lost
            _let_begin(process)
            return process.wait()
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGINT)
            process.wait()
            return 130


def end_all() -> None:
    """End the children of all threads, and start no further ones until `begin_again`."""
    with _GROUPS.lock:
        _GROUPS.stopping = True
        for group in _GROUPS.running:
            with contextlib.suppress(OSError):
                os.killpg(group, signal.SIGTERM)


def begin_again() -> None:
    """Allow children once more, when the threads of `end_all` are gone."""
    _GROUPS.stopping = False
