"""The control plane of a P4 program: entries of tables, default actions, registers, meters, mirror sessions, multicast groups, "
"action profiles.

From the keys of a scenario (`state`) or from commands (`runtime_cli`) to the dictionary that the engine takes (`V1Switch::configure`).
"""

import ipaddress
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.designs.p4_switch import program as programs
from penstock.designs.p4_switch.config import DROP_PORT
from penstock.designs.p4_switch.handles import PLACE_BITS, Handles
from penstock.designs.p4_switch.layout import words
from penstock.designs.p4_switch.program import Action, Key, Program, TableInfo, word_list
from penstock.errors import UserError

MOST_ENTRIES = 1 << 20  # of all tables together
_MAC = re.compile(r"[0-9a-fA-F]{1,2}([:-])[0-9a-fA-F]{1,2}(\1[0-9a-fA-F]{1,2}){4}")


def value(given: Any, bits: int, what: str) -> int:
    """Return a number from an int, a bool, "10", "0x1f", "10.0.0.1", "fe80::1" or "00:11:22:33:44:55". Raises UserError."""
    found: int | None = None
    if isinstance(given, (bool, int)):
        found = int(given)
    elif isinstance(given, str):
        text = given.strip()
        try:
            if _MAC.fullmatch(text):
                found = int("".join(part.zfill(2) for part in re.split("[:-]", text)), 16)
            elif ":" in text or re.fullmatch(r"\d+(\.\d+){3}", text):
                address = ipaddress.ip_address(text)
                if address.max_prefixlen > bits:
                    raise UserError(f"{what}: {given!r} is an address of {address.max_prefixlen} bits, not of {bits}")
                found = int(address)
            elif text in ("true", "false"):
                found = int(text == "true")
            else:
                found = int(text, 0) if not re.fullmatch(r"0\d+", text) else int(text)
        except ValueError:
            found = None
    if found is None:
        raise UserError(f"{what}: {given!r} is no number, no IP address and no MAC address")
    if not 0 <= found < 1 << bits:
        raise UserError(f"{what}: {given!r} does not fit into {bits} bits")
    return found


def match(key: Key, given: Any, what: str) -> tuple[int, ...]:
    """Return what an entry says of one key: a value, and a prefix length, a mask or an end where the kind has one. Raises UserError.

    lpm "10.0.0.0/8"; ternary "0x8000&&&0xf000"; range "5->9"; "*" or nothing: any value, where the kind allows it.
    """
    what = f"{what}, key {key.name}"
    full = (1 << key.bits) - 1
    text = given.strip() if isinstance(given, str) else given
    if text is None or text in ("*", "_"):
        anything = {"lpm": (0, 0), "ternary": (0, 0), "optional": (0, 0), "range": (0, full)}
        if key.kind not in anything:
            raise UserError(f"{what}: is matched exactly; it needs a value")
        return anything[key.kind]
    if key.kind == "lpm":
        first, slash, length = str(text).partition("/")
        number = value(text if not slash else first, key.bits, what)
        if slash and not (length.strip().isdecimal() and int(length) <= key.bits):
            raise UserError(f"{what}: a prefix length is 0 to {key.bits}, not {length!r}")
        return number, int(length) if slash else key.bits
    if key.kind == "ternary":
        first, sign, mask = str(text).partition("&&&")
        if not sign and "/" in first:
            first, _, length = first.partition("/")
            if not (length.strip().isdecimal() and int(length) <= key.bits):
                raise UserError(f"{what}: a prefix length is 0 to {key.bits}, not {length!r}")
            return value(first, key.bits, what), full ^ (full >> int(length))
        return value(first if sign else text, key.bits, what), value(mask, key.bits, what) if sign else full
    if key.kind == "optional":
        first, sign, mask = str(text).partition("&&&")
        return value(first if sign else text, key.bits, what), value(mask, key.bits, what) if sign else full
    if key.kind == "range":
        parts = re.split(r"->|\.\.", str(text))
        if len(parts) > 2:
            raise UserError(f"{what}: a range is '5->9', not {text!r}")
        low, high = (
            value(parts[0] if len(parts) > 1 else text, key.bits, what),
            value(parts[-1] if len(parts) > 1 else text, key.bits, what),
        )
        if low > high:
            raise UserError(f"{what}: the range begins at {low}, beyond its end {high}")
        return low, high
    return (value(text, key.bits, what),)


