"""Expressions and statements of a P4 program, compiled to a flat list of instructions on 64-bit words (`model/machine/code.hpp`).

bmv2 reckons with integers of any size and cuts a value to a field's width when it is stored. Here the range of each expression is known
before the program runs, so it is evaluated in as many words as it needs, and in one where only the lowest bits matter: the compiler writes
`(a + b) & 0xff`, of which the upper words of the sum need not exist.
"""

import builtins
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.designs.p4_switch.layout import VALID, WORD, Field, Header, Layout, words
from penstock.errors import UserError

VALUES, TEMPS, CONSTANTS, DATA = (kind << 28 for kind in range(4))  # what an operand refers to: packet, scratch, constants, action data
MOST_WORDS = 64  # of a value
MOST_BITS = 1 << 16  # of what is only moved
ALL = (1 << WORD) - 1


def number(text: str) -> int:
    """Return a hexstr of the JSON."""
    return int(text, 16)


def words_of(low: int, high: int) -> int:
    """Return how many words hold all values of a range: unsigned if none is negative, else in two's complement."""
    return words(high.bit_length()) if low >= 0 else words(max((-low - 1).bit_length(), high.bit_length()) + 1)


def width(given: Any, what: str) -> int:
    """Return a number of bits of the JSON. Raises UserError."""
    bits = int(given)
    if not 0 < bits <= MOST_BITS:
        raise UserError(f"{what} has {bits} bits; 1 to {MOST_BITS:,} are possible")
    return bits


@dataclass
class Parameter:
    """A parameter of an action: its place in the action data."""

    name: str
    bits: int
    place: int


@dataclass
class Names:
    """What statements refer to by name, and the number of each."""

    registers: dict[str, tuple[int, int, int]] = field(default_factory=dict)  # number, bits, size
    counters: dict[str, int] = field(default_factory=dict)
    meters: dict[str, int] = field(default_factory=dict)
    calculations: dict[str, int] = field(default_factory=dict)


