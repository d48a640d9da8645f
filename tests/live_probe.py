# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What tests of live traffic run on a host: `python live_probe.py TASK FILE`; what it finds goes into FILE, as JSON."""

import contextlib
import json
import os
import random
import socket
import struct
import subprocess
import sys
import time
from typing import Any

INTERNET = {4: "10.0.0.1", 6: "fd00::1"}
ECHO = {4: (8, 0), 6: (128, 129)}  # ICMP types of request and answer


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data[: len(data) // 2 * 2])) + (data[-1] << 8 if len(data) % 2 else 0)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ping(version: int, size: int, number: int, patience: float = 10.0) -> float | None:
    """Send an echo request with `size` random bytes; return the seconds to its answer with the same bytes, None: there was none."""
    family, protocol = (socket.AF_INET, socket.IPPROTO_ICMP) if version == 4 else (socket.AF_INET6, socket.IPPROTO_ICMPV6)
    data = random.randbytes(size)
    body = struct.pack("!BBHHH", ECHO[version][0], 0, 0, os.getpid() & 0xFFFF, number) + data
    if version == 4:
        body = body[:2] + struct.pack("!H", checksum(body)) + body[4:]
    with socket.socket(family, socket.SOCK_RAW, protocol) as made:
        begun = time.monotonic()
        made.sendto(body, (INTERNET[version], 0))
        while (left := begun + patience - time.monotonic()) > 0:
            made.settimeout(left)
            with contextlib.suppress(TimeoutError):
                answer = made.recv(65_536)
                answer = answer[4 * (answer[0] & 15) :] if version == 4 else answer
                if answer[0] == ECHO[version][1] and answer[4:] == body[4:]:
                    return time.monotonic() - begun
    return None


def pings() -> dict[str, Any]:
    """Of both versions and several sizes, beyond the MTU, too: these come in fragments."""
    found = {}
    for version in (4, 6):
        for number, size in enumerate((0, 56, 1400, 4000)):
            found[f"{version}:{size}"] = ping(version, size, number)
    return found


def odd() -> dict[str, Any]:
    """Frames that no host sends, then a ping: are they answered still?"""
    rng = random.Random(7)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as made:
        made.bind(("net0", 0))
        sent = 0
        for _ in range(300):
            length = rng.choice((14, 15, 33, 59, 60, 61, 300, 1514))
            kind = rng.choice((0x0800, 0x86DD, 0x8100, 0x88A8, 0x0806, 0x1234, 46))
            to = rng.choice((b"\xff" * 6, b"\x01\0\x5e\0\0\1", b"\x02\0\0\0\0\1", rng.randbytes(6)))
            frame = to + b"\x02\0\0\0\0\2" + kind.to_bytes(2, "big") + rng.randbytes(length - 14)
            with contextlib.suppress(OSError):
                sent += made.send(frame) > 0
    return {"sent": sent, "ping": ping(4, 56, 1)}


def down() -> dict[str, Any]:
    """The interface goes down in the middle of it."""
    found = {"before": ping(4, 56, 1)}
    subprocess.run(["ip", "link", "set", "net0", "down"], check=True)
    time.sleep(20)
    return found


def rest() -> dict[str, Any]:
    """Nothing, for a while; leaves a process behind that has left its group and its parents."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    time.sleep(600)
    return {}


if __name__ == "__main__":
    result = {"pings": pings, "odd": odd, "down": down, "rest": rest}[sys.argv[1]]()
    with open(sys.argv[2], "w") as file:
        json.dump(result, file)
