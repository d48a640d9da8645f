"""What a run says of subscribers, nodes and ports: the engine is told who is below whom, and its counts become rows of `result.json`.

docs/result.md describes the rows. A level whose settings nobody gave is there as well: every queue has a subscriber, a node and a port.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from penstock.basics.units import PS_PER_SECOND
from penstock.designs.access_edge.scenario import Scenario
from penstock.designs.access_edge.settings.given import UNSHAPED
from penstock.scenarios.scenario import Document

if TYPE_CHECKING:
    from penstock.designs.access_edge.config import Config
    from penstock.designs.access_edge.hierarchy import ScenarioHierarchy
    from penstock.designs.access_edge.job import EdgePlan

MAX_ROWS = 1000  # of a level
MAX_POINTS = 1 << 20  # of the curves of a level: members times intervals
MOSTLY = 0.5  # of the time in which traffic came: so long congested, what it carried meanwhile is what it was held to
LEVELS = ("subscribers", "nodes", "ports")
AMOUNTS = ("in", "out", "queued")


@dataclass(frozen=True)
class Parents:
    """The settings of subscribers, nodes and ports with which a run begins."""

    hierarchy: "ScenarioHierarchy"
    places: dict[str, Any]  # for the engine
    rate_changes: dict[tuple[str, int], list[tuple[int, int | None]]]  # cycle and rate, in order of time
    guarantee_changes: dict[int, list[tuple[int, int | None]]] | None  # of subscribers, the same; None: the device has no guarantees
    clock_hz: int

    def row(self, kind: str, ident: int, cycles: int) -> dict[str, Any]:
        """Return what `result.json` says of the settings of one of them, after a run of `cycles`."""
        settings = self.hierarchy.settings(kind, ident)
        above = {"subscribers": "node", "nodes": "port"}.get(kind)
        weight = {"weight": settings.weight} if kind == "subscribers" else {}
        changes, guaranteed = self.rate_changes.get((kind, ident), []), {}
        if self.guarantee_changes is not None and kind == "subscribers":
            guaranteed = guarantee(settings.guarantee_bps, cycles, self.guarantee_changes.get(ident, []), self.clock_hz)
        return {
            "id": ident,
            **({above: settings.parent} if above else {}),
            **weight,
            "configured_rate_bps": settings.rate_bps,
            "rate_changes": changes_until(cycles, changes, self.clock_hz),
            **guaranteed,
        }


def guarantee(bps: int, cycles: int, changes: Sequence[tuple[int, int | None]], clock_hz: int) -> dict[str, Any]:
    """Return what `result.json` says of a guaranteed rate with which a run of `cycles` begins."""
    return {"guaranteed_rate_bps": bps, "guarantee_changes": changes_until(cycles, changes, clock_hz)}


def changes_until(cycles: int, changes: Sequence[tuple[int, int | None]], clock_hz: int) -> list[list[float | None]]:
    """Return the changes of a rate that a run came to: it may have been stopped, or have run empty before."""
    return [[round(at / clock_hz, 9), rate] for at, rate in changes if at < cycles]


def parents(scenario: Scenario, document: Document, config: "Config", touched: NDArray[np.uint32], intervals: int) -> Parents | None:
    """Return the parents of a scenario, None for a configuration without a hierarchy. Raises UserError.

    `touched`: the queues that traffic can reach; `intervals`: how many points a curve has.
    """
    from penstock.designs.access_edge.hierarchy import ScenarioHierarchy

    if config.hierarchy is None:
        return None
    hierarchy = ScenarioHierarchy(scenario, document, config)
    per = config.hierarchy.queues_per_subscriber
    moves: list[tuple[int, bool, int, int]] = []
    rates: dict[tuple[str, int], list[tuple[int, int | None]]] = {}
    guarantees: dict[int, list[tuple[int, int | None]]] = {}
    for change in sorted(scenario.changes, key=lambda change: change.at):
        at = change.at * config.clock_hz // PS_PER_SECOND
        for kind, above in (("subscribers", change.set.node), ("nodes", change.set.port)):
            if above is not None and (ranges := getattr(change, kind)) is not None:
                moves += [(at, kind == "nodes", ident, above) for low, high in ranges for ident in range(low, high + 1)]
        if change.set.guarantee is not None:
            for ident in (ident for low, high in change.subscribers or () for ident in range(low, high + 1)):
                guarantees.setdefault(ident, []).append((at, change.set.guarantee))
        for kind in LEVELS:
            if change.set.rate is not None and (ranges := getattr(change, kind)) is not None:
                for ident in (ident for low, high in ranges for ident in range(low, high + 1)):
                    rates.setdefault((kind, ident), []).append((at, None if change.set.rate == UNSHAPED else int(change.set.rate)))
    counts = {"subscribers": config.queues // per, "nodes": config.hierarchy.nodes, "ports": config.hierarchy.ports}
    places = {
        "queues_per_subscriber": per,
        "ports": config.hierarchy.ports,
        "node_of": _parents_of(hierarchy, "subscribers", config.queues // per),
        "port_of": _parents_of(hierarchy, "nodes", config.hierarchy.nodes),
        "moves": moves,
    }
    for kind, count in counts.items():
        places[f"{kind}_bps"] = np.array([hierarchy.settings(kind, ident).rate_bps or 0 for ident in range(count)], dtype=np.uint64)
    places["rate_changes"] = sorted(
        (at, LEVELS.index(kind), ident, rate or 0) for (kind, ident), changes in rates.items() for at, rate in changes
    )
    reached = _reached(touched, places)
    for kind, ids in zip(LEVELS, reached, strict=True):
        places[f"{kind}_series"] = ids[: MAX_POINTS // max(1, intervals)]
    return Parents(hierarchy, places, rates, guarantees if config.hierarchy.guarantees else None, config.clock_hz)


def _reached(touched: NDArray[np.uint32], places: dict[str, Any]) -> list[NDArray[np.uint32]]:
    """Return the ids that traffic can reach, level by level, wherever something moves to."""
    subscribers = np.unique(touched // places["queues_per_subscriber"]).astype(np.uint32)
    moved = {node: {above for _, is_node, _, above in places["moves"] if is_node == node} for node in (False, True)}
    nodes = np.unique([*np.unique(places["node_of"][subscribers]).tolist(), *moved[False]]).astype(np.uint32)
    ports = np.unique([*np.unique(places["port_of"][nodes]).tolist(), *moved[True]]).astype(np.uint32)
    return [subscribers, nodes, ports]


def _parents_of(hierarchy: "ScenarioHierarchy", kind: str, count: int) -> NDArray[np.uint32]:
    return np.array([hierarchy.settings(kind, ident).parent for ident in range(count)], dtype=np.uint32)


def latencies(raw: dict[str, Any], kind: str, idents: list[int], plan: "EdgePlan") -> dict[int, NDArray[np.int64]] | None:
    """Return the latencies of all frames of each of these, in cycles; None where frames were not all kept, or something moved."""
    from penstock.engine.result import Departures, all_kept

    left = Departures.of(raw)
    if plan.parents is None or not all_kept(raw, left) or plan.parents.places["moves"]:
        return None
    whose = above(left.queue, kind, plan.parents)
    order = np.argsort(whose, kind="stable")
    low, high = (np.searchsorted(whose[order], idents, side=side) for side in ("left", "right"))
    return {ident: left.latency[order[a:b]] for ident, a, b in zip(idents, low.tolist(), high.tolist(), strict=True)}


def above(queues: NDArray[np.int64], kind: str, parents: Parents) -> NDArray[np.int64]:
    """Return the subscriber, node or port of each of these queues, when the run began."""
    whose = queues // parents.places["queues_per_subscriber"]
    if kind != "subscribers":
        whose = parents.places["node_of"][whose].astype(np.int64)
    return parents.places["port_of"][whose].astype(np.int64) if kind == "ports" else whose


def name(plan: "EdgePlan", kind: str, ident: int) -> str:
    """Return how a subscriber, node or port is called in reports: a subscriber by the name that its queues give it, where they agree."""
    if kind == "subscribers" and plan.parents is not None:
        per = plan.parents.places["queues_per_subscriber"]
        given = {plan.settings.subscriber(queue) for queue in range(ident * per, (ident + 1) * per)} - {None}
        if len(given) == 1:
            return str(given.pop())
    return f"{kind[:-1]} {ident}"


def _losers(raw: dict[str, Any], kind: str, parents: Parents) -> dict[int, tuple[int, int]]:
    """Return for each subscriber, node or port below which something was dropped the queue that lost most packets, and how many.

    Of nodes and ports it is not known where something moves: a queue's losses are those at all places that it has been at.
    """
    if kind != "subscribers" and parents.places["moves"]:
        return {}
    lost = np.asarray(raw["queue"]["drop_packets"]).astype(np.int64)
    queues = np.flatnonzero(lost)
    queues = queues[np.argsort(lost[queues], kind="stable")]  # the last entry of each wins
    return {ident: (queue, int(lost[queue])) for ident, queue in zip(above(queues, kind, parents).tolist(), queues.tolist(), strict=True)}


def rows(raw: dict[str, Any], plan: "EdgePlan", clock_hz: int) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the three levels by their keys in `result.json`; nothing for a run that has none."""
    if plan.parents is None or "hierarchy" not in raw:
        return {}
    return {kind: _level(raw, raw["hierarchy"][kind], kind, plan, plan.parents, clock_hz) for kind in LEVELS}


