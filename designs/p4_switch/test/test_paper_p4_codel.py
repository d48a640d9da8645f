# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`paper p4-codel`: the experiments are the paper's, what is measured of them is arithmetic, and each queue does what it must."""

import json
import math
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.designs.p4_switch.papers.p4_codel import (
    bbr,
    beside_ns3,
    experiments,
    figure_5,
    figure_6,
    live,
    ns3,
    public,
    runs,
    stated,
    weak_cases,
)
from penstock.designs.p4_switch.papers.p4_codel.experiments import (
    P4_CODEL,
    P4_FREE,
    P4_INGRESS,
    RTL_CODEL,
    SENDERS,
    TAIL_DROP,
    Run,
    Senders,
    Setting,
)
from penstock.engine.run import RunError
from penstock.live import bulk
from penstock.papers import Options
from penstock.paths import ROOT
from penstock.scenarios import scenario
from penstock.testing import drawn

SEED = 1
UDP = SENDERS[3]
EVERY_S = 1 / 2000  # a packet on the link


def of(times: list[float], delays: list[float], seconds: float, dropped: int = 0, full: int = 0) -> Run:
    """Make a run."""
    return Run(np.array(times), np.array(delays), seconds, dropped, full)


def quick(system: experiments.System, senders: Senders, seconds: float, setting: Setting | None = None) -> Run:
    return experiments.run(system, senders, SEED, seconds, setting or Setting(), "test")


# ---- the experiments


@pytest.mark.parametrize("name", ["p4_router", "access_edge"])
def test_the_experiment_is_what_the_paper_says(name: str) -> None:
    """2,000 packets of 1,514 byte a second and nothing besides, 4 TCP flows, a round trip of 4 ms, CoDel of 5 and 100 ms."""
    read = scenario.load(ROOT / experiments.SCENARIOS / f"{name}.yaml")[0]
    assert read.link.overhead_bytes == 0 and read.duration == 10 * 10**12
    tcp = read.traffic[0].tcp
    assert (tcp.flows, tcp.rtt, tcp.algorithm, tcp.size) == (stated.FLOWS, 4 * 10**9, "cubic_linux", stated.FRAME)
    if name == "p4_router":
        assert set(read.link.egress) == {2000 * 1514 * 8} and read.device.egress_drops == "charged" and read.device.queue_packets == 10_000
        assert read.tables.defaults[0].action == "codel" and read.tables.defaults[0].data == [1000 * stated.TARGET_MS]
    else:
        queue = read.queues[0]
        assert queue.rate == 2000 * 1514 * 8 and (queue.aqm.target, queue.aqm.interval) == ("5 ms", "100 ms")


@pytest.mark.parametrize("system", [P4_CODEL, RTL_CODEL])
@pytest.mark.parametrize(("packets", "trip"), [(2000.0, 4000), (100.0, 4800)])
def test_senders_and_setting_go_into_the_scenario(system: experiments.System, packets: float, trip: int) -> None:
    for senders in SENDERS:
        changed = experiments.settings(system, senders, Setting(packets, trip), 1.5)
        read = scenario.load(ROOT / experiments.SCENARIOS / f"{system.scenario}.yaml", list(changed))[0]
        rate = read.link.egress[0] if system.p4 else read.queues[0].rate
        assert rate == packets * 1514 * 8 and read.duration == 1.5 * 10**12 and len(read.traffic) == 1
        if senders.flows:
            assert (read.traffic[0].tcp.flows, read.traffic[0].tcp.rtt) == (senders.flows, trip * 10**6)
        else:
            assert read.traffic[0].constant.rate == pytest.approx(1.1 * rate) and read.traffic[0].constant.size == ((1514, 1),)


