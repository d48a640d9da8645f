"""The scenario as typed models: what a scenario file may say, with units, ranges and defaults.

docs/scenario.md is generated from these models (`penstock.scenarios.schema_docs`). Rates are bit/s, times picoseconds, sizes bytes once
validated.
Settings of queues and parents are those of `penstock.settings.given`. Checks that need the device configuration (queue ids, the link rate,
burst ranges) are in `penstock.settings` and in `penstock.scenarios.job`.
"""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, StrictBool, StrictInt, StrictStr, Tag, model_validator

from penstock.basics.units import describe, parse_rate, parse_size, parse_time
from penstock.designs import registers
from penstock.settings.given import (
    Burst,
    ChangedSettings,
    Duration,
    Model,
    QueueRate,
    QueueSettings,
    positive,
)

MAX_FRAME_BYTES = registers.MAX_LENGTH  # what a length field can say; the device itself drops what is over its own limit

# Simple IMIX, 7:4:1. The usual sizes 64, 594 and 1,518 byte count the 4 byte of the FCS, which Penstock's frames do not have.
IMIX = ((60, 7), (590, 4), (1514, 1))

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_ -]*")
_PERCENT = re.compile(r"\s*([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*%\s*")
MAX_PERCENT = 100_000
_ID_RANGE = re.compile(r"\s*([0-9]{1,10})\s*(?:-\s*([0-9]{1,10})\s*(?:/\s*([0-9]{1,7})\s*)?)?")

MAX_LISTED = 1 << 20  # ids with gaps between them, in one scenario; a range without a step counts once
_listed_left: ContextVar[int] = ContextVar("_listed_left", default=MAX_LISTED)

IdRange = tuple[int, int]
QueueSet = tuple[IdRange | str, ...]


@contextmanager
def bounded_lists() -> Iterator[None]:
    """Let what is validated inside list at most MAX_LISTED ids one by one."""
    before = _listed_left.set(MAX_LISTED)
    try:
        yield
    finally:
        _listed_left.reset(before)


@dataclass(frozen=True)
class Share:
    """A share of each queue's own rate: `rate: 101 %`."""

    percent: Decimal

    def of(self, bps: int) -> float:
        """Return that share of a rate, in bit/s."""
        return float(self.percent * bps / 100)


def _rate_or_share(value: object) -> "int | Share":
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        try:
            return positive(parse_rate)(value)
        except ValueError as error:
            raise ValueError(f'{error}; or a share of the queue\'s own rate such as "105 %"') from None
    if not 0 < (percent := Decimal(match[1])) <= MAX_PERCENT:
        raise ValueError(f"must be more than 0 % and at most {MAX_PERCENT:,} %, not {describe(value)}")
    return Share(percent)


def _at_least_64k(value: object) -> int:
    rate = parse_rate(value)
    if rate < registers.MIN_RATE_BPS:
        raise ValueError(f"must be at least 64 kbit/s, not {describe(value)}")
    return rate


def _name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(f"must be a name that begins with a letter (letters, digits, blank, _ and -), not {describe(value)}")
    return value


