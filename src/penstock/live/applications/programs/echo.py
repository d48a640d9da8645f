"""ICMP echo requests at equal distances, and when each is answered (RFC 792, RFC 4443)."""

import select
import socket
import struct
import time
from typing import Any

from penstock.live.applications.programs import job as jobs

REQUEST, ANSWER = {4: 8, 6: 128}, {4: 0, 6: 129}
SAY_NS = 200_000_000


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071)."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data[: len(data) & ~1])) + (data[-1] << 8 if len(data) & 1 else 0)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def request(version: int, ident: int, number: int, size: int) -> bytes:
    """Return an echo request whose payload begins with its 32-bit number. The kernel fills in the checksum of ICMPv6."""
    payload = struct.pack("!Q", number) + bytes(size - 8)
    head = struct.pack("!BBHHH", REQUEST[version], 0, 0, ident, number & 0xFFFF)
    return head[:2] + struct.pack("!H", checksum(head + payload) if version == 4 else 0) + head[4:] + payload


def answered(version: int, ident: int, data: bytes, raw: bool) -> int | None:
    """Return the number of the request that a packet answers, if it is one of ours."""
    if version == 4 and raw:
        data = data[(data[0] & 15) * 4 :]
    if len(data) < 16 or data[0] != ANSWER[version] or (raw and struct.unpack_from("!H", data, 4)[0] != ident):
        return None
    return int(struct.unpack_from("!Q", data, 8)[0])


def opened(version: int) -> tuple[socket.socket, bool]:
    """Return a socket for ICMP, and whether it is a raw one."""
    protocol = socket.IPPROTO_ICMP if version == 4 else socket.IPPROTO_ICMPV6
    try:
        return socket.socket(jobs.family(version), socket.SOCK_RAW, protocol), True
    except PermissionError:
        return socket.socket(jobs.family(version), socket.SOCK_DGRAM, protocol), False


def main() -> None:
    job = jobs.taken()
    version, ident, target = job["version"], job["ident"], (job["to"], 0)
    made, raw = opened(version)
    jobs.mark(made, version, job)
    jobs.stamp(made)
    poller = select.poll()
    poller.register(made, select.POLLIN)
    sent: list[int] = []
    got: dict[int, int] = {}
    refused, said = 0, 0
    jobs.say(ready=True)
    try:
        following, last = job["start_ns"], job["stop_ns"]
        while (following < last or len(got) < len(sent)) and time.monotonic_ns() < last + job["timeout_ns"]:
            until = following if following < last else min(last + job["timeout_ns"], time.monotonic_ns() + SAY_NS)
            if jobs.await_data(poller, until):
                data, came = jobs.received(made)
                number = answered(version, ident, data, raw)
                if number is not None and number < len(sent) and number not in got:
                    got[number] = came
                    if came - said > SAY_NS:
                        jobs.say(now={"delay_ns": came - sent[number]})
                        said = came
            elif following < last and time.monotonic_ns() >= following:
                sent.append(time.monotonic_ns())
                try:
                    made.sendto(request(version, ident, len(sent) - 1, job["size"]), target)
                except OSError:
                    refused += 1
                following += job["interval_ns"]
    except jobs.Hurry:
        pass
    trips: list[Any] = [[at, got[number] - at if number in got else None] for number, at in enumerate(sent)]
    jobs.say(result={"trips": trips, "refused": refused})
    jobs.end()


if __name__ == "__main__":
    main()
