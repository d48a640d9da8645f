"""The scenario of a P4 device as typed models: what a scenario file may say, with units, ranges and defaults.

docs/scenario-p4-device.md is generated from these models (`penstock.scenarios.schema_docs`). Checks that need the
configuration or the program are in `job.py` and `tables.py`.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, StrictInt, StrictStr, Tag, model_validator

from penstock.basics.models import Duration, Model
from penstock.basics.units import describe, parse_size
from penstock.designs.p4_switch.config import MOST_NUMBER, MOST_PORTS, ByPriority
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
    traffic_kind,
)
from penstock.scenarios.network import WireTraffic
from penstock.scenarios.tcp import Connections
from penstock.scenarios.values import Size

USUAL_CONFIG = "p4_4"
MOST_CLOCK_US = (1 << 48) - 1
NUMBERS = ("ports", "priorities", "queue_packets", "by_priority", "queue_bytes", "max_frame_bytes", "egress_drops")
MOST_FLOWS = 4096  # of an entry at an input


def _clock(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_CLOCK_US:
        return value
    raise ValueError(f"must be microseconds from 0 to {MOST_CLOCK_US:,}, which is 2^48 - 1, not {describe(value)}")


class Device(CommonDevice):
    """The program, and what is around it: a named configuration, of which other keys change single numbers."""

    config: StrictStr = Field(USUAL_CONFIG, description="Name of a configuration of `designs/p4_switch/configs.yaml`.")
    overrides: dict[str, Any] = Field(default_factory=dict, description="Other numbers for this run: keys of the configuration.")
    program: StrictStr = Field(description="JSON of `p4c-bm2-ss`, relative to the scenario or else to the folder of Penstock.")
    ports: StrictInt | None = Field(None, ge=1, le=MOST_PORTS, description="Inputs, and as many outputs.")
    port_numbers: tuple[Annotated[StrictInt, Field(ge=0, le=MOST_NUMBER)], ...] | None = Field(
        None, description="What the program calls them, `[1, 2, 3, 255]`; 0, 1, ... unless given."
    )
    priorities: StrictInt | None = Field(None, ge=1, le=64, description="Queues of each output; the highest number goes first.")
    queue_packets: StrictInt | None = Field(None, ge=1, le=1 << 24, description="Places of each queue.")
    by_priority: tuple[ByPriority, ...] | None = Field(None, description="Places and rate of single priorities.")
    queue_bytes: Size | None = Field(None, ge=0, le=1 << 40, description="Bytes of each queue; 0: as many as the packets have.")
    max_frame_bytes: Annotated[int, BeforeValidator(parse_size)] | None = Field(
        None, ge=64, le=65_535, description="Longer frames are dropped at the input."
    )
    egress_drops: Literal["charged", "free"] | None = Field(
        None, description="`charged`: what egress drops takes its time on the link; `free`: the next packet is taken at once."
    )
    clock_start_us: Annotated[int, BeforeValidator(_clock)] = Field(
        0, description="What the program's clock shows at the beginning, in microseconds; it has 48 bits."
    )

    def numbers(self) -> dict[str, Any]:
        """Return the numbers of the configuration that these keys change."""
        return {key: value for key in NUMBERS if (value := getattr(self, key)) is not None}

    @model_validator(mode="after")
    def _other_numbers(self) -> "Device":
        if self.port_numbers is not None and len(set(self.port_numbers)) < len(self.port_numbers):
            twice = next(number for number in self.port_numbers if self.port_numbers.count(number) > 1)
            raise ValueError(f"has {twice} twice in `port_numbers`")
        return self


class Link(Lines):
    """The lines at inputs and outputs."""

    ingress: LineRates | None = Field(None, description="Line rate at each input, or a list with one for each; 100 Gbit/s unless given.")
    egress: LineRates | None = Field(
        None, description="Line rate at each output, or a list: what paces its queues; 100 Gbit/s unless given."
    )


class Rule(Model):
    """One rule of a map. The first rule that matches a frame decides."""

    match: Match = Field(description="Which frames; `{}` is all.")
    name: Name = Field(description="Name of their flow.")


class PcapTraffic(Capture):
    """Frames of a capture (pcap or pcapng, Ethernet) at one input, at recorded or scaled times."""

    input: StrictInt = Field(ge=0, description="Input that they come to.")
    map: tuple[Rule, ...] = Field((), description="Rules from header fields to flows, for the result; without it all are one flow.")
    unmatched: Literal["take", "ignore", "error"] = Field(
        "take", description='Frames that no rule matches: "take" makes them a flow, "ignore" leaves them out, "error" refuses the file.'
    )


class Steady(Pace):
    """A source that does not pause: `constant` sends at equal distances, `poisson` at exponentially distributed ones."""

    flows: StrictInt = Field(1, ge=1, le=MOST_FLOWS, description="Flows of each input; addresses that `headers` do not say differ.")
    pick: Literal["round_robin", "random"] = Field("random", description="How one of the flows is chosen for each frame.")
    rate: RateOrShare = Field(description="Rate of frame bytes at each input; `100 %` fills the line, with what a frame costs there.")


class OnOff(Steady):
    """A source that sends at `rate` during bursts; lengths of bursts and pauses are exponentially distributed."""

    on: Duration = Field(description="Mean length of a burst.")
    off: Duration = Field(description="Mean length of a pause.")


class GeneratedTraffic(Generated):
    """Frames made by the engine at each of several inputs; exactly one of `constant`, `poisson`, `onoff`."""

    inputs: Ports = Field(description="Inputs; each has a source of its own.")
    constant: Steady | None = Field(None, description="Frames at equal distances.")
    poisson: Steady | None = Field(None, description="Frames at random distances.")
    onoff: OnOff | None = Field(None, description="Bursts and pauses.")


class TcpTraffic(LiveTraffic):
    """TCP connections, which send by what becomes of their frames."""

    inputs: Ports = Field(description="Inputs; each has connections of its own.")
    tcp: Connections = Field(description="The connections of an input.")


class LiveFrames(WireTraffic):
    """Frames of real programs, for `./penstock live`; they come to the port of their end, and the program says where they go."""

    map: tuple[Rule, ...] = Field((), description="Rules from header fields to flows, for the result; what none matches is one flow.")


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


class Entry(Model):
    """An entry of a table. Numbers are `10`, `0x1f`, IP and MAC addresses."""

    table: StrictStr = Field(description="Name; without the control's where it is the only one of this name.")
    match: Any = Field(description="Keys in their order or by name: `10.0.0.0/8` (lpm), `0x80&&&0xf0` (ternary), `5->9` (range), `*`.")
    action: StrictStr = Field(description="Name, as that of the table.")
    data: Any = Field((), description="Parameters of the action in their order, or by name; one alone needs no list.")
    priority: StrictInt | None = Field(None, description="Of ternary and range tables, which need it; the lowest number comes first.")


class Default(Model):
    """The default action of a table."""

    table: StrictStr = Field(description="Name.")
    action: StrictStr = Field(description="Name.")
    data: Any = Field((), description="Parameters of the action in their order, or by name; one alone needs no list.")


class Register(Model):
    """What a register holds."""

    register_: StrictStr = Field(alias="register", description="Name.")
    index: StrictInt | None = Field(None, ge=0, description="Its cell; all unless given.")
    value: Any = Field(description="A number.")


class Meter(Model):
    """The rates of a meter."""

    meter: StrictStr = Field(description="Name.")
    index: StrictInt | None = Field(
        None, ge=0, description="Its cell, or the entry of a direct meter in the order of `entries`; all unless given."
    )
    rates: Any = Field(description="Two pairs, the lower rate first: [packets or bytes for each microsecond, burst].")


class Mirror(Model):
    """Where the clones of a mirror session go."""

    session: StrictInt = Field(ge=0, description="Number.")
    port: StrictInt | None = Field(None, ge=0, description="A port, as the program calls it, up to 511.")
    group: StrictInt | None = Field(None, ge=0, description="Or a multicast group.")


class Node(Model):
    """Members of a multicast group."""

    rid: StrictInt = Field(0, ge=0, description="Their `egress_rid`.")
    ports: tuple[StrictInt, ...] = Field(description="Ports, as the program calls them, up to 511.")


class Multicast(Model):
    """A multicast group."""

    group: StrictInt = Field(ge=1, description="Number.")
    nodes: tuple[Node, ...] = Field(description="Its members.")


class Tables(Model):
    """What the control plane says before the clock starts."""

    entries: tuple[Entry, ...] = Field((), description="Entries of tables, in their order.")
    defaults: tuple[Default, ...] = Field((), description="Default actions.")
    registers: tuple[Register, ...] = Field((), description="What registers hold; 0 unless given.")
    meters: tuple[Meter, ...] = Field((), description="Rates of meters.")
    mirrors: tuple[Mirror, ...] = Field((), description="Mirror sessions.")
    multicast: tuple[Multicast, ...] = Field((), description="Multicast groups.")


class Setup(CommonSetup):
    """What the device is, and what the program's tables hold."""

    device: Device = Field(description="The program and its device.")
    link: Link = Field(default_factory=Link, description="The lines.")
    commands: StrictStr | None = Field(
        None, description="File of commands for bmv2's runtime CLI, found as `device.program` is; before `tables`."
    )
    tables: Tables = Field(default_factory=Tables, description="What tables and their kin hold.")


class Scenario(Setup, CommonScenario):
    """The keys of the file."""

    traffic: tuple[Traffic, ...] = Field(min_length=1, description="Sources; they play side by side.")
    report: Report = Field(default_factory=Report, description="What the report shows.")
