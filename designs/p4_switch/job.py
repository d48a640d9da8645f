"""From a scenario of a P4 device to a job of the engine.

What the engine calls a queue is a flow here: frames of one entry at one input, or of one TCP connection. Where they go the program says.
The numbers behind them are of copies that the program makes, by output: of multicasts, then clones (`model/switch_settings.hpp`).
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from penstock.basics.units import format_rate
from penstock.designs.design import Plan
from penstock.designs.p4_switch import program, runtime_cli, tables
from penstock.designs.p4_switch.config import Config, device
from penstock.designs.p4_switch.scenario import GeneratedTraffic, LiveFrames, PcapTraffic, Scenario, Setup, TcpTraffic
from penstock.errors import UserError
from penstock.scenarios import network, pcap, tcp
from penstock.scenarios.common import Share, numbers
from penstock.scenarios.scenario import Document, KeyPath, located
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
MOST_LINE_BPS = 1_000_000_000_000
QUIET_CYCLES = 1000  # and the time of two longest frames on the slower line, without anything coming or leaving: nothing more leaves
OTHER_FLOW = "others"  # of a capture: what no rule matches


@dataclass(kw_only=True)
class SwitchPlan(Plan):
    """A job and what is needed to explain its result."""

    config: Config
    program: Path
    port_numbers: list[int]
    clock_start_us: int = 0
    names: list[dict[str, Any]] = field(default_factory=list)  # of each flow: name, input
    after: int = 0  # cycle from which rates are measured
    end: int = 0  # of the traffic

    def flow(self, name: str, port: int) -> int:
        """Return the number of a new flow that comes to an input."""
        self.names.append({"name": name, "input": port})
        return len(self.names) - 1


def build(scenario: Scenario, document: Document, config: Config, engine: str) -> SwitchPlan:
    """Return the plan of a scenario. Raises UserError."""
    notes: list[str] = []
    read, state = what_it_is(scenario, document, config, notes)
    clock = config.clock_hz
    duration, drain = span(scenario, document, clock)
    plan = SwitchPlan(
        job={},
        notes=notes,
        engine=engine,
        config=config,
        program=Path(read.path),
        port_numbers=list(scenario.device.port_numbers or range(config.ports)),
        clock_start_us=scenario.device.clock_start_us,
        after=cycles(scenario.report.after, clock),
        end=duration,
    )
    if plan.after >= duration:
        document.fail(("report", "after"), "must be before the end of the traffic")
    ingress, egress = lines(scenario, document, config)
    sources: list[dict[str, Any]] = []
    for index, entry in enumerate(scenario.traffic):
        key: KeyPath = ("traffic", index)
        check_start(entry, key, scenario, document)
        if isinstance(entry, TcpTraffic):
            sources += _connections(entry, key, scenario, document, plan, min(egress))
        elif isinstance(entry, LiveFrames):
            sources.append(_live(entry, key, scenario, document, plan))
        elif isinstance(entry, PcapTraffic):
            sources += _capture(entry, key, scenario, document, plan, ingress)
        else:
            sources += _generated(entry, key, scenario, document, plan, ingress)
    for port in range(config.ports):
        bits = sum(line_bits(source, scenario.link.overhead_bytes, clock) for source in sources if source["input"] == port)
        if (offered := bits * clock / duration) > 1.001 * (line := ingress[port]):
            plan.notes.append(f"Traffic at input {port} adds up to {format_rate(offered)}, but its line carries {format_rate(line)}.")
    expected = sum(frame_count(source, clock) for source in sources)
    expected += sum(tcp.most_frames([source], lambda _queue: None, min(egress), clock) for source in sources)
    if expected > MAX_KEPT_FRAMES:
        most = f"a P4 device takes {MAX_KEPT_FRAMES:,} in a run, so make it shorter"
        document.fail(("duration",), f"makes it some {expected:,.0f} frames; {most}")
    longest = 8 * (MAX_ENGINE_BYTES + scenario.link.overhead_bytes) * clock // min(*ingress, *egress)
    slowest = min((own.packets_per_second for own in config.by_priority if own.packets_per_second), default=clock)
    plan.job = {
        "device": device(config, len(plan.names), read.dictionary, state, plan.clock_start_us, scenario.device.port_numbers),
        "seed": scenario.seed,
        "duration_cycles": duration,
        "drain": bool(scenario.drain),
        "max_cycles": duration + drain,
        "quiet_cycles": min(MAX_CYCLES, QUIET_CYCLES + 2 * (longest + clock // slowest)),
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


def what_it_is(setup: Setup, document: Document, config: Config, notes: list[str]) -> tuple[program.Program, dict[str, Any]]:
    """Return the program, and what its tables hold; adds to `notes`. Raises UserError."""
    given = setup.device
    if given.port_numbers is not None and len(given.port_numbers) != config.ports:
        document.fail(("device", "port_numbers"), f"has {len(given.port_numbers)} numbers, but there are {config.ports} ports")
    path = located(given.program, document.path)
    try:
        read = program.load(path)
    except UserError as error:
        document.fail(("device", "program"), f"cannot be used: {error}")
    return read, _filled(setup, document, read, notes)


def _filled(setup: Setup, document: Document, read: program.Program, notes: list[str]) -> dict[str, Any]:
    """Return what the program's tables hold, for the engine. Raises UserError."""
    control = tables.Control(read)
    if setup.commands is not None:
        try:
            done = runtime_cli.load(control, located(setup.commands, document.path))
        except UserError as error:
            document.fail(("commands",), f"cannot be used: {error}")
        if ignored := sorted({command[0] for command in done.queue_commands}):
            instead = "`link.egress`, `device.queue_packets` and `device.by_priority` say that here"
            notes.append(f"{setup.commands}: {', '.join(ignored)} not followed; {instead}.")
    try:
        tables.apply(control, setup.tables.model_dump(by_alias=True))
    except UserError as error:
        path, _, words = str(error).partition(": ")
        document.fail(_keys(path), words)
    return control.dictionary()


