"""What runs on the hosts of a live run: applications, services, and a command of the user's."""

import contextlib
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from penstock.errors import UserError
from penstock.live.hosts import Host
from penstock.scenarios.network import End

END_SECONDS = 5.0  # that programs get to end by themselves, after the run's duration


def start_on(host: Host, command: Sequence[str], stdout: TextIO | None = None, both: bool = False) -> "subprocess.Popen[bytes]":
    """Start a program on a host; `stdout`: where it writes to, `both`: its errors, too; None: as this process does. Raises UserError."""
    started: list[subprocess.Popen[bytes]] = []
    refused: list[OSError] = []

    def start() -> None:
        host.space.enter()  # of this thread, and of what it starts
        try:
            started.append(subprocess.Popen(list(command), stdout=stdout, stderr=stdout if both else None))
        except OSError as error:
            refused.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    if refused:
        raise UserError(f"live: {command[0]}: {refused[0].strerror}, so it cannot run on {host.name}")
    return started[0]


def serve(hosts: Sequence[Host], ends: Sequence[End], folder: Path) -> None:
    """Start the services of all hosts, which end with the run; what they say goes to files. Raises UserError."""
    for host, end in zip(hosts, ends, strict=True):
        for number, command in enumerate(end.services):
            with (folder / f"{host.name}_{number}.log").open("w") as log:
                start_on(host, command, log, both=True)


class Programs:
    """The applications of a scenario on their hosts."""

    def __init__(self, applications: Sequence[Any], by_name: Mapping[str, Host], folder: Path) -> None:
        self._applications, self._hosts, self._folder = applications, by_name, folder
        self._started = False
        self._told: list[dict[str, Any]] = []
        self._ending: threading.Thread | None = None

    def start(self, begin_ns: int) -> None:
        """Start them, once."""
        if self._started:
            return
        self._started = True
        for application in self._applications:
            application.start(self._hosts, begin_ns, self._folder)

    def end(self) -> None:
        """Begin to end them, once, while the network goes on."""
        if self._ending is None and self._started:
            self._ending = threading.Thread(target=self._end)
            self._ending.start()

    def _end(self) -> None:
        deadline = time.monotonic_ns() + int(END_SECONDS * 1e9)
        self._told = [application.finish(deadline) for application in self._applications]

    def ended(self) -> bool:
        """Return whether all have ended."""
        return self._ending is not None and not self._ending.is_alive()

    def finish(self) -> list[dict[str, Any]]:
        """End them and return what each tells."""
        self.end()
        if self._ending is not None:
            self._ending.join()
        return self._told


class Command:
    """The user's own program on a host: it has the terminal, and the run ends with it."""

    def __init__(self, command: Sequence[str], host: Host, stdout: TextIO | None) -> None:
        """`stdout`: where it writes to; None: as this process does. Raises UserError."""
        self._process = start_on(host, command, stdout)

    def goes_on(self) -> bool:
        """Return whether it has not ended."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it, where it has not ended by itself."""
        if self._process.poll() is None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)
            self._process.kill()
            self._process.wait()
