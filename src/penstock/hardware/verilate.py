"""Builds devices: SystemVerilog through Verilator into one shared library with the C ABI of engine/include/penstock/pins.h.

A library is keyed by everything that goes into it (sources, configuration, shim, options, tools) and kept in the user's cache, so asking
again for the same device costs some milliseconds.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock import cache
from penstock.basics import children, keys, machine, waits
from penstock.errors import ToolError, UserError
from penstock.hardware import verilated_objects
from penstock.paths import BUILD, ROOT, is_plain, plain, shown, tool_environment

if TYPE_CHECKING:
    from penstock.designs.design import Configuration

# How far the C++ compiler optimises, 0 to 3. The tests say 1: half the compiler's time, and a tenth more of the run's.
OPTIMISE = "PENSTOCK_OPTIMISE"
ENGINE = ROOT / "engine"
INCLUDES = (ROOT, ENGINE / "include", ENGINE / "src")
LIBRARY = "device.so"
_PREFIX = "Vpst_device"  # of what Verilator writes; the shims include it
USUAL_SECONDS = 25  # of a small access edge

Report = Callable[[str], None]


class VerilateError(ToolError):
    """Verilator or the C++ compiler refused the device; the message ends with their words."""


@dataclass
class Build:
    """What goes into one library. `parameters` are of the top module, `defines` for the shim; `generated` files are written first.

    `sources` may have C++ files, which are compiled with the shim.
    """

    name: str
    top: str
    sources: list[Path]
    shim: Path
    parameters: dict[str, str] = field(default_factory=dict)
    defines: dict[str, int] = field(default_factory=dict)
    generated: dict[str, str] = field(default_factory=dict)
    assertions: bool = True
    hierarchical: bool = False  # modules that say `hier_block` are compiled once, however often they occur

    def key(self) -> str:
        """Return what stands for everything that the library depends on."""
        sources = [*self.sources, self.shim, ROOT / "lint" / "verilator.vlt"]
        return keys.of_build([self.top, _flags(self), _levels(), self.generated], sources, INCLUDES, packages=["verilator"])


def _optimise() -> str:
    level = os.environ.get(OPTIMISE, "2")
    if level not in ("0", "1", "2", "3"):
        raise UserError(f"{OPTIMISE} is {level!r}; it must be 0, 1, 2 or 3")
    return level


_CFLAGS = "-fPIC -std=c++20 -fvisibility=hidden -fno-gnu-unique -DVL_USER_STOP -DVL_USER_FATAL"


def _runtime() -> str:
    """Return how Verilator's runtime is optimised: as the rest, where headers are precompiled, which GCC takes at one level only."""
    return "-O1" if _optimise() == "1" else "-O2"


def _levels() -> list[str]:
    """Return what make is told."""
    return [f"OPT_FAST=-O{_optimise()}", f"OPT_GLOBAL={_runtime()}", "OPT_SLOW=-O1"]


def _flags(build: Build) -> list[str]:
    # Hidden symbols and no unique ones: several libraries live in one process and must not share statics.
    cflags = _CFLAGS
    cflags += f" {verilated_objects.frugal()}"
    cflags += "".join(f" -D{name}={value}" for name, value in sorted(build.defines.items()))
    flags = ["--cc", "--exe", "-O3", "--x-initial", "fast", "--x-assign", "fast", "--no-timing", "-Wno-fatal", "-Wno-WIDTH"]
    flags += verilated_objects.ONE_FILE
    flags += ["-CFLAGS", cflags, "-LDFLAGS", "-shared"]
    flags += [] if build.assertions else ["--no-assert"]
    # With hierarchical blocks Verilator must call itself, and make, for each.
    flags += ["--hierarchical", "--build", "-MAKEFLAGS", " ".join(_levels())] if build.hierarchical else []
    flags += [f"-G{name}={value}" for name, value in sorted(build.parameters.items())]
    return flags