def _level(raw: dict[str, Any], counts: dict[str, Any], kind: str, plan: "EdgePlan", given: Parents, clock_hz: int) -> list[dict[str, Any]]:
    """Return the rows of a level: of those that traffic came to or left from, at most the busiest ones, in order of their ids."""
    from penstock.engine.result import binned, distribution, measured_from

    moved = np.asarray(counts["in"]["bytes"], dtype=np.int64) + np.asarray(counts["out"]["bytes"], dtype=np.int64)
    some = np.flatnonzero(moved)
    busiest = np.sort(some[np.argsort(-moved[some], kind="stable")[:MAX_ROWS]])
    cycles, scale = int(raw["cycles"]), 1e9 / clock_hz
    measured = cycles - measured_from(raw)
    exact = latencies(raw, kind, busiest.tolist(), plan)
    losers = _losers(raw, kind, given)
    found = []
    for ident in busiest.tolist():
        totals = {unit: _totals(counts, unit, ident) for unit in ("packets", "bytes")}
        left = (counts["latency"] or {}).get(ident)
        marks = {"marked_packets": int(counts["marked"][ident])} if "marked_packets" in raw else {}
        found.append({
            "name": name(plan, kind, ident),
            **given.row(kind, ident, cycles),
            **totals,
            "dropped_most": _loser(losers.get(ident), plan),
            **marks,
            "throughput_bps": round(8 * int(counts["measured_out_bytes"][ident]) * clock_hz / measured, 3) if measured else 0.0,
            **_rates(counts, ident, clock_hz),
            **_congestion(counts, ident, measured, clock_hz),
            "latency_ns": distribution(exact[ident], scale)
            if exact is not None
            else None
            if counts["latency"] is None
            else binned(left, scale)
            if left
            else distribution(np.zeros(0)),
        })  # fmt: skip
    return found


