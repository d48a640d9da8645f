// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The interrupt of the access edge: what its causes are, and how software clears and masks them.
//
// Latency: a cause is set 1 cycle after what is told here; irq_o another one. Reset: forgets causes.
module pst_control_interrupt #(
    parameter int unsigned Memories = 1
) (
    input  logic                                                clk_i,
    input  logic                                                rst_i,
    input  pst_access_edge_regs_pkg::pst_access_edge_regs__out_t regs_i,
    // state: lost memories, a scan is under way, the device is at rest; pulse: a FIFO in front of the device has lost a frame
    input  logic [Memories-1:0]                                 memory_lost_i,
    input  logic                                                scanning_i,
    input  logic                                                drained_i,
    input  logic                                                overflow_i,
    input  logic [2:0]                                          lost_frames_i,   // in this cycle
    // causes, from bit 0 on as in register irq_cause; lost frames
    output logic [4:0]                                          cause_o,
    output logic [31:0]                                         lost_o,
    output logic                                                irq_o
);

  logic [Memories-1:0] memory_lost_q;
  logic scanning_q, drained_q;
  logic [4:0] clear;

  always_ff @(posedge clk_i) begin
    memory_lost_q <= memory_lost_i;
    scanning_q    <= scanning_i;
    drained_q     <= drained_i;
    if (rst_i) begin
      memory_lost_q <= '0;
      scanning_q    <= 1'b0;
      drained_q     <= 1'b0;
    end
  end

  assign clear = regs_i.irq_cause.req && regs_i.irq_cause.req_is_wr ? 5'(regs_i.irq_cause.wr_data & regs_i.irq_cause.wr_biten) : '0;

  pst_interrupt #(
      .Events(4), .LostWidth(32)
  ) u_interrupt (
      .clk_i, .rst_i,
      .event_i({drained_i && !drained_q, overflow_i, scanning_q && !scanning_i, |(memory_lost_i & ~memory_lost_q)}),
      .lost_i(32'(lost_frames_i)), .most_i(regs_i.irq_drops.frames.value), .clear_i(clear),
      .mask_i({
          regs_i.irq_mask.drops.value, regs_i.irq_mask.drained.value, regs_i.irq_mask.overflow.value,
          regs_i.irq_mask.scan_ended.value, regs_i.irq_mask.memory_lost.value
      }),
      .cause_o, .lost_o, .irq_o
  );

endmodule
