// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Full output arbiter: round robin among all FIFOs of the group that hold a cell of the oldest batch.
//
// Never idle while a cell waits, and cells leave batch by batch whatever was dropped between them; within a batch no two cells have the
// same source. As long as nothing is dropped it decides like pst_rotating_arbiter. It remembers for each batch which FIFOs took a cell of it: a FIFO of
// Ports * FifoDepth words of Ports bits. Latency 1 cycle from stored_i to valid_o, one decision per cycle.
module pst_batch_arbiter #(
    parameter int unsigned Ports = 8,       // FIFOs of the group, a power of two >= 2
    parameter int unsigned FifoDepth = 16,  // cells of each, >= 1
    localparam int unsigned Width = $clog2(Ports)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic [Ports-1:0] stored_i,  // FIFOs that take a cell of the batch that is here now
    output logic             valid_o,
    output logic [Width-1:0] index_o,   // the FIFO with the cell that is offered, held until it is taken
    input  logic             take_i     // with valid_o: it is taken
);

  if (Ports < 2 || Ports != 2 ** Width || FifoDepth < 1) begin : g_bad_size
    $error("pst_batch_arbiter: Ports is %0d (a power of two, at least 2), FifoDepth %0d (at least 1)", Ports, FifoDepth);
  end

  localparam int unsigned Batches = Ports * FifoDepth;  // each has a cell at least

  logic [Ports-1:0] batch, served_q, left, ahead, pick_from, pick;
  logic [Width-1:0] turn_q;
  logic room, last, take;

  pst_fabric_fifo #(
      .Width(Ports),
      .Depth(Batches)
  ) u_batches (
      .clk_i,
      .rst_i,
      .s_valid_i(stored_i != '0),
      .s_ready_o(room),
      .s_data_i (stored_i),
      .m_valid_o(valid_o),
      .m_ready_i(take && last),
      .m_data_o (batch),
      .level_o  ()
  );

  assign left      = batch & ~served_q;
  assign ahead     = left & ({Ports{1'b1}} << turn_q);
  assign pick_from = ahead != '0 ? ahead : left;
  assign pick      = pick_from & (~pick_from + 1'b1);  // the lowest
  assign last      = left == pick;
  assign take      = valid_o && take_i;

  always_comb begin
    index_o = '0;
    for (int unsigned i = 0; i < Ports; i++) if (pick[i]) index_o |= Width'(i);
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      served_q <= last ? '0 : served_q | pick;
      turn_q   <= index_o + 1'b1;
    end
    if (rst_i) begin
      served_q <= '0;
      turn_q   <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_room : assert (room || stored_i == '0);
      if (valid_o) a_something_left : assert (left != '0);
    end
  end
`else
  logic unused;
  assign unused = &{1'b0, room};
`endif

endmodule
