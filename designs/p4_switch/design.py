"""The P4 device, as the workbench knows it."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from penstock.designs.design import Bench, LiveQueue, ModelDesign, Plot, Target
from penstock.designs.p4_switch.config import Config
from penstock.designs.p4_switch.job import SwitchPlan
from penstock.designs.p4_switch.scenario import Scenario
from penstock.library.device import Device


class P4Switch(ModelDesign[Config, SwitchPlan, Scenario]):
    """A v1model program around queues that are paced in bits per second; it is a model, as P4 programs for bmv2 are."""

    name = "p4_switch"
    page = "docs/scenario-p4-device.md"
    input_files = (*ModelDesign.input_files, "device.program", "commands")
    configuration = Config
    scenario = Scenario

    def ports(self, config: Config) -> int:
        """Return how many inputs and outputs there are."""
        return config.ports

    def live_queue(self, config: Config, plan: SwitchPlan, queue: int) -> LiveQueue:
        """Return a flow by its name; the program says by which output its frames leave."""
        return LiveQueue(plan.names[queue]["name"] if queue < len(plan.names) else f"copies {queue - len(plan.names)}")

    def plot_data(self, raw: dict[str, Any], config: Config, plan: SwitchPlan) -> dict[str, NDArray[Any]]:
        """Return a curve for each output."""
        from penstock.designs.p4_switch.result import outputs_of
        from penstock.engine.result import Curves, Departures, plot_data

        outputs = outputs_of(raw, Departures.of(raw))
        raw = {**raw, "departures": {**raw["departures"], "queue": outputs}}
        ids = [port for port, counts in enumerate(raw["p4"]["outputs"]) if counts["packets"]]
        return plot_data(raw, config, plan, Curves(ids, [f"output {port}" for port in ids], [None] * len(ids), outputs=True))

    def plots(self, result: dict[str, Any]) -> list[Plot]:
        """Return queueing delay, throughput and drops over time."""
        from penstock.designs.p4_switch import report

        return report.plots(result)

    def curves(self, result: dict[str, Any]) -> str:
        """Return what has a curve."""
        return "output"

    def hardware(self, result: dict[str, Any]) -> str:
        """Return the program, and what is around it."""
        return f"{result['program']}, {len(result['outputs'])} ports"

    def open(self, given: Mapping[str, Any], engine: str, assertions: bool) -> Device:
        """Return a P4 device held open. Raises UserError."""
        from penstock.designs.p4_switch.held import P4SwitchDevice

        return P4SwitchDevice(given, engine)

    def benches(self) -> Mapping[str, Bench]:
        """Return `bench p4`."""
        from penstock.designs.p4_switch.bench.benches import P4

        return {"p4": P4}

    def targets(self) -> Mapping[str, Target]:
        """Return bmv2's simple_switch, which runs the same programs."""
        from penstock.designs.p4_switch.bmv2 import result, target

        return {"bmv2": Target(target.need, target.run, result.compared, result.lines)}

    def drop_words(self) -> Mapping[str, str]:
        """Return words for drop reasons."""
        from penstock.designs.p4_switch.report import DROP_WORDS

        return DROP_WORDS


DESIGN = P4Switch()
