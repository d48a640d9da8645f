"""pst_frame_fifo: frames whole or not at all, meta and data in order on handshakes that do not wait for each other."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, with_timeout

from penstock.testing import testkit


class Bench:
    """Drives frames of beats in, gathers meta words and beats, and knows what is to be expected."""

    def __init__(self, dut, rng: random.Random, source: float = 1.0, meta_sink: float = 1.0, data_sink: float = 1.0) -> None:
        self.dut, self.rng = dut, rng
        self.depth, self.data_bytes = testkit.parameter("DepthBeats", 512), testkit.parameter("DataBytes", 64)
        self.meta_width = testkit.parameter("MetaWidth", 32)
        fields = {"data": dut.s_data_i, "last": dut.s_last_i, "discard": dut.s_discard_i, "meta": dut.s_meta_i}
        self.source = testkit.Stream(dut.clk_i, dut.s_valid_i, dut.s_ready_o, fields, source, random.Random(rng.random()))
        self.meta_fields = {"meta": dut.m_meta_o}
        self.data_fields = {"data": dut.m_data_o, "last": dut.m_data_last_o}
        self.meta_sink = testkit.Stream(
            dut.clk_i, dut.m_meta_valid_o, dut.m_meta_ready_i, self.meta_fields, meta_sink, random.Random(rng.random())
        )
        self.data_sink = testkit.Stream(
            dut.clk_i, dut.m_data_valid_o, dut.m_data_ready_i, self.data_fields, data_sink, random.Random(rng.random())
        )
        self.metas: list[dict] = []
        self.beats: list[dict] = []

    async def start(self) -> None:
        """Reset; the test has started the clock."""
        for name in ("s_valid_i", "s_data_i", "s_last_i", "s_discard_i", "s_meta_i", "m_meta_ready_i", "m_data_ready_i"):
            getattr(self.dut, name).value = 0
        await testkit.reset(self.dut)
        self.tasks = [
            cocotb.start_soon(
                testkit.watch_held(self.dut.clk_i, self.dut.rst_i, self.dut.m_meta_valid_o, self.dut.m_meta_ready_i, self.meta_fields)
            ),
            cocotb.start_soon(
                testkit.watch_held(self.dut.clk_i, self.dut.rst_i, self.dut.m_data_valid_o, self.dut.m_data_ready_i, self.data_fields)
            ),
        ]

    def drain(self) -> None:
        self.tasks += [cocotb.start_soon(self.meta_sink.receive(self.metas)), cocotb.start_soon(self.data_sink.receive(self.beats))]

    def frame(self, beats: int, discard: bool) -> tuple[list[dict], bool]:
        """Make a frame; also say whether it is to be kept. Discard and meta are noise but at the last beat."""
        rng, frame = self.rng, []
        for index in range(beats):
            last = index == beats - 1
            frame.append({
                "data": rng.getrandbits(8 * self.data_bytes),
                "last": int(last),
                "discard": int(discard) if last else rng.getrandbits(1),
                "meta": rng.getrandbits(self.meta_width),
            })  # fmt: skip
        return frame, not discard and beats <= self.depth

    async def settle(self, beats: int) -> None:
        """Wait until `beats` beats are out, and some cycles more for what must not come."""
        while len(self.beats) < beats:
            await RisingEdge(self.dut.clk_i)
        for _ in range(40):
            await RisingEdge(self.dut.clk_i)

    def check(self, kept: list[list[dict]]) -> None:
        assert self.beats == [{"data": b["data"], "last": b["last"]} for frame in kept for b in frame]
        assert self.metas == [{"meta": frame[-1]["meta"]} for frame in kept]


@cocotb.test()
async def mixed(dut) -> None:
    """Frames of 1 beat to more than the whole store, some discarded, under random back-pressure on every handshake."""
    rng = random.Random(testkit.seed())
    Clock(dut.clk_i, 10, unit="ns").start()
    dut._log.info("seed %d", testkit.seed())
    for source, meta_sink, data_sink in [(1.0, 1.0, 1.0), (0.7, 0.5, 0.9), (1.0, 1.0, 0.3), (1.0, 0.1, 1.0), (0.2, 1.0, 1.0)]:
        bench = Bench(dut, rng, source, meta_sink, data_sink)
        await bench.start()
        frames = []
        for _ in range(120):
            beats = rng.choice([1, 1, 2, 3, rng.randint(1, bench.depth), bench.depth, bench.depth + 1, bench.depth + 20])
            frames.append(bench.frame(beats, rng.random() < 0.3))
        kept = [frame for frame, keep in frames if keep]
        bench.drain()
        await with_timeout(bench.source.send([beat for frame, _ in frames for beat in frame]), 2, "ms")
        await with_timeout(bench.settle(sum(map(len, kept))), 2, "ms")
        bench.check(kept)
        for task in bench.tasks:
            task.cancel()


@cocotb.test()
async def data_behind_meta(dut) -> None:
    """With a meta side that never stalls, no beat of a frame is visible before the frame's meta word was."""
    rng = random.Random(testkit.seed() + 1)
    Clock(dut.clk_i, 10, unit="ns").start()
    bench = Bench(dut, rng, source=0.6)
    await bench.start()
    frames = [bench.frame(rng.choice([1, 1, 1, 2, 3]), False)[0] for _ in range(300)]
    sender = cocotb.start_soon(bench.source.send([beat for frame in frames for beat in frame]))
    metas = ended = 0
    dut.m_meta_ready_i.value = dut.m_data_ready_i.value = 1
    while ended < len(frames):
        await FallingEdge(dut.clk_i)
        await ReadOnly()
        metas += int(dut.m_meta_valid_o.value)
        if int(dut.m_data_valid_o.value):
            assert metas > ended, f"data of frame {ended} is there, its meta word is not"
            ended += int(dut.m_data_last_o.value)
    await sender


