# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Packages that share the common modules: lists, FuseSoC, and a project with CoDel and PIE that are told apart by what they do."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge.settings import plain
from penstock.hardware.generate import generate
from penstock.hardware.renamed import declarations_renamed, declared
from penstock.parts import registry
from penstock.paths import tool_environment

DECLARED = re.compile(r"^\s*(?:module|package|interface)\s+(?:automatic\s+)?(\w+)", re.MULTILINE)
# Both queues serve half a byte per cycle and get two thirds of one; the delays are some thousand cycles.
SETTINGS = {
    "codel": {"rate": "880 Mbit/s", "aqm": {"target": "5 us", "interval": "20 us"}},
    "pie": {"rate": "40 Mbit/s", "aqm": {"target": "100 us", "max_burst": "2 us"}},
}
FRAMES, BYTES, GAP = 100, 200, 300  # cycles from one frame to the next


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the common modules and two packages: `codel` with a name, `pie` without."""
    out = tmp_path_factory.mktemp("both")
    generate(configs.load("tiny_codel_16"), out / "codel", name="codel_edge", beside=out / "common")
    generate(configs.load("tiny_pie_16"), out / "pie", beside=out / "common")
    return out


TOPS = {"codel": "codel_edge_access_edge_tiny_codel_16", "pie": "pst_access_edge_tiny_pie_16"}


def test_each_module_is_there_once(both: Path) -> None:
    found = [name for path in both.rglob("rtl/*.sv") for name in DECLARED.findall(path.read_text())]
    assert len(found) > 130 and len(found) == len(set(found))
    own = {place: {path.stem for path in (both / place / "rtl").iterdir()} for place in TOPS}
    assert {name.removeprefix("codel_edge_") for name in own["codel"]} == {
        "access_edge", "access_edge_core", "access_edge_judge", "access_edge_tiny_codel_16", "aqm", "aqm_algorithm"
    }  # fmt: skip
    assert f"{TOPS['pie']}_aqm_algorithm" in own["pie"] and TOPS["pie"] in own["pie"]
    assert not {"pst_codel", "pst_pie", "pst_fifo"} & (own["codel"] | own["pie"])


@pytest.mark.parametrize("place", TOPS)
def test_the_list_of_a_package_finds_them(both: Path, place: str) -> None:
    """Lint as its README says; and each file of the list is there."""
    (line,) = re.findall(r"^    (verilator --lint-only .*)$", (both / place / "README.md").read_text(), re.MULTILINE)
    run(both / place, *line.split())
    listed = (both / place / f"{TOPS[place]}.f").read_text().split()
    assert all((both / place / name).exists() for name in listed) and any(name.startswith("../common/rtl/") for name in listed)


def test_the_same_modules_are_left_and_others_refused(both: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = shutil.copytree(both / "common", tmp_path / "common")
    before = (common / "modules.core").stat().st_mtime_ns
    command = ["generate", "access_edge", "--config", "tiny_16", "--common", str(common), "--out"]
    assert main([*command, str(tmp_path / "one")]) == 0
    assert (common / "modules.core").stat().st_mtime_ns == before
    assert [path.name for path in (tmp_path / "one" / "rtl").iterdir()] == ["pst_access_edge_tiny_16.sv"]  # it has no part of its own
    (common / "rtl" / "pst_fifo.sv").write_text("module pst_fifo; endmodule\n")
    assert main([*command, str(tmp_path / "two")]) == 2
    assert "its rtl/pst_fifo.sv is not that of Penstock" in capsys.readouterr().err and not (tmp_path / "two").exists()
    assert main([*command[:-2], str(tmp_path / "three"), "--out", str(tmp_path / "three")]) == 2
    assert "give a folder beside --out" in capsys.readouterr().err


@pytest.mark.parametrize("what", [["fifo"], ["fabric"]])
def test_what_shares_nothing(tmp_path: Path, what: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", *what, "--common", str(tmp_path / "common"), "--out", str(tmp_path / "out")]) == 2
    assert "--common" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_the_script_of_ecp5_finds_them_in_fusesoc(both: Path) -> None:
    """FuseSoC's tree has a folder for each core; the list that it is given names the other one there."""
    core = f"penstock:access_edge:{TOPS['codel']}"
    run(both, "fusesoc", "--cores-root=codel", "--cores-root=common", "run", "--setup", "--target=ecp5", core)
    (work,) = both.glob("build/*/ecp5")
    (listed,) = work.glob(f"src/*/{TOPS['codel']}.f")
    assert all((listed.parent / name).exists() for name in listed.read_text().split())


