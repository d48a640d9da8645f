"""Headers of frames, drawn at random and read by dpkt and plain arithmetic."""

import ipaddress
import random
import struct
from typing import Any

import dpkt


def ones_sum(data: bytes) -> int:
    """RFC 1071: the sum of big-endian 16-bit words, odd data filled with a zero, with the carries added back."""
    total = sum(byte << 8 if at % 2 == 0 else byte for at, byte in enumerate(data))
    while total > 0xFFFF:
        total = (total >> 16) + (total & 0xFFFF)
    return total


def check_frame(frame: bytes, given: dict[str, Any]) -> tuple[int, int]:
    """Compare a frame with what was asked for; return its DSCP and the last 16 bits of its destination."""
    vlan, at = given.get("vlan", []), 12
    for kind, tag in zip([0x88A8, 0x8100][2 - len(vlan) :], vlan, strict=True):
        assert struct.unpack_from("!H", frame, at)[0] == kind
        tci = struct.unpack_from("!H", frame, at + 2)[0]
        assert tci & 0xFFF == tag
        at += 4
    version = given.get("ip", 4)
    assert struct.unpack_from("!H", frame, at)[0] == {4: 0x0800, 6: 0x86DD}[version]
    packet = frame[at + 2 :]
    if version == 4:
        ip = dpkt.ip.IP(packet)
        traffic_class, pseudo, payload = ip.tos, packet[12:20], packet[20:]
        assert (ip.len, ip.hl, ip.p, ip.ttl) == (len(packet), 5, 17, 64)
        assert ones_sum(packet[:20]) == 0xFFFF
    else:
        ip = dpkt.ip6.IP6(packet)
        traffic_class, pseudo, payload = ip.fc, packet[8:40], packet[40:]
        assert (ip.plen, ip.nxt, ip.hlim) == (len(packet) - 40, 17, 64)
    assert traffic_class & 3 == given.get("ecn", 0)
    udp = dpkt.udp.UDP(payload)
    assert (udp.ulen, udp.sport, udp.dport) == (len(payload), given.get("sport", 9), given.get("dport", 9))
    assert udp.sum != 0 and ones_sum(pseudo + struct.pack("!HH", 17, len(payload)) + payload) == 0xFFFF
    for tag_at in range(14, 14 + 4 * len(vlan), 4):
        assert struct.unpack_from("!H", frame, tag_at)[0] >> 13 == traffic_class >> 5
    for key, address in (("src", ip.src), ("dst", ip.dst)):
        if key in given:
            assert ipaddress.ip_address(bytes(address)) == ipaddress.ip_address(given[key])
    return traffic_class >> 2, int.from_bytes(ip.dst[-2:], "big")


def drawn(rng: random.Random) -> dict[str, Any]:
    version = rng.choice((4, 6))
    found: dict[str, Any] = {"ip": version, "ecn": rng.randrange(4), "dscp": rng.randrange(64)}
    found["vlan"] = [rng.randrange(4095) for _ in range(rng.randrange(3) if version == 4 else rng.randrange(2))]
    if rng.random() < 0.5:
        found["sport"], found["dport"] = rng.randrange(65_536), rng.randrange(65_536)
    if rng.random() < 0.5:
        addresses = [rng.getrandbits(32 if version == 4 else 128) for _ in range(2)]
        kind = ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address
        found["src"], found["dst"] = (str(kind(address)) for address in addresses)
    return found
