# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""One run computed by hand, number by number: result.json, series.npz, the capture, the summary and the page.

The device is engine/test/stand_in.cpp, whose frames leave when this file says. At 125 MHz a cycle takes 8 ns, and at 1 Gbit/s a byte takes
a cycle on the line, a frame's overhead 24. All numbers below are written out from the table of frames, none comes from the product's code.
"""

import io
import json
import math
import re
import struct
import sys
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stand_in import pcap_bytes

from penstock.command_line.app import main
from penstock.engine import engine
from penstock.testing import teststand
from penstock.testing.teststand import DROP, MARK, SEND, STAYS

Run = dict[str, Any]

CLOCK = 125_000_000
NS = 8  # a cycle
OVERHEAD = 24
CYCLES = 100_000  # 800 us

SCENARIO = """\
name: by hand
description: Computed by hand.
device:
  config: tiny_codel_16
  overrides: {clock_hz: 125_000_000, memories: [{name: ddr, bytes: 65_536, pages: 32, page_bytes: 1536}]}
duration: 800 us
drain: false
link: {ingress: 1 Gbit/s, egress: 1 Gbit/s}
queues:
  - {id: 0, name: bulk, rate: 100 Mbit/s, subscriber: house 7}
  - {id: 1, name: gold, rate: 50 Mbit/s}
  - {id: 2, name: silver, rate: 40 Mbit/s, burst: 900}
  - {id: 3, name: bronze, rate: 20 Mbit/s}
  - {id: 4, name: voice}
  - {id: 5, name: gate, rate: 0}
  - {ids: 6-7, name: pair}
traffic:
  - {pcap: in.pcap, prefixed: true}
