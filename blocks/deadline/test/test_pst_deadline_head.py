# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_deadline_head: every frame once, in order, byte for byte; skips, errors and stalls; nothing is left over; rates in cycles."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from head_bench import BEAT, Bench

from penstock.testing import testkit


async def begin(dut) -> Bench:
    bench = Bench(dut, random.Random(testkit.seed()))
    dut._log.info("seed %d", testkit.seed())
    await bench.start()
    return bench


def size(bench: Bench) -> int:
    rng = bench.rng
    return min(rng.choice((60, 64, 65, rng.randint(60, 200), rng.randint(60, 1514), rng.randint(60, bench.longest))), bench.longest)


@cocotb.test()
async def mixed(dut) -> None:
    """All at once: random sizes, gaps, latencies, deadlines, stalls; skips that meet chunks in memory, on their way and landed."""
    bench = await begin(dut)
    rng, knobs = bench.rng, bench.knobs
    for phase in range(8):
        knobs.update(
            out=rng.choice((0.3, 0.9, 1.0)), encoder=rng.choice((0.4, 1.0)), memory=rng.choice((0.5, 1.0)), loop=rng.choice((0.5, 1.0)),
            lists=rng.choice((0.4, 1.0)), latency=rng.choice(((2, 6), (10, 60), (100, 300))), tick=rng.choice((60, 200)),
            hold=rng.choice((0.0, 0.0, 0.3)), ring=rng.choice(((1, 1), (1, 40), (30, 60))),
            bad_read=0.1 if phase % 3 == 2 else 0.0, bad_write=0.05 if phase % 3 == 2 else 0.0,
        )  # fmt: skip
        bench.use_loop = phase != 2  # frames that are read with errors must have been in memory
        active = rng.sample(range(bench.classes), min(bench.classes, rng.choice((1, 3, bench.classes))))
        waits = {cls: rng.choice((400, 1500, 6000, 100000)) for cls in active}
        rate, stalled = rng.choice((0.1, 0.4, 0.8)), 0
        for cycle in range(700):
            if rng.random() < rate and len(bench.free) > 40:
                cls = rng.choice(active)
                if bench.backlog(cls) < 400:
                    bench.add(cls, size(bench), waits[cls])
            if cycle == 300 and phase % 2:
                stalled, knobs["out"] = knobs["out"], 0.0  # for long: what waits is over when it ends
            if cycle == 600 and stalled:
                knobs["out"] = stalled
            await bench.cycle()
    knobs.update(out=1.0, encoder=1.0, memory=1.0, loop=1.0, lists=1.0, bad_read=0.0, bad_write=0.0, hold=0.0)
    await bench.drain(60000)
    dut._log.info("%s in %d cycles", bench.sum, bench.cycles)
    for what in ("sent", "expired", "skipped", "lost", "looped", "read"):
        assert bench.sum[what], f"the test does not see frames {what}"


