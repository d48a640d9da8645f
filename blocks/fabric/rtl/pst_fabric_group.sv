// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The Ports FIFOs of one output (of one class of it) and their arbiter.
//
// Up to Ports cells a cycle in, one FIFO each; one out. Latency 1 cycle. A cell that meets a full FIFO is dropped; a full FIFO whose oldest
// cell leaves in this cycle takes one.
module pst_fabric_group #(
    parameter int unsigned Ports = 8,       // FIFOs, a power of two, 2..64
    parameter int unsigned Width = 64,      // bits of a cell, >= 1
    parameter int unsigned FifoDepth = 16,  // cells of each FIFO, >= 1
    parameter int unsigned Reserve = 0,     // nearly_full_o: fewer than so many places are free in a FIFO, 0..FifoDepth
    parameter bit Full = 1'b0               // arbiter: 0 rotating, 1 full
) (
    input  logic                        clk_i,
    input  logic                        rst_i,
    // cells in
    input  logic [Ports-1:0]            s_valid_i,
    input  logic [Ports-1:0][Width-1:0] s_data_i,
    output logic [Ports-1:0]            dropped_o,      // of s_valid_i
    output logic                        nearly_full_o,  // one cycle late
    // cell out
    output logic                        m_valid_o,
    input  logic                        m_ready_i,
    output logic [Width-1:0]            m_data_o
);

  if (Reserve > FifoDepth) begin : g_bad_reserve
    $error("pst_fabric_group: Reserve is %0d, must be at most FifoDepth (%0d)", Reserve, FifoDepth);
  end

  localparam int unsigned LevelWidth = $clog2(FifoDepth + 1);

  logic [Ports-1:0] ready, waiting, pop;
  logic [Ports-1:0][LevelWidth-1:0] level;
  logic [Ports-1:0][Width-1:0] data;
  logic [$clog2(Ports)-1:0] index;

  for (genvar q = 0; q < Ports; q++) begin : g_fifo
    pst_fabric_fifo #(
        .Width(Width),
        .Depth(FifoDepth)
    ) u_fifo (
        .clk_i,
        .rst_i,
        .s_valid_i(s_valid_i[q]),
        .s_ready_o(ready[q]),
        .s_data_i (s_data_i[q]),
        .m_valid_o(waiting[q]),
        .m_ready_i(pop[q]),
        .m_data_o (data[q]),
        .level_o  (level[q])
    );
  end

  assign dropped_o = s_valid_i & ~ready;
  assign m_data_o  = data[index];

  always_comb begin
    pop = '0;
    pop[index] = m_valid_o && m_ready_i;
  end

  if (Full) begin : g_full
    pst_batch_arbiter #(
        .Ports(Ports),
        .FifoDepth(FifoDepth)
    ) u_arbiter (
        .clk_i,
        .rst_i,
        .stored_i(s_valid_i & ready),
        .valid_o (m_valid_o),
        .index_o (index),
        .take_i  (m_ready_i)
    );
  end else begin : g_rotating
    pst_rotating_arbiter #(
        .Ports(Ports)
    ) u_arbiter (
        .clk_i,
        .rst_i,
        .valid_i(waiting),
        .valid_o(m_valid_o),
        .index_o(index),
        .take_i (m_ready_i)
    );
  end

  if (Reserve == 0) begin : g_no_reserve
    assign nearly_full_o = 1'b0;
    logic unused;
    assign unused = &{1'b0, level};
  end else begin : g_reserve
    logic [Ports-1:0] nearly;
    for (genvar q = 0; q < Ports; q++) begin : g_level
      assign nearly[q] = level[q] > LevelWidth'(FifoDepth - Reserve);
    end
    logic nearly_full_q;
    always_ff @(posedge clk_i) begin
      nearly_full_q <= nearly != '0;
      if (rst_i) nearly_full_q <= 1'b0;
    end
    assign nearly_full_o = nearly_full_q;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (m_valid_o) a_offers_what_is_there : assert (waiting[index]);
    end
  end
`endif

endmodule
