"""Named configurations of a design: `designs/<design>/configs.yaml` read, checked, and turned into a SystemVerilog wrapper.

Every number of the hardware is here once. `load` gives a configuration, `with_overrides` a changed one, `write_wrapper` the module
`pst_<design>_<name>` with the numbers in it, which lint, simulation, synthesis and `generate` use. Bad input raises UserError.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError

from penstock.basics.suggest import nearest
from penstock.basics.wording import words
from penstock.designs import design as designs
from penstock.designs.design import Configuration
from penstock.errors import UserError
from penstock.hardware import bundles
from penstock.paths import DESIGNS, ROOT, read_file_list

Config = TypeVar("Config", bound=Configuration)

ARRAYS = ("Memories", "MemoryPorts", "Ports", "Columns")  # parameters that say how many ports of one kind there are


def names(design: str | None = None) -> list[str]:
    """Return the names of the configurations of `design`, in the order of its file, or of all designs."""
    return [name for each in ([design] if design else designs.names()) for name in _document(_path(each))]


def design_of(name: str) -> str:
    """Return the design that has a configuration of this name. Raises UserError when none has, or several have."""
    having = [design for design in designs.names() if name in names(design)]
    if len(having) > 1:
        raise UserError(f"{name!r} is a configuration of {' and of '.join(having)}; say which design")
    if not having:
        raise UserError(f"there is no configuration {name!r}{nearest(name, names())}")
    return having[0]


def load(name: str, design: str | None = None) -> Configuration:
    """Return the configuration `name`, of any design unless one is given.

    Raises UserError when there is none, or when it is not sound (file, line and key).
    """
    design = design or design_of(name)
    path = _path(design)
    document = _document(path)
    if name not in document:
        raise UserError(f"there is no configuration {name!r} of {design}{nearest(name, document)}")
    entry = document[name]
    if not isinstance(entry, Mapping):
        raise UserError(f"{_where(path, document, [name])}: {name} must be a mapping from settings to values")
    try:
        return designs.load(design).configuration.model_validate({**_plain(entry), "name": name, "design": design})
    except ValidationError as error:
        keys, message = _first(error)
        raise UserError(f"{_where(path, document, [name, *keys])}: {'.'.join(map(str, [name, *keys]))}: {message}") from None


def load_as(kind: type[Config], name: str, design: str | None = None) -> Config:
    """Return the configuration `name` of the design whose configurations are of this kind. Raises UserError."""
    config = load(name, design)
    if not isinstance(config, kind):
        raise UserError(f"{name!r} is a configuration of {config.design}, not of the design that is wanted here")
    return config


def with_overrides(config: Config, overrides: Mapping[str, object]) -> Config:
    """Return `config` with values replaced by key: `queues`, or `memories.ddr.pages` (a memory by name or by number).

    Values may be text, which is read as YAML. The name stays: builds are keyed by content, not by name. Raises UserError.
    """
    values: dict[str, Any] = config.model_dump()
    begun: list[str] = []  # parts that the configuration did not have
    for key, value in overrides.items():
        *parents, last = key.split(".")
        if value is None or value == "":
            raise UserError(f"{key}: is empty; give a value")
        if len(parents) == 1 and values.get(parents[0], 0) is None and (part := _part(config, parents[0])):
            # All that have no default have to come.
            values[parents[0]] = {name: None if field.is_required() else field.default for name, field in part.model_fields.items()}
            begun.append(parents[0])
        target: Any = values
        for step in parents:
            target = _child(target, step, key)
        if not isinstance(target, dict) or last not in target or last in ("name", "design"):
            known = [] if not isinstance(target, dict) else [k for k in target if k not in ("name", "design")]
            raise UserError(f"{key}: there is no such setting of a configuration{nearest(last, known) if known else ''}")
        target[last] = _scalar(value, key) if isinstance(value, str) else value
        if (other := config.instead.get(key)) and other not in overrides:
            values[other] = None
    for name in begun:
        if left := [setting for setting, given in values[name].items() if given is None]:
            raise UserError(f"{name}.{left[0]}: is missing; {config.name} has no {name} of its own, so all its settings are needed")
    try:
        return type(config).model_validate(values)
    except ValidationError as error:
        keys, message = _first(error)
        raise UserError(f"{'.'.join(map(str, keys)) or config.name}: {message}") from None


def _part(config: Configuration, key: str) -> type[BaseModel] | None:
    """Return the model of an optional part of a configuration, `hierarchy: Hierarchy | None`; None: it is no such part."""
    kinds = [kind for kind in get_args(type(config).model_fields[key].annotation) if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return kinds[0] if kinds else None


def sources(config: Configuration) -> list[Path]:
    """Return the sources of the design, packages first, and those of its parts, without what is generated (`generated`); none
    where there is no RTL."""
    design = designs.load(config.design)
    if "rtl" not in design.engines:
        return []
    plugs = design.plugs(config)
    listed = [path for path in read_file_list(design.file_list(config)) if path.name not in plugs]
    return list(dict.fromkeys([*listed, *(path for part in design.parts(config) for path in part.rtl_files)]))


@dataclass(frozen=True)
class Port:
    """A port of a configuration's wrapper; `count` ports of one kind are an array, its first dimension, 0: it is none."""

    direction: str  # input, output
    kind: str  # logic [3:0]
    name: str
    bits: int  # in all
    count: int


