"""pst_prefix_sum: sums of the first terms, as many cycles later as there are registers."""

import random
from itertools import accumulate

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing.testkit import parameter, run_module, seed, start


@cocotb.test()
async def sums(dut) -> None:
    count, width, registers = (parameter(name, 0) for name in ("Terms", "Width", "Registers"))
    latency, rng, expected = bin(registers).count("1"), random.Random(seed()), []
    dut._log.info("seed %d", seed())
    dut.terms_i.value = 0
    await start(dut)
    for cycle in range(1000):
        terms = [rng.getrandbits(width) for _ in range(count)]
        dut.terms_i.value = sum(term << (width * i) for i, term in enumerate(terms))
        expected.append(sum((total % 2**width) << (width * i) for i, total in enumerate(accumulate(terms))))
        await ReadOnly()
        if cycle >= latency:
            assert int(dut.sums_o.value) == expected[cycle - latency], f"cycle {cycle}, seed {seed()}"
        await FallingEdge(dut.clk_i)


@pytest.mark.parametrize("terms, width, registers", [(16, 4, 0b1010)])
def test_pst_prefix_sum(terms: int, width: int, registers: int) -> None:
    run_module("fabric", "pst_prefix_sum", {"Terms": terms, "Width": width, "Registers": registers})
