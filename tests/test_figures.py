# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Single figures of results, jobs and benches against arithmetic by hand; tests/test_hand_computed.py has whole runs."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from stand_in import frame, pcap_bytes

from penstock.basics.rates import mixed_rates
from penstock.benches import bench
from penstock.designs.access_edge import job, registers
from penstock.designs.access_edge import report as edge_report
from penstock.designs.access_edge import result as edge_result
from penstock.designs.access_edge.bench import bench_engine, bench_hierarchy, lateness
from penstock.designs.frame_switch.papers.fpga_network_switch import compare
from penstock.engine import result
from penstock.errors import UserError
from penstock.papers.comparison import entry
from penstock.reports import report, summary
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration
from penstock.switch_sim import Setting, measure
from penstock.switch_sim.table import table
from penstock.testing import testkit

# ---- results


@pytest.mark.parametrize(("count", "ranks"), [(1, (1, 1, 1)), (2, (1, 2, 2)), (101, (51, 100, 101)), (1001, (501, 991, 1000))])
def test_percentiles_are_nearest_ranks(count: int, ranks: tuple[int, int, int]) -> None:
    """Of n values the p-th percentile is number ceil(n p): of 101 the 50.5th is the 51st, the 99.99th the 100th."""
    values = np.arange(1, count + 1)
    histogram = {"values": values, "frames": np.ones(count, dtype=np.int64), "count": count, "min": 1, "sum": values.sum()}
    for found in (result.distribution(values[::-1], 8.0), result.binned(histogram, 8.0)):
        assert tuple(found[key] for key in ("p50", "p99", "p99_9")) == tuple(8 * rank for rank in ranks)
        assert found["mean"] == 4 * (count + 1) and (found["count"], found["min"], found["max"]) == (count, 8, 8 * count)


def test_percentiles_of_bins() -> None:
    """Of 100 values the 50th is in the first bin, the 99th in the second, the 99.9th in the last; least and sum are not those of bins."""
    found = result.binned({"values": [10, 20, 30], "frames": [50, 49, 1], "count": 100, "sum": 1391, "min": 9}, 2.0)
    assert found == {"count": 100, "min": 18, "mean": 27.82, "p50": 20, "p99": 40, "p99_9": 60, "max": 60}


def test_a_histogram_of_nothing() -> None:
    nothing = {"count": 0} | dict.fromkeys(("min", "mean", "p50", "p99", "p99_9", "max"))
    assert result.binned({"values": [], "frames": [], "count": 0, "sum": 0, "min": 0}) == nothing


def test_two_frames_have_an_average_rate() -> None:
    """1,000 byte from cycle 100 up to cycle 300 at 1 MHz: 40 Mbit/s; two frames of one cycle have none."""
    for cycles, rate in (([100, 300], 40_000_000), ([100, 100], None)):
        arrays = (np.array(column, dtype=np.int64) for column in (cycles, [0, 0], [1000, 7], [20, 20]))
        found = edge_result.rates(result.Departures(*arrays), None, 0, 1_000_000, 10**9, 20)
        assert (found["average_rate_bps"], found["measured_rate_bps"], found["backlogged_share"]) == (rate, None, 0)


def test_a_queue_as_fast_as_the_line_has_no_burst() -> None:
    """Its burst would take for ever to leave: all of its backlog counts. 20 frames of 125 byte, one each 1,000 cycles of 1 us: 1 Mbit/s."""
    cycle = 1000 * np.arange(1, 21)
    left = result.Departures(cycle, 0 * cycle, 0 * cycle + 125, cycle + 10)
    for rate, egress in ((1_000_000, 1_000_000), (1_000_000, 1_005_000), (2_000_000, 1_000_000)):
        found = edge_result.rates(left, rate, 10**9, 1_000_000, egress, 10)
        assert found["backlogged_rate_bps"] == found["measured_rate_bps"] == 1_000_000


