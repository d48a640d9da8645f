"""pst_memory_guard between a random master and a memory that stalls, refuses, falls silent at any moment and answers late."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

from penstock.testing import testkit

SLVERR = 2
IDLE_MASTER = ("awvalid", "awaddr", "awlen", "wvalid", "wdata", "wstrb", "wlast", "bready", "arvalid", "araddr", "arlen", "rready")
IDLE_MEMORY = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp", "rlast")


class Memory:
    """Answers at random after a latency, with errors where it is told to. `open`: it takes requests; `speaks`: it answers.

    What it answers names the request, so that a late answer cannot be taken for a newer one.
    """

    def __init__(self, dut, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.open = self.speaks = True
        self.errors = False
        self.pace, self.latency = 0.8, 5
        self.reset()

    def reset(self) -> None:
        self.now = 0
        self.aw: deque = deque()
        self.w: list = []
        self.b: deque = deque()
        self.r: deque = deque()
        self.b_valid = self.r_valid = False
        self.held: dict[str, tuple] = {}
        self.answered = 0
        self.quiet_since = -1  # it is waited for, as far as it knows
        self.bytes_written = 0

    async def run(self) -> None:
        while True:
            await FallingEdge(self.dut.clk_i)
            self.drive()
            await ReadOnly()
            if int(self.dut.rst_i.value):
                self.reset()
            else:
                self.sample()
            self.now += 1

    def drive(self) -> None:
        dut, chance = self.dut, lambda: self.rng.random() < self.pace
        for name in ("aw", "w", "ar"):
            getattr(dut, f"m_axi_{name}ready_i").value = int(self.open and chance())
        if not self.b_valid and self.speaks and self.b and self.b[0] <= self.now and chance():
            self.b_valid, self.b_resp = True, SLVERR if self.errors else 0
        if not self.r_valid and self.speaks and self.r and self.r[0][0] <= self.now and chance():
            self.r_valid, self.r_beat = True, (*self.r[0][1:], SLVERR if self.errors else 0)
        dut.m_axi_bvalid_i.value = int(self.b_valid)
        dut.m_axi_rvalid_i.value = int(self.r_valid)
        if self.b_valid:
            dut.m_axi_bresp_i.value = self.b_resp
        if self.r_valid:
            dut.m_axi_rdata_i.value, dut.m_axi_rlast_i.value, dut.m_axi_rresp_i.value = self.r_beat

    def taken(self, name: str, *fields: str) -> tuple | None:
        """Return the payload that is handed over on a channel; what is not taken must stay as it is."""
        dut = self.dut
        if not int(getattr(dut, f"m_axi_{name}valid_o").value):
            assert name not in self.held, f"{name} was withdrawn"
            return None
        payload = tuple(int(getattr(dut, f"m_axi_{field}_o").value) for field in fields)
        assert self.held.get(name, payload) == payload, f"{name} changed while it waited"
        if int(getattr(dut, f"m_axi_{name}ready_i").value):
            self.held.pop(name, None)
            return payload
        self.held[name] = payload
        return None

    def sample(self) -> None:
        dut = self.dut
        if self.b_valid and int(dut.m_axi_bready_o.value):
            self.b.popleft()
            self.b_valid = False
            self.answered += 1
        if self.r_valid and int(dut.m_axi_rready_o.value):
            self.r.popleft()
            self.r_valid = False
            self.answered += 1
        if aw := self.taken("aw", "awaddr", "awlen"):
            self.aw.append(aw[1] + 1)
        if w := self.taken("w", "wdata", "wstrb", "wlast"):
            self.w.append(w)
            self.bytes_written += w[1].bit_count()
        while self.aw and len(self.w) >= self.aw[0]:
            beats = self.aw.popleft()
            assert [beat[2] for beat in self.w[:beats]] == [0] * (beats - 1) + [1], "wlast in the wrong place"
            del self.w[:beats]
            self.b.append(self.now + self.rng.randint(1, self.latency))
        if ar := self.taken("ar", "araddr", "arlen"):
            due = self.now + self.rng.randint(1, self.latency)
            self.r.extend((due, ar[0] + k, int(k == ar[1])) for k in range(ar[1] + 1))


class Bench:
    """Master and memory; requests and the answers that came, in order."""

    def __init__(self, dut) -> None:
        self.dut, self.rng = dut, random.Random(testkit.seed())
        dut._log.info("seed %d", testkit.seed())
        self.most = 8
        self.memory = Memory(dut, self.rng)

    async def start(self, timeout: int) -> None:
        dut = self.dut
        for name in IDLE_MASTER:
            getattr(dut, f"s_axi_{name}_i").value = 0
        for name in IDLE_MEMORY:
            getattr(dut, f"m_axi_{name}_i").value = 0
        dut.timeout_i.value = timeout
        await testkit.start(dut)
        cocotb.start_soon(self.memory.run())
        for channel, names in (("b", ("resp",)), ("r", ("data", "resp", "last"))):
            fields = {name: getattr(dut, f"s_axi_{channel}{name}_o") for name in names}
            valid, ready = getattr(dut, f"s_axi_{channel}valid_o"), getattr(dut, f"s_axi_{channel}ready_i")
            cocotb.start_soon(testkit.watch_held(dut.clk_i, dut.rst_i, valid, ready, fields))

    async def reset(self) -> None:
        dut = self.dut
        await FallingEdge(dut.clk_i)
        dut.rst_i.value = 1
        for name in IDLE_MASTER:
            getattr(dut, f"s_axi_{name}_i").value = 0
        for _ in range(2):
            await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0

    def traffic(self, bursts: int, pace: float) -> None:
        """Send so many reads and writes, at most `most` of each under way, as the fabric does."""
        self.tasks = [
            cocotb.start_soon(self._writes([self.rng.choice((1, 1, 2, 5)) for _ in range(bursts)], pace)),
            cocotb.start_soon(self._reads([self.rng.choice((1, 1, 2, 5)) for _ in range(bursts)], pace)),
        ]

    def stream(self, channel: str, outgoing: bool, pace: float, *names: str) -> testkit.Stream:
        way = ("i", "o") if outgoing else ("o", "i")
        fields = {name: getattr(self.dut, f"s_axi_{channel}{name}_{way[0]}") for name in names}
        valid = getattr(self.dut, f"s_axi_{channel}valid_{way[0]}")
        return testkit.Stream(self.dut.clk_i, valid, getattr(self.dut, f"s_axi_{channel}ready_{way[1]}"), fields, pace, self.rng)

    async def _writes(self, bursts: list[int], pace: float) -> None:
        self.responses: list[dict] = []
        receiver = cocotb.start_soon(self.stream("b", False, pace, "resp").receive(self.responses, len(bursts)))
        aw, w = self.stream("aw", True, pace, "addr", "len"), self.stream("w", True, pace, "data", "strb", "last")
        for number, beats in enumerate(bursts):
            while number - len(self.responses) >= self.most:
                await RisingEdge(self.dut.clk_i)
            address = cocotb.start_soon(aw.send([{"addr": number * 512, "len": beats - 1}]))
            words = [{"data": number, "strb": (1 << 64) - 1, "last": int(k == beats - 1)} for k in range(beats)]
            await w.send(words)
            await address
        await receiver

    async def _reads(self, bursts: list[int], pace: float) -> None:
        self.beats: list[dict] = []
        self.asked = [(number * 512 + k, int(k == beats - 1)) for number, beats in enumerate(bursts) for k in range(beats)]
        receiver = cocotb.start_soon(self.stream("r", False, pace, "data", "resp", "last").receive(self.beats, len(self.asked)))
        ar = self.stream("ar", True, pace, "addr", "len")
        for number, beats in enumerate(bursts):
            while number - sum(beat["last"] for beat in self.beats) >= self.most:
                await RisingEdge(self.dut.clk_i)
            await ar.send([{"addr": number * 512, "len": beats - 1}])
        await receiver

    async def done(self, limit: int = 20000) -> None:
        for _ in range(limit):
            if all(task.done() for task in self.tasks):
                return
            await RisingEdge(self.dut.clk_i)
        raise AssertionError(f"hangs: {len(self.responses)} responses, {len(self.beats)} of {len(self.asked)} beats")

    def check(self, bursts: int) -> tuple[int, int]:
        """Each request has its answer; return how many writes and how many beats were refused."""
        assert len(self.responses) == bursts
        assert [beat["last"] for beat in self.beats] == [last for _, last in self.asked]
        for beat, (data, _) in zip(self.beats, self.asked, strict=True):
            assert beat["data"] == data or beat["resp"] == SLVERR, f"beat {data} came as {beat}"
        return sum(r["resp"] == SLVERR for r in self.responses), sum(b["resp"] == SLVERR for b in self.beats)


@cocotb.test()
async def survives(dut) -> None:
    """Stalls up to the time-out, and errors: nothing is lost but what the memory refused, and everything in order."""
    bench = Bench(dut)
    await bench.start(60)
    bench.traffic(150, 0.9)
    for _ in range(25):
        for _ in range(bench.rng.randint(5, 40)):
            await RisingEdge(dut.clk_i)
        kind = bench.rng.choice(("open", "speaks", "both", "errors"))
        bench.memory.open, bench.memory.speaks = kind not in ("open", "both"), kind not in ("speaks", "both")
        bench.memory.errors = kind == "errors"
        for _ in range(bench.rng.randint(1, 50)):  # after that, at most 5 more: the memory's latency and its pace
            await RisingEdge(dut.clk_i)
        bench.memory.open = bench.memory.speaks = True
        bench.memory.errors, bench.memory.pace = False, 1.0
        for _ in range(6):
            await RisingEdge(dut.clk_i)
        bench.memory.pace = 0.8
    await bench.done()
    refused = bench.check(150)
    assert not int(dut.lost_o.value) and refused[0] < 75 and refused[1] < len(bench.asked) / 2


@cocotb.test()
async def falls_silent(dut) -> None:
    """Silence at any moment, of one direction or both, then late answers: all is answered, at full rate, and nothing is mixed."""
    bench = Bench(dut)
    await bench.start(40)
    late = 0
    for _ in range(12):
        memory = bench.memory
        memory.open = memory.speaks = True
        bench.traffic(60, bench.rng.choice((0.7, 1.0)))
        for _ in range(bench.rng.randint(1, 90)):
            await RisingEdge(dut.clk_i)
        memory.open, memory.speaks = bench.rng.choice(((False, False), (True, False)))
        waited = 0
        while not int(dut.lost_o.value):
            await RisingEdge(dut.clk_i)
            waited += 1
            assert waited < 500, "a silent memory is not found out"
        assert waited >= 30
        for _ in range(bench.rng.choice((0, 3, 30))):
            await RisingEdge(dut.clk_i)
        before = memory.answered
        if bench.rng.random() < 0.7:
            memory.open = memory.speaks = True  # too late
        await bench.done()
        refused = bench.check(60)
        assert int(dut.lost_o.value) and sum(refused) > 0
        if memory.open and memory.speaks:
            for _ in range(200):
                await RisingEdge(dut.clk_i)
            assert not (memory.aw or memory.w or memory.b or memory.r), "the memory is owed something"
            assert "aw" not in memory.held and "w" not in memory.held and "ar" not in memory.held
            late += memory.answered - before
        written = memory.bytes_written
        bench.traffic(20, 1.0)
        cycles = 0
        while not all(task.done() for task in bench.tasks):
            await RisingEdge(dut.clk_i)
            cycles += 1
        assert bench.check(20) == (20, len(bench.asked)) and memory.bytes_written == written, "a lost memory is written to"
        assert cycles < 60 + len(bench.asked) * 2
        await bench.reset()
        assert not int(dut.lost_o.value)
    assert late > 20, "no late answers came"


@cocotb.test()
async def one_half_is_enough(dut) -> None:
    """Reads go on while writes are never answered: the memory is lost all the same."""
    bench = Bench(dut)
    await bench.start(50)
    memory = bench.memory
    bench.traffic(200, 1.0)
    for _ in range(30):
        await RisingEdge(dut.clk_i)
    memory.b = deque([10**9])
    lost_after = 0
    while not int(dut.lost_o.value):
        await RisingEdge(dut.clk_i)
        lost_after += 1
        assert lost_after < 300
    assert not all(task.done() for task in bench.tasks)
    await bench.done()


@cocotb.test()
async def waits_for_others(dut) -> None:
    """A memory whose answers are not taken, or whose data does not come, is not lost; with a time-out of 0 none ever is."""
    bench = Bench(dut)
    await bench.start(20)
    dut.s_axi_rready_i.value = 0
    ar = bench.stream("ar", True, 1.0, "addr", "len")
    await ar.send([{"addr": 0, "len": 3}])
    aw = bench.stream("aw", True, 1.0, "addr", "len")
    await aw.send([{"addr": 0, "len": 0}])
    bench.memory.open = False
    dut.s_axi_awvalid_i.value = 1  # another address, and no data for the first one
    for _ in range(300):
        await RisingEdge(dut.clk_i)
    assert not int(dut.lost_o.value), "a memory is blamed for what the device does not do"
    dut.s_axi_awvalid_i.value = 0
    await bench.reset()
    dut.timeout_i.value = 0
    bench.memory.open, bench.memory.speaks = True, False
    bench.traffic(10, 1.0)
    for _ in range(400):
        await RisingEdge(dut.clk_i)
    assert not int(dut.lost_o.value)
    bench.memory.speaks = True
    await bench.done()
    assert bench.check(10) == (0, 0)


@pytest.mark.parametrize("parameters", [{"MaxOutstanding": 8, "TimeoutWidth": 8}, {"MaxOutstanding": 13, "TimeoutWidth": 32}])
def test_pst_memory_guard(parameters: dict[str, object]) -> None:
    testkit.run_module("memory", "pst_memory_guard", {"AddrWidth": 24, **parameters})
