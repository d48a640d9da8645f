"""`bench`: its keys, its repeatability, and that a core that misbehaves fails it."""

import json

import pytest

from penstock import bench
from penstock.cli import main
from penstock.errors import UserError

SMALL = ["--set", "queues=64", "--set", "descriptors=256"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main(["bench", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["queue", "schedule"])
@pytest.mark.parametrize("pattern", bench.PATTERNS)
def test_throughput(name: str, pattern: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, name, *SMALL, "--set", "packets=20000", "--set", f"pattern={pattern}")
    assert result["packets"] == 20000
    assert result["enqueues_per_cycle"] == pytest.approx(20000 / result["cycles"])
    # One queue alone sends a packet each time its turn has gone round; several keep the pipeline busy (contract: 0.68).
    assert result["dequeues_per_cycle"] >= (0.05 if pattern == "same" else 0.68)
    assert result["config"]["queues"] == 64 and result["schema"] == bench.SCHEMA and result["seed"] == 1


def test_idle_latency_is_within_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    latency = run(capsys, "idle-latency", *SMALL, "--set", "packets=500")["latency_cycles"]
    assert set(latency) == {"count", "min", "mean", "p50", "p99", "p99_9", "max"}
    assert latency["count"] == 500 and latency["max"] <= 32


def test_a_seed_repeats(capsys: pytest.CaptureFixture[str]) -> None:
    results = [run(capsys, "queue", *SMALL, "--set", "packets=5000", "--seed", seed) for seed in ("7", "7", "8")]
    for result in results:
        result.pop("wall_seconds")
    assert results[0] == results[1] != results[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["quee"], "did you mean 'queue'"),
        (["queue", "--set", "patern=same"], "did you mean 'pattern'"),
        (["queue", "--set", "pattern=sam"], "did you mean 'same'"),
        (["queue", "--set", "queues=1"], "give 2 to"),
        (["queue", "--set", "packets=many"], "whole number"),
        (["queue", "--set", "packets"], "KEY=VALUE"),
        (["queue", "--set", "packets=" + "9" * 5000], "give 1 to"),
        (["queue", "--seed", "99999999999999999999"], "--seed"),
        (["schedule", "--set", "shaping=0"], "shaped"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_a_core_of_another_size_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is alive: a core with half of the queues folds two queues into one, and the bench must see it."""
    from penstock import verilate

    half = verilate.build_core(32, 256, True)
    monkeypatch.setattr(bench, "prepare", lambda options, report=None: half)
    with pytest.raises(bench.BenchError, match="queue|decision"):
        bench.run(bench.plan("queue", {"queues": "64", "descriptors": "256", "packets": "2000"}, 1))


def test_plan_refuses_what_it_does_not_know() -> None:
    with pytest.raises(UserError):
        bench.plan("nonsense", {}, 1)
