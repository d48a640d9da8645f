"""CoDel and senders that others have written: ns-3's, for papers in which CoDel is measured. ns3_codel.cpp is compiled with it (`ns3`)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penstock.basics import children
from penstock.engine.run import RunError
from penstock.papers.ns3 import build, environment

NAME, WORDS = "ns3_codel", "ns-3's CoDel and senders"
SOURCE = Path(__file__).with_name("ns3_codel.cpp")
LIMIT = 10_000  # packets in the queue
CUBIC, BBR, UDP = "TcpCubic", "TcpBbr", "udp"


@dataclass(frozen=True)
class Left:
    """What left: when the transmission of each packet began, in s, in order, and how long it had waited, in ms; what was dropped."""

    time_s: NDArray[np.float64]
    delay_ms: NDArray[np.float64]
    dropped: int  # by CoDel
    full: int  # because the queue was full


def run(kind: str, count: int, packets: float, round_trip_us: int, seconds: float, seed: int) -> Left:
    """Run ns-3's senders in front of its CoDel at `packets` of 1,514 byte a second.

    `kind`: a congestion control of ns-3, and `count` connections of it; or `udp`, and a load in thousandths of the link. Raises RunError.
    """
    words = [kind, count, packets, round_trip_us, LIMIT, seconds, seed]
    done = children.run([str(build(NAME, [SOURCE])), *map(str, words)], env=environment())
    if done.returncode:
        raise RunError(f"ns-3 failed: {done.stderr[-2000:]}")
    return read(done.stdout)


def read(text: str) -> Left:
    """Return what our program has printed: came and left of each packet in us, then the drops."""
    *lines, last = text.splitlines()
    word, dropped, full = last.split()
    assert word == "dropped"
    times = np.array([line.split() for line in lines], dtype=np.float64).reshape(-1, 2)
    return Left(times[:, 1] / 1e6, (times[:, 1] - times[:, 0]) / 1e3, int(dropped), int(full))
