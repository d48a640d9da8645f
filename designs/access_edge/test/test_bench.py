"""`bench`: its keys, its repeatability, and that a core that misbehaves fails it."""

import json

import pytest

from penstock.benches import bench
from penstock.command_line.app import main
from penstock.designs.access_edge.bench import benches
from penstock.designs.access_edge.bench.core import build_core
from penstock.errors import UserError

SMALL = ["--set", "queues=64", "--set", "descriptors=256"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main(["bench", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["queue", "schedule"])
@pytest.mark.parametrize("pattern", benches.PATTERNS)
def test_throughput(name: str, pattern: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, name, *SMALL, "--set", "packets=20000", "--set", f"pattern={pattern}")
    assert result["packets"] == 20000
    assert result["enqueues_per_cycle"] == pytest.approx(20000 / result["cycles"])
    # One queue alone sends a packet each time its turn has gone round; several keep the pipeline busy (contract: 0.68).
    assert result["dequeues_per_cycle"] >= (0.05 if pattern == "same" else 0.68)
    assert result["config"]["queues"] == 64 and result["schema"] == bench.SCHEMA and result["seed"] == 1


@pytest.mark.parametrize("aqm", ["codel", "pie"])
def test_an_aqm_keeps_the_full_rate(aqm: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every queue with its AQM on; CoDel marks all the time. The model is equal to the RTL in both benches."""
    given = [*SMALL, "--set", f"aqm={aqm}"]
    seen = []
    for engine in benches.ENGINES:
        result = run(capsys, "queue", *given, "--set", "packets=20000", "--set", f"engine={engine}")
        assert min(result["enqueues_per_cycle"], result["dequeues_per_cycle"]) >= 0.68
        assert (result["marked"] > 10) == (aqm == "codel") and result["aqm_dropped"] == 0
        latency = run(capsys, "idle-latency", *given, "--set", "packets=500", "--set", f"engine={engine}")["latency_cycles"]
        assert latency["max"] <= 32
        seen.append([result["cycles"], result["marked"], latency])
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([], id="alone", marks=pytest.mark.slow),
        pytest.param(["--set", "aqm=codel"], id="codel", marks=pytest.mark.slow),
        pytest.param(["--set", "aqm=codel", "--set", "levels=4"], id="hierarchy"),
    ],
)
def test_flow_queues_keep_the_contract(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """0.68 packets a cycle in and out through flow queues, CoDel by flow and a hierarchy; at most 48 cycles when idle. Each
    flow's packets leave in order; the model is equal to the RTL."""
    given = [*SMALL, "--set", "flows=1024", *more]
    seen = []
    for engine in benches.ENGINES:
        result = run(capsys, "schedule", *given, "--set", "packets=20000", "--set", f"engine={engine}")
        assert min(result["enqueues_per_cycle"], result["dequeues_per_cycle"]) >= 0.68, result
        assert result["config"]["lanes"] == 4 and result.get("aqm_dropped", 0) == 0
        latency = run(capsys, "idle-latency", *given, "--set", "packets=500", "--set", f"engine={engine}")["latency_cycles"]
        assert latency["max"] <= 48, latency
        seen.append([result["cycles"], result.get("marked"), latency])
    assert seen[0] == seen[1]


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
        (["queue", "--set", "aqm=pi"], "did you mean 'pie'"),
        (["queue", "--set", "aqm=pie", "--set", "shaping=0"], "needs the shaped scheduler"),
        (["queue", "--set", "lanes=2"], "only a core with flows has it"),
        (["queue", "--set", "queues=64", "--set", "flows=1000"], "power of two"),
        (["queue", "--set", "queues=256", "--set", "flows=1024"], "at most an eighth"),
        (["queue", "--set", "queues=64", "--set", "flows=1024", "--set", "lanes=3"], "give 1, 2 or 4"),
        (["queue", "--set", "queues=64", "--set", "flows=1024", "--set", "shaping=0"], "need the shaped scheduler"),
        (["queue", "--set", "queues=64", "--set", "flows=1024", "--set", "aqm=pie"], "no state for each flow queue"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


@pytest.mark.slow
def test_a_core_of_another_size_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is alive: a core with half of the queues folds two queues into one, and the bench must see it."""
    half = build_core(32, 256, True)
    monkeypatch.setattr(bench, "prepare", lambda options, report=None: half)
    with pytest.raises(bench.BenchError, match="queue|decision"):
        bench.run(bench.plan("queue", {"queues": "64", "descriptors": "256", "packets": "2000"}, 1))


def test_plan_refuses_what_it_does_not_know() -> None:
    with pytest.raises(UserError):
        bench.plan("nonsense", {}, 1)


def test_lateness_of_backlogged_queues_is_within_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, "lateness", "--set", "queues=128", "--set", "packets=20000", "--set", "size=590")
    assert set(result["lateness_cycles"]) == {"count", "min", "mean", "p50", "p99", "p99_9", "max"}
    assert result["lateness_cycles"]["count"] >= 20_000 and result["lateness_cycles"]["p99_9"] <= 440
    assert result["clock_hz"] == 220_000_000 and result["link_load"] == 0.95
    assert result["measured_link_load"] == pytest.approx(0.95, abs=0.01)
    assert result["after_earliest_departure_cycles"]["min"] > 0


@pytest.mark.slow
def test_lateness_among_blocked_queues(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, "lateness", "--set", "queues=128", "--set", "packets=500", "--set", "pattern=blocked")
    assert result["lateness_cycles"]["max"] <= 64


@pytest.mark.slow
def test_few_queues_cannot_fill_the_link(capsys: pytest.CaptureFixture[str]) -> None:
    """Sixteen queues of at most 1 Gbit/s are less than 95 % of the link, and the result says how much they are."""
    result = run(capsys, "lateness", "--set", "queues=16", "--set", "packets=1000", "--set", "size=590")
    assert result["rate_sum_bps"] == 16 * 10**9 and result["link_load"] == pytest.approx(0.16 * 614 / 590, abs=1e-3)


@pytest.mark.parametrize("queues", [100, 2048, 262_144, 1_048_576])
def test_mixed_rates_are_in_range_and_have_the_sum(queues: int) -> None:
    import numpy as np

    from penstock.basics.rates import mixed_rates

    rates = mixed_rates(queues, 89e9, 64_000, 1e9, np.random.default_rng(1))
    assert rates.min() >= 64_000 and rates.max() <= 1e9
    assert rates.sum() == pytest.approx(89e9, rel=1e-5)
    assert len(np.unique(rates)) > queues / 2


def test_rate_codes_are_those_of_the_registers() -> None:
    import numpy as np

    from penstock.designs.access_edge.bench import lateness
    from penstock.designs.access_edge.registers import rate_code

    rates = np.array([64_000, 100_000, 1_234_567, 10**9, 0], dtype=float)
    for rate, code in zip(rates, lateness.rate_codes(rates), strict=True):
        mantissa, exponent = rate_code(int(rate), lateness.CLOCK_HZ)
        assert (int(code) & 0xFFFF, int(code) >> 16) == (mantissa, exponent)


@pytest.mark.parametrize(
    ("setting", "words"),
    [("queues=2000000", "at most"), ("rates=mixd", "did you mean"), ("size=20", "give 60 to"), ("shaping=0", "no key")],
)
def test_lateness_refuses_what_it_cannot_do(setting: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "lateness", "--set", setting]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


@pytest.mark.slow
def test_a_core_that_does_not_shape_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is alive: a core that does not shape sends before the earliest departure time, and the bench must see it."""

    options = bench.plan("lateness", {"queues": "128", "packets": "100"}, 1)
    open_core = build_core(128, options["descriptors"], False)
    monkeypatch.setattr(bench, "prepare", lambda options, report=None: open_core)
    with pytest.raises(bench.BenchError, match="before its earliest|took too long"):
        bench.run(options)
