"""Matches: what the frames of a subscriber have in their headers, and the keys and profiles of the hardware that they become."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network

import numpy as np
from pydantic import ValidationError

from penstock.basics.units import describe
from penstock.basics.where import KeyPath, first_error, path_text
from penstock.designs.access_edge import find
from penstock.designs.access_edge.scenario import HeaderSettings, SubscriberMatch
from penstock.errors import UserError

KINDS = ("pppoe", "two_tags", "outer_tag", "mpls", "ipv4", "ipv6", "mac")  # the order of their profiles
ROUTED = "prefix"  # a further kind, behind all others: the longest prefix of an address
USED = 0.92  # of the places for keys
SPACES = {kind: space for space, kind in enumerate(KINDS)}  # of their keys
_PREFIXES = 15  # where a number stands for a prefix; no key has this space


@dataclass(frozen=True)
class Match:
    """What one subscriber's frames have."""

    kind: str
    values: tuple[int, ...]

    @property
    def fields(self) -> int:
        """The fields of the key, as the hardware has them; of a prefix, what no other prefix has."""
        if self.kind == ROUTED:
            key, bits = find.prefix(self.network)
            return _PREFIXES << 76 | bits << 66 | key
        if self.kind == "two_tags":
            return self.values[0] << 12 | self.values[1]
        return self.values[0] << 48 | self.values[1] if self.kind == "pppoe" else self.values[0]

    @property
    def network(self) -> IPv4Network | IPv6Network:
        """The addresses of a prefix."""
        version, address, length = self.values
        return IPv4Network((address, length)) if version == 4 else IPv6Network((address << 64, length))

    @property
    def routed(self) -> "Match":
        """The same as a prefix, if it is about an address."""
        length = {"ipv4": 32, "ipv6": 64}.get(self.kind)
        return Match(ROUTED, (int(self.kind[-1]), self.values[0], length)) if length else self

    @property
    def shown(self) -> str:
        """It as a scenario says it."""
        if self.kind == ROUTED:
            return f"ipv{self.values[0]} {self.network}"
        if self.kind in ("two_tags", "outer_tag"):
            return f"vlan {', '.join(map(str, self.values))}"
        if self.kind == "pppoe":
            return f"pppoe {self.values[0]} of {_mac(self.values[1])}"
        texts: dict[str, Callable[[int], str]] = {"mac": _mac, "ipv4": _ipv4, "ipv6": _ipv6, "mpls": str}
        return f"{self.kind} {texts[self.kind](self.values[0])}"


def key_of(match: Match) -> int:
    """Return the key of a match; of a prefix, a number that is no key."""
    return match.fields if match.kind == ROUTED else find.key(SPACES[match.kind], match.fields)


class BadMatch(ValueError):
    """What is no match: where, below the match, and a sentence without its subject."""

    def __init__(self, key: KeyPath, words: str) -> None:
        super().__init__(words)
        self.key = key


def read_match(given: object, prefixes: bool = False) -> Match:
    """Return the match of one subscriber from plain values, `{"vlan": [100, 7]}`; `prefixes`: all addresses are prefixes. Raises
    BadMatch."""
    if not isinstance(given, Mapping):
        raise BadMatch((), f"must be keys with values such as {{'vlan': [100, 7]}}, not {describe(given)}")
    data = dict(given)
    try:
        (found,) = matches(SubscriberMatch.model_validate(data), 1)
    except ValidationError as error:
        raise BadMatch(*first_error(error, data)) from None
    except ValueError as error:
        raise BadMatch((), str(error)) from None
    if prefixes:
        return found.routed
    if found.kind == ROUTED:
        what = "an IPv4 address" if found.values[0] == 4 else "an IPv6 prefix of 64 bits"
        words = f"must be {what}, not {found.network}; other prefixes need a device with a tree of them and no address that is a key"
        raise BadMatch((f"ipv{found.values[0]}",), words)
    return found


