// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A memory at an AXI4 port: keeps what is written, answers in order after some time, pauses at random, and checks what it is asked.
module pst_sim_memory
  import pst_sim_pkg::*;
#(
    parameter int unsigned     AddrWidth = 17,
    parameter int unsigned     DataBytes = 64,
    parameter longint unsigned Bytes = 131072,
    parameter int unsigned     LatencyCycles = 24,  // of the first beat that is read, and of the response to a write
    parameter int unsigned     Bursts = 16,         // that it takes before it has answered
    parameter int unsigned     MostReads = 64,      // that the device leaves unanswered at most, by what it says of itself
    parameter int unsigned     MostWrites = 64,
    parameter int unsigned     Which = 0
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  int unsigned            seed_i,
    input  logic                   awvalid_i,
    output logic                   awready_o,
    input  logic [AddrWidth-1:0]   awaddr_i,
    input  logic [7:0]             awlen_i,
    input  logic [2:0]             awsize_i,
    input  logic [1:0]             awburst_i,
    input  logic                   wvalid_i,
    output logic                   wready_o,
    input  logic [8*DataBytes-1:0] wdata_i,
    input  logic [DataBytes-1:0]   wstrb_i,
    input  logic                   wlast_i,
    output logic                   bvalid_o,
    input  logic                   bready_i,
    input  logic                   arvalid_i,
    output logic                   arready_o,
    input  logic [AddrWidth-1:0]   araddr_i,
    input  logic [7:0]             arlen_i,
    input  logic [2:0]             arsize_i,
    input  logic [1:0]             arburst_i,
    output logic                   rvalid_o,
    input  logic                   rready_i,
    output logic [8*DataBytes-1:0] rdata_o,
    output logic                   rlast_o
);

  typedef struct packed {
    longint unsigned beat;    // address of the next beat, in beats
    logic [8:0]      left;    // beats
    int unsigned     not_before;
  } burst_t;

  logic [8*DataBytes-1:0] store[longint unsigned];
  burst_t writes[$], reads[$];
  int unsigned responses[$];  // when each is due
  random_t random_q;
  int unsigned now_q, reads_open_q, writes_open_q;

  function automatic burst_t checked(
      input logic [AddrWidth-1:0] address, input logic [7:0] len, input logic [2:0] size, input logic [1:0] burst
  );
    longint unsigned first, last;
    first = 64'(address);
    last = first + (64'(len) + 1) * 64'(DataBytes) - 1;
    if (32'(size) != $clog2(DataBytes) || burst != 2'b01)
      $fatal(1, "FAIL: memory %0d: a burst is not INCR, or its beats are not full", Which);
    if (first % 64'(DataBytes) != 0) $fatal(1, "FAIL: memory %0d: address 0x%0h is not that of a beat", Which, first);
    if (first >> 12 != last >> 12) $fatal(1, "FAIL: memory %0d: a burst from 0x%0h to 0x%0h crosses 4 KiB", Which, first, last);
    if (last >= Bytes) $fatal(1, "FAIL: memory %0d has %0d bytes, and 0x%0h was asked for", Which, Bytes, last);
    return '{beat: first / 64'(DataBytes), left: 9'(len) + 1, not_before: now_q + LatencyCycles};
  endfunction

  function automatic logic [8*DataBytes-1:0] merged(
      input logic [8*DataBytes-1:0] old, input logic [8*DataBytes-1:0] data, input logic [DataBytes-1:0] strobe
  );
    logic [8*DataBytes-1:0] result;
    for (int unsigned i = 0; i < DataBytes; i++) result[8*i+:8] = strobe[i] ? data[8*i+:8] : old[8*i+:8];
    return result;
  endfunction

  function automatic logic [8*DataBytes-1:0] word(input longint unsigned beat);
    return store.exists(beat) != 0 ? store[beat] : {DataBytes{8'hee}};  // what was never written is no zero
  endfunction

  always @(posedge clk_i) begin
    automatic burst_t burst;
    random_q <= scrambled(random_q);
    now_q    <= now_q + 1;
    reads_open_q  <= reads_open_q + 32'(arvalid_i && arready_o) - 32'(rvalid_o && rready_i && rlast_o);
    writes_open_q <= writes_open_q + 32'(awvalid_i && awready_o) - 32'(bvalid_o && bready_i);
    if (reads_open_q > MostReads || writes_open_q > MostWrites)
      $fatal(1, "FAIL: memory %0d: %0d reads and %0d writes without answer, allowed: %0d, %0d", Which, reads_open_q, writes_open_q,
             MostReads, MostWrites);
    // writes
    if (awvalid_i && awready_o) writes.push_back(checked(awaddr_i, awlen_i, awsize_i, awburst_i));
    if (wvalid_i && wready_o) begin
      burst = writes.pop_front();
      store[burst.beat] = merged(word(burst.beat), wdata_i, wstrb_i);
      if (wlast_i != (burst.left == 1)) $fatal(1, "FAIL: memory %0d: wlast does not stand at the last beat", Which);
      burst.beat++;
      burst.left--;
      if (burst.left != 0) writes.push_front(burst);
      else responses.push_back(now_q + LatencyCycles);
    end
    if (bvalid_o && bready_i) bvalid_o <= 1'b0;
    if ((!bvalid_o || bready_i) && responses.size() != 0 && responses[0] <= now_q) begin
      bvalid_o <= 1'b1;
      void'(responses.pop_front());
    end
    awready_o <= writes.size() < Bursts && random_q[1:0] != '0;
    wready_o  <= writes.size() != 0 && random_q[3:2] != '0;
    // reads
    if (arvalid_i && arready_o) reads.push_back(checked(araddr_i, arlen_i, arsize_i, arburst_i));
    if (rvalid_o && rready_i) rvalid_o <= 1'b0;
    if ((!rvalid_o || rready_i) && reads.size() != 0 && reads[0].not_before <= now_q && random_q[5:4] != '0) begin
      burst = reads.pop_front();
      rvalid_o <= 1'b1;
      rdata_o  <= word(burst.beat);
      rlast_o  <= burst.left == 1;
      burst.beat++;
      burst.left--;
      if (burst.left != 0) reads.push_front(burst);
    end
    arready_o <= reads.size() < Bursts && random_q[7:6] != '0;
    if (rst_i) begin
      random_q  <= seeded(seed_i, 2000 + Which);
      now_q     <= 0;
      reads_open_q  <= 0;
      writes_open_q <= 0;
      awready_o <= 1'b0;
      wready_o  <= 1'b0;
      bvalid_o  <= 1'b0;
      arready_o <= 1'b0;
      rvalid_o  <= 1'b0;
      writes.delete();
      reads.delete();
      responses.delete();
    end
  end

endmodule
