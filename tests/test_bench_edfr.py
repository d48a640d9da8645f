"""`bench edfr`: figures of the deadline encoder in each pattern, and refusals in words."""

import ctypes
import json

import pytest

from penstock.benches import bench, bench_edfr
from penstock.command_line.app import main


def test_decisions_per_cycle(capsys: pytest.CaptureFixture[str]) -> None:
    """Few classes, so that it compiles quickly; every pattern is above what the port needs, and what must be exact is."""
    assert main(["bench", "edfr", "--set", "classes=8", "--set", "frames=20000", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    runs = {run["pattern"]: run for run in result["runs"]}
    assert set(runs) == set(bench_edfr.PATTERNS)
    assert result["schema"] == bench.SCHEMA and result["bench"] == "edfr" and result["seed"] == 1
    assert result["decisions_per_cycle"] == min(run["decisions_per_cycle"] for run in runs.values()) >= 0.68
    assert runs["hot"]["decisions_per_cycle"] == 1.0 and runs["hot"]["heads"] == 0
    assert runs["expired"]["drops"] == runs["expired"]["decisions"] == 20000
    assert runs["random"]["drops"] == 0 and 0 < runs["random"]["head_waits"]["max"] <= 4
    assert runs["alone"]["heads"] >= 19_990


@pytest.mark.parametrize("setting", ["classes=1", "classes=257", "frames=10", "line=0", "queues=4"])
def test_what_cannot_be_is_refused(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "edfr", "--set", setting]) == 2
    assert setting.split("=")[0] in capsys.readouterr().err


@pytest.mark.parametrize("name", ["Job", "Result"])
def test_a_struct_of_another_size_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bench_edfr.build(bench_edfr.plan({"classes": "8"}, 1))
    assert bench_edfr.load(path)
    longer = type(name, (getattr(bench_edfr, name),), {"_fields_": [("more", ctypes.c_uint64)]})
    monkeypatch.setattr(bench_edfr, name, longer)
    with pytest.raises(RuntimeError, match=f"pst_edfr_{name.lower()} has [0-9]+ bytes, penstock.benches.bench_edfr.{name} has"):
        bench_edfr.load(path)
