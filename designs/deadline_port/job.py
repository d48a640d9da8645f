"""From a scenario of a deadline port to a job of the engine. What the engine calls a queue is a class here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.basics.units import format_rate, format_time_ns
from penstock.designs.deadline_port.config import BEAT_BYTES, Config, device
from penstock.designs.deadline_port.registers import Writes
from penstock.designs.deadline_port.scenario import Change, Device, GeneratedTraffic, LiveFrames, PcapTraffic, Scenario, Setup
from penstock.designs.deadline_port.settings import Settings, at_cycle, deadline_writes, dscp_writes, limit_writes
from penstock.designs.design import Plan
from penstock.scenarios import network, pcap
from penstock.scenarios.headers import dscp_decided_by, dscp_of
from penstock.scenarios.scenario import Document, KeyPath
from penstock.scenarios.traffic import (
    MAX_CYCLES,
    MAX_ENGINE_BYTES,
    MAX_KEPT_FRAMES,
    Chosen,
    before_end,
    capture,
    check_start,
    cycles,
    frame_count,
    generator,
    interval_cycles,
    line_bits,
    line_rate,
    say_none_plays,
    span,
)

DEFAULT_LINE_BPS = 100_000_000_000  # of each column
MAX_SERIES, USUAL_SERIES = 32, 12  # classes with a curve
FIELD_BYTES = 24  # of a frame: as far as its DSCP may lie


@dataclass(kw_only=True)
class DeadlinePlan(Plan):
    """A job and what is needed to explain its result."""

    config: Config
    settings: Settings
    deadlines: list[list[tuple[int, int]]] = field(default_factory=list)  # by class: (cycle, deadline in cycles), the first at 0
    used: set[int] = field(default_factory=set)  # classes that frames of captures and generated ones have at some time


@dataclass
class _Period:
    """A time in which all DSCPs keep their classes."""

    begin: int  # cycles
    end: int
    table: list[int]


def build(scenario: Scenario, document: Document, config: Config, engine: str) -> DeadlinePlan:
    """Return the plan of a scenario; on the RTL the job's `device.library` is empty still. Raises UserError."""
    clock = config.clock_hz
    duration, drain = span(scenario, document, clock)
    settings = Settings(scenario, config, document.fail)
    plan = DeadlinePlan(job={}, engine=engine, config=config, settings=settings)
    plan.deadlines = [[(0, settings.deadline_cycles(row.number))] for row in settings.classes]
    timed, periods = _changes(scenario, document, plan, duration + drain)
    ingress, egress = lines(scenario, document, config)
    sources: list[dict[str, Any]] = []
    for index, entry in enumerate(scenario.traffic):
        check_start(entry, ("traffic", index), scenario, document)
        if isinstance(entry, LiveFrames):
            sources.append(_live(entry, ("traffic", index), scenario, document, config))
            continue
        given = (("traffic", index), scenario, document, plan, periods, ingress)
        sources += _capture(entry, *given) if isinstance(entry, PcapTraffic) else _generated(entry, *given)
    bits = sum(line_bits(source, scenario.link.overhead_bytes, clock) for source in sources)
    if (offered := bits * clock / duration) > 1.001 * ingress:
        plan.notes.append(f"Traffic adds up to {format_rate(offered)}, but the ingress line carries {format_rate(ingress)}.")
    expected = sum(frame_count(source, clock) for source in sources)
    if expected > MAX_KEPT_FRAMES:
        most = f"a deadline port takes {MAX_KEPT_FRAMES:,} in a run, so make it shorter"
        document.fail(("duration",), f"makes it some {expected:,.0f} frames; {most}")
    longest = 8 * (MAX_ENGINE_BYTES + scenario.link.overhead_bytes) * clock // min(ingress, egress)
    # Of one that a change moves, at the very beginning too, the class is known when the register is written, some cycles later.
    any_class = any(change.dscp for change in scenario.changes) or any(source["kind"] == "wire" for source in sources)
    plan.job = {
        "device": described(scenario.device, config, engine, any_class=any_class),
        "seed": scenario.seed,
        "duration_cycles": duration,
        "drain": bool(scenario.drain),
        "max_cycles": duration + drain,
        "quiet_cycles": min(MAX_CYCLES, (1 << 20) + 2 * longest),
        "ingress_bps": ingress,
        "egress_bps": egress,
        "overhead_bytes": scenario.link.overhead_bytes,
        "ingress_fifo_bytes": scenario.link.ingress_fifo,
        "egress_buffer_bytes": scenario.link.egress_buffer,
        "register_writes": settings.first_writes(),
        "timed_register_writes": timed,
        "sources": sources,
        "pcap_out": None,
        "after_cycles": before_end(scenario.report.after, duration, clock, ("report", "after"), document),
        "interval_cycles": interval_cycles(scenario.report.interval, duration, drain, clock, document, plan.notes),
        "series_queues": _series(scenario, document, plan, sources),
        "keep_departures": True,
        "sample_queues": list(range(len(settings.classes))),
        **({"deadlines": _deadlines(settings)} if config.fifo else {}),
    }
    return plan


