"""A point of the grid: one call of `penstock run`, `bench` or `switch-sim`, and the hash of all that it depends on."""

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from penstock.designs import design as designs
from penstock.scenarios.scenario import located, read
from penstock.sweeps.sources import digest, portable, resolved
from penstock.sweeps.spec import grids, kind_of

VERSION = 1  # of what is hashed
DIGITS = 20
FILE_OPTIONS = ("trace",)  # of switch-sim: paths


@dataclass(frozen=True)
class Point:
    """One call. `target`: the scenario (`sources.portable`) or the bench; `settings`: keys and values of the grid."""

    kind: str
    target: str
    engine: str | None
    seed: int | None
    settings: tuple[tuple[str, Any], ...]
    fixed: tuple[tuple[str, Any], ...] = ()  # options of switch-sim that no grid changes

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as columns of the table: single values, lists and mappings as JSON text."""
        found: dict[str, Any] = {}
        if self.engine is not None:
            found["engine"] = self.engine
        if self.seed is not None:
            found["seed"] = self.seed
        return found | {key: json.dumps(value) if isinstance(value, (list, tuple, dict)) else value for key, value in self.settings}

    def options(self) -> dict[str, Any]:
        """Return the options of switch-sim."""
        return {key: resolved(value) if key in FILE_OPTIONS else value for key, value in (*self.fixed, *self.settings)}

    def texts(self) -> list[str]:
        """Return the `KEY=VALUE` of `--set`."""
        word = scenario_word if self.kind == "run" else bench_word
        return [f"{key}={word(value)}" for key, value in self.settings]

    def arguments(self) -> list[str]:
        """Return the arguments of `penstock`, all but `--out`."""
        seed = [] if self.seed is None else [f"--seed={self.seed}"]
        if self.kind == "switch-sim":
            return ["switch-sim", *(f"--{key}={value}" for key, value in self.options().items()), *seed, "--json"]
        settings = [f"--set={text}" for text in self.texts()]
        if self.kind == "bench":
            engine = [f"--set=engine={self.engine}"] if self.engine else []
            return ["bench", self.target, *engine, *settings, *seed, "--json"]
        engine = [f"--engine={self.engine}"] if self.engine else []
        return ["run", str(resolved(self.target)), *engine, *settings, "--set=output={}", *seed, "--json"]

    def files(self) -> list[str]:
        """Return the files that the call reads (`sources.portable`): the scenario and those that it names, a trace."""
        if self.kind == "switch-sim":
            return [value for key, value in (*self.fixed, *self.settings) if key in FILE_OPTIONS]
        if self.kind == "bench":
            return []
        scenario = resolved(self.target)
        named = _named_in(self.target, digest(scenario))
        for key, value in self.settings:
            path = tuple(key.split("."))
            left = {at: name for at, name in named.items() if at[: len(path)] != path}
            named = left | _named(reduce(lambda inner, part: {part: inner}, reversed(path), value))
        return [self.target, *(portable(located(name, scenario)) for name in dict.fromkeys(named.values()))]

    def digests(self) -> list[tuple[str, str]]:
        """Return the files with the SHA-256 of each."""
        return [(name, digest(resolved(name))) for name in self.files()]

    def key(self) -> str:
        """Return DIGITS hex digits that stand for what is run: settings, engine, seed, and what is in the files, wherever they are."""
        what = [VERSION, self.kind, self.target if self.kind == "bench" else "", self.engine, self.seed, self._ordered_texts()]
        if self.kind == "switch-sim":
            plain = [(key, str(value)) for key, value in (*self.fixed, *self.settings) if key not in FILE_OPTIONS]
            what = [VERSION, self.kind, self.seed, sorted(plain)]
        content = json.dumps([what, [found for _, found in self.digests()]])
        return hashlib.sha256(content.encode()).hexdigest()[:DIGITS]

    def _ordered_texts(self) -> list[str]:
        """Return the `KEY=VALUE` in an order that does not depend on that of the FILE, unless one key changes what another one has set."""
        keys = [key for key, _ in self.settings]
        nested = any(other != key and other.startswith(f"{key}.") for key in keys for other in keys)
        return self.texts() if nested else sorted(self.texts())


def points(sweep: Any, folder: Path) -> list[list[Point]]:
    """Return the points of each grid of a sweep, seeds fastest, engines before them; files are relative to `folder`."""
    kind = kind_of(sweep)
    target = portable(folder / sweep.run) if kind == "run" else sweep.bench or ""
    fixed = tuple(_placed(item, folder) for item in (getattr(sweep, "switch-sim") or {}).items())
    found = []
    for grid in grids(sweep):
        combinations = [tuple(zip(grid, combination, strict=True)) for combination in itertools.product(*grid.values())]
        if kind == "switch-sim":
            combinations = [tuple(_placed(item, folder) for item in settings) for settings in combinations]
        axes = itertools.product(combinations, sweep.engines or (None,), sweep.seeds or (None,))
        found.append([Point(kind, target, engine, seed, settings, fixed) for settings, engine, seed in axes])
    return found


def _placed(item: tuple[str, Any], folder: Path) -> tuple[str, Any]:
    key, value = item
    return (key, portable(folder / str(value))) if key in FILE_OPTIONS else item


def scenario_word(value: Any) -> str:
    """Return the text after `--set KEY=` that a scenario reads as this value."""
    return json.dumps(value) if not isinstance(value, str) or _is_no_text(value) else value


def bench_word(value: Any) -> str:
    """Return the text after `--set KEY=` that a bench reads as this value: flags are 0 and 1."""
    return str(int(value)) if isinstance(value, bool) else str(value)


@cache
def _is_no_text(text: str) -> bool:
    """Whether YAML would not read these words as themselves: 5, yes, {a: b}."""
    try:
        return text != text.strip() or YAML(typ="safe", pure=True).load(text) != text
    except (YAMLError, ValueError):
        return True


@cache
def _named_in(target: str, _content: str) -> Mapping[tuple[str, ...], str]:
    return _named(read(resolved(target), "scenario", "docs/scenario-access-edge.md", "duration: 20 ms").data)


def _named(data: Any) -> dict[tuple[str, ...], str]:
    """Return the files that a scenario names, or a part of one, by their keys."""
    return {at: name for key in _file_keys() for at, name in _texts(data, key.split("."))}


@cache
def _file_keys() -> tuple[str, ...]:
    """Return the keys of all designs that name files: a grid may change the design, too."""
    return tuple(dict.fromkeys(key for name in designs.names() for key in designs.load(name).input_files))


def _texts(node: Any, key: Sequence[str], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts that stand at a key, each with the keys that lead there."""
    if not key and isinstance(node, str):
        yield above, node
    elif key and isinstance(node, (dict, list, tuple)):
        for part, inner in node.items() if isinstance(node, dict) else enumerate(node):
            if key[0] in ("*", part):
                yield from _texts(inner, key[1:], (*above, str(part)))
