# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Whole devices with a hierarchy on both engines: every frame has the same fate in the same cycle, whatever is set in mid-traffic."""

import multiprocessing
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import job, registers
from penstock.designs.access_edge.testing import twins, twins_hierarchy
from penstock.engine import engine
from penstock.errors import UserError
from penstock.hardware import verilate
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration
from penstock.testing.testjobs import assert_clean, ip_frame
from penstock.testing.testkit import seed

TIMING = {"read_latency": 44, "write_latency": 22, "gap_permille": 0}
SLOW = pytest.mark.slow
JOBS = 5  # each level is congested in its turn


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """The engine, up to date."""
    engine.build(print)


def both(config: configs.Configuration, library: Path, described: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a job on both engines."""
    one, other = (engine.run(described | {"device": twins.device(config, where, TIMING)}) for where in (library, None))
    return one, other


def equal(config: configs.Configuration, jobs: Iterable[twins_hierarchy.HierarchyJob], packets: int) -> None:
    """Compare the engines on these jobs: drops, marks, each departure with its cycle and latency. So many packets must have come."""
    library, came, acted = verilate.build_device(config, print), 0, 0
    for made in jobs:
        rtl, model = both(config, library, made.job)
        for one in (rtl, model):
            assert_clean(one)
        assert twins.differences(rtl, model) == [], f"PENSTOCK_SEED={made.job['seed']}, {made.tight}"
        came += rtl["packets"]["in"]
        acted += rtl["packets"]["dropped"].get("aqm", 0)
    assert came > packets and (acted > 20) == (config.aqm != "none"), f"{came} packets, {acted} of them dropped by the AQM"


@pytest.mark.parametrize("changes", [False, True], ids=["kept", "changes"])
@pytest.mark.parametrize("name", [pytest.param("tree_2048", marks=SLOW), "tree_codel_64"])
def test_devices_are_equal(name: str, changes: bool) -> None:
    """Each level congested in its turn, with bursts, classes, weights; settings of queues and parents change in mid-traffic, or do not."""
    config = configs.load(name)
    jobs = [twins_hierarchy.HierarchyJob(config, number, changes) for number in range(seed(), seed() + JOBS)]
    assert {made.tight for made in jobs} == set(twins_hierarchy.LEVELS)
    equal(config, jobs, 5000)


# PIE updates a queue every 15 ms, 3.3 million cycles, unless told otherwise, and its probability needs some thirty updates to matter: here
# an update is every 2,560 cycles (a walk over 2,048 queues takes 2,048), with the largest gains, in a few longer jobs.
PIE = {"aqm": "pie", "pie.update_us": 12, "pie.alpha": 13, "pie.beta": 13}


# Of the last ones nothing is usual: one queue a subscriber, many nodes and ports, few of all, other tolerances.
@SLOW
@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("tree_codel_2048", {}),
        ("tree_2048", PIE),
        ("tree_64", {}),
        ("live_tree_16", {}),
        ("tree_codel_64", {"hierarchy.queues_per_subscriber": 1, "hierarchy.nodes": 32, "hierarchy.ports": 8, "tolerance_cycles": 64}),
        ("tree_64", {"hierarchy.queues_per_subscriber": 8, "hierarchy.classes": 1, "admission.classes": 1, "hierarchy.nodes": 2}),
        ("tree_codel_2048", {"hierarchy.queues_per_subscriber": 2, "hierarchy.nodes": 256, "hierarchy.ports": 16, "hierarchy.classes": 8,
                             "admission.classes": 8, "tolerance_cycles": 20_000}),
    ],
)  # fmt: skip
def test_other_devices_are_equal(name: str, overrides: dict[str, object]) -> None:
    """Several seeds of each; with an AQM before the hierarchy; and at 10 MHz, where a packet takes less cycles."""
    config = configs.with_overrides(configs.load(name), overrides)
    jobs, longer = (2, 4) if config.aqm == "pie" else (5, 1)
    equal(config, (twins_hierarchy.HierarchyJob(config, number, longer=longer) for number in range(seed(), seed() + jobs * JOBS)), 20_000)


def found(engine_name: str) -> dict[str, Any]:
    """Run the scenario of 50 queues, with CoDel and changes of all kinds, on one engine."""
    described, document = scenario.load(Path(__file__).parent / "changes.yaml", [])
    config = configuration(described, document)
    planned = job.build(described, document, config, engine_name).job
    if engine_name == "rtl":
        planned["device"]["library"] = str(verilate.build_device(config, print))
    return engine.run(planned | {"keep_departures": True})


# What the RTL sent and dropped of two queues of one subscriber, and their mean latency in ns. The subscriber is placed in its wheel a cycle
# after another one that has come out early, as it was beyond the horizon. It waits two cycles for that, from then on another queue goes.
CHANGES = {940: (48_877, 13_226, 721.676), 943: (895, 65_731, 570_375.688)}


def test_the_model_does_what_the_rtl_did() -> None:
    """10 million cycles; the RTL takes minutes for them."""
    model = found("model")
    for queue, (out, drop, mean) in CHANGES.items():
        assert (model["queue"]["out_packets"][queue], model["queue"]["drop_packets"][queue]) == (out, drop)
        cycles = model["latency_cycles"][model["departures"]["queue"] == queue]
        assert cycles.mean() / 0.22 == pytest.approx(mean, abs=0.001)


@SLOW
def test_changes_are_equal() -> None:
    assert twins.differences(found("rtl"), found("model")) == []


def test_every_comparison_can_fail() -> None:
    """A run that is not its twin: another rate of a node."""
    config = configs.load("tree_64")
    made = twins_hierarchy.HierarchyJob(config, 3, changes=False)
    slower = registers.hierarchy_writes("node", 0, 500_000, 0, 0, config.clock_hz)
    one, other = (
        engine.run(made.job | {"register_writes": made.job["register_writes"] + more, "device": twins.device(config, None, TIMING)})
        for more in ([], slower)
    )
    assert twins.differences(one, other) != []


def hierarchy_command(command: int, index: int, parent: int = 0, cls: int = 0) -> list[tuple[int, int]]:
    """Return the writes of one command on the hierarchy."""
    return [
        (registers.address("tree_index"), index),
        (registers.address("tree_parent"), parent),
        (registers.address("tree_class"), cls),
        (registers.address("queue_command"), command),
    ]


@pytest.mark.parametrize(
    ("command", "index", "parent", "cls", "reason"),
    [
        (4, 63, 9, 3, 0), (4, 64, 0, 0, 2), (4, 0, 0, 4, 4),
        (5, 15, 3, 9, 0), (5, 16, 0, 0, 2), (5, 15, 4, 0, 3),
        (6, 3, 1, 0, 0), (6, 4, 0, 0, 2), (6, 3, 2, 0, 3),
        (7, 1, 99, 0, 0), (7, 2, 0, 0, 2), (9, 0, 0, 3, 0), (9, 0, 0, 4, 4), (10, 15, 3, 9, 0), (10, 16, 0, 0, 2), (10, 15, 4, 0, 3),
        (13, 16, 0, 0, 2), (14, 4, 0, 0, 2), (15, 2, 0, 0, 2),
        (11, 0, 0, 0, 1), (19, 0, 0, 0, 1),
    ],
)  # fmt: skip
def test_refusals_have_their_reasons(command: int, index: int, parent: int, cls: int, reason: int) -> None:
    """On both engines the same, and as designs/access_edge/test/test_pst_control.py has them."""
    config = configs.load("tree_64")
    writes = hierarchy_command(command, index, parent, cls)
    where = [registers.address(name) for name in ("status", "type", "features", "queues_per_subscriber", "nodes", "ports", "classes")]
    described = twins_hierarchy.HierarchyJob(config, 1).job | {"register_writes": writes}
    found = [
        engine.module().read_registers(described | {"device": twins.device(config, library, TIMING)}, where)
        for library in (verilate.build_device(config, print), None)
    ]
    assert found[0] == found[1]
    assert found[1] == [1 | bool(reason) << 2 | reason << 4, 0x50535401, 1 | 3 << 16 | 1 << 19, 4, 4, 2, 4]


def in_time(call: Callable[..., Any], *arguments: object) -> Any:
    """Return what a call returns that is made in a process of its own: one that waits for the device for ever ends after a minute."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: sender.send(call(*arguments)))
    child.start()
    sender.close()
    try:
        assert receiver.poll(60), "the device does not answer"
        return receiver.recv()
    finally:
        child.kill()
        child.join()


def through_the_window(config: Any, library: Path | None) -> tuple[int, list[int]]:
    """Set all queues and subscribers; return the cycles that it took, and indices and status afterwards."""
    per = config.hierarchy.queues_per_subscriber
    device = twins.device(config, library, TIMING)
    session = engine.module().Session({"device": device, "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9})
    session.start()
    for name in ("queue_index", "tree_index"):
        session.write(registers.address(name), 0)
    start = session.now
    for number in range(config.queues):
        rate = registers.word("queue_rate", mantissa=40_000 + number, exponent=10)
        session.write(registers.executing("queue_rate"), rate)
        if number % per == 0:
            session.write(registers.executing("tree_rate"), rate)
    session.read(registers.address("queue_index"))  # waits for all writes
    took = session.now - start
    idle(session)
    done = [session.read(registers.address(name)) for name in ("queue_index", "tree_index", "status")]
    with pytest.raises(RuntimeError, match="a write got an error response"):
        session.write(0x800 + registers.address("queue_index"), 0)
        session.read(registers.address("type"))
    return took, done


def test_one_write_a_queue() -> None:
    """All queues, each another rate, and all subscribers, through the window, in the same cycles on both engines; what is no setting is an
    error there."""
    config = configs.load("tree_64")
    assert config.hierarchy is not None
    per = config.hierarchy.queues_per_subscriber
    rtl, model = (in_time(through_the_window, config, library) for library in (verilate.build_device(config, print), None))
    print(f"{rtl[0] / config.queues:.1f} cycles a queue, of {1 + 1 / per} writes")
    assert rtl == model
    assert rtl[1] == [config.queues, config.queues // per, registers.STATUS_INIT_DONE]
    assert rtl[0] < 50 * config.queues


def idle(session: Any) -> int:
    """Wait until no command is under way and return the status."""
    end = session.now + 1_000_000
    while session.now < end:
        status = int(session.read(registers.address("status")))
        if not status & registers.STATUS_BUSY:
            return status
    pytest.fail("a command does not end")


def read_back(session: Any, what: int, index: int) -> list[int]:
    """Return the settings of a queue, subscriber, node or port (0 to 3), as its registers have them."""
    session.write(registers.address("tree_index" if what else "queue_index"), index)
    session.write(registers.address("queue_command"), registers.COMMAND_READ_BACK + what)
    idle(session)
    names = ("rate", "burst", "limit_packets", "limit_bytes", "parent", "class", "share_class")
    return [session.read(registers.address(f"now_{name}")) for name in names]


def test_settings_are_read_back() -> None:
    """Of queues, subscribers, nodes and ports, in mid-traffic, on both engines what was written; no frame leaves the RTL a cycle later for
    it."""
    config = configs.load("tree_64")
    assert config.hierarchy is not None and config.admission is not None
    number, per, hierarchy = seed(), config.hierarchy.queues_per_subscriber, config.hierarchy
    print(f"PENSTOCK_SEED={number}")
    rng = random.Random(number)
    sizes = config.queues, config.queues // per, hierarchy.nodes, hierarchy.ports
    writes, expected = [], {}
    for what, size in enumerate(sizes):
        for index in rng.sample(range(size), size if what > 1 else size // 2):  # nodes and ports are few
            rate = rng.choice([1, rng.randrange(8, 12) << 16 | rng.randrange(32_768, 65_536)])
            burst, packets, limit = rng.getrandbits(10), rng.randrange(20, 65_536), rng.randrange(1 << 23, 1 << 24)
            parent, cls, weight = index % (1, hierarchy.nodes, hierarchy.ports, 1)[what], rng.randrange(hierarchy.classes), rng.randrange(8)
            if what == 0:  # command 9 takes one class for both, whatever is in `queue_class`
                given = {"queue_index": index, "queue_rate": rate, "queue_burst": burst, "queue_limit_packets": packets,
                         "queue_limit_bytes": limit, "queue_class": rng.randrange(256), "tree_class": weight << 8 | cls}  # fmt: skip
                command = registers.COMMAND_PROVISION
            else:
                given = {"tree_index": index, "tree_rate": rate, "tree_burst": burst, "tree_parent": parent, "tree_class": weight << 8}
                command = registers.COMMAND_HIERARCHY["queue"] + what
            limits = [packets, limit] if what == 0 else [0, 0]
            classes = [weight << 8 | cls, cls] if what == 0 else [weight << 8, 0] if what == 1 else [0, 0]
            expected[what, index] = [rate, burst, *limits, parent if what in (1, 2) else 0, *classes]
            writes += [*((registers.address(name), value) for name, value in given.items()), (registers.address("queue_command"), command)]
    frames = [(rng.randrange(20_000), rng.randrange(config.queues), rng.randbytes(rng.choice([60, 590, 1500]))) for _ in range(1500)]
    left = []
    for library, looks in ((verilate.build_device(config, print), True), (verilate.build_device(config, print), False), (None, True)):
        session = engine.module().Session(
            {"device": twins.device(config, library, TIMING), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9}
        )
        for address, value in writes:
            session.write(address, value)
        session.start()
        for frame in frames:
            session.offer(*frame)
        chance, count = random.Random(number), 0
        while looks and session.now < 20_000:
            session.advance(session.now + chance.choice([1, 10, 100]))
            what, index = chance.choice(list(expected))
            assert read_back(session, what, index) == expected[what, index], (library, what, index)
            session.write(registers.address("queue_command"), registers.COMMAND_SNAPSHOT)
            count += idle(session) == registers.STATUS_INIT_DONE
        assert count > 10 or not looks
        session.advance(1_000_000, until_empty=True)
        gone = session.take_left()
        left.append(list(zip(gone["number"].tolist(), gone["cycle"].tolist(), gone["queue"].tolist(), strict=True)))
        result = session.end()
        assert result["conservation_ok"] and result["findings"] == []
    assert len(left[0]) > 500 and left[0] == left[1]


def test_ports_are_read_back_under_full_load() -> None:
    """A port's rate and burst, while a packet for the one port or the other enters the hierarchy in almost every cycle: what is read is
    the walk's, not that of the operation before or behind it."""
    config = configs.load("tree_64")
    assert config.hierarchy is not None
    print(f"PENSTOCK_SEED={seed()}")
    rng, hierarchy = random.Random(seed()), config.hierarchy
    session = engine.module().Session(
        {
            "device": twins.device(config, verilate.build_device(config, print), TIMING),
            "sources": [],
            "ingress_bps": 100e9,
            "egress_bps": 100e9,
        }
    )
    expected = {}
    for level, size in (("node", hierarchy.nodes), ("port", hierarchy.ports)):
        for index in range(size):
            rate, burst = (1, 0) if level == "node" else (rng.randrange(4) << 16 | rng.randrange(32_768, 65_536), rng.randrange(1000, 2000))
            writes = {"tree_index": index, "tree_rate": rate, "tree_burst": burst, "tree_parent": index % hierarchy.ports}
            for name, value in writes.items():
                session.write(registers.address(name), value)
            session.write(registers.address("queue_command"), registers.COMMAND_HIERARCHY[level])
            if level == "port":
                expected[index] = [rate, burst]
    for subscriber in range(config.queues // hierarchy.queues_per_subscriber):
        for name, value in {"tree_index": subscriber, "tree_rate": 1, "tree_burst": 0, "tree_parent": subscriber % hierarchy.nodes}.items():
            session.write(registers.address(name), value)
        session.write(registers.address("queue_command"), registers.COMMAND_HIERARCHY["subscriber"])
    session.start()
    cycles = 12_000
    for cycle in range(0, cycles, 2):
        session.offer(cycle, rng.randrange(config.queues), rng.randbytes(60))
    reads = 0
    while session.now < cycles:
        session.advance(session.now + rng.randrange(1, 30))
        port = rng.randrange(hierarchy.ports)
        assert read_back(session, 3, port)[:2] == expected[port], port
        reads += 1
    assert reads > 60
    session.advance(10_000_000, until_empty=True)
    result = session.end()
    assert result["conservation_ok"] and result["findings"] == []


def scan(session: Any, command: int) -> tuple[int, list[tuple[int, int]]]:
    """Do a scan and return its window and its table: queues and their bytes, the first first."""
    session.write(registers.address("queue_command"), command)
    idle(session)
    while session.read(registers.address("busiest_status")) & 1:
        pass
    found, at = [], registers.address("busiest_bytes")
    for place in range(session.read(registers.address("busiest_places"))):
        session.write(registers.address("busiest_place"), place)
        value = session.read(at) | session.read(at + 4) << 32
        found.append((session.read(registers.address("busiest_queue")), value))
    return session.read(registers.address("busiest_window")), found


def test_busiest_queues_are_found() -> None:
    """What queues have sent between two scans, and what waits in them: the table is that of a sort of what was sent, on both engines; and a
    scan beside traffic delays no frame."""
    config = configs.load("tree_64")
    print(f"PENSTOCK_SEED={seed()}")
    library, keep, stops, closed = verilate.build_device(config, print), config.busiest, (60_000, 150_000, 260_000), (3, 17, 18, 40)
    tables, left = [], []
    for where, scans in ((library, True), (library, False), (None, True)):
        rng, seen, begin = random.Random(seed()), [], 0
        session = engine.module().Session(
            {"device": twins.device(config, where, TIMING), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9}
        )
        for queue in closed:
            for address, value in registers.queue_writes(queue, 0, 0, 1000, 1_000_000, config.clock_hz):
                session.write(address, value)
        session.start()
        times, waiting = [], dict.fromkeys(closed, 0)
        for stop in stops:  # frames come in the first half of each time, and have left by its end
            sent = dict.fromkeys(range(config.queues), 0)
            for _ in range(600):
                queue = int(rng.triangular(0, config.queues, 10))
                frame = rng.randbytes(rng.choice([60, 61, 590, 1500]))
                session.offer(begin + rng.randrange(5000, (stop - begin) // 2), queue, frame)
                (waiting if queue in waiting else sent)[queue] += len(frame)
            if scans:
                session.advance(begin + (stop - begin) // 3)
                scan(session, registers.COMMAND_SCAN_BACKLOG)  # in mid-traffic: it changes nothing of the other kind
            session.advance(stop)
            if scans:
                times.append(session.now)
                window, busiest = scan(session, registers.COMMAND_SCAN)
                assert abs(window - (times[-1] - times[-2])) < 20 if len(times) > 1 else window == 0, (window, times)
                _, backlogs = scan(session, registers.COMMAND_SCAN_BACKLOG)
                for found, bytes_of in ((busiest, sent), (backlogs, waiting)):
                    wanted = sorted((-size, queue) for queue, size in bytes_of.items() if size)[:keep]
                    assert [(queue, -size) for size, queue in wanted] + [(0, 0)] * (keep - len(wanted)) == found, (where, stop)
                seen.append((busiest, backlogs))
                times.append(session.now)
                session.write(registers.address("queue_command"), registers.COMMAND_SCAN)  # whatever the last one did not see: nothing
                while session.read(registers.address("busiest_status")) & 1:
                    pass
                session.write(registers.address("busiest_place"), 0)
                assert session.read(registers.address("busiest_bytes")) == 0
            begin = stop
        session.advance(300_000)
        gone = session.take_left()
        left.append(list(zip(gone["number"].tolist(), gone["cycle"].tolist(), gone["queue"].tolist(), strict=True)))
        if scans:
            tables.append(seen)
    assert tables[0] == tables[1] and len(left[0]) > 1000 and left[0] == left[1]


def test_how_long_a_scan_takes() -> None:
    """On the RTL, in an idle device: 6 cycles a queue, 8 where backlogs are looked at, and a look at the status."""
    config = configs.load("tree_64")
    library = verilate.build_device(config, print)
    session = engine.module().Session(
        {"device": twins.device(config, library, TIMING), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9}
    )
    session.start()
    for command, each in ((registers.COMMAND_SCAN, 6), (registers.COMMAND_SCAN_BACKLOG, 8)):
        session.write(registers.address("queue_command"), command)
        idle(session)
        begin = session.now
        while session.read(registers.address("busiest_status")) & 1:
            pass
        assert each * config.queues - 20 < session.now - begin < each * config.queues + 20


def test_snapshots_beside_scans() -> None:
    """A snapshot in the middle of a scan has its own queue's figures, and the scan the right table: each read is answered to the one that
    asked. What waits, and what has left, is what was offered."""
    config = configs.load("tree_64")
    print(f"PENSTOCK_SEED={seed()}")
    closed, beside = (3, 17, 18, 40), 0
    for library in (verilate.build_device(config, print), None):
        rng = random.Random(seed())
        session = engine.module().Session(
            {"device": twins.device(config, library, TIMING), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9}
        )
        for queue in closed:
            for address, value in registers.queue_writes(queue, 0, 0, 1000, 1_000_000, config.clock_hz):
                session.write(address, value)
        session.start()
        offered = dict.fromkeys(range(config.queues), 0)
        for _ in range(400):
            queue, frame = rng.choice([*closed, *range(8, 16)]), rng.randbytes(rng.choice([60, 61, 590, 1500]))
            session.offer(rng.randrange(5000, 20_000), queue, frame)
            offered[queue] += len(frame)
        session.advance(60_000)
        waiting = {queue: offered[queue] for queue in closed}
        left = {queue: size for queue, size in offered.items() if queue not in waiting}
        for number in range(24):
            backlog = number % 2 == 1
            session.write(registers.address("queue_command"), registers.COMMAND_SCAN_BACKLOG if backlog else registers.COMMAND_SCAN)
            session.advance(session.now + rng.randrange(1, 60))
            for queue in rng.sample(range(config.queues), 6):
                session.write(registers.address("queue_index"), queue)
                session.write(registers.address("queue_command"), registers.COMMAND_SNAPSHOT)
                beside += session.read(registers.address("busiest_status")) & 1
                idle(session)
                found = [session.read(registers.address(name)) for name in ("backlog_bytes", "out_bytes")]
                assert found == [waiting.get(queue, 0), left.get(queue, 0)], (number, queue)
            while session.read(registers.address("busiest_status")) & 1:
                pass
            session.write(registers.address("busiest_place"), 0)
            most = max(waiting.values()) if backlog else max(left.values()) if number == 0 else 0
            assert session.read(registers.address("busiest_bytes")) == most, number
    assert beside > 40  # the model's scans take no time


COUNTED = ("in", "out", "drop", "aqm_drop")


def counted(session: Any) -> tuple[int, ...]:
    """Return what the last snapshot has: packets and bytes that came, left, were lost, were dropped by the AQM; and marks."""
    addresses = [registers.address(f"{name}_{unit}") for name in COUNTED for unit in ("packets", "bytes")]
    addresses.append(registers.address("mark_packets"))
    return tuple(session.read(at) | session.read(at + 4) << 32 for at in addresses)


def snapshot_of(session: Any, queue: int) -> tuple[int, ...]:
    """Take a snapshot of a queue and return its counters."""
    session.write(registers.address("queue_index"), queue)
    session.write(registers.address("queue_command"), registers.COMMAND_SNAPSHOT)
    idle(session)
    return counted(session)


def snapshot_of_node(session: Any, node: int, cls: int) -> tuple[int, ...]:
    """The same of a class at a node; no queue waits there, as it is none."""
    session.write(registers.address("node_index"), node)
    session.write(registers.address("node_class"), cls)
    session.write(registers.address("queue_command"), registers.COMMAND_SNAPSHOT_NODE)
    assert not idle(session) & registers.STATUS_REFUSED
    assert [session.read(registers.address(name)) for name in ("backlog_packets", "backlog_bytes", "head_sojourn")] == [0, 0, 0]
    return counted(session)


@pytest.mark.parametrize("name", ["tree_64", "tree_codel_64"])
def test_counters_by_node_and_class(name: str) -> None:
    """Queues change class, and subscribers their node, between four times of traffic with losses of all kinds: what the device counts by
    node and class is what it counts by queue, each time's part where the queue was then. Snapshots in mid-traffic delay no frame."""
    config = configs.load(name)
    assert config.hierarchy is not None
    print(f"PENSTOCK_SEED={seed()}")
    hierarchy, library = config.hierarchy, verilate.build_device(config, print)
    places = [(node, cls) for node in range(hierarchy.nodes) for cls in range(hierarchy.classes)]
    results, left = [], []
    for where, looks in ((library, True), (library, False), (None, True)):
        rng, chance = random.Random(seed()), random.Random(seed())
        session = engine.module().Session(
            {"device": twins.device(config, where, TIMING), "sources": [], "ingress_bps": 10e9, "egress_bps": 2e9}
        )
        aqm = registers.Aqm.of_halves(1, 1, True, True) if config.aqm != "none" else None
        for queue in range(config.queues):
            for address, value in registers.queue_writes(queue, None, 0, rng.choice([4, 40]), 1_000_000, config.clock_hz, aqm):
                session.write(address, value)
        session.start()
        cls_of, node_of = [0] * config.queues, [0] * (config.queues // hierarchy.queues_per_subscriber)
        before, expected = [(0,) * 9] * config.queues, dict.fromkeys(places, (0,) * 9)
        for begin in range(100_000, 500_000, 100_000):
            session.advance(begin)
            for queue in rng.sample(range(config.queues), config.queues // 2):
                cls_of[queue] = rng.randrange(hierarchy.classes)
                for key, value in {"tree_index": queue, "tree_class": cls_of[queue]}.items():
                    session.write(registers.address(key), value)
                session.write(registers.address("queue_command"), registers.COMMAND_HIERARCHY["queue"])
            for subscriber in rng.sample(range(len(node_of)), len(node_of) // 2):
                node_of[subscriber] = rng.randrange(hierarchy.nodes)
                for key, value in {"tree_index": subscriber, "tree_rate": 1, "tree_burst": 0, "tree_parent": node_of[subscriber]}.items():
                    session.write(registers.address(key), value)
                session.write(registers.address("queue_command"), registers.COMMAND_HIERARCHY["subscriber"])
            for number in range(800):
                length = rng.choice([74, 600, 1500])
                frame = ip_frame(rng, length, rng.choice([0, 2])) + bytes(length)
                session.offer(begin + 10_000 + 10 * number, int(rng.triangular(0, config.queues, 10)), frame[:length])
            while looks and session.now < begin + 20_000:
                session.advance(session.now + chance.choice([1, 10, 100]))
                place = chance.choice(places)
                found = snapshot_of_node(session, *place)
                assert all(least <= number for least, number in zip(expected[place], found, strict=True)), place
            session.advance(begin + 80_000)
            if looks:
                now = [snapshot_of(session, queue) for queue in range(config.queues)]
                for queue, counts in enumerate(now):
                    place = node_of[queue // hierarchy.queues_per_subscriber], cls_of[queue]
                    expected[place] = tuple(sum(row) - was for *row, was in zip(expected[place], counts, before[queue], strict=True))
                before = now
                assert {place: snapshot_of_node(session, *place) for place in places} == expected
        totals = [sum(column) for column in zip(*expected.values(), strict=True)]
        assert not looks or (min(totals[:6]) > 0 and (aqm is None or min(totals) > 0)), totals
        for node, cls, reason in ((hierarchy.nodes, 0, 2), (0, hierarchy.classes, 4)):
            session.write(registers.address("node_index"), node)
            session.write(registers.address("node_class"), cls)
            session.write(registers.address("queue_command"), registers.COMMAND_SNAPSHOT_NODE)
            assert idle(session) >> 4 & 7 == reason
        gone = session.take_left()
        left.append(list(zip(gone["number"].tolist(), gone["cycle"].tolist(), gone["queue"].tolist(), strict=True)))
        results.append(expected)
        result = session.end()
        assert result["conservation_ok"] and result["findings"] == []
    assert results[0] == results[2] and len(left[0]) > 1000 and left[0] == left[1]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param("fair_shares", [], marks=SLOW),
        pytest.param("hostile_subscriber", [], marks=SLOW),
        pytest.param("handover", [], marks=SLOW),
        pytest.param("household", ["duration=500 ms"], marks=SLOW),
        ("greedy_queue", ["duration=300 ms"]),
        # 262,144 flow queues behind 32,768 queues; intervals so short that CoDel drops meanwhile
        pytest.param("access_node_32768", ["duration=30 ms", "defaults.aqm.target=1 ms", "defaults.aqm.interval=5 ms"], marks=SLOW),
    ],
)
def test_scenarios_are_equal(name: str, settings: list[str]) -> None:
    """What the RTL does with `changes` and gates (test_access_edge_scenarios.py) the model does, frame by frame."""
    described, document = scenario.load(configs.ROOT / f"scenarios/{name}.yaml", settings)
    config = configuration(described, document)
    plans = [job.build(described, document, config, which) for which in ("rtl", "model")]
    plans[0].job["device"]["library"] = str(verilate.build_device(config, print))
    one, other = (engine.run(plan.job) for plan in plans)
    for run in (one, other):
        assert_clean(run)
    assert (one["packets"]["dropped"].get("aqm", 0) > 0) == (config.aqm != "none")
    assert twins.differences(one, other) == []


def test_a_wrong_key_is_told() -> None:
    config = configs.load("tree_64")
    given = twins.device(config, None, TIMING)
    given["model"]["hierarchy"]["queues_per_subscriber"] = 3
    described = twins_hierarchy.HierarchyJob(config, 1).job
    with pytest.raises(ValueError, match="queues_per_subscriber is 1, 2, 4 or 8"):
        engine.run(described | {"device": given})
    with pytest.raises(ValueError, match="has no hierarchy"):
        twins_hierarchy.HierarchyJob(configs.load("edge_2048"), 1)
    with pytest.raises(UserError, match="must be a power of two"):
        configs.with_overrides(config, {"queues": 100})
