"""pst_rotator: word i comes out at (i + rotation) mod Ports, as many cycles later as there are registers."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing.testkit import parameter, run_module, seed, start


@cocotb.test()
async def rotations(dut) -> None:
    ports, width, registers = (parameter(name, 0) for name in ("Ports", "Width", "Registers"))
    latency, rng = bin(registers).count("1"), random.Random(seed())
    dut._log.info("seed %d", seed())
    dut.words_i.value = dut.rotation_i.value = 0
    await start(dut)
    expected = []
    for cycle in range(1000):
        words, rotation = [rng.getrandbits(width) for _ in range(ports)], rng.randrange(ports)
        dut.words_i.value = sum(word << (width * i) for i, word in enumerate(words))
        dut.rotation_i.value = rotation
        expected.append(sum(words[(i - rotation) % ports] << (width * i) for i in range(ports)))
        await ReadOnly()
        if cycle >= latency:
            assert int(dut.words_o.value) == expected[cycle - latency], f"cycle {cycle}, seed {seed()}"
        await FallingEdge(dut.clk_i)


@pytest.mark.parametrize("ports, registers", [(16, 0b1010)])
def test_pst_rotator(ports: int, registers: int) -> None:
    run_module("fabric", "pst_rotator", {"Ports": ports, "Width": 11, "Registers": registers})
