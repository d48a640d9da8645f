"""pst_edfr: conservation to the byte, order in each class, no frame after its deadline, none given up before it; across wraps of time."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from port_bench import Bench

from penstock.testing import testkit


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    bench.idle()
    await testkit.start(dut)
    cocotb.start_soon(bench.memory.run())
    fields = {name: getattr(dut, f"m_{name}_o") for name in ("data", "last", "bytes_last", "class", "user", "deadline")}
    cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, dut.m_valid_o, dut.m_ready_i, fields))
    await bench.ready()
    return bench


def length(bench: Bench) -> int:
    rng = bench.rng
    size = rng.choice((60, 64, 65, rng.randint(60, 200), rng.randint(60, 1514), rng.randint(60, bench.longest)))
    if rng.random() < 0.03:
        return rng.choice((1, 59, bench.longest + 1))
    return min(size, bench.longest)


async def settings(bench: Bench, choices: tuple[int, ...]) -> None:
    for class_id in range(bench.classes):
        while not bench.change(class_id, bench.rng.choice(choices)):
            await bench.cycle()
    while bench.set_offer:
        await bench.cycle()


@cocotb.test()
async def light(dut) -> None:
    """More room than load and long waits: every frame comes out; little of it goes through memory."""
    bench = await begin(dut)
    for _ in range(150):
        bench.add(bench.rng.randrange(bench.classes), min(bench.longest, bench.rng.choice((60, 64, 500, 1514))))
        if bench.rng.random() < 0.5:
            await bench.run(20)
    await bench.drain(20000)
    dut._log.info("%s, %d bursts", bench.count, len(bench.memory.bursts))
    assert bench.count["sent"] == 150


@cocotb.test()
async def mixed(dut) -> None:
    """Random classes, sizes and waits; a sink that is quick, slow and stands still; slow memory; settings that change under way."""
    bench = await begin(dut)
    rng = bench.rng
    for phase in range(6):
        bench.sink = rng.choice((0.2, 0.6, 1.0)) if phase else 1.0
        bench.source = rng.choice((0.4, 1.0))
        bench.memory.latency = rng.choice(((2, 6), (10, 60), (100, 250)))
        bench.memory.probability = rng.choice((0.5, 1.0))
        await settings(bench, ((800, 2500), (4000, 20000), (300, 60000))[phase % 3])
        active = rng.sample(range(bench.classes), min(bench.classes, rng.choice((1, 3, bench.classes))))
        stands = phase % 2 and range(300, 300 + rng.choice((500, 1500)))
        awake = bench.sink
        for cycle in range(2000):
            if len(bench.input) < 3:
                bench.add(rng.choice(active), length(bench), rng.random() < 0.05)
            bench.sink = 0.0 if stands and cycle in stands else awake
            if phase % 3 == 1 and rng.random() < 0.01:
                bench.change(rng.choice(active), rng.choice((400, 2000, 9000)))
            await bench.cycle()
        bench.sink = max(awake, 0.5)
        await bench.drain(120000)
    dut._log.info("%s, %d bursts", bench.count, len(bench.memory.bursts))
    for name in ("sent", "refused", "expired"):
        assert bench.count[name], f"the test does not see frames {name}"


@cocotb.test(skip=testkit.parameter("ChunkBeats", 64) < 64)
async def rate(dut) -> None:
    """Input and output at full rate, with a memory that takes and gives a beat per cycle: beats per cycle from the first one out on."""
    bench = await begin(dut)
    bench.memory.latency = (40, 40)
    await settings(bench, (2**20,))
    for size, classes, least in ((1514, bench.classes, 0.85), (1514, 1, 0.75), (64, bench.classes, 0.64)):
        frames = 3000 * 64 // max(size, 64)
        for k in range(frames):
            bench.add(k % classes, size)
        beats = bench.count["beats"]
        while bench.count["beats"] == beats:
            await bench.cycle()
        start = bench.now
        while bench.count["beats"] - beats < frames * -(-size // 64):
            await bench.cycle()
            assert bench.now - start < 60000, "stuck"
        share = (bench.count["beats"] - beats) / (bench.now - start)
        dut._log.info("%d byte, %d classes: %.3f beats per cycle; %d bursts", size, classes, share, len(bench.memory.bursts))
        assert share >= least
        await bench.drain(2000)


@cocotb.test()
async def full(dut) -> None:
    """The output stands still with long waits: frames are dropped at the tail when no chunk is left, not before; all others come out."""
    bench = await begin(dut)
    bench.sink = 0.0
    await settings(bench, (2**29,))
    while bench.count["tail"] < 20:
        if len(bench.input) < 3:
            bench.add(bench.rng.randrange(min(8, bench.classes)), bench.rng.randint(bench.shortest, bench.longest))
        await bench.cycle()
        assert not bench.count["tail"] or int(dut.free_o.value) == 0, "a frame is dropped while chunks are free"
        assert bench.now < 60000, "it does not fill up"
    bench.sink = 1.0
    await bench.drain(60000)
    dut._log.info("%s, %d bursts", bench.count, len(bench.memory.bursts))
    assert bench.count["sent"] + bench.count["tail"] == bench.count["in"]


@cocotb.test()
async def over_at_once(dut) -> None:
    """The output stands still until all that is inside is over: it goes by skips, most of it unread, and traffic goes on."""
    bench = await begin(dut)
    bench.sink = 0.0
    classes = min(4, bench.classes)
    while bench.now < 5500 and not bench.count["tail"]:
        if len(bench.input) < 3:
            bench.add(bench.rng.randrange(classes), bench.rng.randint(bench.shortest, min(1500, bench.longest)))
        await bench.cycle()
    bench.input = type(bench.input)(list(bench.input)[:1])
    while bench.now < 14000:
        await bench.cycle()
    read, written = bench.memory.beats_read, sum(beats for kind, _, _, beats in bench.memory.bursts if kind == "aw")
    bench.sink = 1.0
    await bench.drain(3000)
    read = bench.memory.beats_read - read
    dut._log.info("%s, %d beats in memory, %d of them read when over", bench.count, written, read)
    assert bench.count["skipped"] > 20 and read < written // 4
    for _ in range(50):
        bench.add(bench.rng.randrange(bench.classes), 200)
    sent = bench.count["sent"]
    await bench.drain(5000)
    assert bench.count["sent"] == sent + 50


@cocotb.test()
async def errors(dut) -> None:
    """The memory refuses reads and writes: what is lost is said, to the byte, and nothing else is."""
    bench = await begin(dut)
    rng = bench.rng
    lines = bench.chunks * bench.beats
    bench.memory.refused = {(0, rng.randrange(lines)) for _ in range(bench.chunks // 3)}
    await settings(bench, (20000,))
    bench.sink = 0.1
    for _ in range(2500):
        if len(bench.input) < 3:
            bench.add(rng.randrange(min(4, bench.classes)), length(bench))
        await bench.cycle()
    bench.sink = 1.0
    while bench.input:
        await bench.cycle()
    # A chunk that is lost is counted when the next one of its class comes.
    bench.memory.refused = set()
    await bench.run(3000)
    for class_id in range(bench.classes):
        bench.add(class_id, bench.shortest)
    await bench.drain(10000)
    dut._log.info("%s", bench.count)
    assert bench.count["lost"]


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
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        bench.forget()
        await bench.ready()


SMALL = {"Classes": 3, "ChunkBeats": 8, "Chunks": 64, "Places": 8, "Lines": 4, "Reads": 4, "Writes": 4, "MaxFrameBytes": 1518,
         "StoreBeats": 64, "TickCycles": 100, "DefaultCycles": 6000, "StartTime": 2**32 - 3000}  # fmt: skip
LARGE = {"Classes": 64, "ChunkBeats": 64, "Chunks": 200, "Places": 4, "ClassFromUser": 1, "TickCycles": 200, "DefaultCycles": 6000}


@pytest.mark.parametrize("parameters", [SMALL, pytest.param(LARGE, marks=pytest.mark.slow)], ids=["3-8", "64-64"])
def test_pst_edfr(parameters: dict) -> None:
    testkit.run_module("deadline", "pst_edfr", parameters)
