// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Frame and byte counters of the classes for one kind of event, which may add any number of frames at once: a skip does.
//
// Throughput: an increment and a read per cycle, of any classes, also of one; neither ever waits.
// Latency:    a read is answered 2 cycles later. It holds every increment up to that of its own cycle, and no later one: so banks that are
//             read in one cycle show one moment.
// Counters wrap around at their width. Reset clears all of them: a walker takes Classes cycles, then init_done_o rises.
module pst_deadline_bank #(
    parameter int unsigned Classes    = 64,  // 2..256
    parameter int unsigned FrameWidth = 50,  // bits, >= 32
    parameter int unsigned ByteWidth  = 56,  // bits, >= 40
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    output logic                  init_done_o,
    // increments; not before init_done_o
    input  logic                  inc_valid_i,
    input  logic [ClassWidth-1:0] inc_class_i,
    input  logic [          31:0] inc_frames_i,
    input  logic [          39:0] inc_bytes_i,
    // reads
    input  logic                  read_valid_i,
    input  logic [ClassWidth-1:0] read_class_i,
    output logic [FrameWidth-1:0] read_frames_o,  // two cycles after read_valid_i, until the next answer
    output logic [ ByteWidth-1:0] read_bytes_o
);

  typedef logic [ClassWidth-1:0] class_t;

  typedef struct packed {
    logic [FrameWidth-1:0] frames;
    logic [ByteWidth-1:0]  bytes;
  } count_t;

  logic init;
  class_t init_class;

  pst_clear_walk #(.Depth(Classes)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_class));

  assign init_done_o = !init;

  // 0 the read is issued; 1 add; 2 write; 3 written, but a read that was issued beside it has not seen it.
  logic add_q, write_q, written_q, read_q;
  class_t add_class_q, write_class_q, written_class_q, read_class_q;
  logic [31:0] add_frames_q;
  logic [39:0] add_bytes_q;
  count_t rdata, read_rdata, base, sum, seen, write_count_q, written_count_q, answer_q;

  always_comb begin
    base = rdata;
    if (written_q && written_class_q == add_class_q) base = written_count_q;
    if (write_q && write_class_q == add_class_q) base = write_count_q;
    sum.frames = base.frames + FrameWidth'(add_frames_q);
    sum.bytes  = base.bytes + ByteWidth'(add_bytes_q);

    seen = read_rdata;
    if (written_q && written_class_q == read_class_q) seen = written_count_q;
    if (write_q && write_class_q == read_class_q) seen = write_count_q;
    if (add_q && add_class_q == read_class_q) seen = sum;
  end

  always_ff @(posedge clk_i) begin
    add_q     <= inc_valid_i && !init;
    write_q   <= add_q;
    written_q <= write_q;
    read_q    <= read_valid_i;
    if (rst_i) begin
      add_q     <= 1'b0;
      write_q   <= 1'b0;
      written_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    add_class_q     <= inc_class_i;
    add_frames_q    <= inc_frames_i;
    add_bytes_q     <= inc_bytes_i;
    write_class_q   <= add_class_q;
    write_count_q   <= sum;
    written_class_q <= write_class_q;
    written_count_q <= write_count_q;
    read_class_q    <= read_class_i;
    if (read_q) answer_q <= seen;
  end

  assign read_frames_o = answer_q.frames;
  assign read_bytes_o  = answer_q.bytes;

  // One copy to add to, one to read.
  pst_ram_1r1w #(
      .Width($bits(count_t)), .Depth(Classes)
  ) u_count (
      .clk_i,
      .we_i   (init || write_q),
      .waddr_i(init ? init_class : write_class_q),
      .wdata_i(init ? '0 : write_count_q),
      .re_i   (inc_valid_i),
      .raddr_i(inc_class_i),
      .rdata_o(rdata)
  );

  pst_ram_1r1w #(
      .Width($bits(count_t)), .Depth(Classes)
  ) u_shown (
      .clk_i,
      .we_i   (init || write_q),
      .waddr_i(init ? init_class : write_class_q),
      .wdata_i(init ? '0 : write_count_q),
      .re_i   (read_valid_i),
      .raddr_i(read_class_i),
      .rdata_o(read_rdata)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_cleared_before_increments : assert (!(inc_valid_i && init)) else $error("an increment came before init_done_o and is lost");
      a_class_in_range : assert (!inc_valid_i || 32'(inc_class_i) < Classes) else $error("class %0d of %0d", inc_class_i, Classes);
    end
  end
`endif

endmodule
