"""pst_control through AXI4-Lite: identity, the queue window, snapshots and drop counters, with random stalls on every side."""

import itertools
import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, with_timeout

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.contract_numbers import contract
from penstock.hardware import library
from penstock.testing import interrupts
from penstock.testing import strobes as byte_strobes
from penstock.testing.testbus import axi_lite_master
from penstock.testing.testkit import Stream, parameter, run_module, seed, start, watch_held

OKAY, SLAVE_ERROR = 0, 2
# Generated from the SystemRDL: software and hardware must answer with the same number.
MAP_VERSION = contract()["registers"]["version"]["fields"]["value"][2]
SETTINGS = [name.removeprefix("execute_") for name in registers.table() if name.startswith("execute_")]
RATE_MASK = (1 << registers.BURST_AT) - 1  # mantissa and exponent
HIERARCHY_FIELDS = ("what", "id", "shaper", "parent", "class", "weight")
CFG_FIELDS = ("queue", "shaper", "limit_packets", "limit_bytes", "aqm")


@pytest.mark.parametrize(
    "parameters",
    [
        {"Queues": 16, "Descriptors": 64, "Memories": 2, "MaxFrameBytes": 1522, "ClockHz": 220_000_000, "Shaping": 1,
         "AqmKind": 3, "AqmEstimate": 1, "TickShift": 8},
        pytest.param(
            {"Queues": 1000, "Descriptors": 131072, "Memories": 3, "MaxFrameBytes": 9600, "ClockHz": 10_000_000, "Shaping": 0,
             "PacketWidth": 32, "ByteWidth": 40},
            marks=pytest.mark.slow,
        ),
    ],
    ids=["16-queues", "1000-queues"],
)  # fmt: skip
def test_control(parameters: dict[str, int]) -> None:
    run_module("access_edge", "pst_control", parameters, sources=library.sources_of("pst_control"))


# Each of these is compiled once, for as many tests as can share it.
EVERYTHING = {"Queues": 64, "Hierarchy": 1, "QueuesPerSubscriber": 8, "Nodes": 4, "Ports": 2, "Classes": 3, "ShareClasses": 5,
              "ShareSizes": 2, "AqmKind": 1, "CounterMemory": 1}  # fmt: skip
QUEUES_ALONE = {"Queues": 40, "Busiest": 6}
# Without a hierarchy `test_control` runs all of them, too.
BOTH = pytest.mark.parametrize(
    "parameters", [EVERYTHING, pytest.param(QUEUES_ALONE, marks=pytest.mark.slow)], ids=["hierarchy", "queues-alone"]
)


def run(parameters: dict[str, int], testcase: str) -> None:
    run_module("access_edge", "pst_control", parameters, testcase, sources=library.sources_of("pst_control"))


def test_hierarchy() -> None:
    run(EVERYTHING, "settings_of_the_hierarchy")


def test_shares() -> None:
    run(EVERYTHING, "settings_of_shares")


@pytest.mark.slow
def test_shares_alone() -> None:
    run({"Queues": 64, "ShareClasses": 3, "ShareSizes": 2}, "settings_of_shares")


@pytest.mark.parametrize("there", [1, 0], ids=["there", "not-there"])
def test_node_snapshots(there: int) -> None:
    run(EVERYTHING | ({"NodeCounters": 1} if there else {}), "node_snapshots")


@pytest.mark.parametrize("parameters", [QUEUES_ALONE, pytest.param({"Queues": 40, "Busiest": 64}, marks=pytest.mark.slow)], ids=["6", "64"])
def test_scans(parameters: dict[str, int]) -> None:
    run(parameters, "scans")


@BOTH
def test_provisioning(parameters: dict[str, int]) -> None:
    run(parameters, "provisioning")


@BOTH
def test_read_back(parameters: dict[str, int]) -> None:
    run(parameters, "read_backs")


@BOTH
def test_interrupts(parameters: dict[str, int]) -> None:
    run(parameters, "all_causes")


@BOTH
def test_strobes(parameters: dict[str, int]) -> None:
    run(parameters, "all_strobes")


