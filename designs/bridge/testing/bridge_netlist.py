# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A netlist for ECP5, as Yosys writes it for nextpnr, as Verilog that a simulator takes: what the bitstream does, but for its delays.

Small cells become expressions; block RAMs and the cells at the pins are modules (`designs/bridge/boards`). A cell that is not known here,
or is set in a way that is not, is an error.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Cell = dict[str, Any]

ADDRESS, DATA = range(14), range(18)


class Netlist:
    """One flat module of a netlist."""

    def __init__(self, path: Path, top: str) -> None:
        self.name, module = top, json.loads(path.read_text())["modules"][top]
        self.ports: dict[str, dict[str, Any]] = module["ports"]
        self.cells: dict[str, Cell] = module["cells"]

    def verilog(self) -> str:
        """Return the module. Raises ValueError for a cell that is not known, or set in a way that is not."""
        body = [line for number, cell in enumerate(self.cells.values()) for line in _known(cell)(cell, number)]
        used = {bit for cell in self.cells.values() for bits in cell["connections"].values() for bit in bits if isinstance(bit, int)}
        used |= {bit for port in self.ports.values() for bit in port["bits"] if isinstance(bit, int)}
        heads = []
        for name, port in self.ports.items():
            width = len(port["bits"])
            heads.append(f"  {port['direction']} wire {f'[{width - 1}:0] ' if width > 1 else ''}{name}")
            nets = "{" + ", ".join(_net(bit) for bit in reversed(port["bits"])) + "}"
            body.append(f"assign {nets} = {name};" if port["direction"] == "input" else f"assign {name} = {nets};")
        lines = [f"logic n{bit};" for bit in sorted(used)] + body
        return f"module {self.name} (\n" + ",\n".join(heads) + "\n);\n" + "".join(f"  {line}\n" for line in lines) + "endmodule\n"


def _known(cell: Cell) -> Callable[[Cell, int], Iterator[str]]:
    found = _CELLS.get(cell["type"])
    if found is None:
        raise ValueError(f"a cell of type {cell['type']} is not known")
    return found


def _net(bit: int | str) -> str:
    return f"n{bit}" if isinstance(bit, int) else "1'b1" if bit == "1" else "1'b0"


def _at(cell: Cell, port: str) -> str:
    return _net(cell["connections"].get(port, ["0"])[0])


def _vector(cell: Cell, port: str, indices: range) -> str:
    return "{" + ", ".join(_at(cell, f"{port}{index}") for index in reversed(indices)) + "}"


def _out(cell: Cell, port: str, number: int, indices: range) -> tuple[str, list[str]]:
    """Return a vector for the bits of an output, and the lines that give them to the nets that are there."""
    name, bits = f"o{number}_{port.lower()}", cell["connections"]
    there = [n for n in indices if isinstance(bits.get(f"{port}{n}", "-")[0], int)]
    return name, [f"logic [{len(indices) - 1}:0] {name};", *(f"assign {_at(cell, f'{port}{n}')} = {name}[{n}];" for n in there)]


def _set(cell: Cell, parameter: str, usual: str, *allowed: str) -> str:
    """Return a parameter that is one of `allowed`, of which any will do if there are none."""
    value: str = cell["parameters"].get(parameter, usual).strip()
    if allowed and value not in allowed:
        raise ValueError(f"{cell['type']} has {parameter} {value}, known are {', '.join(allowed)}")
    return value


def _number(cell: Cell, parameter: str) -> int:
    return int(cell["parameters"][parameter].replace("x", "0"), 2)


def _lut(init: int, *inputs: str) -> str:
    return f"1'({2 ** len(inputs)}'h{init & (1 << 2 ** len(inputs)) - 1:x} >> {{{', '.join(reversed(inputs))}}})"


def _lut4(cell: Cell, _number_: int) -> Iterator[str]:
    yield f"assign {_at(cell, 'Z')} = {_lut(_number(cell, 'INIT'), *(_at(cell, pin) for pin in 'ABCD'))};"


