# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The deadline port is reset in mid-traffic while its memories go on: drained before it owes and is owed nothing, and not drained it is.

Traffic, stops and resets come at random moments; each frame is followed to its end, and AXI4 is looked at by a watch of its own.
"""

import random
import sys
from collections import defaultdict, deque
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, with_timeout

from penstock.designs.deadline_port import registers
from penstock.hardware import library
from penstock.paths import BLOCKS
from penstock.testing.testbus import axi_lite_master
from penstock.testing.testkit import Stream, parameter, run_module, seed, start, watch_held

sys.path.insert(0, str(BLOCKS / "memory" / "test"))  # the AXI4 memories of the memory block's tests

BEAT, CLASSES, MEMORIES, CHUNKS, CHUNK_BEATS = 64, 3, 2, 256, 8
BUSY = 1 << registers.table()["status"]["fields"]["busy"][0]
SMALL = {"Classes": CLASSES, "ClassFromUser": 1, "ChunkBeats": CHUNK_BEATS, "Memories": MEMORIES, "Chunks": CHUNKS, "Places": 8, "Lines": 8,
         "Reads": 8, "Writes": 4, "StoreBeats": 64, "TickCycles": 100, "Stamps": 256}  # fmt: skip


@pytest.mark.parametrize("plain", [0, pytest.param(1, marks=pytest.mark.slow)], ids=["edfr", "fifo"])
def test_reset_beside_memories(plain: int) -> None:
    run_module("deadline_port", "pst_deadline_port", {**SMALL, "PlainFifo": plain}, sources=library.sources_of("pst_deadline_port"))


class Watch:
    """What AXI4 forbids at the ports of the memories: an answer that was not asked for, more beats than that, an offer that is taken back,
    a write without its data.

    The device's reset makes it forget what was asked, as it makes the device.
    """

    def __init__(self, dut: Any) -> None:
        self.dut, self.found = dut, []
        self.forget()

    def forget(self) -> None:
        self.writes, self.ended, self.beats = [0] * MEMORIES, [0] * MEMORIES, [0] * MEMORIES
        self.held: dict[tuple[str, int], int] = {}

    @property
    def owed(self) -> bool:
        return any(self.writes) or any(self.ended) or any(self.beats)

    async def run(self) -> None:
        while True:
            await FallingEdge(self.dut.clk_i)
            await ReadOnly()
            self._cycle(int(self.dut.rst_i.value))

    def _cycle(self, in_reset: int) -> None:
        names = {name: getattr(self.dut, f"m_axi_{name}_{side}") for side, found in
                 (("o", ("awvalid", "wvalid", "arvalid", "wlast", "bready", "rready", "arlen")),
                  ("i", ("awready", "wready", "arready", "bvalid", "rvalid", "rlast"))) for name in found}  # fmt: skip
        pins = {name: int(pin.value) for name, pin in names.items()}
        if in_reset:
            self.found += [f"memory {m} never gets the data of a write" for m in range(MEMORIES) if self.writes[m]]
            self.found += [f"{channel} of memory {m} was taken back" for (channel, m), held in self.held.items() if held]
            self.forget()
        for m in range(MEMORIES):
            on = {name: word >> m & 1 for name, word in pins.items()}
            if on["bvalid"] and not self.ended[m]:
                self.found.append(f"memory {m} answers a write that was not asked for")
            if on["rvalid"] and not self.beats[m]:
                self.found.append(f"memory {m} sends data that were not asked for")
            if in_reset:
                continue
            self.ended[m] -= on["bvalid"] and on["bready"]
            self.beats[m] -= on["rvalid"] and on["rready"]
            self.writes[m] += on["awvalid"] and on["awready"]
            if on["wvalid"] and on["wready"] and on["wlast"]:
                self.writes[m] -= 1  # below zero while data go before their address
                self.ended[m] += 1
            if on["arvalid"] and on["arready"]:
                self.beats[m] += (pins["arlen"] >> 8 * m & 255) + 1
            for channel in ("aw", "w", "ar"):
                if self.held.pop((channel, m), 0) and not on[f"{channel}valid"]:
                    self.found.append(f"{channel} of memory {m} was taken back")
                self.held[channel, m] = on[f"{channel}valid"] and not on[f"{channel}ready"]


class Bench:
    """The port between a source, a sink and two memories that do not know its reset."""

    def __init__(self, dut: Any) -> None:
        from memory_bench import AxiMemories

        dut._log.info(f"PENSTOCK_SEED={seed()}")
        self.dut, self.rng, self.plain = dut, random.Random(seed()), parameter("PlainFifo", 0)
        sizes = (CHUNKS * CHUNK_BEATS * BEAT // MEMORIES,) * MEMORIES
        self.memories = AxiMemories(dut, sizes, self.rng, latency=(10, 60), probability=0.8)
        self.memories.forgets = False
        self.watch = Watch(dut)
        pins = {name: getattr(dut, f"s_axis_{name}_i") for name in ("tdata", "tkeep", "tlast", "tuser")}
        self.source = Stream(dut.clk_i, dut.s_axis_tvalid_i, dut.s_axis_tready_o, pins, 0.8, self.rng)
        pins = {name: getattr(dut, f"m_axis_{name}_o") for name in ("tdata", "tkeep", "tlast", "tid", "tuser")}
        self.sink = Stream(dut.clk_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, pins, 0.8, self.rng)
        self.offered: dict[tuple[int, bool], deque[tuple[bytes, int]]] = defaultdict(deque)  # of a class, good or damaged: frame, its bits
        self.tag = self.left = 0
        self.tasks: list[Any] = []
        self.forget()

    def forget(self) -> None:
        """The device has been reset: nothing is inside, and counters are zero."""
        self.inside: dict[int, deque[tuple[bytes, int]]] = defaultdict(deque)
        self.counts: dict[int, dict[str, int]] = {n: dict.fromkeys(("in", "out", "missed", "lost", "no_page"), 0) for n in range(CLASSES)}
        self.bad, self.arriving = 0, bytearray()

    async def start(self) -> None:
        dut = self.dut
        for name in dir(dut):
            if name.endswith("_i") and name not in ("clk_i", "rst_i"):
                getattr(dut, name).value = 0
        self.memories.idle()
        self.axil = axi_lite_master(dut)
        await start(dut)
        for one in (self.memories.run(), self.watch.run(), self._events(),
                    watch_held(dut.clk_i, dut.rst_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, self.sink.fields)):  # fmt: skip
            cocotb.start_soon(one)
        await self.begun()

    async def begun(self) -> None:
        """Behind a reset: wait until frames are taken, have the sink take what comes, give the classes their deadlines."""
        self.tasks = [cocotb.start_soon(self.sink.receive(Arrivals(self)))]
        while not int(self.dut.init_done_o.value):
            assert not int(self.dut.s_axis_tready_o.value), "a frame is taken before the memories are cleared"
            await FallingEdge(self.dut.clk_i)
        self.free = await self.read("free_chunks")
        for number, cycles in enumerate((200, self.rng.choice([700, 20_000]), 20_000)):
            for name, value in (("class_index", number), ("class_deadline", cycles), ("command", registers.command("write_class"))):
                await self.write(name, value)

    async def reset(self, cycles: int) -> None:
        """Reset the device alone; a frame that has not begun stays on offer at its input."""
        for task in self.tasks:
            task.cancel()
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_i.value = 1
        self.dut.m_axis_tready_i.value = 0
        for _ in range(cycles):
            await FallingEdge(self.dut.clk_i)
        self.forget()

    async def _events(self) -> None:
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            if int(dut.rst_i.value):
                continue
            if int(dut.ev_in_valid_o.value):
                refused = self.offered[int(dut.ev_in_class_o.value), True]
                assert refused and int(dut.ev_in_len_o.value) == len(refused.popleft()[0]), "another frame was refused than the damaged one"
                self.bad += 1
            if int(dut.ev_fate_valid_o.value):
                number, reason = int(dut.ev_fate_class_o.value), int(dut.ev_fate_reason_o.value)
                frame, tag = self.offered[number, False].popleft()
                assert int(dut.ev_fate_len_o.value) == len(frame), "another frame came to the class"
                self.counts[number]["in"] += 1
                if reason:
                    self.counts[number]["no_page"] += 1
                else:
                    self.inside[number].append((frame, tag))
            for name in ("expired", "late"):
                if int(getattr(dut, f"ev_{name}_valid_o").value):
                    self.counts[int(getattr(dut, f"ev_{name}_class_o").value)]["missed"] += 1
            if int(dut.ev_passed_valid_o.value):
                assert not int(dut.ev_passed_lost_o.value), "a frame was lost in memory"
                self.counts[int(dut.ev_passed_class_o.value)]["missed"] += int(dut.ev_passed_frames_o.value)

    def beat(self, beat: dict[str, int]) -> None:
        self.arriving += beat["tdata"].to_bytes(BEAT, "little")[: beat["tkeep"].bit_count()]
        if beat["tlast"]:
            number, waiting = beat["tid"], self.inside[beat["tid"]]
            wanted = bytes(self.arriving), beat["tuser"]
            while waiting and waiting[0] != wanted:  # it has missed its deadline
                waiting.popleft()
            assert waiting, f"class {number} sends a frame of {len(self.arriving)} bytes that it does not have"
            waiting.popleft()
            self.counts[number]["out"] += 1
            self.left += 1
            self.arriving = bytearray()

    async def send(self, count: int) -> None:
        for _ in range(count):
            number = self.rng.randrange(CLASSES)
            data = self.rng.randbytes(self.rng.choice([60, 64, 65, 300, 590, 1514, self.rng.randrange(60, 1523)]))
            self.tag = (self.tag + 1) % (256 if self.plain else 65_536)
            damaged = self.rng.random() < 0.05
            self.offered[number, damaged].append((data, self.tag))
            parts = [data[at : at + BEAT] for at in range(0, len(data), BEAT)]
            await self.source.send([
                {"tdata": int.from_bytes(part, "little"), "tkeep": (1 << len(part)) - 1, "tlast": int(part is parts[-1]),
                 "tuser": number << 17 | self.tag << 1 | int(damaged and part is parts[-1])} for part in parts
            ])  # fmt: skip

    async def write(self, name: str, value: int) -> None:
        answer = await with_timeout(self.axil.write(registers.address(name), value.to_bytes(4, "little")), 200, "us")
        assert answer.resp == 0

    async def read(self, name: str) -> int:
        answer = await with_timeout(self.axil.read(registers.address(name), 4), 200, "us")
        return int.from_bytes(answer.data, "little")

    async def compared(self) -> None:
        """Wait until nothing is inside, and compare every counter with what was seen."""
        for _ in range(40_000):
            sums = [(one["in"], sum(one.values()) - one["in"]) for one in self.counts.values()]
            if all(came == went for came, went in sums) and not any(self.offered.values()):
                break
            await FallingEdge(self.dut.clk_i)
        else:
            raise AssertionError(f"frames are stuck: came and went {sums}, at the input {[len(one) for one in self.offered.values()]}")
        for _ in range(20):
            await FallingEdge(self.dut.clk_i)
        for number, counts in self.counts.items():
            await self.write("class_index", number)
            await self.write("command", registers.command("snapshot"))
            while await self.read("status") & BUSY:
                pass
            seen = {name: await self.read(f"{name}_frames") for name in counts}
            assert seen == counts, f"class {number}"
            assert await self.read("queued_frames") == 0
        assert await self.read("dropped_bad_frame_packets") == self.bad
        assert not self.watch.found, self.watch.found[0]


class Arrivals(list):
    """Hands each beat that the sink takes to the bench."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench

    def append(self, beat: dict[str, int]) -> None:
        self.bench.beat(beat)