def test_rate_of_a_queue_whose_frames_were_not_kept() -> None:
    """21 frames of 2,100 byte in 4,000 cycles of 10 ns: without the last one 2,000 byte in 40 us."""
    columns = {"out_packets": [21, 9, 1, 0], "out_bytes": [2100, 900, 100, 0], "first_departure": [50, 50, 50, -1]}
    columns["last_departure"] = [4050, 850, 50, -1]
    found = [edge_result.totals_rates(columns, queue, 100_000_000) for queue in range(4)]
    assert [rates["average_rate_bps"] for rates in found] == [400_000_000, 800_000_000, None, None]
    assert [rates["measured_rate_bps"] for rates in found] == [400_000_000, None, None, None]  # nine frames say nothing


def good() -> dict[str, Any]:
    """A result with which nothing is wrong, as far as words need it."""
    none = {"count": 0} | dict.fromkeys(("p50", "p99", "p99_9", "max"))
    return {
        "packets": {"in": 10_000, "out": 10_000, "queued": 0, "dropped": {}},
        "bytes": {"in": 10**6, "out": 10**6},
        "device_seconds": 1.0,
        "throughput_bps": 8e6,
        "latency_ns": none,
        "queues": [],
        "queues_listed": 0,
        "queues_with_traffic": 0,
        "config": "demo_64",
    }


@pytest.mark.parametrize(
    ("came", "left", "text"),
    [(10_000, 10_000, "100.0 %"), (10_000, 9_999, "99.9 %"), (10_000, 9_997, "99.9 %"), (10**9, 10**9 - 1, "99.9 %"), (3, 2, "66.6 %")],
)
def test_only_all_is_100_percent(came: int, left: int, text: str) -> None:
    found = good()
    found["packets"] |= {"in": came, "out": left, "queued": came - left}
    assert summary.sentences(found)[1] == f"Out      {left:,} packets ({text}), 8 Mbit/s"


@pytest.mark.parametrize(
    ("rates", "percent"),
    [([98, 100, 100, 100], "2.00"), ([100, 100, 100, 103.5], "3.50"), ([100] * 4, "0.01"), ([100, 99.99, 100, 100], "0.01"),
     ([100, 99.9899, 100, 100], "0.02")],
)  # fmt: skip
def test_all_rates_are_within_the_error_that_is_said(rates: list[float], percent: str) -> None:
    row = {"configured_rate_bps": 100_000_000, "backlogged_share": 1.0, "out_packets": 10, "latency_ns": {"count": 10, "p50": 1}}
    found = good() | {"queues_listed": 4, "queues_with_traffic": 4}
    found["queues"] = [row | {"id": n, "name": f"q{n}", "measured_rate_bps": rate * 1e6} for n, rate in enumerate(rates)]
    assert edge_report.sentences(found) == [f"Shaped   4 queues were held to their rates, all within {percent} %"]


def test_who_was_held_to_its_rate() -> None:
    """Who was backlogged for half of the time, with ten frames; up to three are named."""
    row = {"configured_rate_bps": 10**6, "measured_rate_bps": 10**6, "out_packets": 10, "latency_ns": {"count": 10, "p50": 1}}
    found = good() | {"queues_listed": 4, "queues_with_traffic": 4}

    def said(*shares: float) -> str:
        found["queues"] = [row | {"id": n, "name": f"q{n}", "backlogged_share": share} for n, share in enumerate(shares)]
        return edge_report.sentences(found)[0]

    assert said(0.5, 1, 1) == "Shaped   " + ", ".join(f"q{n} was held to 1 Mbit/s" for n in range(3))
    assert said(0.499999, 1, 1) == "Shaped   q1 was held to 1 Mbit/s, q2 was held to 1 Mbit/s"
    assert said(1, 1, 1, 1) == "Shaped   4 queues were held to their rates, all within 0.01 %"


