"""An independent reader of headers, in the words of the standards: what pst_parse and its model must find in a frame.

Headers are functions that read from a packet (a slice of what is there, and how much of it the length around allows) and name the next one.
"""

import struct
from collections.abc import Callable
from typing import Any

DONE, UNKNOWN, CUT, BEYOND, DEEP, BAD_VERSION, BAD_LENGTH, BAD_PPPOE = range(8)
BY_NIBBLE, ONLY_IP, ETHERNET, CONTROL_WORD = range(4)
TPIDS = {0x8100: 0, 0x88A8: 1, 0x9100: 2}
EXTENSIONS = {0: "hop-by-hop", 43: "routing", 44: "fragment", 51: "authentication", 60: "destination"}


class Ends(Exception):
    """Reading ends here, for a reason."""


class Packet:
    """The rest of a frame: `offset` into it, and where what is read ends (None: behind all that is seen)."""

    def __init__(self, frame: bytes, window: int) -> None:
        self.seen, self.offset, self.window = frame[:window], 0, window
        self.limit = len(frame) if len(frame) <= window else None

    def shorten(self, length: int) -> None:
        if self.limit is None or self.offset + length < self.limit:
            self.limit = self.offset + length

    def peek(self, count: int) -> bytes:
        if self.limit is not None and self.offset + count > self.limit:
            raise Ends(CUT)
        if self.offset + count > self.window:
            raise Ends(BEYOND)
        return self.seen[self.offset : self.offset + count]

    def take(self, count: int) -> bytes:
        found = self.peek(count)
        self.offset += count
        return found


