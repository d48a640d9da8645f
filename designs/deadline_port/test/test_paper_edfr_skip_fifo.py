# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`paper edfr-skip-fifo`: shares, pairs and verdicts by hand; what must come out comes out; the files are whole; wrong input is refused."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from penstock.benches import bench_skipfifo
from penstock.command_line.app import main
from penstock.designs.deadline_port.papers.edfr_skip_fifo import cards, experiment, figure_2, findings, points, stated
from penstock.designs.deadline_port.papers.edfr_skip_fifo.findings import FAILS, HOLDS, OPEN
from penstock.designs.deadline_port.papers.edfr_skip_fifo.points import MS, Grid, Point
from penstock.engine import engine
from penstock.papers import Options

SEED = 1
OPTIONS = Options(SEED, full=False, cluster=None)
TINY = Grid((0.9, 1.5), (1.5,), 0.1, 2)


def silent(_: str) -> None:
    """Show nothing."""


# ---- points


def test_the_tick_is_the_papers() -> None:
    """200 ms / 2^14, said to be 12 us; at it the stamps reach over 200 ms but for the rounding to a picosecond."""
    assert stated.DEPTH == 1 << 14 and abs(stated.TICK_PS - 12.207e6) < 1e3
    assert 0 <= 200 * MS - stated.TICK_PS * stated.DEPTH < stated.DEPTH


def test_deadlines() -> None:
    def of(classes: int, mix: str) -> list[float]:
        return [deadline / MS for deadline in Point("Poisson", 1.0, classes, mix, "IMIX", 10**8, 1.0).deadlines()]

    assert of(2, "equal") == [60, 60]
    assert of(2, "30/60/100 ms") == [30, 100] and of(8, "30/60/100 ms") == [30, 60, 100, 30, 60, 100, 30, 60]
    assert of(3, "geometric") == [10, 40, 160] and of(2, "geometric") == [10, 160]
    assert of(64, "geometric")[0] == 10 and of(64, "geometric")[-1] == 160
    assert Point("Poisson", 1.0, 8, "30/60/100 ms", "IMIX", 10**8, 1.0).mean_deadline() == (90 + 180 + 200) * MS / 8


def test_the_whole_grid() -> None:
    """What the issue asks for: loads, arrivals, classes, deadlines, sizes; no point twice; stamps that reach over each deadline."""
    for grid in (points.SHORT, points.FULL):
        made = points.points(grid)
        assert len(set(made)) == len(made) and grid.seeds >= 10
        assert {p.load for p in made} == {0.8, 0.9, 1.0, 1.1, 1.2, 1.5} and {p.classes for p in made} == {2, 3, 8, 64}
        assert {p.arrivals for p in made} == set(points.ARRIVALS) and {p.mix for p in made} == set(points.MIXES)
        assert {p.sizes for p in made} == set(points.SIZES)
        assert max(max(p.deadlines()) for p in made) < stated.TICK_PS * stated.DEPTH
        slowest = max(max(p.deadlines()) for p in made) / 0.1  # to fill at a load of 1.1
        assert all(p.arguments(1)["warm_up"] >= slowest for p in made)


def test_packets_are_told_before() -> None:
    for point in (Point("Poisson", 0.9, 2, "equal", "IMIX", 10**8, 2.0), Point("constant", 1.2, 3, "equal", "1,000 byte", 10**7, 5.0)):
        arguments = point.arguments(5) | {"schedulers": ["fifo"]}
        offered = engine.models("deadline").edfr_experiment(**arguments)["fifo"]["all"]["packets"]["offered"]
        assert offered == pytest.approx(point.packets(), rel=0.05)


# ---- what runs say together


def run_of(sent: list[int], offered: int, **other: Any) -> dict[str, Any]:
    """Make one scheduler's part of a run: packets of 10 byte, by class."""
    classes = [
        {
            "packets": {"offered": offered, "sent": n, "expired": offered - n, "expired_at_head": 3, "tail_dropped": 0},
            "bytes": {"offered": 10 * offered, "sent": 10 * n},
            "late": 2, "delay_sum_ps": n * 5e9, "longest_ps": 15 * MS, "most_late_ps": -7_000_000 + 9_000_000 * number,
        }
        for number, n in enumerate(sent)
    ]  # fmt: skip
    return {"classes": classes, "fingerprint": 1, "all": {"packets": {"offered": len(sent) * offered}}, **other}