def test_an_unresponsive_sender_by_arithmetic() -> None:
    """Packet k comes after k / 2,200 s and leaves after k / 2,000 s: it waits for k / 22,000 s; a second has 2,000 packets."""
    found = quick(TAIL_DROP, UDP, 1.0)
    assert len(found.time_s) == pytest.approx(2000, abs=1) and found.dropped == found.full == 0
    waited = np.arange(len(found.delay_ms)) / 22
    assert np.abs(found.delay_ms - waited).max() < 0.51  # the first one comes anywhere in its distance
    assert found.delay_ms[-1] == pytest.approx(2000 / 22, rel=0.01)


def test_program_and_hardware_drop_alike() -> None:
    """Drops that are free: the program's CoDel, with its table, and the hardware's, which is the RFC's, on the same packets for 12 s."""
    program, hardware = (quick(system, UDP, 12.0) for system in (P4_FREE, RTL_CODEL))
    assert program.dropped == pytest.approx(hardware.dropped, abs=2) and program.dropped > 1000
    count = min(len(program.delay_ms), len(hardware.delay_ms))
    assert np.abs(program.delay_ms[:count] - hardware.delay_ms[:count]).max() < 1.0
    assert experiments.measured(program, 6)["mean_ms"] == pytest.approx(experiments.measured(hardware, 6)["mean_ms"], rel=0.01)


def test_charged_drops_cost_turns_and_free_ones_do_not() -> None:
    charged, free, ingress = (quick(system, SENDERS[2], 4.0) for system in (P4_CODEL, P4_FREE, P4_INGRESS))
    turns = 4.0 / EVERY_S
    assert charged.dropped > 100 and len(charged.time_s) + charged.dropped == pytest.approx(turns, rel=0.01)
    assert all(found.dropped > 100 and len(found.time_s) == pytest.approx(turns, rel=0.01) for found in (free, ingress))


@pytest.mark.parametrize("bits", [32, 48])
def test_a_wrap_of_the_clock_changes_nothing(bits: int) -> None:
    """The clock wraps while CoDel drops: the same packets leave at the same times as in a run that begins at 0."""
    setting = Setting(clock_start_us=2**bits - 1_500_000)
    wrapped, plain = quick(P4_CODEL, SENDERS[1], 3.0, setting), quick(P4_CODEL, SENDERS[1], 3.0)
    assert plain.dropped > 50
    assert np.array_equal(wrapped.time_s, plain.time_s) and np.array_equal(wrapped.delay_ms, plain.delay_ms)


# ---- what is measured of a run


def test_measured_by_hand() -> None:
    """Ten packets from 1 s on, one each 100 ms, of which those at 1.2 and 1.9 s have waited for less than 5 ms."""
    times = [0.5, *(1 + number / 10 for number in range(10))]
    delays = [99.0, 6, 7, 4.9, 8, 9, 10, 11, 12, 13, 1]
    found = experiments.measured(of(times, delays, 2.0), 1.0)
    assert found["mean_ms"] == pytest.approx(sum(delays[1:]) / 10) and found["longest_ms"] == 13
    assert (found["p50_ms"], found["p95_ms"], found["p99_ms"]) == (8, 13, 13)
    assert found["below_target_percent"] == pytest.approx(20) and found["packets_per_second"] == pytest.approx(10)
    assert found["longest_above_s"] == pytest.approx(0.7)
    assert experiments.measured(of(times, delays, 2.0), 1.0, 1.55)["longest_above_s"] == pytest.approx(0.35)
    nothing = experiments.measured(of([], [], 2.0), 1.0)
    assert nothing["mean_ms"] is None and nothing["packets_per_second"] == 0


def test_a_delay_that_never_falls_is_above_all_the_time() -> None:
    assert experiments.longest_above(np.array([1.0, 2.0]), np.array([5.0, 6.0]), 0.0, 3.0) == 3.0


def test_burst_by_hand() -> None:
    times = [0.1, 0.2, 0.3, 0.4, 1.1, 1.2]
    assert experiments.burst(of(times, [1, 14, 6, 4, 99, 1], 2.0)) == {"burst_ms": 14, "burst_over_s": 0.4}
    assert experiments.burst(of(times, [1, 14, 6, 5, 99, 8], 2.0)) == {"burst_ms": 14, "burst_over_s": None}
    assert experiments.burst(of([], [], 2.0)) == {"burst_ms": None, "burst_over_s": None}


