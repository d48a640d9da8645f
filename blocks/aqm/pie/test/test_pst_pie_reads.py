"""pst_pie: settings are read back while updates take nearly every cycle."""

import random

import cocotb
from cocotb.triggers import FallingEdge, Timer

from penstock.testing import testkit

SHAPE = {"Queues": 1008, "UpdateTicks": 4}  # an update of 1,008 cycles every 1,024
TICK = 256  # cycles
AFTER = 256  # cycles for which a read waits before it takes the place of an update


@cocotb.test()
async def reads_between_updates(dut) -> None:
    """A read-back waits 260 cycles at most; each queue is updated once in each round, in turn, whatever is read."""
    rng = random.Random(testkit.seed())
    dut._log.info(f"PENSTOCK_SEED={testkit.seed()}")
    for name in ("now_i", "s_enq_valid_i", "s_take_valid_i", "s_cfg_valid_i", "s_read_valid_i"):
        getattr(dut, name).value = 0
    await testkit.start(dut)
    updated: list[int] = []
    now = 0

    async def cycle() -> None:
        nonlocal now
        await FallingEdge(dut.clk_i)
        now += 1
        dut.now_i.value = now // TICK
        if int(dut.ev_update_valid_o.value):
            updated.append(int(dut.ev_update_queue_o.value))

    while not int(dut.init_done_o.value):
        await cycle()
    settings = {}
    for queue in rng.sample(range(SHAPE["Queues"]), 30):
        settings[queue] = rng.getrandbits(len(dut.s_cfg_i))
        dut.s_cfg_valid_i.value, dut.s_cfg_queue_i.value, dut.s_cfg_i.value = 1, queue, settings[queue]
        await cycle()
    dut.s_cfg_valid_i.value = 0
    seen = {}
    longest = 0
    for queue in settings:
        for _ in range(rng.randrange(1200)):
            await cycle()
        dut.s_read_valid_i.value, dut.s_read_queue_i.value = 1, queue
        waited = 0
        while True:
            await Timer(1, unit="ns")
            if int(dut.m_read_valid_o.value):
                break
            await cycle()
            waited += 1
        seen[queue] = int(dut.m_read_cfg_o.value)
        longest = max(longest, waited)
        await cycle()
        dut.s_read_valid_i.value = 0
    dut._log.info(f"the longest wait was {longest} cycles")
    assert AFTER <= longest <= AFTER + 5, longest
    assert updated == [place % SHAPE["Queues"] for place in range(len(updated))], "a queue was not updated in its turn"
    assert len(updated) > 10 * SHAPE["Queues"]
    # Of a time those bits are kept that the module has; the AQM's flags are whole.
    written = {queue: value >> len(dut.s_cfg_i) - 2 for queue, value in settings.items()}
    assert {queue: value >> len(dut.s_cfg_i) - 2 for queue, value in seen.items()} == written
    assert len(set(seen.values())) > 20


def test_read_backs() -> None:
    testkit.run_module("aqm/pie", "pst_pie", SHAPE)