OWN_AQM = {
    "gate/part.yaml": "kind: aqm\nwords: Passes all.\nsees: departures\nrtl: {module: gate, files: [gate_pkg.sv, gate.sv]}\n"
    "model: {header: gate.hpp, class: Gate}\n",
    "gate/gate_pkg.sv": "package gate_pkg;\n  localparam bit Gate = 1'b1;\nendpackage\n",
    "gate/gate.hpp": "struct Gate {};\n",
    "gate/gate.sv": """module gate
  import pst_aqm_pkg::*;
#(
    parameter int unsigned Queues = 64,
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    s_take_valid_i,
    input  logic [QueueIdWidth-1:0] s_take_queue_i,
    output logic                    m_deq_verdict_valid_o,
    output logic [QueueIdWidth-1:0] m_deq_verdict_queue_o,
    output verdict_e                m_deq_verdict_o
);
  logic gate;
  assign gate = gate_pkg::Gate;
  logic valid_q;
  logic [QueueIdWidth-1:0] queue_q;
  always_ff @(posedge clk_i) begin
    valid_q <= s_take_valid_i && gate;
    queue_q <= s_take_queue_i;
    m_deq_verdict_valid_o <= valid_q;
    m_deq_verdict_queue_o <= queue_q;
  end
  assign m_deq_verdict_o = VerdictPass;
endmodule
""",
}


