"""Random frames from a grammar, built by Scapy: valid, odd, malformed and cut; and what was put into the valid ones."""

import random
from typing import Any

from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting
from scapy.layers.ipsec import AH, ESP
from scapy.layers.l2 import ARP, LLC, SNAP, Ether
from scapy.layers.ppp import PPP, PPPoE
from scapy.layers.sctp import SCTP
from scapy.packet import Packet, Raw

TPIDS = (0x8100, 0x88A8, 0x9100)
IP_TYPES = {4: 0x0800, 6: 0x86DD}


def number(address: bytes) -> int:
    return int.from_bytes(address, "big")


def _transport(rng: random.Random, version: int) -> tuple[int, Packet, dict[str, Any]]:
    sport, dport = rng.choice((rng.randrange(1700), 53, 65535)), rng.choice((rng.randrange(1700), 80, 443))
    ports = {"transport_word": sport << 16 | dport}
    kind = rng.choice(("tcp", "udp", "sctp", "icmp", "esp", "gtpu", "l2tp2", "l2tp3", "l2tp-ip", "other"))
    rest = Raw(rng.randbytes(rng.randrange(40)))
    if kind == "tcp":
        return 6, TCP(sport=sport, dport=dport, options=rng.choice(([], [("MSS", 1460)]))) / rest, {"transport": 1, **ports}
    if kind == "sctp":
        return 132, SCTP(sport=sport, dport=dport) / rest, {"transport": 3, **ports}
    if kind == "icmp":
        head = bytes([rng.randrange(256), rng.randrange(256), *rng.randbytes(2)])
        return (1 if version == 4 else 58), Raw(head + rng.randbytes(4)) / rest, {"transport": 4, "transport_word": number(head)}
    if kind == "esp":
        spi = rng.getrandbits(32)
        return 50, ESP(spi=spi, seq=1, data=rng.randbytes(12)), {"transport": 5, "transport_word": spi}
    if kind == "l2tp-ip":
        session = rng.getrandbits(32)
        return 115, Raw(session.to_bytes(4, "big")) / rest, {"tunnel": 3, "tunnel_id": session}
    if kind == "other":
        return rng.choice((2, 47, 89, 103, 112, 255)), rest, {"ending": 1}
    tunnel = rng.getrandbits(32)
    found: dict[str, Any] = {"transport": 2, **ports}
    inside = rest
    if kind == "gtpu":
        dport = 2152
        found |= {"tunnel": 1, "tunnel_id": tunnel}
        inside = Raw(bytes([0x30 | rng.randrange(8), 255, 0, 8]) + tunnel.to_bytes(4, "big")) / rest
    if kind == "l2tp2":
        dport = 1701
        control, length = rng.getrandbits(1), rng.getrandbits(1)
        found |= {"tunnel": 2, "tunnel_id": tunnel, "tunnel_control": control}
        flags = control << 15 | length << 14 | 2
        inside = Raw(flags.to_bytes(2, "big") + length * b"\0\x20" + tunnel.to_bytes(4, "big")) / rest
    if kind == "l2tp3":
        dport = 1701
        control = rng.getrandbits(1)
        found |= {"tunnel": 3, "tunnel_id": tunnel, "tunnel_control": control}
        inside = Raw((control << 15 | 3).to_bytes(2, "big") + b"\0\0" + tunnel.to_bytes(4, "big")) / rest
    found["transport_word"] = sport << 16 | dport
    return 17, UDP(sport=sport, dport=dport) / inside, found


