"""A live scenario with its own applications, played for a figure of a paper: its result, and every frame that left."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.engine.result import failures
from penstock.engine.run import Request, RunError
from penstock.live import stage


@dataclass(frozen=True)
class Played:
    """What came out: `result.json`; arrays of `departures.npz`, and of `series.npz`."""

    result: dict[str, Any]
    left: dict[str, NDArray[Any]]
    series: dict[str, NDArray[Any]]


def play(scenario: Path, settings: list[str], engine: str | None, seed: int) -> Played:
    """Play it. Raises UserError, ToolError, RunError, and KeyboardInterrupt when interrupted."""
    with tempfile.TemporaryDirectory(prefix="penstock-live-") as name:
        out = Path(name) / "out"
        status = stage.carry_out(stage.Live(Request(scenario, settings, seed, out, engine)))
        if status == stage.INTERRUPTED:
            raise KeyboardInterrupt
        if status:
            raise RunError(f"{scenario.name}: the live run ended with status {status}")
        result = json.loads((out / "result.json").read_text())
        if failed := failures(result):
            raise RunError(f"{scenario.name}: {' '.join(failed)}")
        return Played(result, dict(np.load(out / "departures.npz")), dict(np.load(out / "series.npz")))
