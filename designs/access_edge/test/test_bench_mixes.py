# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`bench fairness` with mixes of queues: what is drawn, what is called fair, and what the hardware does of it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from fair_judge import Branch, Hierarchy, Leaf, max_min

from penstock.benches import bench
from penstock.command_line.app import main
from penstock.designs.access_edge.bench import bench_hierarchy, bench_mixes
from penstock.designs.access_edge.bench.bench_mixes import Plan, Queue, Subscriber
from penstock.testing.testkit import seed

# The core that other tests have built: four queues a subscriber.
CORE = {"queues": "256", "queues_per_subscriber": "4", "megabytes": "1", "rate": "4 Gbit/s"}
MIXES = ("siblings", "random")
GUARANTEED = (*MIXES, "guarantees")


def arguments(**values: object) -> list[str]:
    return [part for key, value in values.items() for part in ("--set", f"{key}={value}")]


def run(capsys: pytest.CaptureFixture[str], *given: str) -> dict[str, Any]:
    assert main(["bench", "fairness", *given, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def plan(mix: str, number: int, **values: str) -> tuple[dict[str, Any], Plan]:
    options = bench.plan("fairness", {"mix": mix, **values}, number)
    return options, bench_mixes.draw(options, bench_hierarchy.node_rate(options))


@pytest.mark.parametrize("mix", MIXES)
def test_what_is_fair_is_what_the_judge_says(mix: str) -> None:
    """The bench computes shares on its own; the judge of the tests, by another way, says the same."""
    for number in range(seed(), seed() + 25):
        _, drawn = plan(mix, number)
        leaves = {q.queue: Leaf(q.subscriber, q.cls, q.weight) for q in drawn.queues}
        subscribers = {s.ident: Branch(s.node, s.weight, s.shaped or float("inf")) for s in drawn.subscribers}
        nodes = {node: Branch(rate=rate) for node, rate in drawn.nodes.items()}
        offered = {q.queue: q.offered for q in drawn.queues}
        wants = {q.queue: min(q.offered or 1e9, q.shaped or 1e9) for q in drawn.queues}
        fair = bench_mixes.fair_shares(drawn, offered, 1.0)
        assert fair == pytest.approx(max_min(Hierarchy(leaves, subscribers, nodes, {0: Branch()}), wants), abs=1e-6), number


@pytest.mark.parametrize("mix", MIXES)
def test_what_is_drawn(mix: str) -> None:
    """Every node has a backlogged queue in the lowest class; siblings differ; the engine is told all of it; a seed draws the same again."""
    counts, kinds = set(), set()
    for number in range(12):
        options, drawn = plan(mix, number)
        assert plan(mix, number)[1] == drawn
        node_of = {s.ident: s.node for s in drawn.subscribers}
        always = {node_of[q.subscriber] for q in drawn.queues if not q.offered and not q.shaped and q.cls == options["classes"] - 1}
        assert always == set(drawn.nodes) == set(range(4))
        counts |= {sum(q.subscriber == s.ident for q in drawn.queues) for s in drawn.subscribers}
        kinds |= {(q.offered > 0, q.shaped > 0) for q in drawn.queues}
        flows = drawn.for_engine()["flows"]
        assert [flow["spacing"] * q.offered for flow, q in zip(flows, drawn.queues, strict=True)] == pytest.approx(
            [float(q.offered > 0) for q in drawn.queues]
        )
        # A burst fits into the queue, whatever the others hold.
        held = (options["descriptors"] - 64) // len(drawn.queues)
        assert all(1.5 * q.burst_bytes / min(q.sizes) < held for q in drawn.queues)
    assert counts == set(range(1, 9))
    assert kinds == ({(True, False), (False, False)} if mix == "siblings" else {(a, b) for a in (True, False) for b in (True, False)})


def level(amount: float, wants: dict[int, tuple[float, float, float]]) -> dict[int, float]:
    """Return shares of an amount by its definition: min(want, guarantee + weight * level), the level found by bisection."""

    def at(height: float) -> dict[int, float]:
        return {key: min(want, guarantee + weight * height) for key, (want, weight, guarantee) in wants.items()}

    low, high = 0.0, sum(want for want, _, _ in wants.values()) + 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(at(middle).values()) > amount else (middle, high)
    return at(low)


def judged(plan: Plan, offered: dict[int, float]) -> dict[int, float]:
    """Return what each queue gets, class by class; a class that gets all that it wants uses up no guarantee."""
    given: dict[int, float] = {}
    node_left, own_left = dict(plan.nodes), {s.ident: s.shaped or float("inf") for s in plan.subscribers}
    for cls in range(8):
        for node in plan.nodes:
            below = {}
            for s in plan.subscribers:
                mine = [q for q in plan.queues if q.subscriber == s.ident and q.cls == cls]
                if s.node == node and mine:
                    wants = {q.queue: min(offered[q.queue] or 1e9, q.shaped or 1e9, node_left[node]) for q in mine}
                    below[s] = (mine, wants, min(sum(wants.values()), own_left[s.ident]))
            amounts = level(node_left[node], {s.ident: (use, s.weight, s.guarantee) for s, (_, _, use) in below.items()})
            for s, (mine, wants, _) in below.items():
                given |= level(amounts[s.ident], {q.queue: (wants[q.queue], q.weight, q.guarantee) for q in mine})
                own_left[s.ident] -= amounts[s.ident]
            node_left[node] -= sum(amounts.values())
    return given


def test_guaranteed_shares_are_what_their_definition_says() -> None:
    """Of 25 mixes; guarantees are for less than there is, and they move shares by points."""
    print(f"PENSTOCK_SEED={seed()}")
    most = 0.0
    for number in range(seed(), seed() + 25):
        _, drawn = plan("guarantees", number)
        offered = {q.queue: q.offered for q in drawn.queues}
        fair = bench_mixes.fair_shares(drawn, offered, 1.0)
        assert fair == pytest.approx(judged(drawn, offered), rel=1e-6, abs=1e-9)
        plain = replace(
            drawn,
            subscribers=[replace(s, guarantee=0.0) for s in drawn.subscribers],
            queues=[replace(q, guarantee=0.0) for q in drawn.queues],
        )
        without = bench_mixes.fair_shares(plain, offered, 1.0)
        most = max(most, *(abs(fair[q] - without[q]) for q in fair))
        for node, rate in drawn.nodes.items():
            assert sum(s.guarantee for s in drawn.subscribers if s.node == node) <= 0.9 * rate
    assert most > 0.05


def test_errors_are_points_of_the_node() -> None:
    """A node of 1 byte a cycle, 1,000 cycles. Subscriber 0 (weight 1) has a backlogged queue and one that wants 50; subscriber 1 weight 3.

    Fair is 200 + 50 and 750; carried are 190 + 50 and 730: 1 point of the node off in the first queue, 2 in the last one.
    """
    drawn = Plan({0: 1.0}, [Subscriber(0, 0, 1), Subscriber(1, 0, 3)], [Queue(0, 0, 0, 1, [60]), Queue(1, 0, 0, 1, [60], offered=0.05)])
    drawn.queues.append(Queue(8, 1, 0, 1, [60]))
    assert bench_mixes.fair_shares(drawn, {1: 50.0}, 1000) == pytest.approx({0: 200, 1: 50, 8: 750})
    raw = {"offered": [0, 50, 0], "carried": [190, 50, 730], "node_bytes": [970], "cycles": 1000, "packets": 10}
    found = bench_mixes.errors(drawn, raw)
    assert found["share_error_points"] == found["subscriber_error_points"] == found["queue_error_points"] == pytest.approx(2)
    assert found["parent_utilisation"] == pytest.approx(0.97) and found["flows"] == 3 and found["backlogged"] == 2
    raw["carried"] = [180, 70, 750]
    found = bench_mixes.errors(drawn, raw)
    assert found["subscriber_error_points"] == pytest.approx(0) and found["share_error_points"] == pytest.approx(2)


@pytest.mark.parametrize("mix", GUARANTEED)
def test_shares_of_a_mix_on_the_model(mix: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The contract: 0.20 points in any mix over 50 MB of a node, with eight queues of each subscriber and weights."""
    result = run(capsys, *arguments(queues=256, mix=mix, megabytes=13, rate="2 Gbit/s", engine="model"))
    assert result["config"]["mix"] == mix and result["config"]["queues_per_subscriber"] == 8 and result["config"]["weights"] == 1
    assert 0 < result["share_error_points"] <= 0.2
    assert result["share_error_points"] == max(result["subscriber_error_points"], result["queue_error_points"])
    assert 0.995 <= result["parent_utilisation"] <= result["parent_utilisation_max"] <= 1.005
    assert result["flows"] > result["backlogged"] >= (16 if mix == "siblings" else 4)
    assert result["bytes"] >= 4 * 0.99 * 50e6 * (1 if mix == "siblings" else 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("mix", GUARANTEED)
@pytest.mark.parametrize("number", range(2, 12))
def test_shares_of_other_mixes(mix: str, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, *arguments(queues=256, mix=mix, megabytes=13, engine="model"), "--seed", str(number))
    assert result["share_error_points"] <= 0.2


def test_a_queue_alone_in_its_class_keeps_its_turn(capsys: pytest.CaptureFixture[str]) -> None:
    """60 byte of a higher class before 9,600 byte of a lower one, nodes of 2 Gbit/s: 1 to 8.3 points if nodes did not wait for it. Over
    12 MB: a frame of 9,600 byte at the edge of a window of 4 MB is 0.24 points."""
    for number in (2, 4):
        result = run(capsys, *arguments(queues=256, mix="random", megabytes=12, engine="model"), "--seed", str(number))
        assert result["share_error_points"] <= 0.2
        assert 0.998 <= result["parent_utilisation"] <= result["parent_utilisation_max"] <= 1.002


@pytest.mark.parametrize("mix", GUARANTEED)
def test_both_engines_find_the_same(mix: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = [run(capsys, *arguments(**CORE, mix=mix, engine=which)) for which in ("rtl", "model")]
    for result in found:
        for key in ("engine", "config", "wall_seconds"):
            result.pop(key)
    assert found[0] == found[1]


def test_a_core_that_ignores_weights_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is alive: subscribers that all have weight 1 do not have the shares of their weights."""
    options = bench.plan("fairness", {**CORE, "mix": "siblings", "engine": "model"}, 1)
    plain = Plan.for_engine

    def without(self: Plan) -> dict[str, Any]:
        told = plain(self)
        told["hierarchy"]["subscribers"] = [(ident, node, 1, *rest) for ident, node, _, *rest in told["hierarchy"]["subscribers"]]
        return told

    monkeypatch.setattr(Plan, "for_engine", without)
    assert bench_hierarchy.run(options, None, None)["share_error_points"] > 5


def test_mixes_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "fairness", *arguments(**CORE, mix="siblings", engine="model")]) == 0
    said = capsys.readouterr().out
    assert "queues, 16 of them backlogged, mix siblings, size mixed" in said and "percentage points" in said


@pytest.mark.parametrize(
    ("given", "words"),
    [({"mix": "sibling"}, "did you mean 'siblings'"), ({"mix": "random", "overload": 3}, "mix=backlogged takes it")],
)
def test_wrong_input_is_one_sentence_and_status_2(given: dict[str, object], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "fairness", *arguments(**given)]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1