def test_shares_and_pairs_by_hand() -> None:
    point = Point("Poisson", 1.1, 3, "30/60/100 ms", "1,000 byte", 10**8, 1.0)
    runs = [
        {name: run_of([90, 80, 70 + 5 * first], 100) for name in ("exact", "skip_check", "skip")}
        | {"fifo": run_of([85, 75, 65 + 5 * first], 100, fingerprint=2)}
        for first in (0, 1)
    ]
    runs[1]["skip"]["fingerprint"] = 7
    found = experiment.summary([experiment.condensed(point, run) for run in runs])
    half_range = 12.7062 / math.sqrt(2) / math.sqrt(2)  # of two values that are 1 apart, by Student's t
    assert found["exact"]["dropped"] == pytest.approx([(20 + 55 / 3) / 2, half_range * 5 / 3], abs=1e-4)
    assert found["exact"]["dropped_bytes"] == found["exact"]["dropped"]
    assert found["exact"]["dropped_by_class"][0] == [10, 0] and found["exact"]["dropped_by_class"][2][0] == 27.5
    assert found["exact"]["less_fifo"] == pytest.approx([-5, 0], abs=1e-6)  # in each run, though runs differ by more
    assert found["exact"]["shortest_less_longest"] == pytest.approx([-17.5, half_range * 5], abs=1e-4)
    assert found["exact"]["spread"] == pytest.approx([17.5, half_range * 5], abs=1e-4)
    assert found["exact"]["late"] == [2, 0] and found["exact"]["read_in_vain"] == [3, 0]
    assert found["exact"]["most_late_us"] == 11 and found["exact"]["mean_delay_ms"] == [5, 0]
    assert found["exact"]["longest_delay_over_deadline"] == 0.5
    assert not found["exact"]["equal_to_fifo"] and found["skip_check"]["equal_to_exact"] and not found["skip"]["equal_to_exact"]


@pytest.mark.parametrize(
    ("difference", "dropped", "said"),
    [
        ([0.0, 0.0], 0.0, HOLDS), ([-0.05, 0.05], 0.0, HOLDS), ([0.05, 0.06], 1.0, OPEN), ([-0.2, 0.05], 1.0, FAILS),
        ([0.2, 0.11], 1.0, OPEN), ([0.9, 0.1], 20.0, HOLDS), ([-0.9, 0.2], 20.0, OPEN), ([1.5, 0.4], 20.0, FAILS), ([0.0, None], 1.0, OPEN),
    ],
)  # fmt: skip
def test_verdicts(difference: list[float | None], dropped: float, said: str) -> None:
    """Within 5 % of what is dropped, or 0.1 points: with the whole interval, with none of it, or with a part."""
    assert findings.verdict(difference, dropped) == said


def test_lateness_is_judged_by_the_latest() -> None:
    assert [findings.in_time({"exact": {"most_late_us": late}}) for late in (-1, 0, 0.001, None)] == [HOLDS, HOLDS, FAILS, HOLDS]


# ---- what comes out


@pytest.fixture(scope="module")
def overload() -> dict[tuple[str, str, int], dict[str, Any]]:
    """Some points at load 1.5: (arrivals, deadlines, classes) -> what came out."""
    made = [
        Point(arrivals, 1.5, classes, mix, "1,000 byte", 10**8, 4.0)
        for arrivals, mix, classes in (
            ("Poisson", "equal", 3), ("Poisson", "geometric", 3), ("on-off", "geometric", 2), ("on-off, shared", "30/60/100 ms", 3),
            ("constant", "30/60/100 ms", 3),
        )
    ]  # fmt: skip
    runs = experiment._runs(made, 6, SEED, silent)
    return {(p.arrivals, p.mix, p.classes): experiment.summary(own) for p, own in zip(made, runs, strict=True)}


