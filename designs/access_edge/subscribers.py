"""Subscribers of a scenario that the hardware finds in the headers of frames: their keys, their register writes, and frames of theirs.

A subscriber of a scenario has one match, of one kind; each kind that is used gets a profile of the hardware, in the order of `KINDS`. The
first profile that fits a frame counts, so a frame with a PPPoE session is looked for by that, whatever its tags. `headers.kinds` says which
kinds have a profile, and in which order, whatever subscribers have. Where a subscriber has a prefix, addresses are prefixes, too; and on a
device with a tree of prefixes where none has an address at the beginning. Of a device that is held open, subscribers come, move and go
(`put`, `remove`), and may have several matches.
"""

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.basics.where import KeyPath, path_text
from penstock.designs.access_edge import find
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.header_sizes import Headers
from penstock.designs.access_edge.matches import (
    ROUTED,
    USED,
    Match,
    Profile,
    class_of,
    is_prefix,
    key_of,
    match_of,
    matches,
    profile_kinds,
    profile_writes,
    profiles_of,
)
from penstock.designs.access_edge.scenario import HeaderSettings, Setup, Subscriber
from penstock.engine import engine
from penstock.errors import UserError
from penstock.scenarios import pcap, tcp
from penstock.scenarios.headers import MAX_HEADERS_BYTES, ones_sum
from penstock.scenarios.scenario import Document

NO_QUEUE = 0xFFFF_FFFF  # of a frame that the hardware drops
ANY_QUEUE = 0xFFFF_FFFE  # of one of which only the hardware can say where it belongs
VALUES = {"none": 1, "dscp": 64, "pcp": 8, "mpls": 8, "ecn": 4}  # of what gives the class
WINDOW_BYTES = 128  # of a frame that are read
GATEWAY = b"\x02\x00\x00\x00\xff\xfe"
SERVICE_VLAN, VLAN, PPPOE, PPP_IPV4, IPV4, IPV6, MPLS, UDP, NOTHING = 0x88A8, 0x8100, 0x8864, 0x0021, 0x0800, 0x86DD, 0x8847, 17, 59
PORT = 9  # discard


@dataclass(frozen=True)
class Found:
    """A subscriber: its queues are `base` to `base + last`, by class."""

    ident: int
    name: str | None
    match: Match
    base: int
    last: int

    @property
    def shown(self) -> str:
        """How errors call it."""
        return f"subscriber {self.ident}" + (f" ({self.name})" if self.name else "")


