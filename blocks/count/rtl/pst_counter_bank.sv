// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Packet and byte counters of many entries, kept in one RAM: each increment adds 1 packet and inc_len_i bytes.
//
// Throughput: one increment per cycle, at any pattern of entries (the same entry back to back too); an increment never waits.
// Latency:    a read is answered 3 cycles after it was taken, reads in order, one per cycle.
// Reads:      steal a cycle without increment (s_read_ready_o is low in the cycle of an increment), so one copy of the counters is
//             enough; while an increment comes in every single cycle no read is taken.
// One moment: packets and bytes of an answer belong together: they hold every increment of an earlier cycle and none of a later one.
// Counters wrap around at their width. Reset clears all of them: a walker takes Entries cycles, then init_done_o rises.
module pst_counter_bank #(
    parameter int unsigned Entries = 512,      // counters, >= 1
    parameter int unsigned PacketWidth = 50,   // bits, >= 1
    parameter int unsigned ByteWidth = 56,     // bits, >= 16
    parameter string       Style = "auto",     // of the RAM, see pst_ram_1r1w
    localparam int unsigned IndexWidth = Entries > 1 ? $clog2(Entries) : 1
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // increments; not before init_done_o
    input  logic                   inc_valid_i,
    input  logic [ IndexWidth-1:0] inc_index_i,
    input  logic [           15:0] inc_len_i,
    // read requests and, in order, their answers (one pulse each)
    input  logic                   s_read_valid_i,
    output logic                   s_read_ready_o,
    input  logic [ IndexWidth-1:0] s_read_index_i,
    output logic                   m_read_valid_o,
    output logic [PacketWidth-1:0] m_read_packets_o,
    output logic [  ByteWidth-1:0] m_read_bytes_o,
    // all counters are zero and increments may come
    output logic                   init_done_o
);

  if (Entries < 1) begin : g_bad_entries
    $error("pst_counter_bank: Entries is %0d, allowed: 1 and more", Entries);
  end
  if (PacketWidth < 1 || ByteWidth < 16) begin : g_bad_width
    $error("pst_counter_bank: PacketWidth is %0d (at least 1), ByteWidth is %0d (at least 16)", PacketWidth, ByteWidth);
  end

  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    logic [PacketWidth-1:0] packets;
    logic [ByteWidth-1:0]   bytes;
  } count_t;

  logic   init;
  index_t init_index;

  pst_clear_walk #(.Depth(Entries)) u_clear_walk (.clk_i, .rst_i, .busy_o(init), .addr_o(init_index));

  assign init_done_o = !init;

  // Pipeline: 0 read issued, 1 inside the RAM, 2 add, 3 write or answer, 4 and 5 written but not yet visible to the reads in 2.
  logic inc, read;
  assign inc            = inc_valid_i && init_done_o;
  assign s_read_ready_o = init_done_o && !inc_valid_i;
  assign read           = s_read_valid_i && s_read_ready_o;

  index_t index;
  assign index = inc_valid_i ? inc_index_i : s_read_index_i;

  logic [4:1]        inc_q;  // the operation in this stage is an increment
  logic [3:1]        read_q;  // the operation in this stage is a read
  index_t            index_q[1:4];
  logic   [2:1][15:0] len_q;
  count_t            count_q[3:5];

  // A read that was issued 1 to 3 cycles after an increment of the same entry gets its sum from stage 3, 4 or 5; hits are found a
  // cycle early, while the sum is one stage before.
  logic [5:3] hit_d, hit_q;
  for (genvar stage = 3; stage <= 5; stage++) begin : g_hit
    assign hit_d[stage] = inc_q[stage-1] && index_q[stage-1] == index_q[1];
  end

  count_t rdata, base, sum;

  always_comb begin
    base = rdata;
    if (hit_q[3]) base = count_q[3];
    else if (hit_q[4]) base = count_q[4];
    else if (hit_q[5]) base = count_q[5];
    sum = base;
    if (inc_q[2]) begin
      sum.packets = base.packets + 1'b1;
      sum.bytes   = base.bytes + ByteWidth'(len_q[2]);
    end
  end

  always_ff @(posedge clk_i) begin
    inc_q  <= {inc_q[3:1], inc};
    read_q <= {read_q[2:1], read};
    if (rst_i) begin
      inc_q  <= '0;
      read_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    index_q[1] <= index;
    index_q[2] <= index_q[1];
    index_q[3] <= index_q[2];
    index_q[4] <= index_q[3];
    len_q      <= {len_q[1], inc_len_i};
    hit_q      <= hit_d;
    count_q[3] <= sum;
    count_q[4] <= count_q[3];
    count_q[5] <= count_q[4];
  end

  pst_ram_1r1w #(
      .Width      ($bits(count_t)),
      .Depth      (Entries),
      .ReadLatency(2),
      .Style      (Style)
  ) u_ram (
      .clk_i,
      .we_i   (init || inc_q[3]),
      .waddr_i(init ? init_index : index_q[3]),
      .wdata_i(init ? '0 : count_q[3]),
      .re_i   (inc || read),
      .raddr_i(index),
      .rdata_o(rdata)
  );

  assign m_read_valid_o   = read_q[3];
  assign m_read_packets_o = count_q[3].packets;
  assign m_read_bytes_o   = count_q[3].bytes;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_cleared_before_increments : assert (!(inc_valid_i && !init_done_o))
      else $error("pst_counter_bank: an increment came before init_done_o and is lost");
      a_increment_in_range : assert (!(inc_valid_i && int'(inc_index_i) >= Entries))
      else $error("pst_counter_bank: increment of entry %0d, there are %0d", inc_index_i, Entries);
      a_read_in_range : assert (!(s_read_valid_i && int'(s_read_index_i) >= Entries))
      else $error("pst_counter_bank: read of entry %0d, there are %0d", s_read_index_i, Entries);
    end
  end
`endif

endmodule
