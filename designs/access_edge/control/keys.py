"""Keys by which the hardware finds subscribers in headers: what is intended, what the device was told, and the difference as a program.

The device cannot say which keys it has. So a key that is intended no more is known until the device has confirmed that it is gone, across
restarts too (`Intent.gone_keys`): else frames would go on to a queue that somebody else may have by then. A device without any key may have
been reset: it gets the random words of its hash first.

Of a device with a tree of prefixes all addresses are prefixes. These are no keys: their numbers stand beside keys here, and any change of
them is a new tree, which frames see in one cycle. Where the device's tree is not known it is written twice, once into each bank.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.basics.where import path_text
from penstock.designs.access_edge import find, registers
from penstock.designs.access_edge.control.facts import Facts
from penstock.designs.access_edge.control.problems import Code, Problem, invalid
from penstock.designs.access_edge.matches import (
    KINDS,
    ROUTED,
    USED,
    BadMatch,
    Match,
    is_prefix,
    key_of,
    kind_of,
    match_of_key,
    profile_kinds,
    profile_writes,
    profiles_of,
    read_match,
)
from penstock.designs.access_edge.scenario import HeaderSettings
from penstock.driver.carrier import READ, WAIT, WRITE
from penstock.driver.carrier import program as rows_of
from penstock.v1 import headers_pb2, subscribers_pb2

Pairs = tuple[tuple[int, int], ...]  # keys, and the values that they have in the device: {last class, queue of class 0}
MAX_CLASS = 15  # that a value can name
BASE = (1 << 28) - 1  # of a value: the queue of class 0
_STATUS = registers.address("status")
_END = [(WAIT, _STATUS, 0, registers.STATUS_BUSY), (READ, _STATUS, 0, 0)]
BAD_KEY = registers.refusal("bad_key")


class KeyProgram:
    """Accesses that tell of keys, with a reading of the status behind each; a program of `Plant._run`."""

    def __init__(
        self,
        commands: Sequence[tuple[int, Sequence[find.Write]]],
        before: Sequence[find.Write] = (),
        may_be_gone: bool = False,
        tree: "Tree | None" = None,
    ) -> None:
        """`commands`: a key and its writes each; `before`: what is written first; `may_be_gone`: that a key was not there is no refusal;
        `tree`: `before` makes this one of the prefixes."""
        self.keys, self.tree = [key for key, _ in commands], tree
        self._may_be_gone = may_be_gone
        rows = [(WRITE, address, value, 0) for address, value in before]
        if before and not commands:
            rows += _END
        for _, writes in commands:
            rows += [(WRITE, address, value, 0) for address, value in writes]
            rows += _END
        self.accesses = rows_of(rows)
        self.writes = sum(row[0] == WRITE for row in rows)

    def refused(self, found: NDArray[np.uint32]) -> bool:
        """Return whether what was read says that something was refused."""
        return self._first(found) is not None

    def words(self, found: NDArray[np.uint32]) -> str:
        """Return what was refused, and why."""
        first = self._first(found)
        if first is None or first >= len(self.keys):
            return f"the device has refused a command (status {int(found[-1]):#x})"
        return f"the device finds no place for {match_of_key(self.keys[first]).shown} among the other matches"

    def _first(self, found: NDArray[np.uint32]) -> int | None:
        for number, status in enumerate(found.tolist()):
            if status & registers.STATUS_REFUSED and not (self._may_be_gone and status >> 4 & 7 == BAD_KEY):
                return number
        return None


@dataclass
class Tree:
    """Prefixes that the device has, by their numbers, with their values."""

    prefixes: find.Prefixes
    value_of: dict[int, int]


class Keys:
    """Matches of all subscribers. Its caller holds the plant's lock."""

    def __init__(self, facts: Facts, base: headers_pb2.HeaderSettings | None = None) -> None:
        """`base`: settings as long as none were given."""
        self._facts, self._base = facts, base or headers_pb2.HeaderSettings()
        self._most = int(facts.header_entries * USED)
        self._most_prefixes = find.Prefixes(facts.prefix_levels).most if facts.prefix_levels else 0
        self._tree: Tree | None = None  # that was confirmed last
        self._sure = False  # whether it is what the device has
        self.given: headers_pb2.HeaderSettings | None = None  # settings that were given
        self.settings, self.unknown = settings_of(self._base, facts)
        self.value_of: dict[int, int] = {}  # by key, as intended
        self.of: dict[int, tuple[int, ...]] = {}  # keys, by place
        self.used: Counter[str] = Counter()  # by kind
        self.kinds: list[str] = list(self._base.kinds)  # that the device was told to look for
        self.gone: set[int] | None = set()  # that the store has as gone; None: it must be asked
        self._told: dict[int, int | None] = {}  # values that the device has; None: one that is not known, or none
        self._dirty: set[int] = set()  # keys that may have to be told
        self._set_up = self._begun = False  # the device finds queues as is intended; it was told once how to find them

    # ---- what is intended

    @property
    def shown(self) -> headers_pb2.HeaderSettings:
        """The settings that hold."""
        return self.given or self._base

    def give(self, settings: headers_pb2.HeaderSettings | None) -> None:
        """Let these settings hold; None: those of the beginning. Raises Problem."""
        read = settings_of(settings or self._base, self._facts)
        self._wanted_kinds(self.used, read[0])
        self.given, (self.settings, self.unknown), self._set_up = settings, read, False

    def pairs(self, message: subscribers_pb2.Subscriber, place: int) -> Pairs:
        """Return the keys of a subscriber, and their values. Raises Problem."""
        if not message.matches:
            return ()
        if not self._facts.header_profiles:
            raise invalid("the device does not find queues in headers, so a subscriber has no matches", "matches")
        last = min(max(len(message.queues), 1) - 1, MAX_CLASS)
        found: dict[int, int] = {}
        for number, one in enumerate(message.matches):
            match = read(one, f"matches[{number}]", bool(self._facts.prefix_levels))
            if (key := key_of(match)) in found:
                raise invalid(f"{match.shown} stands there twice", f"matches[{number}]")
            found[key] = last << 28 | place * self._facts.queues_per_subscriber
        return tuple(found.items())

    def count(self, prefixes: bool) -> int:
        """Return how many keys are intended, or how many prefixes."""
        routed = self.used[ROUTED]
        return routed if prefixes else len(self.value_of) - routed

    def place_of(self, key: int) -> int | None:
        """Return whose key it is, as a place."""
        value = self.value_of.get(key)
        return None if value is None else (value & BASE) // self._facts.queues_per_subscriber

    def check(self, place: int, pairs: Pairs, name: str, name_of: Any) -> None:
        """Raise Problem unless a place can have these keys; `name` is who wants it, `name_of` who has what."""
        old = self.of.get(place, ())
        if not pairs and not old:
            return
        for number, (key, _) in enumerate(pairs):
            owner = self.place_of(key)
            if owner is not None and owner != place:
                words = (
                    f"subscriber {name!r} cannot have {match_of_key(key).shown}, which subscriber {name_of.get(owner, '')!r} has already"
                )
                raise Problem(Code.ALREADY_EXISTS, words, f"matches[{number}]")
        for prefixes, most, what in ((False, self._most, "matches"), (True, self._most_prefixes, "prefixes")):
            new = sum(is_prefix(key) == prefixes for key, _ in pairs)
            more = new - sum(is_prefix(key) == prefixes for key in old)
            if more > 0 and self.count(prefixes) + more > most:
                raise Problem(Code.RESOURCE_EXHAUSTED, f"the device has room for {most:,} {what}, and all are taken", "matches")
        self._wanted_kinds(self.used - _kinds(old) + _kinds(key for key, _ in pairs), self.settings, "matches")

    def claim(self, place: int, pairs: Pairs) -> None:
        """Let a place have these keys, and no other ones."""
        old = self.of.pop(place, ())
        if not old and not pairs:
            return
        for key in old:
            del self.value_of[key]
        self.value_of.update(pairs)
        if pairs:
            self.of[place] = tuple(key for key, _ in pairs)
        self.used = self.used - _kinds(old) + _kinds(key for key, _ in pairs)
        for key in (*old, *(key for key, _ in pairs)):
            self._mark(key)

    def _mark(self, key: int) -> None:
        """Remember whether a key has to be told, or need not be any more."""
        told = self._told.get(key) == self.value_of[key] if key in self.value_of else key not in self._told
        (self._dirty.discard if told else self._dirty.add)(key)

    def _wanted_kinds(self, used: Iterable[str], settings: HeaderSettings, field: str = "kinds") -> list[str]:
        """Return the kinds that are to be looked for, in their order. Raises Problem."""
        subject = "the list of kinds" if settings.kinds else "subscribers"
        try:
            return profile_kinds(settings.kinds, used, self._facts.header_profiles, "the device")
        except ValueError as error:
            raise invalid(f"{subject} {error}", field) from None

    # ---- what the device has

    def forget(self) -> None:
        """Take nothing for known that the device was told, and nothing for intended."""
        self._told = dict.fromkeys([*self._told, *(self.gone or ())])
        self._tree, self._sure = None, False
        self.value_of.clear()
        self.of.clear()
        self.used.clear()
        self._dirty = set(self._told)
        self._set_up = False

    @property
    def must_be_set_up(self) -> bool:
        """Whether the device must be told how to find queues, and has not been."""
        return not self._set_up and bool(self.given or self.value_of or self._told or self._begun) and bool(self._facts.header_profiles)

    def set_up(self, keys: int, seed: int) -> KeyProgram:
        """Return the program that says how queues are found, but for the profiles; `keys`: how many the device has, `seed`: of its hash, if
        there are none."""
        count = self._facts.header_profiles
        made = list(find.seed(self._facts.header_entries, seed)) if keys == 0 else []
        for index in (*range(count), count):
            made += find.miss(index, self.unknown)
        classes = profiles_of(self.settings, KINDS[:1])[0].classes
        for index in range(count):
            made += find.classes(index, classes)
        return KeyProgram([], _without_repeats(made))

    def all_profiles(self) -> KeyProgram:
        """Return the program that sets all profiles, whatever the device has."""
        kinds, made = self._wanted_kinds(self.used, self.settings), list[find.Write]()
        for index, one in enumerate(profiles_of(self.settings, kinds)):
            made += find.profile(index, one.kind, one.space, one.class_of)
        for index in range(len(kinds), self._facts.header_profiles):
            made += find.profile(index, 0, 0)
        return KeyProgram([], made)

    def is_set_up(self) -> None:
        """The device has done that."""
        self.kinds, self._set_up = self._wanted_kinds(self.used, self.settings), True

    def going(self) -> KeyProgram | None:
        """Return the program by which keys go that are not intended any more."""
        keys = [key for key in self._dirty if key not in self.value_of and key in self._told and not is_prefix(key)]
        return KeyProgram([(key, find.delete(key)) for key in keys], may_be_gone=True) if keys else None

    def coming(self) -> KeyProgram | None:
        """Return the program by which keys come or lead elsewhere."""
        keys = [key for key in self._dirty if key in self.value_of and self._told.get(key) != self.value_of[key] and not is_prefix(key)]
        if not keys:
            return None
        return KeyProgram([(key, find.insert(key, self.value_of[key] & BASE, self.value_of[key] >> 28)) for key in keys])

    def prefixes_going(self) -> KeyProgram | None:
        """Return the program by which prefixes go that are not intended any more; what is to come is not there yet."""
        if not any(is_prefix(key) and key not in self.value_of and key in self._told for key in self._dirty):
            return None
        before = self._tree.value_of if self._tree else {}
        return self._new_tree({key: value for key, value in before.items() if key in self.value_of})

    def prefixes_coming(self) -> KeyProgram | None:
        """Return the program by which all prefixes are as intended, if they are not."""
        if not any(is_prefix(key) for key in self._dirty):
            return None
        return self._new_tree({key: value for key, value in self.value_of.items() if is_prefix(key)})

    def _new_tree(self, value_of: dict[int, int]) -> KeyProgram:
        """Return the program after which the device has these prefixes and no other ones; they change in one cycle."""
        rows = [(*find.prefix(match_of_key(key).network), value & BASE, value >> 28) for key, value in value_of.items()]
        prefixes = self._tree.prefixes if self._tree else find.Prefixes(self._facts.prefix_levels)
        return KeyProgram([], list(prefixes.change(rows) if self._sure else prefixes.afresh(rows)), tree=Tree(prefixes, value_of))

    def other_kinds(self) -> KeyProgram | None:
        """Return the program by which other kinds of matches are looked for, if they are to be."""
        kinds = self._wanted_kinds(self.used, self.settings)
        if not self._set_up or kinds == self.kinds:
            return None
        return KeyProgram([], list(profile_writes(self.settings, self.kinds, kinds, self.unknown)))

    def doubt(self, program: KeyProgram) -> None:
        """A program is under way: whether its keys are there, or how queues are found, is not known until it has ended."""
        self._told.update(dict.fromkeys(program.keys))
        if program.tree:
            self._sure = False
            for key in [key for key in (*self._told, *program.tree.value_of) if is_prefix(key)]:
                self._told[key] = None
                self._mark(key)
        elif not program.keys:
            self._set_up, self._begun = False, True

    def done(self, program: KeyProgram) -> None:
        """It has ended, and nothing of it was refused."""
        for key in program.keys:
            if key in self.value_of:
                self._told[key] = self.value_of[key]
            else:
                self._told.pop(key, None)
            self._dirty.discard(key)
        if program.tree:
            self._tree, self._sure = program.tree, True
            for key in [key for key in self._told if is_prefix(key) and key not in program.tree.value_of]:
                del self._told[key]
            self._told.update(program.tree.value_of)
            for key in [key for key in self._dirty if is_prefix(key)]:
                self._mark(key)

    # ---- what the store must know

    def to_be_stored(self) -> tuple[list[int], list[int]]:
        """Return the keys that the store must have as gone and has not, and those that it must forget."""
        gone = self.gone or set()
        more = [key for key in self._dirty if key not in self.value_of and key in self._told and key not in gone]
        less = [key for key in gone if key in self.value_of or key not in self._told]
        return more, less


