"""Classes of a deadline port, checked against its configuration, and what the registers are told of them: for scenarios and for a device
held open.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.basics.suggest import nearest
from penstock.basics.units import format_bytes, format_time_ns
from penstock.basics.where import Fail, KeyPath
from penstock.designs.deadline_port import registers
from penstock.designs.deadline_port.config import Config
from penstock.designs.deadline_port.registers import Writes
from penstock.designs.deadline_port.scenario import Setup
from penstock.scenarios.common import QueueSet
from penstock.scenarios.headers import DSCPS
from penstock.scenarios.traffic import cycles

ALL_ELSE = DSCPS  # place in the device's table of frames that have no DSCP


@dataclass(frozen=True)
class Class:
    """One class."""

    number: int
    name: str
    deadline_ps: int
    dscps: tuple[int, ...]


class Settings:
    """All classes of a device, and which one each DSCP has."""

    def __init__(self, setup: Setup, config: Config, fail: Fail) -> None:
        """Raises UserError by `fail`."""
        self.config, self.fail = config, fail
        self.classes: list[Class] = []
        self.groups: dict[str, list[int]] = {}
        for index, entry in enumerate(setup.classes):
            key: KeyPath = ("classes", index)
            first = len(self.classes)
            if first + entry.count > config.classes:
                fail(key, f"makes it {first + entry.count} classes, but {config.name} has {config.classes}")
            for n in range(entry.count):
                name = entry.name if entry.count == 1 else f"{entry.name}{n}"
                codes = () if entry.dscp is None else entry.dscp if entry.count == 1 else (entry.dscp[n],)
                if name in self.groups or (n == 0 and entry.name in self.groups):
                    fail((*key, "name"), f'is "{name}", which another class has')
                self.groups[name] = [first + n]
                self.classes.append(Class(first + n, name, entry.deadline + n * entry.step, codes))
                self.check_deadline(self.classes[-1].deadline_ps, (*key, "deadline"))
            self.groups[entry.name] = list(range(first, first + entry.count))
        self.default = len(self.classes) - 1 if setup.default_class is None else self.one(setup.default_class, ("default_class",))
        self.table = self._table(setup)
        self.limit_chunks = 0 if setup.memory_limit is None else self.chunks(setup.memory_limit, ("memory_limit",))

    def _table(self, setup: Setup) -> list[int]:
        """Return the class of each DSCP, and behind them that of all else."""
        given: dict[int, int] = {}
        for row in self.classes:
            for code in row.dscps:
                if code in given:
                    index = self._entry(setup, row.number)
                    self.fail(("classes", index, "dscp"), f"names DSCP {code}, which class {self.classes[given[code]].name} has already")
                given[code] = row.number
        return [given.get(code, self.default) for code in range(DSCPS)] + [self.default]

    @staticmethod
    def _entry(setup: Setup, number: int) -> int:
        """Return which entry of `classes` made a class."""
        for index, entry in enumerate(setup.classes):
            if number < entry.count:
                return index
            number -= entry.count
        return len(setup.classes) - 1

    def one(self, name: str | int, key: KeyPath) -> int:
        """Return the number of a class, given by name or number. Raises UserError by `fail`."""
        if isinstance(name, int):
            if not 0 <= name < len(self.classes):
                self.fail(key, f"names class {name}, but there are classes 0 to {len(self.classes) - 1}")
            return name
        found = self.groups.get(name)
        if found is None:
            self.fail(key, f'names class "{name}", which is not among `classes`{nearest(name, self.groups)}')
        if len(found) != 1:
            self.fail(key, f'names "{name}", which are {len(found)} classes; one is meant, such as {self.classes[found[0]].name}')
        return found[0]

    def many(self, names: QueueSet, key: KeyPath) -> list[int]:
        """Return the numbers of classes, in their order and once each. Raises UserError by `fail`."""
        found: list[int] = []
        for part in names:
            if isinstance(part, str):
                found += self.groups[part] if part in self.groups else [self.one(part, key)]
            else:
                low, high = part
                found += range(self.one(low, key), self.one(high, key) + 1)
        return list(dict.fromkeys(found))

    def check_deadline(self, picoseconds: int, key: KeyPath) -> int:
        """Return a deadline in cycles. Raises UserError by `fail` for one that the device cannot have."""
        config = self.config
        found, most = cycles(picoseconds, config.clock_hz), config.longest_deadline_us * 10**6
        if found < 1:
            self.fail(key, f"must be at least one clock cycle, {format_time_ns(1e9 / config.clock_hz)}, not {_time(picoseconds)}")
        if picoseconds > most:
            longest = f"which is {_time(most)} in {config.name}"
            self.fail(key, f"must be at most what the configuration's longest_deadline_us says, {longest}, not {_time(picoseconds)}")
        return found

    def chunks(self, size: int, key: KeyPath) -> int:
        """Return a limit of memory in whole chunks; 0 is all. Raises UserError by `fail`."""
        config = self.config
        found, least = size // config.chunk_bytes, config.least_chunks
        if not least <= found <= config.chunks:
            low, high = (format_bytes(count * config.chunk_bytes) for count in (least, config.chunks))
            self.fail(key, f"must be {low} to {high} ({least:,} to {config.chunks:,} chunks) in {config.name}, not {format_bytes(size)}")
        return found

    def deadline_cycles(self, number: int) -> int:
        """Return a class's deadline at the beginning, in cycles."""
        return cycles(self.classes[number].deadline_ps, self.config.clock_hz)

    def dscp_of(self, number: int) -> int | None:
        """Return a DSCP whose frames are of a class: its first own one, or one that no class names; None: there is none."""
        own = [code for code in self.classes[number].dscps if self.table[code] == number]
        return next(iter([*own, *(code for code in range(DSCPS) if self.table[code] == number)]), None)

    def first_writes(self) -> Writes:
        """Return what the registers are told before anything comes: all that is not as after reset."""
        writes: Writes = []
        if not self.config.fifo:
            writes = [write for row in self.classes for write in deadline_writes(row.number, self.deadline_cycles(row.number))]
        if not self.config.class_from_user:
            writes += [write for code, number in enumerate(self.table) if number for write in dscp_writes(code, number)]
        return writes + (limit_writes(self.limit_chunks) if self.limit_chunks else [])


def deadline_writes(number: int, deadline_cycles: int) -> Writes:
    """Return the writes that give a class its deadline."""
    return _command("write_class", {"class_index": number, "class_deadline": deadline_cycles})


def dscp_writes(code: int, number: int) -> Writes:
    """Return the writes that give a DSCP its class; code 64 is what has none."""
    return _command("write_dscp", {"dscp_index": code, "dscp_class": number})


def limit_writes(chunks: int) -> Writes:
    """Return the writes that limit the chunks in use; 0: all."""
    return [(registers.address("memory_limit"), chunks)]


def _command(name: str, values: Mapping[str, int]) -> Writes:
    return [
        *((registers.address(register), value) for register, value in values.items()),
        (registers.address("command"), registers.command(name)),
    ]


def at_cycle(cycle: int, writes: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Return the writes as timed ones of a job."""
    return [(cycle, address, value) for address, value in writes]


def _time(picoseconds: int) -> str:
    return format_time_ns(picoseconds / 1000)
