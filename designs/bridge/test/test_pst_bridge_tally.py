# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_bridge_tally between its three clocks: each frame that it is told of is counted once, with its bytes, and the PHY's state follows."""

import random
from collections import Counter

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

from penstock.hardware.bridge_registers import contract
from penstock.paths import DESIGNS, read_file_list
from penstock.testing.testkit import parameter, run_module, seed

COUNTERS = contract()["enums"]["counter"]
RECEIVED = {"damaged": "bad_frame", "short": "runt", "long": "oversize", "no_room": "no_room", "kept": "in"}
QUEUES = {"no_cell": "no_page", "overflow": "flow_overflow", "codel": "aqm"}


BYTES = parameter("Bytes", 1)


@pytest.mark.parametrize("width", [1, 4])
def test_tally(width: int) -> None:
    run_module("bridge", "pst_bridge_tally", {"Bytes": width}, sources=read_file_list(DESIGNS / "bridge" / "rtl" / "bridge.f"))


async def receiver(dut, rng: random.Random, told: Counter[tuple[int, int]], count: int) -> None:
    """Frames end as close as frames of no bytes would: preamble, gap, and a byte."""
    for _ in range(count):
        await FallingEdge(dut.rx_clk_i)
        pulse, length, control = rng.choice(list(RECEIVED)), rng.randrange(1, 1538), rng.randrange(2)
        getattr(dut, f"{pulse}_i").value, dut.len_i.value, dut.control_i.value = 1, length, control
        name = "control" if control and pulse == "kept" else RECEIVED[pulse]
        told[COUNTERS[name], length] += 1
        await FallingEdge(dut.rx_clk_i)
        getattr(dut, f"{pulse}_i").value, dut.len_i.value = 0, rng.randrange(2048)
        for _ in range(rng.choice([9, 9, 9, rng.randrange(9, 100)])):
            await FallingEdge(dut.rx_clk_i)


async def transmitter(dut, rng: random.Random, told: Counter[tuple[int, int]], count: int) -> None:
    for _ in range(count):
        length = rng.choice([60, rng.randint(60, 300)])
        left = length
        while left:
            await FallingEdge(dut.tx_clk_i)
            dut.sent_i.value = sent = int(rng.random() < 0.9)
            part = min(left, BYTES)
            dut.sent_last_i.value = int(left == part) if sent else rng.randrange(2)
            dut.sent_count_i.value = part - 1 if sent else rng.randrange(BYTES)
            left -= sent * part
        told[COUNTERS["out"], length] += 1
        await FallingEdge(dut.tx_clk_i)
        dut.sent_i.value = 0
        for _ in range(20):
            await FallingEdge(dut.tx_clk_i)


async def queues(dut, rng: random.Random, told: Counter[tuple[int, int]], count: int) -> None:
    """All three at once now and then; some frames in a row are dropped in a few cycles."""
    for _ in range(count):
        await FallingEdge(dut.clk_i)
        for pulse, name in QUEUES.items():
            length, now = rng.randrange(60, 1537), int(rng.random() < 0.4)
            getattr(dut, f"{pulse}_i").value, getattr(dut, f"{pulse}_len_i").value = now, length
            if now:
                told[COUNTERS[name], length] += 1
        await FallingEdge(dut.clk_i)
        for pulse in QUEUES:
            getattr(dut, f"{pulse}_i").value = 0
        for _ in range(rng.choice([3, 3, 3, 60])):
            await FallingEdge(dut.clk_i)


async def counters(dut, rng: random.Random, found: Counter[tuple[int, int]]) -> None:
    """Take every other one at least, as the other direction has its turn."""
    waits = 0
    while True:
        await FallingEdge(dut.clk_i)
        ready = int(waits >= 1 or rng.random() < 0.6)
        dut.m_count_ready_i.value = ready
        waits = 0 if ready else waits + 1
        await Timer(1, unit="ps")
        if int(dut.m_count_valid_o.value) and ready:
            word = int(dut.m_count_o.value)
            found[word >> 14, word & 16383] += 1


@cocotb.test()
async def all_is_counted(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    for name in (
        *RECEIVED,
        *QUEUES,
        *(f"{pulse}_len" for pulse in QUEUES),
        "control",
        "len",
        "sent",
        "sent_last",
        "sent_count",
        "m_count_ready",
    ):
        getattr(dut, f"{name}_i").value = 0
    phy = rng.randrange(16)
    dut.phy_i.value = phy
    clocks = {}
    for name in ("phy", "rx", "tx", ""):
        period = 16000 if not name else 8000 + rng.randrange(-2, 3)
        getattr(dut, f"{name}{'_' * bool(name)}rst_i").value = 1
        clocks[name] = Clock(getattr(dut, f"{name}{'_' * bool(name)}clk_i"), period, unit="ps", period_high=period // 2)
        clocks[name].start()
    await Timer(200, unit="ns")
    for name in ("phy_rst_i", "rx_rst_i", "tx_rst_i", "rst_i"):
        getattr(dut, name).value = 0
    await Timer(200, unit="ns")
    told: Counter[tuple[int, int]] = Counter()
    found: Counter[tuple[int, int]] = Counter()
    cocotb.start_soon(counters(dut, rng, found))
    tasks = [cocotb.start_soon(task(dut, rng, told, count)) for task, count in ((receiver, 600), (transmitter, 60), (queues, 300))]
    for task in tasks:
        await task
    await Timer(2, unit="us")
    assert int(dut.link_o.value) == 16 | phy
    assert found == told and len(told) > 900

    dut.phy_i.value = phy ^ 15
    await Timer(1, unit="us")
    assert int(dut.link_o.value) == 16 | phy ^ 15
    clocks["phy"].stop()
    await Timer(4000 * 16, unit="ns")
    assert int(dut.link_o.value) == 16 | phy ^ 15, "a clock that was missing for less than 4,096 cycles"
    await Timer(200 * 16, unit="ns")
    assert int(dut.link_o.value) == 0, "no clock"
    assert found == told