def _keys(path: str) -> KeyPath:
    """Return the keys of `tables.entries[3].match`."""
    return tuple(int(part) if part.isdecimal() else part for part in re.split(r"[.\[\]]+", path) if part)


def lines(scenario: Setup, document: Document, config: Config) -> tuple[list[int], list[int]]:
    """Return the rates of the lines at each input, and at each output, in bit/s. Raises UserError."""

    def side(name: str, given: tuple[int, ...] | None) -> list[int]:
        rates = given or (DEFAULT_LINE_BPS,)
        if len(rates) not in (1, config.ports):
            ports = f"there are {config.ports} ports, so give one rate or {config.ports}"
            document.fail(("link", name), f"has {len(rates)} rates; {ports}")
        if max(rates) > MOST_LINE_BPS:
            document.fail(("link", name), f"must be at most {format_rate(MOST_LINE_BPS)}, not {format_rate(max(rates))}")
        return list(rates) * (config.ports // len(rates))

    return side("ingress", scenario.link.ingress), side("egress", scenario.link.egress)


def _check_input(port: int, key: KeyPath, document: Document, config: Config) -> None:
    if port >= config.ports:
        document.fail(key, f"names input {port}, but the device has inputs 0 to {config.ports - 1}")


def _named(entry: Any, kind: str, key: KeyPath, ports: list[int], port: int) -> str:
    """Return the name of an entry's frames at an input."""
    name = entry.name or f"{kind} {int(key[-1]) + 1}"
    return name if len(ports) == 1 else f"{name} of input {port}"


def _generated(
    entry: GeneratedTraffic, key: KeyPath, scenario: Scenario, document: Document, plan: SwitchPlan, lines: list[int]
) -> list[dict[str, Any]]:
    steady, config, where = entry.source, plan.config, (*key, entry.kind)
    mean = sum(size * weight for size, weight in steady.size) / sum(weight for _, weight in steady.size)
    ports, sources = numbers(entry.inputs), []
    for port in ports:
        _check_input(port, (*key, "inputs"), document, config)
        line, bps = lines[port], steady.rate
        if isinstance(bps, Share):
            bps = round(bps.of(line) * mean / (mean + scenario.link.overhead_bytes))
        if bps > line:
            document.fail((*where, "rate"), f"must be at most the {format_rate(line)} of input {port}, not {format_rate(bps)}")
        name = _named(entry, entry.kind, key, ports, port)
        flows = [plan.flow(name if steady.flows == 1 else f"{name} {flow + 1}", port) for flow in range(steady.flows)]
        made = generator(entry, key, scenario, document, config, np.array(flows, dtype=np.uint32), steady.pick, {"bps": bps})
        sources.append({**made, "input": port})
    return sources


def _connections(
    entry: TcpTraffic, key: KeyPath, scenario: Scenario, document: Document, plan: SwitchPlan, line: int
) -> list[dict[str, Any]]:
    """`line`: rate of the slowest output, behind which the receivers are."""
    ports, sources = numbers(entry.inputs), []
    for port in ports:
        _check_input(port, (*key, "inputs"), document, plan.config)
        name, count = _named(entry, "tcp", key, ports, port), entry.tcp.flows or 1
        flows = [plan.flow(name if count == 1 else f"{name} {flow + 1}", port) for flow in range(count)]
        made = tcp.in_job(entry, key, scenario, document, plan.config, plan, np.array(flows, dtype=np.uint32), line, f" of input {port}")
        sources.append({**made, "input": port})
    return sources


def _live(entry: LiveFrames, key: KeyPath, scenario: Scenario, document: Document, plan: SwitchPlan) -> dict[str, Any]:
    port = network.in_job(entry, key, scenario, document, [], [], plan.config.ports)["input"]
    _check_input(port, (*key, "live", "from"), document, plan.config)
    flows = [plan.flow(rule.name, port) for rule in entry.map]
    flows.append(plan.flow(entry.name or (OTHER_FLOW if entry.map else entry.live.from_), port))
    return network.in_job(entry, key, scenario, document, [rule.match for rule in entry.map], flows, plan.config.ports)


def _capture(
    entry: PcapTraffic, key: KeyPath, scenario: Scenario, document: Document, plan: SwitchPlan, lines: list[int]
) -> list[dict[str, Any]]:
    _check_input(entry.input, (*key, "input"), document, plan.config)
    targets = [plan.flow(rule.name, entry.input) for rule in entry.map]
    if entry.unmatched == "take":
        targets.append(plan.flow(OTHER_FLOW if entry.map else entry.name or Path(entry.pcap).stem, entry.input))
    numbered = np.array(targets, dtype=np.uint32)

    def choose(frames: pcap.Frames, shown: str) -> Chosen:
        unmatched = None if entry.unmatched == "take" else entry.unmatched
        used, rules = matched(frames, [rule.match for rule in entry.map], key, unmatched, shown, document, plan.notes)
        return used, numbered[rules], frames.lengths[used]  # rule -1, none, is the last one

    source = capture(entry, key, scenario, document, plan.config, plan.notes, lines[entry.input], choose)
    return [{**source, "input": entry.input}]
