# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Run applications between two namespaces each, joined by a cable of their own; what they and the kernel's counters say goes to stdout.

`python live_applications_probe.py SECONDS ENTRIES FOLDER`; a child of tests/test_live_applications.py, as it enters namespaces.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from penstock.live.applications import build, entries
from penstock.live.applications.base import within
from penstock.network import spaces


@dataclass
class Host:
    """An end."""

    name: str
    space: spaces.Space
    ipv4: str | None
    ipv6: str | None


def counted(host: Host) -> tuple[int, int]:
    """Return packets and bytes that the kernel has counted at the cable of a host, received."""
    lines = within(host.space, Path("/proc/thread-self/net/dev").read_text).splitlines()
    words = next(line for line in lines if line.strip().startswith("cable:")).partition(":")[2].split()
    return int(words[1]), int(words[0])


def joined(names: tuple[str, str]) -> dict[str, Host]:
    """Make two hosts."""
    spaces_ = [spaces.Space.new(), spaces.Space.new()]
    file = spaces_[0]._file  # this thread is in the second one
    spaces.ip(["link add cable type veth peer name other"])
    os.set_inheritable(file, True)
    subprocess.run(["ip", "link", "set", "other", "netns", f"/proc/self/fd/{file}"], check=True, close_fds=False)
    spaces.ip(["addr add 10.0.0.2/24 dev cable", "addr add fd00::2/64 dev cable nodad", "link set cable up"])
    spaces_[0].enter()
    spaces.ip([
        "link set other name cable", "addr add 10.0.0.1/24 dev cable", "addr add fd00::1/64 dev cable nodad", "link set cable up"
    ])  # fmt: skip
    return {name: Host(name, space, f"10.0.0.{at}", f"fd00::{at}") for at, (name, space) in enumerate(zip(names, spaces_, strict=True), 1)}


def main() -> None:
    seconds, given, folder = float(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3])
    spaces.enter_own()
    made = build.applications(TypeAdapter(entries.Entries).validate_python(given), round(seconds * 1e12))
    hosts = [joined(("internet", "home")) for _ in made]
    begin = time.monotonic_ns() + 1_500_000_000
    for one, pair in zip(made, hosts, strict=True):
        one.need()
        one.start(pair, begin, folder)
    samples: list[list[dict[str, Any]]] = []
    while time.monotonic_ns() < begin + seconds * 1e9:
        time.sleep(0.1)
        samples.append([one.sample() for one in made])
    found = []
    for number, (one, pair) in enumerate(zip(made, hosts, strict=True)):
        then = time.monotonic()
        result = one.finish(time.monotonic_ns() + 3_000_000_000)
        took = time.monotonic() - then
        seen = {name: counted(host) for name, host in pair.items()}
        found.append({"result": result, "took_s": took, "counted": seen, "samples": [each[number] for each in samples]})
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    names = [Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ") for child in children]
    print(json.dumps({"found": found, "left": [name for name in names if "iperf3" in name or "programs" in name]}))


if __name__ == "__main__":
    main()
