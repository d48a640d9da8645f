"""What an application of a live run is, the end of a network in which its programs run, and how programs get there."""

import contextlib
import json
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO, TypeVar

from penstock.basics import children
from penstock.errors import UserError
from penstock.network import spaces

Answer = TypeVar("Answer")

NS = 10**9
PS_PER_NS = 1000
MS = 1e6  # ns


class End(Protocol):
    """One end of the network: a namespace in which programs run."""

    @property
    def name(self) -> str: ...

    @property
    def space(self) -> spaces.Space: ...

    @property
    def ipv4(self) -> str | None:
        """The address without prefix."""

    @property
    def ipv6(self) -> str | None:
        """The address without prefix."""


def within(space: spaces.Space, do: Callable[[], Answer]) -> Answer:
    """Do something in a namespace, and return what that returns or raise what it raises; the calling thread stays where it is.

    Namespaces are a thread's, so this is done by one that lives as long as it takes.
    """
    answer: list[Answer] = []
    raised: list[BaseException] = []

    def there() -> None:
        try:
            space.enter()
            answer.append(do())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=there, daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return answer[0]


class Program:
    """A program that runs in an end. It ends with this process, whatever ends that (`penstock.basics.children`)."""

    def __init__(self, stack: contextlib.ExitStack, process: "subprocess.Popen[str]") -> None:
        self._stack, self.process = stack, process

    def wait(self, seconds: float) -> bool:
        """Wait for its end for so long at most; return whether it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, seconds))
        return self.process.poll() is not None

    def close(self) -> None:
        """End it, and all that it has started."""
        self._stack.close()


def start_in(
    end: End,
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: TextIO | int = subprocess.DEVNULL,
    stderr: TextIO | int = subprocess.DEVNULL,
) -> Program:
    """Start a program in an end's namespace. Raises UserError where there is no such program."""
    stack = contextlib.ExitStack()
    beside = children.beside(argv, cwd=cwd, env=env, stdout=stdout, stderr=stderr)
    return Program(stack, within(end.space, lambda: stack.enter_context(beside)))


def own_program(module: str, job: Mapping[str, Any]) -> list[str]:
    """Return the command of one of `programs`, which takes its job as JSON."""
    return [sys.executable, "-P", "-m", f"penstock.live.applications.programs.{module}", json.dumps(job)]


class Speaker:
    """One of our programs in an end: it prints a line of JSON now and then, `{"ready": ...}`, `{"now": ...}`, at last `{"result": ...}`."""

    def __init__(self, end: End, module: str, job: Mapping[str, Any], folder: Path, log: str) -> None:
        self._words = (folder / f"{log}.log").open("w+")
        self._said = threading.Condition()
        self._ended = False
        self.serves = module == "serve"  # it goes on until it is told to end
        self.ready: Any = None
        self.now: dict[str, Any] = {}
        self.result: dict[str, Any] | None = None
        self._program = start_in(end, own_program(module, job), stdout=subprocess.PIPE, stderr=self._words)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._program.process.stdout is not None
        try:
            for line in self._program.process.stdout:
                with contextlib.suppress(ValueError), self._said:  # a line that is cut off
                    for key, value in json.loads(line).items():
                        setattr(self, key, value)
                    self._said.notify_all()
        except (OSError, ValueError):  # closed while it was read
            pass
        with self._said:
            self._ended = True
            self._said.notify_all()

    def await_ready(self, seconds: float) -> bool:
        """Wait until it is ready, for so long at most; return whether it is."""
        with self._said:
            self._said.wait_for(lambda: self.ready is not None or self._ended, max(0.0, seconds))
        return self.ready is not None

    def await_result(self, seconds: float) -> dict[str, Any] | None:
        """Wait for its result, for so long at most."""
        with self._said:
            self._said.wait_for(lambda: self.result is not None or self._ended, max(0.0, seconds))
        return self.result

    def hurry(self) -> None:
        """Let it end now and say its result."""
        with contextlib.suppress(OSError):
            self._program.process.terminate()

    @property
    def ended(self) -> bool:
        """Whether it has said all that it will."""
        return self._ended

    def close(self) -> str:
        """End it; return the last line that it has written as an error."""
        self._program.close()
        self._reader.join(1.0)
        self._words.seek(0)
        said = self._words.read().strip().splitlines()[-1:]
        self._words.close()
        return said[0] if said else ""


