"""CoDel and senders that others have written: ns-3's. A program of ours (ns3/codel.cpp) is compiled with it (`penstock.papers.ns3`)."""

from pathlib import Path

import numpy as np

from penstock.basics import children
from penstock.designs.p4_switch.papers.p4_codel.experiments import Run, Senders, Setting
from penstock.engine.run import RunError
from penstock.papers.ns3 import build, environment, missing

__all__ = ["NAME", "WORDS", "missing", "read", "run"]

NAME, WORDS = "ns3_codel", "ns-3's CoDel and senders"
SOURCE = Path(__file__).with_name("ns3") / "codel.cpp"
LIMIT = 10_000


def run(senders: Senders, seed: int, seconds: float, setting: Setting, algorithm: str = "TcpCubic") -> Run:
    """Run ns-3's senders in front of its CoDel. Raises RunError."""
    count = senders.flows or round(1000 * senders.load)
    kind = algorithm if senders.flows else "udp"
    words = [kind, count, setting.packets, setting.round_trip_us, LIMIT, seconds, seed]
    done = children.run([str(build(NAME, [SOURCE])), *map(str, words)], env=environment())
    if done.returncode:
        raise RunError(f"ns-3 failed: {done.stderr[-2000:]}")
    return read(done.stdout, seconds)


def read(text: str, seconds: float) -> Run:
    """Return what our program has printed: came and left of each packet in us, then the drops."""
    *lines, last = text.splitlines()
    word, dropped, full = last.split()
    assert word == "dropped"
    times = np.array([line.split() for line in lines], dtype=np.float64).reshape(-1, 2)
    return Run(times[:, 1] / 1e6, (times[:, 1] - times[:, 0]) / 1e3, seconds, int(dropped), int(full))