def test_over_time_by_hand() -> None:
    found = experiments.over_time(of([0.01, 0.02, 0.11, 0.31], [2, 4, 7, 9], 0.4), 0.1)
    assert found == {"time_s": [0.05, 0.15, 0.25, 0.35], "delay_ms": [3, 7, None, 9], "packets_per_second": [20, 10, 0, 10]}
    assert experiments.least_throughput(of([0.01, 0.11, 0.12, 0.31, 0.21], [1] * 5, 0.4), 0.1) == 10
    assert experiments.least_throughput(of([0.11, 0.12, 0.31], [1] * 3, 0.4), 0.0) == 0


def test_distribution_by_hand() -> None:
    found = experiments.distribution(of([0.1] + [1.0] * 100, [999.0, *range(1, 101)], 2.0), 1.0, points=4)
    pairs = dict(zip(found["share"], found["delay_ms"], strict=True))
    assert [pairs[share] for share in (0, 0.25, 0.5, 0.75, 0.99, 1)] == [1, 25, 50, 75, 99, 100]
    assert experiments.distribution(of([0.1], [1], 2.0), 1.0) == {"delay_ms": [], "share": []}


def test_the_first_packets_keep_their_peaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_5, "FIRST_POINTS", 4)
    found = of([number / 100 for number in range(60)], [50.0 if number == 33 else 1.0 for number in range(60)], 1.0)
    kept = figure_5._first(runs.Group(UDP, "x", "x", found, []))
    assert len(kept["time_s"]) <= 4 and (0.33, 50.0) in zip(kept["time_s"], kept["delay_ms"], strict=True)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"longest_above_s": 0.9, "burst_over_s": 0.4, "packets_per_second": 1985.0}, ["holds", "holds", "holds"]),
        ({"longest_above_s": 1.1, "burst_over_s": 1.4, "packets_per_second": 1975.0}, ["does not", "does not", "does not"]),
        ({"longest_above_s": None, "burst_over_s": None, "packets_per_second": 0.0}, ["does not", "does not", "does not"]),
    ],
)
def test_claims(facts: dict[str, float | None], said: list[str]) -> None:
    """The delay falls below the target once a second, the burst is over after one, and at most 1 % of the link is lost."""
    group = runs.Group(UDP, "x", "x", of([], [], 1.0), [facts])
    assert list(group.claims().values()) == said
    good = {"longest_above_s": 0.1, "burst_over_s": 0.1, "packets_per_second": 2000.0}
    both = runs.Group(UDP, "x", "x", of([], [], 1.0), [facts, good])
    assert list(both.claims().values()) == [word if word == "holds" else "in 1 of 2 runs" for word in said]


# ---- senders like BBR


def test_a_frame_of_the_senders() -> None:
    """1,514 byte whose IPv4 header sums up to 0xFFFF."""
    made = bbr.frame(5001, experiments.P4_HEADERS)
    assert len(made) == 1514 and made[12:14] == b"\x08\x00" and made[:6] == bytes.fromhex("020000000010")
    words = sum(struct.unpack(">10H", made[14:34]))
    assert (words & 0xFFFF) + (words >> 16) == 0xFFFF
    assert struct.unpack(">HHHH", made[34:42]) == (5001, 443, 1480, 0) and made[30:34] == bytes([10, 0, 3, 1])


