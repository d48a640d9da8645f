# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Figures 4 to 7 of `paper edfr-skip-fifo`: the queues that TCP meets, without ns-3; what runs say; and in ns-3 where that is there."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock.basics import programs
from penstock.command_line.app import main
from penstock.designs.deadline_port.papers.edfr_skip_fifo import figure_4, figure_5, figure_6, tcp_findings, tcp_runs
from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_findings import FAILS, HOLDS, OPEN
from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_runs import FIFO, FIFOS, PORT, Case, Length, Run
from penstock.engine import engine
from penstock.engine.run import RunError
from penstock.papers import ns3
from penstock.testing import drawn

SEED = 1
LINE_NS = 12_016  # of a packet of 1,500 byte at 1 Gbit/s, with ns-3's 2 byte
DEADLINES = (3_000_000, 10_000_000)


# ---- the queues


@pytest.fixture(scope="module")
def replay() -> Path:
    """Return the program that puts packets through a queue in front of a line, built. ns-3 is not in it."""
    return programs.built("replay", [tcp_runs.HERE / "replay.cpp", *tcp_runs.SOURCES[1:]], ["-O1", *programs.STRICT])


Arrivals = list[tuple[int, int, int]]  # ns, class, bytes


def arrivals(load: float, count: int, seed: int = SEED) -> Arrivals:
    """Return Poisson arrivals of both classes."""
    rng, at, made = random.Random(seed), 0.0, []
    for _ in range(count):
        at += rng.expovariate(load / LINE_NS)
        made.append((int(at), rng.randrange(2), 1500))
    return made


def put_through(program: Path, scheduler: str, packets: Arrivals, deadlines: tuple[int, ...] = DEADLINES, fifo: int = 0) -> Any:
    """Return when each packet that was sent began, which were dropped, and what the port says of itself."""
    given = "".join(f"{at} {own} {size}\n" for at, own, size in packets)
    words = [str(program), scheduler, "1000000000", str(fifo), *map(str, deadlines)]
    done = subprocess.run(words, input=given, capture_output=True, text=True)
    assert done.returncode == 0, f"{scheduler} ends with {done.returncode}: {done.stderr}"  # it ends itself when a packet has no fate
    sent, dropped = {}, []
    for line in done.stdout.splitlines():
        word, number, at = line.split()
        if word == "s":
            assert int(number) not in sent
            sent[int(number)] = int(at)
        else:
            dropped.append(int(number))
    assert sorted([*sent, *dropped]) == list(range(len(packets)))  # each has one fate
    facts = done.stderr.split()
    return sent, dropped, dict(zip(facts[::2], map(int, facts[1::2]), strict=True))


def gaps(sent: dict[int, int]) -> list[int]:
    times = sorted(sent.values())
    return [after - before for before, after in zip(times, times[1:], strict=False)]


def test_the_port_in_ns3_is_edfr(replay: Path) -> None:
    """An overload of a tenth: as many sent as by exact EDFR, in the line's pace, FIFO in each class, none after its deadline."""
    packets = arrivals(1.1, 6000)
    sent, dropped, facts = put_through(replay, "port", packets)
    exact, exact_dropped, _ = put_through(replay, "exact", packets)
    print(f"seed {SEED}: port dropped {len(dropped)}, exact EDFR {len(exact_dropped)}; {facts}")
    assert len(dropped) == pytest.approx(len(exact_dropped), rel=0.05) and len(exact_dropped) > 50
    assert len(sent.keys() ^ exact.keys()) < 0.1 * len(packets)
    assert min(gaps(sent)) >= LINE_NS
    for own in range(2):
        times = [sent[number] for number, packet in enumerate(packets) if packet[1] == own and number in sent]
        assert times == sorted(times)
    late = [sent[number] - packets[number][0] - DEADLINES[packets[number][1]] for number in sent]
    assert max(late) <= 500  # the next frame is at the output some cycles before the line is free
    assert facts["latest_ns"] <= 500


def test_a_packet_finds_an_idle_port_as_fast_as_the_hardware(replay: Path) -> None:
    """Within a microsecond at 300 MHz, and all below the line's rate are sent."""
    packets = [(at * 50_000, at % 2, 60 + at * 7 % 1440) for at in range(300)]
    sent, dropped, facts = put_through(replay, "port", packets)
    waits = [sent[number] - packets[number][0] for number in range(len(packets))]
    assert not dropped and min(waits) >= 100 and max(waits) <= 1250 and facts["latest_ns"] == 0


