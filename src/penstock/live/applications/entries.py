"""Keys of a scenario's `applications`, as typed models: one entry is one application."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from penstock.basics.models import Duration, Model
from penstock.basics.suggest import nearest
from penstock.basics.units import describe, format_bytes, parse_size, parse_time
from penstock.basics.where import KeyPath
from penstock.scenarios.common import Name, Rate, Time
from penstock.scenarios.scenario import Document

KINDS = ("iperf", "http", "ping", "voice", "video")
MAX_ENTRIES = 64
MAX_FLOWS, MAX_CLIENTS, MAX_OBJECTS = 128, 256, 100
MAX_OBJECT_BYTES = 1 << 31
MS_PS = 10**9


def _sizes(value: object) -> tuple[int, ...]:
    parts = value if isinstance(value, (list, tuple)) else [value]
    sizes = tuple(parse_size(part) for part in parts)
    if not sizes or len(sizes) > 10_000:
        raise ValueError(f"must be a size or a list of 1 to 10,000 sizes, not {describe(value)}")
    for size, part in zip(sizes, parts, strict=True):
        if not 1 <= size <= MAX_OBJECT_BYTES:
            raise ValueError(f"must be 1 byte to {format_bytes(MAX_OBJECT_BYTES)}, not {describe(part)}")
    return sizes


def _at_least(value: object, least: int, words: str) -> int:
    time = parse_time(value)
    if time < least:
        raise ValueError(f"must be at least {words}, not {describe(value)}")
    return time


Algorithm = Annotated[str, Field(strict=True, pattern=r"^[a-z][a-z0-9_]{0,14}$")]
UdpSize = Annotated[int, BeforeValidator(parse_size), Field(ge=16, le=65_507)]
EchoSize = Annotated[int, BeforeValidator(parse_size), Field(ge=8, le=65_000)]
Sizes = Annotated[tuple[int, ...], BeforeValidator(_sizes)]
Rates = Annotated[tuple[Rate, ...], Field(min_length=1, max_length=20)]
EchoInterval = Annotated[int, BeforeValidator(lambda value: _at_least(value, MS_PS, "1 ms"))]
Segment = Annotated[int, BeforeValidator(lambda value: _at_least(value, 100 * MS_PS, "100 ms"))]


class _Pair(Model):
    """What all kinds have in common: the ends, and the headers of packets."""

    sender: StrictStr = Field(alias="from", description="End that sends.")
    receiver: StrictStr = Field(alias="to", description="End that receives.")
    version: Literal[4, 6] | None = Field(None, description="4 or 6: IPv4 or IPv6. Unless given IPv4, where both ends have it.")
    dscp: StrictInt = Field(0, ge=0, le=63, description="DSCP of the packets that carry the data.")

    @model_validator(mode="after")
    def _two(self) -> "_Pair":
        if self.sender == self.receiver:
            raise ValueError(f"has the same end, {self.sender!r}, for `from` and `to`")
        return self


class _Tcp(_Pair):
    """What those have in common that use TCP."""

    algorithm: Algorithm | None = Field(
        None, description="Congestion control of the sender: cubic, bbr, reno, or what else the kernel has; the kernel's own unless given."
    )
    ecn: StrictBool | None = Field(
        None, description="All TCP connections that begin at either end ask for ECN, or none. Unless given the kernel's way stays."
    )


class Iperf(_Tcp):
    """Bulk transfer by iperf3, over TCP or UDP."""

    flows: StrictInt = Field(1, ge=1, le=MAX_FLOWS, description="Connections side by side.")
    udp: StrictBool = Field(False, description="UDP packets at `rate`, all in all, instead of TCP.")
    rate: Rate | None = Field(None, description="Payload of all flows together; UDP needs it, TCP sends what it can unless given.")
    size: UdpSize | None = Field(None, description="Payload of a UDP packet; 1,200 byte unless given.")

    @model_validator(mode="after")
    def _fits(self) -> "Iperf":
        if self.udp and self.rate is None:
            raise ValueError("needs a `rate`, as UDP does not find one by itself")
        if self.udp and (self.algorithm or self.ecn is not None):
            raise ValueError("has `udp: true`, with which `algorithm` and `ecn` of TCP mean nothing")
        if not self.udp and self.size is not None:
            raise ValueError("has a `size`, which is that of UDP packets; TCP's segments are the kernel's")
        if self.rate is not None and self.rate < self.flows:
            raise ValueError("has a `rate` of less than 1 bit/s for each of its `flows`")
        return self


class Http(_Tcp):
    """Web pages: `to` asks, `from` serves; a client loads a page, pauses and loads the next."""

    clients: StrictInt = Field(1, ge=1, le=MAX_CLIENTS, description="Clients; each loads one page at a time.")
    size: Sizes = Field("200 kB", validate_default=True, description="Of an object; of a list each object has one at random.")
    objects: StrictInt = Field(1, ge=1, le=MAX_OBJECTS, description="Objects of a page.")
    connections: StrictInt = Field(6, ge=1, le=32, description="Connections of a client; more than `objects` are not used.")
    keep: StrictBool = Field(False, description="Connections are kept from page to page; otherwise each page begins with new ones.")
    pause: Time = Field("1 s", validate_default=True, description="From the end of a page to the beginning of the next.")
    pages: StrictInt | None = Field(None, ge=1, description="Pages of each client; as many as there is time for unless given.")


class Ping(_Pair):
    """ICMP echo: `from` asks, the kernel of `to` answers."""

    interval: EchoInterval = Field("100 ms", validate_default=True, description="From one request to the next.")
    size: EchoSize = Field(56, description="Bytes behind the ICMP header.")
    timeout: Duration = Field(
        "3 s", validate_default=True, description="How long an answer is waited for; with none by then the request counts as lost."
    )


class Voice(_Pair):
    """A telephone call in RTP over UDP."""

    codec: Literal["g711", "g729"] = Field("g711", description="g711: 160 byte every 20 ms; g729: 20 byte every 20 ms.")
    both_ways: StrictBool = Field(True, description="`to` speaks, too.")


class Video(_Tcp):
    """A film in segments over HTTP; before each the player chooses a rate by what it has got and by what is in its buffer."""

    rates: Rates = Field(
        tuple(f"{rate} kbit/s" for rate in (400, 1000, 2000, 4000, 6000, 8000)),
        validate_default=True,
        description="Rates in which there is the film.",
    )
    segment: Segment = Field("2 s", validate_default=True, description="Film in a segment.")
    buffer: Duration = Field("16 s", validate_default=True, description="Film that the player holds at most; then it pauses.")
    begin: Duration | None = Field(None, description="Film that there must be before it plays, at first and after a stall; one `segment`.")

    @model_validator(mode="after")
    def _fits(self) -> "Video":
        if list(self.rates) != sorted(set(self.rates)):
            raise ValueError("has `rates` that do not rise from each to the next")
        if self.rates[-1] * self.segment > 8 * MAX_OBJECT_BYTES * 1000 * MS_PS:
            raise ValueError(f"has segments of more than {format_bytes(MAX_OBJECT_BYTES)}")
        if self.buffer < 2 * self.segment:
            raise ValueError("has a `buffer` of less than two segments")
        if self.begin is not None and self.begin > self.buffer - self.segment:
            raise ValueError("has a `begin` that the `buffer` cannot hold beside a segment")
        return self


class Entry(Model):
    """One application; exactly one of `iperf`, `http`, `ping`, `voice`, `video`."""

    iperf: Iperf | None = Field(None, description="Bulk transfer over TCP or UDP.")
    http: Http | None = Field(None, description="Web pages.")
    ping: Ping | None = Field(None, description="Round trips.")
    voice: Voice | None = Field(None, description="A telephone call.")
    video: Video | None = Field(None, description="A film.")
    name: Name | None = Field(None, description="Its name in results; unless given the kind and a number.")
    start: Time = Field(0, description="When it begins.")
    stop: Time | None = Field(None, description="When it ends; the end of the run unless given.")

    @model_validator(mode="after")
    def _one(self) -> "Entry":
        if sum(getattr(self, kind) is not None for kind in KINDS) != 1:
            raise ValueError(f"needs exactly one of {', '.join(f'`{kind}`' for kind in KINDS)}")
        if self.stop is not None and self.stop <= self.start:
            raise ValueError("has a `stop` that is not after its `start`")
        return self

    @property
    def kind(self) -> str:
        """Which of the kinds it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def given(self) -> Any:
        """What is given for that kind."""
        return getattr(self, self.kind)


