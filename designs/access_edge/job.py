"""From a scenario and a device configuration to a job of the engine (keys: docs/jobs.md): with the checks that need the configuration.

Times become clock cycles (rounded down), settings become register writes. Only queues that traffic can reach are written.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.basics.rates import mixed_rates
from penstock.basics.suggest import nearest
from penstock.basics.units import format_rate
from penstock.basics.where import Fail
from penstock.designs.access_edge import config as configuration
from penstock.designs.access_edge import flow_rows, hierarchy, hierarchy_rows, registers, traps
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.quiet import quiet_cycles
from penstock.designs.access_edge.scenario import (
    Device,
    GeneratedTraffic,
    LiveFrames,
    PcapTraffic,
    Queue,
    QueueSet,
    QueueSettings,
    Rates,
    Scenario,
    Setup,
    TcpTraffic,
)
from penstock.designs.access_edge.settings import flows, memory_faults, profiles, shares
from penstock.designs.access_edge.settings.queues import (
    BUS_BITS,
    RESET,
    Settings,
    check_id,
    default_line,
    fastest,
    must_be_written,
    resolved,
)
from penstock.designs.access_edge.subscribers import ANY_QUEUE, Subscribers
from penstock.designs.design import Plan
from penstock.errors import UserError
from penstock.parts import python
from penstock.scenarios import network, pcap, tcp, traffic
from penstock.scenarios.common import Share
from penstock.scenarios.scenario import Document, KeyPath
from penstock.scenarios.traffic import (
    MAX_KEPT_FRAMES,
    Chosen,
    before_end,
    capture,
    check_start,
    frame_count,
    generator,
    interval_cycles,
    line_bits,
    matched,
    say_none_plays,
    span,
)

MAX_SERIES = 32
DEFAULT_SERIES = 12
SAMPLED_QUEUES = 64  # whose counters in the device are read at the end and compared with the engine's
MAX_GROUPS = 64  # whose latencies are kept apart
MAX_NAMED_QUEUES = 1 << 26  # in all lists of queues of a scenario together
PREFIX_BYTES = 4  # the queue id in front of a frame


@dataclass(kw_only=True)
class EdgePlan(Plan):
    """A job for the engine and what is needed to explain its result."""

    settings: "QueueTable"
    touched: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, dtype=np.uint32))  # ids of the queues that traffic can reach
    parents: hierarchy_rows.Parents | None = None  # of a configuration with a hierarchy
    rate_changes: dict[int, list[tuple[int, int | None]]] = field(default_factory=dict)  # by queue: cycle and rate, in order of time
    guarantee_changes: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # the same of guaranteed rates, 0: none
    subscribers: Subscribers | None = None  # that the hardware finds in headers
    series_given: bool = False  # the scenario says which queues have curves


class QueueTable:
    """Settings and names of all queues: `scenario.queues` on top of `scenario.defaults`."""

    def __init__(self, scenario: Setup, document: Document, config: Config) -> None:
        self._document, self._config = document, config
        self._fastest = fastest(line_rate(scenario, document, config, "egress"))
        self.by_name: dict[str, tuple[tuple[int, int], ...]] = {}
        self._entries = scenario.queues
        self._entry_of = np.full(config.queues, -1, dtype=np.int32)
        for index, queue in enumerate(scenario.queues):
            self._enter(index, queue)
        self._default = self._resolve(scenario.defaults, RESET, ("defaults",))
        self._resolved = [self._resolve(queue, self._default, ("queues", index)) for index, queue in enumerate(scenario.queues)]
        self._bypassed = np.zeros(config.queues, dtype=np.bool_)
        for low, high in hierarchy.bypassed(scenario, config):
            self._bypassed[low : high + 1] = True
        self._drawn: dict[int, int] = {}  # bit/s, by queue
        rng = np.random.default_rng(scenario.seed)
        for index, queue in enumerate(scenario.queues):
            if queue.rates is not None:
                self._draw(index, queue.rates, rng)
        self._flow_names: dict[int, str] = {}
        singles = (queue.name for queue in scenario.queues if queue.name is not None and _is_one(queue))
        self._given_names = Counter(singles)  # those that stand for one queue, and for how many they do
        self._named_left = MAX_NAMED_QUEUES

    def _enter(self, index: int, queue: Queue) -> None:
        key: KeyPath = ("queues", index, "id" if queue.id is not None else "ids")
        for low, high in queue.ranges:
            self.check_id(high, key)
            taken = np.flatnonzero(self._entry_of[low : high + 1] >= 0)
            if taken.size:
                self._document.fail(key, f"has queue {low + int(taken[0])}, which another entry of `queues` has already")
            self._entry_of[low : high + 1] = index
        if queue.name is not None:
            if queue.name in self.by_name:
                self._document.fail(("queues", index, "name"), f'is "{queue.name}", which another entry has already')
            self.by_name[queue.name] = queue.ranges

    def _resolve(self, given: QueueSettings, base: Settings, key: KeyPath, name: str = "rate") -> Settings:
        return resolved(given, base, self._config, self._fastest, key, self._document.fail, name)

    def changed(self, settings: Settings, given: QueueSettings, key: KeyPath) -> Settings:
        """Return the settings of a queue after a change. Raises UserError for what the configuration cannot have."""
        return self._resolve(given, settings, key)

    def _draw(self, index: int, rates: Rates, rng: np.random.Generator) -> None:
        key: KeyPath = ("queues", index, "rates")
        ids = np.flatnonzero(self._entry_of == index)
        for name in ("least", "most"):
            self._resolve(QueueSettings(rate=getattr(rates, name)), replace(self._resolved[index], rate_bps=None), key, name)
        few = f"{ids.size:,} queue{'s' if ids.size > 1 else ''} of"
        if rates.sum < ids.size * rates.least or rates.sum > ids.size * rates.most:
            word, each = ("more", rates.least) if rates.sum < ids.size * rates.least else ("less", rates.most)
            verb = "are" if ids.size > 1 else "is"
            self._document.fail((*key, "sum"), f"cannot be: {few} {format_rate(each)} {verb} {word} than {format_rate(rates.sum)}")
        drawn = np.rint(mixed_rates(ids.size, rates.sum, rates.least, rates.most, rng)).astype(np.int64)
        self._drawn |= dict(zip(ids.tolist(), drawn.tolist(), strict=True))

    def check_id(self, queue: int, key: KeyPath) -> None:
        """Raise UserError unless the configuration has this queue."""
        check_id(queue, self._config, key, self._document.fail)

    def single(self, reference: int | str, key: KeyPath) -> int:
        """Return the id of one queue, given by id or name."""
        if isinstance(reference, int):
            self.check_id(reference, key)
            return reference
        ranges = self._named(reference, key)
        if len(ranges) != 1 or ranges[0][0] != ranges[0][1]:
            self._document.fail(key, f'is "{reference}", which is a group of queues; one queue is needed here')
        return ranges[0][0]

    def many(self, references: QueueSet, key: KeyPath) -> NDArray[np.uint32]:
        """Return the ids of a set of queues, in the order given and once each."""
        parts = []
        for reference in references:
            for low, high in self._named(reference, key) if isinstance(reference, str) else (reference,):
                self.check_id(high, key)
                self._named_left -= high - low + 1
                if self._named_left < 0:
                    self._document.fail(key, f"and the lists before it name more than {MAX_NAMED_QUEUES:,} queues, so most of them often")
                parts.append(np.arange(low, high + 1, dtype=np.uint32))
        ids = np.concatenate(parts)
        _, first = np.unique(ids, return_index=True)
        return ids[np.sort(first)]

    def _named(self, name: str, key: KeyPath) -> tuple[tuple[int, int], ...]:
        if name not in self.by_name:
            self._document.fail(key, f'is "{name}", but no entry of `queues` has this name{nearest(name, self.by_name)}')
        return self.by_name[name]

    def settings(self, queue: int) -> Settings:
        """Return the settings of one queue."""
        entry = self._entry_of[queue]
        settings = self._resolved[entry] if entry >= 0 else self._default
        if self._bypassed[queue]:
            return Settings(traffic_class=settings.traffic_class, weight=settings.weight, scheduler_word=settings.scheduler_word)
        return replace(settings, rate_bps=self._drawn[queue]) if queue in self._drawn else settings

    def groups(self) -> list[int]:
        """Return the entries of `queues` that are named groups of more than one queue, as far as results can tell them apart."""
        return self._all_groups()[:MAX_GROUPS]

    def _all_groups(self) -> list[int]:
        return [index for index, entry in enumerate(self._entries) if entry.name is not None and not _is_one(entry)]

    def groups_note(self) -> list[str]:
        """Return what is to be said of groups that results cannot tell apart."""
        count = len(self._all_groups())
        return [f"Only the first {MAX_GROUPS} of {count:,} groups of queues have rows of their own."] if count > MAX_GROUPS else []

    def group_of(self) -> NDArray[np.uint8] | None:
        """Return the group of each queue (a number in `groups`), 255: none; None where there are no groups."""
        groups = self.groups()
        if not groups:
            return None
        number = np.full(len(self._entries) + 1, 255, dtype=np.uint8)
        number[groups] = np.arange(len(groups), dtype=np.uint8)
        return number[self._entry_of]

    def group_name(self, entry: int) -> str:
        """Return the name of an entry of `queues`."""
        return str(self._entries[entry].name)

    def group_settings(self, entry: int) -> Settings:
        """Return the settings of an entry of `queues`."""
        return self._resolved[entry]

    def is_drawn(self, entry: int) -> bool:
        """Tell whether the queues of an entry of `queues` have rates of their own, drawn by the seed."""
        return self._entries[entry].rates is not None

    def name_flow(self, queue: int, name: str) -> None:
        """Remember the name of a flow for a queue that has none of its own."""
        entry = self._entry_of[queue]
        if queue not in self._flow_names and (entry < 0 or self._entries[entry].name is None):
            self._given_names[name] += 1
        self._flow_names.setdefault(queue, name)

    def name(self, queue: int) -> str:
        """Return how a queue is called in reports: no two by the same name, as results are found by it."""
        given = self._given(queue)
        return self._made(queue) if given is None else f"{given} (queue {queue})" if self._is_taken(given, queue) else given

    def _given(self, queue: int) -> str | None:
        """Return the name that stands for this queue alone."""
        entry = self._entry_of[queue]
        if entry >= 0 and self._entries[entry].name is not None:
            return self._entries[entry].name if _is_one(self._entries[entry]) else None
        return self._flow_names.get(queue)

    def _made(self, queue: int) -> str:
        """Return the name of a queue that has none of its own: it ends with the id, so no other one is made like it."""
        entry = self._entry_of[queue]
        name = self._entries[entry].name if entry >= 0 else None
        return f"{name or 'queue'} {queue}"

    def _is_taken(self, given: str, queue: int) -> bool:
        """Tell whether a given name is also another queue's: given as well, or made with that queue's id."""
        number = given.rpartition(" ")[2]
        other = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else queue
        made = other != queue and other < self._config.queues and self._given(other) is None and self._made(other) == given
        return made or self._given_names[given] > 1

    def is_named(self, queue: int) -> bool:
        """Tell whether somebody gave this queue a name."""
        entry = self._entry_of[queue]
        return queue in self._flow_names or (entry >= 0 and self._entries[entry].name is not None)

    def subscriber(self, queue: int) -> str | None:
        """Return whose queue it is."""
        entry = self._entry_of[queue]
        return self._entries[entry].subscriber if entry >= 0 else None


def _is_one(entry: Queue) -> bool:
    """Tell whether an entry of `queues` is a single queue, which has the entry's name as it stands."""
    return len(entry.ranges) == 1 and entry.ranges[0][0] == entry.ranges[0][1]


