"""docs/how-to/own-aqm.md: the files of the page in an empty folder outside of the source tree, and each of its commands."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.parts import registry
from penstock.paths import ROOT, tool_environment

PAGE = (ROOT / "docs" / "how-to" / "own-aqm.md").read_text()
FILES = re.findall(r"^`([\w/.]+)`:\n\n((?:(?:    .*)?\n)+)", PAGE, re.MULTILINE)
COMMANDS = re.findall(r"^    ((?:PENSTOCK_WITH=\S+ )?(?:penstock|python) .*)$", PAGE, re.MULTILINE)
OF_THE_RUN = {"engine", "wall_seconds", "cycles_per_second"}  # what differs between the engines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with the files of the page and nothing else."""
    here = tmp_path_factory.mktemp("own")
    for name, block in FILES:
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("\n".join(line[4:] for line in block.rstrip("\n").split("\n")) + "\n")
    return here


def command(folder: Path, begin: str, *more: str) -> str:
    """Run the command of the page that is this one, or the one that begins so, as a user would, and return what it says."""
    (line,) = [line for line in COMMANDS if line == begin] or [line for line in COMMANDS if line.startswith(begin)]
    environment = {name: value for name, value in os.environ.items() if name != registry.VARIABLE}
    words = line.split()
    if "=" in words[0]:
        name, value = words.pop(0).split("=")
        environment[name] = value
    words[:1] = [sys.executable, "-m", "penstock"] if words[0] == "penstock" else [sys.executable]
    done = subprocess.run([*words, *more], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_every_command_is_tested() -> None:
    assert [name for name, _ in FILES] == [
        "step_marker/part.yaml",
        "step_marker/rtl/step_marker.sv",
        "step_marker/model/step_marker.hpp",
        "step_marker/test/test_step_marker.py",
        "steps.yaml",
    ]
    kinds = [re.sub(r"^(?:PENSTOCK_WITH=\S+ )?(\S+ \S+).*", r"\1", line) for line in COMMANDS]
    assert kinds == [*["penstock run"] * 2, *["penstock bench"] * 2, "penstock generate", "penstock synth", "python -m"]


def test_both_engines_are_equal(folder: Path) -> None:
    """Every packet, its time and its fate: results and series of a run on the hardware and on the model."""
    results: list[dict[str, Any]] = []
    series = []
    for engine in ("rtl", "model"):
        command(folder, f"penstock run steps.yaml --with step_marker --engine {engine}")
        found = json.loads((folder / f"on_{engine}" / "result.json").read_text())
        results.append({key: value for key, value in found.items() if key not in OF_THE_RUN})
        with np.load(folder / f"on_{engine}" / "series.npz") as arrays:
            series.append(dict(arrays))
    assert results[0] == results[1]
    assert series[0].keys() == series[1].keys()
    for name, array in series[0].items():
        assert np.array_equal(array, series[1][name], equal_nan=array.dtype.kind == "f"), name
    slow, fast = results[0]["queues"]
    assert min(slow["drop_packets"], fast["drop_packets"]) > 20 and results[0]["packets"]["dropped"].keys() == {"aqm"}
    # Nothing that was sent had waited for its step; beside the wait there is the packet's own time in the device.
    assert 0.5e-3 < fast["latency_ns"]["max"] / 1e9 < 1.1e-3 and 1e-3 < slow["latency_ns"]["max"] / 1e9 < 2.1e-3


def test_benches_are_equal(folder: Path) -> None:
    results = []
    for line in (line for line in COMMANDS if line.startswith("penstock bench")):
        found = json.loads(command(folder, line, "--json"))
        assert found.pop("engine") == found["config"].pop("engine")
        found.pop("wall_seconds")
        results.append(found)
    assert len(results) == 2 and results[0] == results[1]
    assert results[0]["config"]["aqm"] == "step_marker" and results[0]["packets"] == 20_000


def test_the_package_stands_alone(folder: Path) -> None:
    """What `generate` has written lints as its README says, without the folder of the AQM."""
    command(folder, "penstock generate")
    package = folder / "package"
    assert (package / "rtl" / "step_marker.sv").read_text() == (folder / "step_marker" / "rtl" / "step_marker.sv").read_text()
    assert "--set aqm=step_marker" in (package / "README.md").read_text()
    (line,) = re.findall(r"^    (verilator --lint-only .*)$", (package / "README.md").read_text(), re.MULTILINE)
    done = subprocess.run(line.split(), cwd=package, env=tool_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_folders_own_tests_pass(folder: Path) -> None:
    assert "4 passed" in command(folder, "PENSTOCK_WITH=step_marker python", "-p", "no:cacheprovider")


@pytest.mark.slow
def test_synthesis(folder: Path) -> None:
    assert "LUT" in command(folder, "penstock synth")
