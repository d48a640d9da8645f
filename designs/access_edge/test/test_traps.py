# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Remarks on limits that are none, or that cost a share, and on marks that nothing can carry: where they are due, and where not."""

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from penstock.command_line.app import main
from penstock.designs.access_edge import traps
from penstock.engine import run
from penstock.testing.testkit import seed


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


# ---- limits that hold less than a turn

NODE_BPS, CLOCK_HZ = 24_000_000, 10_000_000


def crowded(*subscribers: tuple[int, int, int, int], seconds: float = 1.0) -> dict[str, Any]:
    """Return a scenario of subscribers below a node of 24 Mbit/s: weight, bytes of a packet, limit in packets, and what is offered."""
    return {
        "device": {"config": "tree_64", "overrides": {"admission": False}},
        "duration": f"{seconds} s",
        "drain": False,
        "queues": [{"id": 4 * n, "name": f"q{n}", "limit_packets": limit} for n, (_, _, limit, _) in enumerate(subscribers)],
        "subscribers": [{"id": n, "weight": weight} for n, (weight, *_) in enumerate(subscribers)],
        "nodes": [{"id": 0, "rate": "24 Mbit/s"}],
        "traffic": [
            {"constant": {"queues": 4 * n, "rate": f"{bps} bit/s", "size": size}} for n, (_, size, _, bps) in enumerate(subscribers)
        ],
        "report": {"series": [f"q{n}" for n in range(len(subscribers))]},
    }


HEAVY = (8, 64, 20, 20_000_000)
LIGHT = (1, 1200, 100, 12_000_000)


def test_a_limit_below_a_turn(tmp_path: Path) -> None:
    """A turn of weight 8 is 16,384 byte, 256 packets of 64 byte, of which 20 are held; a limit of 256 is enough."""
    (note,) = notes(tmp_path, **crowded(HEAVY, LIGHT, LIGHT))
    assert re.fullmatch(
        r"Subscriber 0 gets about \d+\.\d+ Mbit/s of its 19\.20 Mbit/s at node 0: its queues of class 0 may hold 1,280 byte, and its turn "
        r"\(weight 8\) is 16,384 byte, 256 packets; give it limits that hold a turn\.",
        note,
    ), note
    assert notes(tmp_path, **crowded((*HEAVY[:2], 256, HEAVY[3]), LIGHT, LIGHT)) == []
    port = crowded(HEAVY, LIGHT, LIGHT) | {"nodes": [], "ports": [{"id": 0, "rate": "24 Mbit/s"}]}
    assert notes(tmp_path, **port) == [note.replace("node 0", "port 0")]
    two = crowded((8, 64, 5, 11_000_000), (8, 64, 6, 11_000_000), LIGHT, LIGHT)
    assert "at node 0 (and 1 more lose as well)" in notes(tmp_path, **two)[0]


@pytest.mark.parametrize(
    "keys",
    [
        crowded((*HEAVY[:3], 6_000_000), LIGHT, LIGHT),
        crowded(HEAVY),
        crowded(HEAVY, LIGHT) | {"nodes": [{"id": 0, "rate": "40 Mbit/s"}]},
        crowded(HEAVY, LIGHT) | {"nodes": []},
        crowded(HEAVY, LIGHT) | {"subscribers": [{"id": 0, "weight": 8, "node": 1}]},
        crowded(HEAVY, LIGHT) | {"queues": [{"id": 0, "name": "q0", "limit_packets": 20, "traffic_class": 1}, {"id": 4, "name": "q1"}]},
    ],
    ids=["less than its share", "nobody else", "not congested", "no rate", "another node", "another class"],
)
def test_a_limit_that_costs_nothing(keys: dict[str, Any], tmp_path: Path) -> None:
    assert notes(tmp_path, **keys) == []


def test_turns_that_are_held_are_shares() -> None:
    """By weight where limits hold a turn; one that wants less has what it wants."""
    wants = [(9e6, 8, 64, 17_000.0), (9e6, 3, 1500, 15_000.0), (1e6, 1, 600, 6_000.0), (9e6, 2, 200, 5_000.0)]
    found = traps.turns(wants, 10e6, CLOCK_HZ)
    demands, weights = ({n: one[column] for n, one in enumerate(wants)} for column in (0, 1))
    shares = traps.fair(demands, weights, 10e6)  # type: ignore[arg-type]
    assert [shares[n] for n in range(4)] == pytest.approx([10e6 * 8 / 14, 10e6 * 3 / 14, 10e6 / 14, 10e6 * 2 / 14])
    assert found == pytest.approx([shares[n] for n in range(4)], rel=0.02)
    assert traps.fair({0: 1e6, 1: 9e6, 2: 9e6}, {0: 8, 1: 1, 2: 2}, 10e6) == pytest.approx({0: 1e6, 1: 3e6, 2: 6e6})


@pytest.mark.parametrize("number", range(6))
def test_what_limits_cost_is_what_the_model_does(number: int, tmp_path: Path) -> None:
    """Random weights, sizes, limits and offers: who is said to lose gets what is said and at least the documented bound, and who loses more
    than a tenth of its share is named."""
    rng = random.Random(seed() + number)
    while True:
        weights = [rng.randint(1, 8) for _ in range(rng.randint(2, 10))]
        shares = [NODE_BPS * weight / sum(weights) for weight in weights]
        over = rng.uniform(1.5, 4)
        drawn = [(w, rng.choice([64, 64, 200, 600, 1500]), rng.choice([10, 20, 40, 100, 300]), round(s * over * rng.uniform(0.8, 1.3)))
                 for w, s in zip(weights, shares, strict=True)]  # fmt: skip
        (tmp_path / "s.yaml").write_text(yaml.safe_dump(crowded(*drawn, seconds=2.0)))
        prepared = run.prepare(run.Request(tmp_path / "s.yaml", engine="model"))
        said = {one.subscriber: one for one in traps.shorts(prepared.plan, prepared.config)}  # type: ignore[arg-type]
        if said or rng.random() < 0.1:  # most draws that nobody loses by are left out
            break
    assert main(["run", str(tmp_path / "s.yaml"), "--engine", "model", "--out", str(tmp_path / "r"), "--json"]) == 0
    series = np.load(tmp_path / "r" / "series.npz")
    part = series["bytes_out"][len(series["bytes_out"]) // 4 :]
    gets = 8e9 * part.sum(axis=0) / (len(part) * float(series["interval_ns"]))
    for subscriber, (weight, size, limit, _) in enumerate(drawn):
        got, share, holds = gets[subscriber], shares[subscriber], size * limit
        if subscriber in said:
            assert got == pytest.approx(said[subscriber].gets_bps, rel=0.08), (subscriber, drawn)
            assert got > 0.97 * NODE_BPS * holds / ((sum(weights) - weight) * traps.TURN_BYTES + holds), (subscriber, drawn)
        else:
            assert got > 0.9 * share, (subscriber, drawn)