@cocotb.test()
async def errors_of_reads(dut) -> None:
    """Any beat of a chunk may be the one that memory could not read, the last one, too: its frames are lost, which is told, and no other.

    Each round ends with nothing left, so the last chunk of a class often has no frame that begins in it, and the one before is lost.
    """
    bench = await begin(dut)
    bench.knobs.update(bad_read=0.5, latency=(2, 20), ring=(1, 1))
    bench.use_loop = bench.use_skips = False
    rounds = 0
    while rounds < 16 or min(bench.sum["failed_last"], bench.sum["failed_before"]) < 10:
        for _ in range(4):
            for cls in range(min(bench.classes, 3)):
                bench.add(cls, bench.rng.randint(bench.longest // 3, bench.longest), 1 << 28)
        await bench.drain(20000)
        rounds += 1
    dut._log.info("%s in %d cycles, %d rounds", bench.sum, bench.cycles, rounds)
    assert bench.sum["lost"] and bench.sum["sent"]


@cocotb.test()
async def over_in_one_tick(dut) -> None:
    """The output stands still until all classes are over at the same moment; then all goes by skips and drops, and traffic goes on."""
    bench = await begin(dut)
    rng = bench.rng
    bench.knobs.update(out=0.0, latency=(2, 10), tick=40)
    bench.use_loop = False
    end = 3000
    for cycle in range(end + 400):
        # Chunks enough for all places of some classes, and for memory.
        cls = rng.randrange(min(bench.classes, 4))
        if (
            cycle % 3 == 0
            and cycle < end - 100
            and len(bench.free) > 40
            and bench.backlog(cls) < 40 * bench.places * bench.chunk_beats // 8
        ):
            bench.add(cls, rng.randint(60, min(300, bench.longest)), max(1, end - cycle))
        await bench.cycle()
    assert bench.sum["splices"] and bench.sum["skipped"]
    gone = dict(bench.sum)
    bench.knobs.update(out=1.0)
    bench.use_loop = True
    for _ in range(40):
        bench.add(rng.randrange(bench.classes), size(bench), 100000)
    await bench.drain(20000)
    dut._log.info("over in one tick: %s; at the end %s", gone, bench.sum)
    assert bench.sum["sent"] >= 40


@cocotb.test()
async def reset_in_traffic(dut) -> None:
    """After a reset in the middle of everything nothing of before comes out, and all goes on."""
    bench = await begin(dut)
    for again in range(3):
        if again:
            await FallingEdge(dut.clk_i)
            bench = Bench(dut, random.Random(testkit.seed() + again))
            await bench.restart()
        for cycle in range(300):
            if cycle % 3 == 0 and len(bench.free) > 40:
                bench.add(bench.rng.randrange(bench.classes), size(bench), 600)
            await bench.cycle()
    await bench.drain(20000)


@cocotb.test()
async def rate_of_small_frames(dut) -> None:
    """64-byte frames of one class from memory: at least 0.68 a cycle, where its places cover the time from address to data."""
    bench = await begin(dut)
    bench.knobs.update(latency=(20, 20), ring=(1, 1))
    bench.use_loop = bench.use_skips = False
    for _ in range(1500):
        bench.add(1, 64, 1 << 28)
    while len(bench.sent_at) < 1400:
        await bench.cycle()
    cycles = bench.sent_at[1399] - bench.sent_at[99]
    if bench.columns > 1:  # the token comes back in the cycle in which it goes: the last take of a run and the next one are 4 cycles apart
        dut._log.info("runs of %d: %.3f a cycle", bench.run_frames, 1300 / cycles)
        assert 1300 / cycles >= 0.9 * bench.run_frames / (bench.run_frames + 4)
        return
    dut._log.info("1300 frames of 64 byte in %d cycles: %.3f a cycle", cycles, 1300 / cycles)
    assert 1300 / cycles >= 0.68 or bench.places * bench.chunk_beats < 256
    await bench.drain(5000)


@cocotb.test()
async def rate_out(dut) -> None:
    """What stands in the places of a class goes out a beat a cycle, at every alignment and from chunk to chunk."""
    bench = await begin(dut)
    bench.knobs.update(latency=(5, 5), out=0.0)
    bench.use_loop = bench.use_skips = False
    sizes = [size for k in range(8) for size in (64 + 8 * k, 72, 128)]
    room = (bench.places * (bench.chunk_beats - 1)) * BEAT
    total = 0
    for k in range(1000):
        if total > 2 * room:
            break
        bench.add(2, sizes[k % len(sizes)], 1 << 28)
        total += sizes[k % len(sizes)] + 8
    for _ in range(12 * bench.places * bench.chunk_beats + 300):
        await bench.cycle()
    bench.knobs["out"] = 1.0
    inside = sum(-(-len(f.data) // BEAT) for f in bench.frames[2] if f.chunks[-1].serial < bench.places)
    for _ in range(inside):
        await bench.cycle()
    cycles = bench.beats_out[-1] - bench.beats_out[0] + 1
    dut._log.info("%d beats in %d cycles", len(bench.beats_out), cycles)
    if bench.columns == 1:  # else its token must come first
        assert len(bench.beats_out) >= inside - 4, f"{len(bench.beats_out)} beats in {inside} cycles"
    await bench.drain(20000)


@pytest.mark.parametrize("classes, run, columns", [(3, 4, 2), pytest.param(16, 16, 8, marks=pytest.mark.slow)])
def test_column(classes: int, run: int, columns: int) -> None:
    """The same as a column of a wide port, between tokens that come and go."""
    parameters = {"Classes": classes, "ChunkBeats": 16, "Places": 4, "MaxFrameBytes": 1518, "Chunks": 512, "Lines": 8, "Reads": 8}
    testkit.run_module("deadline", "pst_deadline_head", {**parameters, "Columns": columns, "RunFrames": run, "Decided": 8}, inside=INSIDE)


# Its bench counts the places that were given and came back.
INSIDE = ("pst_deadline_fetch.given_q", "pst_deadline_fetch.released_q")

SIZES = [(3, 8, 2, 448, 4, 2), (64, 64, 4, 9600, 16, 16)]
MORE = [(64, 8, 4, 1344, 16, 16), (3, 64, 2, 4032, 8, 8)]


@pytest.mark.parametrize(
    "classes, beats, places, longest, lines, reads", [*SIZES, *(pytest.param(*m, marks=pytest.mark.slow) for m in MORE)]
)
def test_pst_deadline_head(classes: int, beats: int, places: int, longest: int, lines: int, reads: int) -> None:
    parameters = {"Classes": classes, "ChunkBeats": beats, "Places": places, "MaxFrameBytes": longest, "Chunks": 512}
    testkit.run_module("deadline", "pst_deadline_head", {**parameters, "Lines": lines, "Reads": reads}, inside=INSIDE)
