"""Builds devices: SystemVerilog through Verilator into one shared library with the C ABI of engine/include/penstock/pins.h.

A library is keyed by a hash of everything that goes into it (sources, configuration, shim, options, Verilator's version) and kept in
build/devices/<hash>/, so asking again for the same device costs some milliseconds.
"""

import hashlib
import importlib.metadata
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock import cache
from penstock.basics import children, machine
from penstock.errors import ToolError, UserError
from penstock.hardware import verilated_objects
from penstock.paths import BLOCKS, BUILD, DESIGNS, ROOT, is_plain, plain, tool_environment

if TYPE_CHECKING:
    from penstock.designs.design import Configuration

DEVICES = BUILD / "devices"
# How far the C++ compiler optimises, 0 to 3. The tests say 1: half the compiler's time, and a tenth more of the run's.
OPTIMISE = "PENSTOCK_OPTIMISE"
ENGINE = ROOT / "engine"
SHIM_HEADERS = [
    ENGINE / "include/penstock/pins.h",
    *sorted(DESIGNS.glob("*/bench/*.h")),
    *sorted((ENGINE / "src").glob("shim*.hpp")),
    BLOCKS / "fabric/model/wide_pins.hpp",
]

Report = Callable[[str], None]


class VerilateError(ToolError):
    """Verilator or the C++ compiler refused the device; the message ends with their words."""


@dataclass
class Build:
    """What goes into one library. `parameters` are of the top module, `defines` for the shim; `generated` files are written first.

    `sources` may have C++ files, which are compiled with the shim; `headers` are those that they include, and that SHIM_HEADERS lacks.
    """

    name: str
    top: str
    sources: list[Path]
    shim: Path
    parameters: dict[str, str] = field(default_factory=dict)
    defines: dict[str, int] = field(default_factory=dict)
    generated: dict[str, str] = field(default_factory=dict)
    assertions: bool = True
    headers: list[Path] = field(default_factory=list)
    hierarchical: bool = False  # modules that say `hier_block` are compiled once, however often they occur

    def key(self) -> str:
        """Return 16 hex digits that stand for everything that the library depends on."""
        settings = [self.top, _flags(self), importlib.metadata.version("verilator")]
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
        for path in [*self.sources, self.shim, *SHIM_HEADERS, *self.headers]:
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        for name, text in sorted(self.generated.items()):
            digest.update(f"{name}\0{text}".encode())
        return digest.hexdigest()[:16]


def _optimise() -> str:
    level = os.environ.get(OPTIMISE, "2")
    if level not in ("0", "1", "2", "3"):
        raise UserError(f"{OPTIMISE} is {level!r}; it must be 0, 1, 2 or 3")
    return level


def _flags(build: Build) -> list[str]:
    # Hidden symbols and no unique ones: several libraries live in one process and must not share statics.
    cflags = "-fPIC -std=c++20 -fvisibility=hidden -fno-gnu-unique -DVL_USER_STOP -DVL_USER_FATAL"
    cflags += "".join(f" -D{name}={value}" for name, value in sorted(build.defines.items()))
    flags = ["--cc", "--exe", "--build", "-O3", "--x-initial", "fast", "--x-assign", "fast", "--no-timing", "-Wno-fatal", "-Wno-WIDTH"]
    flags += verilated_objects.ONE_FILE
    flags += ["-CFLAGS", cflags, "-LDFLAGS", "-shared", "-MAKEFLAGS", f"OPT_FAST=-O{_optimise()} OPT_GLOBAL=-O2 OPT_SLOW=-O1"]
    flags += [] if build.assertions else ["--no-assert"]
    flags += ["--hierarchical"] if build.hierarchical else []
    flags += [f"-G{name}={value}" for name, value in sorted(build.parameters.items())]
    return flags


def build(what: Build, report: Report | None = None) -> Path:
    """Return the library of `what`, built if it is not there; `report` gets a line before the compiler starts.

    Safe to call from several processes at once. Raises VerilateError.
    """
    folder = DEVICES / what.key()
    library = folder / f"{what.name}.so"

    def make() -> None:
        if report:
            report(f"Compiling {what.name} (about half a minute, once)")
        _compile(what, folder, library)

    return cache.once(library, make)


def _compile(what: Build, folder: Path, library: Path) -> None:
    for old in folder.glob(".partial-*"):  # of a build that was killed: its precompiled headers would be half ones
        shutil.rmtree(old, ignore_errors=True)
    for name, text in what.generated.items():
        (folder / name).write_text(text)
    machine.need("device", tool_environment())
    work = Path(tempfile.mkdtemp(prefix=".partial-", dir=folder))
    try:
        verilated_objects.lend(work, "device")
        command = _command(what, folder, work)
        done = children.run(command, env=tool_environment(), cwd=folder)
        (folder / "build.log").write_text(" ".join(command) + "\n\n" + done.stdout + done.stderr)
        if done.returncode:
            lines = [line for line in (done.stderr + done.stdout).splitlines() if "Warning" not in line]
            raise VerilateError(f"{what.name} does not compile ({folder / 'build.log'}):\n" + "\n".join(lines[-30:]))
        verilated_objects.keep(work, "device")
        (work / "device.so").rename(library)
    finally:
        shutil.rmtree(work, ignore_errors=True)  # some 100 MB that are not read again


def _command(what: Build, folder: Path, work: Path) -> list[str]:
    """Return the call of Verilator, in paths that make can take."""
    verilator = shutil.which("verilator", path=tool_environment()["PATH"])
    sources = [ROOT / "lint" / "verilator.vlt", *what.sources, *(folder / name for name in what.generated), what.shim]
    return [
        str(verilator), *_flags(what), "-j", str(min(2, os.cpu_count() or 1)),
        "-CFLAGS", f"-I{plain(ROOT)} -I{plain(ENGINE / 'include')} -I{plain(ENGINE / 'src')}",
        "--prefix", "Vpst_device", "--top-module", what.top, "--Mdir", str(plain(work)), "-o", "device.so",
        *(str(plain(path)) for path in sources),
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
            shim=DESIGNS / config.design / "model" / "shim.cpp",
            defines=designs.load(config.design).defines(config),
            generated=generated,
            assertions=assertions,
        ),
        report,
    )
