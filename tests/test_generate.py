"""`generate`: the folder stands on its own, lints, elaborates, and its stub test bench runs."""

import os
import subprocess
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.errors import UserError
from penstock.hardware.generate import generate
from penstock.paths import ROOT, tool_environment

CONFIG = "tiny_16"


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# One of each design; the switch smaller than it is, so that it compiles fast.
CHOSEN = {CONFIG: {}, "switch_4": {"ports": 2, "data_bytes": 8, "classes": 1, "room_cells": 256}}


@pytest.fixture(scope="module", params=CHOSEN)
def module(request: pytest.FixtureRequest) -> str:
    return str(configs.load(request.param).module)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, module: str) -> Path:
    out = tmp_path_factory.mktemp("generated") / "of_its_own"
    (name,) = (name for name in CHOSEN if configs.load(name).module == module)
    generate(configs.with_overrides(configs.load(name), CHOSEN[name]), out)
    return out


def test_everything_is_there_and_nothing_points_elsewhere(folder: Path, module: str) -> None:
    listed = (folder / f"{module}.f").read_text().split()
    assert listed[-1] == f"rtl/{module}.sv"
    assert sorted(listed) == sorted(str(path.relative_to(folder)) for path in (folder / "rtl").iterdir())
    for path in folder.rglob("*"):
        assert path.is_dir() or str(ROOT).encode() not in path.read_bytes(), path


def test_it_lints_and_elaborates_alone(folder: Path, module: str) -> None:
    lint = ("verilator", "--lint-only", "-Wall", "--timing", "verilator.vlt", "-f", f"{module}.f")
    run(folder, *lint, "--top-module", module)
    run(folder, *lint, f"tb/{module}_tb.sv", "--top-module", f"{module}_tb")


def test_the_stub_test_bench_runs(folder: Path, module: str) -> None:
    command = next(line.split() for line in (folder / "README.md").read_text().splitlines() if "--binary" in line)
    run(folder, *command, "-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0")
    assert "PASS" in run(folder, f"./obj_dir/V{module}_tb")


def test_the_core_file_names_every_source(folder: Path, module: str) -> None:
    from ruamel.yaml import YAML

    first, _, rest = (folder / f"{module}.core").read_text().partition("\n")
    assert first == "CAPI=2:"
    core = YAML(typ="safe").load(rest)
    assert core["filesets"]["rtl"]["files"] == (folder / f"{module}.f").read_text().split()
    assert core["targets"]["lint"]["toplevel"] == module
    for fileset in core["filesets"].values():
        for entry in fileset["files"]:
            assert (folder / (entry if isinstance(entry, str) else next(iter(entry)))).exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        generate(configs.load(CONFIG), tmp_path)
    assert os.listdir(tmp_path) == ["mine.txt"]
    generate(configs.load(CONFIG), tmp_path, force=True)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    with pytest.raises(UserError, match="is a file"):
        generate(configs.load(CONFIG), tmp_path / "mine.txt")


def test_without_a_configuration_it_is_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "access_edge", "--out", str(tmp_path / "new")]) == 0
    module = f"pst_access_edge_{configs.names()[0]}"
    assert module in capsys.readouterr().out and (tmp_path / "new" / f"{module}.f").exists()


def test_settings_are_in_the_hardware_and_in_the_readme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "changed"
    assert main(["generate", "access_edge", "--config", CONFIG, "--set", "queues=32", "--set", "aqm=codel", "--out", str(out)]) == 0
    assert "(32)" in next(line for line in (out / f"rtl/pst_access_edge_{CONFIG}.sv").read_text().splitlines() if ".Queues" in line)
    readme = (out / "README.md").read_text()
    assert "--set queues=32 --set aqm=codel" in readme and "| queues | 32 |" in readme
    assert "pst_codel" in (out / f"pst_access_edge_{CONFIG}.f").read_text()
    assert main(["generate", "access_edge", "--set", "queus=32", "--out", str(tmp_path / "none")]) == 2
    assert "did you mean 'queues'" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["/proc/penstock", "mine.txt/below"])
def test_a_folder_that_cannot_be_made_is_said_in_words(tmp_path: Path, place: str) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="--out .* cannot be written"):
        generate(configs.load(CONFIG), tmp_path / place)
