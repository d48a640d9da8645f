"""What a run says of subscribers, nodes and ports: the engine is told who is below whom, and its counts become rows of `result.json`.

docs/result.md describes the rows. A level whose settings nobody gave is there as well: every queue has a subscriber, a node and a port.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from penstock.basics.units import PS_PER_SECOND
from penstock.designs.access_edge.scenario import Scenario
from penstock.scenarios.scenario import Document

if TYPE_CHECKING:
    from penstock.designs.access_edge.config import Config
    from penstock.designs.access_edge.hierarchy import ScenarioHierarchy

MAX_ROWS = 1000  # of a level
LEVELS = ("subscribers", "nodes", "ports")
AMOUNTS = ("in", "out", "queued")


@dataclass(frozen=True)
class Parents:
    """The settings of subscribers, nodes and ports with which a run begins."""

    hierarchy: "ScenarioHierarchy"
    places: dict[str, Any]  # for the engine

    def row(self, kind: str, ident: int) -> dict[str, Any]:
        """Return what `result.json` says of the settings of one of them."""
        settings = self.hierarchy.settings(kind, ident)
        above = {"subscribers": "node", "nodes": "port"}.get(kind)
        weight = {"weight": settings.weight} if kind == "subscribers" else {}
        return {"id": ident, **({above: settings.parent} if above else {}), **weight, "configured_rate_bps": settings.rate_bps}


def parents(scenario: Scenario, document: Document, config: "Config") -> Parents | None:
    """Return the parents of a scenario, None for a configuration without a hierarchy. Raises UserError."""
    from penstock.designs.access_edge.hierarchy import ScenarioHierarchy

    if config.hierarchy is None:
        return None
    hierarchy = ScenarioHierarchy(scenario, document, config)
    per = config.hierarchy.queues_per_subscriber
    moves = []
    for change in scenario.changes:
        at = change.at * config.clock_hz // PS_PER_SECOND
        for kind, above in (("subscribers", change.set.node), ("nodes", change.set.port)):
            if above is not None and (ranges := getattr(change, kind)) is not None:
                moves += [(at, kind == "nodes", ident, above) for low, high in ranges for ident in range(low, high + 1)]
    places = {
        "queues_per_subscriber": per,
        "ports": config.hierarchy.ports,
        "node_of": _parents_of(hierarchy, "subscribers", config.queues // per),
        "port_of": _parents_of(hierarchy, "nodes", config.hierarchy.nodes),
        "moves": sorted(moves, key=lambda move: move[0]),
    }
    return Parents(hierarchy, places)


def _parents_of(hierarchy: "ScenarioHierarchy", kind: str, count: int) -> NDArray[np.uint32]:
    return np.array([hierarchy.settings(kind, ident).parent for ident in range(count)], dtype=np.uint32)


def rows(raw: dict[str, Any], given: Parents | None, clock_hz: int) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the three levels by their keys in `result.json`; nothing for a run that has none."""
    if given is None or "hierarchy" not in raw:
        return {}
    return {kind: _level(raw, raw["hierarchy"][kind], kind, given, clock_hz) for kind in LEVELS}


def _level(raw: dict[str, Any], counts: dict[str, Any], kind: str, given: Parents, clock_hz: int) -> list[dict[str, Any]]:
    """Return the rows of a level: of those that traffic came to or left from, at most the busiest ones, in order of their ids."""
    from penstock.engine.result import binned, distribution

    moved = np.asarray(counts["in"]["bytes"], dtype=np.int64) + np.asarray(counts["out"]["bytes"], dtype=np.int64)
    some = np.flatnonzero(moved)
    busiest = np.sort(some[np.argsort(-moved[some], kind="stable")[:MAX_ROWS]])
    cycles, scale = int(raw["cycles"]), 1e9 / clock_hz
    found = []
    for ident in busiest.tolist():
        totals = {unit: _totals(counts, unit, ident) for unit in ("packets", "bytes")}
        left = (counts["latency"] or {}).get(ident)
        found.append({
            **given.row(kind, ident),
            **totals,
            "throughput_bps": round(8 * totals["bytes"]["out"] * clock_hz / cycles, 3) if cycles else 0.0,
            "latency_ns": None if counts["latency"] is None else binned(left, scale) if left else distribution(np.zeros(0)),
        })  # fmt: skip
    return found


def _totals(counts: dict[str, Any], unit: str, ident: int) -> dict[str, Any]:
    dropped = {reason: int(amount[unit][ident]) for reason, amount in counts["dropped"].items()}
    return {
        **{key: int(counts[key][unit][ident]) for key in AMOUNTS},
        "dropped": {reason: count for reason, count in dropped.items() if count},
    }
