# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_bridge_receive: whole frames to the stream that they belong to, and one outcome for each, with readers that are slow or quick."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.designs.bridge.testing.bridge_frames import framed, words_of
from penstock.paths import DESIGNS, read_file_list
from penstock.testing.testkit import Stream, parameter, run_module, seed, start, watch_held

OUTCOMES = ("kept", "damaged", "short", "long", "no_room")
LONGEST, DEPTH, BYTES = parameter("LongestBytes", 1536), parameter("Depth", 16384), parameter("Bytes", 1)


@pytest.mark.parametrize(
    ("longest", "depth", "control", "width"),
    [(120, 256, 128, 1), (60, 128, 64, 1), (120, 256, 128, 4), (61, 128, 128, 4), (62, 128, 128, 2)],
)
def test_receive(longest: int, depth: int, control: int, width: int) -> None:
    run_module(
        "bridge", "pst_bridge_receive", {"LongestBytes": longest, "Depth": depth, "ControlDepth": control, "Bytes": width},
        sources=read_file_list(DESIGNS / "bridge" / "rtl" / "bridge.f"),
    )  # fmt: skip


def is_control(frame: bytes) -> bool:
    return frame[:5] == bytes.fromhex("0180c20000") and frame[5] < 16


def drawn(rng: random.Random) -> bytes:
    length = rng.choice([59, 60, LONGEST, LONGEST + 1, rng.randint(1, 2 * LONGEST), rng.randint(60, LONGEST)])
    head = rng.choice([bytes.fromhex("0180c200000e"), bytes.fromhex("0180c2000010"), bytes.fromhex("0180c2000100"), rng.randbytes(6)])
    return (head + rng.randbytes(length))[:length]


@cocotb.test()
async def frames(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    for name in ("s_valid_i", "s_data_i", "s_count_i", "s_last_i", "s_error_i", "m_control_ready_i", "m_frame_ready_i"):
        getattr(dut, name).value = 0
    await start(dut)
    outcomes: list[str] = []

    async def count() -> None:
        while True:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            outcomes.extend(name for name in OUTCOMES if int(getattr(dut, f"{name}_o").value))

    cocotb.start_soon(count())
    total = dict.fromkeys(OUTCOMES, 0)
    for turn in range(4):
        outcomes.clear()
        found: dict[str, list[dict[str, int]]] = {"control": [], "frame": []}
        tasks = []
        for name, items in found.items():
            signals = {key: getattr(dut, f"m_{name}_{key}_o") for key in ("data", "count", "last")}
            pins = (dut.clk_i, getattr(dut, f"m_{name}_valid_o"), getattr(dut, f"m_{name}_ready_i"), signals)
            tasks += [cocotb.start_soon(Stream(*pins, rng.choice([0.3, 0.6]) if turn % 2 else 1.0, rng).receive(items))]
            tasks += [cocotb.start_soon(watch_held(dut.clk_i, dut.rst_i, pins[1], pins[2], signals))]
        sent = [(drawn(rng), rng.random() < 0.15) for _ in range(80)]
        for frame, damaged in sent:
            for word in words_of(frame, BYTES, rng):
                await FallingEdge(dut.clk_i)
                dut.s_valid_i.value, dut.s_data_i.value, dut.s_count_i.value = 1, word["data"], word["count"]
                dut.s_last_i.value, dut.s_error_i.value = word["last"], int(damaged and word["last"])
            for _ in range(rng.choice([0, 1, 1, 30])):
                await FallingEdge(dut.clk_i)
                dut.s_valid_i.value = 0
        await FallingEdge(dut.clk_i)
        dut.s_valid_i.value = 0
        for _ in range(8 * DEPTH):
            await FallingEdge(dut.clk_i)
        wanted: dict[str, list[bytes]] = {"control": [], "frame": []}
        assert len(outcomes) == len(sent)
        for (frame, damaged), outcome in zip(sent, outcomes, strict=True):
            total[outcome] += 1
            wrong = "damaged" if damaged else "short" if len(frame) < 60 else "long" if len(frame) > LONGEST else None
            assert outcome == wrong if wrong else outcome in (("kept", "no_room") if turn % 2 else ("kept",)), (outcome, wrong, len(frame))
            if outcome == "kept":
                wanted["control" if is_control(frame) else "frame"].append(frame)
        for name, items in found.items():
            assert framed(items, BYTES) == wanted[name], name
        for task in tasks:
            task.cancel()
    assert all(total.values()), total