def _ip(rng: random.Random) -> tuple[Packet, dict[str, Any]]:
    version = rng.choice((4, 6))
    protocol, above, found = _transport(rng, version)
    dscp, ecn = rng.randrange(64), rng.randrange(4)
    fragment = rng.choice((0, 0, 0, 0, 1, 2))
    if fragment == 2:
        found = {}
    found |= {"ip": version, "dscp": dscp, "ecn": ecn, "protocol": protocol, "fragment": fragment}
    offset = rng.randrange(1, 8192) if fragment == 2 else 0
    if version == 4:
        source, destination = rng.randbytes(4), rng.randbytes(4)
        options = rng.choice(([], [], [b"\x01" * 4 * rng.randrange(1, 11)]))
        flags = "MF" if fragment == 1 else rng.choice((0, "DF"))
        packet = IP(src=".".join(map(str, source)), dst=".".join(map(str, destination)), tos=dscp << 2 | ecn, options=options, flags=flags)
        packet.frag, packet.proto = offset, protocol
        return packet / above, found | {"source_low": number(source), "destination_low": number(destination)}
    source, destination = rng.randbytes(16), rng.randbytes(16)
    for name, address in (("source", source), ("destination", destination)):
        found |= {f"{name}_high": number(address[:8]), f"{name}_low": number(address[8:])}
    packet = IPv6(src=_text(source), dst=_text(destination), tc=dscp << 2 | ecn, fl=rng.getrandbits(20))
    for chance, header in ((0.2, IPv6ExtHdrHopByHop()), (0.1, IPv6ExtHdrRouting()), (0.2, IPv6ExtHdrDestOpt())):
        packet = packet / header if rng.random() < chance else packet
    if fragment:
        packet /= IPv6ExtHdrFragment(offset=offset, m=int(fragment == 1), nh=protocol)
    elif rng.random() < 0.1:
        packet /= AH(nh=protocol, spi=1, seq=1, payloadlen=4, icv=bytes(12))
    packet.lastlayer().nh = protocol
    return packet / above, found


def _text(address: bytes) -> str:
    return ":".join(address[i : i + 2].hex() for i in range(0, 16, 2))


def valid(rng: random.Random) -> tuple[bytes, int, dict[str, Any]]:
    """Return a frame, the setting for what is below labels, and the fields that were put in, where `ending` is not 0 the reason, too."""
    destination, source = rng.randbytes(6), rng.randbytes(6)
    found: dict[str, Any] = {"ethernet": 1, "destination_mac": number(destination), "source_mac": number(source)}
    kind = rng.choice(("ip", "ip", "pppoe", "pppoe", "mpls", "mpls", "snap", "arp", "type", "llc", "ppp-other"))
    ip, of_ip = _ip(rng)
    tags: list[tuple[int, int, int, int]] = []
    for name in ("outer", "inner")[: rng.choice((0, 0, 1, 2, 2))]:
        tag = (rng.choice(TPIDS), rng.randrange(8), rng.getrandbits(1), rng.randrange(4096))
        found |= {f"{name}_tpid": TPIDS.index(tag[0]), f"{name}_pcp": tag[1], f"{name}_dei": tag[2], f"{name}_id": tag[3]}
        tags.append(tag)
    found["tags"] = len(tags)
    mode, body = 0, ip
    ethertype = IP_TYPES[of_ip["ip"]]
    if kind in ("pppoe", "ppp-other"):
        session = rng.randrange(65536)
        ppp = {4: 0x0021, 6: 0x0057}[of_ip["ip"]] if kind == "pppoe" else rng.choice((0xC021, 0x8021, 0x00FD))
        found |= {"pppoe": 1, "session": session, "ppp": ppp}
        ethertype, body = 0x8864, PPPoE(sessionid=session) / PPP(proto=ppp) / (ip if kind == "pppoe" else Raw(rng.randbytes(20)))
        if kind == "ppp-other":
            of_ip = {"ending": 1}
    if kind == "mpls":
        ethertype, mode = rng.choice((0x8847, 0x8848)), rng.randrange(4)
        inner, word = mode >= 2 or (mode == 0 and rng.getrandbits(1)), mode in (0, 3)
        stack: Packet | None = None
        count = rng.randrange(1, 5)
        for i in range(count):
            label = (rng.getrandbits(20), rng.randrange(8), int(i == count - 1), rng.randrange(256))
            found |= {f"label{i}": label[0], f"traffic_class{i}": label[1], f"bottom{i}": label[2], f"ttl{i}": label[3]}
            entry = MPLS(label=label[0], cos=label[1], s=label[2], ttl=label[3])
            stack = entry if stack is None else stack / entry
        found["labels"] = count
        if inner:
            macs = rng.randbytes(6), rng.randbytes(6)
            found |= {"inner_ethernet": 1, "inner_destination_mac": number(macs[0]), "inner_source_mac": number(macs[1])}
            found |= {"inner_ethertype": IP_TYPES[of_ip["ip"]], "control_word": int(word)}
            body = Ether(dst=macs[0].hex(":"), src=macs[1].hex(":"), type=IP_TYPES[of_ip["ip"]]) / ip
            body = Raw(bytes([rng.randrange(16), *rng.randbytes(3)])) / body if word else body
        body = stack / Raw(bytes(body))
    if kind == "snap":
        body = LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=rng.choice((0, 0xF8)), code=ethertype) / ip
        found |= {"snap": 1}
    if kind in ("arp", "type", "llc"):
        of_ip = {"ending": 1}
        ethertype = {"arp": 0x0806, "type": rng.choice((0x86DC, 0x8863, 0x88CC, 0x0600, 0xFFFF)), "llc": 0}[kind]
        body = {"arp": ARP(), "type": Raw(rng.randbytes(30)), "llc": LLC(dsap=0x42, ssap=0x42, ctrl=3) / Raw(bytes(35))}[kind]
    data = bytes(body)
    head = destination + source
    for tpid, pcp, dei, vlan in tags:
        head += tpid.to_bytes(2, "big") + (pcp << 13 | dei << 12 | vlan).to_bytes(2, "big")
    found["ethertype"] = ethertype if kind != "llc" else len(data)
    frame = head + (len(data) if kind in ("snap", "llc") else ethertype).to_bytes(2, "big") + data
    return frame.ljust(60, b"\0"), mode, found | of_ip


