"""The access edge, as the workbench knows it."""

from collections.abc import Collection, Mapping
from typing import Any

from numpy.typing import NDArray

from penstock.designs.access_edge import config as configuration
from penstock.designs.access_edge import registers, scheduler
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.job import EdgePlan
from penstock.designs.access_edge.scenario import Scenario
from penstock.designs.design import Bench, Control, Design, LiveQueue, Table
from penstock.library.device import Device
from penstock.parts.manifest import Part


class AccessEdge(Design[Config, EdgePlan, Scenario]):
    """Shaped queues below subscribers, access nodes and ports."""

    name = "access_edge"
    page = "docs/scenario-access-edge.md"
    models = ("scenario", "settings.given")
    configuration = Config
    scenario = Scenario

    def parameters(self, config: Config) -> dict[str, str]:
        """Return the parameters of pst_access_edge."""
        return configuration.parameters(config)

    def widths(self, config: Config) -> dict[str, int]:
        """Return what stands in the widths of its ports."""
        return {"MemoryPorts": len(config.memory_ports), "AddrWidth": config.address_bits, "DataWidth": 512, "DataBytes": 64}

    def absent(self, config: Config) -> Collection[str]:
        """Return the ports of streams that carry a queue id, where they do not."""
        return () if config.queue_id == "tdest" else ("s_axis_tdest_i", "m_axis_tdest_o")

    def bench_marks(self, config: Config) -> Mapping[str, str]:
        """Return the signals of the bench that the queue id goes to and comes from."""
        beside = config.queue_id == "tdest"
        return {"@DEST@": "s_axis_tdest_i" if beside else "unused_dest", "@QUEUE@": "m_axis_tdest_o" if beside else "m_axis_tid_o"}

    def defines(self, config: Config) -> dict[str, int]:
        """Return the macros of its shim."""
        return {
            "PST_MEMORIES": len(config.memory_ports),
            "PST_ADDR_WIDTH": config.address_bits,
            "PST_TDEST": int(config.queue_id == "tdest"),
        }

    def plugs(self, config: Config) -> dict[str, str]:
        """Return the files that say which AQM is in, and which scheduler of the user's own."""
        own = config.own_scheduler
        aqm = configuration.aqm_plug(config.aqm_part, config.aqm_numbers)
        return aqm | (scheduler.plugs(own, own.module_parameters(config.scheduler_numbers)) if own else {})

    def software(self) -> dict[str, str]:
        """Return the encoders of rates and bursts."""
        from penstock.designs.access_edge import software

        return software.files()

    def parts(self, config: Config) -> list[Part]:
        """Return its AQM, and a scheduler of the user's own."""
        return config.parts

    def live_queue(self, config: Config, plan: EdgePlan, queue: int) -> LiveQueue:
        """Return what holds a queue back: its own rate, its subscriber's, or the line."""
        name, own = plan.settings.name(queue), plan.settings.settings(queue).rate_bps
        limits = [(own, name)] if own is not None else []
        if plan.parents is not None and config.hierarchy is not None:
            subscriber = queue // config.hierarchy.queues_per_subscriber
            rate = plan.parents.hierarchy.settings("subscribers", subscriber).rate_bps
            limits += [(rate, f"subscriber {subscriber}")] if rate is not None else []
        rate, what = min([*limits, (plan.job["egress_bps"], "line")])
        return LiveQueue(name, what, rate)

    def plot_data(self, raw: dict[str, Any], config: Config, plan: EdgePlan) -> dict[str, NDArray[Any]]:
        """Return curves of queues, subscribers, nodes and ports."""
        from penstock.designs.access_edge import curves

        return curves.arrays(raw, config, plan)

    def curves(self, result: dict[str, Any]) -> str:
        """Return what has a curve."""
        return "queue"

    def tables(self, result: dict[str, Any], most: int) -> list[Table]:
        """Return tables of ports, nodes, subscribers, groups of queues and queues."""
        found: list[Table] = self.part("report").tables(result, most)
        return found

    def curve_sets(self, result: dict[str, Any]) -> Mapping[str, str]:
        """Return the levels above the queues, where there are any."""
        says_something = self.part("report").says_something
        return {kind: kind[:-1] for kind in ("subscribers", "nodes", "ports") if says_something(result, kind)}

    def rate_steps(self, result: dict[str, Any], of: str) -> Mapping[int, list[list[Any]]]:
        """Return the changes of rates of queues, or of a level."""
        found: dict[int, list[list[Any]]] = self.part("report").rate_steps(result, of or "queues")
        return found

    def guarantee_steps(self, result: dict[str, Any], of: str) -> Mapping[int, list[list[Any]]]:
        """Return the guaranteed rates of queues, or of a level."""
        found: dict[int, list[list[Any]]] = self.part("report").guarantee_steps(result, of or "queues")
        return found

    def hardware(self, result: dict[str, Any]) -> str:
        """Return the number of queues."""
        return f"{result['device']['queues']:,} queues"

    def sizes(self, config: Config) -> str:
        """Return queues, what is above them, AQM and memories."""
        parts = [f"{config.queues:,} queues"] + ({"tdest": ["queue id in tdest"], "headers": ["found in headers"]}.get(config.queue_id, []))
        if config.hierarchy is not None:
            subscribers = config.queues // config.hierarchy.queues_per_subscriber
            parts.append(f"{subscribers:,} subscribers, {config.hierarchy.nodes:,} nodes, {config.hierarchy.ports:,} ports")
        parts += [f"{config.flows.queues:,} flow queues"] if config.flows else []
        parts += [config.aqm] if config.aqm != "none" else []
        parts += ["admission by class"] if config.admission else []
        return ", ".join([*parts, f"{config.descriptors:,} packets in memory"])

    def open(self, given: Mapping[str, Any], engine: str, assertions: bool) -> Device:
        """Return an access edge held open. Raises UserError."""
        from penstock.designs.access_edge.held import AccessEdgeDevice
        from penstock.designs.access_edge.setup import Setup

        return AccessEdgeDevice(Setup(given), engine, assertions)

    def control(self) -> Control:
        """Return its control plane."""
        return Control(kind=1, serve=lambda *what: self.part("control.serve").serve(*what))

    def benches(self) -> Mapping[str, Bench]:
        """Return the benches of its core and of the whole device."""
        from penstock.designs.access_edge.bench.benches import BENCHES

        return BENCHES

    def drop_words(self) -> Mapping[str, str]:
        """Return words for drop reasons."""
        return registers.DROP_WORDS


DESIGN = AccessEdge()
