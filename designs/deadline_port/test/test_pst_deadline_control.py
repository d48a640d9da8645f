# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_deadline_control through AXI4-Lite: identity, deadlines, DSCPs, what is refused, snapshots; with random stalls on every side."""

import itertools
import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, with_timeout

from penstock.designs.deadline_port import registers
from penstock.hardware import library
from penstock.testing import interrupts
from penstock.testing import strobes as byte_strobes
from penstock.testing.testbus import axi_lite_master
from penstock.testing.testkit import parameter, run_module, seed, start

OKAY = 0
BANKS = ("in", "out", "missed", "lost", "no_page")
WRITE_CLASS, SNAPSHOT, WRITE_DSCP = (registers.contract()["enums"]["command"][name] for name in ("write_class", "snapshot", "write_dscp"))
REFUSALS = registers.contract()["enums"]["refusal"]


@pytest.mark.parametrize(
    "parameters",
    [{"Classes": 3, "Chunks": 256}, {"Classes": 256, "ClassFromUser": 1, "Chunks": 131072, "FrameWidth": 32, "ByteWidth": 40}],
    ids=["3", "256"],
)
def test_control(parameters: dict[str, int]) -> None:
    run_module("deadline_port", "pst_deadline_control", parameters, sources=library.sources_of("pst_deadline_control"))


class Bench:
    """The module with a bus master, a sink for deadlines, and counters that change all the time."""

    def __init__(self, dut) -> None:
        self.dut, self.rng = dut, random.Random(seed())
        dut._log.info(f"PENSTOCK_SEED={seed()}")
        self.classes, self.from_user = parameter("Classes", 64), parameter("ClassFromUser", 0)
        self.chunks = parameter("Chunks", 4096)
        self.widths = parameter("FrameWidth", 50), parameter("ByteWidth", 56)
        self.deadlines: list[tuple[int, int]] = []
        self.dscps: list[tuple[int, int]] = []
        self.answers: list[tuple[int, dict[str, tuple[int, int]]]] = []

    async def start(self) -> None:
        dut = self.dut
        for name in ("m_class_ready_i", "read_valid_i", "dropped_frames_i", "dropped_bytes_i", "free_i", "overflow_i", "lost_now_i",
                     "drain_done_i", "drain_outstanding_i"):  # fmt: skip
            getattr(dut, name).value = 0
        dut.init_done_i.value = 1
        self.axil = axi_lite_master(dut)
        write, read = self.axil.write_if, self.axil.read_if
        for channel in (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel):
            channel.set_pause_generator(self.rng.random() < 0.5 for _ in itertools.count())
        await start(dut)
        cocotb.start_soon(self._around())

    async def _around(self) -> None:
        """Take deadlines now and then; answer reads of counters three cycles later."""
        dut, rng = self.dut, self.rng
        waiting: list[dict[str, tuple[int, int]] | None] = [None] * 3
        while True:
            await FallingEdge(dut.clk_i)
            dut.m_class_ready_i.value = ready = int(rng.random() < 0.2)
            answer = waiting.pop(0)
            dut.read_valid_i.value = int(answer is not None)
            for name in BANKS:
                number, size = answer[name] if answer else (rng.getrandbits(20), rng.getrandbits(20))
                getattr(dut, f"{name}_frames_i").value, getattr(dut, f"{name}_bytes_i").value = number, size
            await ReadOnly()
            if int(dut.m_class_valid_o.value) and ready:
                self.deadlines.append((int(dut.m_class_o.value), int(dut.m_class_cycles_o.value)))
            if int(dut.m_dscp_valid_o.value):
                self.dscps.append((int(dut.m_dscp_o.value), int(dut.m_dscp_class_o.value)))
            given = None
            if int(dut.read_valid_o.value):
                given = {name: (rng.getrandbits(24), rng.getrandbits(34)) for name in BANKS[1:]}
                queued = rng.getrandbits(24), rng.getrandbits(34)
                given["in"] = tuple(sum(pair[i] for pair in given.values()) + queued[i] for i in (0, 1))
                self.answers.append((int(dut.read_class_o.value), {**given, "queued": queued}))
            waiting.append(given)

    async def write(self, name: str, value: int) -> None:
        answer = await with_timeout(self.axil.write(registers.address(name), value.to_bytes(4, "little")), 100, "us")
        assert answer.resp == OKAY

    async def read(self, name: str) -> int:
        entry = registers.table()[name]
        value = 0
        for offset in range(0, entry["bytes"], 4):
            answer = await with_timeout(self.axil.read(entry["address"] + offset, 4), 100, "us")
            assert answer.resp == OKAY
            value |= int.from_bytes(answer.data, "little") << 8 * offset
        return value

    async def command(self, value: int) -> str:
        """Send a command; return why it was refused, `accepted` else."""
        await self.write("command", value)
        while (status := await self.read("status")) >> 1 & 1:
            pass
        reason = next(name for name, code in REFUSALS.items() if code == status >> 4 & 7)
        assert (status >> 2 & 1) == (reason != "accepted")
        return reason


