# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_deadline_port at its pins: what stands beside which beat of a frame. All else is tested in the engine (test_deadline_port.py)."""

import random
from collections import Counter

import cocotb
import pytest
from cocotb.triggers import FallingEdge, with_timeout

from penstock.hardware import library
from penstock.testing import testkit
from penstock.testing.testkit import parameter, run_module, seed

BEAT, CLASSES, BAD_FRAME = 64, 16, 4
SMALL = {"Classes": CLASSES, "ClassFromUser": 1, "ChunkBeats": 8, "Chunks": 256, "Places": 8, "Lines": 8, "Reads": 8, "Writes": 4,
         "StoreBeats": 64, "TickCycles": 100, "Stamps": 16}  # fmt: skip


@pytest.mark.parametrize("plain", [0, pytest.param(1, marks=pytest.mark.slow)], ids=["edfr", "fifo"])
def test_class_beside_the_first_beat(plain: int) -> None:
    run_module("deadline_port", "pst_deadline_port", {**SMALL, "PlainFifo": plain}, sources=library.sources_of("pst_deadline_port"))


def beats(rng: random.Random, data: bytes, class_id: int, user: int, bad: bool, hole: int | None) -> list[dict[str, int]]:
    """The beats of a frame: its class at the first, its bits and whether it is damaged at the last, and noise at all others; of beat
    `hole` some bytes are not kept."""
    out = []
    for start in range(0, len(data), BEAT):
        part, first, last = data[start : start + BEAT], start == 0, start + BEAT >= len(data)
        klass = class_id if first else rng.randrange(rng.choice((CLASSES, 256)))
        own, damaged = (user, int(bad)) if last else (rng.getrandbits(16), rng.getrandbits(1))
        keep = (1 << len(part)) - 1
        if hole == start // BEAT:
            bit = rng.randrange(BEAT - 1)
            keep = keep & (1 << bit) - 1 if not last and rng.random() < 0.3 else 1 << BEAT - 1 | keep & ~(1 << bit)
        out.append({
            "tdata": int.from_bytes(part, "little"), "tkeep": keep, "tlast": int(last),
            "tuser": klass << 17 | own << 1 | damaged,
        })  # fmt: skip
    return out


@cocotb.test()
async def first_beat_says_the_class(dut) -> None:
    """Each frame has the class of its first beat; where that is none it is a damaged one of class 0, whatever later beats have."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    for name in dir(dut):
        if name.endswith("_i") and name not in ("clk_i", "rst_i"):
            getattr(dut, name).value = 0
    await testkit.start(dut)
    while not int(dut.init_done_o.value):
        await FallingEdge(dut.clk_i)
    dut.m_axis_tready_i.value = 1
    pins = {name: getattr(dut, f"s_axis_{name}_i") for name in ("tdata", "tkeep", "tlast", "tuser")}
    source = testkit.Stream(dut.clk_i, dut.s_axis_tvalid_i, dut.s_axis_tready_o, pins, 0.7, random.Random(rng.random()))
    wanted: Counter[tuple[int, int, bytes]] = Counter()
    refused, got, dropped = Counter(), Counter(), Counter()

    async def watch() -> None:
        data = b""
        while True:
            await FallingEdge(dut.clk_i)
            if int(dut.m_axis_tvalid_o.value):
                data += int(dut.m_axis_tdata_o.value).to_bytes(BEAT, "little")[: int(dut.m_axis_tkeep_o.value).bit_count()]
                if int(dut.m_axis_tlast_o.value):
                    got[int(dut.m_axis_tid_o.value), int(dut.m_axis_tuser_o.value), data] += 1
                    data = b""
            if int(dut.ev_in_valid_o.value):
                dropped[int(dut.ev_in_reason_o.value), int(dut.ev_in_class_o.value), int(dut.ev_in_len_o.value)] += 1

    cocotb.start_soon(watch())
    fields = 8 if parameter("PlainFifo", 0) else 16
    for _ in range(80):
        class_id, data = rng.randrange(rng.choice((CLASSES, 256))), rng.randbytes(rng.choice((60, 64, 65, 128, 300)))
        user, bad = rng.getrandbits(16), rng.random() < 0.1
        count = -(-len(data) // BEAT)
        hole = rng.randrange(count) if rng.random() < 0.1 else None
        if bad or class_id >= CLASSES or hole is not None:
            # A beat with a hole counts as a full one.
            refused[BAD_FRAME, class_id if class_id < CLASSES else 0, count * BEAT if hole == count - 1 else len(data)] += 1
        else:
            wanted[class_id, user & (1 << fields) - 1, data] += 1
        await with_timeout(source.send(beats(rng, data, class_id, user, bad, hole)), 20, "us")
        for _ in range(20):  # light load: the memory is not needed
            await FallingEdge(dut.clk_i)
    for _ in range(2000):
        await FallingEdge(dut.clk_i)
    assert refused and dropped == refused, f"dropped that should not be: {dropped - refused}, not dropped: {refused - dropped}"
    assert wanted and got == wanted, f"came: {[key[:2] for key in got - wanted]}, missing: {[key[:2] for key in wanted - got]}"
