"""From a scenario of a frame switch to a job of the engine.

What the engine calls a queue is a flow here: source, destination and class (Config.flow); a number beyond them is a group of destinations.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.basics.units import format_rate
from penstock.designs.design import Plan
from penstock.designs.frame_switch.config import Config, device
from penstock.designs.frame_switch.scenario import (
    GeneratedTraffic,
    LiveFrames,
    PcapTraffic,
    Rule,
    Scenario,
    Setup,
    Steady,
    Tcp,
    TcpTraffic,
    Way,
)
from penstock.scenarios import network, pcap, tcp
from penstock.scenarios.common import Share, numbers
from penstock.scenarios.scenario import Document, KeyPath
from penstock.scenarios.traffic import (
    MAX_CYCLES,
    MAX_ENGINE_BYTES,
    MAX_KEPT_FRAMES,
    Chosen,
    capture,
    check_start,
    cycles,
    frame_count,
    generator,
    interval_cycles,
    line_bits,
    matched,
    span,
)

DEFAULT_LINE_BPS = 100_000_000_000
QUIET_CYCLES = 1000  # and the time of two longest frames on the slower line, without anything coming or leaving: nothing more leaves


@dataclass(kw_only=True)
class SwitchPlan(Plan):
    """A job and what is needed to explain its result."""

    config: Config
    groups: list[dict[str, int]] = field(default_factory=list)
    after: int = 0  # cycle from which rates are measured
    end: int = 0  # of the traffic

    def way(self, source: int, outputs: list[int], traffic_class: int) -> int:
        """Return the number of the flow, or of the group of several destinations."""
        if len(outputs) == 1:
            return self.config.flow(source, outputs[0], traffic_class)
        group = {"source": source, "class": traffic_class, "destinations": sum(1 << output for output in outputs)}
        if group not in self.groups:
            self.groups.append(group)
        return self.config.flows + self.groups.index(group)


def build(scenario: Scenario, document: Document, config: Config, engine: str) -> SwitchPlan:
    """Return the plan of a scenario; on the RTL the job's `device.library` is empty still. Raises UserError."""
    clock = config.clock_hz
    duration, drain = span(scenario, document, clock)
    plan = SwitchPlan(job={}, engine=engine, config=config, after=cycles(scenario.report.after, clock), end=duration)
    if plan.after >= duration:
        document.fail(("report", "after"), "must be before the end of the traffic")
    ingress, egress = lines(scenario, document, config)
    sources: list[dict[str, Any]] = []
    for index, entry in enumerate(scenario.traffic):
        check_start(entry, ("traffic", index), scenario, document)
        if isinstance(entry, TcpTraffic):
            sources += _connections(entry, ("traffic", index), scenario, document, plan, min(egress))
            continue
        if isinstance(entry, LiveFrames):
            sources.append(_live(entry, ("traffic", index), scenario, document, plan))
            continue
        given = (("traffic", index), scenario, document, plan, ingress)
        sources += _capture(entry, *given) if isinstance(entry, PcapTraffic) else _generated(entry, *given)
    for port in range(config.ports):
        bits = sum(line_bits(source, scenario.link.overhead_bytes, clock) for source in sources if source["input"] == port)
        if (offered := bits * clock / duration) > 1.001 * (line := ingress[port]):
            plan.notes.append(f"Traffic at input {port} adds up to {format_rate(offered)}, but its line carries {format_rate(line)}.")
    expected = sum(frame_count(source, clock) for source in sources)
    expected += sum(tcp.most_frames([source], lambda _queue: None, ingress[source.get("input", 0)], clock) for source in sources)
    if expected > MAX_KEPT_FRAMES:
        most = f"a frame switch takes {MAX_KEPT_FRAMES:,} in a run, so make it shorter"
        document.fail(("duration",), f"makes it some {expected:,.0f} frames; {most}")
    longest = 8 * (MAX_ENGINE_BYTES + scenario.link.overhead_bytes) * clock // min(*ingress, *egress)
    plan.job = {
        "device": device(config, None if engine == "model" else "", plan.groups),
        "seed": scenario.seed,
        "duration_cycles": duration,
        "drain": bool(scenario.drain),
        "max_cycles": duration + drain,
        "quiet_cycles": min(MAX_CYCLES, QUIET_CYCLES + 2 * longest),
        "ingress_bps": ingress,
        "egress_bps": egress,
        "overhead_bytes": scenario.link.overhead_bytes,
        "ingress_fifo_bytes": scenario.link.ingress_fifo,
        "egress_buffer_bytes": scenario.link.egress_buffer,
        "sources": sources,
        "pcap_out": None,
        "after_cycles": plan.after,
        "interval_cycles": interval_cycles(scenario.report.interval, duration, drain, clock, document, plan.notes),
        "keep_departures": True,
    }
    return plan


