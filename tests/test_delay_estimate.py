"""The estimate of delays: small netlists whose paths are summed up by hand, in nanoseconds of the assumptions."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from penstock.hardware.delay_estimate import ASSUMED, lines, of_netlist

Cell = dict[str, Any]


def cell(kind: str, inputs: dict[str, list[Any]], outputs: dict[str, list[Any]], **parameters: str) -> Cell:
    directions = {**dict.fromkeys(inputs, "input"), **dict.fromkeys(outputs, "output")}
    return {"type": kind, "parameters": parameters, "port_directions": directions, "connections": inputs | outputs}


def flip_flop(d: Any, q: int) -> Cell:
    return cell("FDRE", {"C": [1], "D": [d], "CE": ["1"], "R": ["0"]}, {"Q": [q]})


def estimate(folder: Path, names: dict[str, list[int]], **cells: Cell) -> dict[str, Any]:
    netnames = {name: {"bits": bits, "hide_name": 0} for name, bits in names.items()}
    (folder / "n.json").write_text(json.dumps({"modules": {"top": {"cells": cells, "netnames": netnames}}}))
    return of_netlist(folder / "n.json", "top")


def net(loads: int = 1, memory: bool = False) -> float:
    return ASSUMED["net"] + ASSUMED["net_doubled"] * math.log2(loads) + memory * ASSUMED["net_memory"]


def test_luts_and_fan_out(tmp_path: Path) -> None:
    """Two LUTs in a row; the first register has three loads, one of which is a shorter way to the end."""
    found = estimate(
        tmp_path, {"a": [10], "b": [20], "x[3]": [11]},
        a=flip_flop("x", 10), l1=cell("LUT2", {"I0": [10], "I1": [10]}, {"O": [11]}),
        l2=cell("LUT3", {"I0": [11], "I1": [10], "I2": [99]}, {"O": [12]}),
        b=flip_flop(12, 20),
    )  # fmt: skip
    ns = ASSUMED["clock_to_q"] + net(3) + ASSUMED["lut"] + net() + ASSUMED["lut"] + net() + ASSUMED["setup"]
    assert found["longest"] == {"ns": round(ns, 2), "wires_ns": round(net(3) + 2 * net(), 2), "luts": 2, "start": "a", "end": "b"}
    assert found["into_memory"] is None and found["luts"] == 2 and found["carry_bits"] == 0
    assert found["fan_out"] == {"loads": 3, "name": "a"}


def test_most_luts_are_not_always_on_the_longest_path(tmp_path: Path) -> None:
    """A UltraRAM without an output register and one LUT take longer than three LUTs from a register."""
    found = estimate(
        tmp_path, {"slow_data": [30], "fast": [10], "end": [20]},
        fast=flip_flop("x", 10), slow=cell("URAM288", {"CLK": [1], "ADDR_A": [50]}, {"DOUT_A": [30]}, OREG_A="FALSE"),
        l1=cell("LUT1", {"I0": [10]}, {"O": [11]}), l2=cell("LUT1", {"I0": [11]}, {"O": [12]}),
        l3=cell("LUT2", {"I0": [12], "I1": [30]}, {"O": [13]}),
        end=flip_flop(13, 20),
    )  # fmt: skip
    ns = ASSUMED["uram_to_q"] + net(memory=True) + ASSUMED["lut"] + net() + ASSUMED["setup"]
    assert found["longest"]["ns"] == round(ns, 2) and found["longest"]["luts"] == 1 and found["longest"]["start"] == "slow"
    assert found["luts"] == 3


@pytest.mark.parametrize("registered", [False, True])
def test_into_memory(tmp_path: Path, registered: bool) -> None:
    """A block RAM's output, with and without its register, through a LUT to a write enable of an UltraRAM."""
    found = estimate(
        tmp_path, {"table": [30], "words": [40]},
        table=cell("RAMB36E2", {"CLKARDCLK": [1], "ADDRARDADDR": ["0"]}, {"DOUTADOUT": [30]}, DOA_REG="1" if registered else "0"),
        l=cell("LUT1", {"I0": [30]}, {"O": [31]}),
        words=cell("URAM288", {"CLK": [1], "BWE_A": [31, 31]}, {"DOUT_A": [40]}, OREG_A="TRUE"),
    )  # fmt: skip
    ns = ASSUMED["bram_register_to_q" if registered else "bram_to_q"] + net(memory=True) + ASSUMED["lut"] + net(2, memory=True)
    assert found["into_memory"] == found["longest"]
    assert found["into_memory"]["ns"] == round(ns + ASSUMED["uram_setup"], 2) and found["into_memory"]["end"] == "words"
    assert any("into memory" in line and "table -> words" in line for line in lines(found))


def test_carries(tmp_path: Path) -> None:
    """A sum of 11 bits: the carry from the first to the last one goes through ten bits, and between the two cells without a net."""
    bits, out = list(range(100, 116)), list(range(200, 216))

    def eight(i: int, carry: list[Any]) -> Cell:
        inputs = {"CI": carry, "S": bits[i : i + 8], "DI": bits[i : i + 8], "CYINIT": ["0"]}
        return cell("CARRY8", inputs, {"O": out[i : i + 8], "CO": [300 + i + n for n in range(8)]})

    ends = {"first": flip_flop("x", 100), "last": flip_flop(out[10], 20)}
    found = estimate(tmp_path, {"a": [100], "last": [20]}, low=eight(0, ["0"]), high=eight(8, [307]), **ends)
    carried = ASSUMED["carry_in"] + 9 * ASSUMED["carry_bit"] + ASSUMED["carry_out"]
    assert found["longest"]["ns"] == round(ASSUMED["clock_to_q"] + net(2) + carried + net() + ASSUMED["setup"], 2)
    assert found["carry_bits"] == 16 and found["longest"]["luts"] == 0


def test_memory_in_luts_is_read_without_a_clock(tmp_path: Path) -> None:
    """A path goes through from the address of a read to its data, and not from the address of a write."""
    ram = cell("RAM64X1D", {"WCLK": [1], "A0": [10], "DPRA0": [11], "D": [12], "WE": ["1"]}, {"DPO": [30], "SPO": [31]})
    ends = {"writes": flip_flop("x", 10), "reads": flip_flop("x", 11), "end": flip_flop(30, 20)}
    found = estimate(tmp_path, {"reads": [11], "end": [20]}, ram=ram, **ends)
    through = ASSUMED["clock_to_q"] + net() + ASSUMED["lut"]
    assert through > ASSUMED["lut_ram_to_q"]
    assert found["longest"] == {
        "ns": round(through + net() + ASSUMED["setup"], 2), "wires_ns": round(2 * net(), 2), "luts": 1, "start": "reads", "end": "end",
    }  # fmt: skip


def test_nothing_between_registers(tmp_path: Path) -> None:
    """Ports are no ends of paths: there is nothing to say of a LUT between them."""
    found = estimate(tmp_path, {"i": [5]}, only=cell("LUT1", {"I0": [5]}, {"O": [6]}))
    assert found == {"longest": None, "into_memory": None, "luts": 0, "carry_bits": 0, "fan_out": None}
    assert len(lines(found)) == 2
