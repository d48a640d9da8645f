"""The scenario of an access edge as typed models: what a scenario file may say, with units, ranges and defaults.

docs/scenario-access-edge.md is generated from these models (`penstock.scenarios.schema_docs`). Rates are bit/s, times picoseconds, sizes
bytes once validated. Settings of queues and parents are those of `settings/given.py`. Checks that need the device configuration (queue
ids, the link rate, burst ranges) are in `settings/` and in `job.py`.
"""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Network
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, StrictBool, StrictInt, StrictStr, Tag, model_validator

from penstock.basics.models import Duration, Model
from penstock.basics.units import describe, format_rate, parse_rate
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.settings.given import Burst, ChangedSettings, Guarantee, MemoryShare, QueueRate, QueueSettings
from penstock.designs.access_edge.settings.memory_faults import MemoryFault
from penstock.scenarios.common import (
    Capture,
    CommonDevice,
    CommonScenario,
    CommonSetup,
    Generated,
    IdRange,
    Link,
    LiveTraffic,
    Match,
    Name,
    Pace,
    QueueRef,
    QueueSet,
    Rate,
    RateOrShare,
    Share,
    Time,
    frames_without_rule,
    id_ranges,
    queue_set,
    traffic_kind,
)
from penstock.scenarios.headers import Mac
from penstock.scenarios.network import WireTraffic
from penstock.scenarios.tcp import Connections

MAX_VLAN, KEY_PREFIX_BITS, MAX_CLASSES = 4095, 64, 16


def _least_rate(value: object) -> int:
    rate = parse_rate(value)
    if rate < registers.MIN_RATE_BPS:
        raise ValueError(f"must be at least {format_rate(registers.MIN_RATE_BPS)}, not {describe(value)}")
    return rate


LeastRate = Annotated[int, BeforeValidator(_least_rate)]


class Device(CommonDevice):
    """The hardware: a named configuration, and how its memories behave in this run."""

    aqm: StrictStr | None = Field(
        None, description="Active queue management in place of the configuration's: `none`, `codel`, `pie`, or one of your own."
    )
    scheduler: StrictStr | None = Field(
        None, description="Scheduler in place of the configuration's: `shaped`, `passthrough`, or one of your own."
    )
    read_latency_ns: StrictInt = Field(200, ge=0, le=100_000, description="Time from a memory's read request to its first data.")
    write_latency_ns: StrictInt = Field(100, ge=0, le=100_000, description="Time from the last written data to its confirmation.")
    gap_permille: StrictInt = Field(0, ge=0, le=900, description="Share of cycles in which a memory takes and gives nothing.")
    memory_faults: tuple[MemoryFault, ...] = Field((), description="What is wrong with memories, and when.")
    memory_timeout: Time | None = Field(
        None, description="A memory that is waited for so long is lost, until reset; 0: none ever is. 4,194,304 cycles unless given."
    )

    flow_limit: StrictInt | None = Field(
        None, ge=1, le=1 << 24, description="Most packets in all flow queues, where there are any; 7/8 of the pages unless given."
    )

    def numbers(self) -> dict[str, Any]:
        """Return AQM and scheduler, where they are given."""
        return {key: value for key, value in (("aqm", self.aqm), ("scheduler", self.scheduler)) if value is not None}


class Rates(Model):
    """Rates of a group's queues, drawn at random: a Pareto distribution cut at both ends, with a given sum. Few are fast, many slow."""

    least: LeastRate = Field(description="The smallest rate, 8 kbit/s or more.")
    most: LeastRate = Field(description="The largest rate, up to the egress link.")
    sum: Rate = Field(description="Of all queues of the group.")

    @model_validator(mode="after")
    def _in_order(self) -> "Rates":
        if self.least > self.most:
            raise ValueError("has a `least` that is more than its `most`")
        return self


