"""pst_burst_splitter against the arithmetic of the memory map."""

import random

import cocotb
import pytest
from memory_bench import LINE, Geometry, random_length

from penstock.testing import testkit


def bursts(address: int, length: int) -> list[tuple[int, int, int]]:
    """Return (address, beats - 1, last) of the bursts that cover `length` bytes at `address`, cut at 4 KiB."""
    result = []
    end = address + -(-length // LINE) * LINE
    while address < end:
        stop = min(end, (address // 4096 + 1) * 4096)
        result.append((address, (stop - address) // LINE - 1, int(stop == end)))
        address = stop
    return result


@cocotb.test()
async def mixed(dut) -> None:
    """Random frames, some without page, against random back-pressure."""
    geometry, rng = Geometry.under_test(), random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    dut.s_valid_i.value = dut.m_ready_i.value = 0
    await testkit.start(dut)
    items, expected = [], []
    for _ in range(500):
        desc = rng.randrange(geometry.descriptors)
        length = random_length(rng, geometry.page_bytes[geometry.memory_of(desc)])
        ok = int(rng.random() < 0.9)
        items.append({"ok": ok, "desc": desc, "len": length})
        expected.extend([(1, *burst) for burst in bursts(geometry.address(desc), length)] if ok else [(0, None, None, 1)])
    source = testkit.Stream(dut.clk_i, dut.s_valid_i, dut.s_ready_o, {"ok": dut.s_ok_i, "desc": dut.s_desc_i, "len": dut.s_len_i}, 0.7, rng)
    fields = {"ok": dut.m_ok_o, "addr": dut.m_addr_o, "len": dut.m_len_o, "last": dut.m_last_o}
    sink = testkit.Stream(dut.clk_i, dut.m_valid_o, dut.m_ready_i, fields, 0.7, rng)
    cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, dut.m_valid_o, dut.m_ready_i, fields))
    received: list[dict] = []
    cocotb.start_soon(source.send(items))
    await sink.receive(received, len(expected))
    for got, (ok, addr, length, last) in zip(received, expected, strict=True):
        assert (got["ok"], got["last"]) == (ok, last)
        assert not ok or (got["addr"], got["len"]) == (addr, length)


GEOMETRIES = {"one": Geometry.of((40, 9600)), "three": Geometry.of((9, 512), (20, 16384), (33, 1536))}


@pytest.mark.parametrize("name, width", [("one", 19), ("three", 40)])
def test_pst_burst_splitter(name: str, width: int) -> None:
    testkit.run_module("memory", "pst_burst_splitter", {**GEOMETRIES[name].parameters(), "AddrWidth": width})