@pytest.mark.parametrize("shared", [False, True])
def test_an_aqm_of_ones_own_gets_the_name(tmp_path: Path, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its modules, packages and files, though there is a pst_gate; signals that are called the same stay."""
    monkeypatch.setenv(registry.VARIABLE, "")
    for name, text in OWN_AQM.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    command = ["generate", "access_edge", "--config", "tiny_16", "--set", "aqm=gate", "--with", str(tmp_path / "gate"), "--name", "mine"]
    command += ["--common", str(tmp_path / "common")] if shared else []
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    found = {name for path in (tmp_path / "out").rglob("*.*v") for name in DECLARED.findall(path.read_text())}
    assert {"mine_own_gate", "mine_own_gate_pkg"} <= found and all(name.startswith("mine_") for name in found)
    text = (tmp_path / "out/rtl/mine_own_gate.sv").read_text()
    assert (
        "assign gate = mine_own_gate_pkg::Gate;" in text and "mine_own_gate #(" in (tmp_path / "out/rtl/mine_aqm_algorithm.sv").read_text()
    )
    (line,) = re.findall(r"^    (verilator --lint-only .*)$", (tmp_path / "out/README.md").read_text(), re.MULTILINE)
    run(tmp_path / "out", *line.split())


def test_declarations_are_renamed_and_nothing_else() -> None:
    source = """// é fifo
module fifo import fifo_pkg::*; #(parameter int W = 3) (input logic fifo, output fifo_pkg::t x);
  inner #(.W(W)) inner (.fifo(fifo));
  assign x = fifo_pkg::K + fifo;
endmodule : fifo
package fifo_pkg; localparam int K = 3; endpackage : fifo_pkg
module top; if (1) begin : g_fifo fifo u (.*); end endmodule
"""
    assert declared(source) == ["fifo", "fifo_pkg", "top"]
    assert declarations_renamed(source, {name: f"my_{name}" for name in ("fifo", "fifo_pkg", "inner")}) == (
        source.replace("module fifo", "module my_fifo")
        .replace("fifo_pkg", "my_fifo_pkg")
        .replace("  inner #", "  my_inner #")
        .replace("endmodule : fifo", "endmodule : my_fifo")
        .replace("g_fifo fifo u", "g_fifo my_fifo u")
    )


# The project: both devices in one top, and a test that sends the same frames to both.
CORE = """CAPI=2:
name: ::both:0
filesets:
  rtl:
    files: [both.sv]
    file_type: systemVerilogSource
    depend: [{depends}]
  bench:
    files: [pst_sim_pkg.sv, pst_sim_memory.sv, pst_sim_registers.sv, pst_sim_sink.sv, pst_sim_source.sv, both_tb.sv]
    file_type: systemVerilogSource
targets:
  lint:
    filesets: [rtl]
    toplevel: both
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [--timing, -Wall]
  sim:
    filesets: [rtl, bench]
    toplevel: both_tb
    flow: sim
    flow_options:
      tool: verilator
      mode: binary
      verilator_options: [--timing, -Wno-fatal, -CFLAGS -std=c++20, -MAKEFLAGS "CFG_CXXFLAGS_PCH_I=-include {optimise}"]
"""
OPTIMISE = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
# One device with its memories, its registers, a source and a sink; it prints what becomes of each frame.
END = """module @PLACE@_end import pst_sim_pkg::*; (input logic clk_i, input logic rst_i, output logic done_o);
@SIGNALS@
  @TOP@ u_device (
@PINS@
  );
  localparam int unsigned Bytes[2] = '{131072, 4096};
  for (genvar m = 0; m < 2; m++) begin : g_memory
    pst_sim_memory #(.AddrWidth($bits(m_axi_awaddr_o) / 2), .Bytes(longint'(Bytes[m])), .Which(m)) u_memory (
        .clk_i, .rst_i, .seed_i(1),
        .awvalid_i(m_axi_awvalid_o[m]), .awready_o(m_axi_awready_i[m]), .awaddr_i(m_axi_awaddr_o[m]), .awlen_i(m_axi_awlen_o[m]),
        .awsize_i(m_axi_awsize_o[m]), .awburst_i(m_axi_awburst_o[m]),
        .wvalid_i(m_axi_wvalid_o[m]), .wready_o(m_axi_wready_i[m]), .wdata_i(m_axi_wdata_o[m]), .wstrb_i(m_axi_wstrb_o[m]),
        .wlast_i(m_axi_wlast_o[m]), .bvalid_o(m_axi_bvalid_i[m]), .bready_i(m_axi_bready_o[m]),
        .arvalid_i(m_axi_arvalid_o[m]), .arready_o(m_axi_arready_i[m]), .araddr_i(m_axi_araddr_o[m]), .arlen_i(m_axi_arlen_o[m]),
        .arsize_i(m_axi_arsize_o[m]), .arburst_i(m_axi_arburst_o[m]),
        .rvalid_o(m_axi_rvalid_i[m]), .rready_i(m_axi_rready_o[m]), .rdata_o(m_axi_rdata_i[m]), .rlast_o(m_axi_rlast_i[m])
    );
  end
  assign m_axi_bresp_i = '0;
  assign m_axi_bid_i = '0;
  assign m_axi_rresp_i = '0;
  assign m_axi_rid_i = '0;
  pst_sim_registers u_registers (
      .clk_i, .awvalid_o(s_axil_awvalid_i), .awready_i(s_axil_awready_o), .awaddr_o(s_axil_awaddr_i),
      .wvalid_o(s_axil_wvalid_i), .wready_i(s_axil_wready_o), .wdata_o(s_axil_wdata_i),
      .bvalid_i(s_axil_bvalid_o), .bready_o(s_axil_bready_i), .bresp_i(s_axil_bresp_o),
      .arvalid_o(s_axil_arvalid_i), .arready_i(s_axil_arready_o), .araddr_o(s_axil_araddr_i),
      .rvalid_i(s_axil_rvalid_o), .rready_o(s_axil_rready_i), .rdata_i(s_axil_rdata_o), .rresp_i(s_axil_rresp_o)
  );
  assign s_axil_awprot_i = '0;
  assign s_axil_arprot_i = '0;
  assign s_axil_wstrb_i = '1;
  logic valid = 1'b0, ready, out;
  int unsigned number, out_number;
  pst_sim_source #(.PrefixBytes(4)) u_source (
      .clk_i, .rst_i, .seed_i(1), .s_valid_i(valid), .s_ready_o(ready), .s_number_i(number), .s_bytes_i(@BYTES@), .s_prefix_i('0),
      .s_dest_i('0), .s_first_user_i('0), .s_last_user_i('0), .m_tdata_o(s_axis_tdata_i), .m_tkeep_o(s_axis_tkeep_i),
      .m_tlast_o(s_axis_tlast_i), .m_tdest_o(), .m_tuser_o(s_axis_tuser_i), .m_tvalid_o(s_axis_tvalid_i), .m_tready_i(s_axis_tready_o)
  );
  pst_sim_sink #(.IdWidth(32)) u_sink (
      .clk_i, .rst_i, .seed_i(1), .s_tdata_i(m_axis_tdata_o), .s_tkeep_i(m_axis_tkeep_o), .s_tlast_i(m_axis_tlast_o),
      .s_tid_i(m_axis_tid_o), .s_tuser_i(m_axis_tuser_o), .s_tvalid_i(m_axis_tvalid_o), .s_tready_o(m_axis_tready_i),
      .m_valid_o(out), .m_number_o(out_number), .m_bytes_o(), .m_id_o(), .m_user_o()
  );
  always @(posedge clk_i) if (!rst_i) begin
    if (out) $display("@PLACE@ out %0d", out_number);
    if (ev_enqueue_valid_o) $display("@PLACE@ enqueue %0d %0d", now_o, ev_enqueue_reason_o);
    if (ev_dequeue_valid_o) $display("@PLACE@ dequeue %0d %0d", now_o, ev_dequeue_reason_o);
  end
  initial begin
    done_o = 1'b0;
    wait (rst_i);
    wait (!rst_i);
    wait (init_done_o);
