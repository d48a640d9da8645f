# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_edfr_wide: one logical port of several columns: order in each class, every byte, no frame after its deadline; time wraps."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from wide_bench import Bench

from penstock.testing import testkit


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    bench.idle()
    await testkit.start(dut)
    cocotb.start_soon(bench.memory.run())
    await bench.ready()
    return bench


def length(bench: Bench) -> int:
    rng = bench.rng
    if rng.random() < 0.03:
        return rng.choice((1, 59, bench.longest + 1))
    return min(bench.longest, rng.choice((60, 64, 64, 65, 128, rng.randint(60, 300), rng.randint(60, bench.longest))))


async def settings(bench: Bench, choices: tuple[int, ...]) -> None:
    for class_id in range(bench.classes):
        bench.change(class_id, bench.rng.choice(choices))
        while bench.setting:
            await bench.cycle()


@cocotb.test()
async def light(dut) -> None:
    """More room than load and long waits: every frame comes out, by itself."""
    bench = await begin(dut)
    for _ in range(150):
        bench.add(bench.rng.randrange(bench.classes), min(bench.longest, bench.rng.choice((60, 64, 500, 1514))))
        if bench.rng.random() < 0.5:
            await bench.run(15)
    await bench.drain(20000)
    dut._log.info("%s, %d bursts", bench.count, len(bench.memory.bursts))
    assert bench.count["sent"] == 150


@cocotb.test()
async def mixed(dut) -> None:
    """Random classes, sizes and waits; a sink that is quick, slow and stands still; slow memory; settings that change under way."""
    bench = await begin(dut)
    rng = bench.rng
    for phase in range(4):
        bench.sink = (1.0, rng.choice((0.1, 0.4, 1.0)), rng.choice((0.1, 0.4, 1.0)), 0.1)[phase]
        bench.source, bench.fill = rng.choice((0.4, 1.0)), rng.choice((0.5, 1.0))
        bench.memory.latency = rng.choice(((2, 6), (10, 60), (100, 250)))
        bench.memory.probability = rng.choice((0.5, 1.0))
        await settings(bench, ((800, 2500), (4000, 20000), (300, 60000), (150, 500))[phase])
        active = rng.sample(range(bench.classes), min(bench.classes, rng.choice((1, 3, bench.classes))))
        stands = phase % 2 and range(300, 300 + rng.choice((500, 1500)))
        awake = bench.sink
        for cycle in range(1000):
            while len(bench.input) < bench.columns + 2:
                bench.add(rng.choice(active), length(bench), rng.random() < 0.05)
            bench.sink = 0.0 if stands and cycle in stands else awake
            await bench.cycle()
        bench.sink = max(awake, 0.5)
        await bench.drain(120000)
    dut._log.info("%s, %d bursts", bench.count, len(bench.memory.bursts))
    for name in ("sent", "refused", "expired"):
        assert bench.count[name], f"the test does not see frames {name}"


