"""Reads the STF files of p4c's tests (commands, packets in, packets out) and runs them on a Machine."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.designs.p4_switch import runtime_cli
from penstock.designs.p4_switch.program import Program
from penstock.designs.p4_switch.tables import Control, named
from penstock.errors import UserError

_CALL = re.compile(r"(?P<action>[\w.$]+)\s*\((?P<arguments>.*?)\)")
_MASK_DIGIT = {"x": "f", "b": "1", "o": "7"}


@dataclass
class Outcome:
    """What a file expected, and what came."""

    problems: list[str] = field(default_factory=list)
    packets: int = 0
    ignored: list[str] = field(default_factory=list)


def _digits(text: str) -> tuple[str, str]:
    """Return value and mask of a number with '*' for digits that do not matter."""
    prefix, digits = text[:2], text[2:]
    mask = "".join("0" if digit == "*" else _MASK_DIGIT[prefix[1]] for digit in digits)
    return prefix + digits.replace("*", "0"), prefix + mask


def _match(kind: str, text: str) -> str:
    """Return a key of STF as the tables of a scenario have it."""
    if kind == "ternary" and "&&&" not in text:
        return "&&&".join(_digits(text)) if text[:2] in ("0x", "0b", "0o") else text
    if kind == "lpm" and "/" not in text and text[:2] in ("0x", "0b", "0o"):
        bits = {"x": 4, "b": 1, "o": 3}[text[1]]
        kept = len(text) - 2 - text.count("*")
        return f"{text.replace('*', '0')}/{kept * bits}"
    return text


class Runner:
    """Runs one STF file."""

    def __init__(self, program: Program, machine: Any):
        self.program = program
        self.machine = machine
        self.control = Control(program)
        self.commands = runtime_cli.Commands(self.control)
        self.outcome = Outcome()
        self.came: dict[int, list[bytes]] = {}
        self.expected: dict[int, list[str]] = {}
        self.ports: set[int] = set()
        self.now = 0

    def run(self, text: str) -> Outcome:
        """Run all commands; return what differs."""
        for line in text.splitlines():
            line = line.split("#")[0].strip()
            if line:
                self._command(line)
        for port in sorted(self.ports):  # those that p4c's own runner opens: the ports that the file names
            self._compare(port, self.expected.get(port, []), self.came.get(port, []))
        return self.outcome

    def _send_state(self) -> None:
        self.machine.configure(self.control.dictionary())
        for changes in (self.control.entries, self.control.registers, self.control.meters):
            changes.clear()
        self.control.defaults.clear()
        self.control.members.clear()
        self.control.member_groups.clear()

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        name, rest = name.lower(), rest.strip()
        if name == "packet":
            self._send_state()
            port, _, data = rest.partition(" ")
            data = "".join(data.split())
            self.ports.add(int(port))
            self.now += 1000
            self.outcome.packets += 1
            for out, sent in self.machine.process(int(port), bytes.fromhex(data), self.now):
                self.came.setdefault(out, []).append(sent)
        elif name == "expect":
            port, _, data = rest.partition(" ")
            self.ports.add(int(port))
            self.expected.setdefault(int(port), []).append("".join(data.split()).lower())
        elif name == "add":
            self._add(rest)
        elif name == "setdefault":
            table, call = rest.split(maxsplit=1)
            info = self._table(table)
            self.control.default(info, self._action(info, call))
        elif name in runtime_cli._COMMANDS:
            self.commands.run(f"{name} {rest}")
        else:
            self.outcome.ignored.append(line)

    def _table(self, name: str) -> Any:
        try:
            return named(self.program.tables, name, "table")
        except UserError:
            found = [table for full, table in self.program.tables.items() if full.endswith(name)]
            if len(found) != 1:
                raise
            return found[0]

    def _action(self, table: Any, text: str) -> Any:
        found = _CALL.search(text)
        if not found:
            raise UserError(f"{text!r} is no action")
        names = [full for full in table.actions if full == found["action"]] or [f for f in table.actions if f.endswith(found["action"])]
        given: dict[str, Any] = {}
        for argument in filter(None, (part.strip() for part in found["arguments"].split(","))):
            key, _, one = argument.partition(":")
            given[key.strip()] = one.strip()
        return self.control.action(table, names[0] if len(names) == 1 else found["action"], given)

    def _add(self, rest: str) -> None:
        call = _CALL.search(rest)
        before = rest[: call.start()] if call else rest
        table, *parts = before.split()
        info = self._table(table)
        priority: int | None = None
        if parts and ":" not in parts[0]:
            priority = 10000 - int(parts.pop(0), 0)
        given: dict[str, str] = {}
        for key, one in re.findall(r"(\S+?)\s*:\s*(\S+)", " ".join(parts)):
            given[key] = one
        chosen: list[Any] = [None] * len(info.keys)
        for name, one in given.items():
            index = self._key(info, name)
            chosen[index] = _match(info.keys[index].kind, one)
        for index, key in enumerate(info.keys):
            if chosen[index] is None and key.kind in ("exact", "valid"):
                chosen[index] = 0
        if info.kind in ("ternary", "range") and priority is None:
            priority = 10000
        self.control.add(info, self.control.matches(info, chosen), self._action(info, rest), priority)

    @staticmethod
    def _key(table: Any, name: str) -> int:
        name = re.sub(r"\$(\d+)", r"[\1]", name)
        names = [key.name for key in table.keys]
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
        raise UserError(f"table {table.name!r} has no key {name!r}, only {', '.join(names)}")

    def _compare(self, port: int, expected: list[str], came: list[bytes]) -> None:
        if expected and all(not one for one in expected):
            return
        if len(expected) != len(came):
            self.outcome.problems.append(f"port {port}: {len(came)} packets came, {len(expected)} are expected")
            return
        for index, (wanted, found) in enumerate(zip(expected, came, strict=True)):
            exact = wanted.endswith("$")
            wanted, text = wanted.rstrip("$"), found.hex()
            good = len(text) == len(wanted) if exact else len(text) >= len(wanted)
            if not good or any(a not in ("*", b) for a, b in zip(wanted, text, strict=False)):
                self.outcome.problems.append(f"port {port}, packet {index}: {text} came, {wanted} is expected")
