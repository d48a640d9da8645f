"""pst_access_edge_scan: the whole table of a scan is shown, and nothing beyond it."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.paths import DESIGNS, block_file_list, read_file_list
from penstock.testing.testkit import parameter, run_module, seed, start

SOURCES = [
    *read_file_list(block_file_list("count")),
    DESIGNS / "access_edge/rtl/pst_access_edge_scan.sv",
]


@pytest.mark.parametrize("parameters", [{"Queues": 200, "Busiest": 64}, {"Queues": 40, "Busiest": 6}, {"Queues": 16, "Busiest": 1}])
def test_each_place_is_shown(parameters: dict[str, object]) -> None:
    run_module("access_edge", "pst_access_edge_scan", parameters, sources=SOURCES)


@cocotb.test()
async def places(dut) -> None:
    """Of random backlogs, equal ones and 0 among them, a place shows what a sort has there; those beyond the table show 0."""
    rng, queues, keep = random.Random(seed()), parameter("Queues", 16), parameter("Busiest", 0)
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    for name in (
        "s_start_valid_i",
        "show_i",
        "s_index_i",
        "s_out_valid_i",
        "s_look_valid_i",
        "m_read_out_ready_i",
        "s_answer_out_valid_i",
        "s_answer_out_bytes_i",
        "m_ask_look_ready_i",
        "s_answer_look_valid_i",
        "s_answer_look_bytes_i",
    ):
        getattr(dut, name).value = 0
    dut.s_start_level_i.value = 1
    await start(dut)
    for _ in range(200):  # the memory is cleared
        await FallingEdge(dut.clk_i)
    backlogs = [rng.choice([0, 7, rng.randrange(1 << 20)]) for _ in range(queues)]
    dut.s_start_valid_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.s_start_valid_i.value = 0
    dut.m_ask_look_ready_i.value = 1
    due: list[int | None] = [None, None]  # an answer comes two cycles after its read
    for _ in range(20 * queues):
        dut.s_answer_look_valid_i.value = due[0] is not None
        dut.s_answer_look_bytes_i.value = backlogs[due[0]] if due[0] is not None else 0
        due = [due[1], int(dut.m_look_index_o.value) if int(dut.m_ask_look_valid_o.value) else None]
        await FallingEdge(dut.clk_i)
    assert not int(dut.busy_o.value)
    table = sorted(((queue, value) for queue, value in enumerate(backlogs) if value), key=lambda entry: -entry[1])[:keep]
    for place in range(256):
        dut.show_i.value = place
        await FallingEdge(dut.clk_i)
        shown, value = int(dut.shown_queue_o.value), int(dut.shown_value_o.value)
        if place < len(table):
            assert (shown, value) == table[place], place
        else:
            assert value == 0 and (place < keep or shown == 0), place
