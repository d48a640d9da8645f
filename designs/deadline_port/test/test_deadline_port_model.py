# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The model of the deadline port beside its RTL: the same jobs on both engines give the same result, in every cycle."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_deadline_port import COMMANDS, frames, job, library, set_class, set_dscp, some

from penstock.designs import configs
from penstock.designs.deadline_port import registers
from penstock.designs.deadline_port.config import device
from penstock.engine import engine
from penstock.testing import teststand
from penstock.testing.differences import differences
from penstock.testing.testjobs import assert_clean
from penstock.testing.testkit import seed

Job = dict[str, Any]


def on_the_model(given: Job) -> Job:
    """Return the job with the model in place of the RTL."""
    described = {key: value for key, value in given["device"].items() if key != "library"}
    return {**given, "device": {**described, "model": True}}


def random_job(name: str, number: int) -> Job:
    """Return a job with all that a port meets: bad frames, overload, pauses, settings that change, memories that are slow or refuse."""
    rng = random.Random(number)
    config = configs.load(name, "deadline_port")
    path = library(name)[1]
    deadlines = some(config, *(rng.choice((300, 2000, 9000, 30_000, 90_000)) for _ in range(3)))
    first = frames(rng, config, 1200, rng.choice((10, 25, 80)))
    second = frames(rng, config, 600, rng.choice((5, 25)), start=int(first["cycles"][-1]) + rng.choice((500, 20_000)))
    both = {key: np.concatenate([first[key], second[key]]) for key in first if key not in ("kind", "offsets")}
    both |= {"kind": "frames", "offsets": np.cumsum([0, *both["stored"]])[:-1]}
    timed = []
    for cycle in range(1000, 60_000, rng.choice((900, 5000))):
        writes = set_class(rng.randrange(config.classes), rng.choice((200, 3000, 15_000, 90_000)))
        if rng.random() < 0.3 and not config.class_from_user:
            writes = set_dscp(rng.randrange(65), rng.randrange(config.classes))
        if rng.random() < 0.2:
            writes = [(registers.address("memory_limit"), rng.choice((0, 80, 120)))]
        timed += [(cycle + place, *write) for place, write in enumerate(writes)]
    timing = {"read_latency": rng.randint(2, 80), "write_latency": rng.randint(2, 60), "gap_permille": rng.choice((0, 50, 300))}
    memory = {**timing, "faults": [{"what": rng.choice(("errors", "stall")), "from": 8000, "until": 9500}] if rng.random() < 0.4 else []}
    return job(
        config, path, [both], deadlines, any_class=True, memory=memory, timed_register_writes=timed, keep_departures=True,
        egress_bps=rng.choice((1e9, 5e9, 20e9, 0)), ingress_bps=rng.choice((0, 40e9)), interval_cycles=4000, seed=number,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "jobs"),
    [("tiny_deadline_3", 4), pytest.param("tiny_deadline_16", 4, marks=pytest.mark.slow), ("tiny_fifo_3", 2)],
)
def test_both_engines_agree(name: str, jobs: int) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    missed = 0
    for number in range(seed(), seed() + jobs):
        given = random_job(name, number)
        if number == seed():
            for memory in given["device"]["memories"]:
                memory["gap_permille"] = 800  # slower than the line: data of writes wait in front of it
        rtl, model = engine.run(given), engine.run(on_the_model(given))
        assert_clean(model)
        found = differences(rtl, model)
        for key, values in rtl.get("deadline", {}).items():
            if key != "exact" and not np.array_equal(values, model["deadline"][key]):
                found.append(f"{key}: {values} and {model['deadline'][key]}")
        assert not found, f"job {number}: {found[:5]}"
        missed += rtl["packets"]["dropped"].get("missed", 0)
    assert missed or name == "tiny_fifo_3"


def test_what_is_queued_wraps_as_in_the_hardware() -> None:
    """Class 0 of a plain FIFO has lost frames of all classes, so less than none is queued: modulo 2^50 frames and 2^56 bytes."""
    config, path = library("tiny_fifo_3")
    at, found = registers.address, []
    given = job(config, path, [], [], any_class=True, egress_bps=1e8)
    for memory in given["device"]["memories"]:
        memory["faults"] = [{"what": "errors", "from": 0, "until": 1_000_000}]
    for key in ("duration_cycles", "drain", "max_cycles", "quiet_cycles"):
        given.pop(key)
    for one in (given, on_the_model(given)):
        session = engine.module().Session(one)
        session.start()
        for number in range(100):
            session.offer(10 * number, 64 % 3, bytes(500))  # of class 1
        session.advance(300_000, until_empty=True)
        for address, value in ((at("class_index"), 0), (at("command"), COMMANDS["snapshot"])):
            session.write(address, value)
        while session.read(at("status")) & 2:
            pass
        found.append([session.read(at(name) + part) for name in ("lost_frames", "queued_frames", "queued_bytes") for part in (0, 4)])
        assert_clean(session.end())
    lost = found[0][0]
    assert lost > 10 and found[0][2:] == [2**32 - lost, 2**18 - 1, 2**32 - 500 * lost, 2**24 - 1]
    assert found[1] == found[0]


def test_no_frame_begins_late_and_as_many_miss_as_of_an_exact_one() -> None:
    """A link with 1.4 times its load, three deadlines: no frame is late, and the share that misses is close to that of an exact EDFR."""
    config = configs.load("tiny_deadline_3", "deadline_port")
    rng = random.Random(seed())
    flood = frames(rng, config, 4000, 60, bad=0)
    given = on_the_model(job(config, Path("-"), [flood], [3000, 6000, 10_000], any_class=True, interval_cycles=10_000, egress_bps=5e9))
    result = engine.run(given)
    assert_clean(result)
    own = result["deadline"]
    assert not own["late_packets"].any() and (own["slack_min"] >= 0).all()
    missed, exact = result["packets"]["dropped"]["missed"], int(own["exact"]["missed_packets"].sum())
    assert int(own["missed"].sum()) == missed
    # A few wait before the exact one's link when the port is empty: a frame is offered while the link still sends the one before it.
    assert 3980 <= exact + int(own["exact"]["sent_packets"].sum()) <= 4000
    assert exact > 100 and abs(missed - exact) < 0.15 * exact, (missed, exact)


def test_what_the_model_does_not_know_is_refused() -> None:
    config = configs.load("tiny_deadline_3", "deadline_port")
    timing = {"read_latency": 40, "write_latency": 20, "gap_permille": 0}
    for extra, words in (({"valid_permille": 500}, "random gaps"), ({"fault": {"memory_flip_byte": 0}}, "no bytes")):
        given = {"device": device(config, None, timing), "duration_cycles": 100, "sources": [], **extra}
        with pytest.raises(ValueError, match=words):
            engine.run(given)


def test_a_library_with_other_event_ports_is_refused() -> None:
    """What a design reads at its event ports must be there: a stand-in has the access edge's four."""
    given = job(configs.load("tiny_deadline_3", "deadline_port"), Path(teststand.library()), [], [])
    given["device"]["memories"] = given["device"]["memories"][:1]
    with pytest.raises(ValueError, match="the device has 4 event ports, the job 8"):
        engine.run(given)
