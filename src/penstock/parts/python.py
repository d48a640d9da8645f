"""An AQM or a scheduler as one file of Python: functions that the model calls for each packet, or for each decision.

docs/how-to/own-python.md says what a file may have. It has no hardware; what it is beside that is a part like any other.
"""

import copy
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from penstock.basics.files import read_text
from penstock.basics.units import describe, parse_size, parse_time
from penstock.errors import UserError
from penstock.parts.manifest import Part
from penstock.paths import shown

SUFFIX = ".py"
MAX_BYTES = 1 << 20
FUNCTIONS = ("on_enqueue", "on_dequeue", "choose")
BITS = {"time": 18, "bytes": 18, "fraction": 16, "count": 12}  # of a setting that does not say how many it has
TIMES = ("time", "us")
PAGE = "docs/how-to/own-python.md"


@dataclass
class Made:
    """The functions of a file as they were made for one model; the engine calls them."""

    path: str
    tick_ns: float  # of an AQM's times
    cycle_ns: float
    on_enqueue: Callable[..., Any] | None
    on_dequeue: Callable[..., Any] | None
    choose: Callable[..., Any] | None
    places: dict[str, tuple[int, int]]
    units: dict[str, tuple[str, float]]  # of settings: their unit, and what one of the hardware's is in Python
    state: Mapping[str, Any] = field(default_factory=dict)

    def begin(self, queue: Any, ecn: bool, word: int) -> None:
        """Give a queue its settings, and its state as the file has it."""
        for name, value in self.state.items():
            setattr(queue, name, copy.deepcopy(value))
        self.set(queue, ecn, word)

    def set(self, queue: Any, ecn: bool, word: int) -> None:
        """Give a queue its settings: times in ns, fractions from 0 to 1, all else as numbers."""
        queue.ecn = ecn
        for name, (low, width) in self.places.items():
            value = word >> low & ((1 << width) - 1)
            unit, one = self.units[name]
            setattr(queue, name, value * one if unit in (*TIMES, "fraction", "gain_hz") else value)


@dataclass(frozen=True)
class Maker:
    """Makes the functions of a file anew, for a device with this clock and tick, and a run with this seed."""

    path: Path
    part: Part
    clock_hz: int
    tick_shift: int
    seed: int = 1

    def __call__(self) -> Made:
        """Run the file and return what it defines. Raises UserError where it does not run."""
        given = run(self.path, f"{self.seed} {self.part.kind}")
        cycle_ns = 1e9 / self.clock_hz
        tick_ns = (1 << self.tick_shift) * cycle_ns
        one = {"time": tick_ns, "us": tick_ns, "gain_hz": 1e9 / (tick_ns * 2**32)}
        units: dict[str, tuple[str, float]] = {
            setting.name: (setting.unit, one.get(setting.unit, 2.0**-setting.bits)) for setting in self.part.settings
        }
        functions = {name: given.get(name) for name in FUNCTIONS}
        return Made(str(self.path), tick_ns, cycle_ns, **functions, places=self.part.places, units=units, state=given.get("state", {}))


def load(path: Path) -> Part:
    """Return the part that a file is. Raises UserError: one sentence that names the file."""
    given = run(path)
    where = shown(path)
    there = [name for name in FUNCTIONS if given.get(name) is not None]
    if not there:
        raise UserError(f"{where}: defines neither on_enqueue nor on_dequeue, as an AQM does, nor choose, as a scheduler does ({PAGE})")
    if wrong := next((name for name in there if not callable(given[name])), None):
        raise UserError(f"{where}: {wrong} must be a function, not {describe(given[wrong])}")
    scheduler = "choose" in there
    if not isinstance(given.get("state", {}), Mapping):
        raise UserError(f"{where}: state must be a mapping of names to values, not {describe(given['state'])}")
    settings = given.get("settings", {})
    if not isinstance(settings, Mapping):
        raise UserError(f"{where}: settings must be a mapping of names to defaults, not {describe(settings)}")
    words = (given.get("__doc__") or "").strip().splitlines()
    document = {
        "kind": "scheduler" if scheduler else "aqm",
        "words": words[0] if words else f"As {path.name} says.",
        **({} if scheduler else {"sees": "arrivals" if "on_enqueue" in there else "departures"}),
        "settings": [_setting(where, str(name), value) for name, value in settings.items()],
    }
    return Part.of_python(document, path)


def seeded(device: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return key `device` of a job in which what is in Python draws its random numbers by the run's seed."""
    model = dict(device.get("model") or {})
    for key in ("aqm", "scheduler"):
        told = model.get(key)
        if told and isinstance(told.get("python"), Maker):
            model[key] = told | {"python": replace(told["python"], seed=seed)}
    return device | {"model": model} if model else device


def run(path: Path, seed: str = "1") -> dict[str, Any]:
    """Run a file and return what it defines. Raises UserError."""
    text = read_text(path, "an AQM or a scheduler in Python", MAX_BYTES)
    given: dict[str, Any] = {"__name__": path.stem, "__file__": str(path), "rng": random.Random(seed)}
    try:
        exec(compile(text, str(path), "exec"), given)  # what a user has written and named is to be run
    except SyntaxError as error:
        raise UserError(f"{shown(path)}:{error.lineno}: is not Python: {error.msg}") from None
    except Exception as error:
        raise UserError(failure(error)) from None
    return given


def failure(error: BaseException) -> str:
    """Return in a sentence what a function of a file has raised, and where."""
    if isinstance(error, UserError):
        return str(error)
    where, trace = "", error.__traceback__
    while isinstance(trace, TracebackType):
        if (name := trace.tb_frame.f_code.co_filename).endswith(SUFFIX) and name != __file__:
            inside = trace.tb_frame.f_code.co_name
            where = f"{shown(Path(name))}:{trace.tb_lineno}: " + ("" if inside == "<module>" else f"{inside} ")
        trace = trace.tb_next
    return f"{where}raises {type(error).__name__}: {error}"


def _setting(where: str, name: str, given: object) -> dict[str, Any]:
    """Return a setting as a manifest has it: a default, or such a mapping without the name."""
    if isinstance(given, Mapping):
        found = {"words": f"Setting {name}.", **given}
        if "default" not in found:
            raise UserError(f"{where}: settings.{name} has no default")
        unit = found.setdefault("unit", _unit(where, name, found["default"]))
        return {"name": name, "bits": BITS.get(unit, 16), **found}
    unit = _unit(where, name, given)
    return {"name": name, "words": f"Setting {name}.", "unit": unit, "bits": BITS[unit], "default": given}


def _unit(where: str, name: str, given: object) -> str:
    if isinstance(given, str):
        for unit, read in (("time", parse_time), ("bytes", parse_size)):
            try:
                read(given)
            except ValueError:
                continue
            return unit
    elif isinstance(given, int) and not isinstance(given, bool):
        return "count"
    elif isinstance(given, float) and 0 <= given <= 1:
        return "fraction"
    kinds = 'a time such as "5 ms", a size such as "3 kB", a whole number, or a fraction from 0.0 to 1.0'
    raise UserError(f"{where}: settings.{name} must be {kinds}, not {describe(given)}")
