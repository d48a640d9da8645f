// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Remembers which queues were not served for so long that the times in their AQM's state must no longer be compared.
//
// A walk visits the queues in turn. One whose state was last written more than 2^(TimeWidth-3) ticks ago (at most half as much again)
// is marked; its next look gets stale_o, and its next write voids the mark. Every memory keeps its one writer: the state carries a tag bit,
// the mark is the tag that it condemns, and what writes the state gives it the other tag.
//
// Latency:    stale_o and mark_o 2 cycles after the look. Throughput: a look and a write per cycle; a queue is visited every
//             12 * Queues cycles, which must be less than 2^(TimeWidth-5) ticks.
// Reset:      none; the owner clears both memories through clear_i.
module pst_aqm_aging #(
    parameter int unsigned Queues = 64,          // >= 2
    parameter int unsigned WriteCycles = 9,      // cycles from a look to its write, at most
    parameter bit          FirstTag = 1'b1,      // of a state that was cleared; 0: it counts as old
    parameter string       RamStyle = "auto",    // see pst_ram_1r1w
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [             3:0] epoch_i,    // the upper bits of the time
    // state is read
    input  logic                    look_valid_i,
    input  logic [QueueIdWidth-1:0] look_queue_i,
    output logic                    mark_o,     // the tag that is condemned
    // state is written, with this tag
    input  logic                    write_valid_i,
    input  logic [QueueIdWidth-1:0] write_queue_i,
    input  logic                    write_tag_i,
    // clears one queue; no looks and writes meanwhile
    input  logic                    clear_i,
    input  logic [QueueIdWidth-1:0] clear_queue_i
);

  // A visit: watch the queue until every older operation has written, read, compare, mark.
  localparam int unsigned ReadStep = WriteCycles;
  localparam int unsigned Steps = ReadStep + 3;
  localparam int unsigned StepWidth = $clog2(Steps);

  typedef struct packed {
    logic       tag;
    logic [3:0] epoch;
  } seen_t;

  seen_t seen;
  logic [StepWidth-1:0] step_q;
  logic [QueueIdWidth-1:0] queue_q;
  logic touched_q, touch, old_q, tag_q, mark_write, mark;

  // What was looked at before the visit began has been written when the walk reads; what is looked at during the visit ends it.
  assign touch = look_valid_i && look_queue_i == queue_q;
  assign mark_write = step_q == StepWidth'(Steps - 1) && old_q && !touched_q && !touch && !clear_i;

  pst_ram_1r1w #(
      .Width($bits(seen_t)),
      .Depth(Queues),
      .Style(RamStyle)
  ) u_seen (
      .clk_i,
      .we_i   (write_valid_i || clear_i),
      .waddr_i(clear_i ? clear_queue_i : write_queue_i),
      .wdata_i(clear_i ? {FirstTag, epoch_i} : {write_tag_i, epoch_i}),
      .re_i   (step_q == StepWidth'(ReadStep)),
      .raddr_i(queue_q),
      .rdata_o(seen)
  );

  pst_ram_1r1w #(
      .Width(1),
      .Depth(Queues),
      .ReadLatency(2),
      .Style(RamStyle)
  ) u_mark (
      .clk_i,
      .we_i   (mark_write || clear_i),
      .waddr_i(clear_i ? clear_queue_i : queue_q),
      .wdata_i(clear_i ? 1'b0 : tag_q),
      .re_i   (look_valid_i),
      .raddr_i(look_queue_i),
      .rdata_o(mark)
  );

  assign mark_o = mark;

  always_ff @(posedge clk_i) begin
    step_q    <= step_q + 1'b1;
    touched_q <= touched_q || touch;
    old_q     <= 4'(epoch_i - seen.epoch) >= 4'd3;
    tag_q     <= seen.tag;
    if (step_q == StepWidth'(Steps - 1)) begin
      step_q    <= '0;
      touched_q <= 1'b0;
      queue_q   <= queue_q == QueueIdWidth'(Queues - 1) ? '0 : queue_q + 1'b1;
    end
    if (rst_i) begin
      step_q    <= '0;
      touched_q <= 1'b1;
      queue_q   <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) a_visit_in_range : assert (32'(step_q) < Steps && 32'(queue_q) < Queues);
  end
`endif

endmodule
