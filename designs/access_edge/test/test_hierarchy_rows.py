# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The rows of subscribers, nodes and ports in result.json: sums of what the queues have, wherever their subscriber was at the time."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from penstock.basics.units import format_rate
from penstock.designs import configs
from penstock.designs.access_edge import report
from penstock.designs.access_edge.testing import twins, twins_hierarchy
from penstock.engine import engine, run
from penstock.errors import UserError

LEVELS = ("subscribers", "nodes", "ports")


def result_of(scenario: dict[str, Any], folder: Path, which: str = "model") -> dict[str, Any]:
    """Run a scenario and return its result."""
    path = folder / "scenario.yaml"
    path.write_text(yaml.safe_dump(scenario))
    return run.carry_out(run.Request(path, out=folder / "out", engine=which))[0]


def loaded(**keys: Any) -> dict[str, Any]:
    """Two nodes at two ports; one node is congested, and queues drop for both limits."""
    return {
        "device": {"config": "tree_64"},
        "duration": "100 ms",
        "drain": False,
        "queues": [{"ids": "0-7", "limit_packets": 10}, {"ids": "8-15", "limit_bytes": 4000}],
        "subscribers": [{"ids": "0-1", "node": 0}, {"id": 2, "node": 2, "rate": "5 Mbit/s", "weight": 3}, {"id": 3, "node": 2}],
        "nodes": [{"id": 0, "rate": "10 Mbit/s"}, {"id": 2, "port": 1}],
        "traffic": [
            {"poisson": {"queues": "0-7", "rate": "20 Mbit/s", "size": "imix", "pick": "random"}},
            {"poisson": {"queues": "8-14", "rate": "20 Mbit/s", "size": [[100, 1], [1500, 2]], "pick": "random"}},
            {"constant": {"queues": 3, "rate": "100 kbit/s", "size": 2000}},  # longer than the device takes
        ],
        **keys,
    }


def rows_of(result: dict[str, Any], kind: str) -> dict[int, dict[str, Any]]:
    return {row["id"]: row for row in result[kind]}


