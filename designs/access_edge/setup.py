"""What a device is and how it is set, without a scenario file: the same keys, checked by the same code."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from penstock.designs.access_edge import hierarchy, job
from penstock.designs.access_edge import scenario as schema
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.settings import memory_faults, plain, shares
from penstock.designs.access_edge.settings.queues import Settings, must_be_written
from penstock.errors import UserError
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

    def job(self, library: str | None) -> dict[str, Any]:
        """Return the settings of an engine's session; `library`: of the RTL, None for the model."""
        config, given = self.config, self._given
        device = job.device_settings(given.device, config, "rtl" if library else "model", self._document.fail)
        if library:
            device["library"] = library
        sampled = np.unique(np.linspace(0, config.queues - 1, min(config.queues, job.SAMPLED_QUEUES)).astype(int))
        return {
            "device": device,
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
        set_up = memory_faults.timeout_writes(self._given.device.memory_timeout, self.config, self._document.fail) + set_up
        set_up = shares.writes(self._given.memory_shares, self.config, self._document.fail) + set_up
        return [*set_up, *self._hierarchy.setup(), *(self._subscribers.writes() if self._subscribers else ())]

    def check_index(self, level: str, index: int) -> None:
        """Raise UserError unless the device has this queue, subscriber, node or port."""
        count = self.config.queues if level == "queue" else self._hierarchy.count(LEVELS[level], (f"{level}({index})",))
        if not 0 <= index < count:
            most = count - 1
            raise UserError(f"configuration {self.config.name} has {LEVELS[level]} 0 to {most:,}, and no {level} {index}")

    def writes(self, level: str, index: int, settings: Mapping[str, Any]) -> Writes:
        """Return the register writes that change the settings of one queue, subscriber, node or port. Raises UserError."""
        if level != "queue":
            return plain.parent_writes(self.config, LEVELS[level], index, settings, self._hierarchy)
        if not settings:
            raise UserError(f"queues[{index}]: is empty")
        old = self._changed.get(index) or self._queues.settings(index)
        self._changed[index] = plain.queue_settings(self.config, settings, ("queues", index), old, self._egress_bps)
        return self._changed[index].writes(index, self.config)
