// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The paper's output arbiter (section 4.4): looks at one FIFO of the group, the next in turn.
//
// The FIFOs of a group are filled in turns, so as long as nothing is dropped the next in turn has the oldest cell, or the group is empty. After
// drops the arbiter is out of step when its FIFO is empty and the group is not; it then moves on by one FIFO a cycle without sending. Until it is
// in step again cells may leave in another order than they came in; pst_batch_arbiter keeps their order.
module pst_rotating_arbiter #(
    parameter int unsigned Ports = 8,  // FIFOs of the group, a power of two >= 2
    localparam int unsigned Width = $clog2(Ports)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic [Ports-1:0] valid_i,  // FIFO has a cell
    output logic             valid_o,
    output logic [Width-1:0] index_o,  // the FIFO with the cell that is offered, held until it is taken
    input  logic             take_i    // with valid_o: it is taken
);

  if (Ports < 2 || Ports != 2 ** Width) begin : g_bad_ports
    $error("pst_rotating_arbiter: Ports is %0d, must be a power of two, at least 2", Ports);
  end

  logic [Width-1:0] turn_q;
  logic out_of_step;

  assign valid_o     = valid_i[turn_q];
  assign index_o     = turn_q;
  assign out_of_step = !valid_o && valid_i != '0;

  always_ff @(posedge clk_i) begin
    if ((valid_o && take_i) || out_of_step) turn_q <= turn_q + 1'b1;
    if (rst_i) turn_q <= '0;
  end

`ifndef SYNTHESIS
  logic waits_q;
  logic [Width-1:0] waiting_q;
  always_ff @(posedge clk_i) begin
    waits_q   <= valid_o && !take_i && !rst_i;
    waiting_q <= index_o;
    if (waits_q && !rst_i) a_offer_waits : assert (valid_o && index_o == waiting_q);
  end
`endif

endmodule
