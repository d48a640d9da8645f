"""What tables and their kin hold, as commands of bmv2's runtime CLI: of a scenario's `commands` and `tables`, which are read and checked as
for the P4 device (`tables.Control`) and said again in numbers, with full names. Queues: a rate in packets for each second, and a depth.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.designs.p4_switch.code import Parameter
from penstock.designs.p4_switch.config import ByPriority
from penstock.designs.p4_switch.layout import WORD, words
from penstock.designs.p4_switch.program import Action, Key, TableInfo
from penstock.designs.p4_switch.tables import Control
from penstock.errors import UserError


def key_text(key: Key, match: tuple[int, ...]) -> str:
    """Return how the CLI is told of what an entry says of one key. Raises UserError for a kind that it does not have."""
    if key.kind == "lpm":
        return f"{match[0]:#x}/{match[1]}"
    if key.kind == "ternary":
        return f"{match[0]:#x}&&&{match[1]:#x}"
    if key.kind == "range":
        return f"{match[0]:#x}->{match[1]:#x}"
    if key.kind == "valid":
        return str(int(bool(match[0])))
    if key.kind != "exact":
        raise UserError(f"simple_switch_CLI has no way to match {key.kind}, as key {key.name} does")
    return f"{match[0]:#x}"


def data_text(parameters: Sequence[Parameter], data: Sequence[int]) -> str:
    """Return the parameters of an action, from their words."""
    found, at = [], 0
    for parameter in parameters:
        size = words(parameter.bits)
        found.append(f"{sum(word << (WORD * i) for i, word in enumerate(data[at : at + size])):#x}")
        at += size
    return " ".join(found)


@dataclass
class _Said:
    """The command for an entry, and what of it stays when its action changes."""

    command: str
    keys: str
    last: str  # its priority, if it has one


class Script(Control):
    """A control plane that remembers what it was told."""

    def __init__(self, program: Any) -> None:
        super().__init__(program)
        self._said: dict[tuple[int, int], _Said] = {}  # of the entries, as `entries` has them
        self._defaults: dict[int, str] = {}
        self._registers: list[str] = []
        self._meters: list[str] = []

    def add(
        self,
        table: TableInfo,
        matches: list[tuple[int, ...]],
        action: tuple[Action, list[int]] | None,
        priority: int | None = None,
        **more: Any,
    ) -> int:
        """Add an entry."""
        handle = super().add(table, matches, action, priority, **more)
        keys = " ".join(key_text(key, match) for key, match in zip(table.keys, matches, strict=True))
        last = f" {priority}" if table.kind in ("ternary", "range") else ""
        if action is not None:
            command = f"table_add {table.name} {action[0].name} {keys} => {data_text(action[0].parameters, action[1])}{last}"
        else:
            how, number = ("_with_group", more["group"]) if "group" in more else ("", more["member"])
            command = f"table_indirect_add{how} {table.name} {keys} => {number}{last}"
        self._said[self.entry(table, handle)] = _Said(command, keys, last)
        return handle

    def modify(self, table: TableInfo, handle: int, action: tuple[Action, list[int]]) -> None:
        """Give an entry another action: it is added with this one."""
        super().modify(table, handle, action)
        said = self._said[self.entry(table, handle)]
        data = data_text(action[0].parameters, action[1])
        said.command = f"table_add {table.name} {action[0].name} {said.keys} => {data}{said.last}"

    def default(self, table: TableInfo, action: tuple[Action, list[int]] | None, **more: Any) -> None:
        """Set a table's default action."""
        super().default(table, action, **more)
        if action is not None:
            command = f"table_set_default {table.name} {action[0].name} {data_text(action[0].parameters, action[1])}".rstrip()
        else:
            how, number = ("_with_group", more["group"]) if "group" in more else ("", more["member"])
            command = f"table_indirect_set_default{how} {table.name} {number}"
        self._defaults[table.number] = command

    def register(self, name: str, given: Any, index: int | None = None) -> None:
        """Write a cell of a register array, or all of them."""
        super().register(name, given, index)
        made = self.registers[-1]
        full, (_, bits, size) = next((n, r) for n, r in self.program.registers.items() if r[0] == made["register"])
        number = int(data_text([Parameter("", bits, 0)], made["value"]), 16)
        if index is None and number == 0:
            self._registers.append(f"register_reset {full}")
        else:
            self._registers += [f"register_write {full} {cell} {number}" for cell in ([index] if index is not None else range(size))]

    def meter(self, name: str, rates: Sequence[tuple[float, int]], index: int | None = None) -> None:
        """Set the two rates of a meter."""
        super().meter(name, rates, index)
        full = next(n for n, (number, _) in self.program.meters.items() if number == self.meters[-1]["meter"])
        what = f"meter_array_set_rates {full}" if index is None else f"meter_set_rates {full} {index}"
        self._meters.append(what + "".join(f" {rate!r}:{burst}" for rate, burst in rates))

    def commands(self) -> list[str]:
        """Return all commands, in an order in which each finds what it needs."""
        found: list[str] = []
        names = {number: name for name, number in self.program.profiles.items()}
        for profile, members in self.members.items():
            for member in members.values():
                action = next(one for one in self.program.actions if one.number == member["action"])
                data = data_text(action.parameters, member["data"])
                found.append(f"act_prof_create_member {names[profile]} {action.name} {data}".rstrip())
        for profile, groups in self.member_groups.items():
            for group, group_members in groups.items():
                found.append(f"act_prof_create_group {names[profile]}")
                found += [f"act_prof_add_member_to_group {names[profile]} {member} {group}" for member in group_members]
        found += self._defaults.values()
        found += [self._said[where].command for where in self.entries]  # what was deleted is not there
        found += [f"pvs_add {name} {value}" for name, values in self.value_sets.items() for value in values]
        found += self._registers + self._meters
        node = 0
        for multicast, nodes in self.groups.items():
            found.append(f"mc_mgrp_create {multicast}")
            for one in nodes:
                found.append(f"mc_node_create {one['rid']} {' '.join(map(str, one['ports']))}")
                found.append(f"mc_node_associate {multicast} {node}")
                node += 1
        for mirror in self.mirrors.values():
            if mirror["group"] >= 0:
                found.append(f"mirroring_add_mc {mirror['session']} {mirror['group']}")
            if mirror["port"] >= 0:
                found.append(f"mirroring_add {mirror['session']} {mirror['port']}")
        return found