report: {series: [bulk, silver, voice, gate, bronze], interval: 240 us}
output: {pcap: out.pcap}
"""

# Queue, first bit on the line, bytes, cycle in which its first bit leaves (None: it stays).
Frame = tuple[int, int, int, int | None]
BULK_LEAVES = [520, 4520, 9620, 14720, 19820, 24920, 30020, 35120, 40220, 45320, 50420, 55520]
GOLD_LEAVES = [6700 + 5000 * k for k in range(11)]
SILVER_LEAVES = [10300, 10650, 11000, 18350, 25950, 33550, 41150, 48750, 56350, 63950]
BRONZE_LEAVES = [13000 + 5050 * k for k in range(8)]
VOICE_WAITS = (20_084, 20_344)  # the line is busy with bulk's frame from 19,820 on: 500 + 24 cycles
PASSED: list[Frame] = [
    *((0, 524 * k, 500, leaves) for k, leaves in enumerate(BULK_LEAVES)),
    *((1, 6288 + 274 * k, 250, leaves) for k, leaves in enumerate(GOLD_LEAVES)),
    *((2, 9302 + 324 * k, 300, leaves) for k, leaves in enumerate(SILVER_LEAVES)),
    *((3, 12542 + 124 * k, 100, leaves) for k, leaves in enumerate(BRONZE_LEAVES)),
    (3, 53_280, 100, 53_400),
    (3, 59_850, 100, 60_000),  # in the first cycle of the third interval
    (4, 20_000, 64, VOICE_WAITS[1]),
    (4, 29_000, 200, 29_240),
    (4, 70_000, 400, 70_430),
    (4, 89_700, 200, 89_999),  # marked; in the last cycle of the third interval
    (4, 95_000, 96, 95_131),
    (7, 60_100, 1514, 61_647),  # marked
]
STAYED: list[Frame] = [(5, 40_000, 777, None), (5, 41_000, 333, None), (4, 99_500, 128, None)]
AFTER_THE_END = 100_050  # the last of these leaves then; the run does not see it
TOO_LATE = (4, 99_950, 500)  # its last bit comes after the end
# Queue, first bit, bytes, reason, and where the AQM drops it at its turn: when. The first bit of the third comes to a busy line at 59,960.
DROPPED: list[tuple[int, int, int, str, int | None]] = [
    (7, 22_000, 1000, "tail_drop_packets", None),
    (7, 29_938, 60, "tail_drop_packets", None),  # dropped in cycle 29,999, the last one of the first interval
    (7, 59_974, 25, "tail_drop_packets", None),  # dropped in cycle 60,000
    (7, 90_000, 61, "tail_drop_packets", None),
    (7, 45_000, 1522, "tail_drop_bytes", None),
    (7, 47_000, 150, "no_page", None),
    (7, 47_500, 151, "no_page", None),
    (7, 62_000, 90, "aqm", None),
    (7, 63_000, 111, "aqm", 63_500),
    (7, 63_300, 112, "aqm", 90_500),
    (4, 64_000, 10, "runt", None),
    (4, 64_050, 13, "runt", None),
    (6, 64_100, 1600, "oversize", None),
    (77, 66_000, 60, "bad_queue_id", None),
    (0xFFFFFFFF, 66_200, 61, "bad_queue_id", None),
    (7, 66_300, 90, "bad_frame", None),
]
REASONS = ["runt", "oversize", "bad_queue_id", "bad_frame", "no_page", "tail_drop_packets", "tail_drop_bytes", "aqm"]

# ECT(0). IPv4: the words of the header, 4502 00BA 0000 0000 4011 .... 0A00 0001 0A00 0002, add up to 99D0, so the checksum is 662F; with CE
# (4503) they add up to 99D1: 662E. IPv6: bits 4 and 5 of the second byte.
IPV4 = bytes.fromhex("020000000001 020000000002 0800 450200BA00000000 4011662F 0A000001 0A000002")
IPV6 = bytes.fromhex("020000000001 020000000002 86DD 60200000") + bytes(36)
MARKED = {89_700: (IPV4, [(15, 0x03), (25, 0x2E)]), 60_100: (IPV6, [(15, 0x30)])}  # by first bit: header, what a mark changes


def content(start: int, length: int) -> bytes:
    """The bytes of a frame, which tell its first bit."""
    head = MARKED[start][0] if start in MARKED else struct.pack(">I", start)
    return (head + bytes(length))[:length]


def arrivals() -> list[tuple[int, int, int]]:
    """Queue, cycle and bytes of all frames as they come to the line."""
    frames = [(queue, start, length) for queue, start, length, *_ in [*PASSED, *STAYED, *DROPPED]] + [TOO_LATE]
    return sorted(((queue, 59_960 if start == 59_974 else start, length) for queue, start, length in frames), key=lambda f: f[1])


def orders() -> list[tuple[int, int]]:
    """What the device is told of every frame."""
    number = {(queue, start): n for n, (queue, start, _) in enumerate(arrivals(), 1)}
    writes = teststand.with_aqm()
    for queue, start, length, leaves in [*PASSED, *STAYED]:
        due = VOICE_WAITS[0] if leaves == VOICE_WAITS[1] else AFTER_THE_END if start == 99_500 else leaves
        delay = STAYS if due is None else due - start - length
        marked = start in MARKED
        writes += teststand.dictate(
            number[queue, start], delay, verdict=MARK if marked else SEND, patches=MARKED[start][1] if marked else ()
        )
    for queue, start, length, reason, due in DROPPED:
        frame = number[queue, 59_960 if start == 59_974 else start]
        if due is None:
            writes += teststand.dictate(frame, reason=REASONS.index(reason) + 1)
        else:
            writes += teststand.dictate(frame, due - start - length, verdict=DROP)
    return writes


def carry_out(place: Path, patch: pytest.MonkeyPatch, text: str, records: list[tuple[int, bytes]], writes: list[tuple[int, int]]) -> Run:
    """Run a scenario that plays `records` (ns, bytes), on a device that is told `writes`."""
    (place / "s.yaml").write_text(text)
    (place / "in.pcap").write_bytes(pcap_bytes(records))
    real, seen = engine.run, {}

    def with_orders(job: dict[str, Any], progress: Any = None) -> dict[str, Any]:
        seen["raw"] = real(job | {"register_writes": job["register_writes"] + writes}, progress)
        return seen["raw"]

    engine.build(print)
    patch.setattr(engine, "run", with_orders)
    patch.setattr("penstock.hardware.verilate.build_device", lambda config, report=None: teststand.library())
    patch.setenv("COLUMNS", "120")
    said = _said(["run", str(place / "s.yaml"), "--out", str(place / "out")], patch)
    out = place / "out"
    with np.load(out / "series.npz") as file:
        series = {key: file[key] for key in file.files}
    page = (out / "report.html").read_text()
    return {
        "raw": seen["raw"],
        "result": json.loads((out / "result.json").read_text()),
        "series": series,
        "page": page,
        "data": json.loads(re.search(r"const data = (\{.*\});\n", page)[1]),  # type: ignore[index]
        "said": said,
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run: `raw` (of the engine), `result`, `series`, `page`, `data` (of its plots), `said` (the terminal) and `capture` (bytes)."""
    place = tmp_path_factory.mktemp("by_hand")
    records = [(NS * start, struct.pack(">I", queue) + content(59_974 if start == 59_960 else start, n)) for queue, start, n in arrivals()]
    with pytest.MonkeyPatch.context() as patch:
        found = carry_out(place, patch, SCENARIO, records, orders())
    return found | {"capture": (place / "out" / "out.pcap").read_bytes()}