@pytest.mark.parametrize("key", ["order_errors", "payload_errors", "lost", "event_errors", "counter_mismatches", "early"])
def test_every_failure_is_said(key: str) -> None:
    clean = {"conservation": {"ok": True, "packets_missing": 0, "bytes_missing": 0}, "findings": []}
    assert result.failures(clean) == []
    (said,) = result.failures(clean | {key: 1234})
    assert said.startswith("1,234 ")
    broken = {"ok": False, "packets_missing": 2, "bytes_missing": 3000}
    assert result.failures(clean | {"conservation": broken}) == [
        "Conservation is broken: in - (out + dropped + queued) is 2 packets and 3,000 byte."
    ]


def rate_curve(sizes: list[float], seconds: float, width: int) -> list[float]:
    """The curve in byte/s of a run of so many seconds, which are intervals."""
    found = report.rate_curve({"cycles": seconds * 100, "clock_hz": 100}, {"interval_ns": np.array(1e9)}, np.array(sizes), width) / 8
    return [float(f"{rate:.9g}") for rate in found]


def test_curves_are_smoothed_in_the_middle_and_at_the_ends() -> None:
    assert rate_curve([1, 2, 6, 4, 5], 5, 3) == [1.5, 3, 4, 5, 4.5]
    assert rate_curve([1, 2, 6], 3, 1) == [1, 2, 6]
    assert rate_curve([1, 2, 6], 3, 5) == [3, 3, 3]
    assert rate_curve([0], 0, 1) == [0]


@pytest.mark.parametrize("width", [1, 5])
def test_the_end_cuts_the_last_interval(width: int) -> None:
    """A constant rate has a level curve wherever the run ends; an instant with a frame in it is no rate of its own."""
    for tail in (0.02, 0.25, 0.99):
        assert rate_curve([8] * 7 + [8 * tail], 7 + tail, width) == [8] * 8
    assert rate_curve([8 * 0.25], 0.25, width) == [8]
    assert rate_curve([8] * 7 + [1], 7.01, 1)[-1] == pytest.approx((8 * 0.99 + 1), rel=1e-6)
    assert rate_curve([8, 8, 8, 0], 3.5, 1)[-1] == 4


def test_the_slowest_packet_is_shown() -> None:
    """Of 1,000 packets 50 are chosen evenly, number 0 and number 999 among them; number 500 is not, but is the slowest."""
    cycle = np.arange(1000, dtype=np.int64)
    latency = np.where(cycle == 500, 77, cycle % 50)
    cloud = result._cloud(result.Departures(cycle, 0 * cycle, 0 * cycle, latency), 3, 50, 8.0)
    assert len(cloud) == 51 and cloud[0].tolist() == [0, 0, 3] and cloud[-1].tolist() == [8 * 999, 8 * 49, 3]
    assert [8 * 500, 8 * 77, 3] in cloud.tolist()


# ---- jobs

SCENARIO = """\
device: {{config: edge_2048, overrides: {{clock_hz: 10_000_000}}}}
duration: 10 ms
traffic: [{traffic}]
"""


def plan(tmp_path: Path, traffic: str, *settings: str) -> dict[str, Any]:
    """Return the job of a scenario at 10 MHz."""
    (tmp_path / "s.yaml").write_text(SCENARIO.format(traffic=traffic))
    described, document = scenario.load(tmp_path / "s.yaml", list(settings))
    return job.build(described, document, configuration(described, document)).job


@pytest.mark.parametrize(
    ("queues", "sampled"),
    [("0-9", list(range(10))), ("0-63", list(range(64))), ("0-129", list(range(0, 130, 2))), ("100-2047", list(range(100, 2048, 30)))],
)
def test_counters_of_queues_all_over_are_compared(tmp_path: Path, queues: str, sampled: list[int]) -> None:
    """All queues up to 64; of more every n-th, so that between 64 and 127 are left."""
    made = plan(tmp_path, f'{{constant: {{queues: "{queues}", rate: 1 Gbit/s, size: 64}}}}')
    assert made["sample_queues"] == sampled


