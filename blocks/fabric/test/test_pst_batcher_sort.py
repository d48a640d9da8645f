"""pst_batcher_sort: sorted by key, no word lost, latency as asked for, and ties as in the model's network."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing.testkit import parameter, run_module, seed, start


def network(ports: int) -> list[tuple[int, int]]:
    """Batcher's odd-even merge sort by its recursive definition: sort both halves, merge even and odd words, compare neighbours."""
    units: list[tuple[int, int]] = []

    def merge(low: int, length: int, step: int) -> None:
        if 2 * step >= length:
            units.append((low, low + step))
            return
        merge(low, length, 2 * step)
        merge(low + step, length, 2 * step)
        units.extend((i, i + step) for i in range(low + step, low + length - step, 2 * step))

    def sort(low: int, length: int) -> None:
        if length > 1:
            sort(low, length // 2)
            sort(low + length // 2, length // 2)
            merge(low, length, 1)

    sort(0, ports)
    return units


@cocotb.test()
async def batches(dut) -> None:
    ports, width, key, registers = (parameter(name, 0) for name in ("Ports", "Width", "KeyWidth", "Registers"))
    latency, rng, units = bin(registers).count("1"), random.Random(seed()), network(ports)
    dut._log.info("seed %d", seed())
    dut.words_i.value = 0
    await start(dut)
    expected: list[list[int]] = []
    ones = lambda bits: (1 << bits) - 1  # noqa: E731
    for cycle in range(1500):
        keys = rng.choice([1, 2, 1 << key])  # few keys: many ties
        words = [(rng.randrange(keys) << (width - key)) | rng.getrandbits(width - key) for _ in range(ports)]
        dut.words_i.value = sum(word << (width * i) for i, word in enumerate(words))
        for low, high in units:
            if words[low] >> (width - key) > words[high] >> (width - key):
                words[low], words[high] = words[high], words[low]
        assert [w >> (width - key) for w in words] == sorted(w >> (width - key) for w in words)
        expected.append(words)
        await ReadOnly()
        if cycle >= latency:
            out = int(dut.words_o.value)
            assert [out >> (width * i) & ones(width) for i in range(ports)] == expected[cycle - latency], f"cycle {cycle}, seed {seed()}"
        await FallingEdge(dut.clk_i)


@pytest.mark.parametrize("ports, registers", [(8, 0b111111), (16, 0b1000100010)])
def test_pst_batcher_sort(ports: int, registers: int) -> None:
    key = ports.bit_length()
    run_module("fabric", "pst_batcher_sort", {"Ports": ports, "Width": key + 9, "KeyWidth": key, "Registers": registers})
