# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`generate library`: the common modules, every block and every named configuration as one FuseSoC library, each module in it once."""

import re
from collections.abc import Callable
from pathlib import Path

from penstock import __version__
from penstock.basics.growing import growing
from penstock.designs import configs
from penstock.designs import design as designs
from penstock.hardware import common, generate, library
from penstock.paths import BLOCKS, ROOT, read_file_list

COMMON = "common"  # folder of the common modules in the library


def write(folder: Path, force: bool = False, progress: Callable[[str], None] | None = None) -> tuple[int, int]:
    """Write the library into `folder`; return how many cores of blocks and of designs there are in it.

    Raises UserError when the folder is not empty and `force` is not set.
    """
    generate.check_folder(folder, force)
    told = progress or (lambda _: None)
    with growing(folder) as grown:
        common.write(grown / COMMON, generate.waivers())
        blocks, devices = _blocks(), []
        (grown / "blocks").mkdir()
        for name, top in blocks.items():
            (grown / "blocks" / f"{name}.core").write_text(_block(name, top))
        for design in designs.with_rtl():
            for name in configs.names(design):
                told(f"{design} {name}")
                place = grown / design / name
                place.mkdir(parents=True)
                generate.write(configs.load(name, design), place, f"../../{COMMON}", pages=False)
                devices.append((design, name))
        (grown / "README.md").write_text(_readme(blocks, devices))
        (grown / "LICENSE").write_text((ROOT / "LICENSE").read_text())
    return len(blocks), len(devices)


def _blocks() -> dict[str, str]:
    """Return the main module of each block by the block's name."""
    found = {}
    for name, listed in library.file_lists().items():
        if listed.is_relative_to(BLOCKS):
            own = [path.stem for path in read_file_list(listed) if path.parent == listed.parent and path.stem in library.modules()]
            if own:
                found[name] = own[-1]
    return found


def _block(name: str, top: str) -> str:
    described = library.parameters_of(top)
    numbers = {key: default for key, default in described.items() if re.fullmatch(r"[0-9_]+", default)}
    kinds = "".join(
        f"  {key}:\n    datatype: int\n    paramtype: vlogparam\n    default: {default.replace('_', '')}\n"
        for key, default in numbers.items()
    )
    given = f"\n    parameters: [{', '.join(numbers)}]" if numbers else ""
    return f"""CAPI=2:
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
name: penstock:blocks:{name}:{__version__}
description: The block {name} of Penstock; its main module is {top}

filesets:
  rtl:
    depend: [{common.CORE}]
{f"{chr(10)}parameters:{chr(10)}{kinds}" if kinds else ""}
targets:
  default:
    filesets: [rtl]
  lint:
    filesets: [rtl]
    toplevel: {top}
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [--timing, -Wall]{given}
"""


def _readme(blocks: dict[str, str], devices: list[tuple[str, str]]) -> str:
    block_rows = "".join(f"| `penstock:blocks:{name}` | `{top}` |\n" for name, top in blocks.items())
    rows = "".join(f"| `penstock:{design}:pst_{design}_{name}` | `{design}/{name}` |\n" for design, name in devices)
    return f"""# Penstock as a FuseSoC library

Written by Penstock {__version__} (`penstock generate library`). In your project, with this folder or with the address of a Git repository
that has it:

    fusesoc library add penstock PATH-OR-URL
    fusesoc core list

A core of yours names what it needs, with its waivers for Verilator:

    filesets:
      rtl:
        depend: ["penstock:access_edge:pst_access_edge_edge_2048", "penstock:blocks:stream"]

Every module is in the library once, so any of these can be in one project. For another configuration, or names of your own, write a package
beside it: `penstock generate access_edge --config edge_2048 --set queues=512 --name mine --common {COMMON} --out mine`.

| device | folder, with its README |
|---|---|
{rows}
| block | main module |
|---|---|
{block_rows}
Licence: Apache-2.0 WITH SHL-2.1, see LICENSE.
"""
