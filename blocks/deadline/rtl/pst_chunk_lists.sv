// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Chunks of a memory that classes share: the list of those that are free, and of each class the list of those that hold its frames.
//
// One link word a chunk serves all lists: a chunk is on one of them at most. The word of chunk n says which chunk is behind n on its
// list, and whether that one is marked bad. Chunks that were never handed out are not on the free list: they are those from `fresh` on,
// so reset needs no walk; they are handed out first.
//
//   number   a free chunk: a class may fill it                           free -> outside
//   push     a filled one goes behind the others of its class            outside -> class
//   pop      the first of a class leaves; popped follows in two cycles   class -> outside
//   free     a chunk is not needed any more                              outside -> free
//   splice   the first `count` of a class are not needed any more,       class -> free
//            up to `previous`; `number` is the class's first then. With `all` the whole list goes, as an empty one too.
//
// Throughput: a push every 2 cycles; a pop or a splice every 2 + ReadLatency; a free in each cycle but those of pushes and splices; a number
// in each cycle while there are fresh ones, later every ReadLatency. Push, pop and splice take turns; none of the five waits for ever.
// Order: each class FIFO; the free list FIFO. Operations take effect in the order of their handshakes, as far as users can see.
// Reset: every chunk is free; their holders forget theirs.
module pst_chunk_lists #(
    parameter int unsigned Classes     = 64,       // 2 .. 256
    parameter int unsigned Chunks      = 4096,     // 4 .. 2^24
    parameter int unsigned ReadLatency = 2,        // of the links' RAM, 1 or 2
    parameter string       Style       = "auto",   // of the same RAM
    localparam int unsigned ClassWidth  = $clog2(Classes),
    localparam int unsigned NumberWidth = $clog2(Chunks),
    localparam int unsigned CountWidth  = $clog2(Chunks + 1)
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // a free chunk
    output logic                   m_number_valid_o,
    input  logic                   m_number_ready_i,
    output logic [NumberWidth-1:0] m_number_o,
    // a chunk goes to the end of its class's list
    input  logic                   s_push_valid_i,
    output logic                   s_push_ready_o,
    input  logic [ ClassWidth-1:0] s_push_class_i,
    input  logic [NumberWidth-1:0] s_push_number_i,
    input  logic                   s_push_bad_i,      // a mark that comes back with it
    // the first chunk of a class that has one (empty_o)
    input  logic                   s_pop_valid_i,
    output logic                   s_pop_ready_o,
    input  logic [ ClassWidth-1:0] s_pop_class_i,
    output logic                   m_popped_valid_o,  // two cycles after the handshake
    output logic [NumberWidth-1:0] m_popped_number_o,
    output logic                   m_popped_bad_o,
    // a chunk comes back
    input  logic                   s_free_valid_i,
    output logic                   s_free_ready_o,
    input  logic [NumberWidth-1:0] s_free_number_i,
    // many come back
    input  logic                   s_splice_valid_i,
    output logic                   s_splice_ready_o,
    input  logic [ ClassWidth-1:0] s_splice_class_i,
    input  logic                   s_splice_all_i,      // the whole list; the next three mean nothing
    input  logic [NumberWidth-1:0] s_splice_number_i,   // the first that stays
    input  logic [NumberWidth-1:0] s_splice_previous_i, // the one before it
    input  logic [ CountWidth-1:0] s_splice_count_i,    // how many go, at least one
    // state
    output logic [    Classes-1:0] empty_o,           // the class's list; right from the cycle of popped, two after a push or splice
    output logic [ CountWidth-1:0] free_o,            // chunks that are free, the one that is offered included
    output logic                   init_done_o        // always, for there is nothing to clear
);

  if (Classes < 2 || Classes > 256) begin : g_bad_classes
    $error("pst_chunk_lists: Classes is %0d, allowed: 2..256", Classes);
  end
  if (Chunks < 4 || Chunks > 2 ** 24) begin : g_bad_chunks
    $error("pst_chunk_lists: Chunks is %0d, allowed: 4..16777216", Chunks);
  end
  if (ReadLatency != 1 && ReadLatency != 2) begin : g_bad_latency
    $error("pst_chunk_lists: ReadLatency is %0d, allowed: 1, 2", ReadLatency);
  end

  typedef logic [NumberWidth-1:0] number_t;
  typedef logic [CountWidth-1:0] count_t;

  typedef struct packed {
    logic    bad;         // of the chunk that `number` names
    number_t number;      // the next on the same list
  } link_t;

  typedef struct packed {
    link_t   first;
    number_t last;
    count_t  count;
  } class_t;

  typedef enum logic [1:0] {Push, Pop, Splice} kind_e;

  // What push, pop and splice go through, one at a time.
  typedef enum logic [1:0] {
    Idle,                 // may take one; the class's word is read
    Act,                  // the word is there: the links are read and written
    Wait,                 // the link is on its way (ReadLatency 2)
    Fix                   // the link is there: it is the class's first
  } state_e;

  typedef struct packed {
    kind_e                 kind;
    logic [ClassWidth-1:0] id;
    link_t                 chunk;      // push: the chunk; splice: the first that stays
    number_t               previous;
    count_t                count;
    logic                  all;
  } op_t;

  state_e state_d, state_q;
  op_t op_d, op_q;
  kind_e turn_d, turn_q;               // whose turn it is if it asks
  logic [Classes-1:0] empty_d, empty_q;
  class_t word, word_new;
  logic word_we;

  logic link_we, link_re;              // the one write port and the one read port of the links
  number_t link_waddr, link_raddr;
  link_t link_wdata, link_r;

  // ---- push, pop, splice: which is next

  logic [2:0] asks, gets;              // by kind

  always_comb begin
    asks = {s_splice_valid_i, s_pop_valid_i, s_push_valid_i};
    gets = '0;
    unique case (turn_q)
      Pop:     gets = asks[Pop] ? 3'b010 : asks[Splice] ? 3'b100 : 3'b001;
      Splice:  gets = asks[Splice] ? 3'b100 : asks[Push] ? 3'b001 : 3'b010;
      default: gets = asks[Push] ? 3'b001 : asks[Pop] ? 3'b010 : 3'b100;
    endcase
    if (state_q != Idle) gets = '0;
    s_push_ready_o   = gets[Push];
    s_pop_ready_o    = gets[Pop];
    s_splice_ready_o = gets[Splice];

    op_d = '{kind: Push, id: s_push_class_i, chunk: '{bad: s_push_bad_i, number: s_push_number_i}, previous: s_splice_previous_i,
             count: s_splice_count_i, all: s_splice_all_i};
    if (gets[Pop]) begin
      op_d.kind = Pop;
      op_d.id   = s_pop_class_i;
    end
    if (gets[Splice]) begin
      op_d.kind         = Splice;
      op_d.id           = s_splice_class_i;
      op_d.chunk.number = s_splice_number_i;
    end
    turn_d = turn_q;
    if (gets[Push] && asks[Push]) turn_d = Pop;
    if (gets[Pop] && asks[Pop]) turn_d = Splice;
    if (gets[Splice] && asks[Splice]) turn_d = Push;
  end

  // ---- what they do

  logic act_push, act_pop, act_splice, act_read, act_write, empty_now;
  number_t spliced_last;               // of what goes to the free list
  count_t spliced;
  logic popped_valid_q;
  link_t popped_q;
  count_t listed_q;                    // chunks on the free list
  number_t free_last_q;

  always_comb begin
    empty_now    = empty_q[op_q.id];
    act_push     = state_q == Act && op_q.kind == Push;
    act_pop      = state_q == Act && op_q.kind == Pop && !empty_now;
    act_splice   = state_q == Act && op_q.kind == Splice && !empty_now;
    act_read     = (act_pop && word.count != count_t'(1)) || (act_splice && !op_q.all);
    act_write    = act_push || act_splice;
    spliced      = op_q.all ? word.count : op_q.count;
    spliced_last = op_q.all ? word.last : op_q.previous;

    empty_d = empty_q;
    if (act_push) empty_d[op_q.id] = 1'b0;
    if ((act_pop && word.count == count_t'(1)) || (act_splice && op_q.all)) empty_d[op_q.id] = 1'b1;

    word_we  = act_push || state_q == Fix;
    word_new = word;
    if (state_q == Fix) begin
      word_new.first = link_r;
      word_new.count = word.count - (op_q.kind == Pop ? count_t'(1) : op_q.count);
    end else begin
      if (empty_now) word_new.first = op_q.chunk;
      word_new.last  = op_q.chunk.number;
      word_new.count = empty_now ? count_t'(1) : word.count + 1'b1;
    end

    state_d = Idle;
    unique case (state_q)
      Idle:    if (|(gets & asks)) state_d = Act;
      Act:     if (act_read) state_d = ReadLatency == 2 ? Wait : Fix;
      Wait:    state_d = Fix;
      default: state_d = Idle;
    endcase
  end

  // ---- free chunks: fresh ones, then the list

  logic offered_d, offered_q, want, give_fresh, give_listed, free_read, take, append, put;
  number_t offer_d, offer_q;
  number_t first, first_q;             // of the free list
  logic [ReadLatency-1:0] fetch_q;     // its number is on its way from the links; the last bit: it is there
  count_t fresh_q, free_count_d, free_count_q;
  number_t append_first, append_last;
  count_t listed_d;

  always_comb begin
    first       = fetch_q[ReadLatency-1] ? link_r.number : first_q;
    take        = offered_q && m_number_ready_i;
    want        = !offered_q || m_number_ready_i;
    give_fresh  = want && fresh_q != count_t'(Chunks);
    give_listed = want && !give_fresh && listed_q != '0 && (listed_q == count_t'(1) || !act_read)
        && (fetch_q == '0 || fetch_q[ReadLatency-1]);
    free_read   = give_listed && listed_q != count_t'(1);
    offered_d   = give_fresh || give_listed || (offered_q && !m_number_ready_i);
    offer_d     = offer_q;
    if (give_fresh) offer_d = number_t'(fresh_q);
    if (give_listed) offer_d = first;

    s_free_ready_o = !act_write;
    put            = s_free_valid_i && s_free_ready_o;
    append         = put || act_splice;
    append_first   = act_splice ? word.first.number : s_free_number_i;
    append_last    = act_splice ? spliced_last : s_free_number_i;

    listed_d     = listed_q - count_t'(give_listed);
    free_count_d = free_count_q - count_t'(take);
    if (put) begin
      listed_d     = listed_d + 1'b1;
      free_count_d = free_count_d + 1'b1;
    end
    if (act_splice) begin
      listed_d     = listed_d + spliced;
      free_count_d = free_count_d + spliced;
    end
  end

  always_comb begin
    link_re    = act_read || free_read;
    link_raddr = first;
    if (act_read) link_raddr = op_q.kind == Pop ? word.first.number : op_q.previous;

    link_we    = (act_push && !empty_now) || (append && listed_q != '0);
    link_waddr = act_push ? word.last : free_last_q;
    link_wdata = act_push ? op_q.chunk : '{bad: 1'b0, number: append_first};
  end

  always_ff @(posedge clk_i) begin
    state_q        <= state_d;
    turn_q         <= turn_d;
    if (state_q == Idle) op_q <= op_d;
    empty_q        <= empty_d;
    popped_valid_q <= act_pop;
    popped_q       <= word.first;
    offered_q      <= offered_d;
    offer_q        <= offer_d;
    fresh_q        <= fresh_q + count_t'(give_fresh);
    listed_q       <= listed_d;
    free_count_q   <= free_count_d;
    fetch_q        <= ReadLatency'({fetch_q, free_read});
    if (fetch_q[ReadLatency-1]) first_q <= first;
    if (append) begin
      free_last_q <= append_last;
      if (listed_q == count_t'(give_listed)) first_q <= append_first;
    end
    if (rst_i) begin
      state_q        <= Idle;
      turn_q         <= Push;
      empty_q        <= '1;
      popped_valid_q <= 1'b0;
      offered_q      <= 1'b0;
      fresh_q        <= '0;
      listed_q       <= '0;
      free_count_q   <= count_t'(Chunks);
      fetch_q        <= '0;
    end
  end

  assign m_number_valid_o  = offered_q;
  assign m_number_o        = offer_q;
  assign m_popped_valid_o  = popped_valid_q;
  assign m_popped_number_o = popped_q.number;
  assign m_popped_bad_o    = popped_q.bad;
  assign empty_o           = empty_q;
  assign free_o            = free_count_q;
  assign init_done_o       = 1'b1;

  pst_ram_1r1w #(
      .Width($bits(class_t)), .Depth(Classes), .Style("distributed")
  ) u_classes (
      .clk_i,
      .we_i(word_we), .waddr_i(op_q.id), .wdata_i(word_new),
      .re_i(state_q == Idle), .raddr_i(op_d.id), .rdata_o(word)
  );

  pst_ram_1r1w #(
      .Width($bits(link_t)), .Depth(Chunks), .ReadLatency(ReadLatency), .Style(Style)
  ) u_links (
      .clk_i,
      .we_i(link_we), .waddr_i(link_waddr), .wdata_i(link_wdata),
      .re_i(link_re), .raddr_i(link_raddr), .rdata_o(link_r)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_pop_finds_one : assert (!(state_q == Act && op_q.kind == Pop && empty_now)) else $error("class %0d has no chunk to pop", op_q.id);
      if (act_splice && !op_q.all) begin
        a_splice_fits : assert (op_q.count != '0 && op_q.count < word.count)
          else $error("class %0d: %0d chunks cannot go, it has %0d", op_q.id, op_q.count, word.count);
      end
      if (state_q == Fix && op_q.kind == Splice) begin
        a_splice_neighbours : assert (link_r.number == op_q.chunk.number)
          else $error("class %0d: chunk %0d is not the one behind %0d", op_q.id, op_q.chunk.number, op_q.previous);
      end
      a_no_collision : assert (!(link_we && link_re && link_waddr == link_raddr)) else $error("link %0d read as it is written", link_raddr);
      a_free_is_free : assert (32'(free_count_q) <= Chunks) else $error("a chunk was freed twice");
    end
  end
`endif

endmodule