class Code:
    """Instructions and constants as they grow; compiles expressions."""

    def __init__(self, layout: Layout, names: Names):
        self.layout = layout
        self.names = names
        self.instructions: list[list[int]] = []
        self.operations: dict[str, int] = {}
        self.constants: list[int] = []
        self.temps = 0
        self._used = 0
        self._known: dict[tuple[int, ...], int] = {}
        self.parameters: list[Parameter] = []  # of the action that is compiled

    # --- instructions

    def emit(self, operation: str, d: int = 0, a: int = 0, b: int = 0, c: int = 0, n: int = 1) -> int:
        """Append an instruction; return its number. Raises UserError for what is reckoned with too many words."""
        if n > MOST_WORDS and operation in ("mul", "div", "mod"):
            raise UserError(f"a product or quotient has {n * WORD} bits; {MOST_WORDS * WORD} are possible")
        kind = self.operations.setdefault(operation, len(self.operations))
        self.instructions.append([kind, n, d, a, b, c])
        return len(self.instructions) - 1

    def here(self) -> int:
        """Return the number of the next instruction."""
        return len(self.instructions)

    def temp(self, n: int = 1) -> int:
        """Return room for n words until the statement's end."""
        place = self._used
        self._used += n
        self.temps = max(self.temps, self._used)
        return TEMPS | place

    def statement(self) -> None:
        """Begin a statement: scratch is free again."""
        self._used = 0

    def constant(self, value: int, n: int = 1) -> int:
        """Return where a constant of n words is."""
        key = tuple((value >> (WORD * i)) & ALL for i in range(n))
        if key not in self._known:
            self._known[key] = len(self.constants)
            self.constants.extend(key)
        return CONSTANTS | self._known[key]

    # --- what an expression is

    def kind(self, given: Any) -> str:
        """Return data, bool, header or stack. Raises UserError."""
        kind = given["type"]
        value = given["value"]
        if kind in ("field", "hexstr", "local", "runtime_data", "stack_field", "register", "lookahead"):
            return "data"
        if kind in ("bool", "header"):
            return kind
        if kind == "header_stack":
            return "stack"
        if kind != "expression":
            raise UserError(f"expressions with {kind!r} are not supported")
        if "op" not in value:
            return self.kind(value)
        operator = value["op"]
        if operator in ("==", "!=", ">", ">=", "<", "<=", "and", "or", "not", "valid", "valid_union", "d2b"):
            return "bool"
        if operator in ("dereference_header_stack", "dereference_stack"):
            return "header"
        return self.kind(value["left"]) if operator == "?" else "data"

    def field(self, given: list[str]) -> tuple[Header, Field, int]:
        """Return a field with its place."""
        header, found = self.layout.field(given[0], given[1])
        return header, found, VALUES | (header.base + found.place)

    def stack_field(self, given: list[str]) -> tuple[int, Field, int]:
        """Return a stack's number, a field of its elements, and the field's index."""
        stack = self.layout.stack(given[0])
        found = stack.type.field(given[1])
        if found is None:
            raise UserError(f"header stack {given[0]!r} has no field {given[1]!r}")
        return stack.number, found, stack.type.fields.index(found)

    def accessed(self, value: dict[str, Any]) -> tuple[int, Field, int]:
        """Return header operand, field and its index of an access_field. Emits what finds the header."""
        header_type = self.header_type(value["left"])
        index = int(value["right"])
        if not 0 <= index < len(header_type.fields):
            raise UserError(f"header type {header_type.name!r} has no field number {index}")
        return self.header(value["left"]), header_type.fields[index], index

    def header_type(self, given: Any) -> Any:
        """Return the type of a header expression."""
        value = given["value"]
        if given["type"] == "stack_field" and value[1:] == ["last"]:
            raise UserError(
                f"the header {value[0]}.last is used as a whole, which is not supported: the compiler writes it as a field, and "
                "simple_switch ends there; use its fields one by one"
            )
        if given["type"] == "header":
            return self.layout.header(value).type
        if given["type"] == "expression":
            if "op" not in value:
                return self.header_type(value)
            if value["op"] in ("dereference_header_stack", "dereference_stack"):
                return self.layout.stack(value["left"]["value"]).type
            if value["op"] == "?":
                return self.header_type(value["left"])
        raise UserError(f"{given['type']!r} is no header")

    def header(self, given: Any) -> int:
        """Return an operand that is the number of a header; one that no header has if an index is outside its stack."""
        value = given["value"]
        if given["type"] == "header":
            return self.constant(self.layout.header(value).number)
        if given["type"] == "expression":
            if "op" not in value:
                return self.header(value)
            if value["op"] in ("dereference_header_stack", "dereference_stack"):
                index = self.index(value["right"])
                found = self.temp()
                self.emit("header_at", found, self.layout.stack(value["left"]["value"]).number, index)
                return found
        raise UserError(f"{given['type']!r} is no header")

    def index(self, given: Any) -> int:
        """Return an operand of one word: the value, or 2^64 - 1 if it is larger or negative."""
        low, high = self.range(given)
        if low >= 0 and high <= ALL:
            return self.low(given, 1)
        place, n, signed = self.exact(given)
        found = self.temp()
        self.emit("index", found, place, int(signed), n=n)
        return found

    # --- ranges

    def range(self, given: Any) -> tuple[int, int]:
        """Return the least and the largest value that an expression can have."""
        kind, value = given["type"], given["value"]
        if kind == "field":
            return self._field_range(self.field(value)[1])
        if kind == "stack_field":
            return self._field_range(self.stack_field(value)[1])
        if kind == "hexstr":
            return number(value), number(value)
        if kind == "bool":
            return int(value), int(value)
        if kind in ("local", "runtime_data"):
            return 0, (1 << self.parameter(value).bits) - 1
        if kind == "lookahead":
            return 0, (1 << self.ahead(value)[1]) - 1
        if kind == "register":
            return 0, (1 << self.register(value[0])[1]) - 1
        if kind != "expression":
            raise UserError(f"expressions with {kind!r} are not supported")
        if "op" not in value:
            return self.range(value)
        return self._operation_range(value)

    @staticmethod
    def _field_range(found: Field) -> tuple[int, int]:
        if found.variable:
            raise UserError(f"field {found.name!r} has a variable length and cannot be used in an expression")
        return (-(1 << (found.bits - 1)), (1 << (found.bits - 1)) - 1) if found.signed else (0, (1 << found.bits) - 1)

    def _operation_range(self, value: dict[str, Any]) -> tuple[int, int]:
        operator = value["op"]
        if operator in ("==", "!=", ">", ">=", "<", "<=", "and", "or", "not", "valid", "valid_union", "d2b", "b2d"):
            return 0, 1
        if operator == "access_field":
            header_type = self.header_type(value["left"])
            index = int(value["right"])
            if not 0 <= index < len(header_type.fields):
                raise UserError(f"header type {header_type.name!r} has no field number {index}")
            return self._field_range(header_type.fields[index])
        if operator in ("last_stack_index", "size_stack"):
            depth = len(self.layout.stack(value["right"]["value"]).headers)
            return (0, depth) if operator == "size_stack" else (-1, depth - 1)
        if operator in ("two_comp_mod", "sat_cast", "usat_cast"):
            bits = self.width(value["right"])
            return (0, (1 << bits) - 1) if operator == "usat_cast" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        right = self.range(value["right"])
        if operator == "~":
            return -right[1] - 1, -right[0] - 1
        left = self.range(value["left"]) if value.get("left") is not None else (0, 0)
        if operator == "?":
            return min(left[0], right[0]), max(left[1], right[1])
        if operator in _RANGES:
            return _RANGES[operator](left, right)
        raise UserError(f"the operator {operator!r} is not supported")

    def width(self, given: Any) -> int:
        """Return a constant width."""
        bits = self.range(given)
        if bits[0] != bits[1] or not 0 < bits[0] <= MOST_WORDS * WORD // 2:
            raise UserError(f"a cast has a width of {bits[1]} bits; 1 to {MOST_WORDS * WORD // 2} are possible")
        return bits[0]

    @staticmethod
    def ahead(given: list[Any]) -> tuple[int, int]:
        """Return first bit and bits of a lookahead. Raises UserError."""
        first, bits = int(given[0]), width(given[1], "a lookahead")
        if not 0 <= first <= MOST_BITS:
            raise UserError(f"a lookahead begins at bit {first}; 0 to {MOST_BITS:,} are possible")
        return first, bits

    def parameter(self, index: int) -> Parameter:
        """Return a parameter of the action. Raises UserError."""
        if not 0 <= index < len(self.parameters):
            raise UserError(f"action parameter {index} is used, but the action has {len(self.parameters)}")
        return self.parameters[index]

    def register(self, name: str) -> tuple[int, int, int]:
        """Return number, bits and size of a register array. Raises UserError."""
        if name not in self.names.registers:
            raise UserError(f"register {name!r} is used, but not declared")
        return self.names.registers[name]

    # --- values

    def exact(self, given: Any) -> tuple[int, int, bool]:
        """Return where the value is, in how many words, and whether these are in two's complement."""
        low, high = self.range(given)
        n = words_of(low, high)
        if n > MOST_WORDS:
            raise UserError(f"an expression may have values of {max(abs(low), high).bit_length()} bits; {MOST_WORDS * WORD} are possible")
        return self.low(given, n), n, low < 0

    def bool(self, given: Any) -> int:
        """Return where a truth value is, 0 or 1."""
        if self.kind(given) != "bool":
            raise UserError("a number stands where a truth value is needed")
        return self.low(given, 1)

    def low(self, given: Any, n: int, into: int | None = None) -> int:
        """Return where the lowest n words of a value are; in `into` if that is given, which is written by the last instruction only."""
        kind, value = given["type"], given["value"]
        if kind == "expression":
            return self.low(value, n, into) if "op" not in value else self._operation(value, n, into)
        if kind in ("hexstr", "bool"):
            return self.constant(int(value) if kind == "bool" else number(value), n)
        if kind == "field":
            header, found, place = self.field(value)
            self._field_range(found)
            return self._widened(place, found.bits, found.signed, n, into)
        if kind in ("local", "runtime_data"):
            parameter = self.parameter(value)
            return self._widened(DATA | parameter.place, parameter.bits, False, n, into)
        if kind == "stack_field":
            stack, found, index = self.stack_field(value)
            self._field_range(found)
            last = self.temp()
            self.emit("last_header", last, stack)
            return self._loaded(last, found, index, n, into)
        if kind == "register":
            register, bits, _ = self.register(value[0])
            place = self.temp(words(bits))
            index = self.index(value[1])
            self.emit("mov", place, self.constant(0, words(bits)), n=words(bits))
            self.emit("register_read", place, register, index, bits, words(bits))
            return self._widened(place, bits, False, n, into)
        if kind == "lookahead":
            first, bits = self.ahead(value)
            place = self.temp(words(bits))
            self.emit("lookahead", place, first, bits, n=words(bits))
            return self._widened(place, bits, False, n, into)
        raise UserError(f"expressions with {kind!r} are not supported")

    def _loaded(self, header: int, found: Field, index: int, n: int, into: int | None) -> int:
        """Load a field of a header that is known only when the program runs."""
        have = words(found.bits)
        place = into if into is not None and have == n and not found.signed else self.temp(have)
        self.emit("load_field", place, header, index, n=have)
        return self._widened(place, found.bits, found.signed, n, into)

    def _widened(self, place: int, bits: int, signed: builtins.bool, n: int, into: int | None) -> int:
        """Bring a stored value of `bits` bits to n words."""
        have = words(bits)
        if signed and bits < n * WORD:
            result = into if into is not None else self.temp(n)
            self.emit("extend", result, place, bits, have, n)
            return result
        if have >= n:
            return place
        result = into if into is not None else self.temp(n)
        self.emit("widen", result, place, have, 0, n)
        return result

    def _converted(self, given: Any, n: int, into: int | None = None) -> int:
        """Evaluate exactly, then bring to n words."""
        place, have, signed = self.exact(given)
        if have >= n:
            return place
        result = into if into is not None else self.temp(n)
        self.emit("widen", result, place, have, int(signed), n)
        return result

    def _operation(self, value: dict[str, Any], n: int, into: int | None) -> int:
        operator = value["op"]
        given = {"type": "expression", "value": value}
        if operator in ("+", "-", "*", "&", "|", "^"):
            return self._ring(value, n, into)
        if operator == "~":
            operand = self.low(value["right"], n)
            return self._made("not", n, into, operand, 0, self.constant(ALL))
        if operator == "<<":
            operand = self.low(value["left"], n)
            return self._made("shl", n, into, operand, self.index(value["right"]), self.constant(ALL))
        if operator == "?":
            return self._choice(value, n, into)
        if operator == "two_comp_mod":
            bits = self.width(value["right"])
            low, high = self.range(value["left"])
            if -(1 << (bits - 1)) <= low and high < 1 << (bits - 1):
                return self.low(value["left"], n, into)
            if bits >= n * WORD:
                return self.low(value["left"], n, into)
            have = words(bits)
            operand = self.low(value["left"], have)
            return self._made("extend", n, into, operand, bits, have)
        need = words_of(*self.range(given))
        if need < n:  # exact, then wider
            place = self._operation(value, need, None)
            result = into if into is not None else self.temp(n)
            self.emit("widen", result, place, need, int(self.range(given)[0] < 0), n)
            return result
        return self._exact_operation(value, need, into if need == n else None)

    def _made(self, operation: str, n: int, into: int | None, a: int, b: int = 0, c: int = 0) -> int:
        result = into if into is not None else self.temp(n)
        self.emit(operation, result, a, b, c, n)
        return result

    def _ring(self, value: dict[str, Any], n: int, into: int | None) -> int:
        """Operators whose lowest words depend on the operands' lowest words only."""
        operator, right = value["op"], value["right"]
        left = value.get("left")
        if left is None:
            left = {"type": "hexstr", "value": "0x00"}
        if operator == "&":
            for one, other in ((left, right), (right, left)):
                mask = self.range(one)
                if mask[0] < 0:
                    continue
                if mask[1] == 0:
                    return self.constant(0, n)
                low, high = self.range(other)
                if mask[0] == mask[1] and mask[1] & (mask[1] + 1) == 0 and low >= 0 and high <= mask[1]:
                    return self.low(other, n, into)  # cuts nothing
                need = words(mask[1].bit_length())
                if need < n:
                    place = self._ring(value, need, None)
                    return self._made("widen", n, into, place, need)
                if n == 1 and mask[0] == mask[1] and (inner := self._masked(other, mask[1], into)) is not None:
                    return inner
        name = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}[operator]
        a = self.low(left, n)
        b = self.low(right, n)
        return self._made(name, n, into, a, b, self.constant(ALL))

    def _masked(self, given: Any, mask: int, into: int | None) -> int | None:
        """A sum, difference, product or shift of one word and its mask in one instruction."""
        while given["type"] == "expression" and "op" not in given["value"]:
            given = given["value"]
        if given["type"] != "expression" or given["value"]["op"] not in ("+", "-", "*", "<<"):
            return None
        value = given["value"]
        left = value.get("left")
        a = self.low(left, 1) if left is not None else self.constant(0)
        b = self.index(value["right"]) if value["op"] == "<<" else self.low(value["right"], 1)
        name = {"+": "add", "-": "sub", "*": "mul", "<<": "shl"}[value["op"]]
        return self._made(name, 1, into, a, b, self.constant(mask))

    def _choice(self, value: dict[str, Any], n: int, into: int | None) -> int:
        condition = self.bool(value["cond"])
        a = self.low(value["left"], n)
        b = self.low(value["right"], n)
        return self._made("select", n, into, condition, a, b)

    def _exact_operation(self, value: dict[str, Any], n: int, into: int | None) -> int:
        """Operators that need their operands exactly; the result has n words."""
        operator, right = value["op"], value["right"]
        left = value.get("left")
        if operator in ("==", "!=") and self.kind(left) == "header":
            a = self.header(left)
            b = self.header(right)
            result = self._made("equal_headers", 1, into if operator == "==" else None, a, b)
            return result if operator == "==" else self._made("lnot", 1, into, result)
        if operator in ("==", "!=") and (both := self._variable_fields(left, right)):
            result = self._made("equal_variable", 1, into if operator == "==" else None, *both)
            return result if operator == "==" else self._made("lnot", 1, into, result)
        if operator in ("==", "!=", "<", "<=", ">", ">="):
            return self._comparison(operator, left, right, into)
        if operator in ("and", "or"):
            a = self.bool(left)
            b = self.bool(right)
            return self._made(operator, 1, into, a, b)
        if operator == "not":
            return self._made("lnot", 1, into, self.bool(right))
        if operator == "valid":
            return self._valid(right, into)
        if operator == "valid_union":
            result = self.constant(0)
            for member in self.layout.union(right["value"]):
                result = self._made("or", 1, None, result, VALUES | self.layout.headers[member].base)
            return result
        if operator == "d2b":
            low, high = self.range(right)
            if low >= 0 and high <= 1:
                return self.low(right, 1, into)
            place, have, _ = self.exact(right)
            return self._made("ne", 1, into, place, self.constant(0, have)) if have == 1 else self._wide_not_zero(place, have, into)
        if operator == "b2d":
            return self.low(right, 1, into)
        if operator == "access_field":
            header, found, index = self.accessed(value)
            return self._loaded(header, found, index, n, into)
        if operator == "size_stack":
            return VALUES | self.layout.stack(right["value"]).fill
        if operator == "last_stack_index":
            return self._made("sub", 1, into, VALUES | self.layout.stack(right["value"]).fill, self.constant(1), self.constant(ALL))
        if operator == ">>":
            place, have, signed = self.exact(left)
            amount = self.index(right)
            result = into if into is not None and have == n else self.temp(have)
            self.emit("sar" if signed else "shr", result, place, amount, n=have)
            return result
        if operator in ("/", "%"):
            if self.range(left)[0] < 0 or self.range(right)[0] < 0:
                raise UserError(f"the operator {operator!r} on values that may be negative is not supported")
            have = max(self.exact_words(left), self.exact_words(right))
            a = self._converted(left, have)
            b = self._converted(right, have)
            return self._made("div" if operator == "/" else "mod", have, into if have == n else None, a, b)
        if operator in ("sat_cast", "usat_cast"):
            return self._saturated(operator, left, self.width(right), n, into)
        raise UserError(f"the operator {operator!r} is not supported")

    def _variable_fields(self, left: Any, right: Any) -> tuple[int, int] | None:
        """Return the places of two fields of variable length."""
        if left["type"] != "field" or right["type"] != "field":
            return None
        (_, one, a), (_, other, b) = self.field(left["value"]), self.field(right["value"])
        return (a, b) if one.variable and other.variable else None

    def exact_words(self, given: Any) -> int:
        """Return in how many words an expression is exact."""
        return words_of(*self.range(given))

    def _wide_not_zero(self, place: int, n: int, into: int | None) -> int:
        result = into if into is not None else self.temp()
        self.emit("ne", result, place, self.constant(0, n), n=n)
        return result

    def _valid(self, given: Any, into: int | None) -> int:
        if given["type"] == "header":
            return self.field([given["value"], VALID])[2]
        return self._made("valid", 1, into, self.header(given))

    def _comparison(self, operator: str, left: Any, right: Any, into: int | None) -> int:
        kinds = {self.kind(left), self.kind(right)}
        if len(kinds) > 1:
            raise UserError(f"the operator {operator!r} compares {' with '.join(sorted(kinds))}")
        low = min(self.range(left)[0], self.range(right)[0])
        high = max(self.range(left)[1], self.range(right)[1])
        n = words_of(low, high)
        if n > MOST_WORDS:
            raise UserError(f"a comparison needs {n * WORD} bits; {MOST_WORDS * WORD} are possible")
        a = self._converted(left, n)
        b = self._converted(right, n)
        if operator in (">", ">="):
            a, b, operator = b, a, {">": "<", ">=": "<="}[operator]
        name = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le"}[operator]
        if name in ("lt", "le"):
            name += "s" if low < 0 else "u"
        result = into if into is not None else self.temp()
        self.emit(name, result, a, b, n=n)
        return result

    def _saturated(self, operator: str, given: Any, bits: int, n: int, into: int | None) -> int:
        least, most = (0, (1 << bits) - 1) if operator == "usat_cast" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        low, high = self.range(given)
        if least <= low and high <= most:
            return self.low(given, n, into)
        have = words_of(min(low, least), max(high, most))
        signed = min(low, least) < 0
        place = self._converted(given, have)
        less = "lts" if signed else "ltu"
        for limit, below in ((least, True), (most, False)):
            bound = self.constant(limit, have)
            outside, kept = self.temp(), self.temp(have)
            self.emit(less, outside, *((place, bound) if below else (bound, place)), n=have)
            self.emit("select", kept, outside, bound, place, have)
            place = kept
        if into is not None and have == n:
            self.emit("mov", into, place, n=n)
            return into
        return place  # its lowest n words

    # --- storing

    def store(self, target: Any, given: Any) -> None:
        """Assign an expression to a field of whatever kind."""
        bits, put = self.target(target)
        n = words(bits)
        low, high = self.range(given)
        fits = low >= 0 and high < 1 << bits
        into = put.place if fits else None
        place = self.low(given, n, into)
        if into is not None and place == into:
            return
        put(place, fits)

    def target(self, target: Any) -> tuple[int, "Target"]:
        """Return the width of a field that is written, and what writes to it."""
        kind, value = target["type"], target["value"]
        if kind == "expression":
            if "op" not in value:
                return self.target(value)
            if value["op"] == "access_field":
                header, found, index = self.accessed(value)
                self._field_range(found)
                return found.bits, Target(self, found.bits, None, header, index)
            if value["op"] == "d2b":
                return self.target(value["right"])
        if kind == "field":
            _, found, place = self.field(value)
            self._field_range(found)
            if found.name == VALID:
                raise UserError("a header's valid bit cannot be assigned")
            return found.bits, Target(self, found.bits, place)
        if kind == "stack_field":
            stack, found, index = self.stack_field(value)
            self._field_range(found)
            header = self.temp()
            self.emit("last_header", header, stack)
            return found.bits, Target(self, found.bits, None, header, index)
        raise UserError(f"{kind!r} cannot be assigned")


