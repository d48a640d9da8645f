"""pst_skid_buffer: outwardly a FIFO of two words with registered outputs."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from penstock.testing import testkit


@cocotb.test()
async def mixed(dut) -> None:
    """Random pushes, pops and resets at changing rates."""
    from fifo_traffic import mixed_traffic

    dut._log.info("seed %d", testkit.seed())
    dut.s_valid_i.value = dut.s_data_i.value = dut.m_ready_i.value = 0
    await testkit.start(dut)
    await mixed_traffic(dut, testkit.parameter("Width", 32), 2, 6000, random.Random(testkit.seed()))


@cocotb.test()
async def full_rate(dut) -> None:
    """One word per cycle."""
    from fifo_traffic import full_rate

    dut.s_valid_i.value = dut.s_data_i.value = dut.m_ready_i.value = 0
    await testkit.start(dut)
    await full_rate(dut, 200)


@cocotb.test()
async def no_path_through(dut) -> None:
    """Between two clock edges no output follows an input."""
    rng = random.Random(testkit.seed())
    width = testkit.parameter("Width", 32)
    dut.s_valid_i.value = dut.s_data_i.value = dut.m_ready_i.value = 0
    await testkit.start(dut)
    for _ in range(200):
        await FallingEdge(dut.clk_i)
        seen = set()
        for _ in range(4):
            dut.s_valid_i.value, dut.m_ready_i.value = rng.getrandbits(1), rng.getrandbits(1)
            dut.s_data_i.value = rng.getrandbits(width)
            await Timer(1, unit="ns")
            valid = int(dut.m_valid_o.value)
            seen.add((int(dut.s_ready_o.value), valid, int(dut.m_data_o.value) if valid else None))
        assert len(seen) == 1, "an output moved without a clock edge"


@pytest.mark.parametrize("width", [8, 65])
def test_pst_skid_buffer(width: int) -> None:
    testkit.run_module("common", "pst_skid_buffer", {"Width": width})
