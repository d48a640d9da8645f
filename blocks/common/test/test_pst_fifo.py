"""pst_fifo against a deque, cycle by cycle."""

import random

import cocotb
import pytest

from penstock.testing import testkit


@cocotb.test()
async def mixed(dut) -> None:
    """Random pushes, pops and resets at changing rates."""
    from fifo_traffic import mixed_traffic

    width, depth = testkit.parameter("Width", 32), testkit.parameter("Depth", 2)
    dut._log.info("seed %d", testkit.seed())
    dut.s_valid_i.value = dut.s_data_i.value = dut.m_ready_i.value = 0
    await testkit.start(dut)
    await mixed_traffic(dut, width, depth, 6000, random.Random(testkit.seed()))


@cocotb.test()
async def full_rate(dut) -> None:
    """One word per cycle from two words of depth on."""
    from fifo_traffic import full_rate

    dut.s_valid_i.value = dut.s_data_i.value = dut.m_ready_i.value = 0
    await testkit.start(dut)
    if testkit.parameter("Depth", 2) >= 2:
        await full_rate(dut, 200)


@pytest.mark.parametrize("width, depth, register", [(33, 1, 0), (8, 2, 0), (8, 5, 0), (8, 1, 1), (33, 5, 1)])
def test_pst_fifo(width: int, depth: int, register: int) -> None:
    testkit.run_module("common", "pst_fifo", {"Width": width, "Depth": depth, "RegisterOutput": register})
