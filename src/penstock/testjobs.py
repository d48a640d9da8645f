"""Sources and checks that tests of whole devices share: jobs for the engine, and what a good result looks like."""

import random
from typing import Any

import numpy as np

Job = dict[str, Any]


def constant(queues: Any = (3,), bps: float = 5e9, size: int = 200, **keys: Any) -> Job:
    """A source of equal frames at equal distances."""
    return {"kind": "constant", "queues": list(queues), "pick": "round_robin", "bps": bps, "sizes": [(size, 1)]} | keys


def frames(rng: random.Random, count: int, mean_gap: int = 30) -> Job:
    """A list of frames of all kinds: good, runts, too long, for queues that do not exist, damaged."""
    lengths = [rng.choice([0, 5, 14, 60, 61, 124, 125, 700, 1522, 1523, 2000]) for _ in range(count)]
    stored = [rng.randint(0, length) for length in lengths]
    return {
        "kind": "frames",
        "cycles": np.cumsum([rng.randint(0, 2 * mean_gap) for _ in range(count)]),
        "queues": np.array([rng.choice([*range(16), 16, 0xFFFFFFFF]) for _ in range(count)], dtype=np.uint32),
        "offsets": np.cumsum([0, *stored])[:-1],
        "lengths": lengths,
        "stored": stored,
        "data": np.frombuffer(rng.randbytes(sum(stored) + 1), dtype=np.uint8),
        "error": [int(rng.random() < 0.1) for _ in range(count)],
    }


def fate(length: int, queue: int, error: int) -> str:
    """What docs/architecture.md says of a frame at the input of a device with 16 queues."""
    if error:
        return "bad_frame"
    if length < 14:
        return "runt"
    if length > 1522:
        return "oversize"
    return "passed" if queue < 16 else "bad_queue_id"


def assert_clean(result: dict[str, Any]) -> None:
    """Nothing is wrong with this run."""
    assert result["findings"] == []
    for key in ("order_errors", "payload_errors", "event_errors", "lost", "counter_mismatches"):
        assert result[key] == 0, key
    assert result["conservation_ok"] and not result["interrupted"]
    for totals in (result["packets"], result["bytes"]):
        assert totals["in"] == totals["out"] + totals["queued"] + sum(totals["dropped"].values())
