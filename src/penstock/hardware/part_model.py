"""Compiles the models of parts that are not ours: a header outside of the source tree, against our headers, into a shared library.

The engine loads it (`blocks/<block>/model`, one extern "C" function with the version of the interface). A library is keyed by all that
goes into it, and kept in the user's cache, so asking again for the same model costs some milliseconds.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from penstock import cache
from penstock.basics import children, compilers, keys, machine, waits
from penstock.errors import UserError
from penstock.paths import BLOCKS, BUILD, ROOT, shown

# Of each kind of part: the header with its interface, and the macro that makes a library of a class.
INTERFACES = {
    "aqm": ("blocks/aqm/model/aqm_model.hpp", "PENSTOCK_AQM_LIBRARY"),
    "scheduler": ("blocks/schedule/model/scheduler_model.hpp", "PENSTOCK_SCHEDULER_LIBRARY"),
}
INCLUDES = (ROOT, ROOT / "engine/include")
FLAGS = ("-std=c++20", "-O3", "-Wall", "-fPIC", "-shared", "-fvisibility=hidden")
USUAL_SECONDS = 5
USUAL_TIMES = (220_000_000, 8)

Report = Callable[[str], None]


class Part(Protocol):
    """What is asked of a part (penstock.parts)."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def folder(self) -> Path: ...
    @property
    def model_header(self) -> Path: ...
    @property
    def model_class(self) -> str: ...
    @property
    def python(self) -> Path | None: ...


def library(part: Part, report: Report | None = None) -> Path | None:
    """Return the library with the model of `part`, compiled if it is not there; None: it is one of ours, which the engine has.

    `report` gets a line before the compiler starts. Safe to call from several processes at once. Raises UserError, one sentence, when the
    model does not compile.
    """
    if part.folder.resolve().is_relative_to(BLOCKS.resolve()):
        return None

    def make(folder: Path) -> None:
        doing = f"Compiling the model of {part.name}, once"
        with waits.announced(report, doing, doing, USUAL_SECONDS):
            _compile(part, folder / "model.so")

    return cache.once("parts", _key(part), make) / "model.so"


def parameter_number(parameter: str) -> str:
    """Return the name under which a model finds the number of a module's parameter: `UpdateTicks` is `update_ticks`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", parameter).lower()


def told(part: Any, parameters: Mapping[str, int], report: Report | None = None, times: tuple[int, int] | None = None) -> dict[str, Any]:
    """Return what a job says of the AQM `part` (key `device.model.aqm`), whose module has these parameters of its own.

    Its model is compiled if need be. `times`: clock in Hz and tick shift of the device, which one in Python is told. Raises UserError as
    `library` does.
    """
    if part.python:
        return {"name": part.name, "sees": part.sees, "python": maker(part, times)}
    found = library(part, report)
    numbers = {parameter_number(name): value for name, value in parameters.items()}
    return {"name": part.name, "sees": part.sees, "library": None if found is None else str(found), "numbers": numbers}


def maker(part: Any, times: tuple[int, int] | None) -> Any:
    """Return what makes the functions of a part in Python, for a device with this clock and tick shift; unless given 220 MHz."""
    from penstock.parts import python

    clock_hz, tick_shift = times or USUAL_TIMES
    return python.Maker(part.python, part, clock_hz, tick_shift)


def _others(part: Part) -> list[Path]:
    """Return the sources beside the header, which are part of the model; tests are not."""
    return [path for path in sorted(part.model_header.parent.glob("*.cpp")) if not path.name.startswith("test_")]


def _text(part: Part) -> str:
    header, macro = INTERFACES[part.kind]
    model = part.model_header.relative_to(part.folder)
    return f'#include "{header}"\n#include "{model}"\n\n{macro}({part.model_class})\n'


def _key(part: Part) -> str:
    """Files of the part count all: its header may include them by names that are found only by compiling."""
    own = [path.relative_to(part.folder) for path in sorted(part.folder.rglob("*")) if path.is_file()]
    own = [path for path in own if not any(name.startswith((".", "__")) for name in path.parts)]  # those are kept by tools
    names = [str(path) for path in own]
    sources = [ROOT / INTERFACES[part.kind][0], *(part.folder / path for path in own)]
    return keys.of_build([_text(part), FLAGS, names], sources, (part.folder, *INCLUDES))


def _compile(part: Part, library: Path) -> None:
    machine.need("model", os.environ)
    includes = [f"-I{path}" for path in (part.folder, *INCLUDES)]
    with cache.workshop("part") as work:
        source = work / "library.cpp"
        source.write_text(_text(part))
        command = [*compilers.command(), *FLAGS, *includes, str(source), *map(str, _others(part)), "-o", str(library)]
        done = children.run(command)
    if done.returncode:
        log = BUILD / "logs" / f"model-{part.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(" ".join(command) + "\n\n" + done.stdout + done.stderr)
        raise UserError(
            f"the model of {part.name} does not compile: {_first_error(done.stderr, part.folder)} (all of it is in {shown(log)})"
        )


def _first_error(words: str, folder: Path) -> str:
    """Return the compiler's first error in one line, files of the part by their paths in it."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    first = next((line for line in lines if "error:" in line), lines[-1] if lines else "the compiler says nothing")
    return first.replace(f"{folder}{os.sep}", "").replace("error: ", "")