def test_what_a_burst_leaves_behind_is_skipped(replay: Path) -> None:
    """2,000 packets within 0.2 ms, deadlines of 3 ms: the line has time for 266, the others are dropped, most of them unnamed."""
    packets = [(1000 + 100 * number, 0, 1500) for number in range(2000)]
    for scheduler in ("port", "skip", "exact"):
        sent, dropped, _ = put_through(replay, scheduler, packets)
        print(f"{scheduler}: {len(sent)} sent")
        # The port reads some in vain, between two ticks: the line waits for it now and then.
        assert (DEADLINES[0] + packets[-1][0]) / LINE_NS - len(sent) == pytest.approx(0, abs=10 if scheduler == "port" else 2)
        assert min(gaps(sent)) >= LINE_NS
        assert len(dropped) == len(packets) - len(sent)


def test_fifos_by_hand(replay: Path) -> None:
    """One FIFO of 3,000 byte keeps two of three packets; two FIFOs keep two each and take turns."""
    packets = [(100, number % 2, 1500) for number in range(6)]
    sent, dropped, _ = put_through(replay, FIFO, packets, fifo=3000)
    assert (sent, dropped) == ({0: 100, 1: 100 + LINE_NS}, [2, 3, 4, 5])
    sent, dropped, _ = put_through(replay, FIFOS, packets, fifo=3000)
    assert dropped == [4, 5] and sorted(sent, key=lambda number: sent[number]) == [1, 0, 3, 2] and set(gaps(sent)) == {LINE_NS}


def test_equal_deadlines_are_a_fifo(replay: Path) -> None:
    packets = arrivals(1.3, 3000, seed=7)
    sent, dropped, _ = put_through(replay, "port", packets, (5_000_000, 5_000_000))
    exact, exact_dropped, _ = put_through(replay, "exact", packets, (5_000_000, 5_000_000))
    print(f"seed 7: dropped {len(dropped)}, exact EDFR {len(exact_dropped)}; {len(sent.keys() ^ exact.keys())} packets differ")
    assert len(dropped) == pytest.approx(len(exact_dropped), rel=0.05) and len(exact_dropped) > 200
    swapped = [(a, b) for a, b in zip(sorted(sent), sorted(sent)[1:], strict=False) if sent[a] > sent[b]]
    assert len(swapped) < 0.02 * len(packets)  # two frames of different classes that come within some cycles


# ---- what runs say


def run_of(delays: tuple[list[float], list[float]], begins: float = 1.0, mbps: tuple[float, float] = (480.0, 490.0)) -> Run:
    """Make a run of a flow a class; of its seconds the first does not count."""
    made = Run(begins)
    for own in range(2):
        made.delivered[own] = [(1.0, 0)]
        made.rtt[own] = [(1.0, 999.0, 4.0), *((2.0 + number, 4.0 + delay, 4.0) for number, delay in enumerate(delays[own]))]
        sent = round(mbps[own] * 1e6 / 8 / 1500)
        made.port[own] = [(1.0, 9, 9, 9, 9, 9, 9), (2.0, sent, 0, sent, 1500 * sent, 3 * (own + 1), 0)]
    return made


def test_what_the_program_prints_is_read() -> None:
    text = (
        "flow 1 0 5000\nflow 1 1 0\nrtt 1 0 54000 4000\nrtt 2 0 64000 4000\n"
        "port 1 0 10 15000 8 12000 2 3000\nport 2 0 4 6000 6 9000 2 3000\n"
        "port 2 1 10 15000 8 12000 0 0\nwait 0 12 7\nlongest 0 12500000\npages 1 3 9000 1.5\ngrown 1 100 0.25\n"
        "end latest_ns 40 cycles 900\n"
    )
    found = tcp_runs.read(text, 1.0)
    assert found.buffering_ms(0) == [60.0] and found.buffering_ms(1) == []
    assert found.sums(0) == {"mbps": 0.072, "dropped_percent": 25.0, "came": 4.0} and found.sums(1)["dropped_percent"] == 0
    assert found.sums(0, 1) == {"mbps": 0.168, "dropped_percent": 12.5, "came": 14.0}  # 2 of 16
    assert found.waits[0] == {12: 7} and found.longest_ms == [12.5, 0.0] and found.pages[1] == (3, 9000, 1.5)
    assert found.grown == {1: [(100, 0.25)]} and found.facts == {"latest_ns": 40, "cycles": 900}
    with pytest.raises(RunError, match="not come to its end"):
        tcp_runs.read(text.replace("end", "# end"), 1.0)


