"""pst_parse against the C++ model: the vector of every frame, every byte of every frame, in order, at a beat a cycle."""

import random
import struct

import cocotb
import parse_frames
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, with_timeout

from penstock.testing import testkit


class Bench:
    """Drives frames, gathers vectors and beats, and compares them with the model."""

    def __init__(self, dut, rng: random.Random, source: float = 1.0, frames_sink: float = 1.0, vectors_sink: float = 1.0) -> None:
        from penstock.engine import engine

        self.dut, self.rng, self.models = dut, rng, engine.models("parse")
        self.width = testkit.parameter("DataBytes", 64)
        self.sizes = {
            "window_bytes": testkit.parameter("WindowBytes", 128),
            "extension_headers": testkit.parameter("ExtensionHeaders", 4),
            "tunnels": bool(testkit.parameter("Tunnels", 1)),
        }
        names = ("data", "keep", "last", "user")
        self.inputs = {name: getattr(dut, f"s_axis_t{name}_i") for name in names}
        outputs = {name: getattr(dut, f"m_axis_t{name}_o") for name in names}
        vector = {"headers": dut.m_headers_o}
        streams = [
            (dut.s_axis_tvalid_i, dut.s_axis_tready_o, self.inputs, source),
            (dut.m_axis_tvalid_o, dut.m_axis_tready_i, outputs, frames_sink),
            (dut.m_headers_valid_o, dut.m_headers_ready_i, vector, vectors_sink),
        ]
        self.source, self.frames_sink, self.vectors_sink = (
            testkit.Stream(dut.clk_i, valid, ready, fields, p, random.Random(rng.random())) for valid, ready, fields, p in streams
        )
        self.held = [(*streams[1][:3],), (*streams[2][:3],)]
        self.beats: list[dict] = []
        self.vectors: list[dict] = []
        self.tasks: list[cocotb.task.Task] = []
        self.mode = 0

    async def start(self) -> None:
        dut = self.dut
        for signal in (*self.inputs.values(), dut.s_axis_tvalid_i, dut.m_axis_tready_i, dut.m_headers_ready_i, dut.mpls_i):
            signal.value = 0
        await testkit.reset(dut)
        self.tasks += [cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, *stream)) for stream in self.held]
        self.tasks += [
            cocotb.start_soon(self.frames_sink.receive(self.beats)),
            cocotb.start_soon(self.vectors_sink.receive(self.vectors)),
        ]

    def stop(self) -> None:
        for task in self.tasks:
            task.cancel()

    def to_beats(self, frame: bytes) -> list[dict]:
        beats, width = [], self.width
        for start in range(0, len(frame), width):
            part = frame[start : start + width]
            padded = part + self.rng.randbytes(width - len(part))
            keep, last = 2 ** len(part) - 1, int(start + width >= len(frame))
            beats.append({"data": int.from_bytes(padded, "little"), "keep": keep, "last": last, "user": self.rng.getrandbits(1)})
        return beats

    def unpacked(self, vector: int) -> dict[str, int]:
        """Take a vector apart by the model's list of fields."""
        found = {}
        for name, bits in reversed(self.models.fields()):
            found[name], vector = vector & ((1 << bits) - 1), vector >> bits
        assert not vector, "the vector is wider than the model's"
        return found

    async def run(self, frames: list[bytes], mode: int) -> list[dict[str, int]]:
        """Send frames with a setting and compare all that comes; return the vectors."""
        beats = [beat for frame in frames for beat in self.to_beats(frame)]
        self.dut.mpls_i.value = mode
        self.beats.clear()
        self.vectors.clear()
        await with_timeout(self.source.send(beats), 2, "ms")
        for _ in range(40):
            if len(self.vectors) == len(frames) and len(self.beats) == len(beats):
                break
            for _ in range(20):
                await RisingEdge(self.dut.clk_i)
        for _ in range(20):  # for what must not come
            await RisingEdge(self.dut.clk_i)
        assert self.beats == beats
        vectors = [self.unpacked(vector["headers"]) for vector in self.vectors]
        assert len(vectors) == len(frames)
        for frame, vector in zip(frames, vectors, strict=True):
            wanted = self.models.parse(frame, mpls=mode, **self.sizes)
            different = {name: (value, wanted[name]) for name, value in vector.items() if value != wanted[name]}
            assert not different, f"mpls={mode} {frame.hex()}: {different} (RTL, model)"
        return vectors


def _clock(dut) -> random.Random:
    dut._log.info("PENSTOCK_SEED=%d", testkit.seed())
    Clock(dut.clk_i, 10, unit="ns").start()
    return random.Random(testkit.seed())


def _frames(rng: random.Random, count: int) -> dict[int, list[bytes]]:
    """Return frames for each setting of what is below labels."""
    found: dict[int, list[bytes]] = {mode: [] for mode in range(4)}
    for _ in range(count):
        frame, mode = parse_frames.odd(rng)
        found[mode].append(frame[: rng.choice((len(frame), 300))])
    return found


