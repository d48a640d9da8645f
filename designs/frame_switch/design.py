"""The frame switch, as the workbench knows it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.design import Bench, Design, LiveQueue
from penstock.designs.frame_switch import config as configuration
from penstock.designs.frame_switch.config import Config
from penstock.designs.frame_switch.job import SwitchPlan
from penstock.designs.frame_switch.scenario import Scenario
from penstock.library.device import Device
from penstock.paths import BLOCKS

RTL = BLOCKS / "fabric" / "rtl"


class FrameSwitch(Design[Config, SwitchPlan, Scenario]):
    """P inputs and P outputs, frames with classes and several destinations."""

    name = "frame_switch"
    page = "docs/scenario-frame-switch.md"
    configuration = Config
    scenario = Scenario

    def top(self, config: Config) -> Path:
        """Return the file of pst_frame_switch, which is a block's."""
        return RTL / "pst_frame_switch.sv"

    def file_list(self, config: Config) -> Path:
        """Return the list of its sources, the block's too."""
        return RTL / "frame_switch.f"

    def parameters(self, config: Config) -> dict[str, str]:
        """Return the parameters of pst_frame_switch."""
        return configuration.parameters(config)

    def widths(self, config: Config) -> dict[str, int]:
        """Return what stands in the widths of its ports."""
        return {
            "Ports": config.ports,
            "DataBytes": config.data_bytes,
            "PortWidth": (config.ports - 1).bit_length(),
            "ClassWidth": max(1, (config.classes - 1).bit_length()),
            "NumberWidth": config.number_width,
        }

    def defines(self, config: Config) -> dict[str, int]:
        """Return the macros of its shim."""
        return {
            "PST_PORTS": config.ports,
            "PST_DATA_BYTES": config.data_bytes,
            "PST_CLASSES": config.classes,
            "PST_NUMBER_WIDTH": config.number_width,
        }

    def ports(self, config: Config) -> int:
        """Return how many inputs and outputs there are."""
        return config.ports

    def live_queue(self, config: Config, plan: SwitchPlan, queue: int) -> LiveQueue:
        """Return a flow by input, output and class."""
        way, traffic_class = divmod(queue, config.classes)
        source, output = divmod(way, config.ports)
        return LiveQueue(f"input {source} to output {output}, class {traffic_class}", f"output {output}", plan.job["egress_bps"][output])

    def plot_data(self, raw: dict[str, Any], config: Config, plan: SwitchPlan) -> dict[str, NDArray[Any]]:
        """Return a curve for each output."""
        from penstock.engine.result import Curves, plot_data

        output_of = np.arange(config.flows) // config.classes % config.ports
        ids = list(range(config.ports))
        return plot_data(raw, config, plan, Curves(ids, [f"output {port}" for port in ids], [None] * len(ids), output_of, outputs=True))

    def curves(self, result: dict[str, Any]) -> str:
        """Return what has a curve."""
        return "output"

    def hardware(self, result: dict[str, Any]) -> str:
        """Return ports, classes and cell switch."""
        device = result["device"]
        return f"{device['ports']} ports, {device['classes']} classes, {device['scheduler']}"

    def open(self, given: Mapping[str, Any], engine: str, assertions: bool) -> Device:
        """Return a frame switch held open. Raises UserError."""
        from penstock.designs.frame_switch.held import FrameSwitchDevice

        return FrameSwitchDevice(given, engine, assertions)

    def benches(self) -> Mapping[str, Bench]:
        """Return `bench switch`."""
        from penstock.designs.frame_switch.bench import SWITCH

        return {"switch": SWITCH}

    def drop_words(self) -> Mapping[str, str]:
        """Return words for drop reasons."""
        from penstock.designs.frame_switch.report import DROP_WORDS

        return DROP_WORDS


DESIGN = FrameSwitch()
