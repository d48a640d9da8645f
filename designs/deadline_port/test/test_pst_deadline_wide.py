# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_deadline_wide at its pins: random segmented frames, settings and counters by registers, drained and reset beside its memories."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from device_bench import DeviceBench

from penstock.designs.deadline_port import registers
from penstock.hardware import library
from penstock.testing import testkit

TWO = {"Columns": 2, "RunFrames": 2, "Classes": 3, "ClassFromUser": 1, "ChunkBeats": 8, "Memories": 4, "Chunks": 128, "Places": 8,
       "Lines": 4, "Reads": 4, "Writes": 4, "MaxFrameBytes": 1518, "DealRows": 64, "DealLists": 32, "DealRecords": 64, "GatherRows": 256,
       "StoreBeats": 64, "TickCycles": 100, "Stamps": 64, "DefaultCycles": 6000}  # fmt: skip
FOUR = {**TWO, "Columns": 4, "RunFrames": 8, "Classes": 5, "ClassFromUser": 0, "Memories": 4, "Chunks": 256, "DealLists": 16}


@pytest.mark.parametrize("parameters", [TWO, pytest.param(FOUR, marks=pytest.mark.slow)], ids=["2", "4"])
def test_pst_deadline_wide(parameters: dict) -> None:
    inside = ("pst_deadline_wide.word_valid", "pst_deadline_wide.word_ready")
    testkit.run_module("deadline_port", "pst_deadline_wide", parameters, sources=library.sources_of("pst_deadline_wide"), inside=inside)


async def begin(dut) -> DeviceBench:
    bench = DeviceBench(dut, random.Random(testkit.seed()))
    dut._log.info("PENSTOCK_SEED=%d", testkit.seed())
    bench.idle()
    bench.bus()
    await testkit.start(dut)
    cocotb.start_soon(bench.memory.run())
    await bench.ready()
    await bench.set_table()
    return bench


def some(bench: DeviceBench, most: int | None = None) -> None:
    """Add a frame of any kind."""
    rng = bench.rng
    length = min(bench.longest, rng.choice((60, 64, 64, 65, 128, rng.randint(60, 300), rng.randint(60, bench.longest))))
    if rng.random() < 0.03:
        length = rng.choice((1, 59, bench.longest + 1))
    bench.add(rng.randrange(most or bench.classes), length, rng.random() < 0.06)


async def beside(bench: DeviceBench, task):
    """Run cycles with traffic until a task is done, and return its result."""
    done = cocotb.start_soon(task)
    while not done.done():
        while len(bench.input) < bench.columns + 2:
            some(bench)
        await bench.cycle()
    return done.result()


async def judge(bench: DeviceBench) -> None:
    """At rest: the counters of each class, and those by reason, are what the events and frames have been, to the byte."""
    for class_id, amounts in enumerate(bench.amounts):
        found = await bench.snapshot(class_id)
        assert found == {**amounts, "queued": (0, 0)}, f"class {class_id}: {found}, not {amounts}"
    reasons = {
        **bench.reasons,
        **{registers.contract()["reasons"][reason]["number"]: tuple(sum(amounts[name][i] for amounts in bench.amounts) for i in (0, 1))
           for reason, name in (("no_page", "no_page"), ("missed", "missed"), ("read_error", "lost"))},
    }  # fmt: skip
    for name, entry in registers.contract()["reasons"].items():
        if f"dropped_{name}_packets" not in registers.table():
            continue
        found = await bench.read(f"dropped_{name}_packets"), await bench.read(f"dropped_{name}_bytes")
        assert found == reasons.get(entry["number"], (0, 0)), f"{name}: {found}, not {reasons.get(entry['number'])}"


@cocotb.test()
async def traffic(dut) -> None:
    """Random frames, settings under way, slow memories, a sink of all paces: each frame is followed, and the counters are right."""
    bench = await begin(dut)
    rng = bench.rng
    assert await bench.read("memories") == testkit.parameter("Memories", 4)
    assert await bench.read("chunks") == bench.columns * testkit.parameter("Chunks", 4096)
    for phase in range(3):
        bench.sink, bench.source, bench.fill = (1.0, 0.3, 0.1)[phase], rng.choice((0.5, 1.0)), rng.choice((0.5, 1.0))
        bench.memory.latency, bench.memory.probability = rng.choice(((2, 6), (10, 60), (100, 250))), rng.choice((0.5, 1.0))
        for class_id in range(bench.classes):
            await beside(bench, bench.wait(class_id, rng.choice(((800, 2500), (4000, 20000), (300, 1200))[phase])))
        for _ in range(2000):
            while len(bench.input) < bench.columns + 2:
                some(bench)
            await bench.cycle()
        # A snapshot in mid-traffic is of one moment: what is queued is never less than nothing, nor more than is inside.
        queued = (await beside(bench, bench.snapshot(rng.randrange(bench.classes))))["queued"]
        assert queued[0] < 1 << 16 and queued[0] * 60 <= queued[1] <= queued[0] * bench.longest
        bench.sink = max(bench.sink, 0.5)
        await bench.drain(120000)
    dut._log.info("%s, %d bursts", bench.count, len(bench.memory.bursts))
    for name in ("sent", "refused", "overdue"):
        assert bench.count[name], f"the test does not see frames {name}"
    await judge(bench)


