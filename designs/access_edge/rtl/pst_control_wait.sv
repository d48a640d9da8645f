// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bounds how long a command of the registers takes: after HoldAfter cycles hold_o stops the traffic until the command has ended. Cycles in
// which it waits for a memory do not count.
//
// State: the cycles that the command under way has taken; there are none while idle, nor while the device clears its memories.
module pst_control_wait #(
    parameter bit Bounded = 1'b1    // 0: an AQM of the user's own answers read-backs when it likes
) (
    input  logic clk_i,
    input  logic rst_i,
    input  logic init_done_i,
    input  logic busy_i,      // a command is under way
    input  logic stays_i,     // and it is in the next cycle, too
    input  logic memory_i,    // it waits for the memory of the counters, and for nothing else
    output logic hold_o
);

  localparam int unsigned HoldAfter = 512;
  localparam int unsigned Bound     = 1024;

  logic [$clog2(Bound):0] waited_q;
  logic hold_q;

  assign hold_o = hold_q;

  always_ff @(posedge clk_i) begin
    if (init_done_i && !memory_i && int'(waited_q) < Bound) waited_q <= waited_q + 1'b1;
    hold_q <= stays_i && int'(waited_q) >= HoldAfter;
    if (!busy_i || rst_i) waited_q <= '0;
    if (rst_i) hold_q <= 1'b0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_command_ends_in_time : assert (int'(waited_q) < Bound || !Bounded)
      else $error("pst_control_wait: a command has waited for %0d cycles", Bound);
    end
  end
`endif

endmodule
