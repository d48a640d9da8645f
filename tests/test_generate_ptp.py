# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A package whose wrapper gives frames their time of departure: the bench of the wrapper compares each with what it drives."""

import subprocess
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.hardware import axi_wrapper
from penstock.hardware.generate import generate
from penstock.paths import tool_environment

SMALL = "OPTIMISE=OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
CASES = {"edge": ("tiny_16", 96, ()), "deadline": ("tiny_deadline_3", 64, ("stream",))}


def package(folder: Path, case: str) -> Path:
    name, bits, crossings = CASES[case]
    generate(configs.load(name), folder, crossings=crossings, choice=axi_wrapper.Choice(ptp_time=bits))
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("case", CASES)
def test_it_lints(tmp_path: Path, case: str) -> None:
    out = package(tmp_path / "alone", case)
    (listed,) = out.glob("*_axi.f")
    (bench,) = out.glob("sim/*_tb.f")
    lint = ("verilator", "--lint-only", "--timing", "verilator.vlt", "-f", listed.name)
    done = run(out, *lint, "-Wall", "--top-module", listed.stem)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(out, *lint, "+define+PST_AXI", "-f", f"sim/{bench.name}", "--top-module", bench.stem)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"--ptp-time {CASES[case][1]}" in (out / "README.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_stamps_are_of_the_first_beat(tmp_path: Path, case: str) -> None:
    """Every frame, whatever the sink does; a stamp of another beat is seen."""
    out = package(tmp_path / "alone", case)
    stamp = out / "rtl" / "pst_departure_stamp.sv"
    text = stamp.read_text()
    assert text.count("if (first_q) time_q") == 1
    # One build for both, as it takes minutes: the fault is there when the simulation is started with it.
    stamp.write_text(text.replace("if (first_q) time_q", 'if (first_q || $test$plusargs("every_beat")) time_q'))
    done = run(out, "make", "-C", "sim", "axi", SMALL)
    assert done.returncode == 0 and done.stdout.count("PASS") == 1, done.stdout + done.stderr
    simulation = out / "sim" / "build" / "axi" / "bench"
    done = run(out, str(simulation), "+frames=500", "+seed=1", "+every_beat")
    assert done.returncode != 0 and "FAIL: a frame has time" in done.stdout + done.stderr, done.stdout + done.stderr


def test_what_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert main(["generate", "access_edge", "--ptp-time", "80", "--out", out]) == 2
    assert "a time has 64 or 96 bits" in capsys.readouterr().err
    assert main(["generate", "frame_switch", "--ptp-time", "64", "--out", out]) == 2
    assert "has several outputs" in capsys.readouterr().err
    assert main(["generate", "fifo", "--ptp-time", "64", "--out", out]) == 2
    assert "fifo is no design" in capsys.readouterr().err and not Path(out).exists()