@cocotb.test()
async def full_and_over(dut) -> None:
    """The output stands still until frames are dropped for want of memory, with a limit and without; then until all is over."""
    bench = await begin(dut)
    rng, chunks = bench.rng, testkit.parameter("Chunks", 4096)
    for class_id in range(bench.classes):
        await bench.wait(class_id, 7000)
    bench.sink = 0.0
    limit = bench.columns * chunks * 7 // 10
    await beside(bench, bench.write("memory_limit", limit))
    # What comes later waits shorter, so all is over at once.
    end = bench.now + 7000

    async def shorter() -> None:
        while bench.now < end - 200:
            for class_id in range(bench.classes):
                await bench.wait(class_id, max(100, end - bench.now))

    dropped, over = 0, cocotb.start_soon(shorter())
    for _ in range(2):
        while bench.count["dropped"] < dropped + 20:
            while len(bench.input) < bench.columns:
                bench.add(rng.randrange(bench.classes), rng.randint(60, 100))
            await bench.cycle()
            assert bench.now < 20000, "it does not fill up"
        if dropped == 0:
            first = bench.columns * chunks - await beside(bench, bench.read("free_chunks"))
            assert first <= limit
            await beside(bench, bench.write("memory_limit", 0))
            dropped = bench.count["dropped"]
    done = False
    while not done or bench.now < end + 1000:
        done = over.done()
        await bench.cycle()
    bench.sink = 1.0
    for _ in range(4 * bench.columns * bench.run_frames):
        bench.add(rng.randrange(bench.classes), rng.randint(60, 200))
    await bench.drain(60000)
    dut._log.info("%s", bench.count)
    for name in ("sent", "dropped", "expired", "skipped", "overdue"):
        assert bench.count[name], f"the test does not see frames {name}"
    assert {address[1] for address in bench.memory.bursts} == set(range(bench.memory.count)), "a memory was not used"
    await judge(bench)


@cocotb.test()
async def lost_words(dut) -> None:
    """Chunks that cannot be read or written: their frames are counted as lost, by class and by reason."""
    bench = await begin(dut)
    rng = bench.rng
    lines = bench.memory.sizes[0] // 64
    bench.memory.refused = {(rng.randrange(bench.memory.count), rng.randrange(lines)) for _ in range(lines * bench.memory.count // 60)}
    for class_id in range(bench.classes):
        await bench.wait(class_id, 60000)
    bench.sink = 0.1
    for _ in range(1500):
        while len(bench.input) < bench.columns:
            some(bench)
        await bench.cycle()
    bench.sink = 1.0
    while bench.input:
        await bench.cycle()
    bench.memory.refused = set()
    await bench.run(3000)
    for _ in range(2 * bench.columns * bench.run_frames):  # what is lost is counted when the next chunk of its class comes
        for class_id in range(bench.classes):
            bench.add(class_id, 64)
        await bench.run(5)
    await bench.drain(60000)
    assert bench.count["lost"]
    await judge(bench)


@cocotb.test()
async def drained(dut) -> None:
    """Under load it comes to rest, goes on, comes to rest again and is reset beside memories that go on; then all is as before."""
    bench = await begin(dut)
    rng = bench.rng
    bench.memory.forgets = False
    bench.sink = 0.7
    for step in range(4):
        for _ in range(rng.randint(150, 500)):
            while len(bench.input) < bench.columns + 2:
                some(bench)
            await bench.cycle()
        await beside(bench, bench.write("drain", 1))

        async def rest() -> None:
            while not await bench.read("drained"):
                pass

        await beside(bench, rest())
        sent = bench.count["sent"]
        assert bench.memory.under_way == 0 and not any(bench.out)
        for _ in range(100):
            for name in ("awvalid", "wvalid", "arvalid"):
                assert not int(getattr(dut, f"m_axi_{name}_o").value), f"{name} while it is drained"
            await bench.cycle()
        assert bench.count["sent"] == sent and await beside(bench, bench.read("outstanding")) == 0
        if step % 2 == 0:
            await beside(bench, bench.write("drain", 0))
            continue
        await FallingEdge(dut.clk_i)
        bench.idle()
        dut.rst_i.value = 1
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        bench.forget()
        await bench.ready()
        await bench.set_table()
    bench.sink = 1.0
    for _ in range(50):
        some(bench)
    await bench.drain(60000)
    assert bench.count["sent"]
    await judge(bench)
