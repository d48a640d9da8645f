"""Searching subscribers by their matches: by VLAN, session, label and address."""

import ipaddress
import re
from collections.abc import Callable

from penstock.designs.access_edge.control.problems import invalid
from penstock.designs.access_edge.matches import ROUTED, Match, match_of_key

WORDS = 'must be "vlan 100", "vlan 100, 7", "pppoe 9", "mpls 700", a MAC or IP address, a network, or a number of VLAN, session or label'
_NUMBERED = re.compile(r"(vlan|pppoe|session|mpls|label)[ =]+(\d{1,8})(?:[ ,./]+(\d{1,8}))?", re.IGNORECASE)
_MAC = re.compile(r"[0-9a-f]{2}([:-][0-9a-f]{2}){5}", re.IGNORECASE)
_KINDS = {"pppoe": "pppoe", "session": "pppoe", "mpls": "mpls", "label": "mpls"}
_TAGS = ("two_tags", "outer_tag")
Test = Callable[[Match], bool]


def searched(text: str) -> Callable[[int], bool] | None:
    """Return what tells of a key whether it is one that is searched for; None: all are. Raises Problem."""
    if not text:
        return None
    test = understood(text)
    if test is None:
        raise invalid(f"{WORDS}, not {text[:60]!r}", "match")
    return lambda key: test(match_of_key(key))


def understood(text: str) -> Test | None:
    """Return what tells of a match whether it is one that is searched for; None: the text says nothing of a match."""
    text = text.strip()
    if found := _NUMBERED.fullmatch(text):
        what, first, second = found[1].lower(), int(found[2]), int(found[3]) if found[3] else None
        if what == "vlan":
            return lambda match: _has_tags(match, first, second)
        return None if second is not None else lambda match: match.kind == _KINDS[what] and match.values[0] == first
    if text.isascii() and text.isdigit() and len(text) < 9:
        number = int(text)
        return lambda match: _has_tags(match, number, None) or _has_inner(match, number) or _numbered(match, number)
    if _MAC.fullmatch(text):
        mac = int(text.replace("-", ":").replace(":", ""), 16)
        return lambda match: match.kind in ("mac", "pppoe") and match.values[-1] == mac
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    if network.version == 4:
        low, high = int(network.network_address), int(network.broadcast_address)
        return lambda match: match.kind == "ipv4" and low <= match.values[0] <= high or _meets(match, 4, 32, low, high)
    low, high = int(network.network_address) >> 64, int(network.broadcast_address) >> 64
    return lambda match: match.kind == "ipv6" and low <= match.values[0] <= high or _meets(match, 6, 64, low, high)


def _meets(match: Match, version: int, bits: int, low: int, high: int) -> bool:
    """Return whether a match is a prefix that has an address from `low` to `high`, of which `bits` count."""
    if match.kind != ROUTED or match.values[0] != version:
        return False
    _, first, length = match.values
    return first <= high and low <= first + (1 << bits - length) - 1


def _has_tags(match: Match, outer: int, inner: int | None) -> bool:
    return match.kind in _TAGS and match.values[0] == outer and (inner is None or match.values[1:] == (inner,))


def _has_inner(match: Match, inner: int) -> bool:
    return match.kind == "two_tags" and match.values[1] == inner


def _numbered(match: Match, number: int) -> bool:
    return match.kind in ("pppoe", "mpls") and match.values[0] == number