def test_apart_by_hand() -> None:
    assert tcp_findings.apart([1, 2, 3, 4], [1, 2, 3, 4]) == 0 and tcp_findings.apart([1, 2], [3, 4]) == 1
    assert tcp_findings.apart([1, 2, 3, 4], [1, 2, 3, 9]) == 0.25


def test_figure_4_judges_each_claim() -> None:
    chosen = figure_4.cases(full=False)
    good = [[deadline * share for share in (0.5, 0.8, 0.9)] for deadline in (30, 60, 100, 120)]
    runs = [run_of((own, good[2])) for own in good] + [run_of(([190.0] * 3, [195.0] * 3)), run_of((good[2], good[2]))]
    length = Length(4, 1, 2)
    more = run_of(([14.0, 23.0, 27.0], good[2]), mbps=(470.0, 490.0))

    def told() -> dict[str, Any]:
        return figure_4.summary(chosen, [[run, more if place == 0 else run] for place, run in enumerate(runs)], length)

    found = told()
    assert [one["verdict"] for one in found["findings"]] == [HOLDS] * 4
    first = found["cases"][0]["classes"][0]
    assert figure_4.compare(found)[0]["ours"] == 195 and first["samples"] == 6 and first["most_ms"] == 27
    # Medians of 24 and 23 ms: the interval is Student's with one degree of freedom, 12.71 times half of the difference.
    assert first["median_ms"] == [23.5, pytest.approx(12.706 * 0.5, rel=1e-3)] and found["cases"][1]["classes"][0]["median_ms"][1] == 0
    assert first["mbps"] == [pytest.approx(475, rel=1e-3), pytest.approx(12.706 * 5, rel=1e-2)]
    assert found["cases"][0]["together_mbps"][0] == pytest.approx(965, rel=1e-3)
    runs[0] = run_of(([31.0, 10.0, 10.0], good[2]))  # one of three is past 30 ms
    runs[4], runs[5] = runs[5], runs[4]  # one FIFO is as bad as two should be
    runs[3].longest_ms[1] = 100.1  # and one packet leaves 0.1 ms late
    found = told()
    assert [one["verdict"] for one in found["findings"]] == [FAILS] * 4
    plots, table, findings = figure_4.cards(found)
    assert len(plots["plots"]) == len(chosen) and len(table["table"]) == 1 + 2 * len(chosen)
    assert [name for name, _ in findings["words"]][:2] == ["The paper", "Here"]
    assert all(len(trace["x"]) == len(trace["y"]) > 0 for plot in plots["plots"] for trace in plot["traces"])


def test_figure_5_judges_each_claim() -> None:
    chosen, length = figure_5.cases(full=False), Length(4, 1, 2, users=3)
    empty: tuple[list[float], list[float]] = ([], [])
    runs = [[run_of(empty, mbps=(420, 430)), run_of(empty, mbps=(430, 420))] for _ in chosen]
    found = figure_5.summary(chosen, runs, length)
    # run_of drops more in the second class, which is the one with the longer deadline but in 120-100
    assert [one["verdict"] for one in found["findings"]] == [HOLDS, HOLDS, FAILS]
    assert "In 2 of 3 combinations" in found["findings"][2]["ours"] and found["cases"][0]["consumed_percent"][0] == pytest.approx(
        85, rel=0.01
    )
    runs[0] = [run_of(empty, mbps=(300, 430))] * 2
    assert [one["verdict"] for one in figure_5.summary(chosen, runs, length)["findings"]][:2] == [FAILS, FAILS]
    for own in runs:
        for run in own:
            run.port = [[(*row[:5], 0, 0) for row in rows] for rows in run.port]
    assert figure_5.summary(chosen, runs, length)["findings"][2]["verdict"] == OPEN  # nothing was dropped
    plots, table, _ = figure_5.cards(found)
    assert [len(trace["x"]) for plot in plots["plots"] for trace in plot["traces"]] == [len(chosen)] * 4
    assert len(table["table"]) == 1 + 2 * len(chosen)


