"""docs/how-to/own-device.md: the files of the page in a copy of the clone, and each of its commands."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.paths import ROOT

PAGE = (ROOT / "docs" / "how-to" / "own-device.md").read_text()
FILES = re.findall(r"^`([\w/.]+)`:\n\n((?:(?:    .*)?\n)+)", PAGE, re.MULTILINE)
COMMANDS = re.findall(r"^    ((?:\./penstock|\.venv/bin/python) .*)$", PAGE, re.MULTILINE)
LINT = "./penstock lint"
OF_THE_RUN = {"engine", "wall_seconds", "cycles_per_second"}  # what differs between the engines


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with the files of the page, which are in none of its folders yet."""
    here = tmp_path_factory.mktemp("own device") / "clone"
    skip = shutil.ignore_patterns(".git", ".venv", "build", "results", "__pycache__", ".*_cache", "_tree")
    shutil.copytree(ROOT, here, ignore=skip)
    for name, block in FILES:
        assert not (here / name).exists()
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("\n".join(line[4:] for line in block.rstrip("\n").split("\n")) + "\n")
    return here


def command(clone: Path, begin: str) -> str:
    """Run the command of the page that begins so, in the copy and with this environment's Python, and return what it says."""
    (line,) = [line for line in COMMANDS if line.startswith(begin)]
    words = line.split()
    words[:1] = [sys.executable, *(["-m", "penstock"] if words[0] == "./penstock" else [])]
    environment = os.environ | {"PYTHONPATH": str(clone / "src"), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(words, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or begin == LINT, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_every_command_is_tested() -> None:
    model, python = ("shim.cpp", "pin_face.hpp", "relay_device.hpp", "module.cpp"), ("scenario.py", "job.py", "result.py", "report.py")
    names = [
        "rtl/relay.f",
        "rtl/pst_relay_ports_pkg.sv",
        "rtl/pst_relay.sv",
        "config.py",
        "configs.yaml",
        "design.py",
        *(f"model/{name}" for name in model),
        *python,
    ]
    assert [name for name, _ in FILES] == [
        *(f"designs/relay/{name}" for name in names),
        "relay.yaml",
        "designs/relay/test/test_pst_relay.py",
    ]
    kinds = [line.split()[1] if line.startswith("./") else "pytest" for line in COMMANDS]
    assert kinds == ["run", "run", "pytest", "lint", "synth"]


def test_both_engines_are_equal(clone: Path) -> None:
    """Results and series of a run on the hardware and on the model, and the input waits for the slower output."""
    results: list[dict[str, Any]] = []
    series = []
    for engine in ("rtl", "model"):
        assert "cycles in which one waited" in command(clone, f"./penstock run relay.yaml --engine {engine}")
        found = json.loads((clone / f"on_{engine}" / "result.json").read_text())
        assert (found["design"], found["engine"]) == ("relay", engine)
        results.append({key: value for key, value in found.items() if key not in OF_THE_RUN})
        with np.load(clone / f"on_{engine}" / "series.npz") as arrays:
            series.append(dict(arrays))
    assert results[0] == results[1]
    assert series[0].keys() == series[1].keys()
    for name, array in series[0].items():
        assert np.array_equal(array, series[1][name], equal_nan=array.dtype.kind == "f"), name
    assert results[0]["packets"]["in"] == results[0]["packets"]["out"] > 200 and results[0]["waited_cycles"] > 0


def test_the_designs_own_tests_pass(clone: Path) -> None:
    assert "1 passed" in command(clone, ".venv/bin/python -m pytest")


def test_lint_takes_the_sources(clone: Path) -> None:
    """Five checks find nothing in them; what they find elsewhere is not the page's."""
    said = command(clone, LINT)
    assert said.count("ok  ") + said.count("FAIL") == 5 and "relay" not in said, said


@pytest.mark.slow
def test_synthesis(clone: Path) -> None:
    assert "LUT" in command(clone, "./penstock synth")