def test_where_the_claims_hold_and_where_not(overload: dict[tuple[str, str, int], dict[str, Any]]) -> None:
    poisson = overload["Poisson", "geometric", 3]
    assert poisson["exact"]["dropped"][0] == pytest.approx(100 / 3, abs=0.5)  # an overloaded link never idles
    assert findings.total(poisson) == findings.equal(poisson) == HOLDS
    same = overload["Poisson", "equal", 3]
    assert same["exact"]["equal_to_fifo"] and same["exact"]["less_fifo"] == [0, 0] and not poisson["exact"]["equal_to_fifo"]
    own = overload["on-off", "geometric", 2]
    assert findings.equal(own) == FAILS and own["exact"]["shortest_less_longest"][0] > 20
    shared = overload["on-off, shared", "30/60/100 ms", 3]
    assert findings.total(shared) == FAILS and shared["exact"]["less_fifo"][0] < -4
    assert findings.equal(shared) == FAILS and shared["exact"]["shortest_less_longest"][0] < 0
    phases = overload["constant", "30/60/100 ms", 3]
    assert findings.total(phases) == HOLDS and phases["exact"]["spread"][0] > 50
    assert phases["exact"]["dropped"][0] == pytest.approx(100 / 3, abs=0.05)


def test_no_packet_is_late_but_without_the_check(overload: dict[tuple[str, str, int], dict[str, Any]]) -> None:
    for (arrivals, _, _), found in overload.items():
        assert findings.in_time(found, "exact") == findings.in_time(found, "skip_check") == HOLDS
        assert found["skip_check"]["equal_to_exact"] and found["exact"]["longest_delay_over_deadline"] <= 1
        assert found["exact"]["read_in_vain"] == [0, 0]
        if arrivals == "constant":  # whether any is late depends on the phases
            continue
        assert found["skip"]["longest_delay_over_deadline"] > 1 and not found["skip"]["equal_to_exact"]
        assert 0 < found["skip"]["most_late_us"] < stated.TICK_PS / 1e6 and found["skip"]["late"][0] > 0
        assert found["skip_check"]["read_in_vain"][0] > 0


def test_runs_do_not_depend_on_how_many_work(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid((1.5,), (), 0.1, 2)
    some = points.points(grid)[:4]
    monkeypatch.setattr(points, "points", lambda _: some)
    one = experiment._runs(some, 2, SEED, silent)
    monkeypatch.setattr(experiment.os, "cpu_count", lambda: 1)
    assert one == experiment._runs(some, 2, SEED, silent) != experiment._runs(some, 2, SEED + 1, silent)
    assert one[0][0] != one[0][1]  # each run has its own seed


def test_an_interrupted_run_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment.os, "cpu_count", lambda: 1)
    shown: list[str] = []

    def interrupt(text: str) -> None:
        shown.append(text)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        experiment.measure(OPTIONS, interrupt, TINY)
    assert len(shown) < len(points.points(TINY)) / 2  # those that were under way


