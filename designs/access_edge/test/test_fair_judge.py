# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The judge of fair shares, judged: small cases computed by hand, and what defines weighted max-min, on random hierarchies."""

import random
from math import inf

import pytest
from fair_judge import Branch, Fluid, Hierarchy, Leaf, max_min, split, why_not_max_min

from penstock.testing.testkit import seed


def hierarchy(queues: dict[int, Leaf], subscribers: dict[int, Branch] | None = None, **levels: dict[int, Branch]) -> Hierarchy:
    """A hierarchy whose subscribers, unless given, are at node 0, of rate 100."""
    own = {leaf.subscriber: Branch() for leaf in queues.values()} | (subscribers or {})
    return Hierarchy(queues, own, levels.get("nodes", {0: Branch(rate=100)}), levels.get("ports", {0: Branch()}))


def given(made: Hierarchy, **wants: float) -> list[float]:
    """What queues q0, q1, ... get that want so much; all others as much as they can have."""
    asked = {queue: wants.get(f"q{queue}", inf) for queue in made.queues}
    found = max_min(made, asked)
    assert why_not_max_min(made, asked, found) == ""
    return [found[queue] for queue in sorted(found)]


def test_what_one_does_not_use_is_there_for_the_others() -> None:
    assert split(100, {0: (10, 1), 1: (inf, 1), 2: (inf, 2)}) == {0: 10, 1: 30, 2: 60}
    assert split(100, {0: (10, 1), 1: (20, 5)}) == {0: 10, 1: 20}
    assert split(0, {0: (10, 1)}) == {0: 0}


