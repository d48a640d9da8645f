"""Live traffic in a scenario: the ends of a small network around the device, and what of its frames goes through it.

An end is a host: a network namespace with one interface. `penstock.live` makes them; here they are described, and made into parts of a job.
"""

import ipaddress
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, StrictInt, StrictStr, model_validator

from penstock.basics.models import Model
from penstock.basics.units import describe, format_time_ns, parse_size, parse_time
from penstock.basics.where import KeyPath
from penstock.scenarios.values import Name, Rate

if TYPE_CHECKING:
    from penstock.scenarios.common import Match
    from penstock.scenarios.scenario import Document

MOST_ENDS = 32
LEAST_MTU, MOST_MTU = 576, 9_600  # IPv4's least; 1,280 where there is IPv6
MOST_DELAY = 10 * 10**12
USUAL_BUFFER, MOST_BUFFER = 1_000_000, 1 << 30  # bytes
LEAST_SLACK = 10**9
MOST_ADDRESSES, MOST_SERVICES = 16, 16
_QUEUE = re.compile(r"[a-z][a-z0-9_]*( [A-Za-z0-9_.:/-]+)*")
_MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}")


def _interface(value: object) -> ipaddress.IPv4Interface | ipaddress.IPv6Interface:
    try:
        found = ipaddress.ip_interface(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError(f'must be an address and its network such as "10.0.0.2/24", not {describe(value)}') from None
    if "/" not in str(value) or found.network.num_addresses < 2:
        raise ValueError(f'must name its network, too, as "{found.ip}/24" does, not {describe(value)}')
    return found


def _address(value: object) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError(f'must be an address such as "10.0.0.1", not {describe(value)}') from None


def _mac(value: object) -> str:
    text = value.lower() if isinstance(value, str) else ""
    if not _MAC.fullmatch(text) or int(text[:2], 16) & 1:
        raise ValueError(f'must be the MAC address of a host such as "02:00:00:00:01:01", not {describe(value)}')
    return text


def _delay(value: object) -> int:
    found = parse_time(value)
    if found > MOST_DELAY:
        raise ValueError(f"must be at most {format_time_ns(MOST_DELAY / 1000)}, not {describe(value)}")
    return found


def _slack(value: object) -> int:
    found = parse_time(value)
    if not LEAST_SLACK <= found <= MOST_DELAY:
        raise ValueError(f"must be {format_time_ns(LEAST_SLACK / 1000)} to {format_time_ns(MOST_DELAY / 1000)}, not {describe(value)}")
    return found


def _interfaces(value: object) -> tuple[Any, ...]:
    given = value if isinstance(value, (list, tuple)) else [value]
    if not 1 <= len(given) <= MOST_ADDRESSES:
        raise ValueError(f"must be 1 to {MOST_ADDRESSES} addresses, not {len(given)}")
    return tuple(_interface(one) for one in given)


def _buffer(value: object) -> int:
    found = parse_size(value)
    if found > MOST_BUFFER:
        raise ValueError(f"must be at most {MOST_BUFFER:,} byte, not {describe(value)}")
    return found


def _services(value: object) -> tuple[tuple[str, ...], ...]:
    given = value if isinstance(value, (list, tuple)) else [value]
    if len(given) > MOST_SERVICES:
        raise ValueError(f"must be at most {MOST_SERVICES} programs, not {len(given)}")
    found = []
    for one in given:
        try:
            words = shlex.split(one) if isinstance(one, str) else []
        except ValueError:
            words = []
        if not words:
            raise ValueError(f'must be a program and its arguments, as for a shell, such as "iperf3 -s", not {describe(one)}')
        found.append(tuple(words))
    return tuple(found)


def _queue_words(value: object) -> str:
    words = value.split() if isinstance(value, str) else []
    if not words or not _QUEUE.fullmatch(" ".join(words)):
        raise ValueError(f'must be a queue in words of tc, such as "fq_codel limit 1000", not {describe(value)}')
    return " ".join(words)


QueueWords = Annotated[str, BeforeValidator(_queue_words)]
Services = Annotated[Any, BeforeValidator(_services)]
Interfaces = Annotated[Any, BeforeValidator(_interfaces)]
HostAddress = Annotated[Any, BeforeValidator(_address)]
HostMac = Annotated[str, BeforeValidator(_mac)]
Delay = Annotated[int, BeforeValidator(_delay)]
Slack = Annotated[int, BeforeValidator(_slack)]
Buffer = Annotated[int, BeforeValidator(_buffer)]


class Neighbour(Model):
    """A host, or a router, that need not be asked for by ARP or neighbour discovery."""

    address: HostAddress = Field(description="Its address.")
    mac: HostMac = Field(description="Its MAC address.")


class KernelQueue(Model):
    """A queue of the Linux kernel, for comparisons: its host forwards, and what it sends waits there."""

    queue: QueueWords = Field(description='The queue in words of tc: "fq_codel limit 1000 noecn".')
    rate: Rate | None = Field(None, description="Rate of a token bucket in front of it; none where the queue has a rate itself, as CAKE.")


class End(Model):
    """A host: a network namespace with one interface."""

    name: Name = Field(description="Name, for `from` and `to`.")
    addresses: Interfaces = Field(description='Its addresses with their networks, IPv4 and IPv6: `[10.0.0.2/24, "fd00::2/64"]`.')
    mac: HostMac | None = Field(None, description="Its MAC address; 02:00:00:00:00:01 for the first end, and so on, unless given.")
    mtu: StrictInt = Field(1500, ge=LEAST_MTU, le=MOST_MTU, description="Longest IP packet in bytes.")
    port: StrictInt | None = Field(None, ge=0, description="Port of a device with several; the ends take them in order unless given.")
    gateway: HostAddress | None = Field(None, description="Where what is not in its networks goes to.")
    neighbours: tuple[Neighbour, ...] = Field((), description="Hosts and routers whose MAC addresses it knows.")
    services: Services = Field((), description='Programs that run on it all the time: `["python3 -m http.server 80"]`.')
    kernel_queue: KernelQueue | None = Field(None, description="The host is a router with this queue of the Linux kernel.")

    @model_validator(mode="after")
    def _ipv6_needs_room(self) -> "End":
        if self.mtu < 1280 and any(address.version == 6 for address in self.addresses):
            raise ValueError(f"has an IPv6 address, which needs an mtu of at least 1,280, not {self.mtu:,}")
        return self

    @model_validator(mode="after")
    def _gateway_is_a_neighbour(self) -> "End":
        on_link = self.gateway is None or (self.gateway.version == 6 and self.gateway.is_link_local)
        if not on_link and not any(self.gateway in own.network and self.gateway != own.ip for own in self.addresses):
            raise ValueError(f"has the `gateway` {self.gateway}, which is no other host of its networks")
        return self


class Past(Model):
    """Frames of an end that go past the device, by a line of their own."""

    from_: Name = Field(alias="from", description="End that they come from.")
    to: Name = Field(description="End that they go to.")
    rate: Rate | None = Field(None, description="Rate of the line; without one it has no limit.")
    delay: Delay = Field(0, description="How long a frame is on the way.")
    buffer: Buffer = Field(USUAL_BUFFER, description="Bytes that wait in front of the line; more are lost.")

    @model_validator(mode="after")
    def _to_another(self) -> "Past":
        if self.from_ == self.to:
            raise ValueError(f'has "{self.to}" as `from` and as `to`; a host\'s frames to itself take no line')
        return self


class Network(Model):
    """The hosts around the device."""

    page: ClassVar[str] = "live.md"

    ends: Annotated[tuple[End, ...], Field(min_length=2, max_length=MOST_ENDS)] = Field(description="The hosts.")
    past: tuple[Past, ...] = Field((), description="Directions that do not go through the device.")
    slack: Slack = Field(
        "100 ms",
        validate_default=True,
        description="The device stands still, and the run says so, rather than be further behind.",
    )

    @model_validator(mode="after")
    def _different(self) -> "Network":
        for what, values in (
            ("name", [end.name for end in self.ends]),
            ("mac", [mac_of(end, number) for number, end in enumerate(self.ends)]),
            ("address", [str(address) for end in self.ends for address in {own.ip for own in end.addresses}]),
        ):
            if twice := next((value for value in values if values.count(value) > 1), None):
                raise ValueError(f"has two ends with the {what} {twice}")
        return self


class Round(Model):
    """The same scenario once more, with other values."""

    page: ClassVar[str] = "live.md"

    name: Name = Field(description="Name, and that of its folder: in small letters, `_` for blanks.")
    words: StrictStr = Field("", description="One sentence, for the comparison.")
    set: dict[str, Any] = Field(default_factory=dict, description='What is other there, as with `--set`: `{queues.down.rate: "5 Mbit/s"}`.')


def folder_of(name: str) -> str:
    """Return the name of a round's folder."""
    return name.lower().replace(" ", "_")


def _own_folders(rounds: tuple[Round, ...]) -> tuple[Round, ...]:
    names: dict[str, str] = {}
    for one in rounds:
        folder = folder_of(one.name)
        if folder in names:
            raise ValueError(f'has two rounds with the folder {folder}: "{names[folder]}" and "{one.name}"')
        names[folder] = one.name
    return rounds


Rounds = Annotated[tuple[Round, ...], AfterValidator(_own_folders)]


class Wires(Model):
    """Frames of an end that go through the device."""

    page: ClassVar[str] = "live.md"

    from_: Name = Field(alias="from", description="End that they come from.")
    to: Name | None = Field(None, description="End that they go to; of a device with several ports the output says it.")
    delay: Delay = Field(0, description="How long a frame is on the way, beside its time in the device.")


class WireTraffic(Model):
    """Frames of real programs, for `./penstock live`; designs add where they go."""

    name: Name | None = Field(None, description="Name of the source.")
    live: Wires = Field(description="Which of them.")


def entries(scenario: Any) -> list[tuple[int, WireTraffic]]:
    """Return the live entries of a scenario's traffic and their places."""
    return [(index, entry) for index, entry in enumerate(scenario.traffic) if isinstance(entry, WireTraffic)]


def place(scenario: Any, document: "Document", name: str, key: KeyPath) -> int:
    """Return the number of an end. Raises UserError."""
    names = [end.name for end in scenario.network.ends] if scenario.network else []
    if name not in names:
        known = f"the ends are {', '.join(names)}" if names else "the scenario has no `network`"
        document.fail(key, f'is "{name}", but {known}')
    return names.index(name)


def port_of(scenario: Any, end: int) -> int:
    """Return the port of an end at a device with several."""
    given: int | None = scenario.network.ends[end].port
    return end if given is None else given


def in_job(
    entry: WireTraffic, key: KeyPath, scenario: Any, document: "Document", matches: "Sequence[Match]", queues: Sequence[int], ports: int = 1
) -> dict[str, Any]:
    """Return the job's source for a live entry. Raises UserError.

    `queues`: of each of the `matches`; one more: of what none matches, else that is left out. `ports`: of the device.
    """
    where = (*key, "live")
    come_from = place(scenario, document, entry.live.from_, (*where, "from"))
    if ports == 1 and entry.live.to is None:
        document.fail(where, "needs `to`, the end where the frames go")
    if ports > 1 and entry.live.to is not None:
        document.fail((*where, "to"), "is not for a device with several ports: its outputs say where frames go")
    to = None if entry.live.to is None else place(scenario, document, entry.live.to, (*where, "to"))
    if to == come_from:
        document.fail((*where, "to"), "is the end that the frames come from")
    rules: list[dict[str, Any]] = [rule(match) for match in matches]
    if len(queues) > len(rules):
        rules.append({})
    return {
        "kind": "wire",
        "input": port_of(scenario, come_from) if ports > 1 else 0,
        "from": come_from,
        "to": to,
        "delay_ns": entry.live.delay // 1000,
        "rules": rules,
        "queues": np.array(queues, dtype=np.uint32),
    }


def rule(match: "Match") -> dict[str, Any]:
    """Return what a job says of a rule's header fields."""

    def network(given: Any) -> dict[str, Any] | None:
        if given is None:
            return None
        return {"version": given.version, "address": given.network_address.packed, "bits": given.prefixlen}

    return {
        "protocol": match.proto,
        "source": network(match.src),
        "destination": network(match.dst),
        "source_port": match.sport,
        "destination_port": match.dport,
        "dscp": match.dscp,
        "vlans": match.vlan,
        "source_mac": match.src_mac,
        "destination_mac": match.dst_mac,
        "mpls": match.mpls,
        "pppoe": match.pppoe,
    }


def of_job(scenario: Any, document: "Document", ports: int) -> dict[str, Any]:
    """Return key `wire` of a job, without its `files`. Raises UserError for a network that cannot be."""
    given: Network | None = scenario.network
    if given is None or not entries(scenario):
        document.fail(
            ("network",) if given else (),
            "has no live traffic: `live` needs a `network` and an entry `live` in `traffic` (docs/live.md); `run` runs it as it is",
        )
    taken: dict[str, KeyPath] = {}
    ways: list[tuple[str, KeyPath]] = [(entry.live.from_, ("traffic", index, "live", "from")) for index, entry in entries(scenario)]
    for name, key in [*ways, *((past.from_, ("network", "past", index, "from")) for index, past in enumerate(given.past))]:
        if name in taken:
            document.fail(key, f'is "{name}", whose frames have a way already ({document.key_text(taken[name])})')
        taken[name] = key
    end_of_output = [-1] * ports
    if ports > 1:
        for index in range(len(given.ends)):
            port = port_of(scenario, index)
            end = ("network", "ends", index)
            if port >= ports:
                document.fail(end, f"is at port {port}, but the device has ports 0 to {ports - 1}")
            if end_of_output[port] >= 0:
                document.fail(end, f'is at port {port}, where "{given.ends[end_of_output[port]].name}" is')
            end_of_output[port] = index
    lines = [
        {
            "from": place(scenario, document, past.from_, ("network", "past", index, "from")),
            "to": place(scenario, document, past.to, ("network", "past", index, "to")),
            "bps": past.rate or 0,
            "delay_ns": past.delay // 1000,
            "buffer_bytes": past.buffer,
        }
        for index, past in enumerate(given.past)
    ]
    return {"end_of_output": end_of_output, "lines": lines, "slack_ns": given.slack // 1000}


def mac_of(end: End, number: int) -> str:
    """Return the MAC address of an end."""
    return end.mac or f"02:00:00:00:00:{number + 1:02x}"