# ---- the command


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs so short that the whole command takes a few seconds."""
    monkeypatch.setattr(experiment, "SHORT", TINY)
    monkeypatch.setattr(points, "WARM_UP_S", 0.1)


def test_everything_goes_into_the_folder(short: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "edfr-skip-fifo", "--section", "2", "--out", str(tmp_path / "new"), "--seed", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads((tmp_path / "new" / "result.json").read_text())
    assert result["schema"] == "penstock.paper/1" and result["seed"] == 3
    assert list(result["parts"]) == result["config"]["parts"] == ["section 2"]
    found = result["parts"]["section 2"]
    assert len(found["points"]) == len(points.points(TINY)) and found["seeds"] == 2 and found["packets"] > 10**5
    assert all(set(points.SCHEDULERS) <= set(point) for point in found["points"])
    assert [line["ours"] for line in result["stated"] if "late" not in line["what"]][2] == len(found["points"])  # exact EDFR is never late
    html = (tmp_path / "new" / "report.html").read_text()
    head = html[: html.index("<script>")]
    assert not re.search(r'(src|href)="(?!data:)', head) and "@" not in re.sub(r"@media", "", head)
    assert head.count("<dt>The paper</dt>") == 4 and head.count("<dt>Here</dt>") == head.count("<dt>Why</dt>") == 5
    data = json.loads(re.search(r"^const plots = (.*);$", html, re.MULTILINE)[1])
    assert all(f'id="{plot["id"]}"' in head for plot in data) and len(data) == 1 + 6 + 6 + 4
    for plot in data:
        assert all(len(trace["x"]) == len(trace["y"]) == len(trace["error_y"]["array"]) > 0 for trace in plot["traces"])


def test_tables_count_each_point_once(short: None) -> None:
    found = experiment.measure(OPTIONS, silent)
    for card in cards.cards(found):
        if "table" not in card:
            continue
        head, *rows = card["table"]
        assert all(len(row) == len(head) for row in rows)
        if HOLDS in head:
            assert sum(int(row[2]) for row in rows) == len(findings.lossy(found))
            assert all(int(row[2]) == sum(int(cell) for cell in row[3:6]) for row in rows)


# ---- figure 2


def made_up(full: bool) -> dict[str, Any]:
    """Return runs in which each point carries as many Gbit/s each way as it has channels."""
    keys = ("memory", "channels", "burst_bytes", "packet_bytes")
    rest = {"port_bits": 512, "goodput_gbps": 0.5, "efficiency": 0.8, "theoretical_gbps": 9.0, "packets": 1, "cycles": 1}
    chosen = figure_2.points(full)
    return {
        "clock_mhz": 250,
        "points": [dict(zip(keys, (p.memory, p.channels, p.burst, p.size), strict=True), gbps=p.channels, **rest) for p in chosen],
    }


@pytest.mark.parametrize("full", [False, True])
def test_figure_2_has_what_the_paper_states(full: bool) -> None:
    """Each stated number stands beside the runs that it is about, or says that these are left out."""
    found = made_up(full)
    ours = {line["what"]: (line["paper"], line["ours"], line["note"]) for line in figure_2.compare(found)}
    assert [ours[f"one channel of {name}, best, metadata counted, each way"][:2] for name in ("BRAM", "DDR4-2400", "HBM2")] == [
        (115.0, 1), (60.0, 1), (39.0, 1),
    ]  # fmt: skip
    whole = ours["HBM, the whole device of 410 GB/s, each way"]
    assert whole[:2] == (1250.0, 32 if full else None) and ("--full" in whole[2]) == (not full)
    assert ours["16 pseudo channels of HBM, share of the theoretical bandwidth"][:2] == (76.0, 80.0)
    plots, table, _ = figure_2.cards(found)
    assert len(plots["plots"]) == 3 and len(table["table"]) == 1 + len(found["points"])


def test_every_point_of_figure_2_can_be_run() -> None:
    """The bench takes its settings; the longest frame fits into the places of its class, and no point stands twice."""
    chosen = figure_2.points(full=True)
    assert len(set(chosen)) == len(chosen) and set(figure_2.points(full=False)) <= set(chosen)
    for point in chosen:
        planned = bench_skipfifo.plan(point.settings(), SEED)
        assert planned["places"] * planned["chunk_bytes"] > bench_skipfifo.LONGEST
        assert planned["columns"] == {1: 1, 4: 4}.get(point.channels, 8)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--figure", "3"], "--figure 3: edfr-skip-fifo has figure 2, 4, 5, 6, 7 to make again"),
        (["--table", "1"], "--table 1: edfr-skip-fifo has no table to make again"),
        (["--section", "3"], "--section 3: edfr-skip-fifo has section 2 to make again"),
        (["--cluster", "tcp://nowhere:1"], "--cluster tcp://nowhere:1: edfr-skip-fifo simulates on this machine only"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["paper", "edfr-skip-fifo", *arguments, "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err.strip()
    assert words in said and said.count("\n") == 0


def test_other_papers_have_no_sections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "massive-qos-queueing", "--section", "2", "--out", str(tmp_path)]) == 2
    assert "--section 2: massive-qos-queueing has no section to make again" in capsys.readouterr().err
