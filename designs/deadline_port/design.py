"""The deadline port, as the workbench knows it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from penstock.designs.deadline_port import config as configuration
from penstock.designs.deadline_port.config import Config
from penstock.designs.deadline_port.job import DeadlinePlan
from penstock.designs.deadline_port.scenario import Scenario
from penstock.designs.design import Design, LiveQueue, Plot
from penstock.library.device import Device
from penstock.paths import DESIGNS

SEGMENT_USER = 28  # bits of tuser of a segment (pst_deadline_wide_ports_pkg)


class DeadlinePort(Design[Config, DeadlinePlan, Scenario]):
    """One port whose frames ask for their own latency: earliest deadline first, and what has missed its deadline is not sent."""

    name = "deadline_port"
    page = "docs/scenario-deadline-port.md"
    configuration = Config
    scenario = Scenario

    def module(self, config: Config) -> str:
        """Return pst_deadline_wide for several columns."""
        return "pst_deadline_wide" if config.wide else "pst_deadline_port"

    def shim(self, config: Config) -> Path:
        """Return the shim of the module."""
        return DESIGNS / self.name / "model" / ("shim_wide.cpp" if config.wide else "shim.cpp")

    def parameters(self, config: Config) -> dict[str, str]:
        """Return the parameters of the module."""
        return configuration.parameters(config)

    def widths(self, config: Config) -> dict[str, int]:
        """Return what stands in the widths of its ports."""
        widths = {"Memories": config.memory.channels, "AddrWidth": config.address_bits, "DataBytes": 64}  # of a beat to a memory
        if config.wide:
            columns = config.columns
            return {
                **widths,
                "Columns": columns,
                "DataWidth": 512 * columns,
                "KeepWidth": 64 * columns,
                "UserWidth": SEGMENT_USER * columns,
            }
        return {**widths, "ClassWidth": config.class_width, "DataWidth": 512}

    def defines(self, config: Config) -> dict[str, int]:
        """Return the macros of its shim."""
        found = {"PST_MEMORIES": config.memory.channels, "PST_ADDR_WIDTH": config.address_bits, "PST_CLASS_WIDTH": config.class_width}
        return found | {"PST_COLUMNS": config.columns} if config.wide else found

    def bench_marks(self, config: Config) -> Mapping[str, str]:
        """Return how its test bench drives and reads the streams."""
        return {"@STREAMS@\n": (DESIGNS / self.name / "sim" / ("words.sv.in" if config.wide else "streams.sv.in")).read_text()}

    def live_queue(self, config: Config, plan: DeadlinePlan, queue: int) -> LiveQueue:
        """Return a class by its name; all share the line."""
        known = plan.settings.classes
        return LiveQueue(known[queue].name if queue < len(known) else f"class {queue}", "line", plan.job["egress_bps"])

    def plot_data(self, raw: dict[str, Any], config: Config, plan: DeadlinePlan) -> dict[str, NDArray[Any]]:
        """Return curves of the classes with a series."""
        from penstock.engine.result import Curves, plot_data

        ids = plan.job["series_queues"]
        return plot_data(raw, config, plan, Curves(ids, [plan.settings.classes[number].name for number in ids], [None] * len(ids)))

    def plots(self, result: dict[str, Any]) -> list[Plot]:
        """Return delays against deadlines, shares missed, and what was missed over time."""
        from penstock.designs.deadline_port import report

        return report.plots(result)

    def curves(self, result: dict[str, Any]) -> str:
        """Return what has a curve."""
        return "class"

    def hardware(self, result: dict[str, Any]) -> str:
        """Return the number of classes."""
        return f"{result['device']['classes']:,} classes"

    def open(self, given: Mapping[str, Any], engine: str, assertions: bool) -> Device:
        """Return a deadline port held open. Raises UserError."""
        from penstock.designs.deadline_port.held import DeadlinePortDevice

        return DeadlinePortDevice(given, engine, assertions)

    def drop_words(self) -> Mapping[str, str]:
        """Return words for drop reasons."""
        from penstock.designs.deadline_port.report import DROP_WORDS

        return DROP_WORDS


DESIGN = DeadlinePort()
