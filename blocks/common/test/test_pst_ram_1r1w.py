"""pst_ram_1r1w: what is read is what was last written before; latency, hold, and what a read during a write gives."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from penstock.testing import testkit


@cocotb.test()
async def random_reads_and_writes(dut) -> None:
    """Random reads and writes, few addresses so that they often meet."""
    width, depth = testkit.parameter("Width", 32), testkit.parameter("Depth", 512)
    latency = testkit.parameter("ReadLatency", 1)
    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    for port in (dut.we_i, dut.waddr_i, dut.wdata_i, dut.re_i, dut.raddr_i):
        port.value = 0
    Clock(dut.clk_i, 10, unit="ns").start()
    await FallingEdge(dut.clk_i)

    mask = (1 << width) - 1
    memory: dict[int, int] = {}
    pipeline: list[int | None] = [None] * latency  # what the output should be, per stage; None: nothing known yet
    met = held = read = 0
    for _ in range(4000):
        write, wanted = rng.random() < 0.6, rng.random() < 0.6
        waddr, raddr = rng.randrange(min(depth, 8)), rng.randrange(min(depth, 8))
        if rng.random() < 0.2:
            waddr = raddr = depth - 1
        data = rng.getrandbits(width)
        dut.we_i.value, dut.waddr_i.value, dut.wdata_i.value = int(write), waddr, data
        dut.re_i.value, dut.raddr_i.value = int(wanted), raddr
        first = pipeline[0]
        if wanted:
            during = write and waddr == raddr
            met += during
            first = data ^ mask if during else memory.get(raddr)
        else:
            held += 1
        pipeline = [first, *pipeline[:-1]]
        if write:
            memory[waddr] = data
        await FallingEdge(dut.clk_i)
        if pipeline[-1] is not None:
            read += 1
            assert int(dut.rdata_o.value) == pipeline[-1]
    assert met > 100 and held > 1000 and read > 3000


@pytest.mark.parametrize(
    "parameters",
    [
        {"Width": 32, "Depth": 512, "ReadLatency": 1},
        {"Width": 7, "Depth": 5, "ReadLatency": 2},
        {"Width": 1, "Depth": 1, "ReadLatency": 1},
        {"Width": 49, "Depth": 262144, "ReadLatency": 2},  # its lowest bit is in block RAM
        {"Width": 147, "Depth": 65536, "ReadLatency": 1},  # its lowest three
        {"Width": 5, "Depth": 262144, "ReadLatency": 1},  # all of it
    ],
)
def test_pst_ram_1r1w(parameters: dict[str, object]) -> None:
    testkit.run_module("common", "pst_ram_1r1w", parameters)
