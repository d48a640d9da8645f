"""Benches of the hierarchy: their keys, what the hardware promises, and that a core that misbehaves fails them."""

import json

import numpy as np
import pytest

from penstock.benches import bench
from penstock.command_line.app import main
from penstock.designs.access_edge.bench import bench_hierarchy

CORE = ["--set", "queues=256"]
DISTRIBUTION = {"count", "min", "mean", "p50", "p99", "p99_9", "max"}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main(["bench", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def settings(**values: object) -> list[str]:
    return [part for key, value in values.items() for part in ("--set", f"{key}={value}")]


def on_both_engines(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    """Run a bench on the RTL and on the model, which must find the same, and return that."""
    found = [run(capsys, *arguments, "--set", f"engine={which}") for which in ("rtl", "model")]
    for result in found:
        for key in ("engine", "config", "wall_seconds"):
            result.pop(key)
    assert found[0] == found[1]
    return found[0]


HIERARCHY = settings(queues=256, descriptors=4096, levels=4)


@pytest.mark.parametrize("name", ["queue", "schedule"])
def test_open_gates_cost_no_throughput(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, name, *HIERARCHY, "--set", "packets=20000")
    assert result["dequeues_per_cycle"] >= 0.68 and result["enqueues_per_cycle"] >= 0.68
    assert result["config"]["levels"] == 4 and result["config"]["nodes"] == 8


@pytest.mark.parametrize("name", ["queue", "schedule", "idle-latency"])
def test_the_model_finds_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A bench on the model gives the figures of the RTL, to the digit."""
    on_both_engines(capsys, name, *HIERARCHY, *settings(packets=2000))


def test_the_model_shares_as_fairly(capsys: pytest.CaptureFixture[str]) -> None:
    given = settings(megabytes=1, size=590, congested_nodes=8, subscribers=32, rate=4_000_000_000, engine="model")
    result = run(capsys, "fairness", *CORE, *given)
    assert 0 < result["share_error_points"] <= 0.5
    result = run(capsys, "engine", *settings(queues=2048, levels=4, packets=20_000, engine="model"))
    assert result["packets_out"] > 15_000 and result["config"]["levels"] == 4


@pytest.mark.parametrize("name", ["queue", "schedule"])
@pytest.mark.parametrize(("pattern", "least"), [("neighbours", 0.68), ("same", 1 / 12)])
def test_few_queues_send_ahead(name: str, pattern: str, least: float, capsys: pytest.CaptureFixture[str]) -> None:
    """Packets of a queue follow one another in the hierarchy: 12 cycles at most for a queue alone, the full rate for four neighbours."""
    result = run(capsys, name, *HIERARCHY, *settings(pattern=pattern, packets=20_000))
    assert result["enqueues_per_cycle"] >= least and result["dequeues_per_cycle"] >= least


@pytest.mark.slow
def test_lateness_is_within_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, "lateness", *settings(queues=2048, levels=4, packets=50_000))
    assert result["config"]["levels"] == 4 and result["lateness_cycles"]["p99_9"] <= 440


def test_announced_queues_do_not_wait_for_told_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """Few nodes: one that was closed stays congested, its queues wait to be told. The enqueue side once stood still for 204 cycles."""
    result = run(capsys, "reconfigure", *CORE, *settings(nodes=8, cycles=300_000), "--seed", "2")
    assert result["lost"] == result["reordered"] == 0
    assert result["enqueue_standstill_cycles"]["with_changes"]["max"] <= 16
    # Subscribers and nodes move all the time. What holds back for packets at the old place lets nothing go: that was 733 cycles.
    assert result["output_standstill_cycles"]["with_changes"]["max"] <= 48


@pytest.mark.parametrize(("level", "least", "below"), [("subscriber", 0.95, 0.98), ("node", 0.6, 0.85), ("port", 0.38, 0.85)])
def test_a_congested_level(level: str, least: float, below: float, capsys: pytest.CaptureFixture[str]) -> None:
    """Nodes and ports that are behind their time let batches of packets go; a packet that waits costs the pipeline two operations.

    A part of a batch is at most as long as there are subscribers that wait: eight for each node here. What waits at subscribers is soon
    gone, as two packets that waited go for each new one, four at a look: then packets pass at the full rate, of 0.97.
    """
    result = run(capsys, "schedule", *HIERARCHY, *settings(packets=10000, congested=level))
    assert least <= result["dequeues_per_cycle"] < below
    assert result["config"]["congested"] == level


def test_small_packets_fill_a_congested_subscriber(capsys: pytest.CaptureFixture[str]) -> None:
    """Two subscribers with eight queues each: packet by packet they would send 0.12 in a cycle, a look at each giving one in 17."""
    given = settings(engine="model", levels=4, queues=16, queues_per_subscriber=8, nodes=2, packets=20_000, congested="subscriber")
    assert run(capsys, "schedule", *given)["dequeues_per_cycle"] >= 0.6


def test_mixed_packets_fill_a_congested_link(capsys: pytest.CaptureFixture[str]) -> None:
    """A queue of 60 byte alone at its subscriber has its turn in each part of a batch, so a node of 100 Gbit/s does not wait for it."""
    given = settings(engine="model", queues=2048, congested_nodes=1, nodes=8, subscribers=64, rate="100 Gbit/s", size="mixed", megabytes=4)
    result = run(capsys, "fairness", *given)
    assert 0.99 <= result["parent_utilisation"] <= 1.005 and result["share_error_points"] <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize("size", [200, "imix", "mixed"])
def test_small_packets_fill_a_congested_link(size: int | str, capsys: pytest.CaptureFixture[str]) -> None:
    """A node of 100 Gbit/s sends a packet of 200 byte in 3.5 cycles: it keeps its rate, it is shared fairly. The model finds the same.

    With `mixed` a packet of 9,600 byte at an edge of the window is a point of its subscriber's megabyte.
    """
    given = settings(queues=2048, congested_nodes=1, nodes=8, subscribers=64, rate="100 Gbit/s", size=size, megabytes=1)
    result = on_both_engines(capsys, "fairness", *given)
    assert (0.99 if size == "mixed" else 0.995) <= result["parent_utilisation"] <= 1.005
    assert result["share_error_points"] <= (1 if size == "mixed" else 0.2)


def test_idle_latency_is_within_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    latency = run(capsys, "idle-latency", *HIERARCHY, "--set", "packets=500")["latency_cycles"]
    assert latency["count"] == 500 and 16 < latency["max"] <= 32


def test_equal_subscribers_have_equal_shares(capsys: pytest.CaptureFixture[str]) -> None:
    """The window is short: what is left of the error is its edge."""
    result = run(capsys, "fairness", *CORE, *settings(megabytes=1, size=590, congested_nodes=8, subscribers=32, rate=4_000_000_000))
    assert result["share_error_points"] == max(result["subscriber_error_points"], result["queue_error_points"]) <= 0.5
    assert result["share_error_points"] > 0, "an error of nothing at all is none that was measured"
    assert 0.995 <= result["parent_utilisation"] <= result["parent_utilisation_max"] <= 1.005
    assert result["subscribers"] == 32 < result["flows"] <= 128


def test_a_queue_on_its_way_back_keeps_its_share(capsys: pytest.CaptureFixture[str]) -> None:
    """At 7 Gbit/s a small packet is gone before its queue brings the next one: subscribers with one queue get as much as others."""
    given = settings(megabytes=1, congested_nodes=4, subscribers=32, rate=7_000_000_000, overload=100)
    result = run(capsys, "fairness", *CORE, *given)
    assert set(result["share_by_queues"]) == {"1", "2", "3", "4"}
    assert all(0.98 <= share <= 1.02 for share in result["share_by_queues"].values()), result["share_by_queues"]


def test_the_highest_class_waits_for_one_packet(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, "priority", *CORE, "--set", "packets=1500")
    latency = result["latency_cycles"]
    assert set(latency) == DISTRIBUTION and latency["count"] == 1500 and result["lost"] == 0
    # It waits for the packet that is being sent, and at times for another one of its class.
    assert latency["p50"] >= 29 and latency["p99"] <= 1.1 * result["packet_cycles"] and latency["max"] <= 2 * result["packet_cycles"]
    assert 0.995 <= result["parent_utilisation"] <= 1.005


@pytest.mark.slow
def test_changes_while_traffic_flows(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, "reconfigure", "--set", "queues=2048", "--set", "cycles=60000")
    assert set(result["stall_cycles"]) == set(result["ready_cycles"]) == DISTRIBUTION
    assert result["lost"] == result["reordered"] == 0
    assert result["stall_cycles"]["max"] <= 16
    assert result["dequeues_per_cycle"] >= 0.68
    assert result["changes_per_second"] >= 55e6  # no setting waits for anything but a gate that opens
    whats = {"subscriber": "rate burst parent gate weight", "node": "rate burst parent gate", "port": "rate burst"}
    kinds = {f"{what} {kind}" for what, words in whats.items() for kind in words.split()}
    assert set(result["changes_by_kind"]) == kinds | {f"queue {word}" for word in ("rate", "burst", "limit", "gate", "class", "weight")}
    assert result["changes_per_second"] == pytest.approx(result["changes"] / result["cycles"] * 220e6, rel=1e-6)
    assert result["changes"] == sum(result["changes_by_kind"].values()) == result["ready_cycles"]["count"]


@pytest.mark.parametrize("number", [1, *(pytest.param(number, marks=pytest.mark.slow) for number in range(2, 9))])
@pytest.mark.parametrize("engine", ["model", pytest.param("rtl", marks=pytest.mark.slow)])
def test_changes_through_a_million_cycles(engine: str, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Long enough for the rare stalls: 19 cycles when a node's setting waited for a walk, 6 when settings of a queue came one right after
    the other."""
    result = run(capsys, "reconfigure", *settings(engine=engine, cycles=1_000_000), "--seed", str(number))
    assert result["lost"] == result["reordered"] == 0
    assert result["stall_cycles"]["p99_9"] <= 2 and result["stall_cycles"]["max"] <= 4
    assert result["changes_per_second"] >= 57e6


def test_how_much_longer_standstills_are() -> None:
    assert bench_hierarchy.longer(np.array([5, 0, 2]), np.array([3, 1, 0])).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["engine", *settings(levels=4, queues=1000)], "power of two"),
        (["engine", *settings(levels=3)], "give 1 (queues alone) or 4"),
        (["queue", *settings(levels=2)], "give 1 (queues alone) or 4"),
        (["queue", *settings(nodes=4)], "levels=4"),
        (["queue", *settings(queues=100, levels=4)], "power of two"),
        (["queue", *settings(levels=4, queues_per_subscriber=3)], "power of two"),
        (["queue", *settings(levels=4, queues_per_subscriber=16)], "give 1 to 8"),
        (["queue", *settings(levels=4, nodes=1)], "give 2 to"),
        (["queue", *settings(levels=4, classes=9)], "give 1 to 8"),
        (["queue", *settings(levels=4, shaping=0)], "shaped"),
        (["queue", *settings(levels=4, congested="node")], "only bench schedule"),
        (["schedule", *settings(levels=4, congested="nod")], "did you mean 'node'"),
        (["fairness", *settings(rate="fast")], "rate"),
        (["fairness", *settings(rate="1 Tbit/s")], "give 1 Mbit/s to"),
        (["fairness", *settings(congested_nodes=100)], "give 1 to"),
        (["fairness", *settings(sise="imix")], "did you mean 'size'"),
        (["priority", *settings(classes=1)], "classes=2"),
        (["reconfigure", *settings(cycles=1)], "give 10,000 to"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_sentence_and_status_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_levels_1_is_what_it_was() -> None:
    """The same options, and so the same run, as before there was a hierarchy."""
    options = bench.plan("schedule", {"queues": "64"}, 1)
    assert options["levels"] == 1 and bench_hierarchy.parameters(options) is None
    assert options == bench.plan("schedule", {"queues": "64", "levels": "1"}, 1)


def test_a_core_with_another_hierarchy_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is alive: on a core with four queues per subscriber the bench's pairs of queues have not the shares of subscribers."""
    from penstock.designs.access_edge.bench.core import build_core

    given = {"queues": "256", "queues_per_subscriber": "2", "nodes": "8", "megabytes": "1", "size": "590", "rate": "4 Gbit/s"}
    options = bench.plan("fairness", given, 1)
    four = build_core(256, 4096, hierarchy=bench_hierarchy.parameters(options | {"queues_per_subscriber": 4}))
    monkeypatch.setattr(bench, "prepare", lambda options, report=None: four)
    assert bench.run(options)["share_error_points"] > 2
