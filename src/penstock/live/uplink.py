"""`--uplink IFACE`: hosts of a live run get out through an interface of this machine, by NAT; off unless asked for.

    home ── device ── internet ──(veth)── this machine ── IFACE

The host that stands on the far side of the device becomes a router. What this changes on the machine itself is a pair of interfaces, which
goes with the run's namespaces; a table of nftables with a name of its own; and `net.ipv4.ip_forward`. These two are taken back when the run
ends; what was killed leaves a note in /run/penstock, and the next run with an uplink takes it back.
"""

import contextlib
import fcntl
import ipaddress
import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from penstock.errors import UserError
from penstock.network import spaces
from penstock.network.spaces import Space

NOTES = Path("/run/penstock")
FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
POOL = ipaddress.IPv4Network("100.64.0.0/16")  # shared address space (RFC 6598): no host of a scenario has such an address
INSIDE = "uplink"


def need(interface: str) -> None:
    """Raise UserError for an interface that this machine does not have, and where NAT is not to be had."""
    known = sorted(name for _, name in socket.if_nameindex())
    if interface not in known:
        raise UserError(f"--uplink {interface}: there is no such interface, allowed: {', '.join(name for name in known if name != 'lo')}")
    if os.geteuid() != 0:
        raise UserError(f"--uplink {interface}: needs root, as it sets up NAT on this machine; without it hosts reach only each other")
    if shutil.which("nft") is None:
        raise UserError(f"--uplink {interface}: nft is not on the PATH: install nftables, by which the NAT is made")


class Uplink:
    """An uplink of one run, as the machine's own namespace sees it. Make it before the run has namespaces of its own."""

    def __init__(self, interface: str) -> None:
        """Raises UserError."""
        need(interface)
        self.interface = interface
        self.number = os.getpid()
        self.outside, self.table = f"pst{self.number}", f"penstock_{self.number}"
        self._machine = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self._lock: int | None = None
        networks = list(POOL.subnets(new_prefix=30))
        self.network = networks[self.number % len(networks)]
        self.ours, self.theirs = list(self.network.hosts())

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Let the machine forward and translate what comes from the run; take that back."""
        with _alone():
            _tidy()
            before = FORWARD.read_text().strip()
            self._lock = _note(self.number, {"table": self.table, "forward": _first_forward(before)})
            if before == "0":
                FORWARD.write_text("1")
        try:
            _nft([
                f"add table ip {self.table}",
                f"add chain ip {self.table} out {{ type nat hook postrouting priority srcnat; }}",
                f'add rule ip {self.table} out ip saddr {self.network} oifname "{self.interface}" masquerade',
            ])  # fmt: skip
            yield
        finally:
            with _alone():
                _take_back(self.number)
                os.close(self._lock)

    def connect(self, router: Space, inside: ipaddress.IPv4Network) -> None:
        """Join a host to the machine, from within the run; the host forwards what comes from the network `inside`. Raises OSError."""
        router.enter()  # the main thread: the first process of its namespace, number 1
        command = f"link add name {self.outside} type veth peer name {INSIDE} netns 1"
        _elsewhere(self._machine, lambda: spaces.ip([
            command,
            f"address add {self.ours}/30 dev {self.outside}",
            f"link set {self.outside} up",
        ]))  # fmt: skip
        spaces.ip([
            f"address add {self.theirs}/30 dev {INSIDE}",
            f"link set {INSIDE} up",
            f"route replace default via {self.ours}",
        ])  # fmt: skip
        spaces.setting("ipv4/ip_forward", 1)
        _nft([
            "add table ip penstock",
            "add chain ip penstock out { type nat hook postrouting priority srcnat; }",
            f'add rule ip penstock out ip saddr {inside} oifname "{INSIDE}" masquerade',
        ])  # fmt: skip


def _elsewhere(namespace: int, do: Callable[[], None]) -> None:
    """Do something in another namespace of networks. Raises what it raises."""
    raised: list[BaseException] = []

    def there() -> None:
        try:
            spaces.call("setns", namespace, spaces.CLONE_NEWNET)
            do()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=there)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def _nft(commands: Sequence[str]) -> None:
    done = subprocess.run(["nft", "-f", "-"], input="\n".join([*commands, ""]), capture_output=True, text=True)
    if done.returncode:
        raise OSError(1, " ".join((done.stderr or done.stdout).split())[:300], "nft")


# ---- what is to be taken back


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Be the only run that reads and writes notes."""
    NOTES.mkdir(mode=0o755, exist_ok=True)
    with (NOTES / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _note(number: int, content: dict[str, Any]) -> int:
    """Write what is to be taken back; it is locked as long as this process lives. Return its file."""
    path = NOTES / f"uplink-{number}.json"
    path.write_text(json.dumps(content))
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def _notes() -> dict[int, dict[str, Any]]:
    found = {}
    for path in NOTES.glob("uplink-*.json"):
        with contextlib.suppress(OSError, ValueError):
            found[int(path.stem.partition("-")[2])] = json.loads(path.read_text())
    return found


def _first_forward(now: str) -> str:
    """Return what `ip_forward` was before the first uplink that is on."""
    return str(next(iter(_notes().values()), {"forward": now})["forward"])


def _take_back(number: int) -> None:
    """Take back what a note says; forwarding with the last one."""
    note = _notes().get(number)
    if note is None:
        return
    subprocess.run(["nft", "delete", "table", "ip", note["table"]], capture_output=True)
    (NOTES / f"uplink-{number}.json").unlink(missing_ok=True)
    if not _notes() and note["forward"] == "0":
        FORWARD.write_text("0")


def _tidy() -> None:
    """Take back what runs that were killed have left: no process holds their notes."""
    for number in _notes():
        with contextlib.suppress(OSError):
            file = os.open(NOTES / f"uplink-{number}.json", os.O_RDONLY)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _take_back(number)
            except BlockingIOError:
                pass
            finally:
                os.close(file)
