"""pst_classify against the C++ model: the fate of every frame, and every byte of those that pass."""

import random
from dataclasses import dataclass

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge, with_timeout

from penstock.testing import testkit


@dataclass
class Frame:
    data: bytes  # prefix included, where the queue id is one
    error: bool = False
    hole: int | None = None  # beat with a hole in tkeep; it counts as a full one
    dest: int | None = None  # the queue id, where it is in tdest
    none: bool = False  # no queue was found for it; where the queue is in tdest


class Bench:
    """Drives frames, gathers events, meta words and beats, and compares them with the model."""

    def __init__(self, dut, rng: random.Random, source: float = 1.0, meta_sink: float = 1.0, data_sink: float = 1.0) -> None:
        self.dut, self.rng = dut, rng
        self.width = testkit.parameter("DataBytes", 64)
        self.queues = testkit.parameter("Queues", 262144)
        self.prefix = 4 if testkit.parameter("Prefix", 1) else 0
        self.shortest = testkit.parameter("MinFrameBytes", 60)
        self.longest = testkit.parameter("MaxFrameBytes", 9216)
        inputs = {name: getattr(dut, f"s_axis_t{name}_i") for name in ("data", "keep", "last", "user", "dest", "drop")}
        self.meta_fields = {"queue": dut.m_meta_queue_o, "len": dut.m_meta_len_o}
        self.data_fields = {"data": dut.m_data_o, "last": dut.m_data_last_o}
        streams = [
            (dut.s_axis_tvalid_i, dut.s_axis_tready_o, inputs, source),
            (dut.m_meta_valid_o, dut.m_meta_ready_i, self.meta_fields, meta_sink),
            (dut.m_data_valid_o, dut.m_data_ready_i, self.data_fields, data_sink),
        ]
        self.source, self.meta_sink, self.data_sink = (
            testkit.Stream(dut.clk_i, valid, ready, fields, p, random.Random(rng.random())) for valid, ready, fields, p in streams
        )
        self.metas: list[dict] = []
        self.beats: list[dict] = []
        self.events: list[tuple[int, int, int]] = []
        self.tasks: list[cocotb.task.Task] = []

    async def start(self) -> None:
        """Reset; the test has started the clock. Watches the outputs from now on."""
        dut = self.dut
        for signal in (*self.source.fields.values(), dut.s_axis_tvalid_i, dut.m_meta_ready_i, dut.m_data_ready_i):
            signal.value = 0
        await testkit.reset(dut)
        self.tasks += [
            cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, dut.m_meta_valid_o, dut.m_meta_ready_i, self.meta_fields)),
            cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, dut.m_data_valid_o, dut.m_data_ready_i, self.data_fields)),
            cocotb.start_soon(self._watch_events()),
        ]

    async def _watch_events(self) -> None:
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            if int(dut.ev_valid_o.value):
                self.events.append((int(dut.ev_reason_o.value), int(dut.ev_queue_o.value), int(dut.ev_len_o.value)))

    def drain(self) -> None:
        self.tasks += [cocotb.start_soon(self.meta_sink.receive(self.metas)), cocotb.start_soon(self.data_sink.receive(self.beats))]

    def stop(self) -> None:
        for task in self.tasks:
            task.cancel()

    def good(self, length: int | None = None) -> Frame:
        """A frame that passes, `length` bytes without prefix."""
        queue, length = self.rng.randrange(self.queues), length or self.rng.randint(self.shortest, self.longest)
        return self.frame(queue, self.rng.randbytes(length))

    def frame(self, queue: int, data: bytes) -> Frame:
        """A frame of a queue."""
        return Frame(queue.to_bytes(4, "big") + data) if self.prefix else Frame(data, dest=queue)

    def any(self) -> Frame:
        """A frame with lengths and queue ids around every limit."""
        rng = self.rng
        queue = rng.choice([rng.randrange(self.queues)] * 4 + [0, self.queues - 1, self.queues, rng.getrandbits(32), 2**31, 2**32 - 1])
        least = 1 - self.prefix  # of a beat that holds a byte
        length = rng.choice(
            [self.shortest, self.longest, self.shortest - 1, self.longest + 1, rng.randint(least, 2 * self.width), max(0, least), least]
            + [self.longest + rng.randint(1, 8 * self.width), rng.randint(self.shortest, self.longest)]
            + [rng.randint(self.shortest, min(self.longest, self.shortest + self.width))] * 4
        )
        frame = self.frame(queue, rng.randbytes(max(length, 0)))
        frame.data = frame.data[: length + self.prefix]
        frame.error = rng.random() < 0.15
        frame.none = not self.prefix and rng.random() < 0.1
        if rng.random() < 0.1:
            last = (len(frame.data) - 1) // self.width
            frame.hole = rng.choice([0, last, rng.randint(0, last)])
            if frame.hole == last:
                frame.data += rng.randbytes(-len(frame.data) % self.width)
        return frame

    def to_beats(self, frame: Frame) -> list[dict]:
        """Cut a frame into beats; bytes that are not kept, tuser before the end, tdest and tdrop behind the first are noise."""
        beats, width = [], self.width
        for start in range(0, len(frame.data), width):
            part, last = frame.data[start : start + width], start + width >= len(frame.data)
            padded = part + self.rng.randbytes(width - len(part))
            user = int(frame.error) if last else self.rng.getrandbits(1)
            keep = 2 ** len(part) - 1
            if frame.hole == start // width:
                bit = self.rng.randrange(width - 1)
                keep &= ~(1 << bit)
                if not last and self.rng.random() < 0.5:  # without a hole, but not full
                    keep &= (1 << bit) - 1
            dest = self.rng.getrandbits(32) if start or frame.dest is None else frame.dest
            drop = self.rng.getrandbits(1) if start or frame.dest is None else int(frame.none)
            beats.append(
                {"data": int.from_bytes(padded, "little"), "keep": keep, "last": int(last), "user": user, "dest": dest, "drop": drop}
            )
        return beats

    async def send(self, frames: list[Frame]) -> None:
        await self.source.send([beat for frame in frames for beat in self.to_beats(frame)])

    def verdict(self, frame: Frame) -> tuple[int, int, int]:
        from penstock.engine import engine

        models = engine.models("classify")

        error = frame.error or frame.hole is not None
        sizes = {"queues": self.queues, "min_frame_bytes": self.shortest, "max_frame_bytes": self.longest}
        return models.classify(frame.data, error=error, dest=frame.dest, none=frame.none, **sizes)

    async def check(self, frames: list[Frame]) -> None:
        """Wait until the fate of `frames` is known and all output is there, and compare."""
        verdicts = [self.verdict(frame) for frame in frames]
        passed = [frame.data[self.prefix :] for frame, verdict in zip(frames, verdicts, strict=True) if verdict[0] == 0]
        while len(self.events) < len(frames) or len(self.metas) < len(passed) or sum(b["last"] for b in self.beats) < len(passed):
            await RisingEdge(self.dut.clk_i)
        for _ in range(20):  # for what must not come
            await RisingEdge(self.dut.clk_i)
        assert self.events == verdicts
        assert self.metas == [{"queue": queue, "len": length} for reason, queue, length in verdicts if reason == 0]
        assert len(self.beats) == sum(-(-len(data) // self.width) for data in passed)
        beats = iter(self.beats)
        for data in passed:
            for start in range(0, len(data), self.width):
                beat, part = next(beats), data[start : start + self.width]
                assert beat["data"].to_bytes(self.width, "little")[: len(part)] == part, f"wrong bytes at {start} of a frame of {len(data)}"
                assert beat["last"] == (start + self.width >= len(data))


def _clock(dut) -> random.Random:
    dut._log.info("seed %d", testkit.seed())
    Clock(dut.clk_i, 10, unit="ns").start()
    return random.Random(testkit.seed())


@cocotb.test()
async def mixed(dut) -> None:
    """Frames around every limit, with every reason, under random back-pressure on every handshake."""
    rng = _clock(dut)
    reasons = set()
    for source, meta_sink, data_sink in [(1.0, 1.0, 1.0), (0.7, 0.5, 0.9), (1.0, 1.0, 0.4), (1.0, 0.05, 1.0)]:
        bench = Bench(dut, rng, source, meta_sink, data_sink)
        await bench.start()
        bench.drain()
        frames = [bench.any() for _ in range(250)]
        await with_timeout(bench.send(frames), 2, "ms")
        await with_timeout(bench.check(frames), 2, "ms")
        reasons |= {event[0] for event in bench.events}
        bench.stop()
    wanted = set(range(5)) if bench.prefix else {*range(5), 14}
    assert reasons == wanted, f"only the reasons {reasons} came up"


@cocotb.test()
async def full_rate(dut) -> None:
    """Frames of 64 bytes (60 and the prefix), and of all other lengths, never make the input wait while the output is taken."""
    rng = _clock(dut)
    for lengths in (lambda bench: max(60, bench.shortest), lambda bench: None):
        bench = Bench(dut, rng)
        await bench.start()
        bench.drain()
        frames = [bench.good(lengths(bench)) for _ in range(200)]
        beats = [beat for frame in frames for beat in bench.to_beats(frame)]
        started = cocotb.utils.get_sim_time("ns")
        await bench.source.send(beats)
        assert (cocotb.utils.get_sim_time("ns") - started) / 10 <= len(beats) + 1, "the input waited"
        await with_timeout(bench.check(frames), 10, "us")
        bench.stop()


@cocotb.test()
async def latency(dut) -> None:
    """From the last beat in: 3 cycles to the event and 5 to the output; one less when the strip empties the last beat, or without one."""
    rng = _clock(dut)
    bench = Bench(dut, rng)
    await bench.start()
    bench.drain()
    whole = -(-bench.shortest // bench.width) * bench.width
    for length, less in ((whole - 4, 0), (whole, 1)) if bench.prefix else ((whole - 4, 1), (whole, 1), (whole + 1, 1)):
        beats = bench.to_beats(bench.good(length))
        await bench.source.send(beats[:-1])
        sender = cocotb.start_soon(bench.source.send(beats[-1:]))
        await ReadOnly()
        while not (int(dut.s_axis_tvalid_i.value) and int(dut.s_axis_tlast_i.value)):
            await FallingEdge(dut.clk_i)
            await ReadOnly()
        seen: dict[str, int] = {}
        for cycle in range(10):
            for name in ("ev_valid_o", "m_meta_valid_o", "m_data_valid_o"):
                if int(getattr(dut, name).value):
                    seen.setdefault(name, cycle)
            await FallingEdge(dut.clk_i)
            await ReadOnly()
        assert seen == {"ev_valid_o": 3 - less, "m_meta_valid_o": 5 - less, "m_data_valid_o": 5 - less}
        await FallingEdge(dut.clk_i)
        await sender


@cocotb.test()
async def giant(dut) -> None:
    """A frame of 70,000 beats is swallowed at full rate though the output is stuck with a frame in the store; its neighbours pass."""
    rng = _clock(dut)
    bench = Bench(dut, rng)
    await bench.start()
    before, after = bench.good(bench.longest), bench.good(bench.longest)
    await bench.send([before])
    begun = bench.frame(bench.queues - 1, rng.randbytes(bench.width - bench.prefix))
    await bench.source.send([bench.to_beats(begun)[0] | {"last": 0, "user": 1}])
    dut.s_axis_tvalid_i.value = 1
    size = 2 * bench.width  # of the giant: two beats before the first that is measured

    async def measure() -> None:
        nonlocal size
        while True:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            if int(dut.s_axis_tvalid_i.value) and int(dut.s_axis_tready_o.value):
                size += int(dut.s_axis_tkeep_i.value).bit_count()

    measuring = cocotb.start_soon(measure())
    for _ in range(70):
        await ClockCycles(dut.clk_i, 1000)
        await FallingEdge(dut.clk_i)
        assert int(dut.s_axis_tready_o.value), "the giant is stuck"
    # Its end, with one byte in the last beat.
    await bench.source.send([{"data": rng.getrandbits(8), "keep": 1, "last": 1, "user": 0, "dest": 0, "drop": 1}])
    measuring.cancel()
    await bench.send([after])
    bench.drain()
    assert size > 70_000 * bench.width
    giant_frame = Frame(begun.data + bytes(size - bench.width), dest=begun.dest)
    await with_timeout(bench.check([before, giant_frame, after]), 100, "us")


@cocotb.test()
async def reported_length_is_exact(dut) -> None:
    """Around 65,535 bytes, and of 100,000."""
    rng = _clock(dut)
    bench = Bench(dut, rng)
    await bench.start()
    bench.drain()
    frames = []
    for length in (65534, 65535, 65536, 65535 + bench.width, 100_000):
        frames += [bench.frame(0, bytes(length)), bench.good(bench.shortest)]
    await bench.send(frames)
    await with_timeout(bench.check(frames), 100, "us")


@cocotb.test()
async def giants_while_the_buffer_is_full(dut) -> None:
    """Giants between good frames with a slow reader: each waits for the room of one frame at most and none is stuck."""
    rng = _clock(dut)
    bench = Bench(dut, rng, data_sink=0.3)
    await bench.start()
    bench.drain()
    frames = []
    for _ in range(12):
        frames += [bench.good(bench.longest), bench.frame(0, rng.randbytes(bench.longest + 40 * bench.width))]
    await with_timeout(bench.send(frames), 1, "ms")
    await with_timeout(bench.check(frames), 1, "ms")


@cocotb.test()
async def reset_in_traffic(dut) -> None:
    """After a reset in the middle of a frame, cut or not, the next beat is the first of a frame."""
    rng = _clock(dut)
    for length in (1, 2, 3, 10**6):
        bench = Bench(dut, rng)
        await bench.start()
        lost = bench.to_beats(bench.frame(0, rng.randbytes(4 * bench.longest)))[:length]
        await bench.source.send(bench.to_beats(bench.good()) + lost[: 2 * bench.longest // bench.width])
        bench.stop()

        bench = Bench(dut, rng)
        await bench.start()
        bench.drain()
        frames = [bench.any() for _ in range(10)]
        await with_timeout(bench.send(frames), 100, "us")
        await with_timeout(bench.check(frames), 100, "us")
        bench.stop()


@pytest.mark.parametrize(
    "parameters",
    [
        {"Queues": 1000, "DataBytes": 64, "MinFrameBytes": 60, "MaxFrameBytes": 1514, "BufferBeats": 64},
        pytest.param({"Queues": 1, "DataBytes": 16, "MinFrameBytes": 20, "MaxFrameBytes": 100, "BufferBeats": 16}, marks=pytest.mark.slow),
        pytest.param(
            {"Queues": 1000, "DataBytes": 64, "MinFrameBytes": 60, "MaxFrameBytes": 1514, "BufferBeats": 64, "Prefix": 0},
            marks=pytest.mark.slow,
        ),
        {"Queues": 1, "DataBytes": 16, "MinFrameBytes": 20, "MaxFrameBytes": 100, "BufferBeats": 16, "Prefix": 0},
    ],
    ids=["64-byte-beats", "16-byte-beats", "64-byte-beats-tdest", "16-byte-beats-tdest"],
)
def test_pst_classify(parameters: dict[str, int]) -> None:
    from penstock.engine import engine

    engine.build()
    testkit.run_module("classify", "pst_classify", parameters)


def test_a_buffer_that_cannot_hold_two_frames_is_refused() -> None:
    """32 beats do not hold two frames of 25 beats: the build stops."""
    with pytest.raises(RuntimeError, match="return code"):
        testkit.run_module("classify", "pst_classify", {"MaxFrameBytes": 1600, "BufferBeats": 32})
