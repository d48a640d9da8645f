"""The scenario of a deadline port as typed models: what a scenario file may say, with units, ranges and defaults.

docs/scenario-deadline-port.md is generated from these models (`penstock.scenarios.schema_docs`). Checks that need the configuration are
in `job.py`.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, StrictInt, Tag, model_validator

from penstock.basics.models import Duration, Model, positive
from penstock.basics.units import describe, parse_size
from penstock.scenarios.common import (
    Capture,
    CommonDevice,
    CommonScenario,
    CommonSetup,
    Generated,
    Link,
    Name,
    Pace,
    QueueSet,
    Rate,
    Time,
    queue_set,
    traffic_kind,
)
from penstock.scenarios.headers import Headers, dscp
from penstock.scenarios.network import WireTraffic


def dscps(value: object) -> tuple[int, ...]:
    """Return DSCPs, once each: `46`, `ef`, `"0-7"`, or a list of such."""
    found: list[int] = []
    for part in value if isinstance(value, (list, tuple)) else [value]:
        low, dash, high = part.partition("-") if isinstance(part, str) else (part, "", part)
        ends = (dscp(low), dscp(high if dash else low))
        if ends[0] > ends[1]:
            raise ValueError(f"must be DSCPs such as 46, ef or 0-7, not {describe(part)}")
        found += range(ends[0], ends[1] + 1)
    if not found:
        raise ValueError("must name at least one DSCP")
    if len(set(found)) < len(found):
        raise ValueError(f"names DSCP {next(code for code in found if found.count(code) > 1)} twice")
    return tuple(found)


Classes = Annotated[QueueSet, BeforeValidator(queue_set)]
Dscps = Annotated[tuple[int, ...], BeforeValidator(dscps)]
MemoryLimit = Annotated[int, BeforeValidator(positive(parse_size))]


class Device(CommonDevice):
    """The hardware: a named configuration, and how ideal memories behave in this run."""

    overrides: dict[str, Any] = Field(
        default_factory=dict, description="Other numbers for this run: keys of the configuration. On the RTL it is built anew."
    )
    read_latency_ns: StrictInt = Field(200, ge=0, le=100_000, description="Of memory `ideal`: from a read request to its first data.")
    write_latency_ns: StrictInt = Field(100, ge=0, le=100_000, description="Of memory `ideal`: from the last data to the confirmation.")
    gap_permille: StrictInt = Field(0, ge=0, le=900, description="Share of cycles in which memory `ideal` takes and gives nothing.")


class TrafficClass(Model):
    """One class, or several in a row."""

    name: Name = Field(description="Name, for `traffic`, `changes` and reports; of several classes each has its number behind it.")
    count: StrictInt = Field(1, ge=1, le=256, description="How many classes.")
    deadline: Duration = Field(
        description="How long a frame may wait, from its first bit to the first bit out; of several the first one's."
    )
    step: Time = Field(0, description="Of several: how much longer the frames of each next one may wait.")
    dscp: Dscps | None = Field(None, description='DSCPs, `ef`, `"8-15"` or `[ef, 44]`; several classes get one each, in order.')

    @model_validator(mode="after")
    def _one_each(self) -> "TrafficClass":
        if self.count > 1 and self.dscp is not None and len(self.dscp) != self.count:
            raise ValueError(f"has {len(self.dscp)} DSCPs for {self.count} classes; several classes need one each")
        if self.count == 1 and self.step:
            raise ValueError("has a `step`, which needs a `count` of 2 or more")
        return self


class Change(Model):
    """A setting that changes while traffic flows."""

    at: Time = Field(description="When, in time of the device.")
    classes: Classes | None = Field(None, description="Classes that get another `deadline`, by name or number.")
    deadline: Duration | None = Field(None, description="How long frames of `classes` may wait that come from then on.")
    dscp: Dscps | None = Field(None, description="DSCPs whose frames belong to another class from then on, `to`.")
    to: Name | None = Field(None, description="That class.")
    memory_limit: MemoryLimit | None = Field(None, description="A new `memory_limit`.")

    @model_validator(mode="after")
    def _one_thing(self) -> "Change":
        if (self.classes is None) != (self.deadline is None):
            raise ValueError("needs `classes` and `deadline` together")
        if (self.dscp is None) != (self.to is None):
            raise ValueError("needs `dscp` and `to` together")
        if sum(thing is not None for thing in (self.classes, self.dscp, self.memory_limit)) != 1:
            raise ValueError("needs exactly one of `classes` with `deadline`, `dscp` with `to`, `memory_limit`")
        return self


class PcapTraffic(Capture):
    """Frames of a capture (pcap or pcapng, Ethernet), at recorded or scaled times; each is of the class of its own DSCP."""


class Steady(Pace):
    """A source that does not pause: `constant` sends at equal distances, `poisson` at exponentially distributed ones."""

    classes: Classes = Field(description='Classes, by name or number: `voice`, `[voice, web]`, `"0-63"`.')
    pick: Literal["each", "round_robin", "random"] = Field(
        "round_robin", description="`each`: every class has a source of its own with this rate. Otherwise one source picks a class."
    )
    rate: Rate = Field(description="Rate of frame bytes.")


class OnOff(Steady):
    """A source that sends at `rate` during bursts; lengths of bursts and pauses are exponentially distributed."""

    on: Duration = Field(description="Mean length of a burst.")
    off: Duration = Field(description="Mean length of a pause.")


class GeneratedTraffic(Generated):
    """Frames made by the engine, with headers; exactly one of `constant`, `poisson`, `onoff`."""

    constant: Steady | None = Field(None, description="Frames at equal distances.")
    poisson: Steady | None = Field(None, description="Frames at random distances.")
    onoff: OnOff | None = Field(None, description="Bursts and pauses.")
    headers: Headers = Field(default_factory=Headers, description="Ethernet, IP and UDP; the DSCP is the first one of the frame's class.")


class LiveFrames(WireTraffic):
    """Frames of real programs, for `./penstock live`; each is of the class of its own DSCP."""


Traffic = Annotated[
    Annotated[PcapTraffic, Tag("$pcap")] | Annotated[GeneratedTraffic, Tag("$generated")] | Annotated[LiveFrames, Tag("$live")],
    Discriminator(traffic_kind),
]


class Report(Model):
    """What the report shows."""

    series: Classes | None = Field(
        None, description="Classes with a curve of their own (at most 32); unless given those with traffic, 12 of them at most."
    )
    interval: Duration | None = Field(None, description="Width of a point in time; a two-hundredth of the duration unless given.")
    after: Time = Field(
        0, description="Warm-up: rates, latencies, shares and curves are of what leaves from this time on; counters are of the whole run."
    )


class Setup(CommonSetup):
    """What the device is, and how it is set before anything comes."""

    device: Device = Field(description="The hardware.")
    link: Link = Field(default_factory=Link, description="The lines.")
    classes: tuple[TrafficClass, ...] = Field(min_length=1, description="Classes, in the order of their numbers, from 0 on.")
    default_class: Name | None = Field(
        None, description="Class of frames without a DSCP, and of all DSCPs that no class names; the last class unless given."
    )
    memory_limit: MemoryLimit | None = Field(None, description="Memory that frames may take, in whole chunks; all unless given.")


class Scenario(Setup, CommonScenario):
    """The keys of the file."""

    changes: tuple[Change, ...] = Field((), description="Settings that change while traffic flows.")
    traffic: tuple[Traffic, ...] = Field(min_length=1, description="Sources; they play side by side.")
    report: Report = Field(default_factory=Report, description="What the report shows.")
