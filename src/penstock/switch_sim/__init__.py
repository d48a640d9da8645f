"""The slot simulator: P x P switches under traffic, on all cores or on a Dask cluster. docs/switch-sim.md has the conventions.

from penstock.switch_sim import Setting, simulate

result = simulate(Setting("cprra", ports=16, traffic="uniform", rate=0.9, slots=25_000), seeds=20)
result["latency_slots"]["mean"]
"""

from penstock.switch_sim.runs import SCHEMA, Point, simulate, sweep
from penstock.switch_sim.setting import ALGORITHMS, SCHEDULERS, TRAFFICS, Setting

__all__ = ["ALGORITHMS", "SCHEDULERS", "SCHEMA", "TRAFFICS", "Point", "Setting", "simulate", "sweep"]
