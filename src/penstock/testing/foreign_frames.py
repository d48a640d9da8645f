"""Frames of all kinds that rules look into, built by Scapy, and what rules must see of them."""

import ipaddress
import random
from typing import Any

from penstock.scenarios.frame_fields import Fields

V4 = ("10.0.0.1", "10.0.0.77", "10.0.1.1", "192.0.2.9")
V6 = ("fd00::1", "fd00::77", "2001:db8::1")
MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02", "0a:00:27:00:00:00")
PORTS = (0, 53, 80, 443, 5000, 5010, 65535)


def packed(address: str) -> bytes:
    """Return an address' bytes."""
    return ipaddress.ip_address(address).packed


def drawn_ip(rng: random.Random) -> tuple[Any, dict[str, Any]]:
    """Return an IP packet and its fields."""
    from scapy.layers.inet import ICMP, IP, TCP, UDP
    from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting
    from scapy.layers.ipsec import AH, ESP
    from scapy.layers.sctp import SCTP

    sport, dport, dscp = rng.choice(PORTS), rng.choice(PORTS), rng.randrange(64)
    both = {"sport": sport, "dport": dport}
    number, above = rng.choice(
        (
            (6, TCP(**both)),
            (6, TCP(**both, options=[("MSS", 1460)])),
            (6, TCP(**both, dataofs=rng.randrange(16))),  # a length that is no length hides nothing
            (17, UDP(**both)),
            (17, UDP(**both, len=rng.choice((0, 3, 65535)))),
            (132, SCTP(**both)),
            (1, ICMP()),
            (50, ESP(spi=7, seq=1, data=bytes(20))),
        )
    )
    later = rng.random() < 0.15
    found: dict[str, Any] = {"dscp": dscp, "protocol": number}
    if number in (6, 17, 132) and not later:
        found |= {"source_port": sport, "destination_port": dport}
    if rng.random() < 0.5:
        source, destination = rng.choice(V4), rng.choice(V4)
        has_options = rng.choice(([], [], [b"\x01" * 4, b"\x01" * 8]))
        options = b"\x01" * (4 * rng.randrange(1, 10)) if has_options else []
        packet = IP(src=source, dst=destination, tos=dscp << 2 | rng.randrange(4), frag=7 if later else 0, options=options)
        return packet / above / bytes(rng.randrange(40)), found | {
            "version": 4,
            "source": packed(source),
            "destination": packed(destination),
        }
    source, destination = rng.choice(V6), rng.choice(V6)
    packet = IPv6(src=source, dst=destination, tc=dscp << 2 | rng.randrange(4), fl=rng.getrandbits(20))
    for chance, header in ((0.3, IPv6ExtHdrHopByHop()), (0.2, IPv6ExtHdrRouting(addresses=[V6[0]])), (0.3, IPv6ExtHdrDestOpt())):
        packet = packet / header if rng.random() < chance else packet
    if later or rng.random() < 0.2:
        packet /= IPv6ExtHdrFragment(offset=3 if later else 0, m=1, nh=number)
    elif rng.random() < 0.2:
        packet /= AH(nh=number, spi=1, seq=1, payloadlen=4, icv=bytes(12))
    packet.lastlayer().nh = number
    return packet / above / bytes(rng.randrange(40)), found | {
        "version": 6,
        "source": packed(source),
        "destination": packed(destination),
    }


def drawn(rng: random.Random) -> tuple[bytes, Fields]:
    """Return a frame and what rules must see of it."""
    from scapy.contrib.mpls import MPLS
    from scapy.layers.l2 import ARP, LLC, SNAP, Dot1AD, Dot1Q, Dot3, Ether
    from scapy.layers.ppp import PPP, PPPoE, PPPoED

    source, destination = rng.choice(MACS), rng.choice(MACS)
    found: dict[str, Any] = {"source_mac": _mac(source), "destination_mac": _mac(destination)}
    kind = rng.choice(("ip", "ip", "ip", "pppoe", "pppoe", "mpls", "snap", "discovery", "arp", "ppp-mpls"))
    ip, of_ip = drawn_ip(rng)
    version = of_ip["version"]
    if kind == "snap":
        frame = Dot3(src=source, dst=destination) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3)
        frame /= SNAP(OUI=rng.choice((0, 0xF8)), code={4: 0x0800, 6: 0x86DD}[version])
        return bytes(frame / ip), Fields(**found, **of_ip)
    frame = Ether(src=source, dst=destination)
    tags = [rng.randrange(4096) for _ in range(rng.choice((0, 0, 0, 1, 2, 3)))]
    for tag in tags:
        frame /= rng.choice((Dot1Q, Dot1AD))(vlan=tag, prio=rng.randrange(8))
    found["vlans"] = tuple(tags[:2])
    if kind == "arp":
        return bytes(frame / ARP()), Fields(**found)
    session, labels = rng.randrange(65536), [rng.randrange(1 << 20) for _ in range(rng.randrange(1, 4))]
    if kind == "discovery":
        return bytes(frame / PPPoED(code=9, sessionid=session) / bytes(rng.randrange(9))), Fields(**found, pppoe=session)
    if kind in ("pppoe", "ppp-mpls"):
        found["pppoe"] = session
        frame /= PPPoE(sessionid=session)
        frame /= PPP(proto=0x0281 if kind == "ppp-mpls" else {4: 0x0021, 6: 0x0057}[version])
    if kind in ("mpls", "ppp-mpls"):
        found["mpls"] = labels[0]
        if kind == "mpls":
            frame.lastlayer().type = 0x8847
        for label in labels:
            frame /= MPLS(label=label, s=int(label is labels[-1]), ttl=rng.randrange(256))
    return bytes(frame / ip), Fields(**found, **of_ip)


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))
