"""An estimate of the clock on UltraScale+, where no open tool places and routes: the longest path of a mapped netlist by assumed delays.

Each cell has an assumed delay (`ASSUMED`), each net one that grows with its fan-out, and more where it begins or ends at a block RAM or
UltraRAM, which stand in columns far apart. Paths go from register or memory to register or memory; ports of the module are no ends. So the
figures say which paths limit a clock, and how two designs compare; placed and routed a path takes more or less than that.
"""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Bit = int  # of a netlist

# ns, as of a middle speed grade; a fan-out of f takes net + net_doubled * log2(f)
ASSUMED = {
    "clock_to_q": 0.08, "lut": 0.10, "mux": 0.06, "carry_in": 0.15, "carry_bit": 0.01, "carry_out": 0.10, "setup": 0.03,
    "net": 0.25, "net_doubled": 0.10, "net_memory": 0.30,
    "lut_ram_to_q": 0.40, "bram_to_q": 0.95, "bram_register_to_q": 0.30, "bram_setup": 0.30,
    "uram_to_q": 1.30, "uram_register_to_q": 0.50, "uram_setup": 0.40, "dsp_to_q": 0.30, "dsp_multiplier": 2.00, "dsp_setup": 0.30,
}  # fmt: skip
_CLOCKS = re.compile(r"(CLK|C|WCLK)(A|B|ARDCLK|BWRCLK|_A|_B)?$")
_FLIP_FLOP = re.compile(r"(FD|LD)[A-Z]+(_1)?$")
_LUT = re.compile(r"(LUT\d|INV)$")
_LUT_RAM = re.compile(r"(RAM\d+[XM]|SRL)")
_MEMORY = re.compile(r"(RAMB|FIFO|URAM)")
_INDEX = re.compile(r"(\[\d+\])+$|(\.\d+)+$")


@dataclass(frozen=True)
class Longest:
    """A path that ends in a register or memory."""

    ns: float
    wires_ns: float
    luts: int
    start: str
    end: str

    def figures(self) -> dict[str, Any]:
        return {"ns": round(self.ns, 2), "wires_ns": round(self.wires_ns, 2), "luts": self.luts, "start": self.start, "end": self.end}


@dataclass
class _Arrival:
    """When a net has its value, by the slowest way, and by the way with most LUTs."""

    ns: float
    wires_ns: float
    luts: int
    start: str
    most_luts: int


def of_netlist(path: Path, top: str) -> dict[str, Any]:
    """Return the estimate of module `top` of a netlist that Yosys has written as JSON: keys `longest` (ns, wires_ns, luts, start, end), the
    same `into_memory` (None without one), `luts` (most on any path), `carry_bits` (longest chain) and `fan_out` (loads, name)."""
    return _Netlist(json.loads(path.read_text(encoding="utf-8"))["modules"][top]).estimate()


def lines(estimate: Mapping[str, Any]) -> list[str]:
    """Return an estimate as `synth` prints it."""
    found = []
    for key, words in (("longest", "estimate"), ("into_memory", "into memory")):
        if path := estimate[key]:
            share = path["wires_ns"] / path["ns"]
            found.append(
                f"  {words:12} {path['ns']:>9.2f} ns, {share:.0%} of it wires, {path['luts']} LUTs: {path['start']} -> {path['end']}"
            )
    found.append(f"  {'LUTs in a row':13} {estimate['luts']:>8}, longest carry {estimate['carry_bits']} bits")
    if fan_out := estimate["fan_out"]:
        found.append(f"  {'fan-out':12} {fan_out['loads']:>9,} loads: {fan_out['name']}")
    return [*found, "  delays are assumed, not placed: docs/synthesis.md#an-estimate-of-the-clock"]


