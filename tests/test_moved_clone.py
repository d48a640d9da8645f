# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A cold start in a clone that was moved, below a path with blanks and brackets, from a folder with modules that are called as Python's."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.basics import groups
from penstock.paths import ROOT

SCENARIO = """\
device: {config: tiny_16}
duration: 1 ms
queues: [{id: 0, name: slow, rate: 5 Mbit/s, burst: 3 kB}]
traffic: [constant: {queues: slow, rate: 10 Mbit/s, size: 1000}]
"""


def copy_of_the_clone(place: Path) -> Path:
    """Copy the sources and what CMake has built of them, but not the environment."""
    clone = place / "a moved clone (copy)"
    skip = shutil.ignore_patterns(".git", ".venv", "build", "results", "__pycache__", ".pytest_cache", ".ruff_cache")
    shutil.copytree(ROOT, clone, ignore=skip)
    if (ROOT / "build" / "engine").exists():
        shutil.copytree(ROOT / "build" / "engine", clone / "build" / "engine")
    return clone


def lend_environment(clone: Path) -> None:
    """Give a clone this one's environment, as if it had been set up there: its paths lead through the clone's."""
    environment = clone / ".venv"
    shutil.copytree(Path(sys.prefix) / "bin", environment / "bin", symlinks=True)
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", environment)
    (environment / "lib").symlink_to(Path(sys.prefix) / "lib")
    core = groups.read((clone / "requirements.txt").read_text())[groups.CORE]
    (environment / ".penstock-installed").write_text("\n".join((f"root {clone}", f"imported from {clone}/src", *core.pins, "")))


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("lent", [True, False], ids=["environment-lent", "from-scratch"])
def test_cold_start(tmp_path: Path, lent: bool) -> None:
    """The engine on its model, the RTL through Verilator, a cocotb test and a synthesis: all that is built anew in another place."""
    clone = copy_of_the_clone(tmp_path / "below a blank")
    if lent:
        lend_environment(clone)
    here = tmp_path / "current folder"
    here.mkdir()
    for name in ("random", "types", "numpy", "sitecustomize"):
        (here / f"{name}.py").write_text("print('foreign')\nraise SystemExit(77)\n")
    (here / "s.yaml").write_text(SCENARIO)
    environment = os.environ | {"PYTHONPATH": str(here), "PYTHONHOME": "/nowhere", "HOME": "/proc/no/home"}

    def call(*arguments: str) -> str:
        command = [str(clone / "penstock"), *arguments]
        done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    for engine in ("model", "rtl"):
        result = json.loads(call("run", "s.yaml", "--engine", engine, "--json", "--out", engine))
        assert result["packets"]["in"] == 2 and result["conservation"]["ok"]
    assert json.loads(call("synth", "stream", "--json"))["lut"] > 0
    call(
        "test",
        "--jobs",
        "1",
        "-q",
        "-x",
        "-k",
        "test_pst_skid_buffer",
        str(clone / "blocks" / "common" / "test" / "test_pst_skid_buffer.py"),
    )