def test_a_sender_learns_rate_and_round_trip() -> None:
    """A link of 1,000 packets a second without a queue's limit, 20 ms away: 20 packets are its product, and it holds near that."""
    sender, free, trip = bbr.Sender(0.0, 2), 0.0, 0.020
    waiting: list[tuple[float, bbr.Packet]] = []
    while sender.now < 8.0:
        at = min(waiting[0][0] if waiting else math.inf, max(sender.due(), sender.now), sender.timeout())
        sender.now = at
        if waiting and at == waiting[0][0]:
            sender.acknowledged(waiting.pop(0)[1], at)
        else:
            packet = sender.send(at)
            free = max(free, at) + 1e-3
            waiting.append((free + trip, packet))
    assert sender.state == "probe_bandwidth" and sender.filled and sender.lost == 0
    assert sender.bandwidth == pytest.approx(1000, rel=0.02) and sender.round_trip == pytest.approx(0.021, rel=0.05)
    assert sender.delivered > 0.95 * 8000 - 100 and sender.product(1.0) == pytest.approx(21 + 3 * 2, abs=1.5)
    assert len(sender.under_way) < 2.5 * 21


def test_a_sender_does_not_slow_down_for_a_loss() -> None:
    """One packet of those under way is lost: bandwidth and window are as before, a round trip later."""
    sender = bbr.Sender(0.0, 2)
    sent = [sender.send(number * 1e-3) for number in range(10)]
    for number, packet in enumerate(sent[:2]):
        sender.acknowledged(packet, 0.02 + number * 1e-3)
    window, pace = sender.window, sender.pace
    for number, packet in enumerate(sent[3:6]):
        sender.acknowledged(packet, 0.023 + number * 1e-3)
    assert sender.lost == 1 and sender.recovery == 10 and not any(packet.number == 2 for packet in sender.under_way)
    for number, packet in enumerate(sent[6:]):
        sender.acknowledged(packet, 0.026 + number * 1e-3)
    after = sender.send(0.031)
    sender.acknowledged(after, 0.051)
    assert sender.recovery is None and sender.window >= window and sender.pace >= pace and sender.lost == 1


def test_silence_is_a_loss_of_all() -> None:
    sender = bbr.Sender(0.0, 2)
    for number in range(5):
        sender.send(number * 1e-3)
    assert sender.timeout() == pytest.approx(bbr.RTO_S)
    sender.times_out(0.2)
    assert sender.lost == 5 and not sender.under_way and sender.window == 1 and sender.due() == 0.2


@pytest.mark.parametrize("system", [P4_FREE, RTL_CODEL])
def test_senders_fill_a_device_and_keep_its_queue_short(system: experiments.System) -> None:
    """Two connections for 2 s: the link is full after the start, and the queue is a few round trips, without a loss-based sawtooth."""
    found = bbr.run(system, 2, SEED, 2.0, Setting(), lambda _: None)
    facts = experiments.measured(found, 1.0)
    assert facts["packets_per_second"] > 0.97 * 2000 and found.full == 0
    assert 0 < facts["mean_ms"] < 40
    assert np.all(np.diff(found.time_s[2:]) > 0.9 * EVERY_S)  # without a burst of one packet at the beginning
    again = bbr.run(system, 2, SEED, 2.0, Setting(), lambda _: None)
    assert np.array_equal(found.time_s, again.time_s)


# ---- what others have written


def test_without_ns3_and_the_public_program_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PENSTOCK_NS3", raising=False)
    monkeypatch.delenv("PENSTOCK_P4_CODEL", raising=False)
    assert "PENSTOCK_NS3 names no folder" in (ns3.missing() or "") and "PENSTOCK_P4_CODEL names no clone" in (public.missing() or "")
    monkeypatch.setenv("PENSTOCK_NS3", str(tmp_path))
    assert "has no `include`" in (ns3.missing() or "")
    (tmp_path / "include").mkdir()
    assert "has no libraries" in (ns3.missing() or "")
    monkeypatch.setenv("PENSTOCK_P4_CODEL", str(tmp_path))
    assert "has no srcP4/router.p4" in (public.missing() or "")
    (tmp_path / "srcP4").mkdir()
    (tmp_path / "srcP4" / "router.p4").touch()
    (tmp_path / "srcP4" / "commandsCodelRouter.txt").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert public.missing() == "p4c-bm2-ss is not on the PATH"


