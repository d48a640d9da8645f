# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What the summary and the tables of an access edge say: who passed by, what is congested, when gates were closed, what has curves."""

from typing import Any

import numpy as np
import pytest

from penstock.designs.access_edge import report
from penstock.designs.access_edge.curves import most_important

NONE = {"count": 0} | dict.fromkeys(("min", "mean", "p50", "p99", "p99_9", "max"))


def queue(name: str, rate: int | None = None, half: float = 1000.0, **keys: Any) -> dict[str, Any]:
    """A queue that nothing is wrong with, whose packets took `half` ns."""
    times = dict.fromkeys(("min", "mean", "p50", "p99", "p99_9", "max"), half)
    return {
        "id": 0, "name": name, "subscriber": None, "configured_rate_bps": rate, "rate_changes": [], "measured_rate_bps": 1e6,
        "average_rate_bps": 1e6, "backlogged_share": 0.0, "in_packets": 100, "in_bytes": 1000, "out_packets": 100, "drop_packets": 0,
        "latency_ns": {"count": 100, **times}, **keys,
    }  # fmt: skip


def node(name: str, **keys: Any) -> dict[str, Any]:
    """A node that is congested half of the time, from 10 ms on."""
    return {
        "id": 3, "name": name, "port": 0, "configured_rate_bps": 10**7, "rate_changes": [], "packets": {"dropped": {"no_page": 3}},
        "bytes": {"in": 1000}, "dropped_most": {"id": 1, "name": "loud", "packets": 2}, "offered_rate_bps": 2e7, "carried_rate_bps": 9e6,
        "measured_rate_bps": 1e7, "congested_rate_bps": 1e7, "congested_s": 0.5, "congested_share": 0.5, "congested_from_s": 0.01,
        "congested_until_s": 0.9,
        "latency_ns": NONE, **keys,
    }  # fmt: skip


def said(*queues: dict[str, Any], **keys: Any) -> list[str]:
    """What is said of a run of a second with these queues."""
    rows = [row | {"id": ident} for ident, row in enumerate(queues)]
    return report.sentences({"queues": rows, "queues_listed": len(rows), "queues_with_traffic": len(rows), "device_seconds": 1.0, **keys})


HELD = queue("held", 10**6, backlogged_share=1.0)


def test_others() -> None:
    """The smallest and the largest median, and what 99 % of each of them did not exceed."""
    slow = queue("c", half=200)
    slow["latency_ns"] |= {"p99": 9000, "p99_9": 9500, "max": 9900}
    line = said(HELD, queue("a", half=100), queue("b", half=300), slow)[1]
    assert line == "Others   3 queues passed by: medians 100 ns to 300 ns, 99 % within 9 us"


def test_a_queue_beside_groups_has_its_row() -> None:
    """Two groups of 50 queues, and three queues of no group: the busiest of these come first, in order of id, as many as fit."""
    members = [
        queue(f"{group} {ident}") | {"id": ident} for group, first in (("many", 0), ("more", 50)) for ident in range(first, first + 50)
    ]
    alone = [
        queue(name, in_bytes=size) | {"id": 100 + ident} for ident, (name, size) in enumerate((("a", 3000), ("b", 10), ("many", 5000)))
    ]
    groups = [queue(name) | {"mean_rate_bps": 1e6} for name in ("many", "more")]
    result = {"queues": members + alone, "groups": groups, "queues_with_traffic": 103}
    found = report.table(result, 4, short=True)
    assert found.heads[0] == "queue or group" and [row[0] for row in found.rows] == ["a", "many", "many", "more"]
    assert found.more == "and 1 more queues"
    found = report.table({**result, "queues": members}, 4, short=True)
    assert found.heads[0] == "group of queues" and [row[0] for row in found.rows] == ["many", "more"] and found.more == ""


@pytest.mark.parametrize(
    "keys",
    [
        {"backlogged_share": 0.2},
        {"rate": 10**6, "average_rate_bps": 0.96e6},
        {"drop_packets": 1},
        {"rate": 0},
    ],
)
def test_what_is_pressed_does_not_pass_by(keys: dict[str, Any]) -> None:
    """A queue that waits for its rate, is near it, loses packets, or stands behind a closed gate."""
    assert not any(line.startswith("Others") for line in said(HELD, queue("pressed", **keys)))
    assert "Others   free passed by: half within 1 us, 99 % within 1 us" in said(HELD, queue("free", 10**7), queue("pressed", **keys))