def test_a_capture_again_and_again(tmp_path: Path) -> None:
    """Frames at 0, 10, 30 and 60 us, on average 20 us from one to the next: again from 80 us on, and from 160 us up to the end at 200."""
    (tmp_path / "x.pcap").write_bytes(pcap_bytes([(1000 * at, frame()) for at in (0, 10, 30, 60)]))
    traffic = "{pcap: x.pcap, unmatched: 7, start: 5 us, repeat: 3}"
    (source,) = plan(tmp_path, traffic, "duration=200 us")["sources"]
    first = [50, 150, 350, 650]  # cycles of 100 ns
    assert source["cycles"].tolist() == [*first, *(at + 800 for at in first), *(at + 1600 for at in first[:3])]
    assert source["queues"].tolist() == 11 * [7] and source["lengths"].tolist() == 11 * [100]
    (slow,) = plan(tmp_path, traffic.replace("repeat: 3", "time_scale: 2.5"), "duration=200 us")["sources"]
    assert slow["cycles"].tolist() == [50, 300, 800, 1550]


def test_times_are_rounded_down_to_cycles(tmp_path: Path) -> None:
    """At 10 MHz 1,999 ns are 19 cycles; a point in the report is a two-hundredth of the run, at least a cycle."""
    traffic = "{constant: {queues: 3, rate: 1 Gbit/s, size: 64}, start: 1999 ns, stop: 2 us}"
    made = plan(tmp_path, traffic, "duration=99.999 us", "drain=1 us")
    (source,) = made["sources"]
    assert (source["start_cycle"], source["stop_cycle"]) == (19, 20)
    assert (made["duration_cycles"], made["max_cycles"], made["interval_cycles"]) == (999, 1009, 4)
    assert plan(tmp_path, traffic, "duration=10 us")["interval_cycles"] == 1


@pytest.mark.parametrize(("rate", "kept"), [("0.4 Gbit/s", True), ("0.402 Gbit/s", False)])
def test_frames_of_long_runs_are_not_kept(tmp_path: Path, rate: str, kept: bool) -> None:
    """In 8 s 0.4 Gbit/s of 100 byte bring 4,000,000 frames, which are kept, each."""
    traffic = f"{{poisson: {{queues: 0-9, rate: {rate}, size: 100}}}}"
    assert plan(tmp_path, traffic, "duration=8 s", "drain=false")["keep_all"] is kept


# ---- drawn rates


def truncated_pareto(share: np.ndarray, least: float, most: float, mean: float) -> np.ndarray:
    """Quantiles of the Pareto distribution between two limits that has this mean, by its textbook mean."""

    def mean_of(a: float) -> float:
        return a * least**a / (1 - (least / most) ** a) * (most ** (1 - a) - least ** (1 - a)) / (1 - a)

    low, high = 1e-3, 9.99
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_of(middle) > mean else (low, middle)
    return least / (1 - share * (1 - (least / most) ** low)) ** (1 / low)


@pytest.mark.parametrize("mean", [2e6, 5e6, 2e7])
def test_mixed_rates_are_paretos(mean: float) -> None:
    """Ten thousand rates from 1 Mbit/s to 1 Gbit/s: their quantiles are those of the cut Pareto distribution with this mean."""
    print(f"PENSTOCK_SEED={testkit.seed()}")
    rates = np.sort(mixed_rates(10_000, 10_000 * mean, 1e6, 1e9, np.random.default_rng(testkit.seed())))
    assert rates.mean() == pytest.approx(mean, rel=1e-6)
    shares = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
    found = rates[(10_000 * shares).astype(int)]
    assert found == pytest.approx(truncated_pareto(shares, 1e6, 1e9, mean), rel=0.25)


def test_rates_that_no_draw_can_have() -> None:
    """A sum that is too small or too large gives the least or the most for all."""
    rng = np.random.default_rng(1)
    assert mixed_rates(4, 3.0, 1, 10, rng).tolist() == [1, 1, 1, 1] and mixed_rates(4, 50.0, 1, 10, rng).tolist() == [10, 10, 10, 10]


