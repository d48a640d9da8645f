"""A host between two others, whose interface has a queue of the kernel's (tc): it forwards, and writes down when each packet came and left.

Run on that host, `python -m penstock.live.kernel_router INTERFACE OUT TC...`; `TC`: commands of tc, joined by `;`. It changes settings of
the host's own network namespace, so it refuses to work in the machine's. OUT gets rows of numpy (`ROW`) until the run ends it.
"""

import os
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A packet by its source port and IP identification; bytes of the frame; 1: it leaves; when.
ROW = np.dtype([("key", "<u4"), ("bytes", "<u2"), ("left", "<u2"), ("ns", "<i8")])
EVERYTHING = 3  # ETH_P_ALL
STAMPS = 35  # SO_TIMESTAMPNS
OUTGOING = 4  # PACKET_OUTGOING
ROOM = 32 << 20
HEADERS, DATA = 14 + 20 + 4, 200  # bytes that are looked at, and of the shortest frame that counts: not acknowledgements
AT_ONCE = 64


def main() -> int:
    """Do it, until the process is ended."""
    interface, out, *given = sys.argv[1:]
    if [name for _, name in socket.if_nameindex() if name not in ("lo", interface)]:
        print(f"there is more than {interface} here: this is no host of a live run")
        return 2
    for name, value in (("ip_forward", "1"), ("conf/all/send_redirects", "0"), (f"conf/{interface}/send_redirects", "0")):
        Path(f"/proc/sys/net/ipv4/{name}").write_text(value)
    for command in " ".join(given).split(";"):
        done = subprocess.run(["tc", *command.split()], capture_output=True, text=True)
        if done.returncode:
            print(f"tc {command.strip()}: {done.stderr.strip()}")
            return 1
    seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERYTHING))
    seen.setsockopt(socket.SOL_SOCKET, STAMPS, 1)
    seen.setsockopt(socket.SOL_SOCKET, 33, ROOM)  # SO_RCVBUFFORCE
    seen.bind((interface, 0))
    with open(out, "wb", buffering=0) as file:
        rows = bytearray()
        while True:
            frame, notes, flags, origin = seen.recvmsg(HEADERS, 64, socket.MSG_TRUNC)
            row = _row(frame, notes, origin[2] == OUTGOING)
            if row is not None:
                rows += row
            if len(rows) >= AT_ONCE * ROW.itemsize:
                file.write(rows)
                rows.clear()


def _row(frame: bytes, notes: list[tuple[int, int, bytes]], leaves: bool) -> bytes | None:
    length = int.from_bytes(frame[16:18], "big")
    if len(frame) < HEADERS or frame[12:15] != b"\x08\x00\x45" or length < DATA:
        return None
    seconds, rest = struct.unpack("qq", next(data for _, kind, data in notes if kind == STAMPS)[:16])
    key = int.from_bytes(frame[34:36], "big") << 16 | int.from_bytes(frame[18:20], "big")
    return struct.pack("<IHHq", key, 14 + length, leaves, seconds * 10**9 + rest)


@dataclass(frozen=True)
class Waits:
    """When each packet left, how long it had been there, and its bytes, in order; how many have not left."""

    left_ns: NDArray[np.int64]
    waited_ns: NDArray[np.int64]
    length: NDArray[np.int64]
    lost: int


def waits(rows: NDArray[Any]) -> Waits:
    """Return what the rows say."""
    came: dict[int, int] = {}
    found, lost = [], 0
    for row in np.sort(rows, order="ns", kind="stable"):
        key, at = int(row["key"]), int(row["ns"])
        if not row["left"]:
            lost += key in came  # numbers come again after 65,536 packets of a connection
            came[key] = at
        elif key in came:
            found.append((at, at - came.pop(key), int(row["bytes"])))
    columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
    left, waited, length = columns
    return Waits(left, waited, length, lost + len(came))


if __name__ == "__main__":
    raise SystemExit(main() or os.EX_OK)