def _id_ranges(value: object) -> tuple[IdRange, ...]:
    parts = value if isinstance(value, (list, tuple)) else [value]
    ranges: list[IdRange] = []
    for part in [piece for p in parts for piece in (p.split(",") if isinstance(p, str) else [p])]:
        match = _ID_RANGE.fullmatch(str(part)) if isinstance(part, (int, str)) and not isinstance(part, bool) else None
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        step = int(match[3] or 1) if match else 1
        if low > high or high >= 2**32 or step == 0 or (step > 1 and high - low >= 2**24):
            raise ValueError(f'must be queue ids such as 7, "0-15", "0-60/4" (every fourth) or [1, 4, "8-11"], not {describe(part)}')
        _listed_left.set(_listed_left.get() - (1 if step == 1 else (high - low) // step + 1))
        if _listed_left.get() < 0:
            raise ValueError(
                f"lists more than {MAX_LISTED:,} ids one by one (with all that stand before it); ranges without a step are one"
            )
        ranges += [(low, high)] if step == 1 else [(ident, ident) for ident in range(low, high + 1, step)]
    if not ranges:
        raise ValueError("must name at least one queue")
    return tuple(ranges)


def _queue_set(value: object) -> QueueSet:
    parts = value if isinstance(value, (list, tuple)) else [value]
    found: list[IdRange | str] = []
    for part in [piece for p in parts for piece in (p.split(",") if isinstance(p, str) else [p])]:
        word = part.strip() if isinstance(part, str) else part
        if isinstance(word, str) and _NAME.fullmatch(word):
            found.append(word)
        else:
            found.extend(_id_ranges([word]))
    if not found:
        raise ValueError("must name at least one queue")
    return tuple(found)


def _queue_ref(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**32:
        return value
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value):
        return int(value)
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    raise ValueError(f"must be the id or the name of one queue, not {describe(value)}")


def _unmatched(value: object) -> int | str:
    if value in ("ignore", "error"):
        return value  # type: ignore[return-value]
    try:
        return _queue_ref(value.removeprefix("queue ") if isinstance(value, str) else value)
    except ValueError:
        raise ValueError(f'must be "ignore", "error" or a queue, not {describe(value)}') from None


def _sizes(value: object) -> tuple[tuple[int, int], ...]:
    if value == "imix":
        return IMIX
    pairs = value if isinstance(value, (list, tuple)) else [[value, 1]]
    found: list[tuple[int, int]] = []
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError(f'must be a size, "imix", or a list of [size, weight], not {describe(value)}')
        size, weight = parse_size(pair[0]), pair[1]
        if not 1 <= size <= MAX_FRAME_BYTES:
            raise ValueError(f"must be between 1 and {MAX_FRAME_BYTES:,} byte, not {describe(pair[0])}")
        if isinstance(weight, bool) or not isinstance(weight, int) or not 1 <= weight <= 10**6:
            raise ValueError(f"has weights between 1 and 1,000,000, not {describe(weight)}")
        found.append((size, weight))
    if not found:
        raise ValueError("must hold at least one [size, weight]")
    return tuple(found)


_PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "gre": 47, "esp": 50, "icmpv6": 58, "sctp": 132}


def _protocol(value: object) -> int:
    if isinstance(value, str) and value.lower() in _PROTOCOLS:
        return _PROTOCOLS[value.lower()]
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return value
    raise ValueError(f"must be one of {', '.join(_PROTOCOLS)} or a number from 0 to 255, not {describe(value)}")


def _network(value: object) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(value if isinstance(value, str) else "", strict=False)
    except ValueError:
        raise ValueError(f'must be an address or a network such as "10.0.1.2" or "10.0.1.0/24", not {describe(value)}') from None


def _ports(value: object) -> IdRange:
    try:
        ranges = _id_ranges(value)
        if len(ranges) == 1 and ranges[0][1] <= 65_535:
            return ranges[0]
    except ValueError:
        pass
    raise ValueError(f'must be a port or a range such as "5000-5010", 0 to 65535, not {describe(value)}')


def _drain(value: object) -> bool | int:
    if isinstance(value, bool):
        return value
    try:
        return positive(parse_time)(value)
    except ValueError:
        raise ValueError(f'must be true, false or a time such as "20 ms", not {describe(value)}') from None


Rate = Annotated[int, BeforeValidator(positive(parse_rate))]
RateOrShare = Annotated[int | Share, BeforeValidator(_rate_or_share)]
LeastRate = Annotated[int, BeforeValidator(_at_least_64k)]
Time = Annotated[int, BeforeValidator(parse_time)]
Size = Annotated[int, BeforeValidator(parse_size)]
Name = Annotated[str, BeforeValidator(_name)]
QueueRef = Annotated[int | str, BeforeValidator(_queue_ref)]


class Device(Model):
    """The hardware: a named configuration, and how its memories behave in this run."""

    config: StrictStr = Field(description="Name of a configuration of `designs/access_edge/configs.yaml`.")
    overrides: dict[str, Any] = Field(
        default_factory=dict, description="Other numbers for this run: keys of the configuration, `memories.NAME.pages`. It is built anew."
    )
    read_latency_ns: StrictInt = Field(200, ge=0, le=100_000, description="Time from a memory's read request to its first data.")
    write_latency_ns: StrictInt = Field(100, ge=0, le=100_000, description="Time from the last written data to its confirmation.")
    gap_permille: StrictInt = Field(0, ge=0, le=900, description="Share of cycles in which a memory takes and gives nothing.")


class Link(Model):
    """The lines at both ends of the device."""

    ingress: Rate | None = Field(
        None, description="Line rate at the input; unless given 100 Gbit/s, or 512 bit a clock cycle of the device where that is less."
    )
    egress: Rate | None = Field(None, description="Line rate at the output; the same unless given.")
    overhead_bytes: StrictInt = Field(
        24, ge=0, le=100, description="What a frame costs on the line besides its bytes; Ethernet: preamble 8, FCS 4, gap 12."
    )


class Rates(Model):
    """Rates of a group's queues, drawn at random: a Pareto distribution cut at both ends, with a given sum. Few are fast, many slow."""

    least: LeastRate = Field(description="The smallest rate, 64 kbit/s or more.")
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
    ids: Annotated[tuple[IdRange, ...], BeforeValidator(_id_ranges)] | None = Field(
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
    ids: Annotated[tuple[IdRange, ...], BeforeValidator(_id_ranges)] | None = Field(
        None, description='Several: `"0-15"`, `[1, 4, "8-11"]`, `"0-60/4"` (every fourth).'
    )
    rate: QueueRate | None = Field(None, description='Rate of all below it; "unshaped" unless given; 0 is a closed gate.')
    burst: Burst | None = Field(None, description="Bytes that may leave at once, or the time that they take at its rate.")

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

    over: Annotated[tuple[IdRange, ...], BeforeValidator(_id_ranges)] = Field(description='Nodes or ports, `"0-127"`.')
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


class Subscriber(Parent):
    """One subscriber, or several with the same settings: the owner of `queues_per_subscriber` queues in a row."""

    weight: StrictInt | None = Field(
        None,
        ge=1,
        le=registers.MAX_WEIGHT,
        description="Share among subscribers below a congested node or port, in each class; 1 unless given.",
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
    queues: Annotated[QueueSet, BeforeValidator(_queue_set)] | None = Field(None, description="Queues, by id, range or name.")
    subscribers: Annotated[tuple[IdRange, ...], BeforeValidator(_id_ranges)] | None = Field(None, description="Or subscribers.")
    nodes: Annotated[tuple[IdRange, ...], BeforeValidator(_id_ranges)] | None = Field(None, description="Or nodes.")
    ports: Annotated[tuple[IdRange, ...], BeforeValidator(_id_ranges)] | None = Field(None, description="Or ports.")
    set: ChangedSettings = Field(description="The new settings.")

    @model_validator(mode="after")
    def _one_kind(self) -> "Change":
        if sum(kind is not None for kind in (self.queues, self.subscribers, self.nodes, self.ports)) != 1:
            raise ValueError("needs exactly one of `queues`, `subscribers`, `nodes`, `ports`")
        return self


class Match(Model):
    """Header fields of a frame; what is left out matches everything. IPv4 and IPv6, with or without VLAN tags."""

    proto: Annotated[int, BeforeValidator(_protocol)] | None = Field(None, description="tcp, udp, icmp, icmpv6, ... or a number.")
    src: Annotated[Any, BeforeValidator(_network)] = Field(None, description="Source address or network, `10.0.1.0/24`.")
    dst: Annotated[Any, BeforeValidator(_network)] = Field(None, description="Destination address or network.")
    sport: Annotated[IdRange, BeforeValidator(_ports)] | None = Field(None, description='Source port or range, `"5000-5010"`.')
    dport: Annotated[IdRange, BeforeValidator(_ports)] | None = Field(None, description="Destination port or range.")


class Rule(Model):
    """One rule of a map. The first rule that matches a frame decides."""

    match: Match = Field(description="Which frames; `{}` is all.")
    queue: QueueRef = Field(description="Id or name of the queue they go to.")
    name: Name | None = Field(None, description="Name of the flow, for reports.")


class PcapTraffic(Model):
    """Frames of a capture (pcap or pcapng, Ethernet), at recorded or scaled times."""

    name: Name | None = Field(None, description="Name of the source.")
    pcap: StrictStr = Field(description="File, relative to the scenario.")
    time_scale: Annotated[float, Field(strict=True, gt=0, le=1e6, allow_inf_nan=False)] = Field(
        1.0, description="2 plays at half speed, 0.5 at double speed."
    )
    start: Time = Field(0, description="When the first frame of the file comes.")
    repeat: StrictInt = Field(1, ge=1, le=1_000_000, description="How often the file is played, one after the other.")
    map: tuple[Rule, ...] = Field((), description="Rules from header fields to queues.")
    unmatched: Annotated[int | str, BeforeValidator(_unmatched)] = Field(
        "ignore", description='Frames that no rule matches: "ignore" leaves them out, "error" refuses the file, a queue takes them.'
    )
    prefixed: StrictBool = Field(False, description="Frames carry the 32-bit queue id in front already; then there is no `map`.")
    pad: StrictBool = Field(
        False, description="Fill frames below 60 byte up, as a network card does on the line; captures at the sender lack that."
    )

    @model_validator(mode="after")
    def _map_or_prefix(self) -> "PcapTraffic":
        if self.prefixed and (self.map or self.unmatched != "ignore"):
            raise ValueError("has either `prefixed: true` or rules (`map`, `unmatched`), not both")
        if not self.prefixed and not self.map and self.unmatched == "ignore":
            raise ValueError("needs `map`, `prefixed: true`, or a queue as `unmatched`")
        return self


class Steady(Model):
    """A source that does not pause: `constant` sends at equal distances, `poisson` at exponentially distributed ones."""

    queues: Annotated[QueueSet, BeforeValidator(_queue_set)] = Field(description='Ids, ranges or names: `"0-262143"`, `[bulk, 7]`.')
    pick: Literal["each", "round_robin", "random"] = Field(
        "round_robin",
        description="`each`: every queue has a source of its own with this rate. Otherwise one source picks a queue for each frame.",
    )
    rate: RateOrShare = Field(description="Rate of frame bytes; with `pick: each` also a share of each queue's own rate, `101 %`.")
    size: Annotated[tuple[tuple[int, int], ...], BeforeValidator(_sizes)] = Field(
        description="Frame size without FCS: `64`, `imix`, or a list of `[size, weight]`."
    )

    @model_validator(mode="after")
    def _share_of_each(self) -> "Steady":
        if isinstance(self.rate, Share) and self.pick != "each":
            raise ValueError("has a `rate` in %, which needs `pick: each`")
        return self


class OnOff(Steady):
    """A source that sends at `rate` during bursts; lengths of bursts and pauses are exponentially distributed."""

    on: Duration = Field(description="Mean length of a burst.")
    off: Duration = Field(description="Mean length of a pause.")


class GeneratedTraffic(Model):
    """Frames made by the engine, with random bytes; exactly one of `constant`, `poisson`, `onoff`."""

    name: Name | None = Field(None, description="Name of the source.")
    constant: Steady | None = Field(None, description="Frames at equal distances.")
    poisson: Steady | None = Field(None, description="Frames at random distances.")
    onoff: OnOff | None = Field(None, description="Bursts and pauses.")
    start: Time = Field(0, description="When the source begins.")
    stop: Time | None = Field(None, description="When it ends; the end of the run unless given.")

    @model_validator(mode="after")
    def _one_kind(self) -> "GeneratedTraffic":
        if sum(kind is not None for kind in (self.constant, self.poisson, self.onoff)) != 1:
            raise ValueError("needs exactly one of `pcap`, `constant`, `poisson`, `onoff`")
        if self.stop is not None and self.stop <= self.start:
            raise ValueError("has a `stop` that is not after its `start`")
        return self

    @property
    def kind(self) -> str:
        """`constant`, `poisson` or `onoff`."""
        return "constant" if self.constant else "poisson" if self.poisson else "onoff"

    @property
    def source(self) -> Steady:
        """The parameters of the one kind that is given."""
        return self.constant or self.poisson or self.onoff  # type: ignore[return-value]


def _traffic_kind(value: Any) -> str:
    return "$pcap" if isinstance(value, PcapTraffic) or (isinstance(value, Mapping) and "pcap" in value) else "$generated"


# The tags begin with "$" so that an error's path can be told from the keys of the file.
Traffic = Annotated[Annotated[PcapTraffic, Tag("$pcap")] | Annotated[GeneratedTraffic, Tag("$generated")], Discriminator(_traffic_kind)]


class Output(Model):
    """What is written besides the result."""

    pcap: StrictStr | None = Field(
        None, description="File for the frames that leave the device, with ns time stamps; relative to the output folder."
    )


class Report(Model):
    """What the report shows."""

    series: Annotated[QueueSet, BeforeValidator(_queue_set)] | None = Field(
        None, description="Queues with a curve of their own (at most 32); unless given, the named queues that get traffic, at most 12."
    )
    interval: Duration | None = Field(None, description="Width of a point in time; a two-hundredth of the duration unless given.")
    lateness: Time | None = Field(
        None, description="Measure lateness against an ideal server, for frames that leave after this time; 0 is all."
    )


class Setup(Model):
    """What the device is, and how it is set before anything comes."""

    device: Device = Field(description="The hardware.")
    seed: StrictInt = Field(1, ge=0, le=2**32 - 1, description="Of everything random. The same seed repeats a run to the bit.")
    link: Link = Field(default_factory=Link, description="The lines.")
    defaults: QueueSettings = Field(default_factory=QueueSettings, description="Settings of all queues that do not say otherwise.")
    queues: tuple[Queue, ...] = Field((), description="Queues with settings or a name.")
    subscribers: tuple[Subscriber, ...] = Field((), description="Subscribers with a rate or a node of their own.")
    nodes: tuple[Node, ...] = Field((), description="Access nodes with a rate or a port of their own.")
    ports: tuple[Port, ...] = Field((), description="Ports with a rate.")


class Scenario(Setup):
    """The keys of the file."""

    name: Name | None = Field(None, description="Name of the scenario and of its results' folder; the file's name unless given.")
    description: StrictStr = Field("", description="One or two sentences; they head the report.")
    duration: Duration = Field(description="How long traffic comes; the device's time, not yours.")
    drain: Annotated[bool | int, BeforeValidator(_drain)] = Field(
        True,
        description="Go on after `duration` until the device is empty: true (for as long again at most), a time (at most that), or false.",
    )
    changes: tuple[Change, ...] = Field((), description="Settings that change while traffic flows.")
    traffic: tuple[Traffic, ...] = Field(min_length=1, description="Sources; they play side by side.")
    output: Output = Field(default_factory=Output, description="Further files.")
    report: Report = Field(default_factory=Report, description="What the report shows.")
