# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_bridge_settings: writes and reads at random beside a walk that goes on, compared with a list."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from penstock.hardware import bridge_setting as setting
from penstock.paths import DESIGNS, read_file_list
from penstock.testing.testkit import parameter, run_module, seed, start

QUEUES = parameter("Queues", 16)
UNSHAPED = setting.packed(setting.UNSHAPED)


@pytest.mark.parametrize("queues, given", [(16, setting.packed(setting.UNSHAPED)), (2, setting.value(50_000_000, 62_500_000))])
def test_settings(queues: int, given: int) -> None:
    files = read_file_list(DESIGNS / "bridge" / "rtl" / "bridge.f")
    run_module("bridge", "pst_bridge_settings", {"Queues": queues, "Setting": setting.literal(given)}, sources=files)


@cocotb.test()
async def like_a_list(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    first = UNSHAPED if QUEUES == 16 else setting.value(50_000_000, 62_500_000)
    dut.access_i.value, dut.queue_i.value, dut.shape_i.value = 0, 0, 1
    await start(dut)
    now = [first] * QUEUES
    walk, taken, idle = 0, 0, 0
    asked: int | None = None
    shape, busy, before = 1, 0, list(now)
    for _ in range(4000):
        await FallingEdge(dut.clk_i)
        assert int(dut.back_valid_o.value) == (asked is not None)
        if asked is not None:
            assert int(dut.back_o.value) == asked
        # The walk may get the setting of the cycle before, and gets it unless accesses take every cycle.
        if int(dut.setting_valid_o.value):
            assert int(dut.setting_o.value) == (before[walk] if shape else UNSHAPED)
            taken, idle = taken + 1, 0
            if rng.random() < 0.5:
                walk = (walk + 1) % QUEUES
                dut.queue_i.value = walk
                await Timer(1, unit="ps")
                assert not int(dut.setting_valid_o.value), "the setting of the queue before"
        else:
            idle += 1
            assert idle <= 2 + busy
        shape = int(rng.random() < 0.9)
        dut.shape_i.value = shape
        kind, queue, value = rng.choice(["write", "read", "", "", ""]), rng.randrange(QUEUES), rng.getrandbits(setting.BITS)
        busy = busy + 1 if kind else 0
        before = list(now)
        asked = now[queue] if kind == "read" else None
        if kind == "write":
            now[queue] = value
        word = (kind == "write") << 1 | (kind == "read")
        dut.access_i.value = (word << 12 | queue) << setting.BITS | value
    assert taken > 1000
