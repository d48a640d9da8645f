"""The hierarchy of a scenario, and what changes while traffic flows, as register writes.

Subscribers, nodes and ports get their settings before the clock starts; `changes` of the scenario become writes at their times, each
setting whole and at once, so that what a change does not name stays as it was.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from penstock.basics.units import PS_PER_SECOND
from penstock.designs import registers
from penstock.errors import UserError
from penstock.scenarios.scenario import Document, KeyPath
from penstock.scenarios.schema import UNSHAPED, ChangedSettings, Node, Parent, Scenario, Setup, Subscriber, TimeAtRate

if TYPE_CHECKING:
    from penstock.designs.configs import Config, Hierarchy
    from penstock.scenarios.job import QueueTable

LEVELS = {"subscribers": "subscriber", "nodes": "node", "ports": "port"}
ABOVE = {"subscribers": "node", "nodes": "port"}
OF_PARENTS = {"subscribers": {"rate", "burst", "node", "weight"}, "nodes": {"rate", "burst", "port"}, "ports": {"rate", "burst"}}

Writes = list[tuple[int, int]]
TimedWrites = list[tuple[int, int, int]]


@dataclass(frozen=True)
class ParentSettings:
    """Settings of a subscriber, node or port; what it has after reset."""

    rate_bps: int | None = None  # None: unshaped; 0: closed gate
    burst: int | TimeAtRate = 0
    parent: int = 0
    weight: int = 1  # of a subscriber

    def writes(self, level: str, index: int, clock_hz: int) -> Writes:
        """Return the register writes that give `index` of `level` these settings. Raises UserError for what cannot be set."""
        burst = self.burst if isinstance(self.burst, int) else self.burst.size(self.rate_bps or 0)
        return registers.tree_writes(level, index, self.rate_bps, burst, self.parent, clock_hz, self.weight)


class Tree:
    """The parents of a scenario and their settings, which change in the order of time."""

    def __init__(self, scenario: Setup, document: Document, config: "Config") -> None:
        self._document, self._config = document, config
        self._settings: dict[tuple[str, int], ParentSettings] = {}
        for kind in LEVELS:
            for index, entry in enumerate(getattr(scenario, kind)):
                self._enter(kind, entry, (kind, index))

    def _tree(self, key: KeyPath) -> "Hierarchy":
        if self._config.hierarchy is None:
            self._document.fail(key, f"is there, but configuration {self._config.name} has no hierarchy")
        return self._config.hierarchy

    def count(self, kind: str, key: KeyPath) -> int:
        """Return how many subscribers, nodes or ports there are."""
        tree = self._tree(key)
        return self._config.queues // tree.queues_per_subscriber if kind == "subscribers" else int(getattr(tree, kind))

    def _enter(self, kind: str, entry: Parent, key: KeyPath) -> None:
        where: KeyPath = (*key, "id" if entry.id is not None else "ids")
        idents = self.idents(kind, entry.ranges, where)
        for ident, above in zip(idents, self._above(entry, len(idents), key), strict=True):
            if (LEVELS[kind], ident) in self._settings:
                self._document.fail(where, f"has {LEVELS[kind]} {ident}, which another entry of `{kind}` has already")
            given = ChangedSettings.model_construct(
                rate=entry.rate,
                burst=entry.burst,
                weight=entry.weight if isinstance(entry, Subscriber) else None,
                **({ABOVE[kind]: above} if kind in ABOVE else {}),
            )
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
            self._document.fail((*key, "spread"), str(error))

    def idents(self, kind: str, ranges: tuple[tuple[int, int], ...], key: KeyPath) -> list[int]:
        """Return the ids of some ranges. Raises UserError for one that the configuration does not have."""
        most = self.count(kind, key) - 1
        for _, high in ranges:
            if high > most:
                name = self._config.name
                self._document.fail(key, f"names {LEVELS[kind]} {high}, but configuration {name} has {kind} 0 to {most:,}")
        return [ident for low, high in ranges for ident in range(low, high + 1)]

    def change(self, kind: str, ident: int, given: ChangedSettings, key: KeyPath, document: Document | None = None) -> Writes:
        """Change the settings of one parent, and return the register writes that do it. The change stands at `key` of `document` (the
        scenario, unless given). Raises UserError."""
        document = document or self._document
        old = self._settings.get((LEVELS[kind], ident), ParentSettings())
        new = replace(
            old,
            rate_bps=old.rate_bps if given.rate is None else None if given.rate == UNSHAPED else int(given.rate),
            burst=old.burst if given.burst is None else given.burst,
            weight=old.weight if given.weight is None else given.weight,
        )
        above = ABOVE.get(kind)
        if above and (parent := getattr(given, above)) is not None:
            most = self.count(f"{above}s", key) - 1
            if parent > most:
                document.fail((*key, above), f"is {parent}, but configuration {self._config.name} has {above}s 0 to {most:,}")
            new = replace(new, parent=parent)
        try:
            writes = new.writes(LEVELS[kind], ident, self._config.clock_hz)
        except UserError as error:
            document.fail((*key, "burst" if "burst" in str(error) else "rate"), f"cannot be: {error}")
        self._settings[LEVELS[kind], ident] = new
        return writes

    def settings(self, kind: str, ident: int) -> ParentSettings:
        """Return the settings of a subscriber, node or port."""
        return self._settings.get((LEVELS[kind], ident), ParentSettings())

    def setup(self) -> Writes:
        """Return the writes before the clock starts."""
        return [
            write for (level, ident), settings in self._settings.items() for write in settings.writes(level, ident, self._config.clock_hz)
        ]


def writes(
    scenario: Scenario, document: Document, config: "Config", table: "QueueTable", touched: NDArray[np.uint32]
) -> tuple[Writes, TimedWrites]:
    """Return the writes of the hierarchy before the clock starts, and those of changes: (cycle, address, value). Raises UserError."""
    tree = Tree(scenario, document, config)
    setup = tree.setup()
    timed: TimedWrites = []
    current = {}  # settings of queues that have changed
    reached = set(touched.tolist())
    for index in sorted(range(len(scenario.changes)), key=lambda i: scenario.changes[i].at):
        change, key = scenario.changes[index], ("changes", index)
        kind = next(kind for kind in ("queues", *LEVELS) if getattr(change, kind) is not None)
        check_settings(change.set, kind, document, (*key, "set"))
        at = change.at * config.clock_hz // PS_PER_SECOND
        if change.queues is not None:
            for queue in table.many(change.queues, (*key, "queues")).tolist():
                current[queue] = table.changed(current.get(queue) or table.settings(queue), change.set, (*key, "set"))
                if queue in reached:
                    timed += [(at, *write) for write in current[queue].writes(queue, config)]
            continue
        for ident in tree.idents(kind, getattr(change, kind), (*key, kind)):
            timed += [(at, *write) for write in tree.change(kind, ident, change.set, (*key, "set"))]
    return setup, timed


def check_settings(given: ChangedSettings, kind: str, document: Document, key: KeyPath) -> None:
    """Raise UserError for settings that what is changed (`queues`, `subscribers`, `nodes`, `ports`) does not have."""
    if not given.model_fields_set:
        document.fail(key, "is empty")
    allowed = set(ChangedSettings.model_fields) - {"node", "port"} if kind == "queues" else OF_PARENTS[kind]
    for name in given.model_fields_set - allowed:
        document.fail((*key, name), f"is nothing that {kind} have; they have {', '.join(sorted(allowed))}")