def ports(config: Configuration) -> list[Port]:
    """Return the ports of the wrapper, clock and reset first: flat ones where the top module has bundles (`penstock.hardware.bundles`)."""
    design = designs.load(config.design)
    found, absent, sizes = [], design.absent(config), design.widths(config)
    for flat in _flats(config):
        if flat.name in absent:
            continue
        kind = _with_numbers(flat.kind, sizes)
        bits = math.prod(int(most) + 1 for most in re.findall(r"\[(\d+):0\]", kind))
        array = re.match(rf"logic \[({'|'.join(ARRAYS)})-1:0\]", flat.kind)
        found.append(Port(flat.direction, kind, flat.name, bits, sizes[array[1]] if array else 0))
    return found


def _flats(config: Configuration) -> list[bundles.Flat]:
    design = designs.load(config.design)
    return [flat for port in _ports(design.top(config)) for flat in bundles.flattened(*port, own=set(design.widths(config)), whole=True)]


def write_generated(config: Configuration, folder: Path) -> list[Path]:
    """Write into `folder` what is generated for a configuration: the files that say which parts are in, and last the wrapper."""
    folder.mkdir(parents=True, exist_ok=True)
    plugs = [_written(folder / name, text) for name, text in designs.load(config.design).plugs(config).items()]
    return [*plugs, write_wrapper(config, folder)]


def write_wrapper(config: Configuration, folder: Path) -> Path:
    """Write `pst_<design>_<name>.sv` into `folder`: the design's top module with the numbers in it and the ports that it has."""
    design, found = designs.load(config.design), ports(config)
    numbers, absent, flats, sizes = design.parameters(config), design.absent(config), _flats(config), design.widths(config)
    top = {name: (direction, _with_numbers(kind, sizes)) for direction, kind, name in _ports(design.top(config))}
    pins = []
    for name, (direction, kind) in top.items():
        open_end = "('0)" if direction == "input" else "()"
        pins.append(f"      .{name}{open_end}" if name in absent else f"      {bundles.pin(name, kind)}")
    counts = {flat.of: str(sizes[flat.array[1:].split("-")[0]]) for flat in flats if flat.array}
    inside = bundles.joined(flats, {name: kind for name, (_, kind) in top.items()}, counts, frozenset(absent))
    inside += _one_id(config.module, [flat.name for flat in flats if flat.beside and not flat.fixed])
    width = max(len(port.kind) for port in found)
    lines = [
        "// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1",
        f"// {config.description}.",
        f"// Written by penstock.designs.configs from the configuration {config.name}; do not edit.",
        f"module {config.module} (",
        ",\n".join(f"    {port.direction:6} {port.kind:{width}} {port.name}" for port in found),
        ");",
        "",
        *([*inside, ""] if inside else []),
        f"  {design.module(config)} #(",
        ",\n".join(f"      .{key:13}({value})" for key, value in numbers.items()),
        f"  ) u_{config.design} (",
        ",\n".join(pins),
        "  );",
        "",
        "endmodule",
    ]
    folder.mkdir(parents=True, exist_ok=True)
    return _written(folder / f"{config.module}.sv", "\n".join(lines) + "\n")


