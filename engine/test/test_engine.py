# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The engine against a stand-in device whose behaviour, and misbehaviour, is known."""

import random
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpkt
import numpy as np
import pytest

from penstock.engine import engine
from penstock.testing.testjobs import assert_clean, constant, fate, frames
from penstock.testing.testkit import seed

Job = dict[str, Any]
MakeJob = Callable[..., Job]

CLOCK_HZ = 220_000_000
LATENCY = 20  # of the stand-in, from the last beat in to the first beat out
# enum Fault of stand_in.cpp
NONE, LOSE, REORDER, CORRUPT, DUPLICATE, MISCOUNT, _, NO_EVENT = range(8)
KEEP_HOLE, CHANGE_DATA, ASSERTION, BOUNDARY, RANGE, LAST, TRUNCATE, DROP_VALID = range(8, 16)


# ---- measurement of a good device


def test_every_frame_has_its_fate(stand_in_job: MakeJob) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    source = frames(random.Random(seed()), 2000)
    result = engine.run(stand_in_job([source], duration_cycles=None, sample_queues=list(range(16)), valid_permille=700, ready_permille=600))
    assert_clean(result)
    assert result["drained"] and result["packets"]["queued"] == 0
    expected = [fate(*frame) for frame in zip(source["lengths"], source["queues"].tolist(), source["error"], strict=True)]
    count = Counter(expected)
    assert result["packets"]["in"] == 2000 and result["packets"]["out"] == count.pop("passed")
    assert {reason: n for reason, n in result["packets"]["dropped"].items() if n} == count
    assert result["bytes"]["in"] == sum(source["lengths"])
    for queue in range(16):
        mine = [(length, f) for length, q, f in zip(source["lengths"], source["queues"].tolist(), expected, strict=True) if q == queue]
        assert result["queue"]["in_packets"][queue] == len(mine)
        assert result["queue"]["out_bytes"][queue] == sum(length for length, f in mine if f == "passed")
        assert result["queue"]["drop_packets"][queue] == sum(f != "passed" for _, f in mine)
    passed = [(q, length) for length, q, f in zip(source["lengths"], source["queues"].tolist(), expected, strict=True) if f == "passed"]
    assert list(zip(result["departures"]["queue"].tolist(), result["departures"]["length"].tolist(), strict=True)) == passed


@pytest.mark.parametrize("length", [14, 60, 61, 124, 1000])
def test_latency_is_from_last_bit_to_first_bit(stand_in_job: MakeJob, length: int) -> None:
    result = engine.run(stand_in_job([constant(bps=1e9, size=length)]))
    assert result["packets"]["out"] > 10
    # A short frame's prefix may need a beat more than the frame has; that beat comes when the link has brought the last byte.
    assert set(result["latency_cycles"].tolist()) <= {LATENCY, LATENCY + 1}
    gaps = np.diff(result["departures"]["cycle"])
    assert abs(gaps.mean() - length * 8 * CLOCK_HZ / 1e9) < 1


def test_waiting_at_the_input_counts(stand_in_job: MakeJob) -> None:
    """A device that takes a beat only now and then makes frames late, and the clock shows it."""
    fast = engine.run(stand_in_job([constant(bps=40e9, size=1000)]))
    slow = engine.run(stand_in_job([constant(bps=40e9, size=1000)], valid_permille=300))
    assert slow["latency_cycles"].max() > 10 * fast["latency_cycles"].max()


def test_links_pace(stand_in_job: MakeJob) -> None:
    result = engine.run(stand_in_job([constant(bps=1e12, size=1000)], drain=False))
    assert abs(result["packets"]["in"] - 20_000 * 100e9 / 8 / CLOCK_HZ / 1024) <= 2
    slow = engine.run(stand_in_job([constant(bps=1e9, size=1000)], egress_bps=2e9, overhead_bytes=0, keep_departures=True))
    burst = engine.run(stand_in_job([constant(bps=1e12, size=1000)], egress_bps=2e9, overhead_bytes=0, max_cycles=20_000, drain=False))
    assert slow["latency_cycles"].max() <= LATENCY + 1  # the link is never busy when the next frame comes
    assert abs(np.diff(burst["departures"]["cycle"]).mean() - 1000 * 8 * CLOCK_HZ / 2e9) < 0.5
    assert_clean(burst)


