# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Figures 4 to 7 of `paper edfr-skip-fifo --live`: what is played, what is made of it, and short runs through the port."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.designs.deadline_port.papers.edfr_skip_fifo import figure_4, figure_5, figure_6, live, tcp_runs
from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_findings import HOLDS, OPEN
from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_runs import FIFO, FIFOS, PORT, Case, Length, Run
from penstock.engine import engine
from penstock.engine.run import Request, prepare
from penstock.live import apart
from penstock.live.applications import iperf
from penstock.live.played import Played
from penstock.network import spaces
from penstock.papers import ns3

SEED = 1


def result(applications: list[dict[str, Any]], stood_still_ms: float = 0.0, slack_ms: tuple[float, float] = (0.5, 2.0)) -> dict[str, Any]:
    """Return what is looked at of `result.json`."""
    return {
        "applications": [{"error": None, "throughput_bps": 1} | one for one in applications],
        "classes": [{"least_slack_ns": 1e6 * slack} for slack in slack_ms],
        "behind_real_time_ms": {"p99": 0.2},
        "let_go_late_ms": {"p99": 1.5},
        "stood_still_ms": stood_still_ms,
    }


def played(applications: list[dict[str, Any]], stood_still_ms: float = 0.0) -> Played:
    """Return four frames of two classes, in the first three seconds, and drops at 0.1 s and 2.0 s of the second class."""
    left = {
        "time_s": np.array([0.5, 1.5, 1.6, 2.5]), "queue": np.array([0, 0, 1, 1]), "length": np.array([114, 1514, 1514, 1014]),
        "sojourn_ms": np.array([90.0, 10.0, 20.0, 30.0]),
    }  # fmt: skip
    drops = np.zeros((30, 3), dtype=int)
    drops[0, 1], drops[19, 1] = 5, 1
    return Played(result(applications, stood_still_ms), left, {"interval_ns": np.array(1e8), "queues": np.array([0, 1]), "drops_of": drops})


def test_the_scenarios_are_what_the_paper_says() -> None:
    """Nine round trips, both classes on each; a FIFO of as many ms; each pair of deadlines is taken."""
    for case in (*figure_4.cases(full=True), *figure_5.cases(full=True), *figure_6.cases(full=True)):
        name, holds_ms = live.PLAYED[case.experiment]
        length = Length(45, 15, 1, megabytes=20)
        run = prepare(Request(live.scenario(case), live.settings(case, length), SEED, engine="rtl"), live=True)
        given = run.described
        assert given.duration == 45 * 10**12
        if case.scheduler != FIFOS:
            assert run.config.fifo == (case.scheduler == FIFO)
            assert [row.deadline for row in given.classes] == [ms * 10**9 for ms in case.deadlines]
        ways = {entry.live.from_: entry.live.delay for entry in given.traffic}
        back = {past.to: past.delay for past in given.network.past}
        links = {one: (ways[one] + back[one]) / 1e9 for one in ways}
        for number, one in enumerate(given.applications):
            own = one.get("iperf") or one["http"]
            assert links[own["from"]] == (80 if name == "live_second" else live.LINKS_MS[number % 9])
            assert own.get("dscp", 0) == (34 if one["name"].startswith("first") else 0) and own["algorithm"] == "cubic"
        if name == "live_web":
            assert {one["http"]["clients"] for one in given.applications} == {figure_5.LIVE_USERS}
        if case.scheduler == FIFOS:  # unshaped, so that they take turns
            assert [8e3 * queue.limit_bytes / 1514 * 1538 / live.RATE for queue in given.queues] == pytest.approx([holds_ms] * 2, rel=1e-3)
            assert all(queue.rate is None and queue.traffic_class == 0 for queue in given.queues)
            assert given.subscribers[0].rate * 1538 / 1514 == pytest.approx(live.RATE, rel=1e-6)
            assert {(entry.unmatched, *(rule.queue for rule in entry.map)) for entry in given.traffic} == {("second", "first")}
            (ports,) = {rule.match.dport for entry in given.traffic for rule in entry.map}
            firsts = [iperf.PORT + n for n, one in enumerate(given.applications) if one["name"].startswith("first")]
            assert ports == (firsts[0], firsts[-1]) and len(firsts) == 9
        if case.scheduler == FIFO:
            data_bytes = run.plan.settings.limit_chunks * (run.config.chunk_bytes - 64)  # a beat of headers
            assert 8e3 * data_bytes / 1514 * 1538 / live.RATE == pytest.approx(holds_ms, rel=0.01)
    assert live.LINKS_MS == [4, 74, 150, 28, 98, 174, 54, 124, 200]
    assert FIFOS in [case.scheduler for case in figure_4.cases(full=False)]


