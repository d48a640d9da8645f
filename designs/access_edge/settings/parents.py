"""Settings of subscribers, nodes and ports, which change in the order of time; checked against the configuration, written to registers."""

from dataclasses import dataclass, replace

from penstock.basics.where import Fail, KeyPath
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.settings.device import Device, Hierarchy
from penstock.designs.access_edge.settings.given import UNSHAPED, ChangedSettings, TimeAtRate
from penstock.designs.access_edge.settings.queues import check_guarantee, check_least
from penstock.errors import UserError

LEVELS = {"subscribers": "subscriber", "nodes": "node", "ports": "port"}
ABOVE = {"subscribers": "node", "nodes": "port"}
_OF_PARENTS = {
    "subscribers": {"rate", "burst", "node", "weight", "guarantee"},
    "nodes": {"rate", "burst", "port"},
    "ports": {"rate", "burst"},
}

Writes = list[tuple[int, int]]


@dataclass(frozen=True)
class ParentSettings:
    """Settings of a subscriber, node or port; what it has after reset."""

    rate_bps: int | None = None  # None: unshaped; 0: closed gate
    burst: int | TimeAtRate = 0
    parent: int = 0
    weight: int = 1  # of a subscriber
    guarantee_bps: int = 0  # of a subscriber; 0: none

    def writes(self, level: str, index: int, config: Device) -> Writes:
        """Return the register writes that give `index` of `level` these settings. Raises UserError for what cannot be set."""
        burst = self.burst if isinstance(self.burst, int) else self.burst.size(self.rate_bps or 0)
        guarantee = self.guarantee_bps if config.hierarchy and config.hierarchy.guarantees else None
        return registers.hierarchy_writes(level, index, self.rate_bps, burst, self.parent, config.clock_hz, self.weight, guarantee)


class Parents:
    """The parents of a device and their settings. `fail` is called for what the configuration cannot have."""

    def __init__(self, config: Device, fail: Fail) -> None:
        self._config, self._fail = config, fail
        self._settings: dict[tuple[str, int], ParentSettings] = {}

    def _hierarchy(self, key: KeyPath) -> Hierarchy:
        if self._config.hierarchy is None:
            self._fail(key, f"is there, but configuration {self._config.name} has no hierarchy")
        return self._config.hierarchy

    def count(self, kind: str, key: KeyPath) -> int:
        """Return how many subscribers, nodes or ports there are."""
        hierarchy = self._hierarchy(key)
        return self._config.queues // hierarchy.queues_per_subscriber if kind == "subscribers" else int(getattr(hierarchy, kind))

    def idents(self, kind: str, ranges: tuple[tuple[int, int], ...], key: KeyPath) -> list[int]:
        """Return the ids of some ranges. Fails for one that the configuration does not have."""
        most = self.count(kind, key) - 1
        for _, high in ranges:
            if high > most:
                name = self._config.name
                self._fail(key, f"names {LEVELS[kind]} {high}, but configuration {name} has {kind} 0 to {most:,}")
        return [ident for low, high in ranges for ident in range(low, high + 1)]

    def change(self, kind: str, ident: int, given: ChangedSettings, key: KeyPath) -> Writes:
        """Change the settings of one parent, and return the register writes that do it."""
        old = self._settings.get((LEVELS[kind], ident), ParentSettings())
        new = replace(
            old,
            rate_bps=old.rate_bps if given.rate is None else None if given.rate == UNSHAPED else int(given.rate),
            burst=old.burst if given.burst is None else given.burst,
            weight=old.weight if given.weight is None else given.weight,
            guarantee_bps=old.guarantee_bps if given.guarantee is None else given.guarantee,
        )
        check_least(new.rate_bps, self._config, (*key, "rate"), self._fail)
        check_guarantee(given, new.guarantee_bps, new.rate_bps, self._config, (*key, "guarantee"), self._fail)
        above = ABOVE.get(kind)
        if above and (parent := getattr(given, above)) is not None:
            most = self.count(f"{above}s", key) - 1
            if parent > most:
                self._fail((*key, above), f"is {parent}, but configuration {self._config.name} has {above}s 0 to {most:,}")
            new = replace(new, parent=parent)
        try:
            writes = new.writes(LEVELS[kind], ident, self._config)
        except UserError as error:
            self._fail((*key, "burst" if "burst" in str(error) else "rate"), f"cannot be: {error}")
        self._settings[LEVELS[kind], ident] = new
        return writes

    def settings(self, kind: str, ident: int) -> ParentSettings:
        """Return the settings of a subscriber, node or port."""
        return self._settings.get((LEVELS[kind], ident), ParentSettings())

    def setup(self) -> Writes:
        """Return the writes of all that have settings."""
        return [write for (level, ident), settings in self._settings.items() for write in settings.writes(level, ident, self._config)]


def check_names(kind: str, given: ChangedSettings, key: KeyPath, fail: Fail) -> None:
    """Call `fail` for settings that what is changed does not have. `kind`: `queues`, `subscribers`, `nodes` or `ports`."""
    if not given.model_fields_set:
        fail(key, "is empty")
    allowed = set(ChangedSettings.model_fields) - {"node", "port"} if kind == "queues" else _OF_PARENTS[kind]
    for name in sorted(given.model_fields_set - allowed):
        fail((*key, name), f"is nothing that {kind} have; they have {', '.join(sorted(allowed))}")