@cocotb.test()
async def all_causes(dut) -> None:
    """An overflow and rest are causes each time, and so are frames that are lost, some or 2^32 - 1 in a cycle."""
    bench = Bench(dut)
    await bench.start()

    async def overflow() -> None:
        await FallingEdge(dut.clk_i)
        dut.overflow_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.overflow_i.value = 0

    async def rest() -> None:
        for value in (0, 1):
            await FallingEdge(dut.clk_i)
            dut.drain_done_i.value = value
        await FallingEdge(dut.clk_i)

    fields = registers.table()["irq_cause"]["fields"]
    most = bench.rng.choice([3, (1 << 32) - 1])
    await interrupts.check(dut, bench.read, bench.write, fields, {"overflow": overflow, "drained": rest}, dut.lost_now_i, most, bench.rng)


@cocotb.test()
async def identity(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    assert await bench.read("type") == 0x50535402
    assert await bench.read("classes") == bench.classes
    assert await bench.read("chunks") == bench.chunks
    assert await bench.read("features") == bench.from_user
    dut.free_i.value = 77
    assert await bench.read("free_chunks") == 77
    for value, limit in ((0, 0), (5, 5), (bench.chunks - 1, bench.chunks - 1), (bench.chunks, 0), ((1 << 32) - 1, 0)):
        await bench.write("memory_limit", value)
        await FallingEdge(dut.clk_i)
        assert int(dut.limit_o.value) == limit
    reasons = {entry["number"]: name for name, entry in registers.contract()["reasons"].items()}
    for which, name, width in (("frames", "packets", bench.widths[0]), ("bytes", "bytes", bench.widths[1])):
        getattr(dut, f"dropped_{which}_i").value = sum((1000 * r + len(which)) << (r - 1) * width for r in reasons)
        for number, reason in reasons.items():
            await bench.read(f"dropped_{reason}_packets")
            assert await bench.read(f"dropped_{reason}_{name}") == 1000 * number + len(which)


@cocotb.test()
async def settings(dut) -> None:
    """Deadlines and classes leave as they were written, are read back, and nothing that is refused leaves."""
    bench = Bench(dut)
    await bench.start()
    rng, classes = bench.rng, bench.classes
    default = await bench.read("default_deadline")
    now, table = [default] * classes, [0] * 65
    deadlines: list[tuple[int, int]] = []
    dscps: list[tuple[int, int]] = []
    for _ in range(150):
        which = rng.choice((WRITE_CLASS, WRITE_CLASS, WRITE_DSCP, 0, 17, (1 << 32) - 1))
        index = rng.choice((rng.randrange(classes), classes, classes - 1, (1 << 32) - 1))
        cycles = rng.choice((rng.getrandbits(30), 0, (1 << 30) - 1, 1 << 30, (1 << 32) - 1))
        dscp, to = rng.choice((rng.randrange(65), 64, 65, 1 << 20)), rng.choice((rng.randrange(classes), classes))
        for name, value in (("class_index", index), ("class_deadline", cycles), ("dscp_index", dscp), ("dscp_class", to)):
            await bench.write(name, value)
        reason = await bench.command(which)
        if which == WRITE_CLASS:
            expected = "bad_class" if index >= classes else "bad_deadline" if cycles >> 30 else "accepted"
            if expected == "accepted":
                deadlines.append((index, cycles))
                now[index] = cycles
        elif which == WRITE_DSCP and not bench.from_user:
            expected = "bad_dscp" if dscp > 64 else "bad_class" if to >= classes else "accepted"
            if expected == "accepted":
                dscps.append((dscp, to))
                table[dscp] = to
        else:
            expected = "no_command"
        assert reason == expected, f"command {which}, class {index}, {cycles} cycles, DSCP {dscp} to {to}"
        assert await bench.read("class_deadline_now") == (now[index] if index < classes else 0)
        assert await bench.read("dscp_class_now") == (table[dscp] if dscp < 65 else 0)
    assert bench.deadlines == deadlines and bench.dscps == dscps


@cocotb.test()
async def snapshots(dut) -> None:
    """All counters of a snapshot are of one answer, and what is queued is what came less all others."""
    bench = Bench(dut)
    await bench.start()
    for _ in range(20):
        index = bench.rng.randrange(bench.classes)
        await bench.write("class_index", index)
        assert await bench.command(SNAPSHOT) == "accepted"
        await bench.write("class_index", bench.classes)
        assert await bench.command(SNAPSHOT) == "bad_class"
        class_id, given = bench.answers[-1]
        assert class_id == index
        for name, (number, size) in given.items():
            found = await bench.read(f"{name}_frames"), await bench.read(f"{name}_bytes")
            assert found == (number % (1 << bench.widths[0]), size % (1 << bench.widths[1])), name


@cocotb.test()
async def all_strobes(dut) -> None:
    """Bytes without strobe are not written, in any register; a command is one when its lowest byte is written."""
    bench = Bench(dut)
    await bench.start()

    async def idle() -> int:
        while (status := await bench.read("status")) >> 1 & 1:
            pass
        return status >> 4 & 7

    await byte_strobes.check(dut, bench.axil, registers.table(), "command", SNAPSHOT, idle, bench.rng)
