// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Input-queued cell switch: virtual output queues, a crossbar, and iSLIP that sets it anew in every cycle.
//
// The classic rival of pst_fabric, behind the same ports. Ports x Ports x Classes queues, those of an input in one RAM.
//
// Throughput: one cell per port and cycle. Latency: 5 cycles from the cycle in which a cell is taken to that in which it is offered, if nothing is
// in its way. Order: FIFO for each source, destination and class; strict priority of class 0 over 1 and so on in every match.
// BackPressure = 1: s_cell_ready_o is low while the queue of the offered cell is full (it depends on s_cell_dest_i and s_cell_class_i).
// BackPressure = 0: always ready; a cell that finds its queue full is dropped and reported. Reset loses all cells.
module pst_islip_switch #(
    parameter int unsigned Ports = 4,           // >= 2
    parameter int unsigned Width = 64,          // bits of a cell, >= 1
    parameter int unsigned FifoDepth = 16,      // cells of each virtual output queue, >= 1
    parameter int unsigned Classes = 1,         // >= 1; 0 is the highest
    parameter bit          BackPressure = 1'b1,
    parameter int unsigned Iterations = 1,      // of iSLIP in a cycle, >= 1
    parameter string       RamStyle = "auto",   // of the queues, as in pst_ram_1r1w
    localparam int unsigned PortWidth = $clog2(Ports),
    localparam int unsigned ClassWidth = Classes > 1 ? $clog2(Classes) : 1
) (
    input  logic                             clk_i,
    input  logic                             rst_i,
    // cells in, one stream per source
    input  logic [Ports-1:0]                 s_cell_valid_i,
    output logic [Ports-1:0]                 s_cell_ready_o,
    input  logic [Ports-1:0][PortWidth-1:0]  s_cell_dest_i,
    input  logic [Ports-1:0][ClassWidth-1:0] s_cell_class_i,
    input  logic [Ports-1:0][Width-1:0]      s_cell_data_i,
    // cells out, one stream per destination
    output logic [Ports-1:0]                 m_cell_valid_o,
    input  logic [Ports-1:0]                 m_cell_ready_i,
    output logic [Ports-1:0][Width-1:0]      m_cell_data_o,
    // cells dropped on their way to each output: how many in this cycle (they met the queue one cycle ago)
    output logic [Ports-1:0][PortWidth:0]    ev_drop_count_o
);

  // From a match to the credit that comes back from the output buffer: match, read, register, buffer, leave.
  localparam int unsigned BufferDepth = 5;
  localparam int unsigned CreditWidth = $clog2(BufferDepth + 1);

  logic [Ports-1:0] full, room, popped;
  logic [Ports-1:0][Ports-1:0] match;                      // [input]: output
  logic [Ports-1:0][Classes-1:0] match_class;
  logic [Ports-1:0][Ports-1:0][Classes-1:0] backlogged, request;
  logic [Ports-1:0][Width-1:0] head;
  logic [Ports-1:0][CreditWidth-1:0] credit_q;

  assign s_cell_ready_o = BackPressure ? ~full : '1;
  assign popped         = m_cell_valid_o & m_cell_ready_i;

  always_comb begin
    for (int i = 0; i < Ports; i++) begin
      for (int j = 0; j < Ports; j++) request[i][j] = room[j] ? backlogged[i][j] : '0;
    end
  end

  pst_islip #(
      .Ports(Ports), .Classes(Classes), .Iterations(Iterations)
  ) u_islip (
      .clk_i, .rst_i,
      .request_i(request), .match_o(match), .class_o(match_class)
  );

  for (genvar i = 0; i < Ports; i++) begin : g_input
    pst_voq #(
        .Width(Width), .Outputs(Ports), .Classes(Classes), .Depth(FifoDepth), .Style(RamStyle)
    ) u_voq (
        .clk_i, .rst_i,
        .s_valid_i(s_cell_valid_i[i]), .s_dest_i(s_cell_dest_i[i]), .s_class_i(s_cell_class_i[i]), .s_data_i(s_cell_data_i[i]),
        .s_full_o(full[i]), .backlogged_o(backlogged[i]),
        .pop_output_i(match[i]), .pop_class_i(match_class[i]), .m_data_o(head[i])
    );
  end

  for (genvar j = 0; j < Ports; j++) begin : g_output
    logic matched, matched_q, matched_q2, arrived_q, room_q;
    logic [PortWidth-1:0] from, from_q, from_q2, from_q3;

    always_comb begin
      matched = 1'b0;
      from    = '0;
      for (int i = 0; i < Ports; i++) begin
        matched |= match[i][j];
        if (match[i][j]) from |= PortWidth'(i);
      end
    end

    always_ff @(posedge clk_i) begin
      matched_q  <= matched;
      matched_q2 <= matched_q;
      arrived_q  <= matched_q2;
      from_q     <= from;
      from_q2    <= from_q;
      from_q3    <= from_q2;
      if (rst_i) begin
        matched_q  <= 1'b0;
        matched_q2 <= 1'b0;
        arrived_q  <= 1'b0;
      end
    end

    // Room in the buffer for all that is matched and not yet there.
    assign room[j] = room_q;

    always_ff @(posedge clk_i) begin
      credit_q[j] <= credit_q[j] - CreditWidth'(matched) + CreditWidth'(popped[j]);
      room_q      <= popped[j] || credit_q[j] > CreditWidth'(1) || (room_q && !matched);
      if (rst_i) credit_q[j] <= CreditWidth'(BufferDepth);
      if (rst_i) room_q <= 1'b1;
    end

    logic buffer_ready;
    pst_fifo #(
        .Width(Width), .Depth(BufferDepth)
    ) u_buffer (
        .clk_i, .rst_i,
        .s_valid_i(arrived_q), .s_ready_o(buffer_ready), .s_data_i(head[from_q3]),
        .m_valid_o(m_cell_valid_o[j]), .m_ready_i(m_cell_ready_i[j]), .m_data_o(m_cell_data_o[j]), .level_o()
    );

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i && arrived_q) a_buffer_has_room : assert (buffer_ready) else $error("the buffer of output %0d overflows", j);
    end
`else
    logic unused;
    assign unused = buffer_ready;
`endif
  end

  logic [Ports-1:0][PortWidth:0] drops;

  always_comb begin
    drops = '0;
    for (int i = 0; i < Ports; i++) begin
      if (!BackPressure && s_cell_valid_i[i] && full[i]) drops[s_cell_dest_i[i]] += 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    ev_drop_count_o <= drops;
    if (rst_i) ev_drop_count_o <= '0;
  end

endmodule
