# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`generate library`: all cores as one FuseSoC library, added by path and by URL, with its waivers."""

import re
import subprocess
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs import design as designs
from penstock.hardware import library
from penstock.paths import BLOCKS, tool_environment

DECLARED = re.compile(r"^\s*(?:module|package)\s+(?:automatic\s+)?(\w+)", re.MULTILINE)
PROJECT = """CAPI=2:
name: ::project:0
filesets:
  rtl:
    files: [project.sv]
    file_type: systemVerilogSource
    depend: ["penstock:access_edge:pst_access_edge_tiny_codel_16", "penstock:access_edge:pst_access_edge_tiny_pie_16",
             "penstock:deadline_port:pst_deadline_port_tiny_deadline_3", "penstock:blocks:stream"]
targets:
  lint:
    filesets: [rtl]
    toplevel: project
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [--timing, -Wall]
"""
TOP = """// verilator lint_off PINMISSING
module project (input logic clk, input logic resetn);
  pst_access_edge_tiny_codel_16_axi u_codel (.aclk(clk), .aresetn(resetn));
  pst_access_edge_tiny_pie_16_axi u_pie (.aclk(clk), .aresetn(resetn));
  pst_deadline_port_tiny_deadline_3_axi u_deadline (.aclk(clk), .aresetn(resetn));
  pst_fifo #(.Width(8), .Depth(4)) u_fifo (.clk_i(clk), .rst_i(!resetn));
endmodule
"""


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def cores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("library") / "penstock"
    assert main(["generate", "library", "--out", str(out)]) == 0
    return out


def test_each_module_is_there_once_and_all_devices_and_blocks_are(cores: Path) -> None:
    found = [name for path in cores.rglob("rtl/*.sv") for name in DECLARED.findall(path.read_text())]
    assert len(found) > 250 and len(found) == len(set(found))
    named = {re.findall(r"^name: (\S+):", path.read_text(), re.MULTILINE)[0] for path in cores.rglob("*.core")}
    devices = {f"penstock:{each}:pst_{each}_{name}" for each in designs.with_rtl() for name in configs.names(each)}
    blocks = {f"penstock:blocks:{name}" for name, listed in library.file_lists().items() if listed.is_relative_to(BLOCKS)}
    assert devices < named and named - devices - {"penstock:common:modules"} <= blocks and len(named - devices) > 15


@pytest.mark.parametrize("by", ["path", "url"])
def test_a_project_adds_it_and_lints(cores: Path, tmp_path: Path, by: str) -> None:
    """By a path, and from a Git repository; four cores of it in one project, and no warning."""
    where = str(cores)
    if by == "url":
        git = ("git", "-C", where, "-c", "user.name=a", "-c", "user.email=a@b.example")
        for step in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "Library")):
            run(tmp_path, *git, *step)
        where = f"file://{where}"
    (tmp_path / "project.core").write_text(PROJECT)
    (tmp_path / "project.sv").write_text(TOP)
    run(tmp_path, "fusesoc", "library", "add", "project", ".")
    run(tmp_path, "fusesoc", "library", "add", "penstock", where, *([] if by == "path" else ["--sync-type=git"]))
    assert "penstock:blocks:stream" in run(tmp_path, "fusesoc", "core", "list")
    told = run(tmp_path, "fusesoc", "run", *(["--setup"] if by == "url" else []), "--target=lint", "project")  # the same files: lint once
    assert "%Warning" not in told and "Duplicate" not in told


def test_a_block_of_it_lints_and_takes_parameters(cores: Path, tmp_path: Path) -> None:
    command = ("fusesoc", f"--cores-root={cores}", "run", "--target=lint", "penstock:blocks:queue")
    assert "%Warning" not in run(tmp_path, *command, "--Queues", "128")
    done = subprocess.run([*command, "--Queues", "0"], cwd=tmp_path, env=tool_environment(), capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "Queues" in done.stdout + done.stderr


@pytest.mark.parametrize("more", [["--set", "queues=4"], ["--name", "mine"], ["--config", "tiny_16"], ["--fifo-depth", "4"]])
def test_options_that_it_has_not(tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "library", *more, "--out", str(tmp_path / "out")]) == 2
    assert f"{more[0]} is not for library" in capsys.readouterr().err and not (tmp_path / "out").exists()
