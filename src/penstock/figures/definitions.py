"""What is measured for the pages: the topics, `figures/<topic>.yaml` of documents, blocks and designs.

docs/how-to/measured-numbers.md has the keys.
A command is its own name: two tables that show the same one show the same measurement.
"""

import itertools
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from penstock.basics.suggest import nearest
from penstock.errors import UserError
from penstock.figures import templates
from penstock.hardware import expected
from penstock.paths import ROOT, shown

FOLDERS = ("docs/figures", "blocks/*/figures", "designs/*/figures")
COMMANDS = ("bench", "synth", "run", "paper", "board")
NOT_MEASURED = "not measured"
AREA_KEYS = ("lut", "lut_memory", "ff", "bram", "uram", "dsp", "logic_levels", "fmax_mhz")

Cell = dict[str, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rates(_Strict):
    """Numbers that follow the machine: each is compared as its ratio to that of another command, measured in the same run."""

    keys: list[str]
    reference: str
    tolerance: float = Field(gt=0, lt=1)


class Column(_Strict):
    """A column of a table."""

    head: str
    show: str
    command: str | None = Field(None, description="In place of the table's.")
    given: Cell = Field({}, alias="with", description="Further words for the command.")


class Table(_Strict):
    """Rows of words, and columns that show them, or what a command gives with them."""

    command: str = ""
    rows: list[Cell]
    columns: list[Column]
    also: list[str] = Field([], description="Commands that are measured with the table though no cell shows them.")
    keys: list[str] = Field([], description="Further keys that are kept and compared though no cell shows them.")
    equal: dict[str, str] = Field({}, description="Commands that must give the same numbers as others (RTL and model).")
    rates: Rates | None = None


class Value(_Strict):
    """A number in a sentence."""

    command: str
    show: str
    rates: Rates | None = None


class _File(_Strict):
    tables: dict[str, Table] = {}
    values: dict[str, Value] = {}

    @model_validator(mode="after")
    def _names_are_used_once(self) -> "_File":
        if twice := set(self.tables) & set(self.values):
            raise ValueError(f"{min(twice)} is a table and a value")
        return self


@dataclass
class Row:
    """A measurement: a command, and the keys of its result that are kept and compared."""

    command: str
    keys: list[str] = field(default_factory=list)
    rates: Rates | None = None
    equal: str | None = None

    def words(self) -> list[str]:
        """Return the command as the shell splits it."""
        return shlex.split(self.command)


@dataclass(frozen=True)
class Shown:
    """A cell of a table, or a value: the text with its places, what is known of them, and the command that gives the others."""

    text: str
    known: Cell
    command: str | None


@dataclass(frozen=True)
class Topic:
    """One file of definitions."""

    name: str
    path: Path
    tables: dict[str, Table] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    area: tuple[str, ...] = ()  # commands of expected.yaml, whose results other topics may show

    @property
    def result(self) -> Path:
        """The file of its results."""
        return self.path.with_suffix(".json")

    def heads(self, table: str) -> list[str]:
        """Return the heads of a table's columns."""
        return [column.head for column in self.tables[table].columns]

    def cells(self, table: str) -> list[list[Shown]]:
        """Return a table's cells, row by row."""
        return [list(self._row(self.tables[table], words)) for row in self.tables[table].rows for words in _product(row)]

    def value(self, name: str) -> Shown:
        """Return a number of a sentence."""
        return Shown(self.values[name].show, {}, _plain(self.values[name].command))

    def _row(self, table: Table, words: Cell) -> Iterator[Shown]:
        for column in table.columns:
            known = {"more": "", **words, **column.given}
            text = templates.filled(column.show, known.__getitem__, only_known=True)
            if not templates.keys(text):
                yield Shown(text, known, None)
                continue
            template = words.get("command") or column.command or table.command
            try:
                command = templates.filled(template, known.__getitem__)
            except KeyError as error:
                raise UserError(f"{shown(self.path)}: column {column.head!r}: no row has {error.args[0]!r}") from None
            yield Shown(text, known, _plain(command))

    def rows(self, name: str | None = None) -> dict[str, Row]:
        """Return all measurements of the topic, or those of one of its tables and values, by their commands.

        Each has all keys that the topic shows of it.
        """
        everything = self._rows(None)
        return everything if name is None else {command: everything[command] for command in self._rows(name)}

    def _rows(self, name: str | None) -> dict[str, Row]:
        rows: dict[str, Row] = {}

        def add(command: str, keys: list[str], rates: Rates | None, equal: str | None = None) -> None:
            row = rows.setdefault(command, Row(command))
            row.keys += [key for key in keys if key not in row.keys and not key.startswith("ratio.")]
            row.rates, row.equal = row.rates or rates, row.equal or equal
            if rates and command != _plain(rates.reference):
                add(_plain(rates.reference), rates.keys, rates)

        for table, found in self.tables.items():
            if name not in (None, table):
                continue
            for cell in itertools.chain.from_iterable(self.cells(table)):
                if cell.command:
                    add(cell.command, [*templates.keys(cell.text), *found.keys], found.rates)
            for command in found.also:
                add(_plain(command), found.keys, found.rates)
            for command, other in found.equal.items():
                command, other = _plain(command), _plain(other)
                if other not in rows:
                    raise UserError(f"{shown(self.path)}: {table}: equal: {other!r} is no command of the table")
                add(command, rows[other].keys, None, other)
        for value, entry in self.values.items():
            if name in (None, value):
                add(_plain(entry.command), templates.keys(entry.show), entry.rates)
        for command in self.area:
            add(command, list(AREA_KEYS), None)
        for row in rows.values():
            if row.words()[:1] not in [[command] for command in COMMANDS]:
                raise UserError(f"{shown(self.path)}: {row.command!r}: begins with none of {', '.join(COMMANDS)}")
        return rows


def _plain(command: str) -> str:
    return " ".join(command.split())


def _product(row: Cell) -> Iterator[Cell]:
    """Yield a row for each combination of its lists, the first list outermost."""
    lists = [value if isinstance(value, list) else [value] for value in row.values()]
    for values in itertools.product(*lists):
        yield dict(zip(row, values, strict=True))


def topics(root: Path = ROOT) -> dict[str, Topic]:
    """Return all topics by name. Raises UserError for a file that is not sound."""
    found: dict[str, Topic] = {}
    for path in sorted(path for folder in FOLDERS for path in root.glob(f"{folder}/*.yaml")):
        if path.stem in found:
            raise UserError(f"{shown(path)}: {shown(found[path.stem].path)} has the same name; a topic is found by it")
        found[path.stem] = _read(path)
    for path in sorted(path for folder in ("blocks", "designs") for path in root.glob(f"{folder}/*/expected.yaml")):
        commands = [entry.command(module) for module, entries in expected.read(path).items() for entry in entries]
        found[f"area-{path.parent.name}"] = Topic(f"area-{path.parent.name}", path, area=tuple(commands))
    return found


def owners(known: Mapping[str, Topic]) -> dict[str, Topic]:
    """Return, for each command of an expected.yaml, the topic that keeps its result."""
    return {command: topic for topic in known.values() for command in topic.area}


def _read(path: Path) -> Topic:
    try:
        read = _File.model_validate(YAML(typ="safe").load(path.read_text(encoding="utf-8")) or {})
    except (YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{shown(path)}: not YAML: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{shown(path)}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return Topic(path.stem, path, read.tables, read.values)


def chosen(known: dict[str, Topic], name: str | None) -> list[tuple[Topic, dict[str, Row]]]:
    """Return the topics that `name` means, `TOPIC` or `TOPIC.TABLE`, with the measurements of each; all for None. Raises UserError."""
    if name is None:
        return _kept_by_owners(known, [(topic, topic.rows()) for topic in known.values()])
    if name in known:
        return _kept_by_owners(known, [(known[name], known[name].rows())])
    topic, _, part = name.partition(".")
    if topic in known and part in {**known[topic].tables, **known[topic].values}:
        return _kept_by_owners(known, [(known[topic], known[topic].rows(part))])
    names = [*known, *(f"{topic.name}.{part}" for topic in known.values() for part in {**topic.tables, **topic.values})]
    raise UserError(f"there are no figures {name!r}{nearest(name, names)}")


def _kept_by_owners(known: dict[str, Topic], chosen: list[tuple[Topic, dict[str, Row]]]) -> list[tuple[Topic, dict[str, Row]]]:
    """Return the same with each command of an expected.yaml below the topic that keeps it, and there with all keys that a topic shows."""
    owner, found = owners(known), {topic.name: rows for topic, rows in chosen}
    shown_of = [topic.rows() for topic in known.values()]
    for topic, rows in chosen:
        for command in [command for command in rows if command in owner]:
            row = rows[command]
            row.keys = list(dict.fromkeys([*AREA_KEYS, *(key for others in shown_of if command in others for key in others[command].keys)]))
            if owner[command] is not topic:
                found.setdefault(owner[command].name, {}).setdefault(command, rows.pop(command))
    return [(known[name], rows) for name, rows in found.items()]