def _kinds(keys: Iterable[int]) -> Counter[str]:
    return Counter(map(kind_of, keys))


def _without_repeats(made: Iterable[find.Write]) -> list[find.Write]:
    """Return writes without those that would change nothing."""
    seen: dict[int, int] = {}
    found = []
    for address, value in made:
        if address == find.COMMAND or seen.get(address) != value:
            found.append((address, value))
        seen[address] = value
    return found


def plain(match: subscribers_pb2.Match) -> dict[str, Any]:
    """Return a match as scenarios and files say it."""
    found: dict[str, Any] = {}
    if match.vlan:
        found["vlan"] = list(match.vlan) if len(match.vlan) > 1 else match.vlan[0]
    found |= {name: getattr(match, name) for name in ("pppoe", "mpls") if match.HasField(name)}
    return found | {name: value for name in ("mac", "ipv4", "ipv6") if (value := getattr(match, name))}


def read(match: subscribers_pb2.Match, field: str, prefixes: bool = False) -> Match:
    """Return a match; `prefixes`: all addresses are prefixes. Raises Problem."""
    try:
        return read_match(plain(match), prefixes)
    except BadMatch as bad:
        raise invalid(str(bad), ".".join(filter(None, (field, path_text(bad.key))))) from None


def settings_of_plan(plan: Any) -> headers_pb2.HeaderSettings | None:
    """Return how queues are found by the scenario of a device, if it has one. Raises UserError where that is by prefixes."""
    there = getattr(plan, "subscribers", None)
    if there is None:
        return None
    there.refuse_prefixes("is a prefix, which `serve` cannot keep beside those of its clients: let them add it")
    given: HeaderSettings = there.settings
    classes = [",".join(f"{low}-{high}" for low, high in ranges) for ranges in given.classes]
    return headers_pb2.HeaderSettings(
        direction=given.direction, class_of=given.class_of, classes=classes, unknown_queue=there.miss, kinds=there.kinds
    )


def settings_of(given: headers_pb2.HeaderSettings, facts: Facts) -> tuple[HeaderSettings, int | None]:
    """Return settings as scenarios have them, and the queue of frames of no subscriber. Raises Problem."""
    from pydantic import ValidationError

    from penstock.basics.where import first_error

    unknown = given.unknown_queue if given.HasField("unknown_queue") else None
    if unknown is not None and unknown >= facts.queues:
        raise invalid(f"the device has queues 0 to {facts.queues - 1:,}, not {unknown:,}", "unknown_queue")
    data: dict[str, Any] = {"direction": given.direction or "to", "class_of": given.class_of or "none", "kinds": list(given.kinds)}
    data["classes"] = list(given.classes)
    try:
        return HeaderSettings.model_validate(data), unknown
    except ValidationError as error:
        key, words = first_error(error, data)
        raise invalid(words, path_text(key)) from None
