"""One configuration of a design as a folder of its own: sources, file list, FuseSoC core, stub test bench, register maps, README."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from penstock import __version__
from penstock.basics.growing import PARTIAL, growing
from penstock.designs import configs
from penstock.designs import design as designs
from penstock.designs.design import Configuration
from penstock.errors import UserError
from penstock.hardware import register_maps
from penstock.paths import ROOT, shown


def generate(config: Configuration, folder: Path, force: bool = False, changes: Mapping[str, str] | None = None) -> list[Path]:
    """Write everything into `folder` and return what was written; `changes` to the named configuration are told in its README.

    Raises UserError when the folder is not empty and `force` is not set.
    """
    designs.load(config.design).need_rtl(f"generate {config.design}")
    check_folder(folder, force)
    with growing(folder) as grown:
        rtl = grown / "rtl"
        rtl.mkdir()
        sources = _copies(configs.sources(config), rtl)
        *plugs, wrapper = configs.write_generated(config, rtl)
        names = [f"rtl/{path.name}" for path in (*sources, *plugs, wrapper)]
        texts = {
            f"{config.module}.f": "".join(f"{name}\n" for name in names),
            f"{config.module}.core": _core_file(config, names),
            f"tb/{config.module}_tb.sv": _test_bench(config, wrapper.read_text()),
            "README.md": _readme(config, changes or {}),
            "verilator.vlt": (ROOT / "lint" / "verilator.vlt").read_text(),
            "LICENSE": (ROOT / "LICENSE").read_text(),
        }
        for name, text in texts.items():
            (grown / name).parent.mkdir(exist_ok=True)
            (grown / name).write_text(text)
        maps = [f"regs/{name}" for name in register_maps.write(config.design, grown / "regs")]
    return [folder / name for name in (*names, *texts, *maps)]


def _copies(sources: list[Path], folder: Path) -> list[Path]:
    """Copy sources side by side. Raises UserError where two of them have one name: a part's and one of ours."""
    for path in sources:
        if twin := next((other for other in sources if other.name == path.name and other != path), None):
            raise UserError(
                f"{shown(path)} and {shown(twin)} have one name, and a package has its sources side by side; rename one of them"
            )
    return [Path(shutil.copyfile(path, folder / path.name)) for path in sources]


def check_folder(folder: Path, force: bool) -> None:
    """Raise UserError unless a folder can be written: it is none, it is empty, or `force` is set."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; --out names a folder")
    if folder.exists() and not force and any(not path.name.startswith(PARTIAL) for path in folder.iterdir()):
        raise UserError(f"{folder} is not empty; give another --out, or --force to write over it")


def _core_file(config: Configuration, names: list[str]) -> str:
    files = "".join(f"      - {name}\n" for name in names)
    return f"""CAPI=2:
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
name: penstock:{config.design}:{config.module}:{__version__}
description: {config.description}

filesets:
  rtl:
    files:
{files}    file_type: systemVerilogSource
  waivers:
    files:
      - verilator.vlt : {{file_type: vlt}}
  tb:
    files:
      - tb/{config.module}_tb.sv
    file_type: systemVerilogSource

targets:
  default: &default
    filesets: [rtl]
    toplevel: {config.module}
  lint:
    <<: *default
    filesets: [waivers, rtl]
    default_tool: verilator
    tools:
      verilator:
        mode: lint-only
        verilator_options: [-Wall]
  sim:
    filesets: [waivers, rtl, tb]
    toplevel: {config.module}_tb
    default_tool: verilator
    tools:
      verilator:
        mode: binary
        verilator_options: [--timing, -CFLAGS, -std=c++20]
"""


def _test_bench(config: Configuration, wrapper: str) -> str:
    ports = re.findall(r"^\s+(input|output)\s+(logic(?: *\[[^\]]*\])*)\s+(\w+),?$", wrapper, re.MULTILINE)
    width = max(len(kind) for _, kind, _ in ports)
    signals = "\n".join(f"  {kind:{width}} {name};" for _, kind, name in ports)
    pins = ",\n".join(f"      .{name}" for _, _, name in ports)
    inputs = "\n".join(f"    {name} = '0;" for direction, _, name in ports if direction == "input" and name not in ("clk_i", "rst_i"))
    stub = designs.load(config.design).stub(config)
    ignored = ", ".join(name for direction, _, name in ports if direction == "output" and name not in stub.used)
    return f"""// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Stub test bench of {config.module}: {stub.words}.
// Written by penstock generate; yours to go on from. README.md says how to run it.
module {config.module}_tb;

{signals}

  {config.module} u_dut (
{pins}
  );

  // Outputs that this stub does not look at.
  logic unused;
  assign unused = &{{1'b0, {ignored}}};

  initial clk_i = 1'b0;
  always #1 clk_i = ~clk_i;

{stub.declarations}
  initial begin
    rst_i = 1'b1;
{inputs}
    repeat (8) @(negedge clk_i);
    rst_i = 1'b0;
{stub.body}    $finish;
  end

endmodule
"""


def _readme(config: Configuration, changes: Mapping[str, str]) -> str:
    design = designs.load(config.design)
    module = config.module
    settings = "".join(f" --set {key}={value}" for key, value in changes.items())
    return f"""# {module}

{config.description}. Written by Penstock {__version__} (`penstock generate {config.design} --config {config.name}{settings}`).

{design.facts(config)}
`rtl/` has all sources, flat; `{module}.f` lists them in the order of compilation; `{module}.core` is for FuseSoC. Start reading at
`rtl/{module}.sv`: the numbers of this configuration, and every port.

## Use

In this folder, with Verilator 5:

    verilator --lint-only -Wall --top-module {module} verilator.vlt -f {module}.f
    verilator --binary --timing -CFLAGS -std=c++20 --top-module {module}_tb verilator.vlt -f {module}.f tb/{module}_tb.sv
    ./obj_dir/V{module}_tb

With FuseSoC: `fusesoc --cores-root . run --target=sim penstock:{config.design}:{module}`.

Synchronous reset, active high. {design.use(config)}
{_registers(config.design)}
Licence: Apache-2.0 WITH SHL-2.1, see LICENSE.
"""


def _registers(design: str) -> str:
    if register_maps.source(design) is None:
        return ""
    name = f"regs/{design}_registers"
    return f"""
## Registers

| file | for |
|---|---|
| `{name}.h` | C: a struct at the address of the registers, masks and positions of fields |
| `{name}.py` | Python, without a library: addresses, `pack` and `unpack`, named values |
| `{name}.xml` | IP-XACT (IEEE 1685-2014) |
| `regs/html/` | people: `python3 -m http.server -d regs/html`, as browsers load no pages from files |

The pages' own script is PeakRDL-html's, under LGPL-3.0; their fonts are under SIL OFL 1.1.
"""
