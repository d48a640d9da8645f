"""pst_control_wait: traffic is stopped behind 512 cycles of a command, until the command has ended."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from penstock.hardware import library
from penstock.testing import testkit

HOLD_AFTER = 512


@cocotb.test()
async def random_commands(dut) -> None:
    """hold_o rises once a command has taken more than 512 cycles, and falls with it; cycles before init_done_i do not count, nor do those
    in which it waits for the memory of the counters."""
    rng = random.Random(testkit.seed())
    dut._log.info(f"PENSTOCK_SEED={testkit.seed()}")
    dut.init_done_i.value = dut.busy_i.value = dut.stays_i.value = dut.memory_i.value = 0
    await testkit.start(dut)
    held = 0
    for number in range(40):
        length = rng.choice([1, rng.randint(1, 400), HOLD_AFTER, HOLD_AFTER + 1, HOLD_AFTER + 2, rng.randint(520, 1000)])
        before = rng.choice([0, rng.randint(1, 900)]) if number % 4 == 0 else 0  # cycles for which the device clears its memories
        waits = rng.choice([0, 0, 0.5])  # how often it waits for the memory
        counted = 0
        for cycle in range(before + length):
            dut.init_done_i.value = int(cycle >= before)
            dut.busy_i.value, dut.stays_i.value = 1, int(cycle + 1 < before + length)
            dut.memory_i.value = memory = int(rng.random() < waits)
            await Timer(1, unit="ns")
            assert int(dut.hold_o.value) == int(counted > HOLD_AFTER), f"command {number}, cycle {counted} of {length}"
            held += int(dut.hold_o.value)
            counted += int(cycle >= before and not memory)
            await FallingEdge(dut.clk_i)
        dut.memory_i.value = 0
        dut.busy_i.value = dut.stays_i.value = 0
        for _ in range(rng.choice([1, 1, 5])):
            await Timer(1, unit="ns")
            assert not int(dut.hold_o.value), "traffic is stopped without a command"
            await FallingEdge(dut.clk_i)
        if rng.random() < 0.1:
            dut.busy_i.value = dut.stays_i.value = 1
            for _ in range(HOLD_AFTER + 10):
                await FallingEdge(dut.clk_i)
            assert int(dut.hold_o.value)
            dut.rst_i.value = 1
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = dut.busy_i.value = dut.stays_i.value = 0
            assert not int(dut.hold_o.value), "reset does not end it"
            await FallingEdge(dut.clk_i)
    assert held > 100, held


def test_pst_control_wait() -> None:
    testkit.run_module("access_edge", "pst_control_wait", sources=library.sources_of("pst_control_wait"))