def test_a_subscriber_gets_its_half_whatever_its_queues_do() -> None:
    """The case of the congested node: one backlogged queue beside three slow ones, and another subscriber with one."""
    made = hierarchy({queue: Leaf(queue // 4) for queue in (0, 1, 2, 3, 4)})
    assert given(made, q1=2, q2=2, q3=2) == pytest.approx([44, 2, 2, 2, 50])


def test_weights_of_subscribers_and_of_queues() -> None:
    """80 : 20 between subscribers; the first one's queues 3 : 1, the second one's queue has it all, whatever its weight."""
    made = hierarchy({0: Leaf(0, weight=3), 1: Leaf(0), 4: Leaf(1, weight=8)}, {0: Branch(weight=4), 1: Branch()})
    assert given(made) == pytest.approx([60, 20, 20])


def test_rates_at_every_level() -> None:
    """Node 0 carries 100, node 1 60, their port 120. Subscriber 0 is held to 10; 1 and 2 share 110, of which node 1 carries 60 at most."""
    queues = {0: Leaf(0), 4: Leaf(1), 8: Leaf(2)}
    made = Hierarchy(
        queues, {0: Branch(rate=10), 1: Branch(), 2: Branch(1)}, {0: Branch(rate=100), 1: Branch(rate=60)}, {0: Branch(rate=120)}
    )
    assert given(made) == pytest.approx([10, 55, 55])
    made.nodes[1].rate = 30
    assert given(made) == pytest.approx([10, 80, 30])
    made.subscribers[2].weight = 0.1
    made.ports[0].rate = 21
    assert given(made) == pytest.approx([10, 10, 1])


def test_subscribers_share_a_port_not_nodes() -> None:
    """Three at node 0 and one at node 1: a port is shared by four."""
    made = hierarchy({4 * s: Leaf(s) for s in range(4)}, {3: Branch(1)}, nodes={0: Branch(), 1: Branch()}, ports={0: Branch(rate=100)})
    assert given(made) == pytest.approx([25, 25, 25, 25])


def test_classes_go_in_order() -> None:
    """Class 0 takes 30 of the node's 100, wherever it is; class 1 has what is left, in equal parts to subscribers; class 2 nothing."""
    queues = {0: Leaf(0), 1: Leaf(0, 1), 4: Leaf(1, 1), 5: Leaf(1, 2)}
    assert given(hierarchy(queues), q0=30) == pytest.approx([30, 35, 35, 0])
    assert given(hierarchy(queues), q0=30, q4=5) == pytest.approx([30, 65, 5, 0])
    assert given(hierarchy(queues), q0=30, q1=20, q4=5) == pytest.approx([30, 20, 5, 45])
    # At the subscriber as well: its 40 go to its class 0 first.
    assert given(hierarchy(queues, {0: Branch(rate=40)}), q0=30) == pytest.approx([30, 10, 60, 0])


def test_wants_without_measure() -> None:
    """What is wanted may be far above all rates."""
    made = hierarchy({0: Leaf(0), 4: Leaf(1)}, {1: Branch(weight=3)}, nodes={0: Branch(rate=1)})
    assert max_min(made, {0: 1e12, 4: 1e12}) == pytest.approx({0: 0.25, 4: 0.75})
    assert given(made) == pytest.approx([0.25, 0.75])


def test_what_nothing_bounds_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing bounds"):
        max_min(hierarchy({0: Leaf(0)}, nodes={0: Branch()}), {0: inf})


def random_hierarchy(rng: random.Random) -> Hierarchy:
    def rate() -> float:
        return rng.choice([inf, rng.uniform(1, 50)])

    subscribers = {ident: Branch(rng.randrange(3), rng.choice([1, 1, 2, 8]), rate()) for ident in range(rng.randint(1, 7))}
    nodes = {ident: Branch(rng.randrange(2), rate=rate()) for ident in range(3)}
    ports = {ident: Branch(rate=rng.uniform(1, 80)) for ident in range(2)}
    queues = {ident: Leaf(rng.choice(list(subscribers)), rng.randrange(3), rng.choice([1, 1, 3])) for ident in range(rng.randint(1, 12))}
    return Hierarchy(queues, subscribers, nodes, ports)


def test_answers_are_max_min_on_random_hierarchies() -> None:
    """By the definition: feasible, and what wants more could have it only from one with less or as much, of its class or above."""
    rng = random.Random(seed())
    for _ in range(2000):
        made = random_hierarchy(rng)
        wants = {queue: rng.choice([0.0, rng.uniform(0, 20), 1000.0]) for queue in made.queues}
        found = max_min(made, wants)
        assert why_not_max_min(made, wants, found) == "", (made, wants, found)


def test_a_change_of_an_answer_is_seen() -> None:
    """The check of the definition is alive: what one has more, another one less, or what nobody has, is a reason."""
    rng = random.Random(seed())
    seen = 0
    for _ in range(300):
        made = random_hierarchy(rng)
        wants = {queue: rng.choice([rng.uniform(0, 20), 1000.0]) for queue in made.queues}
        found = max_min(made, wants)
        loser = max(found, key=lambda queue: found[queue])
        if found[loser] < 1e-3:
            continue
        less = found | {loser: found[loser] * 0.9}
        assert why_not_max_min(made, wants, less) != "", (made, wants, less)
        seen += 1
        gainers = [queue for queue in found if queue != loser and wants[queue] > found[queue]]
        if gainers and made.way(gainers[0])[0] == made.way(loser)[0] and made.queues[gainers[0]].cls == made.queues[loser].cls:
            moved = less | {gainers[0]: found[gainers[0]] + found[loser] * 0.1}
            wrong = why_not_max_min(made, wants, moved)
            assert wrong != "" or moved[gainers[0]] <= found[loser]
    assert seen > 200


def test_fluid_keeps_what_is_not_sent() -> None:
    """Two subscribers at a node of 100: 300 come for the first one at once, 40 a second for the other one."""
    fluid = Fluid(hierarchy({0: Leaf(0), 4: Leaf(1)}))
    fluid.step(1, {0: 300, 4: 40})
    assert fluid.carried == pytest.approx({0: 60, 4: 40}) and fluid.backlog == pytest.approx({0: 240, 4: 0})
    for _ in range(4):
        fluid.step(1, {4: 40})
    assert fluid.carried == pytest.approx({0: 300, 4: 200}) and sum(fluid.backlog.values()) == pytest.approx(0)
    fluid.step(1, {4: 40})
    assert fluid.carried == pytest.approx({0: 300, 4: 240})


def test_fluid_equals_max_min_under_steady_load() -> None:
    """Whatever the hierarchy: queues of constant load get, over time, what max-min says."""
    rng = random.Random(seed())
    for _ in range(30):
        made = random_hierarchy(rng)
        load = {queue: rng.choice([0.0, rng.uniform(0, 20), 1000.0]) for queue in made.queues}
        fluid = Fluid(made)
        for _ in range(50):
            fluid.step(0.02, {queue: rate * 0.02 for queue, rate in load.items()})
        assert fluid.carried == pytest.approx(max_min(made, load), abs=1e-4)


def test_fluid_has_credit_and_limits() -> None:
    """A queue of rate 10 and burst 25, after a rest: 25 + 10 at once, then its rate. It holds 50, what is more is dropped."""
    fluid = Fluid(hierarchy({0: Leaf(0, rate=10, burst=25, limit=50)}))
    fluid.step(10, {})
    fluid.step(1, {0: 100})
    assert fluid.carried[0] == pytest.approx(35) and fluid.dropped[0] == pytest.approx(15) and fluid.backlog[0] == pytest.approx(50)
    fluid.step(1, {})
    assert fluid.carried[0] == pytest.approx(45)
    for _ in range(5):
        fluid.step(1, {})
    assert fluid.carried[0] == pytest.approx(85)
    fluid.step(2, {0: 100})  # credit of the second in which nothing was left, and of two more
    assert fluid.carried[0] == pytest.approx(115)


def test_fluid_drops_of_a_burst_what_is_over_the_limit() -> None:
    """70 at once are 20 too many; 70 that come in the second in which 100 are sent are not."""
    fluid = Fluid(hierarchy({0: Leaf(0, limit=50)}))
    fluid.step(1, {}, {0: 70})
    assert fluid.carried == {0: 50} and fluid.dropped == {0: 20} and fluid.cuts == 1
    fluid.step(1, {0: 70})
    assert fluid.carried == {0: 120} and fluid.dropped == {0: 20} and fluid.cuts == 1
    for _ in range(3):
        fluid.step(0.1, {}, {0: 100})  # full three times, but never empty in between
    assert fluid.cuts == 2


def test_credit_is_time() -> None:
    """A rate of 10 that was not used for 2 s is 20 of credit, and 40 when it becomes 20; more than the burst of 30 is not kept."""
    fluid = Fluid(hierarchy({0: Leaf(0, rate=10, burst=30)}))
    fluid.step(2, {})
    fluid.hierarchy.queues[0].rate = 20
    fluid.step(1, {0: 1000})
    assert fluid.carried[0] == pytest.approx(20 + 30)


def test_no_credit_is_left_of_what_was_sent_without_a_rate() -> None:
    fluid = Fluid(hierarchy({0: Leaf(0, burst=30)}), tolerance=0.5)
    for amount in (10, 10, 0, 0):
        fluid.step(1, {0: amount})
    fluid.hierarchy.queues[0].rate = 10  # at rest for 2 s, and half a second of tolerance
    fluid.step(1, {0: 1000})
    assert fluid.carried[0] == pytest.approx(20 + 10 + 25)


def test_fluid_goes_on_when_rates_and_places_change() -> None:
    fluid = Fluid(hierarchy({0: Leaf(0), 4: Leaf(1)}, nodes={0: Branch(rate=100), 1: Branch(rate=10)}))
    fluid.step(1, {0: 1000, 4: 1000})
    fluid.hierarchy.subscribers[1].parent = 1
    fluid.step(1, {})
    fluid.hierarchy.nodes[0].rate = 0
    fluid.step(1, {})
    assert fluid.carried == pytest.approx({0: 150, 4: 70})


def test_a_packet_stays_at_the_port_that_its_node_leaves() -> None:
    """Class 0 takes all of port 0, where class 1 has 50: of these a packet of 10 stays when its node moves, and 40 wait for it. While the
    first class pauses, it is sent, and then the others at their new port."""
    made = hierarchy({0: Leaf(0), 4: Leaf(1, cls=1)}, {1: Branch(1)}, nodes={0: Branch(), 1: Branch()}, ports={0: Branch(rate=100)})
    made.ports[1] = Branch(rate=30)
    fluid = Fluid(made)
    fluid.step(1, {0: 100, 4: 50})
    fluid.move("nodes", 1, 1, {0: 10, 4: 10})
    for _ in range(2):
        fluid.step(1, {0: 100})
    assert fluid.carried == pytest.approx({0: 300, 4: 0}) and fluid.backlog == pytest.approx({0: 0, 4: 40}) and fluid.sent_behind == []
    fluid.step(1, {0: 94})
    assert fluid.carried == pytest.approx({0: 394, 4: 6}) and fluid.backlog[4] == pytest.approx(40)
    fluid.step(1, {})
    assert fluid.carried[4] == pytest.approx(10) and fluid.sent_behind == [5] and not fluid.behind
    fluid.step(1, {0: 100})
    assert fluid.carried == pytest.approx({0: 494, 4: 40})


def test_a_packet_stays_at_the_node_that_its_subscriber_leaves() -> None:
    """Subscribers 0 and 1 share node 0, and 1 moves: it has its share there for one packet; what is behind goes at the new node."""
    made = hierarchy({0: Leaf(0), 4: Leaf(1)}, nodes={0: Branch(rate=100), 1: Branch(rate=1000)})
    fluid = Fluid(made)
    fluid.step(1, {0: 500, 4: 500})
    assert fluid.carried == pytest.approx({0: 50, 4: 50})
    fluid.move("subscribers", 1, 1, {0: 10, 4: 10})
    fluid.step(0.1, {})
    assert fluid.carried == pytest.approx({0: 55, 4: 55})
    fluid.step(0.1, {})
    assert fluid.carried == pytest.approx({0: 60, 4: 60}) and not fluid.behind
    fluid.step(0.1, {})
    assert fluid.carried == pytest.approx({0: 70, 4: 160})


def test_what_does_not_wait_at_the_old_parent_goes_along() -> None:
    """One waits for its own subscriber, one is sent all that comes, one waits at the node that moves: nothing stays."""
    queues = {0: Leaf(0), 4: Leaf(1), 8: Leaf(2)}
    made = Hierarchy(
        queues,
        {0: Branch(rate=10), 1: Branch(), 2: Branch(1)},
        {0: Branch(), 1: Branch(rate=20), 2: Branch()},
        {0: Branch(rate=1000), 1: Branch(rate=1000)},
    )
    fluid = Fluid(made)
    fluid.step(1, {0: 100, 4: 100, 8: 100})
    fluid.move("subscribers", 0, 2, {0: 5, 4: 5, 8: 5})
    fluid.move("subscribers", 1, 2, {0: 5, 4: 5, 8: 5})
    fluid.move("nodes", 1, 1, {0: 5, 4: 5, 8: 5})
    assert not fluid.behind and made.way(0) == (0, 2, 0) and made.way(4) == (1, 2, 0) and made.way(8) == (2, 1, 1)


def test_what_stays_counts_for_the_limit() -> None:
    made = hierarchy({0: Leaf(0), 4: Leaf(1, cls=1, limit=50)}, nodes={0: Branch(rate=100), 1: Branch()})
    fluid = Fluid(made)
    fluid.step(1, {0: 100, 4: 50})
    fluid.move("subscribers", 1, 1, {0: 10, 4: 10})
    fluid.step(1, {0: 100, 4: 20})
    assert fluid.dropped[4] == pytest.approx(20) and fluid.backlog[4] == pytest.approx(40)
