"""A Linux kernel as a process, for queues that this machine's kernel lacks: Debian's `user-mode-linux`, in real time.

The kernel takes the place of a host's own: it has the host's interface through a packet socket, with the same addresses. Its root is this
machine's file system, in which it writes nothing but what it has recorded; it ends with the run.
"""

import contextlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from penstock.live import kernel_guest
from penstock.live.hosts import INTERFACE, Host
from penstock.network import spaces
from penstock.scenarios.network import End

PROGRAM = "linux.uml"
DEVICE = "vec0"
MEMORY = "192M"
PLACES = ("/tmp", "/var/tmp")  # for files whose names go into the command line, so without blanks; the guest has a /dev of its own
NICE = -15  # where that is allowed: it is to be on time
LONGEST = 1500  # mtu


def missing(kind: str) -> str | None:
    """Return why a queue of this kind (`codel`) cannot be had in this way, in words."""
    if shutil.which(PROGRAM) is None:
        return f"{PROGRAM}, a kernel that has it, is not on the PATH (Debian: `apt-get install user-mode-linux`)"
    known = {file.stem for file in Path(kernel_guest.MODULES).glob("*/kernel/net/sched/*.ko")}
    if f"sch_{kind}" not in known and kind not in ("pfifo", "bfifo"):
        return f"{PROGRAM} has no queue `{kind}` either"
    if os.uname().machine not in kernel_guest.FINIT_MODULE:
        return f"{PROGRAM} is known for {' and '.join(kernel_guest.FINIT_MODULE)} only"
    return None


def release() -> str:
    """Return the version of its kernel."""
    return max((path.name for path in Path(kernel_guest.MODULES).glob("[0-9]*")), default="")


def take_over(host: Host, end: End, commands: str, out: Path, folder: Path) -> Sequence[str]:
    """Take the host's addresses from it, and return the command that runs the kernel in its place. `folder`: for files; no blanks in it."""
    host.space.enter()
    with contextlib.suppress(OSError):  # a kernel without IPv6
        spaces.setting(f"ipv6/conf/{INTERFACE}/disable_ipv6", 1)
    spaces.ip([f"address flush dev {INTERFACE}"])
    kinds = {word for command in commands.split(";") for word in command.split()}
    known = {file.stem for file in Path(kernel_guest.MODULES, release(), "kernel/net/sched").glob("sch_*.ko")}
    setup = {
        "interface": INTERFACE,
        "device": DEVICE,
        "mac": host.mac,
        "mtu": end.mtu,
        "addresses": [str(one) for one in end.addresses],
        "neighbours": [(str(one.address), one.mac) for one in end.neighbours],
        "modules": sorted(f"sch_{kind}" for kind in kinds if f"sch_{kind}" in known),
        "tc": commands,
        "out": str(out),
    }
    (folder / "setup.json").write_text(json.dumps(setup))
    first = folder / "init"
    first.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, '-P', '-B', kernel_guest.__file__, str(folder / 'setup.json')])}\n")
    first.chmod(0o755)
    return [
        *("nice", "-n", str(NICE), PROGRAM),
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", f"mem={MEMORY}", f"init={first}", "panic=-1", "quiet"),
        *(f"{DEVICE}:transport=raw,ifname={INTERFACE},mac={host.mac}", f"uml_dir={folder}", "con=null", "con0=null,fd:1"),
    ]


def place() -> str:
    """Return where a folder for its files can be."""
    return next((one for one in PLACES if os.access(one, os.W_OK | os.X_OK)), PLACES[-1])