class _Netlist:
    def __init__(self, module: Mapping[str, Any]) -> None:
        self.cells: dict[str, Mapping[str, Any]] = module["cells"]
        self.names_of_cells = {id(cell): name for name, cell in self.cells.items()}
        self.names: dict[Bit, str] = {}
        for name, net in module["netnames"].items():
            for bit in net["bits"]:
                if isinstance(bit, int) and (bit not in self.names or not net.get("hide_name")):
                    self.names[bit] = _INDEX.sub("", name)
        self.loads: Counter[Bit] = Counter(bit for cell in self.cells.values() for _, bit in _pins(cell, "input"))
        self.clocks = {bit for cell in self.cells.values() for pin, bit in _pins(cell, "input") if _is_clock(cell, pin)}
        self.driver = {bit: name for name, cell in self.cells.items() for _, bit in _pins(cell, "output")}
        self.arrival: dict[Bit, _Arrival] = {}

    def estimate(self) -> dict[str, Any]:
        for cell in self.cells.values():
            self._start(cell)
        for name in self._ordered():
            self._pass(self.cells[name])
        longest = into_memory = None
        most = 0
        for cell in self.cells.values():
            for pin, bit in _pins(cell, "input"):
                found = self._end(cell, pin, bit)
                if found is None:
                    continue
                most = max(most, self.arrival[bit].most_luts)
                if longest is None or found.ns > longest.ns:
                    longest = found
                if _is_memory(cell) and (into_memory is None or found.ns > into_memory.ns):
                    into_memory = found
        driven = {bit: loads for bit, loads in self.loads.items() if bit in self.driver and bit not in self.clocks}
        widest = max(driven, key=lambda bit: (driven[bit], -bit), default=None)
        return {
            "longest": longest and longest.figures(),
            "into_memory": into_memory and into_memory.figures(),
            "luts": most,
            "carry_bits": self._longest_carry(),
            "fan_out": {"loads": driven[widest], "name": self._name(widest)} if widest is not None else None,
        }

    def _name(self, bit: Bit) -> str:
        return self.names.get(bit, "?")

    def _name_of(self, cell: Mapping[str, Any]) -> str:
        """Return the name of a register, or of a memory: its own, or else that of what it gives."""
        own = _INDEX.sub("", self.names_of_cells[id(cell)])
        found = [self._name(bit) for _, bit in _pins(cell, "output")] or ["?"]
        return own if _is_memory(cell) and not own.startswith("$") else next((name for name in found if not name.startswith("$")), found[0])

    def _net(self, cell: Mapping[str, Any], bit: Bit) -> float:
        """Return the delay of a net to one of its loads."""
        far = _is_memory(cell) or (bit in self.driver and _is_memory(self.cells[self.driver[bit]]))
        return ASSUMED["net"] + ASSUMED["net_doubled"] * math.log2(max(1, self.loads[bit])) + (ASSUMED["net_memory"] if far else 0.0)

    def _start(self, cell: Mapping[str, Any]) -> None:
        for pin, bit in _pins(cell, "output"):
            if (ns := _clock_to_output(cell, pin)) is not None:
                self.arrival[bit] = _Arrival(ns, 0.0, 0, self._name_of(cell) if _is_memory(cell) else self._name(bit), 0)

    def _ordered(self) -> list[str]:
        """Return the cells through which paths go, each behind all in front of it; those of a loop are left out."""
        waits: Counter[str] = Counter()
        behind: dict[str, list[str]] = defaultdict(list)
        through = [name for name, cell in self.cells.items() if _arcs(cell)]
        for name in through:
            for bit in {bit for pins in _arcs(self.cells[name]).values() for bit in pins}:
                before = self.driver.get(bit)
                if before is not None and _arcs(self.cells[before]):
                    waits[name] += 1
                    behind[before].append(name)
        ready = [name for name in through if not waits[name]]
        for name in ready:
            for other in behind[name]:
                waits[other] -= 1
                if not waits[other]:
                    ready.append(other)
        return ready

    def _pass(self, cell: Mapping[str, Any]) -> None:
        if cell["type"].startswith("CARRY"):
            self._carry(cell)
            return
        delay = ASSUMED["mux" if cell["type"].startswith("MUXF") else "dsp_multiplier" if cell["type"].startswith("DSP") else "lut"]
        is_lut = bool(_LUT.match(cell["type"]) or _LUT_RAM.match(cell["type"]))
        for output, inputs in _arcs(cell).items():
            found = [self._behind(cell, bit, delay, is_lut) for bit in inputs if bit in self.arrival]
            self._latest(output, found)

    def _behind(self, cell: Mapping[str, Any], bit: Bit, delay: float, is_lut: bool, wire: bool = True) -> _Arrival:
        before, net = self.arrival[bit], self._net(cell, bit) if wire else 0.0
        return _Arrival(before.ns + net + delay, before.wires_ns + net, before.luts + is_lut, before.start, before.most_luts + is_lut)

    def _latest(self, output: Bit, found: list[_Arrival]) -> None:
        """An output has its value when the last of its inputs has."""
        found += [self.arrival[output]] if output in self.arrival else []
        if found:
            last = max(found, key=lambda one: (one.ns, one.luts))
            self.arrival[output] = _Arrival(last.ns, last.wires_ns, last.luts, last.start, max(one.most_luts for one in found))

    def _carry(self, cell: Mapping[str, Any]) -> None:
        """A carry goes through bit by bit; between two carry cells it takes no net of its own."""
        pins = cell["connections"]
        carry = [self._behind(cell, bit, 0.0, False, wire=False) for bit in pins.get("CI", []) if bit in self.arrival]
        carry += [self._behind(cell, bit, ASSUMED["carry_in"], False) for bit in pins.get("CYINIT", []) if bit in self.arrival]
        for i in range(len(pins["S"])):
            own = [bit for pin in ("S", "DI") for bit in pins[pin][i : i + 1] if bit in self.arrival]
            here = [self._behind(cell, bit, ASSUMED["carry_out"], False) for bit in pins["S"][i : i + 1] if bit in self.arrival]
            here += [_later(one, ASSUMED["carry_out"]) for one in carry]
            if isinstance(output := pins["O"][i], int):
                self._latest(output, here)
            carry = [_later(one, ASSUMED["carry_bit"]) for one in carry]
            carry += [self._behind(cell, bit, ASSUMED["carry_in"], False) for bit in own]
            carry = [max(carry, key=lambda one: one.ns)] if carry else []
            if isinstance(output := pins["CO"][i], int):
                self._latest(output, list(carry))

    def _end(self, cell: Mapping[str, Any], pin: str, bit: Bit) -> Longest | None:
        setup = _setup(cell, pin)
        if setup is None or bit not in self.arrival:
            return None
        before, net = self.arrival[bit], self._net(cell, bit)
        end = self._name_of(cell)
        return Longest(before.ns + net + setup, before.wires_ns + net, before.luts, before.start, end)

    def _longest_carry(self) -> int:
        """Return the bits of the longest chain of carries."""
        longest: dict[str, int] = {}
        for name in self._ordered():
            cell = self.cells[name]
            if cell["type"].startswith("CARRY"):
                before = [self.driver.get(bit) for bit in cell["connections"].get("CI", []) if isinstance(bit, int)]
                longest[name] = len(cell["connections"]["S"]) + max((longest.get(one, 0) for one in before if one), default=0)
        return max(longest.values(), default=0)