def match_of(given: object, key: KeyPath, prefixes: bool = False) -> Match:
    """Return the match of one subscriber from plain values, as `read_match`. Raises UserError that begins with the path."""
    try:
        return read_match(given, prefixes)
    except BadMatch as bad:
        raise UserError(f"{path_text((*key, *bad.key))}: {bad}") from None


def is_prefix(key: int) -> bool:
    """Return whether what `key_of` gave stands for a prefix."""
    return key >> 76 == _PREFIXES


def kind_of(key: int) -> str:
    """Return the kind of the match that has become a key."""
    return ROUTED if is_prefix(key) else KINDS[key >> 76]


def match_of_key(key: int) -> Match:
    """Return the match that has become a key."""
    kind, fields = kind_of(key), key & (1 << 64) - 1
    if kind == ROUTED:
        six, length = key >> 64 & 1, (key >> 66 & 127) - 1
        return Match(kind, (6, fields, length) if six else (4, fields >> 32, length))
    if kind == "two_tags":
        return Match(kind, (fields >> 12, fields & 0xFFF))
    return Match(kind, (fields >> 48, fields & (1 << 48) - 1) if kind == "pppoe" else (fields,))


def _mac(value: int) -> str:
    return ":".join(f"{value:012x}"[i : i + 2] for i in range(0, 12, 2))


def _ipv4(value: int) -> str:
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _ipv6(value: int) -> str:
    return f"{':'.join(f'{value >> shift & 0xFFFF:x}' for shift in (48, 32, 16, 0))}::/64"


def matches(given: SubscriberMatch, count: int) -> Iterator[Match]:
    """Return the matches of so many subscribers: values of ranges one after the other, the last range first; a first value that counts up.

    Raises ValueError, a sentence without its subject, when there are fewer or more.
    """
    if given.vlan is not None:
        kind = ("outer_tag", "two_tags")[len(given.vlan) - 1]
        yield from (Match(kind, values) for values in _combined(given.vlan, count, "vlan"))
    elif given.pppoe is not None and given.mac is not None:
        first = int.from_bytes(given.mac, "big")
        sessions = _combined((given.pppoe,), count, "pppoe")
        yield from (Match("pppoe", (session, first + i & (1 << 48) - 1)) for i, (session,) in enumerate(sessions))
    elif given.mpls is not None:
        yield from (Match("mpls", values) for values in _combined((given.mpls,), count, "mpls"))
    elif given.mac is not None:
        first = int.from_bytes(given.mac, "big")
        yield from (Match("mac", (first + i & (1 << 48) - 1,)) for i in range(count))
    elif isinstance(given.ipv4, IPv4Network):
        yield from _in_a_row(4, int(given.ipv4.network_address), given.ipv4.prefixlen, count, 32)
    elif given.ipv4 is not None:
        yield from (Match("ipv4", (int(given.ipv4) + i & 0xFFFF_FFFF,)) for i in range(count))
    elif given.ipv6 is not None:
        yield from _in_a_row(6, int(given.ipv6.network_address) >> 64, given.ipv6.prefixlen, count, 64)


def _in_a_row(version: int, first: int, length: int, count: int, bits: int) -> Iterator[Match]:
    """Return prefixes one behind the other; `bits` of an address count."""
    step, end = 1 << bits - length, 1 << bits
    if first + count * step > end:
        most = (end - first) // step
        raise ValueError(f"has an `ipv{version}` of which there are {most:,} up to the last address, for {count:,} subscribers")
    for i in range(count):
        at = first + i * step
        yield Match("ipv6", (at,)) if (version, length) == (6, 64) else Match(ROUTED, (version, at, length))


def _combined(ranges: tuple[tuple[int, int], ...], count: int, key: str) -> Iterator[tuple[int, ...]]:
    sizes = [high - low + 1 for low, high in ranges]
    total = int(np.prod(sizes, dtype=np.int64))
    if total != count:
        raise ValueError(f"has a `{key}` of {total:,} value{'s' if total > 1 else ''} for {count:,} subscriber{'s' if count > 1 else ''}")
    for number in range(count):
        values = []
        for (low, _), size in zip(reversed(ranges), reversed(sizes), strict=True):
            values.append(low + number % size)
            number //= size
        yield tuple(reversed(values))


