"""pst_inverse_sqrt against the model, for every count."""

import cocotb
from cocotb.triggers import FallingEdge

from penstock.testing.testkit import run_module


@cocotb.test()
async def every_count(dut) -> None:
    from cocotb.clock import Clock

    from penstock.engine import engine

    models = engine.models("aqm/codel")

    Clock(dut.clk_i, 10, unit="ns").start()
    for count in range(65_536 + 4):
        await FallingEdge(dut.clk_i)
        if count >= 4:
            got = int(dut.mantissa_o.value), int(dut.shift_o.value)
            assert got == models.inverse_sqrt(count - 4), count - 4
        dut.count_i.value = count % 65_536


def test_every_count() -> None:
    run_module("aqm", "pst_inverse_sqrt")