class Queue(QueueSettings):
    """One queue, or a group of queues with the same settings."""

    id: StrictInt | None = Field(None, ge=0, description="Queue id. Either this or `ids`.")
    ids: Annotated[tuple[IdRange, ...], BeforeValidator(id_ranges)] | None = Field(
        None, description='Ids of a group: `"0-15"`, `[1, 4, "8-11"]`, `"0-60/4"` (every fourth).'
    )
    name: Name | None = Field(None, description="Name for reports, for `map`, and for `--set queues.NAME.KEY=...`.")
    subscriber: StrictStr | None = Field(None, description="Whose queue it is, for reports.")
    rates: Rates | None = Field(None, description="In place of `rate`: a rate of its own for each queue of the group.")

    @model_validator(mode="after")
    def _one_rate(self) -> "Queue":
        if self.rate is not None and self.rates is not None:
            raise ValueError("has either `rate` or `rates`, not both")
        return self

    @model_validator(mode="after")
    def _one_id(self) -> "Queue":
        if (self.id is None) == (self.ids is None):
            raise ValueError("needs either `id` or `ids`")
        return self

    @property
    def ranges(self) -> tuple[IdRange, ...]:
        """The queue ids as inclusive ranges."""
        return self.ids if self.ids is not None else ((self.id, self.id),)  # type: ignore[return-value]


class Parent(Model):
    """What subscribers, nodes and ports have in common; for configurations with a hierarchy."""

    may_be_unshaped: ClassVar[bool] = True

    id: StrictInt | None = Field(None, ge=0, description="Its id. Either this or `ids`.")
    ids: Annotated[tuple[IdRange, ...], BeforeValidator(id_ranges)] | None = Field(
        None, description='Several: `"0-15"`, `[1, 4, "8-11"]`, `"0-60/4"` (every fourth).'
    )
    rate: QueueRate | None = Field(None, description='Rate of all below it; "unshaped" unless given; 0 is a closed gate.')
    burst: Burst | None = Field(
        None,
        description="Bytes that may leave at once, or the time they take at its rate; below a congested parent some ms.",
    )

    @model_validator(mode="after")
    def _one_id(self) -> "Parent":
        if (self.id is None) == (self.ids is None):
            raise ValueError("needs either `id` or `ids`")
        return self

    @property
    def ranges(self) -> tuple[IdRange, ...]:
        """The ids as inclusive ranges."""
        return self.ids if self.ids is not None else ((self.id, self.id),)  # type: ignore[return-value]