@cocotb.test()
async def lost(dut) -> None:
    """Chunks that cannot be read or written: their frames are counted, runs go on behind them, and order is kept."""
    bench = await begin(dut)
    rng = bench.rng
    lines = bench.memory.sizes[0] // 64
    bench.memory.refused = {(rng.randrange(bench.columns), rng.randrange(lines)) for _ in range(lines * bench.columns // 60)}
    await settings(bench, (30000,))
    bench.sink = 0.1
    for _ in range(2000):
        while len(bench.input) < bench.columns:
            bench.add(rng.randrange(min(4, bench.classes)), length(bench))
        await bench.cycle()
    bench.sink = 1.0
    while bench.input:
        await bench.cycle()
    # A chunk that is lost is counted when the next one of its class comes to its column.
    bench.memory.refused = set()
    await bench.run(3000)
    for _ in range(2 * bench.columns * bench.run_frames):
        for class_id in range(bench.classes):
            bench.add(class_id, 64)
        await bench.run(5)
    await bench.drain(60000)
    dut._log.info("%s", bench.count)
    assert bench.count["lost"]


@cocotb.test()
async def full(dut) -> None:
    """The output stands still with long waits: frames are dropped at the door, all others come out."""
    bench = await begin(dut)
    bench.sink = 0.0
    await settings(bench, (2**29,))
    while bench.count["dropped"] < 20:
        while len(bench.input) < bench.columns:
            bench.add(bench.rng.randrange(min(8, bench.classes)), bench.rng.randint(60, bench.longest))
        await bench.cycle()
        assert bench.now < 60000, "it does not fill up"
    bench.sink = 1.0
    await bench.drain(60000)
    dut._log.info("%s, %d bursts", bench.count, len(bench.memory.bursts))
    assert bench.count["sent"] + bench.count["dropped"] == bench.count["in"]


@cocotb.test()
async def over_at_once(dut) -> None:
    """The output stands still until all inside is over: columns skip most of it, the gather leaves out the rest, traffic goes on."""
    bench = await begin(dut)
    rng = bench.rng
    bench.sink = 0.0
    for cycle in range(4500):
        if bench.setting is None and cycle % 8 == 0:  # what comes later waits shorter: all is over at the same time
            bench.change(rng.randrange(bench.classes), max(100, 6000 - bench.now))
        while len(bench.input) < bench.columns and not bench.count["dropped"]:
            bench.add(rng.randrange(min(4, bench.classes)), rng.randint(60, 70))
        await bench.cycle()
    await bench.run(3500)
    gone = dict(bench.count)
    bench.sink = 1.0
    for _ in range(4 * bench.columns * bench.run_frames):
        bench.add(rng.randrange(bench.classes), length(bench))
    await bench.drain(60000)
    dut._log.info("over at once: %s; at the end: %s", gone, bench.count)
    assert gone["skipped"] and bench.count["overdue"] and bench.count["sent"]


@cocotb.test()
async def held(dut) -> None:
    """While it is held all that was decided leaves, nothing else is decided, and frames go on coming in; then it goes on."""
    bench = await begin(dut)
    rng = bench.rng
    for _ in range(4):
        for _ in range(rng.randint(20, 60)):
            bench.add(rng.randrange(bench.classes), length(bench))
        bench.sink = rng.choice((0.2, 1.0))
        await bench.run(rng.randint(60, 250))
        bench.hold = True
        # Two cycles until a decision that is under way shows.
        await bench.run(3)
        for _ in range(5000):
            if not int(dut.sending_o.value):
                break
            await bench.cycle()
        assert not int(dut.sending_o.value) and not any(bench.out), "held, it does not come to rest"
        sent, came = bench.count["sent"], bench.count["in"]
        for _ in range(20):
            bench.add(rng.randrange(bench.classes), 64)
        await bench.run(300)
        assert bench.count["sent"] == sent and bench.count["in"] > came and not int(dut.sending_o.value)
        bench.hold = False
    bench.sink = 1.0
    await bench.drain(60000)
    assert bench.count["sent"] > 50


@cocotb.test()
async def limited(dut) -> None:
    """Each column keeps to the limit, with the output standing still; raised and lowered, and lifted."""
    bench = await begin(dut)
    rng = bench.rng
    chunks, width = testkit.parameter("Chunks", 4096), len(dut.free_o) // bench.columns
    await settings(bench, (2**29,))
    bench.sink = 0.0
    for limit in (3 * chunks // 5, 4 * chunks // 5, 7 * chunks // 10):
        bench.limit = limit
        most, before, begun = 0, bench.count["dropped"], bench.now
        while bench.now - begun < 3000 or (bench.count["dropped"] == before and bench.now - begun < 30000):
            while len(bench.input) < bench.columns:
                bench.add(rng.randrange(bench.classes), rng.randint(60, bench.longest))
            await bench.cycle()
            free = dut.free_o.value.to_unsigned()
            most = max(most, *(chunks - (free >> width * c & (1 << width) - 1) for c in range(bench.columns)))
        assert bench.count["dropped"] > before
        assert most <= 4 * chunks // 5 if limit == 7 * chunks // 10 else most <= limit, f"{most} chunks of a column with a limit of {limit}"
    bench.sink, bench.limit = 1.0, 0
    await bench.drain(60000)
    assert bench.count["sent"] + bench.count["dropped"] + bench.count["refused"] == bench.count["in"]


@cocotb.test()
async def nearest_first(dut) -> None:
    """A slow output in front of frames that may wait; others whose deadline is near pass all of them but what is decided ahead."""
    bench = await begin(dut)
    ahead = testkit.parameter("GatherAhead", 0) * bench.columns
    if not ahead:
        return
    bench.sink = 0.2
    await settings(bench, (2**20,))
    bench.change(1, 2**19)
    for _ in range(1000):
        bench.add(0, 64)
    while bench.input:
        await bench.cycle()
    await bench.run(200)
    assert bench.inside() > 2 * ahead, "too little waits"
    near, bench.order = 300, []
    for _ in range(near):
        bench.add(1, 64)
    while bench.order.count(1) < near:
        await bench.cycle()
        assert bench.now < 20000
    first = bench.order.index(1)
    between = bench.order[first:].count(0)
    dut._log.info("%d frames leave before the first of %d, %d between them", first, near, between)
    # A class is not at hand while its token goes from column to column; without the order as many of both leave.
    assert first < 2 * ahead + 60 and 20 * between < 17 * near
    await bench.drain(60000)


@cocotb.test(skip=testkit.parameter("RunFrames", 16) < 8)
async def pairs(dut) -> None:
    """Frames of a segment, all of one class: more than one leaves in a cycle, though one column at a time decides on them.

    In runs of fewer frames the way of the token takes more than pairs save.
    """
    bench = await begin(dut)
    run = testkit.parameter("RunFrames", 16)
    bench.memory.latency, bench.memory.probability = (4, 12), 1.0
    await settings(bench, (2**20,))
    for phase in range(3):
        # A frame of two segments now and then: what comes behind it begins a pair in a slot of the other kind.
        bench.sink = 0.0
        for n in range(500):
            bench.add(0, 65 if phase == 1 and n % 7 == 0 else bench.rng.choice((60, 64)))
        while bench.input or bench.word:
            await bench.cycle()
        await bench.run(400)
        bench.sink = 1.0
        await bench.run(100)
        sent, begun = bench.count["sent"], bench.now
        await bench.run(120)
        rate = (bench.count["sent"] - sent) / (bench.now - begun)
        single = run / (run + 2)
        dut._log.info("phase %d: %.3f frames a cycle; one by one it would be %.3f", phase, rate, single)
        assert phase == 1 or rate > 1.2 * single, "no two frames of a class leave in one cycle"
        await bench.drain(20000)
    assert bench.count["sent"] == 1500


@cocotb.test(skip=testkit.parameter("RunFrames", 16) < 8)
async def pairs_among_classes(dut) -> None:
    """Small frames of all classes by turns, so that others' deadlines lie between those of a pair and of the frame behind it."""
    bench = await begin(dut)
    rng = bench.rng
    bench.memory.latency, bench.memory.probability = (4, 12), 1.0
    for phase in range(4):
        await settings(bench, ((2**19,), (2**18, 2**19), (2**19,), (2000, 20000))[phase])
        for _ in range(500):
            bench.add(rng.randrange(bench.classes), rng.choice((60, 64, 64, 64, 65, 300)))
        bench.sink = 0.0 if phase % 2 else 1.0
        await bench.run(600)
        bench.sink = 1.0
        await bench.drain(20000)
    dut._log.info("%s", bench.count)
    assert bench.count["sent"] > 1500


@cocotb.test()
async def reset(dut) -> None:
    """Reset in mid-traffic: all is forgotten, and all works as before."""
    bench = await begin(dut)
    bench.sink = 0.5
    for step in range(3):
        for _ in range(60):
            bench.add(bench.rng.randrange(bench.classes), length(bench))
        if step == 2:
            bench.sink = 1.0
            await bench.drain(60000)
            break
        await bench.run(bench.rng.randint(100, 400))
        await FallingEdge(dut.clk_i)
        bench.idle()
        dut.rst_i.value = 1
        bench.memory.reset()
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        bench.memory.reset()
        bench.forget()
        await bench.ready()


SMALL = {"Columns": 2, "RunFrames": 2, "Classes": 3, "ClassFromUser": 1, "ChunkBeats": 8, "Chunks": 128, "Places": 8, "Lines": 4,
         "Reads": 4, "Writes": 4, "MaxFrameBytes": 1518, "DealRows": 64, "DealLists": 32, "DealRecords": 64, "GatherRows": 256,
         "GatherAhead": 24, "StoreBeats": 64, "TickCycles": 100, "DefaultCycles": 6000, "StartTime": 2**32 - 2000}  # fmt: skip
LARGE = {
    **SMALL,
    "Columns": 8,
    "GatherAhead": 0,
    "RunFrames": 16,
    "Classes": 16,
    "ChunkBeats": 16,
    "Lines": 16,
    "TickCycles": 200,
    "Chunks": 256,
}


@pytest.mark.parametrize("parameters", [SMALL, pytest.param(LARGE, marks=pytest.mark.slow)], ids=["2-3", "8-16"])
def test_pst_edfr_wide(parameters: dict) -> None:
    testkit.run_module("deadline", "pst_edfr_wide", parameters)


PAIRS = {**SMALL, "RunFrames": 8, "Lines": 16, "ChunkBeats": 16, "GatherAhead": 0}


def test_small_frames_in_pairs() -> None:
    testkit.run_module("deadline", "pst_edfr_wide", PAIRS, testcase="pairs")


def test_columns_apart() -> None:
    """Each column offers by itself, and holds its offer, while others begin theirs beside it."""
    testkit.run_module("deadline", "pst_edfr_wide", {**SMALL, "Ordered": 0}, testcase="mixed")