def build(scenario: Scenario, document: Document, config: Config, engine: str = "rtl") -> EdgePlan:
    """Return the plan of a scenario on `config`; the job lacks only `device.library` (engine rtl) and `pcap_out`. Raises UserError."""
    clock = config.clock_hz
    table = QueueTable(scenario, document, config)
    duration, drain = span(scenario, document, clock)
    plan = EdgePlan({}, engine=engine, settings=table, subscribers=subscribers_of(scenario, document, config))
    sources = [_source(entry, ("traffic", index), scenario, document, config, plan) for index, entry in enumerate(scenario.traffic)]
    line = line_rate(scenario, document, config, "ingress")
    offered = sum(line_bits(source, scenario.link.overhead_bytes, clock) for source in sources) * clock / duration
    if offered > 1.001 * line:
        plan.notes.append(f"Traffic adds up to {format_rate(offered)}, but the ingress line carries {format_rate(line)}.")
    expected = sum(frame_count(source, clock) for source in sources)
    egress = line_rate(scenario, document, config, "egress")
    expected += tcp.most_frames(sources, lambda queue: table.settings(queue).rate_bps, egress, clock)
    reached = np.unique(np.concatenate([source["queues"] for source in sources]))
    plan.touched = reached[reached < config.queues].astype(np.uint32)
    interval, end = interval_cycles(scenario.report.interval, duration, drain, clock, document, plan.notes), duration + drain
    writes = flows.writes(scenario.device.flow_limit, config, scenario.seed, document.fail)
    writes += memory_faults.timeout_writes(scenario.device.memory_timeout, config, document.fail)
    writes += shares.writes(scenario.memory_shares, config, document.fail) + _register_writes(plan, config)
    shaper_changes: list[tuple[int, int, int]] = []
    hierarchy_setup, timed = hierarchy.writes(
        scenario, document, config, table, plan.touched, plan.rate_changes, shaper_changes, plan.guarantee_changes, end
    )
    profiles.check([*writes, *(write[1:] for write in timed)], config, document.fail)
    plan.parents = hierarchy_rows.parents(scenario, document, config, plan.touched, -(-(duration + drain) // interval))
    if plan.parents:
        own = {"shapers": _shapers(plan, config), "shaper_changes": shaper_changes, "tolerance_cycles": config.tolerance_cycles}
        plan.parents.places.update(own)
    plan.series_given = scenario.report.series is not None
    plan.job = {
        "device": python.seeded(device_settings(scenario.device, config, engine, document.fail), scenario.seed),
        "seed": scenario.seed,
        "duration_cycles": duration,
        "drain": bool(scenario.drain),
        "max_cycles": duration + drain,
        "ingress_bps": line,
        "egress_bps": egress,
        "overhead_bytes": scenario.link.overhead_bytes,
        "ingress_fifo_bytes": scenario.link.ingress_fifo,
        "egress_buffer_bytes": scenario.link.egress_buffer,
        "register_writes": writes + hierarchy_setup,
        "timed_register_writes": timed,
        "sources": sources,
        "pcap_out": None,
        "after_cycles": before_end(scenario.report.after, duration, clock, ("report", "after"), document),
        "interval_cycles": interval,
        "series_queues": _series(scenario, document, plan),
        "keep_departures": True,
        "keep_all": expected <= MAX_KEPT_FRAMES,
        "group_of": table.group_of(),
        **({"hierarchy": {**plan.parents.places, "interval_cycles": interval}} if plan.parents else {}),
        "ready_permille": 1000,
        "lateness": _lateness(scenario, document, plan, config, duration + drain),
        **flow_rows.in_job(scenario.report.flows, config),
        "sample_queues": plan.touched[:: max(1, plan.touched.size // SAMPLED_QUEUES)].tolist(),
    }
    if plan.subscribers:
        plan.job["register_writes"] = [*plan.job["register_writes"], *plan.subscribers.writes()]
    plan.job["quiet_cycles"] = quiet_cycles(plan.job, config.max_frame_bytes)
    plan.notes += table.groups_note() + traps.notes(plan, scenario, config)
    return plan


def subscribers_of(scenario: Setup, document: Document, config: Config) -> Subscribers | None:
    """Return the subscribers that the hardware finds in headers, if it does. Raises UserError."""
    if config.headers is not None:
        return Subscribers(scenario, document, config)
    if scenario.headers is not None:
        document.fail(("headers",), f"is there, but configuration {config.name} does not find queues in headers")
    return None


def device_settings(given: Device, config: Config, engine: str, fail: Fail) -> dict[str, Any]:
    """Return key `device` of a job; on the RTL its `library` is empty still."""

    def latency(ns: int) -> int:
        return max(1, round(ns * config.clock_hz / 1e9))

    timing = {
        "read_latency": latency(given.read_latency_ns),
        "write_latency": latency(given.write_latency_ns),
        "gap_permille": given.gap_permille,
    }
    settings = configuration.device(config, None if engine == "model" else "", timing)
    faults = memory_faults.of_channels(given.memory_faults, config, engine, fail)
    for memory, own in zip(settings["memories"], faults, strict=True):
        memory.update({"faults": own} if own else {})
    return settings


def _register_writes(plan: EdgePlan, config: Config) -> list[tuple[int, int]]:
    writes: list[tuple[int, int]] = []
    for queue in plan.touched.tolist():
        settings = plan.settings.settings(queue)
        if settings != RESET or must_be_written(config):
            writes += settings.writes(queue, config)
    return writes


def _lateness(scenario: Scenario, document: Document, plan: EdgePlan, config: Config, end: int) -> dict[str, Any] | None:
    if scenario.report.lateness is None:
        return None
    if scenario.device.memory_faults:
        document.fail(("report", "lateness"), "knows no memory faults: its ideal server sends every frame that the queues accept")
    if config.hierarchy is not None or scenario.changes:
        document.fail(("report", "lateness"), "knows neither a hierarchy nor changes: its ideal server has only the queues' own rates")
    if config.aqm != "none":
        raise UserError(f"report.lateness: configuration {config.name} has an AQM, whose drops the ideal server does not know")
    from_cycle = before_end(max(scenario.report.lateness, scenario.report.after), end, config.clock_hz, ("report", "lateness"), document)
    return {"shapers": _shapers(plan, config), "from_cycle": from_cycle, "tolerance_cycles": config.tolerance_cycles}


def _shapers(plan: EdgePlan, config: Config) -> NDArray[np.uint64]:
    """Return the code of each queue's shaper."""
    shapers = np.full(config.queues, registers.shaper_code(None, 0, config.clock_hz), dtype=np.uint64)
    for queue in plan.touched.tolist():
        settings = plan.settings.settings(queue)
        shapers[queue] = registers.shaper_code(settings.rate_bps, settings.burst_bytes, config.clock_hz)
    return shapers


def _series(scenario: Scenario, document: Document, plan: EdgePlan) -> list[int]:
    if scenario.report.series is not None:
        ids = plan.settings.many(scenario.report.series, ("report", "series"))
        if ids.size > MAX_SERIES:
            document.fail(("report", "series"), f"must name at most {MAX_SERIES} queues, not {ids.size:,}")
        return [int(q) for q in ids]
    named = [q for q in plan.touched.tolist() if plan.settings.is_named(q)] if plan.settings.by_name or plan.touched.size < 1000 else []
    return (named or plan.touched.tolist())[:DEFAULT_SERIES]


def line_rate(scenario: Setup, document: Document, config: Config, side: str) -> int:
    """Return the rate of the line at one side (`ingress`, `egress`) in bit/s."""
    return traffic.line_rate(scenario, document, config, side, BUS_BITS, default_line(config))


def _source(
    entry: PcapTraffic | GeneratedTraffic | TcpTraffic | LiveFrames,
    key: KeyPath,
    scenario: Scenario,
    document: Document,
    config: Config,
    plan: EdgePlan,
) -> dict[str, Any]:
    check_start(entry, key, scenario, document)
    if isinstance(entry, GeneratedTraffic):
        return _generator(entry, key, scenario, document, config, plan)
    subscribers = plan.subscribers
    if isinstance(entry, TcpTraffic):
        line, queues = line_rate(scenario, document, config, "egress"), plan.settings.many(entry.tcp.queues, (*key, "tcp", "queues"))
        front = partial(subscribers.front, key=(*key, "tcp")) if subscribers else None
        return tcp.in_job(entry, key, scenario, document, config, plan, queues, line, front=front)

    if subscribers and (given := entry.says):
        document.fail((*key, given), f"is there, but configuration {config.name} finds the queues of frames in their headers")
    if not subscribers and not entry.says:
        ways = "a queue as `unmatched`" if isinstance(entry, LiveFrames) else "`map`, `prefixed: true`, or a queue as `unmatched`"
        document.fail(key, f"needs {ways}")
    if isinstance(entry, LiveFrames):
        rest = plan.settings.single(entry.unmatched, (*key, "unmatched")) if entry.unmatched is not None else ANY_QUEUE
        targets = [*_targets(entry, key, plan), rest]
        return network.in_job(entry, key, scenario, document, [rule.match for rule in entry.map], targets)

    def choose(frames: pcap.Frames, shown: str) -> Chosen:
        if subscribers:
            return np.arange(len(frames)), subscribers.queues_of(frames), frames.lengths
        if entry.prefixed:
            return _prefixed(frames, shown, plan, key, document)
        used, queues = _mapped(entry, key, frames, shown, document, plan)
        return used, queues, frames.lengths[used]

    line = line_rate(scenario, document, config, "ingress")
    return capture(entry, key, scenario, document, config, plan.notes, line, choose, PREFIX_BYTES if entry.prefixed else 0)


def _generator(
    entry: GeneratedTraffic, key: KeyPath, scenario: Scenario, document: Document, config: Config, plan: EdgePlan
) -> dict[str, Any]:
    source = entry.source
    ids = plan.settings.many(source.queues, (*key, entry.kind, "queues"))
    line = line_rate(scenario, document, config, "ingress")
    rate_key = (*key, entry.kind, "rate")
    if isinstance(source.rate, Share):
        own = [plan.settings.settings(queue).rate_bps for queue in ids.tolist()]
        if not all(own):
            queue = int(ids[[not rate for rate in own].index(True)])
            document.fail(rate_key, f"is a share of each queue's own rate, but queue {queue} is unshaped or has a closed gate")
        bps: dict[str, Any] = {"bps_each": np.array([source.rate.of(rate) for rate in own if rate], dtype=np.float64)}
        highest = round(bps["bps_each"].max())
    else:
        bps, highest = {"bps": source.rate}, source.rate
    if highest > line:
        document.fail(rate_key, f"must be at most the ingress link's {format_rate(line)}, not {format_rate(highest)}")
    found = generator(entry, key, scenario, document, config, ids, source.pick, bps)
    if plan.subscribers:
        if entry.headers is not None:
            document.fail((*key, "headers"), f"is there, but in configuration {config.name} frames have the headers of their subscriber")
        found["headers"] = plan.subscribers.headers(ids.tolist(), [size for size, _ in source.size], (*key, entry.kind))
    return found


def _prefixed(frames: pcap.Frames, shown: str, plan: EdgePlan, key: KeyPath, document: Document) -> Chosen:
    """Take the queue id off the front of each frame; ids are not checked, the device drops and counts what it does not have."""
    used = np.flatnonzero((frames.stored >= PREFIX_BYTES) & (frames.lengths > PREFIX_BYTES))
    if not len(used):
        say_none_plays(frames, shown, "is long enough to carry a queue id", key, document)
    if len(used) < len(frames):
        plan.notes.append(f"{len(frames) - len(used):,} frames of {shown} are too short to carry a queue id and were left out.")
    queues = np.array([int.from_bytes(frames.frame(i)[:PREFIX_BYTES], "big") for i in used.tolist()], dtype=np.uint32)
    return used, queues, frames.lengths[used] - PREFIX_BYTES


def _targets(entry: PcapTraffic | LiveFrames, key: KeyPath, plan: EdgePlan) -> list[int]:
    """Return the queue of each rule."""
    targets = []
    for index, rule in enumerate(entry.map):
        targets.append(plan.settings.single(rule.queue, (*key, "map", index, "queue")))
        if rule.name:
            plan.settings.name_flow(targets[-1], rule.name)
    return targets


def _mapped(
    entry: PcapTraffic, key: KeyPath, frames: pcap.Frames, shown: str, document: Document, plan: EdgePlan
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    targets = _targets(entry, key, plan)
    fallback = plan.settings.single(entry.unmatched, (*key, "unmatched")) if entry.unmatched not in ("ignore", "error") else None
    unmatched = None if fallback is not None else str(entry.unmatched)
    used, rules = matched(frames, [rule.match for rule in entry.map], key, unmatched, shown, document, plan.notes)
    return used, np.array([*targets, 0 if fallback is None else fallback], dtype=np.uint32)[rules]  # -1 takes the last
