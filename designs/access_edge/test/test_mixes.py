# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Random hierarchies and loads, drawn from a seed, against the judge: what each queue and subscriber is sent at each moment.

The product is used through a scenario and what it writes (result.json, series.npz), and nothing else of it. PENSTOCK_SEED draws others.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fair_judge
import numpy as np
import pytest
from mixes import KINDS, LARGEST, POINTS, QUANTUM, Mix, Rated, Unsteady
from numpy.typing import NDArray

from penstock.engine import run
from penstock.testing.testkit import seed

WARM_UP = POINTS // 5
# The contract: 0.20 percentage points of the congested parent in any mix over 50 MB; all queues backlogged, 0.02 points and a largest
# frame at each edge of the window.
ANY_MIX, BACKLOGGED, CONTRACT_BYTES = 0.0020, 0.0002, 50e6


@dataclass
class Outcome:
    """What a run has written."""

    result: dict[str, Any]
    carried: NDArray[np.int64]  # bytes of each flow, up to the end of each point in time


def carry_out(mix: Mix, folder: Path, engine: str = "model") -> Outcome:
    """Run the mix's scenario."""
    scenario, out = folder / "mix.yaml", folder / "out"
    scenario.write_text(json.dumps(mix.scenario(folder)))
    result, _ = run.carry_out(run.Request(scenario, out=out, engine=engine))
    series = np.load(out / "series.npz")
    assert series["queues"].tolist() == [flow.queue for flow in mix.flows]
    found = Outcome(result, np.cumsum(series["bytes_out"], axis=0))
    check_rows(mix, found)
    return found


def check_rows(mix: Mix, found: Outcome) -> None:
    """The rows agree with the curves, and no parent carries more than its rate."""
    assert found.result["conservation"]["ok"] and found.result["findings"] == []
    assert set(found.result["packets"]["dropped"]) <= {"tail_drop_packets", "tail_drop_bytes"}
    sent = dict.fromkeys(mix.hierarchy.subscribers, 0)
    for flow, total in zip(mix.flows, found.carried[-1].tolist(), strict=True):
        sent[mix.hierarchy.queues[flow.queue].subscriber] += total
    rows = {row["id"]: row for row in found.result["subscribers"]}
    assert {ident: row["bytes"]["out"] for ident, row in rows.items()} == {ident: sent[ident] for ident in rows}
    assert sum(row["bytes"]["out"] for row in rows.values()) == found.result["bytes"]["out"]
    if getattr(mix, "changes", []):
        return
    for kind, level in zip(("subscribers", "nodes", "ports"), mix.hierarchy.levels(), strict=True):
        for row in found.result[kind]:
            branch = level[row["id"]]
            most = branch.rate * mix.seconds + branch.burst + 2 * mix.largest
            assert row["bytes"]["out"] <= most * 1.0001, f"{mix}: {kind} {row['id']} carries more than its rate"


@dataclass
class Error:
    """How far a subscriber, or one of its queues, is from its share."""

    off: float  # bytes
    of: float  # bytes that its congested parent carries in the time
    who: str

    @property
    def points(self) -> float:
        return 100 * abs(self.off) / self.of


def errors(mix: Mix, found: Outcome, first: int = WARM_UP, last: int = POINTS - 1) -> list[Error]:
    """Compare what was carried between two points in time with weighted max-min by class of what was offered then."""
    since, until = (point * mix.interval_ns / 1e9 for point in (first, last))
    sent = dict(zip((flow.queue for flow in mix.flows), (found.carried[last - 1] - found.carried[first - 1]).tolist(), strict=True))
    wants, room = mix.wants(since, until), fair_judge.rooms(mix.hierarchy, until - since)
    fair = fair_judge.max_min(mix.hierarchy, wants, room)
    found_errors = []
    for subscriber, branch in mix.hierarchy.subscribers.items():
        own = [queue for queue in sent if mix.hierarchy.queues[queue].subscriber == subscriber]
        of = min(room[1][branch.parent], room[2][mix.hierarchy.nodes[branch.parent].parent])
        off = {queue: sent[queue] - fair[queue] for queue in own}
        found_errors.append(Error(sum(off.values()), of, f"subscriber {subscriber}"))
        if mix.judged(subscriber):
            found_errors += [Error(amount, of, f"queue {queue}") for queue, amount in off.items()]
    return found_errors


def at_most(mix: Mix, found: Sequence[Error], share: float, edge: float) -> None:
    """Assert that no error is more than a share of what the parent carries and what the edges of the window are worth."""
    worst = max(found, key=lambda error: abs(error.off) - share * error.of)
    text = f"{worst.who} is {worst.points:.3f} points off, {worst.off:,.0f} of {worst.of:,.0f} byte"
    print(f"{mix.kind} {mix.seed}: {text}")
    assert abs(worst.off) <= share * worst.of + edge, f"{mix.kind} mix, seed {mix.seed}: {text}"


