"""What the kernel knows of TCP: congestion controls, and the connections of a namespace (sock_diag, linux/inet_diag.h, linux/tcp.h)."""

import errno
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import UserError

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
NLM_F_REQUEST, NLM_F_DUMP, NLMSG_ERROR, NLMSG_DONE = 0x001, 0x300, 2, 3
INET_DIAG_INFO = 2
ESTABLISHED, LISTEN = 1, 10
_CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
# struct tcp_info: what is read of it, by its place. It only grows at its end.
_FIELDS = {"rtt_us": ("I", 68), "cwnd": ("I", 80), "retransmits": ("I", 100), "acked": ("Q", 120), "marked": ("I", 196)}


def need_control(name: str) -> None:
    """Raise UserError unless the kernel has a congestion control; as root it loads one that is a module."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as place:
        try:
            place.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError as error:
            if error.errno != errno.ENOENT:  # it is there, but this user may not have it outside of a namespace
                return
            raise UserError(
                f"the kernel does not have the congestion control {name}, only {', '.join(_controls())}: `modprobe tcp_{name}` as root "
                "loads it, where the kernel came with it"
            ) from None


def _controls() -> list[str]:
    try:
        return sorted(_CONTROLS.read_text().split())
    except OSError:
        return ["its own"]


@dataclass(frozen=True)
class Connection:
    """One that is established, seen from this side. What an older kernel does not say is 0."""

    source: int  # ports
    destination: int
    rtt_us: int
    cwnd: int  # segments
    retransmits: int  # segments so far
    acked: int  # bytes so far
    marked: int  # segments that the other side has got with ECN's CE mark


def diagnosis() -> socket.socket:
    """Return a socket that asks about connections in the namespace of this thread, from any thread later. Raises OSError."""
    made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
    made.settimeout(1.0)
    return made


def connections(asked: socket.socket, version: int, destination: int) -> list[Connection]:
    """Return the established connections to a port. Raises OSError."""
    return [_parsed(record) for record in _records(asked, version, 1 << ESTABLISHED, 0, destination)]


def listens(asked: socket.socket, version: int, port: int) -> bool:
    """Return whether a server is at a port. Raises OSError."""
    return bool(_records(asked, version, 1 << LISTEN, port, 0))


def _records(asked: socket.socket, version: int, states: int, source: int, destination: int) -> list[bytes]:
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    body = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), states)
    body += struct.pack("!HH", source, destination) + bytes(36) + b"\xff" * 8
    asked.send(struct.pack("=IHHII", 16 + len(body), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 1, 0) + body)
    found: list[bytes] = []
    while True:
        data = asked.recv(1 << 18)
        while len(data) >= 16:
            length, kind = struct.unpack_from("=IH", data)
            if kind == NLMSG_DONE:
                return found
            if kind == NLMSG_ERROR:
                number = -struct.unpack_from("=i", data, 16)[0]
                raise OSError(number, "the kernel does not tell of its connections")
            record = data[16:length]
            ports = struct.unpack_from("!HH", record, 4)
            if source in (0, ports[0]) and destination in (0, ports[1]):
                found.append(record)
            data = data[(length + 3) & ~3 :]


def _parsed(record: bytes) -> Connection:
    """Take one `struct inet_diag_msg` of 72 byte and the attributes behind it apart."""
    source, destination = struct.unpack_from("!HH", record, 4)
    values = dict.fromkeys(_FIELDS, 0)
    at = 72
    while at + 4 <= len(record):
        length, kind = struct.unpack_from("=HH", record, at)
        if kind == INET_DIAG_INFO:
            info = record[at + 4 : at + length]
            values = {
                name: struct.unpack_from(f"={code}", info, place)[0] if place + struct.calcsize(code) <= len(info) else 0
                for name, (code, place) in _FIELDS.items()
            }
        at += max(4, (length + 3) & ~3)
    return Connection(source, destination, **values)
