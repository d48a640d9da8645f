"""bmv2's simple_switch, packet by packet: its answers to frames of any bytes at any port, without network interfaces.

`simple_switch --use-files` reads a capture for each port. Here these are pipes. It takes the earliest of the frames that are next at the
ports, and only when it knows the next one of each port; so a frame is taken when what follows the one before it at that one's port is
written (or the pipe is closed), and not earlier. What it sends is complete when nothing of it runs any more.
"""

import contextlib
import os
import shlex
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from penstock.basics import children
from penstock.errors import ToolError, UserError
from penstock.p4 import rest

SWITCH, CLI = "simple_switch", "simple_switch_CLI"
HOW_TO_GET_IT = (
    f"{SWITCH} and {CLI} are not both on the PATH: install p4lang's packages (p4lang-bmv2; https://github.com/p4lang/behavioral-model "
    "has the lines for Debian and Ubuntu), or build behavioral-model from source"
)
FIRST_CPU_SECONDS, FIRST_SECONDS = 30.0, 600.0  # that it has run, and on the wall, until it answers
PRIORITIES = 8  # of a port: v1model's field has three bits
MOST_BYTES = 1 << 17  # of a frame, far more than any
_CAPTURE = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1)


def need() -> None:
    """Raise UserError with how to get them, unless the programs are there."""
    if shutil.which(SWITCH) is None or shutil.which(CLI) is None:
        raise UserError(HOW_TO_GET_IT)


@dataclass
class _Port:
    number: int
    pipe: int
    out: Path
    left: list[bytes] = field(default_factory=list)  # records that are not in the pipe yet, last first
    read: int = 0  # bytes of `out`

    def feed(self) -> None:
        """Write the next record, or end the pipe."""
        if self.left:
            os.write(self.pipe, self.left.pop())
        elif self.pipe >= 0:
            os.close(self.pipe)
            self.pipe = -1

    def came(self) -> list[bytes]:
        """Return what has been sent since the last call."""
        if not self.out.exists() or self.out.stat().st_size <= self.read:
            return []
        with self.out.open("rb") as file:
            file.seek(self.read)
            data = file.read()
        at, found = (len(_CAPTURE) if self.read == 0 else 0), []
        while at + 16 <= len(data):
            size = int.from_bytes(data[at + 8 : at + 12], "little")
            found.append(data[at + 16 : at + 16 + size])
            at += 16 + size
        if at != len(data):
            raise ToolError(f"{SWITCH} has written half a frame to port {self.number}")
        self.read += at
        return found


class SimpleSwitch:
    """A running simple_switch that is given frames which were known before it started."""

    def __init__(self, folder: Path, process: "subprocess.Popen[str]", thrift: int, ports: dict[int, _Port], order: list[int]) -> None:
        self.folder, self.process, self.thrift, self.ports = folder, process, thrift, ports
        self._order = order
        self._next = 0

    def commands(self, text: str) -> str:
        """Run commands of its CLI; return what that has said. Raises ToolError."""
        file = self.folder / "commands.txt"
        file.write_text("".join(f"{line}\n" for line in text.splitlines() if line.strip() and not line.startswith("#")))
        (self.folder / "ipaddr.py").write_text("from ipaddress import *\n")  # it asks for the module of Python 2
        env = os.environ | {"PYTHONPATH": f"{self.folder}:{os.environ.get('PYTHONPATH', '')}"}
        done = children.run(["/bin/sh", "-c", f"exec {CLI} --thrift-port {self.thrift} < {shlex.quote(str(file))}"], env=env)
        if done.returncode != 0:
            raise ToolError(f"{CLI} fails: {(done.stdout + done.stderr).strip()}")
        return done.stdout

    def each(self, commands: Sequence[str]) -> list[str]:
        """Run commands of its CLI; return what that has said to each. Raises ToolError."""
        said = self.commands("\n".join(commands)).split("RuntimeCmd: ")[1:]
        if len(said) < len(commands):
            raise ToolError(f"{CLI} has not taken all of {len(commands)} commands: {''.join(said)[-500:]}")
        return [one.strip() for one in said[: len(commands)]]

    def next(self) -> list[tuple[int, bytes]]:
        """Let it have the next frame; return (port, frame) of all that it sends, by ports."""
        if self._next == 0:
            self.ports[max(self.ports)].feed()
        else:
            self.ports[self._order[self._next - 1]].feed()
        self._next += 1
        self._wait_until_quiet()
        return [(number, frame) for number, port in sorted(self.ports.items()) for frame in port.came()]

    def feed_ends(self, port: int) -> int:
        """Let it have the first frames of a port at which all come, as few as are needed to begin; return how many."""
        for number in self.ports:
            if number != port:
                while self.ports[number].pipe >= 0:
                    self.ports[number].feed()
        self.ports[port].feed()
        self._wait_until_quiet()
        self._next = len(self._order) - len(self.ports[port].left)
        return self._next

    def feed(self, port: int, count: int) -> None:
        """Let it have so many frames of a port one after the other, and wait until it has done with them."""
        for _ in range(count):
            self.ports[port].feed()
        self._next += count
        self._wait_until_quiet()

    def _wait_until_quiet(self) -> None:
        rest.wait(self.process, SWITCH, f"after frame {self._next - 1}")