def named(names: Mapping[str, Any], name: str, what: str) -> Any:
    """Return what has this name, or is the only one whose name ends with it (`forward` of `MyIngress.forward`). Raises UserError."""
    if name in names:
        return names[name]
    found = [full for full in names if full.endswith(f".{name}")]
    if len(found) == 1:
        return names[found[0]]
    if found:
        raise UserError(f"{what} {name!r} is one of {', '.join(sorted(found))}: give its full name")
    there = ", ".join(sorted(names)) or "none"
    raise UserError(f"the program has no {what} {name!r}; there are: {there if len(there) < 300 else there[:300] + '...'}")


class Control:
    """What the control plane has said, for the engine."""

    def __init__(self, program: Program):
        self.program = program
        self.entries: dict[tuple[int, int], dict[str, Any]] = {}  # by table and place, in the order in which they were added
        self._handles: dict[int, Handles] = {}  # of each table's entries
        self.defaults: dict[int, dict[str, Any]] = {}
        self.registers: list[dict[str, Any]] = []
        self.meters: list[dict[str, Any]] = []
        self.mirrors: dict[int, dict[str, int]] = {}
        self.groups: dict[int, list[dict[str, Any]]] = {}
        self.value_sets: dict[str, list[int]] = {}  # of the parser, in the order in which values were added
        self.members: dict[int, dict[int, dict[str, Any]]] = {}
        self.member_groups: dict[int, dict[int, list[int]]] = {}

    def dictionary(self) -> dict[str, Any]:
        """Return what V1Switch::configure takes."""
        profiles = [
            {
                "profile": profile,
                "members": list(self.members.get(profile, {}).values()),
                "groups": [{"group": group, "members": members} for group, members in self.member_groups.get(profile, {}).items()],
            }
            for profile in sorted({*self.members, *self.member_groups})
        ]
        return {
            "profiles": profiles,
            "defaults": list(self.defaults.values()),
            "entries": list(self.entries.values()),
            **({"switches": self._switches()} if self.value_sets else {}),
            "registers": self.registers,
            "meters": self.meters,
            "mirrors": list(self.mirrors.values()),
            "groups": [{"group": group, "nodes": nodes} for group, nodes in self.groups.items()],
        }

    # --- tables

    def table(self, name: str) -> TableInfo:
        """Return a table by its name. Raises UserError."""
        return named(self.program.tables, name, "table")

    def action(self, table: TableInfo, name: str, given: Sequence[Any] | Mapping[str, Any]) -> tuple[Action, list[int]]:
        """Return an action of a table and its data. Raises UserError."""
        action = named(table.actions, name, f"action of table {table.name!r} called")
        return action, self.data(action, given)

    @staticmethod
    def data(action: Action, given: Sequence[Any] | Mapping[str, Any]) -> list[int]:
        """Return the words of an action's parameters. Raises UserError."""
        names = [parameter.name for parameter in action.parameters]
        if isinstance(given, Mapping):
            if set(given) != set(names):
                raise UserError(
                    f"action {action.name!r} has the parameters {', '.join(names) or 'none'}, not {', '.join(map(str, given)) or 'none'}"
                )
            given = [given[name] for name in names]
        if len(given) != len(names):
            raise UserError(f"action {action.name!r} has {len(names)} parameters ({', '.join(names) or 'none'}), not {len(given)}")
        data: list[int] = []
        for parameter, one in zip(action.parameters, given, strict=True):
            data += word_list(value(one, parameter.bits, f"parameter {parameter.name} of {action.name}"), words(parameter.bits))
        return data

    def matches(self, table: TableInfo, given: Sequence[Any] | Mapping[str, Any]) -> list[tuple[int, ...]]:
        """Return what an entry says of all keys. Raises UserError."""
        what = f"table {table.name!r}"
        if isinstance(given, Mapping):
            left = dict(given)
            chosen = []
            for key in table.keys:
                name = next((name for name in left if name == key.name), None) or next(
                    (n for n in left if key.name.endswith(f".{n}")), None
                )
                chosen.append(left.pop(name) if name is not None else None)
            if left:
                raise UserError(
                    f"{what} has no key {next(iter(left))!r}; its keys are {', '.join(key.name for key in table.keys) or 'none'}"
                )
            given = chosen
        if len(given) != len(table.keys):
            raise UserError(f"{what} has {len(table.keys)} keys ({', '.join(k.name for k in table.keys) or 'none'}), not {len(given)}")
        return [match(key, one, what) for key, one in zip(table.keys, given, strict=True)]

    def add(
        self,
        table: TableInfo,
        matches: list[tuple[int, ...]],
        action: tuple[Action, list[int]] | None,
        priority: int | None = None,
        **more: Any,
    ) -> int:
        """Add an entry; return its handle, as bmv2 counts them. Raises UserError."""
        if table.constant_entries:
            raise UserError(f"table {table.name!r} has constant entries; none can be added")
        if not table.keys:
            raise UserError(f"table {table.name!r} has no keys, only a default action")
        ordered = table.kind in ("ternary", "range")
        if ordered and priority is None:
            raise UserError(f"table {table.name!r} matches {table.kind}: each entry needs a priority; a lower number comes first")
        if len(self.entries) >= MOST_ENTRIES:
            raise UserError(f"there are more than {MOST_ENTRIES} entries")
        handles = self._handles.setdefault(table.number, Handles())
        if len(handles.keys) >= table.size:
            raise UserError(f"table {table.name!r} has room for {table.size} entries; there are more")
        made = programs.entry(
            table, matches, priority if ordered and priority is not None else 0, action and action[0], action[1] if action else []
        )
        key = (*made["low"], *made["high"], made["priority"])
        if key in handles.there:
            raise UserError(f"table {table.name!r} has an entry with the same key{' and priority' if ordered else ''} already")
        place = handles.take(key)
        self.entries[table.number, place] = {"table": table.number, **made, **more}
        return handles.of(place)

    def entry(self, table: TableInfo, handle: int) -> tuple[int, int]:
        """Return where the entry with a handle is in `entries`. Raises UserError."""
        handles = self._handles.get(table.number, Handles())
        place = handle & (1 << PLACE_BITS) - 1
        if place not in handles.keys or handles.of(place) != handle:
            some = ", ".join(str(handles.of(one)) for one in sorted(handles.keys)[:10]) or "none"
            raise UserError(f"table {table.name!r} has no entry with the handle {handle}; there are: {some}")
        if (table.number, place) not in self.entries:
            raise UserError(f"the entry {handle} of table {table.name!r} is in the device already, and is not changed there")
        return table.number, place

    def modify(self, table: TableInfo, handle: int, action: tuple[Action, list[int]]) -> None:
        """Give an entry another action; its key, its priority and the rates of its meter stay. Raises UserError."""
        if table.profile is not None:
            raise UserError(f"table {table.name!r} has an action profile: an entry is deleted and added again with another member")
        self.entries[self.entry(table, handle)] |= {"action": action[0].number, "data": action[1]}

    def delete(self, table: TableInfo, handle: int) -> None:
        """Take an entry away. Raises UserError."""
        number, place = self.entry(table, handle)
        del self.entries[number, place]
        self._handles[number].give_back(place)

    def clear(self, table: TableInfo) -> None:
        """Forget the entries of a table, and their handles with them."""
        self.entries = {where: entry for where, entry in self.entries.items() if where[0] != table.number}
        self._handles.pop(table.number, None)

    def default(self, table: TableInfo, action: tuple[Action, list[int]] | None, **more: Any) -> None:
        """Set a table's default action. Raises UserError."""
        if table.constant_default:
            raise UserError(f"table {table.name!r} has a constant default action")
        self.defaults[table.number] = {
            "table": table.number,
            "low": [],
            "high": [],
            "action": -1 if action is None else action[0].number,
            "data": [] if action is None else action[1],
            **more,
        }

    # --- value sets of the parser

    def value_set(self, name: str, given: Any, there: bool = True) -> None:
        """Let a value be in a value set of the parser, or not. Of several keys a value has all of them, one behind the other. Raises
        UserError."""
        found = named({one: one for one in self.program.value_sets}, name, "value set")
        number = value(given, self.program.value_sets[found], f"value set {found!r}")
        values = self.value_sets.setdefault(found, [])
        if there and number not in values:
            values.append(number)
        elif not there:
            if number not in values:
                raise UserError(f"value set {found!r} does not have {given!r}")
            values.remove(number)

    def clear_value_set(self, name: str) -> None:
        """Let a value set be empty. Raises UserError."""
        self.value_sets[named({one: one for one in self.program.value_sets}, name, "value set")] = []

    def _switches(self) -> list[dict[str, Any]]:
        return [{"state": switch.state, "cases": switch.cases(self.value_sets)} for switch in self.program.switches]

    # --- the rest

    def register(self, name: str, given: Any, index: int | None = None) -> None:
        """Write a cell of a register array, or all of them. Raises UserError."""
        number, bits, size = named(self.program.registers, name, "register")
        if index is not None and not 0 <= index < size:
            raise UserError(f"register {name!r} has the cells 0 to {size - 1}, not {index}")
        found = word_list(value(given, bits, f"register {name}"), words(bits))
        self.registers.append({"register": number, "index": -1 if index is None else index, "value": found})

    def meter(self, name: str, rates: Sequence[tuple[float, int]], index: int | None = None) -> None:
        """Set the two rates of a meter, lower first: packets or bytes for each microsecond, and the burst. Raises UserError.

        A direct meter has a cell for each entry of its table: the first that was added is 0.
        """
        found = named({**self.program.meters, **self.program.direct_meters}, name, "meter")
        if isinstance(found, str):
            return self._direct_meter(name, self.program.tables[found], self.rates(name, rates), index)
        number, size = found
        if index is not None and not 0 <= index < size:
            raise UserError(f"meter {name!r} has the cells 0 to {size - 1}, not {index}")
        self.meters.append({"meter": number, "index": -1 if index is None else index, **self.rates(name, rates)})

    def _direct_meter(self, name: str, table: TableInfo, rates: dict[str, float], index: int | None) -> None:
        entries = {place: entry for (number, place), entry in self.entries.items() if number == table.number}
        if index is not None and index not in entries:
            there = f"{min(entries)} to {max(entries)}" if entries else "none until now"
            raise UserError(f"meter {name!r} belongs to the entries of table {table.name!r}, which are {there}, not {index}")
        for entry in entries.values() if index is None else [entries[index]]:
            entry["rates"] = [rates[key] for key in ("committed", "committed_burst", "peak", "peak_burst")]

    @staticmethod
    def rates(name: str, rates: Sequence[tuple[float, int]]) -> dict[str, float]:
        """Return the settings of a meter. Raises UserError."""
        if len(rates) != 2 or not all(math.isfinite(rate) and 0 <= rate <= 1e12 and 0 <= burst < 1 << 62 for rate, burst in rates):
            raise UserError(f"meter {name!r} needs two rates from 0 to 1e12 for each microsecond, each with a burst")
        if rates[0][0] > rates[1][0]:
            raise UserError(f"meter {name!r}: the first rate, {rates[0][0]:g}, is above the second, {rates[1][0]:g}")
        (committed, committed_burst), (peak, peak_burst) = rates
        return {"committed": committed, "committed_burst": committed_burst, "peak": peak, "peak_burst": peak_burst}

    def mirror(self, session: int, port: int | None = None, group: int | None = None) -> None:
        """Set a mirror session: where clones go. Raises UserError."""
        if not 0 <= session < 1 << 15:
            raise UserError(f"mirror sessions are 0 to {(1 << 15) - 1}, not {session}")
        if port is not None:
            _check_port(port, f"mirror session {session}")
        if group is not None and not 0 <= group < 1 << 16:
            raise UserError(f"mirror session {session}: a multicast group is 1 to {(1 << 16) - 1}, not {group}")
        self.mirrors[session] = {"session": session, "port": -1 if port is None else port, "group": -1 if group is None else group}

    def group(self, group: int, nodes: Iterable[tuple[int, Sequence[int]]]) -> None:
        """Add members to a multicast group: a replication id and ports each. Raises UserError."""
        if not 0 < group < 1 << 16:
            raise UserError(f"multicast groups are 1 to {(1 << 16) - 1}, not {group}")
        for rid, ports in nodes:
            if not 0 <= rid < 1 << 16:
                raise UserError(f"multicast group {group}: a replication id is 0 to {(1 << 16) - 1}, not {rid}")
            for port in ports:
                _check_port(port, f"multicast group {group}")
            self.groups.setdefault(group, []).append({"rid": rid, "ports": sorted(set(ports))})
        self.groups.setdefault(group, [])

    def profile(self, name: str) -> int:
        """Return the number of an action profile. Raises UserError."""
        return named(self.program.profiles, name, "action profile")

    def member(self, profile: int, member: int, action: tuple[Action, list[int]]) -> None:
        """Add a member to an action profile."""
        self.members.setdefault(profile, {})[member] = {"member": member, "action": action[0].number, "data": action[1]}

    def member_group(self, profile: int, group: int, members: Iterable[int] = ()) -> None:
        """Add a group of members, or members to a group. Raises UserError."""
        found = self.member_groups.setdefault(profile, {}).setdefault(group, [])
        for member in members:
            if member not in self.members.get(profile, {}):
                raise UserError(f"group {group} of the action profile has the member {member}, which does not exist")
            found.append(member)