class Application(ABC):
    """What one entry of `applications` does in a live run."""

    kind = ""

    def __init__(self, entry: Any, name: str, number: int, duration: int, seed: int) -> None:
        """`number`: counts all entries of a run, for ports of their own; `duration`: of the run, in picoseconds."""
        self.entry, self.name, self.number, self.seed = entry, name, number, seed
        self.given = entry.given
        self.start_ns: int = entry.start // PS_PER_NS
        self.stop_ns: int = min(entry.stop or duration, duration) // PS_PER_NS
        self._sample: dict[str, Any] = {}

    @property
    def sender(self) -> str:
        """The name of the end that sends (of pings and of calls: that begins)."""
        return str(self.given.sender)

    @property
    def receiver(self) -> str:
        """The name of the other end."""
        return str(self.given.receiver)

    def need(self) -> None:  # noqa: B027
        """Raise UserError, one sentence, about a program or a part of the kernel that is missing."""

    @abstractmethod
    def start(self, ends: Mapping[str, End], begin_ns: int, folder: Path) -> None:
        """Start its programs and return; they send from `begin_ns` (CLOCK_MONOTONIC) plus its own start on. Files go to `folder`."""

    def sample(self) -> dict[str, Any]:
        """Return what is seen now: `throughput_bps`, `delay_ns` and others, as far as they are known."""
        return dict(self._sample)

    @abstractmethod
    def finish(self, deadline_ns: int) -> dict[str, Any]:
        """End all of it, by `deadline_ns` (CLOCK_MONOTONIC) or little later, and return its results."""

    def head(self) -> dict[str, Any]:
        """Return what the results of all kinds begin with."""
        return {
            "kind": self.kind,
            "name": self.name,
            "from": self.sender,
            "to": self.receiver,
            "start_s": self.start_ns / NS,
            "stop_s": self.stop_ns / NS,
            "error": None,
        }

    def addresses(self, ends: Mapping[str, End]) -> tuple[str, str, int]:
        """Return the addresses of sender and receiver, and the version of IP. Raises UserError."""
        both = ends[self.sender], ends[self.receiver]
        fours, sixes = [end.ipv4 for end in both], [end.ipv6 for end in both]
        version = self.given.version or (4 if all(fours) else 6)
        chosen = fours if version == 4 else sixes
        for end, address in zip(both, chosen, strict=True):
            if address is None:
                raise UserError(f"{self.name}: the end `{end.name}` has no IPv{version} address")
        return str(chosen[0]), str(chosen[1]), version

    def set_ecn(self, ends: Mapping[str, End]) -> None:
        """Let the kernels of both ends ask for ECN, or not, where the entry says so. Raises UserError."""
        if (wanted := getattr(self.given, "ecn", None)) is not None:
            for name in (self.sender, self.receiver):
                sysctl_in(ends[name], "ipv4/tcp_ecn", 1 if wanted else 0)

    def file(self, words: str) -> str:
        """Return the beginning of the name of a file of its own."""
        return f"{self.number:03}_{''.join(c if c.isalnum() else '_' for c in self.name)}_{words}"


def seconds_until(ns: int) -> float:
    """Return how long it is until a time of CLOCK_MONOTONIC, 0 if that is over."""
    return max(0.0, (ns - time.monotonic_ns()) / NS)


def sysctl_in(end: End, name: str, value: object) -> None:
    """Set a value of /proc/sys/net in an end. Raises UserError."""
    try:
        within(end.space, lambda: spaces.setting(name, value))
    except OSError as error:
        raise UserError(
            f"the end `{end.name}` does not take {name.replace('/', '.')} = {value}: {(error.strerror or str(error)).lower()}"
        ) from None
