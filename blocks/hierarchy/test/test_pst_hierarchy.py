# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_hierarchy: every departure judged in a C++ loop: rates, fair shares, priority, gates, moves, conservation."""

from pathlib import Path

import pytest

from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_hierarchy.cpp"
SMALL = {"Queues": 64, "QueuesPerSubscriber": 4, "Nodes": 2, "Ports": 2, "Classes": 4, "PayloadWidth": 8}
EIGHT = {"Queues": 256, "QueuesPerSubscriber": 8, "Nodes": 4, "Ports": 2, "Classes": 8, "PayloadWidth": 8}
FEW = {"Queues": 4, "QueuesPerSubscriber": 2, "Nodes": 2, "Ports": 2, "Classes": 1, "PayloadWidth": 8}  # fewer than a batch may have
LONE = EIGHT | {"Queues": 16, "Nodes": 2}  # two subscribers
TWO = FEW | {"Queues": 16}  # what waits above soon counts as more than there is, if it is not bounded
NO_LIMIT = 10**9


def soak(parameters: dict[str, int], **arguments: int) -> dict[str, int]:
    return run_soak(
        BENCH,
        "hierarchy",
        "pst_hierarchy",
        parameters,
        {
            "queues": parameters["Queues"],
            "per_subscriber": parameters["QueuesPerSubscriber"],
            "nodes": parameters["Nodes"],
            "ports": parameters["Ports"],
            "classes": parameters["Classes"],
            "payloads": 2 ** parameters["PayloadWidth"],
            "tolerance": parameters.get("ToleranceCycles", 1024),
            "width": parameters.get("TimeWidth", 32),
            "seed": seed(),
            "cycles": 1_000_000,
            "level": 1,
            "kbps": 2_000_000,
            "burst": 0,
            "backlog": 1,
            "loop": 16,
            "decision": 64,
            **arguments,
        },
    )


def test_open_gates_cost_nothing() -> None:
    """Nothing is shaped: nearly an operation per cycle, and a packet is through in 12 cycles."""
    counts = soak(SMALL, kbps=NO_LIMIT, level=0, queues_used=4, cycles=60_000)
    assert counts["out"] >= 950 and counts["latency"] <= 16, counts


@pytest.mark.parametrize("level", [0, 1, 2], ids=["subscriber", "node", "port"])
@pytest.mark.parametrize("parameters", [SMALL, EIGHT], ids=["small", "eight"])
def test_rates(parameters: dict[str, int], level: int) -> None:
    """No packet before the shaper's time, and the rate is reached within 0.5 % (and a packet at each end of the window)."""
    counts = soak(parameters, level=level, kbps=1_000_000, burst=5_000, loop=12, length=600, cycles=1_000_000)
    assert 9_940 <= counts["used"] <= 10_060, counts


@pytest.mark.parametrize(
    ("level", "width"), [(0, 32), pytest.param(1, 35, marks=pytest.mark.slow), (2, 32)], ids=["subscriber", "node_35", "port"]
)
def test_eight_kilobit_a_second(level: int, width: int) -> None:
    """220,000 cycles per byte: no packet before the shaper's time, and none later than the next one would be due."""
    counts = soak(SMALL | {"TimeWidth": width}, level=level, kbps=8, length=1, loop=12, cycles=2_500_000)
    assert 9_000 <= counts["used"] <= 11_000, counts


@pytest.mark.parametrize("level", [0, 1, 2], ids=["subscriber", "node", "port"])
def test_priority(level: int) -> None:
    """No packet of a lower class leaves a parent while one of a higher class has waited there for 64 cycles."""
    soak(EIGHT, level=level, kbps=2_000_000, priority=1, backlog=0, cycles=500_000)


@pytest.mark.parametrize(("level", "gbps", "length"), [(2, 100, 300), (1, 20, 200), (1, 10, 64)], ids=["port_300", "node_200", "node_64"])
def test_small_packets_fill_fast_links(level: int, gbps: int, length: int) -> None:
    """A node or port that is behind its time lets up to 64 packets go at once, none before its time, and so reaches its rate."""
    many = SMALL | {"Queues": 1024, "Nodes": 4}
    counts = soak(many, level=level, kbps=gbps * 1_000_000, burst=40_000, length=length, queues_used=4, loop=12, cycles=300_000)
    assert counts["used"] >= 9_940, counts


