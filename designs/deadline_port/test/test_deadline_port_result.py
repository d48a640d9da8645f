# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What a result of the deadline port says: of a run so small that every number was worked out by hand, and random ones, by counting."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.designs.deadline_port import report, result
from penstock.engine.result import summary
from penstock.reports.report import write_html
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration, design_of
from penstock.testing.testkit import seed

NONE = np.iinfo(np.int64).max
SCENARIO: dict[str, Any] = {
    "device": {"config": "tiny_deadline_3"},  # 100 MHz: a cycle is 10 ns
    "duration": "10 us",
    "classes": [
        {"name": "voice", "deadline": "1 us", "dscp": "ef"},
        {"name": "web", "deadline": "3 us", "dscp": [0, 1, 2, 9]},
        {"name": "bulk", "deadline": "10 us"},
    ],
    "traffic": [{"constant": {"classes": "0-2", "rate": "1 Gbit/s", "size": 100}}],
    "report": {"interval": "5 us"},
}


def planned(**more: Any) -> Any:
    document = scenario.Document(None, SCENARIO | more, None, {})
    design = design_of(document)
    described = scenario.validated(design.scenario, document)
    config = configuration(described, document)
    return design, described, document, config, design.plan(described, document, config, "model")


def raw(**more: Any) -> dict[str, Any]:
    """Seven frames: voice 4 of 100 byte, web 2 of 200, bulk 1 of 300. Left: voice after 40 and 90 cycles, web after 310, bulk after 5."""
    drops = {"missed": 1, "no_page": 1, "bad_frame": 1}
    found = {
        "cycles": 1000, "init_cycles": 5, "wall_seconds": 0.5, "interrupted": False, "drained": True,
        "packets": {"in": 8, "out": 4, "queued": 1, "dropped": drops},
        "bytes": {"in": 1200, "out": 700, "queued": 200, "dropped": {"missed": 100, "no_page": 100, "bad_frame": 100}},
        "order_errors": 0, "payload_errors": 0, "event_errors": 0, "lost": 0, "counter_mismatches": 0, "conservation_ok": True,
        "findings": [], "ingress_lost": {"packets": 0, "bytes": 0},
        "departures": {"cycle": np.array([100, 400, 450, 900]), "queue": np.array([0, 1, 0, 2]), "length": np.array([100, 200, 100, 300])},
        "latency_cycles": np.array([40, 310, 90, 5]),
        "queue": {
            "in_packets": np.array([4, 2, 1]), "in_bytes": np.array([400, 400, 300]),
            "out_packets": np.array([2, 1, 1]), "out_bytes": np.array([200, 200, 300]),
            "drop_packets": np.array([2, 0, 0]), "drop_bytes": np.array([200, 0, 0]),
            "missed_drop_packets": np.array([1, 0, 0]), "no_page_drop_packets": np.array([1, 0, 0]),
            "read_error_drop_packets": np.array([0, 0, 0]),
        },
        "series": {"drops": {"missed": np.array([0, 1]), "no_page": np.array([1, 0]), "bad_frame": np.array([1, 0])}},
    }  # fmt: skip
    return found | more


def told(**more: Any) -> dict[str, Any]:
    """What the engine measured besides."""
    return {
        "slack_min": np.array([10, NONE, 995]),
        "missed": np.array([[0, 0, 0], [1, 0, 0]]),
        "exact": {
            "sent_packets": np.array([3, 2, 1]),
            "sent_bytes": np.array([300, 400, 300]),
            "missed_packets": np.array([1, 0, 0]),
            "missed_bytes": np.array([100, 0, 0]),
        },
    } | more


