"""What a device is and how it is set, without a scenario file: the same keys, checked by the same code."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from penstock.designs.access_edge import hierarchy, job
from penstock.designs.access_edge import scenario as schema
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.settings import flows, memory_faults, plain, shares
from penstock.designs.access_edge.settings.profiles import Kinds
from penstock.designs.access_edge.settings.queues import Settings, must_be_written
from penstock.designs.access_edge.subscribers import Found, Subscribers
from penstock.errors import UserError
from penstock.parts import python
from penstock.scenarios.common import id_ranges
from penstock.scenarios.device import configuration_as
from penstock.scenarios.scenario import Document, check

Writes = list[tuple[int, int]]
LEVELS = {"queue": "queues", "subscriber": "subscribers", "node": "nodes", "port": "ports"}


class Setup:
    """The keys of a scenario that say what a device is, and the settings of its queues and parents as they change."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        """Raises UserError that names the key."""
        self._given, document = check(schema.Setup, given)
        self._document: Document = document
        self.config = configuration_as(Config, self._given, document)
        self._queues = job.QueueTable(self._given, document, self.config)
        self._hierarchy = hierarchy.ScenarioHierarchy(self._given, document, self.config)
        self._subscribers = job.subscribers_of(self._given, document, self.config)
        self._egress_bps = job.line_rate(self._given, document, self.config, "egress")
        self._changed: dict[int, Settings] = {}
        self._kinds = Kinds(self.config) if self.config.setting_profiles else None

    def job(self, library: str | None) -> dict[str, Any]:
        """Return the settings of an engine's session; `library`: of the RTL, None for the model."""
        config, given = self.config, self._given
        device = job.device_settings(given.device, config, "rtl" if library else "model", self._document.fail)
        if library:
            device["library"] = library
        sampled = np.unique(np.linspace(0, config.queues - 1, min(config.queues, job.SAMPLED_QUEUES)).astype(int))
        return {
            "device": python.seeded(device, given.seed),
            "seed": given.seed,
            "ingress_bps": job.line_rate(given, self._document, config, "ingress"),
            "egress_bps": self._egress_bps,
            "overhead_bytes": given.link.overhead_bytes,
            "ingress_fifo_bytes": given.link.ingress_fifo,
            "egress_buffer_bytes": given.link.egress_buffer,
            "sample_queues": sampled.tolist(),
            "sources": [],
            "keep_all": False,
        }

    def first_writes(self) -> Writes:
        """Return the register writes before the clock starts."""
        queues: Iterable[int]
        if self._given.defaults.model_fields_set or must_be_written(self.config):
            queues = range(self.config.queues)
        else:
            queues = sorted({queue for entry in self._given.queues for low, high in entry.ranges for queue in range(low, high + 1)})
        set_up = [write for queue in queues for write in self._queues.settings(queue).writes(queue, self.config)]
        if self._kinds and (words := self._kinds.follow(set_up)):
            self._document.fail(("queues",), f"do not fit: {words}")
        set_up = memory_faults.timeout_writes(self._given.device.memory_timeout, self.config, self._document.fail) + set_up
        set_up = shares.writes(self._given.memory_shares, self.config, self._document.fail) + set_up
        set_up = flows.writes(self._given.device.flow_limit, self.config, self._given.seed, self._document.fail) + set_up
        return [*set_up, *self._hierarchy.setup(), *(self._subscribers.writes() if self._subscribers else ())]

    @property
    def kinds(self) -> list[str] | None:
        """Kinds of matches that are looked for, in the order of their profiles; None: queues are not found in headers."""
        return self._subscribers.kinds if self._subscribers else None

    def check_index(self, level: str, index: int) -> None:
        """Raise UserError unless the device has this queue, subscriber, node or port."""
        if level == "subscriber" and self.config.headers is not None and self.config.hierarchy is None:
            if index < 0:
                raise UserError(f"subscriber({index}): a subscriber is a whole number from 0 on")
            return
        count = self.config.queues if level == "queue" else self._hierarchy.count(LEVELS[level], (f"{level}({index})",))
        if not 0 <= index < count:
            most = count - 1
            raise UserError(f"configuration {self.config.name} has {LEVELS[level]} 0 to {most:,}, and no {level} {index}")

    def writes(self, level: str, index: int, settings: Mapping[str, Any]) -> Writes:
        """Return the register writes that change the settings of one queue, subscriber, node or port. Raises UserError."""
        if level == "subscriber" and self._subscribers is not None and settings.keys() & {"match", "queues"}:
            return self._match_writes(self._subscribers, index, dict(settings))
        if level == "subscriber" and self._subscribers is not None and self.config.hierarchy is None:
            named = ", ".join(map(str, settings)) or "nothing"
            raise UserError(f"subscriber({index}): has `match` and `queues`, as the device has no hierarchy, and not {named}")
        if level != "queue":
            return plain.parent_writes(self.config, LEVELS[level], index, settings, self._hierarchy)
        if not settings:
            raise UserError(f"queues[{index}]: is empty")
        old = self._changed.get(index) or self._queues.settings(index)
        changed = plain.queue_settings(self.config, settings, ("queues", index), old, self._egress_bps)
        writes = changed.writes(index, self.config)
        if self._kinds and (words := self._kinds.follow(writes)):
            raise UserError(f"queues[{index}]: {words}")
        self._changed[index] = changed
        return writes

    @property
    def keys(self) -> int:
        """How many keys of subscribers the device is to have."""
        return self._subscribers.keys if self._subscribers else 0

    def matches(self, index: int) -> Sequence[Found]:
        """Return what a subscriber is found by."""
        return self._subscribers.of(index) if self._subscribers else ()

    def put_back(self, index: int, before: Sequence[Found]) -> Writes:
        """Return the register writes by which a subscriber is found as before."""
        assert self._subscribers
        return self._subscribers.become(index, before)

    def removal(self, index: int) -> Writes:
        """Return the register writes after which the hardware finds a subscriber no more. Raises UserError."""
        if self._subscribers is None:
            raise UserError(f"subscriber({index}): configuration {self.config.name} does not find subscribers in headers")
        return self._subscribers.remove(index)

    def _match_writes(self, subscribers: Subscribers, index: int, settings: dict[str, Any]) -> Writes:
        """Return the writes of `match`, one or a list, and `queues`, and of the other settings of a subscriber."""
        where = f"subscriber({index})"
        match, queues = settings.pop("match", None), settings.pop("queues", None)
        given = [] if match is None else list(match) if isinstance(match, list | tuple) else [match]
        if match is not None and not given:
            raise UserError(f"{where}.match: is empty; remove() takes a subscriber away")
        try:
            ranges = id_ranges(queues) if queues is not None else None
        except ValueError as error:
            raise UserError(f"{where}.queues: {error}") from None
        if ranges is not None and len(ranges) != 1:
            raise UserError(f'{where}.queues: must be queues in a row such as 7 or "0-3", not {queues!r}')
        if settings and self.config.hierarchy is None:
            raise UserError(f"{where}: has `match` and `queues`, as the device has no hierarchy, and not {', '.join(map(str, settings))}")
        own = plain.parent_writes(self.config, "subscribers", index, settings, self._hierarchy) if settings else []
        return own + subscribers.put(index, given, ranges[0] if ranges else None, (where,))
