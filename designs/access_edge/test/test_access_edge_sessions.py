# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Sessions with an access edge: what a run gives, on model and RTL; and what comes in may depend on what went out."""

import random
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.testing.sessions import assert_session_equals_run, drawn_frames, split
from penstock.testing.testkit import seed

REASONS = (
    "", "runt", "oversize", "bad_queue_id", "bad_frame", "no_page", "tail_drop_packets", "tail_drop_bytes", "aqm", "", "no_share",
    "read_error", "", "write_error", "no_subscriber", "flow_overflow",
)  # fmt: skip


@pytest.fixture(scope="module")
def native() -> Any:
    """The module `penstock._engine`."""
    return engine.module()


def check(config: configs.Configuration, library: str | None, number: int) -> None:
    rng = random.Random(number)
    job, timing = twins.random_job(config, number)
    frames = drawn_frames(rng, config.queues, config.max_frame_bytes, job["duration_cycles"])
    assert_session_equals_run(job | {"device": twins.device(config, library, timing)}, frames, REASONS, rng)


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("name", ["tiny_16", "tiny_tdest_16", "tiny_codel_16", "tiny_pie_16", "tiny_share_16", "tree_64"])
def test_session_on_the_model(name: str, part: int) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    for number in range(4):
        check(configs.load(name), None, seed() + 100 * part + number)


@pytest.mark.parametrize("number", range(3))
def test_session_on_the_rtl(tiny: tuple[configs.Configuration, str], number: int) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    check(*tiny, seed() + number)


def test_what_the_fifo_of_an_input_loses_is_forgotten(native: Any) -> None:
    """The model's own input: bytes of lost frames are not kept."""
    config = configs.load("tiny_16")
    device = twins.device(config, None, {"gap_permille": 900})
    session = native.Session({"device": device, "sources": [], "ingress_bps": 100e9, "ingress_fifo_bytes": 4000})
    session.start()
    offered = 0
    for _ in range(5):
        for _ in range(500):
            session.offer(session.now, 3, bytes(1400))
        offered += 500
        session.advance(session.now + 200_000)
        totals = session.totals()
        assert totals["ingress_lost"]["packets"] + totals["packets"]["in"] == offered < 2 * totals["ingress_lost"]["packets"]
        assert session.kept <= 100 + totals["packets"]["queued"]
    assert session.end()["conservation_ok"]


def answer(native: Any, config: configs.Configuration, library: str | None, number: int, step: int) -> list[tuple[int, ...]]:
    """Each frame that leaves is answered by one or two others after a while, as acknowledgements let a sender go on. Returns departures."""
    rng = random.Random(number)
    job, timing = twins.random_job(config, number)
    if number % 2 == 0:
        job["ingress_bps"] = 0  # as fast as the bus: a frame's first beat is there in the cycle of its arrival
    settings, _, _ = split(job | {"device": twins.device(config, library, timing), "register_writes": []})
    session = native.Session(settings)
    session.start()
    for cycle in range(0, 400, 40):
        session.offer(cycle, rng.randrange(4), rng.randbytes(rng.choice([60, 590, 1500])))
    seen: list[tuple[int, ...]] = []
    while session.now < 30_000:
        session.advance(session.now + step)
        left = session.take_left()
        for frame, cycle, queue in zip(left["number"].tolist(), left["cycle"].tolist(), left["queue"].tolist(), strict=True):
            seen.append((frame, cycle, queue))
            for _ in range(rng.choice([0, 1, 1, 2])):
                session.offer(session.now + rng.choice([0, 1, 2, 500]), (queue + 1) % 4, rng.randbytes(rng.choice([60, 590, 1500])))
        for _ in range(rng.choice([0, 0, 0, 1, 3])):  # they take cycles, in which frames go on
            for address, value in twins.registers.queue_writes(rng.randrange(4), None, 0, 100, 100_000, config.clock_hz, None):
                session.write(address, value)
        if rng.random() < 0.3:
            session.read(0x8)
    left = session.take_left()  # what left during the last of these
    seen += zip(left["number"].tolist(), left["cycle"].tolist(), left["queue"].tolist(), strict=True)
    result = session.end()
    assert result["conservation_ok"] and result["findings"] == []
    assert len(seen) == result["packets"]["out"] > 20
    return seen


@pytest.mark.parametrize("number", range(3))
def test_what_comes_in_depends_on_what_went_out(native: Any, tiny: tuple[configs.Configuration, str], number: int) -> None:
    """Model and RTL agree to the cycle, although neither can know what will be offered."""
    print(f"PENSTOCK_SEED={seed()}")
    step = random.Random(seed() + number).choice([1, 13, 64, 1000])
    assert answer(native, tiny[0], None, seed() + number, step) == answer(native, tiny[0], tiny[1], seed() + number, step)


def test_registers_in_the_middle(native: Any) -> None:
    """A closed gate holds what is offered, and opens when it is told to."""
    config = configs.load("tiny_16")
    session = native.Session({"device": twins.device(config, None, {}), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9})
    for address, value in twins.registers.queue_writes(3, 0, 0, 100, 100_000, config.clock_hz, None):
        session.write(address, value)
    session.start()
    first = session.offer(0, 3, b"\1" * 60)
    second = session.offer(0, 3, b"\2" * 61)
    session.advance(5000)
    assert session.take_left()["number"].size == 0
    assert session.totals()["packets"]["queued"] == 2
    for address, value in twins.registers.queue_writes(3, None, 0, 100, 100_000, config.clock_hz, None):
        session.write(address, value)
    assert session.advance(100_000, until_empty=True) < 6000
    left = session.take_left()
    assert left["number"].tolist() == [first, second]
    assert bytes(left["data"]) == b"\1" * 60 + b"\2" * 61
    assert session.totals()["latency_histogram"]["count"] == 2
    assert session.end()["drained"]


def test_totals_of_a_device_that_runs_on_are_of_one_moment() -> None:
    """Its thread goes on while they are taken: as many latencies as packets have left, in the bins too."""
    source = {"kind": "poisson", "queues": range(16), "pick": "random", "bps": 20e9, "sizes": [(60, 1), (1500, 1)], "stop_cycle": 2**52}
    job = {"device": twins.device(configs.load("tiny_16"), None, {}), "sources": [source], "ingress_bps": 100e9, "egress_bps": 100e9}
    served = engine.module().Served(job, False)
    served.start()
    asked = count = 0
    while asked < 3000 or count <= 1000:  # how much the thread does meanwhile is the machine's affair
        totals = served.totals()
        histogram, asked = totals["latency_histogram"], asked + 1
        count = histogram["count"]
        assert count == histogram["frames"].sum() == totals["packets"]["out"]
    assert served.end()["conservation_ok"]
