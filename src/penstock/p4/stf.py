"""What p4c's tests (.stf) and p4lang's tutorials (sN-runtime.json) put into a program's tables, as commands of bmv2's runtime CLI.

The commands go to simple_switch and to the P4 device alike. Of a .stf file packets are taken, too; what it expects is not looked at, as
simple_switch itself answers.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.basics import files
from penstock.errors import UserError

MOST_BYTES = 16 << 20
MOST_PRIORITY = 10_000  # a higher number is first in both kinds of files, the lower one on bmv2
_CALL = re.compile(r"(?P<action>[\w.$]+)\s*\((?P<arguments>.*?)\)")
_DIGIT_BITS = {"x": 4, "b": 1, "o": 3}
_MASK_DIGIT = {"x": "f", "b": "1", "o": "7"}
_DIRECT = ("mirroring_add", "mirroring_add_mc", "mirroring_delete", "mc_mgrp_create", "mc_node_create", "mc_node_associate",
           "register_write", "register_reset", "meter_set_rates", "meter_array_set_rates")  # fmt: skip
_SHOWN = ("expect", "no_packet", "wait", "check_counter", "register_read", "counter_read", "mirroring_get", "meter_get_rates")


@dataclass
class Step:
    """Commands, and then a frame at a port."""

    commands: list[str]
    port: int
    frame: bytes


@dataclass
class Script:
    """What a file does: frames with commands before them, and what is not understood."""

    steps: list[Step] = field(default_factory=list)
    after: list[str] = field(default_factory=list)  # commands behind the last frame
    ignored: list[str] = field(default_factory=list)
    ports: set[int] = field(default_factory=set)


def tables_of(program: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the tables of a compiled program by their names."""
    return {table["name"]: table for pipeline in program["pipelines"] for table in pipeline["tables"]}


def key_name(key: dict[str, Any]) -> str:
    """Return what a key of a table is called."""
    if isinstance(key.get("name"), str):
        return str(key["name"])
    return ".".join(key["target"]) if isinstance(key["target"], list) else str(key["target"])


def _ending(names: list[str], name: str, what: str) -> str:
    found = [full for full in names if full == name] or [full for full in names if full.endswith(name)]
    if len(found) != 1:
        raise UserError(f"{what} {name!r} is {'none' if not found else 'more than one'} of the program's: {', '.join(names[:8])}")
    return found[0]


def table_add(table: dict[str, Any], keys: list[str], action: str, data: list[str], priority: int) -> str:
    """Return the command; the priority is bmv2's, for tables that have one."""
    ordered = [str(priority)] if table["match_type"] in ("ternary", "range") else []
    return " ".join(["table_add", table["name"], action, *keys, "=>", *data, *ordered])


class _Reader:
    def __init__(self, program: dict[str, Any]):
        self.tables = tables_of(program)
        self.parameters = {action["name"]: [one["name"] for one in action["runtime_data"]] for action in program["actions"]}
        self.script = Script()
        self.waiting: list[str] = []

    def line(self, text: str) -> None:
        name, _, rest = text.partition(" ")
        name, rest = name.lower(), rest.strip()
        if name in ("packet", "expect"):
            port, _, data = rest.partition(" ")
            self.script.ports.add(int(port))
            if name == "packet":
                self.script.steps.append(Step(self.waiting, int(port), bytes.fromhex("".join(data.split()))))
                self.waiting = []
        elif name == "add":
            self.waiting.append(self._add(rest))
        elif name == "setdefault":
            table, call = rest.split(maxsplit=1)
            found = self.tables[_ending(list(self.tables), table, "table")]
            self.waiting.append(" ".join(["table_set_default", found["name"], *self._action(found, call)]))
        elif name in _DIRECT:
            self.waiting.append(f"{name} {rest}")
        elif name not in _SHOWN:
            self.script.ignored.append(text)

    def _action(self, table: dict[str, Any], text: str) -> list[str]:
        found = _CALL.search(text)
        if not found:
            raise UserError(f"{text!r} is no action")
        name = _ending(table["actions"], found["action"], f"action of table {table['name']!r}")
        given = dict(re.findall(r"([\w.$]+)\s*:\s*(\w+)", found["arguments"]))
        if set(given) != set(self.parameters[name]):
            raise UserError(f"action {name!r} has the parameters {', '.join(self.parameters[name])}, not {', '.join(given)}")
        return [name, *(given[parameter] for parameter in self.parameters[name])]

    def _add(self, rest: str) -> str:
        call = _CALL.search(rest)
        name, *parts = rest[: call.start()].split() if call else rest.split()
        table = self.tables[_ending(list(self.tables), name, "table")]
        priority = MOST_PRIORITY - int(parts.pop(0), 0) if parts and ":" not in parts[0] else MOST_PRIORITY
        keys = [{"ternary": "0&&&0", "lpm": "0/0", "range": "0->0"}.get(key["match_type"], "0") for key in table["key"]]
        for given, value in re.findall(r"(\S+?)\s*:\s*(\S+)", " ".join(parts)):
            index = _key(table, given)
            keys[index] = _match(table["key"][index]["match_type"], value)
        action, *data = self._action(table, rest)
        return table_add(table, keys, action, data, priority)


