"""Frames and table entries for any program: made at random from the compiler's JSON, by a seed.

A frame is made by walking the parser: each header that a state takes is filled, and what the state then chooses by is made one of the
values that it knows, or left as it is. Fields and entries take their values from one small set for each width, so that tables are hit.
"""

import json
import random
from collections.abc import Iterator
from typing import Any

from penstock.p4.stf import MOST_PRIORITY, Step, table_add, tables_of

PORTS = (0, 1, 2, 3)  # where frames come in, and mostly go
PORT_BITS = 9
MOST_STATES = 40  # of a walk
ENTRIES = 6  # of a table
GROUPS = (1, 2, 3)


def number(text: str) -> int:
    """Return a number of the JSON, which may be negative."""
    return int(text, 16) if "x" in text else int(text, 0)


class Guesses:
    """Frames, entries and groups for one program."""

    def __init__(self, program: dict[str, Any], seed: int):
        self.program = program
        self.rng = random.Random(seed)
        types = {one["name"]: one["fields"] for one in program["header_types"]}
        self.fields: dict[str, list[Any]] = {one["name"]: types[one["header_type"]] for one in program["headers"]}
        self.stacks: dict[str, list[Any]] = {one["name"]: types[one["header_type"]] for one in program.get("header_stacks", [])}
        for one in program.get("header_union_stacks", []):
            self.stacks.setdefault(one["name"], [])
        self.states = {one["name"]: one for one in program["parsers"][0]["parse_states"]} if program["parsers"] else {}
        self.start = program["parsers"][0].get("init_state") if program["parsers"] else None
        self.pools: dict[int, list[int]] = {}
        for value, bits in _constants(program):
            if len(self._pool(bits)) < 40 and value not in self._pool(bits):
                self._pool(bits).append(value)

    def _pool(self, bits: int) -> list[int]:
        if bits not in self.pools:
            most = (1 << bits) - 1
            self.pools[bits] = (
                list(PORTS)
                if bits == PORT_BITS
                else sorted({0, 1, most, *(self.rng.getrandbits(bits) for _ in range(4)), min(2, most), min(3, most)})
            )
        return self.pools[bits]

    def value(self, bits: int, known: float = 0.6) -> int:
        """Return a value, one of a few with the share `known`."""
        return self.rng.choice(self._pool(bits)) & ((1 << bits) - 1) if self.rng.random() < known else self.rng.getrandbits(bits)

    # --- frames

    def frame(self) -> bytes:
        """Return a frame that the parser takes, or one that is cut off or changed."""
        bits = self._walk()
        data = bytearray(int(bits, 2).to_bytes(len(bits) // 8, "big") if len(bits) >= 8 else b"")
        what = self.rng.random()
        if what < 0.6:
            data += self.rng.randbytes(self.rng.choice((0, 4, 8, 20, 64)))
        elif what < 0.8:
            data += bytes(self.rng.randrange(60))
        elif what < 0.9:
            data = data[: self.rng.randrange(len(data) + 1)]
        return bytes(data)

    def changed(self, frame: bytes) -> bytes:
        """Return a frame like another one."""
        data = bytearray(frame)
        what = self.rng.random()
        if what < 0.5:
            for _ in range(self.rng.randrange(1, 4)):
                if data:
                    data[self.rng.randrange(len(data))] = self.rng.randrange(256)
        elif what < 0.7:
            data = data[: self.rng.randrange(len(data) + 1)]
        elif what < 0.9:
            data += self.rng.randbytes(self.rng.randrange(1, 60))
        return bytes(data)

    def _walk(self) -> str:
        made = ""
        known: dict[str, tuple[int, int]] = {}  # header.field: place and bits
        last: dict[str, str] = {}  # the last header of a stack
        state, counts = self.start, 0
        while state is not None and state in self.states and counts < MOST_STATES and len(made) < 8 * 1500:
            counts += 1
            for operation in self.states[state]["parser_ops"]:
                if operation["op"] in ("extract", "extract_VL"):
                    kind, name = operation["parameters"][0]["type"], operation["parameters"][0]["value"]
                    fields = self.fields.get(name, []) if kind == "regular" else self.stacks.get(name, [])
                    label = name
                    if kind == "stack":
                        label = f"{name}[{sum(one.startswith(f'{name}[') for one in last)}]"
                        last[label] = last[name] = label
                    for entry in fields:
                        if entry[1] == "*":
                            made += "".join(f"{self.rng.randrange(256):08b}" for _ in range(4 * self.rng.randrange(4)))
                            continue
                        known[f"{label}.{entry[0]}"] = (len(made), int(entry[1]))
                        made += f"{self.value(int(entry[1])):0{int(entry[1])}b}"
                elif operation["op"] in ("shift", "advance"):
                    made += "".join(self.rng.choice("01") for _ in range(8 * self.rng.randrange(5)))
            made, state = self._choose(self.states[state], made, known, last)
        return made + "0" * (-len(made) % 8)

    def _choose(self, state: dict[str, Any], made: str, known: dict[str, tuple[int, int]], last: dict[str, str]) -> tuple[str, str | None]:
        """Make the transition key one of the values of the state; return the bits and the next state."""
        transitions = state["transitions"]
        if not transitions:
            return made, None
        chosen = self.rng.choice(transitions)
        if chosen.get("type", "hexstr") != "hexstr" or chosen["value"] == "default":  # compilers of before 2017 write no type
            return made, chosen["next_state"]
        value, places = number(chosen["value"]), []
        for key in state["transition_key"]:
            if key["type"] == "lookahead":
                places.append((len(made) + key["value"][0], key["value"][1]))
            else:
                owner, name = key["value"]
                label = last.get(owner, owner) if key["type"] == "stack_field" else owner
                places.append(known.get(f"{label}.{name}", (-1, self._bits(owner, name))))
        mask = number(chosen["mask"]) if chosen.get("mask") else -1
        for place, bits in reversed(places):
            size = 8 * -(-bits // 8)
            one, its = value & ((1 << bits) - 1), mask & ((1 << bits) - 1)
            value, mask = value >> size, mask >> size
            if place < 0:
                continue
            made = made.ljust(place + bits, "0")
            before = int(made[place : place + bits], 2)
            made = made[:place] + f"{before & ~its | one & its:0{bits}b}" + made[place + bits :]
        return made, chosen["next_state"]

    def _bits(self, owner: str, name: str) -> int:
        fields = self.fields.get(owner) or self.stacks.get(owner) or []
        return next((int(entry[1]) for entry in fields if entry[0] == name and entry[1] != "*"), 8)

    def steps(self, count: int, seeds: list[Step]) -> Iterator[Step]:
        """Yield frames without commands; a third of them is like those of `seeds`."""
        for _ in range(count):
            if seeds and self.rng.random() < 0.33:
                like = self.rng.choice(seeds)
                yield Step([], like.port, self.changed(like.frame))
            else:
                yield Step([], self.rng.choice(PORTS), self.frame())

    # --- tables

    def commands(self) -> list[str]:
        """Return entries for all tables, members of action profiles, multicast groups and mirror sessions."""
        made = []
        pipelines = json.dumps([self.program["pipelines"], self.program["actions"]])
        if "mcast_grp" in pipelines:
            made += [f"mc_mgrp_create {group}" for group in GROUPS]
            for node in range(4):
                ports = sorted(self.rng.sample(range(1, 6), self.rng.randrange(1, 4)))
                made.append(f"mc_node_create {node + 1} {' '.join(map(str, ports))}")
                made.append(f"mc_node_associate {GROUPS[node % len(GROUPS)]} {node}")
        if '"clone_' in pipelines:
            made += [f"mirroring_add {session} {self.rng.randrange(1, 6)}" for session in _sessions(self.program)]
        members: dict[str, int] = {}
        for table in tables_of(self.program).values():
            made += self._table(table, members)
        return made

    def _action(self, table: dict[str, Any]) -> tuple[str, list[str]] | None:
        actions = {int(one["id"]): one for one in self.program["actions"]}
        if not table.get("action_ids"):
            return None
        possible = [actions[int(one)] for one in table["action_ids"]]
        chosen = self.rng.choices(possible, [3 if one["runtime_data"] else 1 for one in possible])[0]
        return chosen["name"], [hex(self.value(int(one["bitwidth"]), 0.8)) for one in chosen["runtime_data"]]

    def _table(self, table: dict[str, Any], members: dict[str, int]) -> Iterator[str]:
        action = self._action(table)
        constant = (table.get("default_entry") or {}).get("action_const", False)
        direct = table["type"] == "simple"
        if action and direct and not constant and self.rng.random() < 0.3:
            yield " ".join(["table_set_default", table["name"], action[0], *action[1]])
        if table.get("entries") or not table["key"] or action is None:
            return
        if not direct:
            yield from self._indirect(table, members)
            return
        for index in range(ENTRIES):
            action = self._action(table)
            assert action is not None
            yield table_add(table, [self._match(key) for key in table["key"]], *action, MOST_PRIORITY + index)

    def _indirect(self, table: dict[str, Any], members: dict[str, int]) -> Iterator[str]:
        profile = table["action_profile"]
        first = members.get(profile)
        if first is None:
            members[profile] = 0
            for _ in range(4):
                action = self._action(table)
                assert action is not None
                yield " ".join(["act_prof_create_member", profile, action[0], *action[1]])
            if table["type"] == "indirect_ws":
                for group in range(2):
                    yield f"act_prof_create_group {profile}"
                    for member in self.rng.sample(range(4), 2):
                        yield f"act_prof_add_member_to_group {profile} {member} {group}"
        for index in range(ENTRIES):
            group = table["type"] == "indirect_ws" and self.rng.random() < 0.6
            command = "table_indirect_add_with_group" if group else "table_indirect_add"
            keys = " ".join(self._match(key) for key in table["key"])
            ordered = f" {index + 1}" if table["match_type"] in ("ternary", "range") else ""
            yield f"{command} {table['name']} {keys} => {self.rng.randrange(2 if group else 4)}{ordered}"

    def _match(self, key: dict[str, Any]) -> str:
        bits = self._key_bits(key)
        value = self.value(bits, 0.9)
        kind = key["match_type"]
        if kind == "lpm":
            length = self.rng.choice((0, bits // 4, bits // 2, bits))
            return f"{hex(value)}/{length}"
        if kind in ("ternary", "optional"):
            mask = self.rng.choice((0, (1 << bits) - 1, (1 << bits) - 1, self.rng.getrandbits(bits)))
            return f"{hex(value & mask)}&&&{hex(mask)}"
        if kind == "range":
            low, high = sorted((value, self.value(bits)))
            return f"{hex(low)}->{hex(high)}"
        return hex(value)

    def _key_bits(self, key: dict[str, Any]) -> int:
        owner, name = key["target"] if isinstance(key["target"], list) else (key["target"], "$valid$")
        return 1 if name == "$valid$" else self._bits(owner, name)


def _constants(program: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield constants that fields are compared with, and the fields' widths."""
    types = {one["name"]: one["fields"] for one in program["header_types"]}
    widths = {(one["name"], entry[0]): entry[1] for one in program["headers"] for entry in types[one["header_type"]]}
    waiting: list[Any] = [program["pipelines"]]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            left, right = value.get("left"), value.get("right")
            if isinstance(left, dict) and isinstance(right, dict) and left.get("type") == "field" and right.get("type") == "hexstr":
                bits = widths.get(tuple(left["value"]), 0)
                if bits and bits != "*":
                    yield number(right["value"]) & ((1 << int(bits)) - 1), int(bits)
            waiting += value.values()
    for table in tables_of(program).values():
        for entry in table.get("entries", []):
            for key, one in zip(table["key"], entry["match_key"], strict=False):
                bits = widths.get(tuple(key["target"]), 0) if isinstance(key["target"], list) else 0
                if bits and bits != "*" and isinstance(one.get("key"), str):
                    yield number(one["key"]), int(bits)


def _sessions(program: dict[str, Any]) -> list[int]:
    """Return the mirror sessions that actions name, and a few more."""
    found = {1, 2, 3}
    for action in program["actions"]:
        for primitive in action["primitives"]:
            if primitive["op"].startswith("clone_") and primitive["parameters"][0]["type"] == "hexstr":
                found.add(number(primitive["parameters"][0]["value"]))
    return sorted(session for session in found if 0 < session < 1 << 15)
