# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`report: { after }`: rates, latencies, shares and curves are those of frames behind the warm-up, of every design; counters are of all.

What they should be is computed from the frames of the same run without a warm-up.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.engine import engine
from penstock.engine.result import Departures, distribution
from penstock.engine.run import Request, carry_out, prepare
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.reports import export, report

CONGESTED = """
device: { config: tree_64 }
duration: 40 ms
drain: false
queues:
  - { id: 0, name: calm, traffic_class: 0 }
  - { id: 1, name: slow, traffic_class: 1, rate: 4 Mbit/s, limit_packets: 20 }
  - { id: 5, name: other, traffic_class: 1, limit_packets: 20 }
nodes:
  - { id: 0, rate: 24 Mbit/s }
traffic:
  - { name: storm, poisson: { queues: [slow, other], rate: 60 Mbit/s, size: imix }, stop: 15 ms }
  - { constant: { queues: calm, rate: 2 Mbit/s, size: 300 } }
  - { poisson: { queues: slow, rate: 3 Mbit/s, size: 500 } }
"""
SCENARIOS = {
    "access_edge": (CONGESTED, "20 ms"),
    "deadline_port": ("deadline_64.yaml", None),
    "frame_switch": ("switch_hot_output.yaml", None),
    "p4_switch": ("p4_tail_drop.yaml", None),
}


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    engine.build(print)


def path_of(design: str, folder: Path) -> Path:
    text = SCENARIOS[design][0]
    if text.endswith(".yaml"):
        return ROOT / "scenarios" / text
    made = folder / "s.yaml"
    made.write_text(text)
    return made


def both(design: str, folder: Path, engine_name: str = "model") -> tuple[Any, dict[str, Any], dict[str, Any], float]:
    """Return the engine's raw result and `result.json` of a run without a warm-up, the latter of one with it, and its end in seconds."""
    path = path_of(design, folder)
    plain = prepare(Request(path, settings=["report.after=0 s"], engine=engine_name))
    duration = plain.plan.job["duration_cycles"] / plain.config.clock_hz
    after = 0.5 * duration if SCENARIOS[design][1] is None else 0.02
    raw = engine.run(plain.plan.job | {"device": plain.plan.job["device"]})
    whole = carry_out(Request(path, settings=["report.after=0 s"], engine=engine_name, out=folder / "whole"))[0]
    settings = [f"report.after={round(after * 1e9)} ns"]
    found = carry_out(Request(path, settings=settings, engine=engine_name, out=folder / "after"))[0]
    return raw, whole, found, after


@pytest.mark.parametrize("design", SCENARIOS)
def test_what_is_measured_is_of_the_rest(design: str, tmp_path: Path) -> None:
    raw, whole, found, after = both(design, tmp_path)
    clock, cycles = whole["clock_hz"], whole["cycles"]
    begin = round(after * clock)
    left = Departures.of(raw)
    assert len(left.cycle) == raw["packets"]["out"], "not all frames were kept: the test shows nothing"
    rest = left.only(left.cycle >= begin)
    assert 0.2 * len(left.cycle) < len(rest.cycle) < 0.8 * len(left.cycle)
    assert found["measured_from_s"] == pytest.approx(after) and "measured_from_s" not in whole
    for key in ("packets", "bytes", "cycles", "findings"):
        assert found[key] == whole[key], key
    # A frame that leaves while the first one behind the warm-up comes may count for either.
    assert abs(found["latency_ns"]["count"] - len(rest.latency)) <= 2
    expected = distribution(rest.latency, 1e9 / clock)
    for key in ("mean", "p50", "p99"):
        assert found["latency_ns"][key] == pytest.approx(expected[key], rel=0.02), key
    rate = 8 * float(rest.length.sum()) * clock / (cycles - begin)
    assert found["throughput_bps"] == pytest.approx(rate, rel=0.01)
    series = report.read_series(tmp_path / "after")
    assert int(series["from_interval"]) == begin // round(float(series["interval_ns"]) * clock / 1e9)
    heads, rows = export.series_of(series)["over_time"]
    assert heads[0] == "time_s" and rows[0][0] <= after < rows[1][0]
    assert np.nanmax(series["cdf_ns"][:, -1]) <= expected["max"] * 1.02


def test_queues_groups_and_levels_of_an_access_edge(tmp_path: Path) -> None:
    """The storm before the warm-up's end is in counters alone: no rate, latency or congestion knows of it."""
    raw, whole, found, after = both("access_edge", tmp_path)
    begin, clock = round(after * whole["clock_hz"]), whole["clock_hz"]
    left = Departures.of(raw)
    for row, other in zip(found["queues"], whole["queues"], strict=True):
        rest = left.only((left.queue == row["id"]) & (left.cycle >= begin))
        assert {key: row[key] for key in row if key.endswith(("packets", "_bytes"))} == {
            key: other[key] for key in other if key.endswith(("packets", "_bytes"))
        }
        assert abs(row["latency_ns"]["count"] - len(rest.cycle)) <= 1
        if len(rest.cycle) > 20:
            average = 8 * clock * float(rest.length[:-1].sum()) / float(rest.cycle[-1] - rest.cycle[0])
            assert row["average_rate_bps"] == pytest.approx(average, rel=0.05)
    (node,) = [row for row in found["nodes"] if row["name"] == "node 0"]
    (stormy,) = [row for row in whole["nodes"] if row["name"] == "node 0"]
    assert stormy["congested_share"] > 0.3 and node["congested_share"] == 0 and stormy["packets"] == node["packets"]
    assert node["offered_rate_bps"] == pytest.approx(5e6, rel=0.3) and node["offered_rate_bps"] < 0.5 * stormy["offered_rate_bps"]
    groups = {row["name"]: row for row in found["groups"]}
    assert not groups or groups["slow"]["latency_ns"]["max"] < whole["latency_ns"]["max"]


