# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The wide deadline port in the engine: RTL and model agree in every cycle, and every byte, deadline and counter is right."""

import random
from typing import Any

import numpy as np
import pytest
from test_deadline_port import frames, job, library, set_class, set_dscp, some
from test_deadline_port_model import on_the_model

from penstock.designs import configs
from penstock.designs.deadline_port import registers
from penstock.designs.deadline_port.config import Config
from penstock.engine import engine
from penstock.testing.differences import differences
from penstock.testing.testjobs import assert_clean, constant
from penstock.testing.testkit import seed

Job = dict[str, Any]

SLOW = pytest.mark.slow
CONFIGS = ["tiny_wide_3", pytest.param("tiny_wide_16", marks=SLOW)]


def both(found: Job, model: Job) -> list[str]:
    """Return what differs between the results of both engines, the measurement of deadlines included."""
    differ = differences(found, model)
    for key, values in found.get("deadline", {}).items():
        if key != "exact" and not np.array_equal(values, model["deadline"][key]):
            differ.append(f"{key}: {values} and {model['deadline'][key]}")
    for key, values in found.get("deadline", {}).get("exact", {}).items():
        if not np.array_equal(values, model["deadline"]["exact"][key]):
            differ.append(f"exact {key}: {values} and {model['deadline']['exact'][key]}")
    return differ


