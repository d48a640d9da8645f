// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Goes through the chunks of each class in their places: hands over their headers, a beat of them at a time, and passes over what is not wanted.
//
// A class is visited when something happened to it: a chunk landed, a frame was taken, a skip was decided. A visit reads what stands in the
// place that the class is at and does one of:
//   - ask for a beat of headers, as many of it as are whole and have room in the class's queue; the last of a chunk gives the place back,
//   - pass over the chunk (it is bad, or before a skip, or no frame begins in it), when no frame of the class is in the queue any more,
//   - nothing: what it waits for wakes it.
// A skip goes the way of the headers, so that it is counted behind those that were handed over before it; its class waits for the answer.
//
// Throughput: a visit every 3 cycles, each of up to 8 headers. Latency: 5 cycles from a chunk's landing to its first header.
// Reset: all is forgotten; the class memory is cleared by the walk of the module above.
module pst_deadline_lines
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes     = 64,
    parameter int unsigned Places      = 4,
    parameter int unsigned HeaderBeats = 8,
    parameter int unsigned Lines       = 16,
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned PtrWidth   = $clog2(Places) + 1,
    localparam int unsigned PlaceWidth = ClassWidth + PtrWidth - 1,
    localparam int unsigned LineWidth  = HeaderBeats > 1 ? $clog2(HeaderBeats) : 1,
    localparam int unsigned FillWidth  = $clog2(Lines) + 1,
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                             clk_i,
    input  logic                             rst_i,
    input  logic                             init_i,
    input  logic [ClassWidth-1:0]            init_class_i,
    // what has landed
    input  logic                             landed_valid_i,
    input  logic [ClassWidth-1:0]            landed_class_i,
    input  logic [Classes-1:0][PtrWidth-1:0] landed_i,
    input  logic [Classes-1:0][PtrWidth-1:0] whole_i,
    output logic [Classes-1:0]               read_o,            // nothing of the class can be handed over before a further chunk lands
    // places
    output logic                             word_read_o,
    output logic [PlaceWidth-1:0]            word_place_o,
    input  meta_t                            word_meta_i,
    input  serial_t                          word_serial_i,
    input  logic                             word_bad_i,
    input  logic                             word_bank_i,
    input  logic                             word_cut_i,
    output logic                             line_read_o,
    output logic [PlaceWidth-1:0]            line_place_o,
    output logic [LineWidth-1:0]             line_beat_o,
    input  logic [DataWidth-1:0]             line_i,
    // queue of a class: room is kept for what was asked for
    input  logic                             taken_valid_i,     // a frame of it was taken
    input  logic [ClassWidth-1:0]            taken_class_i,
    output logic [ClassWidth-1:0]            asked_class_o,
    input  logic [FillWidth-1:0]             taken_count_i,     // of asked_class_o: frames taken, modulo 2 * Lines
    // a place that was passed over comes back
    output logic                             passed_valid_o,
    input  logic                             passed_ready_i,
    output logic [ClassWidth-1:0]            passed_class_o,
    // skips: all that begins before serial, if there is any left (skip_hit_i, when it was counted)
    input  pst_deadline_ports_pkg::cut_t     skip_i,
    input  logic                             skip_done_i,       // pulse
    input  logic                             skip_hit_i,
    // headers, one by one, and the skip among them
    output logic                             m_valid_o,
    output logic                             m_skip_o,
    output logic                             m_bare_o,          // no header: a chunk in which no frame begins, for what its meta tells
    output logic [ClassWidth-1:0]            m_class_o,
    output logic [PtrWidth-2:0]              m_place_o,
    output header_t                          m_header_o,
    output meta_t                            m_meta_o,
    output logic                             m_bank_o,
    output logic                             m_first_o,         // of its chunk
    output logic                             m_last_o           // of its chunk: the place comes back with it
);

  typedef logic [ClassWidth-1:0] class_t;
  class_t skip_class;
  assign skip_class = class_t'(skip_i.class_);

  logic unused_class;    // bits above ClassWidth
  assign unused_class = ^skip_i.class_;
  typedef logic [PtrWidth-1:0] ptr_t;
  typedef logic [PlaceWidth-1:0] place_t;
  typedef logic [FillWidth-1:0] fill_t;
  typedef logic [7:0] index_t;

  // Headers of a chunk that were asked for; frames of the class that were, modulo 2 * Lines.
  typedef struct packed {
    index_t index;
    fill_t  asked;
  } state_t;

  typedef struct packed {
    logic                skip;
    logic                bare;    // nothing but the meta
    class_t              class_id;
    logic [PtrWidth-2:0] place;
    meta_t               meta;
    logic                bank;
    logic [2:0]          unit;    // of the beat: the first header
    logic [3:0]          count;
    logic                first;
    logic                last;
  } job_t;

  typedef enum logic [1:0] {Pick, Read, Decide} state_e;

  // ---- Which classes have something to do ----
  state_e step_q;
  class_t class_q, pick_class;
  logic [Classes-1:0] wake_q, wake_d, read_q, skipping_q, mine;
  ptr_t [Classes-1:0] at_q;
  logic pick_valid, pick_take, again, skip_sent_q, send_skip, job_room, held;
  logic [1:0] jobs_q;                     // credits of the beat queue, 3 at most
  serial_t skip_to_mem[Classes];
  state_t state_mem[Classes];

  assign mine      = skip_i.valid ? ~(Classes'(1) << skip_class) : '1;
  assign held      = skip_i.valid && class_q == skip_class;
  assign job_room  = jobs_q != '0;
  assign send_skip = step_q == Pick && skip_i.valid && !skip_sent_q && job_room && !init_i;
  assign pick_take = step_q == Pick && pick_valid && !send_skip && !init_i;

  pst_deadline_pick #(
      .Classes(Classes)
  ) u_pick (
      .clk_i,
      .rst_i,
      .request_i(wake_q & mine),
      .take_i   (pick_take),
      .valid_o  (pick_valid),
      .class_o  (pick_class)
  );

  assign word_read_o  = step_q == Read;
  assign word_place_o = {class_q, at_q[class_q][PtrWidth-2:0]};

  // ---- What to do with the class ----
  state_t state, state_new;
  index_t count, avail, more;
  fill_t room;
  logic [3:0] in_beat, few;
  logic here_q, complete, earlier, over, ask, last, bare, looked, pass, move, tell, queue_empty;
  job_t job;

  assign asked_class_o = class_q;
  assign state         = state_mem[class_q];

  always_comb begin
    complete    = at_q[class_q] != whole_i[class_q];
    earlier      = skip_to_mem[class_q][SerialWidth-1] ^ word_serial_i[SerialWidth-1]
                ^ (word_serial_i[SerialWidth-2:0] < skip_to_mem[class_q][SerialWidth-2:0]);
    over        = skipping_q[class_q] && earlier;
    count       = word_bad_i ? '0 : word_meta_i.frames - index_t'(word_cut_i);
    avail       = over ? '0 : complete ? count : word_meta_i.frames - 1'b1;
    queue_empty = state.asked == taken_count_i;
    room        = fill_t'(Lines) - (state.asked - taken_count_i);

    // As many as stand in one beat.
    more    = avail - state.index;
    in_beat = 4'd8 - 4'(3'(state.index + 1'b1));
    few     = more > index_t'(in_beat) ? in_beat : more[3:0];
    if (index_t'(few) > index_t'(room)) few = 4'(room);

    ask  = step_q == Decide && here_q && !held && (over ? 1'b0 : avail > state.index) && room != '0 && job_room;
    last = complete && state.index + index_t'(few) == count;
    // Where no frame begins the meta tells all the same what was lost before: a class's last chunk may be such a one.
    bare   = !over && !word_bad_i && word_meta_i.frames == '0;
    looked = step_q == Decide && here_q && !held && complete && (over || state.index >= count) && queue_empty;
    pass   = looked && (!bare || job_room);
    move   = (ask && last) || (pass && passed_ready_i);
    tell   = pass && passed_ready_i && bare;

    state_new = state;
    if (ask) begin
      state_new.index = state.index + index_t'(few);
      state_new.asked = state.asked + fill_t'(few);
    end
    if (move) state_new.index = '0;

    job.skip     = send_skip;
    job.bare     = !send_skip && tell;
    job.class_id = send_skip ? skip_class : class_q;
    job.place    = at_q[class_q][PtrWidth-2:0];
    job.meta     = word_meta_i;
    job.bank     = word_bank_i;
    job.unit     = 3'(state.index + 1'b1);
    job.count    = send_skip || tell ? 4'd1 : few;
    job.first    = state.index == '0;
    job.last     = last;

    // Another visit: after some headers or a chunk there may be more, and what could not be done now is tried again.
    again = step_q == Decide && here_q
          && (ask || looked || held || (!over && avail > state.index && room != '0));
    wake_d = wake_q;
    if (pick_take) wake_d[pick_class] = 1'b0;
    if (again) wake_d[class_q] = 1'b1;
    if (landed_valid_i) wake_d[landed_class_i] = 1'b1;
    if (taken_valid_i) wake_d[taken_class_i] = 1'b1;
    if (skip_done_i) wake_d[skip_class] = 1'b1;
  end

  assign passed_valid_o = pass;
  assign passed_class_o = class_q;
  assign line_read_o    = ask;
  assign line_place_o   = word_place_o;
  assign line_beat_o    = LineWidth'((state.index + 1'b1) >> 3);
  assign read_o         = read_q;

  always_ff @(posedge clk_i) begin
    if (init_i || step_q == Decide) state_mem[init_i ? init_class_i : class_q] <= init_i ? '0 : state_new;
    if (skip_done_i && skip_hit_i) skip_to_mem[skip_class] <= skip_i.serial;
  end

  // What was handed over completely is known to be so a visit later; a chunk that lands takes the mark away.
  logic spent, beat_done;
  assign spent = at_q[class_q] == landed_i[class_q] || (here_q && !complete && (over || state.index >= avail));

  always_ff @(posedge clk_i) begin
    wake_q <= wake_d;
    case (step_q)
      Pick: if (pick_take) step_q <= Read;
      Read: step_q <= Decide;
      default: if (!(pass && !passed_ready_i)) step_q <= Pick;
    endcase
    if (pick_take) class_q <= pick_class;
    // A chunk that lands while its place is read is seen by the next visit.
    if (step_q == Read) here_q <= at_q[class_q] != landed_i[class_q];
    if (move) at_q[class_q] <= at_q[class_q] + 1'b1;
    if (step_q == Decide) read_q[class_q] <= spent && !held;
    if (landed_valid_i) read_q[landed_class_i] <= 1'b0;
    if (step_q == Decide && here_q && !held && !earlier) skipping_q[class_q] <= 1'b0;
    if (skip_done_i && skip_hit_i) skipping_q[skip_class] <= 1'b1;
    skip_sent_q <= (skip_sent_q || send_skip) && !skip_done_i && skip_i.valid;
    jobs_q      <= jobs_q - 2'(ask || tell || send_skip) + 2'(beat_done);
    if (rst_i) begin
      wake_q      <= '0;
      step_q      <= Pick;
      at_q        <= '0;
      read_q      <= '1;
      skipping_q  <= '0;
      skip_sent_q <= 1'b0;
      jobs_q      <= 2'd3;
    end
  end

  // ---- Beats of headers, and one header of them a cycle ----
  job_t job_q, job_q2, beat_job;
  logic [1:0] job_valid_q;
  logic beat_valid, unused_ready;
  logic [DataWidth-1:0] beat;
  logic [2:0] header_q;

  pst_fifo #(
      .Width($bits(job_t) + DataWidth),
      .Depth(4)
  ) u_beats (
      .clk_i,
      .rst_i,
      .s_valid_i(job_valid_q[1]),
      .s_ready_o(unused_ready),
      .s_data_i ({job_q2, line_i}),
      .m_valid_o(beat_valid),
      .m_ready_i(beat_done),
      .m_data_o ({beat_job, beat}),
      .level_o  ()
  );

  assign beat_done = beat_valid && 4'(header_q) + 4'd1 == beat_job.count;

  always_ff @(posedge clk_i) begin
    job_q       <= job;
    job_q2      <= job_q;
    job_valid_q <= {job_valid_q[0], ask || tell || send_skip};
    if (beat_valid) header_q <= beat_done ? '0 : header_q + 1'b1;

    m_valid_o  <= beat_valid;
    m_skip_o   <= beat_job.skip;
    m_bare_o   <= beat_job.bare;
    m_class_o  <= beat_job.class_id;
    m_place_o  <= beat_job.place;
    m_meta_o   <= beat_job.meta;
    m_bank_o   <= beat_job.bank;
    m_header_o <= header_t'(beat[UnitWidth*32'(3'(beat_job.unit+header_q))+:UnitWidth]);
    m_first_o  <= beat_job.first && header_q == '0;
    m_last_o   <= beat_job.last && beat_done;
    if (rst_i) begin
      m_valid_o   <= 1'b0;
      job_valid_q <= '0;
      header_q    <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_beat_has_room : assert (unused_ready || !job_valid_q[1]);
      if (step_q == Decide && here_q && !complete) a_open_frame_begins_here : assert (word_meta_i.frames != '0 && !word_bad_i);
      if (ask) a_asks_for_some : assert (few != '0);
    end
  end
`endif

endmodule