def test_the_public_program_is_compiled_and_its_commands_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stand-in for the compiler: it gives port_codel.json. Ports are the device's, and CoDel runs with the other's tables."""
    (tmp_path / "srcP4").mkdir()
    (tmp_path / "srcP4" / "router.p4").touch()
    (tmp_path / "srcP4" / "commandsCodelRouter.txt").write_text("port_add r1-eth1 1\nset_queue_rate 300 2   //in pps\nshow_tables\n")
    compiler = tmp_path / "bin" / "p4c-bm2-ss"
    compiler.parent.mkdir()
    compiler.write_text(f'#!/bin/sh\ncp "{ROOT}/p4/port_codel.json" "$5"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("PENSTOCK_P4_CODEL", str(tmp_path))
    monkeypatch.setenv("PATH", f"{compiler.parent}:/usr/bin:/bin")
    monkeypatch.setattr(public, "BUILD", tmp_path / "build")
    assert public.missing() is None
    system = public.system()
    assert (tmp_path / "build/p4_codel_public/commands.txt").read_text() == "set_queue_rate 300 2   //in pps\nshow_tables\n"
    path = ROOT / experiments.SCENARIOS / "p4_router.yaml"
    read = scenario.load(path, list(experiments.settings(system, UDP, Setting(), 1.0)))[0]
    assert read.device.program.endswith("router.json") and not read.tables.entries and read.traffic[0].inputs == ((1, 1),)
    compiler.write_text("#!/bin/sh\necho no such thing >&2\nexit 1\n")
    with pytest.raises(RunError, match="does not take"):
        public.system()


@pytest.mark.slow
@pytest.mark.skipif(ns3.missing() is not None, reason=ns3.missing() or "")
@pytest.mark.parametrize("senders", [SENDERS[0], UDP], ids=lambda senders: senders.name)
def test_beside_ns3(senders: Senders) -> None:
    """The hardware's CoDel beside ns-3's, 20 s: the same throughput; mean delays within a fifth (unresponsive: within a tenth)."""
    theirs, ours = ns3.run(senders, SEED, 20.0, Setting()), quick(RTL_CODEL, senders, 20.0)
    there, here = (experiments.measured(found, 10.0) for found in (theirs, ours))
    print(f"{senders.name}: ns-3 {there}, here {here}")
    assert here["packets_per_second"] == pytest.approx(there["packets_per_second"], rel=0.01)
    assert here["mean_ms"] == pytest.approx(there["mean_ms"], rel=0.2 if senders.flows else 0.1)


# ---- weak cases


def test_cells() -> None:
    facts = {
        "mean_ms": 5.68, "p95_ms": 7.81, "packets_per_second": 1994.6, "last_mean_ms": 2100.4, "before_mean_ms": 9.04,
    }  # fmt: skip
    assert weak_cases.text(facts, "usual") == "5.7 / 7.8 ms; 1,995"
    assert weak_cases.text(facts, "growing") == "5.7 ms, at the end 2,100; 1,995"
    assert weak_cases.text(facts, "wrap") == "9.0 ms, then 2,100; 1,995"
    assert weak_cases.text(facts | {"packets_per_second": 82.47}, "rate") == "5.7 ms; 82.5"
    assert weak_cases.text(dict.fromkeys(facts), "usual") == "- / - ms; 0"


def test_before_and_after_the_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weak_cases, "AFTER_S", 1.0)
    monkeypatch.setattr(weak_cases, "WRAP_S", 2.0)
    monkeypatch.setattr(weak_cases, "LAST_S", 1.0)
    found = weak_cases.facts_of(of([0.5, 1.5, 2.5, 3.5], [1, 2, 30, 400], 4.0), "wrap")
    assert (found["before_mean_ms"], found["last_mean_ms"], found["mean_ms"]) == (2, 400, 144)


def test_every_measured_case_has_its_figures() -> None:
    """What the public program did on bmv2 stands beside a case of ours, and the wraps happen within the run, after its beginning."""
    assert set(stated.BMV2) == set(stated.RFC) == {case.published or case.name for case in weak_cases.CASES}
    for case in weak_cases.CASES:
        if case.kind == "wrap":
            wraps = -case.setting.clock_start_us % 2**32 / 1e6
            assert weak_cases.AFTER_S < wraps == weak_cases.WRAP_S < weak_cases.SECONDS - weak_cases.LAST_S
        assert case.setting.round_trip_us == stated.ROUND_TRIP_BMV2_US


# ---- live runs, and ns-3 beside ours


def group(senders: str, system: str, delay: float, rate: float, clock: dict[str, float] | None = None) -> dict[str, Any]:
    """As in result.json."""
    return {
        "senders": senders,
        "system": system,
        "words": system,
        "mean_ms": [delay, None],
        "packets_per_second": [rate, None],
        "clock": clock,
    }


def test_ours_beside_ns3() -> None:
    groups = [
        group("1 TCP", "rtl_codel", 6.6, 1990),
        group("4 TCP", "rtl_codel", 14.1, 2000),
        group("4 TCP", "edge_model", 10.0, 1950),
        group("UDP 1.1", "rtl_codel", 65.0, 2000),
        group("4 TCP", "p4_codel", 99.0, 9),
        *(group(senders, ns3.NAME, delay, 2000) for senders, delay in (("1 TCP", 6.0), ("4 TCP", 10.0), ("UDP 1.1", 60.0))),
    ]
    found = beside_ns3.rows(groups)
    assert [(row["senders"], row["system"], row["within"]) for row in found] == [
        ("1 TCP", "rtl_codel", True),  # +10 %, -0.5 %
        ("4 TCP", "rtl_codel", False),  # +41 %
        ("4 TCP", "edge_model", False),  # -2.5 % of the rate
    ]
    ((_, said),) = beside_ns3.words(found)
    assert "1 TCP, rtl_codel: delay +10.0 %, packets/s -0.5 %;" in said and said.count("(not within)") == 2
    assert beside_ns3.words(beside_ns3.rows(groups[:5])) == []


def test_a_live_run_that_did_not_keep_real_time_is_said() -> None:
    def result(stood: float, late: float) -> dict[str, Any]:
        return {"behind_real_time_ms": {"p99": 1.0}, "let_go_late_ms": {"p99": late}, "stood_still_ms": stood}

    good, bad = live.clock_of([result(0, 0.4), result(100, 1.5)], 20.0), live.clock_of([result(0, 9.0), result(20_000, 99.0)], 20.0)
    assert good == {"behind_p99_ms": 1.0, "late_p99_ms": 1.5, "stood_still": 0.0025} and bad["stood_still"] == 0.5
    ((_, said),) = live.words([group("1 TCP", "a", 1, 1, good), group("4 TCP", "b", 1, 1, bad), group("4 TCP", ns3.NAME, 1, 1)])
    assert said.startswith("Frames were let go 1.5 ms late at 99 %") and "4 TCP, b: the device stood still for 50 % of the time" in said
    assert "1 TCP, a" not in said and live.words([group("4 TCP", ns3.NAME, 1, 1)]) == []


@pytest.mark.parametrize("why", [None, "it has none"])
def test_codel_of_the_kernel_is_there_where_it_has_it(why: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the paper's rate and round trip, with each number of connections; else the page says why not."""
    spread = {"max": 1.0, "p99": 0.5}
    told = {"packets": {"dropped": {}}, "behind_real_time_ms": spread, "let_go_late_ms": spread, "stood_still_ms": 0.0, "kernel_dropped": 5}
    time = np.arange(0, 20, 0.5)
    made = bulk.Transfer(told, time, np.full(40, 4.0), np.full(40, 1514), 1e6)
    asked: list[Any] = []

    def through_kernel(*given: Any) -> Any:
        asked.append(given)
        return made

    monkeypatch.setattr(live.bulk, "run", lambda *_: made)
    monkeypatch.setattr(live.ns3, "missing", lambda: "no ns-3")
    monkeypatch.setattr(live.kernel_queue, "missing", lambda: why)
    monkeypatch.setattr(live.kernel_queue, "run", through_kernel)
    groups, without = live.collect(Options(3, full=False, cluster=None, live=True), lambda _: None)
    kernel = [group for group in groups if group.system == live.KERNEL]
    assert without == "no ns-3" and len(groups) == 3 * (4 if why else 5)
    if why:
        assert not kernel and not asked and live.left_out() == [f"CoDel of the Linux kernel is left out: {why}."]
        return
    assert [group.senders.flows for group in kernel] == [1, 4, 16] and live.left_out() == []
    assert asked[0][1:] == (24_224_000, 4000, 3, 1, "cubic", 20.0) and asked[0][0].startswith("codel ") and "target 5ms" in asked[0][0]
    assert kernel[0].facts[0]["dropped_percent"] == pytest.approx(100 * 5 / 45)


