# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What the engine measures, against arithmetic by hand, and what its checks must find, on the stand-in device.

At 125 MHz and 1 Gbit/s a byte takes a cycle on the line and a frame 24 more, so a frame that begins in cycle S has its last bit at S + L.
tests/test_hand_computed.py has a whole run.
"""

import struct
from pathlib import Path

import numpy as np
import pytest

from penstock.engine import engine
from penstock.testing import teststand
from penstock.testing.testjobs import assert_clean, constant
from penstock.testing.testkit import seed
from penstock.testing.teststand import AQM_FRAMES, AQM_ORDERS, CLOCK_HZ, MARK, MARK_AND_DROP, MakeJob, recorded, run

# enum Fault of stand_in.cpp
REORDER = 2
NOT_GIVEN, CLASSIFY_LENGTH, ENQUEUE_LENGTH, DEQUEUE_LENGTH, CLASSIFY_QUEUE = range(24, 29)


# ---- the device's counters and events


def test_a_device_with_an_aqm_is_measured(stand_in_job: MakeJob) -> None:
    result = run(stand_in_job, AQM_FRAMES, AQM_ORDERS)
    assert_clean(result)
    assert result["packets"]["dropped"]["aqm"] == 2 and result["bytes"]["dropped"]["aqm"] == 100 + 101
    assert result["packets"]["dropped"]["tail_drop_packets"] == 1 and result["bytes"]["out"] == 103 + 104
    table = {key: int(column[3]) for key, column in result["queue"].items()}
    assert (table["aqm_drop_packets"], table["drop_packets"], table["drop_bytes"], table["marked_packets"]) == (2, 3, 303, 1)
    assert result["marked_packets"] == 1


@pytest.mark.parametrize("kept", [3, 5])
def test_drops_and_marks_are_kept_of_chosen_queues_only(stand_in_job: MakeJob, kept: int) -> None:
    """All of them are in queue 3; the counters have them whether they are kept one by one or not."""
    result = run(stand_in_job, AQM_FRAMES, AQM_ORDERS, keep_all=False, series_queues=[kept])
    assert result["packets"]["dropped"]["aqm"] == 2 and result["marked_packets"] == 1
    drops = [int(queue) for events in result["drop_events"].values() for queue in events["queue"]]
    assert (drops, [int(queue) for queue in result["mark_events"]["queue"]]) == (([3] * 3, [3]) if kept == 3 else ([], []))


@pytest.mark.parametrize("most", [2, 3])
def test_so_many_drops_and_marks_are_kept(stand_in_job: MakeJob, most: int) -> None:
    """Three frames are dropped before one is marked."""
    result = run(stand_in_job, AQM_FRAMES, AQM_ORDERS, keep_most=most)
    kept = [len(events["queue"]) for events in [*result["drop_events"].values(), result["mark_events"]]]
    assert sum(kept) == most and len(result["mark_events"]["cycle"]) == 0


@pytest.mark.parametrize("waits", [20, 400])
def test_a_drop_behind_a_frame_that_leaves(stand_in_job: MakeJob, waits: int) -> None:
    """The first frame leaves from cycle 1020 to 2020. The second is dropped before the third comes, or after; the fourth comes last."""
    source = recorded([(3, 0, 1000), (3, 1100, 100), (3, 1250, 101), (3, 1750, 102)])
    orders = [*teststand.with_aqm(2), *teststand.dictate(2, waits, verdict=teststand.DROP), *teststand.dictate(3, waits)]
    result = run(stand_in_job, source, orders)
    assert_clean(result)
    assert result["packets"]["dropped"]["aqm"] == 1 and result["departures"]["length"].tolist() == [1000, 101, 102]


@pytest.mark.parametrize("third", [400, 660])
def test_a_queue_goes_on_behind_a_frame_that_left_too_early(stand_in_job: MakeJob, third: int) -> None:
    """Both are due in cycle 600, and the second leaves first; the third comes before it has left, or while the first leaves."""
    source = recorded([(3, 0, 100), (3, 124, 101), (3, third, 102), (3, 1600, 103)])
    result = run(stand_in_job, source, [*teststand.dictate(1, 500), *teststand.dictate(2, 375), *teststand.dictate(3, 400)], REORDER, 1)
    assert [result[count] for count in ("order_errors", "payload_errors", "event_errors", "lost")] == [1, 0, 0, 0], result["findings"]
    assert result["departures"]["length"].tolist() == [101, 100, 102, 103]


def test_what_others_overtake_is_lost(stand_in_job: MakeJob) -> None:
    """One of another queue stays in the device, and the second and fourth of this one. The third has overtaken the second alone."""
    source = recorded([(5, 0, 60), *((3, 400 * i, 99 + i) for i in range(1, 5))])
    result = run(stand_in_job, source, [write for frame in (1, 3, 5) for write in teststand.dictate(frame, teststand.STAYS)])
    assert result["departures"]["length"].tolist() == [100, 102]
    assert (result["order_errors"], result["lost"], result["event_errors"]) == (1, 1, 0), result["findings"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (NOT_GIVEN, ["cycle 923: a frame leaves queue 3, which has given none away, or not yet"]),
        (CLASSIFY_LENGTH, ["cycle 904: classify says queue 3, 102 bytes of frame 2 (queue 3, 103 bytes)"]),
        (CLASSIFY_QUEUE, ["cycle 904: classify says queue 4, 103 bytes of frame 2 (queue 3, 103 bytes)"]),
        (ENQUEUE_LENGTH, ["cycle 904: an enqueue decision says 102 bytes of frame 2 (queue 3, 103 bytes)"]),
        (DEQUEUE_LENGTH, ["cycle 923: queue 3 gives away 102 bytes, not frame 2 (queue 3, 103 bytes)"]),
    ],
)
def test_every_event_is_checked(stand_in_job: MakeJob, fault: int, words: list[str]) -> None:
    """The third frame, of 103 byte: its last bit comes in cycle 903, its event a cycle later, its turn 20 after it came."""
    source = recorded([(3, 400 * i, 101 + i) for i in range(4)])
    result = run(stand_in_job, source, teststand.with_aqm(), fault, 3)
    assert result["findings"][:1] == words and result["event_errors"] == 1 and not result["conservation_ok"]


def test_a_mark_on_a_dropped_frame_is_found(stand_in_job: MakeJob) -> None:
    result = run(stand_in_job, recorded([(3, 0, 100)]), [*teststand.with_aqm(), *teststand.dictate(1, verdict=MARK_AND_DROP)])
    assert result["event_errors"] == 1 and "gives away" in result["findings"][0]


# ---- marks


def ipv4(tos: int, *, ihl: int = 5) -> bytes:
    """A header whose checksum is 0x1234 whatever the rest says: the engine must change it by the difference."""
    return bytes([0x40 | ihl, tos]) + bytes(8) + b"\x12\x34" + bytes(8)


ADDRESSES = bytes.fromhex("020000000001 020000000002")
TAG, OUTER = bytes.fromhex("8100 0005"), bytes.fromhex("88A8 0006")
V4, V6 = b"\x08\x00", b"\x86\xdd"


def ipv6(first: int, second: int) -> bytes:
    return bytes([first, second]) + bytes(38)


# What the frame begins with; what a right mark changes, as (offset, value); None: it may not be marked.
HEADS: dict[str, tuple[bytes, list[tuple[int, int]] | None]] = {
    "ect0": (ADDRESSES + V4 + ipv4(0x02), [(15, 0x03), (25, 0x33)]),
    "ect1": (ADDRESSES + V4 + ipv4(0x01), [(15, 0x03), (25, 0x32)]),
    "ect1_with_dscp": (ADDRESSES + V4 + ipv4(0xB9), [(15, 0xBB), (25, 0x32)]),
    "tagged": (ADDRESSES + TAG + V4 + ipv4(0x02), [(19, 0x03), (29, 0x33)]),
    "two_tags": (ADDRESSES + OUTER + TAG + V4 + ipv4(0x02), [(23, 0x03), (33, 0x33)]),
    "ipv6_ect0": (ADDRESSES + V6 + ipv6(0x60, 0x20), [(15, 0x30)]),
    "ipv6_ect1_with_class": (ADDRESSES + V6 + ipv6(0x6B, 0x9F), [(15, 0xBF)]),
    "ipv6_two_tags": (ADDRESSES + OUTER + TAG + V6 + ipv6(0x60, 0x10), [(23, 0x30)]),
    "not_capable": (ADDRESSES + V4 + ipv4(0x00), None),
    "marked_before": (ADDRESSES + V4 + ipv4(0x03), None),
    "three_tags": (ADDRESSES + OUTER + TAG + TAG + V4 + ipv4(0x02), None),
    "no_ip": (ADDRESSES + b"\x88\xb5" + ipv4(0x02), None),
    "bad_version": (ADDRESSES + V4 + b"\x55" + ipv4(0x02)[1:], None),
    "short_header": (ADDRESSES + V4 + ipv4(0x02, ihl=4), None),
    "ipv6_not_capable": (ADDRESSES + V6 + ipv6(0x60, 0x00), None),
}


@pytest.mark.parametrize("name", HEADS)
def test_marks(stand_in_job: MakeJob, name: str) -> None:
    """A mark that is right passes; one on a frame that may not be marked, or that changes nothing or another byte, is an error."""
    head, patches = HEADS[name]
    source = recorded([(3, 0, 100)], [head + bytes(100 - len(head))])
    bare = run(stand_in_job, source, [*teststand.with_aqm(), *teststand.dictate(1, verdict=MARK)])
    assert bare["marked_packets"] == 1 and bare["payload_errors"] == 1 and bare["packets"]["out"] == 1
    if patches is None:
        return
    for extra, errors in (([], 0), ([(99, 1)], 1)):
        result = run(stand_in_job, source, [*teststand.with_aqm(), *teststand.dictate(1, verdict=MARK, patches=patches + extra)])
        assert result["payload_errors"] == errors, result["findings"]
    unsaid = run(stand_in_job, source, [*teststand.with_aqm(), *teststand.dictate(1, patches=patches)])
    assert unsaid["payload_errors"] == 1


# ---- times


def test_latencies_in_bins(stand_in_job: MakeJob) -> None:
    """Below 512 cycles each has its own bin; up to 1,024 two share one, up to 2,048 four; a bin is known by its largest, or the largest."""
    waits = [1, 511, 512, 513, 514, 1023, 1024, 1027, 1028, 2047, 2048, 3001]
    source = recorded([(i % 16, 8000 * i, 60) for i in range(len(waits))])
    orders = [write for n, wait in enumerate(waits, 1) for write in teststand.dictate(n, wait)]
    result = run(stand_in_job, source, orders, duration_cycles=100_000)
    assert result["latency_cycles"].tolist() == waits
    (histogram,) = result["latency_histograms"]
    assert histogram["values"].tolist() == [1, 511, 513, 515, 1023, 1027, 1031, 2047, 2055, 3001]
    assert histogram["frames"].tolist() == [1, 1, 2, 1, 1, 2, 1, 1, 1, 1]
    assert histogram["count"] == 12 and histogram["sum"] == sum(waits) and histogram["min"] == 1


def test_capture_beyond_a_second(stand_in_job: MakeJob, tmp_path: Path) -> None:
    """At 1 MHz and 8 Mbit/s, a byte a microsecond: 999,998 us, 1 s, 2 s and 123,456 us. Nanoseconds are those of the second."""
    source = recorded([(3, 999_898, 60), (3, 999_958, 20), (3, 2_123_376, 60)])
    orders = [*teststand.dictate(1, 40), *teststand.dictate(2, 22), *teststand.dictate(3, 20)]
    keys = {"clock_hz": 1_000_000, "ingress_bps": 8e6, "egress_bps": 0, "overhead_bytes": 0, "duration_cycles": 2_200_000}
    result = run(stand_in_job, source, orders, **keys, max_cycles=2_300_000, pcap_out=str(tmp_path / "out.pcap"))
    assert result["departures"]["cycle"].tolist() == [999_998, 1_000_000, 2_123_456]
    file, at, times = (tmp_path / "out.pcap").read_bytes(), 24, []
    while at < len(file):
        seconds, nanoseconds, stored, _ = struct.unpack("=IIII", file[at : at + 16])
        times.append((seconds, nanoseconds))
        at += 16 + stored
    assert times == [(0, 999_998_000), (1, 0), (2, 123_456_000)]


def test_beats_are_counted(stand_in_job: MakeJob) -> None:
    """At the input a frame has its queue id in front, not at the output: 60, 61, 124, 1522 byte are 1, 2, 2, 24 and 1, 1, 2, 24 beats."""
    source = recorded([(3, 0, 60), (3, 2000, 61), (3, 4000, 124), (3, 6000, 1522)])
    result = run(stand_in_job, source, [], egress_bps=0, drain=False)
    assert result["bus"] == {"input_offered": 29, "input_taken": 29, "output_ready": result["cycles"], "output_taken": 28}


# ---- traffic; where there is no line at the input, a frame comes in the cycle of its arrival

FREE = {"ingress_bps": 0, "egress_bps": 0}


def test_constant_traffic_stops_before_its_end(stand_in_job: MakeJob) -> None:
    """At 1 Gbit/s 100 byte come every 100 cycles: 300, 400, ... 900; the second beat comes a cycle later, the frame leaves 20 after it."""
    source = constant([3], bps=1e9, size=100, start_cycle=300, stop_cycle=1000)
    result = run(stand_in_job, source, [], **FREE)
    assert result["departures"]["cycle"].tolist() == [321, 421, 521, 621, 721, 821, 921]
    assert result["latency_cycles"].tolist() == 7 * [21]
    assert run(stand_in_job, constant([3], bps=1e9, size=100), [], duration_cycles=1000, **FREE)["packets"]["in"] == 10


def test_constant_traffic_keeps_its_rate_frame_by_frame(stand_in_job: MakeJob) -> None:
    """Each frame takes its own time at 1 Gbit/s, a byte a cycle: after 60 byte the next one comes 60 cycles later, after 500 byte 500."""
    source = constant([3], bps=1e9) | {"sizes": [(60, 1), (500, 1)]}
    result = run(stand_in_job, source, [], **FREE)
    begins = result["departures"]["cycle"] - result["latency_cycles"].astype(np.int64)
    lengths = result["departures"]["length"]
    assert set(lengths.tolist()) == {60, 500} and np.diff(begins).tolist() == lengths[:-1].tolist()


def test_queues_take_turns_in_their_order(stand_in_job: MakeJob) -> None:
    result = run(stand_in_job, constant([9, 3, 5], bps=1e9, size=100), [], duration_cycles=1000, **FREE)
    assert result["departures"]["queue"].tolist() == [9, 3, 5, 9, 3, 5, 9, 3, 5, 9]


def test_the_end_of_recorded_and_of_other_traffic(stand_in_job: MakeJob) -> None:
    """What is recorded for a time before the end is sent, however long the line takes; other traffic only what has begun on the line."""
    keys = {"duration_cycles": 10_000, "max_cycles": 40_000}
    frames = recorded([(3, 9999, 100)] * 50 + [(3, 10_000, 100)])
    assert run(stand_in_job, frames, [], **keys)["packets"]["in"] == 50
    # Ten times the line's rate: frames begin in 0, 124, ... 9,920.
    assert run(stand_in_job, constant([3], bps=1e10, size=100), [], **keys)["packets"]["in"] == 81


def test_sources_are_independent(stand_in_job: MakeJob) -> None:
    """Two equal sources do not send at the same times."""
    print(f"PENSTOCK_SEED={seed()}")
    source = {"kind": "poisson", "queues": [1], "pick": "random", "bps": 1e8, "sizes": [(100, 1)]}
    job = stand_in_job([source, source | {"queues": [2]}], duration_cycles=400_000, max_cycles=500_000, **FREE)
    result = engine.run(job)
    one, other = (result["departures"]["cycle"][result["departures"]["queue"] == queue] for queue in (1, 2))
    together = (np.abs(one[:, None] - other[None, :]).min(axis=1) <= 8).mean()  # what comes at once leaves one after the other
    assert len(one) > 50 and together < 0.2, together  # one in a hundred, by chance


def test_on_off_sources_begin_as_in_the_long_run(stand_in_job: MakeJob) -> None:
    """Sixteen thousand sources, on for a quarter of the time, watched for a tenth of a pause: as many frames as in the long run."""
    print(f"PENSTOCK_SEED={seed()}")
    period = 200_000  # cycles from one frame of a source to its next while it is on
    source = {"kind": "onoff", "queues": list(range(16)) * 1000, "pick": "each", "bps": 8 * 100 * CLOCK_HZ / period, "sizes": [(100, 1)]}
    source |= {"on_cycles": 1_000_000, "off_cycles": 3_000_000}
    result = run(stand_in_job, source, [], duration_cycles=100_000, max_cycles=200_000, **FREE)
    assert result["packets"]["in"] == pytest.approx(16_000 / 4 / 2, rel=0.15)  # half a period


@pytest.mark.parametrize("pick", ["each", "round_robin"])
def test_bursts_shorter_than_a_frame_keep_the_rate(stand_in_job: MakeJob, pick: str) -> None:
    """A burst as long as a frame's time on average, a pause three times: the rate of a quarter of the time, frame for frame."""
    print(f"PENSTOCK_SEED={seed()}")
    sources = 16_000 if pick == "each" else 1
    period = 10 * sources  # cycles from one frame of a source to its next while it is on
    bps = 8 * 100 * CLOCK_HZ / period
    source = {"kind": "onoff", "queues": list(range(16)) * (sources // 16 or 1), "pick": pick, "bps": bps, "sizes": [(100, 1)]}
    source |= {"on_cycles": period, "off_cycles": 3 * period}
    result = run(stand_in_job, source, [], duration_cycles=4_000_000, max_cycles=4_100_000, keep_all=False, **FREE)
    assert result["packets"]["in"] == pytest.approx(100_000, rel=0.02)  # the standard deviation is 0.4 %


def test_a_source_with_all_its_queues_begins_as_in_the_long_run(stand_in_job: MakeJob) -> None:
    """A thousand sources with a queue for each frame, on for a quarter of the time: a quarter of them sends from the beginning."""
    print(f"PENSTOCK_SEED={seed()}")
    source = {"kind": "onoff", "queues": [3], "pick": "round_robin", "bps": 8 * 100 * CLOCK_HZ / 20_000, "sizes": [(100, 1)]}
    source |= {"on_cycles": 1_000_000, "off_cycles": 3_000_000}
    job = stand_in_job(1000 * [source], duration_cycles=20_000, max_cycles=40_000, **FREE)
    job["device"] |= {"clock_hz": CLOCK_HZ}
    assert engine.run(job)["packets"]["in"] == pytest.approx(250, rel=0.3)
