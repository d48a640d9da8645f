"""A P4 device held open, for notebooks and tests of one's own: frames in, what the program makes of them out, with time and queues."""

from collections.abc import Mapping
from typing import Any, SupportsBytes

from penstock.designs.p4_switch.config import Config, device
from penstock.designs.p4_switch.job import lines, what_it_is
from penstock.designs.p4_switch.scenario import Setup
from penstock.errors import UserError
from penstock.library import values
from penstock.library.device import Device, built
from penstock.library.records import Received
from penstock.scenarios.device import configuration_as
from penstock.scenarios.scenario import check


class P4SwitchDevice(Device):
    """A P4 device held open."""

    config: Config

    def __init__(self, given: Mapping[str, Any], engine: str) -> None:
        """`given`: the keys `device`, `seed`, `link`, `tables` and `commands` of a scenario; files are found from the working
        folder or from that of Penstock. Raises UserError, ToolError."""
        setup, document = check(Setup, given)
        config = configuration_as(Config, setup, document)
        read, state = what_it_is(setup, document, config, [])
        ingress, egress = lines(setup, document, config)
        built(config, engine, assertions=False)
        job = {
            "device": device(config, config.ports, read.dictionary, state, setup.device.clock_start_us, setup.device.port_numbers),
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

    def send(self, frame: SupportsBytes | bytes, input: int, at: str | int | None = None, error: bool = False) -> int:
        """Let a frame arrive at an input; return its number, by which it is known when it leaves, whatever the program has made of it.

        `frame` is bytes without FCS, or what `bytes()` makes such of (a Scapy packet). It arrives now, or at a later time `at` ("3 ms", or
        cycles of the clock). `error`: damaged on the way; it is dropped. Raises UserError.
        """
        if not 0 <= values.whole(input, "input") < self.config.ports:
            raise UserError(f"input is {input}, allowed: 0 to {self.config.ports - 1}")
        return self._offer(values.data(frame, 1), input, at, error, input)

    def received(self) -> Received:
        """Return the frames that have left since the last call; column `output` says where. Copies that the program made have numbers from
        2^63 on."""
        return super().received()
