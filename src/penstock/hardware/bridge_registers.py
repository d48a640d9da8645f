# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Registers of a bridge on a board: what it is, its links and counters, and the settings of its queues while it runs."""

import json
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Protocol

from penstock.errors import UserError
from penstock.hardware import bridge_setting as setting
from penstock.paths import DESIGNS

SCHEMA = "penstock.bridge/1"
KIND = 0x50535403
MAJOR = 1
DIRECTIONS = 2  # 0 has the frames from port 0
SPEEDS = ("10 Mbit/s", "100 Mbit/s", "1 Gbit/s", "reserved")


@cache
def contract() -> dict[str, dict[str, Any]]:
    """Return `registers` and `enums`, as tools/generate_contract.py writes them."""
    return json.loads((DESIGNS / "bridge" / "regs" / "bridge.json").read_text())


class Bus(Protocol):
    """Registers by byte addresses."""

    name: str

    def read(self, address: int, words: int = 1) -> list[int]:
        """Return registers that follow each other."""

    def write(self, address: int, *words: int) -> None:
        """Write registers that follow each other."""


@dataclass(frozen=True)
class Count:
    """Frames, and their bytes without FCS."""

    frames: int
    bytes: int


@dataclass(frozen=True)
class Link:
    """What a PHY says of its link. Without its clock, nothing."""

    clock: bool
    up: bool
    full_duplex: bool
    speed: str


