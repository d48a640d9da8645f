# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What a live run says, by hand-made results of the engine: bottlenecks, remarks, pictures, and the comparison of rounds."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from penstock.designs.design import LiveQueue
from penstock.live import real_time, report, result, rounds

CLOCK = 1_000_000


def histogram(values: list[int]) -> dict[str, Any]:
    """Of the engine."""
    found, frames = np.unique(np.array(values, dtype=np.int64), return_counts=True)
    return {"count": len(values), "sum": sum(values), "min": min(values, default=0), "values": found, "frames": frames}


def amount(packets: int, size: int = 100) -> dict[str, int]:
    """Packets of one size."""
    return {"packets": packets, "bytes": packets * size}


def prepared() -> Any:
    """A run of 2 s with queues 3 and 4 behind one bottleneck of 1 Mbit/s and queue 5 behind another of 4 Mbit/s; curves of 3 and 5."""
    known = {3: ("calls", "home", 1_000_000), 4: ("web", "home", 1_000_000), 5: ("other", "line", 4_000_000)}
    design = SimpleNamespace(live_queue=lambda config, plan, queue: LiveQueue(*known[queue]))
    ends = [SimpleNamespace(name="a"), SimpleNamespace(name="b")]
    described = SimpleNamespace(duration=2 * 10**12, network=SimpleNamespace(ends=ends, slack=100 * 10**9))
    plan = SimpleNamespace(notes=["first"], job={"series_queues": [3, 5], "interval_cycles": 500_000, "egress_bps": 4_000_000})
    return SimpleNamespace(design=design, config=SimpleNamespace(clock_hz=CLOCK), described=described, network=described.network, plan=plan)


def raw(**more: Any) -> dict[str, Any]:
    """What the engine gives: five intervals, of which four are within the duration."""
    queue = {
        "in": amount(10),
        "out": amount(8),
        "dropped": amount(1),
        "marked": 2,
        "last_sojourn": 0,
        "sojourn_cycles": histogram([1000, 3000]),
    }
    end = {key: amount(0) for key in ("read", "written", "unmatched", "overrun", "failed", "pending")}
    wire = {
        "queues": {3: queue, 4: queue | {"out": amount(50)}, 5: queue},
        "ends": [end, end],
        "behind_ns": histogram([1_000_000] * 99 + [9_000_000]),
        "late_ns": histogram([20_000]),
        "stops": 0,
        "stood_still_ns": 0,
        "fell_behind": None,
        "unplugged": None,
    }
    series = np.array([[10_000, 1_000], [10_000, 1_000], [20_000, 1_000], [20_000, 1_000], [99_999, 99_999]], dtype=np.uint64)
    frames = {"packets": {"out": 66}, "latency_cycles": np.zeros(66, dtype=np.uint32)}
    return {"cycles": 2_500_000, "wire": wire | more, "series": {"bytes": series}, **frames}


FOUND = {"interrupted": False, "notes": []}


def test_bottlenecks_carry_what_left_while_traffic_came() -> None:
    found = result.own(FOUND, raw(), prepared(), [])
    home, line = found["bottlenecks"]
    # Of queue 3 its curve within 2 s, of queue 4, which has none, all that left; of queue 5 its curve.
    assert home == {"name": "home", "bottleneck_bps": 1_000_000, "queues": ["calls", "web"], "carried_bps": 8 * (60_000 + 5_000) / 2}
    assert line["carried_bps"] == 8 * 4_000 / 2
    assert (found["carried_bps"], found["bottleneck_bps"]) == (home["carried_bps"], 1_000_000)  # the most pressed one
    assert found["sojourn_ms"]["calls"] == {"count": 2, "min": 1.0, "mean": 2.0, "p50": 1.0, "p99": 3.0, "p99_9": 3.0, "max": 3.0}
    assert found["behind_real_time_ms"]["max"] == 9.0 and found["behind_real_time_ms"]["p99"] == 1.0
    assert found["notes"] == ["first"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"behind_ns": histogram([6_000_000] * 100)}, "was behind real time by more than 6.0 ms in one of a hundred looks"),
        (
            {"stops": 3, "stood_still_ns": 400_000_000},
            "3 times it was 100 ms behind, and the device stood still for 400 ms in all; 2.500 s took 2.900 s",
        ),
        ({"unplugged": 1}, "The interface of b was gone, or down, after 2.500 s"),
    ],
)
def test_what_was_not_as_it_should_be_is_said(change: dict[str, Any], words: str) -> None:
    found = result.own(FOUND, raw(**change), prepared(), [])
    assert any(words in note for note in found["notes"]), found["notes"]
    assert found["interrupted"] == ("unplugged" in change)


