// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Holds each frame until its end has come: then it goes on, with its length, or leaves no trace but an event that says why.
//
// So what is behind knows a frame's length at its first beat, and never takes anything back.
//
// Throughput: a beat per cycle in and out, frames of one beat included. Latency: 3 cycles from a frame's last beat.
// Order: kept. Reset: frames inside are forgotten.
module pst_deadline_intake
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes       = 64,    // 2..256
    parameter int unsigned MinFrameBytes = 60,    // >= 8
    parameter int unsigned MaxFrameBytes = 9600,  // 64..65535
    parameter int unsigned StoreBeats    = 512,   // a power of two; holds the longest frame at least, twice that for a beat in each cycle
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    // frames; class, deadline and user stand beside each beat
    input  logic                  s_valid_i,
    output logic                  s_ready_o,
    input  logic [ DataWidth-1:0] s_data_i,
    input  logic [           6:0] s_bytes_last_i,   // 1..64, in the last beat
    input  logic                  s_last_i,
    input  logic                  s_bad_i,          // in the last beat: drop it
    input  logic [ClassWidth-1:0] s_class_i,        // below Classes
    input  time_t                 s_deadline_i,
    input  logic [          15:0] s_user_i,
    // frames that are dropped here, as their last beat comes
    output logic                  m_refused_valid_o,
    output logic [ClassWidth-1:0] m_refused_class_o,
    output logic [          31:0] m_refused_bytes_o,  // 2^32 - 64 + those of the last beat: so many or more
    output fate_e                 m_refused_reason_o,
    output logic [          15:0] m_refused_user_o,
    // whole frames: what is known of each, and the beats
    output logic                  m_meta_valid_o,
    input  logic                  m_meta_ready_i,
    output logic [ClassWidth-1:0] m_meta_class_o,
    output header_t               m_meta_header_o,
    output logic                  m_data_valid_o,
    input  logic                  m_data_ready_i,
    output logic [ DataWidth-1:0] m_data_o
);

  if (MinFrameBytes < UnitBytes || MaxFrameBytes < DataWidth / 8 || MaxFrameBytes > 65535 || MinFrameBytes > MaxFrameBytes) begin : g_bad
    $error("pst_deadline_intake: frames of %0d to %0d byte, allowed: from 8 at least to 64..65535", MinFrameBytes, MaxFrameBytes);
  end
  if (StoreBeats * (DataWidth / 8) < MaxFrameBytes) begin : g_bad_store
    $error("pst_deadline_intake: StoreBeats is %0d, less than a frame of MaxFrameBytes (%0d) takes", StoreBeats, MaxFrameBytes);
  end

  typedef struct packed {
    logic [ClassWidth-1:0] class_id;
    header_t               header;
  } meta_t;

  localparam int unsigned BeatsWidth = 16 - $clog2(DataWidth / 8) + 1;

  logic [BeatsWidth-1:0] beats_q;  // of this frame before this beat; stays at the highest once there
  logic [25:0] all_q;              // the same, for what is reported
  logic [16:0] sum;
  logic [15:0] bytes;
  logic taken, too_long, discard;
  meta_t in, out;

  always_comb begin
    taken    = s_valid_i && s_ready_o;
    sum      = 17'({beats_q, 6'b0}) + 17'(s_bytes_last_i);
    bytes    = sum[16] ? '1 : sum[15:0];
    too_long = bytes > 16'(MaxFrameBytes) || bytes < 16'(MinFrameBytes);
    discard  = s_bad_i || too_long;
    in       = '{class_id: s_class_i, header: '{user: s_user_i, deadline: s_deadline_i, bytes: bytes}};
  end

  pst_frame_fifo #(
      .DataBytes(DataWidth / 8),
      .DepthBeats(StoreBeats),
      .MaxFrames(StoreBeats),
      .MetaWidth($bits(meta_t))
  ) u_store (
      .clk_i,
      .rst_i,
      .s_valid_i,
      .s_ready_o,
      .s_data_i,
      .s_last_i,
      .s_discard_i(discard),
      .s_meta_i(in),
      .m_meta_valid_o,
      .m_meta_ready_i,
      .m_meta_o(out),
      .m_data_valid_o,
      .m_data_ready_i,
      .m_data_o,
      .m_data_last_o()
  );

  assign m_meta_class_o  = out.class_id;
  assign m_meta_header_o = out.header;

  always_ff @(posedge clk_i) begin
    if (taken) all_q <= s_last_i ? '0 : all_q + 26'(!(&all_q));
    if (taken) beats_q <= s_last_i ? '0 : beats_q + BeatsWidth'(!beats_q[BeatsWidth-1]);
    m_refused_valid_o  <= taken && s_last_i && discard;
    m_refused_class_o  <= s_class_i;
    m_refused_bytes_o  <= {all_q, 6'b0} + 32'(s_bytes_last_i);
    m_refused_reason_o <= s_bad_i ? FateBad : FateLength;
    m_refused_user_o   <= s_user_i;
    if (rst_i) begin
      beats_q           <= '0;
      all_q             <= '0;
      m_refused_valid_o <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && s_valid_i) begin
      a_class_exists : assert (32'(s_class_i) < Classes) else $error("class %0d of %0d", s_class_i, Classes);
      a_last_beat_has_bytes : assert (!s_last_i || (s_bytes_last_i >= 7'd1 && s_bytes_last_i <= 7'd64));
    end
  end
`endif

endmodule
