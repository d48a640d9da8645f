// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads the queue id of each frame and passes the frame on whole or not at all. With Prefix the id stands in front of the
// frame (4 bytes, most significant first, as in section 3.1 of the QoS paper) and is stripped; else it is tdest of the
// frame's first beat, and nothing is stripped. Who gives tdest may have found no queue (tdrop).
//
// A frame is dropped with the first reason that holds: bad_frame (tuser at its last beat, or a hole in tkeep at any), runt (shorter than MinFrameBytes
// without the prefix), oversize (longer than MaxFrameBytes), no_subscriber (tdrop), bad_queue_id (>= Queues). With
// Prefix, a frame with less than 4 bytes has no queue id; it is a runt of length 0 and is reported with queue NoQueue
// (0xFFFF_FFFF), as one with tdrop is.
// An oversize frame gives its buffer back at the beat that exceeds MaxFrameBytes; the rest is swallowed as it comes,
// however long it is and however full the buffer.
//
// One beat per cycle, hence one 64-byte frame (60 and the prefix) per cycle. From the last beat in: 3 cycles to ev_valid_o,
// 5 to m_meta_valid_o and m_data_valid_o (one less where the last beat holds nothing beyond the beat before it, and
// without Prefix).
// Reset forgets what is inside without an event.
module pst_classify
  import pst_pkg::LenWidth, pst_pkg::len_t, pst_pkg::drop_e, pst_pkg::DropNone, pst_pkg::DropRunt, pst_pkg::DropOversize,
      pst_pkg::DropBadQueueId, pst_pkg::DropBadFrame, pst_pkg::DropNoSubscriber;