def test_congestion_is_said() -> None:
    """How long, since when, at whose cost; of several the longest, and little congestion is in the tables alone."""
    (line,) = said(nodes=[node("node 3"), node("node 4", congested_share=0.1, congested_s=0.1)])
    assert line == "Full     node 3, held to 10 Mbit/s, congested 50.0 % of the time from 10 ms on; 3 packets dropped, most of loud"
    longer = node("node 4", congested_share=0.9, congested_s=0.9, dropped_most=None)  # not known, as something has moved
    words = "Full     2 nodes, longest node 4, held to 10 Mbit/s, congested 90.0 % of the time from 10 ms on"
    assert said(nodes=[node("node 3"), longer])[0] == f"{words}; 3 packets dropped"
    assert said(nodes=[node("node 3"), {**longer, "packets": {"dropped": {}}}])[0] == words
    assert said(nodes=[node("node 3", congested_share=0.1)]) == []


def test_queues_that_take_turns_are_said() -> None:
    """Two queues of a subscriber of 12 Mbit/s that are each held to 12, one after the other; not where they share it."""
    device = {"hierarchy": {"queues_per_subscriber": 4}}
    home = node("subscriber 0", id=0, configured_rate_bps=12 * 10**6, congested_share=0.1)
    queues = [queue(name, measured_rate_bps=12e6) for name in "ab"]
    (line,) = said(*queues, device=device, subscribers=[home])
    assert line == (
        "Turns    a, b sent at different times: their measured rates, each of its own time, add up to 24 Mbit/s of the 12 Mbit/s of "
        "subscriber 0"
    )
    assert said(*[row | {"measured_rate_bps": 6.5e6} for row in queues], device=device, subscribers=[home]) == []
    assert said(*queues, device=device, subscribers=[home | {"configured_rate_bps": None}]) == []
    assert said(*queues, device=device, subscribers=[home | {"rate_changes": [[0.5, 24 * 10**6]]}]) == []
    assert said(*queues, device={"hierarchy": {"queues_per_subscriber": 1}}, subscribers=[home]) == []


@pytest.mark.parametrize(
    ("rate", "changes", "words"),
    [
        (0, [], "gate"),
        (0, [[0.1, 10**6]], "gate (until 100 ms)"),
        (10**6, [[0.25, 0]], "gate (from 250 ms on)"),
        (None, [[0.25, 0], [0.5, None]], "gate (from 250 ms until 500 ms)"),
        (0, [[0.1, None], [0.2, 0]], "gate (until 100 ms and from 200 ms on)"),
    ],
)
def test_a_gate_is_closed_only_while_it_is(rate: int | None, changes: list[Any], words: str) -> None:
    """From when to when, and of what never was closed nothing."""
    (line,) = said(queue("gate", rate, rate_changes=changes, latency_ns=NONE), queue("open", 10**6, rate_changes=[[0.1, 2 * 10**6]]))
    assert line == f"Closed   the gate of {words}"


def test_losers() -> None:
    """Whose packets were dropped, the largest loss first."""
    lines = said(*(queue(f"q{n}", drop_packets=n) for n in range(6)))
    assert lines == ["Losers   q5 (5), q4 (4), q3 (3), and 2 more queues"]


def test_table_of_nodes() -> None:
    """Heads and cells stand below each other; what changes its rate says so; a level that says nothing has no table."""
    result = {"nodes": [node("node 3", rate_changes=[[0.1, 0]]), node("node 4", congested_s=0.0, configured_rate_bps=None)], "queues": []}
    result |= {"queues_with_traffic": 0, "device_seconds": 1.0, "ports": [node("port 0", configured_rate_bps=None)]}
    nodes, queues = report.tables(result, 10)
    assert (nodes.title, queues.title) == ("Nodes", "Queues")
    first, second = (dict(zip(nodes.heads, row, strict=True)) for row in nodes.rows)
    assert (first["configured"], first["offered"]) == ("10 Mbit/s, then closed", "20 Mbit/s")
    assert (first["carried"], first["held to"]) == ("9 Mbit/s", "10 Mbit/s")
    assert (first["congested"], first["since"], first["until"], first["most of"]) == ("50.0 %", "10 ms", "900 ms", "loud")
    assert (second["of its rate"], second["congested"], second["since"]) == ("-", "-", "-")


def test_what_has_curves() -> None:
    """All where they fit; else in turn the first by each measure, of those that have any of it."""
    busy, lost = np.arange(100), np.zeros(100, dtype=np.int64)
    lost[[7, 9]] = 1, 5
    assert most_important(np.arange(8), [busy, lost]) == list(range(8))
    assert most_important(np.arange(100), [busy, lost]) == sorted([99, 9, 98, 7, 97, 96, 95, 94])
    assert most_important(np.arange(50), [busy, lost, 100 - busy]) == sorted([49, 9, 0, 48, 7, 1, 47, 2])