def _close(ports: Iterable[_Port]) -> None:
    for port in ports:
        if port.pipe >= 0:
            os.close(port.pipe)


def _record(index: int, frame: bytes) -> bytes:
    if len(frame) > MOST_BYTES:
        raise ValueError(f"a frame has {len(frame)} bytes")
    return struct.pack("<IIII", 1, index, len(frame), len(frame)) + frame


@contextlib.contextmanager
def started(
    program: Path, frames: Sequence[tuple[int, bytes]], ports: Sequence[int], options: Sequence[str] = ()
) -> Iterator[SimpleSwitch]:
    """Start a program that will be given `frames` (port, bytes), and whose output at all of `ports` counts. Raises UserError, ToolError."""
    need()
    numbers = sorted({*ports, *(port for port, _ in frames)})
    if not numbers:
        raise ValueError("no ports")
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        made: dict[int, _Port] = {}
        for number in numbers:
            pipe = folder / f"{number}_in.pcap"
            os.mkfifo(pipe)
            file = os.open(pipe, os.O_RDWR | os.O_CLOEXEC)
            made[number] = _Port(number, file, folder / f"{number}_out.pcap")
            os.write(file, _CAPTURE)
        stack.callback(_close, made.values())
        for index, (number, frame) in reversed(list(enumerate(frames))):
            made[number].left.append(_record(index, frame))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            thrift = free.getsockname()[1]
        interfaces = [part for number in numbers for part in ("-i", f"{number}@{folder / str(number)}")]
        command = [SWITCH, "--use-files", "0", "--thrift-port", str(thrift), *interfaces, *options, str(program.resolve()), *_priorities()]
        log = stack.enter_context((folder / "log.txt").open("w+"))
        process = stack.enter_context(children.beside(command, cwd=folder, stdout=log, stderr=log))
        _wait_for(process, thrift, folder / "log.txt")
        for number in numbers[:-1]:  # the first frame is taken when the last pipe has its first
            made[number].feed()
        yield SimpleSwitch(folder, process, thrift, made, [number for number, _ in frames])


@cache
def _priorities() -> tuple[str, ...]:
    """Return what gives each port a queue for each priority: unless told, versions that ask drop all priorities but 0."""
    done = children.run([SWITCH, "--help"])
    return ("--", "--priority-queues", str(PRIORITIES)) if "priority-queues" in done.stdout + done.stderr else ()


def _wait_for(process: "subprocess.Popen[str]", thrift: int, log: Path) -> None:
    end = time.monotonic() + FIRST_SECONDS
    while True:
        ran = 0.0
        with contextlib.suppress(OSError):
            ran = rest.cpu_seconds(process.pid)
        if process.poll() is not None:
            raise ToolError(f"{SWITCH} has ended with status {process.returncode}: {log.read_text().strip()[-1000:]}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", thrift), 1):
            return
        if ran > FIRST_CPU_SECONDS or time.monotonic() > end:
            raise ToolError(f"{SWITCH} does not answer after {ran:.1f} s of CPU time: {log.read_text().strip()[-1000:]}")
        time.sleep(0.01)


def version() -> str:
    """Return what it says of its version. Raises UserError."""
    need()
    return children.run([SWITCH, "--version"]).stdout.strip()