class Bench:
    """The module with a bus master, a sink for settings, and counter banks whose contents change all the time."""

    def __init__(self, dut) -> None:
        self.dut, self.rng = dut, random.Random(seed())
        dut._log.info(f"PENSTOCK_SEED={seed()}")
        self.queues = parameter("Queues", 16)
        self.widths = parameter("PacketWidth", 50), parameter("ByteWidth", 56)
        self.cfg: list[dict[str, int]] = []
        self.cfg_stream = Stream(
            dut.clk_i, dut.m_cfg_valid_o, dut.ready_cfg_i, {name: getattr(dut, f"m_cfg_{name}_o") for name in CFG_FIELDS}, 0.2, self.rng
        )
        self.hierarchy: list[dict[str, int]] = []
        self.hierarchy_stream = Stream(
            dut.clk_i, dut.m_hierarchy_cfg_valid_o, dut.ready_hierarchy_cfg_i,
            {name: getattr(dut, f"m_hierarchy_cfg_{name}_o") for name in HIERARCHY_FIELDS}, 0.2, self.rng,
        )  # fmt: skip
        self.looks: list[dict[str, int]] = []  # answers to looks: queue, packets, bytes, age, age_known, limits
        self.read_backs: list[dict[str, int]] = []  # answers to read-backs: what, id, shaper, parent, class, weight
        self.classes: list[tuple[int, int]] = []  # queue, and its class of memory
        self.snapshots: list[dict[str, tuple[int, int, int]]] = []  # bank: (queue, packets, bytes), as the banks gave them
        self.counter_load = {"out": 0.7, "in_drop": 0.7}  # share of cycles in which the counter banks take no read
        self.init_done = 1

    async def start(self, stalls: bool = True, drain_cfg: bool = True) -> None:
        dut = self.dut
        for name in ("ready_cfg", "ready_out", "ready_in_drop", "s_counts_out_valid", "s_counts_in_drop_valid"):
            getattr(dut, f"{name}_i").value = 0
        dut.dropped_packets_i.value = dut.dropped_bytes_i.value = dut.marked_packets_i.value = 0
        dut.ready_hierarchy_cfg_i.value = 0
        dut.s_share_free_i.value = dut.s_share_used_i.value = dut.s_share_in_force_i.value = 0
        dut.memory_lost_i.value = dut.s_scan_i.value = 0
        dut.s_counts_waits_i.value = dut.s_counts_wrong_i.value = 0
        dut.overflow_i.value = dut.lost_frames_i.value = dut.drain_done_i.value = 0
        for name in ("ready_look", "s_look_valid", "s_back_valid", "ready_class", "s_class_valid"):
            getattr(dut, f"{name}_i").value = 0
        dut.init_done_i.value = self.init_done
        self.axil = axi_lite_master(dut)
        if stalls:
            write, read = self.axil.write_if, self.axil.read_if
            for channel in (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel):
                channel.set_pause_generator(self.rng.random() < 0.5 for _ in itertools.count())
        await start(dut)
        cocotb.start_soon(self._banks())
        cocotb.start_soon(self._core())
        cocotb.start_soon(
            watch_held(dut.clk_i, dut.rst_i, dut.m_cfg_valid_o, dut.ready_cfg_i, {n: getattr(dut, f"m_cfg_{n}_o") for n in CFG_FIELDS})
        )
        cocotb.start_soon(self.hierarchy_stream.receive(self.hierarchy))
        if drain_cfg:
            cocotb.start_soon(self.cfg_stream.receive(self.cfg))

    async def _core(self) -> None:
        """The core as the device has it: looks wait for a free cycle and are answered five cycles later, a class after two, and a read-back
        after any time. Answers are drawn when asked for; until then anything stands there."""
        dut, rng = self.dut, self.rng
        words = {
            "look": {"packets": 16, "bytes": 24, "age": 32, "age_known": 1, "limit_packets": 16, "limit_bytes": 24},
            "back": {"shaper": 50, "parent": max(1, (self.queues - 1).bit_length()), "class": 3, "weight": 3, "aqm": 38},
        }
        looks: list[dict[str, int] | None] = [None] * 5
        classes: list[tuple[int, int] | None] = [None] * 2
        wait = None
        while True:
            look, cls, back = looks.pop(0), classes.pop(0), None
            if wait == 0:
                back = {name: rng.getrandbits(width) for name, width in words["back"].items()}
            for port, answer in (("look", look), ("back", back)):
                getattr(dut, f"s_{port}_valid_i").value = answer is not None
                for name, width in words[port].items():
                    getattr(dut, f"s_{port}_{name}_i").value = answer[name] if answer else rng.getrandbits(width)
            dut.s_class_valid_i.value = cls is not None
            dut.s_class_class_i.value = cls[1] if cls else rng.getrandbits(3)
            dut.ready_look_i.value = rng.random() < 0.5
            dut.ready_class_i.value = rng.random() < 0.5
            await ReadOnly()
            queue, reset = int(dut.m_read_index_o.value), int(dut.rst_i.value)
            looks.append(None)
            if int(dut.m_read_look_valid_o.value) and int(dut.ready_look_i.value) and not reset:
                looks[-1] = {"queue": queue} | {name: rng.getrandbits(width) for name, width in words["look"].items()}
                looks[-1]["packets"] *= rng.random() < 0.8
                self.looks.append(looks[-1])
            classes.append(None)
            if int(dut.m_read_class_valid_o.value) and int(dut.ready_class_i.value) and not reset:
                classes[-1] = queue, rng.getrandbits(3)
                self.classes.append(classes[-1])
            if back:
                self.read_backs.append(back | {"what": int(dut.m_back_what_o.value), "id": int(dut.m_back_id_o.value)})
            asked = int(dut.m_back_valid_o.value) and not reset and not back
            wait = None if not asked else rng.randrange(1, 20) if wait is None else wait - 1
            if reset:
                looks, classes = [None] * 5, [None] * 2
            await FallingEdge(dut.clk_i)

    async def _banks(self) -> None:
        """Counter banks as the device has them: reads steal idle cycles, answers come three cycles later."""
        dut, rng = self.dut, self.rng
        answers: dict[str, list[list[tuple[int, int, int]] | None]] = {"out": [None] * 3, "in_drop": [None] * 3}
        while True:
            for side, banks in (("out", ("out",)), ("in_drop", ("in", "drop", "aqm", "mark"))):
                answer = answers[side].pop(0)
                getattr(dut, f"s_counts_{side}_valid_i").value = answer is not None
                for number, bank in enumerate(banks):
                    _, packets, size = answer[number] if answer else (0, rng.getrandbits(self.widths[0]), rng.getrandbits(self.widths[1]))
                    getattr(dut, f"s_counts_{bank}_packets_i").value = packets
                    if bank != "mark":
                        getattr(dut, f"s_counts_{bank}_bytes_i").value = size
                getattr(dut, f"ready_{side}_i").value = rng.random() >= self.counter_load[side]
            await ReadOnly()
            for side, banks in (("out", ("out",)), ("in_drop", ("in", "drop", "aqm", "mark"))):
                taken = int(getattr(dut, f"m_read_{side}_valid_o").value) and int(getattr(dut, f"ready_{side}_i").value)
                if not taken or int(dut.rst_i.value):
                    answers[side].append(None)
                    continue
                queue = int(dut.m_read_index_o.value)
                given = [(queue, rng.getrandbits(self.widths[0]), rng.getrandbits(self.widths[1])) for _ in banks]
                answers[side].append(given)
                if side == "out":
                    self.snapshots.append({})
                self.snapshots[-1].update(zip(banks, given, strict=True))
            await FallingEdge(dut.clk_i)

    async def write(self, name: str, value: int) -> None:
        answer = await with_timeout(self.axil.write(registers.address(name), value.to_bytes(4, "little")), 100, "us")
        assert answer.resp == OKAY

    async def write_bytes(self, name: str | int, value: int, strobes: int) -> int:
        """Write the bytes of a register (or address) that `strobes` says; `value` is what the bus carries, in the other bytes too. Returns
        the response."""
        bus = self.axil.write_if
        address, data = bus.aw_channel._transaction_obj(), bus.w_channel._transaction_obj()
        address.awaddr = name if isinstance(name, int) else registers.address(name)
        address.awprot, data.wdata, data.wstrb = 0, value, strobes
        await bus.aw_channel.send(address)
        await bus.w_channel.send(data)
        return int((await with_timeout(bus.b_channel.recv(), 100, "us")).bresp)

    async def read(self, name: str) -> int:
        """Read a register, the lower half of a long one first."""
        entry = registers.table()[name]
        value = 0
        for offset in range(0, entry["bytes"], 4):
            answer = await with_timeout(self.axil.read(entry["address"] + offset, 4), 100, "us")
            assert answer.resp == OKAY
            value |= int.from_bytes(answer.data, "little") << 8 * offset
        return value

    async def idle(self) -> int:
        """Wait until no command is under way and return the status."""
        while True:
            status = await self.read("status")
            if not status & registers.STATUS_BUSY:
                return status


