"""Bundles: what a port of one stands for, and that flat ports of designs are what their users know."""

from pathlib import Path

import pytest

from penstock.designs import configs
from penstock.errors import UserError
from penstock.hardware import bundles, library
from penstock.paths import BLOCKS, read_file_list

MODULE = """\
// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
module pst_thing
  import pst_pkg::len_t;
#(
    parameter int unsigned Ports     = 2,  // >= 1
    parameter int unsigned AddrWidth = 20,
    localparam int unsigned Width = $clog2(Ports)
) (
    input  logic                               clk_i,
    // reads, at last
    input  pst_axi_pkg::read_req_t [Ports-1:0] s_axi_read_i,
    output pst_axi_pkg::read_rsp_t [Ports-1:0] s_axi_read_o,
    input  pst_axi_pkg::lite_req_t             s_axil_i,    // registers
    output len_t                               len_o
);
endmodule
"""
AXI4 = {
    "o": ("awvalid", "awaddr", "awlen", "awid", "awsize", "awburst", "awlock", "awcache", "awprot", "wvalid", "wdata", "wstrb", "wlast",
          "bready", "arvalid", "araddr", "arlen", "arid", "arsize", "arburst", "arlock", "arcache", "arprot", "rready"),
    "i": ("awready", "wready", "bvalid", "bresp", "bid", "arready", "rvalid", "rdata", "rresp", "rlast", "rid"),
}  # fmt: skip


def test_flat_ports_of_a_module(tmp_path: Path) -> None:
    path = tmp_path / "pst_thing.sv"
    path.write_text(MODULE)
    name, text = bundles.flat_module(path)
    before, own, ports = bundles.head(text)
    assert name == "pst_thing_flat" and own == ["Ports", "AddrWidth", "Width"] and "import pst_pkg::len_t;" in before
    kinds = {port: (direction, kind) for direction, kind, port in ports}
    assert kinds["clk_i"] == ("input", "logic") and kinds["len_o"] == ("output", "len_t")
    assert kinds["s_axi_araddr_i"] == ("input", "logic [Ports-1:0][AddrWidth-1:0]"), "an address has as many bits as the module uses"
    assert kinds["s_axi_rdata_o"] == ("output", "logic [Ports-1:0][8*pst_axi_pkg::DataBytes-1:0]")
    assert kinds["s_axil_awaddr_i"] == ("input", "logic [11:0]")
    assert "  assign s_axil_in.awaddr = s_axil_awaddr_i;\n" in text
    assert "    assign s_axi_read_in[i].araddr = $bits(s_axi_read_in[i].araddr)'(s_axi_araddr_i[i]);\n" in text
    assert "pst_thing #(.Ports(Ports), .AddrWidth(AddrWidth)) u_dut (" in text and ".s_axil_i(s_axil_in)" in text
    assert bundles.outermost("pst_thing", [path]) == (name, text)


def test_a_module_without_bundles_is_its_own_outermost() -> None:
    sources = library.sources_of("pst_fifo")
    assert bundles.outermost("pst_fifo", sources) == ("pst_fifo", "")


def test_a_head_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "pst_thing.sv"
    path.write_text(MODULE.replace("output len_t   ", "inout  len_t   "))
    with pytest.raises(UserError, match="pst_thing: a port's line could not be read: inout"):
        bundles.flat_module(path)


def test_every_bundle_can_be_read_and_gives_names_of_its_own() -> None:
    """All packages are found by their names; no two members make one signal."""
    assert "pst_axi_pkg" in bundles.packages() and len(bundles.packages()) >= 3
    for package in bundles.packages():
        for bundle, members in bundles.of_package(package).items():
            flats = list(bundles.flattened("input", f"{package}::{bundle}", "s_x_i", set()))
            assert members and len({flat.name for flat in flats}) == len(members), f"{package}::{bundle}"


@pytest.mark.parametrize("design", ["access_edge", "deadline_port"])
def test_flat_ports_of_a_design(design: str) -> None:
    """The signals that a package's users connect, with widths in numbers; memories are arrays."""
    ports = {port.name: port for port in configs.ports(configs.load(configs.names(design)[0], design))}
    memories = ports["m_axi_awvalid_o"].bits
    for end, signals in AXI4.items():
        for signal in signals:
            port = ports[f"m_axi_{signal}_{end}"]
            assert (port.direction, port.count) == ({"o": "output", "i": "input"}[end], memories), signal
    assert ports["m_axi_wdata_o"].bits == 512 * memories and 12 * memories < ports["m_axi_awaddr_o"].bits < 64 * memories
    assert {f"s_axil_{name}" for name in ("awprot_i", "arprot_i", "bresp_o", "rdata_o")} <= set(ports)
    assert not any("[" in port.kind and "::" in port.kind for port in ports.values())


def test_the_wrapper_checks_ids(tmp_path: Path) -> None:
    """Ids of answers are known to the outermost module alone."""
    text = configs.write_wrapper(configs.load("tiny_16"), tmp_path).read_text()
    assert "a_one_id : assert (!((m_axi_bvalid_i & m_axi_bid_i) != '0 || (m_axi_rvalid_i & m_axi_rid_i) != '0))" in text


def test_absent_ports_stay_away(tmp_path: Path) -> None:
    """Without tdest an input of the bundle within is 0, and nobody listens to the output."""
    text = configs.write_wrapper(configs.load("tiny_16"), tmp_path).read_text()
    assert "assign s_axis_in.tdest = '0;" in text and "tdest_o" not in text and "s_axis_tdest_i" not in text


def test_proofs_see_the_same_bundles() -> None:
    """The package of proofs differs in sizes alone."""
    built, proved = (
        path.read_text().splitlines() for path in (BLOCKS / "common/rtl/pst_axi_pkg.sv", BLOCKS / "memory/formal/pst_axi_pkg.sv")
    )
    differing = [one for one, other in zip(built[1:], proved[2:], strict=True) if one != other]
    assert [line.split("=")[0].split()[-1] for line in differing] == ["AddrWidth", "DataBytes"]


def test_packages_of_bundles_are_in_a_list() -> None:
    listed = {path for file_list in library.file_lists().values() for path in read_file_list(file_list)}
    assert set(bundles.packages().values()) <= listed
