# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`generate --memory-base`: where each memory begins on its bus, in the wrapper alone."""

import re
import subprocess
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.hardware import axi_wrapper
from penstock.hardware.generate import generate
from penstock.paths import tool_environment

SIZES = configs.load("tiny_16").memory_sizes  # two memories
BASES = (0x8000_0000, 0x12_3456_0000)


@pytest.mark.parametrize(
    ("design", "text", "said"),
    [
        ("access_edge", "0x8000_0000", "give an address for each of the 2 memories, separated by commas, not 1"),
        ("access_edge", "0,here", "'here' is no address; give a number such as 0x8000_0000"),
        ("access_edge", "0x8000_0100,0", f"memory 0 has {SIZES[0]:,} bytes, so its address must be a multiple of 0x"),
        ("access_edge", "-0x100000,0", "below 2^64, not -0x100000"),
        ("access_edge", "0,0x1_0000_0000_0000_0000", "below 2^64, not 0x1_0000_0000_0000_0000"),
        ("frame_switch", "0", "frame_switch has no memories"),
        ("fifo", "0", "fifo is no design; it is for the wrapper of a design"),
    ],
)
def test_what_is_no_base_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], design: str, text: str, said: str) -> None:
    config = ["--config", "tiny_16"] if design == "access_edge" else []
    assert main(["generate", design, *config, f"--memory-base={text}", "--out", str(tmp_path / "none")]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and not (tmp_path / "none").exists(), error


def test_the_command_says_it_again(tmp_path: Path) -> None:
    command = ["generate", "access_edge", "--config", "tiny_16", "--memory-base", "0x8000_0000, 0x12_3456_0000", "--out"]
    assert main([*command, str(tmp_path / "out")]) == 0
    readme = (tmp_path / "out/README.md").read_text()
    assert "--memory-base 0x80000000,0x1234560000" in readme and "memory 0 at 0x80000000, 1 at 0x1234560000" in readme
    (wrapper,) = (tmp_path / "out").glob("axi/*_axi.v")
    text = wrapper.read_text()
    assert re.findall(r"ADDR_WIDTH (\d+), ID", text) == ["32", "37"]
    assert main([*command[:4], "--out", str(tmp_path / "plain")]) == 0
    (plain,) = (tmp_path / "plain").glob("axi/*_axi.v")
    assert "memories begin" not in (tmp_path / "plain/README.md").read_text() and "d_m_axi" not in plain.read_text()


def package(folder: Path, name: str, bases: tuple[int, ...], **more: tuple[str, ...]) -> Path:
    generate(configs.load(name), folder, choice=axi_wrapper.Choice(bases=bases), **more)
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("bases", [BASES, (0, 0), (0, SIZES[0]), (0x1000_0000_0000_0000, (1 << 64) - (1 << 20))])
def test_it_lints(tmp_path: Path, bases: tuple[int, ...]) -> None:
    out = package(tmp_path / "alone", "tiny_16", bases)
    (listed,) = out.glob("*_axi.f")
    (bench,) = out.glob("sim/*_tb.f")
    lint = ("verilator", "--lint-only", "--timing", "verilator.vlt", "-f", listed.name)
    done = run(out, *lint, "-Wall", "--top-module", listed.stem)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(out, *lint, "+define+PST_AXI", "-f", f"sim/{bench.name}", "--top-module", bench.stem)
    assert done.returncode == 0, done.stdout + done.stderr


# The device, of which only addresses are there; around it wrapper and bench's module, which must take off what the wrapper puts on.
STUB = """
  logic [31:0] count_q;
  always_ff @(posedge clk_i) count_q <= rst_i ? '0 : count_q + 32'h9e3779b1;
  assign m_axi_awaddr_o = {18'(count_q >> 20) & 18'hfc0, 18'(count_q >> 12) & 18'h1ffc0};
  assign m_axi_araddr_o = {18'(count_q >> 15) & 18'hfc0, 18'(count_q >> 9) & 18'h1ffc0};
  assign m_axi_awvalid_o = '1;
  assign m_axi_arvalid_o = '1;
"""
TOP = """
module top;
  logic clk = 1'b0, rst = 1'b1;
  logic [1:0][17:0] aw, ar;
  always #1 clk = ~clk;
  NAME_axi_native u (.clk_i(clk), .rst_i(rst), .m_axi_awaddr_o(aw), .m_axi_araddr_o(ar));
  initial begin
    repeat (4) @(posedge clk);
    rst = 1'b0;
    repeat (1000) begin
      @(negedge clk);
      if (aw !== u.u_axi.u_device.m_axi_awaddr_o || ar !== u.u_axi.u_device.m_axi_araddr_o) $fatal(1, "FAIL: other addresses");
      if (64'(u.u_axi.m_axi_0_awaddr) !== 64'hBASE0 + 64'(aw[0]) || 64'(u.u_axi.m_axi_1_araddr) !== 64'hBASE1 + 64'(ar[1]))
        $fatal(1, "FAIL: other sums");
    end
    $display("PASS");
    $finish;
  end
endmodule
"""
# What a wrapper could do wrong: another base, none, one for reads alone.
WRONG = {"right": ("", ""), "another": ("37'h1234560000 |", "37'h1234570000 |"), "none": ("32'h80000000 |", "32'h0 |")}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_put_on_is_taken_off(tmp_path: Path, wrong: str) -> None:
    out = package(tmp_path / "alone", "tiny_16", BASES)
    (listed,) = out.glob("*_axi.f")
    name = listed.stem.removesuffix("_axi")
    text = (out / f"rtl/{name}.sv").read_text()
    head = text[text.index("module ") : text.index(");") + 2]
    assert "[1:0][17:0]" in head
    (out / "stub.sv").write_text(f"{head}\n{STUB}endmodule\n")
    (out / "top.sv").write_text(TOP.replace("NAME", name).replace("BASE0", f"{BASES[0]:x}").replace("BASE1", f"{BASES[1]:x}"))
    wrapper = out / f"axi/{name}_axi.v"
    old, new = WRONG[wrong]
    assert not old or wrapper.read_text().count(old) == 2
    wrapper.write_text(wrapper.read_text().replace(old, new) if old else wrapper.read_text())
    files = ["stub.sv", f"axi/{name}_axi.v", f"sim/{name}_axi_native.sv", "top.sv"]
    done = run(
        out,
        "verilator",
        "--binary",
        "--timing",
        "-Wno-fatal",
        "-CFLAGS",
        "-std=c++20 -O0",
        "--top-module",
        "top",
        "--Mdir",
        "build",
        *files,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(out, "build/Vtop")
    said = done.stdout + done.stderr
    assert (done.returncode == 0) == (wrong == "right") and ("PASS" if wrong == "right" else "FAIL: ") in said, said


SMALL = "OPTIMISE=OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bases", "crossed"), [("tiny_16", BASES, ()), ("tiny_deadline_3", BASES, ("memory",))])
def test_frames_go_through_memories_elsewhere(tmp_path: Path, name: str, bases: tuple[int, ...], crossed: tuple[str, ...]) -> None:
    """The bench takes each base off again, and fails on an address that is outside of its memory; so do others than these bases."""
    out = package(tmp_path / "alone", name, bases, crossings=crossed)
    done = run(out, "make", "-C", "sim", "axi", SMALL)
    assert done.returncode == 0 and done.stdout.count("PASS") == 1, done.stdout + done.stderr
    (wrapper,) = out.glob("axi/*_axi.v")
    text = wrapper.read_text()
    assert text.count("37'h1234560000 |") == 2
    wrapper.write_text(text.replace("37'h1234560000 |", "37'h1234570000 |" if name == "tiny_16" else "37'h0234560000 |"))
    done = run(out, "make", "-C", "sim", "axi", SMALL)
    assert done.returncode != 0 and "FAIL: " in done.stdout + done.stderr, done.stdout + done.stderr


@pytest.mark.slow
def test_frames_go_through_with_cocotb(tmp_path: Path) -> None:
    done = run(package(tmp_path / "alone", "tiny_16", BASES), "make", "-C", "sim", "cocotb", SMALL)
    assert done.returncode == 0 and "1 tests, 0 failed: PASS" in done.stdout, done.stdout + done.stderr