# ---- benches


def test_load_of_bench_lateness() -> None:
    """100 queues of 1,000 byte at 95 %: 95 Gbit/s of the line are 95 / 1.024 of frame bytes, 927.73 Mbit/s a queue."""
    options = {"seed": 1, "size": 1000, "pattern": "backlogged", "rates": "equal", "load": 95, "queues": 100}
    given = lateness.settings(options)
    assert given["rate_sum_bps"] == pytest.approx(95e9 / 1.024) and given["link_load"] == pytest.approx(0.95)
    # 8 * 220e6 / 927.73e6 cycles a byte: two packets and what 16,384 cycles let through, 8.64
    assert given["depth"].tolist() == 100 * [10] and given["descriptors"] == 2048  # 1,064 and up to a power of two
    period = 1000 * 8 * 220e6 / 927.734375e6  # of a packet: 1897.1 cycles
    assert given["first"].min() >= 0 and given["first"].max() < period and len(set(given["first"].tolist())) > 80
    at = registers.BURST_AT
    assert given["shapers"].tolist() == 100 * [(1 << 20) << at | given["shapers"].tolist()[0] & (1 << at) - 1]
    mixed = lateness.settings(options | {"size": 0, "rates": "mixed", "queues": 10_000})
    mean = (60 * 7 + 590 * 4 + 1514) / 12
    assert mixed["rate_sum_bps"] == pytest.approx(95e9 * mean / (mean + 24), rel=1e-5) and mixed["link_load"] == pytest.approx(
        0.95, rel=1e-5
    )


def test_depth_of_bench_lateness_is_for_the_smallest_packets() -> None:
    """What 16,384 cycles let through in packets of 60 byte, and two more."""
    options = {"seed": 1, "size": 0, "pattern": "backlogged", "rates": "equal", "load": 50, "queues": 1000}
    mean = (60 * 7 + 590 * 4 + 1514) / 12
    rate = 50e9 * mean / (mean + 24) / 1000
    assert lateness.settings(options)["depth"].tolist() == 1000 * [int(2 + rate / 8 / 220e6 * 16_384 / 60)]


def test_load_of_one_queue_among_blocked_ones() -> None:
    """One of a hundred sends at 1 Gbit/s: with 24 byte for each 590, 1.0407 % of the line. Half of the others never send."""
    options = {"seed": 1, "size": 590, "pattern": "blocked", "queues": 100}
    given = lateness.settings(options)
    assert given["link_load"] == pytest.approx(0.01 * 614 / 590)
    assert sorted(given["first"].tolist()).count(0) == 1 and given["first"].tolist().count(-1) in (49, 50)
    # 9,600 byte at 64 kbit/s are 1.2 s
    assert set(given["first"].tolist()) == {-1, 0, 264_000_000}


def test_longer_frames_are_met_more_often() -> None:
    """At a random time a line carries 1,514 byte 1,514 / (7 * 60) times as often as 60, of which there are seven times as many frames."""
    print(f"PENSTOCK_SEED={testkit.seed()}")
    rates = np.full(200_000, 1e6)
    cycles = lateness._first_departures(rates, [(60, 7), (1514, 1)], np.random.default_rng(testkit.seed()))
    long = 1514 / (1514 + 60 * 7)
    short_period = 60 * 8 * 220  # cycles at 1 Mbit/s
    expected = long * (1 - 60 / 1514)  # what is left of a long one is uniform up to its whole period
    assert (cycles >= short_period).mean() == pytest.approx(expected, abs=0.006)


