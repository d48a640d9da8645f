"""The FILE of a sweep: what it may say, and reading it. Errors name file, line and key."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictStr, ValidationError, create_model

from penstock.basics.models import Model
from penstock.basics.units import describe
from penstock.designs.design import ENGINES
from penstock.scenarios.common import Name
from penstock.scenarios.scenario import Document, explain, read
from penstock.sweeps.values import MAX_RUNS, seeds, values

MAX_GRIDS = 1000
MAX_PLOTS = 100
KINDS = ("run", "bench", "switch-sim")


def _engines(given: Any) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(map(str, given if isinstance(given, (list, tuple)) else [given])))
    for engine in found or ("",):
        if engine not in ENGINES:
            raise ValueError(f"must be one or a list of {', '.join(ENGINES)}, not {describe(engine)}")
    return found


def _columns(given: Any) -> tuple[str, ...]:
    found = given if isinstance(given, (list, tuple)) else [given]
    if not all(isinstance(name, str) and name.strip() for name in found):
        raise ValueError("must be the name of a column, or a list of such")
    return tuple(found)


def _options(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"must be options of `penstock switch-sim`, such as {{ algorithm: islip, ports: 16 }}, not {describe(given)}")
    for key, value in given.items():
        if isinstance(value, (list, tuple, dict)) or value is None:
            raise ValueError(f"has no single value for `{key}`; lists of values stand in `set`")
    return given


Engines = Annotated[tuple[str, ...], BeforeValidator(_engines)]
Seeds = Annotated[tuple[int, ...], BeforeValidator(seeds)]
Values = Annotated[tuple[Any, ...], BeforeValidator(values)]
Set = dict[str, Values]


class Plot(Model):
    """One plot: a column of the table against another."""

    x: StrictStr = Field(description="A column: a parameter, or a result such as `throughput_bps`.")
    y: StrictStr = Field(description="A column with numbers.")
    by: Annotated[tuple[str, ...], BeforeValidator(_columns)] = Field((), description="One curve for each value of these columns.")
    log: Literal["x", "y", "xy"] | None = Field(None, description="Axes that are logarithmic.")
    title: StrictStr | None = Field(None, description="Above the plot; `y` over `x` unless given.")


class _Sweep(Model):
    name: Name | None = Field(None, description="Of the out folder in `results/sweeps`; the file's unless given.")
    description: StrictStr = Field("", description="A sentence for the report.")
    run: StrictStr | None = Field(None, description="A scenario, relative to this file.")
    bench: StrictStr | None = Field(None, description="Name of a bench.")
    engines: Engines = Field((), description="`rtl`, `model` or both.")
    seeds: Seeds = Field((), description="Seeds: `3`, `1..8`, `[1, 5]`.")
    set: Set = Field(default_factory=dict, description="Keys of `--set` (options of switch-sim), each with its values.")
    grids: list[Set] = Field(
        default_factory=list, max_length=MAX_GRIDS, description="More of them, one grid after the other; `set` holds in each."
    )
    plots: list[Plot] = Field(default_factory=list, max_length=MAX_PLOTS)


# A key with a hyphen is no name in Python.
_OF_SWITCH_SIM: dict[str, Any] = {
    "switch-sim": (
        Annotated[dict[str, Any], BeforeValidator(_options)] | None,
        Field(None, description="Options of the slot simulator."),
    )
}
Sweep: Any = create_model("Sweep", __base__=_Sweep, **_OF_SWITCH_SIM)


def load(path: Path) -> tuple[Any, Document]:
    """Read and validate a FILE. Raises UserError."""
    document = read(path, "sweep", "docs/how-to/sweep.md", "run: hello.yaml")
    try:
        sweep = Sweep.model_validate(document.data)
    except ValidationError as error:
        explain(document, error)
    _check(sweep, document)
    return sweep, document


def kind_of(sweep: Any) -> str:
    """Return which of KINDS a sweep is of."""
    return next(kind for kind in KINDS if getattr(sweep, kind) is not None)


def grids(sweep: Any) -> list[dict[str, tuple[Any, ...]]]:
    """Return the grids of a sweep, at least one: each key with its values."""
    return [{**sweep.set, **grid} for grid in sweep.grids] or [dict(sweep.set)]


def _check(sweep: Any, document: Document) -> None:
    named = [kind for kind in KINDS if getattr(sweep, kind) is not None]
    if not named:
        document.fail((), "must have one of `run`, `bench` and `switch-sim`, and has none")
    if len(named) > 1:
        document.fail((named[1],), f"cannot stand beside `{named[0]}`: a sweep has one of `run`, `bench` and `switch-sim`")
    (kind,) = named
    if kind == "switch-sim" and sweep.engines:
        document.fail(("engines",), "has no meaning for switch-sim, which is a model alone")
    if "seed" in (getattr(sweep, kind) if kind == "switch-sim" else ()):
        document.fail((kind, "seed"), "stands beside `switch-sim`: write `seeds: 1..8`")
    places: list[tuple[str | int, ...]] = [("set", key) for key in sweep.set]
    for number, grid in enumerate(sweep.grids):
        for key in grid:
            if key in sweep.set:
                document.fail(("grids", number, key), "stands in `set`, too, which holds in each grid")
            places.append(("grids", number, key))
    for place in places:
        _check_key(str(place[-1]), place, kind, sweep, document)
    runs = sum(math.prod(map(len, grid.values())) for grid in grids(sweep)) * max(1, len(sweep.seeds)) * max(1, len(sweep.engines))
    if runs > MAX_RUNS:
        document.fail(("grids",) if sweep.grids else ("set",), f"makes {runs:,} runs with seeds and engines, allowed: {MAX_RUNS:,}")


def _check_key(key: str, place: tuple[str | int, ...], kind: str, sweep: Any, document: Document) -> None:
    if key in ("seed", "engine", "engines") or (key == "seeds" and kind != "switch-sim"):
        document.fail(place, f"stands beside `set`: write `{'seeds' if key.startswith('seed') else 'engines'}: [...]`")
    if key.split(".")[0] == "output" and kind == "run":
        document.fail(place, "has no meaning in a sweep, which keeps the figures of a run and no captures")
    fixed = getattr(sweep, "switch-sim") or {}
    if key in fixed:
        document.fail(place, "stands in `switch-sim`, too")
    given = [value for grid in grids(sweep) for value in grid.get(key, ())]
    if kind != "run" and any(isinstance(value, (list, tuple, dict)) for value in given):
        document.fail(place, "must have single values")
