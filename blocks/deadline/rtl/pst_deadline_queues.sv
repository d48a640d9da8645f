// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The next frames of each class, ready to be taken: a short queue of each, the heads of those that the encoder does not have, and the takes.
//
// A header gets its place in the data here: frames follow each other, the first of a chunk begins behind what belongs to the chunk before.
// All frames of a class are counted here, in order: those that are handed over, and those that a skip or a lost chunk leaves out.
//
// In a column of a wide port only those classes are shown to the encoder whose token is here, and the last frame of a run has no next one; see
// pst_deadline_token. What was lost before a frame stands beside it, and is owed when all frames before it are gone. With Pairs a take to send
// takes the frame behind, too, when both are of one chunk, of a segment at most, of the same run, and the first stands in an even slot of its
// queue: even and odd slots lie in memories of their own, so each is read once.
//
// Throughput: a frame in and a take per cycle, also of one class. Latency: 2 cycles from a header to m_head; 1 from a take to m_frame; 1 from
// s_token to m_head.
// Reset: all is forgotten; class memories are cleared by the walk of the module above.
module pst_deadline_queues
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes = 64,
    parameter int unsigned Places  = 4,
    parameter int unsigned Lines   = 16,
    parameter int unsigned Decided = 4,
    parameter int unsigned Columns = 1,       // of a wide port, 1: it is none
    parameter int unsigned RunFrames = 16,
    parameter bit          Pairs   = 1'b0,    // of a column alone
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned PtrWidth   = $clog2(Places) + 1,
    localparam int unsigned FillWidth  = $clog2(Lines) + 1
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    input  logic                              init_i,
    input  logic [ClassWidth-1:0]             init_class_i,
    // headers, or the skip
    input  logic                              s_valid_i,
    input  logic                              s_skip_i,
    input  logic                              s_bare_i,            // no header: what the meta tells is all
    input  logic [ClassWidth-1:0]             s_class_i,
    input  logic [PtrWidth-2:0]               s_place_i,
    input  header_t                           s_header_i,
    input  meta_t                             s_meta_i,
    input  logic                              s_bank_i,
    input  logic                              s_first_i,
    input  logic                              s_last_i,
    // the skip: frames and bytes of the class before it; what it found
    input  logic [31:0]                       skip_frames_i,
    input  logic [39:0]                       skip_bytes_i,
    output logic                              skip_done_o,
    output logic                              skip_hit_o,          // there were frames left
    // frames that went by
    output pst_deadline_ports_pkg::passed_t   ev_passed_o,
    // column of a wide port: all of these inputs but hold_i are 0 where Columns is 1
    input  logic [2:0]                        column_i,
    input  pst_deadline_ports_pkg::of_class_t s_token_i,
    output pst_deadline_ports_pkg::of_class_t m_token_o,
    input  logic                              hold_i,              // nothing is to be taken to be sent
    // encoder
    output pst_deadline_ports_pkg::head_t     m_head_o,
    input  logic                              m_head_ready_i,
    output logic                              take_ready_o,
    input  pst_deadline_ports_pkg::take_t     take_i,
    output pst_deadline_ports_pkg::next_t     next_o,
    // frames that a class had taken, modulo 2 * Lines
    input  logic [ClassWidth-1:0]             asked_class_i,
    output logic [FillWidth-1:0]              taken_count_o,
    // a frame that is taken to be sent, or dropped; or two
    output pst_deadline_ports_pkg::taken_t    m_frame_o,
    input  logic [$clog2(Decided+1)-1:0]      waiting_i            // frames that wait to be sent
);

  typedef logic [ClassWidth-1:0] class_t;
  class_t take_class, token_class;
  assign take_class  = class_t'(take_i.class_);
  assign token_class = class_t'(s_token_i.class_);

  logic unused_classes;    // bits above ClassWidth
  assign unused_classes = ^{take_i.class_, s_token_i.class_};
  typedef logic [FillWidth-1:0] fill_t;
  typedef logic [FillWidth-3:0] row_index_t;
  typedef logic [ClassWidth+FillWidth-3:0] row_t;    // an even slot and the odd one behind it

  typedef struct packed {
    logic [31:0] frames;
    logic [39:0] bytes;
  } count_t;

  typedef struct packed {
    logic                last;
    logic [PtrWidth-2:0] place;
    logic [9:0]          start;
    logic [6:0]          beats;
    logic                bank;
    header_t             header;
  } entry_t;

  fill_t put_mem[Classes];
  fill_t taken_mem[Classes];
  count_t count_mem[Classes];
  logic [9:0] start_mem[Classes];

  function automatic row_t row(class_t class_id, fill_t at);
    return {class_id, row_index_t'(at >> 1)};
  endfunction

  // ---- A header comes: where its frame begins, what was lost before it ----
  count_t counted, skip, left, lost, counted_new;
  entry_t entry;
  logic put, hit, some_lost, count_we, unused_meta;
  fill_t put_at;
  row_t put_row;

  assign counted  = count_mem[s_class_i];
  assign skip     = '{frames: skip_frames_i, bytes: skip_bytes_i};
  assign put      = s_valid_i && !s_skip_i && !s_bare_i;
  assign put_at   = put_mem[s_class_i];
  assign put_row  = row(s_class_i, put_at);

  assign unused_meta = ^{s_meta_i.open, s_meta_i.frames};

  always_comb begin
    left.frames = skip.frames - counted.frames;
    left.bytes  = skip.bytes - counted.bytes;
    hit         = !left.frames[31] && left.frames != '0;

    lost.frames = 32'(11'(s_meta_i.frames_before - counted.frames[10:0]));
    lost.bytes  = 40'(24'(s_meta_i.bytes_before - counted.bytes[23:0]));
    some_lost   = s_first_i && lost.frames != '0;

    counted_new = counted;
    if (s_skip_i) begin
      if (hit) counted_new = skip;
    end else begin
      counted_new.frames = counted.frames + (s_first_i ? lost.frames : '0) + 32'(!s_bare_i);
      counted_new.bytes  = counted.bytes + (s_first_i ? lost.bytes : '0) + (s_bare_i ? '0 : 40'(s_header_i.bytes));
    end
    count_we = s_valid_i;

    entry.last   = s_last_i;
    entry.place  = s_place_i;
    entry.start  = s_first_i ? s_meta_i.front : start_mem[s_class_i];
    entry.beats  = 7'((s_meta_i.data_units + 10'd7) >> 3);
    entry.bank   = s_bank_i;
    entry.header = s_header_i;
  end

  always_ff @(posedge clk_i) begin
    if (put) start_mem[s_class_i] <= entry.start + 10'(units_of(s_header_i.bytes));
    if (init_i || put) put_mem[init_i ? init_class_i : s_class_i] <= init_i ? '0 : put_at + 1'b1;
    if (init_i || count_we) count_mem[init_i ? init_class_i : s_class_i] <= init_i ? '0 : counted_new;
  end

  always_ff @(posedge clk_i) begin
    ev_passed_o.valid  <= s_valid_i && (s_skip_i ? hit : some_lost);
    ev_passed_o.lost   <= !s_skip_i;
    ev_passed_o.class_ <= 8'(s_class_i);
    ev_passed_o.frames <= s_skip_i ? left.frames : lost.frames;
    ev_passed_o.bytes  <= s_skip_i ? left.bytes : lost.bytes;
    skip_done_o        <= s_valid_i && s_skip_i;
    skip_hit_o         <= hit;
    if (rst_i) begin
      ev_passed_o.valid <= 1'b0;
      skip_done_o       <= 1'b0;
    end
  end

  // ---- Takes ----
  logic [Classes-1:0] filled_q, shown_q, may;
  logic next_stop;   // the frame behind what is taken waits
  logic pair;        // two are taken
  logic all;         // nothing is at hand behind what is taken
  fill_t take_at, take_fill, taken_new;

  assign take_at       = taken_mem[take_class];
  assign take_fill     = put_mem[take_class] - take_at;
  assign taken_new     = take_at + (pair ? fill_t'(2) : fill_t'(1));
  assign all           = take_fill == (pair ? fill_t'(2) : fill_t'(1));
  assign next_o.valid  = !all && !next_stop;
  assign taken_count_o = taken_mem[asked_class_i];

  logic frame_valid_q, frame_drop_q, frame_pair_q, frame_odd_q;
  class_t frame_class_q, head_class;
  row_t frame_row_q;
  fill_t head_at;
  entry_t frame;

  assign take_ready_o = 32'(waiting_i) + 32'(frame_valid_q && !frame_drop_q) < Decided && !hold_i;

  always_ff @(posedge clk_i) begin
    if (init_i || take_i.valid) taken_mem[init_i ? init_class_i : take_class] <= init_i ? '0 : taken_new;
    frame_valid_q <= take_i.valid;
    frame_drop_q  <= take_i.drop;
    frame_pair_q  <= pair;
    frame_class_q <= take_class;
    frame_row_q   <= row(take_class, take_at);
    frame_odd_q   <= take_at[0];
    if (rst_i) frame_valid_q <= 1'b0;
  end

  // ---- Slots: the even ones of all classes, and the odd ones. Behind a frame that stands in an odd slot comes the even one of the next row.
  entry_t [1:0] frames;
  time_t [1:0] next_deadline, head_deadline;

  assign head_at = taken_mem[head_class];

  for (genvar h = 0; h < 2; h++) begin : g_half
    entry_t entry_mem[Classes*Lines/2];
    time_t deadline_mem[Classes*Lines/2];   // of the entries: more of them are looked at

    always_ff @(posedge clk_i) begin
      if (put && put_at[0] == 1'(h)) begin
        entry_mem[put_row]    <= entry;
        deadline_mem[put_row] <= s_header_i.deadline;
      end
    end

    assign frames[h]        = entry_mem[frame_row_q];
    assign next_deadline[h] = deadline_mem[row(take_class, h == 0 ? take_at + fill_t'(2) : take_at)];
    assign head_deadline[h] = deadline_mem[row(head_class, head_at)];
  end

  assign next_o.deadline = next_deadline[!take_at[0]&&!pair];
  assign frame           = frames[frame_odd_q];
  assign m_frame_o       = '{
      valid: frame_valid_q, drop: frame_drop_q, last: frame_pair_q ? frames[1].last : frame.last, class_: 8'(frame_class_q),
      place: 4'(frame.place), start: frame.start, beats: frame.beats, bank: frame.bank, header: frame.header, pair: frame_pair_q,
      second: frames[1].header
  };

  // ---- Heads of classes that the encoder does not have ----
  logic pick_valid, pick_take, head_valid_q, found_valid_q, found_go, head_room;
  class_t pick_class, found_class_q, head_class_q;
  time_t head_deadline_q;
  // In a column: a token comes, and its class's head goes to the encoder at once; frames were lost before the one that was found.
  logic token_go, found_gap, found_waits;

  pst_deadline_pick #(
      .Classes(Classes)
  ) u_pick (
      .clk_i,
      .rst_i,
      .request_i(filled_q & ~shown_q & may),
      .take_i   (pick_take),
      .valid_o  (pick_valid),
      .class_o  (pick_class)
  );

  assign head_room  = !head_valid_q || m_head_ready_i;
  assign found_go   = head_room && !found_waits;
  assign pick_take  = pick_valid && (!found_valid_q || found_go);
  assign head_class = token_go ? token_class : found_class_q;

  always_ff @(posedge clk_i) begin
    if (pick_take) found_class_q <= pick_class;
    found_valid_q <= pick_take || (found_valid_q && !found_go);
    if (head_room) begin
      head_valid_q    <= (found_valid_q && !found_waits && !found_gap) || token_go;
      head_class_q    <= head_class;
      head_deadline_q <= head_deadline[head_at[0]];
    end
    if (take_i.valid && !next_o.valid) begin
      filled_q[take_class] <= !all;
      shown_q[take_class]  <= 1'b0;
    end
    if (put) filled_q[s_class_i] <= 1'b1;
    if (pick_take) shown_q[pick_class] <= 1'b1;
    if (token_go) shown_q[token_class] <= 1'b1;
    if (found_valid_q && found_go && found_gap) shown_q[found_class_q] <= 1'b0;
    if (rst_i) begin
      found_valid_q <= 1'b0;
      head_valid_q  <= 1'b0;
      filled_q      <= '0;
      shown_q       <= '0;
    end
  end

  // ---- Column of a wide port ----
  if (Columns > 1) begin : g_column
    logic [Classes-1:0] counted_q;          // those before the class's first frame are owed already
    logic [Classes-1:0] owed, stop, stop_pair;
    fill_t front, token_at;
    logic [1:0] next_gaps, token_gaps, front_gaps, short;
    logic [1:0][10:0] front_lost;
    logic next_gapped, token_gapped, front_gapped, gap_goes, skipped, bare_q;

    for (genvar h = 0; h < 2; h++) begin : g_half
      logic [10:0] gap_mem[Classes*Lines/2];    // frames that were lost before this one,
      logic gapped_mem[Classes*Lines/2];        // if any were
      logic short_mem[Classes*Lines/2];         // it has a segment; in an odd slot: and is of the chunk that the one before it is of

      always_ff @(posedge clk_i) begin
        if (put && put_at[0] == 1'(h)) begin
          gap_mem[put_row]    <= lost.frames[10:0];
          gapped_mem[put_row] <= some_lost;
          short_mem[put_row]  <= s_header_i.bytes <= 16'd64 && !(h == 1 && s_first_i);
        end
      end

      assign front_lost[h] = gap_mem[row(found_class_q, front)];
      assign front_gaps[h] = gapped_mem[row(found_class_q, front)];
      assign next_gaps[h]  = gapped_mem[row(take_class, h == 0 ? take_at + fill_t'(2) : take_at)];
      assign token_gaps[h] = gapped_mem[row(token_class, token_at)];
      assign short[h]      = short_mem[row(take_class, take_at)];
    end

    // Nothing was lost between two frames of one chunk.
    assign pair         = Pairs && take_i.valid && take_i.pair && !take_i.drop && !take_at[0] && take_fill != fill_t'(1) && short == '1
                       && !stop[take_class];
    assign front        = taken_mem[found_class_q];
    assign token_at     = taken_mem[token_class];
    assign front_gapped = front_gaps[front[0]];
    assign next_gapped  = next_gaps[!take_at[0]&&!pair];
    assign token_gapped = token_gaps[token_at[0]];
    // Behind a chunk without a header no frame of its class waits: what was lost before it is owed at once.
    assign skipped      = ev_passed_o.valid && (!ev_passed_o.lost || bare_q);
    assign found_gap    = front_gapped && !counted_q[found_class_q];
    assign found_waits  = found_gap && skipped;
    assign gap_goes     = found_valid_q && found_go && found_gap;
    assign next_stop    = (pair ? stop_pair[take_class] : stop[take_class]) || next_gapped;
    assign token_go     = s_token_i.valid && filled_q[token_class] && !owed[token_class] && head_room && !found_valid_q
                       && (!token_gapped || counted_q[token_class]);

    always_ff @(posedge clk_i) begin
      bare_q <= s_bare_i;
      if (take_i.valid) counted_q[take_class] <= 1'b0;
      if (gap_goes) counted_q[found_class_q] <= 1'b1;
      if (rst_i) counted_q <= '0;
    end

    class_t token_sent;
    assign m_token_o.class_ = 8'(token_sent);

    pst_deadline_token #(
        .Classes(Classes), .Columns(Columns), .RunFrames(RunFrames)
    ) u_token (
        .clk_i, .rst_i, .column_i,
        .s_token_valid_i(s_token_i.valid), .s_token_class_i(token_class), .m_token_valid_o(m_token_o.valid), .m_token_class_o(token_sent),
        .shown_i(shown_q), .may_o(may), .owed_o(owed), .stop_o(stop), .stop_pair_o(stop_pair),
        .take_valid_i(take_i.valid), .take_pair_i(pair), .take_class_i(take_class),
        .gone_valid_i(skipped || gap_goes), .gone_class_i(skipped ? class_t'(ev_passed_o.class_) : found_class_q),
        .gone_frames_i(skipped ? ev_passed_o.frames : 32'(front_lost[front[0]]))
    );
  end else begin : g_alone
    logic unused_column;
    assign may             = '1;
    assign pair            = 1'b0;
    assign next_stop       = 1'b0;
    assign found_gap       = 1'b0;
    assign found_waits     = 1'b0;
    assign token_go        = 1'b0;
    assign m_token_o       = '0;
    assign unused_column   = ^{column_i, s_token_i, token_class, take_i.pair};
  end

  assign m_head_o = '{valid: head_valid_q, class_: 8'(head_class_q), deadline: head_deadline_q};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !init_i) begin
      if (put) a_queue_has_room : assert (put_at - taken_mem[s_class_i] < fill_t'(Lines));
      if (take_i.valid) begin
        a_taken_is_there : assert (put_mem[take_class] != take_at && shown_q[take_class])
        else $error("class %0d is taken, and has no head", take_class);
        a_send_has_room : assert (take_i.drop || take_ready_o);
      end
      if (frame_valid_q && frame_pair_q) begin
        a_pair_of_one_chunk : assert (!frames[0].last && frames[0].place == frames[1].place)
        else $error("class %0d: two frames of two chunks are taken at once", frame_class_q);
        a_pair_follows : assert (frames[1].start == frames[0].start + 10'(units_of(frames[0].header.bytes)));
      end
    end
  end
`endif

endmodule