def _mux(select: str, one: str, zero: str) -> Callable[[Cell, int], Iterator[str]]:
    def lines(cell: Cell, _number_: int) -> Iterator[str]:
        yield f"assign {_at(cell, 'Z')} = {_at(cell, select)} ? {_at(cell, one)} : {_at(cell, zero)};"

    return lines


def _carry(cell: Cell, number: int) -> Iterator[str]:
    """Two places of an adder: each is a LUT that propagates, and one of two inputs that generates."""
    carry = _at(cell, "CIN")
    for place in (0, 1):
        _set(cell, f"INJECT1_{place}", "YES", "NO")
        init = _number(cell, f"INIT{place}")
        pins = [_at(cell, f"{pin}{place}") for pin in "ABCD"]
        yield f"logic p{number}_{place}, c{number}_{place};"
        yield f"assign p{number}_{place} = {_lut(init, *pins)};"
        yield f"assign c{number}_{place} = p{number}_{place} ? {carry} : {_lut(init, *pins[:2])};"
        if f"S{place}" in cell["connections"]:
            yield f"assign {_at(cell, f'S{place}')} = p{number}_{place} ^ {carry};"
        carry = f"c{number}_{place}"
    if "COUT" in cell["connections"]:
        yield f"assign {_at(cell, 'COUT')} = {carry};"


def _flip_flop(cell: Cell, _number_: int) -> Iterator[str]:
    _set(cell, "CLKMUX", "CLK", "CLK")
    _set(cell, "LSRMODE", "LSR", "LSR")
    enable = {"1": "1'b1", "CE": _at(cell, "CE"), "INV": f"!{_at(cell, 'CE')}"}[_set(cell, "CEMUX", "1", "1", "CE", "INV")]
    clock, reset, to = _at(cell, "CLK"), _at(cell, "LSR"), _at(cell, "Q")
    inverted = _set(cell, "LSRMUX", "LSR", "LSR", "INV") == "INV"
    value = "1'b1" if _set(cell, "REGSET", "RESET", "RESET", "SET") == "SET" else "1'b0"
    alone = _set(cell, "SRMODE", "LSR_OVER_CE", "LSR_OVER_CE", "ASYNC") == "ASYNC" and reset.startswith("n")
    edges = f"posedge {clock}" + (f" or {'neg' if inverted else 'pos'}edge {reset}" if alone else "")
    yield f"initial {to} = {value};"  # as the device begins
    yield (f"always @({edges}) if ({'!' if inverted else ''}{reset}) {to} <= {value}; "
           f"else if ({enable}) {to} <= {_at(cell, 'DI')};")  # fmt: skip


def _lut_ram(cell: Cell, number: int) -> Iterator[str]:
    _set(cell, "WCKMUX", "WCK", "WCK")
    _set(cell, "WREMUX", "WRE", "WRE")
    pins = {name: "{" + ", ".join(_net(bit) for bit in reversed(cell["connections"][name])) + "}" for name in ("DI", "WAD", "RAD", "DO")}
    yield f"logic [3:0] m{number}[16];"
    yield f"always @(posedge {_at(cell, 'WCK')}) if ({_at(cell, 'WRE')}) m{number}[{pins['WAD']}] <= {pins['DI']};"
    yield f"assign {pins['DO']} = m{number}[{pins['RAD']}];"


