"""What scenario files of all designs have in common, as typed models: values with units, lines, traffic, output.

Rates are bit/s, times picoseconds, sizes bytes once validated. A design's own keys are in `designs/<design>/scenario.py`.
"""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from penstock.basics.models import Duration, Model, positive
from penstock.basics.units import describe, parse_rate, parse_size, parse_time
from penstock.scenarios.headers import Dscp, Headers, Mac, Vlans
from penstock.scenarios.network import Network, Rounds, WireTraffic
from penstock.scenarios.values import NAME, Name, Rate, Time

MAX_FRAME_BYTES = (1 << 14) - 1  # what a length field can say (blocks/common/contract.yaml); devices drop what is over their own limit

# Simple IMIX, 7:4:1. The usual sizes 64, 594 and 1,518 byte count the 4 byte of the FCS, which Penstock's frames do not have.
IMIX = ((60, 7), (590, 4), (1514, 1))

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


def id_ranges(value: object) -> tuple[IdRange, ...]:
    parts = value if isinstance(value, (list, tuple)) else [value]
    ranges: list[IdRange] = []
    for part in [piece for p in parts for piece in (p.split(",") if isinstance(p, str) else [p])]:
        match = _ID_RANGE.fullmatch(str(part)) if isinstance(part, (int, str)) and not isinstance(part, bool) else None
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        step = int(match[3] or 1) if match else 1
        if low > high or high >= 2**32 or step == 0 or (step > 1 and high - low >= 2**24):
            raise ValueError(f'must be numbers such as 7, "0-15", "0-60/4" (every fourth) or [1, 4, "8-11"], not {describe(part)}')
        _listed_left.set(_listed_left.get() - (1 if step == 1 else (high - low) // step + 1))
        if _listed_left.get() < 0:
            raise ValueError(
                f"lists more than {MAX_LISTED:,} ids one by one (with all that stand before it); ranges without a step are one"
            )
        ranges += [(low, high)] if step == 1 else [(ident, ident) for ident in range(low, high + 1, step)]
    if not ranges:
        raise ValueError("must name at least one queue")
    return tuple(ranges)


def queue_set(value: object) -> QueueSet:
    parts = value if isinstance(value, (list, tuple)) else [value]
    found: list[IdRange | str] = []
    for part in [piece for p in parts for piece in (p.split(",") if isinstance(p, str) else [p])]:
        word = part.strip() if isinstance(part, str) else part
        if isinstance(word, str) and NAME.fullmatch(word):
            found.append(word)
        else:
            found.extend(id_ranges([word]))
    if not found:
        raise ValueError("must name at least one queue")
    return tuple(found)


def _queue_ref(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**32:
        return value
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value):
        return int(value)
    if isinstance(value, str) and NAME.fullmatch(value):
        return value
    raise ValueError(f"must be the id or the name of one queue, not {describe(value)}")


def frames_without_rule(value: object) -> int | str:
    if value in ("ignore", "error"):
        return str(value)
    try:
        return _queue_ref(value.removeprefix("queue ") if isinstance(value, str) else value)
    except ValueError:
        raise ValueError(f'must be "ignore", "error" or a queue, not {describe(value)}') from None


def frame_sizes(value: object) -> tuple[tuple[int, int], ...]:
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
        ranges = id_ranges(value)
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


def numbers(ranges: tuple[IdRange, ...]) -> list[int]:
    """Return the ports of some ranges, in their order and once each."""
    return list(dict.fromkeys(port for low, high in ranges for port in range(low, high + 1)))


def line_rates(value: object) -> tuple[int, ...]:
    """Return the rates of lines: one for all ports, or one for each."""
    given = value if isinstance(value, (list, tuple)) else [value]
    if not given:
        raise ValueError("must be a rate, or a list with one for each port, not an empty list")
    return tuple(positive(parse_rate)(rate) for rate in given)


Ports = Annotated[tuple[IdRange, ...], BeforeValidator(id_ranges)]
LineRates = Annotated[tuple[int, ...], BeforeValidator(line_rates)]
RateOrShare = Annotated[int | Share, BeforeValidator(_rate_or_share)]
QueueRef = Annotated[int | str, BeforeValidator(_queue_ref)]


class CommonDevice(Model):
    """The hardware: a named configuration."""

    design: StrictStr | None = Field(None, description="Folder of the design; may be left out where the configuration's name is unique.")
    config: StrictStr = Field(description="Name of a configuration of `designs/<design>/configs.yaml`.")
    overrides: dict[str, Any] = Field(
        default_factory=dict, description="Other numbers for this run: keys of the configuration, `memories.NAME.pages`. It is built anew."
    )

    def numbers(self) -> dict[str, Any]:
        """Return the numbers of the configuration that other keys of `device` change, where a design has such."""
        return {}


class Lines(Model):
    """What the lines of all designs have besides their rates."""

    overhead_bytes: StrictInt = Field(
        24, ge=0, le=100, description="What a frame costs on the line besides its bytes; Ethernet: preamble 8, FCS 4, gap 12."
    )
    ingress_fifo: Annotated[int, BeforeValidator(parse_size), Field(ge=0, le=1 << 30)] = Field(
        0, description="Bytes of frames that wait at an input which the device does not take; more are lost. 0: they wait without end."
    )
    egress_buffer: Annotated[int, BeforeValidator(parse_size), Field(ge=0, le=1 << 20)] = Field(
        0, description="Bytes that an output takes ahead of its line, as a MAC does; with 0 a short last beat costs a whole bus cycle."
    )


class Link(Lines):
    """The lines at both ends of the device."""

    ingress: Rate | None = Field(
        None, description="Line rate at each input; unless given 100 Gbit/s, or a beat in each clock cycle where that is less."
    )
    egress: Rate | None = Field(None, description="Line rate at each output; the same unless given.")


class Match(Model):
    """Header fields of a frame; what is left out matches everything. IPv4 and IPv6, also behind VLAN tags, MPLS labels, PPPoE and SNAP."""

    proto: Annotated[int, BeforeValidator(_protocol)] | None = Field(None, description="tcp, udp, icmp, icmpv6, ... or a number.")
    src: Annotated[Any, BeforeValidator(_network)] = Field(None, description="Source address or network, `10.0.1.0/24`.")
    dst: Annotated[Any, BeforeValidator(_network)] = Field(None, description="Destination address or network.")
    sport: Annotated[IdRange, BeforeValidator(_ports)] | None = Field(None, description='Source port or range, `"5000-5010"`.')
    dport: Annotated[IdRange, BeforeValidator(_ports)] | None = Field(None, description="Destination port or range.")
    dscp: Dscp | None = Field(None, description="DSCP, `46` or `ef`.")
    vlan: Vlans | None = Field(None, description="VLAN id of the outermost tag, or those of the two outermost ones.")
    src_mac: Mac | None = Field(None, description="Source MAC address.")
    dst_mac: Mac | None = Field(None, description="Destination MAC address.")
    mpls: Annotated[StrictInt, Field(ge=0, lt=1 << 20)] | None = Field(None, description="Outermost MPLS label.")
    pppoe: Annotated[StrictInt, Field(ge=0, lt=1 << 16)] | None = Field(None, description="PPPoE session.")


class Capture(Model):
    """Frames of a capture, at recorded or scaled times. Designs add where they go."""

    name: Name | None = Field(None, description="Name of the source.")
    pcap: StrictStr = Field(description="File, relative to the scenario: pcap or pcapng, also packed by gzip, bzip2, xz or zstd.")
    time_scale: Annotated[float, Field(strict=True, ge=1e-6, le=1e6, allow_inf_nan=False)] = Field(
        1.0, description="2 plays at half speed, 0.5 at double speed."
    )
    start: Time = Field(0, description="When the earliest frame of the file comes.")
    clock: Literal["own", "shared"] = Field(
        "own", description="`shared`: times count from the earliest frame of all captures that have this, as they were recorded together."
    )
    cut: Literal["refuse", "play"] = Field("refuse", description="`play`: a file that ends within a record is played up to there.")
    repeat: StrictInt = Field(1, ge=1, le=1_000_000, description="How often the file is played, one after the other.")
    pad: StrictBool = Field(
        False, description="Fill frames below 60 byte up, as a network card does on the line; captures at the sender lack that."
    )

    @model_validator(mode="after")
    def _one_clock(self) -> "Capture":
        if self.clock == "shared" and self.repeat > 1:
            raise ValueError("has a `repeat`, but captures on one clock are played once")
        return self


class Pace(Model):
    """A source that does not pause: `constant` sends at equal distances, `poisson` at exponentially distributed ones."""

    rate: RateOrShare = Field(description="Rate of frame bytes.")
    size: Annotated[tuple[tuple[int, int], ...], BeforeValidator(frame_sizes)] = Field(
        description="Frame size without FCS: `64`, `imix`, or a list of `[size, weight]`."
    )


class Generated(Model):
    """Frames made by the engine, with random bytes behind their headers; exactly one of `constant`, `poisson`, `onoff`, whose types designs
    give."""

    name: Name | None = Field(None, description="Name of the source.")
    constant: Any = None
    poisson: Any = None
    onoff: Any = None
    headers: Headers | None = Field(None, description="Ethernet, IP and UDP; without it all but the addresses is random.")
    start: Time = Field(0, description="When the source begins.")
    stop: Time | None = Field(None, description="When it ends; the end of the run unless given.")

    @model_validator(mode="after")
    def _one_kind(self) -> "Generated":
        if sum(kind is not None for kind in (self.constant, self.poisson, self.onoff)) != 1:
            raise ValueError("needs exactly one of `pcap`, `constant`, `poisson`, `onoff`, `tcp`, `live`")
        if self.stop is not None and self.stop <= self.start:
            raise ValueError("has a `stop` that is not after its `start`")
        return self

    @property
    def kind(self) -> str:
        """`constant`, `poisson` or `onoff`."""
        return "constant" if self.constant else "poisson" if self.poisson else "onoff"

    @property
    def source(self) -> Any:
        """The parameters of the one kind that is given."""
        return self.constant or self.poisson or self.onoff


class LiveTraffic(Model):
    """TCP connections, which send by what becomes of their frames; designs say which queues they use."""

    name: Name | None = Field(None, description="Name of the source.")
    tcp: Any
    headers: Headers | None = Field(None, description="Ethernet, VLAN tags, IP, ports; flow after flow the next source port.")
    start: Time = Field(0, description="When the first connection begins.")
    stop: Time | None = Field(None, description="When nothing more is sent; the end of the run unless given.")

    @model_validator(mode="after")
    def _in_order(self) -> "LiveTraffic":
        if self.stop is not None and self.stop <= self.start:
            raise ValueError("has a `stop` that is not after its `start`")
        return self


def traffic_kind(value: Any) -> str:
    """Return the tag of an entry of `traffic`; tags begin with "$" so that an error's path can be told from the keys of the file."""
    if isinstance(value, LiveTraffic) or (isinstance(value, Mapping) and "tcp" in value):
        return "$tcp"
    if isinstance(value, WireTraffic) or (isinstance(value, Mapping) and "live" in value):
        return "$live"
    return "$pcap" if isinstance(value, Capture) or (isinstance(value, Mapping) and "pcap" in value) else "$generated"


class Output(Model):
    """What is written besides the result."""

    pcap: StrictStr | None = Field(
        None, description="File for the frames that leave the device, with ns time stamps; relative to the output folder."
    )


class CommonSetup(Model):
    """What the device is."""

    device: CommonDevice = Field(description="The hardware.")
    seed: StrictInt = Field(1, ge=0, le=2**32 - 1, description="Of everything random. The same seed repeats a run to the bit.")
    link: Lines = Field(default_factory=Lines, description="The lines.")


class CommonScenario(CommonSetup):
    """The keys that scenario files of all designs have."""

    name: Name | None = Field(None, description="Name of the scenario and of its results' folder; the file's name unless given.")
    description: StrictStr = Field("", description="One or two sentences; they head the report.")
    duration: Duration = Field(description="How long traffic comes; the device's time, not yours.")
    drain: Annotated[bool | int, BeforeValidator(_drain)] = Field(
        True,
        description="Go on after `duration` until the device is empty: true (for as long again at most), a time (at most that), or false.",
    )
    traffic: tuple[Any, ...] = Field(min_length=1, description="Sources; they play side by side.")
    network: Network | None = Field(None, description="Hosts around the device, for `./penstock live` ([page](live.md)).")
    applications: tuple[Any, ...] = Field((), description="What runs on them.")
    rounds: Rounds = Field((), description="`live` plays it once for each, and compares them; once as it is unless given.")
    output: Output = Field(default_factory=Output, description="Further files.")