def lines(scenario: Setup | Scenario, document: Document, config: Config) -> tuple[list[int], list[int]]:
    """Return the rates of the lines at each input, and at each output, in bit/s. Raises UserError."""
    most = 8 * config.data_bytes * config.clock_hz

    def side(name: str, given: tuple[int, ...] | None) -> list[int]:
        rates = given or (min(DEFAULT_LINE_BPS, most),)
        if len(rates) not in (1, config.ports):
            ports = f"{config.name} has {config.ports} ports, so give one rate or {config.ports}"
            document.fail(("link", name), f"has {len(rates)} rates; {ports}")
        if max(rates) > most:
            carries = f"{format_rate(most)}, a beat of {config.data_bytes} byte a cycle of {config.name} at {config.clock_hz / 1e6:g} MHz"
            document.fail(("link", name), f"must be at most {carries}, not {format_rate(max(rates))}")
        return list(rates) * (config.ports // len(rates))

    return side("ingress", scenario.link.ingress), side("egress", scenario.link.egress)


def _outputs(way: Way | Tcp, key: KeyPath, document: Document, config: Config) -> list[int]:
    """Return the outputs of an entry. Raises UserError for one, or for a class, that the configuration does not have."""
    outputs = numbers(way.outputs)
    if max(outputs) >= config.ports:
        document.fail((*key, "outputs"), f"names output {max(outputs)}, but {config.name} has outputs 0 to {config.ports - 1}")
    if way.traffic_class >= config.classes:
        document.fail((*key, "traffic_class"), f"is {way.traffic_class}, but {config.name} has classes 0 to {config.classes - 1}")
    return outputs


def _check_input(port: int, key: KeyPath, document: Document, config: Config) -> None:
    if port >= config.ports:
        document.fail(key, f"names input {port}, but {config.name} has inputs 0 to {config.ports - 1}")


def _numbers(plan: SwitchPlan, source: int, way: Way, outputs: list[int]) -> NDArray[np.uint32]:
    """Return the flows of an entry, or its group."""
    ways = [outputs] if way.multicast else [[output] for output in outputs]
    return np.array([plan.way(source, each, way.traffic_class) for each in ways], dtype=np.uint32)


def _generated(
    entry: GeneratedTraffic, key: KeyPath, scenario: Scenario, document: Document, plan: SwitchPlan, lines: list[int]
) -> list[dict[str, Any]]:
    steady: Steady = entry.source
    config, where = plan.config, (*key, entry.kind)
    outputs = _outputs(steady, where, document, config)
    mean = sum(size * weight for size, weight in steady.size) / sum(weight for _, weight in steady.size)
    sources = []
    for port in numbers(entry.inputs):
        _check_input(port, (*key, "inputs"), document, config)
        line, bps = lines[port], steady.rate
        if isinstance(bps, Share):
            bps = round(bps.of(line) * mean / (mean + scenario.link.overhead_bytes))
        if bps > line:
            document.fail((*where, "rate"), f"must be at most the {format_rate(line)} of input {port}, not {format_rate(bps)}")
        queues = _numbers(plan, port, steady, outputs)
        made = generator(entry, key, scenario, document, config, queues, steady.pick, {"bps": bps})
        sources.append({**made, "input": port})
    return sources


def _connections(
    entry: TcpTraffic, key: KeyPath, scenario: Scenario, document: Document, plan: SwitchPlan, line: int
) -> list[dict[str, Any]]:
    """`line`: rate of the slowest output, behind which the receivers are."""
    outputs = _outputs(entry.tcp, (*key, "tcp"), document, plan.config)
    sources = []
    for port in numbers(entry.inputs):
        _check_input(port, (*key, "inputs"), document, plan.config)
        ways = np.array([plan.way(port, [output], entry.tcp.traffic_class) for output in outputs], dtype=np.uint32)
        sources.append({**tcp.in_job(entry, key, scenario, document, plan.config, plan, ways, line, f" of input {port}"), "input": port})
    return sources


def _live(entry: LiveFrames, key: KeyPath, scenario: Scenario, document: Document, plan: SwitchPlan) -> dict[str, Any]:
    made = network.in_job(entry, key, scenario, document, [], [], plan.config.ports)
    _check_input(made["input"], (*key, "live", "from"), document, plan.config)
    queues = []
    for index, rule in enumerate(entry.map):
        outputs = _outputs(rule, (*key, "map", index), document, plan.config)
        queues.append(int(_numbers(plan, made["input"], rule, outputs)[0]))
    return network.in_job(entry, key, scenario, document, [rule.match for rule in entry.map], queues, plan.config.ports)


def _capture(
    entry: PcapTraffic, key: KeyPath, scenario: Scenario, document: Document, plan: SwitchPlan, lines: list[int]
) -> list[dict[str, Any]]:
    config = plan.config
    _check_input(entry.input, (*key, "input"), document, config)

    def target(index: int, rule: Rule) -> int:
        outputs = _outputs(rule, (*key, "map", index), document, config)
        return int(_numbers(plan, entry.input, rule, outputs)[0])

    targets = np.array([target(index, rule) for index, rule in enumerate(entry.map)], dtype=np.uint32)

    def choose(frames: pcap.Frames, shown: str) -> Chosen:
        used, rules = matched(frames, [rule.match for rule in entry.map], key, entry.unmatched, shown, document, plan.notes)
        return used, targets[rules], frames.lengths[used]

    source = capture(entry, key, scenario, document, config, plan.notes, lines[entry.input], choose)
    return [{**source, "input": entry.input}]
