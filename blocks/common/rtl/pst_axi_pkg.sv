// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bundles of AXI4 and AXI4-Lite: what a master drives (`_req_t`), and what it gets (`_rsp_t`). Members have the names of the signals.
//
// A module has a port of the master's side and one of the slave's for each bundle: `m_axi_write_o` and `m_axi_write_i`, or `s_axi_write_i`
// and `s_axi_write_o`. Reads and writes are two bundles, as they know nothing of each other. Addresses have room for the largest memories;
// a module with a parameter AddrWidth uses so many bits, and drives the others with 0.
package pst_axi_pkg;

  localparam int unsigned AddrWidth = 64;
  localparam int unsigned DataBytes = 64;         // of a beat

  typedef logic [AddrWidth-1:0] addr_t;

  // AXI4: write address, write data, response.
  typedef struct packed {
    logic                   awvalid;
    logic [AddrWidth-1:0]   awaddr;
    logic [7:0]             awlen;     // beats less one
    logic                   wvalid;
    logic [8*DataBytes-1:0] wdata;
    logic [DataBytes-1:0]   wstrb;
    logic                   wlast;
    logic                   bready;
  } write_req_t;

  typedef struct packed {
    logic                   awready;
    logic                   wready;
    logic                   bvalid;
    logic [1:0]             bresp;     // 2'b10, 2'b11: an error
  } write_rsp_t;

  // AXI4: read address, read data.
  typedef struct packed {
    logic                   arvalid;
    logic [AddrWidth-1:0]   araddr;
    logic [7:0]             arlen;     // beats less one
    logic                   rready;
  } read_req_t;

  typedef struct packed {
    logic                   arready;
    logic                   rvalid;
    logic [8*DataBytes-1:0] rdata;
    logic [1:0]             rresp;     // 2'b10, 2'b11: an error
    logic                   rlast;
  } read_rsp_t;

  // What moves at a port of both: handshakes, and the end of a burst that is read.
  typedef struct packed {
    logic                   awvalid;
    logic                   awready;
    logic                   wvalid;
    logic                   bvalid;
    logic                   bready;
    logic                   arvalid;
    logic                   arready;
    logic                   rvalid;
    logic                   rready;
    logic                   rlast;
  } moves_t;

  // What all requests have in common: one id, whole beats, INCR bursts, normal memory, secure data accesses. The outermost ports of a design
  // alone have signals for it (awid, arid, awsize, ...), and bid and rid.
  typedef struct packed {
    logic                   id;
    logic [2:0]             size;
    logic [1:0]             burst;
    logic                   lock;
    logic [3:0]             cache;
    logic [2:0]             prot;
  } fixed_t;

  function automatic fixed_t fixed();
    return '{id: 1'b0, size: 3'($clog2(DataBytes)), burst: 2'b01, lock: 1'b0, cache: 4'b0011, prot: 3'b000};
  endfunction

  // AXI4-Lite, registers.
  typedef struct packed {
    logic                   awvalid;
    logic [11:0]            awaddr;
    logic [2:0]             awprot;
    logic                   wvalid;
    logic [31:0]            wdata;
    logic [3:0]             wstrb;
    logic                   bready;
    logic                   arvalid;
    logic [11:0]            araddr;
    logic [2:0]             arprot;
    logic                   rready;
  } lite_req_t;

  typedef struct packed {
    logic                   awready;
    logic                   wready;
    logic                   bvalid;
    logic [1:0]             bresp;
    logic                   arready;
    logic                   rvalid;
    logic [31:0]            rdata;
    logic [1:0]             rresp;
  } lite_rsp_t;

  // AXI4-Stream: what a sink answers.
  typedef struct packed {
    logic                   tready;
  } stream_rsp_t;

endpackage
