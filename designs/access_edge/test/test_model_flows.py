"""A device with flow queues: the model is the RTL's twin, a flow that floods harms none of its neighbours, and flows share alike."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge import find, flow_rows, registers
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.testing.testjobs import assert_clean, udp_head
from penstock.testing.testkit import seed

SEEDS = 12
SLOW = pytest.mark.slow
TIMING = {"read_latency": 44, "write_latency": 22, "gap_permille": 0}


@pytest.fixture(scope="session", params=["tiny_fq_16", "tiny_fq_codel_16", pytest.param("fq_codel_64", marks=SLOW)])
def device(request: pytest.FixtureRequest) -> Iterator[tuple[configs.Configuration, Path]]:
    """A configuration and its library."""
    config = configs.load(request.param)
    yield config, verilate.build_device(config, print)


def test_devices_with_flow_queues_are_equal(device: tuple[configs.Configuration, Path]) -> None:
    """Whole devices on random jobs: few flows and many, low limits of queues and pool, quanta of all sizes; each drop with its reason, and
    every departure in the same cycle."""
    config, library = device
    print(f"PENSTOCK_SEED={seed()}")
    reasons: dict[str, int] = {}
    marked = 0
    for number in range(seed(), seed() + SEEDS):
        described, timing = twins.random_job(config, number)
        rtl, model = (engine.run(described | {"device": twins.device(config, where, timing)}) for where in (library, None))
        assert twins.differences(rtl, model) == [], f"seed {number}"
        for one in (rtl, model):
            assert one["findings"] == [] and one["conservation_ok"], f"seed {number}"
        for reason, packets in rtl["packets"]["dropped"].items():
            reasons[reason] = reasons.get(reason, 0) + packets
        marked += rtl["marked_packets"]
    assert reasons["flow_overflow"] > 100, reasons
    assert (reasons.get("aqm", 0) > 20) == (marked > 20) == (config.aqm == "codel"), (reasons, marked)


def frames(rows: list[tuple[int, int, int, int]]) -> dict[str, Any]:
    """A source of UDP frames: cycle, queue, flow, bytes."""
    heads = [udp_head(queue, flow, length) for _, queue, flow, length in rows]
    return {
        "kind": "frames",
        "cycles": np.array([row[0] for row in rows]),
        "queues": np.array([row[1] for row in rows], dtype=np.uint32),
        "offsets": np.cumsum([0, *map(len, heads)])[:-1],
        "lengths": [row[3] for row in rows],
        "stored": [len(head) for head in heads],
        "data": np.frombuffer(b"".join(heads), dtype=np.uint8),
    }


def run(name: str, rows: list[tuple[int, int, int, int]], writes: list[tuple[int, int]], library: Path | None = None) -> dict[str, Any]:
    config = configs.load(name)
    job = {
        "seed": seed(),
        "duration_cycles": max(row[0] for row in rows) + 1,
        "drain": True,
        "max_cycles": 1 << 40,
        "quiet_cycles": 200_000,
        "ingress_bps": 100e9,
        "egress_bps": 100e9,
        "register_writes": [*(find.flow_words(seed()) if config.flows else ()), *writes],
        "sources": [frames(rows)],
        "sample_queues": [0, 1],
        "keep_departures": True,
        "flows": {"most": 1000},
    }
    result = engine.run(job | {"device": twins.device(config, library, TIMING)})
    assert_clean(result)
    return result


def by_port(result: dict[str, Any]) -> dict[int, dict[str, int]]:
    """Each flow's counters, by the flow that `udp_head` was told."""
    table = result["flows"]
    keys = ("in_packets", "out_packets", "out_bytes", "drop_packets", "latency_max")
    return {(int(ports) >> 16) - 5000: {key: int(table[key][i]) for key in keys} for i, ports in enumerate(np.asarray(table["ports"]))}


RATE = 10**9
LARGE_CYCLES = 1514 * 8 * 220_000_000 // RATE