#(
    parameter int unsigned Queues = 262144,        // ids 0..Queues-1, 1..2^31
    parameter int unsigned DataBytes = 64,         // bytes per beat, a power of two >= 8
    parameter int unsigned MinFrameBytes = 60,     // without prefix and FCS, >= 1
    parameter int unsigned MaxFrameBytes = 9216,   // without prefix and FCS, <= 2^LenWidth - 1
    parameter int unsigned BufferBeats = 512,      // a power of two, at least two of the largest frames
    parameter bit          DetectEcn = 1'b0,       // m_meta_ect_o is made; DataBytes is 64
    parameter bit          Prefix = 1'b1,          // the queue id is in front of the frame, else in tdest
    localparam int unsigned QueueWidth = Queues > 1 ? $clog2(Queues) : 1
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // frames in, with Prefix behind their queue id
    input  logic [8*DataBytes-1:0] s_axis_tdata_i,
    input  logic [  DataBytes-1:0] s_axis_tkeep_i,   // all ones, at the last beat from bit 0 on; a beat with a hole counts as a full one
    input  logic                   s_axis_tlast_i,
    input  logic                   s_axis_tuser_i,   // at the last beat: the frame is damaged
    input  logic [           31:0] s_axis_tdest_i,   // at the first beat: the queue id, without Prefix
    input  logic                   s_axis_tdrop_i,   // at the first beat: it has no queue and is dropped, without Prefix
    input  logic                   s_axis_tvalid_i,
    output logic                   s_axis_tready_o,
    // one word per passed frame
    output logic                   m_meta_valid_o,
    input  logic                   m_meta_ready_i,
    output logic [ QueueWidth-1:0] m_meta_queue_o,
    output len_t                   m_meta_len_o,
    output logic                   m_meta_ect_o,     // ECN-capable (RFC 3168): it may be marked; 0 without DetectEcn
    // beats of passed frames, without prefix; bytes beyond the length mean nothing
    output logic                   m_data_valid_o,
    input  logic                   m_data_ready_i,
    output logic [8*DataBytes-1:0] m_data_o,
    output logic                   m_data_last_o,
    // fate of every frame, in order of arrival
    output logic                   ev_valid_o,
    output drop_e                  ev_reason_o,      // DropNone: passed
    output logic [           31:0] ev_queue_o,
    output logic [           31:0] ev_len_o          // without prefix, at most 2^32 - 1
);

  localparam int unsigned PrefixBytes = 4;
  localparam int unsigned MaxFrameBeats = (MaxFrameBytes + DataBytes - 1) / DataBytes;
  localparam logic [31:0] NoQueue = 32'hFFFF_FFFF;
  localparam int unsigned CountWidth = $clog2(DataBytes + 1);

  if (Queues < 1 || Queues > 32'h8000_0000) begin : g_bad_queues
    $error("pst_classify: Queues is %0d, allowed: 1..2147483648", Queues);
  end
  if (DataBytes < 8 || DataBytes != 2 ** $clog2(DataBytes)) begin : g_bad_data_bytes
    $error("pst_classify: DataBytes is %0d, must be a power of two and at least 8", DataBytes);
  end
  if (MinFrameBytes < 1 || MinFrameBytes > MaxFrameBytes || MaxFrameBytes >= 2 ** LenWidth) begin : g_bad_frame_bytes
    $error("pst_classify: 1 <= MinFrameBytes (%0d) <= MaxFrameBytes (%0d) <= %0d does not hold", MinFrameBytes,
           MaxFrameBytes, 2 ** LenWidth - 1);
  end
  if (BufferBeats < 2 * MaxFrameBeats || BufferBeats != 2 ** $clog2(BufferBeats)) begin : g_bad_buffer
    $error("pst_classify: BufferBeats is %0d, must be a power of two and hold two frames of %0d beats", BufferBeats,
           MaxFrameBeats);
  end

  typedef struct packed {
    logic        none; // no queue was found
    logic        bad;  // no such queue
    logic [31:0] id;
  } prefix_t;

  typedef struct packed {
    logic [QueueWidth-1:0] id;
    len_t                  len;
  } meta_t;

  if (DetectEcn && DataBytes != 64) begin : g_bad_ecn
    $error("pst_classify: DetectEcn needs beats of 64 bytes, not %0d", DataBytes);
  end

  // ---- a hole in tkeep, and a beat that is not full before the last one, damage the frame

  logic take_in, holes;
  logic [DataBytes-1:0] keep;

  pst_stream_holes #(
      .DataBytes(DataBytes)
  ) u_holes (
      .clk_i,
      .rst_i,
      .take_i   (take_in),
      .keep_i   (s_axis_tkeep_i),
      .last_i   (s_axis_tlast_i),
      .keep_o   (keep),
      .damaged_o(holes)
  );

  // ---- the queue id, of the frame whose beats leave for the measure stage

  prefix_t prefix;
  logic first_d, first_q, take_strip;
  logic [8*DataBytes-1:0] strip_data;
  logic [DataBytes-1:0] strip_keep;
  logic strip_last, strip_user, strip_valid, strip_ready;

  always_comb begin
    take_in = s_axis_tvalid_i && s_axis_tready_o;
    first_d = take_in ? s_axis_tlast_i : first_q;
  end

  if (Prefix) begin : g_prefix
    // One register is enough for the queue id: the strip stage takes the first beat of a frame at the earliest when
    // the last beat of the frame before leaves it.
    prefix_t prefix_d, prefix_q;
    logic take_prefix;

    always_comb begin
      take_prefix = take_in && first_q;
      prefix_d.id = {s_axis_tdata_i[7:0], s_axis_tdata_i[15:8], s_axis_tdata_i[23:16], s_axis_tdata_i[31:24]};
      if (s_axis_tlast_i && !keep[PrefixBytes-1]) prefix_d.id = NoQueue;
      prefix_d.bad  = prefix_d.id >= Queues;
      prefix_d.none = 1'b0;
    end

    assign prefix = prefix_q;

    pst_stream_realign #(
        .DataBytes (DataBytes),
        .StripBytes(PrefixBytes)
    ) u_strip (
        .clk_i,
        .rst_i,
        .s_axis_tdata_i,
        .s_axis_tkeep_i (keep),
        .s_axis_tlast_i,
        .s_axis_tuser_i (s_axis_tuser_i || holes),
        .s_axis_tvalid_i,
        .s_axis_tready_o,
        .m_axis_tdata_o (strip_data),
        .m_axis_tkeep_o (strip_keep),
        .m_axis_tlast_o (strip_last),
        .m_axis_tuser_o (strip_user),
        .m_axis_tvalid_o(strip_valid),
        .m_axis_tready_i(strip_ready)
    );

    always_ff @(posedge clk_i) begin
      if (take_prefix) prefix_q <= prefix_d;
    end

    logic unused_dest;
    assign unused_dest = ^{s_axis_tdest_i, s_axis_tdrop_i};

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i) a_prefix_used : assert (!take_prefix || !strip_valid || (take_strip && strip_last));
    end
