"""`generate BLOCK`: the folder of a block stands on its own, and its FuseSoC targets do what they say; also those of a design."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.hardware import package_synth
from penstock.paths import ROOT, tool_environment

CORE = "penstock:blocks:pst_fifo"
VIVADO = ("read_verilog", "synth_design", "create_clock", "get_ports", "opt_design", "place_design", "phys_opt_design", "route_design",
          "report_utilization", "report_timing_summary", "get_timing_paths", "add_files", "get_runs", "set_property")  # fmt: skip


@pytest.fixture
def block(tmp_path: Path) -> Path:
    out = tmp_path / "alone"
    assert main(["generate", "fifo", "--set", "width=72", "--set", "depth=64", "--out", str(out)]) == 0
    return out


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)


def fusesoc(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "fusesoc", "--cores-root", ".", "run", *arguments)


def test_it_stands_alone_and_lints(block: Path) -> None:
    assert sorted((block / "pst_fifo.f").read_text().split()) == sorted(f"rtl/{path.name}" for path in (block / "rtl").iterdir())
    assert not any(path.is_file() and str(ROOT).encode() in path.read_bytes() for path in block.rglob("*"))
    done = fusesoc(block, "--target=lint", CORE)
    assert done.returncode == 0, done.stdout + done.stderr
    done = fusesoc(block, "--target=lint", CORE, "--Depth", "0")  # the parameter comes to the module, which refuses it
    assert done.returncode != 0 and "Depth" in done.stdout + done.stderr


def test_ecp5_gives_area_and_clock(block: Path) -> None:
    done = fusesoc(block, "--target=ecp5", CORE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pst_fifo on LFE5U-85F, speed grade 8: Width 72, Depth 64" in done.stdout
    figures = {name: float(value.replace(",", "")) for name, value in re.findall(r"^  (\w+) +([0-9,.]+) ", done.stdout, re.MULTILINE)}
    assert figures["BRAM"] == 2 and 50 < figures["FF"] < 200 and 100 < figures["Fmax"] < 500  # 64 words of 72 bits


def test_what_the_tools_refuse_is_an_error(block: Path) -> None:
    source = block / "rtl" / "pst_fifo.sv"
    source.write_text(source.read_text().replace("endmodule", "  logic here = nowhere;\nendmodule"))
    done = run(block, "python3", "synth/ecp5.py")
    assert done.returncode == 1 and "nowhere" in done.stderr and "Fmax" not in done.stdout


def test_vivado_is_set_up(block: Path) -> None:
    """There is no Vivado here: FuseSoC writes its project."""
    done = fusesoc(block, "--setup", "--target=vivado", CORE)
    assert done.returncode == 0, done.stdout + done.stderr
    (project,) = block.glob("build/*/vivado/penstock_blocks_pst_fifo_*[0-9].tcl")
    text = project.read_text()
    assert f"set_property part {package_synth.PART}" in text and "set_property top pst_fifo" in text and "Width=72 Depth=64" in text
    assert "vivado_constraints.tcl" in text and text.count("read_verilog -sv") == len(list((block / "rtl").iterdir()))


@pytest.mark.parametrize("mhz", [None, "300"])
def test_the_scripts_for_vivado_are_tcl(block: Path, mhz: str | None) -> None:
    """With commands that only say how they are called; what Vivado makes of them is not known here."""
    if not shutil.which("tclsh"):
        pytest.skip("there is no tclsh")
    said = "\n".join(f'proc {name} args {{ puts "{name} $args"; return 0 }}' for name in VIVADO)
    said += "\nproc get_property args { return 0.5 }\n"
    period = "4.000" if mhz is None else "3.333"  # 250 MHz unless it is said
    for script in ("vivado.tcl", "vivado_constraints.tcl"):
        (block / "said.tcl").write_text(f"{said}source synth/{script}\n")
        environment = {key: value for key, value in tool_environment().items() if key != "CLOCK_MHZ"}
        environment |= {} if mhz is None else {"CLOCK_MHZ": mhz}
        done = subprocess.run(["tclsh", "said.tcl"], cwd=block, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if script == "vivado.tcl":
            assert f"-period {period}" in done.stdout and f"-top pst_fifo -part {package_synth.PART} -mode out_of_context" in done.stdout
            assert "-generic Width=72 -generic Depth=64" in done.stdout
            assert done.stdout.count("read_verilog") == len(list((block / "rtl").iterdir()))
        else:
            assert (block / "pst_clock.xdc").read_text() == f"create_clock -name clk -period {period} [get_ports clk_i]\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fifoo"], "did you mean 'fifo'"),
        (["fifo", "--set", "dept=4"], "did you mean 'depth'"),
        (["fifo", "--config", "tiny_16"], "is no design"),
        (["page_pools", "--set", "mem_pages=64'h10"], "is a literal"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", *arguments, "--out", str(tmp_path / "none")]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1
    assert not (tmp_path / "none").exists()


def test_an_aqm_is_in_by_its_name(tmp_path: Path) -> None:
    out = tmp_path / "core"
    assert main(["generate", "access_edge_core", "--set", "aqm=pie", "--set", "queues=64", "--out", str(out)]) == 0
    size = json.loads((out / "synth" / "size.json").read_text())
    assert size["parameters"]["Queues"] == 64 and "rtl/pst_pie.sv" in (out / "pst_access_edge_core.f").read_text().split()
    done = fusesoc(out, "--target=lint", "penstock:blocks:pst_access_edge_core")
    assert done.returncode == 0, done.stdout + done.stderr
