"""CoDel of this project beside ns-3's with the same number of connections: is it as near as it should be?

The queues are told the same; the senders are not the same program, and ns-3 keeps one packet before its link besides CoDel's queue.
"""

from typing import Any

from penstock.designs.p4_switch.papers.p4_codel import ns3

SYSTEMS = ("rtl_codel", "edge_model")
# By how much the mean delay and the throughput may differ: what other senders make, with one seed, of the same queue.
DELAY, RATE = 0.40, 0.02


def rows(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each of our CoDels and each kind of connections how far it is from ns-3's; none where ns-3 is left out."""
    theirs = {group["senders"]: group for group in groups if group["system"] == ns3.NAME}
    found = []
    for group in groups:
        other = theirs.get(group["senders"])
        if group["system"] not in SYSTEMS or other is None or "TCP" not in group["senders"]:
            continue
        delay, rate = (_ratio(group[key][0], other[key][0]) for key in ("mean_ms", "packets_per_second"))
        found.append({
            "senders": group["senders"], "system": group["system"], "words": group["words"], "delay": delay, "rate": rate,
            "within": delay is not None and rate is not None and abs(delay) <= DELAY and abs(rate) <= RATE,
        })  # fmt: skip
    return found


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return None if ours is None or not theirs else round(ours / theirs - 1, 4)


def words(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Say it; nothing where ns-3 is left out."""
    if not found:
        return []
    each = "; ".join(
        f"{row['senders']}, {row['words']}: delay {_percent(row['delay'])}, packets/s {_percent(row['rate'])}"
        f"{'' if row['within'] else ' (not within)'}"
        for row in found
    )
    return [
        (
            "Beside ns-3",
            f"Mean delay may differ by {100 * DELAY:.0f} %, throughput by {100 * RATE:.0f} %, as the senders are others. {each}.",
        )
    ]


def _percent(ratio: float | None) -> str:
    return "-" if ratio is None else f"{100 * ratio:+.1f} %"
