# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The frame switch on both engines: the model is the RTL's twin, with every frame's fate in the same cycle."""

import random
from pathlib import Path
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.frame_switch.config import Config
from penstock.designs.frame_switch.testing import twins_switch
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.testing.testkit import seed

JOBS = 20
SIZES = {
    "switch_4": {},
    "islip_4": {},
    "lossy_4": {},
    "islip_4_lossy": {"back_pressure": False, "fifo_depth": 4},
}


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The engine, up to date."""
    engine.build(print)


def configuration(name: str, overrides: dict[str, object]) -> Config:
    return configs.with_overrides(configs.load(name.removesuffix("_lossy")), overrides)


@pytest.fixture(scope="module", params=SIZES)
def device(request: pytest.FixtureRequest) -> tuple[Config, Path]:
    """A configuration and its library."""
    config = configuration(request.param, SIZES[request.param])
    return config, verilate.build_device(config, print)


def both(config: Config, library: Path, job: dict[str, Any], groups: list[dict[str, int]]) -> tuple[dict[str, Any], dict[str, Any]]:
    one, other = (engine.run(job | {"device": twins_switch.device(config, where, groups)}) for where in (str(library), None))
    return one, other


def compare(config: Config, library: Path, jobs: int) -> None:
    """Random jobs on both; what is compared is worth something only if all of it has happened."""
    packets: dict[str, int] = dict.fromkeys(("out", "bad_queue_id", "bad_frame", "oversize", "lost_in_switch", "waited"), 0)
    for number in range(seed(), seed() + jobs):
        rtl, model = both(config, library, *twins_switch.random_job(config, number))
        assert twins_switch.differences(rtl, model) == [], f"seed {number}"
        for one in (rtl, model):
            assert one["findings"] == [] and one["conservation_ok"], f"seed {number}"
        packets["out"] += rtl["packets"]["out"]
        packets["waited"] += rtl["bus"]["input_offered"] - rtl["bus"]["input_taken"]
        for reason, count in rtl["packets"]["dropped"].items():
            packets[reason] += count
    print(packets)
    assert packets["out"] > 100 * jobs and packets["waited"] > 100 * jobs
    assert min(packets[reason] for reason in ("bad_queue_id", "bad_frame", "oversize")) > jobs
    assert (packets["lost_in_switch"] > 3 * jobs) == (not config.back_pressure)


def test_random_jobs_are_equal(device: tuple[Config, Path]) -> None:
    """Departures with their cycles, drops by reason and flow, totals, series, counts at the ports."""
    compare(*device, JOBS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("switch_8", {}),
        ("islip_8", {}),
        ("switch_8", {"back_pressure": False, "stages": 4, "classes": 1}),
        ("islip_8", {"iterations": 2, "data_bytes": 32, "max_frame_bytes": 600}),
        ("switch_4", {"stages": 2, "data_bytes": 16, "max_frame_bytes": 200, "room_cells": 16}),
        ("switch_4", {"ports": 2, "classes": 3, "data_bytes": 12, "max_frame_bytes": 100, "room_cells": 16}),
    ],
)
def test_other_sizes_are_equal(name: str, overrides: dict[str, object]) -> None:
    config = configuration(name, overrides)
    compare(config, verilate.build_device(config, print), 40)


# ---- sessions


def session(config: Config, library: str | None, number: int) -> tuple[list[Any], dict[str, Any]]:
    """Play a session in which each output answers: what comes in depends on what has come out. Returns all that was seen."""

    rng = random.Random(number)
    groups = twins_switch.random_groups(config, rng)
    held = engine.module().Session({
        "device": twins_switch.device(config, library, groups),
        "seed": number,
        "ingress_bps": rng.choice([100e9, 0, 25e9]),
        "egress_bps": rng.choice([100e9, 0, 10e9]),
        "overhead_bytes": rng.choice([24, 0]),
        "sources": [],
        "keep_departures": True,
    })  # fmt: skip
    held.start()
    sizes = [length for length in twins_switch.lengths(config, rng) if length >= twins_switch.SHORTEST_WITH_LOSSES]
    data: list[bytes] = []
    seen: list[Any] = []

    def offer(source: int, queue: int, soon: int) -> None:
        data.append(rng.randbytes(rng.choice(sizes)))
        got = held.offer(held.now + rng.randint(0, soon), queue, data[-1], error=rng.random() < 0.05, input=source)
        assert got == len(data) - 1

    for _ in range(40):
        for _ in range(rng.choice([0, 1, 5, 20])):
            source = rng.randrange(config.ports)
            own = [config.flows + at for at, group in enumerate(groups) if group["source"] == source]
            flow = config.flow(source, rng.randrange(config.ports), rng.randrange(config.classes))
            offer(source, rng.choice([flow, flow, flow, rng.choice(own), twins_switch.NOWHERE]), rng.choice([1, 100, 1000]))
        held.advance(held.now + rng.choice([1, 7, 50, 400]), until_empty=rng.random() < 0.2)
        left, dropped = held.take_left(), held.take_dropped()
        seen.append((held.now, *(left[key].tolist() for key in ("number", "cycle", "queue", "latency"))))
        seen.append(tuple(dropped[key].tolist() for key in ("number", "cycle", "queue", "length", "reason")))
        for at, frame in enumerate(left["number"].tolist()):
            assert left["data"][left["offsets"][at] : left["offsets"][at + 1]].tobytes() == data[frame], f"frame {frame}, seed {number}"
        for queue in left["queue"].tolist()[:5]:
            source, output = queue // config.classes // config.ports, queue // config.classes % config.ports
            offer(output, config.flow(output, source, rng.randrange(config.classes)), 3)
    held.advance(held.now + 20_000, until_empty=True)
    result = held.end()
    assert result["findings"] == [] and result["conservation_ok"], f"seed {number}"
    assert result["packets"]["out"] > 50
    return seen, result


def test_sessions_are_equal(device: tuple[Config, Path]) -> None:
    config, library = device
    for number in range(seed(), seed() + 4):
        (rtl_seen, rtl), (model_seen, model) = session(config, str(library), number), session(config, None, number)
        assert rtl_seen == model_seen, f"seed {number}"
        assert twins_switch.differences(rtl, model) == [], f"seed {number}"


def test_a_copy_that_waits_keeps_its_bytes() -> None:
    """A frame for outputs 0 and 1, where output 0 has better to do for long: a hundred frames leave before its second copy does."""

    config = configs.load("switch_4")
    group = {"source": 0, "class": 3, "destinations": 0b11}
    job = {"device": twins_switch.device(config, None, [group]), "ingress_bps": 100e9, "egress_bps": 100e9, "sources": []}
    held = engine.module().Session(job)
    held.start()
    rng = random.Random(seed())
    data = [rng.randbytes(500)]
    for number in range(300):  # inputs 1 to 3 fill the line of output 0 in class 0 before the frame comes, and after
        data.append(rng.randbytes(300))
        held.offer(number * 2, config.flow(1 + number % 3, 0, 0), data[-1], input=1 + number % 3)
    multicast = held.offer(200, config.flows, data[0], input=0)
    held.advance(30_000, until_empty=True)
    left = held.take_left()
    at = [index for index, number in enumerate(left["number"].tolist()) if number == multicast]
    assert [int(left["queue"][index]) for index in at] == [config.flow(0, output, 3) for output in (1, 0)]
    assert at[1] - at[0] > 150
    for index in at:
        assert left["data"][left["offsets"][index] : left["offsets"][index + 1]].tobytes() == data[0]
    assert held.end()["findings"] == []


# ---- the comparison itself


def test_differences_are_found() -> None:
    config = configs.load("switch_4")
    job, groups = twins_switch.random_job(config, 1)
    given = job | {"device": twins_switch.device(config, None, groups)}
    one, other = (engine.run(given) for _ in range(2))
    assert twins_switch.differences(one, other) == []
    other["bus"]["output_ready"] += 1
    assert any("bus" in words for words in twins_switch.differences(one, other))
    other["series"]["out_bytes"][2] += 1
    assert any("series out_bytes" in words for words in twins_switch.differences(one, other))
    other["series"]["drops"]["bad_frame"][0] += 1
    assert any("series drops bad_frame" in words for words in twins_switch.differences(one, other))
    other["series"]["outputs"]["packets"][0, 1] += 1
    assert any("series outputs packets" in words for words in twins_switch.differences(one, other))
    other["findings"].append("x")
    assert any("findings" in words for words in twins_switch.differences(one, other))


def test_the_model_has_no_gaps() -> None:
    config = configs.load("switch_4")
    job, groups = twins_switch.random_job(config, 1)
    given = job | {"device": twins_switch.device(config, None, groups)}
    for key in ("valid_permille", "ready_permille"):
        with pytest.raises(ValueError, match="no random gaps"):
            engine.run(given | {key: 500})
