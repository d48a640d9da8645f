# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What the frame switch does to traffic, judged by arithmetic of its own. The twins' tests carry it over to the RTL."""

import math
import random
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.frame_switch.config import Config
from penstock.designs.frame_switch.testing import twins_switch
from penstock.engine import engine
from penstock.scenarios.common import IMIX
from penstock.testing.testjobs import assert_clean
from penstock.testing.testkit import seed

LINE = 100e9
OVERHEAD = 24


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The engine, up to date."""
    engine.build(print)


def configuration(name: str, **overrides: object) -> Config:
    return configs.with_overrides(configs.load(name), overrides)


def words(value: object) -> str | None:
    """Return a part of a test's name for the overrides of a configuration."""
    return "_".join(f"{key}_{each}" for key, each in value.items()) or "plain" if isinstance(value, dict) else None


def run(config: Config, sources: list[Any], groups: Iterable[dict[str, int]] = (), **keys: Any) -> dict[str, Any]:
    job = {"ingress_bps": LINE, "egress_bps": LINE, "overhead_bytes": OVERHEAD, "sources": sources, "keep_departures": True}
    return engine.run(job | {"device": twins_switch.device(config, None, list(groups))} | keys)


def constant(config: Config, source: int, to: list[tuple[int, int]], share: float = 1.0, size: int = 500, **keys: Any) -> dict[str, Any]:
    """A source at one input for (output, class) in turn, which fills a share of the line."""
    bps = share * LINE * size / (size + OVERHEAD)
    queues = [config.flow(source, output, each) for output, each in to]
    return {"kind": "constant", "input": source, "queues": queues, "pick": "round_robin", "bps": bps, "sizes": [(size, 1)]} | keys


def frame_list(source: int, cycles: list[int], queues: list[int], lengths: list[int]) -> dict[str, Any]:
    count = len(lengths)
    return {
        "kind": "frames", "input": source, "cycles": cycles, "queues": np.array(queues, dtype=np.uint32), "offsets": [0] * count,
        "lengths": lengths, "stored": [0] * count, "data": np.zeros(1, dtype=np.uint8),
    }  # fmt: skip


