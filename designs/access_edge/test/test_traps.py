# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Remarks on limits that are none and on marks that nothing can carry: where they are due, and where not."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.engine import run


def notes(folder: Path, **keys: Any) -> list[str]:
    """Return the remarks on a scenario of `demo_64`, which holds 4,608 packets, where a queue of 1 Mbit/s is offered 10 for 10 s."""
    scenario = {
        "device": {"config": "demo_64"},
        "duration": "10 s",
        "queues": [{"id": 0, "name": "slow", "rate": "1 Mbit/s"}],
        "traffic": [{"constant": {"queues": 0, "rate": "10 Mbit/s", "size": 1000}}],  # 11,250 packets come and do not leave
    }
    (folder / "s.yaml").write_text(yaml.safe_dump(scenario | keys))
    found: list[str] = run.prepare(run.Request(folder / "s.yaml", engine="model")).plan.notes
    return found


def test_a_limit_that_is_none(tmp_path: Path) -> None:
    (note,) = notes(tmp_path)
    assert note.startswith("Queue slow is offered more than can leave and may fill the memory of 4,608 packets: the limit of slow, 65,535")


def test_limits_that_are_more_than_the_memory_together(tmp_path: Path) -> None:
    """Ten queues of at most 500 packets: 5,000."""
    queues = [{"ids": "0-9", "rate": "100 kbit/s", "limit_packets": 500}]
    traffic = [{"constant": {"queues": "0-9", "rate": "10 Mbit/s", "size": 1000}}]
    (note,) = notes(tmp_path, queues=queues, traffic=traffic)
    assert note.startswith("10 queues are offered more than can leave and may fill the memory of 4,608 packets: their limits together are")
    assert notes(tmp_path, queues=[queues[0] | {"limit_packets": 400}], traffic=traffic) == []


def test_a_limit_of_a_household(tmp_path: Path) -> None:
    """No queue has a rate, but their subscriber has."""
    keys: dict[str, Any] = {"duration": "100 s"}
    keys |= {
        "device": {"config": "tree_64", "overrides": {"admission": False}},
        "queues": [{"id": 0, "name": "q"}],
        "subscribers": [{"id": 0, "rate": "1 Mbit/s"}],
    }
    assert [note for note in notes(tmp_path, **keys) if "Queue q is offered more" in note]


@pytest.mark.parametrize(
    "keys",
    [
        {"queues": [{"id": 0, "rate": "1 Mbit/s", "limit_packets": 4000}]},
        {"queues": [{"id": 0, "rate": "1 Mbit/s", "limit_bytes": "1 MB"}]},
        {"queues": [{"id": 0, "rate": "11 Mbit/s"}]},
        {"duration": "1 s"},
    ],
)
def test_no_remark(keys: dict[str, Any], tmp_path: Path) -> None:
    """A limit that is one, in packets or bytes; a rate that suffices; too short a time to fill the memory."""
    assert notes(tmp_path, **keys) == []


MARKING = {"device": {"config": "tree_codel_64"}, "queues": [{"id": 0, "name": "q", "rate": "20 Mbit/s", "aqm": {"ecn": True}}]}


def test_marks_that_nothing_carries(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, **MARKING)
    assert note.startswith("q: `ecn: true` marks nothing here")


@pytest.mark.parametrize(
    "traffic",
    [
        {"constant": {"queues": 0, "rate": "10 Mbit/s", "size": 1000}, "headers": {"ecn": 1}},
        {"tcp": {"queues": 0, "rtt": "10 ms", "ecn": True}},
    ],
)
def test_marks_that_are_carried(traffic: dict[str, Any], tmp_path: Path) -> None:
    assert notes(tmp_path, **MARKING, traffic=[traffic]) == []


def test_tcp_without_ecn_carries_none(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, **MARKING, traffic=[{"tcp": {"queues": 0, "rtt": "10 ms"}}])
    assert "marks nothing here" in note