def test_frames_become_seconds() -> None:
    """Bytes are those of IP; drops belong to the second in which they happened."""
    run = live.told(played([{"over_time": None}] * 2), Case("long", PORT, (30, 100)), Length(3, 1, 1), {"engine": "rtl"})
    assert run.port[0] == [(1.0, 1, 0, 1, 100, 0, 0), (2.0, 1, 0, 1, 1500, 0, 0), (3.0, 0, 0, 0, 0, 0, 0)]
    assert run.port[1] == [(1.0, 5, 0, 0, 0, 5, 0), (2.0, 2, 0, 1, 1500, 1, 0), (3.0, 1, 0, 1, 1000, 0, 0)]
    assert run.longest_ms == [29.5, 98.0]  # by what the port had left of a deadline
    assert run.sums(1) == {"mbps": 0.01, "dropped_percent": pytest.approx(100 / 3), "came": 3}
    fifo = live.told(played([{"over_time": None}] * 2), Case("long", FIFO), Length(3, 1, 1), {})
    assert fifo.longest_ms == [90.0, 30.0]  # of the whole run, as the slack is


def test_a_class_that_sent_nothing_is_no_error() -> None:
    """Its connections have failed: the port knows of no slack, and the figure has no sample. Claims are judged by the others, or not."""
    silent = Played(result([{"over_time": None}] * 18) | {"classes": [{"least_slack_ns": None}] * 2}, played([]).left, played([]).series)
    chosen, length = figure_4.cases(full=False), Length(3, 1, 1)
    clock = live.clock_of(silent.result, 3, "rtl")
    runs = [[live.told(silent, case, length, clock)] for case in chosen]
    assert runs[0][0].longest_ms == [0.0, 0.0]
    found = figure_4.summary(chosen, runs, length, live.LIVE)
    assert [one["verdict"] for one in found["findings"]] == [OPEN] * 4 and figure_4.compare(found)[0]["ours"] is None
    first = live.told(played([{"over_time": {"time_s": [1.5], "delay_ms": [n + 10]}} for n in live.LINKS_MS * 2]), chosen[0], length, clock)
    for case in (*range(len(chosen) - 2), len(chosen) - 1):  # the second class of one case and the two FIFOs have failed
        runs[case] = [replace(first, rtt={flow: rows for flow, rows in first.rtt.items() if case or flow < 9})]
    found = figure_4.summary(chosen, runs, length, live.LIVE)
    assert [one["verdict"] for one in found["findings"]] == [OPEN, HOLDS, OPEN, OPEN]
    assert "1 of 8 classes have no sample" in found["findings"][0]["ours"]
    for card in figure_4.cards(found):
        json.dumps(card)


def test_round_trips_are_taken_each_second() -> None:
    over = {"time_s": [0.5, 1.02, 1.5, 2.01, 2.4, 3.0], "delay_ms": [9, 10, 11, 12, 13, None]}
    assert live.each_second(over) == [(1.02, 10), (2.01, 12)] and live.each_second({}) == []
    made = played([{"over_time": over}] * 18)
    run = live.told(made, Case("long", PORT, (30, 100)), Length(3, 1.5, 1), {})
    assert len(run.rtt) == 18 and run.rtt[9] == [(1.02, 10.0, 4.0), (2.01, 12.0, 4.0)]  # the first pair's second connection
    assert run.buffering_ms(1) == [12.0 - link for link in live.LINKS_MS]


def test_growth_by_hand() -> None:
    """8 Mbit/s for a second, nothing for one, 16 Mbit/s for one: 3 MB."""
    over = {"time_s": [6.0, 7.0, 8.0], "throughput_bps": [8e6, 0, 16e6]}
    grown = live.growth(over, 5.0, 3e6)
    assert len(grown) == 60 and grown[0] == (50_000, 0.05) and grown[-1] == (3_000_000, 3.0)
    assert grown[29] == (1_500_000, 2.25)
    assert live.growth(over, 5.0, 6e6)[-1] == (3_000_000, 3.0)  # half of it: the rest is not there
    run = live.told(played([{"over_time": over, "start_s": 5.0}] * 2), Case("second", PORT), Length(8, 5, 1, megabytes=6), {})
    assert figure_6.completion_s(run, 1, 6) is None and figure_6.completion_s(run, 1, 3) == 3.0


def test_pages_count_by_class() -> None:
    pages = [{"name": f"{name} {n}", "loads": [[1.0, 500.0], [2.0, 100.0 * n]]} for name in live.NAMES for n in (1, 2)]
    run = live.told(played(pages), Case("http", PORT), Length(3, 1, 1), {})
    assert run.pages == [(2, 0, pytest.approx(0.3)), (2, 0, pytest.approx(0.3))]


