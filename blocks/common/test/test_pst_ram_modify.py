"""pst_ram_modify: each operation finds what those before it left, however close together they are; reset clears the memory."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.testing import testkit


@cocotb.test()
async def random_operations(dut) -> None:
    """Reads and changes at few addresses or many, with gaps or without, and resets in mid-traffic."""
    width, depth = testkit.parameter("Width", 32), testkit.parameter("Depth", 512)
    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    for port in (dut.valid_i, dut.addr_i, dut.we_i, dut.word_i):
        port.value = 0
    await testkit.start(dut)

    met = [0] * 6  # operations on the word of the one that came 1, 2, ... 5 cycles before
    changed = kept = resets = 0
    for _ in range(12):
        words = [0] * depth
        pipeline: list[int | None] = [None] * 6  # the addresses in cycles 0 to 5
        left: int | None = None  # what was written in the cycle before
        cycles = 0
        while not int(dut.init_done_o.value):
            await FallingEdge(dut.clk_i)
            cycles += 1
        assert cycles == depth, "the walker takes a cycle for each word"
        used = rng.sample(range(depth), min(depth, rng.choice([1, 2, 3, 8, depth])))
        load, writes = rng.choice([0.3, 0.8, 1.0]), rng.choice([0.3, 0.9, 1.0])
        for _ in range(rng.randrange(200, 900)):
            addr = rng.choice(used) if rng.random() < load else None
            dut.valid_i.value = int(addr is not None)
            dut.addr_i.value = rng.choice(used) if addr is None else addr  # without an operation: must be of no consequence
            pipeline = [addr, *pipeline[:-1]]
            for ahead in range(1, 6):
                met[ahead] += addr is not None and pipeline[ahead] == addr
            if left is not None:
                assert int(dut.word_q_o.value) == left
            place, left = pipeline[3], None
            dut.we_i.value, dut.word_i.value = 0, rng.getrandbits(width)
            if place is not None:
                found = int(dut.word_o.value)
                assert found == words[place], f"word {place} is {found:#x}, not {words[place]:#x}"
                write = rng.random() < writes
                left = rng.getrandbits(width) if write else found
                changed, kept = changed + write, kept + (not write)
                words[place] = left
                dut.we_i.value, dut.word_i.value = int(write), left
            await FallingEdge(dut.clk_i)
        dut.valid_i.value = 0
        dut.we_i.value = 0
        resets += pipeline[:3] != [None] * 3
        await testkit.reset(dut, 1 + rng.randrange(3))
    assert min(met[1:]) > 100 and changed > 1000 and kept > 200 and resets > 4, (met, changed, kept, resets)


@pytest.mark.parametrize("parameters", [{"Width": 32, "Depth": 512}, {"Width": 5, "Depth": 3}, {"Width": 3, "Depth": 2}])
def test_pst_ram_modify(parameters: dict[str, object]) -> None:
    testkit.run_module("common", "pst_ram_modify", parameters)
