"""Register writes that say how queues are found in the headers of frames (blocks/profile/README.md)."""

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network
from random import Random

from penstock.designs.access_edge import registers
from penstock.engine import engine

Write = tuple[int, int]

# Kinds of profiles, and what gives the class: pst_profile_pkg::kind_e and class_e.
KINDS = {
    "any": 1,
    "two_tags": 2,
    "outer_tag": 3,
    "session_source": 4,
    "session_destination": 5,
    "mac_source": 6,
    "mac_destination": 7,
    "ipv4_source": 8,
    "ipv4_destination": 9,
    "ipv6_source": 10,
    "ipv6_destination": 11,
    "top_label": 12,
    "last_label": 13,
    "routed_source": 14,
    "routed_destination": 15,
}
CLASS_OF = {"none": 0, "dscp": 1, "outer_pcp": 2, "inner_pcp": 3, "traffic_class": 4, "ecn": 5}
ENDINGS = ("done", "unknown", "cut", "beyond", "deep", "bad_version", "bad_length", "bad_pppoe")  # why reading ended
MALFORMED = ("cut", "bad_version", "bad_length", "bad_pppoe")
COUNTERS = ("hit", "miss", "ending", "none")
DROP = 1 << 28  # in place of a queue for misses
KEY_BITS, CHUNK_BITS = 80, 6
PREFIX_BITS = 65  # {IPv6?, IPv4 address and 32 zeros or the upper 64 bits of an IPv6 address}
ALL_PORTS = 0xFFFF


COMMAND = registers.address("queue_command")


def _do(command: str, *, index: int | None = None, value: int | None = None, word: int | None = None, words: int = 3) -> list[Write]:
    writes = [(registers.address("find_item"), index)] if index is not None else []
    if value is not None:
        writes.append((registers.address("find_value"), value))
    if word is not None:
        writes += [(registers.address(f"find_key{i}"), word >> 32 * i & 0xFFFF_FFFF) for i in range(words)]
    return [*writes, (registers.address("queue_command"), registers.command(f"find_{command}"))]


def insert(key: int, base: int, last_class: int = 0) -> list[Write]:
    """A key leads to a subscriber: the queue of its class 0, and its last class."""
    return _do("insert", value=last_class << 28 | base, word=key)


def delete(key: int) -> list[Write]:
    """A key leads nowhere any more."""
    return _do("delete", word=key)


def read(key: int) -> list[Write]:
    """Read what a key leads to into `find_read`; refused if it leads nowhere."""
    return _do("read", word=key)


def profile(index: int, kind: int, space: int, class_of: int = 0, ports: int = ALL_PORTS) -> list[Write]:
    """Say what a profile looks for; kind 0 fits no frame."""
    return _do("profile", index=index, value=ports << 11 | kind << 7 | space << 3 | class_of)


def classes(index: int, table: list[int]) -> Iterator[Write]:
    """Say which class each value has in a profile."""
    for value, number in enumerate(table):
        yield from _do("class", index=index << CHUNK_BITS | value, value=number)


def miss(index: int, queue: int | None) -> list[Write]:
    """Send frames of a profile without a subscriber to a queue, or drop them; the index behind all profiles is of frames that none fits."""
    return _do("miss", index=index, value=DROP if queue is None else queue)


def seed(entries: int, number: int) -> Iterator[Write]:
    """Random words of the hash, from a number."""
    for chunk, index, word in engine.models("lookup").seed_words(entries, KEY_BITS, CHUNK_BITS, number & (1 << 64) - 1):
        yield from _do("seed", index=chunk << CHUNK_BITS | index, word=int.from_bytes(word, "big"))


FLOW_CHUNKS = 50  # of the hash of flows (pst_fq_hash)


def flow_words(number: int) -> Iterator[Write]:
    """Random words of the hash of flows, from a number: who does not know it cannot choose flows that meet."""
    words = Random(f"flows {number}")
    for index in range(FLOW_CHUNKS << CHUNK_BITS):
        yield registers.address("find_item"), index
        yield registers.address("find_value"), words.getrandbits(10)
        yield COMMAND, registers.command("flow_word")


def counter(of: str, index: int) -> int:
    """Return what find_item is for a counter: of the frames that profile `index` found (`hit`) or did not (`miss`), whose reading ended so
    (`ending`), or that no profile fits (`none`)."""
    return COUNTERS.index(of) << 4 | index


def key(space: int, fields: int) -> int:
    """Return a key: the space of its profile, and its fields."""
    return space << 76 | fields


def prefix(network: IPv4Network | IPv6Network) -> tuple[int, int]:
    """Return the key that a prefix begins with, and how many of its bits count. Of an IPv6 address the upper 64 bits are looked at."""
    address = int(network.network_address)
    return (address << 32 if network.version == 4 else 1 << 64 | address >> 64), 1 + network.prefixlen


class Prefixes:
    """The tree of prefixes in the hardware: what its two banks hold. Before the first change it holds none."""

    def __init__(self, levels: int) -> None:
        self.levels, self.bank = levels, 0
        self._held: tuple[dict[tuple[int, int], object], dict[tuple[int, int], object]] = ({}, {})

    @property
    def most(self) -> int:
        """How many prefixes have room, whatever they are."""
        return 2 ** (2 * self.levels - 1) - 1

    def afresh(self, prefixes: list[tuple[int, int, int, int]]) -> Iterator[Write]:
        """Write these in place of all that there are where it is not known what is there, and which bank frames see: twice, for the writes
        go into the other one. Frames see what there was or the new ones. Raises ValueError like `change`."""
        self.bank, self._held = 0, ({}, {})
        yield from self.change(prefixes)
        yield from self.change(prefixes)
        self._held[1].clear()  # where that was in use, nothing of it was written

    def change(self, prefixes: list[tuple[int, int, int, int]]) -> Iterator[Write]:
        """Write these {key, bits that count, base, last class} in place of all that there are; frames see the old ones or the new ones.

        Words that the bank has already are not written. Raises ValueError for prefixes that do not fit or are there twice.
        """
        size = (PREFIX_BITS + 7) // 8
        given = [(key.to_bytes(size, "big"), length, last << 28 | base) for key, length, base, last in prefixes]
        tree = engine.models("lookup").PrefixTree(given, PREFIX_BITS, self.levels)
        self.bank ^= 1
        held = self._held[self.bank]
        for level, node, separators in tree.writes(PREFIX_BITS):
            if held.get((level, node)) != separators:
                held[level, node] = separators
                for number, word in enumerate(separators):
                    yield from _do("separator", index=level << 24 | node << 2 | number, word=int.from_bytes(word, "big"))
        for interval, value in enumerate(tree.values()):
            if held.get((self.levels, interval), 0) != (value,):
                held[self.levels, interval] = (value,)
                yield from _do("interval", index=interval, value=value or 0, word=int(value is not None), words=1)
        yield from _do("bank", value=self.bank)