def _said(arguments: list[str], patch: pytest.MonkeyPatch) -> list[str]:
    """Run a command, which must succeed, and return the lines on standard output."""
    screen = io.StringIO()
    patch.setattr(sys, "stdout", screen)
    assert main(arguments) == 0, screen.getvalue()
    return screen.getvalue().splitlines()


# ---- result.json


def test_nothing_is_wrong(run: Run) -> None:
    result = run["result"]
    assert result["findings"] == [] and result["notes"] == [] and not result["interrupted"] and not result["drained"]
    for key in ("order_errors", "payload_errors", "event_errors", "lost", "counter_mismatches"):
        assert result[key] == 0
    assert result["conservation"] == {"ok": True, "packets_missing": 0, "bytes_missing": 0}


def test_totals(run: Run) -> None:
    result = run["result"]
    assert result["cycles"] == CYCLES and result["clock_hz"] == CLOCK and result["device_seconds"] == 0.0008
    # out: 12 of bulk, 11 of gold, 10 of silver, 10 of bronze, 5 of voice, 1 of the pair. In: these, 3 queued and 16 dropped.
    # bytes out: 12 * 500 + 11 * 250 + 10 * 300 + 10 * 100 + (64 + 200 + 400 + 200 + 96) + 1514; queued: 777 + 333 + 128
    assert result["packets"] == {
        "in": 68,
        "out": 49,
        "queued": 3,
        "dropped": dict(zip(REASONS, [2, 1, 2, 1, 2, 4, 1, 3], strict=True)),
    }
    assert result["bytes"] == {
        "in": 21_578,
        "out": 15_224,
        "queued": 1_238,
        # 10 + 13; 1600; 60 + 61; 90; 150 + 151; 1000 + 60 + 25 + 61; 1522; 90 + 111 + 112
        "dropped": dict(zip(REASONS, [23, 1600, 121, 90, 301, 1146, 1522, 313], strict=True)),
    }
    assert result["marked_packets"] == 2
    assert result["throughput_bps"] == 152_240_000  # 8 * 15,224 bit in 0.8 ms
    assert result["queues_with_traffic"] == result["queues_listed"] == 8


# Cycles from last bit to first bit. bulk: 20, then 4576 k - 1080; gold: 162 + 4726 k; silver: as listed; bronze: 358 + 4926 k, 20, 50.
LATENCIES = {
    0: [20, 3496, 8072, 12648, 17224, 21800, 26376, 30952, 35528, 40104, 44680, 49256],
    1: [162, 4888, 9614, 14340, 19066, 23792, 28518, 33244, 37970, 42696, 47422],
    2: [698, 724, 750, 7776, 15052, 22328, 29604, 36880, 44156, 51432],
    3: [358, 5284, 10210, 15136, 20062, 24988, 29914, 34840, 20, 50],
    4: [280, 40, 30, 99, 35],
    5: [],
    6: [],
    7: [33],
}