def grown(first_s: float, second_s: float | None, pause: float = 0.0) -> Run:
    """Make a run of two connections that grow evenly, the first with a pause in the middle."""
    made, megabytes = run_of(([], [])), 60.0
    for flow, whole in ((0, first_s), (1, second_s)):
        if whole is None:
            made.grown[flow] = [(1_000_000, 5.0)]
            continue
        rest = whole - (pause if flow == 0 else 0)
        made.grown[flow] = [
            (round(step * megabytes * 1e6 / 60), rest * step / 60 + (pause if flow == 0 and step > 30 else 0)) for step in range(1, 61)
        ]
    return made


def test_figures_6_and_7_judge_each_claim() -> None:
    chosen, length = figure_6.cases(full=False), Length(30, 8, 1, megabytes=60)
    runs = [[grown(3.0, 5.0)] for _ in chosen]
    found = figure_6.summary(chosen, runs, length)
    assert [one["verdict"] for one in found["findings"]] == [HOLDS] * 3 and found["cases"][0]["second_s"] == [5.0, None]
    dropped = sum(rows[1][5] for rows in runs[0][0].port)  # of both, of all that came
    sent = sum(rows[1][3] for rows in runs[0][0].port)
    assert found["cases"][0]["dropped_percent"][0] == pytest.approx(100 * dropped / (sent + dropped), abs=1e-4)
    runs[0], runs[2] = [grown(3.0, 7.0)], [grown(6.0, 5.0, pause=2.0)]
    shown = next(place for place, case in enumerate(chosen) if case.deadlines == figure_6.SHOWN)
    runs[shown] = [grown(6.0, 5.0, pause=2.0)]
    found = figure_6.summary(chosen, runs, length)
    assert [one["verdict"] for one in found["findings"]] == [FAILS] * 3
    runs[0] = [grown(3.0, None)]
    found = figure_6.summary(chosen, runs, length)
    assert (
        found["cases"][0]["second_s"] == [None, None] and found["cases"][0]["unfinished"] == 1 and found["findings"][0]["verdict"] == FAILS
    )
    bars, table, _ = figure_6.cards(found)
    assert bars["plots"][0]["traces"][0]["x"] == ["30-80", "60-80", "80-80", "80-120", "one FIFO"] and len(table["table"]) == 1 + len(
        chosen
    )
    growth = figure_6.growth_cards(found, with_findings=True)
    assert len(growth[0]["plots"]) == 2 and len(growth) == 2


def test_the_program_is_told_what_the_paper_says() -> None:
    told = tcp_runs.arguments(Case("long", PORT, (30, 100)), Length(600, 100, 1), 3)
    assert {
        "--deadlines=30,100",
        "--rate=1000000000",
        "--seconds=600",
        "--from=100",
        "--classes=3",
        "--seed=3",
        "--fifo=100.667",
        "--users=0",
    } <= set(told)
    stamps = next(int(word.removeprefix("--stamps=")) for word in told if word.startswith("--stamps="))
    assert 0 <= stamps - 2**14 <= 4 and "--tick-cycles=3662" in told  # the paper's tick over 200 ms
    assert "--fifo=80" in tcp_runs.arguments(figure_6.cases(full=True)[-1], figure_6.FULL, 1)


def test_a_run_that_was_made_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has come to its end; another seed, other arguments and another program are other runs."""
    program, started = tmp_path / "ns3_edfr", []
    program.write_text("program")
    text = "port 2 0 4 6000 6 9000 2 3000\nend latest_ns 0 cycles 9\n"

    def run(command: list[str], **_: Any) -> Any:
        started.append(command)
        return subprocess.CompletedProcess(command, 0, text if len(started) > 1 else text.replace("end", "stopped"), "")

    monkeypatch.setattr(tcp_runs, "RUNS", tmp_path / "kept" / "runs")
    monkeypatch.setattr(tcp_runs, "build", lambda: program)
    monkeypatch.setattr(ns3, "environment", dict)
    monkeypatch.setattr(tcp_runs.children, "run", run)
    case, length = Case("long", PORT, (30, 100)), Length(2, 1, 1)
    with pytest.raises(RunError, match="not come to its end"):
        tcp_runs.simulate(case, length, 1, lambda _: None)
    assert tcp_runs.simulate(case, length, 1, lambda _: None).sums(0) == tcp_runs.simulate(case, length, 1, lambda _: None).sums(0)
    assert len(started) == 2
    tcp_runs.simulate(case, length, 2, lambda _: None)
    tcp_runs.simulate(case, Length(3, 1, 1), 1, lambda _: None)
    program.write_text("other program")
    tcp_runs.simulate(case, length, 1, lambda _: None)
    assert len(started) == 5 and len(list(tcp_runs.RUNS.iterdir())) == 4


def test_each_case_has_its_own_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed of each case comes before the next seed; each case gets its own back."""
    made: list[tuple[str, int]] = []

    def simulate(case: Case, _length: Length, seed: int, show: Any) -> Run:
        made.append((case.words, seed))
        show(1.0)
        return Run(0.0, facts={"seed": seed, "port": int(case.scheduler == PORT)})

    monkeypatch.setattr(tcp_runs, "build", lambda: Path())
    monkeypatch.setattr(tcp_runs, "simulate", simulate)
    monkeypatch.setattr(tcp_runs.os, "cpu_count", lambda: 1)
    runs = tcp_runs.run_all([Case("long", PORT), Case("long", FIFO)], Length(1, 0, 3), 7, lambda _: None)
    assert [[(run.facts["port"], run.facts["seed"]) for run in own] for own in runs] == [[(n, 7), (n, 8), (n, 9)] for n in (1, 0)]
    assert [seed for _, seed in made] == [7, 7, 8, 8, 9, 9]


