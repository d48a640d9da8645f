"""pst_edfr_deal: frames out of words of several segments, each whole and in the column that the rule names; all else has its event."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from deal_bench import Bench

from penstock.testing import testkit


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    bench.idle()
    await testkit.start(dut)
    if not bench.from_user:
        await bench.set_table()
    return bench


def some(bench: Bench, count: int) -> None:
    """Add frames of all kinds."""
    rng = bench.rng
    for _ in range(count):
        length = rng.choice((
            rng.randint(60, 200), 64, 65, 128, 512, 513, rng.randint(60, bench.longest), bench.longest - 1, bench.longest,
            bench.longest + 1, bench.longest + 64, bench.shortest, bench.shortest - 1, rng.randint(24, 60),
        ))  # fmt: skip
        length = length if rng.random() < 0.6 else rng.randint(60, 130)
        bench.add(length, rng.randrange(bench.classes) if rng.random() < 0.7 else 1, rng.random() < 0.05)


@cocotb.test()
async def mixed(dut) -> None:
    """Frames of every length, with holes in the words, good and bad ones; columns that are full; a reset in the middle."""
    bench = await begin(dut)
    rng = bench.rng
    everything, refused, dropped = (1 << bench.columns) - 1, 0, 0
    for step in range(8):
        bench.source, bench.sink, bench.holes = rng.choice((0.4, 1.0)), rng.choice((0.3, 0.9, 1.0)), rng.choice((0.0, 0.1, 0.6))
        some(bench, 120)
        if step == 5:
            for _ in range(rng.randint(30, 90)):
                await bench.cycle()
            await FallingEdge(dut.clk_i)
            bench.idle()
            dut.rst_i.value = 1
            await FallingEdge(dut.clk_i)
            dut.rst_i.value = 0
            bench.forget()
            if not bench.from_user:
                await bench.set_table()
            continue
        await bench.drain()
        refused, dropped = refused + len(bench.refused), dropped + len(bench.dropped)
        bench.judge(exactly=step != 7)
        bench.room = everything if step in (0, 4, 5) else rng.getrandbits(bench.columns)
    assert refused > 5 and dropped > 5


@cocotb.test()
async def room_comes_and_goes(dut) -> None:
    """Columns turn full and empty at any moment: nothing is lost without an event, and those that stay are dealt by the rule."""
    bench = await begin(dut)
    rng = bench.rng
    for _ in range(4):
        some(bench, 100)
        while bench.waiting or bench.under_way:
            await bench.cycle()
            if rng.random() < 0.1:
                bench.room = rng.getrandbits(bench.columns) | rng.getrandbits(bench.columns)
        await bench.drain()
        bench.judge(exactly=False)


@cocotb.test()
async def endless(dut) -> None:
    """Frames longer than the store, with one segment in a word; the next ones come through."""
    bench = await begin(dut)
    bench.holes = 1 - 1 / bench.columns
    words = testkit.parameter("Rows", 4096)
    for length in (64 * words + 7, 65535, 70000):
        bench.add(length)
        bench.add(100)
        bench.add(bench.longest)
    await bench.drain()
    assert len(bench.refused) == 3
    bench.judge(exactly=True)


@cocotb.test()
async def rate(dut) -> None:
    """Beats per cycle to all columns together: of one class, of two, of all; small frames and large ones."""
    bench = await begin(dut)
    for length in (64, 65, 1514, bench.longest):
        if length > bench.longest:
            continue
        for classes in (1, 2, bench.classes):
            beats, each = 0, -(-length // 64)
            while beats < 450 * bench.columns:
                bench.add(length, bench.rng.randrange(classes) if bench.from_user else None)
                beats += each
            cycles = await bench.drain()
            bench.judge(exactly=True)
            dut._log.info("%d byte, %d classes: %.2f segments per cycle", length, classes, beats / cycles)
            if each <= 2 and bench.columns == 8:
                assert beats / each > 2.5 * cycles


PARAMETERS = {
    "eight": {
        "Columns": 8, "Classes": 64, "ClassFromUser": 1, "RunFrames": 16, "MaxFrameBytes": 9600, "Rows": 1024, "Records": 512,
        "Lists": 256,
    },
    "dscp": {
        "Columns": 4, "Classes": 16, "ClassFromUser": 0, "RunFrames": 4, "MaxFrameBytes": 1518, "Rows": 128, "Records": 64, "Lists": 32,
    },
    "two": {
        "Columns": 2, "Classes": 3, "ClassFromUser": 1, "RunFrames": 2, "MaxFrameBytes": 1518, "Rows": 64, "Records": 64, "Lists": 16,
    },
}  # fmt: skip


SLOW = ("eight",)


@pytest.mark.parametrize(
    "parameters", [pytest.param(given, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, given in PARAMETERS.items()]
)
def test_pst_edfr_deal(parameters: dict[str, object]) -> None:
    testkit.run_module("deadline", "pst_edfr_deal", parameters)
