"""What synthesis is expected to find: `expected.yaml` beside a block or a design, read, checked and compared.

A file maps modules to lists of entries, each a target, the module's parameters and the figures found with them. The first entry of a target
is also what `penstock synth` takes where nothing else is set, so every module with an entry has a size that is looked at by default.
Entries of a whole design name one of its configurations, and their parameters are changes to it: `penstock synth DESIGN --set config=NAME`.
"""

import statistics
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from penstock.errors import UserError
from penstock.paths import BLOCKS, DESIGNS, ROOT

# How far a figure may be from what is expected, as a share of it. Memories and multipliers are counted exactly: one more is a decision.
# Logic moves a little with every change of a line; what is smaller by more than this deserves a new entry as well. A clock may be faster.
TOLERANCE = {"lut": 0.05, "ff": 0.05, "bram": 0.0, "uram": 0.0, "dsp": 0.0, "fmax_mhz": 0.06}
LEAST_SEEDS = 3  # below, the median of clock frequencies says more about luck than about the design


class Expectation(BaseModel):
    """One entry: the figures of one module with `parameters` on `target`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: Literal["xcup", "ecp5"]
    config: str | None = Field(None, description="Of a design's top module: the named configuration; `parameters` are changes to it.")
    parameters: dict[str, int | str] = Field(default={}, description="As the source names them; parameters left out have their default.")
    timing_weight: int | None = Field(None, ge=1, le=1000, description="ecp5: with which it is placed; else the placer's own.")
    lut: int = Field(ge=0)
    ff: int = Field(ge=0)
    bram: float = Field(ge=0, description="36 Kbit (xcup) or 18 Kbit (ecp5).")
    uram: int = Field(0, ge=0)
    dsp: int = Field(0, ge=0)
    fmax_mhz: float | None = Field(None, gt=0, description="Median over the seeds; ecp5 only.")

    def figures(self) -> dict[str, float]:
        """Return the expected figures by their key in the report of `synth`; `fmax_mhz` is the median."""
        return {key: value for key in TOLERANCE if (value := getattr(self, key)) is not None}

    def outside(self, result: Mapping[str, Any]) -> list[str]:
        """Return the keys of those figures of `result` that are further from this entry than `TOLERANCE`."""
        keys = []
        for key, expected in self.figures().items():
            slack = expected * TOLERANCE[key]
            if key == "fmax_mhz":
                speeds = result[key]
                if len(speeds) >= LEAST_SEEDS and statistics.median(speeds) < expected - slack:
                    keys.append(key)
            elif abs(result[key] - expected) > slack:
                keys.append(key)
        return keys


def entries(module: str, target: str, config: str | None = None) -> list[Expectation]:
    """Return the entries of `module` for `target`, in the order of their file, or those of a configuration of the design whose top it is.

    Raises UserError for a file that is not sound.
    """
    return [entry for path in files() for entry in _read(path).get(module, []) if (entry.target, entry.config) == (target, config)]


def find(module: str, target: str, parameters: Mapping[str, int | str], config: str | None = None) -> Expectation | None:
    """Return the entry of `module` (or of a configuration of its design) for `target` with exactly `parameters`, or None."""
    wanted = {key: str(value) for key, value in parameters.items()}  # changes to a configuration are text
    found = (entry for entry in entries(module, target, config) if {key: str(value) for key, value in entry.parameters.items()} == wanted)
    return next(found, None)


def files() -> list[Path]:
    """Return every file of expectations."""
    return sorted((*BLOCKS.glob("*/expected.yaml"), *DESIGNS.glob("*/expected.yaml")))


@cache
def _read(path: Path) -> dict[str, list[Expectation]]:
    where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    try:
        document = YAML(typ="safe").load(path.read_text())
    except YAMLError as error:
        raise UserError(f"{where}: not YAML: {error}") from None
    if not isinstance(document, dict) or not all(isinstance(found, list) for found in document.values()):
        raise UserError(f"{where}: must be a mapping from modules to lists of entries")
    entries: dict[str, list[Expectation]] = {}
    for module, found in document.items():
        try:
            entries[module] = [Expectation.model_validate(entry) for entry in found]
        except ValidationError as error:
            first = error.errors()[0]
            raise UserError(f"{where}: {module}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return entries