def test_latencies(run: Run) -> None:
    # The sum of all is 902,647 cycles; the 25th of 49 is 15,136, the 49th 51,432.
    expected = {"count": 49, "min": 160, "mean": 147_370.939, "p50": 121_088, "p99": 411_456, "p99_9": 411_456, "max": 411_456}
    assert run["result"]["latency_ns"] == expected
    queue = {row["id"]: row["latency_ns"] for row in run["result"]["queues"]}
    # The middle one: the 6th of 12, 6th of 11, 5th of 10, 5th of 10, 3rd of 5.
    for number, total, half in ((0, 290_156, 21_800), (1, 261_712, 23_792), (2, 209_400, 15_052), (3, 140_862, 10_210), (4, 484, 40)):
        values = LATENCIES[number]
        assert sum(values) == total and sorted(values)[-(-len(values) // 2) - 1] == half  # the table agrees with the comment
        assert queue[number] == {
            "count": len(values),
            "min": NS * min(values),
            "mean": pytest.approx(NS * total / len(values), abs=0.0005),
            "p50": NS * half,
            "p99": NS * max(values),
            "p99_9": NS * max(values),
            "max": NS * max(values),
        }
    assert queue[5]["count"] == queue[6]["count"] == 0 and queue[6]["p50"] is None
    assert queue[7]["count"] == 1 and queue[7]["mean"] == queue[7]["p50"] == 264


def test_queues(run: Run) -> None:
    keys = ("in_packets", "in_bytes", "out_packets", "out_bytes", "drop_packets", "drop_bytes", "aqm_drop_packets", "marked_packets")
    counts = {
        0: ("bulk", 12, 6000, 12, 6000, 0, 0, 0, 0),
        1: ("gold", 11, 2750, 11, 2750, 0, 0, 0, 0),
        2: ("silver", 10, 3000, 10, 3000, 0, 0, 0, 0),
        3: ("bronze", 10, 1000, 10, 1000, 0, 0, 0, 0),
        4: ("voice", 8, 1111, 5, 960, 2, 23, 0, 1),  # one is queued, two were runts
        5: ("gate", 2, 1110, 0, 0, 0, 0, 0, 0),
        6: ("pair 6", 1, 1600, 0, 0, 1, 1600, 0, 0),
        7: ("pair 7", 12, 4886, 1, 1514, 11, 3372, 3, 1),
    }
    assert {row["id"]: (row["name"], *(row[key] for key in keys)) for row in run["result"]["queues"]} == counts
    assert [row["subscriber"] for row in run["result"]["queues"]] == ["house 7"] + 7 * [None]
    assert [row["burst_bytes"] for row in run["result"]["queues"]] == [0, 0, 900, 0, 0, 0, 0, 0]


def test_rates(run: Run) -> None:
    rows = run["result"]["queues"]
    assert [row["configured_rate_bps"] for row in rows] == [100_000_000, 50_000_000, 40_000_000, 20_000_000, None, 0, None, None]
    # 10^9 bit a second are a byte a cycle. Average: without the last frame, from first to last departure.
    average = [
        Fraction(5500, 55_000),  # exactly 100 Mbit/s, though it was held to less: its first gap was short
        Fraction(2500, 50_000),
        Fraction(2700, 53_650),
        Fraction(900, 47_000),
        Fraction(64 + 200 + 400 + 200, 95_131 - 20_344),
    ]
    # An idle device takes 20 cycles. bulk and gold were backlogged from their second frame on, bronze up to its eighth.
    share = [Fraction(51_000, 55_000), Fraction(45_000, 50_000), 1, Fraction(35_350, 47_000), 0]
    # Without the first bytes of a backlogged time: a frame (1,024 cycles are less), of silver 900 / (1 - 0.04) = 937.5 byte, four frames.
    backlogged = [Fraction(4500, 45_900), Fraction(2000, 40_000), Fraction(1500, 38_000), Fraction(600, 30_300)]
    for row, rate in zip(rows, average, strict=False):
        assert row["average_rate_bps"] == pytest.approx(float(10**9 * rate), abs=0.0005)
    for row, rate in zip(rows, backlogged, strict=False):
        assert row["backlogged_rate_bps"] == row["measured_rate_bps"] == pytest.approx(float(10**9 * rate), abs=0.0005)
    for row, part in zip(rows, share, strict=False):
        assert row["backlogged_share"] == pytest.approx(float(part), abs=0.0000005)
    assert rows[4]["measured_rate_bps"] is None  # five frames
    for row in rows[5:]:
        assert row["average_rate_bps"] is row["measured_rate_bps"] is row["backlogged_rate_bps"] is None


def test_groups(run: Run) -> None:
    single = {"count": 1} | dict.fromkeys(("min", "mean", "p50", "p99", "p99_9", "max"), 264)
    (pair,) = run["result"]["groups"]
    assert pair == {
        "name": "pair",
        "queues": 2,
        "configured_rate_bps": None,
        "mean_rate_bps": round(8 * 1514 / 2 / (NS * 1e-9 * (90_061 - 23_000)), 3),  # from the first last bit to the last one
        "in_packets": 13,
        "in_bytes": 6486,
        "out_packets": 1,
        "out_bytes": 1514,
        "drop_packets": 12,
        "drop_bytes": 4972,
        "latency_ns": single,
    }


# ---- series.npz


def test_series(run: Run) -> None:
    """Four intervals of 30,000 cycles, the last of which is cut by the end of the run."""
    series, none = run["series"], np.nan
    assert series["interval_ns"] == 240_000 and series["queues"].tolist() == [0, 2, 4, 5, 3]
    assert series["names"].tolist() == ["bulk", "silver", "voice", "gate", "bronze"]
    assert series["rates_bps"].tolist() == [100_000_000, 40_000_000, -1, 0, 20_000_000]
    left = [[3000, 1500, 264, 0, 400], [3000, 1200, 0, 0, 500], [0, 300, 600, 0, 100], [0, 0, 96, 0, 0]]
    assert series["bytes_out"].tolist() == left
    # Cycles: bulk 63,260 / 6 and 226,896 / 6; silver 25,000 / 5, 132,968 / 4, 51,432; voice 320 / 2, 129 / 2, 35; bronze 30,988 / 4,
    # 109,824 / 5, 50.
    mean = [
        [63_260 / 6 * 8, 40_000, 1280, none, 61_976],
        [302_528, 265_936, none, none, 175_718.4],
        [none, 411_456, 516, none, 400],
        [none, none, 280, none, none],
    ]
    np.testing.assert_allclose(series["latency_mean_ns"], mean, rtol=1e-12)
    highest = [
        [174_400, 120_416, 2240, none, 121_088],
        [394_048, 353_248, none, none, 278_720],
        [none, 411_456, 792, none, 400],
        [none, none, 280, none, none],
    ]
    np.testing.assert_array_equal(series["latency_max_ns"], highest)


def test_drops_over_time(run: Run) -> None:
    """An event comes a cycle after the last bit; an AQM drops at the frame's turn."""
    assert run["series"]["drop_reasons"].tolist() == REASONS
    assert run["series"]["drops"].T.tolist() == [
        [0, 0, 2, 0],  # runt
        [0, 0, 1, 0],
        [0, 0, 2, 0],
        [0, 0, 1, 0],
        [0, 2, 0, 0],  # no_page
        [2, 0, 1, 1],  # tail_drop_packets, two of them at the edge of an interval
        [0, 1, 0, 0],
        [0, 0, 2, 1],  # aqm
    ]


def test_cdf(run: Run) -> None:
    """Nearest rank at 200 shares from 0 up to 0.99 and at 200 from 1 - 10^-2 to 1 - 10^-6; voice in full, then all packets."""
    share, found = run["series"]["cdf_share"], run["series"]["cdf_ns"]
    assert share[:200] == pytest.approx([0.00495 * i for i in range(200)])
    assert (1 - share[200:]) == pytest.approx([10 ** (-2 - 4 * i / 199) for i in range(200)], rel=1e-6)
    everybody = sorted(value for values in LATENCIES.values() for value in values)
    for column, values in ((0, LATENCIES[0]), (1, LATENCIES[2]), (2, sorted(LATENCIES[4])), (4, sorted(LATENCIES[3])), (5, everybody)):
        expected = [NS * values[max(0, math.ceil(Fraction(part) * len(values)) - 1)] for part in share.tolist()]
        assert found[:, column].tolist() == expected, column
    assert np.isnan(found[:, 3]).all()


def test_cloud(run: Run) -> None:
    """So few frames are all shown."""
    leaves = {0: BULK_LEAVES, 2: SILVER_LEAVES, 4: [20_344, 29_240, 70_430, 89_999, 95_131], 3: [*BRONZE_LEAVES, 53_400, 60_000]}
    expected = [
        [NS * cycle, NS * latency, column]
        for column, queue in ((0, 0), (1, 2), (2, 4), (4, 3))
        for cycle, latency in zip(leaves[queue], LATENCIES[queue], strict=True)
    ]
    assert run["series"]["cloud"].tolist() == expected


def test_series_of_the_engine(run: Run) -> None:
    """The engine's own time series, which long runs are drawn from."""
    series = run["raw"]["series"]
    assert series["interval_cycles"] == 30_000 and series["queues"].tolist() == [0, 2, 4, 5, 3]
    assert series["bytes"].tolist() == run["series"]["bytes_out"].tolist()
    assert series["packets"].tolist() == [[6, 5, 2, 0, 4], [6, 4, 0, 0, 5], [0, 1, 2, 0, 1], [0, 0, 1, 0, 0]]
    most = [[21_800, 15_052, 280, 0, 15_136], [49_256, 44_156, 0, 0, 34_840], [0, 51_432, 99, 0, 50], [0, 0, 35, 0, 0]]
    assert series["latency_max"].tolist() == most
    mean = [[63_260 / 6, 5000, 160, 0, 7747], [37_816, 33_242, 0, 0, 21_964.8], [0, 51_432, 64.5, 0, 50], [0, 0, 35, 0, 0]]
    np.testing.assert_allclose(series["latency_mean"], mean, rtol=1e-12)
    # gold and bronze besides: 5 and 4 frames in the first interval, 6 and 5 in the second; bronze's last frame and the pair's in the third.
    assert series["out_bytes"].tolist() == [3000 + 1500 + 264 + 1250 + 400, 3000 + 1200 + 1500 + 500, 300 + 600 + 100 + 1514, 96]
    # Last bits before 30,000: all of bulk, gold and silver, eight of bronze, two of voice, two drops.
    came = [
        6000 + 2750 + 3000 + 800 + 264 + 1060,
        1110 + 1522 + 301 + 200 + 25,
        400 + 200 + 1514 + 313 + 23 + 1600 + 121 + 90,
        96 + 61 + 128,
    ]
    assert series["in_bytes"].tolist() == came and sum(came) == 21_578
    queue = run["raw"]["queue"]
    assert queue["first_departure"].tolist() == [520, 6700, 10300, 13000, 20344, -1, -1, 61647] + 8 * [-1]
    assert queue["last_departure"].tolist() == [55520, 56700, 63950, 60000, 95131, -1, -1, 61647] + 8 * [-1]


def test_capture(run: Run) -> None:
    """Every frame that left, byte for byte with its mark, at the time of its first bit to the nanosecond."""
    file = run["capture"]
    assert struct.unpack("=IHHIIII", file[:24]) == (0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    at, found = 24, []
    while at < len(file):
        seconds, nanoseconds, stored, length = struct.unpack("=IIII", file[at : at + 16])
        assert seconds == 0 and stored == length
        found.append((nanoseconds, file[at + 16 : at + 16 + stored]))
        at += 16 + stored
    expected = []
    for _, start, length, leaves in sorted(PASSED, key=lambda frame: frame[3] or 0):
        frame = bytearray(content(start, length))
        for offset, value in MARKED.get(start, (b"", []))[1]:
            frame[offset] = value
        expected.append((NS * (leaves or 0), bytes(frame)))
    assert found == expected


# ---- words

WORDS = [
    "In       68 packets, 21.58 kB; 800 us of device time",
    "Out      49 packets (72.0 %), 152.2 Mbit/s",  # 72.06 %
    "Dropped  16 packets: 4 queue full (packets), 3 by the AQM, 2 too short, 2 for a queue that does not exist, 2 no memory left,"
    " 1 too long, 1 marked as bad, 1 queue full (bytes)",
    "Marked   2 packets (Congestion Experienced)",
    "Queued   3 packets were still in the device at the end",
    "Latency  half within 121.1 us, 99 % within 411.5 us, the slowest took 411.5 us",
    "Shaped   4 queues were held to their rates, all within 1.97 %",  # bulk: 98.039 of 100 Mbit/s, 1.961 %
    "Losers   pair 7 (11), voice (2), pair 6 (1)",
    "Closed   the gate of gate",
]
# configured, measured, in, out, dropped, median, p99, slowest
TABLE = [
    ["bulk", "100 Mbit/s", "98.04 Mbit/s", "12", "12", "0", "174.4 us", "394.0 us", "394.0 us"],
    ["gold", "50 Mbit/s", "50 Mbit/s", "11", "11", "0", "190.3 us", "379.4 us", "379.4 us"],
    ["silver", "40 Mbit/s", "39.47 Mbit/s", "10", "10", "0", "120.4 us", "411.5 us", "411.5 us"],
    ["bronze", "20 Mbit/s", "19.80 Mbit/s", "10", "10", "0", "81.68 us", "278.7 us", "278.7 us"],
    ["voice", "unshaped", "-", "8", "5", "2", "320 ns", "2.240 us", "2.240 us"],
    ["gate", "closed", "-", "2", "0", "0", "-", "-", "-"],
    ["pair 6", "unshaped", "-", "1", "0", "1", "-", "-", "-"],
    ["pair 7", "unshaped", "-", "12", "1", "11", "264 ns", "264 ns", "264 ns"],
]


def test_summary(run: Run) -> None:
    """A line that is too long for the terminal's 120 columns goes on below, indented."""
    said = "\n".join(run["said"]).replace("\n         ", " ").split("\n")
    assert said[0].startswith("by hand: done  tiny_codel_16, 100,000 cycles in ")
    assert said[1:10] == WORDS
    assert said[11].split() == ["queue", "configured", "measured", "out", "dropped", "median", "p99"]
    for line, (name, configured, measured, _, out, dropped, median, p99, _) in zip(said[12:20], TABLE, strict=True):
        assert " ".join(line.split()) == " ".join([name, configured, measured, out, dropped, median, p99])
    assert said[21].startswith("Report   file://") and len(said) == 22


def terminal(cell: str) -> str:
    """A cell of the page with the unit signs of the terminal."""
    return unescape(cell).replace("µs", "us")


def test_page(run: Run) -> None:
    page = run["page"]
    words = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)
    assert [f"{unescape(word):<9}{terminal(rest)}" for word, rest in words] == WORDS
    cells = [[terminal(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line)] for line in re.findall(r"<tr>(<td>.*?)</tr>", page)]
    (group, *cells) = cells
    assert group[0] == "pair" and group[1:3] == ["unshaped", "11.29 Mbit/s"]
    marks = {"voice": "1", "pair 7": "1"}
    owner = {"bulk": "house 7"}
    # The average rates of test_rates beside what is configured; frames in the device in each of the 100,000 cycles, in the mean.
    used = ["100.0 %", "100.0 %", "125.8 %", "95.7 %", "-", "-", "-", "-"]
    held = [f"{sum(LATENCIES[queue]) / 100_000:.3g}" if LATENCIES[queue] else "-" for queue in range(8)]
    rows = [[row[0], owner.get(row[0], ""), *row[1:6], marks.get(row[0], "0"), *row[6:]] for row in TABLE]
    assert cells == [[*row, *more] for row, *more in zip(rows, used, held, strict=True)]
    assert "All 8 with traffic." in page and "Packets dropped in each 240 µs, and those marked." in page and ", mean over 240 µs" in page
    assert "every packet accounted for" in page and "evenly chosen" not in page
    assert "Configuration tiny_codel_16: 16 queues at 125 MHz. Seed 1. 100,000 clock cycles simulated in" in page


def short(values: list[float], digits: int) -> list[float]:
    """Numbers with some significant digits."""
    return [float(f"{value:.{digits}g}") for value in values]


def test_plots(run: Run) -> None:
    """The numbers in the page: seconds and bit/s with four digits."""
    data = run["data"]
    assert data["end"] == 0.0008 and data["peak"] == 9  # nine drops in the third interval
    assert data["time"] == short([0.00012, 0.00036, 0.0006, 0.00084], 6)  # middles of the intervals
    (queues,) = data["sets"]
    assert [(queue["name"], queue["steps"]) for queue in queues["items"]] == [
        ("bulk", [[0, 100_000_000]]),
        ("silver", [[0, 40_000_000]]),
        ("voice", []),
        ("bronze", [[0, 20_000_000]]),
    ]
    assert [sum(queue["drops"]) for queue in queues["items"]] == [0, 0, 2, 0] and sum(queues["others"]) == 14
    assert sum(data["marked"]) == 2
    # 3000 byte in 240 us are 100 Mbit/s. The last point has the last 80 us, and two thirds of what left in the 240 us before.
    assert [queue["rate"] for queue in queues["items"]] == [
        [1e8, 1e8, 0, 0],
        [5e7, 4e7, 1e7, 6.667e6],
        [8.8e6, 0, 2e7, 1.653e7],
        [1.333e7, 1.667e7, 3.333e6, 2.222e6],
    ]
    voice = queues["items"][2]["points"]
    assert voice["x"] == short([NS * 1e-9 * cycle for cycle in (20_344, 29_240, 70_430, 89_999, 95_131)], 6)
    assert voice["y"] == short([NS * 1e-9 * cycles for cycles in LATENCIES[4]], 4)
    assert data["decades"] == [-7, -3]  # 160 ns to 411 us
    assert data["cdf"][0] == 1.6e-07 and data["cdf"][-1] == 0.0004115
    assert data["lateness"] == {"x": [], "y": []}
    names = ["too short", "too long", "for a queue that does not exist", "marked as bad", "no memory left"]
    assert [drop["name"] for drop in data["drops"]] == [*names, "queue full (packets)", "queue full (bytes)", "by the AQM"]
    assert [drop["count"] for drop in data["drops"]] == run["series"]["drops"].T.tolist()


# ---- a long run, of which not every frame is kept


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same run as if 68 frames were too many to keep them one by one, and eight queues too many to list them all."""
    records = [(NS * start, struct.pack(">I", queue) + content(59_974 if start == 59_960 else start, n)) for queue, start, n in arrivals()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("penstock.designs.access_edge.job.MAX_KEPT_FRAMES", 68)
        patch.setattr("penstock.designs.access_edge.result.MAX_QUEUES_LISTED", 4)
        return carry_out(tmp_path_factory.mktemp("by_hand"), patch, SCENARIO, records, orders())


def test_a_long_run_has_the_same_totals(run: Run, long_run: Run) -> None:
    for key in ("packets", "bytes", "marked_packets", "throughput_bps", "groups", "queues_with_traffic"):
        assert long_run["result"][key] == run["result"][key], key
    assert len(run["raw"]["latency_cycles"]) == 49 and len(long_run["raw"]["latency_cycles"]) == 12 + 10 + 5 + 10


def test_latencies_of_a_long_run_come_from_bins(long_run: Run) -> None:
    """15,136 cycles are in the bin of 32 cycles up to 15,167; all else is exact."""
    expected = {"count": 49, "min": 160, "mean": 147_370.939, "p50": 8 * 15_167, "p99": 411_456, "p99_9": 411_456, "max": 411_456}
    assert long_run["result"]["latency_ns"] == expected


def test_the_busiest_queues_are_listed(long_run: Run) -> None:
    """By what came: 6,000, 4,886, 3,000 and 2,750 byte; gold and the pair have no series, so only their average rates are known."""
    rows = {row["id"]: row for row in long_run["result"]["queues"]}
    assert list(rows) == [0, 1, 2, 7] and long_run["result"]["queues_listed"] == 4
    assert rows[0]["backlogged_rate_bps"] == pytest.approx(10**9 * 4500 / 45_900, abs=0.0005)
    # 11 frames of 250 byte, the last of which is left out, in 50,000 cycles
    assert rows[1]["measured_rate_bps"] == rows[1]["average_rate_bps"] == 50_000_000 and rows[1]["backlogged_rate_bps"] is None
    assert rows[1]["latency_ns"]["count"] == 0 and rows[7]["average_rate_bps"] is None
    assert "Shaped   bulk was held to 98.04 Mbit/s, silver was held to 39.47 Mbit/s" in long_run["said"]
    assert "and 4 more queues" in long_run["said"]
    assert "The 4 busiest of 8 with traffic." in long_run["page"]


# ---- lateness

LATE = """\
device:
  config: tiny_16
  overrides: {clock_hz: 125_000_000, memories: [{name: ddr, bytes: 65_536, pages: 32, page_bytes: 1536}]}
duration: 80 us
drain: false
link: {ingress: 1 Gbit/s, egress: 1 Gbit/s}
traffic: [{pcap: in.pcap, prefixed: true}]
report: {lateness: 0}
"""


@pytest.fixture(scope="module")
def late_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Five frames of an unshaped queue, enqueued a cycle after their last bit, leave 20, 30, 0 and 50 cycles later; one stays for 5,899."""
    records = [(NS * 1000 * i, struct.pack(">I", 3) + bytes(100)) for i in range(5)]
    writes = [write for n, delay in enumerate((21, 31, 1, 51, STAYS), 1) for write in teststand.dictate(n, delay)]
    with pytest.MonkeyPatch.context() as patch:
        return carry_out(tmp_path_factory.mktemp("late"), patch, LATE, records, writes)


def test_lateness(late_run: Run) -> None:
    result, series = late_run["result"], late_run["series"]
    cycles = {"count": 5, "min": 0, "mean": 1199.8, "p50": 30, "p99": 5899, "p99_9": 5899, "max": 5899}
    assert result["lateness_cycles"] == cycles
    nanoseconds = {"count": 5, "min": 0, "mean": 9598.4, "p50": 240, "p99": 47_192, "p99_9": 47_192, "max": 47_192}
    assert result["lateness_ns"] == nanoseconds and result["early"] == 0 and result["late_and_queued"] == 1
    assert series["late_ns"].tolist() == [0, 160, 240, 400, 47_192]
    assert series["late_share"].tolist() == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert "Late     half within 240 ns, 99.9 % within 47.19 us, at most 47.19 us" in late_run["said"]
    # More than so much late: four of five, ... and one.
    assert late_run["data"]["lateness"] == {"x": [0, 1.6e-7, 2.4e-7, 4e-7], "y": [0.8, 0.6, 0.4, 0.2]}
    assert "Share of the packets that left more than so long after" in late_run["page"]


# ---- nothing leaves


def test_a_run_that_nothing_leaves(tmp_path: Path) -> None:
    """One frame stays: no rate, no latency, no curve, and no division by what is not there."""
    text = LATE.replace("report: {lateness: 0}\n", "")
    with pytest.MonkeyPatch.context() as patch:
        found = carry_out(tmp_path, patch, text, [(0, struct.pack(">I", 3) + bytes(100))], teststand.dictate(1, STAYS))
    result, series = found["result"], found["series"]
    assert result["packets"] == {"in": 1, "out": 0, "queued": 1, "dropped": {}} and result["throughput_bps"] == 0
    nothing = {"count": 0} | dict.fromkeys(("min", "mean", "p50", "p99", "p99_9", "max"))
    assert result["latency_ns"] == result["queues"][0]["latency_ns"] == nothing and "lateness_ns" not in result
    assert result["queues"][0]["average_rate_bps"] is None and result["queues"][0]["backlogged_share"] == 0
    assert series["cloud"].shape == (0, 3) and series["drops"].shape == (200, 0) and not series["bytes_out"].any()
    assert np.isnan(series["cdf_ns"]).all() and "late_ns" not in series
    assert found["said"][1:5] == [
        "In       1 packets, 100 byte; 80 us of device time",
        "Out      0 packets (0.0 %), 0 bit/s",
        "Dropped  nothing",
        "Queued   1 packets were still in the device at the end",
    ]
    assert found["data"]["sets"][0]["items"] == [] and found["data"]["peak"] == 0 and "Nothing was dropped." in found["page"]