def test_a_warm_up_as_long_as_the_run_is_refused(tmp_path: Path) -> None:
    for design in SCENARIOS:
        with pytest.raises(UserError, match="report.after` .*before the end of"):
            prepare(Request(path_of(design, tmp_path), settings=["report.after=1000 s"], engine="model"))


def test_goodput_is_that_behind_the_warm_up(tmp_path: Path) -> None:
    """Of each connection: what came in order from then on, by its own curve; one that had ended before has none, counters are of all."""
    path = tmp_path / "s.yaml"
    path.write_text(
        "device: { config: demo_64 }\nduration: 400 ms\ndrain: false\nreport: { interval: 10 ms }\n"
        "queues: [{ id: 0, name: slow, rate: 20 Mbit/s, limit_packets: 50 }]\ntraffic:\n"
        "  - { name: long, tcp: { queues: slow, flows: 2, rtt: 4 ms } }\n"
        "  - { name: short, tcp: { queues: slow, bytes: 5000, rtt: 4 ms } }\n"
        "  - { name: late, start: 300 ms, tcp: { queues: slow, rtt: 4 ms } }\n"
    )
    results = []
    for after in ("0 s", "200 ms"):
        request = Request(path, settings=[f"report.after={after}"], engine="model", out=tmp_path / "out")
        results.append((carry_out(request)[0], report.read_series(tmp_path / "out")))
    (whole, _), (found, series) = results
    delivered = np.asarray(series["tcp_delivered_bytes"])  # at the end of each interval
    for number, (flow, other) in enumerate(zip(found["tcp"]["flows"], whole["tcp"]["flows"], strict=True)):
        own = ("goodput_bps", "share")
        assert {key: flow[key] for key in flow if key not in own} == {key: other[key] for key in other if key not in own}
        rest = int(flow["delivered_bytes"]) - int(delivered[19, number])
        seconds = 0.4 - max(0.2, flow["start_s"])
        assert flow["goodput_bps"] == (None if flow["finished_s"] else pytest.approx(8 * rest / seconds))
        assert other["goodput_bps"] == pytest.approx(8 * flow["delivered_bytes"] / ((flow["finished_s"] or 0.4) - flow["start_s"]))
    assert found["tcp"]["flows"][2]["share"] == 0 < whole["tcp"]["flows"][2]["share"]
    assert sum(flow["share"] for flow in found["tcp"]["flows"]) == pytest.approx(1, abs=1e-5)


def test_bmv2_measures_behind_the_warm_up_too() -> None:
    """What left before is in counters alone, and so are bytes that connections had delivered by then."""
    from types import SimpleNamespace

    from penstock.designs.p4_switch.bmv2 import result

    after, end = 1000, 3000
    queue = SimpleNamespace(output=1, port_number=1, line_bps=1e9, overhead_bytes=24)
    left = {"ns": np.array([500, 1000, 2000]), "delay": np.array([400, 10, 30]), "output": np.ones(3), "length": np.array([100, 100, 100])}
    row = result._output(queue, left, after, end)
    assert (row["out_packets"], row["latency_ns"]["count"], row["latency_ns"]["max"]) == (3, 2, 30)
    arrays = {key: np.array(values) for key, values in {
        "in_ns": [100, 990, 1970, 2500], "out_ns": [500, 1000, 2000, -1], "flow": [0] * 4, "length": [100] * 4, "out_length": [100] * 4,
    }.items()}  # fmt: skip
    (flow,) = result._flows(SimpleNamespace(names=[{"name": "a"}]), arrays, after)
    assert (flow["out_packets"], flow["missing_packets"], flow["latency_ns"]["count"], flow["latency_ns"]["mean"]) == (3, 1, 2, 20)
    told = {
        "delivered_bytes": 500,
        "delivered_before_bytes": 300,
        "finished_ns": None,
        "connected_ns": 1,
        "round_trips_us": [],
        "error": "",
    }
    job = {"after_ns": 1000, "connections": [{"start_ns": 0, "stop_ns": 10_000}]}
    found = result._tcp(SimpleNamespace(flows=[{"name": "a"}]), {"flows": [told]}, job, 0, end)["tcp"]
    assert found["goodput_bps"] == 8 * 200 / 2000e-9 and found["flows"][0]["delivered_bytes"] == 500


def test_curves_of_rates_know_nothing_of_the_warm_up(tmp_path: Path) -> None:
    """A mean over several intervals does not reach into it: steady traffic has its rate from the first point on."""
    path = tmp_path / "s.yaml"
    path.write_text(
        "device: { config: demo_64 }\nduration: 400 ms\ndrain: false\nreport: { interval: 10 ms, after: 200 ms }\n"
        "queues: [{ id: 0, name: steady }]\ntraffic: [{ constant: { queues: steady, rate: 8 Mbit/s, size: 500 } }]\n"
    )
    result, _ = carry_out(Request(path, engine="model", out=tmp_path / "out"))
    series = report.read_series(tmp_path / "out")
    for width in (1, 9):
        rate = report.rate_curve(result, series, series["bytes_out"][:, 0], width)
        assert len(rate) == 40 and np.isnan(rate[:20]).all()
        assert rate[20:] == pytest.approx(8e6, rel=0.03)
    assert result["throughput_bps"] == pytest.approx(8e6, rel=0.01)
