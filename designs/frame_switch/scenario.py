"""The scenario of a frame switch as typed models: what a scenario file may say, with units, ranges and defaults.

docs/scenario-frame-switch.md is generated from these models (`penstock.scenarios.schema_docs`).
"""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StrictBool, StrictInt, Tag, model_validator

from penstock.basics.models import Duration, Model
from penstock.scenarios.common import (
    Capture,
    CommonDevice,
    CommonScenario,
    CommonSetup,
    Generated,
    LineRates,
    Lines,
    LiveTraffic,
    Match,
    Name,
    Pace,
    Ports,
    RateOrShare,
    Time,
    numbers,
    traffic_kind,
)
from penstock.scenarios.network import WireTraffic
from penstock.scenarios.tcp import Connections


class Device(CommonDevice):
    """The hardware: a named configuration."""

    overrides: dict[str, Any] = Field(
        default_factory=dict, description="Other numbers for this run: keys of the configuration. On the RTL it is built anew."
    )


class Link(Lines):
    """The lines at inputs and outputs."""

    ingress: LineRates | None = Field(
        None,
        description="Line rate at each input, or a list with one for each; unless given 100 Gbit/s, or a beat a cycle where that is less.",
    )
    egress: LineRates | None = Field(None, description="Line rate at each output, or a list; the same unless given.")


class Way(Model):
    """Where frames go."""

    outputs: Ports = Field(description='Outputs, `3`, `"0-3"` or `[1, "4-6"]`.')
    multicast: StrictBool = Field(False, description="Each frame goes to all of `outputs`; otherwise to one of them.")
    traffic_class: StrictInt = Field(0, ge=0, description="Class of the frames; 0 goes first.")


class Rule(Way):
    """One rule of a map. The first rule that matches a frame decides."""

    match: Match = Field(description="Which frames; `{}` is all.")
    name: Name | None = Field(None, description="Name, for people.")

    @model_validator(mode="after")
    def _one_way(self) -> "Rule":
        if not self.multicast and len(numbers(self.outputs)) > 1:
            raise ValueError("has several `outputs`, which needs `multicast: true`")
        return self


class PcapTraffic(Capture):
    """Frames of a capture (pcap or pcapng, Ethernet) at one input, at recorded or scaled times."""

    input: StrictInt = Field(ge=0, description="Input that they come to.")
    map: tuple[Rule, ...] = Field(min_length=1, description="Rules from header fields to outputs.")
    unmatched: Literal["ignore", "error"] = Field(
        "ignore", description='Frames that no rule matches: "ignore" leaves them out, "error" refuses the file.'
    )


class Steady(Way, Pace):
    """A source that does not pause: `constant` sends at equal distances, `poisson` at exponentially distributed ones."""

    pick: Literal["round_robin", "random"] = Field("random", description="How one of `outputs` is chosen for each frame.")
    rate: RateOrShare = Field(description="Rate of frame bytes at each input; `100 %` fills the line, with what a frame costs there.")


class OnOff(Steady):
    """A source that sends at `rate` during bursts; lengths of bursts and pauses are exponentially distributed."""

    on: Duration = Field(description="Mean length of a burst.")
    off: Duration = Field(description="Mean length of a pause.")


class GeneratedTraffic(Generated):
    """Frames made by the engine, with random bytes, at each of several inputs; exactly one of `constant`, `poisson`, `onoff`."""

    inputs: Ports = Field(description="Inputs; each has a source of its own.")
    constant: Steady | None = Field(None, description="Frames at equal distances.")
    poisson: Steady | None = Field(None, description="Frames at random distances.")
    onoff: OnOff | None = Field(None, description="Bursts and pauses.")


class Tcp(Connections):
    """TCP connections from each of several inputs."""

    outputs: Ports = Field(description="Outputs; the connections of an input are dealt to them in turns.")
    traffic_class: StrictInt = Field(0, ge=0, description="Class of the frames; 0 goes first.")


class TcpTraffic(LiveTraffic):
    """TCP connections, which send by what becomes of their frames."""

    inputs: Ports = Field(description="Inputs; each has connections of its own.")
    tcp: Tcp = Field(description="The connections of an input.")


class LiveFrames(WireTraffic):
    """Frames of real programs, for `./penstock live`; they come to the port of their end."""

    map: tuple[Rule, ...] = Field(min_length=1, description="Rules from header fields to outputs; what none matches is left out.")


Traffic = Annotated[
    Annotated[PcapTraffic, Tag("$pcap")]
    | Annotated[GeneratedTraffic, Tag("$generated")]
    | Annotated[TcpTraffic, Tag("$tcp")]
    | Annotated[LiveFrames, Tag("$live")],
    Discriminator(traffic_kind),
]


class Report(Model):
    """What the report shows."""

    interval: Duration | None = Field(None, description="Width of a point in time; a two-hundredth of the duration unless given.")
    after: Time = Field(
        0, description="Warm-up: rates (to the end of the traffic), latencies and curves are of what leaves from this time on."
    )


class Setup(CommonSetup):
    """What the device is."""

    device: Device = Field(description="The hardware.")
    link: Link = Field(default_factory=Link, description="The lines.")


class Scenario(Setup, CommonScenario):
    """The keys of the file."""

    traffic: tuple[Traffic, ...] = Field(min_length=1, description="Sources; they play side by side.")
    report: Report = Field(default_factory=Report, description="What the report shows.")