@WRITES@
    for (number = 1; number <= @FRAMES@; number++) begin
      @(negedge clk_i);
      valid = 1'b1;
      do @(posedge clk_i); while (!ready);
      @(negedge clk_i);
      valid = 1'b0;
      repeat (@GAP@) @(posedge clk_i);
    end
    repeat (40_000) @(posedge clk_i);
    done_o = 1'b1;
  end
endmodule
"""
BENCH = """module both_tb;
  logic clk = 1'b0, rst = 1'b0;
  logic [1:0] done;
  always #1 clk = ~clk;
  initial begin
    repeat (2) @(negedge clk);
    rst = 1'b1;
    repeat (8) @(negedge clk);
    rst = 1'b0;
    wait (&done);
    $finish;
  end
  codel_end u_codel (.clk_i(clk), .rst_i(rst), .done_o(done[0]));
  pie_end u_pie (.clk_i(clk), .rst_i(rst), .done_o(done[1]));
endmodule
"""


def project(both: Path, tmp_path: Path) -> Path:
    """Write a FuseSoC project with both packages in one top, all ports of each with its name in front."""
    heads, instances = [], []
    for place, top in TOPS.items():
        text = (both / place / "axi" / f"{top}_axi.v").read_text()
        ports = re.findall(r"^    (input|output) +wire +(\[\d+:0\])? +(\w+),?$", text, re.MULTILINE)
        ports = [(way, width, name) for way, width, name in ports if name not in ("aclk", "aresetn")]
        heads += [f"  {way} wire {width} {place}_{name}" for way, width, name in ports]
        pins = ", ".join(f".{name}({place}_{name})" for _, _, name in ports)
        instances.append(f"  {top}_axi u_{place} (.aclk, .aresetn, {pins});")
    body = ",\n".join(["  input wire aclk", "  input wire aresetn", *heads])
    made = tmp_path / "project"
    made.mkdir()
    (made / "both.sv").write_text(f"module both (\n{body}\n);\n" + "\n".join(instances) + "\nendmodule\n")
    depends = ", ".join(f"penstock:access_edge:{top}" for top in TOPS.values())
    (made / "both.core").write_text(CORE.format(depends=depends, optimise=OPTIMISE))
    (made / "both_tb.sv").write_text("".join(end(place) for place in TOPS) + BENCH)
    for path in (both / "pie" / "sim").glob("pst_sim_*.sv"):
        shutil.copy(path, made)
    return made


def end(place: str) -> str:
    """Return the module that has one device and what is at its interfaces."""
    config = configs.load(f"tiny_{place}_16")
    ports = configs.ports(config)
    marks = {
        "PLACE": place,
        "TOP": TOPS[place],
        "SIGNALS": "\n".join(f"  {port.kind} {port.name};" for port in ports if port.name not in ("clk_i", "rst_i")),
        "PINS": ",\n".join(f"      .{port.name}" for port in ports),
        "WRITES": "\n".join(
            f"    u_registers.write({address}, {value});" for address, value in plain.queue_writes(config, 0, SETTINGS[place])
        ),
        "BYTES": str(BYTES),
        "FRAMES": str(FRAMES),
        "GAP": str(GAP),
    }
    return re.sub(r"@([A-Z]+)@", lambda mark: marks[mark[1]], END)


def test_a_project_lints_with_both(both: Path, tmp_path: Path) -> None:
    """The common modules are there once, with their waivers: no warning at all."""
    roots = [f"--cores-root={both / place}" for place in (*TOPS, "common")]
    told = run(project(both, tmp_path), "fusesoc", "--cores-root=.", *roots, "run", "--target=lint", "both")
    assert "%Warning" not in told and "Duplicate" not in told


@pytest.mark.slow
def test_codel_and_pie_are_told_apart_by_what_they_do(both: Path, tmp_path: Path) -> None:
    """The same frames go to both: CoDel lets all in and drops at the head, PIE turns away on arrival what CoDel would have let in."""
    made, aqm = project(both, tmp_path), "8"
    roots = [f"--cores-root={both / place}" for place in (*TOPS, "common")]
    said = run(made, "fusesoc", "--cores-root=.", *roots, "run", "--target=sim", "both")
    told = {
        place: {kind: re.findall(rf"^{place} {kind} (\d+) ?(\d*)$", said, re.MULTILINE) for kind in ("out", "enqueue", "dequeue")}
        for place in TOPS
    }
    dropped = {
        name: {kind: sum(reason == aqm for _, reason in found[kind]) for kind in ("enqueue", "dequeue")} for name, found in told.items()
    }
    assert dropped["codel"]["enqueue"] == 0 and dropped["codel"]["dequeue"] > 3
    assert dropped["pie"]["enqueue"] > 3 and dropped["pie"]["dequeue"] == 0
    for name, found in told.items():
        out = [int(number) for number, _ in found["out"]]
        assert out == sorted(set(out)) and len(out) == FRAMES - sum(dropped[name].values())
    # RFC 8289: a first drop an interval after the delay has passed the target, then at shorter and shorter distances.
    drops = [int(when) for when, reason in told["codel"]["dequeue"] if reason == aqm]
    distances = [after - before for before, after in zip(drops, drops[1:], strict=False)]
    assert distances[0] > 20e-6 * 220e6 * 0.6 and distances[-1] < distances[0]
