"""The compiled programs on the packet-by-packet machine of the P4 device."""

from functools import cache
from typing import Any

from penstock.designs.p4_switch import program as programs
from penstock.designs.p4_switch import tables
from penstock.engine import engine
from penstock.p4 import FOLDER


@cache
def _loaded(name: str) -> programs.Program:
    return programs.load(FOLDER / f"{name}.json")


class P4Program:
    """A program of p4/ that runs: packets through ingress, a queue and egress; tables; registers and counters by name."""

    def __init__(self, name: str, state: dict[str, Any] | None = None, seed: int = 1) -> None:
        self.program = _loaded(name)
        self.machine = engine.module("designs/p4_switch/model").Machine(self.program.dictionary, seed)
        self.configure(state or {})

    def configure(self, state: dict[str, Any]) -> None:
        """Fill tables, as a scenario's key `tables` does."""
        self.machine.configure(tables.state(self.program, state))

    def process(self, port: int, frame: bytes, now_us: int, depth: int = 0, waited_us: int = 0) -> list[tuple[int, bytes]]:
        """Return (port, frame) of all that leaves. The frame waits `waited_us` in a queue that has `depth` packets when it leaves."""
        return self.machine.process(port, frame, now_us, depth, waited_us)

    def register(self, name: str, index: int) -> int:
        """Return one element, however wide."""
        words = self.machine.register_cell(self.program.registers[name][0], index)
        return sum(word << 64 * place for place, word in enumerate(words))

    def counter(self, name: str, index: int) -> int:
        """Return packets."""
        return self.machine.counter_cell(self.program.counters[name][0], index)[0]


def machine_of(name: str, state: dict[str, Any] | None = None, seed: int = 1) -> P4Program:
    """Return a program, just loaded."""
    return P4Program(name, state, seed)


def registers(program: P4Program) -> dict[str, list[int]]:
    """Return the content of all registers."""
    return {name: [program.register(name, index) for index in range(size)] for name, (_, _, size) in program.program.registers.items()}
