"""Reads the JSON that p4c-bm2-ss writes for v1model, checks it, and makes of it what the engine runs (`model/machine/program.hpp`).

What is not supported is named in one UserError when the program is loaded; nothing is found out only when a packet comes.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.basics import files
from penstock.designs.p4_switch import layout as layouts
from penstock.designs.p4_switch.code import ALL, Code, Names, Parameter, number, width
from penstock.designs.p4_switch.layout import WORD, Layout, words
from penstock.designs.p4_switch.statements import Statements
from penstock.errors import UserError
from penstock.paths import COMMAND

MOST_BYTES = 64 << 20  # of a JSON file
MOST_CELLS = 1 << 26  # words of all registers, counters and meters together
MOST_ENTRIES = 1 << 30  # that a table may say it has room for
MINOR = 24  # the newest version of the format (2.x) that is known

ALGORITHMS = (
    *("csum16", "cksum16", "crc16", "crc32", "crcCCITT", "crc8_custom", "crc16_custom", "crc32_custom", "crc64_custom"),
    *("xor16", "xor32", "identity", "round_robin", "random"),
)
CORE_ERRORS = ("NoError", "PacketTooShort", "NoMatch", "StackOutOfBounds", "HeaderTooShort", "ParserTimeout", "ParserInvalidArgument")
# Fields that the switch itself reads and writes, by the names that simple_switch knows.
STANDARD = (
    *("standard_metadata.ingress_port", "standard_metadata.packet_length", "standard_metadata.instance_type"),
    *("standard_metadata.egress_spec", "standard_metadata.egress_port"),
)
OPTIONAL = (
    *("standard_metadata.parser_error", "standard_metadata.checksum_error"),
    *("intrinsic_metadata.ingress_global_timestamp", "intrinsic_metadata.egress_global_timestamp"),
    *("intrinsic_metadata.mcast_grp", "intrinsic_metadata.egress_rid", "intrinsic_metadata.priority"),
    *("queueing_metadata.enq_timestamp", "queueing_metadata.enq_qdepth", "queueing_metadata.deq_timedelta"),
    *("queueing_metadata.deq_qdepth", "queueing_metadata.qid"),
)


@dataclass
class Key:
    """A field that a table matches."""

    name: str
    kind: str  # exact, lpm, ternary, range, valid or optional
    bits: int
    word: int  # first of its words in the key


@dataclass
class Action:
    """An action: its parameters and its place in the code."""

    name: str
    number: int
    parameters: list[Parameter]
    words: int  # of its data


@dataclass
class TableInfo:
    """A table as the control plane sees it."""

    name: str
    number: int
    kind: str  # exact, lpm, ternary or range
    keys: list[Key]
    size: int
    actions: dict[str, Action]
    profile: str | None
    constant_entries: bool
    constant_default: bool
    has_selector: bool = False


@dataclass(frozen=True)
class Switch:
    """How a state of the parser chooses the next one, where it looks into value sets."""

    state: int
    bits: tuple[int, ...]  # of each key
    choices: tuple[tuple[str, tuple[int, ...], tuple[int, ...], int], ...]  # value set or "", values, masks, the next state (ALL: none)

    def cases(self, values: Mapping[str, Iterable[int]]) -> list[int]:
        """Return what the engine tries, one after the other; `values`: of each value set."""
        found: list[int] = []
        for name, fixed, masks, target in self.choices:
            for one in [fixed] if not name else [self._parts(value) for value in values.get(name, ())]:
                found += [*in_words(self.bits, one), *in_words(self.bits, masks), target]
        return found

    def _parts(self, value: int) -> tuple[int, ...]:
        """Return the keys that a value of a set is made of: one behind the other, without padding."""
        parts = []
        for size in reversed(self.bits):
            parts.append(value & (1 << size) - 1)
            value >>= size
        return tuple(reversed(parts))


@dataclass
class Program:
    """A program that has been read: what the engine gets, and what the control plane must know."""

    path: str
    dictionary: dict[str, Any]
    tables: dict[str, TableInfo] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    registers: dict[str, tuple[int, int, int]] = field(default_factory=dict)  # number, bits, size
    counters: dict[str, tuple[int, int]] = field(default_factory=dict)  # number, size
    meters: dict[str, tuple[int, int]] = field(default_factory=dict)
    direct_counters: dict[str, str] = field(default_factory=dict)  # name, table
    direct_meters: dict[str, str] = field(default_factory=dict)
    profiles: dict[str, int] = field(default_factory=dict)
    value_sets: dict[str, int] = field(default_factory=dict)  # of the parser: bits of a value
    switches: list["Switch"] = field(default_factory=list)  # that look into them


def load(path: Path) -> Program:
    """Read a program. Raises UserError that begins with the file's name."""
    if path.suffix == ".p4":
        words = f"is the source of a program; {COMMAND} p4 compile {path} makes the JSON that is wanted here"
        raise UserError(f"{path}: {words} (docs/how-to/p4-program.md)")
    try:
        given = json.loads(files.read_text(path, "a program that p4c-bm2-ss has compiled (.json)", MOST_BYTES))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"{path}: is no JSON, as p4c-bm2-ss writes it: {error}") from error
    return parse(given, str(path))


