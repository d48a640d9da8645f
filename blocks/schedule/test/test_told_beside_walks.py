# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A queue that is told that its packet is through, in whatever cycle of a walk over old stamps: it reads none that is being written."""

import cocotb
from cocotb.triggers import FallingEdge

from penstock.testing import testkit

PARAMETERS = {"Queues": 4, "TimeWidth": 16, "WalkCycles": 8, "Slots": 64, "SlotCycles": 32, "ToleranceCycles": 100, "Hierarchy": 1}
INPUTS = (
    "active_valid", "active_queue", "ret_valid", "ret_queue", "ret_len", "ret_backlogged", "done_valid", "done_queue", "done_slow",
    "done_next_queue", "cfg_valid", "cfg_queue", "cfg_shaper", "look_valid", "look_queue",
)  # fmt: skip
TELLS = 60
AWAY = 9000  # cycles: longer than a stamp lasts, so that walks renew it
MOST_CYCLES = 32  # from the cycle in which it is told until it is asked for a packet


class Bench:
    """One queue, which always has packets."""

    def __init__(self, dut: object) -> None:
        self.dut, self.taken, self._just = dut, 0, 0
        for name in INPUTS:
            getattr(dut, f"s_{name}_i").value = 0
        for name in ("s_drop_i", "credit_i", "s_ahead_room_i"):
            getattr(dut, name).value = 0
        dut.deq_ready_i.value = 1

    async def cycle(self) -> None:
        """A cycle; a packet that was taken in the last one goes."""
        await FallingEdge(self.dut.clk_i)
        taken = int(self.dut.m_deq_take_o.value)
        self.dut.s_ret_valid_i.value = self.dut.credit_i.value = self._just
        self.dut.s_ret_len_i.value, self.dut.s_ret_backlogged_i.value = 100, 1
        self._just = taken
        self.taken += taken


@cocotb.test()
async def told_beside_walks(dut: object) -> None:
    """As soon as ever, whenever it comes."""
    bench = Bench(dut)
    await testkit.start(dut)
    while not int(dut.init_done_o.value):
        await bench.cycle()
    dut.s_active_valid_i.value = 1
    while not int(dut.s_active_ready_o.value):
        await bench.cycle()
    await bench.cycle()
    dut.s_active_valid_i.value = 0
    for _ in range(60):
        await bench.cycle()
    assert bench.taken == 1
    for number in range(TELLS):
        for _ in range(AWAY + number % 37):
            await bench.cycle()
        before = bench.taken
        dut.s_done_valid_i.value = dut.s_done_slow_i.value = 1
        await bench.cycle()
        dut.s_done_valid_i.value = 0
        for _ in range(MOST_CYCLES):
            await bench.cycle()
        assert bench.taken == before + 1, f"told for the {number + 1}. time it is not served in {MOST_CYCLES} cycles"


def test_told_beside_walks() -> None:
    testkit.run_module("schedule", "pst_schedule_shaped", PARAMETERS)
