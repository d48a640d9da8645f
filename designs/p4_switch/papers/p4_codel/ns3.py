"""CoDel and senders that others have written, ns-3's (`penstock.papers.ns3_codel`), as one of this paper's systems."""

from penstock.designs.p4_switch.papers.p4_codel.experiments import Run, Senders, Setting
from penstock.papers import ns3_codel
from penstock.papers.ns3 import missing
from penstock.papers.ns3_codel import NAME, WORDS

__all__ = ["NAME", "WORDS", "missing", "run"]


def run(senders: Senders, seed: int, seconds: float, setting: Setting, algorithm: str = ns3_codel.CUBIC) -> Run:
    """Run ns-3's senders in front of its CoDel. Raises RunError."""
    count = senders.flows or round(1000 * senders.load)
    kind = algorithm if senders.flows else ns3_codel.UDP
    left = ns3_codel.run(kind, count, setting.packets, setting.round_trip_us, seconds, seed)
    return Run(left.time_s, left.delay_ms, seconds, left.dropped, left.full)