@cocotb.test()
async def identity(dut) -> None:
    bench = Bench(dut)
    bench.init_done = 0
    await bench.start()
    expected = {
        "type": 0x50535401, "version": MAP_VERSION, "next": 0,
        "queues": parameter("Queues", 0), "descriptors": parameter("Descriptors", 0), "memories": parameter("Memories", 0),
        "max_frame_bytes": parameter("MaxFrameBytes", 0), "clock_hz": parameter("ClockHz", 0),
        "features": parameter("Shaping", 0)
        | parameter("AqmKind", 0) << 1
        | parameter("AqmEstimate", 0) << 3 | parameter("TickShift", 0) << 8
        | (parameter("AqmKind", 0) != 0 and not parameter("AqmEstimate", 0)) << 18,
        "queue_index": 0, "queue_rate": 1, "queue_burst": 0, "queue_limit_packets": 65_535, "queue_limit_bytes": 16_777_215,
        "queue_aqm": 0, "queue_aqm_target": 0, "queue_aqm_interval": 0,
    }  # fmt: skip
    for name, value in expected.items():
        assert await bench.read(name) == value, name
    for name, value in expected.items():
        if not name.startswith("queue_"):
            await bench.write(name, 0xFFFFFFFF)
            assert await bench.read(name) == value, f"{name} is not for writing"
    assert await bench.read("status") == 0
    dut.init_done_i.value = 1
    assert await bench.read("status") == registers.STATUS_INIT_DONE
    for address in range(0, 0x1000, 4):  # every access is answered, also where there is nothing and where nothing can be read
        answer = await with_timeout(bench.axil.read(address, 4), 100, "us")
        assert answer.resp == OKAY
        if address >= 0x1F0 and not 0x200 <= address < 0x238:
            due = 0xFFFF_FFFF if address == registers.address("flow_limit") else 0  # there is no limit after reset
            assert int.from_bytes(answer.data, "little") == due
            if not 0x800 <= address < 0x880:
                assert (await with_timeout(bench.axil.write(address, bytes(4)), 100, "us")).resp == OKAY


