"""What synthesis is expected to find: `expected.yaml` beside a block or a design has the sizes, `expected.json` what was found with them.

The first maps modules to lists of entries, each a target and the module's parameters; `penstock figures` measures them and writes the
second. The first entry of a target is also what `penstock synth` takes where nothing else is set, so every module with an entry has a size
that is looked at by default. Entries of a whole design name one of its configurations, and their parameters are changes to it: `penstock
synth DESIGN --set config=NAME`. An entry that was not measured since there are such files has its figures in `expected.yaml`.
"""

import json
import statistics
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from penstock.errors import UserError
from penstock.paths import BLOCKS, DESIGNS, ROOT

# How far a figure may be from what is expected, as a share of it. Memories and multipliers are counted exactly: one more is a decision.
# Logic moves a little with every change of a line; what is smaller by more than this deserves a new entry as well. A clock may be faster.
TOLERANCE = {"lut": 0.05, "ff": 0.05, "bram": 0.0, "uram": 0.0, "dsp": 0.0, "fmax_mhz": 0.06}
LEAST_SEEDS = 3  # below, the median of clock frequencies says more about luck than about the design


class Expectation(BaseModel):
    """One entry: the figures of one module with `parameters` on `target`; None for one that was not measured."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: Literal["xcup", "ecp5"]
    config: str | None = Field(None, description="Of a design's top module: the named configuration; `parameters` are changes to it.")
    parameters: dict[str, int | str] = Field(default={}, description="As the source names them; parameters left out have their default.")
    timing_weight: int | None = Field(None, ge=1, le=1000, description="ecp5: with which it is placed; else the placer's own.")
    seeds: int = Field(LEAST_SEEDS, ge=LEAST_SEEDS, description="ecp5: so often it is placed.")
    lut: int | None = Field(None, ge=0)
    ff: int | None = Field(None, ge=0)
    bram: float | None = Field(None, ge=0, description="36 Kbit (xcup) or 18 Kbit (ecp5).")
    uram: int | None = Field(None, ge=0)
    dsp: int | None = Field(None, ge=0)
    fmax_mhz: float | None = Field(None, gt=0, description="Median over the seeds; ecp5 only.")

    @model_validator(mode="after")
    def _is_whole(self) -> "Expectation":
        if self.lut is not None and (self.ff is None or self.bram is None):
            raise ValueError("lut, ff and bram go together")
        return self

    def command(self, module: str) -> str:
        """Return the command that measures it."""
        what = module.removeprefix("pst_") if self.config else module
        settings = {**({"config": self.config} if self.config else {}), **self.parameters}
        words = ["synth", what, "--target", self.target, *(f"--set {key}={value}" for key, value in settings.items())]
        return " ".join([*words, *([f"--seeds {self.seeds}"] if self.target == "ecp5" else [])])

    def with_figures(self, found: Mapping[str, Any]) -> "Expectation":
        """Return the entry with what synthesis has found."""
        speeds = found["fmax_mhz"]
        figures = {key: found[key] for key in TOLERANCE if key != "fmax_mhz"}
        return self.model_copy(update={**figures, **({"fmax_mhz": statistics.median(speeds)} if speeds else {})})

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
    return [entry for path in files() for entry in read(path).get(module, []) if (entry.target, entry.config) == (target, config)]


def find(module: str, target: str, parameters: Mapping[str, int | str], config: str | None = None) -> Expectation | None:
    """Return the entry of `module` (or of a configuration of its design) for `target` with exactly `parameters`, or None."""
    wanted = {key: str(value) for key, value in parameters.items()}  # changes to a configuration are text
    found = (entry for entry in entries(module, target, config) if {key: str(value) for key, value in entry.parameters.items()} == wanted)
    return next(found, None)


def files() -> list[Path]:
    """Return every file of expectations."""
    return sorted((*BLOCKS.glob("*/expected.yaml"), *DESIGNS.glob("*/expected.yaml")))


@cache
def read(path: Path) -> dict[str, list[Expectation]]:
    """Return the entries of a file by module. Raises UserError for one that is not sound."""
    where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    try:
        document = YAML(typ="safe").load(path.read_text())
    except YAMLError as error:
        raise UserError(f"{where}: not YAML: {error}") from None
    if not isinstance(document, dict) or not all(isinstance(found, list) for found in document.values()):
        raise UserError(f"{where}: must be a mapping from modules to lists of entries")
    entries: dict[str, list[Expectation]] = {}
    measured = _measured(path.with_suffix(".json"))
    for module, found in document.items():
        try:
            given = [Expectation.model_validate(entry) for entry in found]
        except ValidationError as error:
            first = error.errors()[0]
            raise UserError(f"{where}: {module}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        entries[module] = [entry.with_figures(values) if (values := measured.get(entry.command(module))) else entry for entry in given]
    return entries


def _measured(path: Path) -> dict[str, dict[str, Any]]:
    """Return what was found by each command; nothing where no file is."""
    try:
        return {command: row["values"] for command, row in json.loads(path.read_text(encoding="utf-8"))["rows"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path.name}: is no file of results ({error}); remove it and measure again with penstock figures") from None
