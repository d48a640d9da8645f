# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_pause_gate: no frame begins while it is paused, none is cut, an offer stays, and all of them come out in order; a reset
is between frames."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from penstock.testing.testkit import run_module, seed, start


def test_pause_gate() -> None:
    run_module("mac", "pst_pause_gate", {})


@cocotb.test()
async def between_frames(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    for name in ("pause", "s_valid", "s_last", "s_class", "m_ready"):
        getattr(dut, f"{name}_i").value = 0
    await start(dut)
    source, within, offered, pause, held, forgotten = None, False, False, 0, 0, 0
    for _ in range(20_000):
        await FallingEdge(dut.clk_i)
        if rng.random() < 0.1:
            pause = rng.choice([0, 0, 1 << 8, rng.getrandbits(8), rng.getrandbits(9)])
        source = source or ((rng.randrange(8), rng.getrandbits(1)) if rng.random() < 0.7 else None)
        klass, last = source or (rng.randrange(8), rng.getrandbits(1))
        ready, reset = rng.getrandbits(1), rng.random() < 0.03
        for name, value in (
            ("rst", int(reset)),
            ("pause", pause),
            ("s_valid", int(source is not None)),
            ("s_last", last),
            ("s_class", klass),
            ("m_ready", ready),
        ):
            getattr(dut, f"{name}_i").value = value
        await Timer(1, unit="ns")
        stopped = not within and not offered and bool(pause >> 8 or pause >> klass & 1)
        assert int(dut.m_valid_o.value) == (source is not None and not stopped)
        assert int(dut.s_ready_o.value) == (ready and not stopped)
        held += stopped and source is not None
        offered = source is not None and not stopped and not ready
        if source and not stopped and ready:
            within, source = not last, None
        if reset:  # what was on offer may be another frame's in the next cycle
            forgotten += within or offered
            within = offered = False
    assert held > 1000 and forgotten > 50
