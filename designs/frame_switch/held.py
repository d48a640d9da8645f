"""A frame switch held open, for notebooks and tests of one's own: frames at inputs, for one output or several."""

from collections.abc import Iterable, Mapping
from typing import Any, SupportsBytes

import numpy as np

from penstock.designs.frame_switch.config import Config, device
from penstock.designs.frame_switch.job import lines
from penstock.designs.frame_switch.scenario import Setup
from penstock.errors import UserError
from penstock.library import values
from penstock.library.device import Device, built
from penstock.library.records import Received
from penstock.scenarios.device import configuration_as
from penstock.scenarios.scenario import check

MOST_GROUPS = 1 << 20  # of source, class and destinations: all of them are told to the engine at the beginning


class FrameSwitchDevice(Device):
    """A frame switch held open."""

    config: Config

    def __init__(self, given: Mapping[str, Any], engine: str, assertions: bool = False) -> None:
        """`given`: the keys `device`, `seed` and `link` of a scenario. `engine` is `rtl` or `model`. Raises UserError, ToolError."""
        setup, document = check(Setup, given)
        config = configuration_as(Config, setup, document)
        ingress, egress = lines(setup, document, config)
        self._groups = _all_groups(config)
        job = {
            "device": device(config, built(config, engine, assertions), list(self._groups)),
            "seed": setup.seed,
            "ingress_bps": ingress,
            "egress_bps": egress,
            "overhead_bytes": setup.link.overhead_bytes,
            "ingress_fifo_bytes": setup.link.ingress_fifo,
            "egress_buffer_bytes": setup.link.egress_buffer,
            "sources": [],
            "keep_all": False,
        }
        super().__init__(config, job)

    def send(
        self,
        frame: SupportsBytes | bytes,
        input: int,
        outputs: int | Iterable[int],
        traffic_class: int = 0,
        at: str | int | None = None,
        error: bool = False,
    ) -> int:
        """Let a frame arrive at an input for one output or several; return its number, by which all its copies are known when they leave.

        `frame` is bytes without FCS, or what `bytes()` makes such of (a Scapy packet). It arrives now, or at a later time `at` ("3 ms", or
        cycles of the clock). `error`: damaged on the way; the switch forgets it. Raises UserError.
        """
        config = self.config
        to = sorted(set(values.wholes(outputs if isinstance(outputs, Iterable) else (outputs,), "outputs").tolist()))
        _within("input", input, config.ports)
        _within("traffic_class", traffic_class, config.classes)
        for output in to:
            _within("output", output, config.ports)
        if not to:
            raise UserError("outputs is empty; a frame goes to one output at least")
        data = values.data(frame, 1)
        if len(to) == 1:
            return self._offer(data, config.flow(input, to[0], traffic_class), at, error, input)
        mask = sum(1 << output for output in to)
        if not self._groups:
            raise UserError(f"{config.name} has too many ports for frames with several outputs here; send one for each")
        index = (input * config.classes + traffic_class) * (1 << config.ports) + mask
        return self._offer(data, config.flows + index, at, error, input)

    def received(self) -> Received:
        """Return the frames that have left since the last call; columns `input`, `output` and `traffic_class` say where each one went."""
        left = super().received()
        flow = left.columns["queue"].astype(np.int64)
        config = self.config
        left.columns["input"] = flow // config.classes // config.ports
        left.columns["output"] = flow // config.classes % config.ports
        left.columns["traffic_class"] = flow % config.classes
        return left


def _all_groups(config: Config) -> list[dict[str, int]]:
    """Return all groups by source, class and destinations; none where they are too many. The one without destinations is a place holder."""
    if config.ports * config.classes << config.ports > MOST_GROUPS:
        return []
    return [
        {"source": source, "class": traffic_class, "destinations": max(1, destinations)}
        for source in range(config.ports)
        for traffic_class in range(config.classes)
        for destinations in range(1 << config.ports)
    ]


def _within(name: str, value: int, count: int) -> None:
    if not 0 <= values.whole(value, name) < count:
        raise UserError(f"{name} is {value}, allowed: 0 to {count - 1}")
