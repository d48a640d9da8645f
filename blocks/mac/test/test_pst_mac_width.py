# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_mac_width: every byte of every frame, damage anywhere in it, in both directions."""

import random

import cocotb
import pytest
from cocotb.utils import get_sim_time
from mac_frames import beats, cycles, drawn, ends, frames, quiet, watched

from penstock.testing.testkit import parameter, run_module, seed, start

IN, OUT = parameter("InBytes", 8), parameter("OutBytes", 64)


@pytest.mark.parametrize("widths", [(8, 64), (64, 8), (32, 64), (4, 2)], ids=lambda widths: f"{widths[0]}-to-{widths[1]}")
def test_mac_width(widths: tuple[int, int]) -> None:
    run_module("mac", "pst_mac_width", {"InBytes": widths[0], "OutBytes": widths[1], "UserWidth": 2})


@cocotb.test()
async def every_byte(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    await quiet(dut)
    await start(dut)
    for _ in range(4):
        source, sink, pins = ends(dut, rng, rng.choice([0.5, 1.0]), rng.choice([0.3, 1.0]))
        found: list[dict[str, int]] = []
        tasks = [cocotb.start_soon(watched(dut, pins)), cocotb.start_soon(sink.receive(found))]
        wanted = []
        for _ in range(80):
            data, user = drawn(rng, 2, 300)
            made = beats(data, user, IN)
            if rng.random() < 0.1 and IN < OUT:  # damaged in the middle
                rng.choice(made)["tuser"] |= 1
                user |= 1
            wanted.append((data, user))
            await source.send(made)
        await cycles(dut, 300 * max(IN, OUT) // OUT)
        assert frames(found, OUT) == wanted
        for task in tasks:
            task.cancel()
        dut.m_axis_tready_i.value = 1
        await source.send(beats(bytes(IN * 3), 0, IN)[:-1])
        dut.rst_i.value = 1
        dut.m_axis_tready_i.value = 0
        await cycles(dut, 2)
        dut.rst_i.value = 0


@cocotb.test()
async def a_beat_per_cycle(dut) -> None:
    """Where nobody waits, the narrower side has a beat in each cycle."""
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    await quiet(dut)
    await start(dut)
    source, sink, _ = ends(dut, rng, 1.0, 1.0)
    found: list[dict[str, int]] = []
    cocotb.start_soon(sink.receive(found))
    sent = [drawn(rng, 2, 300) for _ in range(60)]
    made = [beat for data, user in sent for beat in beats(data, user, IN)]
    begun = get_sim_time("ns")
    await source.send(made)
    taken = (get_sim_time("ns") - begun) / 10
    await cycles(dut, 2 * max(IN, OUT) // OUT + 2)
    assert frames(found, OUT) == sent
    narrow = sum(-(-len(data) // min(IN, OUT)) for data, _ in sent)
    assert narrow - IN // OUT <= taken <= narrow + 3, f"{narrow} beats took {taken} cycles"
