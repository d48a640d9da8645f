// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_deadline_fetch: the pointers of a class never pass each other. The first chunk that a class has in memory is
// always the one behind all that were fetched, looped and skipped; a fetch takes just this one, a skip just those before its stamp,
// whatever the serials are: they are counted modulo 2^24 and wrap anywhere in the induction.
//
// Kept beside the DUT: of each class the serial that comes to memory next (`tail`), how many chunks it has there, and how many the lists
// have of it. A stamp is given by how many chunks it lies behind `tail`. Assumed of the surroundings: they hold what they offer; a chunk comes by
// the loop only when none of its class is in memory or on its way there; a stamp lies at most 2^23 - 1 chunks behind `tail`; places that
// come back were given. What answers for it: assertions in the RTL (a_loop_in_order, a_places), and the counts of frames in the lines.
module pst_deadline_fetch_proof
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Places = 2,
    localparam int unsigned PtrWidth  = $clog2(Places) + 1,
    localparam int unsigned AddrWidth = 3 + 3 + 6
) (
    input logic                     clk_i,
    input logic                     rst_i,
    input logic [1:0][PtrWidth-1:0] landed_i,
    input logic                     release_valid_i,
    input logic                     release_class_i,
    input logic                     loop_wanted_i,
    input logic                     loop_class_i,
    input logic                     push_valid_i,
    input logic                     push_class_i,
    input logic                     push_ready_i,
    input logic                     pop_ready_i,
    input logic                     popped_valid_i,
    input number_t                  popped_number_i,
    input logic                     popped_bad_i,
    input logic                     splice_ready_i,
    input logic                     cut_valid_i,
    input logic                     cut_class_i,
    input serial_t                  cut_behind_i,     // chunks from the stamp's on to `tail`
    input logic                     arready_i,
    input logic                     read_ready_i,
    input logic                     free_ready_i
);

  localparam int unsigned Chunks = 8;

  typedef logic [3:0] size_t;

  logic [1:0][PtrWidth-1:0] given;
  logic [1:0] in_memory, loop_ok;
  logic loop_given, s_push_ready, push_valid, pop_valid, pop_class, splice_valid, splice_class, splice_all, cut_done;
  logic [20:0] splice_count;
  logic arvalid, read_valid, read_class, read_bad, free_valid;
  logic [AddrWidth-1:0] araddr;
  logic [7:0] arlen;
  logic [PtrWidth-1:0] loop_place, read_place;
  serial_t read_serial;
  number_t free_number;

  // The class memories are cleared in the two cycles behind reset.
  logic seen_q, init_q, init_class_q;
  initial seen_q = 1'b0;

  // Of each class.
  serial_t [1:0] tail_q;
  size_t [1:0] size_q, listed_q;    // chunks in memory; on the list, as its own operations say

  pst_deadline_ports_pkg::of_class_t pop;
  pst_deadline_ports_pkg::free_t free_chunk;

  pst_deadline_fetch #(
      .Classes(2), .ChunkBeats(8), .Places(Places), .Chunks(Chunks), .Reads(2)
  ) u_dut (
      .clk_i, .rst_i, .init_i(init_q), .init_class_i(init_class_q),
      .given_o(given), .landed_i, .release_valid_i, .release_class_i, .in_memory_o(in_memory), .loop_ok_o(loop_ok),
      .loop_i('{valid: loop_wanted_i, class_: 8'(loop_class_i), serial: tail_q[loop_class_i]}), .loop_given_o(loop_given),
      .loop_place_o(loop_place),
      .s_push_i('{valid: push_valid_i, class_: 8'(push_class_i)}), .s_push_ready_o(s_push_ready),
      .m_push_valid_o(push_valid), .m_push_ready_i(push_ready_i),
      .m_pop_o(pop), .m_pop_ready_i(pop_ready_i),
      .s_popped_i('{valid: popped_valid_i, number: popped_number_i, bad: popped_bad_i}),
      .m_splice_valid_o(splice_valid), .m_splice_ready_i(splice_ready_i), .m_splice_class_o(splice_class), .m_splice_all_o(splice_all),
      .m_splice_count_o(splice_count),
      .cut_i('{valid: cut_valid_i, class_: 8'(cut_class_i), serial: tail_q[cut_class_i] - cut_behind_i}), .cut_done_o(cut_done),
      .m_axi_arvalid_o(arvalid), .m_axi_arready_i(arready_i), .m_axi_araddr_o(araddr), .m_axi_arlen_o(arlen),
      .m_read_valid_o(read_valid), .m_read_ready_i(read_ready_i), .m_read_class_o(read_class), .m_read_place_o(read_place),
      .m_read_serial_o(read_serial), .m_read_bad_o(read_bad),
      .m_free_o(free_chunk), .m_free_ready_i(free_ready_i)
  );

  assign {pop_valid, pop_class} = {pop.valid, pop.class_[0]};
  assign {free_valid, free_number} = free_chunk;

  // The operation that the DUT is at, by its place in op_e.
  logic fetches, loops, cuts_now;
  assign loops    = u_dut.op_q == 2'd1;
  assign fetches  = u_dut.op_q == 2'd2;
  assign cuts_now = u_dut.op_q == 2'd3;

  logic op, pushed, popped, spliced;
  assign op      = u_dut.op_class_q;
  assign pushed  = push_valid && push_ready_i;
  assign popped  = pop_valid && pop_ready_i;
  assign spliced = splice_valid && splice_ready_i;

  // What a skip has to take: all chunks of the class but the last `cut_behind_i` ones, if it has more than that.
  size_t over;
  logic any_over;
  assign any_over = serial_t'(size_q[cut_class_i]) > cut_behind_i;
  assign over     = any_over ? size_q[cut_class_i] - size_t'(cut_behind_i) : '0;

  always_ff @(posedge clk_i) begin
    seen_q       <= 1'b1;
    init_class_q <= init_q;
    if (init_class_q) init_q <= 1'b0;
    for (int c = 0; c < 2; c++) begin
      tail_q[c] <= tail_q[c] + serial_t'(pushed && push_class_i == 1'(c)) + serial_t'(loops && op == 1'(c));
      size_q[c] <= size_q[c] + size_t'(pushed && push_class_i == 1'(c)) - size_t'(fetches && op == 1'(c))
                   - (cuts_now && op == 1'(c) ? over : '0);
      listed_q[c] <= listed_q[c] + size_t'(pushed && push_class_i == 1'(c)) - size_t'(popped && pop_class == 1'(c))
                     - (spliced && splice_class == 1'(c) ? size_t'(splice_count) : '0);
    end
    if (rst_i) begin
      init_q       <= 1'b1;
      init_class_q <= 1'b0;
      tail_q       <= '0;
      size_q       <= '0;
      listed_q     <= '0;
    end
  end

  // What was offered stays offered.
  logic push_held_q, push_held_class_q, loop_held_q, loop_held_class_q, cut_held_q, cut_held_class_q, push_offer_q;
  serial_t cut_held_behind_q;

  always_ff @(posedge clk_i) begin
    push_held_q       <= push_valid_i && !s_push_ready;
    push_held_class_q <= push_class_i;
    push_offer_q      <= push_valid && !push_ready_i;
    loop_held_q       <= loop_wanted_i && !loop_given;
    loop_held_class_q <= loop_class_i;
    cut_held_q        <= cut_valid_i && !cut_done;
    cut_held_class_q  <= cut_class_i;
    cut_held_behind_q <= cut_behind_i + serial_t'(pushed && push_class_i == cut_class_i) + serial_t'(loops && op == cut_class_i);
    if (rst_i) begin
      push_held_q  <= 1'b0;
      push_offer_q <= 1'b0;
      loop_held_q  <= 1'b0;
      cut_held_q   <= 1'b0;
    end
  end

  logic skipped_q;
  always_ff @(posedge clk_i) begin
    if (spliced && !splice_all && splice_count == 21'd2) skipped_q <= 1'b1;
    if (rst_i) skipped_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      if (init_q) m_quiet_at_first : assume (!push_valid_i && !loop_wanted_i && !cut_valid_i && !release_valid_i);
      if (push_held_q) m_push_is_held : assume (push_valid_i && push_class_i == push_held_class_q);
      if (push_valid_i) m_chunks_are_so_many : assume (32'(listed_q[0]) + 32'(listed_q[1]) < Chunks);
      if (loop_held_q) m_loop_is_held : assume (loop_wanted_i && loop_class_i == loop_held_class_q);
      if (loop_wanted_i) begin
        m_loop_when_none_is_in_memory : assume (size_q[loop_class_i] == '0 && !(push_valid_i && push_class_i == loop_class_i));
      end
      if (cut_held_q) m_cut_is_held : assume (cut_valid_i && cut_class_i == cut_held_class_q && cut_behind_i == cut_held_behind_q);
      if (cut_valid_i) m_stamp_is_not_too_old : assume (!cut_behind_i[SerialWidth-1]);
      if (release_valid_i) m_release_what_was_given : assume (u_dut.given_q[release_class_i] != u_dut.released_q[release_class_i]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i && init_q) begin
      a_nothing_at_first : assert (u_dut.op_q == '0 && !pop_valid && !splice_valid && !u_dut.hold_q && !cut_done && in_memory == '0);
      a_nothing_has_come : assert (tail_q == '0 && size_q == '0 && listed_q == '0 && given == '0 && u_dut.released_q == '0);
      if (init_class_q) a_cleared : assert (u_dut.next_mem[0] == '0 && u_dut.stored_mem[0] == '0 && u_dut.taken_mem[0] == '0);
    end
    if (seen_q && !rst_i && !init_q) begin
      // what others rely on: a fetch takes the first chunk, a skip all those before its stamp and no other
      if (fetches) a_fetch_takes_the_first : assert (size_q[op] != '0 && u_dut.next == tail_q[op] - serial_t'(size_q[op]));
      if (loops) a_loop_takes_the_next : assert (size_q[op] == '0 && u_dut.next == tail_q[op] && op == loop_class_i);
      if (cuts_now) begin
        a_skip_takes_what_is_before : assert (cut_valid_i && op == cut_class_i && u_dut.cuts == any_over);
        if (u_dut.cuts) a_skip_takes_so_many : assert (u_dut.count == serial_t'(over) && u_dut.all == (cut_behind_i == '0));
      end
      if (cut_done && cut_valid_i) a_nothing_before_is_left : assert (!any_over);
      // what the lists rely on (pst_chunk_lists_proof assumes it): they have what is popped and spliced
      if (pop_valid) a_pop_finds_one : assert (listed_q[pop_class] != '0);
      if (splice_valid) begin
        a_splice_fits : assert (splice_count != '0 && (splice_all ? 21'(listed_q[splice_class]) == splice_count
                                                                  : 21'(listed_q[splice_class]) > splice_count));
      end
      if (push_offer_q) a_push_is_not_taken_back : assert (push_valid);
      // what the induction needs
      for (int c = 0; c < 2; c++) begin
        a_first_in_memory : assert (u_dut.next_mem[c] == tail_q[c] - serial_t'(size_q[c]));
        a_as_many_as_stored : assert (u_dut.stored_mem[c] - u_dut.taken_mem[c] == serial_t'(size_q[c]));
        a_in_memory : assert (in_memory[c] == (size_q[c] != '0));
        a_places : assert (32'(PtrWidth'(u_dut.given_q[c] - u_dut.released_q[c])) <= Places);
        a_listed : assert (listed_q[c] == size_q[c] + size_t'(pop_valid && pop_class == 1'(c))
                           + (splice_valid && splice_class == 1'(c) ? size_t'(splice_count) : '0));
      end
      a_chunks : assert (32'(listed_q[0]) + 32'(listed_q[1]) <= Chunks);
      if (u_dut.op_q != '0) a_has_a_place : assert (cuts_now || PtrWidth'(u_dut.given_q[op] - u_dut.released_q[op]) != PtrWidth'(Places));
      if (fetches) a_no_pop_waits : assert (!pop_valid);
      if (cuts_now) a_skip_alone : assert (u_dut.hold_q && !splice_valid && !pop_valid);
      if (splice_valid) begin
        a_splice_alone : assert (u_dut.hold_q && u_dut.op_q == '0 && !pop_valid);
        a_splice_is_the_cut : assert (cut_valid_i && splice_class == cut_class_i && serial_t'(size_q[splice_class]) == cut_behind_i);
        a_splice_in_range : assert (32'(splice_count) <= Chunks);
      end
      a_held : assert (u_dut.hold_q == (cuts_now || splice_valid));
      if (loops) a_loop_is_wanted : assert (loop_wanted_i);
      // useful work is possible: a skip leaves some behind, and these are fetched
      c_some_stay : cover (spliced && !splice_all && splice_count == 21'd2);
      c_fetched_behind : cover (skipped_q && fetches && u_dut.next == serial_t'(2));
    end
  end

endmodule
