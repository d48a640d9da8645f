// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Interrupt: causes that stand until software clears them, a mask, and a level that is high while a cause that counts stands.
//
// The last cause is that frames were lost: as many as most_i since it was cleared last.
//
// Latency: an event is in cause_o 1 cycle later, in irq_o 2; lost_o 1 cycle. Throughput: all events in every cycle.
// Reset:   forgets causes and the count.
module pst_interrupt #(
    parameter int unsigned Events    = 4,     // causes that are single events; >= 1
    parameter int unsigned LostWidth = 32     // of the count of lost frames; >= 1
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    // what happens in this cycle: single events, frames that are lost
    input  logic [   Events-1:0] event_i,
    input  logic [LostWidth-1:0] lost_i,
    // software: so many lost frames are a cause, 0: none are; causes that it clears; those that count
    input  logic [LostWidth-1:0] most_i,
    input  logic [     Events:0] clear_i,
    input  logic [     Events:0] mask_i,
    // causes; frames that were lost since theirs was cleared last, stops at its largest value; the level
    output logic [     Events:0] cause_o,
    output logic [LostWidth-1:0] lost_o,
    output logic                 irq_o
);

  if (Events < 1 || LostWidth < 1) begin : g_bad_size
    $error("pst_interrupt: Events (%0d) and LostWidth (%0d) must be at least 1", Events, LostWidth);
  end

  logic [Events:0] cause_d, cause_q;
  logic [LostWidth-1:0] kept, lost_d, lost_q;
  logic carry, over, irq_q;

  // An event in the cycle in which its cause is cleared stands. Frames that are lost in that cycle are the first ones of the new count.
  assign over                = most_i != '0 && lost_q >= most_i;
  assign cause_d[Events-1:0] = (cause_q[Events-1:0] & ~clear_i[Events-1:0]) | event_i;
  assign cause_d[Events]     = (cause_q[Events] || over) && !clear_i[Events];
  assign kept                = clear_i[Events] ? '0 : lost_q;
  assign {carry, lost_d}     = {1'b0, kept} + {1'b0, lost_i};

  always_ff @(posedge clk_i) begin
    cause_q <= cause_d;
    lost_q  <= carry ? '1 : lost_d;
    irq_q   <= |(cause_q & mask_i);
    if (rst_i) begin
      cause_q <= '0;
      lost_q  <= '0;
      irq_q   <= 1'b0;
    end
  end

  assign cause_o = cause_q;
  assign lost_o  = lost_q;
  assign irq_o   = irq_q;

`ifndef SYNTHESIS
  // What is not cleared stays.
  logic known_q;
  logic [Events:0] kept_q;
  logic [LostWidth-1:0] lost_before_q;
  always_ff @(posedge clk_i) begin
    known_q       <= !rst_i;
    kept_q        <= cause_q & ~clear_i;
    lost_before_q <= kept;
    if (known_q && !rst_i) begin
      a_cause_is_kept : assert ((kept_q & ~cause_q) == '0);
      a_losses_are_kept : assert (lost_q >= lost_before_q);
    end
  end
`endif

endmodule
