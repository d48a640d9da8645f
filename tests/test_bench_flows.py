"""`bench flows`: packets in and out per cycle through flow queues; and refusals in words."""

import json

import pytest

from penstock.benches import bench
from penstock.command_line.app import main
from penstock.testing.testkit import seed


@pytest.mark.parametrize("lanes, each, least", [(1, 4, 0.4), (2, 4, 0.68), (2, 1024, 0.5), (4, 1024, 0.9)])
def test_packets_in_and_out_per_cycle(lanes: int, each: int, least: float, capsys: pytest.CaptureFixture[str]) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    capsys.readouterr()
    sizes = ["--set=queues=256", "--set=flows=4096", "--set=active=64", "--set=inside=512", f"--set=lanes={lanes}", f"--set=each={each}"]
    assert main(["bench", "flows", *sizes, "--set=packets=4000", f"--seed={seed()}", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["schema"] == bench.SCHEMA and result["bench"] == "flows"
    assert result["dequeues_per_cycle"] > least
    assert result["enqueues_per_cycle"] == pytest.approx(result["dequeues_per_cycle"], abs=0.05)


def test_one_flow_has_a_packet_in_16_cycles(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    sizes = ["--set=queues=256", "--set=flows=4096", "--set=active=1", "--set=each=1", "--set=inside=64"]
    assert main(["bench", "flows", *sizes, "--set=packets=1000", "--json"]) == 0
    assert 1 / json.loads(capsys.readouterr().out)["dequeues_per_cycle"] <= 16


@pytest.mark.parametrize("setting", ["queues=100", "lanes=3", "each=0", "length=0", "active=40000", "packets=1", "clock=1"])
def test_what_cannot_be_is_refused(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "flows", "--set", setting]) == 2
    assert setting.split("=")[0] in capsys.readouterr().err


def test_too_many_flow_queues_or_queues_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "flows", "--set=queues=8", "--set=flows=262144"]) == 2
    assert "more than 8 queues can use" in capsys.readouterr().err
    assert main(["bench", "flows", "--set=queues=4096", "--set=flows=4096"]) == 2
    assert "for 512 queues at most" in capsys.readouterr().err
