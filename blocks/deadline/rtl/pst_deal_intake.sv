// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Finds the frames in words of several segments: where each begins, how long it is, and whether it may go on.
//
// A frame is the used segments, in order, up to one that says last. Of each word goes out a record: which segments are used, where frames
// begin, of which class, and for those that also end in it their length and whether they are good. Of a frame that goes on in further words
// that follows by itself (`m_open`), when its end has come or when it is longer than any may be.
//
// Throughput: a word per cycle, up to a frame a segment. Latency: 1 cycle. Order: kept. Reset: the frame under way is forgotten.
module pst_deal_intake
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes       = 64,    // 2..256
    parameter int unsigned Columns       = 8,     // segments of a word: 2, 4, 8
    parameter int unsigned MinFrameBytes = 60,    // >= 8
    parameter int unsigned MaxFrameBytes = 9600,  // 64..65535
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    // words that are taken
    input  logic                               s_valid_i,
    input  logic [Columns-1:0]                 s_used_i,
    input  logic [Columns-1:0]                 s_last_i,
    input  logic [Columns-1:0][           6:0] s_bytes_last_i,
    input  logic [Columns-1:0]                 s_bad_i,
    input  logic [Columns-1:0][ClassWidth-1:0] s_class_i,
    input  logic [Columns-1:0][          15:0] s_user_i,
    // a record of each
    output logic                               m_valid_o,
    output logic [Columns-1:0]                 m_used_o,
    output logic [Columns-1:0]                 m_begin_o,
    output logic [Columns-1:0]                 m_good_o,       // where one begins that ends in this word, and may go on
    output logic [Columns-1:0][          15:0] m_bytes_o,      // of it
    output logic [Columns-1:0][ClassWidth-1:0] m_class_o,      // where one begins
    output logic [Columns-1:0][          15:0] m_user_o,       // the same
    output logic                               m_opens_o,      // the last that begins in this word goes on in further ones
    // what became of one that went on
    output logic                               m_open_valid_o,
    output logic                               m_open_good_o,
    output logic [         15:0]               m_open_bytes_o,
    // frames that may not go on, where they end
    output logic [Columns-1:0]                 ev_refused_valid_o,
    output logic [Columns-1:0][ClassWidth-1:0] ev_refused_class_o,
    output logic [Columns-1:0][          15:0] ev_refused_bytes_o,  // 65535: so many or more
    output fate_e [Columns-1:0]                ev_refused_reason_o,
    output logic [Columns-1:0][          15:0] ev_refused_user_o   // of their first segment
);

  localparam int unsigned MaxSegments = (MaxFrameBytes + 63) / 64;
  localparam int unsigned LaneWidth   = $clog2(Columns);

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [10:0] segments_t;      // of a frame; stays at the highest once there

  logic open_q, condemned_q;            // a frame is under way; it is too long, which has been said
  segments_t segments_q;
  class_t class_q;
  logic [15:0] user_q;

  logic [Columns-1:0] begins, good, refused;
  logic [Columns-1:0][15:0] bytes, ended_bytes;
  class_t [Columns-1:0] ended_class;
  logic [Columns-1:0][15:0] ended_user;
  fate_e [Columns-1:0] reason;
  logic open, opens, condemned, carried, carried_ends, carried_good;
  logic [15:0] carried_bytes;
  logic [LaneWidth-1:0] start;
  segments_t segments;
  class_t class_id;
  logic [15:0] user;
  logic [16:0] sum;
  logic wrong;

  always_comb begin
    open          = open_q;
    condemned     = condemned_q;
    carried       = open_q;             // the frame of this segment began in an earlier word
    carried_ends  = 1'b0;
    carried_good  = 1'b0;
    carried_bytes = '0;
    segments      = segments_q;
    class_id      = class_q;
    user          = user_q;
    start         = '0;
    begins        = '0;
    good          = '0;
    refused       = '0;
    bytes         = '0;
    ended_bytes   = '0;
    ended_class   = '0;
    ended_user    = '0;
    reason        = {Columns{FateBad}};
    sum           = '0;
    wrong         = 1'b0;
    for (int unsigned i = 0; i < Columns; i++) begin
      if (s_used_i[i]) begin
        if (!open) begin
          begins[i] = 1'b1;
          start     = LaneWidth'(i);
          segments  = '0;
          class_id  = s_class_i[i];
          user      = s_user_i[i];
          carried   = 1'b0;
          condemned = 1'b0;
        end
        open = !s_last_i[i];
        if (segments != '1) segments++;
        if (s_last_i[i]) begin
          sum             = {segments - 1'b1, 6'b0} + 17'(s_bytes_last_i[i]);
          if (segments == '1) sum = '1;
          ended_bytes[i]  = sum[16] ? '1 : sum[15:0];
          ended_class[i]  = class_id;
          ended_user[i]   = user;
          wrong           = s_bad_i[i] || ended_bytes[i] < 16'(MinFrameBytes) || ended_bytes[i] > 16'(MaxFrameBytes);
          refused[i]      = wrong;
          reason[i]       = s_bad_i[i] ? FateBad : FateLength;
          if (carried) begin
            carried_ends  = !condemned;
            carried_good  = !wrong;
            carried_bytes = ended_bytes[i];
          end else begin
            good[start]  = !wrong;
            bytes[start] = ended_bytes[i];
          end
        end
      end
    end
    opens = open && !carried;
    // It is too long, whatever comes: what waits for its end need not.
    if (open && carried && !condemned && segments >= segments_t'(MaxSegments)) begin
      carried_ends = 1'b1;
      condemned    = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_valid_i) begin
      open_q      <= open;
      condemned_q <= open && condemned;
      segments_q  <= segments;
      class_q     <= class_id;
      user_q      <= user;
    end
    m_valid_o           <= s_valid_i;
    m_used_o            <= s_used_i;
    m_begin_o           <= begins;
    m_good_o            <= good;
    m_bytes_o           <= bytes;
    m_class_o           <= s_class_i;
    m_user_o            <= s_user_i;
    m_opens_o           <= opens;
    m_open_valid_o      <= s_valid_i && carried_ends;
    m_open_good_o       <= carried_good;
    m_open_bytes_o      <= carried_bytes;
    ev_refused_valid_o  <= refused & {Columns{s_valid_i}};
    ev_refused_class_o  <= ended_class;
    ev_refused_bytes_o  <= ended_bytes;
    ev_refused_reason_o <= reason;
    ev_refused_user_o   <= ended_user;
    if (rst_i) begin
      open_q             <= 1'b0;
      condemned_q        <= 1'b0;
      m_valid_o          <= 1'b0;
      m_open_valid_o     <= 1'b0;
      ev_refused_valid_o <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && s_valid_i) begin
      for (int unsigned i = 0; i < Columns; i++) begin
        a_last_has_bytes : assert (!(s_used_i[i] && s_last_i[i]) || (s_bytes_last_i[i] >= 7'd1 && s_bytes_last_i[i] <= 7'd64));
        a_class_exists : assert (!begins[i] || 32'(s_class_i[i]) < Classes) else $error("class %0d of %0d", s_class_i[i], Classes);
      end
      a_one_end : assert (!(carried_ends && open && carried) || condemned);
    end
  end
`endif

endmodule