def test_time_series_adds_up(stand_in_job: MakeJob) -> None:
    sources = [constant(range(16), size=100), constant([2, 77], bps=1e8, size=1523)]
    result = engine.run(stand_in_job(sources, interval_cycles=1000, series_queues=[2, 5], drain=False))
    series = result["series"]
    assert series["bytes"].shape == (20, 2)
    assert series["bytes"].sum(axis=0).tolist() == result["queue"]["out_bytes"][[2, 5]].tolist()
    assert series["out_bytes"].sum() == result["bytes"]["out"] and series["in_bytes"].sum() == result["bytes"]["in"]
    assert {reason: int(n.sum()) for reason, n in series["drops"].items()} == result["packets"]["dropped"]
    assert series["latency_max"].max() >= series["latency_mean"].max() >= LATENCY


def test_pcap_has_what_left(stand_in_job: MakeJob, tmp_path: Path) -> None:
    rng = random.Random(seed())
    lengths = [rng.randint(14, 1522) for _ in range(50)]
    data = rng.randbytes(sum(lengths))
    offsets = np.cumsum([0, *lengths])[:-1]
    source = {"kind": "frames", "cycles": np.arange(50) * 300, "queues": np.full(50, 7), "offsets": offsets, "lengths": lengths,
              "stored": lengths, "data": np.frombuffer(data, dtype=np.uint8)}  # fmt: skip
    result = engine.run(stand_in_job([source], pcap_out=str(tmp_path / "out.pcap")))
    content = (tmp_path / "out.pcap").read_bytes()
    assert struct.unpack("=I", content[:4])[0] == 0xA1B23C4D
    with (tmp_path / "out.pcap").open("rb") as file:
        records = list(dpkt.pcap.Reader(file))
    assert [frame for _, frame in records] == [data[o : o + n] for o, n in zip(offsets, lengths, strict=True)]
    times = [round(float(at) * 1e9) for at, _ in records]
    assert times == pytest.approx(result["departures"]["cycle"] * 1e9 / CLOCK_HZ, abs=1)


# ---- traffic


def test_constant_each_is_exact(stand_in_job: MakeJob) -> None:
    source = constant(range(16), bps=1e8, size=100, pick="each")
    result = engine.run(stand_in_job([source], duration_cycles=200_000, max_cycles=400_000))
    per_queue = 200_000 / CLOCK_HZ * 1e8 / 800
    assert np.abs(result["queue"]["in_packets"].astype(float) - per_queue).max() <= 1
    assert len(set((result["departures"]["cycle"] % 1760).tolist())) == 16  # every queue has its own phase


