# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_bridge_store: frames that are sent, dropped on both ways or find no cell, in any order; every byte, and every cell comes back."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.paths import DESIGNS, read_file_list
from penstock.testing.testkit import Stream, parameter, run_module, seed, start, watch_held

CELLS = parameter("Cells", 0)


@pytest.mark.parametrize("cells", [12, 64])
def test_store(cells: int) -> None:
    run_module("bridge", "pst_bridge_store", {"Cells": cells}, sources=read_file_list(DESIGNS / "bridge" / "rtl" / "bridge.f"))


def cells_of(frame: bytes) -> int:
    return -(-len(frame) // 64)


@cocotb.test()
async def frames(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    inputs = ["s_word_valid_i", "s_word_i", "m_stored_ready_i", "s_send_valid_i", "s_send_desc_i", "s_send_len_i", "m_word_ready_i"]
    for name in [*inputs, "s_drop_valid_i", "s_drop_desc_i"]:
        getattr(dut, name).value = 0
    await start(dut)
    stored = {"desc": dut.m_stored_desc_o, "about": dut.m_stored_about_o}
    lost = 0

    async def count() -> None:
        nonlocal lost
        while True:
            await FallingEdge(dut.clk_i)
            lost += int(dut.no_room_o.value)

    cocotb.start_soon(count())
    all_lost = all_dropped = 0
    for turn in range(6):
        lost = 0
        quick = turn % 2 == 0  # the reader is: little is lost then
        announced: list[dict[str, int]] = []
        words: list[dict[str, int]] = []
        rates = (rng.choice([0.3, 1.0]), 1.0) if quick else (1.0, rng.choice([0.1, 0.3]))
        source = Stream(dut.clk_i, dut.s_word_valid_i, dut.s_word_ready_o, {"word": dut.s_word_i}, rates[0], rng)
        sink = Stream(dut.clk_i, dut.m_word_valid_o, dut.m_word_ready_i, {"word": dut.m_word_o}, rates[1], rng)
        tasks = [
            cocotb.start_soon(sink.receive(words)),
            cocotb.start_soon(Stream(dut.clk_i, dut.m_stored_valid_o, dut.m_stored_ready_i, stored, 0.6, rng).receive(announced)),
            cocotb.start_soon(watch_held(dut.clk_i, dut.rst_i, dut.m_stored_valid_o, dut.m_stored_ready_i, stored)),
            cocotb.start_soon(watch_held(dut.clk_i, dut.rst_i, dut.m_word_valid_o, dut.m_word_ready_i, {"word": dut.m_word_o})),
        ]
        longest = min(64 * CELLS + 70, 1536)  # longer ones than all of the memory
        sent = [rng.randbytes(rng.choice([60, 64, 65, 128, rng.randint(1, longest)])) for _ in range(60)]
        wanted: list[bytes] = []
        seen = 0

        async def decide(sent=sent, wanted=wanted, announced=announced, quick=quick) -> None:
            """Send or drop what was announced, in any order."""
            nonlocal seen, all_dropped
            waiting: list[tuple[int, int]] = []
            sending: list[int] = []
            dropping: list[int] = [-1, -1]
            while True:
                await FallingEdge(dut.clk_i)
                waiting += [(item["desc"], item["about"]) for item in announced[seen:]]
                seen = len(announced)
                if not sending and waiting and rng.random() < 0.5:
                    desc, about = waiting.pop(rng.randrange(len(waiting)))
                    frame = sent[about >> 14]
                    assert about & 16383 == len(frame)
                    wanted.append(frame)
                    sending.append(desc)
                    dut.s_send_desc_i.value, dut.s_send_len_i.value = desc, len(frame)
                dut.s_send_valid_i.value = len(sending)
                for way in range(2):
                    if dropping[way] < 0 and waiting and rng.random() < (0.02 if quick else 0.002):
                        dropping[way] = waiting.pop(rng.randrange(len(waiting)))[0]
                        all_dropped += 1
                width = (CELLS - 1).bit_length()
                dut.s_drop_valid_i.value = sum(1 << way for way in range(2) if dropping[way] >= 0)
                dut.s_drop_desc_i.value = sum(max(0, dropping[way]) << width * way for way in range(2))
                await ReadOnly()
                if sending and int(dut.s_send_ready_o.value):
                    sending.clear()
                taken = int(dut.s_drop_ready_o.value)
                for way in range(2):
                    if taken >> way & 1:
                        dropping[way] = -1

        tasks.append(cocotb.start_soon(decide()))
        for index, frame in enumerate(sent):
            data = [int.from_bytes(frame[place : place + 8], "little") for place in range(0, len(frame), 8)]
            await source.send({"word": word} for word in [*data, 1 << 64 | index << 14 | len(frame)])
        for _ in range(40_000):
            await FallingEdge(dut.clk_i)
            if int(dut.free_cells_o.value) == CELLS:
                break
        for _ in range(20):
            await FallingEdge(dut.clk_i)
        assert int(dut.free_cells_o.value) == CELLS, "cells are lost"
        found, part = [], b""
        for item in words:
            size = (item["word"] >> 64 & 7) + 1
            part += (item["word"] & (1 << 8 * size) - 1).to_bytes(size, "little")
            if item["word"] >> 67:
                found.append(part)
                part = b""
        assert not part and found == wanted
        assert lost + len(announced) == len(sent)
        assert [item["about"] >> 14 for item in announced] == sorted(item["about"] >> 14 for item in announced)
        all_lost += lost
        for task in tasks:
            task.cancel()
        dut.s_send_valid_i.value = dut.s_drop_valid_i.value = dut.m_stored_ready_i.value = 0
    assert all_lost > 10 and all_dropped > 10, (all_lost, all_dropped)
