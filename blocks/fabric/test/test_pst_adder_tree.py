"""pst_adder_tree: the number of set bits, as many cycles later as there are registers."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing.testkit import parameter, run_module, seed, start


@cocotb.test()
async def sums(dut) -> None:
    inputs, width, registers = (parameter(name, 0) for name in ("Inputs", "Width", "Registers"))
    latency, rng, expected = bin(registers).count("1"), random.Random(seed()), []
    dut._log.info("seed %d", seed())
    dut.bits_i.value = 0
    await start(dut)
    for cycle in range(1000):
        bits = rng.choice([rng.getrandbits(inputs), (1 << inputs) - 1, 0])
        dut.bits_i.value = bits
        expected.append(bits.bit_count() % 2**width)
        await ReadOnly()
        if cycle >= latency:
            assert int(dut.sum_o.value) == expected[cycle - latency], f"cycle {cycle}, seed {seed()}"
        await FallingEdge(dut.clk_i)


@pytest.mark.parametrize("inputs, width, registers", [(16, 4, 0b0101)])
def test_pst_adder_tree(inputs: int, width: int, registers: int) -> None:
    run_module("fabric", "pst_adder_tree", {"Inputs": inputs, "Width": width, "Registers": registers})