class Subscribers:
    """All that the hardware must know to find queues in headers. Raises UserError for what cannot be."""

    def __init__(self, scenario: Setup, document: Document, config: Config) -> None:
        assert config.headers
        self._config, self._document, self._seed = config, document, scenario.seed
        self._settings: HeaderSettings = scenario.headers or HeaderSettings()
        self.found: list[Found] = []
        for index, entry in enumerate(scenario.subscribers):
            self._enter(entry, ("subscribers", index))
        self._first_prefix = next((one for one in self.found if one.match.kind == ROUTED), None)
        if first := self._first_prefix:
            if not config.headers.prefix_levels:
                words = f"is a prefix, but configuration {config.name} finds whole addresses alone (headers.prefix_levels is 0)"
                document.fail(self._entry_of(first), words)
            self.found = [replace(one, match=one.match.routed) for one in self.found]
        addresses = any(one.match.kind in ("ipv4", "ipv6") for one in self.found)
        self._tree = find.Prefixes(config.headers.prefix_levels) if config.headers.prefix_levels and not addresses else None
        self._check_room(config.headers)
        try:
            self.kinds = profile_kinds(self._settings.kinds, {one.match.kind for one in self.found}, config.headers.profiles, self._whose)
        except ValueError as error:
            document.fail(("headers", "kinds") if self._settings.kinds else ("subscribers",), str(error))
        self._used = Counter(one.match.kind for one in self.found)
        self._by_key: dict[int, Found] = {}
        self._of_ident: dict[int, list[Found]] = {one.ident: [one] for one in self.found}
        for one in self.found:
            key = key_of(one.match)
            other = self._by_key.setdefault(key, one)
            if other is not one:
                document.fail(self._entry_of(one), f"gives {one.shown} {one.match.shown}, which {other.shown} has already")
        self._of_queue = np.full(config.queues, -1, dtype=np.int32)
        for number, one in enumerate(self.found):
            self._of_queue[one.base : one.base + one.last + 1] = number
        self.miss = self._unknown(scenario)

    def _check_room(self, sizes: Headers) -> None:
        prefixes = sum(one.match.kind == ROUTED for one in self.found)
        keys = len(self.found) - prefixes
        if keys > (most := int(sizes.entries * USED)):
            self._document.fail(("subscribers",), f"are {keys:,}, but {self._whose} has room for {most:,}")
        if prefixes > (most := find.Prefixes(sizes.prefix_levels).most if sizes.prefix_levels else 0):
            self._document.fail(("subscribers",), f"have {prefixes:,} prefixes, but {self._whose} has room for {most:,}")

    def _unknown(self, scenario: Setup) -> int | None:
        queue = self._settings.unknown
        if queue == "drop":
            return None
        names = {entry.name: entry for entry in scenario.queues if entry.name}
        if isinstance(queue, str) and queue in names:
            queue = names[queue].ranges[0][0]
        if not isinstance(queue, int) or queue >= self._config.queues:
            most = self._config.queues - 1
            self._document.fail(("headers", "unknown"), f'must be "drop" or a queue, by its name or 0 to {most:,}, not {queue}')
        return int(queue)

    def _entry_of(self, one: Found) -> KeyPath:
        return ("subscribers", self._entry[one.ident], "match")

    @cached_property
    def _entry(self) -> dict[int, int]:
        return {}

    def _enter(self, entry: Subscriber, key: KeyPath) -> None:
        hierarchy, name = self._config.hierarchy, self._config.name
        idents = [ident for low, high in entry.ranges for ident in range(low, high + 1)]
        if entry.match is None:
            if hierarchy is None:
                self._document.fail(key, f"needs a `match`: configuration {name} finds subscribers in headers and has nothing else of them")
            return
        if hierarchy is not None:
            each: int = hierarchy.queues_per_subscriber
            if entry.queues is not None:
                self._document.fail(
                    (*key, "queues"), f"is there, but in configuration {name} subscriber s has the queues from {each} * s on"
                )
            bases = [ident * each for ident in idents]
        else:
            if entry.queues is None:
                self._document.fail(key, f"needs `queues`, as configuration {name} has no hierarchy that says whose they are")
            low, high = entry.queues
            each, rest = divmod(high - low + 1, len(idents))
            if rest or not 1 <= each <= 16:
                self._document.fail(
                    (*key, "queues"),
                    f"are {high - low + 1:,} for {len(idents):,} subscribers, which must be 1 to 16 for each of them, the same for all",
                )
            bases = [low + number * each for number in range(len(idents))]
        if bases[-1] + each > self._config.queues:
            self._document.fail(
                key, f"has queue {bases[-1] + each - 1}, but configuration {name} has the queues 0 to {self._config.queues - 1:,}"
            )
        try:
            found = list(matches(entry.match, len(idents)))
        except ValueError as error:
            self._document.fail((*key, "match"), str(error))
        for ident, base, match in zip(idents, bases, found, strict=True):
            if ident in self._entry:
                self._document.fail(key, f"has subscriber {ident}, which another entry of `subscribers` has already")
            self._entry[ident] = int(key[1])
            self.found.append(Found(ident, entry.name, match, base, each - 1))

    def refuse_prefixes(self, words: str) -> None:
        """Raise UserError at the first prefix of the scenario, if there is one."""
        if self._first_prefix:
            self._document.fail(self._entry_of(self._first_prefix), words)

    @property
    def settings(self) -> HeaderSettings:
        """How queues are found."""
        return self._settings

    # ---- what the hardware is told

    @property
    def _profiles(self) -> list[Profile]:
        return profiles_of(self._settings, self.kinds)

    @cached_property
    def _values(self) -> dict[int, int]:
        """The least value that leads to each class."""
        return {class_of(self._settings.classes, value): value for value in reversed(range(VALUES[self._settings.class_of]))}

    def writes(self) -> Iterator[tuple[int, int]]:
        """Return the register writes, without those that would change nothing."""
        assert self._config.headers
        seen: dict[int, int] = {}
        command = find.COMMAND
        for address, value in self._all_writes(self._config.headers):
            if address == command or seen.get(address) != value:
                yield address, value
            seen[address] = value

    def _all_writes(self, sizes: Headers) -> Iterator[tuple[int, int]]:
        yield from find.seed(sizes.entries, self._seed)
        for index, one in enumerate(self._profiles):
            yield from find.classes(index, one.classes)
            yield from find.profile(index, one.kind, one.space, one.class_of)
        for index in (*range(len(self._profiles)), sizes.profiles):
            yield from find.miss(index, self.miss)
        for found in self.found:
            if found.match.kind != ROUTED:
                yield from find.insert(key_of(found.match), found.base, found.last)
        if self._tree and self._used[ROUTED]:
            self._tree = find.Prefixes(sizes.prefix_levels)
            yield from self._tree.change(_rows(self.found))

    # ---- subscribers that come, move and go

    @property
    def _whose(self) -> str:
        return f"configuration {self._config.name}"

    def put(self, ident: int, given: Sequence[object], queues: tuple[int, int] | None, key: KeyPath) -> list[find.Write]:
        """Return the register writes by which a subscriber has these matches and queues; without `given`, those that it has; without
        `queues`, those that it has, or of a device with a hierarchy its own. Raises UserError that begins with the path."""
        assert self._config.headers
        old = self.of(ident)
        wanted = [match_of(one, (*key, "match"), bool(self._tree)) for one in given] or [one.match for one in old]
        if not wanted:
            raise UserError(f"{path_text(key)}: needs a `match`, as the device finds subscribers in headers")
        base, last = self._queues_of(ident, queues, old, key)
        found = [Found(ident, old[0].name if old else None, match, base, last) for match in wanted]
        keys = [key_of(match) for match in wanted]
        for number, (one, match) in enumerate(zip(keys, wanted, strict=True)):
            other = self._by_key.get(one)
            if other is not None and other.ident != ident:
                raise UserError(f"{path_text((*key, 'match'))}: gives subscriber {ident} {match.shown}, which {other.shown} has already")
            if one in keys[:number]:
                raise UserError(f"{path_text((*key, 'match'))}: has {match.shown} twice")
        rooms = ((False, int(self._config.headers.entries * USED), "matches"), (True, self._tree.most if self._tree else 0, "prefixes"))
        for routed, most, what in rooms:
            more, less = (sum((one.match.kind == ROUTED) == routed for one in some) for some in (found, old))
            if more > less and (self._used[ROUTED] if routed else self.keys) + more - less > most:
                raise UserError(f"{path_text(key)}: the device has room for {most:,} {what}, and all are taken")
        return self.become(ident, found, key)

    def remove(self, ident: int) -> list[find.Write]:
        """Return the register writes by which a subscriber has no match any more. Raises UserError."""
        if ident not in self._of_ident:
            raise UserError(f"subscriber({ident}): has no match, so there is nothing to remove")
        return self.become(ident, ())

    def _queues_of(self, ident: int, queues: tuple[int, int] | None, old: Sequence[Found], key: KeyPath) -> tuple[int, int]:
        hierarchy, count = self._config.hierarchy, self._config.queues
        if hierarchy is not None:
            each = hierarchy.queues_per_subscriber
            if queues is not None:
                raise UserError(f"{path_text((*key, 'queues'))}: subscriber s has the queues from {each} * s on")
            return ident * each, each - 1
        if queues is None and not old:
            raise UserError(f"{path_text(key)}: needs `queues`, as the device has no hierarchy that says whose they are")
        if queues is None:
            return old[0].base, old[0].last
        low, high = queues
        if not (high < count and high - low < 16):
            raise UserError(
                f"{path_text((*key, 'queues'))}: must be 1 to 16 queues in a row of 0 to {count - 1:,}, not {low:,} to {high:,}"
            )
        return low, high - low

    @property
    def keys(self) -> int:
        """How many keys there are; prefixes are none."""
        return len(self._by_key) - self._used[ROUTED]

    def of(self, ident: int) -> Sequence[Found]:
        """Return what a subscriber is found by."""
        return self._of_ident.get(ident, ())

    def become(self, ident: int, new: Sequence[Found], key: KeyPath = ()) -> list[find.Write]:
        """Return the writes after which a subscriber is found by `new`: keys that go first, then profiles, then keys that come."""
        assert self._config.headers
        old = self.of(ident)
        used = self._used - Counter(one.match.kind for one in old) + Counter(one.match.kind for one in new)
        try:
            kinds = profile_kinds(self._settings.kinds, used, self._config.headers.profiles, self._whose)
        except ValueError as error:
            raise UserError(f"{path_text((*key, 'match'))}: {'headers.kinds' if self._settings.kinds else 'subscribers'} {error}") from None
        before, after = ({key_of(one.match): one for one in some} for some in (old, new))
        made = [write for one in before if one not in after and not is_prefix(one) for write in find.delete(one)]
        if self._tree and (routed := [{one for one in some if one.match.kind == ROUTED} for some in (old, new)])[0] != routed[1]:
            others = [one for whose, some in self._of_ident.items() if whose != ident for one in some]
            made += self._tree.change(_rows([*others, *new]))
        if kinds != self.kinds:
            made += profile_writes(self._settings, self.kinds, kinds, self.miss)
        for number, one in after.items():
            was = before.get(number)
            if not is_prefix(number) and (was is None or (was.base, was.last) != (one.base, one.last)):
                made += find.insert(number, one.base, one.last)
        self.kinds, self._used = kinds, used
        for number in before:
            del self._by_key[number]
        self._by_key |= after
        self._of_ident.pop(ident, None)
        if new:
            self._of_ident[ident] = list(new)
        return made

    # ---- frames

    def queues_of(self, frames: pcap.Frames) -> NDArray[np.uint32]:
        """Return the queue of each frame of a capture, as the hardware must find it."""
        choose = engine.models("profile").choose
        given = [(find.ALL_PORTS, one.kind, one.space, one.class_of, bytes(one.classes)) for one in self._profiles]
        found = np.empty(len(frames), dtype=np.uint32)
        for i in range(len(frames)):
            stored, length = bytes(frames.frame(i)), int(frames.lengths[i])
            if len(stored) < min(length, WINDOW_BYTES):
                found[i] = ANY_QUEUE  # what is missing is made up where the frame is sent
                continue
            profile, routed, key, prefix, number = choose(stored, 0, given, 0)
            one = None if profile is None else self._longest(prefix) if routed else self._by_key.get(key)
            found[i] = (NO_QUEUE if self.miss is None else self.miss) if one is None else one.base + min(number, one.last)
        return found

    @cached_property
    def _prefixes(self) -> dict[int, dict[int, Found]]:
        """Subscribers by how many bits of a prefix count, the longest first, and by these bits."""
        found: dict[int, dict[int, Found]] = {}
        for one in self.found:
            if one.match.kind == ROUTED:
                key, bits = find.prefix(one.match.network)
                found.setdefault(bits, {})[key >> find.PREFIX_BITS - bits] = one
        return dict(sorted(found.items(), reverse=True))

    def _longest(self, key: int) -> Found | None:
        """Return whose the longest prefix of a key is."""
        return next((one for bits, there in self._prefixes.items() if (one := there.get(key >> find.PREFIX_BITS - bits))), None)

    def _own_address(self, one: Found, key: KeyPath) -> int:
        """Return the first address of a prefix that no longer prefix of another subscriber has, IPv6 without its lower 64 bits."""
        network = one.match.network
        at, (first, bits) = 0, find.prefix(network)
        unit = 32 if network.version == 4 else 0  # bits of a key below an address
        while at < 1 << find.PREFIX_BITS - bits - unit:
            other = self._longest(first + (at << unit))
            if other is one:
                return (first >> unit) + at & (0xFFFF_FFFF if network.version == 4 else (1 << 64) - 1)
            assert other
            inner, longer = find.prefix(other.match.network)
            at = (inner - first >> unit) + (1 << find.PREFIX_BITS - longer - unit)
        self._document.fail(key, f"sends to {one.shown}, but longer prefixes of others have all addresses of {one.match.shown}")

    def headers(self, queues: Iterable[int], sizes: list[int], key: KeyPath) -> dict[str, Any]:
        """Return key `headers` of a job's source: what the frames of each queue and size begin with."""
        heads = [self._head(queue, size, key) for queue in queues for size in sizes]
        each = max(map(len, heads))
        if each > min(sizes):
            self._document.fail((*key, "size"), f"has frames of {min(sizes)} byte, but the headers of these queues have {each}")
        if each * len(heads) > MAX_HEADERS_BYTES:
            self._document.fail(key, f"has headers of {each * len(heads):,} byte, allowed: {MAX_HEADERS_BYTES:,}; name fewer queues")
        return {"bytes": np.frombuffer(b"".join(head.ljust(each, b"\0") for head in heads), dtype=np.uint8), "each": each}

    def front(self, queue: int, key: KeyPath) -> tcp.Front:
        """Return what the frames of a connection begin with whose queue the hardware must find. Raises UserError."""
        if self._settings.class_of == "ecn":
            self._document.fail(key, "is TCP, whose segments have several ECN fields, and with `class_of: ecn` several queues")
        one, value = self._of(queue, key)
        head, length_at = link_head(one, value, self._settings)
        ip = _ip(one, {"dscp": value << 2}.get(self._settings.class_of, 0), _version(one), self._settings, tcp.TCP, tcp.TCP_BYTES)
        return tcp.Front(head + ip, len(head), length_at)

    def _head(self, queue: int, size: int, key: KeyPath) -> bytes:
        return frame_head(*self._of(queue, key), size, self._settings)

    def _of(self, queue: int, key: KeyPath) -> tuple[Found, int]:
        """Return whose a queue is, and the least value by which its class is found; of a prefix its first own address."""
        number = int(self._of_queue[queue])
        if number < 0:
            self._document.fail(key, f"sends to queue {queue}, which belongs to no subscriber, so no frame leads there")
        one = self.found[number]
        value = self._values.get(queue - one.base)
        if value is None or queue - one.base > one.last:
            self._document.fail(
                key, f"sends to queue {queue}, class {queue - one.base} of {one.shown}, but `headers` has nothing that gives this class"
            )
        if one.match.kind == ROUTED:
            version = one.match.values[0]
            one = replace(one, match=Match(f"ipv{version}", (self._own_address(one, key),)))
        return one, value