def _written(path: Path, text: str) -> Path:
    if not path.exists() or path.read_text() != text:  # a build that looks at time stamps has nothing to do
        path.write_text(text)
    return path


def _one_id(module: str, ids: list[str]) -> list[str]:
    """Return what checks the ids of answers: requests have one."""
    if not ids:
        return []
    wrong = " || ".join(f"({name.replace('id_', 'valid_')} & {name}) != '0" for name in ids)
    return [
        "  logic unused_ids;",
        f"  assign unused_ids = ^{{{', '.join(ids)}}};",
        "`ifndef SYNTHESIS",
        "  always_ff @(posedge clk_i) begin",
        "    if (!rst_i) begin",
        f"      a_one_id : assert (!({wrong}))",
        f'      else $error("{module}: a memory answers with an id that was not asked with");',
        "    end",
        "  end",
        "`endif",
    ]


def _ports(top: Path) -> list[tuple[str, str, str]]:
    """Return (direction, type, name) of each port of the module in `top`; its header has one port per line."""
    return bundles.head(top.read_text())[2]


def _with_numbers(kind: str, sizes: dict[str, int]) -> str:
    """Return a port's type with its sizes as numbers: `[AddrWidth-1:0]` becomes `[27:0]`, `[8*DataBytes-1:0]` `[255:0]`."""

    def number(match: re.Match[str]) -> str:
        factor, size, less = match.groups()
        return f"[{int(factor or 1) * (sizes[size] if size in sizes else int(size)) - int(less or 0)}:"

    return re.sub(r"\[(?:(\d+)\*)?(\w+)(?:-(\d+))?:", number, kind)


def _path(design: str) -> Path:
    path = DESIGNS / design / "configs.yaml"
    if design not in designs.names():
        raise UserError(f"there is no design {design!r} with configurations{nearest(design, designs.names())}")
    return path


@cache
def _read(path: Path, _modified: int) -> CommentedMap:
    try:
        document = YAML().load(path.read_text())
    except MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UserError(f"{_shown(path)}{line}: not YAML: {error.problem}") from None
    if not isinstance(document, CommentedMap):
        raise UserError(f"{_shown(path)}: must be a mapping from names to configurations")
    return document


def _document(path: Path) -> CommentedMap:
    return _read(path, path.stat().st_mtime_ns)


def _plain(node: Any) -> Any:
    """Return a YAML node as plain dicts, lists and scalars, so that strict types hold."""
    if isinstance(node, Mapping):
        return {str(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    if isinstance(node, bool) or node is None:
        return node
    return next((kind(node) for kind in (int, float, str) if isinstance(node, kind)), node)


def _first(error: ValidationError) -> tuple[list[str | int], str]:
    """Return where the first error is, and what it says in one sentence."""
    first = error.errors()[0]
    message = "is not a setting of a configuration" if first["type"] == "extra_forbidden" else words(first)
    return list(first["loc"]), message


def _where(path: Path, document: CommentedMap, keys: list[str | int]) -> str:
    """Return `file:line` of the innermost of `keys` that the document has."""
    node: Any = document
    line = 0
    for key in keys:
        try:
            position = node.lc.key(key) if isinstance(node, CommentedMap) else node.lc.item(key)
            node = node[key]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
        line = position[0] + 1
    return f"{_shown(path)}:{line}" if line else _shown(path)


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _scalar(text: str, key: str) -> object:
    try:
        return _plain(YAML(typ="safe").load(StringIO(text)))
    except (MarkedYAMLError, ValueError, RecursionError) as error:  # a list may hold itself
        raise UserError(f"{key}: not YAML: {getattr(error, 'problem', None) or error}") from None


def _child(node: Any, step: str, key: str) -> Any:
    """Return the part of a configuration that `step` names; memories may be named or numbered."""
    if isinstance(node, dict) and step in node:
        return node[step]
    if isinstance(node, (list, tuple)):
        found = [entry for number, entry in enumerate(node) if step in (entry["name"], str(number))]
        if found:
            return found[0]
        raise UserError(f"{key}: there is no memory {step!r}{nearest(step, [entry['name'] for entry in node])}")
    raise UserError(f"{key}: there is no such setting of a configuration")
