"""The one test kit: builds and runs cocotb tests of single modules, and drives handshakes at random.

A test file is read twice: pytest imports it and calls its `test_*` functions, which call `run_module`; the simulator
imports it again and runs its `@cocotb.test()` coroutines.
"""

import json
import os
import random
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.paths import BLOCKS
from penstock.testing.basis import BuildError, seed
from penstock.testing.modules import run_module
from penstock.testing.proofs import run_proof
from penstock.testing.soaks import run_soak


def parameter(name: str, default: int) -> int:
    """Return a parameter of the module under test, as `run_module` was given it (inside the simulation)."""
    return int(json.loads(os.environ.get("PENSTOCK_PARAMETERS", "{}")).get(name, default))


async def start(dut: Any, cycles: int = 4) -> None:
    """Start the clock (10 ns) and reset, once per test; every s_*/m_* handshake input should be set to 0 before."""
    from cocotb.clock import Clock

    Clock(dut.clk_i, 10, unit="ns").start()
    await reset(dut, cycles)


async def reset(dut: Any, cycles: int = 4) -> None:
    """Hold reset for `cycles` rising edges, in mid-traffic too; returns just after a falling edge, reset released."""
    from cocotb.triggers import FallingEdge, RisingEdge

    dut.rst_i.value = 1
    for _ in range(cycles):
        await RisingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_i.value = 0


class Stream:
    """Drives or drains one valid/ready stream with random gaps.

    `fields` maps a name to a signal; items are dicts of ints. Signals change at the falling edge, and handshakes are
    read just before the rising edge, so no race with the module is possible.
    """

    def __init__(
        self, clock: Any, valid: Any, ready: Any, fields: Mapping[str, Any], probability: float = 1.0, rng: random.Random | None = None
    ) -> None:
        self.clock, self.valid, self.ready, self.fields = clock, valid, ready, fields
        self.probability, self.rng = probability, rng or random.Random(seed())

    async def send(self, items: Iterable[Mapping[str, int]]) -> None:
        """Send items as the source; between two items valid is low with probability 1 - `probability` each cycle."""
        from cocotb.triggers import FallingEdge, ReadOnly

        for item in items:
            await FallingEdge(self.clock)
            while self.rng.random() >= self.probability:
                self.valid.value = 0
                await FallingEdge(self.clock)
            self.valid.value = 1
            for name, signal in self.fields.items():
                signal.value = item[name]
            while True:
                await ReadOnly()
                taken = int(self.ready.value)
                if taken:
                    break
                await FallingEdge(self.clock)
        await FallingEdge(self.clock)
        self.valid.value = 0

    async def receive(self, items: list[dict[str, int]], count: int | None = None) -> None:
        """Append what arrives to `items`, `count` items or for ever; ready is high with probability `probability`."""
        from cocotb.triggers import FallingEdge, ReadOnly

        received = 0
        while count is None or received < count:
            await FallingEdge(self.clock)
            ready = int(self.rng.random() < self.probability)
            self.ready.value = ready
            await ReadOnly()
            if ready and int(self.valid.value):
                items.append({name: int(signal.value) for name, signal in self.fields.items()})
                received += 1
        await FallingEdge(self.clock)
        self.ready.value = 0


async def watch_held(clock: Any, reset: Any, valid: Any, ready: Any, fields: Mapping[str, Any]) -> None:
    """Check for ever that a source holds valid and payload until ready; start it with `cocotb.start_soon`."""
    from cocotb.triggers import FallingEdge, ReadOnly

    offered: dict[str, int] | None = None
    while True:
        await FallingEdge(clock)
        await ReadOnly()
        if int(reset.value):
            offered = None
            continue
        payload = {name: int(signal.value) for name, signal in fields.items()} if int(valid.value) else None
        if offered is not None:
            assert payload == offered, f"{valid._name}: offered {offered} was not taken, now there is {payload}"
        offered = payload if payload is not None and not int(ready.value) else None


__all__ = ["BLOCKS", "BuildError", "Stream", "parameter", "reset", "run_module", "run_proof", "run_soak", "seed", "start", "watch_held"]