def test_numbers_worked_out_by_hand() -> None:
    design, described, document, config, plan = planned()
    own = design.own_result(raw(deadline=told()), config, plan)
    assert (own["discipline"], own["default_class"]) == ("edfr", "bulk")
    assert (own["missed_share"], own["exact_missed_share"]) == (0.142857, 0.142857)  # of 7
    voice, web, bulk = own["classes"]
    assert (voice["class"], voice["name"], voice["dscp"], voice["deadline_ns"]) == (0, "voice", [46], 1000)
    assert (web["dscp"], web["deadline_ns"], bulk["deadline_ns"], len(bulk["dscp"])) == ([0, 1, 2, 9], 3000, 10_000, 59)
    assert [voice[key] for key in ("in_packets", "in_bytes", "out_packets", "out_bytes", "drop_packets", "drop_bytes")] == [
        4,
        400,
        2,
        200,
        2,
        200,
    ]
    assert [voice[key] for key in ("missed_packets", "no_page_packets", "read_error_packets", "missed_share")] == [1, 1, 0, 0.25]
    assert [row["late_packets"] for row in own["classes"]] == [0, 1, 0]  # 3.1 us of 3
    assert [row["least_slack_ns"] for row in own["classes"]] == [100, None, 9950]
    assert voice["latency_ns"] == {"count": 2, "min": 400, "mean": 650, "p50": 400, "p99": 900, "p99_9": 900, "max": 900}
    assert (web["latency_ns"]["max"], bulk["latency_ns"]["mean"]) == (3100, 50)
    assert voice["exact"] == {"sent_packets": 3, "sent_bytes": 300, "missed_packets": 1, "missed_bytes": 100, "missed_share": 0.25}
    assert own["missed"] == {"interval_ns": 5000, "packets": [[0, 1], [0, 0], [0, 0]]}
    whole = summary(raw(deadline=told()), described, document, config, plan, "hand", own)
    json.dumps(whole, allow_nan=False)
    assert report.sentences(whole) == [
        "Missed   14.3 % of the packets missed their deadlines; an exact EDFR with endless memory would have missed 14.3 %",
        "Late     1 packets (25.0 % of those that left) left after the deadlines of their classes",
    ]
    table = report.table(whole, 10, short=False)
    assert table.heads == (
        "class",
        "DSCP",
        "deadline",
        "in",
        "out",
        "missed",
        "exact EDFR",
        "no memory",
        "median",
        "p99",
        "slowest",
        "least slack",
    )
    assert table.rows[0] == ("voice", "46", "1 us", "4", "2", "25.0 %", "25.0 %", "1", "400 ns", "900 ns", "900 ns", "100 ns")
    assert table.rows[1][:4] == ("web", "0-2, 9", "3 us", "2") and table.rows[1][-1] == "-" and table.more == ""
    short = report.table(whole, 2, short=True)
    assert short.heads == ("class", "deadline", "in", "out", "missed", "exact EDFR", "no memory", "median", "p99")
    assert len(short.rows) == 2 and short.more == "and 1 more in the report"


def test_pictures() -> None:
    design, described, document, config, plan = planned()
    found = raw(deadline=told())
    whole = summary(found, described, document, config, plan, "hand", design.own_result(found, config, plan))
    delays, shares, over_time = design.plots(whole)
    curves = {curve.name: curve for curve in delays.curves}
    assert delays.places == ("voice", "web", "bulk") and curves["deadline"].style == "limit"
    assert curves["deadline"].values == (1e-6, 3e-6, 1e-5) and curves["slowest"].values == pytest.approx((9e-7, 3.1e-6, 5e-8))
    bars = {curve.name: curve.values for curve in shares.curves}
    assert bars == {"missed": (0.25, 0, 0), "no memory": (0.25, 0, 0), "exact EDFR": (0.25, 0, 0)}
    assert over_time.places == (2.5e-6, 7.5e-6) and [(c.name, c.values) for c in over_time.curves] == [("voice", (0, 1))]


def test_without_what_the_engine_measures_besides(tmp_path: Path) -> None:
    """An engine that tells nothing of its own: columns are left out, the page is written."""
    design, described, document, config, plan = planned()
    whole = summary(raw(), described, document, config, plan, "hand", design.own_result(raw(), config, plan))
    assert "exact_missed_share" not in whole and "exact" not in whole["classes"][0] and "missed" not in whole
    assert "exact EDFR" not in report.table(whole, 10, short=False).heads
    assert [plot.title for plot in design.plots(whole)] == ["Delay against the deadline", "Missed deadlines"]
    write_html(tmp_path / "report.html", whole, design.plot_data(raw(), config, plan))
    page = (tmp_path / "report.html").read_text()
    assert 'id="own2"' in page and 'id="own3"' not in page and "@OWN@" not in page  # behind both the packets of each class in the device
    assert "<h2>Packets of each class in the device</h2>" in page