Entries = Annotated[tuple[Entry, ...], Field(max_length=MAX_ENTRIES)]


def names(entries: Sequence[Entry]) -> list[str]:
    """Return the name of each entry: the one given, or kind and number, as far as that is free."""
    taken = {entry.name for entry in entries}
    found: list[str] = []
    for entry in entries:
        number = 1 + sum(other.kind == entry.kind for other in entries[: len(found)])
        while (name := entry.name or f"{entry.kind} {number}") in taken and not entry.name:
            number += 1
        taken.add(name)
        found.append(name)
    return found


def check(entries: Sequence[Entry], ends: Sequence[str], duration: int, document: Document, key: KeyPath = ("applications",)) -> None:
    """Look at what the models cannot know: names, ends, times, and what several entries say of one end. Raises UserError."""
    seen: dict[str, int] = {}
    ecn: dict[str, tuple[bool, int]] = {}
    for index, (entry, name) in enumerate(zip(entries, names(entries), strict=True)):
        at: KeyPath = (*key, index)
        if name in seen:
            document.fail((*at, "name"), f"is {name!r}, as that of another entry of `applications`")
        seen[name] = index
        for word, end in (("from", entry.given.sender), ("to", entry.given.receiver)):
            if end not in ends:
                document.fail((*at, entry.kind, word), f"is not an end of this network: {describe(end)}{nearest(end, ends)}")
        if entry.start >= duration:
            document.fail((*at, "start"), "is not before the end of the run")
        wanted: bool | None = getattr(entry.given, "ecn", None)
        if wanted is None:
            continue
        for end in (entry.given.sender, entry.given.receiver):
            before = ecn.setdefault(end, (wanted, index))
            if before[0] != wanted:
                other = names(entries)[before[1]]
                document.fail(
                    (*at, entry.kind, "ecn"), f"is {describe(wanted)} but {describe(before[0])} in {other!r}, and an end, {end!r}, has one"
                )