@pytest.fixture
def fake_module(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Put functions in the place of the engine's benches: name -> what it returns. `jobs` gets what they were called with."""
    seen: dict[str, Any] = {"jobs": []}

    def module(folder: str = "engine") -> SimpleNamespace:
        def answer(name: str) -> Any:
            def run(given: dict[str, Any], _progress: Any) -> Any:
                seen["jobs"].append(given)
                return seen[name](given)

            return run

        return SimpleNamespace(**{name: answer(name) for name in seen if name != "jobs"})

    monkeypatch.setattr("penstock.engine.engine.module", module)
    monkeypatch.setattr("penstock.engine.engine.build", lambda report=None, *folders: None)
    return seen


def test_bench_lateness_reports_the_load_that_it_measured(fake_module: dict[str, Any]) -> None:
    """1,000 packets of 590 byte and 24 of overhead in 12,000 cycles: 614,000 byte of 12,000 * 56.818 are 0.9005."""
    late, core, ideal = np.array([1, 2, 3]), np.array([4]), np.array([7, 7])
    fake_module["lateness_bench"] = lambda job: {"bytes": 590_000, "cycles": 12_000, "lateness": late, "core": core, "ideal": ideal}
    settings = {"queues": "100", "packets": "1000", "size": "590", "engine": "model", "load": "40"}
    found = bench.run(bench.plan("lateness", settings, 1))
    assert found["measured_link_load"] == 0.9005 and found["link_load"] == 0.4
    assert found["rate_sum_bps"] == pytest.approx(40e9 * 590 / 614, abs=1)
    assert [found[key]["max"] for key in ("lateness_cycles", "after_earliest_departure_cycles", "ideal_link_cycles")] == [3, 4, 7]
    (asked,) = fake_module["jobs"]
    assert asked["warm_up"] == 100 and asked["packets"] == 1000 and asked["library"] == ""


def test_bench_lateness_counts_bytes_of_its_cycles() -> None:
    """2,000 packets of 590 byte and 24 of overhead left in the measured cycles; what is looked at after them is no load of theirs."""
    print(f"PENSTOCK_SEED={testkit.seed()}")
    settings = {"queues": "128", "packets": "2000", "size": "590", "engine": "model"}
    found = bench.run(bench.plan("lateness", settings, testkit.seed()))
    assert found["lateness_cycles"]["count"] > 2000
    assert found["measured_link_load"] == round(2000 * 614 * 8 * 220e6 / 100e9 / found["cycles"], 4)


def test_bench_reconfigure_counts_changes_of_device_time(fake_module: dict[str, Any]) -> None:
    """Five changes in 1,100 cycles at 220 MHz are a million a second; standstills are what changes add, the longer of both sides."""
    raw = {"lost": 0, "reordered": 0, "ready": [10, 20], "cycles": 1100, "packets": 9, "enqueues_per_cycle": 0.9}

    def run(given: dict[str, Any]) -> dict[str, Any]:
        changes = given["changes"]
        return raw | {
            "changes": {"rate": 3, "weight": 2},
            "enqueue_standstills": [9, 1] if changes else [4, 2],
            "output_standstills": [3, 7] if changes else [1, 1],
            "dequeues_per_cycle": 0.8 if changes else 0.85,
        }

    fake_module["reconfigure_bench"] = run
    found = bench.run(bench.plan("reconfigure", {"engine": "model", "queues": "64", "cycles": "10000"}, 1))
    assert found["changes_per_second"] == 1_000_000 and found["changes"] == 5
    # enqueue: 9 - 4 and, not below 0, 1 - 2; output: 7 - 1 and 3 - 1
    assert found["stall_cycles"]["max"] == 6 and found["stall_cycles"]["min"] == 2
    assert found["dequeues_per_cycle"] == 0.8 and found["dequeues_per_cycle_without"] == 0.85


def test_bench_fairness_carries_the_bytes_that_were_asked_for() -> None:
    """3 MB for each of 4 subscribers of a node at 2 Gbit/s, 2e9 / 8 / 220e6 = 1.13636 byte a cycle: 10,560,000 cycles."""
    settings = {"queues": "2048", "megabytes": "3", "congested_nodes": "2", "subscribers": "8", "engine": "model"}
    options = bench.plan("fairness", settings, 1)
    assert bench_hierarchy.node_rate(options) == pytest.approx(25 / 22) and options["work"] == 10_560_000


def test_bench_engine_divides_by_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = {
        "conservation_ok": True, "order_errors": 0, "payload_errors": 0, "run_cpu_seconds": 0.25, "cycles": 50_000, "wall_seconds": 9,
        "packets": {"in": 1000, "out": 700, "queued": 100, "dropped": {"no_page": 150, "runt": 50}},
    }  # fmt: skip
    jobs = []
    monkeypatch.setattr("penstock.engine.engine.run", lambda job, progress: jobs.append(job) or raw)
    options = {"levels": 1, "queues": 64, "seed": 1, "size": 1000, "load": 50, "packets": 1000}
    found = bench_engine.run(options, None, None)
    assert (found["packets_per_cpu_second"], found["cycles_per_cpu_second"]) == (4000, 200_000)
    assert (found["packets"], found["packets_out"], found["packets_dropped"]) == (1000, 700, 200)
    # half of the line with 24 byte of overhead: 50 / 1.024 Gbit/s, a packet of 1,000 byte each 36.045 cycles of 220 MHz
    assert jobs[0]["sources"][0]["bps"] == pytest.approx(50e9 / 1.024) and jobs[0]["duration_cycles"] == 36_044
    for wrong in ({"conservation_ok": False}, {"order_errors": 1}, {"payload_errors": 1}):
        monkeypatch.setattr("penstock.engine.engine.run", lambda job, progress, wrong=wrong: raw | wrong | {"findings": ["this"]})
        with pytest.raises(RuntimeError, match="this"):
            bench_engine.run(options, None, None)


# ---- settings


def test_limits_are_those_of_the_registers() -> None:
    """What a burst may have in bytes is said rightly: 2^28 - 1 cycles at a byte in 176 cycles."""
    assert registers.MAX_BURST_CYCLES == 2**28 - 1
    assert (registers.MAX_LIMIT_PACKETS, registers.MAX_LIMIT_BYTES) == (2**16 - 1, 2**24 - 1)
    assert registers.burst_cycles(1_525_201, 10_000_000, 220_000_000) == 176 * 1_525_201
    with pytest.raises(UserError, match="a burst at 10 Mbit/s can have at most 1,525,201 byte, not 1,525,202"):
        registers.burst_cycles(1_525_202, 10_000_000, 220_000_000)


# ---- the slot simulator


def runs(*rows: tuple[int, int, int, int, float | None, int | None, int | None]) -> list[measure.Run]:
    return [measure.Run(100, *row[:4], *row[4:], cpu_seconds=0.5) for row in rows]


def test_figures_of_several_runs() -> None:
    """Two runs of 100 slots at 4 ports: 300 of 800 places were used, 40 of 400 packets dropped; t(1) = 12.7062."""
    found = measure.summary(Setting("oq", ports=4), runs((200, 160, 10, 30, 2.0, 9, 20), (200, 140, 30, 30, 3.0, 11, 30)))
    assert found["throughput"] == 0.375 and found["drop_share"] == 0.1 and found["slots_per_second"] == 200
    assert found["packets"] == {"arrived": 400, "sent": 300, "dropped": 40, "queued": 60}
    latency = found["latency_slots"]
    assert (latency["mean"], latency["p99"], latency["worst_mean"], latency["worst"]) == (2.5, 10, 25, 30)
    # deviations 0.7071, 1.4142, 7.0711 over the root of 2
    assert (latency["mean_ci95"], latency["p99_ci95"], latency["worst_ci95"]) == (6.3531, 12.7062, 63.531)


def test_a_packet_in_many_is_seen() -> None:
    """One of 400 million is dropped, one waits: neither is rounded away."""
    many = 200_000_000
    lost = [measure.Run(2 * many, many, many - left, left % 2, left // 2, 0.0, 0, 0, 1.0) for left in (1, 2)]
    found = measure.summary(Setting("oq", ports=2), lost)
    assert found["throughput"] == 0.249999 and found["drop_share"] == 1e-6


def test_percentiles_of_a_run_are_nearest_ranks(tmp_path: Path) -> None:
    """Both inputs send to output 0 in each of 25 slots: packet n waits n - n // 2 slots; of 50 the 49.5th, so the 50th, waits 25."""
    from penstock.engine import engine

    engine.build(print)
    (tmp_path / "trace").write_text("".join(f"{slot},{source},0\n" for slot in range(25) for source in range(2)))
    found = measure.run_one(Setting("oq", ports=2, traffic="trace", trace=tmp_path / "trace", slots=100), 1, 0)
    assert (found.arrived, found.sent, found.dropped, found.queued) == (50, 50, 0, 0)
    assert found.p99 == found.worst == 25 and found.mean == sum(n - n // 2 for n in range(50)) / 50


@pytest.mark.parametrize(
    ("throughput", "dropped", "words"),
    [(1.0, 0.0, "throughput 100.00 %, dropped 0.000 %"), (0.999996, 4e-6, "throughput 99.99 %, dropped 0.001 %"),
     (0.72059, 0.123456, "throughput 72.05 %, dropped 12.346 %"), (0.29, 0.007, "throughput 29.00 %, dropped 0.700 %")],
)  # fmt: skip
def test_a_loss_is_seen_in_the_table(throughput: float, dropped: float, words: str) -> None:
    """Throughput is rounded down and drops up: 100 % is all, and 0 is none."""
    config = {"algorithm": "oq", "ports": 2, "depth": 1, "traffic": "uniform", "rate": 1.0, "slots": 10, "seeds": 1}
    latency = dict.fromkeys(("mean", "mean_ci95", "p99", "p99_ci95", "worst_mean", "worst_ci95"))
    packets = {"arrived": 10, "sent": 9, "dropped": 1, "queued": 0}
    made = {"config": config, "seed": 1, "slots_per_second": 1, "latency_slots": latency, "packets": packets}
    assert words in table(made | {"throughput": throughput, "drop_share": dropped})


# ---- papers


def test_differences_are_relative_to_the_papers_number() -> None:
    assert [entry("p", "w", "u", 200, ours)["difference"] for ours in (210, 190, 200, None)] == [0.05, -0.05, 0, None]
    assert entry("p", "w", "u", 0, 3)["difference"] is None


def test_drops_are_compared_in_percent() -> None:
    """The paper: 5.2 and 4.0 % at depth 1; depths of 30, 31 and 35 have mean 32, and 2.6458 * 4.3027 / sqrt(3) is its interval."""
    maps = [
        {"traffic": "uniform", "algorithm": name, "drop_share": [[0.01, share], [0, 0]]}
        for name, share in (("cprra", 0.0525), ("pim", 0.1))
    ]
    found = compare.of_drops({"maps": maps, "depth_without_drops": {"cprra": [30, 31, 35], "pim": [100, 100, 100]}})
    assert [line["ours"] for line in found] == [5.25, 32, 10, 100]
    assert found[0]["paper"] == pytest.approx(5.2) and found[1]["ci95"] == 6.57 and found[1]["note"] == "30 to 35 in 3 runs"


def test_latencies_are_compared_at_full_load() -> None:
    """The last point of a curve; how many times the best scheduler's mean is that of this switch."""

    def curve(mean: float, worst: float) -> list[dict[str, Any]]:
        return [{"mean": 1.0, "worst_mean": 2.0, "worst_ci95": 0.1}, {"mean": mean, "worst_mean": worst, "worst_ci95": 5.0}]

    found = compare.of_latency({"curves": {"uniform": {"cprra": curve(10, 400), "pim": curve(25, 1500)}}})
    assert [(line["paper"], line["ours"]) for line in found[:2]] == [(375, 400), (1535, 1500)] and found[2]["ours"] == 2.5
    assert found[0]["difference"] == round(25 / 375, 4) and found[0]["ci95"] == 5