@pytest.mark.parametrize("kind", ["constant", "poisson"])
def test_each_queue_has_its_own_rate(stand_in_job: MakeJob, kind: str) -> None:
    rates = np.arange(1, 17) * 1e8
    source = {"kind": kind, "queues": range(16), "pick": "each", "bps_each": rates, "sizes": [(100, 1)]}
    result = engine.run(stand_in_job([source], duration_cycles=2_000_000, max_cycles=2_200_000, ingress_bps=0))
    assert_clean(result)
    expected = 2_000_000 / CLOCK_HZ * rates / 800
    error = np.abs(result["queue"]["in_packets"] - expected)
    assert error.max() <= 1 if kind == "constant" else (error < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("kind", ["constant", "poisson"])
def test_load_is_the_same_from_the_beginning(stand_in_job: MakeJob, kind: str) -> None:
    """Sixteen thousand slow sources of mixed sizes, watched for less than a frame's period: as many frames as in the long run."""
    sizes = [(60, 7), (590, 4), (1514, 1)]
    mean = sum(size * weight for size, weight in sizes) / 12
    period = 500_000  # cycles from one frame of a source to its next, on average
    source = {"kind": kind, "queues": list(range(16)) * 1000, "pick": "each", "sizes": sizes}
    source["bps_each"] = np.full(16_000, mean * 8 * CLOCK_HZ / period)
    result = engine.run(stand_in_job([source], duration_cycles=100_000, max_cycles=200_000, ingress_bps=0))
    assert result["packets"]["in"] == pytest.approx(16_000 / 5, rel=0.08)


@pytest.mark.parametrize("pick", ["random", "each", "round_robin"])
def test_poisson(stand_in_job: MakeJob, pick: str) -> None:
    bps = 8e9 / (16 if pick == "each" else 1)
    source = {"kind": "poisson", "queues": range(16), "pick": pick, "bps": bps, "sizes": [(60, 7), (570, 4), (1514, 1)]}
    # No links: the departures are the arrivals, shifted.
    result = engine.run(stand_in_job([source], duration_cycles=2_000_000, max_cycles=2_100_000, ingress_bps=0, egress_bps=0))
    assert_clean(result)
    gaps = np.diff(result["departures"]["cycle"])
    mean = (60 * 7 + 570 * 4 + 1514) / 12 * 8 * CLOCK_HZ / 8e9
    assert gaps.mean() == pytest.approx(mean, rel=0.05)
    assert gaps.std() == pytest.approx(mean, rel=0.08)  # exponential: as large as the mean
    sizes = Counter(result["departures"]["length"].tolist())
    assert sizes[60] / sizes.total() == pytest.approx(7 / 12, rel=0.06)
    queues = np.bincount(result["departures"]["queue"], minlength=16)
    assert queues.min() > 0.7 * queues.mean()


@pytest.mark.parametrize("pick", ["random", "each"])
def test_onoff(stand_in_job: MakeJob, pick: str) -> None:
    source = {"kind": "onoff", "queues": range(16), "pick": pick, "bps": 4e9, "sizes": [(100, 1)], "on_cycles": 1000, "off_cycles": 3000}
    result = engine.run(stand_in_job([source], duration_cycles=4_000_000, max_cycles=4_200_000))
    assert_clean(result)
    rate = result["bytes"]["in"] * 8 * CLOCK_HZ / 4_000_000 / (16 if pick == "each" else 1)
    assert rate == pytest.approx(1e9, rel=0.15)  # on for a quarter of the time; the standard deviation is below 4 %


def test_sources_start_and_stop(stand_in_job: MakeJob) -> None:
    sources = [constant([1], start_cycle=5000, stop_cycle=7000), constant([2], bps=1e9)]
    result = engine.run(stand_in_job(sources))
    queue = result["queue"]
    assert queue["first_departure"][1] >= 5000 and queue["last_departure"][1] < 7100
    assert queue["first_departure"][2] < 500 and queue["last_departure"][2] > 19_000
    assert queue["first_departure"][0] == queue["last_departure"][0] == -1


def test_same_seed_same_result(stand_in_job: MakeJob) -> None:
    source = {"kind": "poisson", "queues": range(16), "pick": "random", "bps": 50e9, "sizes": [(60, 1), (900, 1)]}
    one, two, other = (engine.run(stand_in_job([source], seed=s, ready_permille=500, valid_permille=800)) for s in (5, 5, 6))
    for key in ("latency_cycles", "latency_queue"):
        assert np.array_equal(one[key], two[key])
    assert one["cycles"] == two["cycles"] and one["packets"] == two["packets"]
    assert not np.array_equal(one["latency_queue"], other["latency_queue"])


# ---- measurement of a bad device


@pytest.mark.parametrize(
    ("fault", "finding", "words"),
    [
        (LOSE, "lost", "never came out"),
        (REORDER, "order_errors", "leaves before"),
        (CORRUPT, "payload_errors", "comes out changed"),
        (TRUNCATE, "payload_errors", "comes out changed"),
        (DUPLICATE, "event_errors", "does not hold it"),
        (NO_EVENT, "event_errors", "does not hold it"),
        (MISCOUNT, "counter_mismatches", "drop counter runt"),
    ],
)
def test_finds(stand_in_job: MakeJob, fault: int, finding: str, words: str) -> None:
    sources = [constant(bps=20e9), constant(bps=1e8, size=10)]
    result = engine.run(stand_in_job(sources, fault, 20, sample_queues=[3]))
    assert result[finding] > 0
    assert any(words in text for text in result["findings"])
    if fault not in (REORDER, CORRUPT, TRUNCATE):
        assert not result["conservation_ok"]
    if fault == REORDER:
        assert result["order_errors"] == 1 and result["payload_errors"] == 0 and result["packets"]["queued"] == 0
    if fault == CORRUPT:
        assert result["payload_errors"] == 1 and result["order_errors"] == 0


def test_finds_a_lost_last_frame(stand_in_job: MakeJob) -> None:
    """Nothing follows the lost frame, so only the counters and the drain tell."""
    source = constant(bps=1e9, stop_cycle=4000)
    frames_in = engine.run(stand_in_job([source]))["packets"]["in"]
    result = engine.run(stand_in_job([source], LOSE, frames_in, sample_queues=[3]))
    assert not result["drained"] and result["packets"]["queued"] == 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (KEEP_HOLE, "tkeep is not contiguous"),
        (CHANGE_DATA, "m_axis changed before it was taken"),
        (DROP_VALID, "m_axis changed before it was taken"),
        (ASSERTION, "assertion of the stand-in"),
        (BOUNDARY, "memory 0: write burst of 2 beats at 4032 crosses a 4 KiB boundary"),
        (RANGE, "memory 0: read burst of 2 beats at 1099511627776 is outside"),
        (LAST, "memory 0: wlast is 1 at beat 1 of 2"),
    ],
)
def test_broken_protocol_fails_loudly(stand_in_job: MakeJob, fault: int, words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        engine.run(stand_in_job([constant()], fault, 5, ready_permille=500))


# ---- jobs and runs


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"colour": 1}, "colour is not a key"),
        ({"sources": [constant(bps=-1)]}, r"sources\[0\].bps = -1"),
        ({"sources": [constant() | {"kind": "wave"}]}, r"sources\[0\].kind is not"),
        ({"sources": [constant(range(0))]}, "queues is empty"),
        ({"sources": [constant() | {"sizes": [(0, 1)]}]}, "bytes are 1..65535"),
        ({"sources": [constant() | {"speed": 1}]}, r"sources\[0\].speed is not a key"),
        ({"sample_queues": [16]}, "the device has no queue 16"),
        ({"register_writes": [(1, 2, 3)]}, r"register_writes\[0\] is not \(address, value\)"),
        ({"ready_permille": 0}, "ready_permille = 0 is out of range"),
        ({"egress_bps": 0.5}, "egress_bps is out of range"),
        ({"ingress_bps": [1e-300]}, "ingress_bps is out of range"),
        ({"duration_cycles": "long"}, "duration_cycles has a wrong type"),
        ({"duration_cycles": None, "max_cycles": None}, "must end the run"),
        ({"sources": [frames(random.Random(1), 3) | {"stored": [9000] * 3}]}, r"stored\[0\] is more"),
        ({"sources": [frames(random.Random(1), 3) | {"cycles": [3, 2, 1]}]}, r"cycles\[1\] is not in order"),
        ({"sources": [frames(random.Random(1), 3) | {"offsets": [0, 0, 1 << 40]}]}, r"offsets\[2\] points out"),
    ],
)
def test_bad_jobs_are_refused(stand_in_job: MakeJob, change: Job, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        engine.run(stand_in_job([constant()]) | change)


def test_a_device_that_is_not_there_is_refused(stand_in_job: MakeJob, tmp_path: Path) -> None:
    job = stand_in_job([constant()])
    with pytest.raises(RuntimeError, match="does not load"):
        engine.run(job | {"device": job["device"] | {"library": str(tmp_path / "none.so")}})


def test_progress_stops_a_run(stand_in_job: MakeJob) -> None:
    seen: list[dict[str, Any]] = []

    def progress(now: dict[str, Any]) -> bool:
        seen.append(now)
        return len(seen) < 4

    result = engine.run(stand_in_job([constant()], duration_cycles=10**10, max_cycles=None, sample_queues=[3]), progress)
    assert result["interrupted"] and 0 < result["cycles"] < 10**10
    assert [now["phase"] for now in seen] == ["init", "run", "run", "run"]
    assert result["conservation_ok"] and result["counter_mismatches"] == 0
    assert result["packets"]["in"] >= seen[-1]["packets_in"] > 0


def test_ctrl_c_stops_a_run(stand_in_job: MakeJob) -> None:
    import signal

    timer = threading.Timer(0.4, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    timer.start()
    begin = time.monotonic()
    try:
        result = engine.run(stand_in_job([constant()], duration_cycles=10**10, max_cycles=None))
    finally:
        signal.signal(signal.SIGINT, before)
    assert result["interrupted"] and time.monotonic() - begin < 5
    assert result["conservation_ok"]


def test_exception_in_progress_comes_through(stand_in_job: MakeJob) -> None:
    def progress(_: dict[str, Any]) -> bool:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        engine.run(stand_in_job([constant()]), progress)


def test_timed_register_writes(stand_in_job: MakeJob) -> None:
    """From cycle 10,000 on the stand-in counts every runt twice."""
    job = stand_in_job([constant(bps=1e8, size=10)], timed_register_writes=[(10_000, 0x800, MISCOUNT)])
    result = engine.run(job)
    assert result["counter_mismatches"] == 1
    runts = result["packets"]["dropped"]["runt"]
    assert f"the device counts {runts + runts // 2}" in result["findings"][0]


def test_building_again_takes_no_time() -> None:
    begin = time.monotonic()
    engine.build()
    assert time.monotonic() - begin < 0.5
