"""One setting with several seeds: what `penstock switch-sim` does."""

from typing import Any

from penstock.errors import UserError
from penstock.switch_sim.setting import Setting
from penstock.switch_sim.sweep import Point, Progress, sweep

SCHEMA = "penstock.switch-sim/1"
MAX_SEEDS = 100_000


def simulate(
    setting: Setting, seeds: int = 10, seed: int = 1, progress: Progress | None = None, cluster: str | None = None
) -> dict[str, Any]:
    """Return the result of `seeds` runs; docs/README.md has its keys. Raises UserError."""
    if not 1 <= seeds <= MAX_SEEDS:
        raise UserError(f"--seeds {seeds}: give 1 to {MAX_SEEDS:,}")
    (measured,) = sweep([Point(setting, seeds)], seed, progress, cluster)
    return {"schema": SCHEMA, "seed": seed, "config": setting.config() | {"seeds": seeds}, **measured}
