# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A flow that may be marked and ignores marks, beside one TCP connection: the connection gets what it gets beside one that must be dropped.

The published cases of an overload with ECN: 100 Mbit/s, a round trip of 10 ms, and a flow of 50 to 200 % of the rate that does not react.
"""

from typing import Any

import pytest

from penstock.engine import engine
from penstock.engine import run as runs
from penstock.paths import ROOT
from penstock.testing.testkit import seed

RATE = 100e6
NOISE = 0.002 * RATE  # of a connection that gets next to nothing: some windows of slow start more or less
SCENARIO = ROOT / "scenarios" / "overload.yaml"
CODEL, PIE = "demo_codel_64", "demo_pie_64"


def played(seconds: int, *settings: str) -> dict[str, Any]:
    """Return the result of the scenario with other values."""
    run = runs.prepare(runs.Request(SCENARIO, [f"duration={seconds} s", *settings], engine="model", seed=seed()))
    result: dict[str, Any] = run.summary(engine.run(run.plan.job))
    return result


def beside(config: str, load: int, ecn: int, seconds: int, *settings: str) -> tuple[float, int, dict[str, int]]:
    """Return what the connection gets in bit/s beside a flow of `load` Mbit/s with this ECN field, packets marked, and packets dropped."""
    named = (f"device.config={config}", f"traffic.other.constant.rate={load} Mbit/s", f"traffic.other.headers.ecn={ecn}")
    result = played(seconds, *named, *settings)
    found = result["tcp"]["flows"][0]["goodput_bps"], result["marked_packets"], result["packets"]["dropped"]
    print(config, load, ecn, settings, found)
    return found


def test_the_guard_is_on_unless_it_is_turned_off() -> None:
    """At 100 %: beside a flow that must be dropped, one that may be marked, and the same without the guard, which takes it all."""
    plain, marked, _ = beside(CODEL, 100, 0, 40)
    assert marked == 0
    kept, marked, dropped = beside(CODEL, 100, 2, 40)
    assert 50 <= marked < 2000 and dropped["aqm"] > 1000
    without, marked, dropped = beside(CODEL, 100, 2, 40, "device.overrides.codel.guard_count=0")
    assert marked > 10_000 and dropped["aqm"] < 100
    assert kept > 0.9 * plain - NOISE and without < 0.5 * plain


LOADS = [50, 75, 90, 100, 110, 125, 150, 200]


@pytest.mark.slow
@pytest.mark.parametrize("load", LOADS)
def test_within_a_tenth_of_its_rate(load: int) -> None:
    plain, marked, _ = beside(CODEL, load, 0, 60)
    kept, seen, _ = beside(CODEL, load, 2, 60)
    assert marked == 0 and seen > 0
    assert kept > 0.9 * plain - NOISE


@pytest.mark.slow
@pytest.mark.parametrize("load", LOADS)
def test_pie_marks_up_to_a_tenth(load: int) -> None:
    """PIE drops by itself above a probability of 0.1 (RFC 8033, 5.1); up to there what ignores marks gains what it is not dropped."""
    plain, marked, _ = beside(PIE, load, 0, 60)
    kept, seen, _ = beside(PIE, load, 2, 60)
    assert marked == 0 and seen > 0
    assert kept > (0.6 if 75 < load < 110 else 0.9) * plain - NOISE


def test_connections_that_react_are_marked() -> None:
    """Four connections that answer marks keep below the guard: nothing is dropped by the AQM."""
    result = played(20, "traffic.other.constant.rate=1 Mbit/s", "traffic.connection.tcp.flows=4", "traffic.connection.tcp.ecn=true")
    assert result["marked_packets"] > 100 and result["packets"]["dropped"].get("aqm", 0) < 10
