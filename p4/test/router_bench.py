"""A router with three interfaces and a control port, and what it must do with a frame: written from the RFCs, not from router.p4."""

import ipaddress
from typing import Any

from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

CONTROL = 7
STATIONS = {0: "02:00:00:00:00:00", 1: "02:00:00:00:00:01", 2: "02:00:00:00:00:02"}
MTUS = {0: 1500, 1: 1500, 2: 600}
ROUTES4 = {"10.0.0.0/8": (0, "0.0.0.0"), "10.1.0.0/16": (1, "10.1.0.254"), "10.1.2.0/24": (2, "0.0.0.0"), "10.1.2.3/32": (1, "10.9.9.9")}
LOCAL4 = ["10.0.0.1", "10.1.0.1"]
DISCARD4 = "10.66.0.0/16"
ROUTES6 = {"2001:db8::/32": (0, "::"), "2001:db8:1::/48": (1, "2001:db8:1::fe"), "2001:db8:1:2::/64": (2, "::")}
LOCAL6 = ["2001:db8::1"]
NEIGHBOURS = {
    (0, "10.0.0.9"): "02:aa:00:00:00:09", (1, "10.1.0.254"): "02:aa:00:00:01:fe", (2, "10.1.2.9"): "02:aa:00:00:02:09",
    (0, "2001:db8::9"): "02:bb:00:00:00:09", (1, "2001:db8:1::fe"): "02:bb:00:00:01:fe", (2, "2001:db8:1:2::9"): "02:bb:00:00:02:09",
}  # fmt: skip
QUEUES = {46: 7, 34: 4, 8: 1}  # by DSCP

PUNTS = ["", "local", "link", "expired", "no route", "no neighbour", "too large"]
BADS = ["", "truncated", "version", "header length", "length", "checksum", "address", "port", "mac", "type", "route", "control"]


def tables(aqm: str = "none", data: list[int] | None = None) -> dict[str, Any]:
    """The tables as a scenario would fill them; every queue has the same AQM."""
    entries: list[dict[str, Any]] = []

    def add(table: str, match: list[Any], action: str, *words: Any) -> None:
        entries.append({"table": f"RouterIngress.{table}", "match": match, "action": f"RouterIngress.{action}", "data": list(words)})

    for port, mac in STATIONS.items():
        add("interfaces", [port], "interface_is", mac)
        add("links", [port], "link_is", mac, MTUS[port])
    add("interfaces", [CONTROL], "is_control_port")
    for version, routes, local in ((4, ROUTES4, LOCAL4), (6, ROUTES6, LOCAL6)):
        for prefix, (port, hop) in routes.items():
            add(f"routes{version}", [prefix], f"forward{version}", port, hop)
        for address in local:
            add(f"routes{version}", [f"{address}/{32 if version == 4 else 128}"], "to_router")
    add("routes4", [DISCARD4], "discard")
    for (port, hop), mac in NEIGHBOURS.items():
        add("neighbours6" if ":" in hop else "neighbours4", [port, hop], "neighbour_is", mac)
    for dscp, queue in QUEUES.items():
        add("classes4", [dscp], "queue_is", queue)
        add("classes6", [dscp], "queue_is", queue)
    defaults = [
        {"table": "RouterIngress.control_port", "action": "RouterIngress.control_port_is", "data": [CONTROL, 7]},
        {"table": "RouterIngress.aqm", "action": f"RouterIngress.{aqm}", "data": data or []},
    ]
    return {"entries": entries, "defaults": defaults}


def mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def sum16(data: bytes) -> int:
    """Internet checksum, RFC 1071."""
    total = sum(int.from_bytes(data[i : i + 2].ljust(2, b"\0"), "big") for i in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF ^ total


def longest(routes: dict[str, Any], address: str) -> Any:
    found = [ipaddress.ip_network(prefix) for prefix in routes if ipaddress.ip_address(address) in ipaddress.ip_network(prefix)]
    return routes[str(max(found, key=lambda net: net.prefixlen))] if found else None


def expected(port: int, frame: bytes) -> tuple[str, int, bytes]:
    """Return what must happen: ("bad", reason, b""), ("punt", reason, frame) or ("out", port, frame)."""
    from_control = port == CONTROL
    if not from_control and port not in STATIONS:
        return "bad", BADS.index("port"), b""
    inner, noted = frame, False
    if frame[12:14] == b"\x88\xb5":
        noted = True
        if len(frame) < 18:
            return "bad", BADS.index("truncated"), b""
        inner = frame[18:]
    kind, reason = _judge(port, inner, frame, from_control, noted)
    if kind == "punt":
        note = mac("01:80:c2:00:00:00") + (b"\0" * 6 if from_control else mac(STATIONS[port])) + b"\x88\xb5"
        return "punt", reason, note + bytes([reason, 0]) + port.to_bytes(2, "big") + inner
    if kind == "raw":
        return "out", reason, inner
    if kind == "bad":
        return "bad", reason, b""
    out, hop = reason
    packet = bytearray(inner[14:])
    if not from_control:
        if inner[12:14] == b"\x08\x00":
            packet[8] -= 1
            size = (packet[0] & 15) * 4
            packet[10:12] = b"\0\0"
            packet[10:12] = sum16(bytes(packet[:size])).to_bytes(2, "big")
        else:
            packet[7] -= 1
    return "out", out, mac(NEIGHBOURS[out, hop]) + mac(STATIONS[out]) + inner[12:14] + bytes(packet)


def _judge(port: int, inner: bytes, frame: bytes, from_control: bool, noted: bool) -> tuple[str, Any]:
    def bad(words: str) -> tuple[str, int]:
        return "bad", BADS.index(words)

    def punt(words: str) -> tuple[str, int]:
        return "punt", PUNTS.index(words)

    packet, kind = inner[14:], inner[12:14]
    ip4, ip6 = kind == b"\x08\x00", kind == b"\x86\xdd"
    if len(inner) < 14 or (ip4 and (len(packet) < 20 or len(packet) < max(20, (packet[0] & 15) * 4))) or (ip6 and len(packet) < 40):
        return bad("truncated")
    if from_control != noted:
        return bad("type")
    to = int.from_bytes(frame[16:18], "big")
    if from_control and to != 511:
        return ("raw", to) if to < 511 else bad("port")
    if not from_control and inner[:6] != mac(STATIONS[port]):
        link4, link6 = ip4 and packet[16:19] == b"\xe0\0\0", ip6 and packet[24:26] == b"\xff\x02"
        return punt("link") if inner[0] & 1 and (kind == b"\x08\x06" or link4 or link6) else bad("mac")
    if kind == b"\x08\x06":
        return punt("link")
    if ip4:
        size, length = (packet[0] & 15) * 4, int.from_bytes(packet[2:4], "big")
        if packet[0] >> 4 != 4:
            return bad("version")
        if size < 20:
            return bad("header length")
        if not size <= length <= len(packet):
            return bad("length")
        if sum16(packet[:size]) != 0 or packet[10:12] == b"\xff\xff":
            return bad("checksum")
        source, to4 = (ipaddress.IPv4Address(packet[i : i + 4]) for i in (12, 16))
        if any(one.packed[0] in (0, 127) or one.packed[0] >= 224 for one in (source, to4)):
            return bad("address")
        if str(to4) in LOCAL4:
            return punt("local")
        if to4 in ipaddress.ip_network(DISCARD4):
            return bad("route")
        routes, address, hops = ROUTES4, str(to4), packet[8]
    elif ip6:
        length = int.from_bytes(packet[4:6], "big") + 40
        if packet[0] >> 4 != 6:
            return bad("version")
        if length > len(packet):
            return bad("length")
        source6, to6 = (ipaddress.IPv6Address(packet[i : i + 16]) for i in (8, 24))
        if to6.is_link_local:
            return punt("link")
        if any(int(one) < 2 or one.is_multicast for one in (source6, to6)):
            return bad("address")
        if str(to6) in LOCAL6:
            return punt("local")
        if source6.is_link_local:
            return bad("address")
        routes, address, hops = ROUTES6, str(to6), packet[7]
    else:
        return bad("type")
    route = longest(routes, address)
    if route is None:
        return punt("no route")
    if not from_control and hops <= 1:
        return punt("expired")
    out, hop = route
    hop = address if int(ipaddress.ip_address(hop)) == 0 else hop
    if (out, hop) not in NEIGHBOURS:
        return punt("no neighbour")
    return punt("too large") if length > MTUS[out] else ("out", (out, hop))


def is_right(frame: bytes) -> bool:
    """Whether scapy finds the checksum of a frame's IPv4 header to be what it computes itself."""
    packet = Ether(frame)
    if IP not in packet:
        return True
    stated = packet[IP].chksum
    packet[IP].chksum = None
    return bool(IP(bytes(packet[IP])).chksum == stated)
