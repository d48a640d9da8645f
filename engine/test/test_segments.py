# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Segmented streams at a device's pins: several frames in a word, in and out, of a stand-in device with 2 or 4 segments."""

import random
from typing import Any

import numpy as np
import pytest

from penstock.engine import engine
from penstock.testing import teststand
from penstock.testing.testjobs import assert_clean, constant, frames
from penstock.testing.testkit import seed

Job = dict[str, Any]

CLOCK_HZ = 220_000_000
LATENCY = 20  # of the stand-in, from the last beat in to the first beat out
BEAT, HEAD = 64, 4  # bytes of a segment, and of the queue id in front of a frame
LOSE, CORRUPT, KEEP_HOLE, CHANGE_DATA, DROP_VALID = 1, 3, 8, 9, 15  # enum Fault of stand_in.cpp


def make(segments: int, sources: list[Job], fault: int = 0, parameter: int = 0, **keys: Any) -> Job:
    device = {"design": "stand_in", "library": teststand.library(segments), "clock_hz": CLOCK_HZ, "payload": "ecn_mark"}
    return teststand.maker(device)(sources, fault, parameter, **keys)


def burst(count: int, length: int, cycle: int = 1000) -> Job:
    return teststand.recorded([(3, cycle, length)] * count)


@pytest.mark.parametrize("segments", [2, 4])
@pytest.mark.parametrize(("valid", "ready"), [(1000, 1000), (600, 700)])
def test_every_frame_comes_out_whole(segments: int, valid: int, ready: int) -> None:
    """Frames of all lengths back to back, faster than one segment a cycle: each byte is compared, and so is each counter."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    source = frames(rng, 3000) | {"cycles": np.sort(np.array([rng.randrange(12_000) for _ in range(3000)]))}
    keys = {"duration_cycles": None, "sample_queues": list(range(16)), "valid_permille": valid, "ready_permille": ready}
    result = engine.run(make(segments, [source], ingress_bps=0, egress_bps=0, **keys))
    assert_clean(result)
    assert result["drained"] and result["packets"]["in"] == 3000 and result["packets"]["out"] > 1500
    beats = sum(-(-(length + HEAD) // BEAT) for length in source["lengths"])
    assert beats / segments <= result["bus"]["input_taken"] < 0.9 * beats, "no word had several segments"


@pytest.mark.parametrize("segments", [1, 2, 4])
def test_frames_of_one_segment_share_words(segments: int) -> None:
    """Twelve frames at once on a line without end: as many in each word as it has segments, a word in each cycle, in and out."""
    result = engine.run(make(segments, [burst(12, BEAT - HEAD)], ingress_bps=0, egress_bps=0, duration_cycles=None))
    assert_clean(result)
    assert result["bus"]["input_taken"] == 12 // segments
    first = result["departures"]["cycle"][0]
    assert result["departures"]["cycle"].tolist() == [first + number // segments for number in range(12)]


def test_frames_begin_in_the_word_in_which_another_ends() -> None:
    """Three frames of three beats each, in words of two segments."""
    result = engine.run(make(2, [burst(3, 3 * BEAT - HEAD)], ingress_bps=0, egress_bps=0, duration_cycles=None))
    assert_clean(result)
    assert result["bus"]["input_taken"] == 5  # nine beats
    # The first frame's last beat comes in the second word, the second's in the third, the third's in the fifth.
    first = result["departures"]["cycle"][0]
    assert result["departures"]["cycle"].tolist() == [first, first + 1, first + 3]


@pytest.mark.parametrize("length", [14, 60, 61, 124, 1000])
def test_a_lone_frame_does_not_wait_for_more(length: int) -> None:
    """A beat is offered as soon as the link has brought it, whatever room its word still has."""
    result = engine.run(make(4, [constant(bps=1e9, size=length)]))
    assert result["packets"]["out"] > 10
    assert set(result["latency_cycles"].tolist()) <= {LATENCY, LATENCY + 1}


@pytest.mark.parametrize("segments", [2, 4])
def test_a_line_faster_than_a_segment_keeps_its_rate(segments: int) -> None:
    """Nine tenths of the bus, in frames of IMIX: the line's rate comes out, less what frames cost it beside their bytes."""
    bps = 0.9 * segments * BEAT * 8 * CLOCK_HZ
    source = constant([3], bps=bps, size=700)
    result = engine.run(make(segments, [source], ingress_bps=bps, egress_bps=bps))
    assert_clean(result)
    sent = result["bytes"]["out"] * 8 * CLOCK_HZ / 20_000
    assert sent == pytest.approx(bps * 700 / 724, rel=0.01)


def test_the_fifo_in_front_of_segments_loses_whole_frames() -> None:
    """Forty frames at once into 8 kB in front of a bus that takes one word a cycle: those that find no room are lost, the rest is whole."""
    result = engine.run(make(2, [burst(40, 700)], ingress_bps=2e12, ingress_fifo_bytes=8000, egress_bps=0, duration_cycles=None))
    assert_clean(result)
    lost = result["ingress_lost"]["packets"]
    assert 0 < lost < 30 and result["packets"]["out"] == 40 - lost


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (KEEP_HOLE, "tkeep is not contiguous"),
        (CHANGE_DATA, "m_axis changed before it was taken"),
        (DROP_VALID, "m_axis changed before it was taken"),
    ],
)
def test_broken_protocol_fails_loudly(fault: int, words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        engine.run(make(4, [constant()], fault, 5, ready_permille=500))


@pytest.mark.parametrize(("fault", "finding"), [(LOSE, "lost"), (CORRUPT, "payload_errors")])
def test_what_a_frame_suffers_is_found(fault: int, finding: str) -> None:
    result = engine.run(make(4, [constant(bps=20e9)], fault, 20, sample_queues=[3]))
    assert result[finding] == 1
