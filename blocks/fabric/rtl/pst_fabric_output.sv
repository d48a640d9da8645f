// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One output of the switch: takes its own cells from a rotated batch, keeps them by class, and sends the highest class first.
//
// Latency 1 cycle, one cell per cycle out, up to Ports in. A cell that is offered stays until it is taken, even when one of a higher class comes.
module pst_fabric_output #(
    parameter int unsigned Ports = 8,       // a power of two, 2..64
    parameter int unsigned Width = 64,      // bits of a cell, >= 1
    parameter int unsigned FifoDepth = 16,  // cells of each FIFO (and class), >= 1
    parameter int unsigned Classes = 1,     // 1..256; class 0 is sent first
    parameter int unsigned Reserve = 0,     // of nearly_full_o, see pst_fabric_group
    parameter bit Full = 1'b0,              // arbiter: 0 rotating, 1 full
    localparam int unsigned PortWidth = $clog2(Ports),
    localparam int unsigned ClassWidth = Classes > 1 ? $clog2(Classes) : 1
) (
    input  logic                             clk_i,
    input  logic                             rst_i,
    input  logic [PortWidth-1:0]             output_i,  // this output's number, a constant
    // the batch; word q goes to FIFO q if it is for this output
    input  logic [Ports-1:0]                 s_valid_i,
    input  logic [Ports-1:0][ PortWidth-1:0] s_dest_i,
    input  logic [Ports-1:0][ClassWidth-1:0] s_class_i,
    input  logic [Ports-1:0][     Width-1:0] s_data_i,
    output logic [Classes-1:0]               nearly_full_o,  // by class
    // cell out
    output logic                             m_valid_o,
    input  logic                             m_ready_i,
    output logic [Width-1:0]                 m_data_o,
    // cells dropped, one cycle late
    output logic [PortWidth:0]               ev_drop_count_o
);

  logic [Ports-1:0] mine;
  logic [Classes-1:0] valid, ready;
  logic [Classes-1:0][Width-1:0] data;
  logic [Classes-1:0][Ports-1:0] dropped;

  always_comb for (int unsigned q = 0; q < Ports; q++) mine[q] = s_valid_i[q] && s_dest_i[q] == output_i;

  for (genvar c = 0; c < Classes; c++) begin : g_class
    logic [Ports-1:0] of_class;
    if (Classes == 1) begin : g_only
      assign of_class = mine;
      logic unused;
      assign unused = &{1'b0, s_class_i};
    end else begin : g_filter
      always_comb for (int unsigned q = 0; q < Ports; q++) of_class[q] = mine[q] && s_class_i[q] == ClassWidth'(c);
    end

    pst_fabric_group #(
        .Ports(Ports),
        .Width(Width),
        .FifoDepth(FifoDepth),
        .Reserve(Reserve),
        .Full(Full)
    ) u_group (
        .clk_i,
        .rst_i,
        .s_valid_i    (of_class),
        .s_data_i,
        .dropped_o    (dropped[c]),
        .nearly_full_o(nearly_full_o[c]),
        .m_valid_o    (valid[c]),
        .m_ready_i    (ready[c]),
        .m_data_o     (data[c])
    );
  end

  if (Classes == 1) begin : g_one
    assign m_valid_o = valid[0];
    assign m_data_o  = data[0];
    assign ready[0]  = m_ready_i;
  end else begin : g_priority
    logic [ClassWidth-1:0] highest, chosen, held_class_q;
    logic held_q;

    always_comb begin
      highest = '0;
      for (int c = Classes - 1; c >= 0; c--) if (valid[c]) highest = ClassWidth'(c);
      chosen        = held_q ? held_class_q : highest;
      m_valid_o     = valid != '0;
      m_data_o      = data[chosen];
      ready         = '0;
      ready[chosen] = m_ready_i;
    end

    always_ff @(posedge clk_i) begin
      held_q       <= m_valid_o && !m_ready_i;
      held_class_q <= chosen;
      if (rst_i) held_q <= 1'b0;
    end
  end

  // --- drops

  logic [PortWidth:0] drops, drops_q;

  always_comb begin
    drops = '0;
    for (int unsigned c = 0; c < Classes; c++) begin
      for (int unsigned q = 0; q < Ports; q++) drops += (PortWidth + 1)'(dropped[c][q]);
    end
  end

  always_ff @(posedge clk_i) begin
    drops_q <= drops;
    if (rst_i) drops_q <= '0;
  end

  assign ev_drop_count_o = drops_q;

endmodule