# ---- the command


@pytest.mark.parametrize("figure", ["4", "5", "6", "7"])
def test_without_ns3_it_says_what_to_do(
    figure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PENSTOCK_NS3", raising=False)
    assert main(["paper", "edfr-skip-fifo", "--figure", figure, "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err.strip()
    assert "figures 4 to 7 are simulated in ns-3" in said and "pip install ns3" in said and "PENSTOCK_NS3=" in said and "\n" not in said


def test_all_four_go_into_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With made-up runs: figure 7 takes two of figure 6's, which are not run again."""
    asked: list[list[Case]] = []

    def made_up(cases: list[Case], length: Length, seed: int, show: Any) -> list[list[Run]]:
        asked.append(list(cases))
        show("made up")
        single = grown(3.0, 5.0) if length.megabytes else run_of(([20.0, 25.0], [80.0, 90.0]))
        return [[single] * length.runs for _ in cases]

    for figure in (figure_4, figure_5, figure_6):
        monkeypatch.setattr(figure, "run_all", made_up)
    monkeypatch.setattr(figure_6, "SHORT", Length(30, 8, 1, megabytes=60))
    monkeypatch.setattr(tcp_runs, "need", lambda: None)
    monkeypatch.setattr(engine, "build", lambda *_: None)
    monkeypatch.setattr(engine, "prepare", lambda *_: None)
    words = [word for number in "4567" for word in ("--figure", number)]
    assert main(["paper", "edfr-skip-fifo", *words, "--out", str(tmp_path), "--json", "--format", "svg"]) == 0
    found = json.loads(capsys.readouterr().out)
    drawn.check(tmp_path, (4, 5, 6, 7))
    assert list(found["parts"]) == ["figure 4", "figure 5", "figure 6", "figure 7"] and len(asked) == 3
    assert [case["words"] for case in found["parts"]["figure 7"]["cases"]] == ["EDFR 60-80", "one FIFO"]
    html = (tmp_path / "report.html").read_text()
    head = html[: html.index("<script>")]
    assert head.count("<dt>The paper</dt>") == sum(len(found["parts"][f"figure {number}"]["findings"]) for number in (4, 5, 6))
    asked.clear()
    assert main(["paper", "edfr-skip-fifo", "--figure", "7", "--out", str(tmp_path), "--json"]) == 0
    assert asked == [figure_6.cases(full=False, growth_only=True)]


# ---- in ns-3


@pytest.mark.slow
@pytest.mark.skipif(ns3.missing() is not None, reason=ns3.missing() or "")
@pytest.mark.parametrize(("experiment", "first"), [("long", 30), ("long", 120), ("http", 30), ("second", 30)])
def test_in_ns3(experiment: str, first: float) -> None:
    """A second or two of each experiment through the port: the link is not overrun, and no packet waits past its deadline."""
    case, length = Case(experiment, PORT, (first, 100)), Length(2, 1, 1, megabytes=20, users=4)
    run = tcp_runs.simulate(case, length, SEED, lambda _: None)
    print(f"seed {SEED}, {experiment}: {[run.sums(own) for own in range(2)]}, longest {run.longest_ms}, {run.facts}")
    assert run.facts["latest_ns"] <= 500 and run.longest_ms[0] <= first + 0.001 and run.longest_ms[1] <= 100.001
    assert 0 < sum(run.sums(own)["mbps"] for own in range(2)) <= 1000