def _block_ram(cell: Cell, number: int) -> Iterator[str]:
    given, made = [], []
    for side in "AB":
        _set(cell, f"REGMODE_{side}", "NOREG", "NOREG")
        _set(cell, f"CLK{side}MUX", f"CLK{side}", f"CLK{side}")
        _set(cell, f"CSDECODE_{side}", "0b000", "0b000")
        if any(_at(cell, f"CS{side}{n}") != "1'b0" for n in range(3)):
            raise ValueError("DP16KD has a select, which is not known")
        if _at(cell, f"RST{side}") != "1'b0":
            _set(cell, "RESETMODE", "SYNC", "SYNC")
        name, lines = _out(cell, f"DO{side}", number, DATA)
        made += lines
        low = side.lower()
        given += [f".clk_{low}_i({_at(cell, f'CLK{side}')})", f".rst_{low}_i({_at(cell, f'RST{side}')})",
                  f".ce_{low}_i({_at(cell, f'CE{side}')})", f".we_{low}_i({_at(cell, f'WE{side}')})",
                  f".addr_{low}_i({_vector(cell, f'AD{side}', ADDRESS)})", f".wdata_{low}_i({_vector(cell, f'DI{side}', DATA)})",
                  f".rdata_{low}_o({name})"]  # fmt: skip
    init = 0
    for part in range(64):
        words = cell["parameters"].get(f"INITVAL_{part:02X}", "0").replace("x", "0").zfill(320)
        for word in range(16):  # 18 bits of 20 each, the first one at the end
            end = 320 - 20 * word
            init |= int(words[end - 18 : end], 2) << 18 * (16 * part + word)
    modes = [_set(cell, f"WRITEMODE_{side}", "NORMAL", "NORMAL", "WRITETHROUGH", "READBEFOREWRITE") for side in "AB"]
    yield from made
    yield (f"pst_ecp5_ram #(.WidthA({_number(cell, 'DATA_WIDTH_A')}), .WidthB({_number(cell, 'DATA_WIDTH_B')}), "
           f'.WriteModeA("{modes[0]}"), .WriteModeB("{modes[1]}"), .Init(18432\'h{init:x})) u_{number} ({", ".join(given)});')  # fmt: skip


def _multiplier(cell: Cell, number: int) -> Iterator[str]:
    if any(value.strip() != "NONE" for name, value in cell["parameters"].items() if name.endswith("_CLK")):
        raise ValueError("MULT18X18D has a register, which is not known")
    factors = []
    for side in "AB":
        signed, value = _at(cell, f"SIGNED{side}"), _vector(cell, side, DATA)
        factors.append(f"$signed({{{{18{{{signed} && {_at(cell, f'{side}17')}}}}}, {value}}})")
    name, lines = _out(cell, "P", number, range(36))
    yield from lines
    yield f"assign {name} = 36'({factors[0]} * {factors[1]});"


def _pll(cell: Cell, _number_: int) -> Iterator[str]:
    """As the PLL in designs/bridge/boards/ecp5_cells.sv: the clock, and half of it."""
    half = _at(cell, "CLKOS")
    yield f"initial {half} = 1'b0;"
    yield f"always @(posedge {_at(cell, 'CLKI')}) {half} <= !{half};"
    yield f"assign {_at(cell, 'CLKOP')} = {_at(cell, 'CLKI')};"
    yield f"assign {_at(cell, 'LOCK')} = 1'b1;"


def _module(cell: Cell, number: int) -> Iterator[str]:
    pins = ", ".join(f".{name}({_net(bits[0])})" for name, bits in cell["connections"].items())
    missing = ", .RST(1'b0)" if cell["type"] != "DELAYG" and "RST" not in cell["connections"] else ""
    yield f"{cell['type']} u_{number} ({pins}{missing});"


_CELLS: dict[str, Callable[[Cell, int], Iterator[str]]] = {
    "LUT4": _lut4,
    "PFUMX": _mux("C0", "ALUT", "BLUT"),
    "L6MUX21": _mux("SD", "D1", "D0"),
    "CCU2C": _carry,
    "TRELLIS_FF": _flip_flop,
    "TRELLIS_DPR16X4": _lut_ram,
    "DP16KD": _block_ram,
    "MULT18X18D": _multiplier,
    "EHXPLLL": _pll,
    "DELAYG": _module,
    "IDDRX1F": _module,
    "ODDRX1F": _module,
}
