"""docs/ports.md is what the heads of the modules give, and the heads are read right: against a second, simpler reader, and by hand."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.errors import UserError
from penstock.hardware import ports
from penstock.paths import ROOT

TOOL = ROOT / ports.TOOL
LONG = " ".join(["word"] * 30)
MODULE = f"""\
// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Does a thing.
//
//   Latency: 3 cycles.
module pst_thing
  import pst_pkg::*;
#(
    parameter int unsigned Things = 4,  // >= 1
    // {LONG}
    parameter logic [Things-1:0][31:0] Sizes = {{Things{{32'd1 | 32'd2}}}},
    parameter string Style = "a//b",
    localparam int unsigned Width = $clog2(Things + 1)  // bits
) (
    input  logic             clk_i,
    // things in,
    // one by one
    input  logic [Width-1:0] s_thing_i,    // the thing | the other
    output logic [      7:0] m_o[Things],
    // nothing
    output len_t             len_o
);
endmodule
"""


def test_the_page_is_fresh() -> None:
    assert ports.stale() == [], f"run {ports.TOOL}"


def test_every_port_stands_in_the_page() -> None:
    """As a reader of lines finds them: one port or parameter a line, in the order of the head."""
    page = ports.page()
    sections = {text.split("\n", 1)[0]: text for text in page.split("\n### ")[1:]}
    assert len(sections) >= 25 and {"pst_queue_manager", "pst_schedule", "pst_ram_1r1w", "pst_access_edge"} <= set(sections)
    for name, path in ports.shown().items():
        head = path.read_text().split("\nendmodule")[0].split(f"module {name}")[1].split("\n);")[0]
        lines = [line for line in head.splitlines() if re.match(r" *(parameter|localparam|input|output)\b", line)]
        wanted = [re.sub(r" =.*|//.*", "", line).rstrip(" ,").split()[-1] for line in lines]
        found = [row.group(1) for row in re.finditer(r"^\| `(\w+)` \|", sections[name], re.MULTILINE)]
        assert found == wanted, name
        said = [line for line in sections[name].split("```")[1].splitlines()[1:] if line]
        assert said and all(f"// {line}\n" in path.read_text() for line in said), name


def test_which_modules() -> None:
    """Main modules of file lists, and what another folder instantiates; not what is only used beside itself."""
    shown = ports.shown()
    assert {"pst_fifo", "pst_timing_wheel", "pst_islip_switch", "pst_access_edge_core", "pst_edfr_wide"} <= set(shown)
    assert not {"pst_fair_lists", "pst_fabric_output", "pst_access_edge_regs", "pst_pkg"} & set(shown)


def test_a_head_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "pst_thing.sv"
    path.write_text(MODULE)
    head = ports.head(path)
    assert head.said == ["Does a thing.", "", "  Latency: 3 cycles."]
    assert head.parameters == [
        ports.Entry("Things", "int unsigned", "parameter", "4", "", ">= 1"),
        ports.Entry("Sizes", "logic [Things-1:0][31:0]", "parameter", "{Things{32'd1 | 32'd2}}", LONG, ""),
        ports.Entry("Style", "string", "parameter", '"a//b"', "", ""),
        ports.Entry("Width", "int unsigned", "localparam", "$clog2(Things + 1)", "", "bits"),
    ]
    assert head.ports == [
        ports.Entry("clk_i", "logic", "in", "", "", ""),
        ports.Entry("s_thing_i", "logic [Width-1:0]", "in", "", "things in, one by one", "the thing | the other"),
        ports.Entry("m_o", "logic [7:0] [Things]", "out", "", "", ""),
        ports.Entry("len_o", "len_t", "out", "", "nothing", ""),
    ]
    parameters, rows = "\n".join(ports.parameter_table(head)), "\n".join(ports.port_table(head))
    first = " ".join(["word"] * 23)
    assert f"| `{{Things{{32'd1 \\| 32'd2}}}}` | {first} |\n|  |  |  | {' '.join(['word'] * 7)} |" in parameters
    assert "| follows from the others: bits |" in parameters
    assert "|  |  |  | *things in, one by one* |\n| `s_thing_i` | in | `logic [Width-1:0]` | the thing \\| the other |" in rows


def test_a_file_without_its_module_is_told(tmp_path: Path) -> None:
    path = tmp_path / "pst_other.sv"
    path.write_text(MODULE)
    with pytest.raises(UserError, match="pst_other.sv: has no module pst_other with ports"):
        ports.head(path)


def test_the_tool(tmp_path: Path) -> None:
    """`--check` says what is not fresh and writes nothing; without it the page is written."""
    for folder in ("src", "tools", "blocks", "designs", "docs", "engine"):
        keep = shutil.ignore_patterns("__pycache__", "test", "bench", "*.so")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=keep)
    shutil.copy(ROOT / "requirements.txt", tmp_path)
    page, head = tmp_path / ports.PAGE, tmp_path / "blocks/queue/rtl/pst_queue_manager.sv"
    run = [sys.executable, str(tmp_path / ports.TOOL)]
    done = subprocess.run([*run, "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    head.write_text(head.read_text().replace("bit          ReportLeft", "bit          ReportsLeft"))
    done = subprocess.run([*run, "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"docs/ports.md is not fresh: run {ports.TOOL}\n")
    assert page.read_text() == (ROOT / ports.PAGE).read_text()
    done = subprocess.run(run, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "docs/ports.md\n") and "`ReportsLeft`" in page.read_text()
    package = tmp_path / "blocks/common/rtl/pst_axi_pkg.sv"
    package.write_text(package.read_text().replace("logic                   wlast;", "logic                   wend;"))
    done = subprocess.run([*run, "--check"], capture_output=True, text=True)
    wanted = ("docs/ports.md", "engine/src/shim_axi.hpp", "blocks/memory/formal/pst_axi_pkg.sv")
    assert (done.returncode, done.stderr) == (1, "".join(f"{name} is not fresh: run {ports.TOOL}\n" for name in wanted))
    head.write_text("nothing")
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("generate_ports: ") and done.stderr.count("\n") == 1