class Target:
    """A field that is written: at a place, or of a header that is known only when the program runs."""

    def __init__(self, code: Code, bits: int, place: int | None, header: int = 0, index: int = 0):
        self.code = code
        self.bits = bits
        self.place = place
        self.header = header
        self.index = index

    def __call__(self, place: int, fits: bool) -> None:
        """Store what is at `place`; `fits`: it has no bits beyond the field's."""
        n = words(self.bits)
        if self.place is None:
            self.code.emit("store_field", 0, self.header, self.index, place, n)
        elif n == 1:
            if fits or self.bits == WORD:
                self.code.emit("mov", self.place, place)
            else:
                self.code.emit("and", self.place, place, self.code.constant((1 << self.bits) - 1), self.code.constant(ALL))
        else:
            self.code.emit("mov", self.place, place, n=n)
            if not fits and self.bits % WORD:
                last = self.place + n - 1
                self.code.emit("and", last, last, self.code.constant((1 << (self.bits % WORD)) - 1), self.code.constant(ALL))

    def loaded(self) -> int:
        """Return scratch that has the field's value now."""
        n = words(self.bits)
        scratch = self.code.temp(n)
        if self.place is None:
            self.code.emit("load_field", scratch, self.header, self.index, n=n)
        else:
            self.code.emit("mov", scratch, self.place, n=n)
        return scratch


