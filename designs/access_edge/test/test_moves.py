# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A subscriber that holds back for what of it waits above goes on when that is no longer above: when it moves, or its node."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.engine import run
from penstock.testing.testkit import seed

RATE_BPS, END_MS, CLOSED_MS, MOVES_MS = 5e6, 60, 10, 12
BURST_MS = 20  # it holds back for a third of that: 2^16 cycles at 10 MHz


def scenario(closed: str, moved: dict[str, Any]) -> dict[str, Any]:
    """Class 0 and 1 of a subscriber want all of its rate; what is above it is closed, and a packet of class 0 stays there."""
    return {
        "device": {"config": "tree_64"},
        "duration": f"{END_MS} ms",
        "drain": False,
        "queues": [{"id": 0, "traffic_class": 0, "limit_packets": 100}, {"id": 1, "traffic_class": 1, "limit_packets": 100}],
        "subscribers": [{"id": 0, "rate": "5 Mbit/s", "burst": f"{BURST_MS} ms", "node": 0}],
        "nodes": [{"id": 0, "rate": "40 Mbit/s", "port": 0}, {"id": 1, "port": 1}],
        "ports": [{"id": 0}, {"id": 1}],
        "traffic": [{"constant": {"queues": [0, 1], "rate": "10 Mbit/s", "size": 500}}],
        "changes": [
            {"at": f"{CLOSED_MS} ms", closed: 0, "set": {"rate": 0}},
            {"at": f"{MOVES_MS} ms", **moved},
        ],
        "report": {"series": [0, 1], "interval": "1 ms"},
    }


@pytest.mark.parametrize("engine", ["model", "rtl"])
@pytest.mark.parametrize(
    ("closed", "moved"),
    [("nodes", {"subscribers": 0, "set": {"node": 1}}), ("ports", {"nodes": 0, "set": {"port": 1}})],
    ids=["subscriber", "node"],
)
def test_a_move_ends_what_it_waits_for(closed: str, moved: dict[str, Any], engine: str, tmp_path: Path) -> None:
    """Class 1 has the rate from the move on, at once, and makes up for the wait; the packet of class 0 stays where it was."""
    (tmp_path / "moves.yaml").write_text(json.dumps(scenario(closed, moved)))
    result, _ = run.carry_out(run.Request(tmp_path / "moves.yaml", out=tmp_path / "out", engine=engine))
    assert result["conservation"]["ok"] and result["findings"] == []
    sent = np.load(tmp_path / "out" / "series.npz")["bytes_out"]
    high, low = sent[:, 0], sent[:, 1]
    # Class 0 has all of it but a first packet until the gate is closed, then nothing any more.
    assert high[:CLOSED_MS].sum() >= 0.9 * RATE_BPS / 8 * CLOSED_MS / 1e3 and low[:CLOSED_MS].sum() <= 500
    assert high[CLOSED_MS + 1 :].sum() == 0
    # It does not wait until it is too late to hold back, which would be in five milliseconds.
    assert low[MOVES_MS : MOVES_MS + 2].sum() >= 0.9 * RATE_BPS / 8 * 2 / 1e3
    due = RATE_BPS / 8 * (END_MS - MOVES_MS) / 1e3
    assert due - 1500 <= low.sum() <= due + RATE_BPS / 8 * BURST_MS / 1e3


