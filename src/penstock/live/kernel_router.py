"""A host between two others, whose interface has a queue of the kernel's (tc): it forwards, and writes down when each packet came and left.

Run on that host, `python -m penstock.live.kernel_router INTERFACE OUT TC...`; `TC`: commands of tc, joined by `;`. It changes settings of
the host's own network namespace, so it refuses to work in the machine's. OUT gets rows of numpy (`ROW`) until the run ends it.
"""

import os
import socket
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.live import kernel_guest
from penstock.live.kernel_guest import DATA as DATA

# As kernel_guest.ROW has it: a packet by its source port and IP identification; bytes of the frame; 1: it leaves; when.
ROW = np.dtype([("key", "<u4"), ("bytes", "<u2"), ("left", "<u2"), ("ns", "<i8")])


def main() -> int:
    """Do it, until the process is ended."""
    interface, out, *given = sys.argv[1:]
    if [name for _, name in socket.if_nameindex() if name not in ("lo", interface)]:
        print(f"there is more than {interface} here: this is no host of a live run")
        return 2
    kernel_guest.forward(interface)
    if wrong := kernel_guest.traffic_control(" ".join(given)):
        print(wrong)
        return 1
    kernel_guest.record(interface, out)
    return 0


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