@pytest.mark.parametrize("name", ["tiny_fq_16", "tiny_fq_codel_16", "tiny_16"])
def test_a_flood_of_20_times_the_rate_loses_no_packet_of_a_polite_flow(name: str) -> None:
    """Of one queue, with the largest packets; the polite one has a fiftieth of the rate. Without flow queues it loses most."""
    rng, rows = random.Random(seed()), []
    print(f"PENSTOCK_SEED={seed()}")
    for cycle in range(0, 400_000, LARGE_CYCLES // 20):
        rows.append((cycle, 0, 1, 1514))
    for cycle in range(3000, 400_000, 200 * 8 * 220 // 1000 * 50):
        rows.append((cycle + rng.randrange(2000), 0, 7, 200))
    rows.sort()
    config = configs.load(name)
    quantum = 0 if config.flows else None
    writes = registers.queue_writes(0, RATE, 3000, 40, 16_777_215, config.clock_hz, quantum=quantum)
    found = by_port(run(name, rows, writes))
    print(name, found)
    assert found[1]["drop_packets"] > 2000
    if config.flows:
        assert found[7]["drop_packets"] == 0 and found[7]["out_packets"] == found[7]["in_packets"] > 20
        assert found[7]["latency_max"] < 3.1 * LARGE_CYCLES
    else:
        assert found[7]["drop_packets"] > 10


@pytest.mark.parametrize("name", ["tiny_fq_16", "tiny_fq_codel_16", "tiny_16"])
def test_bulk_flows_share_alike_by_jains_index(name: str) -> None:
    """Six flows, each with packets of its own size and half of the rate: 0.99 and more; without flow queues less."""
    rng, rows = random.Random(seed()), []
    print(f"PENSTOCK_SEED={seed()}")
    for flow in range(6):
        size = 200 + 250 * flow
        gap = 2 * size * 8 * 220_000_000 // RATE
        at = rng.randrange(gap)
        while at < 2_000_000:
            rows.append((at, 0, flow, size))
            at += rng.randint(gap // 2, gap * 3 // 2) if flow < 3 else rng.randint(gap // 4, gap * 3 // 4)
    rows.sort()
    config = configs.load(name)
    quantum = 0 if config.flows else None
    writes = registers.queue_writes(0, RATE, 3000, 40, 16_777_215, config.clock_hz, quantum=quantum)
    found = by_port(run(name, rows, writes))
    index = flow_rows.jain(np.array([flow["out_bytes"] for flow in found.values()], dtype=np.float64))
    print(name, index, found)
    assert index is not None and (index >= 0.99) == bool(config.flows)


def test_a_look_finds_what_is_in_the_flow_queues_and_the_quantum(device: tuple[configs.Configuration, Path]) -> None:
    """Behind a closed gate, on both engines the same: all packets but the one that is chosen and stands ready."""
    config, library = device
    print(f"PENSTOCK_SEED={seed()}")
    found = []
    for where in (library, None):
        rng = random.Random(seed())
        session = engine.module().Session(
            {"device": twins.device(config, where, TIMING), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9}
        )
        for address, value in find.flow_words(seed()):
            session.write(address, value)
        for address, value in registers.queue_writes(3, 0, 0, 100, 100_000, config.clock_hz, registers.NO_AQM, quantum=777):
            session.write(address, value)
        session.start()
        sizes = [rng.randrange(60, 1400) for _ in range(12)]
        for i, size in enumerate(sizes):
            head = udp_head(3, i % 4, size)
            session.offer(session.now + 200 * i, 3, head + bytes(size - len(head)))
        session.advance(session.now + 5000)
        session.write(registers.address("queue_index"), 3)
        session.write(registers.address("queue_command"), registers.COMMAND_SNAPSHOT)
        session.advance(session.now + 500)
        packets, size = (session.read(registers.address(name)) for name in ("backlog_packets", "backlog_bytes"))
        assert (packets, size) == (11, sum(sizes[1:]))
        assert session.read(registers.address("flow_packets")) == 11
        session.write(registers.address("queue_command"), registers.COMMAND_READ_BACK)
        session.advance(session.now + 500)
        assert session.read(registers.address("now_quantum")) == 777
        assert session.read(registers.address("now_limit_packets")) == 100
        assert session.read(registers.address("flows")) == 1024
        features = session.read(registers.address("features"))
        assert features >> 22 & 1 and not features >> 18 & 1
        session.write(registers.address("find_item"), find.FLOW_CHUNKS << find.CHUNK_BITS)
        session.write(registers.address("queue_command"), registers.command("flow_word"))
        assert session.read(registers.address("status")) >> 4 & 7 == registers.refusal("bad_index")
        found.append((session.now, size))
    assert found[0] == found[1]


def test_looks_change_nothing(device: tuple[configs.Configuration, Path]) -> None:
    """Snapshots and read-backs in mid-traffic, one after the other, beside none: on both engines each departure is in the same cycle."""
    config, library = device
    print(f"PENSTOCK_SEED={seed()}")
    described, timing = twins.random_job(config, seed())
    looks = []
    for number in range(200):
        cycle, queue = 200 * number, number % config.queues
        command = registers.COMMAND_SNAPSHOT if number % 2 else registers.COMMAND_READ_BACK
        looks += [(cycle, registers.address("queue_index"), queue), (cycle, registers.address("queue_command"), command)]
    described["timed_register_writes"] = []
    found = []
    for where, writes in ((library, looks), (None, looks), (library, [])):
        one = engine.run(described | {"timed_register_writes": writes, "device": twins.device(config, where, timing)})
        assert_clean(one)
        found.append(one)
    assert twins.differences(found[0], found[1]) == []
    assert np.array_equal(found[0]["departures"]["cycle"], found[2]["departures"]["cycle"])