`endif
  end else begin : g_dest
    prefix_t dest_q;

    always_comb begin
      prefix = dest_q;
      if (first_q) prefix = '{none: s_axis_tdrop_i, bad: s_axis_tdest_i >= Queues, id: s_axis_tdrop_i ? NoQueue : s_axis_tdest_i};
    end

    assign strip_data      = s_axis_tdata_i;
    assign strip_keep      = keep;
    assign strip_last      = s_axis_tlast_i;
    assign strip_user      = s_axis_tuser_i || holes;
    assign strip_valid     = s_axis_tvalid_i;
    assign s_axis_tready_o = strip_ready;

    always_ff @(posedge clk_i) dest_q <= prefix;
  end

  // ---- measure: bytes of each beat, one register stage

  logic [8*DataBytes-1:0] data_q;
  logic [CountWidth-1:0] bytes_d, bytes_q;
  logic beat_valid_d, beat_valid_q, last_q, user_q, beat_ready;
  prefix_t beat_prefix_q;

  always_comb begin
    strip_ready  = !beat_valid_q || beat_ready;
    take_strip   = strip_valid && strip_ready;
    beat_valid_d = take_strip || (beat_valid_q && !beat_ready);
    bytes_d      = '0;
    for (int unsigned i = 0; i < DataBytes; i++) begin
      // tkeep is contiguous from bit 0: the last one set tells the count.
      if (strip_keep[i]) bytes_d = CountWidth'(i + 1);
    end
  end

  // ---- may it be marked: the frame's first beat says

  logic ect_q;    // of the frame whose beat is in data_q

  if (DetectEcn) begin : g_ecn
    logic ect, strip_first_q;

    pst_ecn_detect u_ecn (
        .data_i(strip_data),
        .keep_i(strip_keep),
        .ect_o (ect),
        .ce_o  (),
        .ipv4_o(),
        .tags_o()
    );

    always_ff @(posedge clk_i) begin
      if (take_strip && strip_first_q) ect_q <= ect;
      if (take_strip) strip_first_q <= strip_last;
      if (rst_i) strip_first_q <= 1'b1;
    end
  end else begin : g_no_ecn
    assign ect_q = 1'b0;
  end

  // ---- judge: length so far, reason, and what the buffer is told

  logic [15:0] len_d, len_q, total;    // this one is compared: it stays at its most
  logic [16:0] sum;
  logic [31:0] whole_q, whole;         // this one is reported
  logic [32:0] whole_sum;
  logic oversize, take_beat, ev_valid_d;
  drop_e reason;
  localparam int unsigned MetaWidth = $bits(meta_t) + 32'(DetectEcn);
  meta_t meta_in, meta_out;
  logic [MetaWidth-1:0] stored_meta;

  always_comb begin
    sum      = 17'(len_q) + 17'(bytes_q);
    total    = sum[16] ? '1 : sum[15:0];
    whole_sum = 33'(whole_q) + 33'(bytes_q);
    whole     = whole_sum[32] ? '1 : whole_sum[31:0];
    oversize = total > 16'(MaxFrameBytes);

    reason = DropNone;
    if (user_q) reason = DropBadFrame;
    else if (total < 16'(MinFrameBytes)) reason = DropRunt;
    else if (oversize) reason = DropOversize;
    else if (beat_prefix_q.none) reason = DropNoSubscriber;
    else if (beat_prefix_q.bad) reason = DropBadQueueId;

    take_beat  = beat_valid_q && beat_ready;
    ev_valid_d = take_beat && last_q;
    len_d      = len_q;
    if (take_beat) len_d = last_q ? '0 : total;
  end

  assign meta_in = '{id: beat_prefix_q.id[QueueWidth-1:0], len: total[LenWidth-1:0]};

  // The beat that exceeds MaxFrameBytes ends the frame for the store, which forgets it. Every further beat is then a
  // discarded frame of its own: it needs the room of one beat, and that is there, for the cut has just given back more.
  pst_frame_fifo #(
      .DataBytes (DataBytes),
      .DepthBeats(BufferBeats),
      .MaxFrames (BufferBeats),
      .MetaWidth (MetaWidth)
  ) u_store (
      .clk_i,
      .rst_i,
      .s_valid_i  (beat_valid_q),
      .s_ready_o  (beat_ready),
      .s_data_i   (data_q),
      .s_last_i   (last_q || oversize),
      .s_discard_i(reason != DropNone),
      .s_meta_i   (MetaWidth'({ect_q, meta_in})),
      .m_meta_valid_o,
      .m_meta_ready_i,
      .m_meta_o   (stored_meta),
      .m_data_valid_o,
      .m_data_ready_i,
      .m_data_o,
      .m_data_last_o
  );

  assign meta_out       = stored_meta[$bits(meta_t)-1:0];
  assign m_meta_ect_o   = DetectEcn && stored_meta[MetaWidth-1];
  assign m_meta_queue_o = meta_out.id;
  assign m_meta_len_o   = meta_out.len;

  always_ff @(posedge clk_i) begin
    if (take_strip) begin
      data_q        <= strip_data;
      bytes_q       <= bytes_d;
      last_q        <= strip_last;
      user_q        <= strip_user;
      beat_prefix_q <= prefix;
    end
    ev_reason_o  <= reason;
    ev_queue_o   <= beat_prefix_q.id;
    ev_len_o     <= whole;
    if (take_beat) whole_q <= last_q ? '0 : whole;
    first_q      <= first_d;
    beat_valid_q <= beat_valid_d;
    len_q        <= len_d;
    ev_valid_o   <= ev_valid_d;
    if (rst_i) begin
      first_q      <= 1'b1;
      beat_valid_q <= 1'b0;
      len_q        <= '0;
      whole_q      <= '0;
      ev_valid_o   <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_rest_never_waits : assert (!beat_valid_q || len_q <= 16'(MaxFrameBytes) || beat_ready);
    end
  end
`endif

endmodule