@cocotb.test()
async def mixed_commands(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    rng = bench.rng
    shadow = {"queue_index": 0, "queue_rate": 1, "queue_burst": 0, "queue_limit_packets": 65_535, "queue_limit_bytes": 16_777_215}
    shadow |= {"queue_aqm": 0, "queue_aqm_target": 0, "queue_aqm_interval": 0}
    masks = {"queue_rate": RATE_MASK, "queue_burst": 0xFFFFFFF, "queue_aqm": 3, "queue_aqm_target": 0x3FFFF, "queue_aqm_interval": 0x3FFFF}
    expected: list[dict[str, int]] = []
    refused_before = snapshots = 0
    for _ in range(400):
        for name in rng.sample(list(shadow), rng.randrange(len(shadow) + 1)):
            value = rng.choice([0, 1, 65_535, 65_536, 0xFFFFFF, 0x1000000, 0xFFFFFFFF, rng.getrandbits(32)])
            if name == "queue_index":
                value = rng.choice(
                    [0, bench.queues - 1, bench.queues, 0xFFFFFFFF, rng.randrange(bench.queues), rng.randrange(bench.queues)]
                )
            await bench.write(name, value)
            shadow[name] = value & masks.get(name, 0xFFFFFFFF)
        command = rng.choice([0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 11, 16, 0x101, 0x109])
        await bench.write("queue_command", command)
        refused = shadow["queue_index"] >= bench.queues or command not in (1, 2, 3)
        if not refused and command != 2:
            expected.append(
                {
                    "queue": shadow["queue_index"],
                    "shaper": shadow["queue_burst"] << registers.BURST_AT | shadow["queue_rate"],
                    "limit_packets": min(shadow["queue_limit_packets"], 65_535),
                    "limit_bytes": min(shadow["queue_limit_bytes"], 16_777_215),
                    "aqm": (shadow["queue_aqm"] & 1) << 37
                    | (shadow["queue_aqm"] >> 1) << 36
                    | shadow["queue_aqm_target"] << 18
                    | shadow["queue_aqm_interval"],
                }
            )
            shadow["queue_index"] += command == 3
        elif not refused:
            snapshots += 1
        if rng.random() < 0.5:  # otherwise the next command comes while this one is under way
            status = await bench.idle()
            assert bool(status & registers.STATUS_REFUSED) == refused
            refused_before += refused
            for name, value in shadow.items():
                assert await bench.read(name) == value, name
            if not refused and command == 2:
                last = bench.snapshots[-1]
                most = [(1 << width) - 1 for width in bench.widths]
                last["drop"] = (last["drop"][0], *((last["drop"][i + 1] + last["aqm"][i + 1]) & most[i] for i in (0, 1)))
                for bank, name in (("out", "out"), ("in", "in"), ("drop", "drop"), ("aqm", "aqm_drop")):
                    queue, packets, size = last[bank]
                    assert queue == shadow["queue_index"]
                    assert (await bench.read(f"{name}_packets"), await bench.read(f"{name}_bytes")) == (packets, size), bank
                assert await bench.read("mark_packets") == last["mark"][1]
                look = bench.looks[-1]
                assert look["queue"] == shadow["queue_index"] and look["age_known"], "the head was not known"
                wanted = [look["packets"], look["bytes"], look["age"] if look["packets"] else 0]
                assert [await bench.read(name) for name in ("backlog_packets", "backlog_bytes", "head_sojourn")] == wanted
    await bench.idle()
    assert len(bench.looks) > snapshots, "no look was repeated"
    assert bench.cfg == expected
    assert len(bench.snapshots) == snapshots
    assert len(expected) > 50 and snapshots > 20 and refused_before > 10


@cocotb.test()
async def narrow_writes(dut) -> None:
    """Bytes without a strobe carry anything: a register keeps its own there, and in a command they are zero. Without its lowest byte there
    is no command."""
    bench = Bench(dut)
    await bench.start()
    rng, expected, refused_commands, last_refused = bench.rng, [], 0, False
    limits = {"queue_limit_packets": 65_535, "queue_limit_bytes": 16_777_215}
    for _ in range(60):
        for name in limits:
            value, strobes = rng.getrandbits(32), rng.randrange(16)
            assert await bench.write_bytes(name, value, strobes) == OKAY
            mask = byte_strobes.bits_of(strobes)
            limits[name] = limits[name] & ~mask | value & mask
            assert await bench.read(name) == limits[name], f"{name}: strobes {strobes:04b}"
        command, strobes = rng.choice([(1, 1), (1, 15), (1, 14), (1, 0), (0, 1), (1, 8), (1, 3)])
        noise = rng.choice([0, rng.getrandbits(24) << 8])
        written = (noise | command) & byte_strobes.bits_of(strobes)
        assert await bench.write_bytes("queue_command", noise | command, strobes) == OKAY
        refused = bool(await bench.idle() & registers.STATUS_REFUSED)
        last_refused = written != 1 if strobes & 1 else last_refused
        assert refused == last_refused, f"command {noise | command:#x}, strobes {strobes:04b}"
        refused_commands += strobes & 1 and refused
        if strobes & 1 and not refused:
            expected.append((min(limits["queue_limit_packets"], 65_535), min(limits["queue_limit_bytes"], 16_777_215)))
    assert [(setting["limit_packets"], setting["limit_bytes"]) for setting in bench.cfg] == expected
    assert len(expected) > 5 and refused_commands > 5


@cocotb.test()
async def second_command_waits(dut) -> None:
    """The settings of a command do not change while it waits, and the next command waits on the bus."""
    bench = Bench(dut)
    await bench.start(stalls=False, drain_cfg=False)
    await bench.write("queue_index", 3)
    await bench.write("queue_limit_packets", 11)
    await bench.write("queue_command", registers.COMMAND_WRITE_NEXT)
    await bench.write("queue_limit_packets", 22)
    assert await bench.read("queue_index") == 4
    assert await bench.read("status") == registers.STATUS_INIT_DONE | registers.STATUS_BUSY
    second = cocotb.start_soon(bench.write("queue_command", registers.COMMAND_WRITE))
    for _ in range(200):
        await FallingEdge(dut.clk_i)
    assert not second.done(), "the second command was answered while the first one was under way"
    cocotb.start_soon(bench.cfg_stream.receive(bench.cfg))
    await second
    await bench.idle()
    assert [(entry["queue"], entry["limit_packets"]) for entry in bench.cfg] == [(3, 11), (4, 22)]


@cocotb.test()
async def busy_counters_delay_a_snapshot(dut) -> None:
    """While a bank counts in every cycle the registers keep the snapshot before, whole, and every other access is answered."""
    bench = Bench(dut)
    await bench.start(stalls=False)
    await bench.write("queue_command", registers.COMMAND_SNAPSHOT)
    await bench.idle()
    names = [f"{bank}_{what}" for bank in ("in", "out", "drop", "backlog") for what in ("packets", "bytes")]
    before = [await bench.read(name) for name in names]
    for busy in ("out", "in_drop"):
        bench.counter_load[busy] = 1.0
        await bench.write("queue_command", registers.COMMAND_SNAPSHOT)
        for _ in range(5):
            assert [await bench.read(name) for name in names] == before
            assert await bench.read("status") & registers.STATUS_BUSY
        bench.counter_load[busy] = 0.9
        await bench.idle()
        before, old = [await bench.read(name) for name in names], before
        assert all(new != value for new, value in zip(before, old, strict=True))


@cocotb.test()
async def drop_counters_are_read_whole(dut) -> None:
    """Packets and bytes are those of one moment, although both carry into the upper half every few cycles."""
    bench = Bench(dut)
    await bench.start()
    history: dict[str, list[int]] = {
        f"dropped_{reason}_{what}": [0] for reason in registers.DROP_REASONS.values() for what in ("packets", "bytes")
    }

    async def count() -> None:
        while True:
            await FallingEdge(dut.clk_i)
            for port, width, what in ((dut.dropped_packets_i, bench.widths[0], "packets"), (dut.dropped_bytes_i, bench.widths[1], "bytes")):
                word = 0
                for code, reason in registers.DROP_REASONS.items():
                    values = history[f"dropped_{reason}_{what}"]
                    values.append((values[-1] + bench.rng.getrandbits(28)) % (1 << width))
                    word |= values[-1] << width * (code - 1)
                port.value = word

    cocotb.start_soon(count())
    for _ in range(5):
        for reason in registers.DROP_REASONS.values():
            packets, sizes = (history[f"dropped_{reason}_{what}"] for what in ("packets", "bytes"))
            since = len(packets) - 1
            read = [await bench.read(f"dropped_{reason}_{what}") for what in ("packets", "bytes")]
            assert read[0] in packets[since:], f"{reason}: {read[0]:#x} packets have halves of two moments"
            assert read[1] == sizes[packets.index(read[0], since)], f"{reason}: {read[1]:#x} bytes are not of the packets' moment"


@cocotb.test()
async def memories(dut) -> None:
    """The time-out as it is after reset and as it is written; the lost bits of the memories that there are."""
    bench, count = Bench(dut), parameter("Memories", 1)
    await bench.start()
    assert await bench.read("memory_timeout") == int(dut.memory_timeout_o.value) == 1 << 22
    for value in (0, 1, 0xFFFF_FFFF, bench.rng.getrandbits(32)):
        await bench.write("memory_timeout", value)
        assert await bench.read("memory_timeout") == int(dut.memory_timeout_o.value) == value
    for value in (0, (1 << count) - 1, bench.rng.getrandbits(count)):
        dut.memory_lost_i.value = value
        assert await bench.read("memory_lost") == value
    await bench.write("memory_lost", 0)
    assert await bench.read("memory_lost") == value, "software cannot bring a memory back"


@cocotb.test()
async def all_causes(dut) -> None:
    """A memory that is lost, a scan that ends, an overflow and rest are causes, each time anew; what stands on is none a second time."""
    bench, rng, count = Bench(dut), random.Random(seed()), parameter("Memories", 1)
    await bench.start()

    async def pulse(port, up: int, down: int) -> None:
        for value in (0, up):
            await FallingEdge(dut.clk_i)
            port.value = value
        await FallingEdge(dut.clk_i)
        port.value = down

    async def lose() -> None:
        await pulse(dut.memory_lost_i, 1 << rng.randrange(count), rng.choice([0, (1 << count) - 1]))

    events = {"memory_lost": lose, "scan_ended": lambda: pulse(dut.s_scan_i, 1 << (len(dut.s_scan_i) - 1), 0),
              "overflow": lambda: pulse(dut.overflow_i, 1, 0), "drained": lambda: pulse(dut.drain_done_i, 1, 1)}  # fmt: skip
    fields = registers.table()["irq_cause"]["fields"]
    await interrupts.check(dut, bench.read, bench.write, fields, events, dut.lost_frames_i, 4, rng)


@cocotb.test()
async def settings_of_the_hierarchy(dut) -> None:
    """Commands 4 to 7: each setting leaves whole; one out of range changes nothing and says why; without a hierarchy all are refused."""
    bench, rng = Bench(dut), random.Random(seed())
    await bench.start()
    hierarchy, per = parameter("Hierarchy", 0), parameter("QueuesPerSubscriber", 4)
    nodes, ports, classes = parameter("Nodes", 2), parameter("Ports", 2), parameter("Classes", 4)
    sizes = [bench.queues, bench.queues // per, nodes, ports]
    assert await bench.read("nodes") == (nodes if hierarchy else 0)
    expected, reasons = [], set()
    for _ in range(150):
        what = rng.randrange(4)
        size, parents = sizes[what], [1, nodes, ports, 1][what]
        index = rng.choice([0, size - 1, size, 2**32 - 1, rng.randrange(size), rng.randrange(size)])
        parent = rng.choice([0, parents - 1, parents, 2**31, rng.randrange(parents), rng.randrange(parents)])
        cls, weight = rng.choice([0, classes - 1, classes, 255, rng.randrange(classes)]), rng.randrange(8)
        mantissa, exponent, burst = rng.getrandbits(16), rng.getrandbits(6), rng.getrandbits(28)
        values = {
            "tree_index": index, "tree_parent": parent, "tree_class": weight << 8 | cls,
            "tree_rate": exponent << 16 | mantissa, "tree_burst": burst,
        }  # fmt: skip
        for name in rng.sample(list(values), len(values)):
            await bench.write(name, values[name])
        await bench.write("queue_command", 4 + what)
        status = await bench.idle()
        reason = 0
        if not hierarchy:
            reason = 1
        elif index >= size:
            reason = 2
        elif what in (1, 2) and parent >= parents:
            reason = 3
        elif what == 0 and cls >= classes:
            reason = 4
        assert status >> 4 & 7 == reason and bool(status & registers.STATUS_REFUSED) == (reason != 0), (what, values, hex(status))
        reasons.add(reason)
        if not reason:
            shaper = burst << registers.BURST_AT | exponent << 16 | mantissa
            expected.append({"what": what, "id": index, "shaper": shaper, "parent": parent, "class": cls, "weight": weight})
    assert len(bench.hierarchy) == len(expected)
    for given, wanted in zip(bench.hierarchy, expected, strict=True):
        meant = {0: ("what", "id", "class", "weight"), 3: ("what", "id", "shaper")}.get(wanted["what"], ("what", "id", "shaper", "parent"))
        assert {name: given[name] for name in meant} == {name: wanted[name] for name in meant}
    assert not bench.cfg and reasons == ({1} if not hierarchy else {0, 2, 3, 4})


@cocotb.test()
async def provisioning(dut) -> None:
    """Commands 9 and 10, by their number and through the window: whole or not at all, each steps on; all of a queue in one cycle; what is
    no setting or has not all its strobes changes nothing."""
    bench, rng = Bench(dut), random.Random(seed())
    await bench.start()
    hierarchy, per = parameter("Hierarchy", 0), parameter("QueuesPerSubscriber", 4)
    nodes, classes, share_classes = parameter("Nodes", 2), parameter("Classes", 4), parameter("ShareClasses", 0)
    seen: list[tuple[int, str, dict[str, int]]] = []  # cycle, port, what was taken there
    names = {"cfg": CFG_FIELDS, "hierarchy_cfg": HIERARCHY_FIELDS}
    waited = 0  # class and weight were not taken in the cycle of the queue's other settings

    async def listen() -> None:
        for cycle in itertools.count():
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            for port, fields in names.items():
                if int(getattr(dut, f"m_{port}_valid_o").value) and int(getattr(dut, f"ready_{port}_i").value):
                    seen.append((cycle, port, {name: int(getattr(dut, f"m_{port}_{name}_o").value) for name in fields}))
                    if port == "cfg":
                        seen[-1][2]["share_class"] = int(dut.m_share_queue_class_o.value)

    cocotb.start_soon(listen())
    masks = {
        "queue_rate": RATE_MASK, "queue_burst": 0xFFFFFFF, "queue_aqm": 3, "queue_aqm_target": 0x3FFFF, "queue_aqm_interval": 0x3FFFF,
        "queue_class": 0xFF, "tree_rate": RATE_MASK, "tree_burst": 0xFFFFFFF, "tree_class": 0x7FF,
    }  # fmt: skip
    shadow = {name: registers.table()[name]["fields"] for name in ("queue_index", "tree_index", *SETTINGS)}
    shadow = {name: sum((reset or 0) << low for low, _, reset in fields.values()) for name, fields in shadow.items()}

    def draw(name: str) -> int:
        if name == "queue_class":
            return rng.choice([share_classes, 255, *range(share_classes or 8)] if share_classes else range(256))
        if name == "tree_class":
            return rng.randrange(8) << 8 | rng.choice([*range(classes), *range(classes), classes, 255])
        if name == "tree_parent":
            return rng.choice([*range(nodes), nodes, 1 << 31])
        return rng.choice([0, 1, 65_536, 0xFFFFFFFF, rng.getrandbits(32), rng.getrandbits(32)])

    last = {"queue_index": bench.queues - 1, "tree_index": bench.queues // per - 1}
    outcomes = {"queue": 0, "subscriber": 0, "refused": 0, "error": 0, "window": 0}
    settings = [name for name in shadow if not name.endswith("_index")]
    assert len(settings) == 12
    for _ in range(300):
        for name in rng.sample(settings, rng.choice([0, 0, 1, 3, 12])):
            value = draw(name)
            await bench.write(name, value)
            shadow[name] = value & masks.get(name, 0xFFFFFFFF)
        if rng.random() < 0.2:
            for name, most in last.items():
                shadow[name] = rng.choice([0, rng.randrange(most + 1), most, most + 1, 0xFFFFFFFF])
                await bench.write(name, shadow[name])
        before = dict(shadow)
        name = rng.choice(settings)
        step = rng.random()
        if step < 0.15:  # an error
            value, strobes = draw(name), rng.randrange(1, 15)
            address = registers.executing(name)
            assert await bench.write_bytes(address ^ rng.choice([0, 4]), value, 0) == OKAY  # a converter's empty beat writes nothing
            if rng.random() < 0.5:
                address, strobes = 0x800 + rng.choice([*range(0, 0x44, 4), 0x54, 0x68, 0x7C]), 15
            assert await bench.write_bytes(address, value, strobes) == SLAVE_ERROR
            outcomes["error"] += 1
            command = 0
        elif step < 0.7:
            value = draw(name)
            assert await bench.write_bytes(registers.executing(name), value, 15) == OKAY
            shadow[name] = value & masks.get(name, 0xFFFFFFFF)
            command = 10 if name in ("tree_rate", "tree_burst", "tree_parent") else 9
            outcomes["window"] += 1
        else:
            command = rng.choice([9, 10])
            await bench.write("queue_command", command)
        wanted, reason = [], 0
        shaper = {which: shadow[f"{which}_burst"] << registers.BURST_AT | shadow[f"{which}_rate"] for which in ("queue", "tree")}
        cls, weight = shadow["tree_class"] & 0xFF, shadow["tree_class"] >> 8
        if command == 9:
            if shadow["queue_index"] > last["queue_index"]:
                reason = 2
            elif cls >= classes if hierarchy else share_classes and shadow["queue_class"] >= share_classes:
                reason = 4
            share = cls if hierarchy else shadow["queue_class"]  # with a hierarchy one class is both
            aqm = shadow["queue_aqm"] & 1, shadow["queue_aqm"] >> 1, shadow["queue_aqm_target"], shadow["queue_aqm_interval"]
            wanted = [
                ("cfg", {
                    "queue": shadow["queue_index"], "shaper": shaper["queue"],
                    "limit_packets": min(shadow["queue_limit_packets"], 65_535),
                    "limit_bytes": min(shadow["queue_limit_bytes"], 16_777_215),
                    "aqm": aqm[0] << 37 | aqm[1] << 36 | aqm[2] << 18 | aqm[3],
                    "share_class": share if share_classes else 0,
                }),
                *([("hierarchy_cfg", {"what": 0, "id": shadow["queue_index"], "class": cls, "weight": weight})] if hierarchy else []),
            ]  # fmt: skip
        elif command == 10:
            if not hierarchy:
                reason = 1
            elif shadow["tree_index"] > last["tree_index"]:
                reason = 2
            elif shadow["tree_parent"] >= nodes:
                reason = 3
            given = {"what": 1, "id": shadow["tree_index"], "shaper": shaper["tree"], "parent": shadow["tree_parent"], "weight": weight}
            wanted = [("hierarchy_cfg", given)]
        status = await bench.idle()
        if command:
            assert status >> 4 & 7 == reason and bool(status & registers.STATUS_REFUSED) == (reason != 0), (command, shadow, hex(status))
        if reason:
            wanted = []
            outcomes["refused"] += 1
        elif command:
            shadow["queue_index" if command == 9 else "tree_index"] += 1
            outcomes["queue" if command == 9 else "subscriber"] += 1
        else:
            assert shadow == before
        assert [(port, {key: got[key] for key in want}) for (_, port, got), (_, want) in zip(seen, wanted, strict=True)] == wanted
        waited += len({cycle for cycle, _, _ in seen}) > 1
        seen.clear()
        for name in rng.sample(list(shadow), 4):
            assert await bench.read(name) == shadow[name], name
    for name in settings:  # the window is for writing
        assert int.from_bytes((await bench.axil.read(registers.executing(name), 4)).data, "little") == 0
    assert all(outcomes[what] > 15 for what in outcomes if hierarchy or what != "subscriber"), outcomes
    assert (waited > 0) == bool(hierarchy), "the port of the hierarchy was never full"


@cocotb.test()
async def read_backs(dut) -> None:
    """Commands 12 to 15: what the parts answer is shown, what a queue, subscriber, node or port does not have is 0; the registers change
    whole, and not at all when the command is refused."""
    bench, rng = Bench(dut), random.Random(seed())
    await bench.start()
    hierarchy, per, shares, aqm = (
        parameter(n, d) for n, d in (("Hierarchy", 0), ("QueuesPerSubscriber", 4), ("ShareClasses", 0), ("AqmKind", 0))
    )
    sizes = [bench.queues, bench.queues // per, parameter("Nodes", 2), parameter("Ports", 2)]
    names = ["now_rate", "now_burst", "now_limit_packets", "now_limit_bytes", "now_parent", "now_class", "now_share_class",
             "now_aqm", "now_aqm_target", "now_aqm_interval"]  # fmt: skip
    shown, done, reasons = [0] * len(names), [0] * 4, set()
    for _ in range(120):
        what = rng.choice([0, 0, 1, 2, 3])
        index = rng.choice([0, sizes[what] - 1, sizes[what], 1 << 31, rng.randrange(sizes[what]), rng.randrange(sizes[what])])
        await bench.write("tree_index" if what else "queue_index", index)
        await bench.write("queue_index" if what else "tree_index", rng.getrandbits(32))
        await bench.write("queue_command", registers.COMMAND_READ_BACK + what)
        for name, value in zip(names, shown, strict=True):
            assert await bench.read(name) == value or not await bench.read("status") & registers.STATUS_BUSY, f"{name} changed too early"
        status = await bench.idle()
        reason = 1 if what and not hierarchy else 2 if index >= sizes[what] else 0
        assert status >> 4 & 7 == reason, (what, index, hex(status))
        reasons.add(reason)
        if not reason:
            back, done[what] = bench.read_backs[-1], done[what] + 1
            assert (back["what"], back["id"]) == (what, index)
            look, cls = bench.looks[-1] if what == 0 else None, bench.classes[-1] if what == 0 and shares else None
            assert (look or {"queue": index})["queue"] == index and (cls or (index,))[0] == index
            words = [back["aqm"] >> 37 | back["aqm"] >> 35 & 2, back["aqm"] >> 18 & 0x3FFFF, back["aqm"] & 0x3FFFF]
            shown = [
                back["shaper"] & RATE_MASK, back["shaper"] >> registers.BURST_AT,
                look["limit_packets"] if look else 0, look["limit_bytes"] if look else 0,
                back["parent"] if what in (1, 2) else 0,
                (back["class"] if what == 0 and hierarchy else 0) | (back["weight"] << 8 if what < 2 and hierarchy else 0),
                cls[1] if cls else 0,
                *(words if aqm and what == 0 else [0] * 3),
            ]  # fmt: skip
        assert [await bench.read(name) for name in names] == shown
    assert all(count > 5 for count in (done if hierarchy else done[:1])) and reasons == ({0, 2} if hierarchy else {0, 1, 2})
    assert len(bench.looks) == done[0] and len(bench.classes) == (done[0] if shares else 0)
    assert not bench.cfg and not bench.hierarchy and not bench.snapshots


@cocotb.test()
async def settings_of_shares(dut) -> None:
    """Command 8 tells the admission once, whole and in one cycle; a class or size out of range changes nothing and says why, also the class
    of a queue. Without an admission all are refused, and a queue has class 0."""
    bench, rng = Bench(dut), random.Random(seed())
    await bench.start()
    classes, sizes = parameter("ShareClasses", 0), parameter("ShareSizes", 1) if parameter("ShareClasses", 0) else 0
    assert (await bench.read("share_classes"), await bench.read("share_sizes")) == (classes, sizes)
    assert (await bench.read("features") >> 17 & 1) == (classes > 0)
    told: list[tuple[int, ...]] = []
    queue_classes: list[int] = []

    async def listen() -> None:
        while True:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            if int(dut.m_share_valid_o.value):
                told.append(tuple(int(getattr(dut, f"m_share_{name}_o").value) for name in ("class", "size", "alpha", "reserved")))
            if int(dut.m_cfg_valid_o.value) and int(dut.ready_cfg_i.value):
                queue_classes.append(int(dut.m_share_queue_class_o.value))

    cocotb.start_soon(listen())
    expected, expected_classes, reasons = [], [], set()
    for step in range(120):
        cls = rng.choice([0, classes, 255, rng.randrange(max(1, classes)), rng.randrange(max(1, classes))])
        size = rng.choice([0, sizes, 255, rng.randrange(max(1, sizes)), rng.randrange(max(1, sizes))])
        alpha, reserved = rng.getrandbits(4), rng.choice([0, 1, (1 << 24) - 1, rng.getrandbits(24)])
        if step % 3 == 2:  # a queue
            await bench.write("queue_class", cls)
            await bench.write("queue_command", registers.COMMAND_WRITE)
            reason = 4 if classes and cls >= classes else 0
            expected_classes += [] if reason else [cls if classes else 0]
        else:
            given = {"share_class": cls, "share_size": size, "share_alpha": alpha, "share_reserved": reserved}
            for name in rng.sample(list(given), len(given)):
                await bench.write(name, given[name])
            await bench.write("queue_command", registers.COMMAND_SHARE)
            reason = 1 if not classes else 2 if size >= sizes else 4 if cls >= classes else 0
            if not reason:
                expected.append((cls, size, alpha, reserved))
                values = [rng.getrandbits(24) for _ in range(3)]
                dut.s_share_free_i.value, dut.s_share_used_i.value, dut.s_share_in_force_i.value = values
                for name, value in zip(("share_free", "share_used", "share_in_force"), values, strict=True):
                    assert await bench.read(name) == value
            else:
                assert await bench.read("share_free") == 0 or not (cls >= classes or size >= sizes)
        status = await bench.idle()
        assert status >> 4 & 7 == reason and bool(status & registers.STATUS_REFUSED) == (reason != 0), (step, cls, size, hex(status))
        reasons.add(reason)
    assert told == expected and queue_classes == expected_classes
    assert reasons == ({0, 2, 4} if classes else {0, 1})


@cocotb.test()
async def scans(dut) -> None:
    """Commands 16 and 17 begin a scan, once, and are refused while one is under way; what the scan shows is in the registers."""
    bench, rng = Bench(dut), random.Random(seed())
    await bench.start()
    assert await bench.read("busiest_places") == parameter("Busiest", 0)
    begun: list[int] = []

    async def listen() -> None:
        while True:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            if int(dut.m_scan_valid_o.value):
                begun.append(int(dut.m_scan_level_o.value))

    cocotb.start_soon(listen())
    expected, refused, there = [], 0, parameter("Busiest", 0) > 0
    for _ in range(60):
        busy, level, place = rng.getrandbits(1), rng.getrandbits(1), rng.choice([0, 5, 63, 64, 255, rng.getrandbits(8)])
        number, window, queue, value = (rng.getrandbits(width) for width in (16, 32, 32, 38))
        dut.s_scan_i.value = busy << 119 | level << 118 | number << 102 | window << 70 | queue << 38 | value
        await bench.write("busiest_place", place)
        await bench.write("queue_index", 0xFFFFFFFF)  # which is none, and has nothing to do with it
        command = rng.choice([registers.COMMAND_SCAN, registers.COMMAND_SCAN_BACKLOG])
        await bench.write("queue_command", command)
        status = await bench.idle()
        assert status >> 4 & 7 == (1 if not there else 5 if busy else 0)
        refused += busy
        expected += [] if busy or not there else [int(command == registers.COMMAND_SCAN_BACKLOG)]
        assert int(dut.m_scan_show_o.value) == place
        assert await bench.read("busiest_status") == number << 16 | level << 1 | busy
        shown = [await bench.read(f"busiest_{name}") for name in ("place", "queue", "window", "bytes")]
        assert shown == [place, queue, window, value]
    assert begun == expected and 5 < refused < 55 and not bench.cfg and not bench.snapshots


@cocotb.test()
async def node_snapshots(dut) -> None:
    """Snapshots of queues, and of classes at nodes, in turns at random: each asks for its own counters, and shows what they answered."""
    bench, rng = Bench(dut), random.Random(seed())
    await bench.start()
    there, nodes, classes = parameter("NodeCounters", 0), parameter("Nodes", 2), parameter("Classes", 4)
    assert (await bench.read("features") >> 19 & 1) == there
    asked: list[tuple[str, int, int, int]] = []  # side, of a node, place, queue

    async def listen() -> None:
        while True:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            for side in ("out", "in_drop"):
                if int(getattr(dut, f"m_read_{side}_valid_o").value) and int(getattr(dut, f"ready_{side}_i").value):
                    asked.append((side, *(int(getattr(dut, f"m_read_{name}_o").value) for name in ("node", "place", "index"))))

    cocotb.start_soon(listen())
    reasons = set()
    for _ in range(80):
        node, cls, queue, of_node = (
            rng.choice([*range(nodes), nodes, 99]),
            rng.choice([*range(classes), classes, 255]),
            rng.randrange(bench.queues),
            0,
        )
        await bench.write("node_index", node)
        await bench.write("node_class", cls)
        await bench.write("queue_index", queue)
        asked.clear()
        looked = len(bench.looks)
        of_node = rng.random() < 0.7
        await bench.write("queue_command", registers.COMMAND_SNAPSHOT_NODE if of_node else registers.COMMAND_SNAPSHOT)
        reason = (1 if not there else 2 if node >= nodes else 4 if cls >= classes else 0) if of_node else 0
        assert await bench.idle() >> 4 & 7 == reason
        reasons.add(reason)
        if reason:
            assert not asked
            continue
        wanted = [(side, 1, node << 2 | cls) if of_node else (side, 0) for side in ("out", "in_drop")]
        assert [row[:3] if of_node else row[:2] for row in asked] == wanted and (of_node or {row[3] for row in asked} == {queue})
        assert (len(bench.looks) == looked) == of_node
        last, most = bench.snapshots[-1], [(1 << width) - 1 for width in bench.widths]
        last["drop"] = (0, *((last["drop"][i + 1] + last["aqm"][i + 1]) & most[i] for i in (0, 1)))
        for bank, name in (("out", "out"), ("in", "in"), ("drop", "drop"), ("aqm", "aqm_drop")):
            assert (await bench.read(f"{name}_packets"), await bench.read(f"{name}_bytes")) == last[bank][1:], bank
        assert await bench.read("mark_packets") == last["mark"][1]
        if of_node:
            assert [await bench.read(name) for name in ("backlog_packets", "backlog_bytes", "head_sojourn")] == [0, 0, 0]
    assert reasons == ({0, 2, 4} if there else {0, 1})


@cocotb.test()
async def reset_in_mid_command(dut) -> None:
    bench = Bench(dut)
    await bench.start(stalls=False, drain_cfg=False)
    for command in (registers.COMMAND_WRITE_NEXT, registers.COMMAND_SNAPSHOT):
        await bench.write("queue_index", 5)
        await bench.write("queue_limit_bytes", 1000)
        bench.counter_load = {"out": 1.0, "in_drop": 1.0}
        await bench.write("queue_command", command)
        dut.rst_i.value = 1
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        await FallingEdge(dut.clk_i)
        assert not int(dut.m_cfg_valid_o.value) and not int(dut.m_read_out_valid_o.value)
        assert await bench.read("status") == registers.STATUS_INIT_DONE
        assert await bench.read("queue_index") == 0
        assert await bench.read("queue_limit_bytes") == 16_777_215
        assert await bench.read("in_packets") == 0


@cocotb.test()
async def all_strobes(dut) -> None:
    """Bytes without strobe are not written, in any register; a command is one when its lowest byte is written."""
    bench = Bench(dut)
    await bench.start()

    async def idle() -> int:
        while (status := await bench.read("status")) & registers.STATUS_BUSY:
            pass
        return status >> 4 & 7

    table = {name: entry for name, entry in registers.table().items() if not name.startswith("execute_")}  # the window has its own test
    await byte_strobes.check(dut, bench.axil, table, "queue_command", registers.COMMAND_READ_BACK, idle, bench.rng)
