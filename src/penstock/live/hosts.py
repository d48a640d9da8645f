"""Hosts of a live run: each a network namespace with one interface, a TAP device whose other side is a file of Ethernet frames."""

import contextlib
from dataclasses import dataclass
from typing import Any

from penstock.network import spaces
from penstock.network.spaces import Space
from penstock.scenarios.network import End, Network, mac_of

INTERFACE = "net0"
QUEUE_FRAMES = 10_000  # that the kernel keeps for the device; what waits there too long is lost in the host, as behind a slow network card
# A connection of one run is not to know what one before it has learned; and a host takes what comes, whoever it is for.
SETTINGS = (("ipv4/tcp_no_metrics_save", 1), ("ipv4/conf/all/rp_filter", 0), ("ipv4/conf/default/rp_filter", 0))


@dataclass
class Host:
    """One of them."""

    name: str
    space: Space
    file: int  # of its frames
    interface: str
    mac: str
    ipv4: str | None
    ipv6: str | None


def make(network: Network) -> list[Host]:
    """Make the hosts; this thread is in the namespace of the last one then. Raises OSError."""
    return [_host(end, number) for number, end in enumerate(network.ends)]


def lead_out(made: list[Host], network: Network, router: int) -> None:
    """Let what the others send beyond their networks go to one of them, where they have no `gateway` of their own. Raises OSError."""
    for host, end in zip(made, network.ends, strict=True):
        if host is not made[router] and end.gateway is None and made[router].ipv4 is not None:
            host.space.enter()
            spaces.ip([f"route replace default via {made[router].ipv4} dev {host.interface}"])


def _host(end: End, number: int) -> Host:
    space = Space.new()
    for key, value in SETTINGS:
        with contextlib.suppress(OSError):
            spaces.setting(key, value)
    if not any(address.version == 6 for address in end.addresses):
        spaces.quiet()
    mac = mac_of(end, number)
    file, interface = spaces.tap(INTERFACE)
    commands = [
        f"link set {interface} address {mac} mtu {end.mtu} txqueuelen {QUEUE_FRAMES} up",
        *(f"address add {address} dev {interface}{' nodad' if address.version == 6 else ''}" for address in end.addresses),
        *(f"neighbour replace {one.address} lladdr {one.mac} dev {interface} nud permanent" for one in end.neighbours),
    ]
    if end.gateway is not None:
        commands.append(f"route add default via {end.gateway} dev {interface}")
    spaces.ip(commands)
    return Host(end.name, space, file, interface, mac, _first(end, 4), _first(end, 6))


def _first(end: End, version: int) -> str | None:
    found: Any = next((address for address in end.addresses if address.version == version), None)
    return str(found.ip) if found else None