def random_job(config: Config, path: Any, number: int) -> Job:
    """Return a job with all that a port meets: bad frames, overload, pauses, settings that change, memories that are slow or refuse."""
    rng = random.Random(number)
    deadlines = some(config, *(rng.choice((300, 2000, 9000, 30_000)) for _ in range(3)))
    first = frames(rng, config, 1500, rng.choice((2, 5, 20)))
    second = frames(rng, config, 700, rng.choice((1, 5)), start=int(first["cycles"][-1]) + rng.choice((500, 20_000)))
    all_of = {key: np.concatenate([first[key], second[key]]) for key in first if key not in ("kind", "offsets")}
    all_of |= {"kind": "frames", "offsets": np.cumsum([0, *all_of["stored"]])[:-1]}
    timed = []
    for cycle in range(1000, 30_000, rng.choice((900, 5000))):
        writes = set_class(rng.randrange(config.classes), rng.choice((200, 3000, 15_000)))
        if rng.random() < 0.3 and not config.class_from_user:
            writes = set_dscp(rng.randrange(65), rng.randrange(config.classes))
        if rng.random() < 0.2:
            writes = [(registers.address("memory_limit"), rng.choice((0, config.chunks * 2 // 3, config.least_chunks + 8)))]
        timed += [(cycle + place, *write) for place, write in enumerate(writes)]
    timing = {"read_latency": rng.randint(2, 80), "write_latency": rng.randint(2, 60), "gap_permille": rng.choice((0, 50, 300))}
    memory = {**timing, "faults": [{"what": rng.choice(("errors", "stall")), "from": 8000, "until": 9500}] if rng.random() < 0.4 else []}
    return job(
        config, path, [all_of], deadlines, any_class=True, memory=memory, timed_register_writes=timed, keep_departures=True,
        egress_bps=rng.choice((5e9, 20e9, 80e9, 0)), ingress_bps=rng.choice((0, 90e9)), interval_cycles=4000, seed=number,
    )  # fmt: skip


@pytest.mark.parametrize(("name", "jobs"), [("tiny_wide_3", 4), pytest.param("tiny_wide_16", 4, marks=SLOW)])
def test_both_engines_agree(name: str, jobs: int) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    config, path = library(name)
    dropped: dict[str, int] = {}
    for number in range(seed(), seed() + jobs):
        given = random_job(config, path, number)
        if number == seed():
            for memory in given["device"]["memories"]:
                memory["gap_permille"] = 800  # slower than the line: data of writes wait in front of it
        rtl, model = engine.run(given), engine.run(on_the_model(given))
        assert_clean(model)
        found = both(rtl, model)
        assert not found, f"job {number}: {found[:5]}"
        for reason, count in rtl["packets"]["dropped"].items():
            dropped[reason] = dropped.get(reason, 0) + count
        assert rtl["packets"]["out"] > 50
    assert all(dropped[reason] for reason in ("missed", "no_page", "bad_frame", "runt", "oversize")), dropped


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize(("valid", "ready"), [(1000, 1000), (700, 600)])
def test_overload(name: str, valid: int, ready: int) -> None:
    """More comes than leaves, at more than a beat a cycle; classes are those that the sources say; bad frames are among them."""
    print(f"PENSTOCK_SEED={seed()}")
    config, path = library(name)
    flood = frames(random.Random(seed()), config, 3000, 3)
    given = job(config, path, [flood], some(config, 1000, 3000, 6000), egress_bps=20e9, valid_permille=valid, ready_permille=ready)
    result = engine.run(given)
    assert_clean(result)
    assert result["drained"] and result["packets"]["out"] > 400
    dropped = result["packets"]["dropped"]
    assert all(dropped[reason] for reason in ("runt", "oversize", "bad_frame", "missed")), dropped
    assert len(np.flatnonzero(result["queue"]["out_packets"])) == config.classes
    assert not result["deadline"]["late_packets"].any() and (result["deadline"]["slack_min"] >= 0).all()


def test_more_than_a_beat_a_cycle_goes_through() -> None:
    """A line of nine tenths of two beats a cycle, in and out: all leaves, and words have several frames."""
    config, path = library("tiny_wide_3")
    bps = 0.9 * 2 * 512 * config.clock_hz
    source = constant(range(3), bps=0.8 * bps, size=600, stop_cycle=8000)
    result = engine.run(job(config, path, [source], [20_000] * 3, any_class=True, ingress_bps=bps, egress_bps=bps, duration_cycles=8000))
    assert_clean(result)
    assert result["drained"] and result["packets"]["out"] == result["packets"]["in"]
    beats = result["packets"]["in"] * 10
    rate = result["bytes"]["in"] * 8 * config.clock_hz / 8000
    assert rate == pytest.approx(0.8 * bps, rel=0.02) and rate > 1.4 * 512 * config.clock_hz
    assert result["bus"]["input_taken"] < 0.75 * beats and result["bus"]["output_taken"] < 0.75 * beats


def test_another_class_than_the_source_says_is_found() -> None:
    config, path = library("tiny_wide_3")
    given = job(config, path, [frames(random.Random(seed()), config, 800, 20)], [9000] * 3, more_writes=set_dscp(8, 0))
    result = engine.run(given)
    assert not result["conservation_ok"] and result["event_errors"]


@pytest.mark.parametrize("name", CONFIGS)
def test_counters_hold_in_mid_traffic(name: str) -> None:
    """The run ends with frames inside: every counter of each class is what the engine has seen, to the byte; on the model, too."""
    config, path = library(name)
    flood = frames(random.Random(seed() + 3), config, 3000, 3)
    given = job(config, path, [flood], some(config, 4000, 50_000), drain=False, duration_cycles=4000, egress_bps=20e9)
    for one in (given, on_the_model(given)):
        result = engine.run(one)
        assert_clean(result)
        assert result["packets"]["queued"] > 20


def test_registers_read_the_same_on_both_engines() -> None:
    """A device held open: free chunks, a snapshot of a class in mid-traffic and the cycle in which it is there."""
    config, path = library("tiny_wide_3")
    given = job(config, path, [], [40_000] * 3, any_class=True, egress_bps=2e9)
    for key in ("duration_cycles", "drain", "max_cycles", "quiet_cycles"):
        given.pop(key)
    at, found = registers.address, []
    for one in (given, on_the_model(given)):
        session = engine.module().Session(one)
        session.start()
        rng = random.Random(seed())
        for number in range(150):
            session.offer(3 * number, 64 % 3, rng.randbytes(rng.randint(60, 1500)))
        seen: list[Any] = [session.read(at(name)) for name in ("type", "classes", "chunks", "memories", "stamps")]
        for step in range(4):
            session.advance(400 * (step + 1))
            seen.append(session.read(at("free_chunks")))
            session.write(at("class_index"), 1)
            session.write(at("command"), registers.command("snapshot"))
            polls = 0
            while session.read(at("status")) & 2:
                polls += 1
            seen.append((polls, session.now))
            seen += [session.read(at(f"{name}_{what}")) for name in ("in", "out", "queued") for what in ("frames", "bytes")]
        session.advance(1_000_000, until_empty=True)
        seen.append(session.now)
        result = session.end()
        assert_clean(result)
        assert result["packets"]["in"] == 150
        found.append(seen)
    assert found[0] == found[1]
    assert found[0][2:4] == [config.chunks, 2] and found[0][5] < config.chunks


def test_a_configuration_with_columns_that_do_not_fit_is_refused() -> None:
    for overrides, words in (
        ({"memory.channels": 1}, "memory.channels is 1; with columns: 2 it must be 2, 4, 8"),
        ({"discipline": "fifo"}, "discipline is fifo, which has one column"),
        ({"run_frames": 3}, "run_frames is 3; it must be a power of two"),
        ({"columns": 4, "memory.channels": 4}, "run_frames is 2; it must be at least columns, 4"),
        ({"deal_records": 32}, "deal_records is 32; two frames of max_frame_bytes need 48 at least"),
        ({"deal_rows": 32}, "deal_rows is 32; it must be at least deal_records, 64"),
        ({"gather_rows": 128}, "gather_rows is 128; frames of max_frame_bytes need 146 at least"),
        ({"gather_ahead": 257}, "gather_ahead is 257; it must be at most gather_rows, 256"),
        ({"chunks": 64}, "chunks is 64; 3 classes and the longest frame need 96 at least"),
    ):
        with pytest.raises(Exception, match=words):
            configs.with_overrides(configs.load("tiny_wide_3"), overrides)
