# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`bench loss-free`: the search, what counts as a loss, and what memories carry."""

import json
import random
from typing import Any

import pytest

from penstock.benches import bench
from penstock.command_line.app import main
from penstock.designs.access_edge.bench import loss_free
from penstock.errors import UserError
from penstock.testing.testkit import seed


def run(capsys: pytest.CaptureFixture[str], **values: object) -> dict[str, Any]:
    given = [part for key, value in values.items() for part in ("--set", f"{key}={value}")]
    assert main(["bench", "loss-free", *given, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_search_finds_where_losses_begin() -> None:
    rng = random.Random(seed())
    print(f"seed {seed()}")
    for limit in (0, 1, loss_free.STEPS - 1, loss_free.STEPS, *(rng.randrange(loss_free.STEPS) for _ in range(20))):
        tried: list[int] = []

        def loses(steps: int, limit: int = limit, tried: list[int] = tried) -> bool:
            tried.append(steps)
            return steps > limit

        assert loss_free.highest(loses) == limit
        assert len(tried) <= loss_free.MOST_PROBES


def test_small_frames_need_sram(capsys: pytest.CaptureFixture[str]) -> None:
    """65 byte: the whole line with SRAM; without, what the pins of two channels carry, less refreshes and turns of the bus."""
    kept = run(capsys, size=65, sram=1, packets=20_000)
    assert kept["loss_free_load"] == 1 and kept["lost"] == 0 and kept["probes"] == 1 and kept["efficiency"] == 0
    assert kept["memories"][-1]["share_of_bytes"] == 1 and kept["carried_bps"] == pytest.approx(73.0e9, rel=0.01)
    full = run(capsys, size=65, packets=100_000)
    assert 0.85 < full["loss_free_load"] < 1 and full["lost"] > 1000
    moved = full["carried_bps"] / 65 * 2 * 128
    assert full["moved_bps"] == pytest.approx(moved, rel=0.02) and 0.8 < full["moved_bps"] / 307.2e9 < 1 - 420 / 9360
    assert full["loss_free_bps"] == pytest.approx(full["carried_bps"], rel=0.03)


def test_frames_that_pile_up_are_no_throughput(capsys: pytest.CaptureFixture[str]) -> None:
    """Four pseudo channels with 64 reads under way take 60 byte at the line's rate and give less back. Nothing is lost, and that is not
    what counts. With 256 under way the line's rate leaves, too.
    """
    short, enough = (run(capsys, memory="hbm2", channels=4, size=60, packets=50_000, outstanding=most) for most in (64, 256))
    assert short["lost"] == 0 and short["waiting"] > 2 * 2048 and short["carried_bps"] < 0.9 * 71.4e9
    assert short["loss_free_load"] < 1
    assert enough["loss_free_load"] == 1 and enough["waiting"] < 2048


def test_evenly_spaced_frames_need_no_fifo(capsys: pytest.CaptureFixture[str]) -> None:
    """One channel takes evenly spaced large frames as fast as it moves them at all; at random, 16 kB in front of it lose some earlier."""
    constant, poisson = (run(capsys, channels=1, size=1474, packets=20_000, arrivals=kind) for kind in ("constant", "poisson"))
    assert constant["loss_free_bps"] > 60e9 > poisson["loss_free_bps"]
    assert constant["loss_free_bps"] == pytest.approx(constant["carried_bps"], rel=0.02)


def test_a_probe_offers_a_share_of_the_line() -> None:
    options = bench.plan("loss-free", {"channels": "1", "size": "65", "packets": "1000"}, seed())
    print(f"seed {seed()}")
    job = loss_free.probe(options, 150).plan.job
    assert job["device"]["model"] and job["ingress_fifo_bytes"] == 16_000
    assert job["sources"][0]["bps"] == pytest.approx(0.75 * 100e9 * 65 / 89, rel=1e-6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"memory": "ddr5"}, "--set memory: "),
        ({"size": "59"}, "--set size=59: give 60 to 9,600"),
        ({"channels": "17"}, "--set channels=17: give 1 to 16"),
        ({"sram": "2"}, "--set sram=2: give 0 to 1"),
        ({"outstanding": "513"}, "--set outstanding=513: give 2 to 512"),
        ({"queues": "4"}, "there is no key 'queues'"),
    ],
)
def test_what_cannot_be(given: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        bench.plan("loss-free", given, 1)