class Bridge:
    """A bridge behind a bus. Raises UserError where something else is there, or a bridge of another version."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        kind, version = bus.read(_address("type"), 2)
        if kind != KIND:
            raise UserError(f"{bus.name}: register 0 is {kind:#010x}, that of a bridge is {KIND:#010x}")
        if version >> 16 != MAJOR:
            raise UserError(f"{bus.name}: the register map has version {version >> 16}.{version & 0xFFFF}, this program knows {MAJOR}.x")
        self.version = f"{version >> 16}.{version & 0xFFFF}"
        names = ("queues", "flows", "cells", "max_frame_bytes", "clock_hz")
        self.queues, self.flows, self.cells, self.max_frame_bytes, self.clock_hz = bus.read(_address(names[0]), len(names))

    def link(self, port: int) -> Link:
        """Return the state of the PHY of a port."""
        fields = self._fields(f"port_{port}")
        return Link(bool(fields["clock"]), bool(fields["up"]), bool(fields["full_duplex"]), SPEEDS[fields["speed"]])

    def counter(self, direction: int, name: str) -> Count:
        """Return a counter of the frames that came from port `direction`; its name is one of the enum `counter`."""
        self._bus.write(_address("direction"), direction)
        self._bus.write(_address("counter"), contract()["enums"]["counter"][name])
        self._command("snapshot")
        frames, frames_high, low, high = self._bus.read(_address("frames"), 4)
        return Count(frames | frames_high << 32, low | high << 32)

    def counters(self, direction: int) -> dict[str, Count]:
        """Return all counters of the frames that came from port `direction`. Each is of its own moment."""
        return {name: self.counter(direction, name) for name in contract()["enums"]["counter"]}

    def queue(self, direction: int, queue: int) -> dict[str, int]:
        """Return how a queue is set, as `bridge_setting.numbers` has it. Raises UserError."""
        self._choose(direction, queue)
        self._command("read_back")
        rate, burst, enable, target, interval, quantum = self._bus.read(_address("queue_rate"), 6)
        return {"burst": burst, "exponent": rate >> 16, "mantissa": rate & 0xFFFF, "aqm_enable": enable, "aqm_ecn": 0, "target": target,
                "interval": interval, "quantum": quantum}  # fmt: skip

    def set_queue(self, direction: int, queue: int, to: dict[str, int]) -> None:
        """Set a queue to `bridge_setting.numbers`; the bridge has it within 512 cycles. Raises UserError."""
        self._choose(direction, queue)
        rate = to["exponent"] << 16 | to["mantissa"]
        self._bus.write(_address("queue_rate"), rate, to["burst"], to["aqm_enable"], to["target"], to["interval"], to["quantum"])
        self._command("write")

    def set_rate(self, direction: int, bps: int | None) -> None:
        """Give all queues of a direction a rate and CoDel; None: no rate. Raises UserError."""
        if not self.queues:
            raise UserError(f"{self._bus.name}: this bridge was built without queues, so it has no rates")
        to = setting.UNSHAPED if bps is None else setting.numbers(bps, self.clock_hz)
        for queue in range(self.queues):
            self.set_queue(direction, queue, to)

    def shape(self, directions: tuple[bool, bool]) -> None:
        """Say for each direction whether its queues have their rates and CoDel; without, the settings are kept."""
        self._bus.write(_address("shaping"), directions[0] | directions[1] << 1)

    def state(self) -> dict[str, Any]:
        """Return all that there is to see: what it is, links, counters, and how the queues are set. Each counter is of its own moment."""
        directions = []
        for direction in range(DIRECTIONS):
            queues = [self.queue(direction, queue) for queue in range(self.queues)]
            directions.append({
                "from_port": direction, "shaped": bool(self._fields("shaping")["directions"] >> direction & 1),
                "counters": {name: asdict(count) for name, count in self.counters(direction).items()},
                "queues": [one | {"rate_bps": setting.rate_bps(one, self.clock_hz)} for one in queues],
            })  # fmt: skip
        return {"schema": SCHEMA, "version": self.version, "queues": self.queues, "flows": self.flows, "cells": self.cells,
                "max_frame_bytes": self.max_frame_bytes, "clock_hz": self.clock_hz,
                "links": [asdict(self.link(port)) for port in range(DIRECTIONS)], "directions": directions}  # fmt: skip

    def _choose(self, direction: int, queue: int) -> None:
        self._bus.write(_address("direction"), direction, queue)

    def _command(self, name: str) -> None:
        self._bus.write(_address("command"), contract()["enums"]["command"][name])
        status = self._fields("status")
        while status["busy"]:  # it takes some cycles of the bridge, less than a byte of a serial line
            status = self._fields("status")
        if status["refused"]:
            why = next(key for key, number in contract()["enums"]["refusal"].items() if number == status["reason"])
            raise UserError(f"{self._bus.name}: the bridge refused `{name}`: {why}")

    def _fields(self, name: str) -> dict[str, int]:
        (word,) = self._bus.read(_address(name))
        return {key: word >> low & (1 << width) - 1 for key, (low, width, _) in contract()["registers"][name]["fields"].items()}


def lines(state: dict[str, Any]) -> list[str]:
    """Return what `Bridge.state` has, for people."""
    each = f"{state['queues']} shaped queues and {state['flows']:,} flow queues in each direction"
    found = [f"bridge, register map {state['version']}: {each}"]
    for port, link in enumerate(state["links"]):
        up = f"up, {link['speed']}, {'full' if link['full_duplex'] else 'half'} duplex" if link["up"] else "down"
        found.append(f"  port {port}: {up if link['clock'] else 'the PHY gives no clock'}")
    for of in state["directions"]:
        source = of["from_port"]
        found.append(f"  from port {source} to port {1 - source}{'' if of['shaped'] or not of['queues'] else ', shaping is off'}:")
        for name, count in of["counters"].items():
            found.append(f"    {name:14} {count['frames']:>16,} frames {count['bytes']:>20,} bytes")
        rates: dict[str, list[str]] = {}
        for number, queue in enumerate(of["queues"]):
            bps = queue["rate_bps"]
            rate = "no rate" if bps is None else "closed" if not bps else f"{bps / 1e6:.4g} Mbit/s"
            rates.setdefault(f"{rate}, {'CoDel' if queue['aqm_enable'] else 'no CoDel'}", []).append(str(number))
        found += [f"    queues {', '.join(numbers)}: {rate}" for rate, numbers in rates.items()]
    return found


def _address(name: str) -> int:
    return contract()["registers"][name]["address"]
