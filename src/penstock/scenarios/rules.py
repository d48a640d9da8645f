"""Rules of a scenario from the header fields of frames to numbers."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from penstock.scenarios.frame_fields import Fields, fields_of

if TYPE_CHECKING:
    from penstock.scenarios.common import Match
    from penstock.scenarios.pcap import Frames

_IPV4_WITHOUT_OPTIONS = b"\x08\x00\x45"  # EtherType, version and length of the header


def match_frames(frames: "Frames", rules: Sequence["Match"]) -> NDArray[np.int64]:
    """Return for each frame the index of the first rule that matches it, or -1."""
    decide = decider(rules)
    return np.fromiter((decide(frames.frame(index)) for index in range(len(frames))), dtype=np.int64, count=len(frames))


def decider(rules: Sequence["Match"]) -> Callable[[bytes], int]:
    """Return a function from a frame to the first rule that matches it, or -1; it remembers flows, as a long capture has few of them."""
    plain: dict[bytes, int] = {}
    others: dict[Fields, int] = {}

    def by_fields(fields: Fields) -> int:
        if fields not in others:
            others[fields] = next((index for index, rule in enumerate(rules) if matches(rule, fields)), -1)
        return others[fields]

    def decide(frame: bytes) -> int:
        # A first fragment of plain IPv4 that shows its ports: its fields are functions of these bytes, and no others.
        cut = frame[12:15] != _IPV4_WITHOUT_OPTIONS or len(frame) < 38
        if cut or frame[20] & 31 or frame[21] or (frame[16] == 0 and frame[17] < 24):
            return by_fields(fields_of(frame))
        key = frame[:12] + frame[15:16] + frame[23:24] + frame[26:38]
        if key not in plain:
            plain[key] = by_fields(fields_of(frame))
        return plain[key]

    return decide


def matches(rule: "Match", fields: Fields) -> bool:
    """Return whether a rule matches a frame; what a frame does not show matches only where the rule does not ask."""
    for asked, found in (
        (rule.proto, fields.protocol),
        (rule.dscp, fields.dscp),
        (rule.mpls, fields.mpls),
        (rule.pppoe, fields.pppoe),
        (rule.src_mac, fields.source_mac),
        (rule.dst_mac, fields.destination_mac),
    ):
        if asked is not None and asked != found:
            return False
    if rule.vlan is not None and fields.vlans[: len(rule.vlan)] != rule.vlan:
        return False
    for network, address in ((rule.src, fields.source), (rule.dst, fields.destination)):
        if network is not None and not (network.version == fields.version and _within(network, address or b"")):
            return False
    for ports, port in ((rule.sport, fields.source_port), (rule.dport, fields.destination_port)):
        if ports is not None and (port is None or not ports[0] <= port <= ports[1]):
            return False
    return True


def _within(network: Any, address: bytes) -> bool:
    """Return whether the bytes of an address that are there put it into a network."""
    lacking = network.max_prefixlen // 8 - len(address)
    known = int.from_bytes(address, "big") << 8 * lacking
    return network.prefixlen <= 8 * len(address) and known & int(network.netmask) == int(network.network_address)