def edges(mix: Mix) -> float:
    """What a window shorter than the contract's may hold more: packets of some queues, the heaviest one's part of rounds, a burst."""
    return 12 * mix.largest + 4 * QUANTUM * heaviest(mix) + max((flow.most for flow in mix.flows), default=0)


def heaviest(mix: Mix) -> int:
    """The largest weight of a queue or a subscriber."""
    return int(max(of.weight for of in (*mix.hierarchy.queues.values(), *mix.hierarchy.subscribers.values())))


def seeds(count: int, slow: int = 0) -> list[Any]:
    """Seeds of the default suite, and after them those of slow tests."""
    drawn = [1000 * seed() + number for number in range(count + slow)]
    return [pytest.param(one, marks=[pytest.mark.slow] if at >= count else [], id=str(one)) for at, one in enumerate(drawn)]


@pytest.mark.parametrize("number", seeds(8, 112))
def test_backlogged_queues(number: int, tmp_path: Path) -> None:
    """All queues always have packets: shares are exact but for a packet and, in a window this short, a turn at its edges."""
    mix = Mix(number, "backlogged", megabytes=10)
    at_most(mix, errors(mix, carry_out(mix, tmp_path)), BACKLOGGED, 2 * mix.largest + QUANTUM * heaviest(mix))


@pytest.mark.parametrize("number", seeds(10, 140))
def test_a_backlogged_queue_beside_any_siblings(number: int, tmp_path: Path) -> None:
    """Slow, half-idle and bursty siblings take nothing of the subscriber's share but what they are sent."""
    mix = Mix(number, "siblings", megabytes=10)
    at_most(mix, errors(mix, carry_out(mix, tmp_path)), ANY_MIX, edges(mix))


@pytest.mark.parametrize("number", seeds(10, 140))
def test_any_hierarchy_and_load(number: int, tmp_path: Path) -> None:
    """Rates at all levels, classes, weights, and queues from idle to flooded."""
    mix = Mix(number, "random", megabytes=10)
    at_most(mix, errors(mix, carry_out(mix, tmp_path)), ANY_MIX, edges(mix))


@pytest.mark.parametrize("number", seeds(10, 190))
def test_subscribers_with_rates_of_their_own(number: int, tmp_path: Path) -> None:
    """Which of a subscriber's queues get its rate is exact, too, whatever waits for their node and port."""
    mix = Rated(number, megabytes=10)
    at_most(mix, errors(mix, carry_out(mix, tmp_path)), ANY_MIX, edges(mix))


def test_a_small_packet_at_a_congested_port_keeps_its_node(tmp_path: Path) -> None:
    """Class 1, 64 byte each, may have what class 0 leaves of a node below a congested port; lower ones get nothing while it waits there."""
    mix = Mix(1045, "random", megabytes=10)
    found = carry_out(mix, tmp_path)
    sent = {flow.queue: int(total) for flow, total in zip(mix.flows, found.carried[-1] - found.carried[WARM_UP - 1], strict=True)}
    seconds = (POINTS - WARM_UP) * mix.interval_ns / 1e9
    node = mix.hierarchy.nodes[0].rate * seconds
    assert mix.hierarchy.queues[3].cls == 1 and mix.hierarchy.ports[0].rate < 1.51 * mix.hierarchy.nodes[0].rate
    assert mix.hierarchy.queues[4].cls == 0 and sent[4] < 0.01 * node
    assert sent[3] == pytest.approx(node - sent[4], rel=ANY_MIX)
    assert sum(sent[queue] for queue in (1, 8, 9, 10)) <= ANY_MIX * node


@pytest.mark.parametrize("drawn", [1052, pytest.param(1076, marks=pytest.mark.slow)])
def test_a_heavy_subscriber_of_small_packets_keeps_its_share(drawn: int, tmp_path: Path) -> None:
    """Its one packet waits at the port, while nothing of it waits at its node, whose rate is used up in the same class. Over the contract's
    window: in a shorter one, how much of its long burst the node has used by then is worth more."""
    mix = Mix(drawn, "random", megabytes=1.3 * CONTRACT_BYTES / 1e6)
    at_most(mix, errors(mix, carry_out(mix, tmp_path)), ANY_MIX, 0)


@pytest.mark.parametrize("kind", [*KINDS, "rated"])
@pytest.mark.parametrize("number", seeds(1, 41))
def test_over_50_megabytes(kind: str, number: int, tmp_path: Path) -> None:
    """The contract's window, without anything for its edges."""
    megabytes = 1.3 * CONTRACT_BYTES / 1e6
    mix = Rated(number + 500, megabytes=megabytes) if kind == "rated" else Mix(number + 500, kind, megabytes)
    at_most(mix, errors(mix, carry_out(mix, tmp_path)), ANY_MIX, 0)


