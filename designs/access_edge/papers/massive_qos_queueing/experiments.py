"""An experiment of the paper: one of the files in scenarios/paper/massive_qos_queueing, on the model engine, which is equal to the RTL."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.engine import memories
from penstock.engine.result import Departures, failures
from penstock.engine.run import Request, RunError, prepare, simulate
from penstock.papers import Options
from penstock.paths import ROOT

SCENARIOS = Path("scenarios/paper/massive_qos_queueing")
ENGINE = "model"


@dataclass(frozen=True)
class Measured:
    """What came out of a run: `facts` for result.json, and the frames that were kept one by one (all, below 4,000,000)."""

    facts: dict[str, Any]
    left: Departures
    clock_hz: int

    @property
    def cycle_ns(self) -> float:
        """Length of a clock cycle."""
        return 1e9 / self.clock_hz

    @property
    def lost(self) -> int:
        """Packets that were dropped, or that found the FIFO of the input full."""
        return sum(self.facts["packets"]["dropped"].values()) + self.facts.get("ingress_lost", {"packets": 0})["packets"]


def run(name: str, options: Options, doing: str, settings: tuple[str, ...] = ()) -> Measured:
    """Run the scenario `name`, changed by `settings` (KEY=VALUE). Raises UserError, RunError, and KeyboardInterrupt when interrupted."""
    path = ROOT / SCENARIOS / f"{name}.yaml"
    prepared = prepare(Request(path, list(settings), options.seed, engine=ENGINE))
    raw = simulate(prepared.plan.job, prepared.config, path, doing)
    result = prepared.summary(raw)
    if failed := failures(result):
        raise RunError(f"{name}: {' '.join(failed)}")
    if result["interrupted"]:  # part of an experiment is none
        raise KeyboardInterrupt
    kept = ("engine", "config", "clock_hz", "device_seconds", "packets", "throughput_bps", "latency_ns", "memories")
    facts = {"scenario": str(SCENARIOS / f"{name}.yaml"), "settings": list(settings), **{key: result[key] for key in kept}}
    facts |= {key: result[key] for key in ("ingress_lost",) if key in result}
    return Measured(facts, Departures.of(raw), result["clock_hz"])


def memory_words(facts: dict[str, Any]) -> str:
    """Say which memories a run had."""
    kinds = dict.fromkeys(memory["kind"] for memory in facts["memories"])
    return " and ".join("on-chip SRAM, which always answers at once" if kind == memories.SRAM else _channel(kind) for kind in kinds)


def _channel(kind: str) -> str:
    return f"{kind}, channels of DRAM command by command (docs/memories.md)"


def histogram(values: Any, scale: float) -> dict[str, list[float]]:
    """Return the values that occurred, times `scale`, and how often each did."""
    import numpy as np

    found, count = np.unique(values, return_counts=True)
    return {"values": [round(float(value) * scale, 6) for value in found], "packets": count.tolist()}


def shares(found: dict[str, list[float]]) -> list[float]:
    """Return a histogram's packets as shares of all."""
    total = sum(found["packets"])
    return [count / total for count in found["packets"]]
