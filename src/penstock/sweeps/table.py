"""The table of a sweep: one row for each run, parameters and results as columns; as CSV and as Parquet, which hold the same.

A result's columns are its single values under dotted names: `latency_ns.p99`, and in lists of things with a name (or an id)
`queues.voice.measured_rate_bps`; the id where a name is there twice. Lists of more than MAX_LISTED things, and the scenario itself, are
left out: `file` says where they are.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.basics import groups

MAX_LISTED = 64
LEFT_OUT = "scenario"  # of a result: what went in
NO_FIGURE = "description"
OWN = ("error", "sources", "file")
COUNTERS = ".dropped."  # below it only the reasons that occurred: the others are 0

Row = dict[str, Any]
INT64 = 2**63


@dataclass
class Table:
    """Rows as mappings; a column that a row does not have is empty there. `parameters` are the first columns."""

    parameters: list[str]
    columns: list[str]
    rows: list[Row]


def flatten(result: dict[str, Any]) -> Row:
    """Return the single values of a result under dotted names."""
    return dict(_values("", {key: value for key, value in result.items() if key != LEFT_OUT}))


def _values(prefix: str, node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == NO_FIGURE:
                continue
            yield from _values(f"{prefix}.{key}" if prefix else str(key), value)
    elif isinstance(node, list):
        named = ([_label(entry, keys) for entry in node] for keys in (("name", "id"), ("id",)))
        names = next((labels for labels in named if None not in labels and len(set(labels)) == len(labels)), None)
        if len(node) <= MAX_LISTED and names is not None:
            for name, entry in zip(names, node, strict=True):
                yield from _values(f"{prefix}.{name}", entry)
    else:
        yield prefix, node


def _label(entry: Any, keys: Sequence[str]) -> str | None:
    """Return what a thing of a list is called: by the first of the keys that it has."""
    return next((str(entry[key]) for key in keys if key in entry), None) if isinstance(entry, dict) else None


def build(rows: Iterable[tuple[Row, Row, Row]]) -> Table:
    """Return the table of (parameters, own columns, flat result) of each run. A result's column of a parameter's name is `result.NAME`."""
    found, parameters, results = [], dict[str, None](), dict[str, None]()
    for given, own, result in rows:
        parameters |= dict.fromkeys(given)
        results |= dict.fromkeys(result)
        found.append((given, own, result))
    taken = {*parameters, *OWN}
    names = {column: f"result.{column}" if column in taken else column for column in results}
    for same in ("engine", "seed"):  # what was asked for and what was run
        if same in parameters:
            names.pop(same, None)
    counters = [column for column in names if COUNTERS in column]
    table = Table(list(parameters), [*parameters, *OWN, *names.values()], [])
    for given, own, result in found:
        listed = {column.rpartition(COUNTERS)[0] for column in result if COUNTERS in column}
        for column in counters:
            of = column.rpartition(COUNTERS)[0]
            if f"{of}.in" in result or result.get(f"{of}.drop_packets") == 0 or of in listed:  # a long run lists none of its queues'
                result.setdefault(column, 0)
        table.rows.append({**given, **own, **{names[column]: value for column, value in result.items() if column in names}})
    return table


def typed(table: Table) -> dict[str, tuple[str, list[Any]]]:
    """Return each column's type (`bool`, `int`, `float`, `text`) and its values, all of that type or None."""
    return {column: _typed([row.get(column) for row in table.rows], column) for column in table.columns}


def _typed(values: list[Any], column: str) -> tuple[str, list[Any]]:
    known = [value for value in values if value is not None]
    kinds = {type(value) for value in known}
    if kinds == {bool}:
        return "bool", values
    if kinds == {int} and all(-INT64 <= value < INT64 for value in known):
        return "int", values
    if kinds <= {int, float} and column not in OWN:
        return "float", [None if value is None else float(value) for value in values]
    return "text", [None if value is None else _text(value) for value in values]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def write_csv(path: Path, table: Table) -> None:
    """Write the table as CSV (RFC 4180, UTF-8): an empty cell is no value, true and false are words, numbers have all their digits."""
    columns = typed(table)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        cells = [["" if value is None else _text(value) for value in values] for _, values in columns.values()]
        writer.writerows(zip(*cells, strict=True))


def write_parquet(path: Path, table: Table) -> None:
    """Write the table as Parquet: the same columns, with types."""
    groups.need("Parquet", "sweep")
    import pyarrow
    from pyarrow import parquet

    types = {"bool": pyarrow.bool_(), "int": pyarrow.int64(), "float": pyarrow.float64(), "text": pyarrow.string()}
    arrays = {column: pyarrow.array(values, types[kind]) for column, (kind, values) in typed(table).items()}
    parquet.write_table(pyarrow.table(arrays), path)