def _deadlines(settings: Settings) -> list[int]:
    """Return the deadlines of all classes of the hardware, for a plain FIFO, which tells none."""
    own = [settings.deadline_cycles(row.number) for row in settings.classes]
    return own + [settings.config.longest_deadline_cycles] * (settings.config.classes - len(own))


def default_line(config: Config) -> int:
    """Return the rate of lines that the scenario does not name, in bit/s."""
    return min(DEFAULT_LINE_BPS * config.columns, bus_bits(config) * config.clock_hz)


def bus_bits(config: Config) -> int:
    """Return the bits of a word of the streams."""
    return 8 * BEAT_BYTES * config.columns


def described(given: Device, config: Config, engine: str, any_class: bool = False) -> dict[str, Any]:
    """Return key `device` of a job, without `library` on the RTL. `any_class`: frames may be of other classes than their sources say."""

    def latency(nanoseconds: int) -> int:
        return max(1, round(nanoseconds * config.clock_hz / 1e9))

    timing = {
        "read_latency": latency(given.read_latency_ns),
        "write_latency": latency(given.write_latency_ns),
        "gap_permille": given.gap_permille,
    }
    return device(config, None if engine == "model" else "", timing, any_class)


def _changes(scenario: Scenario, document: Document, plan: DeadlinePlan, end: int) -> tuple[list[tuple[int, int, int]], list[_Period]]:
    """Return the timed register writes, and the times in which DSCPs keep their classes; notes the deadlines. Raises UserError."""
    settings, clock = plan.settings, plan.config.clock_hz
    timed: list[tuple[int, int, int]] = []
    periods = [_Period(0, end, settings.table)]
    for index, change in sorted(enumerate(scenario.changes), key=lambda item: item[1].at):
        key: KeyPath = ("changes", index)
        if change.at >= scenario.duration:
            last = format_time_ns(scenario.duration / 1000)
            document.fail((*key, "at"), f"is {format_time_ns(change.at / 1000)}, which is not before the end of the run at {last}")
        at = cycles(change.at, clock)
        timed += at_cycle(at, _change(change, key, document, plan, at, periods))
    return timed, periods


def _change(change: Change, key: KeyPath, document: Document, plan: DeadlinePlan, at: int, periods: list[_Period]) -> Writes:
    settings, config = plan.settings, plan.config
    if change.memory_limit is not None:
        return limit_writes(settings.chunks(change.memory_limit, (*key, "memory_limit")))
    if change.classes is not None and change.deadline is not None:
        if config.fifo:
            document.fail((*key, "deadline"), f"changes a deadline, which {config.name}, a plain FIFO, does not look at")
        deadline = settings.check_deadline(change.deadline, (*key, "deadline"))
        numbers = settings.many(change.classes, (*key, "classes"))
        for number in numbers:
            plan.deadlines[number].append((at, deadline))
        return [write for number in numbers for write in deadline_writes(number, deadline)]
    if config.class_from_user:
        document.fail((*key, "dscp"), f"changes the class of DSCPs, but {config.name} gets the class beside the frame")
    codes, to = change.dscp or (), settings.one(change.to or "", (*key, "to"))
    table = list(periods[-1].table)
    for code in codes:
        table[code] = to
    if periods[-1].begin == at:
        periods[-1].table = table
    else:
        periods[-1].end = at
        periods.append(_Period(at, MAX_CYCLES, table))
    return [write for code in codes for write in dscp_writes(code, to)]


def _series(scenario: Scenario, document: Document, plan: DeadlinePlan, sources: Sequence[dict[str, Any]]) -> list[int]:
    """Return the classes that have a curve. Raises UserError."""
    if scenario.report.series is not None:
        chosen = plan.settings.many(scenario.report.series, ("report", "series"))
        if len(chosen) > MAX_SERIES:
            document.fail(("report", "series"), f"names {len(chosen)} classes, allowed: {MAX_SERIES}")
        return chosen
    if any(source["kind"] == "wire" for source in sources):  # each frame says its class
        return list(range(len(plan.settings.classes)))[:USUAL_SERIES]
    used = sorted(plan.used)
    if len(used) <= USUAL_SERIES:
        return used
    return [used[round(place * (len(used) - 1) / (USUAL_SERIES - 1))] for place in range(USUAL_SERIES)]


