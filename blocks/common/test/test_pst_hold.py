"""pst_hold: a stream that is held back keeps to its protocol, and stops."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from penstock.testing import testkit


@cocotb.test()
async def random_holds(dut) -> None:
    """What is offered stays until it is taken; held back, one transfer goes through at most; else nothing is in the way."""
    rng = random.Random(testkit.seed())
    dut._log.info(f"PENSTOCK_SEED={testkit.seed()}")
    dut.hold_i.value = dut.s_valid_i.value = dut.m_ready_i.value = 0
    await testkit.start(dut)
    waiting = pending = False  # offered and not taken; the source has something
    through = held = 0
    for _ in range(5000):
        await FallingEdge(dut.clk_i)
        if rng.random() < 0.02:
            dut.rst_i.value, waiting, pending, through = 1, False, False, 0
            dut.s_valid_i.value = 0
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 0
        hold = int(dut.hold_i.value) if rng.random() < 0.9 else rng.getrandbits(1)
        pending = pending or rng.random() < 0.6
        dut.hold_i.value, dut.s_valid_i.value, dut.m_ready_i.value = hold, int(pending), int(rng.random() < 0.5)
        await Timer(1, unit="ns")
        valid, ready = int(dut.m_valid_o.value), int(dut.s_ready_o.value)
        taken = bool(valid and int(dut.m_ready_i.value))
        assert not waiting or valid, "an offer was taken back"
        assert taken == bool(pending and ready), "the two sides do not agree"
        if not hold:
            assert valid == pending and ready == int(dut.m_ready_i.value), "something is in the way"
        through = through + taken if hold else 0
        assert through <= 1, "a stream that is held back goes on"
        held += bool(hold and pending and not valid)
        waiting, pending = bool(valid and not taken), pending and not taken
    assert held > 200, held


def test_pst_hold() -> None:
    testkit.run_module("common", "pst_hold")
