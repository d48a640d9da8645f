"""Frames for the tests of ECN detection and marking, built and judged by scapy."""

import random

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

NOT_ECT, ECT1, ECT0, CE = range(4)


def frame(rng: random.Random) -> tuple[bytes, int | None]:
    """A random frame, and its ECN field (None: it has none that counts)."""
    packet = Ether(dst=rng.randbytes(6).hex(":"), src=rng.randbytes(6).hex(":"))
    tags = rng.randrange(3)
    for tag in range(tags):
        outer = tag == 0 and tags == 2 and rng.random() < 0.5
        packet /= (Dot1AD if outer else Dot1Q)(vlan=rng.randrange(4096), prio=rng.randrange(8))
    payload = Raw(rng.randbytes(rng.choice([0, 1, 40, 80, 600, 1400])))
    ecn, kind = rng.randrange(4), rng.randrange(10)
    if kind == 0:
        return bytes(packet / ARP()), None
    if kind == 1:  # the type says IP, the version something else
        return bytes(packet / IP(version=6, tos=ecn) / payload), None
    if kind == 2:  # a third tag: too deep
        three = Dot1Q(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3)
        return bytes(Ether() / three / IP(tos=ecn) / payload), None
    if kind == 3:  # cut in the fixed header
        whole = bytes(packet / IP(tos=ecn))
        return whole[: 14 + 4 * tags + rng.randrange(2, 20)], None
    if kind == 4:
        whole = bytes(packet / IPv6(tc=ecn, nh=59))
        return whole[: 14 + 4 * tags + rng.randrange(2, 40)], None
    traffic = rng.randrange(64) << 2 | ecn
    transport = (TCP if rng.random() < 0.5 else UDP)(sport=rng.randrange(65536), dport=80)
    if kind < 8:
        options = [] if rng.random() < 0.7 else [b"\x01" * 4 * rng.randrange(1, 10)]
        ip = IP(src=f"10.{rng.randrange(256)}.0.1", dst="192.0.2.1", tos=traffic, id=rng.randrange(65536), ttl=rng.randrange(1, 256))
        if options:
            from scapy.layers.inet import IPOption

            ip.options = [IPOption(options[0])]
        if rng.random() < 0.3:  # a checksum around 0, where the difference wraps
            checksum = IP(bytes(ip / transport / payload)).chksum
            ip.id = (ip.id + checksum - rng.randrange(4)) % 65535
    else:
        ip = IPv6(src="2001:db8::1", dst="2001:db8::2", tc=traffic, fl=rng.randrange(1 << 20))
    return bytes(packet / ip / transport / payload), ecn


def remarked(data: bytes) -> bytes:
    """The frame with CE set, as scapy writes it: fields decoded, checksum computed anew."""
    packet = Ether(data)
    layer = packet[IP] if IP in packet else packet[IPv6]
    if isinstance(layer, IP):
        layer.tos |= 3
        del layer.chksum
    else:
        layer.tc |= 3
    return bytes(packet)


def beats(data: bytes) -> list[tuple[int, int, int]]:
    """(tdata, tkeep, tlast) of a frame on 64 bytes."""
    parts = [data[i : i + 64] for i in range(0, len(data), 64)]
    return [(int.from_bytes(part, "little"), (1 << len(part)) - 1, int(part is parts[-1])) for part in parts]