def _product(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    corners = [a * b for a in left for b in right]
    return min(corners), max(corners)


def _bitwise(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    bits = max(abs(value).bit_length() for value in (*left, *right))
    return (0, (1 << bits) - 1) if left[0] >= 0 and right[0] >= 0 else (-(1 << bits), (1 << bits) - 1)


def _and(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    positive = [high for low, high in (left, right) if low >= 0]
    return (0, min(positive)) if positive else _bitwise(left, right)


def _shifted_left(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    most = min(right[1], MOST_WORDS * WORD)  # more than a value may have: refused where the value is needed exactly
    return min(left[0], left[0] << most), max(left[1], left[1] << most)


def _shifted_right(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    least = max(0, right[0])
    return min(left[0] >> least, left[0] >> min(right[1], 1 << 16)), max(left[1] >> least, left[1] >> min(right[1], 1 << 16))


_RANGES: dict[str, Callable[[tuple[int, int], tuple[int, int]], tuple[int, int]]] = {
    "+": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "-": lambda left, right: (left[0] - right[1], left[1] - right[0]),
    "*": _product,
    "&": _and,
    "|": _bitwise,
    "^": _bitwise,
    "<<": _shifted_left,
    ">>": _shifted_right,
    "/": lambda left, right: (0, max(0, left[1])),
    "%": lambda left, right: (0, max(0, min(left[1], right[1]))),
}