def parse(given: Any, path: str) -> Program:
    """Make a program of the JSON's object. Raises UserError that begins with `path`."""
    try:
        return _Reader(given, path).program
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        kind = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise UserError(f"{path}: is not what p4c-bm2-ss writes for v1model: {kind}") from error
    except RecursionError as error:
        raise UserError(f"{path}: an expression is nested too deeply") from error


def in_words(bits: Iterable[int], values: Iterable[int]) -> list[int]:
    """Return values of so many bits each as the engine has them."""
    return [word for width, value in zip(bits, values, strict=True) for word in word_list(value, words(width))]


def _split(text: str, bits: list[int]) -> list[int]:
    """Return the fields of a hexstr that pads each to whole bytes."""
    value = number(text)
    found = []
    for one in reversed(bits):
        size = 8 * -(-one // 8)
        found.append(value & ((1 << size) - 1))
        value >>= size
    return found[::-1]


def word_list(value: int, n: int) -> list[int]:
    """Return n words of a number, least significant first."""
    return [(value >> (WORD * i)) & ALL for i in range(n)]


class _Reader:
    """Reads one program."""

    def __init__(self, given: dict[str, Any], path: str):
        self._check_version(given)
        self.given = given
        self.layout: Layout = layouts.layout(given)
        self.names = Names()
        self.code = Code(self.layout, self.names)
        self.statements = Statements(self.code)
        self.out: dict[str, Any] = {}
        self.program = Program(path, self.out)
        self.aliases = {alias: tuple(target) for alias, target in given.get("field_aliases", [])}
        self.cells = 0
        self._state()
        self._calculations()
        self._headers()
        self._standard()
        self._actions()
        self._profiles()
        self._parser()
        self._pipelines()
        self._deparser()
        self._checksums()
        self.out |= {
            "words": self.layout.words,
            "metadata_words": self.layout.metadata_words,
            "scratch": self.code.temps + 1,
            "constants": self.code.constants,
            "operations": list(self.code.operations),
            "code": [value for instruction in self.code.instructions for value in instruction],
        }

    @staticmethod
    def _check_version(given: Any) -> None:
        if not isinstance(given, dict) or "pipelines" not in given or "headers" not in given:
            raise UserError("is no program that p4c-bm2-ss has compiled: it has no pipelines and headers")
        version = given.get("__meta__", {}).get("version", [2, 0])
        if not isinstance(version, list) or [type(part) for part in version] != [int, int]:
            raise UserError(f"has the version {version!r} of the format; two numbers are wanted, as [2, {MINOR}]")
        if version[0] != 2 or version[1] > MINOR:
            raise UserError(f"has version {version[0]}.{version[1]} of the format; 2.0 to 2.{MINOR} are supported")
        if given.get("extern_instances"):
            raise UserError(f"has the extern instance {given['extern_instances'][0]['name']!r}; v1model has none that simple_switch knows")

    # --- state

    def _cells(self, count: int, what: str) -> None:
        if count < 0:
            raise UserError(f"{what} has a size below 0")
        self.cells += count
        if self.cells > MOST_CELLS:
            raise UserError(f"{what}: registers, counters and meters take more than {MOST_CELLS} words of 64 bits together")

    def _state(self) -> None:
        registers: list[list[int]] = []
        counters: list[int] = []
        meters: list[list[int]] = []
        for entry in self.given.get("register_arrays", []):
            bits, size = width(entry["bitwidth"], f"register {entry['name']!r}"), int(entry["size"])
            self._cells(size * words(bits), f"register {entry['name']!r}")
            self.names.registers[entry["name"]] = (len(registers), bits, size)
            registers.append([size, bits])
        for entry in self.given.get("counter_arrays", []):
            if entry.get("is_direct"):
                self.program.direct_counters[entry["name"]] = entry["binding"]
                continue
            self._cells(2 * int(entry["size"]), f"counter {entry['name']!r}")
            self.names.counters[entry["name"]] = len(counters)
            self.program.counters[entry["name"]] = (len(counters), int(entry["size"]))
            counters.append(int(entry["size"]))
        self.direct_meters: dict[str, tuple[int, list[str]]] = {}
        for entry in self.given.get("meter_arrays", []):
            if int(entry.get("rate_count", 2)) != 2:
                raise UserError(f"meter {entry['name']!r} has {entry['rate_count']} rates; two are supported")
            direct = bool(entry.get("is_direct"))
            size = 0 if direct else int(entry["size"])
            self._cells(8 * size, f"meter {entry['name']!r}")
            if entry["type"] not in ("bytes", "packets"):
                raise UserError(f"meter {entry['name']!r} counts {entry['type']!r}; bytes or packets are possible")
            if direct:
                self.program.direct_meters[entry["name"]] = entry["binding"]
                self.direct_meters[entry["name"]] = (len(meters), entry["result_target"])
            else:
                self.names.meters[entry["name"]] = len(meters)
                self.program.meters[entry["name"]] = (len(meters), size)
            meters.append([size, int(entry["type"] == "bytes")])
        self.program.registers = self.names.registers
        self.out |= {"registers": registers, "counters": counters, "meters": meters}

    def _inputs(self, inputs: list[dict[str, Any]], what: str) -> tuple[list[list[int]], bool]:
        """What a hash or checksum is made of: [kind, header, field or place, bits]."""
        parts, payload = [], False
        for given in inputs:
            kind, value = given["type"], given["value"]
            if payload:
                raise UserError(f"{what}: something follows the payload, which is not supported")
            if kind == "field":
                header, found, _ = self.code.field(value)
                index = header.type.fields.index(found) if found in header.type.fields else -1
                if index < 0:
                    parts.append([3, header.number, 0, 1])
                else:
                    parts.append([0, header.number, index, found.bits])
            elif kind == "hexstr":
                bits = width(given["bitwidth"], f"{what}: a constant")
                place = self.code.constant(number(value) & ((1 << bits) - 1), words(bits))
                parts.append([1, 0, place, bits])
            elif kind == "header":
                parts.append([2, self.layout.header(value).number, 0, 0])
            elif kind == "payload":
                payload = True
            else:
                raise UserError(f"{what}: an input of type {kind!r} is not supported")
        return parts, payload

    def _calculations(self) -> None:
        self.out["calculations"] = []
        for given in self.given.get("calculations", []):
            self.names.calculations[given["name"]] = self._calculation(given["algo"], given["input"], f"calculation {given['name']!r}")

    def _calculation(self, algorithm: str, inputs: list[dict[str, Any]], what: str) -> int:
        if algorithm not in ALGORITHMS:
            raise UserError(f"{what}: the algorithm {algorithm!r} is not supported; {', '.join(ALGORITHMS)} are")
        parts, payload = self._inputs(inputs, what)
        self.out["calculations"].append({"algorithm": algorithm, "parts": [v for part in parts for v in part], "payload": payload})
        return len(self.out["calculations"]) - 1

    def _headers(self) -> None:
        self.out["headers"] = [
            {
                "base": header.base,
                "bits": header.type.bits,
                "metadata": header.metadata,
                "peers": header.peers,
                "fields": [v for f in header.type.fields for v in (f.place, f.bits, int(f.variable), int(f.signed))],
            }
            for header in self.layout.headers
        ]
        self.out["stacks"] = [{"fill": stack.fill, "headers": stack.headers} for stack in self.layout.stacks]
        lists = {}
        for given in self.given.get("field_lists", []):
            if not 0 <= int(given["id"]) < 1 << 16:
                raise UserError(f"field list {given['name']!r} has the id {given['id']}; 0 to {(1 << 16) - 1} are possible")
            lists[int(given["id"])] = [v for element in given["elements"] for v in self._element(element, given["name"])]
        self.out["field_lists"] = [{"id": number, "words": found} for number, found in lists.items()]
        errors = {name: int(value) for name, value in self.given.get("errors", [])}
        for name, value in errors.items():
            if not 0 <= value < 1 << 32:
                raise UserError(f"the error {name!r} has the number {value}")
        unused = 1 << 16
        for name in CORE_ERRORS:
            if name not in errors:
                errors[name] = 0 if name == "NoError" and 0 not in errors.values() else unused
                unused += 1
        self.out["errors"] = [errors[name] for name in CORE_ERRORS]

    def _element(self, given: dict[str, Any], name: str) -> list[int]:
        """Return [place, words] of what a field list names."""
        if given["type"] == "field":
            _, found, place = self.code.field(given["value"])
            return [place, words(found.bits) + found.variable]
        if given["type"] == "header":
            header = self.layout.header(given["value"])
            return [header.base, header.type.words]
        raise UserError(f"field list {name!r} has something of type {given['type']!r}, which is not supported")

    def _standard(self) -> None:
        found = []
        for name in (*STANDARD, *OPTIONAL):
            header, member = self.aliases.get(name, tuple(name.split(".")))
            owner = self.layout.by_name.get(header)
            place = owner.type.field(member) if owner else None
            if owner is None or place is None:
                if name in STANDARD:
                    raise UserError(f"has no field {name!r}, which every program for v1model has")
                found.append([-1, 0])
            else:
                if place.bits > WORD or place.variable:
                    raise UserError(f"the field {header}.{member} has {place.bits} bits; {WORD} are possible, and no variable length")
                found.append([owner.base + place.place, place.bits])
        self.out["standard"] = [v for pair in found for v in pair]

    # --- actions, parser, pipelines

    def _actions(self) -> None:
        self.action_by_id: dict[int, Action] = {}
        starts: list[int] = []
        for given in self.given["actions"]:
            parameters, place = [], 0
            for entry in given["runtime_data"]:
                bits = width(entry["bitwidth"], f"action {given['name']!r}: its parameter {entry['name']!r}")
                parameters.append(Parameter(str(entry["name"]), bits, place))
                place += words(bits)
            self.code.parameters = parameters
            action = Action(given["name"], len(starts), parameters, place)
            starts.append(self.statements.block(given["primitives"], f"action {given['name']!r}"))
            self.action_by_id[int(given["id"])] = action
            self.program.actions.append(action)
        self.code.parameters = []
        self.out["actions"] = [v for start, action in zip(starts, self.program.actions, strict=True) for v in (start, action.words)]

    def _named(self, key: str, name: str) -> dict[str, Any]:
        for given in self.given[key]:
            if given["name"] == name:
                return given
        raise UserError(f"has no {name!r} among its {key}; v1model programs have")

    def _parser(self) -> None:
        parser = self._named("parsers", "parser")
        for given in self.given.get("parse_vsets", []):
            self.program.value_sets[given["name"]] = given["compressed_bitwidth"]
        numbers = {given["name"]: index for index, given in enumerate(parser["parse_states"])}
        states: list[dict[str, Any]] = []
        for given in parser["parse_states"]:
            where = f"parser state {given['name']!r}"
            start = self.code.here()
            try:
                for step in given["parser_ops"]:
                    self.statements.parser_step(step)
                self.code.statement()
                keys = [self.statements.key(part) for part in given["transition_key"]]
            except UserError as error:
                raise UserError(f"{where}: {error}") from error
            self.code.emit("end")
            bits = [width for _, width in keys]
            choices: list[tuple[str, tuple[int, ...], tuple[int, ...], int]] = []
            otherwise = -1
            for transition in given["transitions"]:
                following = transition["next_state"]
                if following is not None and following not in numbers:
                    raise UserError(f"{where}: goes to the state {following!r}, which is not declared")
                target = -1 if following is None else numbers[following]
                kind = transition.get("type", "hexstr")
                if kind == "default" or transition["value"] == "default":
                    otherwise = target
                    continue
                name = transition["value"] if kind == "parse_vset" else ""
                if name and self.program.value_sets.get(name) != sum(bits):
                    raise UserError(f"{where}: looks for {sum(bits)} bits in the value set {name!r}, which is not declared so")
                masks = [(1 << width) - 1 for width in bits]
                if transition.get("mask") is not None:
                    masks = [mask & full for mask, full in zip(_split(transition["mask"], bits), masks, strict=True)]
                values = () if name else tuple(v & mask for v, mask in zip(_split(transition["value"], bits), masks, strict=True))
                choices.append((name, values, tuple(masks), target & ALL))
            switch = Switch(len(states), tuple(bits), tuple(choices))
            if any(name for name, *_ in choices):
                self.program.switches.append(switch)
            places = [place + i for place, width in keys for i in range(words(width))]
            states.append({"code": start, "key": places, "cases": switch.cases({}), "default": otherwise})
        initial = parser.get("init_state")
        if initial is not None and initial not in numbers:
            raise UserError(f"the parser begins in the state {initial!r}, which is not declared")
        self.out["parser"] = {"initial": -1 if initial is None else numbers[initial], "states": states}

    def _profiles(self) -> None:
        self.out["profiles"] = []
        for pipeline in self.given["pipelines"]:
            for given in pipeline.get("action_profiles", []):
                selector = given.get("selector")
                calculation = -1
                if selector is not None:
                    calculation = self._calculation(selector["algo"], selector["input"], f"the selector of {given['name']!r}")
                self.program.profiles[given["name"]] = len(self.out["profiles"])
                self.out["profiles"].append({"calculation": calculation})

    def _pipelines(self) -> None:
        self.out["tables"], self.out["nodes"], self.out["starts"] = [], [], []
        for name in ("ingress", "egress"):
            given = self._named("pipelines", name)
            parts = [("table", entry) for entry in given["tables"]]
            parts += [("condition", entry) for entry in given.get("conditionals", [])]
            parts += [("call", entry) for entry in given.get("action_calls", [])]
            first = len(self.out["nodes"])
            numbers = {entry["name"]: first + index for index, (_, entry) in enumerate(parts)}

            def node(target: str | None, numbers: dict[str, int] = numbers, name: str = name) -> int:
                if target is not None and target not in numbers:
                    raise UserError(f"{name}: {target!r} comes next, which is not declared")
                return -1 if target is None else numbers[target]

            for kind, entry in parts:
                try:
                    if kind == "table":
                        self.out["nodes"].append([0, len(self.out["tables"]), -1, -1])
                        self._table(entry, node)
                    elif kind == "condition":
                        self.code.statement()
                        start = self.code.here()
                        place = self.code.bool(entry["expression"])
                        self.code.emit("return", 0, place)
                        self.out["nodes"].append([1, start, node(entry["true_next"]), node(entry["false_next"])])
                    else:
                        action = self.action_by_id[int(entry["action_id"])]
                        if action.parameters:
                            raise UserError(f"calls the action {action.name!r}, which has parameters, without an entry that gives them")
                        self.out["nodes"].append([2, action.number, node(entry["next_node"]), -1])
                except UserError as error:
                    raise UserError(f"{kind} {entry['name']!r}: {error}") from error
            self.out["starts"].append(node(given["init_table"]))
            self._check_forwards(name, self.out["starts"][-1], [entry["name"] for _, entry in parts], first)
        self.out["nodes"] = [v for entry in self.out["nodes"] for v in entry]

    def _check_forwards(self, pipeline: str, start: int, names: list[str], first: int) -> None:
        """Raise UserError where a pipeline comes back to what it has done: it would run for ever."""
        follow: dict[int, set[int]] = {}
        for index in range(len(names)):
            kind, what, yes, no = self.out["nodes"][first + index]
            found = {yes, no}
            if kind == 0:
                table = self.out["tables"][what]
                found = {*table["next"][1::3], *table["next"][2::3], table["miss"]}
            follow[first + index] = found - {-1}
        done: set[int] = set()
        way: dict[int, list[int]] = {start: list(follow[start])} if start >= 0 else {}  # from the start to where we are; what is left to do
        while way:
            here, left = next(reversed(way.items()))
            if not left:
                done.add(here)
                del way[here]
                continue
            target = left.pop()
            if target in way:
                raise UserError(f"{pipeline}: {names[here - first]!r} goes back to {names[target - first]!r}, so it would run for ever")
            if target not in done:
                way[target] = list(follow[target])

    def _table(self, given: dict[str, Any], node: Any) -> None:
        keys: list[Key] = []
        gathered: list[list[int]] = []
        for part in given["key"]:
            kind, target = part["match_type"], part["target"]
            if kind not in ("exact", "lpm", "ternary", "range", "valid", "optional"):
                raise UserError(f"the match kind {kind!r} is not supported")
            if kind == "valid":
                target = [target, layouts.VALID] if isinstance(target, str) else [target[0], layouts.VALID]
            _, found, place = self.code.field(target)
            if found.variable:
                raise UserError(f"matches the field {found.name!r}, which has a variable length")
            if kind == "range" and found.bits > WORD:
                raise UserError(f"matches a range of {found.bits} bits; {WORD} are possible")
            mask = (1 << found.bits) - 1 if part.get("mask") is None else number(part["mask"]) & ((1 << found.bits) - 1)
            keys.append(Key(str(part.get("name", ".".join(target))), kind, found.bits, len(gathered)))
            for i, bits in enumerate(word_list(mask, words(found.bits))):
                gathered.append([place + i, bits, int(kind == "range")])
        if given["type"] not in ("simple", "indirect", "indirect_ws"):
            raise UserError(f"the kind {given['type']!r} is not supported")
        actions = {}
        identities = given.get("action_ids") or [self._action_id(name) for name in given["actions"]]
        for identity, name in zip(identities, given["actions"], strict=True):
            actions[name] = self.action_by_id[int(identity)]
        following = given.get("next_tables", {})
        base = node(given.get("base_default_next"))
        hit = node(following["__HIT__"]) if "__HIT__" in following else None
        miss = node(following["__MISS__"]) if "__MISS__" in following else None
        kind = given["match_type"]
        if kind not in ("exact", "lpm", "ternary", "range"):
            raise UserError(f"the match kind {kind!r} is not supported")
        if not isinstance(given["name"], str):
            raise UserError("has a name that is no text")
        if not 0 <= int(given.get("max_size", 1024)) <= MOST_ENTRIES:
            raise UserError(f"has room for {given['max_size']} entries; 0 to {MOST_ENTRIES:,} are possible")
        info = TableInfo(
            given["name"], len(self.out["tables"]), kind, keys, int(given.get("max_size", 1024)), actions, given.get("action_profile"),
            "entries" in given, bool(given.get("default_entry", {}).get("action_const")), given["type"] == "indirect_ws",
        )  # fmt: skip
        if info.profile is not None and info.profile not in self.program.profiles:
            raise UserError(f"the action profile {info.profile!r} is used, but not declared")
        if (given["type"] == "simple") != (info.profile is None):
            raise UserError("action profiles of the old format are not supported")
        nexts = []
        for name, action in actions.items():
            plain = node(following[name]) if name in following else base
            nexts += [action.number, plain if hit is None else hit, plain if miss is None else miss]
        meter, target = -1, [0, 0]
        if given.get("direct_meters"):
            meter, field_name = self.direct_meters[given["direct_meters"]]
            _, found, place = self.code.field(field_name)
            if found.bits > WORD or found.variable or found.name == layouts.VALID:
                raise UserError(f"the direct meter's result goes to {found.name!r}; a field of at most {WORD} bits is possible")
            target = [place, found.bits]
        default = None
        if given.get("default_entry") is not None:
            entry = given["default_entry"]
            action = self.action_by_id[int(entry["action_id"])]
            default = [action.number, *self._data(action, entry.get("action_data", []))]
            if action.number not in nexts[::3]:
                nexts += [action.number, base, base if miss is None else miss]
        entries = [self._entry(info, entry) for entry in given.get("entries", [])]
        ordered = kind in ("ternary", "range")
        if len({(*entry["low"], *entry["high"], entry["priority"] if ordered else 0) for entry in entries}) < len(entries):
            raise UserError("has two entries with the same key")
        if info.name in self.program.tables:
            raise UserError("is declared twice")
        self.program.tables[info.name] = info
        self.out["tables"].append(
            {
                "name": info.name,
                "kind": ("exact", "lpm", "ternary", "range").index(kind),
                "key": [v for word in gathered for v in word],
                "lpm": [v for key in keys if key.kind == "lpm" for v in (key.word, key.bits)],
                "size": info.size,
                "next": nexts,
                "miss": base if miss is None else miss,
                "default": default,
                "entries": entries,
                "counters": bool(given.get("with_counters")),
                "constant_default": info.constant_default,
                "meter": meter,
                "meter_target": target,
                "profile": -1 if info.profile is None else self.program.profiles[info.profile],
            }
        )

    def _action_id(self, name: str) -> int:
        for given in self.given["actions"]:
            if given["name"] == name:
                return int(given["id"])
        raise UserError(f"the action {name!r} is not declared")

    def _data(self, action: Action, values: list[str]) -> list[int]:
        if len(values) != len(action.parameters):
            raise UserError(f"action {action.name!r} takes {len(action.parameters)} parameters, but has {len(values)}")
        data = []
        for parameter, value in zip(action.parameters, values, strict=True):
            data += word_list(number(value) & ((1 << parameter.bits) - 1), words(parameter.bits))
        return data

    def _entry(self, info: TableInfo, given: dict[str, Any]) -> dict[str, Any]:
        matches: list[tuple[int, ...]] = []
        for key, part in zip(info.keys, given["match_key"], strict=True):
            kind = part["match_type"]
            if kind == "lpm":
                matches.append((number(part["key"]), int(part["prefix_length"])))
            elif kind == "ternary":
                matches.append((number(part["key"]), number(part["mask"])))
            elif kind == "range":
                matches.append((number(part["start"]), number(part["end"])))
            elif kind == "optional" and "mask" in part:
                matches.append((number(part["key"]), number(part["mask"])))
            elif kind == "optional":
                matches.append((number(part["key"]), (1 << key.bits) - 1) if part.get("key") is not None else (0, 0))
            else:
                matches.append((int(part["key"]) if isinstance(part["key"], bool) else number(part["key"]),))
        action = self.action_by_id[int(given["action_entry"]["action_id"])]
        data = self._data(action, given["action_entry"]["action_data"])
        if not 0 <= int(given.get("priority", 0)) < 1 << 31:
            raise UserError(f"an entry has the priority {given['priority']}")
        return entry(info, matches, int(given.get("priority", 0)), action, data)

    # --- the way out

    def _deparser(self) -> None:
        given = self._named("deparsers", "deparser")
        self.code.statement()
        start = self.statements.block(given["primitives"], "the deparser") if given.get("primitives") else -1
        for name in given["order"]:
            if self.layout.header(name).metadata:
                raise UserError(f"the deparser emits {name!r}, which is no header")
        self.out["deparser"] = {"order": [self.layout.header(name).number for name in given["order"]], "code": start}

    def _checksums(self) -> None:
        self.out["checksums"] = []
        for given in self.given.get("checksums", []):
            what = f"checksum {given['name']!r}"
            if given.get("type", "generic") != "generic":
                raise UserError(f"{what}: the type {given['type']!r} is not supported")
            header, found, place = self.code.field(given["target"])
            if found.bits > WORD or found.variable:
                raise UserError(f"{what}: its field has {found.bits} bits; {WORD} are possible")
            if given["calculation"] not in self.names.calculations:
                raise UserError(f"{what}: the calculation {given['calculation']!r} is not declared")
            start = -1
            if given.get("if_cond") is not None:
                self.code.statement()
                start = self.code.here()
                self.code.emit("return", 0, self.code.bool(given["if_cond"]))
            calculation = self.names.calculations[given["calculation"]]
            self.out["checksums"].append(
                [
                    *(header.number, place, found.bits, calculation, start),
                    *(int(given.get("verify", True)), int(given.get("update", True))),
                ]
            )
        self.out["checksums"] = [v for checksum in self.out["checksums"] for v in checksum]


def entry(info: TableInfo, matches: list[tuple[int, ...]], priority: int, action: Action | None, data: list[int]) -> dict[str, Any]:
    """Return an entry for the engine: for each word of the key a value and a mask, or the ends of a range. Raises UserError.

    `matches` has for each key field (value,), (value, prefix length), (value, mask) or (first, last).
    """
    low: list[int] = []
    high: list[int] = []
    prefix = 0
    for key, match in zip(info.keys, matches, strict=True):
        n = words(key.bits)
        full = (1 << key.bits) - 1
        if any(not 0 <= value <= full for value in match[: 1 if key.kind == "lpm" else 2]):
            raise UserError(f"table {info.name!r}: {key.name} has {key.bits} bits; the entry's value does not fit")
        if key.kind == "range":
            if match[0] > match[1]:
                raise UserError(f"table {info.name!r}: {key.name}: the range begins at {match[0]:#x}, beyond its end {match[1]:#x}")
            low += word_list(match[0], n)
            high += word_list(match[1], n)
            continue
        mask = full
        if key.kind == "lpm":
            if not 0 <= match[1] <= key.bits:
                raise UserError(f"table {info.name!r}: {key.name} has {key.bits} bits; a prefix of {match[1]} is not possible")
            prefix = match[1]
            mask = full ^ (full >> prefix)
        elif key.kind in ("ternary", "optional"):
            mask = match[1]
        low += word_list(match[0] & mask, n)
        high += word_list(mask, n)
    return {
        "low": low,
        "high": high,
        "prefix": prefix,
        "priority": priority,
        "action": -1 if action is None else action.number,
        "data": data,
    }