@pytest.mark.parametrize("engine", ["model", "rtl"])
@pytest.mark.parametrize("other", [{"port": 1}, {"rate": "30 Mbit/s"}], ids=["moves", "rate"])
def test_two_nodes_at_the_same_time(other: dict[str, Any], engine: str, tmp_path: Path) -> None:
    """Both nodes are held, for class 0 waits at a port that is closed; both have a setting within a walk, and the first one moves. Nothing
    arrives at it any more that could wake it up."""
    end_ms, closed_ms, moves_ms = 60, 10, 12
    queues = [{"id": 4 * node + cls, "traffic_class": cls, "limit_packets": 100} for node in (0, 1) for cls in (0, 1)]
    spec = {
        "device": {"config": "tree_64"},
        "duration": f"{end_ms} ms",
        "drain": False,
        "queues": queues,
        "subscribers": [{"id": node, "node": node} for node in (0, 1)],
        "nodes": [{"id": node, "rate": "5 Mbit/s", "burst": "20 ms", "port": 0} for node in (0, 1)],
        "ports": [{"id": 0}, {"id": 1}],
        "traffic": [{"constant": {"queues": [first, first + 1], "rate": "10 Mbit/s", "size": 500}} for first in (0, 4)],
        "changes": [
            {"at": f"{closed_ms} ms", "ports": 0, "set": {"rate": 0}},
            {"at": f"{moves_ms} ms", "nodes": 0, "set": {"port": 1}},
            {"at": f"{moves_ms} ms", "nodes": 1, "set": other},
        ],
        "report": {"series": [queue["id"] for queue in queues], "interval": "1 ms"},
    }
    (tmp_path / "moves.yaml").write_text(json.dumps(spec))
    result, _ = run.carry_out(run.Request(tmp_path / "moves.yaml", out=tmp_path / "out", engine=engine))
    assert result["conservation"]["ok"] and result["findings"] == []
    low = np.load(tmp_path / "out" / "series.npz")["bytes_out"][:, 1]
    assert low[moves_ms + 1 :].sum() >= 0.9 * 5e6 / 8 * (end_ms - moves_ms - 1) / 1e3


@pytest.mark.parametrize("engine", ["model", "rtl"])
def test_nodes_at_any_times(engine: str, tmp_path: Path) -> None:
    """All nodes are held, as above, and have settings in any order, at once or some cycles apart. Each that has moved goes on at once: a
    walk tells of one node, in 64 cycles, and where settings come faster than that, walks tell of all nodes."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    end_ms, closed_ms, moves_ms, nodes = 20, 10, 12, 4
    queues = [{"id": 16 * node + cls, "traffic_class": cls, "limit_packets": 100} for node in range(nodes) for cls in (0, 1)]
    moves = [(node, rng.random() < 0.6) for node in rng.sample(range(nodes), nodes)]
    moves += [(node, False) for node in rng.choices(range(nodes), k=4)]
    rng.shuffle(moves)
    moved = {node for node, does in moves if does}
    apart = rng.choice([0, 1, 7, 20])  # us: 10 cycles each
    spec = {
        "device": {"config": "tree_64"},
        "duration": f"{end_ms} ms",
        "drain": False,
        "queues": queues,
        "subscribers": [{"id": 4 * node, "node": node} for node in range(nodes)],
        "nodes": [{"id": node, "rate": "5 Mbit/s", "burst": "20 ms", "port": 0} for node in range(nodes)],
        "ports": [{"id": 0}, {"id": 1}],
        "traffic": [{"constant": {"queues": [16 * node, 16 * node + 1], "rate": "10 Mbit/s", "size": 500}} for node in range(nodes)],
        "changes": [
            {"at": f"{closed_ms} ms", "ports": 0, "set": {"rate": 0}},
            *(
                {"at": f"{1000 * moves_ms + apart * place} us", "nodes": node, "set": {"port": 1} if does else {"rate": "5 Mbit/s"}}
                for place, (node, does) in enumerate(moves)
            ),
        ],
        "report": {"series": [queue["id"] for queue in queues], "interval": "1 ms"},
    }
    print(spec["changes"])
    (tmp_path / "moves.yaml").write_text(json.dumps(spec))
    result, _ = run.carry_out(run.Request(tmp_path / "moves.yaml", out=tmp_path / "out", engine=engine))
    assert result["conservation"]["ok"] and result["findings"] == []
    low = np.load(tmp_path / "out" / "series.npz")["bytes_out"][:, 1::2]
    for node in range(nodes):
        sent = low[moves_ms + 1 : moves_ms + 4, node].sum()
        assert sent >= 0.9 * 5e6 / 8 * 3e-3 if node in moved else sent <= 500, (node, moved, sent)