def look_each(keeping: real_time.Keeping, lost: Callable[[float], float], seconds: float) -> None:
    """Let it look a hundred times a second; `lost`: seconds, by those gone by."""
    for step in range(1, round(100 * seconds)):
        after = step / 100
        wire = {"stood_still_ns": 1e9 * lost(after), "behind_ns": 0}
        keeping.look({"cycles": (after - lost(after)) * CLOCK, "wire": wire})


@pytest.mark.parametrize(
    ("lost", "at"),
    [
        (lambda after: 0.5 * after, 2.0),  # too slow from the beginning
        (lambda after: max(0.0, 0.5 * (after - 100)), 102.0),  # slow from 100 s on
        (lambda after: 0.06 * after, 1 / 0.06),
        (lambda after: 0.04 * after, None),  # 0.8 s in 20 s
        (lambda after: 0.9 * (after > 50), None),  # a hiccup
    ],
)
def test_a_device_that_does_not_keep_up_is_told_once(lost: Callable[[float], float], at: float | None) -> None:
    said: list[str] = []
    keeping = real_time.Keeping("s", 300.0, CLOCK, False, said.append)
    look_each(keeping, lost, 200)
    if at is None:
        assert not said and keeping.fell_behind is None
        return
    assert len(said) == 1 and keeping.fell_behind is not None
    assert keeping.fell_behind["after_s"] == pytest.approx(at, abs=0.2)
    whole = 300 * keeping.fell_behind["after_s"] / keeping.fell_behind["ran_s"]
    assert f"its 300 s may take {whole:.0f} s" in said[0] and "--engine model" in said[0]


def test_applications_and_their_flows() -> None:
    told = [
        {
            "name": "down",
            "kind": "iperf",
            "error": "it has ended early",
            "throughput_bps": 5e5,
            "flows": [{"name": "down 1", "throughput_bps": 5e5}],
        },
        {"name": "call", "kind": "voice", "error": None, "flows": [], "mos": 4.41, "loss_share": 0.013},
    ]
    found = result.own(FOUND | {"flows": ["of the device"]}, raw(), prepared(), told)
    assert found["flows"] == [{"application": "down", "kind": "iperf", "name": "down 1", "throughput_bps": 5e5}]
    assert found["device_flows"] == ["of the device"]
    assert "down: it has ended early" in found["notes"] and "flows" not in found["applications"][0]
    words = report.sentences(found)
    assert "App      call: lost 1.3 %, MOS 4.41" in words and "Carried  260 kbit/s of 1 Mbit/s: home" in words


def test_outputs_of_a_switch_are_bottlenecks() -> None:
    run = prepared()
    run.plan.job["egress_bps"] = [1_000_000, 2_000_000]
    rows = [{"output": 1, "throughput_bps": 3e5}, {"output": 1, "throughput_bps": 1e5}, {"output": 0, "throughput_bps": None}]
    found = result.own(FOUND | {"outputs": rows}, raw(), run, [])
    assert [(row["name"], row["bottleneck_bps"], row["carried_bps"]) for row in found["bottlenecks"]] == [
        ("output 1", 2_000_000, 4e5),
        ("output 0", 1_000_000, 0.0),
    ]


def test_outputs_of_a_run_whose_frames_are_not_all_kept() -> None:
    """By the series within the 2 s that traffic came, once for an output with several classes; and the run says how many were kept."""
    run = prepared()
    run.plan.job["egress_bps"] = [1_000_000, 2_000_000]
    rows = [{"output": output, "throughput_bps": None} for output in (1, 1, 0)]
    given = raw() | {"latency_cycles": np.zeros(60, dtype=np.uint32)}
    given["series"]["outputs"] = {"bytes": given["series"]["bytes"]}
    found = result.own(FOUND | {"outputs": rows}, given, run, [])
    assert [(row["name"], row["carried_bps"]) for row in found["bottlenecks"]] == [
        ("output 1", 8 * 4_000 / 2),
        ("output 0", 8 * 60_000 / 2),
    ]
    assert "Only 60 of the 66 frames that left were kept one by one." in found["notes"]