def around(fluid: NDArray[np.float64], at: Sequence[float], late: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the most that may have been sent at each point in time. A packet that waits at an old parent is sent there a
    round sooner or later (`late`, in points, as `at`), and what waits behind it follows at once."""
    points = np.arange(len(fluid))
    shift = np.where((np.abs(points[:, None] + 0.5 - np.array([*at])) <= late + 1).any(axis=1), int(late) + 1, 0)
    return fluid[(points - shift).clip(min=0)], fluid[(points + shift).clip(max=len(fluid) - 1)]


def unsteady(mix: Unsteady, found: Outcome) -> None:
    """Compare what each queue and subscriber has been sent, at every point in time, with the fluid."""
    fluid, judge = mix.fluid()
    carried, cuts = found.carried[: len(fluid)], judge.cuts
    # A burst that is cut at a full queue leaves it with a frame more or less than the fluid.
    bound = edges(mix) - max(flow.most for flow in mix.flows) + 2 * LARGEST * cuts
    low, high = around(fluid, [time * 1e9 / mix.interval_ns for time in judge.sent_behind], bound / mix.slowest * 1e9 / mix.interval_ns)
    owner = np.array([mix.hierarchy.queues[flow.queue].subscriber for flow in mix.flows])
    groups = {f"queue {flow.queue}": [i] for i, flow in enumerate(mix.flows) if mix.judged(owner[i])}
    groups |= {f"subscriber {ident}": np.flatnonzero(owner == ident).tolist() for ident in set(owner.tolist())}
    off = {
        name: max((carried - high)[:, columns].sum(axis=1).max(), (low - carried)[:, columns].sum(axis=1).max())
        for name, columns in groups.items()
    }
    who = max(off, key=lambda name: off[name])
    worst = float(off[who])
    text = f"{who} is {worst:,.0f} byte off, {bound:,.0f} are allowed"
    print(f"unsteady {mix.seed}: {text}; {cuts} bursts cut, {len(mix.changes)} changes")
    assert worst <= bound, f"unsteady mix, seed {mix.seed}: {text}"


@pytest.mark.parametrize("number", seeds(10, 230))
def test_loads_and_settings_that_change(number: int, tmp_path: Path) -> None:
    """At every moment each queue has been sent what the fluid says, but for a few frames and a round of its parent."""
    mix = Unsteady(number)
    unsteady(mix, carry_out(mix, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "rated", "unsteady"])
@pytest.mark.parametrize("number", seeds(3))
def test_on_the_rtl(kind: str, number: int, tmp_path: Path) -> None:
    """The same on the hardware, for shorter times."""
    if kind == "unsteady":
        changing = Unsteady(number, megabytes=0.5, device="tree_64", plain=True)
        return unsteady(changing, carry_out(changing, tmp_path, "rtl"))
    still = {"megabytes": 1, "device": "tree_64", "plain": True}
    mix = Rated(number, **still) if kind == "rated" else Mix(number, kind, **still)
    return at_most(mix, errors(mix, carry_out(mix, tmp_path, "rtl")), ANY_MIX, edges(mix))


def test_mixes_are_of_all_kinds(tmp_path: Path) -> None:
    """What was promised is drawn, and a seed always draws the same."""
    drawn = [Mix(number, kind, megabytes=1) for kind in KINDS for number in range(40)]
    changing = [Unsteady(number, megabytes=1) for number in range(60)]
    assert {mix.per_subscriber for mix in drawn} == {1, 2, 4, 8} and {mix.jumbo for mix in drawn} == {False, True}
    assert {flow.kind for mix in drawn for flow in mix.flows} == {"flooded", "steady", "bursty"}
    assert {leaf.cls for mix in drawn for leaf in mix.hierarchy.queues.values()} == {0, 1, 2, 3}
    assert {leaf.weight for mix in drawn for leaf in mix.hierarchy.queues.values()} >= {1, 2, 3, 8}
    for level in range(3):
        rates = {branch.rate < np.inf for mix in drawn for branch in mix.hierarchy.levels()[level].values()}
        assert rates == {False, True}
    assert {change.of for mix in changing for change in mix.changes} == {"queues", "subscribers", "nodes", "ports"}
    assert {"rate", "weight", "cls", "parent"} <= {key for mix in changing for change in mix.changes for key in change.settings}
    assert any(change.settings.get("rate") == 0 for mix in changing for change in mix.changes)
    for first, second in ((Mix(7, "random"), Mix(7, "random")), (Unsteady(7), Unsteady(7))):
        assert first.scenario(tmp_path) == second.scenario(tmp_path)
        assert first.arrivals.ns.tolist() == second.arrivals.ns.tolist()
