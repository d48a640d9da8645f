# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Settings of pst_hierarchy: what was written last is what is read, however soon after it, while gates open at its level or not."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.testing import testkit

QUEUE, SUBSCRIBER, NODE, PORT = range(4)  # pst_hierarchy_pkg::setting_e
INPUTS = (
    "now_i", "s_packet_valid_i", "s_packet_queue_i", "s_packet_payload_i", "s_packet_len_i", "s_packet_empties_i", "m_out_ready_i",
    "done_credits_i", "s_cfg_valid_i", "s_cfg_what_i", "s_cfg_id_i", "s_cfg_shaper_i", "s_cfg_parent_i", "s_cfg_class_i",
    "s_cfg_weight_i", "s_look_valid_i", "s_look_what_i", "s_look_id_i",
)  # fmt: skip


@cocotb.test()
async def random_settings(dut) -> None:
    """One to five settings one right after the other, of few places, so that one is often set again; then looks at some of them."""
    queues, per_subscriber = testkit.parameter("Queues", 64), testkit.parameter("QueuesPerSubscriber", 4)
    ids = {QUEUE: queues, SUBSCRIBER: queues // per_subscriber, NODE: testkit.parameter("Nodes", 2), PORT: testkit.parameter("Ports", 2)}
    parents = {SUBSCRIBER: ids[NODE], NODE: ids[PORT]}
    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    for name in INPUTS:
        getattr(dut, name).value = 0
    await testkit.start(dut)
    now = 0

    async def cycle() -> None:
        nonlocal now
        await FallingEdge(dut.clk_i)
        now += 1
        dut.now_i.value = now

    while not int(dut.init_done_o.value):
        await cycle()
    await cycle()
    set_last: dict[tuple[int, int], dict[str, int]] = {}
    waited = again = 0
    for _ in range(800):
        for _ in range(rng.randrange(64)):  # the walk that looks comes every 64 cycles
            await cycle()
        chosen = []
        for _ in range(rng.randrange(1, 6)):
            what = rng.choice(chosen)[0] if chosen and rng.random() < 0.6 else rng.randrange(4)
            place = what, rng.randrange(min(ids[what], 3))
            shaper = rng.getrandbits(28) << 22 | rng.randrange(64) << 16 | rng.choice([0, 1, rng.getrandbits(16)])
            word = {
                "shaper": shaper, "parent": rng.randrange(parents.get(what, 1)), "class": rng.randrange(4), "weight": rng.randrange(8),
            }  # fmt: skip
            dut.s_cfg_valid_i.value, dut.s_cfg_what_i.value, dut.s_cfg_id_i.value = 1, *place
            for field, value in word.items():
                getattr(dut, f"s_cfg_{field}_i").value = value
            cycles = 0
            await cocotb.triggers.Timer(1, unit="ns")
            while not int(dut.s_cfg_ready_o.value):
                await cycle()
                cycles += 1
                assert cycles < 100, "a setting is not taken"
            await cycle()
            dut.s_cfg_valid_i.value = 0
            again += place in chosen
            waited += cycles > 1  # for a gate that opens
            set_last[place] = word
            chosen.append(place)
        for _ in range(rng.randrange(0, 4)):
            await cycle()
        # The one that was set last, or any.
        for what, number in [chosen[-1], rng.choice(list(set_last))]:
            dut.s_look_valid_i.value, dut.s_look_what_i.value, dut.s_look_id_i.value = 1, what, number
            await cocotb.triggers.Timer(1, unit="ns")
            for _ in range(200):
                if int(dut.m_look_valid_o.value):
                    break
                await cycle()
            assert int(dut.m_look_valid_o.value), "no look is answered"
            found = {field: int(getattr(dut, f"m_look_{field}_o").value) for field in ("shaper", "parent", "class", "weight")}
            fields = {
                QUEUE: ("class", "weight"),
                SUBSCRIBER: ("shaper", "parent", "weight"),
                NODE: ("shaper", "parent"),
                PORT: ("shaper",),
            }[what]
            for field in fields:
                assert found[field] == set_last[what, number][field], (what, number, field, now)
            await cycle()
            dut.s_look_valid_i.value = 0
            await cycle()
    assert waited > 100 and again > 200, (waited, again)


@pytest.mark.parametrize(
    "parameters",
    [
        {"Queues": 64, "QueuesPerSubscriber": 4},
        pytest.param({"Queues": 16, "QueuesPerSubscriber": 1, "Nodes": 4}, marks=pytest.mark.slow),
    ],
)
def test_settings(parameters: dict[str, object]) -> None:
    testkit.run_module("hierarchy", "pst_hierarchy", {"Nodes": 2, "Ports": 2, **parameters})
