"""One block or module as a folder that stands on its own: sources, file list, FuseSoC core, scripts of synthesis, README."""

import re
from collections.abc import Mapping
from pathlib import Path

from penstock import __version__
from penstock.basics.growing import growing
from penstock.errors import UserError
from penstock.hardware import elaborated, library, package_synth, renamed, synth
from penstock.hardware.generate import check_folder, copies, waivers
from penstock.paths import ROOT

MHZ = 250  # that placers are asked for


def generate(
    name: str, folder: Path, force: bool = False, changes: Mapping[str, str] | None = None, prefix: str | None = None
) -> list[Path]:
    """Write everything into `folder` and return what was written. `changes` are parameters of the module. Names begin with `prefix` in
    place of `pst`.

    Raises UserError for a name that no block has, a parameter that it does not have or whose value it refuses, or a folder that is not
    empty.
    """
    top = library.main_module(name)
    job, _ = synth.plan(top, "ecp5", dict(changes or {}), [])
    if odd := next((key for key, value in job.parameters.items() if isinstance(value, str) and "'" in value), None):
        raise UserError(f"{odd}: {job.parameters[odd]} is a literal; a FuseSoC core takes numbers and words")
    check_folder(folder, force)
    if changes and (why := elaborated.complaint(top, job.sources, job.parameters)):  # with its defaults lint has elaborated it
        raise UserError(f"{', '.join(f'{key}={value}' for key, value in changes.items())}: {why}")
    with growing(folder) as grown:
        (grown / "rtl").mkdir()
        names = [f"rtl/{path.name}" for path in copies(job.sources, grown / "rtl")]
        clocks = _clocks((grown / "rtl" / f"{top}.sv").read_text())
        package_synth.write(grown, top, f"{top}.f", job.parameters, MHZ, clocks)
        texts = {
            f"{top}.f": "".join(f"{name}\n" for name in names),
            f"{top}.core": _core(top, names, job.parameters),
            "README.md": _readme(top, job.parameters, changes or {}, prefix),
            "verilator.vlt": waivers(),
            "LICENSE": (ROOT / "LICENSE").read_text(),
        }
        for file, text in texts.items():
            (grown / file).write_text(text)
        named = renamed.Names(prefix)
        named.rename(grown)
    return [folder / named.new(file) for file in (*names, *texts)]


def _clocks(source: str) -> list[str]:
    """Return the ports of a module that are clocks, as Vivado's `get_ports` wants them."""
    head = source.split(");", 1)[0]
    found = re.findall(r"^\s*input\s+(?:wire|logic)\s+(\[[^\]]*\]\s*)?((?:\w+_)?clk(?:_i)?)\b", head, re.MULTILINE)
    return [f"{name}[*]" if several else name for several, name in found]


def _core(top: str, names: list[str], parameters: Mapping[str, int | str]) -> str:
    listed = "".join(f"      - {name}\n" for name in names)
    kinds = "".join(
        f"  {name}:\n    datatype: {'int' if isinstance(value, int) else 'str'}\n    paramtype: vlogparam\n    default: {value}\n"
        for name, value in parameters.items()
    )
    given = f"\n    parameters: [{', '.join(parameters)}]" if parameters else ""
    core = f"penstock:blocks:{top}:{__version__}"
    return f"""CAPI=2:
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
name: {core}
description: {top} of Penstock

filesets:
  rtl:
    files:
{listed}    file_type: systemVerilogSource
  waivers:
    files:
      - verilator.vlt
    file_type: vlt
{package_synth.filesets(f"{top}.f")}
{f"parameters:{chr(10)}{kinds}" if kinds else ""}
targets:
  default:
    filesets: [waivers, rtl]
    toplevel: {top}{given}
  lint:
    filesets: [waivers, rtl]
    toplevel: {top}
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [--timing, -Wall]{given}
{package_synth.targets(core, top, list(parameters))}"""


def _readme(top: str, parameters: Mapping[str, int | str], changes: Mapping[str, str], prefix: str | None) -> str:
    settings = "".join(f" --set {key}={value}" for key, value in changes.items()) + (f" --name {prefix}" if prefix else "")
    rows = "".join(f"| `{name}` | {parameters.get(name, default)} |\n" for name, default in library.parameters_of(top).items())
    example = next(iter(parameters), "NAME")
    return f"""# {top}

Written by Penstock {__version__} (`penstock generate {top.removeprefix("pst_")}{settings}`).

`rtl/` has all sources, flat; `{top}.f` lists them in the order of compilation. What the module does, and what each port means, stands at
the head of `rtl/{top}.sv`.

| parameter | value |
|---|---|
{rows}
In this folder:

    verilator --lint-only -Wall --timing --top-module {top} verilator.vlt -f {top}.f
    python3 synth/ecp5.py                                        # area, and clock on an ECP5
    CLOCK_MHZ=300 vivado -mode batch -source synth/vivado.tcl    # area and clock on an Alveo U200, out of context

The second takes Yosys and nextpnr, `pip install -r synth/requirements.txt`. What is for Vivado has not been run: Penstock's tests have no
Vivado.

With FuseSoC, `fusesoc --cores-root . run --target=T penstock:blocks:{top}`: `lint`; `ecp5` and `vivado_route`, the scripts above;
`vivado`, a project that is synthesised out of context at CLOCK_MHZ. `lint` and `vivado` take a parameter as `--{example} VALUE` behind the
core's name, the scripts have those above.

Licence: Apache-2.0 WITH SHL-2.1, see LICENSE.
"""