def test_curves_over_time_share_their_places() -> None:
    """Series with times of their own become means of equal intervals."""
    times = [{"time_s": [0.1, 0.2, 14.95], "delay_ms": [1.0, 3.0, 5.0]}, {"time_s": [7.55], "delay_ms": [None]}]
    one = {"applications": [{"name": "a", "over_time": times[0]}, {"name": "b", "over_time": times[1]}, {"name": "c", "over_time": None}]}
    (plot,) = report.plots(one)
    assert plot.values == "time" and [curve.name for curve in plot.curves] == ["a", "b"]
    assert len(plot.places) == report.POINTS == len(plot.curves[0].values)
    width = 14.95 / report.POINTS
    assert plot.places[0] == pytest.approx(width / 2, abs=1e-6)
    first = plot.curves[0].values
    assert (
        first[int(0.1 / width)] == pytest.approx(1e-3)
        and first[int(0.2 / width)] == pytest.approx(3e-3)
        and first[-1] == pytest.approx(5e-3)
    )
    assert set(plot.curves[1].values) == {None}


def test_rounds_stand_side_by_side() -> None:
    def of(delay: float, name: str) -> dict[str, Any]:
        wait = {"count": 2, "p50": delay, "p99": 2 * delay}
        over = {"time_s": [1.0, 2.0], "delay_ms": [delay, None]}
        application = {"name": "call", "delay_ms": wait, "mos": None, "over_time": over}
        return {"applications": [application], "sojourn_ms": {name: wait}, "carried_bps": 1e6 * delay}

    first = {"name": "one FIFO", "words": "all in one", "result": of(50, "fifo")}
    second = {"name": "ours", "words": "", "result": of(5, "call")}
    found = {"name": "home", "description": "d", "config": "c", "seed": 1, "rounds": [first, second]}
    assert rounds.rows(found) == [
        ["", "", "one FIFO", "ours"],
        ["call", "delay", "50 ms, 100 ms at 99 %", "5 ms, 10 ms at 99 %"],
        ["queue fifo", "wait", "50 ms, 100 ms at 99 %", "-"],
        ["queue call", "wait", "-", "5 ms, 10 ms at 99 %"],
        ["bottleneck", "carried", "50 Mbit/s", "5 Mbit/s"],
    ]
    page = rounds.page(found)
    assert 'href="one_fifo/report.html"' in page and "all in one" in page and page.count('class="plot"') == 1


def test_rounds_with_other_applications() -> None:
    """Each has a row by its name, in whatever order and in which rounds it was."""

    def of(**delays: float) -> dict[str, Any]:
        felt = [
            {"name": name, "delay_ms": {"count": 1, "p50": delay, "p99": delay}, "over_time": {"time_s": [1.0], "delay_ms": [delay]}}
            for name, delay in delays.items()
        ]
        return {"applications": felt, "sojourn_ms": {}, "carried_bps": 1e6}

    results = {"both": of(slow=50, fast=5), "turned": of(fast=6, slow=60), "none": of(), "new": of(film=7)}
    found = {
        "name": "home", "description": "d", "config": "c", "seed": 1,
        "rounds": [{"name": name, "words": "", "result": result} for name, result in results.items()],
    }  # fmt: skip
    assert rounds.rows(found)[:-1] == [
        ["", "", "both", "turned", "none", "new"],
        ["slow", "delay", "50 ms, 50 ms at 99 %", "60 ms, 60 ms at 99 %", "-", "-"],
        ["fast", "delay", "5 ms, 5 ms at 99 %", "6 ms, 6 ms at 99 %", "-", "-"],
        ["film", "delay", "-", "-", "-", "7 ms, 7 ms at 99 %"],
    ]
    plots = rounds._plots(found, "delay_ms", "delay, ms")
    assert [(plot["title"], [trace["name"] for trace in plot["traces"]]) for plot in plots] == [
        ("slow", ["both", "turned"]), ("fast", ["both", "turned"]), ("film", ["new"]),
    ]  # fmt: skip
