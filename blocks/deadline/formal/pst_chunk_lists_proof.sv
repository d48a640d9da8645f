// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_chunk_lists: every chunk is always in exactly one place (fresh, offered, on the free list, on one class's list, in a
// push under way, outside), all lists are FIFO and well-formed, and nothing is lost or doubled by a splice.
//
// Each list is kept beside the DUT as an array in its order; the invariant says how links, class words and registers encode the arrays.
// Push, pop and splice take effect in the cycle after their handshake. Assumed of the surroundings: they push and free what they hold,
// once; pop from a class that has a chunk; splice up to a chunk that is on the list. What answers for it: assertions in the RTL.
// Two proofs, for one would take too long. Part 0: each chunk is in one of the arrays, once; assumed is that the DUT gave out the first of the
// free list in earlier cycles. Part 1: the DUT is what the arrays say, where part 0 is assumed.
module pst_chunk_lists_proof #(
    parameter int unsigned Part = 1,
    parameter int unsigned ReadLatency = 2
) (
    input logic       clk_i,
    input logic       rst_i,
    input logic       number_ready_i,
    input logic       push_valid_i,
    input logic       push_class_i,
    input logic [1:0] push_number_i,
    input logic       push_bad_i,
    input logic       pop_valid_i,
    input logic       pop_class_i,
    input logic       free_valid_i,
    input logic [1:0] free_number_i,
    input logic       splice_valid_i,
    input logic       splice_class_i,
    input logic       splice_all_i,
    input logic [1:0] splice_number_i,
    input logic [1:0] splice_previous_i,
    input logic [2:0] splice_count_i
);

  localparam int unsigned Chunks = 4;

  typedef logic [1:0] number_t;
  typedef logic [2:0] size_t;
  typedef number_t [3:0] list_t;

  logic number_valid, push_ready, pop_ready, popped_valid, popped_bad, free_ready, splice_ready, init_done;
  number_t number, popped_number;
  logic [1:0] empty;
  size_t free_count;

  pst_chunk_lists #(
      .Classes(2), .Chunks(Chunks), .ReadLatency(ReadLatency)
  ) u_dut (
      .clk_i, .rst_i,
      .m_number_valid_o(number_valid), .m_number_ready_i(number_ready_i), .m_number_o(number),
      .s_push_valid_i(push_valid_i), .s_push_ready_o(push_ready), .s_push_class_i(push_class_i), .s_push_number_i(push_number_i),
      .s_push_bad_i(push_bad_i),
      .s_pop_valid_i(pop_valid_i), .s_pop_ready_o(pop_ready), .s_pop_class_i(pop_class_i),
      .m_popped_valid_o(popped_valid), .m_popped_number_o(popped_number), .m_popped_bad_o(popped_bad),
      .s_free_valid_i(free_valid_i), .s_free_ready_o(free_ready), .s_free_number_i(free_number_i),
      .s_splice_valid_i(splice_valid_i), .s_splice_ready_o(splice_ready), .s_splice_class_i(splice_class_i), .s_splice_all_i(splice_all_i),
      .s_splice_number_i(splice_number_i), .s_splice_previous_i(splice_previous_i), .s_splice_count_i(splice_count_i),
      .empty_o(empty), .free_o(free_count), .init_done_o(init_done)
  );

  // --- the lists as they should be

  logic seen_q;
  initial seen_q = 1'b0;
  list_t free_q, free_d;
  list_t [1:0] class_q, class_d;
  size_t frees_q, frees_d;                 // chunks on the free list
  size_t [1:0] sizes_q, sizes_d;
  logic [3:0] outside_q, outside_d, bad_q, bad_d;

  logic push_q, pop_q, splice_q, all_q, id_q;      // the operation that takes effect in this cycle
  number_t number_q;
  size_t count_q;
  logic due_q, due_bad_q;                  // what was popped
  number_t due_number_q;

  logic push, pop, splice, put, take;
  assign push   = push_valid_i && push_ready;
  assign pop    = pop_valid_i && pop_ready;
  assign splice = splice_valid_i && splice_ready;
  assign put    = free_valid_i && free_ready;
  assign take   = number_valid && number_ready_i;

  size_t goes;                             // chunks that a splice moves
  always_comb begin
    free_d    = free_q;
    frees_d   = frees_q;
    class_d   = class_q;
    sizes_d   = sizes_q;
    outside_d = outside_q;
    bad_d     = bad_q;
    goes      = all_q ? sizes_q[id_q] : count_q;
    if (push) begin
      outside_d[push_number_i] = 1'b0;
      bad_d[push_number_i]     = push_bad_i;
    end
    if (take) outside_d[number] = 1'b1;
    if (u_dut.give_listed) begin
      for (int i = 0; i < 3; i++) free_d[i] = free_q[i+1];
      frees_d = frees_q - 1'b1;
    end
    if (put) begin
      outside_d[free_number_i] = 1'b0;
      free_d[2'(frees_d)]      = free_number_i;
      frees_d                  = frees_d + 1'b1;
    end
    if (push_q) begin
      class_d[id_q][2'(sizes_q[id_q])] = number_q;
      sizes_d[id_q]                    = sizes_q[id_q] + 1'b1;
    end
    if (pop_q) begin
      outside_d[class_q[id_q][0]] = 1'b1;
      for (int i = 0; i < 3; i++) class_d[id_q][i] = class_q[id_q][i+1];
      sizes_d[id_q] = sizes_q[id_q] - 1'b1;
    end
    if (splice_q) begin
      for (int i = 0; i < 4; i++) begin
        if (size_t'(i) < goes) free_d[2'(frees_d + size_t'(i))] = class_q[id_q][i];
        class_d[id_q][i] = class_q[id_q][2'(size_t'(i) + goes)];
      end
      frees_d       = frees_d + goes;
      sizes_d[id_q] = sizes_q[id_q] - goes;
    end
  end

  always_ff @(posedge clk_i) begin
    seen_q       <= 1'b1;
    free_q       <= free_d;
    frees_q      <= frees_d;
    class_q      <= class_d;
    sizes_q      <= sizes_d;
    outside_q    <= outside_d;
    bad_q        <= bad_d;
    push_q       <= push;
    pop_q        <= pop;
    splice_q     <= splice;
    all_q        <= splice_all_i;
    id_q         <= push ? push_class_i : pop ? pop_class_i : splice_class_i;
    number_q     <= push_number_i;
    count_q      <= splice_count_i;
    due_q        <= pop_q;
    due_number_q <= class_q[id_q][0];
    due_bad_q    <= bad_q[class_q[id_q][0]];
    if (rst_i) begin
      frees_q   <= '0;
      sizes_q   <= '0;
      outside_q <= '0;
      push_q    <= 1'b0;
      pop_q     <= 1'b0;
      splice_q  <= 1'b0;
      due_q     <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (!rst_i) begin
      if (push) m_push_held : assume (outside_q[push_number_i]);
      if (put) m_free_held : assume (outside_q[free_number_i]);
      if (push && put) m_held_once : assume (push_number_i != free_number_i);
      if (pop) m_pop_of_one : assume (sizes_q[pop_class_i] != '0);
      if (splice && !splice_all_i) begin
        m_splice_fits : assume (splice_count_i != '0 && splice_count_i < sizes_q[splice_class_i]
                                && class_q[splice_class_i][2'(splice_count_i)] == splice_number_i
                                && class_q[splice_class_i][2'(splice_count_i-3'd1)] == splice_previous_i);
      end
    end
  end

  // --- every chunk in one place

  logic [3:0][3:0] places;
  logic in_range;
  always_comb begin
    in_range = frees_q <= size_t'(Chunks) && 32'(u_dut.fresh_q) <= Chunks;
    for (int n = 0; n < 4; n++) begin
      places[n] = 4'(outside_q[n]) + 4'(number_valid && number == number_t'(n)) + 4'(push_q && number_q == number_t'(n))
          + 4'(size_t'(n) >= u_dut.fresh_q);
      for (int i = 0; i < 4; i++) begin
        places[n] += 4'(size_t'(i) < frees_q && free_q[i] == number_t'(n));
        for (int c = 0; c < 2; c++) places[n] += 4'(size_t'(i) < sizes_q[c] && class_q[c][i] == number_t'(n));
      end
    end
    for (int c = 0; c < 2; c++) if (sizes_q[c] > size_t'(Chunks)) in_range = 1'b0;
  end

  // --- what memories and registers say

  typedef struct packed {
    logic    bad;
    number_t number;
  } link_t;

  typedef struct packed {
    link_t   first;
    number_t last;
    size_t   count;
  } class_t;

  function automatic class_t word_of(input list_t list, input size_t size, input logic [3:0] bad);
    return '{first: '{bad: bad[list[0]], number: list[0]}, last: list[2'(size - 1'b1)], count: size};
  endfunction

  class_t word;
  link_t link, fetched;                    // at the RAM's port; in its first register
  logic wait_fix;
  assign word     = class_t'(u_dut.word);
  assign link     = link_t'(u_dut.link_r);
  assign fetched  = link_t'(u_dut.u_links.rdata_q);
  assign wait_fix = u_dut.state_q == 2'd2 || u_dut.state_q == 2'd3;

  logic one_place, fifo_q;
  initial fifo_q = 1'b1;
  always_comb begin
    one_place = in_range && 2'(push_q) + 2'(pop_q) + 2'(splice_q) <= 2'd1 && (!pop_q || sizes_q[id_q] != '0)
        && (u_dut.state_q == 2'd1) == (push_q || pop_q || splice_q) && (!splice_q || all_q || (count_q != '0 && count_q < sizes_q[id_q]));
    for (int n = 0; n < 4; n++) if (places[n] != 4'd1) one_place = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    fifo_q <= rst_i || !u_dut.give_listed || (frees_q != '0 && u_dut.offer_d == free_q[0]);
    if (Part == 0) m_number_fifo : assume (fifo_q);
    if (seen_q && !rst_i && Part == 0) a_one_place : assert (one_place);
    if (seen_q && !rst_i && Part == 1) begin
      m_one_place : assume (one_place);
      // what users rely on
      a_number_fifo : assert (!u_dut.give_listed || (frees_q != '0 && u_dut.offer_d == free_q[0]));
      a_popped : assert (popped_valid == due_q && (!due_q || (popped_number == due_number_q && popped_bad == due_bad_q)));
      a_empty : assert (empty == {sizes_q[1] == '0, sizes_q[0] == '0});
      a_free_count : assert (size_t'(free_count) == size_t'(Chunks) - size_t'(u_dut.fresh_q) + frees_q + size_t'(number_valid));
      // no starvation: idle takes what asks; the free list gives unless a link is being read
      a_idle_takes : assert (u_dut.state_q != 2'd0 || push || pop || splice || !(push_valid_i || pop_valid_i || splice_valid_i));
      a_free_waits : assert (free_ready || push_q || splice_q);
      // operations
      a_act : assert ((u_dut.state_q == 2'd1) == (push_q || pop_q || splice_q));
      if (push_q || pop_q || splice_q) begin
        a_op : assert (u_dut.op_q.id == id_q && u_dut.op_q.kind == (push_q ? 2'd0 : pop_q ? 2'd1 : 2'd2));
        if (sizes_q[id_q] != '0) a_word_read : assert (word == word_of(class_q[id_q], sizes_q[id_q], bad_q));
      end
      if (push_q) a_op_push : assert (u_dut.op_q.chunk == {bad_q[number_q], number_q});
      if (splice_q) begin
        a_op_splice : assert (u_dut.op_q.all == all_q);
        if (!all_q) begin
          a_op_fits : assert (u_dut.op_q.count == count_q
                              && u_dut.op_q.previous == class_q[id_q][2'(count_q - 1'b1)]
                              && u_dut.op_q.chunk.number == class_q[id_q][2'(count_q)]);
        end
      end
      // a class's word; of the one whose next link is on its way all but the first chunk
      for (int c = 0; c < 2; c++) begin
        if (sizes_q[c] != '0) begin
          if (wait_fix && u_dut.op_q.id == 1'(c)) begin
            a_link_fixes : assert ((u_dut.state_q == 2'd3 ? link : fetched) == {bad_q[class_q[c][0]], class_q[c][0]});
            a_last_stays : assert (word.last == class_q[c][2'(sizes_q[c] - 1'b1)]);
            a_count_fixes : assert (size_t'(word.count - (u_dut.op_q.kind == 2'd1 ? 3'd1 : u_dut.op_q.count)) == sizes_q[c]);
          end else begin
            a_word : assert (class_t'(u_dut.u_classes.mem[c]) == word_of(class_q[c], sizes_q[c], bad_q));
          end
        end else begin
          a_nothing_to_fix : assert (!(wait_fix && u_dut.op_q.id == 1'(c)));
        end
        for (int i = 0; i < 3; i++) begin
          if (size_t'(i + 1) < sizes_q[c]) begin
            a_class_links : assert (link_t'(u_dut.u_links.mem[class_q[c][i]]) == {bad_q[class_q[c][i+1]], class_q[c][i+1]});
          end
        end
      end
      if (wait_fix) a_fix_kind : assert (u_dut.op_q.kind == 2'd1 || u_dut.op_q.kind == 2'd2);
      if (ReadLatency == 1) a_no_wait : assert (u_dut.state_q != 2'd2);
      // the free list
      a_listed : assert (size_t'(u_dut.listed_q) == frees_q);
      if (frees_q != '0) begin
        a_free_last : assert (u_dut.free_last_q == free_q[2'(frees_q - 1'b1)]);
        if (u_dut.fetch_q == '0) a_free_first : assert (u_dut.first_q == free_q[0]);
        if (u_dut.fetch_q[ReadLatency-1]) a_free_there : assert (link.number == free_q[0]);
        if (!u_dut.fetch_q[ReadLatency-1] && u_dut.fetch_q != '0) a_free_comes : assert (fetched.number == free_q[0]);
      end else begin
        a_no_fetch : assert (u_dut.fetch_q == '0);
      end
      a_one_fetch : assert ($countones(u_dut.fetch_q) <= 1);
      // one read port: two readers never wait for the same cycle's word
      if (ReadLatency == 2) a_fetch_wait : assert (!(u_dut.state_q == 2'd2 && u_dut.fetch_q[0]));
      if (u_dut.state_q == 2'd3) a_fetch_fix : assert (!u_dut.fetch_q[ReadLatency-1]);
      for (int i = 0; i < 3; i++) begin
        if (size_t'(i + 1) < frees_q) a_free_links : assert (number_t'(u_dut.u_links.mem[free_q[i]]) == free_q[i+1]);
      end
    end
  end

  // --- it does something: chunks that were spliced go out again, after a pop and a single free

  logic spliced_q, popped_q, freed_q;
  always_ff @(posedge clk_i) begin
    if (splice_q && !all_q) spliced_q <= 1'b1;
    if (spliced_q && pop_q) popped_q <= 1'b1;
    if (popped_q && put) freed_q <= 1'b1;
    if (rst_i) {spliced_q, popped_q, freed_q} <= '0;
    c_again : cover (seen_q && !rst_i && freed_q && u_dut.give_listed && frees_q >= 3'd2);
  end

endmodule