@dataclass(frozen=True)
class Queue:
    """The queue of an output: simple_switch counts packets, in its rate as in its depth."""

    output: int
    port_number: int
    line_bps: int
    packet_bytes: float  # that stand for all, without what they cost on the line besides
    packets_per_second: int
    packets: int

    @property
    def bps(self) -> float:
        """Return the rate of the line that this is, for packets of that size."""
        return self.line_bps / self.exact * self.packets_per_second

    @property
    def exact(self) -> float:
        """Return the packets in a second that the line's rate would be."""
        return self.line_bps / 8 / self.on_line

    @property
    def on_line(self) -> float:
        """Return what such a packet costs on the line, in bytes."""
        return self.packet_bytes + self.overhead_bytes

    overhead_bytes: int = 0
    by_priority: tuple[ByPriority, ...] = ()


def queues(
    port_numbers: Iterable[int],
    egress_bps: Iterable[int],
    packet_bytes: float,
    overhead_bytes: int,
    packets: int,
    by_priority: tuple[ByPriority, ...] = (),
) -> list[Queue]:
    """Return the queues of all outputs: link rates made into packets for each second, to the nearest one."""
    found = []
    for output, (number, bps) in enumerate(zip(port_numbers, egress_bps, strict=True)):
        rate = max(1, round(bps / 8 / (packet_bytes + overhead_bytes)))
        found.append(Queue(output, number, bps, packet_bytes, rate, packets, overhead_bytes, by_priority))
    return found


def queue_commands(given: Iterable[Queue]) -> list[str]:
    """Return the commands that set rate and depth of queues."""
    found = []
    for queue in given:
        found.append(f"set_queue_rate {queue.packets_per_second} {queue.port_number}")
        found.append(f"set_queue_depth {queue.packets} {queue.port_number}")
        for own in queue.by_priority:
            if own.packets_per_second is not None:
                pps = min(own.packets_per_second, queue.packets_per_second)
                found.append(f"set_queue_rate {pps} {queue.port_number} {own.priority}")
            if own.queue_packets is not None:
                found.append(f"set_queue_depth {own.queue_packets} {queue.port_number} {own.priority}")
    return found


def mean_bytes(source: Mapping[str, Any]) -> float:
    """Return the mean length of the frames of a source of a job; of TCP connections the longest."""
    if source["kind"] == "tcp":
        return float(source["frame_bytes"])
    if source["kind"] == "frames":
        return float(source["lengths"].mean())
    return float(sum(size * weight for size, weight in source["sizes"]) / sum(weight for _, weight in source["sizes"]))
