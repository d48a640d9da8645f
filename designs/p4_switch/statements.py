"""Primitives of bmv2's simple_switch and steps of a parser, compiled to instructions."""

from collections.abc import Callable, Mapping
from typing import Any

from penstock.designs.p4_switch.code import TEMPS, VALUES, Code
from penstock.designs.p4_switch.config import DROP_PORT
from penstock.designs.p4_switch.layout import Field, words
from penstock.errors import UserError


class Statements:
    """Compiles statements into a Code."""

    def __init__(self, code: Code):
        self.code = code
        self.layout = code.layout

    def block(self, primitives: list[dict[str, Any]], where: str) -> int:
        """Compile the primitives of an action; return its first instruction."""
        code = self.code
        start = code.here()
        firsts, jumps = [], []
        for index, primitive in enumerate(primitives):
            firsts.append(code.here())
            try:
                jump = self.primitive(primitive["op"], primitive.get("parameters", []))
            except UserError as error:
                raise UserError(f"{where}, primitive {index} ({primitive['op']}): {error}") from error
            if jump is not None:
                jumps.append((jump, index))
        firsts.append(code.here())
        code.emit("end")
        for (instruction, target), index in jumps:
            if not index < target < len(firsts):  # the compiler jumps forwards only: no action runs for ever
                raise UserError(f"{where}, primitive {index}: jumps to primitive {target}; {index + 1} to {len(firsts) - 1} are possible")
            code.instructions[instruction][4] = firsts[target]
        return start

    def primitive(self, name: str, given: list[Any]) -> tuple[int, int] | None:
        """Compile one primitive; return the instruction and the primitive that it jumps to. Raises UserError."""
        self.code.statement()
        if name in ("_jump", "_jump_if_zero"):
            target = self.code.range(given[-1])[0]
            if name == "_jump":
                return self.code.emit("jump"), target
            condition = self._flag(given[0])
            return self.code.emit("jump_if_zero", 0, condition), target
        if name not in _PRIMITIVES:
            raise UserError(f"the primitive {name!r} is not supported")
        _PRIMITIVES[name](self, *given)
        return None

    def _flag(self, given: Any) -> int:
        """A value that is compared with zero: one word."""
        code = self.code
        if code.kind(given) == "bool":
            return code.bool(given)
        place, n, _ = code.exact(given)
        if n == 1:
            return place
        flag = code.temp()
        code.emit("ne", flag, place, code.constant(0, n), n=n)
        return flag

    # --- assignments

    def _variable(self, given: Any) -> tuple[int, Field] | None:
        """A field of variable length: its place and the field."""
        if given["type"] == "field":
            _, found, place = self.code.field(given["value"])
            if found.variable:
                return place, found
        return None

    def assign(self, target: Any, value: Any) -> None:
        """Assign a value to a field."""
        if self._variable(target):
            return self.assign_variable(target, value)
        if target["type"] == "register":
            return self.register_write({"type": "register_array", "value": target["value"][0]}, target["value"][1], value)
        return self.code.store(target, value)

    def assign_variable(self, target: Any, value: Any) -> None:
        """Copy a field of variable length."""
        left, right = self._variable(target), self._variable(value)
        if not left or not right or left[1].bits < right[1].bits:
            raise UserError("a field of variable length is assigned from something else than such a field of at most its size")
        self.code.emit("mov", left[0], right[0], n=1 + words(right[1].bits))

    def assign_header(self, target: Any, source: Any) -> None:
        """Copy a header, with its valid bit."""
        if self.code.header_type(target) is not self.code.header_type(source):
            one, other = (self.code.header_type(given) for given in (target, source))
            if [(f.bits, f.variable) for f in one.fields] != [(f.bits, f.variable) for f in other.fields]:
                raise UserError(f"a header of type {other.name!r} is assigned to one of type {one.name!r}")
        into = self.code.header(target)
        self.code.emit("assign_header", 0, into, self.code.header(source))

    def assign_union(self, target: Any, source: Any) -> None:
        """Copy a header union, header by header: a valid one makes the others invalid."""
        left, right = self.layout.union(target["value"]), self.layout.union(source["value"])
        if len(left) != len(right):
            raise UserError(f"header union {source['value']!r} is assigned to {target['value']!r}, which is of another type")
        for one, other in zip(left, right, strict=True):
            self.code.emit("assign_header", 0, self.code.constant(one), self.code.constant(other))

    def assign_stack(self, target: Any, source: Any) -> None:
        """Copy a header stack."""
        left, right = self.layout.stack(target["value"]), self.layout.stack(source["value"])
        if left.type is not right.type or len(left.headers) != len(right.headers):
            raise UserError(f"header stack {right.name!r} is assigned to {left.name!r}, which is of another kind")
        for one, other in zip(left.headers, right.headers, strict=True):
            self.code.emit("assign_header", 0, self.code.constant(one), self.code.constant(other))
        self.code.emit("mov", VALUES | left.fill, VALUES | right.fill)

    def two(self, operator: str) -> Callable[..., None]:
        """Return the statement of P4_14 that assigns a sum and the like."""
        return lambda target, a, b: self.code.store(target, {"type": "expression", "value": {"op": operator, "left": a, "right": b}})

    # --- headers

    def header(self, operation: str, given: Any) -> None:
        """Make a header valid or invalid."""
        self.code.emit(operation, 0, self.code.header(given))

    def shift_stack(self, operation: str, stack: Any, count: Any) -> None:
        """Push or pop a header stack."""
        self.code.emit(operation, 0, self.layout.stack(stack["value"]).number, self.code.index(count))

    # --- externs

    def _named(self, names: Mapping[str, Any], given: Any, what: str) -> Any:
        if given["value"] not in names:
            raise UserError(f"{what} {given['value']!r} is used, but not declared")
        return names[given["value"]]

    def register_read(self, target: Any, register: Any, index: Any) -> None:
        """Read a register; outside of the array the target keeps its value, as in bmv2."""
        number, bits, _ = self._named(self.code.names.registers, register, "register")
        room, put = self.code.target(target)
        place = self.code.index(index)
        if put.place is not None and words(bits) == words(room) and bits <= room:
            self.code.emit("register_read", put.place, number, place, bits, words(bits))
            return
        n = max(words(bits), words(room))
        scratch = self.code.temp(n)
        self.code.emit("widen", scratch, put.loaded(), words(room), 0, n)
        self.code.emit("register_read", scratch, number, place, bits, words(bits))
        put(scratch, bits <= room)

    def register_write(self, register: Any, index: Any, value: Any) -> None:
        """Write a register, cut to its width; nothing happens outside of the array."""
        number, bits, _ = self._named(self.code.names.registers, register, "register")
        place = self.code.index(index)
        self.code.emit("register_write", 0, number, place, self.code.low(value, words(bits)), words(bits))

    def count(self, counter: Any, index: Any) -> None:
        """Count the packet and its bytes."""
        self.code.emit("count", 0, self._named(self.code.names.counters, counter, "counter"), self.code.index(index))

    def meter(self, meter: Any, index: Any, target: Any) -> None:
        """Run a meter; outside of the array the target keeps its value."""
        number = self._named(self.code.names.meters, meter, "meter")
        place = self.code.index(index)
        self._kept(target, lambda scratch: self.code.emit("execute_meter", scratch, number, place), 2)

    def _kept(self, target: Any, emit: Callable[[int], Any], bits: int) -> None:
        """What may leave its target as it is: through scratch that has the old value."""
        room, put = self.code.target(target)
        scratch = put.loaded()
        emit(scratch)
        put(scratch, room >= bits)

    def hash(self, target: Any, base: Any, calculation: Any, size: Any) -> None:
        """Assign base + hash modulo size."""
        number = self._named(self.code.names.calculations, calculation, "calculation")
        low = self.code.low(base, 1)
        most = self.code.low(size, 1)
        room, put = self.code.target(target)
        scratch = self.code.temp(words(room))
        if words(room) > 1:
            self.code.emit("mov", scratch, self.code.constant(0, words(room)), n=words(room))
        self.code.emit("hash", scratch, number, low, most)
        put(scratch, room >= 64)

    def random(self, target: Any, low: Any, high: Any) -> None:
        """Assign a random number from low to high."""
        least = self.code.low(low, 1)
        most = self.code.low(high, 1)
        self._kept(target, lambda scratch: self.code.emit("random", scratch, least, most), 64)

    def one_word(self, operation: str, *given: Any) -> None:
        """What takes one or two numbers."""
        places = [self.code.index(value) for value in given]
        self.code.emit(operation, 0, *places)

    def check(self, given: Any) -> None:
        """assert() and assume(): counted where they do not hold."""
        self.code.emit("check", 0, self._flag(given))

    def mark_to_drop(self, given: Any = None) -> None:
        """Give the drop port to a struct of standard metadata: the packet's own, or a copy that the compiler has made for a control."""
        owner = self.layout.by_name.get(given["value"]) if given and given["type"] == "header" else None
        if owner is None or owner.type.field("egress_spec") is None:
            self.plain("drop")
            return
        for name, value in (("egress_spec", DROP_PORT), ("mcast_grp", 0)):
            if owner.type.field(name):
                self.code.store({"type": "field", "value": [owner.name, name]}, {"type": "hexstr", "value": hex(value)})

    def plain(self, operation: str) -> None:
        """What takes nothing."""
        self.code.emit(operation)

    # --- the parser

    def parser_step(self, given: dict[str, Any]) -> None:
        """Compile one operation of a parser state. Raises UserError."""
        code = self.code
        code.statement()
        operation, parameters = given["op"], given["parameters"]
        if operation == "primitive":
            if self.primitive(parameters[0]["op"], parameters[0].get("parameters", [])):
                raise UserError("a jump stands alone in a parser state")
        elif operation in ("extract", "extract_VL"):
            self._extract(parameters)
        elif operation == "set":
            if self._variable(parameters[0]):
                self.assign_variable(parameters[0], parameters[1])
            else:
                code.store(parameters[0], parameters[1])
        elif operation == "verify":
            condition = code.bool(parameters[0])
            code.emit("verify", 0, condition, code.index(parameters[1]))
        elif operation in ("shift", "advance"):
            bits = parameters[0]
            if isinstance(bits, int):
                bits = {"type": "hexstr", "value": hex(bits * 8)}
            code.emit("advance", 0, code.index(bits))
        else:
            raise UserError(f"the parser operation {operation!r} is not supported")

    def _extract(self, parameters: list[Any]) -> None:
        code = self.code
        kind, name = parameters[0]["type"], parameters[0]["value"]
        if kind == "regular":
            header_type, what, place = self.layout.header(name).type, "extract", self.layout.header(name).number
        elif kind == "stack":
            header_type, what, place = self.layout.stack(name).type, "extract_next", self.layout.stack(name).number
        else:
            raise UserError(f"extracting to {kind!r} is not supported")
        if kind == "regular" and self.layout.header(name).metadata:
            raise UserError(f"{name!r} is extracted, but it is no header")
        variable = next((found for found in header_type.fields if found.variable), None)
        if variable is None:
            code.emit(what, 0, place, code.constant(0), 0)
            return
        if len(parameters) < 2:
            raise UserError(f"header {name!r} has a field of variable length, but no length is given")
        code.emit(what, 0, place, code.index(parameters[1]), variable.bits)

    def key(self, given: dict[str, Any]) -> tuple[int, int]:
        """Compile one part of a transition key; return its place and bits."""
        code = self.code
        value = given["value"]
        if given["type"] == "field":
            _, found, place = code.field(value)
            if found.variable:
                raise UserError(f"a transition on the field {found.name!r}, which has a variable length, is not supported")
            return place, found.bits
        if given["type"] == "stack_field":
            stack, found, index = code.stack_field(value)
            header, place = code.temp(), code.temp(words(found.bits))
            code.emit("last_header", header, stack)
            code.emit("load_field", place, header, index, n=words(found.bits))
            return place, found.bits
        if given["type"] == "lookahead":
            first, bits = code.ahead(value)
            place = code.temp(words(bits))
            code.emit("lookahead", place, first, bits, n=words(bits))
            return place, bits
        raise UserError(f"a transition on {given['type']!r} is not supported")


