// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Counters of events in a small memory: an event adds 1 to the counter that it names, and a second port shows one of them.
//
// Throughput: an event per cycle, to one counter as to many. Latency: an event is shown 3 cycles later; count_o is that of index_i in the
// cycle before. Counters wrap around at their width. Reset: all are 0 at once; events inside are forgotten.
module pst_event_counts #(
    parameter int unsigned Counts = 16,  // >= 2
    parameter int unsigned Width  = 50,  // bits of a counter
    localparam int unsigned IndexWidth = $clog2(Counts)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic                  event_valid_i,
    input  logic [IndexWidth-1:0] event_index_i,
    input  logic [IndexWidth-1:0] index_i,
    output logic [     Width-1:0] count_o
);

  if (Counts < 2) begin : g_bad_counts
    $error("pst_event_counts: Counts is %0d, must be at least 2", Counts);
  end

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [Width-1:0] count_t;

  // 0: the counter is read; 1: it is added to; 2: it is written. Those of the two events before are not in the memory yet when it is read.
  logic valid1_q, valid2_q, ahead1_q, ahead2_q, written1_q;
  index_t index1_q, index2_q;
  count_t read1, count2_q, count3_q, sum;
  logic [Counts-1:0] written_q;         // since reset; the others are 0
  logic shown_written_q, shown_now_q;   // what is shown was written before, or in the cycle in which it was read
  count_t shown;

  pst_ram_1r1w #(
      .Width(Width),
      .Depth(Counts),
      .Style("distributed")
  ) u_counts (
      .clk_i,
      .we_i   (valid2_q),
      .waddr_i(index2_q),
      .wdata_i(count2_q),
      .re_i   (1'b1),
      .raddr_i(event_index_i),
      .rdata_o(read1)
  );

  pst_ram_1r1w #(
      .Width(Width),
      .Depth(Counts),
      .Style("distributed")
  ) u_shown (
      .clk_i,
      .we_i   (valid2_q),
      .waddr_i(index2_q),
      .wdata_i(count2_q),
      .re_i   (1'b1),
      .raddr_i(index_i),
      .rdata_o(shown)
  );

  always_comb begin
    sum = written1_q ? read1 : '0;
    if (ahead2_q) sum = count3_q;
    if (ahead1_q) sum = count2_q;
    sum = sum + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    valid1_q        <= event_valid_i;
    index1_q        <= event_index_i;
    ahead1_q        <= valid1_q && index1_q == event_index_i;
    ahead2_q        <= valid2_q && index2_q == event_index_i;
    written1_q      <= written_q[event_index_i];
    valid2_q        <= valid1_q;
    index2_q        <= index1_q;
    count2_q        <= sum;
    count3_q        <= count2_q;
    shown_written_q <= written_q[index_i];
    shown_now_q     <= valid2_q && index2_q == index_i;
    if (valid2_q) written_q[index2_q] <= 1'b1;
    if (rst_i) begin
      valid1_q        <= 1'b0;
      valid2_q        <= 1'b0;
      ahead1_q        <= 1'b0;
      ahead2_q        <= 1'b0;
      written_q       <= '0;
      shown_written_q <= 1'b0;
      shown_now_q     <= 1'b0;
    end
  end

  assign count_o = shown_now_q ? count3_q : shown_written_q ? shown : '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_event_in_range : assert (!event_valid_i || 32'(event_index_i) < Counts)
      else $error("pst_event_counts: an event of counter %0d, there are %0d", event_index_i, Counts);
      a_ahead_is_of_an_event : assert (!(ahead1_q && !valid2_q));
    end
  end
`endif

endmodule
