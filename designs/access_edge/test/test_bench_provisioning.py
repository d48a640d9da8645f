# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`bench provisioning`: while queues are set up at the full rate of the registers, traffic to others keeps what it is promised."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge.bench import provisioning
from penstock.errors import UserError

LATE_CYCLES = 440  # the contract of the shaped queues: 2 us


def run(capsys: pytest.CaptureFixture[str], **values: object) -> dict[str, Any]:
    given = [part for key, value in values.items() for part in ("--set", f"{key}={value}")]
    assert main(["bench", "provisioning", *given, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def check(found: dict[str, Any], loses: bool) -> None:
    alone, beside = found["alone"], found["beside"]
    assert found["queues_set"] >= 2048 and found["share_of_time"] > 0.6 and found["cycles_per_write"] < 10
    assert beside["cycles"] == alone["cycles"]
    for key in ("in_per_cycle", "out_per_cycle"):
        assert beside[key] == pytest.approx(alone[key], rel=0.002), key
    assert (alone["lost"] > 0) == loses and beside["lost"] <= alone["lost"] * 1.01
    if late := beside["lateness_cycles"]:
        assert late["max"] <= LATE_CYCLES and late["mean"] < alone["lateness_cycles"]["mean"] + 5


def test_a_full_line_notices_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Frames of 64 byte at 100 Gbit/s to shaped queues: as many in and out a cycle as without, none lost, none later than the contract."""
    check(run(capsys, device="line", size=64, microseconds=200), loses=False)


def test_a_hierarchy_notices_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """With subscribers, nodes and ports above the queues. One memory without SRAM carries IMIX, and half of the smallest frames."""
    check(run(capsys, device="tree", microseconds=300), loses=False)
    check(run(capsys, device="tree", size=64, microseconds=300), loses=True)


@pytest.mark.parametrize("device", sorted(provisioning.DEVICES))
def test_a_run_too_short_for_all_queues_is_refused(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The least that the message says is enough, and no more time is said to be used than there is."""
    given = ["bench", "provisioning", "--set", f"device={device}", "--json", "--set"]
    assert main([*given, "microseconds=50"]) == 2
    told = re.search(r"microseconds must be at least (\d+) with", capsys.readouterr().err)
    assert told
    assert main([*given, f"microseconds={told[1]}"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["queues_set"] == 1024 and 0.7 < found["share_of_time"] < 1


@pytest.mark.slow
@pytest.mark.parametrize("device", sorted(provisioning.DEVICES))
def test_the_hardware_notices_nothing(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The RTL: the same figures as those of the model, to the cycle."""
    rtl, model = (run(capsys, device=device, size=64, microseconds=300, engine=engine) for engine in ("rtl", "model"))
    check(rtl, loses=device == "tree")
    for key in ("cycles_per_write", "queues_set", "alone", "beside"):
        assert rtl[key] == model[key], key


def test_what_it_writes_sets_queues_up() -> None:
    """Each pass sets all of the second half, every queue with other words than its neighbour."""
    config = configs.load("tree_2048")
    once, queues = provisioning.writes(config, 1)
    twice, more = provisioning.writes(config, 2)
    executes = [address for address, _ in once if address >= 0x800]
    assert queues == 1024 and more == 2048 and len(twice) > 1.9 * len(once)
    assert len(executes) == 1024 + 256  # a queue each, and a subscriber for every fourth


def test_what_it_refuses(tmp_path: Path) -> None:
    for settings in ({"device": "card"}, {"size": "20"}, {"queues": "5"}):
        with pytest.raises(UserError):
            provisioning.plan(dict(settings), 1)
    assert provisioning.plan({}, 7) == {
        "engine": "model", "device": "line", "size": "imix", "microseconds": 500, "seed": 7, "packets": 0,
    }  # fmt: skip
