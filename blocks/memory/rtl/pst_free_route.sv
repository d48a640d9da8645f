// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Brings the pages that several modules free home: each to the memory that it is of, a page for each memory in a cycle.
//
// A page waits in one of its port's slots until its memory takes it, so one that waits holds up none of other memories, as long as its port
// has a slot left.
//
// Latency:    2 cycles, and for each page of the same memory that goes first a cycle more.
// Throughput: a page from each port and to each memory in a cycle.
// Ordering:   none. Slots have turns: a page waits for Ports * Slots - 1 cycles at most.
// Reset:      forgets the pages inside; pools have to be reset with it.
module pst_free_route
  import pst_memory_pkg::pages_t;
#(
    parameter int unsigned               Ports     = 2,                     // >= 1
    parameter int unsigned               Memories  = 2,                     // 1..32
    parameter logic [Memories-1:0][31:0] MemPages  = {Memories{32'd1024}},  // pages in each memory, >= 1
    parameter int unsigned               Slots     = 3,                     // pages that wait at a port, >= 2
    localparam int unsigned Descriptors = pst_memory_pkg::desc_base(pages_t'(MemPages), Memories),
    localparam int unsigned DescWidth   = Descriptors > 1 ? $clog2(Descriptors) : 1
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    // pages that come back
    input  logic [Ports-1:0]                   s_free_valid_i,
    output logic [Ports-1:0]                   s_free_ready_o,
    input  logic [Ports-1:0][DescWidth-1:0]    s_free_desc_i,
    // to each memory; always taken
    output logic [Memories-1:0]                m_free_valid_o,
    output logic [Memories-1:0][DescWidth-1:0] m_free_desc_o
);

  localparam int unsigned Places = Ports * Slots;

  if (Slots < 2) begin : g_bad_slots
    $error("pst_free_route: Slots is %0d, must be at least 2", Slots);
  end

  // Slot s of port p is place p * Slots + s.
  logic [Ports-1:0][Memories-1:0] home;                    // the memory that a page is of, one bit: at the port
  logic [Places-1:0][Memories-1:0] home_d, home_q;         // and of a page that waits
  logic [Places-1:0] valid_d, valid_q, load, leaves;
  logic [Places-1:0][DescWidth-1:0] desc_d, desc_q;
  logic [Places-1:0] later_q;  // places that are before the others in turn: 0, then from the last one on
  logic [Memories-1:0] out_valid_d, out_valid_q;
  logic [Memories-1:0][DescWidth-1:0] out_desc_d, out_desc_q;

  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    localparam int unsigned Base = pst_memory_pkg::desc_base(pages_t'(MemPages), m);

    for (genvar p = 0; p < int'(Ports); p++) begin : g_port
      assign home[p][m] = 32'(s_free_desc_i[p]) - Base < MemPages[m];  // wraps below Base to a number that no memory has pages for
    end
  end

  // A page goes into the first empty slot of its port.
  always_comb begin
    load   = '0;
    desc_d = desc_q;
    home_d = home_q;
    for (int unsigned p = 0; p < Ports; p++) begin
      logic [Slots-1:0] empty;
      empty             = ~valid_q[p*Slots+:Slots];
      s_free_ready_o[p] = empty != '0;
      if (s_free_valid_i[p]) load[p*Slots+:Slots] = empty & (~empty + 1'b1);
      for (int unsigned s = 0; s < Slots; s++) begin
        if (load[p*Slots+s]) begin
          desc_d[p*Slots+s] = s_free_desc_i[p];
          home_d[p*Slots+s] = home[p];
        end
      end
    end
  end

  // Each memory takes the first in turn.
  always_comb begin
    leaves      = '0;
    out_valid_d = '0;
    out_desc_d  = out_desc_q;
    for (int unsigned m = 0; m < Memories; m++) begin
      logic [Places-1:0] want, turn, winner;
      logic [DescWidth-1:0] desc;
      for (int unsigned k = 0; k < Places; k++) want[k] = valid_q[k] && home_q[k][m];
      turn   = (want & later_q) != '0 ? want & later_q : want;
      winner = turn & (~turn + 1'b1);
      leaves |= winner;
      desc = '0;
      for (int unsigned k = 0; k < Places; k++) if (winner[k]) desc |= desc_q[k];
      out_valid_d[m] = winner != '0;
      if (winner != '0) out_desc_d[m] = desc;
    end
    valid_d = (valid_q & ~leaves) | load;
  end

  assign m_free_valid_o = out_valid_q;
  assign m_free_desc_o  = out_desc_q;

  always_ff @(posedge clk_i) begin
    valid_q     <= valid_d;
    desc_q      <= desc_d;
    home_q      <= home_d;
    out_valid_q <= out_valid_d;
    out_desc_q  <= out_desc_d;
    later_q     <= later_q == '0 ? ~Places'(1) : later_q << 1;  // 0: all, from the first one on
    if (rst_i) begin
      valid_q     <= '0;
      out_valid_q <= '0;
      later_q     <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int unsigned k = 0; k < Places; k++) begin
        a_page_has_a_home : assert (!valid_q[k] || $onehot(home_q[k]))
        else $error("pst_free_route: descriptor %0d does not exist", desc_q[k]);
      end
    end
  end
`endif

endmodule
