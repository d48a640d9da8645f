# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The interrupt of a register block against a reference: causes, clearing, mask, threshold, the level; what happens at random."""

import random
from collections.abc import Awaitable, Callable
from typing import Any

from cocotb.triggers import ClockCycles, FallingEdge

Read = Callable[[str], Awaitable[int]]
Write = Callable[[str, int], Awaitable[None]]
MOST = (1 << 32) - 1


async def check(
    dut: Any,
    read: Read,
    write: Write,
    fields: dict[str, Any],
    events: dict[str, Callable[[], Awaitable[None]]],
    lost: Any,
    most_lost: int,
    rng: random.Random,
) -> None:
    """Let causes happen, clear and mask them, and compare registers and level after each step.

    `fields`: those of `irq_cause` (name: lowest bit and more); `events`: what makes each cause but `drops` happen once; `lost`: the input
    of frames lost in a cycle, which can be `most_lost` at most.
    """
    bits = {name: 1 << entry[0] for name, entry in fields.items()}
    assert bits.keys() == {*events, "drops"}
    cause = mask = most = count = 0
    seen = dict.fromkeys(bits, 0)
    for name in ("irq_cause", "irq_mask", "irq_drops", "irq_lost"):
        assert await read(name) == 0
    for _ in range(250):
        what = rng.choice([*events, "lose", "lose", "clear", "clear", "mask", "threshold"])
        if what == "lose":
            for _ in range(rng.choice([1, 3])):
                await FallingEdge(dut.clk_i)
                lost.value = frames = rng.randrange(most_lost + 1)
                count = min(count + frames, MOST)
            await FallingEdge(dut.clk_i)
            lost.value = 0
        elif what == "clear":
            cleared = rng.choice([MOST, rng.getrandbits(32), cause, 0, bits["drops"]])
            await write("irq_cause", cleared)
            cause &= ~cleared
            count = 0 if cleared & bits["drops"] else count
        elif what == "mask":
            mask = rng.choice([MOST, rng.getrandbits(32), 0])
            await write("irq_mask", mask)
            mask &= sum(bits.values())
        elif what == "threshold":
            most = rng.choice([0, 1, 7, count, min(count + 1, MOST), min(2 * count, MOST), MOST])
            await write("irq_drops", most)
        else:
            await events[what]()
            cause |= bits[what]
        await ClockCycles(dut.clk_i, 4)
        await FallingEdge(dut.clk_i)
        cause |= bits["drops"] if most and count >= most else 0
        assert int(dut.irq_o.value) == bool(cause & mask), (what, cause, mask)
        found = [await read(name) for name in ("irq_cause", "irq_mask", "irq_drops", "irq_lost")]
        assert found == [cause, mask, most, count], (what, found)
        for name, bit in bits.items():
            seen[name] += bool(cause & mask & bit)
    assert min(seen.values()) > 10, seen