def _later(one: _Arrival, ns: float) -> _Arrival:
    return _Arrival(one.ns + ns, one.wires_ns, one.luts, one.start, one.most_luts)


def _pins(cell: Mapping[str, Any], direction: str) -> Iterator[tuple[str, Bit]]:
    """Yield the pins of a cell with the net at each; constants are none."""
    for pin, bits in cell["connections"].items():
        if cell["port_directions"][pin] == direction:
            yield from ((pin, bit) for bit in bits if isinstance(bit, int))


def _is_memory(cell: Mapping[str, Any]) -> bool:
    return bool(_MEMORY.match(cell["type"]))


def _is_clock(cell: Mapping[str, Any], pin: str) -> bool:
    return bool(_CLOCKS.match(pin)) and not _LUT.match(cell["type"]) and not cell["type"].startswith("CARRY")


def _set(cell: Mapping[str, Any], *names: str) -> bool:
    """Return whether one of these parameters of a cell is there and not 0 or "FALSE"."""
    given = [str(cell["parameters"].get(name, "0")) for name in names]
    return any(value.upper() != "FALSE" and value.strip("0") != "" for value in given)


def _clock_to_output(cell: Mapping[str, Any], pin: str) -> float | None:
    """Return the delay from the clock to an output; None where there is none."""
    kind = cell["type"]
    if _FLIP_FLOP.match(kind):
        return ASSUMED["clock_to_q"]
    if _LUT_RAM.match(kind):
        return ASSUMED["lut_ram_to_q"]
    if kind.startswith("URAM"):
        return ASSUMED["uram_register_to_q" if _set(cell, f"OREG_{pin[-1]}") else "uram_to_q"]
    if _is_memory(cell):
        return ASSUMED["bram_register_to_q" if _set(cell, "DOA_REG" if "A" in pin.removeprefix("DOUT")[:1] else "DOB_REG") else "bram_to_q"]
    if kind.startswith("DSP") and _set(cell, "PREG", "MREG"):
        return ASSUMED["dsp_to_q"] if _set(cell, "PREG") else ASSUMED["dsp_multiplier"] / 2
    if kind.startswith("DSP") and _set(cell, "AREG", "BREG"):
        return ASSUMED["dsp_multiplier"]
    return None


def _setup(cell: Mapping[str, Any], pin: str) -> float | None:
    """Return the set-up time of an input; None where no path ends."""
    kind = cell["type"]
    if _is_clock(cell, pin):
        return None
    if _FLIP_FLOP.match(kind):
        return ASSUMED["setup"]
    if _LUT_RAM.match(kind):
        return ASSUMED["setup"]
    if kind.startswith("URAM"):
        return ASSUMED["uram_setup"]
    if _is_memory(cell):
        return ASSUMED["bram_setup"]
    if kind.startswith("DSP"):
        if _set(cell, f"{pin[0]}REG"):
            return ASSUMED["dsp_setup"]
        return ASSUMED["dsp_multiplier"] if _set(cell, "MREG", "PREG") else None
    return None


def _arcs(cell: Mapping[str, Any]) -> dict[Bit, list[Bit]]:
    """Return from which inputs paths go through a cell to each output."""
    kind = cell["type"]
    if _LUT.match(kind) or kind.startswith(("MUXF", "CARRY")):
        inputs = [bit for _, bit in _pins(cell, "input")]
        return {bit: inputs for _, bit in _pins(cell, "output")}
    if _LUT_RAM.match(kind):  # asynchronous reads: DOx of ADDRx, DPO of DPRA, the others of A
        found: dict[Bit, list[Bit]] = {}
        for output, bit in _pins(cell, "output"):
            reads = f"ADDR{output[2:3]}" if output.startswith("DO") else "DPRA" if output == "DPO" else "A"
            found[bit] = [other for pin, other in _pins(cell, "input") if pin.rstrip("0123456789") == reads]
        return found
    if kind.startswith("DSP") and not _set(cell, "AREG", "BREG", "MREG", "PREG"):
        inputs = [bit for pin, bit in _pins(cell, "input") if pin in ("A", "B", "C", "D")]
        return {bit: inputs for pin, bit in _pins(cell, "output") if pin == "P"}
    return {}
