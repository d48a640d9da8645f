// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The bucket of each stored frame, and its hosts: its headers are read on their way to the memory, and the hashes wait for its enqueue.
//
// Frames are looked at without the queue id in front of them, whatever says which queue is theirs, so there is one such reader for all.
//
// Throughput: a beat per cycle. Latency: 17 cycles from the beat that ends the frame or fills the window of 128 bytes to m_bucket_valid_o.
// Ordering:   as frames come. Reset: forgets the frames inside; random words stay.
module pst_access_edge_buckets
  import pst_pkg::len_t;
  import pst_parse_pkg::headers_t, pst_parse_pkg::MplsByNibble;
  import pst_fq_pkg::bucket_t, pst_fq_pkg::hashes_t;
#(
    parameter int unsigned Frames = 72,      // between the first beat of a frame and its enqueue, at most
    parameter bit          Hosts = 1'b0,     // hashes of hosts are used; else they are 0
    localparam int unsigned DataBytes = 64,
    localparam int unsigned LenDepth = 16    // frames whose length is known and whose first beat is not there
) (
    input  logic                        clk_i,
    input  logic                        rst_i,
    // the length of each frame, at the latest with its first beat
    input  logic                        len_valid_i,
    input  len_t                        len_i,
    // its beats, as they are taken
    input  logic                        beat_valid_i,
    input  logic [8*DataBytes-1:0]      beat_data_i,
    input  logic                        beat_last_i,
    // a random word of the hash, see pst_fq_hash
    input  logic                        seed_we_i,
    input  logic [5:0]                  seed_chunk_i,
    input  logic [5:0]                  seed_index_i,
    input  bucket_t                     seed_word_i,
    // its bucket
    output logic                        m_bucket_valid_o,
    input  logic                        m_bucket_ready_i,
    output hashes_t                     m_hashes_o
);

  localparam int unsigned Vectors = 32;    // room for what pst_parse has under way

  len_t len, left_q, left;
  logic len_ready, len_valid, first_q, headers_valid, hash_valid, bucket_ready, parse_ready;
  logic [DataBytes-1:0] keep;
  headers_t headers;
  hashes_t hashes;

  pst_fifo #(
      .Width($bits(len_t)), .Depth(LenDepth)
  ) u_len (
      .clk_i, .rst_i,
      .s_valid_i(len_valid_i), .s_ready_o(len_ready), .s_data_i(len_i),
      .m_valid_o(len_valid), .m_ready_i(beat_valid_i && first_q), .m_data_o(len),
      .level_o()
  );

  // What the last beat has beyond the frame's end means nothing.
  always_comb begin
    left = first_q ? len : left_q;
    keep = '1;
    for (int unsigned i = 0; i < DataBytes; i++) if (32'(left) <= i) keep[i] = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (beat_valid_i) begin
      first_q <= beat_last_i;
      left_q  <= left - len_t'(DataBytes);
    end
    if (rst_i) first_q <= 1'b1;
  end

  // No vector waits, so no beat does.
  pst_parse #(
      .DataBytes(DataBytes), .WindowBytes(128), .ExtensionHeaders(2), .Tunnels(1'b0), .Vectors(Vectors)
  ) u_parse (
      .clk_i, .rst_i, .mpls_i(MplsByNibble),
      .s_axis_tdata_i(beat_data_i), .s_axis_tkeep_i(keep), .s_axis_tlast_i(beat_last_i), .s_axis_tuser_i(1'b0),
      .s_axis_tvalid_i(beat_valid_i), .s_axis_tready_o(parse_ready),
      .m_axis_tdata_o(), .m_axis_tkeep_o(), .m_axis_tlast_o(), .m_axis_tuser_o(), .m_axis_tvalid_o(), .m_axis_tready_i(1'b1),
      .m_headers_valid_o(headers_valid), .m_headers_ready_i(1'b1), .m_headers_o(headers)
  );

  pst_fq_hash u_hash (
      .clk_i, .seed_we_i, .seed_chunk_i, .seed_index_i, .seed_word_i,
      .valid_i(headers_valid), .headers_i(headers), .valid_o(hash_valid), .hashes_o(hashes)
  );

  localparam int unsigned HashWidth = Hosts ? $bits(hashes_t) : $bits(bucket_t);
  logic [HashWidth-1:0] waiting;
  logic unused_hosts;
  assign unused_hosts = ^hashes;

  pst_fifo #(
      .Width(HashWidth), .Depth(Frames)
  ) u_buckets (
      .clk_i, .rst_i,
      .s_valid_i(hash_valid && !rst_i), .s_ready_o(bucket_ready), .s_data_i(HashWidth'(hashes)),
      .m_valid_o(m_bucket_valid_o), .m_ready_i(m_bucket_ready_i), .m_data_o(waiting),
      .level_o()
  );

  assign m_hashes_o = hashes_t'(waiting);

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_len_has_room : assert (!len_valid_i || len_ready) else $error("more frames than lengths that have room");
      a_len_before_beats : assert (!(beat_valid_i && first_q) || len_valid) else $error("a frame comes before its length");
      a_beats_end_with_the_frame : assert (!beat_valid_i || beat_last_i == (32'(left) <= DataBytes))
      else $error("a frame has another length");
      a_parse_takes : assert (!beat_valid_i || parse_ready) else $error("pst_parse waits");
      a_bucket_has_room : assert (!hash_valid || bucket_ready) else $error("more frames under way than buckets that have room");
    end
  end
`endif

endmodule