_PRIMITIVES: dict[str, Callable[..., None]] = {
    "assign": Statements.assign,
    "modify_field": Statements.assign,
    "assign_VL": Statements.assign_variable,
    "assign_header": Statements.assign_header,
    "copy_header": Statements.assign_header,
    "assign_union": Statements.assign_union,
    "assign_header_stack": Statements.assign_stack,
    "add_to_field": lambda s, target, b: s.two("+")(target, target, b),
    "subtract_from_field": lambda s, target, b: s.two("-")(target, target, b),
    "add": lambda s, *given: s.two("+")(*given),
    "subtract": lambda s, *given: s.two("-")(*given),
    "bit_xor": lambda s, *given: s.two("^")(*given),
    "bit_or": lambda s, *given: s.two("|")(*given),
    "bit_and": lambda s, *given: s.two("&")(*given),
    "shift_left": lambda s, *given: s.two("<<")(*given),
    "shift_right": lambda s, *given: s.two(">>")(*given),
    "add_header": lambda s, given: s.header("add_header", given),
    "add_header_fast": lambda s, given: s.header("add_header_fast", given),
    "remove_header": lambda s, given: s.header("remove_header", given),
    "push": lambda s, stack, count: s.shift_stack("push", stack, count),
    "pop": lambda s, stack, count: s.shift_stack("pop", stack, count),
    "register_read": Statements.register_read,
    "register_write": Statements.register_write,
    "count": Statements.count,
    "execute_meter": Statements.meter,
    "modify_field_with_hash_based_offset": Statements.hash,
    "modify_field_rng_uniform": Statements.random,
    "drop": lambda s: s.plain("drop"),
    "mark_to_drop": Statements.mark_to_drop,
    "clone_ingress_pkt_to_egress": lambda s, session, fields: s.one_word("clone", session, fields),
    "clone_egress_pkt_to_egress": lambda s, session, fields: s.one_word("clone", session, fields),
    "resubmit": lambda s, fields: s.one_word("resubmit", fields),
    "recirculate": lambda s, fields: s.one_word("recirculate", fields),
    "generate_digest": lambda s, receiver, fields: s.one_word("digest", fields),
    "truncate": lambda s, length: s.one_word("truncate", length),
    "exit": lambda s: s.plain("exit"),
    "assert": Statements.check,
    "assume": Statements.check,
    "log_msg": lambda s, *given: None,
    "no_op": lambda s: None,
}

__all__ = ["TEMPS", "Statements"]