@pytest.mark.parametrize(("gbps", "least"), [(10, 9_940), (40, 5_000)])
def test_a_subscriber_sends_small_packets(gbps: int, least: int) -> None:
    """Behind its time it lets up to four of its queues go at once, none before its time: 64 byte at 10 Gbit/s, or one in 5.6 cycles."""
    counts = soak(LONE, level=0, kbps=gbps * 1_000_000, burst=40_000, length=64, queues_used=8, loop=12, cycles=300_000)
    assert counts["used"] >= least, counts


@pytest.mark.parametrize("burst", [0, 2_000, 20_000])
def test_trains_of_a_subscriber_keep_times_and_classes(burst: int) -> None:
    """Packets of 60 to 9,600 byte at 20 Gbit/s: none of a batch is early, none leaves before a higher class that waited 64 cycles."""
    soak(LONE, level=0, kbps=20_000_000, burst=burst, priority=1, backlog=burst % 3 > 0, loop=12, cycles=300_000)


@pytest.mark.slow
def test_trains_are_what_fills_them() -> None:
    """Packet by packet a port sends one in some 20 cycles: of 300 byte a good quarter of 100 Gbit/s at an assumed clock of 220 MHz."""
    single = SMALL | {"Queues": 1024, "Nodes": 4, "TrainLog": 0}
    counts = soak(single, level=2, kbps=100_000_000, burst=40_000, length=300, queues_used=4, loop=12, cycles=100_000)
    assert 2_500 <= counts["used"] <= 3_000, counts


@pytest.mark.parametrize("burst", [0, 2_000, 20_000])
@pytest.mark.parametrize("level", [1, 2], ids=["node", "port"])
def test_trains_keep_times_and_classes(level: int, burst: int) -> None:
    """Packets of 60 to 9,600 byte at 20 Gbit/s: none of a batch is early, none leaves before a higher class that waited 128 cycles."""
    soak(EIGHT, level=level, kbps=20_000_000, burst=burst, priority=1, backlog=burst % 3 > 0, loop=12, decision=128, cycles=300_000)


def test_equal_subscribers() -> None:
    """Whatever their packets' sizes and however many queues they fill; the rest of the error is the window's edge (slow: 0.2 points)."""
    counts = soak(SMALL, kbps=1_000_000, cycles=6_000_000)
    assert counts["share"] <= 30_000, counts


@pytest.mark.slow
@pytest.mark.parametrize("weights", [0, 1])
def test_shares_in_the_long_run(weights: int) -> None:
    """At most 0.2 percentage points, for subscribers of a node and for the queues of each."""
    counts = soak(SMALL, kbps=1_000_000, weights=weights, cycles=120_000_000)
    assert counts["share"] <= 2_000, counts


@pytest.mark.slow
def test_queues_of_a_subscriber_in_the_long_run() -> None:
    counts = soak(SMALL, level=0, kbps=1_000_000, weights=1, cycles=40_000_000)
    assert counts["share"] <= 2_000, counts


@pytest.mark.parametrize("parameters", [SMALL, EIGHT, FEW, TWO], ids=["small", "eight", "few", "two"])
@pytest.mark.parametrize("backlog", [0, 1])
def test_settings_change(parameters: dict[str, int], backlog: int) -> None:
    """Rates, gates, nodes, ports, classes and weights change while packets flow: none is lost or doubled, and all leave in the end."""
    soak(parameters, mix=1, priority=1, backlog=backlog, stall=100, cycles=400_000)


def test_idle_longer_than_time_stamps() -> None:
    """Pauses of half to twice the range of the time stamps: no stamp of old is taken for one to come."""
    wrapping = SMALL | {"TimeWidth": 18, "ToleranceCycles": 100, "WalkCycles": 32}
    soak(wrapping, level=1, kbps=4_000_000, length=600, idle=1, backlog=0, cycles=1_500_000)


def test_a_stalled_output() -> None:
    soak(SMALL, level=1, kbps=4_000_000, backlog=0, stall=600, cycles=200_000)