@pytest.mark.parametrize("which", ["model", pytest.param("rtl", marks=pytest.mark.slow)])
def test_rows_are_the_sums_of_their_queues(which: str, tmp_path: Path) -> None:
    result = result_of(loaded(), tmp_path, which)
    below: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for queue in result["queues"]:
        subscriber = queue["id"] // 4
        for member in (("subscribers", subscriber), ("nodes", 2 * (subscriber // 2)), ("ports", subscriber // 2)):
            below[member].append(queue)
    assert set(below) == {(kind, row["id"]) for kind in LEVELS for row in result[kind]}
    for (kind, ident), queues in below.items():
        row = rows_of(result, kind)[ident]
        for unit in ("packets", "bytes"):
            came, left, lost = (sum(queue[f"{way}_{unit}"] for queue in queues) for way in ("in", "out", "drop"))
            counts = row[unit]
            assert (counts["in"], counts["out"], sum(counts["dropped"].values())) == (came, left, lost)
            assert counts["queued"] == came - left - lost
        assert row["throughput_bps"] == pytest.approx(8 * row["bytes"]["out"] / result["device_seconds"], abs=0.001)
        delay, parts = row["latency_ns"], [queue["latency_ns"] for queue in queues if queue["latency_ns"]["count"]]
        assert delay["count"] == sum(part["count"] for part in parts) == row["packets"]["out"]
        assert delay["min"] == min(part["min"] for part in parts) and delay["max"] == max(part["max"] for part in parts)
        assert delay["mean"] == pytest.approx(sum(part["mean"] * part["count"] for part in parts) / delay["count"], abs=0.01)
        assert min(part["p50"] for part in parts) <= delay["p50"] <= max(part["p50"] for part in parts) * (1 + 1 / 256)
    for unit in ("packets", "bytes"):
        for kind in LEVELS:
            dropped: dict[str, int] = defaultdict(int)
            for row in result[kind]:
                for reason, count in row[unit]["dropped"].items():
                    dropped[reason] += count
            assert dropped == result[unit]["dropped"], kind
    reasons = {ident: set(row["packets"]["dropped"]) for ident, row in rows_of(result, "nodes").items()}
    assert reasons == {0: {"tail_drop_packets", "oversize"}, 2: {"tail_drop_bytes"}}


def test_settings_stand_in_the_rows(tmp_path: Path) -> None:
    result = result_of(loaded(), tmp_path)
    assert {row["id"]: row["configured_rate_bps"] for row in result["subscribers"]} == {0: None, 1: None, 2: 5_000_000, 3: None}
    assert {row["id"]: row["node"] for row in result["subscribers"]} == {0: 0, 1: 0, 2: 2, 3: 2}
    assert {row["id"]: row["weight"] for row in result["subscribers"]} == {0: 1, 1: 1, 2: 3, 3: 1}
    assert {row["id"]: (row["port"], row["configured_rate_bps"]) for row in result["nodes"]} == {0: (0, 10_000_000), 2: (1, None)}
    assert {row["id"]: row["configured_rate_bps"] for row in result["ports"]} == {0: None, 1: None}


def test_a_home_that_is_full_for_a_while(tmp_path: Path) -> None:
    """A home of 50 Mbit/s is offered 80 in a fifth of the run, and its queue of 100 packets drains behind that: it says what it held to."""
    scenario = {
        "device": {"config": "tree_64"},
        "duration": "300 ms",
        "queues": [{"id": 0, "name": "call", "traffic_class": 1}, {"id": 1, "name": "film", "traffic_class": 2, "limit_packets": 100}],
        "subscribers": [{"id": 0, "rate": "50 Mbit/s"}],
        "traffic": [
            {"constant": {"queues": "call", "rate": "100 kbit/s", "size": 200}},
            {"constant": {"queues": "film", "rate": "80 Mbit/s", "size": 1000}, "start": "100 ms", "stop": "160 ms"},
        ],
    }
    result = result_of(scenario, tmp_path)
    (row,) = result["subscribers"]
    assert row["congested_share"] == pytest.approx(0.25, abs=0.01) and row["measured_rate_bps"] < 20e6
    assert row["congested_rate_bps"] == pytest.approx(50e6, rel=0.002)
    (full,) = (line for line in report.sentences(result) if line.startswith("Full "))
    assert full.startswith(
        f"Full     subscriber 0, held to {format_rate(row['congested_rate_bps'])}, congested 25.1 % of the time from 100."
    )


def test_no_more_is_carried_than_offered(tmp_path: Path) -> None:
    """Frames of three lengths, few to each subscriber, all of which leave at once: what left before the last one came, came before it."""
    scenario = {
        "device": {"config": "tree_64"},
        "duration": "40 ms",
        "traffic": [{"poisson": {"queues": [4 * ident for ident in range(16)], "pick": "random", "rate": "8 Mbit/s", "size": "imix"}}],
    }
    rows = result_of(scenario, tmp_path)["subscribers"]
    assert len(rows) > 8 and sum(row["bytes"]["out"] == row["bytes"]["in"] for row in rows) > 8
    for row in rows:
        if row["offered_rate_bps"] is not None:
            assert row["carried_rate_bps"] <= row["offered_rate_bps"], row["name"]


def test_a_frame_counts_where_its_subscriber_is(tmp_path: Path) -> None:
    """A frame every 10 ms, the first in the first 10 ms; from 82 ms on, at other nodes: a subscriber moves, and a node with its own.

    The gate of node 0 is closed up to then: what has come to it leaves from node 1.
    """
    moves = [{"at": "82 ms", "subscribers": 0, "set": {"node": 1}}, {"at": "82 ms", "nodes": 2, "set": {"port": 1}}]
    scenario = {
        "device": {"config": "tree_64"},
        "duration": "160 ms",
        "subscribers": [{"id": 0, "node": 0, "rate": 0}, {"id": 1, "node": 2}],
        "nodes": [{"id": 1, "port": 1}],
        "changes": [*moves, {"at": "84 ms", "subscribers": 0, "set": {"rate": "unshaped"}}],
        "traffic": [{"constant": {"queues": queue, "rate": "800 kbit/s", "size": 1000}} for queue in (0, 4)],
    }
    result = result_of(scenario, tmp_path)
    nodes, ports = rows_of(result, "nodes"), rows_of(result, "ports")
    assert {ident: row["packets"]["in"] for ident, row in nodes.items()} == {0: 9, 1: 7, 2: 16}
    assert {ident: row["packets"]["out"] for ident, row in nodes.items()} == {0: 0, 1: 16, 2: 16}
    assert {ident: row["packets"]["in"] for ident, row in ports.items()} == {0: 18, 1: 14}
    assert {ident: row["packets"]["out"] for ident, row in ports.items()} == {0: 9, 1: 23}
    assert nodes[0]["latency_ns"]["count"] == 0 and nodes[0]["latency_ns"]["max"] is None
    assert nodes[1]["latency_ns"]["max"] == pytest.approx(84e6, rel=0.01) and nodes[2]["latency_ns"]["max"] < 1e6
    assert [row["node"] for row in result["subscribers"]] == [0, 2], "where they were when the run began"


def test_who_lost_most_where_something_moves(tmp_path: Path) -> None:
    """A queue's losses are of all places that it has been at: of nodes and ports nobody is named then, and the sum stands alone."""
    scenario = {
        "device": {"config": "tree_64"},
        "duration": "100 ms",
        "queues": [{"id": 0, "name": "mover", "limit_packets": 10}, {"id": 4, "name": "stays", "limit_packets": 1000}],
        "subscribers": [{"id": 0, "node": 0}, {"id": 1, "node": 1}],
        "nodes": [{"id": 0, "rate": "50 Mbit/s", "port": 0}, {"id": 1, "rate": "5 Mbit/s", "port": 1}],
        "changes": [{"at": "10 ms", "subscribers": 0, "set": {"node": 1}}],
        "traffic": [
            {"constant": {"queues": "mover", "rate": "20 Mbit/s", "size": 1000}},
            {"constant": {"queues": "stays", "rate": "1 Mbit/s", "size": 1000}},
        ],
    }
    result = result_of(scenario, tmp_path)
    node = rows_of(result, "nodes")[1]
    lost = sum(node["packets"]["dropped"].values())
    assert lost > 50 and not rows_of(result, "nodes")[0]["packets"]["dropped"]
    assert [row["dropped_most"] for kind in ("nodes", "ports") for row in result[kind]] == [None] * 4
    assert rows_of(result, "subscribers")[0]["dropped_most"]["name"] == "mover"
    (full,) = (line for line in report.sentences(result) if "node 1" in line)
    assert full.endswith(f"; {lost} packets dropped")


def test_changes_that_a_run_does_not_come_to(tmp_path: Path) -> None:
    """One at the end of the run or later is refused; one that comes when the device is empty is in no row and in no plot."""
    scenario = {
        "device": {"config": "tree_64"},
        "duration": "10 ms",
        "drain": "10 ms",
        "nodes": [{"id": 0, "rate": "50 Mbit/s"}],
        "queues": [{"id": 0, "name": "data", "rate": "20 Mbit/s"}],
        "changes": [
            {"at": at, what: 0, "set": {"rate": rate}}
            for at, rate in (("5 ms", "30 Mbit/s"), ("15 ms", "10 Mbit/s"))
            for what in ("queues", "nodes")
        ],
        "traffic": [{"constant": {"queues": "data", "rate": "1 Mbit/s", "size": 200}}],
    }
    result = result_of(scenario, tmp_path)
    assert result["drained"] and result["device_seconds"] < 0.015
    for row in (result["queues"][0], result["nodes"][0]):
        assert row["rate_changes"] == [[0.005, 30_000_000]]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "queues 0: rate 30 Mbit/s" in page and "10 Mbit/s" not in page
    for at in ("20 ms", "2 s"):
        scenario["changes"][1]["at"] = at
        with pytest.raises(UserError, match=rf"`changes\.1\.at` is {at}, which is not before the end of the run at 20 ms$"):
            result_of(scenario, tmp_path)


def test_congestion(tmp_path: Path) -> None:
    """A node of 10 Mbit/s is offered 20 from 20 ms to 60 ms: 100 kB, which take it 80 ms; a subscriber of 5 Mbit/s below it 4 of them.

    Its port, of 10.2 Mbit/s, carries 10: what waits, waits for the node. The other node has no rate, so it is never congested.
    """
    scenario = {
        "device": {"config": "tree_64"},
        "duration": "200 ms",
        "queues": [{"id": 0, "name": "big"}, {"id": 4, "name": "small"}],
        "subscribers": [{"id": 0, "node": 0}, {"id": 1, "node": 0, "rate": "5 Mbit/s"}, {"id": 2, "node": 1}],
        "nodes": [{"id": 0, "rate": "10 Mbit/s"}, {"id": 1, "port": 1}],
        "ports": [{"id": 0, "rate": "10.2 Mbit/s"}],
        "traffic": [
            {"constant": {"queues": "big", "rate": "16 Mbit/s", "size": 500}, "start": "20 ms", "stop": "60 ms"},
            {"constant": {"queues": "small", "rate": "4 Mbit/s", "size": 500}, "start": "20 ms", "stop": "60 ms"},
            {"constant": {"queues": 8, "rate": "20 Mbit/s", "size": 500}},
        ],
    }
    result = result_of(scenario, tmp_path)
    node, other = rows_of(result, "nodes")[0], rows_of(result, "nodes")[1]
    assert node["offered_rate_bps"] == pytest.approx(20e6, rel=0.02)
    assert node["measured_rate_bps"] == node["congested_rate_bps"] == pytest.approx(10e6, rel=0.002)
    assert node["congested_from_s"] == pytest.approx(0.02, abs=0.001) and node["congested_until_s"] == pytest.approx(0.1, abs=0.001)
    assert node["congested_s"] == pytest.approx(0.08, abs=0.001)
    assert node["congested_share"] == pytest.approx(node["congested_s"] / result["device_seconds"], abs=1e-6)
    assert (other["congested_s"], other["congested_from_s"], other["congested_rate_bps"]) == (0, None, None)
    assert other["measured_rate_bps"] == pytest.approx(20e6, rel=0.01)
    assert rows_of(result, "ports")[0]["congested_s"] == 0
    with np.load(tmp_path / "out" / "series.npz") as series:
        seconds = float(series["interval_ns"]) / 1e9
        assert series["nodes_ids"].tolist() == [0, 1] and series["nodes_names"].tolist() == ["node 0", "node 1"]
        assert series["nodes_congested"][:, 0].sum() * seconds == pytest.approx(node["congested_s"], abs=1e-6)
        assert series["nodes_bytes_out"].sum(axis=0).tolist() == [node["bytes"]["out"], other["bytes"]["out"]]
        assert np.nanmax(series["nodes_latency_mean_ns"][:, 0]) == pytest.approx(node["latency_ns"]["max"], rel=0.1)
        assert np.interp(0.5, series["cdf_share"], series["nodes_cdf_ns"][:, 0]) == pytest.approx(node["latency_ns"]["p50"], rel=0.02)


def test_the_last_interval_is_cut_by_the_end(tmp_path: Path) -> None:
    """100 ms in intervals of 30 ms: what is so all the time is so in the last 10 ms, in the curves of queues and of levels."""
    scenario = {
        "device": {"config": "tree_64"},
        "duration": "100 ms",
        "drain": False,
        "subscribers": [{"id": 0, "node": 0}, {"id": 1, "node": 1}],
        "nodes": [{"id": 0, "rate": "10 Mbit/s"}, {"id": 1}],
        "report": {"interval": "30 ms"},
        "traffic": [
            {"constant": {"queues": 0, "rate": "20 Mbit/s", "size": 64}},
            {"constant": {"queues": 4, "rate": "10 Mbit/s", "size": 64}},
        ],
    }
    result_of(scenario, tmp_path)
    data = json.loads(re.search(r"const data = (\{.*\});\n", (tmp_path / "out" / "report.html").read_text())[1])  # type: ignore[index]
    sets = {of["word"]: {item["name"]: item for item in of["items"]} for of in data["sets"]}
    assert sets["queue"]["queue 4"]["rate"] == pytest.approx([10e6] * 4, rel=0.02)
    assert sets["node"]["node 0"]["rate"] == pytest.approx([10e6] * 4, rel=0.02)
    assert sets["node"]["node 0"]["offered"] == pytest.approx([20e6] * 4, rel=0.02)
    assert sets["node"]["node 0"]["congested"] == pytest.approx([1] * 4, abs=0.1), "but for a last stretch that has not ended"
    with np.load(tmp_path / "out" / "series.npz") as series:
        assert series["nodes_congested"].max() <= 1


def test_congestion_follows_rates_and_moves(tmp_path: Path) -> None:
    """A subscriber that is offered 8 Mbit/s: unshaped, then at 4 Mbit/s from 50 ms to 150 ms; at 100 ms it moves to another node."""
    changes = [
        {"at": "50 ms", "subscribers": 0, "set": {"rate": "4 Mbit/s"}},
        {"at": "100 ms", "subscribers": 0, "set": {"node": 1}},
        {"at": "150 ms", "subscribers": 0, "set": {"rate": "unshaped"}},
    ]
    scenario = {
        "device": {"config": "tree_64"},
        "duration": "200 ms",
        "subscribers": [{"id": 0, "node": 0}],
        "nodes": [{"ids": "0-1", "rate": "8.2 Mbit/s"}],
        "changes": changes,
        "traffic": [{"constant": {"queues": 0, "rate": "8 Mbit/s", "size": 500}}],
    }
    result = result_of(scenario, tmp_path)
    (row,) = result["subscribers"]
    assert row["rate_changes"] == [[0.05, 4_000_000], [0.15, None]]
    assert row["congested_s"] == pytest.approx(0.1, abs=0.02)
    assert row["congested_from_s"] == pytest.approx(0.05, abs=0.01) and row["congested_until_s"] == pytest.approx(0.15, abs=0.01)
    nodes = rows_of(result, "nodes")
    assert nodes[0]["congested_s"] == 0
    assert nodes[1]["congested_from_s"] == pytest.approx(0.15, abs=0.02), "what had waited for the subscriber waits for its new node"
    assert nodes[1]["congested_until_s"] == pytest.approx(0.247, abs=0.006), "all of it: 100 frames when the sources end, but for three"


def behind_a_slow_queue(*changes: dict[str, Any], node: int = 1, size: int = 1500) -> dict[str, Any]:
    """Return a scenario: subscriber 0 has a queue of 64 kbit/s with a backlog from 1 ms on; at the end node 1 carries nearly its rate."""
    return {
        "device": {"config": "tree_64"},
        "duration": "1 s",
        "queues": [{"id": 0, "name": "slow", "rate": "64 kbit/s"}],
        "subscribers": [{"id": 0, "node": node}, {"id": 1, "node": 1}],
        "nodes": [{"id": 1, "rate": "10 Mbit/s"}],
        "changes": list(changes),
        "traffic": [
            {"constant": {"queues": "slow", "rate": "400 kbit/s", "size": size}, "stop": "300 ms"},
            {"constant": {"queues": 4, "rate": "9.8 Mbit/s", "size": 500}, "start": "900 ms"},
        ],
    }


@pytest.mark.parametrize("node", [0, 1])
def test_nothing_stays_waiting_where_a_subscriber_comes_to(tmp_path: Path, node: int) -> None:
    """It moves with a backlog, more comes before the next frame leaves; half a second later all of that has left."""
    clear = {"at": "500 ms", "queues": "slow", "set": {"rate": "unshaped"}}
    moves = [] if node else [{"at": "100 ms", "subscribers": 0, "set": {"node": 1}}]
    result = result_of(behind_a_slow_queue(*moves, clear, node=node), tmp_path)
    assert rows_of(result, "nodes")[1]["congested_s"] == 0


@pytest.mark.parametrize("closed", [False, True])
def test_what_waits_for_its_own_queue_waits_for_nothing_above(tmp_path: Path, closed: bool) -> None:
    """The only backlog below a node that carries 98 % of its rate is behind a queue's own rate, or its gate.

    What it lets go is short: the node's other frames wait for it for less than 16 departures."""
    gate = [{"at": "500 ms", "queues": "slow", "set": {"rate": 0}}] if closed else []
    result = result_of(behind_a_slow_queue(*gate, size=100), tmp_path)
    node = rows_of(result, "nodes")[1]
    assert node["packets"]["out"] > 240 and node["congested_s"] == 0


def test_queues_that_together_are_too_fast_congest(tmp_path: Path) -> None:
    """Three queues of 4 Mbit/s below a node of 10: most of the time each waits for its own rate, but a frame for the node always before
    the last one has gone. With 3 Mbit/s each there is a backlog as well, behind each queue, and none waits for the node."""
    for rate, share in ((4, 1.0), (3, 0.0)):
        scenario = {
            "device": {"config": "tree_64"},
            "duration": "200 ms",
            "drain": False,
            "queues": [{"ids": "0-2", "rate": f"{rate} Mbit/s"}],
            "nodes": [{"id": 0, "rate": "10 Mbit/s"}],
            "traffic": [{"constant": {"queues": "0-2", "rate": "5 Mbit/s", "size": 500, "pick": "each"}}],
        }
        (row,) = result_of(scenario, tmp_path)["nodes"]
        assert row["congested_share"] == pytest.approx(share, abs=0.07), rate


def test_a_burst_is_not_congestion(tmp_path: Path) -> None:
    """A subscriber passes a burst at twice its rate, its frames wait for the line."""
    scenario = {
        "device": {"config": "tree_64"},
        "duration": "300 ms",
        "link": {"egress": "20 Mbit/s"},
        "subscribers": [{"id": 0, "rate": "10 Mbit/s", "burst": "200 kB"}],
        "traffic": [{"constant": {"queues": 0, "rate": "100 Mbit/s", "size": 500}, "start": "200 ms", "stop": "208 ms"}],
    }
    (row,) = result_of(scenario, tmp_path)["subscribers"]
    assert row["packets"]["out"] == 200 and row["congested_s"] == 0 and row["latency_ns"]["max"] > 20e6


def test_marks_and_losses_of_levels(tmp_path: Path) -> None:
    """Of two subscribers one has CoDel with ECN: its marks, and whose packets were dropped."""
    scenario = {
        "device": {"config": "tree_codel_64"},
        "duration": "1 s",
        "queues": [
            {"id": 0, "name": "marks", "aqm": {"ecn": True, "target": "5 ms", "interval": "20 ms"}, "limit_packets": 1000},
            {"id": 4, "name": "drops", "limit_packets": 20},
        ],
        "subscribers": [{"ids": "0-1", "rate": "5 Mbit/s"}],
        "traffic": [
            {"tcp": {"queues": "marks", "ecn": True, "rtt": "10 ms"}},
            {"constant": {"queues": "drops", "rate": "6 Mbit/s", "size": 1000}},
        ],
    }
    result = result_of(scenario, tmp_path)
    rows = rows_of(result, "subscribers")
    assert rows[0]["marked_packets"] == result["marked_packets"] > 0 and rows[1]["marked_packets"] == 0
    assert rows[1]["dropped_most"] == {"id": 4, "name": "drops", "packets": sum(rows[1]["packets"]["dropped"].values())}
    lost = {queue["name"]: queue["dropped"] for queue in result["queues"]}
    assert lost["drops"] == {"tail_drop_packets": rows[1]["dropped_most"]["packets"]}
    with np.load(tmp_path / "out" / "series.npz") as series:
        assert series["marks_of"].sum(axis=0).tolist() == [result["marked_packets"], 0, 0]
        assert series["drops_of"].sum(axis=0)[1] == rows[1]["dropped_most"]["packets"]
        assert series["subscribers_marks"].sum() == result["marked_packets"]
        assert series["subscribers_drops"].sum() == sum(result["packets"]["dropped"].values())


def test_no_rows_without_a_hierarchy(tmp_path: Path) -> None:
    scenario = {
        "device": {"config": "demo_64"},
        "duration": "1 ms",
        "traffic": [{"constant": {"queues": 0, "rate": "100 Mbit/s", "size": 100}}],
    }
    assert not set(LEVELS) & set(result_of(scenario, tmp_path))


def test_a_level_of_many_has_latencies_where_frames_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """4,096 subscribers: their histograms would take 200 MB."""
    scenario = {
        "device": {"config": "tree_2048", "overrides": {"queues": 16384}},
        "duration": "1 ms",
        "traffic": [
            {"constant": {"queues": "8000-15999/8", "rate": "20 Gbit/s", "size": 100}},
            {"constant": {"queues": "0-7999/8", "rate": "10 Gbit/s", "size": 100}},
        ],
    }
    result = result_of(scenario, tmp_path)
    assert [row["id"] for row in result["subscribers"]] == list(range(2000, 4000, 2)), "the busiest ones"
    assert [row["latency_ns"]["count"] for row in result["subscribers"]] == [row["packets"]["out"] for row in result["subscribers"]]
    (node,) = result["nodes"]
    assert node["latency_ns"]["count"] == node["packets"]["out"] == result["packets"]["out"]
    monkeypatch.setattr("penstock.designs.access_edge.job.MAX_KEPT_FRAMES", 10)
    many = result_of(scenario, tmp_path)
    assert {row["latency_ns"] for row in many["subscribers"]} == {None}
    assert many["nodes"][0]["latency_ns"]["p50"] == pytest.approx(node["latency_ns"]["p50"], rel=1 / 128)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"node_of": np.zeros(3, dtype=np.uint32)}, "node_of does not have each subscriber's node"),
        ({"node_of": np.full(16, 4, dtype=np.uint32)}, "node_of names 4, which is not there"),
        ({"port_of": np.full(4, 2, dtype=np.uint32)}, "port_of names 2, which is not there"),
        ({"moves": [(0, False, 16, 0)]}, "moves names 16"),
        ({"moves": [(0, True, 0, 2)]}, "moves names 2"),
        ({"moves": [0]}, "moves is not a list of"),
        ({"roots": 1}, "hierarchy.roots is not a key"),
    ],
)
def test_the_engine_refuses_places_that_cannot_be(change: dict[str, Any], words: str) -> None:
    config = configs.load("tree_64")
    places = {"node_of": np.zeros(16, dtype=np.uint32), "port_of": np.zeros(4, dtype=np.uint32), "moves": []}
    hierarchy = {"queues_per_subscriber": 4, "ports": 2, **places} | change
    job = twins_hierarchy.HierarchyJob(config, 1, changes=False).job | {"device": twins.device(config, None, {}), "hierarchy": hierarchy}
    with pytest.raises(ValueError, match=words):
        engine.run(job)
