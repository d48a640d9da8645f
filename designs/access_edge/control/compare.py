"""What the device really has beside what is intended, by its read-back. Settings of an AQM cannot be read back."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.codes import PARENT_COLUMNS, QUEUE_COLUMNS
from penstock.designs.access_edge.control.plant import NONE, Plant
from penstock.driver.carrier import reads

AT_ONCE = 256  # queues of a program
LET_GO_SECONDS = 1e-4  # between two parts: a thread that waits for the lock would not wake up in time if it was taken again at once
_QUEUE = {"rate": "queue_rate", "burst": "queue_burst", "limit_packets": "queue_limit_packets", "limit_bytes": "queue_limit_bytes"}
_PARENT = {"rate": "tree_rate", "burst": "tree_burst", "class": "tree_class"}
_GUARANTEE = {"guarantee": "tree_guarantee"}  # of both, where the device has guarantees


@dataclass(frozen=True)
class Difference:
    """One setting that is not as intended. Values are register words."""

    name: str
    field: str
    intended: int
    found: int


def differences(plant: Plant) -> list[Difference]:
    """Return what is different in all subscribers, their queues and those of places that had one, and nodes and ports that are set. What is
    said of one of them is of one moment; between two parts others may change something. Raises CarrierError."""
    found = _of_keys(plant)
    for level in ("subscriber", "node", "port"):
        begin, count = 0, max(1, AT_ONCE // (plant.facts.queues_per_subscriber if level == "subscriber" else 1))
        while True:
            with plant.lock:
                there = _there(plant, level)
                some = there[np.searchsorted(there, begin) :][:count]
                if not len(some):
                    break
                found += _of_subscribers(plant, some) if level == "subscriber" else _of_parents(plant, level, some.tolist())
            begin = int(some[-1]) + 1
            time.sleep(LET_GO_SECONDS)
    return found


def _of_keys(plant: Plant) -> list[Difference]:
    """Return whether the device has fewer keys of headers than are intended; it may have more that a scenario gave it."""
    if not plant.facts.header_profiles:
        return []
    with plant.lock:
        wanted, (there,) = plant.keys.count(prefixes=False), plant.carrier.run(reads([registers.address("find_keys")])).tolist()
    return [Difference("headers", "matches", wanted, there)] if there < wanted else []


def _there(plant: Plant, level: str) -> NDArray[np.int64]:
    """Return the places of a level of which something is intended, in their order."""
    if level == "subscriber":
        return np.flatnonzero(plant.queue_code[:: plant.facts.queues_per_subscriber] != NONE)
    return np.array(sorted(plant.nodes if level == "node" else plant.ports), dtype=np.int64)


def _of_subscribers(plant: Plant, indices: NDArray[np.int64]) -> list[Difference]:
    facts, each = plant.facts, plant.facts.queues_per_subscriber
    queues = (indices[:, None] * each + np.arange(each)).reshape(-1)
    guarantee = _GUARANTEE if facts.hierarchy and facts.hierarchy.guarantees else {}
    columns = _QUEUE | ({"class": "tree_class"} if facts.hierarchy else {}) | guarantee
    rows = plant.codes.queue_rows(plant.queue_code[queues])
    wanted = np.stack([rows[:, QUEUE_COLUMNS.index(name)] for name in columns.values()], axis=1)
    names = [f"queue {queue} ({plant.name_of.get(queue // each, 'no subscriber')}, {queue % each})" for queue in queues.tolist()]
    found = _compared(names, list(columns), wanted, plant.read_back("queue", queues.tolist(), list(columns)))
    if not facts.hierarchy:
        return found
    indices = indices[plant.parent_code[indices] != NONE]
    own = plant.codes.parent_rows(plant.parent_code[indices])
    words = [own[:, PARENT_COLUMNS.index(name)] for name in (_PARENT | guarantee).values()]
    wanted = np.stack([*words, plant.node_of[indices].astype(np.uint32)], axis=1)
    fields = [*_PARENT, *guarantee, "parent"]
    there = plant.read_back("subscriber", indices.tolist(), fields)
    return found + _compared([f"subscriber {i} ({plant.name_of[i]})" for i in indices.tolist()], fields, wanted, there)


def _of_parents(plant: Plant, level: str, indices: list[int]) -> list[Difference]:
    known: Mapping[int, Any] = plant.nodes if level == "node" else plant.ports
    parents = [known[index] for index in indices]
    numbers = [plant.codes.parent(p.rate_bps if p.HasField("rate_bps") else None, p.burst_bytes) for p in parents]
    own = plant.codes.parent_rows(np.array(numbers, dtype=np.int32))
    above = [parent.port if level == "node" else 0 for parent in parents]
    wanted = np.column_stack([own[:, 0], own[:, 1], np.array(above, dtype=np.uint32)])
    fields = ["rate", "burst", "parent"]
    there = plant.read_back(level, indices, fields)
    return _compared([f"{level} {index}" for index in indices], fields, wanted, there)


def _compared(names: list[str], fields: list[str], wanted: NDArray[np.uint32], there: NDArray[np.uint32]) -> list[Difference]:
    places = np.argwhere(wanted != there).tolist()
    return [Difference(names[row], fields[column], int(wanted[row, column]), int(there[row, column])) for row, column in places]