@cocotb.test()
async def mixed(dut) -> None:
    """Frames of all kinds, with every reason, under random back-pressure on every handshake."""
    rng = _clock(dut)
    endings = set()
    for source, frames_sink, vectors_sink in [(1.0, 1.0, 1.0), (0.7, 0.5, 0.9), (1.0, 1.0, 0.05)]:
        bench = Bench(dut, rng, source, frames_sink, vectors_sink)
        await bench.start()
        for mode, frames in _frames(rng, 350 if vectors_sink > 0.5 else 60).items():
            endings |= {vector["ending"] for vector in await bench.run(frames, mode)}
        bench.stop()
    assert len(endings) >= 7, f"only the endings {endings} came up"


@cocotb.test()
async def cut_at_every_byte(dut) -> None:
    rng = _clock(dut)
    bench = Bench(dut, rng)
    await bench.start()
    for _ in range(6):
        frame, mode = parse_frames.odd(rng)
        await bench.run([frame[:length] for length in range(1, min(len(frame), 140) + 1)], mode)


def _tunnelled(tags: int, extension: int, port: int, inner: bytes) -> bytes:
    """Return a frame with IPv6, an extension header of so many bytes if there are any, UDP to this port, and what is inside."""
    udp = struct.pack("!HHHH", 9, port, 8 + len(inner), 0) + inner
    options = bytes([17, extension // 8 - 1]).ljust(extension, b"\0") if extension else b""
    head = bytes(12) + b"\x81\x00\x00\x05" * tags + b"\x86\xdd"
    return head + struct.pack("!IHBB", 6 << 28, len(options + udp), 0 if extension else 17, 64) + bytes(32) + options + udp


@cocotb.test()
async def tunnels_at_their_end(dut) -> None:
    """The header of a tunnel is cut at every byte, and ends around the end of the window."""
    rng = _clock(dut)
    bench = Bench(dut, rng)
    await bench.start()
    frames = []
    for port, start in ((2152, b"\x30\xff"), (1701, b"\x00\x02"), (1701, b"\x40\x02"), (1701, b"\x00\x03"), (1701, b"\xc8\x02")):
        whole = start + rng.randbytes(8)
        frames += [_tunnelled(0, 0, port, whole[:length]) for length in range(len(whole) + 1)]
        frames += [_tunnelled(tags, extension, port, whole) for tags in range(3) for extension in range(8, 72, 8)]
    await bench.run(frames, 0)


@cocotb.test()
async def a_beat_a_cycle(dut) -> None:
    """With sinks that are always ready nothing waits: frames of 60 bytes back to back, a vector for each."""
    rng = _clock(dut)
    bench = Bench(dut, rng)
    await bench.start()
    frames = [rng.randbytes(60) for _ in range(200)]
    waited = []

    async def watch() -> None:
        while True:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            waited.append(int(dut.s_axis_tvalid_i.value) and not int(dut.s_axis_tready_o.value))

    watcher = cocotb.start_soon(watch())
    await bench.run(frames, 0)
    watcher.cancel()
    assert not any(waited)


@cocotb.test()
async def latency(dut) -> None:
    """A vector comes 11 + ExtensionHeaders cycles after the beat that ends the frame, with stages that are split 18 + 2 * these."""
    rng = _clock(dut)
    bench = Bench(dut, rng)
    await bench.start()
    cycles = 0
    for beat in bench.to_beats(rng.randbytes(60)):
        await FallingEdge(dut.clk_i)
        dut.s_axis_tvalid_i.value = 1
        for name, signal in bench.inputs.items():
            signal.value = beat[name]
    await FallingEdge(dut.clk_i)
    dut.s_axis_tvalid_i.value = 0
    while True:
        await ReadOnly()
        cycles += 1
        if int(dut.m_headers_valid_o.value):
            break
        await FallingEdge(dut.clk_i)
    headers = bench.sizes["extension_headers"]
    assert cycles == (18 + 2 * headers if testkit.parameter("SplitStages", 0) else 11 + headers)


@cocotb.test()
async def reset_in_mid_frame(dut) -> None:
    """After a reset in the middle of a frame the next beat is the first of a frame, and no old vector comes."""
    rng = _clock(dut)
    for beats in (1, 2, 5, 17):
        bench = Bench(dut, rng)
        await bench.start()
        await bench.source.send(bench.to_beats(rng.randbytes(60)) + bench.to_beats(rng.randbytes(2000))[:beats])
        bench.stop()
        bench = Bench(dut, rng)
        await bench.start()
        for mode, frames in _frames(rng, 12).items():
            await bench.run(frames, mode)
        bench.stop()


@pytest.mark.parametrize(
    "parameters",
    [
        {"DataBytes": 64},
        {"DataBytes": 8},
        pytest.param({"DataBytes": 16, "WindowBytes": 64, "ExtensionHeaders": 1, "Tunnels": 0}, marks=pytest.mark.slow),
        {"DataBytes": 32, "WindowBytes": 192, "ExtensionHeaders": 8, "Vectors": 24},
        {"DataBytes": 8, "ExtensionHeaders": 2, "SplitStages": 1},
    ],
    ids=["64-byte-beats", "8-byte-beats", "16-byte-beats", "32-byte-beats", "split"],
)
def test_pst_parse(parameters: dict[str, int]) -> None:
    from penstock.engine import engine

    engine.build()
    testkit.run_module("parse", "pst_parse", parameters)


def test_a_window_that_is_no_multiple_of_a_beat_is_refused() -> None:
    with pytest.raises(RuntimeError, match="return code"):
        testkit.run_module("parse", "pst_parse", {"WindowBytes": 96, "DataBytes": 64})