class Spread(Model):
    """How several are dealt to those above them: subscribers to access nodes, nodes to ports."""

    over: Annotated[tuple[IdRange, ...], BeforeValidator(id_ranges)] = Field(description='Nodes or ports, `"0-127"`.')
    by: Literal["turns", "blocks"] = Field(
        "turns",
        description="`turns`: one after the other goes to the next. `blocks`: the first of them to the first, and so on, in equal parts.",
    )

    def parents(self, count: int) -> list[int]:
        """Return the parents of `count` children, in the order of these. Raises ValueError when blocks would leave a parent without any."""
        over = [ident for low, high in self.over for ident in range(low, high + 1)]
        if self.by == "turns":
            return [over[child % len(over)] for child in range(count)]
        if count < len(over):
            raise ValueError(f"deals {count:,} in blocks to {len(over):,}; there must be at least as many as are dealt to")
        return [over[child * len(over) // count] for child in range(count)]


def _tags(value: object) -> tuple[IdRange, ...]:
    parts = value if isinstance(value, (list, tuple)) else [value]
    ranges = [id_ranges(part) for part in parts]
    if not 1 <= len(ranges) <= 2 or any(len(one) != 1 or one[0][1] > MAX_VLAN for one in ranges):
        raise ValueError(f'must be one VLAN or two, outer and inner, such as 7, [100, 7] or ["100-355", "1-128"], not {describe(value)}')
    return tuple(one[0] for one in ranges)


def _numbers_up_to(most: int, what: str) -> Callable[[object], IdRange]:
    def read(value: object) -> IdRange:
        ranges = id_ranges(value)
        if len(ranges) != 1 or ranges[0][1] > most:
            raise ValueError(f'must be {what}, one or a range, 0 to {most:,}, such as 7 or "1-128", not {describe(value)}')
        return ranges[0]

    return read


def _prefix(value: object) -> IPv6Network:
    try:
        network = IPv6Network(str(value))
    except ValueError:
        network = None
    if network is None or network.prefixlen > KEY_PREFIX_BITS:
        raise ValueError(f'must be an IPv6 prefix of {KEY_PREFIX_BITS} bits or fewer such as "2001:db8:0:7::/64", not {describe(value)}')
    return network


def _ipv4(value: object) -> IPv4Address | IPv4Network:
    try:
        return IPv4Network(value) if isinstance(value, str) and "/" in value else IPv4Address(str(value))
    except ValueError:
        raise ValueError(f'must be an IPv4 address such as "10.0.0.7" or a prefix such as "10.1.0.0/22", not {describe(value)}') from None


def _one_range(value: object) -> IdRange:
    ranges = id_ranges(value)
    if len(ranges) != 1:
        raise ValueError(f'must be queues in a row such as 7 or "0-3", not {describe(value)}')
    return ranges[0]


VlanRanges = Annotated[tuple[IdRange, ...], BeforeValidator(_tags)]
SessionRange = Annotated[IdRange, BeforeValidator(_numbers_up_to(65_535, "a PPPoE session"))]
LabelRange = Annotated[IdRange, BeforeValidator(_numbers_up_to((1 << 20) - 1, "an MPLS label"))]
Ipv4First = Annotated[Any, BeforeValidator(_ipv4)]
Ipv6Prefix = Annotated[Any, BeforeValidator(_prefix)]
ClassValues = Annotated[tuple[IdRange, ...], BeforeValidator(id_ranges)]


MatchKind = Literal["pppoe", "two_tags", "outer_tag", "mpls", "ipv4", "ipv6", "mac"]


class SubscriberMatch(Model):
    """What the frames of a subscriber have in their headers, by which the hardware finds it. Several subscribers of an entry get the values
    of ranges one by one, the last range first; from a single address or prefix on they get one after the other. Where subscribers have
    prefixes, the longest one that an address begins with counts, of which an address is one, too (`headers.prefix_levels`)."""

    vlan: VlanRanges | None = Field(None, description='VLAN, or outer and inner VLAN: `7`, `[100, 7]`, `["100-355", "1-128"]`.')
    pppoe: SessionRange | None = Field(None, description="PPPoE session, with `mac`.")
    mac: Mac | None = Field(None, description="MAC address of the subscriber, alone or with `pppoe`.")
    ipv4: Ipv4First | None = Field(None, description="IPv4 address of the subscriber, or a prefix: `10.1.0.0/22`.")
    ipv6: Ipv6Prefix | None = Field(None, description="IPv6 prefix of the subscriber, 64 bits or fewer.")
    mpls: LabelRange | None = Field(None, description="First MPLS label.")

    @model_validator(mode="after")
    def _one_kind(self) -> "SubscriberMatch":
        kinds = [name for name in ("vlan", "pppoe", "ipv4", "ipv6", "mpls") if getattr(self, name) is not None]
        if len(kinds) > 1 or not (kinds or self.mac) or (self.mac is not None and kinds not in ([], ["pppoe"])):
            raise ValueError("needs exactly one of `vlan`, `pppoe` with `mac`, `mac`, `ipv4`, `ipv6`, `mpls`")
        if kinds == ["pppoe"] and self.mac is None:
            raise ValueError("has a `pppoe` without `mac`: sessions of different subscribers may have one number")
        return self


class HeaderSettings(Model):
    """How the hardware finds queues in headers; for configurations with `queue_id: headers`."""

    direction: Literal["to", "from"] = Field("to", description="Frames go to subscribers, or come from them: which addresses are theirs.")
    class_of: Literal["none", "dscp", "pcp", "mpls", "ecn"] = Field(
        "none", description="What gives the class: DSCP, priority of the outer VLAN tag, traffic class of the first label, or ECN field."
    )
    classes: tuple[ClassValues, ...] = Field(
        (), description='Values of each class, 0 first: `["40-63", "24-39", "0-23"]`. The last class has those of no class, too.'
    )
    unknown: QueueRef = Field("drop", description='Queue of frames that belong to no subscriber, or "drop".')
    kinds: tuple[MatchKind, ...] = Field((), description="Kinds of matches to look for, the first one first; those that subscribers have.")

    @model_validator(mode="after")
    def _fit(self) -> "HeaderSettings":
        if (self.class_of == "none") != (not self.classes):
            raise ValueError("needs both `class_of` and `classes`, or neither")
        if len(self.classes) > MAX_CLASSES:
            raise ValueError(f"has {len(self.classes)} `classes`, allowed: {MAX_CLASSES}")
        if len(set(self.kinds)) < len(self.kinds):
            raise ValueError("has one of `kinds` twice")
        return self


class Subscriber(Parent):
    """One subscriber, or several with the same settings: the owner of `queues_per_subscriber` queues in a row."""

    name: Name | None = Field(None, description="Name for errors.")
    match: SubscriberMatch | None = Field(None, description="What its frames have in their headers, with `queue_id: headers`.")
    queues: Annotated[IdRange, BeforeValidator(_one_range)] | None = Field(
        None, description="With `match` and without a hierarchy: its queues in a row, class 0 first; of several subscribers in equal parts."
    )

    weight: StrictInt | None = Field(
        None,
        ge=1,
        le=registers.MAX_WEIGHT,
        description="Share among subscribers below a congested node or port, in each class; 1 unless given.",
    )
    guarantee: Guarantee | None = Field(
        None,
        description="Rate that it gets below a congested node or port before the rest is shared by weight, within a class; 0: none.",
    )
    bypass: StrictBool = Field(
        False,
        description="Nothing of its own holds its frames back: neither its rate nor the rates, limits, AQM and guarantees of its queues.",
    )
    node: StrictInt | None = Field(None, ge=0, description="Access node that it is at; 0 unless given.")
    spread: Spread | None = Field(None, description="In place of `node`: they are dealt to several nodes.")

    @model_validator(mode="after")
    def _one_place(self) -> "Subscriber":
        if self.node is not None and self.spread is not None:
            raise ValueError("has either `node` or `spread`, not both")
        return self


class Node(Parent):
    """One access node (OLT, base station), or several with the same settings."""

    port: StrictInt | None = Field(None, ge=0, description="Port that it is at; 0 unless given.")
    spread: Spread | None = Field(None, description="In place of `port`: they are dealt to several ports.")

    @model_validator(mode="after")
    def _one_place(self) -> "Node":
        if self.port is not None and self.spread is not None:
            raise ValueError("has either `port` or `spread`, not both")
        return self


class Port(Parent):
    """One port, or several with the same settings."""


class Change(Model):
    """A setting that changes while traffic flows. What is not named stays as it is."""

    at: Time = Field(description="When, in time of the device.")
    queues: Annotated[QueueSet, BeforeValidator(queue_set)] | None = Field(None, description="Queues, by id, range or name.")
    subscribers: Annotated[tuple[IdRange, ...], BeforeValidator(id_ranges)] | None = Field(None, description="Or subscribers.")
    nodes: Annotated[tuple[IdRange, ...], BeforeValidator(id_ranges)] | None = Field(None, description="Or nodes.")
    ports: Annotated[tuple[IdRange, ...], BeforeValidator(id_ranges)] | None = Field(None, description="Or ports.")
    set: ChangedSettings = Field(description="The new settings.")

    @model_validator(mode="after")
    def _one_kind(self) -> "Change":
        if sum(kind is not None for kind in (self.queues, self.subscribers, self.nodes, self.ports)) != 1:
            raise ValueError("needs exactly one of `queues`, `subscribers`, `nodes`, `ports`")
        return self


class Rule(Model):
    """One rule of a map. The first rule that matches a frame decides."""

    match: Match = Field(description="Which frames; `{}` is all.")
    queue: QueueRef = Field(description="Id or name of the queue they go to.")
    name: Name | None = Field(None, description="Name of the flow, for reports.")


class PcapTraffic(Capture):
    """Frames of a capture (pcap or pcapng, Ethernet), at recorded or scaled times."""

    map: tuple[Rule, ...] = Field((), description="Rules from header fields to queues.")
    unmatched: Annotated[int | str, BeforeValidator(frames_without_rule)] = Field(
        "ignore", description='Frames that no rule matches: "ignore" leaves them out, "error" refuses the file, a queue takes them.'
    )
    prefixed: StrictBool = Field(False, description="Frames carry the 32-bit queue id in front already; then there is no `map`.")

    @model_validator(mode="after")
    def _map_or_prefix(self) -> "PcapTraffic":
        if self.prefixed and (self.map or self.unmatched != "ignore"):
            raise ValueError("has either `prefixed: true` or rules (`map`, `unmatched`), not both")
        return self

    @property
    def says(self) -> str | None:
        """The key that says which queues frames go to; None: the hardware has to find them."""
        return "prefixed" if self.prefixed else "map" if self.map else "unmatched" if self.unmatched != "ignore" else None


class Steady(Pace):
    """A source that does not pause: `constant` sends at equal distances, `poisson` at exponentially distributed ones."""

    queues: Annotated[QueueSet, BeforeValidator(queue_set)] = Field(description='Ids, ranges or names: `"0-262143"`, `[bulk, 7]`.')
    pick: Literal["each", "round_robin", "random"] = Field(
        "round_robin",
        description="`each`: every queue has a source of its own with this rate. Otherwise one source picks a queue for each frame.",
    )
    rate: RateOrShare = Field(description="Rate of frame bytes; with `pick: each` also a share of each queue's own rate, `101 %`.")

    @model_validator(mode="after")
    def _share_of_each(self) -> "Steady":
        if isinstance(self.rate, Share) and self.pick != "each":
            raise ValueError("has a `rate` in %, which needs `pick: each`")
        return self


class OnOff(Steady):
    """A source that sends at `rate` during bursts; lengths of bursts and pauses are exponentially distributed."""

    on: Duration = Field(description="Mean length of a burst.")
    off: Duration = Field(description="Mean length of a pause.")


class GeneratedTraffic(Generated):
    """Frames made by the engine, with random bytes; exactly one of `constant`, `poisson`, `onoff`."""

    constant: Steady | None = Field(None, description="Frames at equal distances.")
    poisson: Steady | None = Field(None, description="Frames at random distances.")
    onoff: OnOff | None = Field(None, description="Bursts and pauses.")


class Tcp(Connections):
    """TCP connections through queues."""

    queues: Annotated[QueueSet, BeforeValidator(queue_set)] = Field(
        description="Ids, ranges or names; connections are dealt to them in turns."
    )


class TcpTraffic(LiveTraffic):
    """TCP connections, which send by what becomes of their frames."""

    tcp: Tcp = Field(description="The connections.")


class LiveFrames(WireTraffic):
    """Frames of real programs, for `./penstock live`."""

    map: tuple[Rule, ...] = Field((), description="Rules from header fields to queues.")
    unmatched: QueueRef | None = Field(
        None, description="Queue of the frames that no rule matches, as ARP; needed unless the hardware finds queues in headers."
    )

    @property
    def says(self) -> str | None:
        """The key that says which queues frames go to; None: the hardware has to find them."""
        return "unmatched" if self.unmatched is not None else "map" if self.map else None


Traffic = Annotated[
    Annotated[PcapTraffic, Tag("$pcap")]
    | Annotated[GeneratedTraffic, Tag("$generated")]
    | Annotated[TcpTraffic, Tag("$tcp")]
    | Annotated[LiveFrames, Tag("$live")],
    Discriminator(traffic_kind),
]


class Report(Model):
    """What the report shows."""

    series: Annotated[QueueSet, BeforeValidator(queue_set)] | None = Field(
        None, description="Queues with a curve of their own (at most 32); unless given, the named queues that get traffic, at most 12."
    )
    interval: Duration | None = Field(None, description="Width of a point in time; a two-hundredth of the duration unless given.")
    after: Time = Field(
        0, description="Warm-up: rates, latencies, shares and curves are of what leaves from this time on; counters are of the whole run."
    )
    lateness: Time | None = Field(
        None, description="Measure lateness against an ideal server, for frames that leave after this time; 0 is all."
    )
    flows: StrictBool | None = Field(
        None, description="Measure each flow (addresses, protocol, ports); unless given where the configuration has flow queues."
    )


class Setup(CommonSetup):
    """What the device is, and how it is set before anything comes."""

    device: Device = Field(description="The hardware.")
    link: Link = Field(default_factory=Link, description="The lines.")
    defaults: QueueSettings = Field(default_factory=QueueSettings, description="Settings of all queues that do not say otherwise.")
    queues: tuple[Queue, ...] = Field((), description="Queues with settings or a name.")
    subscribers: tuple[Subscriber, ...] = Field((), description="Subscribers with a rate or a node of their own, or a match.")
    headers: HeaderSettings | None = Field(None, description="How queues are found in headers.")
    nodes: tuple[Node, ...] = Field((), description="Access nodes with a rate or a port of their own.")
    ports: tuple[Port, ...] = Field((), description="Ports with a rate.")
    memory_shares: tuple[MemoryShare, ...] = Field((), description="Classes with a share of memory of their own.")


class Scenario(Setup, CommonScenario):
    """The keys of the file."""

    changes: tuple[Change, ...] = Field((), description="Settings that change while traffic flows.")
    traffic: tuple[Traffic, ...] = Field(min_length=1, description="Sources; they play side by side.")
    report: Report = Field(default_factory=Report, description="What the report shows.")
