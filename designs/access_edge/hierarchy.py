"""The hierarchy of a scenario, and what changes while traffic flows, as register writes.

Subscribers, nodes and ports get their settings before the clock starts; `changes` of the scenario become writes at their times, each
setting whole and at once, so that what a change does not name stays as it was.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from penstock.basics.where import KeyPath
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.scenario import Node, Parent, Scenario, Setup, Subscriber
from penstock.designs.access_edge.settings.given import ChangedSettings
from penstock.designs.access_edge.settings.parents import ABOVE, LEVELS, Parents, Writes, check_names
from penstock.designs.access_edge.settings.queues import Settings
from penstock.scenarios.scenario import Document
from penstock.scenarios.traffic import before_end

if TYPE_CHECKING:
    from penstock.designs.access_edge.config import Config
    from penstock.designs.access_edge.job import QueueTable

TimedWrites = list[tuple[int, int, int]]


def check_match(entry: Subscriber, key: KeyPath, config: "Config", document: Document) -> None:
    """Raise UserError where an entry has what goes with headers, and the configuration does not, or the other way round."""
    if config.headers is None:
        for name in ("match", "queues", "name"):
            if getattr(entry, name) is not None:
                document.fail((*key, name), f"is there, but configuration {config.name} does not find subscribers in headers")
    elif config.hierarchy is None:
        for name in ("rate", "burst", "weight", "guarantee", "node", "spread"):
            if getattr(entry, name) is not None:
                document.fail((*key, name), f"is there, but configuration {config.name} has no hierarchy")


def bypassed(scenario: Setup, config: "Config") -> Iterator[tuple[int, int]]:
    """Yield the queues of subscribers that nothing of their own holds back, the first and the last one of a row."""
    each = config.hierarchy.queues_per_subscriber if config.hierarchy else 0
    for entry in scenario.subscribers:
        if entry.bypass and each:
            yield from ((low * each, (high + 1) * each - 1) for low, high in entry.ranges)
        elif entry.bypass and entry.queues is not None:
            yield entry.queues


class ScenarioHierarchy(Parents):
    """The parents of a scenario and their settings, which change in the order of time."""

    def __init__(self, scenario: Setup, document: Document, config: "Config") -> None:
        super().__init__(config, document.fail)
        for kind in LEVELS:
            for index, entry in enumerate(getattr(scenario, kind)):
                if isinstance(entry, Subscriber):
                    check_match(entry, (kind, index), config, document)
                    if config.hierarchy is None and config.headers is not None:
                        continue  # it has a match alone
                self._enter(kind, entry, (kind, index))

    def _enter(self, kind: str, entry: Parent, key: KeyPath) -> None:
        where: KeyPath = (*key, "id" if entry.id is not None else "ids")
        idents = self.idents(kind, entry.ranges, where)
        for ident, above in zip(idents, self._above(entry, len(idents), key), strict=True):
            if (LEVELS[kind], ident) in self._settings:
                self._fail(where, f"has {LEVELS[kind]} {ident}, which another entry of `{kind}` has already")
            bypass = isinstance(entry, Subscriber) and entry.bypass
            given = ChangedSettings.model_construct(
                rate=None if bypass else entry.rate,
                burst=None if bypass else entry.burst,
                weight=entry.weight if isinstance(entry, Subscriber) else None,
                guarantee=entry.guarantee if isinstance(entry, Subscriber) and not bypass else None,
            )
            if kind in ABOVE:
                given = given.model_copy(update={ABOVE[kind]: above})
            self.change(kind, ident, given, key)

    def _above(self, entry: Parent, count: int, key: KeyPath) -> list[int | None]:
        """Return where each of an entry's subscribers or nodes is; None: not said, or a port."""
        spread = entry.spread if isinstance(entry, Subscriber | Node) else None
        if spread is None:
            return [entry.node if isinstance(entry, Subscriber) else entry.port if isinstance(entry, Node) else None] * count
        self.idents(ABOVE["subscribers" if isinstance(entry, Subscriber) else "nodes"] + "s", spread.over, (*key, "spread", "over"))
        try:
            return list(spread.parents(count))
        except ValueError as error:
            self._fail((*key, "spread"), str(error))


def writes(
    scenario: Scenario,
    document: Document,
    config: "Config",
    table: "QueueTable",
    touched: NDArray[np.uint32],
    rates: dict[int, list[tuple[int, int | None]]],
    shapers: list[tuple[int, int, int]],
    guarantees: dict[int, list[tuple[int, int]]],
    end: int,
) -> tuple[Writes, TimedWrites]:
    """Return the writes of the hierarchy before the clock starts, and those of changes: (cycle, address, value). Raises UserError.

    `rates` gets what becomes of the rates of queues that traffic can reach: cycle and rate, in order of time; `shapers` what becomes of
    their shapers: cycle, queue and code; `guarantees` what becomes of their guaranteed rates, as `rates`; `end`: cycle in which the run is
    over, drained or not.
    """
    hierarchy = ScenarioHierarchy(scenario, document, config)
    setup = hierarchy.setup()
    timed: TimedWrites = []
    current: dict[int, Settings] = {}  # settings of queues that have changed
    reached = set(touched.tolist())
    for index in sorted(range(len(scenario.changes)), key=lambda i: scenario.changes[i].at):
        change, key = scenario.changes[index], ("changes", index)
        kind = next(kind for kind in ("queues", *LEVELS) if getattr(change, kind) is not None)
        check_names(kind, change.set, (*key, "set"), document.fail)
        at = before_end(change.at, end, config.clock_hz, (*key, "at"), document)
        if change.queues is not None:
            for queue in table.many(change.queues, (*key, "queues")).tolist():
                current[queue] = table.changed(current.get(queue) or table.settings(queue), change.set, (*key, "set"))
                if queue in reached:
                    now = current[queue]
                    shapers.append((at, queue, registers.shaper_code(now.rate_bps, now.burst_bytes, config.clock_hz)))
                    if change.set.rate is not None:
                        rates.setdefault(queue, []).append((at, current[queue].rate_bps))
                    if change.set.guarantee is not None:
                        guarantees.setdefault(queue, []).append((at, current[queue].guarantee_bps))
                    timed += [(at, *write) for write in current[queue].writes(queue, config)]
            continue
        for ident in hierarchy.idents(kind, getattr(change, kind), (*key, kind)):
            timed += [(at, *write) for write in hierarchy.change(kind, ident, change.set, (*key, "set"))]
    return setup, timed
