"""pst_stage: a word is there in the same cycle or in the next one, and none after reset."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit


@cocotb.test()
async def every_word(dut) -> None:
    rng = random.Random(testkit.seed())
    dut._log.info(f"PENSTOCK_SEED={testkit.seed()}")
    registered, width = testkit.parameter("Registered", 1), testkit.parameter("Width", 32)
    dut.valid_i.value = dut.data_i.value = 0
    await testkit.start(dut)
    before: int | None = None
    words = 0
    for _ in range(1000):
        await FallingEdge(dut.clk_i)
        reset = rng.random() < 0.02
        word = rng.getrandbits(width) if rng.random() < 0.6 else None
        dut.rst_i.value, dut.valid_i.value = int(reset), word is not None
        dut.data_i.value = rng.getrandbits(width) if word is None else word
        await ReadOnly()
        due = before if registered else word
        assert int(dut.valid_o.value) == (due is not None)
        if due is not None:
            assert int(dut.data_o.value) == due
            words += 1
        before = None if reset else word
    assert words > 300


@pytest.mark.parametrize("parameters", [{"Registered": 1}, {"Registered": 0, "Width": 7}], ids=["register", "wires"])
def test_pst_stage(parameters: dict[str, int]) -> None:
    testkit.run_module("common", "pst_stage", parameters)
