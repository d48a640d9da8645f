"""Reads the commands of bmv2's runtime CLI (`simple_switch_CLI < commands.txt`), as far as they set up a program."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.basics import files
from penstock.designs.p4_switch.tables import Control
from penstock.errors import UserError

MOST_BYTES = 64 << 20
# Commands that only show something: there is nobody to read it.
_SILENT = ("show_tables", "show_actions", "show_ports", "table_info", "table_dump", "table_dump_entry", "table_num_entries", "mc_dump",
           "help", "counter_read", "register_read", "switch_info", "mirroring_get", "act_prof_dump", "meter_get_rates",
           "pvs_get")  # fmt: skip
# Commands of simple_switch's queues. A scenario has keys for them: the rate of a line in bit/s, the depth of a queue.
_QUEUES = ("set_queue_rate", "set_queue_depth", "get_time_elapsed", "get_time_since_epoch")


class Commands:
    """The commands of one file, and the handles that they have made."""

    def __init__(self, control: Control):
        self.control = control
        self.nodes: list[tuple[int, list[int]]] = []  # multicast nodes by handle
        self.members: dict[int, int] = {}  # of each action profile
        self.groups: dict[int, int] = {}
        self.queue_commands: list[list[str]] = []  # what the device's settings are for

    def run(self, line: str) -> None:
        """Execute one command. Raises UserError."""
        try:
            parts = shlex.split(line, comments=True)
        except ValueError as error:
            raise UserError(f"{line.strip()!r} cannot be read: {error}") from error
        if not parts or parts[0] in _SILENT:
            return
        if parts[0] in _QUEUES:
            self.queue_commands.append(parts)
            return
        if parts[0] not in _COMMANDS:
            raise UserError(f"the command {parts[0]!r} is not supported; these are: {', '.join(sorted(_COMMANDS))}")
        least, most, usage, run = _COMMANDS[parts[0]]
        if not least <= len(parts) - 1 <= most:
            raise UserError(f"the command is {parts[0]} {usage}")
        run(self, *parts[1:])

    @staticmethod
    def _number(text: str, what: str) -> int:
        try:
            return int(text, 0)
        except ValueError as error:
            raise UserError(f"{what} is a whole number, not {text!r}") from error

    # --- tables

    def table_add(self, name: str, action: str, *rest: str) -> None:
        """table_add <table> <action> <keys> => <parameters> [priority]."""
        table = self.control.table(name)
        if "=>" in rest:
            cut = rest.index("=>")
            keys, data = list(rest[:cut]), list(rest[cut + 1 :])
        else:
            keys, data = list(rest), []
        priority = None
        if table.kind in ("ternary", "range"):
            if not data:
                raise UserError(f"table {table.name!r} matches {table.kind}: the last number is the entry's priority")
            priority = self._number(data.pop(), "the priority")
        self.control.add(table, self.control.matches(table, keys), self.control.action(table, action, data), priority)

    def table_set_default(self, name: str, action: str, *data: str) -> None:
        """table_set_default <table> <action> <parameters>."""
        table = self.control.table(name)
        self.control.default(table, self.control.action(table, action, [one for one in data if one != "=>"]))

    def table_modify(self, name: str, action: str, handle: str, *data: str) -> None:
        """table_modify <table> <action> <handle> <parameters>."""
        table = self.control.table(name)
        made = self.control.action(table, action, [one for one in data if one != "=>"])
        self.control.modify(table, self._number(handle, "a handle"), made)

    def table_delete(self, name: str, handle: str) -> None:
        """table_delete <table> <handle>, and table_indirect_delete."""
        self.control.delete(self.control.table(name), self._number(handle, "a handle"))

    def table_clear(self, name: str) -> None:
        """table_clear <table>."""
        self.control.clear(self.control.table(name))

    # --- value sets of the parser

    def pvs_add(self, name: str, given: str) -> None:
        """pvs_add <value set> <value>."""
        self.control.value_set(name, given)

    def pvs_remove(self, name: str, given: str) -> None:
        """pvs_remove <value set> <value>."""
        self.control.value_set(name, given, there=False)

    def pvs_clear(self, name: str) -> None:
        """pvs_clear <value set>."""
        self.control.clear_value_set(name)

    # --- action profiles

    def create_member(self, name: str, action: str, *data: str) -> None:
        """act_prof_create_member <profile> <action> <parameters>."""
        profile = self.control.profile(name)
        owner = next(
            (t for t in self.control.program.tables.values() if t.profile and self.control.program.profiles[t.profile] == profile), None
        )
        if owner is None:
            raise UserError(f"no table has the action profile {name!r}")
        member = self.members.get(profile, 0)
        self.control.member(profile, member, self.control.action(owner, action, [one for one in data if one != "=>"]))
        self.members[profile] = member + 1

    def create_group(self, name: str) -> None:
        """act_prof_create_group <profile>."""
        profile = self.control.profile(name)
        group = self.groups.get(profile, 0)
        self.control.member_group(profile, group)
        self.groups[profile] = group + 1

    def add_to_group(self, name: str, member: str, group: str) -> None:
        """act_prof_add_member_to_group <profile> <member> <group>."""
        profile = self.control.profile(name)
        number = self._number(group, "a group")
        if number not in self.control.member_groups.get(profile, {}):
            raise UserError(f"action profile {name!r} has no group {number}")
        self.control.member_group(profile, number, [self._number(member, "a member")])

    def _indirect(self, name: str, rest: tuple[str, ...], what: str) -> None:
        table = self.control.table(name)
        if table.profile is None:
            raise UserError(f"table {table.name!r} has no action profile")
        if "=>" not in rest:
            raise UserError(f"'=>' stands before the {what}")
        cut = rest.index("=>")
        keys, data = list(rest[:cut]), list(rest[cut + 1 :])
        priority = self._number(data.pop(), "the priority") if table.kind in ("ternary", "range") and len(data) > 1 else None
        if len(data) != 1:
            raise UserError(f"after '=>' stands one {what}")
        more: dict[str, Any] = {what: self._exists(table.profile, what, data[0])}
        self.control.add(table, self.control.matches(table, keys), None, priority, **more)

    def _exists(self, profile: str, what: str, text: str) -> int:
        number = self._number(text, f"a {what}")
        index = self.control.program.profiles[profile]
        if number not in (self.control.members if what == "member" else self.control.member_groups).get(index, {}):
            raise UserError(f"action profile {profile!r} has no {what} {number}")
        return number

    def indirect_add(self, name: str, *rest: str) -> None:
        """table_indirect_add <table> <keys> => <member> [priority]."""
        self._indirect(name, rest, "member")

    def indirect_add_with_group(self, name: str, *rest: str) -> None:
        """table_indirect_add_with_group <table> <keys> => <group> [priority]."""
        self._indirect(name, rest, "group")

    def _indirect_default(self, name: str, number: str, what: str) -> None:
        table = self.control.table(name)
        if table.profile is None:
            raise UserError(f"table {table.name!r} has no action profile")
        more: dict[str, Any] = {what: self._exists(table.profile, what, number)}
        self.control.default(table, None, **more)

    def indirect_default(self, name: str, member: str) -> None:
        """table_indirect_set_default <table> <member>."""
        self._indirect_default(name, member, "member")

    def indirect_default_group(self, name: str, group: str) -> None:
        """table_indirect_set_default_with_group <table> <group>."""
        self._indirect_default(name, group, "group")

    # --- registers, meters, clones, groups

    def register_write(self, name: str, index: str, given: str) -> None:
        """register_write <register> <index> <value>."""
        self.control.register(name, self._number(given, "a register's value"), self._number(index, "an index"))

    def register_reset(self, name: str) -> None:
        """register_reset <register>."""
        self.control.register(name, 0)

    def meter_rates(self, name: str, index: str | None, rates: tuple[str, ...]) -> None:
        """Rates as 0.5:100 0.9:200, in packets or bytes for each microsecond."""
        found = []
        for rate in rates:
            try:
                each, _, burst = rate.partition(":")
                found.append((float(each), int(burst)))
            except ValueError as error:
                raise UserError(f"a rate is <for each microsecond>:<burst>, not {rate!r}") from error
        self.control.meter(name, found, None if index is None else self._number(index, "an index"))

    def mirroring_add(self, session: str, port: str) -> None:
        """mirroring_add <session> <port>."""
        self.control.mirror(self._number(session, "a session"), port=self._number(port, "a port"))

    def mirroring_add_mc(self, session: str, group: str) -> None:
        """mirroring_add_mc <session> <group>."""
        self.control.mirror(self._number(session, "a session"), group=self._number(group, "a group"))

    def mirroring_delete(self, session: str) -> None:
        """mirroring_delete <session>."""
        self.control.mirrors.pop(self._number(session, "a session"), None)

    def group_create(self, group: str) -> None:
        """mc_mgrp_create <group>."""
        self.control.group(self._number(group, "a group"), [])

    def node_create(self, rid: str, *ports: str) -> None:
        """mc_node_create <rid> <ports>."""
        if "|" in ports:
            raise UserError("groups of ports behind '|' (LAG) are not supported")
        self.nodes.append((self._number(rid, "a replication id"), [self._number(port, "a port") for port in ports]))

    def node_associate(self, group: str, handle: str) -> None:
        """mc_node_associate <group> <node>."""
        number, node = self._number(group, "a group"), self._number(handle, "a node")
        if number not in self.control.groups:
            raise UserError(f"multicast group {number} has not been created")
        if not 0 <= node < len(self.nodes):
            raise UserError(f"node {node} has not been created")
        self.control.group(number, [self.nodes[node]])


_ANY = 1 << 20
_COMMANDS: dict[str, tuple[int, int, str, Callable[..., None]]] = {
    "table_add": (2, _ANY, "<table> <action> <keys> => <parameters> [priority]", Commands.table_add),
    "table_set_default": (2, _ANY, "<table> <action> <parameters>", Commands.table_set_default),
    "table_modify": (3, _ANY, "<table> <action> <handle> <parameters>", Commands.table_modify),
    "table_delete": (2, 2, "<table> <handle>", Commands.table_delete),
    "table_indirect_delete": (2, 2, "<table> <handle>", Commands.table_delete),
    "table_clear": (1, 1, "<table>", Commands.table_clear),
    "pvs_add": (2, 2, "<value set> <value>", Commands.pvs_add),
    "pvs_remove": (2, 2, "<value set> <value>", Commands.pvs_remove),
    "pvs_clear": (1, 1, "<value set>", Commands.pvs_clear),
    "act_prof_create_member": (2, _ANY, "<profile> <action> <parameters>", Commands.create_member),
    "act_prof_create_group": (1, 1, "<profile>", Commands.create_group),
    "act_prof_add_member_to_group": (3, 3, "<profile> <member> <group>", Commands.add_to_group),
    "table_indirect_add": (2, _ANY, "<table> <keys> => <member> [priority]", Commands.indirect_add),
    "table_indirect_add_with_group": (2, _ANY, "<table> <keys> => <group> [priority]", Commands.indirect_add_with_group),
    "table_indirect_set_default": (2, 2, "<table> <member>", Commands.indirect_default),
    "table_indirect_set_default_with_group": (2, 2, "<table> <group>", Commands.indirect_default_group),
    "register_write": (3, 3, "<register> <index> <value>", Commands.register_write),
    "register_reset": (1, 1, "<register>", Commands.register_reset),
    "meter_set_rates": (4, 4, "<meter> <index> <rate>:<burst> <rate>:<burst>", lambda s, name, index, *r: s.meter_rates(name, index, r)),
    "meter_array_set_rates": (3, 3, "<meter> <rate>:<burst> <rate>:<burst>", lambda s, name, *r: s.meter_rates(name, None, r)),
    "mirroring_add": (2, 2, "<session> <port>", Commands.mirroring_add),
    "mirroring_add_mc": (2, 2, "<session> <group>", Commands.mirroring_add_mc),
    "mirroring_delete": (1, 1, "<session>", Commands.mirroring_delete),
    "mc_mgrp_create": (1, 1, "<group>", Commands.group_create),
    "mc_node_create": (1, _ANY, "<rid> <ports>", Commands.node_create),
    "mc_node_associate": (2, 2, "<group> <node>", Commands.node_associate),
}


def run(control: Control, text: str, where: str) -> Commands:
    """Execute the commands of a text. Raises UserError that begins with `where` and the line."""
    commands = Commands(control)
    for index, line in enumerate(text.splitlines(), 1):
        try:
            commands.run(line)
        except UserError as error:
            raise UserError(f"{where}:{index}: {error}") from error
    return commands


def load(control: Control, path: Path) -> Commands:
    """Execute the commands of a file. Raises UserError."""
    try:
        text = files.read_text(path, "a file of commands for bmv2's runtime CLI", MOST_BYTES)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is no text") from error
    return run(control, text, str(path))
