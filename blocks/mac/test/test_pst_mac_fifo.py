# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_mac_fifo: whole frames or nothing, no byte changed, dropped ones counted; a MAC that cannot wait, and one that must not starve."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from mac_frames import beats, cycles, drawn, ends, frames, quiet, watched

from penstock.testing.testkit import parameter, run_module, seed, start

WAITS, DEPTH, WIDTH = parameter("Waits", 0), parameter("DepthBeats", 512), parameter("DataBytes", 64)


@pytest.mark.parametrize("waits", [0, 1], ids=["receive", "send"])
def test_mac_fifo(waits: int) -> None:
    run_module("mac", "pst_mac_fifo", {"Waits": waits, "DepthBeats": 16, "UserWidth": 3})


@pytest.mark.parametrize("waits", [0, 1], ids=["receive", "send"])
def test_narrow(waits: int) -> None:
    run_module("mac", "pst_mac_fifo", {"Waits": waits, "DepthBeats": 64, "DataBytes": 8, "UserWidth": 3})


@cocotb.test()
async def whole_frames(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    await quiet(dut)
    await start(dut)
    for turn in range(4):
        source, sink, pins = ends(dut, rng, rng.choice([0.6, 1.0]), rng.choice([0.2, 0.9, 1.0]) if turn else 0.2)
        watch, found, pulses = cocotb.start_soon(watched(dut, pins)), [], 0
        taking = cocotb.start_soon(sink.receive(found))
        within = False

        async def look() -> None:
            """Within a frame there is never a gap; each dropped frame is one pulse; a MAC that cannot wait never has to."""
            nonlocal within, pulses
            while True:
                await FallingEdge(dut.clk_i)
                await ReadOnly()
                valid = int(dut.m_axis_tvalid_o.value)
                assert valid or not within, "a gap in a frame"
                if valid and int(dut.m_axis_tready_i.value):
                    within = not int(dut.m_axis_tlast_o.value)
                pulses += int(dut.overflow_o.value)
                assert WAITS or int(dut.s_axis_tready_o.value)

        looking = cocotb.start_soon(look())
        sent = [drawn(rng, 3, WIDTH * DEPTH) for _ in range(150)]
        sent += [(rng.randbytes(WIDTH * DEPTH + rng.choice([1, 100, 3000])), 0) for _ in range(5)]  # longer than the store
        rng.shuffle(sent)
        for frame in sent:
            await source.send(beats(*frame, WIDTH))
            await cycles(dut, rng.choice([0, 0, 0, 40]))
        await cycles(dut, 20 * DEPTH)
        got = frames(found, WIDTH)
        rest = iter(sent)
        assert all(frame in rest for frame in got), "a frame came out that did not go in, or in another order"
        dropped = len(sent) - len(got)
        assert dropped == pulses == int(dut.dropped_o.value)
        fits = [frame for frame in sent if len(frame[0]) <= WIDTH * DEPTH]
        assert got == fits if WAITS else dropped >= 5
        assert WAITS or turn or dropped > 5, "nothing was dropped for want of room"
        assert len(got) > 20
        for task in (watch, taking, looking):
            task.cancel()
        await source.send(beats(bytes(WIDTH * 4), 0, WIDTH)[:-1])  # reset in the middle of a frame
        dut.rst_i.value = 1
        dut.m_axis_tready_i.value = 0
        await cycles(dut, 2)
        dut.rst_i.value = 0
        assert not int(dut.dropped_o.value)
