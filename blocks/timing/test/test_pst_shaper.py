"""pst_shaper against the model, modulo the width of its times."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.testing.testkit import parameter, run_module, seed


@cocotb.test()
async def updates(dut) -> None:
    from cocotb.clock import Clock

    from penstock.engine import engine

    models = engine.models("timing")

    width, tolerance = parameter("TimeWidth", 32), 100
    span = 1 << (width + 16)
    rng = random.Random(seed())
    Clock(dut.clk_i, 10, unit="ns").start()
    expected: list[int] = []
    for step in range(3000):
        await FallingEdge(dut.clk_i)
        if step >= 3:
            assert int(dut.time_o.value) == expected[step - 3], f"update {step - 3}, seed {seed()}"
            assert int(dut.hold_o.value) == (expected[step - 3] - 1) % span >> 16, f"update {step - 3}, seed {seed()}"
        mantissa, exponent = rng.choice([0, 1, rng.randrange(32768, 65536)]), rng.randrange(rng.choice([32, 64]))
        burst, length = rng.choice([0, rng.randrange(1 << min(28, width - 4))]), rng.randrange(1 << 14)
        now = rng.randrange(1 << (width + 3))
        time = (now << 16) + rng.choice([rng.randrange(-span // 4, span // 4), rng.randrange(-(2000 << 16), 2000 << 16)])
        dut.floor_i.value = (now - max(burst, tolerance)) % (1 << width)
        dut.time_i.value = time % span
        dut.len_i.value = length
        dut.mantissa_i.value = mantissa
        dut.exponent_i.value = exponent
        expected.append(models.shaper_update(mantissa, exponent, burst, time, now, length, tolerance, width) % span)


@pytest.mark.parametrize("width", [35, 32, 18])
def test_updates(width: int) -> None:
    run_module("timing", "pst_shaper", {"TimeWidth": width})