def test_a_busy_machine_gets_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The RTL has a trial; where it stands still, in it or later, the model plays, and the page says so."""
    asked: list[tuple[str, str, float]] = []
    still = {"rtl": [0.0, 0.0, 900.0], "model": [0.0, 0.0]}

    def play(path: Path, settings: list[str], kind: str, _seed: int) -> Played:
        asked.append((path.stem, kind, float(settings[0].removeprefix("duration=").removesuffix(" s"))))
        return played([{"name": "first 1", "over_time": None}] * 2, still[kind].pop(0))

    monkeypatch.setattr(live, "play", play)
    cases = [Case("http", PORT, (ms, 100)) for ms in (30, 50, 60)]
    runs = live.run_all(cases, Length(3, 1, 1), SEED)
    trial = ("live_long", "rtl", live.TRIAL.seconds)
    assert asked == [trial, *(("live_web", kind, 3.0) for kind in ("rtl", "rtl", "model", "model"))]
    assert [run.clock["engine"] for own in runs for run in own if run.clock] == ["rtl", "model", "model"]
    found = figure_5.summary(cases + [Case("http", FIFO)], [*runs, runs[0]], Length(3, 1, 1), live.LIVE)
    said = dict(live.words(found))["This machine"]
    assert said.startswith("On the RTL in real time. The machine was too busy") and "EDFR 50-100, EDFR 60-100 are on its model." in said
    assert "let go 1.5 ms late" in said
    asked.clear()
    still.update(rtl=[0.0, 900.0, 0.0], model=[0.0])
    runs = live.run_all([Case("long", FIFOS), Case("long", FIFO)], Length(3, 1, 1), SEED)
    assert [(name, kind) for name, kind, _ in asked[1:]] == [("live_two_fifos", "rtl"), ("live_two_fifos", "model"), ("live_long", "rtl")]
    asked.clear()
    still.update(rtl=[41.0], model=[0.0, 0.0, 40.0])  # of 4 s in the trial; of 3 s
    runs = live.run_all(cases, Length(3, 1, 1), SEED)
    assert [kind for _, kind, _ in asked] == ["rtl", "model", "model", "model"]
    said = dict(live.words(figure_5.summary(cases, runs, Length(3, 1, 1), live.LIVE)))["This machine"]
    assert "the port's model" in said and "EDFR 60-100: the device stood still for 1 % of the time" in said


def test_nothing_is_said_of_runs_in_ns3() -> None:
    assert live.words({"cases": [{"words": "EDFR", "clocks": []}]}) == []


def test_all_four_go_into_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With made-up runs, and without ns-3."""
    asked: list[list[Case]] = []

    def made_up(cases: list[Case], length: Length, _seed: int) -> list[list[Run]]:
        asked.append(list(cases))
        clock = {"engine": "rtl", "behind_p99_ms": 0.1, "late_p99_ms": 0.7, "stood_still": 0.0, "failed": []}
        run = Run(length.begins, clock=clock)
        for own in range(2):
            run.delivered[own] = []
            run.rtt[own] = [(20.0, 54.0, 4.0)]
            run.grown[own] = [(round(n * length.megabytes * 1e6 / 60), n / 10 * (1 + own)) for n in range(1, 61)]
            run.port[own] = [(20.0, 1000, 0, 900, 1_275_000, 10 * (1 + own), 0)]
            run.longest_ms[own] = 20.0
        return [[run] * length.runs for _ in cases]

    monkeypatch.setattr(live, "run_all", made_up)
    monkeypatch.setattr(apart, "need", lambda: None)
    monkeypatch.setattr(ns3, "missing", lambda: "there is none")
    monkeypatch.setattr(engine, "build", lambda *_: None)
    monkeypatch.setattr(engine, "prepare", lambda *_: None)
    words = [word for number in "4567" for word in ("--figure", number)]
    assert main(["paper", "edfr-skip-fifo", *words, "--live", "--out", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found["parts"]) == ["figure 4", "figure 5", "figure 6", "figure 7"] and len(asked) == 3
    assert found["parts"]["figure 4"]["place"] == live.LIVE.words
    assert found["parts"]["figure 5"]["cases"][0]["consumed_percent"][0] == pytest.approx(85)  # of 24 Mbit/s
    assert [one["verdict"] for one in found["parts"]["figure 5"]["findings"]] == [HOLDS, HOLDS, "does not hold"]
    html = (tmp_path / "report.html").read_text()
    assert "24 Mbit/s" in html and "let go 0.7 ms late" in html and "1 Gbit/s in ns-3" not in html


def test_live_parts_are_these_four(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "edfr-skip-fifo", "--figure", "2", "--live"]) == 2
    assert "figure 4, figure 5, figure 6, figure 7" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(spaces.problem() is not None, reason=f"no namespaces here: {spaces.problem()}")
@pytest.mark.parametrize("experiment", ["long", "http", "second"])
def test_through_the_port(experiment: str) -> None:
    """Some seconds of each on the model: both classes get through, none past its deadline."""
    case, length = Case(experiment, PORT, (30, 100)), Length(12, 9, 1, megabytes=1)
    found, clock = live._play(case, length, SEED, "model")
    run = live.told(found, case, length, clock)
    print(f"seed {SEED}, {experiment}: {[run.sums(own) for own in range(2)]}, longest {run.longest_ms}, {clock}")
    assert run.longest_ms[0] <= 30 and run.longest_ms[1] <= 100
    rates = [run.sums(own)["mbps"] for own in range(2)]
    assert min(rates) > 0.5 and sum(rates) <= 24
    if experiment == "long":
        assert sum(len(rows) > 0 for rows in run.rtt.values()) >= 16
    if experiment == "http":
        assert min(count for count, _, _ in run.pages) > 10
    if experiment == "second":
        assert figure_6.completion_s(run, 1, 1) is not None
    assert tcp_runs.IN_NS3.rate != live.LIVE.rate