def _generated(
    entry: GeneratedTraffic,
    key: KeyPath,
    scenario: Scenario,
    document: Document,
    plan: DeadlinePlan,
    periods: list[_Period],
    line: int,
) -> list[dict[str, Any]]:
    source, where, settings = entry.source, (*key, entry.kind), plan.settings
    numbers = settings.many(source.classes, (*where, "classes"))
    if source.rate > line:
        document.fail((*where, "rate"), f"must be at most the ingress line's {format_rate(line)}, not {format_rate(source.rate)}")
    codes = [_code(entry, number, key, where, document, plan) for number in numbers]
    made = generator(
        entry, key, scenario, document, plan.config, np.array(numbers, dtype=np.uint32), source.pick, {"bps": source.rate}, codes
    )
    playing = [period for period in periods if period.begin < made["stop_cycle"] and made["start_cycle"] < period.end]
    classes = [numbers if plan.config.class_from_user else [period.table[code] for code in codes] for period in playing]
    plan.used.update(*classes)
    # One source all the time, as what is sent does not depend on classes; where they change, the device says them (`any_class`).
    return [{**made, "queues": np.array(classes[0], dtype=np.uint32)}]


def _code(entry: GeneratedTraffic, number: int, key: KeyPath, where: KeyPath, document: Document, plan: DeadlinePlan) -> int:
    """Return the DSCP that frames of a class get. Raises UserError."""
    settings, given, row = plan.settings, entry.headers.dscp, plan.settings.classes[number]
    if given is None:
        found = settings.dscp_of(number)
        if found is None and not plan.config.class_from_user:
            document.fail((*where, "classes"), f"names class {row.name}, which has no DSCP: all 64 belong to other classes")
        return found or 0
    if settings.table[given] != number and not plan.config.class_from_user:
        other = settings.classes[settings.table[given]].name
        document.fail((*key, "headers", "dscp"), f"is {given}, which is of class {other}, not of {row.name}")
    return given


def _live(entry: LiveFrames, key: KeyPath, scenario: Scenario, document: Document, config: Config) -> dict[str, Any]:
    if config.class_from_user:
        document.fail(key, f"has frames of real programs, whose DSCP says their class, but {config.name} gets the class beside the frame")
    return network.in_job(entry, key, scenario, document, [], [0])


def _capture(
    entry: PcapTraffic,
    key: KeyPath,
    scenario: Scenario,
    document: Document,
    plan: DeadlinePlan,
    periods: list[_Period],
    line: int,
) -> list[dict[str, Any]]:
    config, settings = plan.config, plan.settings

    def choose(frames: pcap.Frames, shown: str) -> Chosen:
        known: dict[bytes, tuple[int, int]] = {}  # code, and how many bytes decide it
        codes = np.zeros((len(frames), 2), dtype=np.int64)
        for index in range(len(frames)):
            head = frames.frame(index)[:FIELD_BYTES]
            if head not in known:
                found = dscp_of(head)
                known[head] = len(settings.table) - 1 if found is None else found, dscp_decided_by(head)
            codes[index] = known[head]
        whole = frames.stored >= np.minimum(frames.lengths, codes[:, 1])
        if cut := int((~whole).sum()):
            plan.notes.append(f"{cut:,} frames of {shown} were recorded without their DSCP and were left out.")
        used = np.flatnonzero(whole)
        if not len(used):
            say_none_plays(frames, shown, "was recorded with its DSCP", key, document)
        return used, codes[used, 0].astype(np.uint32), frames.lengths[used]

    source = capture(entry, key, scenario, document, config, plan.notes, line, choose)
    tables = np.array([period.table for period in periods])
    period = np.searchsorted([period.begin for period in periods], source["cycles"], side="right") - 1
    queues: NDArray[np.uint32] = tables[period, source["queues"].astype(np.int64)].astype(np.uint32)
    plan.used.update(np.unique(queues).tolist())
    return [{**source, "queues": queues}]


def lines(setup: Setup, document: Document, config: Config) -> tuple[int, int]:
    """Return the rates of both lines in bit/s. Raises UserError."""
    ingress, egress = (line_rate(setup, document, config, side, bus_bits(config), default_line(config)) for side in ("ingress", "egress"))
    return ingress, egress
