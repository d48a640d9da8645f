"""Compiles the models of parts that are not ours: a header outside of the source tree, against our headers, into a shared library.

The engine loads it (`blocks/<block>/model`, one extern "C" function with the version of the interface). A library is keyed by a hash of all
that may go into it, and kept in build/parts/<hash>/, so asking again for the same model costs some milliseconds.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from penstock import cache
from penstock.basics import children, machine
from penstock.errors import UserError
from penstock.paths import BLOCKS, BUILD, ROOT, shown

PARTS = BUILD / "parts"
# Of each kind of part: the header with its interface, and the macro that makes a library of a class.
INTERFACES = {
    "aqm": ("blocks/aqm/model/aqm_model.hpp", "PENSTOCK_AQM_LIBRARY"),
    "scheduler": ("blocks/schedule/model/scheduler_model.hpp", "PENSTOCK_SCHEDULER_LIBRARY"),
}
INCLUDES = (ROOT, ROOT / "engine/include")
FLAGS = ("-std=c++20", "-O3", "-Wall", "-fPIC", "-shared", "-fvisibility=hidden")

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


def library(part: Part, report: Report | None = None) -> Path | None:
    """Return the library with the model of `part`, compiled if it is not there; None: it is one of ours, which the engine has.

    `report` gets a line before the compiler starts. Safe to call from several processes at once. Raises UserError, one sentence, when the
    model does not compile.
    """
    if part.folder.resolve().is_relative_to(BLOCKS.resolve()):
        return None
    folder = PARTS / _key(part)
    found = folder / f"{part.name}.so"

    def make() -> None:
        if report:
            report(f"Compiling the model of {part.name} (some seconds, once)")
        _compile(part, folder, found)

    return cache.once(found, make)


def parameter_number(parameter: str) -> str:
    """Return the name under which a model finds the number of a module's parameter: `UpdateTicks` is `update_ticks`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", parameter).lower()


def told(part: Any, parameters: Mapping[str, int], report: Report | None = None) -> dict[str, Any]:
    """Return what a job says of the AQM `part` (key `device.model.aqm`), whose module has these parameters of its own.

    Its model is compiled if need be. Raises UserError as `library` does.
    """
    found = library(part, report)
    numbers = {parameter_number(name): value for name, value in parameters.items()}
    return {"name": part.name, "sees": part.sees, "library": None if found is None else str(found), "numbers": numbers}


def _sources(part: Part) -> Iterator[Path]:
    """Yield all files that the model may include, whatever they are called: those of the part, and ours."""
    for root in (part.folder, *(BLOCKS.glob("**/model")), ROOT / "engine/include"):
        for path in sorted(root.rglob("*")):
            kept_by_tools = any(name.startswith((".", "__")) for name in path.relative_to(root).parts)
            if path.is_file() and not kept_by_tools:
                yield path


def _key(part: Part) -> str:
    digest = hashlib.sha256(repr((part.kind, part.folder, part.model_header, part.model_class, FLAGS, _compiler())).encode())
    for path in _sources(part):
        digest.update(f"{path}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _compiler() -> list[str]:
    return (os.environ.get("CXX") or "c++").split()


def _compile(part: Part, folder: Path, library: Path) -> None:
    machine.need("model", os.environ)
    header, macro = INTERFACES[part.kind]
    source, made = folder / "library.cpp", folder / f".partial-{part.name}.so"
    model = part.model_header.relative_to(part.folder)
    source.write_text(f'#include "{header}"\n#include "{model}"\n\n{macro}({part.model_class})\n')
    # Sources beside the header are part of the model; tests are not.
    others = [path for path in sorted(part.model_header.parent.glob("*.cpp")) if not path.name.startswith("test_")]
    includes = [f"-I{path}" for path in (part.folder, *INCLUDES)]
    command = [*_compiler(), *FLAGS, *includes, str(source), *map(str, others), "-o", str(made)]
    done = children.run(command)
    log = folder / "build.log"
    log.write_text(" ".join(command) + "\n\n" + done.stdout + done.stderr)
    if done.returncode:
        made.unlink(missing_ok=True)
        raise UserError(
            f"the model of {part.name} does not compile: {_first_error(done.stderr, part.folder)} (all of it is in {shown(log)})"
        )
    made.rename(library)


def _first_error(words: str, folder: Path) -> str:
    """Return the compiler's first error in one line, files of the part by their paths in it."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    first = next((line for line in lines if "error:" in line), lines[-1] if lines else "the compiler says nothing")
    return first.replace(f"{folder}{os.sep}", "").replace("error: ", "")
