// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Brings the deadline port to rest, so that it can be reset beside memories that are not: while stop_i is high no frame comes in and none is
// decided to be sent, those under way go on to their class or to the line, and done_o rises when no memory owes an answer.
//
// Frames that wait go on missing their deadlines, and room on the head side is filled from memory; so while done_o is high the port's own
// AXI4 interface is closed, and nothing is offered there.
//
// State:      whether a frame is half in, frames between input and class, bursts at the port and at each memory.
// Throughput: one frame per cycle, and one burst per cycle, direction and memory. Latency: outputs 1 cycle, but for open_o.
// Reset:      everything is zero; the memories must have nothing under way.
module pst_deadline_drain #(
    parameter int unsigned Memories       = 1,
    parameter int unsigned MaxOutstanding = 32     // bursts of one direction that the port or a memory may have under way
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    input  logic                               stop_i,
    // a beat of the input is taken, and is the last one; a frame that has begun is let in whole
    input  logic                               take_i,
    input  logic                               last_i,
    output logic                               open_o,
    // pulses: a frame was refused at the input, a frame came to its class or found no memory; level: frames are on their way to the line
    input  logic                               refused_i,
    input  logic                               fate_i,
    input  logic                               sending_i,
    // AXI4 of the port, and as at the memories
    input  pst_axi_pkg::moves_t                port_i,
    input  pst_axi_pkg::moves_t [Memories-1:0] axi_i,
    // memories that have bursts under way; nothing is under way and nothing will be, while stop_i is high
    output logic [Memories-1:0]                outstanding_o,
    output logic                               done_o
);

  localparam int unsigned FramesWidth = 16;

  logic half_q;    // of the frame that comes in beats have come, and not the last one
  logic port_busy;
  logic [Memories-1:0] busy;
  logic [FramesWidth-1:0] inside_q;

  assign open_o = !stop_i || half_q;

  pst_bursts #(
      .MaxOutstanding(MaxOutstanding)
  ) u_port (
      .clk_i, .rst_i,
      .axi_i(port_i),
      .busy_o(port_busy)
  );

  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    pst_bursts #(
        .MaxOutstanding(MaxOutstanding)
    ) u_memory (
        .clk_i, .rst_i,
        .axi_i(axi_i[m]),
        .busy_o(busy[m])
    );
  end

  always_ff @(posedge clk_i) begin
    if (take_i) half_q <= !last_i;
    inside_q      <= inside_q + FramesWidth'(take_i && !half_q) - FramesWidth'(refused_i) - FramesWidth'(fate_i);
    outstanding_o <= busy;
    done_o        <= stop_i && !half_q && inside_q == '0 && !sending_i && !port_busy;
    if (rst_i) begin
      half_q        <= 1'b0;
      inside_q      <= '0;
      outstanding_o <= '0;
      done_o        <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_frames_are_counted : assert (!inside_q[FramesWidth-1]) else $error("pst_deadline_drain: a frame left that did not come");
      a_rest_is_rest : assert (!(done_o && stop_i && (busy != '0 || port_busy || inside_q != '0 || sending_i)))
      else $error("pst_deadline_drain: something is under way although all was done");
    end
  end
`endif

endmodule