def mixed(bench: Bench) -> None:
    bench.sink.probability, bench.source.probability = bench.rng.choice([0.15, 0.3]), bench.rng.choice([0.7, 1.0])
    bench.memories.probability = bench.rng.choice([0.3, 0.9])


@cocotb.test()
async def drained_before_a_reset(dut: Any) -> None:
    """At rest nothing moves at a memory or at the line. Behind the reset nothing of before is left, and every frame is right."""
    bench = Bench(dut)
    await bench.start()
    rng, free, busy, missed = bench.rng, bench.free, 0, 0
    for turn in range(8):
        mixed(bench)
        sender = cocotb.start_soon(bench.send(150))
        for _ in range(rng.randrange(200, 1000)):
            await FallingEdge(dut.clk_i)
        for _ in range(rng.choice([0, 600, 600])):  # often until a memory has something to do
            if bench.memories.under_way:
                break
            await FallingEdge(dut.clk_i)
        busy += bench.memories.under_way > 0
        await bench.write("drain", 1)
        for _ in range(500):
            if await bench.read("drained"):
                break
        else:
            raise AssertionError("it does not come to rest")
        gone = bench.left
        for _ in range(rng.randrange(1, 600)):
            await FallingEdge(dut.clk_i)
            assert not int(dut.s_axis_tready_o.value) and not int(dut.m_axis_tvalid_o.value), "it is not at rest"
            assert not bench.memories.under_way and not bench.memories.held and not bench.watch.owed, "a memory is not at rest"
        assert (await bench.read("outstanding"), await bench.read("drained")) == (0, 1)
        assert bench.left == gone and not bench.arriving
        assert sum(map(len, bench.offered.values())) <= 1, "a frame is neither in its class nor on offer"
        missed += sum(one["missed"] for one in bench.counts.values())
        if turn != 7 and rng.random() < 0.3:  # it goes on instead, from where it was
            await bench.write("drain", 0)
        else:
            await bench.reset(rng.randrange(1, 5))
            dut.rst_i.value = 0
            await bench.begun()
            assert bench.free == free, "a chunk of before is missing"
        bench.sink.probability = rng.choice([bench.sink.probability, 1.0])
        await sender
        await bench.compared()
    assert busy > 2, "the memories had nothing to do when the device was stopped"
    assert missed or bench.plain, "no frame has missed its deadline"