def _totals(counts: dict[str, Any], unit: str, ident: int) -> dict[str, Any]:
    dropped = {reason: int(amount[unit][ident]) for reason, amount in counts["dropped"].items()}
    return {
        **{key: int(counts[key][unit][ident]) for key in AMOUNTS},
        "dropped": {reason: count for reason, count in dropped.items() if count},
    }


def _loser(lost: tuple[int, int] | None, plan: "EdgePlan") -> dict[str, Any] | None:
    return None if lost is None else {"id": lost[0], "name": plan.settings.name(lost[0]), "packets": lost[1]}


def _rates(counts: dict[str, Any], ident: int, clock_hz: int) -> dict[str, float | None]:
    """Return what came and what left a second, from the first frame that came up to the last, and the rate at which it was held."""
    from penstock.engine.result import mean_rate

    cycles = int(counts["last_arrival"][ident] - counts["first_arrival"][ident])
    carried = mean_rate(int(counts["out_before_last"][ident]), cycles, clock_hz)
    congested = int(counts["congested"][ident])
    held = mean_rate(int(counts["congested_bytes"][ident]), congested, clock_hz)
    return {
        "offered_rate_bps": mean_rate(int(counts["in_before_last"][ident]), cycles, clock_hz),
        "carried_rate_bps": carried,
        "congested_rate_bps": held if congested else None,
        "measured_rate_bps": held if cycles and congested >= MOSTLY * cycles else carried,
    }


def _congestion(counts: dict[str, Any], ident: int, cycles: int, clock_hz: int) -> dict[str, float | None]:
    congested, first, last = (int(counts[key][ident]) for key in ("congested", "first_congested", "last_congested"))
    return {
        "congested_s": round(congested / clock_hz, 9),
        "congested_share": round(congested / cycles, 6) if cycles else 0.0,
        "congested_from_s": round(first / clock_hz, 9) if congested else None,
        "congested_until_s": round(last / clock_hz, 9) if congested else None,
    }