def test_deadlines_that_change() -> None:
    """A frame is judged by the deadline that its class had when it came; the table marks the class."""
    design, described, document, config, plan = planned(changes=[{"at": "0.8 us", "classes": "web", "deadline": "4 us"}])
    found = raw()
    own = design.own_result(found, config, plan)
    assert own["classes"][1]["deadline_changes"] == [{"at_ns": 800, "deadline_ns": 4000}]
    assert own["classes"][1]["late_packets"] == 0  # it came in cycle 90, behind the change
    found["departures"]["cycle"][1] = 389  # now in cycle 79
    assert design.own_result(found, config, plan)["classes"][1]["late_packets"] == 1
    whole = summary(found, described, document, config, plan, "hand", own)
    assert report.table(whole, 10, short=True).rows[1][1] == "3 us *"
    curves = {curve.name: curve.values for curve in design.plots(whole)[0].curves}
    assert curves["deadline at first"][1] == 3e-6 and curves["later"] == (None, 4e-6, None)


def test_plain_fifo_says_what_came_too_late() -> None:
    design, described, document, config, plan = planned(device={"config": "tiny_fifo_3"})
    found = raw(deadline=told(late_packets=np.array([2, 0, 1])))
    whole = summary(found, described, document, config, plan, "hand", design.own_result(found, config, plan))
    assert [row["late_packets"] for row in whole["classes"]] == [2, 0, 1]
    assert report.sentences(whole) == ["Late     3 packets (75.0 % of those that left) left after the deadlines of their classes"]
    table = report.table(whole, 10, short=False)
    assert "too late" in table.heads and "least slack" not in table.heads
    assert design.plots(whole)[1].curves[0].name == "left too late" and design.plots(whole)[1].curves[0].values == (0.5, 0, 1)


@pytest.mark.parametrize("classes", [3, 16])
def test_random_results_by_counting(classes: int) -> None:
    rng = random.Random(f"{seed()} {classes}")
    print(f"PENSTOCK_SEED={seed()}")
    given = {"config": "tiny_deadline_3" if classes == 3 else "tiny_deadline_16"}
    traffic = [{"constant": {"classes": 0, "rate": "1 Gbit/s", "size": 100}}]
    for _ in range(20):
        used = rng.randint(1, classes)
        deadlines = [rng.randint(1, 400) for _ in range(used)]  # us
        groups = [{"name": f"c{n}", "deadline": f"{deadlines[n]} us"} for n in range(used)]
        design, _, _, config, plan = planned(device=given, classes=groups, default_class="c0", traffic=traffic)
        count = rng.randrange(300)
        queue = np.array([rng.randrange(used) for _ in range(count)], dtype=np.int64)
        cycle = np.sort(np.array([rng.randrange(50_000, 100_000) for _ in range(count)], dtype=np.int64))
        latency = np.array([rng.randrange(50_000) for _ in range(count)], dtype=np.int64)
        missed = np.array([rng.randrange(50) for _ in range(classes)])
        out = np.bincount(queue, minlength=classes)
        counts = {f"{part}_{what}": np.zeros(classes, dtype=np.int64) for part in ("in", "out", "drop") for what in ("packets", "bytes")}
        counts |= {"in_packets": out + missed, "out_packets": out, "missed_drop_packets": missed}
        found = raw(departures={"cycle": cycle, "queue": queue, "length": queue}, latency_cycles=latency, queue=counts)
        own = result.own(found, config, plan)
        for number, row in enumerate(own["classes"]):
            mine = [wait for wait, of in zip(latency.tolist(), queue.tolist(), strict=True) if of == number]
            assert row["late_packets"] == sum(wait * 10 > deadlines[number] * 1000 for wait in mine)
            assert row["latency_ns"]["count"] == len(mine) and row["latency_ns"]["max"] == (max(mine) * 10 if mine else None)
            came = len(mine) + int(missed[number])
            assert row["missed_share"] == (pytest.approx(int(missed[number]) / came, rel=1e-5) if came else None)
        came = count + int(missed[:used].sum())
        assert own["missed_share"] == (pytest.approx(int(missed[:used].sum()) / came, rel=1e-5) if came else None)


def test_what_is_not_nothing_does_not_look_like_nothing() -> None:
    """One frame of four millions, as many as a run may have."""
    assert result._share(1, 4_000_000) == 2.5e-7 and result._share(0, 4_000_000) == 0 and result._share(0, 0) is None
    shares = {None: "-", 0.0: "0 %", 2.5e-7: "< 0.001 %", 4e-6: "< 0.001 %", 1e-5: "0.001 %", 0.0012: "0.120 %", 0.25: "25.0 %"}
    assert [report._percent(share) for share in shares] == list(shares.values())


def test_ranges_of_dscps() -> None:
    assert [report.ranges(codes) for codes in ([], [5], [0, 1, 2, 9], list(range(64)), [1, 3, 5])] == ["", "5", "0-2, 9", "0-63", "1, 3, 5"]
