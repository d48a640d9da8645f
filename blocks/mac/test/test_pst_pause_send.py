# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_pause_send: frames go through as they are, and what is told between them is what was asked for, at once and again."""

import random

import cocotb
import pytest
from mac_frames import GROUP, beats, cycles, drawn, ends, frames, pause_frame, pfc_frame, quiet, watched

from penstock.testing.testkit import parameter, run_module, seed, start

PFC, REFRESH = parameter("Pfc", 1), parameter("RefreshCycles", 1000)


@pytest.mark.parametrize("pfc", [1, 0], ids=["pfc", "pause"])
def test_pause_send(pfc: int) -> None:
    run_module("mac", "pst_pause_send", {"Pfc": pfc, "RefreshCycles": 100})


@cocotb.test()
async def told_between_frames(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    await quiet(dut)
    address, quanta = rng.randbytes(6), rng.randrange(1, 1 << 16)
    dut.source_i.value, dut.quanta_i.value = int.from_bytes(address, "big"), quanta
    await start(dut)
    source, sink, pins = ends(dut, rng, 0.7, 0.8)
    found: list[dict[str, int]] = []
    cocotb.start_soon(watched(dut, pins))
    cocotb.start_soon(sink.receive(found))
    asked: list[int] = [0]

    async def ask() -> None:
        while True:
            request = rng.choice([0, rng.getrandbits(9), asked[-1] ^ 1 << rng.randrange(9)])
            dut.request_i.value = request
            asked.append(request & 0xFF if PFC else request & 0x100)
            await cycles(dut, rng.choice([1, 5, 60, 150, 500]))

    asking = cocotb.start_soon(ask())
    sent = [drawn(rng) for _ in range(600)]
    for frame in sent:
        await source.send(beats(*frame, 64))
        await cycles(dut, rng.choice([0, 0, 30]))
    asking.cancel()
    request = rng.choice([0x155, 0x1AA])
    dut.request_i.value = request
    await cycles(dut, 50 * REFRESH)
    got = frames(found, 64)
    assert [frame for frame in got if not frame[0].startswith(GROUP)] == sent
    told = [data for data, user in got if data.startswith(GROUP) and not user]
    assert len(told) == len(got) - len(sent)
    # Each frame says what some request was, and ends what the one before had begun.
    before = 0
    for data in told:
        if PFC:
            vector = int.from_bytes(data[16:18], "big")
            now = sum(1 << c for c in range(8) if int.from_bytes(data[18 + 2 * c : 20 + 2 * c], "big"))
            assert data == pfc_frame(address, {c: quanta * (now >> c & 1) for c in range(8) if vector >> c & 1})
            assert vector == now | before and now in asked + [request & 0xFF]
        else:
            now = 0x100 if data[16:18] != b"\0\0" else 0
            assert data == pause_frame(address, quanta * (now >> 8))
        before = now
    assert before == (request & 0xFF if PFC else request & 0x100)
    again = [data for data in told if data == told[-1]]
    assert len(told) > 40 and len(again) > 40, "a request that lasts is told again"
    # Once it is told there is a frame in REFRESH cycles, and no more.
    first = len(found)
    await cycles(dut, 20 * REFRESH)
    assert 18 <= len(found) - first <= 20
    dut.request_i.value = 0
    await cycles(dut, 20)
    first = len(found)
    await cycles(dut, 5 * REFRESH)
    assert len(found) == first, "nothing is told where nothing is asked for"


@cocotb.test()
async def reset_in_mid_traffic(dut) -> None:
    """Behind a reset it is between frames and has told nothing: what is asked for then is told at once, and nothing where nothing is."""
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    await quiet(dut)
    address, quanta = rng.randbytes(6), rng.randrange(1, 1 << 16)
    dut.source_i.value, dut.quanta_i.value = int.from_bytes(address, "big"), quanta
    await start(dut)
    for turn in range(60):
        dut.m_axis_tready_i.value = 1
        dut.request_i.value = rng.choice([0, 0x1FF])
        for _ in range(rng.randrange(1, 12)):
            dut.s_axis_tvalid_i.value, dut.s_axis_tlast_i.value = rng.getrandbits(1), int(rng.random() < 0.3)
            dut.m_axis_tready_i.value = rng.getrandbits(1)
            await cycles(dut, 1)
        request = 0 if turn % 2 else rng.randrange(1, 0x100) | 0x100
        dut.rst_i.value, dut.s_axis_tvalid_i.value, dut.m_axis_tready_i.value = 1, 0, 1
        await cycles(dut, rng.randrange(1, 4))
        dut.rst_i.value, dut.request_i.value = 0, request
        found = []
        for _ in range(10):
            await cycles(dut, 1)
            if int(dut.m_axis_tvalid_o.value):
                found.append(int(dut.m_axis_tdata_o.value).to_bytes(64, "little")[:60])
        wanted = pfc_frame(address, {c: quanta for c in range(8) if request >> c & 1}) if PFC else pause_frame(address, quanta)
        assert found == ([wanted] if request else []), f"reset {turn}"
