"""A result as CSV files: each list of result.json that has rows, and the arrays of series.npz, over time or over shares."""

import csv
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from penstock.basics.growing import growing
from penstock.reports.queues import mean_packets, measured_seconds, utilisation
from penstock.reports.report import Series, read_result, read_series

SCHEMA = "penstock.export/1"


def write(folder: Path, out: Path) -> tuple[dict[str, Any], list[tuple[Path, int]]]:
    """Write the files of a result; return it, and each file with its number of rows. Raises UserError."""
    result, series = read_result(folder), read_series(folder)
    tables = {**tables_of(result | {"queues": _queues(result, series)}), **series_of(series)}
    written = []
    with growing(out) as grown:
        for name, (heads, rows) in tables.items():
            with (grown / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                lines = csv.writer(file)
                lines.writerow(heads)
                lines.writerows(rows)
            written.append((out / f"{name}.csv", len(rows)))
    return result, written


EVERY_QUEUE = "every_queue_"  # arrays of counters of all queues with traffic, where the result does not list all


def _queues(result: dict[str, Any], series: Series) -> list[dict[str, Any]]:
    """Return a row for each queue: those that the result lists, with their mean length and use, and the counters of all others."""
    seconds = measured_seconds(result)
    rows: dict[int, dict[str, Any]] = {}
    for row in result.get("queues", []):
        added: dict[str, Any] = {}
        if isinstance(row.get("latency_ns"), dict) and "configured_rate_bps" in row:
            added = {"mean_packets": mean_packets(row, seconds), "utilisation": utilisation(row)}
        rows[row.get("id", len(rows))] = row | added
    if f"{EVERY_QUEUE}id" not in series:
        return list(rows.values())
    keys = [key.removeprefix(EVERY_QUEUE) for key in series if key.startswith(EVERY_QUEUE)]
    table = zip(*(series[EVERY_QUEUE + key].tolist() for key in keys), strict=True)
    return [rows.get(cells[keys.index("id")], dict(zip(keys, cells, strict=True))) for cells in table]


Rows = tuple[list[str], list[list[Any]]]


def tables_of(result: dict[str, Any]) -> dict[str, Rows]:
    """Return the tables of a result by name: lists of objects, and the single figures as `summary`."""
    found = {"summary": (["key", "value"], [[key, value] for key, value in _flat(_figures(result))])}
    for key, value in [*result.items(), *(("tcp_flows", of["flows"]) for of in [result.get("tcp")] if of)]:
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            rows = [dict(_flat(row)) for row in value]
            heads = list(dict.fromkeys(head for row in rows for head in row))
            heads = [head for head in heads if not any(other.startswith(f"{head}.") for other in heads)]  # an object or null, by row
            found[key] = (heads, [[row.get(head) for head in heads] for row in rows])
    return found


def _figures(result: dict[str, Any]) -> dict[str, Any]:
    left_out = ("scenario", "device", "notes", "findings", "tcp")
    return {key: value for key, value in result.items() if key not in left_out and not isinstance(value, list)}


def _flat(row: dict[str, Any], before: str = "") -> Iterable[tuple[str, Any]]:
    """Return keys and values of an object, those inside it as `latency_ns.p50`."""
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", " ".join(map(str, value)) if isinstance(value, list) else value


def series_of(series: Series) -> dict[str, Rows]:
    """Return the series as tables: `over_time` has a row an interval, `latency_cdf` a row a share, `packets` a row a packet shown."""
    interval, names = float(series["interval_ns"]) / 1e9, [str(name) for name in series["names"]]
    points = len(series["bytes_out"])
    over_time: list[tuple[str, Any]] = [("time_s", np.round(np.arange(points) * interval, 12))]
    shares: list[tuple[str, Any]] = [("share", series["cdf_share"])]
    for key, array in series.items():
        columns = _columns(key, array, series, names)
        if key == "cdf_ns" or key.endswith("_cdf_ns"):
            shares += columns
        elif array.ndim == 2 and key != "cloud" and (len(array) == points or key.startswith("tcp_")):
            over_time += columns
    begin = int(series["from_interval"]) if "from_interval" in series else 0  # of what is measured: behind the warm-up
    over_time = [(head, column[begin:]) for head, column in over_time]
    found = {"over_time": _table(over_time), "latency_cdf": _table(shares)}
    cloud = series["cloud"]
    found["packets"] = (
        ["departure_ns", "latency_ns", "of"],
        [[at, latency, names[int(column)]] for at, latency, column in cloud.tolist()],
    )
    if "late_ns" in series:
        found["lateness"] = _table([("late_ns", series["late_ns"]), ("late_share", series["late_share"])])
    return found


def _columns(key: str, array: Any, series: Series, names: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the columns of a two-dimensional array with their heads: `bytes_out slow`."""
    if array.ndim != 2:
        return []
    level = next(
        (head.removesuffix("_names") for head in series if head.endswith("_names") and key.startswith(head[: -len("names")])), None
    )
    whose = [str(name) for name in series[f"{level}_names"]] if level else list(names)
    if key == "drops":
        whose = [str(reason) for reason in series["drop_reasons"]]
    whose += ["all"] if key == "cdf_ns" else ["others"] if len(whose) < array.shape[1] else []
    return [(f"{key} {name}", array[:, column]) for column, name in enumerate(whose[: array.shape[1]])]


def _table(columns: list[tuple[str, Any]]) -> Rows:
    # Curves of connections end with the traffic, those of the device when it is empty: their last cells are empty.
    rows = zip_longest(*(["" if value != value else value for value in np.asarray(of).tolist()] for _, of in columns), fillvalue="")
    return [head for head, _ in columns], [list(row) for row in rows]
