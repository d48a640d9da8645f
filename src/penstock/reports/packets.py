"""Every packet of a run as a Parquet file: when it left or was dropped, and what became of it."""

from pathlib import Path
from typing import Any

import numpy as np

from penstock.basics import groups

FILE = "packets.parquet"


def need() -> None:
    """Install what writes the file. Raises UserError."""
    groups.need("packets as Parquet", "sweep")


def write(path: Path, raw: dict[str, Any], clock_hz: int) -> str:
    """Write the packets of an engine's result; return a remark where these are not all.

    A row a packet, in order of time: `time_ns` (first bit out, or when it was dropped), `fate` (`left`, or a drop reason), `queue` (of a
    device without queues its flow), and of those that left `bytes` and `latency_ns`, and `output` where there are several.
    """
    import pyarrow
    from pyarrow import parquet

    left, scale = raw["departures"], 1e9 / clock_hz
    count = len(left["cycle"])
    drops = {reason: events for reason, events in raw.get("drop_events", {}).items() if len(events["cycle"])}
    fates = ["left", *drops]
    times = [np.asarray(left["cycle"], dtype=np.int64), *(np.asarray(of["cycle"], dtype=np.int64) for of in drops.values())]
    queues = [np.asarray(left["queue"]).astype(np.int64), *(np.asarray(of["queue"]).astype(np.int64) for of in drops.values())]
    order = np.argsort(np.concatenate(times), kind="stable")
    kinds = np.repeat(np.arange(len(fates), dtype=np.int32), [len(of) for of in times])[order]

    def of_those_that_left(values: Any, kind: Any) -> Any:
        padded = np.concatenate([np.asarray(values, dtype=kind), np.zeros(len(order) - count, dtype=kind)])[order]
        return pyarrow.array(padded, mask=kinds != 0)

    columns = {
        "time_ns": pyarrow.array(np.round(np.concatenate(times)[order] * scale, 3)),
        "fate": pyarrow.DictionaryArray.from_arrays(pyarrow.array(kinds), fates),
        "queue": pyarrow.array(np.concatenate(queues)[order].astype(np.uint32)),
        "bytes": of_those_that_left(left["length"], np.uint32),
        "latency_ns": of_those_that_left(np.round(np.asarray(raw["latency_cycles"]) * scale, 3), np.float64),
    }
    if "output" in left:
        columns["output"] = of_those_that_left(left["output"], np.uint16)
    parquet.write_table(pyarrow.table(columns), path)
    out = int(raw.get("measured", {}).get("out_packets", raw["packets"]["out"]))
    dropped = sum(int(number) for number in raw["packets"]["dropped"].values())
    missing = out - count + (dropped - (len(order) - count) if "drop_events" in raw else 0)
    return f"{FILE} has {len(order):,} packets, {missing:,} were not kept one by one." if missing > 0 else ""