@cocotb.test()
async def full_rate(dut) -> None:
    """Frames of one beat: a frame in, a meta word and a beat out in every cycle."""
    rng = random.Random(testkit.seed() + 2)
    Clock(dut.clk_i, 10, unit="ns").start()
    bench = Bench(dut, rng)
    await bench.start()
    dut.m_meta_ready_i.value = dut.m_data_ready_i.value = 1
    frames = [bench.frame(1, False)[0] for _ in range(400)]
    sender = cocotb.start_soon(bench.source.send([beat for frame in frames for beat in frame]))
    while not int(dut.m_data_valid_o.value):
        await FallingEdge(dut.clk_i)
        await ReadOnly()
    for frame in frames:
        assert int(dut.m_data_valid_o.value) and int(dut.m_meta_valid_o.value), "the output has a gap"
        assert int(dut.m_data_o.value) == frame[0]["data"] and int(dut.m_meta_o.value) == frame[0]["meta"]
        await FallingEdge(dut.clk_i)
        await ReadOnly()
    await sender


@cocotb.test()
async def endless_frame_with_a_stuck_reader(dut) -> None:
    """A frame longer than the store passes by even though nothing is ever read; what was kept before it survives."""
    rng = random.Random(testkit.seed() + 3)
    Clock(dut.clk_i, 10, unit="ns").start()
    bench = Bench(dut, rng)
    await bench.start()
    first, _ = bench.frame(2, False)
    await bench.source.send(first)
    for _ in range(8):  # the two beats move to the output registers, so the store itself is free
        await RisingEdge(dut.clk_i)
    endless, _ = bench.frame(5 * bench.depth, False)
    last, _ = bench.frame(2, False)
    await with_timeout(bench.source.send(endless + last), 100 * bench.depth, "ns")
    bench.drain()
    await with_timeout(bench.settle(4), 10, "us")
    bench.check([first, last])


@cocotb.test()
async def reset_in_traffic(dut) -> None:
    """After a reset in the middle of a frame nothing of the time before comes out."""
    rng = random.Random(testkit.seed() + 4)
    Clock(dut.clk_i, 10, unit="ns").start()
    for _ in range(5):
        bench = Bench(dut, rng)
        await bench.start()
        lost = [beat for _ in range(3) for beat in bench.frame(2, False)[0]] + bench.frame(3, False)[0][:2]
        await bench.source.send(lost)
        dut.rst_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        kept = [bench.frame(rng.randint(1, 4), False)[0] for _ in range(6)]
        bench.drain()
        await bench.source.send([beat for frame in kept for beat in frame])
        await with_timeout(bench.settle(sum(map(len, kept))), 10, "us")
        bench.check(kept)
        for task in bench.tasks:
            task.cancel()


@pytest.mark.parametrize("data_bytes, depth, frames, meta", [(4, 16, 4, 8), (1, 64, 64, 40)])
def test_pst_frame_fifo(data_bytes: int, depth: int, frames: int, meta: int) -> None:
    testkit.run_module("stream", "pst_frame_fifo", {"DataBytes": data_bytes, "DepthBeats": depth, "MaxFrames": frames, "MetaWidth": meta})
