// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Brings the device to rest, so that it can be reset beside memories that are not: while stop_i is high no frame comes in and none is
// taken to be sent, those under way go on to their queue or to the line, and done_o rises when no memory owes an answer.
// With a CounterMemory it falls while a counter is read, too.
//
// State:      whether a frame is half in, frames between input and queue, frames between queue and output, bursts of each memory.
// Throughput: one frame per cycle in and out, and one burst per cycle, direction and memory. Latency: outputs 1 cycle.
// Reset:      everything is zero; the memories must have nothing under way.
module pst_access_edge_drain #(
    parameter int unsigned Memories       = 2,
    parameter bit          CounterMemory  = 1'b0,  // the last memory has counters, and may be used while the device is at rest
    parameter int unsigned MaxOutstanding = 32     // bursts of one direction that a memory may have under way
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    input  logic                               stop_i,
    // the stream comes in; a frame that has begun is let in whole
    input  logic                               in_valid_i,
    input  logic                               in_last_i,
    output logic                               in_ready_o,
    output logic                               in_valid_o,
    input  logic                               in_ready_i,
    // pulses: a frame was dropped at the input, a frame came to its queue or was dropped in front of it
    input  logic                               refused_i,
    input  logic                               enqueued_i,
    // frames to send
    input  logic                               deq_valid_i,
    output logic                               deq_ready_o,
    output logic                               deq_valid_o,
    input  logic                               deq_ready_i,
    // pulse: a frame has left, or was lost in memory
    input  logic                               left_i,
    // CounterMemory: its memory is in use, or will be for what has come
    input  logic                               counting_i,
    // AXI4, as at the memories
    input  pst_axi_pkg::moves_t [Memories-1:0] axi_i,
    // memories that have bursts under way; nothing is under way and nothing will be, while stop_i is high
    output logic [Memories-1:0]                outstanding_o,
    output logic                               done_o
);

  localparam int unsigned FramesWidth = 16;
  localparam int unsigned Packets     = Memories - 32'(CounterMemory);    // memories of packets

  logic half_q;    // of the frame that comes in beats have come, and not the last one
  logic open, take_in, take_deq;
  logic [FramesWidth-1:0] inside_q, inside_d, sending_q, sending_d;
  logic [Memories-1:0] busy;

  assign open       = !stop_i || half_q;
  assign in_valid_o = in_valid_i && open;
  assign in_ready_o = in_ready_i && open;
  assign take_in    = in_valid_o && in_ready_i;
  assign take_deq   = deq_valid_o && deq_ready_i;

  // A frame that was offered when stop_i came is sent, too.
  pst_hold u_hold (
      .clk_i, .rst_i, .hold_i(stop_i),
      .s_valid_i(deq_valid_i), .s_ready_o(deq_ready_o), .m_valid_o(deq_valid_o), .m_ready_i(deq_ready_i)
  );

  assign inside_d  = inside_q + FramesWidth'(take_in && !half_q) - FramesWidth'(refused_i) - FramesWidth'(enqueued_i);
  assign sending_d = sending_q + FramesWidth'(take_deq) - FramesWidth'(left_i);

  for (genvar m = 0; m < int'(Memories); m++) begin : g_memory
    pst_bursts #(
        .MaxOutstanding(MaxOutstanding)
    ) u_bursts (
        .clk_i, .rst_i,
        .axi_i(axi_i[m]),
        .busy_o(busy[m])
    );
  end

  always_ff @(posedge clk_i) begin
    if (take_in) half_q <= !in_last_i;
    inside_q      <= inside_d;
    sending_q     <= sending_d;
    outstanding_o <= busy;
    done_o        <= stop_i && !half_q && inside_q == '0 && sending_q == '0 && !deq_valid_o && busy == '0 && !(CounterMemory && counting_i);
    if (rst_i) begin
      half_q        <= 1'b0;
      inside_q      <= '0;
      sending_q     <= '0;
      outstanding_o <= '0;
      done_o        <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_frames_are_counted : assert (!inside_q[FramesWidth-1] && !sending_q[FramesWidth-1])
      else $error("pst_access_edge_drain: a frame left that did not come");
      a_rest_is_rest : assert (!(done_o && stop_i && (busy[Packets-1:0] != '0 || inside_q != '0 || sending_q != '0)))
      else $error("pst_access_edge_drain: something is under way although all was done");
    end
  end
`endif

endmodule