def beats(config: Config, length: int) -> int:
    return -(-length // config.data_bytes)


def by_output(config: Config, result: dict[str, Any]) -> dict[int, list[tuple[int, int, int]]]:
    """Return (cycle of the first beat, length, flow) of what has left each output, in this order."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for flow, left in twins_switch.left_by_flow(result).items():
        found.setdefault(flow // config.classes % config.ports, []).extend((*each, flow) for each in left)
    return {output: sorted(left) for output, left in found.items()}


def check_lines(config: Config, result: dict[str, Any], bps: float, overhead: int) -> None:
    """No output sends more than its line and its bus carry: between any two frames is the time of all from the first to the second."""
    per_byte = Fraction(8 * config.clock_hz, int(bps)) if bps else Fraction(0)
    for output, left in by_output(config, result).items():
        latest = Fraction(-1)  # of: a first beat, without the time of all frames before it
        before = Fraction(0)
        for (cycle, length, _), following in zip(left, [*left[1:], None], strict=True):
            assert cycle - before >= latest - 1, f"output {output} is faster than its line in cycle {cycle}"
            latest = max(latest, cycle - before)
            before += (length + overhead) * per_byte
            if following:
                assert following[0] >= cycle + beats(config, length), f"output {output}: two frames at once in cycle {cycle}"


def test_lines_of_their_own() -> None:
    """A lone frame at each input, whose lines have rates of their own: it leaves as long after its last bit as any other."""
    config, length = configuration("switch_4"), 1500
    ingress = [100e9, 40e9, 10e9, 1e9]
    sources = [frame_list(port, [0], [config.flow(port, port, 0)], [length]) for port in range(4)]
    result = run(config, sources, ingress_bps=ingress, drain=True, duration_cycles=10, max_cycles=100_000)
    left = dict(zip(result["departures"]["queue"].tolist(), result["departures"]["cycle"].tolist(), strict=True))
    last_bits = [math.ceil(length * 8 * config.clock_hz / bps) for bps in ingress]
    after = [left[config.flow(port, port, 0)] - last_bit for port, last_bit in enumerate(last_bits)]
    assert after == [14] * 4


def list_job(config: Config, number: int, **keys: Any) -> tuple[dict[str, Any], list[dict[str, int]]]:
    """Return a job whose sources are lists of frames at all inputs, every other frame for one or two outputs."""
    rng = random.Random(number)
    groups = twins_switch.random_groups(config, rng)
    hot = rng.sample(range(config.ports), rng.choice([1, 2]))
    job = {
        "seed": number,
        "sources": [twins_switch.frames(config, rng, groups, source, 200, rng.choice([3, 15]), hot) for source in range(config.ports)],
        "ingress_bps": rng.choice([LINE, 0, 40e9]),
        "egress_bps": rng.choice([LINE, 0, 25e9]),
        "overhead_bytes": rng.choice([24, 0]),
        "duration_cycles": 10_000,
        "drain": True,
        "max_cycles": 1_000_000,
        "quiet_cycles": 5000,
        "interval_cycles": 500,
        "series_queues": list(range(0, config.flows, 3)),
    }
    return job | keys, groups


def check_totals(config: Config, groups: list[dict[str, int]], job: dict[str, Any], result: dict[str, Any]) -> twins_switch.Copies:
    """What came, and what was wrong with it, by flow and in all: a frame of k destinations is k frames. Returns it."""
    expected = twins_switch.copies(config, groups, job["sources"])
    queue = result["queue"]
    for flow in range(config.flows):
        assert queue["in_packets"][flow] == len(expected[flow])
        assert queue["in_bytes"][flow] == sum(length for length, _ in expected[flow])
    everything = [each for flow in expected.values() for each in flow]
    assert result["packets"]["in"] == len(everything) and result["bytes"]["in"] == sum(length for length, _ in everything)
    for reason in ("bad_queue_id", "bad_frame", "oversize"):
        mine = [length for length, why in everything if why == reason]
        assert len(mine) > 10
        assert (result["packets"]["dropped"][reason], result["bytes"]["dropped"][reason]) == (len(mine), sum(mine)), reason
    # A beat goes in once, however many destinations it has, and comes out once at each.
    assert result["bus"]["input_taken"] == sum(beats(config, length) for source in job["sources"] for length in source["lengths"])
    assert result["bus"]["output_taken"] == sum(beats(config, int(length)) for length in result["departures"]["length"])
    series = result["series"]
    assert series["in_bytes"].sum() == result["bytes"]["in"] and series["out_bytes"].sum() == result["bytes"]["out"]
    assert {reason: count.sum() for reason, count in series["drops"].items()} == result["packets"]["dropped"]
    assert series["packets"].sum(axis=0).tolist() == [queue["out_packets"][flow] for flow in series["queues"]]
    return expected


@pytest.mark.parametrize("name", ["switch_4", "islip_4"])
def test_every_good_frame_comes_out(name: str) -> None:
    """With back-pressure: at each of its outputs, once, and in the order of its flow; and nothing else comes out."""
    config = configs.load(name)
    for number in range(seed(), seed() + 6):
        job, groups = list_job(config, number)
        result = run(config, **job, groups=groups)
        assert_clean(result)
        assert result["drained"] and set(result["packets"]["dropped"]) == {"bad_queue_id", "bad_frame", "oversize"}
        expected = check_totals(config, groups, job, result)
        left = twins_switch.left_by_flow(result)
        for flow in range(config.flows):
            good = [length for length, why in expected[flow] if why == "good"]
            assert [length for _, length in left[flow]] == good, f"flow {flow}, seed {number}"
            assert result["queue"]["drop_packets"][flow] == len(expected[flow]) - len(good)
        check_lines(config, result, job["egress_bps"], job["overhead_bytes"])
        if not job["egress_bps"]:
            assert result["bus"]["output_ready"] == config.ports * result["cycles"]


def is_part(some: list[int], of: list[int]) -> bool:
    """Whether `some` is `of` with elements left out."""
    rest = iter(of)
    return all(any(each == other for other in rest) for each in some)


@pytest.mark.parametrize(("name", "overrides"), [("lossy_4", {}), ("islip_4", {"back_pressure": False, "fifo_depth": 2})], ids=words)
def test_losses_add_up(name: str, overrides: dict[str, Any]) -> None:
    """Without back-pressure: what does not come out is lost, to the last frame of each flow, when the run has been drained."""
    config = configuration(name, **overrides)
    lost = last = 0
    for number in range(seed(), seed() + 8):
        job, groups = list_job(config, number)
        result = run(config, **job, groups=groups)
        assert_clean(result)
        assert result["drained"] and result["packets"]["queued"] == 0
        expected = check_totals(config, groups, job, result)
        left = twins_switch.left_by_flow(result)
        missing = 0
        for flow in range(config.flows):
            good = [length for length, why in expected[flow] if why == "good"]
            out = [length for _, length in left[flow]]
            assert is_part(out, good), f"flow {flow}, seed {number}"
            assert result["queue"]["out_packets"][flow] == len(out)
            assert result["queue"]["drop_packets"][flow] == len(expected[flow]) - len(out)
            missing += len(good) - len(out)
            last += len(good) > 0 and out[-1:] != good[-1:]
        assert result["packets"]["dropped"]["lost_in_switch"] == missing
        lost += missing
        check_lines(config, result, job["egress_bps"], job["overhead_bytes"])
    assert lost > 50 and last > 0, f"{lost} lost, {last} of them the last of a flow"


def test_thousands_of_losses_in_a_row() -> None:
    """A class that a higher one starves loses all that comes; what comes out after that is known for what it is."""
    config = configuration("lossy_4")
    starving = constant(config, 0, [(0, 0)], size=60, start_cycle=1_000, stop_cycle=30_000)
    starved = constant(config, 1, [(0, 1)], size=60)
    result = run(config, [starving, starved], duration_cycles=50_000, drain=True, max_cycles=200_000, quiet_cycles=2_000)
    assert_clean(result)
    left = result["departures"]["cycle"][result["departures"]["queue"] == config.flow(1, 0, 1)]
    frames = np.diff(left).max() / config.clock_hz / ((60 + OVERHEAD) * 8 / LINE)  # that came while none of the starved left
    assert frames > 10_000
    assert result["packets"]["dropped"]["lost_in_switch"] >= frames - 100  # those that had room


def test_frames_that_stay_are_lost_only_after_a_drain() -> None:
    """Two sources fill the room of a third's class; the last frames of a flow are missed by none. Without a drain they are queued still."""
    config = configuration("lossy_4", room_cells=32)
    # Frames of 20 beats: the second finds no room at an output whose line stands behind a class above.
    busy = constant(config, 1, [(0, 0)], size=1500, stop_cycle=4000)
    victim = frame_list(0, [1000 + 60 * at for at in range(5)], [config.flow(0, 0, 3)] * 5, [1280] * 5)
    short = run(config, [busy, victim], duration_cycles=4000)
    assert_clean(short)
    flow = config.flow(0, 0, 3)
    assert short["queue"]["in_packets"][flow] == 5 and short["queue"]["out_packets"][flow] + short["queue"]["drop_packets"][flow] == 0
    drained = run(config, [busy, victim], duration_cycles=4000, drain=True, max_cycles=50_000, quiet_cycles=3000)
    assert_clean(drained)
    queue = drained["queue"]
    # The room takes one frame whole; all behind it meet a line that is taken.
    assert (queue["in_packets"][flow], queue["out_packets"][flow], queue["drop_packets"][flow]) == (5, 1, 4)
    assert drained["packets"]["dropped"]["lost_in_switch"] == 4 and drained["packets"]["queued"] == 0
    assert drained["bytes"]["dropped"]["lost_in_switch"] == 4 * 1280


def test_the_last_of_a_flow_is_lost_though_nothing_follows_it() -> None:
    """Frames of one cell from all inputs meet FIFOs of two. No younger frame tells of those at the end, neither the device nor us."""
    config = configuration("lossy_4", fifo_depth=2)
    count = 40
    bursts = [frame_list(source, [100] * count, [config.flow(source, 0, 1)] * count, [64] * count) for source in range(config.ports)]
    keys = {"ingress_bps": 0, "duration_cycles": 1000, "drain": True, "max_cycles": 20_000, "quiet_cycles": 1000}
    result = run(config, bursts, **keys)
    assert_clean(result)
    packets = result["packets"]
    assert packets["in"] == 4 * count == packets["out"] + packets["dropped"]["lost_in_switch"]
    assert packets["queued"] == 0 and result["drained"]
    early = run(config, bursts, **keys | {"max_cycles": 1500})  # they are missed only at the end
    assert early["packets"]["out"] == packets["out"] and 0 < early["packets"]["queued"] < packets["dropped"]["lost_in_switch"]
    assert early["packets"]["queued"] + early["packets"]["dropped"]["lost_in_switch"] == packets["dropped"]["lost_in_switch"]
    print(early["packets"], packets)


def most_of_line(config: Config, size: int) -> Fraction:
    """How full equal frames can make a line that takes them from the bus: a beat per cycle at most, and only when it has sent the one
    before in or before that cycle. What is left of a cycle between two frames is lost to the line when the bus is late."""
    per_byte, free, now, frames = Fraction(8 * config.clock_hz, int(LINE)), Fraction(0), -1, 2000
    for _ in range(frames):
        for beat in range(beats(config, size)):
            now = max(now + 1, int(free))
            last = (beat + 1) * config.data_bytes >= size
            free = max(free, Fraction(now)) + per_byte * (min(config.data_bytes, size - beat * config.data_bytes) + OVERHEAD * last)
    return frames * (size + OVERHEAD) * per_byte / (now + 1)


@pytest.mark.parametrize("name", ["switch_4", "islip_4", "switch_8"])
@pytest.mark.parametrize("size", [60, 594, 1514])
def test_permutations_fill_every_line(name: str, size: int) -> None:
    """Each input sends all that its line brings to an output of its own: every output's line is as full as the bus can make it."""
    config = configs.load(name)
    sources = [constant(config, source, [((source + 1) % config.ports, 1)], size=size) for source in range(config.ports)]
    cycles = 20_000
    result = run(config, sources, duration_cycles=cycles)
    assert_clean(result)
    check_lines(config, result, LINE, OVERHEAD)
    assert sum(result["packets"]["dropped"].values()) == 0
    outputs = by_output(config, result)
    assert len(outputs) == config.ports
    for output, left in outputs.items():
        first, last = left[0][0], left[-1][0]
        share = sum(length + OVERHEAD for _, length, _ in left[:-1]) * 8 * config.clock_hz / LINE / (last - first)
        assert share == pytest.approx(float(most_of_line(config, size)), abs=0.001), f"output {output}"
        assert share > 0.985 and first < 100 and last > cycles - 100


def test_permutations_without_back_pressure_lose_nothing() -> None:
    config = configs.load("lossy_4")
    for size in (60, 1514):  # which fill the line wholly; of others the bus takes a percent away
        assert most_of_line(config, size) > 0.999
        sources = [constant(config, source, [(source ^ 3, 1)], share=0.99, size=size) for source in range(config.ports)]
        result = run(config, sources, duration_cycles=20_000, drain=True, max_cycles=60_000, quiet_cycles=3000)
        assert_clean(result)
        assert result["drained"] and result["packets"]["in"] == result["packets"]["out"] > 2500


@pytest.mark.parametrize("name", ["switch_4", "islip_4"])
def test_a_hot_output_is_full_and_shared_evenly(name: str) -> None:
    """All inputs send all they can to output 2: its line is full, and they take turns frame by frame."""
    config = configs.load(name)
    result = run(config, [constant(config, source, [(2, 1)], size=1000) for source in range(4)], duration_cycles=40_000)
    assert_clean(result)
    check_lines(config, result, LINE, OVERHEAD)
    left = by_output(config, result)[2]
    steady = [each for each in left if each[0] > 5000]
    took = steady[-1][0] - steady[0][0]
    assert (len(steady) - 1) * (1000 + OVERHEAD) * 8 * config.clock_hz / LINE == pytest.approx(took, rel=0.001)
    shares = Counter(flow for _, _, flow in steady)
    assert len(shares) == 4 and max(shares.values()) - min(shares.values()) <= 2, shares


@pytest.mark.parametrize("name", ["switch_4", "islip_4"])
def test_priority_is_strict(name: str) -> None:
    """Input 0 sends some frames of class 0 to an output that the others overload in class 3. When one of class 0 has come, the frame that
    is being sent may end; no other of a lower class goes before it."""
    config = configs.load(name)
    rng = random.Random(seed())
    cycles = np.cumsum([rng.randint(60, 160) for _ in range(150)]).tolist()
    urgent = frame_list(0, cycles, [config.flow(0, 1, 0)] * len(cycles), [rng.choice([64, 500, 1522]) for _ in cycles])
    bulk = [constant(config, source, [(1, 3)], share=0.9, size=size) for source, size in ((1, 64), (2, 700), (3, 1522))]
    result = run(config, [urgent, *bulk], duration_cycles=cycles[-1] + 500)
    assert_clean(result)
    flow = config.flow(0, 1, 0)
    latency = np.asarray(result["latency_cycles"])[np.asarray(result["latency_queue"]) == flow]
    left = by_output(config, result)[1]
    mine = [cycle for cycle, _, which in left if which == flow]
    others = np.array([cycle for cycle, _, which in left if which != flow])
    assert len(mine) == len(cycles) == len(latency)
    # Latency of a lone frame and, in the cell switch, the cells of the other inputs that were chosen before: one each.
    inside = lone_latency(config) + config.ports
    for cycle, waited in zip(mine, latency, strict=True):
        ready = cycle - waited + inside
        assert ((others > ready) & (others < cycle)).sum() == 0, f"a frame of class 0 that came out in cycle {cycle}"
    lower = np.asarray(result["latency_cycles"])[np.asarray(result["latency_queue"]) != flow]
    longest_on_line = ceil((1522 + OVERHEAD) * 8 * config.clock_hz / LINE)
    assert latency.max() <= inside + longest_on_line < np.median(lower) / 5


# ---- latency of a lone frame

PIPELINE = {(2, 1): 4, (4, 1): 7, (4, 2): 4, (4, 4): 2, (8, 1): 10, (8, 4): 2}  # cycles by ports and S: Table 1 of the paper


def lone_latency(config: Config) -> int:
    """blocks/fabric/FRAMES.md: last beat in to first beat out is the cell switch and 6 cycles; 14 and 11 at 4 ports."""
    cells = 5 if config.scheduler == "islip" else PIPELINE[config.ports, config.stages] + 1
    return cells + 6


def test_lone_latency_is_what_the_page_says() -> None:
    assert (lone_latency(configs.load("switch_4")), lone_latency(configs.load("islip_4"))) == (14, 11)


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("switch_4", {}), ("switch_4", {"stages": 2}), ("switch_4", {"stages": 4}), ("switch_4", {"ports": 2}),
        ("switch_4", {"classes": 1}), ("lossy_4", {}), ("switch_8", {}), ("switch_8", {"stages": 4}), ("islip_4", {}), ("islip_8", {}),
        ("islip_4", {"data_bytes": 16, "room_cells": 128}),
    ],
    ids=words,
)  # fmt: skip
@pytest.mark.parametrize("gbps", [0, 10, 25, 100])
def test_lone_frames(name: str, overrides: dict[str, Any], gbps: int) -> None:
    """A beat goes in when the link has brought it and the copies of the one before are on their way, lowest output first."""
    config = configuration(name, **overrides)
    lengths = [1, 2, 63, 64, 65, 127, 128, 129, 640, 1521, 1522, twins_switch.longest(config)]
    masks = [0b01, 0b10, 0b11] if config.ports == 2 else [1, 1 << config.ports - 1, 0b0110, 0b1011, (1 << config.ports) - 1]
    groups = [{"source": 1, "class": config.classes - 1, "destinations": mask} for mask in masks]
    sent = [(length, at) for length in lengths for at in range(len(masks))]
    cycles = [4000 * (1 + index) for index in range(len(sent))]
    source = frame_list(1, cycles, [config.flows + at for _, at in sent], [length for length, _ in sent])
    result = run(config, [source], groups, ingress_bps=gbps * 1e9, egress_bps=0)
    assert_clean(result)
    expected: list[tuple[int, int, int, int]] = []
    per_byte = Fraction(8 * config.clock_hz, gbps * 10**9) if gbps else Fraction(0)
    for (length, at), arrival in zip(sent, cycles, strict=True):
        to = [output for output in range(config.ports) if masks[at] >> output & 1]
        taken = -len(to)
        for beat in range(beats(config, length)):
            brought = arrival + ceil(per_byte * min(length, (beat + 1) * config.data_bytes))
            taken = max(brought, taken + len(to))
        for number, output in enumerate(to):
            out = taken + number + lone_latency(config)
            expected.append((out, (config.ports + output) * config.classes + config.classes - 1, length, out - brought))
    columns = [result["departures"][key] for key in ("cycle", "queue", "length")] + [result["latency_cycles"]]
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected


def test_frames_of_one_flow_follow_each_other() -> None:
    """A burst of mixed frames through an empty switch comes out as its line takes it, without a gap of its own."""
    config = configs.load("switch_4")
    rng = random.Random(seed())
    sizes = [rng.choice([size for size, _ in IMIX]) for _ in range(200)]
    result = run(config, [frame_list(2, [10] * 200, [config.flow(2, 3, 2)] * 200, sizes)], egress_bps=10e9)
    assert_clean(result)
    left = [(int(cycle), int(length)) for cycle, length in zip(*(result["departures"][key] for key in ("cycle", "length")), strict=True)]
    assert [length for _, length in left] == sizes
    per_byte = 8 * config.clock_hz / 10e9
    for (cycle, length), (following, _) in pairwise(left[20:]):  # by then frames wait: the line in front is ten times as fast
        assert abs(following - cycle - (length + OVERHEAD) * per_byte) < 1
