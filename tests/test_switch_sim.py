# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`switch-sim`: what it prints, traces from files, what it refuses, and that neither cores nor a cluster change a bit."""

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.errors import UserError
from penstock.switch_sim import ALGORITHMS, TRAFFICS, Point, Setting, measure, simulate, sweep
from penstock.switch_sim.trace import read

QUICK = Setting("cprra", ports=8, slots=3000, rate=0.8)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["switch-sim", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def without_time(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key != "slots_per_second"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_result(algorithm: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(
        capsys, "--algorithm", algorithm, "--iterations", "2", "--ports", "8", "--traffic", "bursty", "--burst", "4", "--rate", "0.6",
        "--slots", "4000", "--depth", "8", "--seeds", "5", "--seed", "7",
    )  # fmt: skip
    assert result["schema"] == "penstock.switch-sim/1" and result["seed"] == 7
    config = {"algorithm": algorithm, "ports": 8, "depth": 8, "traffic": "bursty", "rate": 0.6, "burst": 4.0, "slots": 4000, "seeds": 5}
    assert result["config"] == config | ({} if algorithm in ("cprra", "oq") else {"iterations": 2})
    latency, packets = result["latency_slots"], result["packets"]
    assert 0 < latency["mean"] <= latency["p99"] <= latency["worst_mean"] <= latency["worst"]
    assert latency["mean_ci95"] > 0 and latency["worst_ci95"] > 0
    assert packets["arrived"] == packets["sent"] + packets["dropped"] + packets["queued"]
    assert result["throughput"] == pytest.approx(packets["sent"] / (8 * 5 * 4000), abs=1e-6)
    assert result["drop_share"] == pytest.approx(packets["dropped"] / packets["arrived"], abs=1e-6)
    assert result["slots_per_second"] > 10_000


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["switch-sim", "--algorithm", "islip", "--ports", "4", "--slots", "2000", "--seeds", "1"]) == 0
    said = capsys.readouterr().out
    assert "islip with 2 iterations, 4 x 4, FIFOs without limit" in said and "worst of a run" in said and "throughput" in said


def test_the_mean_over_seeds_and_its_interval() -> None:
    """The textbook's example: 1, 2, 3, 4, 5 has mean 3, deviation 1.5811, t(4) 2.776."""
    assert measure.mean_and_ci95([1, 2, 3, 4, 5]) == pytest.approx((3, 2.7764 * math.sqrt(2.5 / 5)))
    assert measure.mean_and_ci95([4.0]) == (4.0, None) and measure.mean_and_ci95([None]) == (None, None)
    many = [float(value % 2) for value in range(62)]  # t(61) is 1.9996
    assert measure.mean_and_ci95(many)[1] == pytest.approx(1.9996 * math.sqrt(62 / 61 / 4 / 62), rel=2e-3)


def test_a_run_does_not_depend_on_its_neighbours() -> None:
    """Run i is run i, whatever else is run, in which order and on how many cores."""
    (three,) = sweep([Point(QUICK, 3)], seed=5)
    alone = [sweep([Point(QUICK, 1, first=number)], seed=5)[0] for number in range(3)]
    assert three["packets"]["sent"] == sum(one["packets"]["sent"] for one in alone)
    assert three["latency_slots"]["worst"] == max(one["latency_slots"]["worst"] for one in alone)
    assert len({one["packets"]["sent"] for one in alone}) > 1
    other = replace(QUICK, algorithm="pim", rate=1.0)
    together = sweep([Point(other, 2), Point(QUICK, 3)], seed=5)
    assert without_time(together[1]) == without_time(three) and without_time(together[0]) == without_time(sweep([Point(other, 2)], 5)[0])


def test_one_core_or_many(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for cores in (1, 5):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        results.append(without_time(simulate(replace(QUICK, algorithm="pim"), seeds=7, seed=3)))
    assert results[0] == results[1] != without_time(simulate(replace(QUICK, algorithm="pim"), seeds=7, seed=4))


def test_chunks_do_not_change_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = without_time(simulate(QUICK, seeds=2))
    monkeypatch.setattr(measure, "CHUNK_SLOTS", 77)  # not a multiple of the traffic's blocks of 64
    assert without_time(simulate(QUICK, seeds=2)) == whole


def test_progress_counts_every_slot() -> None:
    seen: list[tuple[int, int]] = []
    simulate(replace(QUICK, slots=250_000, ports=2), seeds=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (500_000, 500_000) and len(seen) == 6 and seen == sorted(seen)


def test_a_dask_cluster_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "src"))
    here = simulate(replace(QUICK, algorithm="islip"), seeds=6)
    seen: list[tuple[int, int]] = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        there = simulate(
            replace(QUICK, algorithm="islip"), seeds=6, progress=lambda *now: seen.append(now), cluster=cluster.scheduler_address
        )
        with pytest.raises(UserError, match=r"worker failed.*no-such-file"):
            simulate(Setting("cprra", traffic="trace", trace=Path("no-such-file")), seeds=1, cluster=cluster.scheduler_address)
    assert without_time(here) == without_time(there) and seen[-1] == (18_000, 18_000)


def test_a_cluster_that_is_not_there(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.basics.dask_cluster.CONNECT_SECONDS", 0.5)
    for address in ("nonsense://", "tcp://127.0.0.1:1"):
        assert main(["switch-sim", "--algorithm", "oq", "--cluster", address]) == 2
        assert f"--cluster {address}: no Dask scheduler answers there" in capsys.readouterr().err


def trace_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(text)
    return path


def test_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three packets for one output in one slot, one for another: waits 0, 1, 2 and 0."""
    path = trace_file(tmp_path, "slot,source,destination\n# a burst\n0,0,3\n0,1,3\n0, 2, 3  # the last\n\n5,0,0\n")
    for algorithm in ALGORITHMS:
        result = run(
            capsys, "--algorithm", algorithm, "--ports", "4", "--traffic", "trace", "--trace", str(path), "--slots", "100", "--seeds", "1"
        )
        assert result["packets"] == {"arrived": 4, "sent": 4, "dropped": 0, "queued": 0}
        assert result["latency_slots"]["mean"] == 0.75 and result["latency_slots"]["worst"] == 2
        assert result["config"]["trace"] == str(path) and "rate" not in result["config"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,0\n", r"trace.csv:1: give three whole numbers"), ("slot,source,destination\n0,a,1\n", r"trace.csv:2: give three"),
        ("0,4,0\n", r"trace.csv:1: source 4 is none of the 4 ports, 0 to 3"), ("0,0,9\n", "destination 9"), ("-1,0,0\n", "give three"),
        ("3,0,0\n2,0,0\n", r"trace.csv:2: slot 2 comes after slot 3"), ("1,2,0\n1,1,0\n1,2,3\n", r":3: source 2 has two packets in slot 1"),
        ("# nothing\n", "holds no packet"), ("999999999999999,0,0\n", "too large"), ("9" * 5000 + ",0,0\n", "give three"),
    ],
)  # fmt: skip
def test_wrong_traces_are_named_by_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        read(trace_file(tmp_path, text), 4)


def test_traces_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read(tmp_path / "none.csv", 4)
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a text file"):
        read(binary, 4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--algorithm", "islipp"], "did you mean 'islip'"),
        (["--algorithm", "oq", "--traffic", "brusty"], "did you mean 'bursty'"),
        (["--algorithm", "oq", "--ports", "12"], "power of two"),
        (["--algorithm", "oq", "--ports", "128"], "power of two"),
        (["--algorithm", "oq", "--rate", "1.01"], "at most 1"),
        (["--algorithm", "oq", "--rate", "0"], "more than 0"),
        (["--algorithm", "oq", "--rate", "nan"], "--rate nan"),
        (["--algorithm", "oq", "--rate", "much"], "--rate"),
        (["--algorithm", "oq", "--depth", "0"], "--depth 0"),
        (["--algorithm", "oq", "--slots", "0"], "--slots 0"),
        (["--algorithm", "pim", "--iterations", "0"], "--iterations 0"),
        (["--algorithm", "oq", "--seeds", "0"], "--seeds 0"),
        (["--algorithm", "oq", "--seed", "-1"], "--seed"),
        (["--algorithm", "oq", "--traffic", "bursty", "--burst", "0.5"], "--burst 0.5"),
        (["--algorithm", "oq", "--traffic", "bursty", "--burst", "inf"], "--burst inf"),
        (["--algorithm", "oq", "--traffic", "hotspot", "--hot", "1.5"], "--hot 1.5"),
        (["--algorithm", "oq", "--traffic", "trace"], "--trace FILE"),
        (["--algorithm", "oq", "--trace", "x.csv"], "--traffic trace"),
        (["--algorithm", "oq", "--traffic", "trace", "--trace", "/no/such/file"], "cannot be read"),
        ([], "--algorithm"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["switch-sim", *arguments]) == 2
    said = capsys.readouterr().err.strip()
    assert words in said and said.count("\n") == 0


def test_every_traffic_of_the_list_runs() -> None:
    for traffic in TRAFFICS[:-1]:
        assert simulate(replace(QUICK, traffic=traffic, slots=500), seeds=1)["packets"]["arrived"] > 0