class Reader:
    def __init__(self, frame: bytes, mpls: int, window: int, extensions: int, tunnels: bool) -> None:
        self.packet = Packet(frame, window)
        self.mpls_mode, self.extensions, self.tunnels = mpls, extensions, tunnels
        self.found: dict[str, Any] = {}

    def read(self) -> dict[str, Any]:
        following: Callable[[], Any] | None = self.ethernet
        try:
            while following:
                following = following()
            self.found["ending"] = DONE
        except Ends as end:
            self.found["ending"] = end.args[0]
        return self.found

    def ethernet(self):
        destination, source, kind = struct.unpack("!6s6sH", self.packet.take(14))
        self.found |= {"ethernet": 1, "destination_mac": int.from_bytes(destination, "big"), "source_mac": int.from_bytes(source, "big")}
        self.found["ethertype"] = kind
        return self.typed

    def typed(self):
        kind = self.found["ethertype"]
        if kind in TPIDS:
            return self.vlan
        if kind >= 0x0600:
            return self.session if kind == 0x8864 else self.carried(kind)
        if kind > 1500:
            raise Ends(BAD_LENGTH)
        return self.llc

    def vlan(self):
        tags = self.found.get("tags", 0)
        if tags == 2:
            raise Ends(DEEP)
        control, following = struct.unpack("!HH", self.packet.take(4))
        name = ("outer", "inner")[tags]
        self.found |= {f"{name}_tpid": TPIDS[self.found["ethertype"]], f"{name}_pcp": control // 8192, f"{name}_dei": control // 4096 % 2}
        self.found |= {f"{name}_id": control % 4096, "tags": tags + 1, "ethertype": following}
        return self.typed

    def carried(self, kind: int):
        readers = {0x0800: self.ip4, 0x86DD: self.ip6, 0x8847: self.mpls, 0x8848: self.mpls}
        if kind not in readers:
            raise Ends(UNKNOWN)
        return readers[kind]

    def llc(self):
        self.packet.shorten(self.found["ethertype"])
        llc = self.packet.peek(8)
        if llc[:6] not in (bytes.fromhex("aaaa03000000"), bytes.fromhex("aaaa030000f8")):
            raise Ends(UNKNOWN)
        self.packet.take(8)
        self.found |= {"snap": 1, "ethertype": int.from_bytes(llc[6:], "big")}
        return self.carried(self.found["ethertype"])

    def session(self):
        version_type, code, session, length = struct.unpack("!BBHH", self.packet.take(6))
        if version_type != 0x11 or code != 0:
            raise Ends(BAD_PPPOE)
        self.found |= {"pppoe": 1, "session": session}
        self.packet.shorten(length)
        self.found["ppp"] = protocol = int.from_bytes(self.packet.take(2), "big")
        kinds = {0x21: 0x0800, 0x57: 0x86DD, 0x281: 0x8847, 0x283: 0x8848}
        return self.carried(kinds.get(protocol, 0xFFFF))

    def mpls(self):
        for number in range(4):
            (entry,) = struct.unpack("!I", self.packet.take(4))
            values = {"label": entry >> 12, "traffic_class": entry >> 9 & 7, "bottom": entry >> 8 & 1, "ttl": entry & 255}
            self.found |= {f"{name}{number}": value for name, value in values.items()} | {"labels": number + 1}
            if values["bottom"]:
                return self.below_labels
        raise Ends(DEEP)

    def below_labels(self):
        nibble = self.packet.peek(1)[0] // 16
        if self.mpls_mode == ETHERNET:
            return self.inner
        if nibble in (4, 6) and self.mpls_mode != CONTROL_WORD:
            return self.ip4 if nibble == 4 else self.ip6
        if nibble or self.mpls_mode == ONLY_IP:
            raise Ends(UNKNOWN)
        self.packet.take(4)
        self.found["control_word"] = 1
        return self.inner

    def inner(self):
        destination, source, kind = struct.unpack("!6s6sH", self.packet.take(14))
        self.found |= {"inner_ethernet": 1, "inner_destination_mac": int.from_bytes(destination, "big")}
        self.found |= {"inner_source_mac": int.from_bytes(source, "big"), "inner_ethertype": kind}
        if kind not in (0x0800, 0x86DD):
            raise Ends(UNKNOWN)
        return self.carried(kind)

    def ip4(self):
        head = struct.unpack("!BBHHHBBHII", self.packet.peek(20))
        version, words, total = head[0] // 16, head[0] % 16, head[2]
        if version != 4:
            raise Ends(BAD_VERSION)
        if words < 5 or total < 4 * words:
            raise Ends(BAD_LENGTH)
        self.found |= {"ip": 4, "dscp": head[1] // 4, "ecn": head[1] % 4, "protocol": head[6], "network_at": self.packet.offset}
        self.found |= {"source_low": head[8], "destination_low": head[9]}
        offset, more = head[4] % 8192, head[4] // 8192 % 2
        self.found["fragment"] = 2 if offset else more
        self.packet.shorten(total)
        self.packet.take(4 * words)
        return None if offset else self.upper

    def ip6(self):
        first, length, following, _, source, destination = struct.unpack("!IHBB16s16s", self.packet.peek(40))
        if first >> 28 != 6:
            raise Ends(BAD_VERSION)
        traffic_class = first >> 20 & 255
        self.found |= {"ip": 6, "dscp": traffic_class // 4, "ecn": traffic_class % 4, "protocol": following}
        self.found["network_at"] = self.packet.offset
        for name, address in (("source", source), ("destination", destination)):
            self.found[f"{name}_high"], self.found[f"{name}_low"] = struct.unpack("!QQ", address)
        self.packet.take(40)
        self.packet.shorten(length)
        return self.upper if following not in EXTENSIONS else self.extension

    def extension(self):
        if not self.extensions:
            raise Ends(DEEP)
        self.extensions -= 1
        kind = EXTENSIONS[self.found["protocol"]]
        following, length, rest = struct.unpack("!BBH4x", self.packet.peek(8))
        if kind == "authentication" and not length:
            raise Ends(BAD_LENGTH)
        self.packet.take({"fragment": 8, "authentication": 8 + 4 * length}.get(kind, 8 + 8 * length))
        self.found["protocol"] = following
        if kind == "fragment":
            self.found["fragment"] = 2 if rest >= 8 else max(rest & 1, self.found.get("fragment", 0))
            if rest >= 8:
                return None
        return self.upper if following not in EXTENSIONS else self.extension

    def upper(self):
        version, protocol = self.found["ip"], self.found["protocol"]
        if (version, protocol) == (6, 59):
            return None
        transports = {(4, 1): (4, 8), (6, 58): (4, 8), (4, 6): (1, 20), (6, 6): (1, 20), (4, 17): (2, 8), (6, 17): (2, 8)}
        transports |= {(4, 132): (3, 12), (6, 132): (3, 12), (4, 50): (5, 8), (6, 50): (5, 8)}
        if protocol == 115 and self.tunnels:
            at = self.packet.offset
            self.found |= {"tunnel": 3, "tunnel_id": int.from_bytes(self.packet.take(4), "big"), "transport_at": at}
            return None
        if (version, protocol) not in transports:
            raise Ends(UNKNOWN)
        transport, size = transports[version, protocol]
        head = self.packet.peek(size)
        if transport == 1 and head[12] < 0x50:
            raise Ends(BAD_LENGTH)
        if transport == 2 and int.from_bytes(head[4:6], "big") < 8:
            raise Ends(BAD_LENGTH)
        self.found |= {"transport": transport, "transport_word": int.from_bytes(head[:4], "big"), "transport_at": self.packet.offset}
        if transport != 2 or not self.tunnels:
            return None
        self.packet.shorten(int.from_bytes(head[4:6], "big"))
        self.packet.take(8)
        return {2152: self.gtpu, 1701: self.l2tp}.get(int.from_bytes(head[2:4], "big"))

    def gtpu(self):
        flags, _, _, tunnel = struct.unpack("!BBHI", self.packet.take(8))
        if flags >> 5 != 1 or not flags & 16:
            raise Ends(BAD_VERSION)
        self.found |= {"tunnel": 1, "tunnel_id": tunnel}

    def l2tp(self):
        (flags,) = struct.unpack("!H", self.packet.peek(2))
        if flags & 15 not in (2, 3):
            raise Ends(BAD_VERSION)
        with_length = flags & 0x4000 or flags & 15 == 3
        head = self.packet.take(8 if with_length else 6)
        self.found |= {"tunnel": flags & 15, "tunnel_control": flags >> 15, "tunnel_id": int.from_bytes(head[-4:], "big")}


def read(frame: bytes, mpls: int = 0, window_bytes: int = 128, extension_headers: int = 4, tunnels: bool = True) -> dict[str, Any]:
    """Return the fields that are not 0, by their names in pst_parse_pkg."""
    found = Reader(frame, mpls, window_bytes, extension_headers, tunnels).read()
    return {name: value for name, value in found.items() if value}
