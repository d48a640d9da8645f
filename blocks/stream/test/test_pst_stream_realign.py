"""pst_stream_realign: every frame comes out byte by byte without its first StripBytes bytes."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, with_timeout

from penstock.testing import testkit

Frame = tuple[bytes, int]  # bytes, tuser at the last beat


def to_beats(frame: Frame, width: int, rng: random.Random) -> list[dict]:
    """Cut a frame into beats of `width` bytes; bytes that are not kept and tuser before the end are noise."""
    data, user = frame
    beats = []
    for start in range(0, len(data), width):
        part = data[start : start + width]
        last = start + width >= len(data)
        beats.append({
            "data": int.from_bytes(part + rng.randbytes(width - len(part)), "little"),
            "keep": 2 ** len(part) - 1,
            "last": int(last),
            "user": user if last else rng.getrandbits(1),
        })  # fmt: skip
    return beats


def to_frames(beats: list[dict], width: int) -> list[Frame]:
    """Join beats to frames; checks that only last beats are partial and that tkeep is contiguous from bit 0."""
    frames, data = [], b""
    for beat in beats:
        count = beat["keep"].bit_count()
        assert beat["keep"] == 2**count - 1, f"tkeep {beat['keep']:x} is not contiguous"
        assert beat["last"] or count == width, "a partial beat inside a frame"
        assert not beat["last"] or count > 0 or not data, "an empty beat at the end of a frame"
        data += beat["data"].to_bytes(width, "little")[:count]
        if beat["last"]:
            frames.append((data, beat["user"]))
            data = b""
    assert not data
    return frames


class Bench:
    def __init__(self, dut, rng: random.Random, source: float = 1.0, sink: float = 1.0) -> None:
        self.dut, self.rng = dut, rng
        self.width, self.strip = testkit.parameter("DataBytes", 64), testkit.parameter("StripBytes", 4)
        names = {"data": "tdata", "keep": "tkeep", "last": "tlast", "user": "tuser"}
        inputs = {name: getattr(dut, f"s_axis_{port}_i") for name, port in names.items()}
        self.outputs = {name: getattr(dut, f"m_axis_{port}_o") for name, port in names.items()}
        self.source = testkit.Stream(dut.clk_i, dut.s_axis_tvalid_i, dut.s_axis_tready_o, inputs, source, random.Random(rng.random()))
        self.sink = testkit.Stream(dut.clk_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, self.outputs, sink, random.Random(rng.random()))
        self.beats: list[dict] = []

    async def start(self) -> None:
        """Reset; the test has started the clock."""
        for signal in (*self.source.fields.values(), self.dut.s_axis_tvalid_i, self.dut.m_axis_tready_i):
            signal.value = 0
        await testkit.reset(self.dut)
        self.watch = cocotb.start_soon(
            testkit.watch_held(self.dut.clk_i, self.dut.rst_i, self.dut.m_axis_tvalid_o, self.dut.m_axis_tready_i, self.outputs)
        )

    async def run(self, frames: list[Frame]) -> None:
        """Send `frames`, gather the output and compare."""
        drain = cocotb.start_soon(self.sink.receive(self.beats))
        await self.source.send([beat for frame in frames for beat in to_beats(frame, self.width, self.rng)])
        while sum(beat["last"] for beat in self.beats) < len(frames):
            await RisingEdge(self.dut.clk_i)
        for _ in range(10):
            await RisingEdge(self.dut.clk_i)
        drain.cancel()
        expected = [(data[self.strip :], user) for data, user in frames]
        assert to_frames(self.beats, self.width) == expected


@cocotb.test()
async def mixed(dut) -> None:
    """Frames of every length from 1 byte to four beats, random order, random gaps on both sides."""
    rng = random.Random(testkit.seed())
    Clock(dut.clk_i, 10, unit="ns").start()
    dut._log.info("seed %d", testkit.seed())
    for source, sink in [(1.0, 1.0), (0.5, 1.0), (1.0, 0.5), (0.6, 0.4)]:
        bench = Bench(dut, rng, source, sink)
        await bench.start()
        lengths = list(range(1, 4 * bench.width + 1)) + [rng.randint(1, bench.width) for _ in range(100)]
        rng.shuffle(lengths)
        await with_timeout(bench.run([(rng.randbytes(n), rng.getrandbits(1)) for n in lengths]), 1, "ms")
        bench.watch.cancel()


@cocotb.test()
async def full_rate(dut) -> None:
    """The input never waits while the output is free, and frames of one beat leave one per cycle."""
    rng = random.Random(testkit.seed() + 1)
    Clock(dut.clk_i, 10, unit="ns").start()
    bench = Bench(dut, rng)
    await bench.start()
    frames = [(rng.randbytes(rng.randint(1, bench.width)), rng.getrandbits(1)) for _ in range(300)]
    beats = [beat for frame in frames for beat in to_beats(frame, bench.width, rng)]
    sender = cocotb.start_soon(bench.source.send(beats))
    dut.m_axis_tready_i.value = 1
    out = []
    await FallingEdge(dut.clk_i)
    for cycle in range(len(beats) + 1):
        await ReadOnly()
        assert int(dut.s_axis_tready_o.value), "the input waits"
        if cycle:
            assert int(dut.m_axis_tvalid_o.value), "the output has a gap"
            out.append({name: int(signal.value) for name, signal in bench.outputs.items()})
        await FallingEdge(dut.clk_i)
    await sender
    assert to_frames(out, bench.width) == [(data[bench.strip :], user) for data, user in frames]


@cocotb.test()
async def reset_in_traffic(dut) -> None:
    """After a reset in the middle of a frame the next beat is the first of a frame."""
    rng = random.Random(testkit.seed() + 2)
    Clock(dut.clk_i, 10, unit="ns").start()
    for _ in range(4):
        bench = Bench(dut, rng)
        await bench.start()
        await bench.source.send(to_beats((rng.randbytes(3 * bench.width), 0), bench.width, rng)[:1])
        dut.rst_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        await with_timeout(bench.run([(rng.randbytes(rng.randint(1, 3 * bench.width)), 0) for _ in range(5)]), 10, "us")
        bench.watch.cancel()


@pytest.mark.parametrize("data_bytes, strip", [(64, 4), (8, 4), (8, 7), (16, 1)])
def test_pst_stream_realign(data_bytes: int, strip: int) -> None:
    testkit.run_module("stream", "pst_stream_realign", {"DataBytes": data_bytes, "StripBytes": strip})
