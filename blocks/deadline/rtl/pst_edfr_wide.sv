// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The deadline port for more than a beat of 512 bit per cycle: one logical port of several columns, each with memory of its own.
//
//   words ─► deal ─┬─► column 0 ─► memory ─► column 0 ─┬─► gather ─► words
//     of 2, 4, 8   ├─► column 1 ─►   ...               │    in order of decisions
//     segments     └─► ...        tokens: whose turn ──┘
//
// Frames of a class go to the columns in runs of RunFrames, and leave in the same order: a token for each class travels around the columns.
//
// With GatherAhead a column decides on no frame that is later than what another column has at hand, once half of that is decided.
//
// Throughput: a word per cycle in and out, as far as columns are equally busy. Order: FIFO in a class; by deadline among the heads that each
//             column may decide on. Ordered = 0: columns are ports by themselves, each with a segment of the words out (for measuring).
// Conservation: each frame in is one of m_* (sent), ev_* or inside; a class's counts are sums over columns and segments.
// Reset:      all is forgotten, settings too; memory has to be reset with it, or its answers awaited. Then init_done_o after some walks.
module pst_edfr_wide
  import pst_deadline_pkg::*;
#(
    parameter int unsigned              Columns        = 8,        // 2, 4, 8
    parameter bit                       Ordered        = 1'b1,     // 0: no order between columns
    parameter int unsigned              RunFrames      = 16,       // frames of a class in a column in a row: a power of two, >= Columns
    parameter int unsigned              Classes        = 64,       // 2..256
    parameter bit                       ClassFromUser  = 1'b0,     // s_class_i is the class; else a table says which one a DSCP has
    parameter int unsigned              ChunkBeats     = 64,       // beats of 64 byte of a chunk: 8, 16, 32, 64
    parameter int unsigned              Chunks         = 4096,     // in the memory of each column, up to 2^20
    parameter int unsigned              Places         = 4,        // chunks of a class on the head side of a column: 2, 4, 8, 16
    parameter int unsigned              Lines          = 16,       // headers of a class at hand in a column: 4, 8, 16, 32, 64
    parameter int unsigned              Reads          = 16,       // chunks of a column on their way from memory, 2..64
    parameter int unsigned              Writes         = 16,       // chunks of a column on their way to memory, >= 2
    parameter int unsigned              MinFrameBytes  = 60,       // >= 8
    parameter int unsigned              MaxFrameBytes  = 9600,     // 64..65535, and Places chunks hold it
    parameter int unsigned              DealRows       = 4096,     // words that wait to be dealt or to enter a column, a power of two
    parameter int unsigned              DealLists      = 1024,     // of these, those of which a column has to read, a power of two
    parameter int unsigned              DealRecords    = 512,      // words that wait for the end of a frame, a power of two
    parameter int unsigned              GatherRows     = 4096,     // words between decision and output, a power of two
    parameter int unsigned              GatherAhead    = 0,        // of these so many are decided ahead, half of them in any order; 0: all
    parameter int unsigned              StoreBeats     = 512,      // of frames at the door of a column, a power of two
    parameter int unsigned              TickCycles     = 3052,     // between two time stamps of a class; 2 * Classes and more
    parameter logic [Classes-1:0][15:0] Stamps         = {Classes{16'd64}},  // time stamps of each class, see pst_deadline_stamps
    parameter int unsigned              DefaultCycles  = 100000,   // for which frames of a class wait that was not set, below 2^30
    parameter int unsigned              StartTime      = 0,        // of the clock, at reset; tests begin shortly before it wraps
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned CountWidth = $clog2(Chunks + 1),
    localparam int unsigned AddrWidth  = $clog2(Chunks * ChunkBeats) + 6,
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                                                     clk_i,
    input  logic                                                     rst_i,
    output logic                                                     init_done_o,
    output time_t                                                    now_o,  // this cycle's number: deadlines are on this clock
    // settings: class of a DSCP, 64 and above: of all else; for how many cycles frames of a class may wait, below 2^30
    input  logic                                                     set_dscp_valid_i,
    input  logic [6:0]                                               set_dscp_i,
    input  logic [ClassWidth-1:0]                                    set_dscp_class_i,
    input  pst_deadline_ports_pkg::set_t                             s_set_i,
    output logic                                                     s_set_ready_o,
    // chunks in use at most in each column, else frames are dropped; 0: all. What is kept free for all that is on its way counts as used
    input  logic [CountWidth-1:0]                                    limit_i,
    // none to send is to be taken; frames have been decided to be sent and have not left
    input  logic                                                     hold_i,
    output logic                                                     sending_o,
    // words in: a frame is the used segments, in order, up to one that says last
    input  logic                                                     s_valid_i,
    output logic                                                     s_ready_o,
    input  pst_deadline_ports_pkg::segment_in_t [Columns-1:0]        s_i,
    // words out, the same. Ordered = 0: segment c is column c's, m_o[c].used says that it is valid, bytes is 0; another column's may become
    // valid beside it while m_ready_i is low; m_valid_o says that one is
    output logic                                                     m_valid_o,
    input  logic                                                     m_ready_i,
    output pst_deadline_ports_pkg::segment_out_t [Columns-1:0]       m_o,
    // AXI4 master of each column: bursts of up to a chunk, one id each way
    output pst_axi_pkg::write_req_t [Columns-1:0]                    m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t [Columns-1:0]                    m_axi_write_i,
    output pst_axi_pkg::read_req_t [Columns-1:0]                     m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t [Columns-1:0]                     m_axi_read_i,
    // events at the input, by segment: refused (FateBad, FateLength); dropped because its column is full (FateNoChunk)
    output pst_deadline_ports_pkg::refusal_t [Columns-1:0]           ev_refused_o,
    output pst_deadline_ports_pkg::gone_t [Columns-1:0]              ev_dropped_o,
    // by column: through the tail, with the deadline; over, as found by the encoder and by the last check; passed over by a skip, or lost
    // by a memory error
    output pst_deadline_ports_pkg::fate_t [Columns-1:0]              ev_taken_o,
    output pst_deadline_ports_pkg::gone_t [Columns-1:0]              ev_expired_o,
    output pst_deadline_ports_pkg::gone_t [Columns-1:0]              ev_late_o,
    output pst_deadline_ports_pkg::passed_t [Columns-1:0]            ev_passed_o,
    // by segment: over when it was about to leave
    output pst_deadline_ports_pkg::gone_t [Columns-1:0]              ev_overdue_o,
    // state
    output logic [Columns-1:0][CountWidth-1:0]                       free_o   // chunks that are free
);

  // Beats between the dealer and a column's tail, and the chunks that they may need: a beat takes nine units at most, a header among them,
  // a chunk has less than two beats of waste, and each class has one that it has begun and one that it keeps.
  localparam int unsigned OnTheWay = (DealLists < DealRows ? DealLists : DealRows) * Columns + StoreBeats + 32;
  localparam int unsigned Margin   = 2 * Classes + 2 * (most_further(ChunkBeats, MaxFrameBytes) + 1)
                                     + (9 * OnTheWay) / (BeatUnits * (ChunkBeats - 2)) + 1;
  localparam int unsigned Decided  = Ordered ? 64 : 4;

  if (AddrWidth > pst_axi_pkg::AddrWidth) begin : g_bad_address
    $error("pst_edfr_wide: Chunks is %0d, more than an address of %0d bits can tell apart", Chunks, pst_axi_pkg::AddrWidth);
  end
  if (Chunks <= Margin) begin : g_bad_chunks
    $error("pst_edfr_wide: Chunks is %0d, must be more than what may be on its way to a column (%0d)", Chunks, Margin);
  end

  logic [Columns-1:0] init_done, room_q, set_ready, set_done_q;
  time_t [Columns-1:0] now;
  logic [Columns-1:0] sending;
  logic [CountWidth-1:0] kept_q;      // chunks that the limit leaves unused

  assign init_done_o   = init_done == '1;
  assign now_o         = now[0];
  assign s_set_ready_o = (set_ready | set_done_q) == '1;

  // The dealer alone keeps the limit: a tail that dropped a frame would break the run that its class counts.
  always_ff @(posedge clk_i) begin
    kept_q <= limit_i == '0 || 32'(limit_i) >= Chunks ? '0 : CountWidth'(Chunks) - limit_i;
    for (int unsigned c = 0; c < Columns; c++) room_q[c] <= 32'(free_o[c]) > Margin + 32'(kept_q);
    if (s_set_i.valid) set_done_q <= s_set_ready_o ? '0 : set_done_q | set_ready;
    if (rst_i) set_done_q <= '0;
  end

  typedef logic [ClassWidth-1:0] class_t;

  // ---- To the columns ----
  logic [Columns-1:0] refused_valid, dropped_valid;
  class_t [Columns-1:0] refused_class, dropped_class;
  logic [Columns-1:0][15:0] refused_bytes, dropped_bytes, refused_user, dropped_user;
  fate_e [Columns-1:0] refused_reason;
  logic [Columns-1:0] in_valid, in_ready, in_last;
  logic [Columns-1:0][DataWidth-1:0] in_data;
  logic [Columns-1:0][6:0] in_bytes;
  logic [Columns-1:0][ClassWidth-1:0] in_class;
  logic [Columns-1:0][15:0] in_user;
  time_t [Columns-1:0] in_arrived;
  logic deal_ready;
  logic [Columns-1:0] used, last, bad;
  logic [Columns-1:0][DataWidth-1:0] data;
  logic [Columns-1:0][6:0] bytes_last;
  class_t [Columns-1:0] class_id;
  logic [Columns-1:0][15:0] user;

  for (genvar s = 0; s < Columns; s++) begin : g_in
    assign used[s]       = s_i[s].used;
    assign data[s]       = s_i[s].data;
    assign last[s]       = s_i[s].last;
    assign bytes_last[s] = s_i[s].bytes_last;
    assign bad[s]        = s_i[s].bad;
    assign class_id[s]   = class_t'(s_i[s].class_);
    assign user[s]       = s_i[s].user;
  end

  assign s_ready_o = deal_ready && init_done_o;

  pst_edfr_deal #(
      .Classes(Classes), .ClassFromUser(ClassFromUser), .Columns(Columns), .RunFrames(RunFrames), .MinFrameBytes(MinFrameBytes),
      .MaxFrameBytes(MaxFrameBytes), .Rows(DealRows), .Lists(DealLists), .Records(DealRecords)
  ) u_deal (
      .clk_i, .rst_i, .now_i(now[0]), .room_i(room_q),
      .set_dscp_valid_i, .set_dscp_i, .set_dscp_class_i,
      .s_valid_i(s_valid_i && init_done_o), .s_ready_o(deal_ready), .s_used_i(used), .s_data_i(data), .s_last_i(last),
      .s_bytes_last_i(bytes_last), .s_bad_i(bad), .s_class_i(class_id), .s_user_i(user),
      .m_valid_o(in_valid), .m_ready_i(in_ready), .m_data_o(in_data), .m_last_o(in_last), .m_bytes_last_o(in_bytes),
      .m_class_o(in_class), .m_user_o(in_user), .m_arrived_o(in_arrived),
      .ev_refused_valid_o(refused_valid), .ev_refused_class_o(refused_class), .ev_refused_bytes_o(refused_bytes),
      .ev_refused_reason_o(refused_reason), .ev_refused_user_o(refused_user),
      .ev_dropped_valid_o(dropped_valid), .ev_dropped_class_o(dropped_class), .ev_dropped_bytes_o(dropped_bytes),
      .ev_dropped_user_o(dropped_user)
  );

  for (genvar s = 0; s < Columns; s++) begin : g_segment
    assign ev_refused_o[s] = '{
        valid: refused_valid[s], class_: 8'(refused_class[s]), bytes: refused_bytes[s], reason: refused_reason[s],
        user: refused_user[s]
    };
    assign ev_dropped_o[s] = '{valid: dropped_valid[s], class_: 8'(dropped_class[s]), bytes: dropped_bytes[s], user: dropped_user[s]};
  end

  // ---- Columns ----
  logic [Columns-1:0] out_valid, out_ready, out_last;
  logic [Columns-1:0][DataWidth-1:0] out_data;
  logic [Columns-1:0][6:0] out_bytes;
  logic [Columns-1:0][ClassWidth-1:0] out_class;
  logic [Columns-1:0][15:0] out_user;
  time_t [Columns-1:0] out_deadline;
  pst_deadline_ports_pkg::refused_t [Columns-1:0] refused;    // none
  pst_deadline_ports_pkg::of_class_t [Columns-1:0] token;
  logic [Columns-1:0] decided_valid, decided_pair, out_void;
  logic [Columns-1:0][ClassWidth-1:0] decided_class;
  logic [Columns-1:0][10:0] decided_segments;
  pst_deadline_ports_pkg::front_t [Columns-1:0] front, others;
  logic hold, ordered;

  for (genvar c = 0; c < Columns; c++) begin : g_column
    pst_deadline_ports_pkg::frame_out_t out;
    pst_deadline_ports_pkg::decided_t decided;

    pst_edfr #(
        .Classes(Classes), .ClassFromUser(1'b1), .ArrivedGiven(1'b1), .ChunkBeats(ChunkBeats), .Chunks(Chunks), .Places(Places),
        .Lines(Lines), .Reads(Reads), .Writes(Writes), .Decided(Decided), .MinFrameBytes(MinFrameBytes), .MaxFrameBytes(MaxFrameBytes),
        .StoreBeats(StoreBeats), .TickCycles(TickCycles), .Stamps(Stamps), .DefaultCycles(DefaultCycles),
        .StartTime(StartTime), .Columns(Ordered ? Columns : 1), .RunFrames(RunFrames)
    ) u_column (
        .clk_i, .rst_i, .init_done_o(init_done[c]), .now_o(now[c]),
        .set_dscp_valid_i(1'b0), .set_dscp_i('0), .set_dscp_class_i('0),
        .s_set_i('{valid: s_set_i.valid && !set_done_q[c], class_: s_set_i.class_, cycles: s_set_i.cycles}),
        .s_set_ready_o(set_ready[c]),
        .s_i('{
            valid: in_valid[c], data: in_data[c], bytes_last: in_bytes[c], last: in_last[c], bad: 1'b0, class_: 8'(in_class[c]),
            user: in_user[c], arrived: in_arrived[c]
        }),
        .s_ready_o(in_ready[c]), .limit_i('0), .m_o(out), .m_ready_i(out_ready[c]),
        .column_i(3'(Ordered ? c : 0)), .s_token_i(Ordered ? token[(c + Columns - 1) % Columns] : '0), .m_token_o(token[c]),
        .hold_i(hold_i || (Ordered && hold)), .bound_i('{valid: ordered && others[c].valid, deadline: others[c].deadline}),
        .m_decided_o(decided), .front_o(front[c]),
        .m_axi_write_o(m_axi_write_o[c]), .m_axi_write_i(m_axi_write_i[c]),
        .m_axi_read_o(m_axi_read_o[c]), .m_axi_read_i(m_axi_read_i[c]),
        .ev_refused_o(refused[c]), .ev_fate_o(ev_taken_o[c]), .ev_expired_o(ev_expired_o[c]), .ev_late_o(ev_late_o[c]),
        .ev_passed_o(ev_passed_o[c]),
        .free_o(free_o[c]), .sending_o(sending[c])
    );

    assign out_valid[c]        = out.valid;
    assign out_data[c]         = out.data;
    assign out_bytes[c]        = out.bytes_last;
    assign out_last[c]         = out.last;
    assign out_void[c]         = out.void_;
    assign out_class[c]        = class_t'(out.class_);
    assign out_deadline[c]     = out.deadline;
    assign out_user[c]         = out.user;
    assign decided_valid[c]    = decided.valid;
    assign decided_class[c]    = class_t'(decided.class_);
    assign decided_segments[c] = decided.segments;
    assign decided_pair[c]     = decided.pair;
  end

  // ---- From the columns ----
  if (Ordered) begin : g_gather
    logic [Columns-1:0] overdue_valid;
    class_t [Columns-1:0] overdue_class, row_class;
    logic [Columns-1:0] row_used, row_first, row_last;
    logic [Columns-1:0][DataWidth-1:0] row_data;
    logic [Columns-1:0][6:0] row_bytes_last;
    logic [Columns-1:0][15:0] row_bytes, row_user;
    time_t [Columns-1:0] row_deadline;
    logic gathering;
    logic [Columns-1:0][15:0] overdue_bytes, overdue_user;

    pst_edfr_bound #(
        .Columns(Columns)
    ) u_bound (
        .clk_i, .rst_i, .front_i(front), .others_o(others)
    );

    pst_edfr_gather #(
        .Classes(Classes), .Columns(Columns), .Rows(GatherRows), .Ahead(GatherAhead), .MaxFrameBytes(MaxFrameBytes), .Waiting(2 * Decided)
    ) u_gather (
        .clk_i, .rst_i, .now_i(now[0]), .hold_o(hold), .ordered_o(ordered),
        .s_decided_valid_i(decided_valid), .s_decided_class_i(decided_class), .s_decided_segments_i(decided_segments),
        .s_decided_pair_i(decided_pair),
        .s_valid_i(out_valid), .s_ready_o(out_ready), .s_void_i(out_void), .s_data_i(out_data), .s_last_i(out_last),
        .s_bytes_last_i(out_bytes), .s_class_i(out_class), .s_deadline_i(out_deadline), .s_user_i(out_user),
        .m_valid_o, .m_ready_i, .m_used_o(row_used), .m_data_o(row_data), .m_first_o(row_first), .m_last_o(row_last),
        .m_bytes_last_o(row_bytes_last), .m_bytes_o(row_bytes), .m_class_o(row_class), .m_deadline_o(row_deadline), .m_user_o(row_user),
        .ev_late_valid_o(overdue_valid), .ev_late_class_o(overdue_class), .ev_late_bytes_o(overdue_bytes),
        .ev_late_user_o(overdue_user), .sending_o(gathering)
    );

    assign sending_o = sending != '0 || gathering;

    for (genvar s = 0; s < Columns; s++) begin : g_out
      assign m_o[s] = '{
          used: row_used[s], data: row_data[s], first: row_first[s], last: row_last[s], bytes_last: row_bytes_last[s], bytes: row_bytes[s],
          class_: 8'(row_class[s]), deadline: row_deadline[s], user: row_user[s]
      };
      assign ev_overdue_o[s] = '{
          valid: overdue_valid[s], class_: 8'(overdue_class[s]), bytes: overdue_bytes[s], user: overdue_user[s]
      };
    end
  end else begin : g_apart
    logic [Columns-1:0] first_q;

    assign sending_o          = sending != '0;
    assign hold               = 1'b0;
    assign ordered            = 1'b0;
    assign others             = '0;
    assign m_valid_o          = out_valid != '0;
    assign out_ready          = {Columns{m_ready_i}};
    assign ev_overdue_o       = '0;

    for (genvar c = 0; c < Columns; c++) begin : g_out
      assign m_o[c] = '{
          used: out_valid[c], data: out_data[c], first: first_q[c], last: out_last[c], bytes_last: out_bytes[c], bytes: '0,
          class_: 8'(out_class[c]), deadline: out_deadline[c], user: out_user[c]
      };
    end

    always_ff @(posedge clk_i) begin
      for (int unsigned c = 0; c < Columns; c++) if (out_valid[c] && m_ready_i) first_q[c] <= out_last[c];
      if (rst_i) first_q <= '1;
    end

    logic unused;
    assign unused = &{1'b0, hold, front, decided_valid, decided_class, decided_segments, decided_pair, out_void};
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int unsigned c = 0; c < Columns; c++) begin
        a_one_clock : assert (now[c] == now[0]);
        a_column_refuses_nothing : assert (!refused[c].valid);
        a_tail_drops_nothing : assert (!ev_taken_o[c].valid || ev_taken_o[c].reason == FateTaken)
        else $error("the tail of column %0d drops a frame", c);
      end
    end
  end
`endif

endmodule