def build(what: Build, report: Report | None = None) -> Path:
    """Return the library of `what`, built if it is not there; `report` gets a line before the compiler starts.

    Safe to call from several processes at once. Raises VerilateError.
    """

    def make(folder: Path) -> None:
        doing = f"Compiling {what.name}, once"
        with waits.announced(report, doing, doing, USUAL_SECONDS), cache.workshop("device") as work:
            _compile(what, work)
            shutil.copy(work / "obj" / LIBRARY, folder / LIBRARY)
        if what.key() != key:
            raise VerilateError(f"the sources of {what.name} have changed while they were compiled; start it again")

    key = what.key()
    return cache.once("devices", key, make) / LIBRARY


def _compile(what: Build, work: Path) -> None:
    for name, text in what.generated.items():
        (work / name).write_text(text)
    machine.need("device", tool_environment())
    objects = work / "obj"
    verilated_objects.lend(objects, "device", [_runtime()])
    command = _command(what, work, objects)
    done = children.run(command, env=tool_environment(), cwd=plain(ROOT))  # what an assertion says of its place is then the same everywhere
    if not done.returncode and not what.hierarchical:
        children.run(verilated_objects.SHORTEN, cwd=objects)
        # Of what Verilator splits it precompiles a header of its own; behind another precompiled one the compiler wants it as text.
        for header in objects.glob("*__pch.h"):
            for speed in ("fast", "slow"):
                header.with_name(f"{header.name}.{speed}").write_text(f'#include "{header.name}"\n')
        command = ["make", "-C", str(plain(objects)), "-f", f"{_PREFIX}.mk", "-j", _processes(), *_levels()]
        done = children.run(command, env=tool_environment())
    if done.returncode:
        log = BUILD / "logs" / f"{what.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(" ".join(command) + "\n\n" + done.stdout + done.stderr)
        lines = [line for line in (done.stderr + done.stdout).splitlines() if "Warning" not in line]
        raise VerilateError(f"{what.name} does not compile ({shown(log)}):\n" + "\n".join(lines[-30:]))
    verilated_objects.keep(objects, "device", [_runtime()])


def _processes() -> str:
    return str(min(2, os.cpu_count() or 1))


def _command(what: Build, work: Path, objects: Path) -> list[str]:
    """Return the call of Verilator, in paths that make can take; those of the project count from its top."""
    verilator = shutil.which("verilator", path=tool_environment()["PATH"])
    sources = [ROOT / "lint" / "verilator.vlt", *what.sources, *(work / name for name in what.generated), what.shim]
    # The tests build so many devices that it pays.
    headers = verilated_objects.precompiled(f"{_CFLAGS} {verilated_objects.frugal()} -O{_optimise()}") if _optimise() == "1" else ""
    told = [path.relative_to(ROOT) if path.is_relative_to(ROOT) and path.suffix != ".cpp" else plain(path) for path in sources]
    return [
        str(verilator), *_flags(what), "-j", _processes(),
        "-CFLAGS", headers + " ".join(f"-I{plain(folder)}" for folder in INCLUDES),
        "--prefix", _PREFIX, "--top-module", what.top, "--Mdir", str(plain(objects)), "-o", LIBRARY,
        *map(str, told),
    ]  # fmt: skip


def build_device(config: "Configuration", report: Report | None = None, assertions: bool = False) -> Path:
    """Return the library of a device in this configuration, with the ABI of pins.h.

    With `assertions` those of the RTL are on: a failure ends the run and says where. Raises VerilateError.
    """
    from penstock.designs import configs
    from penstock.designs import design as designs

    designs.load(config.design).need_rtl(config.name)
    for part in designs.load(config.design).parts(config):
        if not is_plain(plain(part.folder)):
            raise UserError(f"{part.folder}: has signs in its path that make cannot take; move it elsewhere")
    with tempfile.TemporaryDirectory() as folder:
        generated = {path.name: path.read_text() for path in configs.write_generated(config, Path(folder))}
    return build(
        Build(
            name=config.module,
            top=config.module,
            sources=configs.sources(config),
            shim=designs.load(config.design).shim(config),
            defines=designs.load(config.design).defines(config),
            generated=generated,
            assertions=assertions,
        ),
        report,
    )