def _keys(given: Any, allowed: Sequence[str], needed: Sequence[str], where: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise UserError(f"{where}: should be a table with the keys {', '.join(allowed)}")
    for key in given:
        if key not in allowed:
            raise UserError(f"{where}: {key!r} is not one of its keys, {', '.join(allowed)}")
    for key in needed:
        if key not in given:
            raise UserError(f"{where}: {key!r} is missing")
    return given


def _check_port(port: int, what: str) -> None:
    if not 0 <= port <= DROP_PORT:
        raise UserError(f"{what}: a port is 0 to {DROP_PORT}, not {port}")


def _several(given: Any) -> Sequence[Any] | Mapping[str, Any]:
    """Return keys or parameters as a list or by name; one alone may stand without a list, a text is one."""
    return given if isinstance(given, (Mapping, list, tuple)) else [given]


def _integer(given: Any, where: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise UserError(f"{where}: {given!r} is no whole number")
    return given


def apply(control: Control, given: Mapping[str, Any], where: str = "tables") -> None:
    """Add what a scenario says. Raises UserError that begins with the value's path below `where`.

    entries: {table, match, action, data, priority}; defaults: {table, action, data}; registers: {register, index, value};
    meters: {meter, index, rates}; mirrors: {session, port, group}; multicast: {group, nodes: [{rid, ports}]}.
    """
    given = _keys(given, ("entries", "defaults", "registers", "meters", "mirrors", "multicast"), (), where)
    for key in given:
        if not isinstance(given[key], Sequence) or isinstance(given[key], str):
            raise UserError(f"{where}.{key}: should be a list")
        for index, one in enumerate(given[key]):
            try:
                _APPLY[key](control, one, f"{where}.{key}[{index}]")
            except UserError as error:
                path = f"{where}.{key}[{index}]"
                raise error if str(error).startswith(path) else UserError(f"{path}: {error}") from error


def _entry(control: Control, given: Any, where: str) -> None:
    given = _keys(given, ("table", "match", "action", "data", "priority"), ("table", "match", "action"), where)
    table = control.table(given["table"])
    priority = None if given.get("priority") is None else _integer(given["priority"], f"{where}.priority")
    action = control.action(table, given["action"], _several(given.get("data", [])))
    control.add(table, control.matches(table, _several(given["match"])), action, priority)


def _default(control: Control, given: Any, where: str) -> None:
    given = _keys(given, ("table", "action", "data"), ("table", "action"), where)
    table = control.table(given["table"])
    control.default(table, control.action(table, given["action"], _several(given.get("data", []))))


def _register(control: Control, given: Any, where: str) -> None:
    given = _keys(given, ("register", "index", "value"), ("register", "value"), where)
    control.register(given["register"], given["value"], None if given.get("index") is None else _integer(given["index"], f"{where}.index"))


def _meter(control: Control, given: Any, where: str) -> None:
    given = _keys(given, ("meter", "index", "rates"), ("meter", "rates"), where)
    try:
        rates = [(float(rate), int(burst)) for rate, burst in given["rates"]]
    except (TypeError, ValueError, OverflowError) as error:  # an endless burst is no whole number
        raise UserError(f"{where}.rates: should be two pairs, [rate for each microsecond, burst]") from error
    control.meter(given["meter"], rates, None if given.get("index") is None else _integer(given["index"], f"{where}.index"))


def _mirror(control: Control, given: Any, where: str) -> None:
    given = _keys(given, ("session", "port", "group"), ("session",), where)
    chosen = {key: _integer(given[key], f"{where}.{key}") for key in ("port", "group") if given.get(key) is not None}
    control.mirror(_integer(given["session"], f"{where}.session"), **chosen)


def _multicast(control: Control, given: Any, where: str) -> None:
    given = _keys(given, ("group", "nodes"), ("group", "nodes"), where)
    nodes = []
    for index, node in enumerate(given["nodes"]):
        path = f"{where}.nodes[{index}]"
        node = _keys(node, ("rid", "ports"), ("ports",), path)
        ports = [_integer(port, f"{path}.ports") for port in node["ports"]]
        nodes.append((_integer(node.get("rid", 0), f"{path}.rid"), ports))
    control.group(_integer(given["group"], f"{where}.group"), nodes)


_APPLY = {
    "entries": _entry,
    "defaults": _default,
    "registers": _register,
    "meters": _meter,
    "mirrors": _mirror,
    "multicast": _multicast,
}


def state(program: Program, given: Mapping[str, Any] | None = None, where: str = "tables") -> dict[str, Any]:
    """Return what the engine takes, from what a scenario says. Raises UserError."""
    control = Control(program)
    apply(control, given or {}, where)
    return control.dictionary()