@dataclass
class Profile:
    """A profile, in the numbers of the hardware."""

    kind: int
    space: int
    class_of: int
    classes: list[int] = field(default_factory=list)


def profile_kinds(given: Sequence[str], used: Iterable[str], most: int, whose: str) -> list[str]:
    """Return the kinds of matches that get a profile, in their order: those given, or those used. Raises ValueError, a sentence without its
    subject, where a kind that is used has none, or `whose` device has no more than `most`."""
    there = set(used)
    kinds = list(given) or [kind for kind in KINDS if kind in there]
    if ROUTED in there:
        if found := next((kind for kind in ("ipv4", "ipv6") if kind in kinds), None):
            if given:
                raise ValueError(f"has {found}, but subscribers have prefixes, by which all addresses are found; leave it out")
            raise ValueError(f"have prefixes, by which all addresses are found, so nobody comes with an {found} match of its own")
        kinds.append(ROUTED)
    missing = next((kind for kind in KINDS if kind in there and kind not in kinds), None)
    if missing is not None:
        raise ValueError(f"has {', '.join(kinds)}, and not {missing}, which a subscriber's match is of")
    address = next((kind for kind in ("ipv4", "ipv6", ROUTED) if kind in kinds), None)
    if "mac" in kinds and address and not given:
        raise ValueError(
            f"have matches by {address} and by mac: frames with an IP header are looked for by address, so the latter are not found"
        )
    if len(kinds) > most:
        raise ValueError(f"have matches of {len(kinds)} kinds ({', '.join(kinds)}), but {whose} has {most} profiles")
    return kinds


def class_of(classes: Sequence[Sequence[tuple[int, int]]], value: int) -> int:
    """Return the class of a value; `classes`: ranges of values of each. What none has is of the last one."""
    listed = (number for number, ranges in enumerate(classes) if any(low <= value <= high for low, high in ranges))
    return next(listed, max(len(classes) - 1, 0))


def profiles_of(settings: HeaderSettings, kinds: Iterable[str]) -> list[Profile]:
    """Return the profiles of these kinds of matches."""
    to = settings.direction == "to"
    names = {
        "pppoe": "session_destination" if to else "session_source",
        "two_tags": "two_tags",
        "outer_tag": "outer_tag",
        "mpls": "top_label",
        "ipv4": "ipv4_destination" if to else "ipv4_source",
        "ipv6": "ipv6_destination" if to else "ipv6_source",
        "mac": "mac_destination" if to else "mac_source",
        ROUTED: "routed_destination" if to else "routed_source",
    }
    by = {"none": "none", "dscp": "dscp", "pcp": "outer_pcp", "mpls": "traffic_class", "ecn": "ecn"}[settings.class_of]
    classes = [class_of(settings.classes, value) for value in range(64)]
    return [Profile(find.KINDS[names[kind]], SPACES.get(kind, 0), find.CLASS_OF[by], classes) for kind in kinds]


def profile_writes(settings: HeaderSettings, before: Sequence[str], after: Sequence[str], miss: int | None) -> Iterator[find.Write]:
    """Return the register writes that have profiles of the kinds `after` where those of `before` are. A kind that is in both, in the same
    order, is looked for in every cycle meanwhile: it is at two places for a moment."""
    profiles = profiles_of(settings, after)
    for index in range(len(before), len(after)):
        yield from find.classes(index, profiles[index].classes)
        yield from find.miss(index, miss)
    order = range(len(after))
    for index in reversed(order) if len(after) > len(before) else order:
        if index >= len(before) or before[index] != after[index]:
            one = profiles[index]
            yield from find.profile(index, one.kind, one.space, one.class_of)
    for index in range(len(after), len(before)):
        yield from find.profile(index, 0, 0)