def _rows(found: Iterable[Found]) -> list[tuple[int, int, int, int]]:
    """Return the prefixes among these, as `find.Prefixes.change` takes them."""
    return [(*find.prefix(one.match.network), one.base, one.last) for one in found if one.match.kind == ROUTED]


def frame_head(one: Found, value: int, size: int, settings: HeaderSettings) -> bytes:
    """Return the headers of a frame of a subscriber: Ethernet, what its match is, IP and, with IPv4, UDP without a checksum (RFC 768)."""
    head, length_at = link_head(one, value, settings)
    if length_at:
        head = head[:length_at] + struct.pack("!H", size - length_at - 2) + head[length_at + 2 :]
    octet = {"dscp": value << 2, "ecn": value}.get(settings.class_of, 0)
    left = size - len(head)
    if _version(one) == 6:
        return head + _ip(one, octet, 6, settings, NOTHING, max(left - 40, 0))
    return head + _ip(one, octet, 4, settings, UDP, max(left - 20, 0)) + struct.pack("!HHHH", PORT, PORT, max(left - 20, 8), 0)


def link_head(one: Found, value: int, settings: HeaderSettings) -> tuple[bytes, int]:
    """Return what is in front of IP in a frame of a subscriber, and where PPPoE's length stands in it, which is 0; 0: it has none."""
    kind, values = one.match.kind, one.match.values
    mac = values[-1].to_bytes(6, "big") if kind in ("mac", "pppoe") else b"\x02\x01" + one.ident.to_bytes(4, "big")
    pair = (mac, GATEWAY) if settings.direction == "to" else (GATEWAY, mac)
    pcp = value << 13 if settings.class_of == "pcp" else 0
    tags = b""
    if kind in ("two_tags", "outer_tag"):
        kinds = (SERVICE_VLAN, VLAN)[2 - len(values) :]
        tags = b"".join(struct.pack("!HH", which, pcp | tag) for which, tag in zip(kinds, values, strict=True))
    elif settings.class_of == "pcp":
        tags = struct.pack("!HH", VLAN, pcp)
    head = b"".join(pair) + tags
    if kind == "pppoe":
        return head + struct.pack("!HBBHHH", PPPOE, 0x11, 0, values[0], 0, PPP_IPV4), len(head) + 6
    if kind == "mpls":
        traffic_class = value if settings.class_of == "mpls" else 0
        return head + struct.pack("!HI", MPLS, values[0] << 12 | traffic_class << 9 | 1 << 8 | 64), 0
    return head + struct.pack("!H", IPV4 if _version(one) == 4 else IPV6), 0


def _version(one: Found) -> int:
    return 6 if one.match.kind == "ipv6" else 4


def _ip(one: Found, octet: int, version: int, settings: HeaderSettings, protocol: int, payload: int) -> bytes:
    """Return the IP header (`octet`: DSCP and ECN field) in front of so many bytes of a protocol."""
    to = settings.direction == "to"
    if version == 6:
        own = one.match.values[0].to_bytes(8, "big") + (1).to_bytes(8, "big")
        far = bytes.fromhex("20010db8") + bytes(11) + b"\1"
        return struct.pack("!IHBB", 6 << 28 | octet << 20, payload, protocol, 64) + (far + own if to else own + far)
    value = one.match.values[0] if one.match.kind == "ipv4" else 10 << 24 | one.ident & 0xFF_FFFF
    own, far = value.to_bytes(4, "big"), bytes((192, 0, 2, 1))
    head = struct.pack("!BBHHHBBH", 0x45, octet, 20 + payload, 0, 0, 64, protocol, 0) + (far + own if to else own + far)
    return head[:10] + struct.pack("!H", 0xFFFF ^ ones_sum(head)) + head[12:]
