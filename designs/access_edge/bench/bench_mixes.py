"""`bench fairness` with mixes of queues: what is drawn, and how far the shares are from weighted max-min.

`siblings`: each subscriber has a backlogged queue beside slow, half-idle and bursty ones. `random`: rates of nodes, subscribers and
queues, classes, and queues of all kinds are drawn as well. `guarantees`: so are guaranteed rates of subscribers and queues, up to nine
tenths of what they can come from. The measurement is in designs/access_edge/bench/bench_mixes.cpp; a seed
draws the same on both engines.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

IMIX = [60] * 7 + [590] * 4 + [1514]
SIZES = [60, 300, 590, 1514, 9600]
BURST_CYCLES = 1 << 20  # of rates below a congested parent, so that what they wait for it costs them no credit
BURST_BYTES = (1_000, 8_000, 24_000)
MOST_GUARANTEED = 0.9  # of what there is; and of those that may have a guarantee, how many do
DEALT_NODE_BURST = 20_000  # cycles; a fast node lets batches of packets go


@dataclass(frozen=True)
class Queue:
    """A queue with traffic; rates in byte per cycle, 0 where there is none."""

    queue: int
    subscriber: int
    cls: int
    weight: int
    sizes: list[int]
    shaped: float = 0.0
    offered: float = 0.0  # 0: always backlogged
    burst_bytes: int = 0
    guarantee: float = 0.0


@dataclass(frozen=True)
class Subscriber:
    """A subscriber with traffic."""

    ident: int
    node: int
    weight: int
    shaped: float = 0.0
    guarantee: float = 0.0


@dataclass(frozen=True)
class Plan:
    """What is below the congested nodes."""

    nodes: dict[int, float]  # byte per cycle
    subscribers: list[Subscriber]
    queues: list[Queue]

    def for_engine(self) -> dict[str, Any]:
        """Return the options `hierarchy` and `flows` of `mix_bench`."""

        def shaper(rate: float) -> tuple[float, int]:
            return (1 / rate, BURST_CYCLES) if rate else (0.0, 0)

        def period(rate: float) -> float:
            return 1 / rate if rate else 0.0

        return {
            "hierarchy": {
                "nodes": [(node, 1 / rate, DEALT_NODE_BURST) for node, rate in self.nodes.items()],
                "subscribers": [(s.ident, s.node, s.weight, *shaper(s.shaped), period(s.guarantee)) for s in self.subscribers],
            },
            "flows": [
                {
                    "queue": q.queue,
                    "cls": q.cls,
                    "weight": q.weight,
                    "guarantee": period(q.guarantee),
                    "shaper": shaper(q.shaped),
                    "sizes": q.sizes,
                    "spacing": 1 / q.offered if q.offered else 0.0,
                    "burst_bytes": q.burst_bytes,
                }
                for q in self.queues
            ],
        }


def draw(options: dict[str, Any], node_rate: float) -> Plan:
    """Draw a mix from the seed; `node_rate` in byte per cycle."""
    rng = random.Random(f"{options['mix']} {options['seed']}")
    per = options["queues_per_subscriber"]
    any_hierarchy = options["mix"] != "siblings"
    nodes = {node: node_rate * (rng.uniform(0.5, 1.5) if any_hierarchy else 1.0) for node in range(options["congested_nodes"])}
    idents = rng.sample(range(options["queues"] // per), options["subscribers"])
    subscribers, queues = [], []
    for place, ident in enumerate(idents):
        node = place % len(nodes)
        first = place < len(nodes)  # of its node: it always has something to send, so the node is congested
        shaped = nodes[node] * rng.uniform(0.1, 0.6) if any_hierarchy and not first and rng.random() < 0.3 else 0.0
        subscribers.append(Subscriber(ident, node, rng.randint(1, 8) if options["weights"] else 1, shaped))
        chosen = rng.sample(range(per), rng.randint(1, per))
        fair = nodes[node] / -(-options["subscribers"] // len(nodes)) / len(chosen)
        for number, index in enumerate(chosen):
            queues.append(_queue(rng, options, subscribers[-1], ident * per + index, fair, number == 0 and (first or not any_hierarchy)))
    held = (options["descriptors"] - 64) // len(queues)  # packets; a burst is no longer than half of that
    queues = [replace(q, burst_bytes=min(q.burst_bytes, held // 2 * min(q.sizes))) for q in queues]
    plan = Plan(nodes, subscribers, sorted(queues, key=lambda queue: queue.queue))
    return _apart(_guaranteed(rng, plan, options["classes"]) if options["mix"] == "guarantees" else plan)


def _guaranteed(rng: random.Random, plan: Plan, classes: int) -> Plan:
    """Return the plan with guarantees: of subscribers out of what higher classes leave, of queues out of what their subscriber gets."""

    def deal(amount: float, keys: list[int]) -> dict[int, float]:
        chosen = [key for key in keys if rng.random() < MOST_GUARANTEED]
        parts = {key: rng.uniform(0.1, 1.0) for key in chosen}
        share = amount * rng.uniform(0.2, MOST_GUARANTEED) / max(sum(parts.values()), 1.0)
        return {key: share * part for key, part in parts.items()}

    offered = {q.queue: q.offered for q in plan.queues}
    fair = fair_shares(plan, offered, 1.0)
    node_of = {s.ident: s.node for s in plan.subscribers}
    given: dict[int, float] = {}
    for node, rate in plan.nodes.items():
        higher = sum(fair[q.queue] for q in plan.queues if node_of[q.subscriber] == node and q.cls < classes - 1)
        given |= deal(rate - higher, [s.ident for s in plan.subscribers if s.node == node])
    plan = replace(plan, subscribers=[replace(s, guarantee=given.get(s.ident, 0.0)) for s in plan.subscribers])
    fair = fair_shares(plan, offered, 1.0)
    own: dict[int, float] = {}
    for s in plan.subscribers:
        for cls in range(classes):
            mine = [q.queue for q in plan.queues if q.subscriber == s.ident and q.cls == cls]
            own |= deal(sum(fair[queue] for queue in mine), mine)
    return replace(plan, queues=[replace(q, guarantee=own.get(q.queue, 0.0)) for q in plan.queues])


def _apart(plan: Plan) -> Plan:
    """Return the plan with less load where a queue would get just what it wants: its backlog would wander as far as there is room."""
    for _ in range(10):
        fair = fair_shares(plan, {q.queue: q.offered for q in plan.queues}, 1.0)
        near = {q.queue for q in plan.queues if q.offered and 0.75 * q.offered <= fair[q.queue] < 0.999 * q.offered}
        near |= {q.queue for q in plan.queues if q.offered and q.shaped and 0.75 * q.shaped <= q.offered <= 1.2 * q.shaped}
        if not near:
            break
        plan = replace(plan, queues=[replace(q, offered=q.offered * 0.6) if q.queue in near else q for q in plan.queues])
    return plan


def _queue(rng: random.Random, options: dict[str, Any], of: Subscriber, queue: int, fair: float, backlogged: bool) -> Queue:
    any_hierarchy, classes = options["mix"] != "siblings", options["classes"]
    kind = rng.choice(["slow", "half", "bursty", *(["backlogged"] if any_hierarchy else [])])
    # Guarantees matter where many want more than they get.
    backlogged = backlogged or (options["mix"] == "guarantees" and rng.random() < 0.4)
    cls = rng.randrange(classes) if any_hierarchy and not backlogged else classes - 1
    shaped = fair * rng.uniform(0.2, 2) if any_hierarchy and (kind == "backlogged" or rng.random() < 0.3) and not backlogged else 0.0
    sizes = {"imix": IMIX, "mixed": [rng.choice(SIZES)]}.get(options["size"], [options["size"]])
    weight = rng.randint(1, 8) if options["weights"] else 1
    if backlogged or kind == "backlogged":
        return Queue(queue, of.ident, cls, weight, sizes, shaped)
    offered = fair * {"slow": rng.uniform(0.01, 0.1), "half": rng.uniform(0.3, 0.6), "bursty": rng.uniform(0.1, 0.5)}[kind]
    return Queue(queue, of.ident, cls, weight, sizes, shaped, offered, rng.choice(BURST_BYTES) if kind == "bursty" else 1)


def fill(amount: float, wants: Mapping[int, tuple[float, float]]) -> dict[int, float]:
    """Share an amount by weighted max-min; `wants`: (what it can use, weight) by key. From the one that is content first to the last."""
    given, left = {}, amount
    weights = sum(weight for _, weight in wants.values())
    for key, (want, weight) in sorted(wants.items(), key=lambda item: item[1][0] / item[1][1]):
        given[key] = max(0.0, min(want, left * weight / weights))
        left -= given[key]
        weights -= weight
    return given


def fill_guaranteed(amount: float, wants: Mapping[int, tuple[float, float, float]]) -> dict[int, float]:
    """Share an amount; `wants`: (what it can use, weight, guarantee) by key. Guarantees come first, the rest is shared by weight."""
    first = {key: min(want, guarantee) for key, (want, _, guarantee) in wants.items()}
    more = {key: (want - first[key], weight) for key, (want, weight, _) in wants.items()}
    return {key: first[key] + given for key, given in fill(amount - sum(first.values()), more).items()}


def fair_shares(plan: Plan, offered: Mapping[int, float], cycles: float) -> dict[int, float]:
    """Return the bytes that each queue gets in so many cycles by weighted max-min beyond guarantees, class by class.

    `offered`: of those not backlogged. Of a class that gets all that it wants nothing counts as guaranteed.
    """
    given: dict[int, float] = {}
    left = {node: rate * cycles for node, rate in plan.nodes.items()}
    room = {s.ident: s.shaped * cycles if s.shaped else left[s.node] for s in plan.subscribers}
    for cls in sorted({q.cls for q in plan.queues}):
        for node in plan.nodes:
            mine = {s.ident: s for s in plan.subscribers if s.node == node}
            wants: dict[int, dict[int, tuple[float, float, float]]] = {ident: {} for ident in mine}
            for q in plan.queues:
                if q.subscriber in mine and q.cls == cls:
                    want = min(offered[q.queue] if q.offered else left[node], q.shaped * cycles if q.shaped else left[node])
                    wants[q.subscriber][q.queue] = (want, q.weight, q.guarantee * cycles)
            uses = {
                ident: (min(room[ident], sum(want for want, _, _ in own.values())), mine[ident].weight, mine[ident].guarantee * cycles)
                for ident, own in wants.items()
                if own
            }
            for ident, amount in fill_guaranteed(left[node], uses).items():
                given |= fill_guaranteed(amount, wants[ident])
                room[ident] -= amount
            left[node] -= sum(given[queue] for own in wants.values() for queue in own)
    return given


def errors(plan: Plan, raw: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of the bench: distances from the fair shares in percentage points of the node."""
    cycles = raw["cycles"]
    offered = {q.queue: float(amount) for q, amount in zip(plan.queues, raw["offered"], strict=True)}
    carried = {q.queue: float(amount) for q, amount in zip(plan.queues, raw["carried"], strict=True)}
    fair = fair_shares(plan, offered, cycles)
    node_of = {s.ident: s.node for s in plan.subscribers}
    subscribers = dict.fromkeys(node_of, 0.0)
    queues = 0.0
    for q in plan.queues:
        off = 100 * (carried[q.queue] - fair[q.queue]) / (plan.nodes[node_of[q.subscriber]] * cycles)
        subscribers[q.subscriber] += off
        queues = max(queues, abs(off))
    used = [
        moved / (rate * cycles)
        for (node, rate), moved in zip(plan.nodes.items(), raw["node_bytes"], strict=True)
        if node in node_of.values()
    ]
    by_subscriber = max(map(abs, subscribers.values()))
    return {
        "packets": raw["packets"],
        "parent_utilisation": min(used),
        "parent_utilisation_max": max(used),
        "cycles": cycles,
        "flows": len(plan.queues),
        "backlogged": sum(not q.offered for q in plan.queues),
        "share_error_points": max(by_subscriber, queues),
        "subscriber_error_points": by_subscriber,
        "queue_error_points": queues,
        "subscribers": len(subscribers),
        "bytes": int(sum(carried.values())),
    }
