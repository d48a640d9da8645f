"""`bench classify`: frames parsed and subscribers found per cycle, every answer judged; and refusals in words."""

import json

import pytest

from penstock.benches import bench
from penstock.command_line.app import main
from penstock.testing.testkit import seed


@pytest.mark.parametrize("entries, load", [(64, 80), (1024, 92)])
def test_a_frame_and_a_lookup_in_every_cycle(entries: int, load: int, capsys: pytest.CaptureFixture[str]) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    capsys.readouterr()
    settings = [f"--set=entries={entries}", f"--set=load={load}", "--set=inserts=3000", f"--seed={seed()}"]
    assert main(["bench", "classify", *settings, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["schema"] == bench.SCHEMA and result["bench"] == "classify"
    assert result["parsed_per_cycle"] == result["lookups_per_cycle"] == 1.0
    assert result["inserts_per_second"] > 1_000_000 and result["inserts"] == 3000
    assert result["load"] == pytest.approx(load / 100, abs=1.01 / entries)
    assert min(result["hits"], result["misses"]) > result["frames"] / 20


@pytest.mark.parametrize("setting", ["entries=100", "entries=32", "load=96", "inserts=10", "clock_mhz=0", "queues=4"])
def test_what_cannot_be_is_refused(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "classify", "--set", setting]) == 2
    assert setting.split("=")[0] in capsys.readouterr().err