# ---- the command


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs so short that the whole command takes seconds; nothing that others have written."""
    monkeypatch.delenv("PENSTOCK_NS3", raising=False)
    monkeypatch.delenv("PENSTOCK_P4_CODEL", raising=False)
    monkeypatch.setattr(runs, "SECONDS", 1.0)
    monkeypatch.setattr(runs, "AFTER_S", 0.5)
    for module in (figure_5, figure_6):
        monkeypatch.setattr(module, "AFTER_S", 0.5)
    for name, value in (("SECONDS", 0.5), ("AFTER_S", 0.2), ("WRAP_S", 0.3), ("LAST_S", 0.1)):
        monkeypatch.setattr(weak_cases, name, value)


def test_everything_goes_into_the_folder(short: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "p4-codel", "--out", str(tmp_path / "new"), "--seed", "3", "--json", "--format", "svg"]) == 0
    result = json.loads(capsys.readouterr().out)
    drawn.check(tmp_path / "new", (5, 6))
    assert result == json.loads((tmp_path / "new" / "result.json").read_text())
    assert result["schema"] == "penstock.paper/1" and result["seed"] == 3
    assert list(result["parts"]) == result["config"]["parts"] == ["figure 5", "figure 6", "section 4"]
    five, six, four = result["parts"].values()
    assert len(five["groups"]) == len(six["groups"]) == len(SENDERS) * len(experiments.SYSTEMS)
    for group in five["groups"]:
        assert len(group["over_time"]["time_s"]) == 50 and len(group["throughput"]["time_s"]) == 10
        rates = group["throughput"]["packets_per_second"]
        assert sum(rates[5:]) / 5 == pytest.approx(group["packets_per_second"][0], abs=0.1)
    for group in six["groups"]:
        assert group["distribution"]["delay_ms"] == sorted(group["distribution"]["delay_ms"]) and group["distribution"]["share"][-1] == 1
        assert group["distribution"]["delay_ms"][-1] == pytest.approx(group["longest_ms"][0], abs=1e-3)
    assert [case["case"] for case in four["cases"]] == [case.name for case in weak_cases.CASES]
    assert set(four["cases"][0]["columns"]) == {system.name for system in weak_cases.SYSTEMS}
    assert set(four["cases"][5]["columns"]) == {"p4_codel", "p4_ingress", "p4_free"} and set(four["cases"][-1]["columns"]) == {"tail_drop"}
    assert any("ns-3 is left out: PENSTOCK_NS3 names no folder" in text for text in result["conventions"])
    lines = [line for line in result["stated"] if line["part"] == "section 4"]
    assert [line["ours"] for line in lines[:-1]] == [None] * (len(lines) - 1) and "PENSTOCK_P4_CODEL" in lines[0]["note"]
    html = (tmp_path / "new" / "report.html").read_text()
    head = html[: html.index("<script>")]
    assert not re.search(r'(src|href)="(?!data:)', head) and "@" not in re.sub(r"@media", "", head)
    assert head.count("<dt>The paper</dt>") == head.count("<dt>Here</dt>") == head.count("<dt>Why</dt>") == 2
    data = json.loads(re.search(r"^const plots = (.*);$", html, re.MULTILINE)[1])
    assert all(f'id="{plot["id"]}"' in head for plot in data) and len(data) == 3 * 4 + 4
    assert all(len(trace["x"]) == len(trace["y"]) for plot in data for trace in plot["traces"])
    for card in (*figure_5.cards(five), *figure_6.cards(six), *weak_cases.cards(four)):
        assert all(len(row) == len(card["table"][0]) for row in card.get("table", []))


def test_a_seed_more_for_each_run(short: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """--full: several runs with seeds of their own, and an interval."""
    seen: list[tuple[str, int]] = []

    def pretend(system: Any, senders: Any, seed: int, seconds: float, setting: Any, doing: str) -> Run:
        seen.append((system.name, seed))
        return of([0.1, 0.6, 0.7], [1.0, 2.0 + seed, 3.0], seconds)

    monkeypatch.setattr(runs, "run", pretend)
    monkeypatch.setattr(runs, "FULL_RUNS", 2)
    monkeypatch.setattr(runs, "FULL_SECONDS", 1.0)
    from penstock.papers import Options

    groups, _ = runs.collect(Options(5, full=True, cluster=None), lambda _: None)
    assert seen[:4] == [("tail_drop", 5), ("tail_drop", 6), ("p4_codel", 5), ("p4_codel", 6)]
    assert groups[0].mean("mean_ms") == [pytest.approx(5.25), pytest.approx(12.7062 * 0.25, rel=1e-3)]  # 5.0 and 5.5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--figure", "4"], "--figure 4: p4-codel has figure 5, 6 to make again"),
        (["--table", "1"], "--table 1: p4-codel has no table to make again"),
        (["--cluster", "tcp://nowhere:1"], "--cluster tcp://nowhere:1: p4-codel simulates on this machine only"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["paper", "p4-codel", *arguments, "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err.strip()
    assert words in said and said.count("\n") == 0


@pytest.mark.slow
def test_the_hardware_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece of the experiment on the SystemVerilog: the same packets in the same cycles, CoDel's first drops among them."""
    found = []
    for engine in ("model", "rtl"):
        monkeypatch.setattr(experiments, "ENGINE", engine)
        found.append(quick(RTL_CODEL, SENDERS[2], 0.3))
    assert found[0].dropped > 0 and np.array_equal(found[0].time_s, found[1].time_s)
    assert np.array_equal(found[0].delay_ms, found[1].delay_ms)


@pytest.mark.slow
def test_the_full_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Five runs of 30 s: in ingress drops cost nothing, charged ones a share of the link; CoDel holds what tail drop does not."""
    for name in ("PENSTOCK_NS3", "PENSTOCK_P4_CODEL"):
        monkeypatch.delenv(name, raising=False)
    assert main(["paper", "p4-codel", "--figure", "5", "--figure", "6", "--full", "--out", str(tmp_path)]) == 0
    parts = json.loads((tmp_path / "result.json").read_text())["parts"]
    found = {(group["senders"], group["system"]): group for group in parts["figure 6"]["groups"]}
    for senders in SENDERS:
        ingress, hardware, tail = (found[senders.name, name] for name in ("p4_ingress", "rtl_codel", "tail_drop"))
        assert ingress["packets_per_second"][0] > 1990 and hardware["packets_per_second"][0] > 1990
        assert hardware["mean_ms"][0] < tail["mean_ms"][0] / 5
    assert found["1 TCP", "p4_codel"]["packets_per_second"][0] > 1980 > found["4 TCP", "p4_codel"]["packets_per_second"][0]
