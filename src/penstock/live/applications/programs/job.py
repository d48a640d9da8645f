"""What the programs share: job, words, clock, ends, sockets. Times are ns of CLOCK_MONOTONIC, which all namespaces of a machine share."""

import json
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Mapping
from types import FrameType
from typing import Any

SO_TIMESTAMPNS = 35
NS = 10**9
SPIN_NS = 200_000


class Hurry(Exception):
    """It is told to end: it says what it knows."""


def taken() -> dict[str, Any]:
    """Return the job; from here on SIGTERM raises Hurry in the main thread, once."""

    def hurry(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Hurry

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command that has started this
    signal.signal(signal.SIGTERM, hurry)
    job: dict[str, Any] = json.loads(sys.argv[1])
    return job


def say(**words: Any) -> None:
    """Print a line of JSON."""
    sys.stdout.write(json.dumps(words, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def end() -> None:
    """Leave at once, whatever threads do."""
    sys.stdout.flush()
    os._exit(0)


def sleep_until(ns: int) -> None:
    """Sleep until a time."""
    while (left := ns - time.monotonic_ns()) > 0:
        time.sleep(left / NS)


def await_data(poller: select.poll, until_ns: int) -> bool:
    """Wait until there is something to receive, or a time; return whether there is. It is exact to some 10 us."""
    left = until_ns - time.monotonic_ns()
    if left <= 0:
        return bool(poller.poll(0))
    if left > 1_000_000 + SPIN_NS:
        return bool(poller.poll((left - SPIN_NS) // 1_000_000))
    time.sleep(left / NS)
    return bool(poller.poll(0))


def stamp(made: socket.socket) -> None:
    """Let the kernel say when a packet came."""
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)


def received(made: socket.socket, most: int = 1 << 16) -> tuple[bytes, int]:
    """Return a packet and when it came. The kernel says that in CLOCK_REALTIME; how far that is from ours is looked up each time."""
    data, extra, _, _ = made.recvmsg(most, 256)
    now, off = time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()
    for level, kind, value in extra:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and len(value) >= 16:
            seconds, ns = struct.unpack("=qq", value[:16])
            return data, min(now, seconds * NS + ns - off)
    return data, now


def mark(made: socket.socket, version: int, job: Mapping[str, Any]) -> None:
    """Set DSCP and congestion control of a socket as the job has them."""
    if job.get("dscp"):
        level, option = (socket.IPPROTO_IP, socket.IP_TOS) if version == 4 else (socket.IPPROTO_IPV6, socket.IPV6_TCLASS)
        made.setsockopt(level, option, job["dscp"] << 2)
    if job.get("algorithm"):
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, job["algorithm"].encode())


def family(version: int) -> socket.AddressFamily:
    """Return the family of addresses."""
    return socket.AF_INET if version == 4 else socket.AF_INET6
