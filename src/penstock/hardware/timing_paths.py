"""Which registers limit the clock: the longest paths of a placed and routed netlist, from its delays as nextpnr writes them (SDF).

Names are what synthesis has left of those of the sources: of a vector without its index, of a memory that of its array. Paths between the
same two of them are one group, for a vector is as slow as its slowest bit.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

Pin = tuple[str, str]  # cell, pin

_CLOCKS = {"CLK", "CLKA", "CLKB", "WCK", "CLK0", "CLK1", "CLK2", "CLK3"}
_WIRE = re.compile(r"\(INTERCONNECT (\S+)/(\S+) (\S+)/(\S+) \(([^)]*)\) \(([^)]*)\)\)")
_ARC = re.compile(r"\(IOPATH (\S+) (\S+) \(([^)]*)\) \(([^)]*)\)\)")
_SETUP = re.compile(r"\(SETUPHOLD \((?:posedge|negedge) (\S+)\) \((?:posedge|negedge) \S+\) \(([^)]*)\)")
_CELL = re.compile(r"(_(TRELLIS_FF|LUT4|CCU2C|PFUMX|L6MUX21|DPR16X4|DP16KD|PDPW16KD)_|\$).*|(\.\d+)+$|\[\d+\]")


@dataclass(frozen=True)
class Group:
    """The paths from one register or memory to another."""

    start: str
    end: str
    ns: float  # of the longest one, set-up time included
    wires_ns: float  # of it what is wires
    levels: int  # cells on it, carries not counted
    paths: int  # how many bits of `end` it ends in

    def figures(self) -> dict[str, Any]:
        return asdict(self)


def longest(sdf: Path, groups: int) -> list[Group]:
    """Return the `groups` longest groups of paths of an SDF file, longest first. One clock is taken for granted."""
    delays = _Delays(sdf.open())
    arrival, before = delays.arrivals()
    found: dict[tuple[str, str], Group] = {}
    counts: Counter[tuple[str, str]] = Counter()
    ends = sorted(((arrival[pin] + setup, pin) for pin, setup in delays.setup.items() if pin in arrival), reverse=True)
    for time, end in ends:
        path = [end]
        while path[-1] in before:
            path.append(before[path[-1]])
        names = _name(path[-1][0]), _name(end[0])
        counts[names] += 1
        if names not in found:
            hops = list(zip(path[1:], path, strict=False))
            wires = sum(arrival[b] - arrival[a] for a, b in hops if a[0] != b[0])
            levels = sum(a[0] == b[0] and "FC" not in a[1] + b[1] for a, b in hops)
            found[names] = Group(*names, round(time, 2), round(wires, 2), levels, 0)
    chosen = list(found.items())[:groups]
    return [Group(g.start, g.end, g.ns, g.wires_ns, g.levels, counts[names]) for names, g in chosen]


class _Delays:
    def __init__(self, lines: Iterable[str]) -> None:
        self.to: dict[Pin, list[tuple[Pin, float]]] = defaultdict(list)
        self.start: dict[Pin, float] = {}  # from the clock to an output
        self.setup: dict[Pin, float] = {}
        cell = ""
        for line in map(str.strip, lines):
            if line.startswith("(INSTANCE"):
                cell = _plain(line[len("(INSTANCE") : -1].strip())
            elif found := _WIRE.match(line):
                a, a_pin, b, b_pin, *values = found.groups()
                self.to[_plain(a), a_pin].append(((_plain(b), b_pin), max(map(_ns, values))))
            elif found := _ARC.match(line):
                pin, output, *values = found.groups()
                if pin in _CLOCKS:
                    self.start[cell, output] = max(map(_ns, values))
                else:
                    self.to[cell, pin].append(((cell, output), max(map(_ns, values))))
            elif found := _SETUP.match(line):
                self.setup[cell, found[1]] = max(self.setup.get((cell, found[1]), 0.0), _ns(found[2]))

    def arrivals(self) -> tuple[dict[Pin, float], dict[Pin, Pin]]:
        """Return when each pin has its value, counted from the clock, and which pin it has it from."""
        waits: Counter[Pin] = Counter(b for a in self._reached() for b, _ in self.to.get(a, ()))
        arrival, before = dict(self.start), {}
        ready = [pin for pin in self.start if not waits[pin]]
        while ready:
            a = ready.pop()
            for b, delay in self.to.get(a, ()):
                if arrival.get(b, -1.0) < arrival[a] + delay:
                    arrival[b], before[b] = arrival[a] + delay, a
                waits[b] -= 1
                if not waits[b]:
                    ready.append(b)
        return arrival, before

    def _reached(self) -> Iterator[Pin]:
        seen, todo = set(self.start), list(self.start)
        while todo:
            a = todo.pop()
            yield a
            fresh = {b for b, _ in self.to.get(a, ())} - seen
            seen |= fresh
            todo += fresh


def _ns(values: str) -> float:
    """Return the largest of `least:typical:most` picoseconds."""
    return float(values.rsplit(":", 1)[-1]) / 1000


def _plain(name: str) -> str:
    return name.replace("\\", "")


def _name(cell: str) -> str:
    return _CELL.sub("", cell)
