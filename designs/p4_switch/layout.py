"""Where the headers and metadata of a P4 program lie: one flat array of 64-bit words for each packet.

Metadata come first (they are cleared together), then headers, then the fill of each stack. A header is its valid bit, then its fields, each
in as many words as it needs, least significant first. A field of variable length is its length in bits, then its bytes.
"""

from dataclasses import dataclass, field
from typing import Any

from penstock.errors import UserError

MOST_WORDS = 1 << 16  # of a packet
WORD = 64
VALID = "$valid$"


def words(bits: int) -> int:
    """Return how many words hold this many bits; one at least."""
    return max(1, -(-bits // WORD))


@dataclass
class Field:
    """A field of a header type: its place behind the header's valid bit."""

    name: str
    bits: int  # at most, of a field of variable length
    signed: bool
    variable: bool
    place: int


@dataclass
class HeaderType:
    """A header type; `words` with the valid bit."""

    name: str
    fields: list[Field]
    words: int
    bits: int  # without a field of variable length

    def field(self, name: str) -> Field | None:
        """Return a field by its name."""
        return next((found for found in self.fields if found.name == name), None)


@dataclass
class Header:
    """A header or a metadata struct."""

    name: str
    number: int
    type: HeaderType
    metadata: bool
    base: int = -1  # of its valid bit
    peers: list[int] = field(default_factory=list)  # the other headers of its union: one is valid at most


@dataclass
class Stack:
    """A header stack; `fill` is where the number of its next element is."""

    name: str
    number: int
    type: HeaderType
    headers: list[int]
    fill: int = -1


@dataclass
class Layout:
    """All headers of a program."""

    headers: list[Header]
    stacks: list[Stack]
    by_name: dict[str, Header] = field(default_factory=dict)
    stack_by_name: dict[str, Stack] = field(default_factory=dict)
    unions: dict[str, list[int]] = field(default_factory=dict)
    metadata_words: int = 0
    words: int = 0

    def header(self, name: str) -> Header:
        """Return a header by its name. Raises UserError."""
        if name not in self.by_name:
            raise UserError(f"header {name!r} is used, but not declared")
        return self.by_name[name]

    def stack(self, name: str) -> Stack:
        """Return a stack by its name. Raises UserError."""
        if name not in self.stack_by_name:
            raise UserError(f"header stack {name!r} is used, but not declared")
        return self.stack_by_name[name]

    def union(self, name: str) -> list[int]:
        """Return the headers of a union by its name. Raises UserError."""
        if name not in self.unions:
            raise UserError(f"header union {name!r} is used, but not declared")
        return self.unions[name]

    def field(self, header: str, name: str) -> tuple[Header, Field]:
        """Return a field by its names; `$valid$` is one, too. Raises UserError."""
        owner = self.header(header)
        if name == VALID:
            return owner, Field(VALID, 1, False, False, 0)
        found = owner.type.field(name)
        if found is None:
            raise UserError(f"header {header!r} has no field {name!r}")
        return owner, found


def header_type(given: dict[str, Any]) -> HeaderType:
    """Return a header type of the JSON. Raises UserError."""
    name = given["name"]
    if given.get("length_exp"):
        raise UserError(f"header type {name!r} has a length expression of P4_14 (length_exp), which is not supported")
    fields: list[Field] = []
    place, bits = 1, 0
    for entry in given["fields"]:
        variable = entry[1] == "*"
        most = int(given["max_length"]) * 8 if variable and "max_length" in given else 0
        width = most if variable else int(entry[1])
        if variable and not most:
            raise UserError(f"header type {name!r}: field {entry[0]!r} has a variable length, but there is no max_length")
        if variable and any(other.variable for other in fields):
            raise UserError(f"header type {name!r} has two fields of variable length")
        if not 0 < width <= 1 << 16:
            raise UserError(f"header type {name!r}: field {entry[0]!r} has {width} bits; 1 to 65,536 are possible")
        fields.append(Field(entry[0], width, len(entry) > 2 and bool(entry[2]), variable, place))
        place += words(width) + variable
        bits += 0 if variable else width
    return HeaderType(name, fields, place, bits)


def layout(program: dict[str, Any]) -> Layout:
    """Return the layout of a program. Raises UserError."""
    if program.get("header_union_stacks"):
        raise UserError(f"stacks of header unions ({program['header_union_stacks'][0]['name']}) are not supported")
    types = {given["name"]: header_type(given) for given in program["header_types"]}
    numbers: dict[int, int] = {}
    headers: list[Header] = []
    for given in program["headers"]:
        if given["header_type"] not in types:
            raise UserError(f"header {given['name']!r} has the type {given['header_type']!r}, which is not declared")
        if given["id"] in numbers:
            raise UserError(f"headers {headers[numbers[given['id']]].name!r} and {given['name']!r} have the same id, {given['id']}")
        numbers[given["id"]] = len(headers)
        headers.append(Header(given["name"], len(headers), types[given["header_type"]], bool(given.get("metadata", False))))
        if not headers[-1].metadata and headers[-1].type.bits % 8:
            raise UserError(f"header {given['name']!r} has {headers[-1].type.bits} bits, which are no whole bytes")
    stacks: list[Stack] = []
    for given in program.get("header_stacks", []):
        members = [numbers[number] for number in given["header_ids"]]
        if given["header_type"] not in types or not members:
            raise UserError(f"header stack {given['name']!r} has no headers, or its type {given['header_type']!r} is not declared")
        for member in members:
            if headers[member].type is not types[given["header_type"]] or headers[member].metadata:
                raise UserError(f"header stack {given['name']!r} has the header {headers[member].name!r}, which is of another type")
        stacks.append(Stack(given["name"], len(stacks), types[given["header_type"]], members))
    place = 0
    made = Layout(headers, stacks)
    for wanted in (True, False):
        for header in headers:
            if header.metadata == wanted:
                header.base = place
                place += header.type.words
        if wanted:
            made.metadata_words = place
    for stack in stacks:
        stack.fill = place
        place += 1
    made.words = place
    if place > MOST_WORDS:
        raise UserError(f"headers and metadata take {place} words of 64 bits; {MOST_WORDS} are possible")
    for given in program.get("header_unions", []):
        members = [numbers[number] for number in given["header_ids"]]
        made.unions[given["name"]] = members
        for member in members:
            headers[member].peers = [other for other in members if other != member]
    made.by_name = {header.name: header for header in headers}
    made.stack_by_name = {stack.name: stack for stack in stacks}
    return made
