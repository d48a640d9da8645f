#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Write scenarios/captures/bad_frames.pcap: frames with a queue id in front, some of which `demo_64` must drop.

    python3 tools/make_bad_frames.py

One frame every millisecond, four good ones (queues 0 to 3) before each bad one. Contents are arbitrary but always the same.
`FRAMES` is the whole story, and the tests count against it.
"""

import random
import struct
from pathlib import Path

CAPTURE = Path(__file__).resolve().parents[1] / "scenarios" / "captures" / "bad_frames.pcap"
SNAP_BYTES = 128  # stored of each frame, prefix included

# (queue id, frame bytes without prefix and FCS, what becomes of it)
BAD = [
    (0, 13, "runt"),
    (1, 4, "runt"),
    (2, 1, "runt"),
    (0, 1_523, "oversize"),
    (3, 9_000, "oversize"),
    (64, 200, "bad_queue_id"),
    (65_536, 60, "bad_queue_id"),
    (2**31, 1_514, "bad_queue_id"),
    (2**32 - 1, 61, "bad_queue_id"),
    (2**32 - 1, 10, "runt"),  # two faults: the length counts
]
GOOD_BYTES = [14, 60, 61, 1_522]  # the first is the smallest and the last the largest that passes
FRAMES = [frame for bad in BAD for frame in [*((queue, size, "passed") for queue, size in enumerate(GOOD_BYTES)), bad]]


def capture() -> bytes:
    """Return the capture as a nanosecond pcap."""
    rng = random.Random(1)
    out = bytearray(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, SNAP_BYTES, 1))
    for n, (queue, size, _) in enumerate(FRAMES):
        data = struct.pack("!I", queue) + rng.randbytes(size)
        stored = data[:SNAP_BYTES]
        out += struct.pack("<IIII", 0, n * 1_000_000, len(stored), len(data)) + stored
    return bytes(out)


if __name__ == "__main__":
    CAPTURE.write_bytes(capture())
    print(f"{CAPTURE}: {len(FRAMES)} frames")