@cocotb.test()
async def not_drained_before_a_reset(dut: Any) -> None:
    """What the drain is for: memories answer a device that has not asked, and this bench sees it."""
    bench = Bench(dut)
    bench.memories.may_owe = True
    await bench.start()
    answered = 0
    for turn in range(8):
        mixed(bench)
        bench.source.probability, bench.sink.probability = 1.0, 0.2
        sender = cocotb.start_soon(bench.send(400))
        for _ in range(bench.rng.randrange(200, 1000)):
            await FallingEdge(dut.clk_i)
        for _ in range(bench.rng.randrange(60)):  # not only in the cycle of an address
            await FallingEdge(dut.clk_i)
        while not bench.memories.under_way:
            await FallingEdge(dut.clk_i)
        assert not bench.watch.found, bench.watch.found[0]
        sender.cancel()
        await bench.reset(200)
        assert bench.watch.found, f"reset {turn} has left no trace"
        answered += any("not asked for" in one for one in bench.watch.found)
        dut.s_axis_tvalid_i.value = 0
        bench.offered.clear()
        bench.memories.reset()  # as the device needs it: both
        await FallingEdge(dut.clk_i)
        bench.watch.found.clear()
        dut.rst_i.value = 0
        await bench.begun()
    assert answered, "no memory has answered"
