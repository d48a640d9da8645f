"""What can be known before anything runs: a FILE of whose points none is accepted is wrong itself, at the key that the refusal names."""

import re
from collections.abc import Sequence
from typing import Any, NoReturn

from pydantic import TypeAdapter, ValidationError

from penstock.basics.suggest import nearest
from penstock.basics.wording import words
from penstock.errors import UserError
from penstock.scenarios.scenario import Document, read
from penstock.sweeps.point import Point
from penstock.sweeps.sources import resolved
from penstock.sweeps.spec import kind_of

TRIES = 64  # points of a grid that are looked at until one is accepted
SWITCH_SIM_RUNS = "seeds"  # the option of switch-sim that is no part of its setting


def check(sweep: Any, grids: Sequence[Sequence[Point]], document: Document) -> None:
    """Raise UserError when no point of a grid is accepted; one that is wrong beside good ones is an error of its own rows."""
    if kind_of(sweep) == "run":
        try:
            read(resolved(grids[0][0].target), "scenario", "docs/scenario-access-edge.md", "duration: 20 ms")
        except UserError as error:
            document.fail(("run",), f"is refused: {error}")
    for number, grid in enumerate(grids):
        step = max(1, len(grid) // TRIES)
        first: UserError | None = None
        for point in grid[::step]:
            try:
                _validate(point)
                break
            except UserError as error:
                first = first or error
        else:
            assert first is not None
            _blame(document, grid[0], ("grids", number) if sweep.grids else ("set",), str(first))


def _validate(point: Point) -> None:
    """Raise UserError when the command would refuse this point, as far as that is known without reading captures or making a device."""
    for name, found in point.digests():
        if found == "missing":
            raise UserError(f"{'--trace ' if point.kind == 'switch-sim' else ''}{resolved(name)}: cannot be read")
    if point.kind == "bench":
        from penstock.benches import bench
        from penstock.command_line.options import parse_settings

        engine = [f"engine={point.engine}"] if point.engine else []
        bench.plan(point.target, parse_settings([*engine, *point.texts()]), point.seed or 1)
    elif point.kind == "run":
        from penstock.designs import design as designs
        from penstock.scenarios import scenario
        from penstock.scenarios.device import configuration

        described, document = scenario.load(resolved(point.target), point.texts())
        designs.load(configuration(described, document).design).engine(point.engine)
    else:
        _validate_switch(point.options())


def _validate_switch(options: dict[str, Any]) -> None:
    from dataclasses import fields

    from penstock.switch_sim import Setting

    known = [field.name for field in fields(Setting)]
    for key in options:
        if key not in (*known, SWITCH_SIM_RUNS):
            raise UserError(f"--{key}: there is no such option{nearest(key, [*known, SWITCH_SIM_RUNS])}")
    runs = options.pop(SWITCH_SIM_RUNS, 1)
    if not str(runs).isdecimal() or not int(runs):
        raise UserError(f"--{SWITCH_SIM_RUNS} {runs}: give a whole number, 1 or more")
    if "algorithm" not in options:
        raise UserError("--algorithm: must be given")
    try:
        TypeAdapter(Setting).validate_python(options)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"--{first['loc'][0]} {words(first)}") from None


def _blame(document: Document, point: Point, place: tuple[str | int, ...], sentence: str) -> NoReturn:
    """Raise UserError at the key of the FILE that a refusal names, as far as it names one."""
    fixed = [(("switch-sim", key), key) for key, _ in point.fixed]
    keys = [(((*place, key) if key in _at(document.data, place) else ("set", key)), key) for key, _ in point.settings]
    given = sorted([*fixed, *keys], key=lambda item: -len(item[1]))
    starts = lambda key: (f"--set {key}=", f"--{key} ", f"--{key}:", f"--set: there is no key {key!r}")  # noqa: E731
    named = next((where for where, key in given if sentence.startswith(starts(key)) or f"`{key}`" in sentence), None)
    if named is None:  # a part of a key, as in `queus` is not a known key
        parts = set(re.findall(r"`([^`]+)`", sentence))
        named = next((where for where, key in given if parts & {".".join(key.split(".")[:n]) for n in range(1, 9)}), None)
    if named is None and ("'engine'" in sentence or sentence.startswith("--engine ")) and point.engine:
        named = ("engines",)
    if named is None and sentence.startswith("there is no bench"):
        named = ("bench",)
    if named is None:
        named = place if place[0] == "grids" else (point.kind,)
    document.fail(named, f"is refused: {sentence}")


def _at(data: Any, place: tuple[str | int, ...]) -> Any:
    part: Any
    for part in place:
        data = data[part] if isinstance(data, list) or part in data else {}
    return data
