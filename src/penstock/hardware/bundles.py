"""Bundles: signals that go together, as structs of packages, and the flat ports that stand for them at the outermost module.

A bundle is a packed struct of `pst_axi_pkg` or of a package named `pst_<what>_ports_pkg`; its members have the names of the signals. A port
`s_axis_i` of a bundle stands for the flat ports `s_axis_<member>_i`; `_read` and `_write` of AXI4 are no part of their names, nor is a `_`
at the end of a member, which keeps it apart from a word of the language. A width in a member that has the name of a parameter of the
module, as AddrWidth, is the module's, so a flat address has as many bits as are used.

Modules within have ports of bundles. What drives signals one by one (the engine's shims, cocotb, a project's own design) sees flat ports:
of a design those of the wrapper with its configuration's numbers (`penstock.designs.configs`), of other modules those of `flat_module`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from penstock.errors import UserError
from penstock.paths import BLOCKS, DESIGNS

AXI = "pst_axi_pkg"
_PACKAGES = ("pst_axi_pkg.sv", "pst_*_ports_pkg.sv")
_STRUCT = re.compile(r"^  typedef struct packed \{\n(.*?)^  \} (\w+);", re.MULTILINE | re.DOTALL)
_MEMBER = re.compile(r"^    ([\w:]+(?: *\[[^\]]*\])*) +(\w+); *(?://(.*))?$")
_PORT = re.compile(r"^\s*(input|output)\s+([\w:]+(?:\s*\[[^\]]*\])*)\s+(\w+)\s*,?\s*(?://.*)?$")
_WORD = re.compile(r"(?<![\w':.$])([A-Z]\w*)\b(?!::)")
# At the outermost ports alone: signals that are the same in all requests, and ids of answers.
_FIXED = {"write_req_t": "aw", "read_req_t": "ar"}
_ANSWERED = {"write_rsp_t": "bid", "read_rsp_t": "rid"}


@dataclass(frozen=True)
class Member:
    """One signal of a bundle: its type, as another package would write it, and what it means."""

    name: str
    kind: str
    words: str


@dataclass(frozen=True)
class Flat:
    """A flat port. `of` is the port of the module within that it is a part of, `member` the signal there, none: it is that port.

    `fixed` is the member of `fixed_t` that a signal is which the module within does not have; an id of an answer is no part of anything.
    """

    direction: str
    kind: str
    name: str
    of: str
    member: str = ""
    array: str = ""  # the first dimension of `of`, where it is an array of bundles
    cut: bool = False  # it may have fewer bits than the member
    fixed: str = ""

    @property
    def beside(self) -> bool:
        """Whether the module within has no such signal."""
        return not self.member and self.name != self.of


@cache
def packages() -> dict[str, Path]:
    """Return the packages of bundles by name."""
    found = [path for name in _PACKAGES for folder in (BLOCKS, DESIGNS) for path in folder.glob(f"**/rtl/{name}")]
    return {path.stem: path for path in sorted(found)}


@cache
def of_package(name: str) -> dict[str, list[Member]]:
    """Return the bundles of a package by name. Raises UserError for a member that cannot be read."""
    path = packages()[name]
    text = path.read_text()
    own = set(re.findall(r"^  (?:localparam [^;=]*?|typedef [^;]*? |\} )(\w+)(?: *=[^;]*)?;", text, re.MULTILINE))
    found: dict[str, list[Member]] = {}
    for body, bundle in _STRUCT.findall(text):
        members = []
        for line in body.splitlines():
            if not line.strip() or line.strip().startswith("//"):
                continue
            match = _MEMBER.match(line)
            if match is None:
                raise UserError(f"{path}: a member of {bundle} cannot be read: {line.strip()}")
            kind = re.sub(r"(?<![\w:])(\w+)\b(?!::)", lambda word: f"{name}::{word[1]}" if word[1] in own else word[1], _plain(match[1]))
            members.append(Member(match[2], kind, (match[3] or "").strip()))
        found[bundle] = members
    return found


def members(kind: str) -> list[Member]:
    """Return the signals of a port of this type, none where it is no bundle."""
    match = re.match(r"(\w+)::(\w+)", kind)
    return of_package(match[1]).get(match[2], []) if match and match[1] in packages() else []


def head(text: str) -> tuple[str, list[str], list[tuple[str, str, str]]]:
    """Return the head of the module in `text`: imports and parameters as they are, the names of its parameters (constants that follow from
    them too), and (direction, type, name) of each port; one port a line. Raises UserError where a port cannot be read."""
    match = re.search(r"^module (\w+)(.*?)^\);", text, re.MULTILINE | re.DOTALL)
    if match is None:
        raise UserError("no module with a head of a port a line")
    before, between, listed = match[2].partition("\n) (\n")
    if not between:
        before, between, listed = match[2].partition("(\n")
    before += between[:-2]
    lines = [line for line in listed.splitlines() if line.strip() and not line.strip().startswith("//")]
    ports = []
    for line in lines:
        port = _PORT.match(line)
        if port is None:
            raise UserError(f"{match[1]}: a port's line could not be read: {line.strip()}")
        ports.append((port[1], _plain(port[2]), port[3]))
    names = re.findall(r"^ *(?:parameter|localparam)\b[^=\n]*?(\w+) *=", before, re.MULTILINE)
    return before, names, ports


def flattened(direction: str, kind: str, name: str, own: set[str], whole: bool = False) -> Iterator[Flat]:
    """Yield the flat ports that stand for one port, itself where it is no bundle. `own` are the parameters of the module.

    With `whole` AXI4 has the signals, too, that are the same in all requests.
    """
    found = members(kind)
    if not found:
        yield Flat(direction, kind, name, name)
        return
    bundle, array = re.fullmatch(r"([\w:]+) ?((?:\[[^\]]*\])*)", kind).groups()  # type: ignore[union-attr]
    end = name[-2:]
    stem = re.sub(r"_(?:read|write)$", "", name[:-2]) if bundle.startswith(f"{AXI}::") else name[:-2]
    for member in found:
        plain = re.sub(r"\w+::(\w+)(?=-1:0\])", lambda word: word[1] if word[1] in own else word[0], member.kind)
        yield Flat(
            direction,
            _arrayed(array, plain),
            f"{stem}_{member.name.rstrip('_')}{end}",
            name,
            member.name,
            array,
            plain != member.kind and "DataBytes" not in plain,
        )
    of = bundle.rpartition("::")[2]
    if whole and bundle.startswith(f"{AXI}::"):
        if of in _FIXED:
            for each in of_package(AXI)["fixed_t"]:
                yield Flat(direction, _arrayed(array, each.kind), f"{stem}_{_FIXED[of]}{each.name}{end}", name, "", array, fixed=each.name)
        if of in _ANSWERED:
            yield Flat(direction, _arrayed(array, "logic"), f"{stem}_{_ANSWERED[of]}{end}", name, "", array)


def _arrayed(array: str, kind: str) -> str:
    """Return the type of an array of signals, `logic [Memories-1:0][7:0]`."""
    if not array:
        return kind
    base, dimensions = re.fullmatch(r"([\w:]+) ?(.*)", kind).groups()  # type: ignore[union-attr]
    return f"{base} {array}{dimensions}"


def net(port: str) -> str:
    """Return the name of a wrapper's signal that is connected to a port of a bundle; unlike a port's, as benches look for these by name."""
    return f"{port[:-2]}_{'in' if port.endswith('_i') else 'out'}"


def joined(flats: list[Flat], ports: Mapping[str, str], counts: Mapping[str, str], absent: frozenset[str] = frozenset()) -> list[str]:
    """Return the lines of a wrapper that join flat ports with the nets of bundles; `ports` has the type of each port of the module within.

    `counts` has the number of bundles of an array, as text. Of the flat ports in `absent` inputs are 0; outputs, and what is cut off, go
    nowhere, as the names `unused_*` say.
    """
    assigns: list[str] = []
    arrays: dict[str, list[str]] = {}
    bundles = list(dict.fromkeys(flat.of for flat in flats if flat.member))
    for flat in flats:
        into, at = (arrays.setdefault(counts[flat.of], []), "[i]") if flat.array else (assigns, "")
        outer, member = f"{flat.name}{at}", f"{net(flat.of)}{at}.{flat.member}"
        if flat.fixed:
            into.append(f"assign {outer} = fixed.{flat.fixed};")
        elif flat.member and flat.direction == "input":
            value = "'0" if flat.name in absent else f"$bits({member})'({outer})" if flat.cut else outer
            into.append(f"assign {member} = {value};")
        elif flat.member and flat.name not in absent:
            value = f"$bits({outer})'({member})" if flat.cut else member
            into.append(f"assign {outer} = {value};")
    lines = [f"  {AXI}::fixed_t fixed;", f"  assign fixed = {AXI}::fixed();"] if any(flat.fixed for flat in flats) else []
    lines += [f"  {ports[name]} {net(name)};" for name in bundles] + [f"  {line}" for line in assigns]
    for number, (count, inside) in enumerate(arrays.items()):
        lines += [f"  for (genvar i = 0; i < int'({count}); i++) begin : g_array_{number}", *(f"    {line}" for line in inside), "  end"]
    for name in bundles:
        if any(flat.of == name and flat.direction == "output" and (flat.cut or flat.name in absent) for flat in flats):
            lines += [f"  logic unused_{net(name)};", f"  assign unused_{net(name)} = ^{net(name)};"]
    return lines


def pin(port: str, kind: str) -> str:
    """Return how a wrapper connects a port of the module within."""
    return f".{port}({net(port)})" if members(kind) else f".{port}"


def has(path: Path) -> bool:
    """Whether the module in a source has ports of bundles; what cannot be read has none."""
    if path.suffix != ".sv" or path.stem.endswith("_pkg"):
        return False
    try:
        return any(members(kind) for _, kind, _ in head(path.read_text())[2])
    except UserError:
        return False


def flat_module(path: Path) -> tuple[str, str]:
    """Return a module with flat ports around the one in `path`, with its parameters: its name, and its text."""
    name, text = path.stem, path.read_text()
    before, own, ports = head(text)
    settable = re.findall(r"^ *parameter\b[^=\n]*?(\w+) *=", before, re.MULTILINE)
    flats = [flat for port in ports for flat in flattened(*port, own=set(own))]
    counts = {flat.of: _count(flat.array) for flat in flats if flat.array}
    width = max(len(flat.kind) for flat in flats)
    listed = ",\n".join(f"    {flat.direction:6} {flat.kind:{width}} {flat.name}" for flat in flats)
    pins = ",\n      ".join(pin(port, kind) for _, kind, port in ports)
    given = f" #({', '.join(f'.{each}({each})' for each in settable)})" if settable else ""
    body = "\n".join(joined(flats, {port: kind for _, kind, port in ports}, counts))
    return (
        f"{name}_flat",
        f"""// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// {name} behind flat ports, for what drives signals one by one. Written by penstock.hardware.bundles; do not edit.
module {name}_flat{before}(
{listed}
);

{body}

  {name}{given} u_dut (
      {pins}
  );

endmodule
""",
    )


def outermost(module: str, sources: Iterable[Path]) -> tuple[str, str]:
    """Return what has the flat ports of `module`: itself and no text; or a wrapper and its text, where it has bundles in `sources`."""
    source = next((path for path in sources if path.name == f"{module}.sv"), None)
    return flat_module(source) if source is not None and has(source) else (module, "")


def _count(array: str) -> str:
    """Return how many there are of `[Memories-1:0]`: `Memories`."""
    match = re.fullmatch(r"\[(.+)-1:0\]", array)
    return match[1] if match else f"{array[1:].split(':')[0]} + 1"


def _plain(kind: str) -> str:
    return re.sub(r"\s*\]", "]", re.sub(r"\[\s*", "[", re.sub(r"\s+", " ", kind.strip()))).replace("] [", "][")
