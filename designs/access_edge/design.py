"""The access edge, as the workbench knows it."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from penstock.designs.access_edge import config as configuration
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.job import EdgePlan, build
from penstock.designs.access_edge.scenario import Scenario

from penstock.designs.design import Bench, Design, Stub, Table
from penstock.scenarios.scenario import Document


class AccessEdge(Design):
    """Shaped queues below subscribers, access nodes and ports."""

    name = "access_edge"
    page = "docs/scenario.md"
    models = ("scenario", "settings.given")
    configuration = Config
    scenario = Scenario

    def parameters(self, config: Config) -> dict[str, str]:
        """Return the parameters of pst_access_edge."""
        return configuration.parameters(config)

    def widths(self, config: Config) -> dict[str, int]:
        """Return what stands in the widths of its ports."""
        return {"Memories": len(config.memories), "AddrWidth": config.address_bits, "DataWidth": 512, "DataBytes": 64}

    def defines(self, config: Config) -> dict[str, int]:
        """Return the macros of its shim."""
        return {"PST_MEMORIES": len(config.memories), "PST_ADDR_WIDTH": config.address_bits}

    def plan(self, scenario: Scenario, document: Document, config: Config, engine: str) -> EdgePlan:
        """Return the plan of a scenario. Raises UserError."""
        return build(scenario, document, config, engine)

    def own_result(self, raw: dict[str, Any], config: Config, plan: EdgePlan) -> dict[str, Any]:
        """Return queues, groups and levels."""
        from penstock.designs.access_edge import result

        return result.own(raw, config, plan)

    def plot_data(self, raw: dict[str, Any], config: Config, plan: EdgePlan) -> dict[str, NDArray[Any]]:
        """Return curves of the queues with a series."""
        from penstock.engine.result import Curves, plot_data

        ids = plan.job["series_queues"]
        settings = plan.settings
        rates = [settings.settings(queue).rate_bps for queue in ids]
        return plot_data(raw, config, plan, Curves(ids, [settings.name(queue) for queue in ids], rates))

    def sentences(self, result: dict[str, Any]) -> list[str]:
        """Return what marking and shaping did."""
        from penstock.designs.access_edge import report

        return report.sentences(result)

    def table(self, result: dict[str, Any], most: int, short: bool) -> Table:
        """Return the table of queues, or of groups of them."""
        from penstock.designs.access_edge import report

        return report.table(result, most, short)

    def curves(self, result: dict[str, Any]) -> str:
        """Return what has a curve."""
        return "queue"

    def hardware(self, result: dict[str, Any]) -> str:
        """Return the number of queues."""
        return f"{result['device']['queues']:,} queues"

    def stub(self, config: Config) -> Stub:
        """Return the stub test bench."""
        from penstock.designs.access_edge import generated

        return generated.stub(config)

    def facts(self, config: Config) -> str:
        """Return queues, frames, memories."""
        from penstock.designs.access_edge import generated

        return generated.facts(config)

    def use(self, config: Config) -> str:
        """Return how its ports are used."""
        from penstock.designs.access_edge import generated

        return generated.use(config)

    def open(self, given: Mapping[str, Any], engine: str, assertions: bool) -> Any:
        """Return an access edge held open. Raises UserError."""
        from penstock.designs.access_edge.held import AccessEdgeDevice
        from penstock.designs.access_edge.setup import Setup

        return AccessEdgeDevice(Setup(given), engine, assertions)

    def benches(self) -> Mapping[str, Bench]:
        """Return the benches of its core and of the whole device."""
        from penstock.designs.access_edge.bench.benches import BENCHES

        return BENCHES

    def drop_words(self) -> Mapping[str, str]:
        """Return words for drop reasons."""
        return registers.DROP_WORDS


DESIGN = AccessEdge()