def odd(rng: random.Random) -> tuple[bytes, int]:
    """Return a frame that is valid, too deep, damaged in its headers, or cut anywhere, and a setting for what is below labels."""
    frame, mode, _ = valid(rng)
    if rng.random() < 0.3:
        mode = rng.randrange(4)
    kind = rng.choice(("as it is", "cut", "cut", "bits", "bytes", "tags", "labels", "extensions", "header", "lengths"))
    if kind == "tags":
        tag = b"".join(rng.choice(TPIDS).to_bytes(2, "big") + rng.randbytes(2) for _ in range(rng.randrange(1, 4)))
        frame = frame[:12] + tag + frame[12:]
    if kind == "labels":
        labels = b"".join(rng.randbytes(2) + bytes([rng.randrange(128) * 2, 64]) for _ in range(rng.randrange(3, 6)))
        frame = frame[:12] + b"\x88\x47" + labels + rng.randbytes(2) + bytes([rng.randrange(256), 3]) + frame[12:]
    if kind == "extensions":
        chain, following = b"", rng.choice((6, 17, 59, 58, 135))
        for _ in range(rng.randrange(1, 7)):
            header = rng.choice((0, 43, 44, 51, 60))
            length = rng.choice((0, 0, 0, 1, 1, 2, 255))
            head = bytes([following, length]) + rng.choice((b"\0\0", b"\0\1", b"\0\0", rng.randbytes(2)))
            size = {44: 8, 51: 8 + 4 * length}.get(header, 8 + 8 * length)
            chain = (head + rng.randbytes(max(size - 4, 4)))[: max(size, 8)] + chain
            following = header
        payload = chain + rng.randbytes(20) + b"\x50" + rng.randbytes(20)
        length = rng.choice((len(payload), len(payload), rng.randrange(len(payload))))
        ip6 = b"\x60\0\0\0" + length.to_bytes(2, "big") + bytes([following, 64]) + rng.randbytes(32) + payload
        frame = frame[:12] + b"\x86\xdd" + ip6
    if kind in ("bits", "bytes", "header", "lengths"):
        data = bytearray(frame)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(min(len(data), 14 if kind == "header" else 100))
            value = 1 << rng.randrange(8) ^ data[at] if kind == "bits" else rng.choice((0, 1, 255, rng.randrange(256)))
            data[at] = value
        frame = bytes(data)
    if kind == "lengths":  # a length field of an inner header is often two equal bytes of small numbers
        data = bytearray(frame)
        at = rng.choice((12, 16, 18, 20, 24, 38, 46)) % max(len(data) - 1, 1)
        data[at : at + 2] = rng.choice((rng.randrange(70), rng.randrange(65536), 1500, 1501, 1535, 1536)).to_bytes(2, "big")
        frame = bytes(data)
    at = 12
    while int.from_bytes(frame[at : at + 2], "big") in TPIDS:
        at += 4
    length = int.from_bytes(frame[at : at + 2], "big")
    if len(frame) > at + 2 and length <= 1500 and rng.random() < 0.5:  # an 802.3 length that ends within the headers
        frame = frame[:at] + rng.randrange(length + 1).to_bytes(2, "big") + frame[at + 2 :]
    if kind == "cut" or rng.random() < 0.1:
        frame = frame[: rng.randrange(1, len(frame) + 1)]
    if rng.random() < 0.2:
        frame += rng.randbytes(rng.randrange(100))
    return frame, mode
