# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""penstock.testing.pins: what it makes quick reads and writes as before."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.paths import BUILD
from penstock.testing import testkit

MODULE = """
module pins_echo (
    input logic clk_i,
    input logic rst_i,
    input logic bit_i,
    input logic [6:0] small_i,
    input logic [99:0] wide_i,
    output logic bit_o,
    output logic [6:0] small_o,
    output logic [99:0] wide_o,
    output logic [7:0] count_o
);
  logic [7:0] count_q;
  always_ff @(posedge clk_i) begin
    {bit_o, small_o, wide_o} <= {bit_i, small_i, wide_i};
    count_q <= rst_i ? '0 : count_q + 8'd1;
  end
  assign count_o = count_q;
endmodule
"""
WIDTHS = {"bit": 1, "small": 7, "wide": 100}


async def begin(dut) -> random.Random:
    dut._log.info("seed %d", testkit.seed())
    for name in WIDTHS:
        getattr(dut, f"{name}_i").value = 0
    await testkit.start(dut)
    return random.Random(testkit.seed())


@cocotb.test()
async def values(dut) -> None:
    """What is written comes out a cycle later, written anew or kept; a value is a number with a width."""
    rng = await begin(dut)
    before = dict.fromkeys(WIDTHS, 0)
    for _ in range(400):
        await FallingEdge(dut.clk_i)
        for name, width in WIDTHS.items():
            found = getattr(dut, f"{name}_o").value
            assert found == before[name] and int(found) == found.to_unsigned() == before[name]
            assert len(found) == width and bool(found) == bool(before[name])
            if rng.random() < 0.5:
                before[name] = rng.choice((0, 1, (1 << width) - 1, rng.getrandbits(width)))
            getattr(dut, f"{name}_i").value = before[name]


@cocotb.test()
async def parts(dut) -> None:
    """An input that is written in parts, too, takes the whole value again."""
    await begin(dut)
    for whole in (0x55, 0x55, 0x2A, 0x55):
        await FallingEdge(dut.clk_i)
        dut.small_i.value = whole
        await FallingEdge(dut.clk_i)
        assert dut.small_o.value == whole
        dut.small_i[2].value = 1 - (whole >> 2 & 1)
        await FallingEdge(dut.clk_i)
        assert dut.small_o.value == whole ^ 4


@cocotb.test()
async def state(dut) -> None:
    """What the module changes itself may be set to the same value again and again."""
    await begin(dut)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
        dut.count_q.value = 77
        for later in range(1, 4):
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            assert dut.count_o.value == 77 + later


@cocotb.test()
async def too_large(dut) -> None:
    """A value that does not fit is refused."""
    await begin(dut)
    for name, width in WIDTHS.items():
        for _ in range(2):
            with pytest.raises(ValueError):
                getattr(dut, f"{name}_i").value = 1 << width
    with pytest.raises(AttributeError):
        _ = dut.none_i


def test_pins() -> None:
    source = BUILD / "tests" / "pins_echo.sv"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(MODULE)
    testkit.run_module("common", "pins_echo", sources=[source], inside=["pins_echo.count_q"])
