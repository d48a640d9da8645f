# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`penstock bench switch`: what it says against arithmetic, both engines against each other, and bad settings."""

import json
from typing import Any

import pytest

from penstock.benches import bench
from penstock.command_line.app import main
from penstock.errors import UserError

OVERHEAD = 24


def measured(engine: str = "model", seed: int = 1, **settings: object) -> dict[str, Any]:
    given = {"engine": engine, "packets": "12000", **{key: str(value) for key, value in settings.items()}}
    return bench.run(bench.plan("switch", given, seed))


@pytest.mark.parametrize(("load", "size"), [(30, 60), (70, 590), (90, 1514)])
def test_a_permutation_carries_what_comes(load: int, size: int) -> None:
    """No two inputs want the same output, so each line is as full as its input's, but for the noise of Poisson traffic."""
    found = measured(pattern="permutation", load=load, size=size, packets=60_000)
    assert found["dropped"] == 0
    for share in found["line_share"].values():
        assert share == pytest.approx(load / 100, rel=0.05)
    # A beat carries up to 64 byte: at that load so many beats pass each cycle of 220 MHz.
    beats = load / 100 * 100e9 / 8 / (size + OVERHEAD) * -(-size // 64) / 220e6
    assert found["beats_per_cycle_per_port"] == pytest.approx(beats, rel=0.05)


def test_half_of_the_frames_to_one_output() -> None:
    """At a load at which output 0 is not full, it carries half of what comes and the three others a sixth each."""
    found = measured(pattern="hotspot", load=40, size=590, packets=60_000)
    assert found["line_share"]["max"] == pytest.approx(4 * 0.4 / 2, rel=0.05)
    assert found["line_share"]["min"] == pytest.approx(4 * 0.4 / 6, rel=0.08)


def test_it_carries_more_than_its_rival() -> None:
    """Uniform full load: sources wait for room at an output by frames in both; the rival's matching costs more on top."""
    ours, rival = (measured(config=config, packets=40_000)["line_share"]["mean"] for config in ("switch_4", "islip_4"))
    assert 0.80 < ours < 0.95 and rival < ours - 0.05


@pytest.mark.parametrize("config", ["switch_4", "lossy_4"])
def test_both_engines_say_the_same(config: str) -> None:
    first, second = (measured(engine, seed=5, config=config, packets=3000) for engine in ("rtl", "model"))
    for key in ("engine", "wall_seconds"):
        del first[key], second[key]
    assert first == second


def test_json_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["bench", "switch", "--set", "engine=model", "--set", "packets=1000", "--seed", "3"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["bench"], found["engine"], found["seed"]) == ("penstock.bench/1", "switch", "model", 3)
    assert found["config"] == {"config": "switch_4", "pattern": "uniform", "load": 100, "size": "imix"}
    assert main(command) == 0
    said = capsys.readouterr().out
    assert f"{found['packets']:,} frames out in {found['cycles']:,} cycles" in said


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"config": "tiny_16"}, "config=tiny_16"),
        ({"pattern": "random"}, "pattern=random"),
        ({"load": "101"}, "load=101"),
        ({"size": "1600"}, "size=1600: switch_4 takes frames of 1,522 byte at most"),
        ({"queues": "3"}, "queues"),
    ],
)
def test_bad_settings(settings: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        bench.plan("switch", settings, 1)