def _key(table: dict[str, Any], name: str) -> int:
    name = re.sub(r"\$(\d+)", r"[\1]", name)
    names = [key_name(key) for key in table["key"]]
    trials: tuple[Callable[[str], bool], ...] = (
        lambda full: full in (name, f"{name}$", f"{name}.$valid$"),
        lambda full: name.endswith(".valid") and full in (name[:-5] + "$valid$", name[:-5] + "isValid()"),
        lambda full: full.endswith((f".{name}", f".{name}$")),
        lambda full: name == "valid" and full.endswith("$valid$"),
    )
    for trial in trials:
        for index, full in enumerate(names):
            if trial(full):
                return index
    raise UserError(f"table {table['name']!r} has no key {name!r}, only {', '.join(names)}")


def _match(kind: str, text: str) -> str:
    """Return a key as the CLI has it."""
    base = text[1:2] if text[:2] in ("0x", "0b", "0o") else ""
    if kind == "ternary" and "&&&" not in text:
        if not base:
            return f"{text}&&&0x{'f' * 32}"
        return f"{text.replace('*', '0')}&&&{text[:2]}{''.join('0' if one == '*' else _MASK_DIGIT[base] for one in text[2:])}"
    if kind == "lpm" and "/" not in text and base:
        return f"{text.replace('*', '0')}/{(len(text) - 2 - text.count('*')) * _DIGIT_BITS[base]}"
    return text


def _text(path: Path, what: str) -> str:
    try:
        return files.read_text(path, what, MOST_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error


def read(path: Path, program: dict[str, Any]) -> Script:
    """Read a .stf file. Raises UserError that begins with the file's name and the line."""
    reader = _Reader(program)
    for number, line in enumerate(_text(path, "a file of p4c's tests (.stf)").splitlines(), 1):
        try:
            if text := line.split("#")[0].strip():
                reader.line(text)
        except UserError as error:
            raise UserError(f"{path}:{number}: {error}") from error
        except (ValueError, IndexError, KeyError) as error:
            raise UserError(f"{path}:{number}: cannot be read: {error}") from error
    reader.script.after = reader.waiting
    return reader.script


def runtime(path: Path, program: dict[str, Any]) -> list[str]:
    """Return the commands that do what a sN-runtime.json of the tutorials says. Raises UserError that begins with the file's name."""
    tables = tables_of(program)
    parameters = {action["name"]: [one["name"] for one in action["runtime_data"]] for action in program["actions"]}
    try:
        given = json.loads(_text(path, "entries of a tutorial (.json)"))
        commands = []
        for entry in given.get("table_entries", []):
            table = tables[_ending(list(tables), entry["table"], "table")]
            action = _ending(table["actions"], entry["action_name"], "action")
            data = [str(entry.get("action_params", {})[name]) for name in parameters[action]]
            if entry.get("default_action"):
                commands.append(" ".join(["table_set_default", table["name"], action, *data]))
                continue
            kinds = {key_name(key): key["match_type"] for key in table["key"]}
            keys = [_runtime_match(kind, entry.get("match", {}).get(name)) for name, kind in kinds.items()]
            commands.append(table_add(table, keys, action, data, MOST_PRIORITY - int(entry.get("priority", 0))))
        node = 0
        for group in given.get("multicast_group_entries", []):
            commands.append(f"mc_mgrp_create {group['multicast_group_id']}")
            for replica in group["replicas"]:
                commands.append(f"mc_node_create {replica['instance']} {replica['egress_port']}")
                commands.append(f"mc_node_associate {group['multicast_group_id']} {node}")
                node += 1
        for session in given.get("clone_session_entries", []):
            commands += [f"mirroring_add {session['clone_session_id']} {one['egress_port']}" for one in session["replicas"]]
        return commands
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: is not what the tutorials have for a switch: {error!r}") from error


def _runtime_match(kind: str, given: Any) -> str:
    if given is None:
        return {"ternary": "0&&&0", "lpm": "0/0", "range": "0->0"}.get(kind, "0")
    sign = {"ternary": "&&&", "lpm": "/", "range": "->"}.get(kind)
    return sign.join(str(part) for part in given) if sign and isinstance(given, list) else str(given)
