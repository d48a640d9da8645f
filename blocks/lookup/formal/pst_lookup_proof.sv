// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// For any key, any hash, any other keys and any operations: while the key is present it is in exactly one place in every cycle, and every
// lookup finds it with its value; while it is absent none does. So it is through all steps of an insert, a delete and a move.
//
// Four words a table, keys of four bits: places are few, so keys move all the time. The key is any one (it holds itself).
module pst_lookup_proof
  import pst_lookup_pkg::*;
(
    input logic       clk_i,
    input logic       rst_i,
    input logic       key_valid_i,
    input logic [3:0] key_i,
    input logic       op_valid_i,
    input op_e        op_i,
    input logic [3:0] op_key_i,
    input logic       op_value_i
);

  localparam int unsigned KeyWidth = 4, IndexWidth = 2, RestWidth = 2, StashEntries = 2;
  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [RestWidth-1:0] rest_t;

  typedef struct packed {
    logic  present;
    rest_t rest;
    logic  value;
  } word_t;

  logic init_done, value_valid, value_hit, value, op_ready, done_valid, done_value;
  done_e done;

  pst_lookup #(
      .Entries(16),
      .KeyWidth(KeyWidth),
      .ValueWidth(1),
      .StashEntries(StashEntries),
      .MaxMoves(2),
      .ChunkBits(2)
  ) u_dut (
      .clk_i,
      .rst_i,
      .init_done_o    (init_done),
      .seed_valid_i   (1'b0),
      .seed_chunk_i   ('0),
      .seed_index_i   ('0),
      .seed_word_i    ('0),
      .s_key_valid_i  (key_valid_i),
      .s_key_i        (key_i),
      .m_value_valid_o(value_valid),
      .m_value_hit_o  (value_hit),
      .m_value_o      (value),
      .s_op_valid_i   (op_valid_i),
      .s_op_ready_o   (op_ready),
      .s_op_i         (op_i),
      .s_op_key_i     (op_key_i),
      .s_op_value_i   (op_value_i),
      .m_done_valid_o (done_valid),
      .m_done_o       (done),
      .m_done_value_o (done_value),
      .keys_o         (),
      .moves_o        ()
  );

  // --- the key, as it is mixed

  logic seen_q;
  logic [KeyWidth-1:0] key_q;
  index_t low;
  rest_t rest;
  logic [2**IndexWidth-1:0][RestWidth-1:0] g;
  logic [2**RestWidth-1:0][Tables-1:0][IndexWidth-1:0] f;
  assign g    = u_dut.u_mix.g_q;
  assign f    = u_dut.u_mix.f_q;
  assign low  = key_q[IndexWidth-1:0];
  assign rest = key_q[KeyWidth-1:IndexWidth] ^ g[low];

  // --- where it is: in the tables now, in the stash now

  word_t [Tables-1:0] here, read4, read5, at_item, b_word1, b_word2;   // the words at its places; at those of the key on hand
  logic [Tables-1:0] in_table;
  logic [StashEntries-1:0] in_stash, item_in_stash;
  logic [2:0] places, item_places;
  logic value_now;
  logic [Tables-1:0][3:0] cleared;      // words that the walk has cleared are empty

  for (genvar t = 0; t < int'(Tables); t++) begin : g_places
    word_t words[4];
    for (genvar a = 0; a < 4; a++) begin : g_words
      assign words[a]      = word_t'(u_dut.g_table[t].u_words.mem[a]);
      assign cleared[t][a] = !words[a].present || (u_dut.u_update.clearing && 32'(u_dut.u_update.clear_addr) <= a);
    end
    assign here[t]     = words[low ^ f[rest][t]];
    assign in_table[t] = here[t].present && here[t].rest == rest;
    assign read4[t]    = u_dut.same4_q[t] ? u_dut.written_q : word_t'(u_dut.g_table[t].u_words.rdata_q);
    assign read5[t]    = u_dut.same5_q[t] ? u_dut.written_q : word_t'(u_dut.g_table[t].u_words.rdata_q2);
    assign at_item[t]  = words[u_dut.u_update.item_q.index[t]];
    assign b_word1[t]  = word_t'(u_dut.g_table[t].u_words.b_rdata_q);
    assign b_word2[t]  = word_t'(u_dut.g_table[t].u_words.b_rdata_q2);
  end

  always_comb begin
    value_now   = 1'b0;
    places      = '0;
    item_places = '0;
    for (int i = 0; i < StashEntries; i++) begin
      in_stash[i]      = u_dut.u_stash.present_q[i] && u_dut.u_stash.entry_q[i].key == {rest, low};
      item_in_stash[i] = u_dut.u_stash.present_q[i]
                         && u_dut.u_stash.entry_q[i].key == {u_dut.u_update.item_q.rest, u_dut.u_update.item_q.low};
      places += 3'(in_stash[i]);
      item_places += 3'(item_in_stash[i]);
      if (in_stash[i]) value_now |= u_dut.u_stash.entry_q[i].value;
    end
    for (int t = 0; t < Tables; t++) begin
      places += 3'(in_table[t]);
      item_places += 3'(at_item[t].present && at_item[t].rest == u_dut.u_update.item_q.rest);
      if (in_table[t]) value_now |= here[t].value;
    end
  end

  // --- what must be: the key is present from the event of its insert to that of its delete

  logic present_q, value_q;
  logic [KeyWidth-1:0] op_key_q;
  logic op_value_q, take, ended, read_then_q, read_value_q;      // in the cycle before the key was found by a read, with this value
  op_e op_q;
  assign take  = op_valid_i && op_ready;
  assign ended = u_dut.u_update.done_valid;

  logic [7:1] asked_q, present_then_q, value_then_q;    // a lookup of the key, and what it must find
  word_t [Tables-1:0] here5_q;
  logic [StashEntries-1:0] in_stash5_q;

  initial seen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    key_q  <= key_q;
    if (take) {op_q, op_key_q, op_value_q} <= {op_i, op_key_i, op_value_i};
    if (ended && op_key_q == key_q) begin
      if (u_dut.u_update.done inside {DoneAdded, DoneReplaced}) {present_q, value_q} <= {1'b1, op_value_q};
      if (u_dut.u_update.done == DoneDeleted) {present_q, value_q} <= 2'b00;
    end
    asked_q        <= {asked_q[6:4], asked_q[3] && init_done, asked_q[2:1], key_valid_i && key_i == key_q};
    present_then_q <= {present_then_q[6:5], present_q, 4'd0};
    value_then_q   <= {value_then_q[6:5], value_q, 4'd0};
    here5_q        <= here;
    in_stash5_q    <= in_stash;
    read_then_q    <= ended && op_key_q == key_q && u_dut.u_update.done == DoneRead;
    read_value_q   <= value_q;
    if (rst_i) begin
      read_then_q <= 1'b0;
      present_q <= 1'b0;
      value_q   <= 1'b0;
      asked_q   <= '0;
    end
  end

  // --- the key on hand

  logic holding, mixing;
  logic [Tables:0] hits5, hits6;        // of the lookup in cycles 5 and 6: in a table, or in the word that was written last
  rest_t victim_rest;
  assign holding = u_dut.u_update.state_q inside {4'd3, 4'd4, 4'd5, 4'd6, 4'd7, 4'd8};   // Read .. Swap
  assign hits5   = {u_dut.hit5, u_dut.written_hit5};
  assign hits6   = {u_dut.hit6_q, u_dut.written_hit6_q};
  assign mixing  = u_dut.u_update.state_q inside {4'd2, 4'd7};                           // Mix, Victim
  assign victim_rest = u_dut.u_update.victim_q.rest;

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (op_valid_i) m_operation : assume (op_i inside {OpInsert, OpDelete, OpRead});
    m_one_hash : assume (u_dut.u_mix.g_q == u_dut.u_update_mix.g_q && u_dut.u_mix.f_q == u_dut.u_update_mix.f_q);
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (init_done) a_one_place : assert (places == 3'(present_q) && value_now == value_q);
      if (asked_q[7]) a_found : assert (value_valid && value_hit == present_then_q[7] && value == value_then_q[7]);
      if (asked_q[6]) a_found_once : assert (3'($countones(hits6)) + 3'(u_dut.stash_hit6_q) == 3'(present_then_q[6]));
      if (ended && op_key_q == key_q) begin
        a_done : assert (u_dut.u_update.done inside {DoneAdded, DoneFull} ? op_q == OpInsert && !present_q
                         : u_dut.u_update.done == DoneReplaced ? op_q == OpInsert && present_q
                         : u_dut.u_update.done == DoneDeleted ? op_q == OpDelete && present_q
                         : u_dut.u_update.done == DoneRead ? op_q == OpRead && present_q
                         : u_dut.u_update.done == DoneAbsent && op_q != OpInsert && !present_q);
      end
      if (read_then_q) a_read_value : assert (done_valid && done == DoneRead && done_value == read_value_q);

      // what the induction needs: the walk
      a_states : assert (u_dut.u_update.state_q <= 4'd8);
      a_walk : assert (!u_dut.u_update.clearing || !init_done);
      if (!init_done) begin
        a_cleared : assert (cleared == '1 && u_dut.u_stash.present_q == '0 && !present_q && !value_q);
        a_idle : assert (!u_dut.u_update.start_q);
        for (int i = 1; i <= 3; i++) begin       // what was mixed before the reset is out before the walk ends
          a_mixed_before : assert (!u_dut.u_update_mix.valid_q[i] || (u_dut.u_update.clearing && 32'(u_dut.u_update.clear_addr) < i));
        end
      end

      // the stash as it is shown
      for (int i = 0; i < StashEntries; i++) begin
        if (u_dut.u_stash.present_q[i]) begin
          a_shown : assert ({u_dut.u_stash.shown_key[i], u_dut.u_stash.shown_value[i]} == u_dut.u_stash.entry_q[i]);
        end
      end

      // lookups
      for (int i = 1; i <= 3; i++) begin
        if (asked_q[i]) a_asked : assert (u_dut.u_mix.valid_q[i] && !u_dut.u_mix.mixed_q[i] && u_dut.u_mix.key_q[i] == key_q);
      end
      if (asked_q[4]) begin
        a_read : assert (u_dut.valid4_q && u_dut.rest4_q == rest && u_dut.low4_q == low && init_done && read4 == here);
        a_still_written : assert (u_dut.same4_q == '0 || !(u_dut.u_update.state_q inside {4'd6, 4'd8}));
      end
      if (asked_q[5]) begin
        a_read_before : assert (u_dut.valid5_q && u_dut.rest5_q == rest && read5 == here5_q && u_dut.stash_hit5 == (in_stash5_q != '0));
        for (int t = 0; t < Tables; t++) begin
          a_hit5 : assert ((u_dut.hit5[t] || (u_dut.same5_q[t] && u_dut.written_match5))
                           == (here5_q[t].present && here5_q[t].rest == rest));
        end
        a_present5 : assert (3'($countones(in_stash5_q)) + 3'($countones(hits5)) == 3'(present_then_q[5]));
        a_value5 : assert (value_then_q[5] == ((u_dut.hit5[0] && here5_q[0].value) || (u_dut.hit5[1] && here5_q[1].value)
                           || (u_dut.hit5[2] && here5_q[2].value) || (u_dut.hit5[3] && here5_q[3].value)
                           || (u_dut.written_hit5 && u_dut.written_q.value) || u_dut.stash_value5));
      end
      if (asked_q[6]) a_value6 : assert (u_dut.valid6_q && u_dut.value6 == value_then_q[6]);

      // the hash of updates: one key under way, while a state waits for it
      if (init_done) a_one_mixed : assert (3'(mixing) == 3'(u_dut.u_update.start_q) + 3'($countones(u_dut.u_update_mix.valid_q)));
      for (int i = 1; i <= 3; i++) begin
        if (init_done && u_dut.u_update_mix.valid_q[i]) begin
          a_mixed : assert (u_dut.u_update_mix.key_q[i] == u_dut.u_update.mix_key_o
                            && u_dut.u_update_mix.mixed_q[i] == u_dut.u_update.mix_mixed_o);
        end
      end

      // the key on hand: that of the operation, or one of the stash
      if (holding) begin
        for (int t = 0; t < Tables; t++) begin
          a_index : assert (u_dut.u_update.item_q.index[t] == (u_dut.u_update.item_q.low ^ f[u_dut.u_update.item_q.rest][t]));
        end
        if (!u_dut.u_update.item_q.stashed) begin
          a_of_operation : assert (u_dut.u_update.item_q.low == op_key_q[IndexWidth-1:0]
                                   && u_dut.u_update.item_q.rest == (op_key_q[KeyWidth-1:IndexWidth] ^ g[op_key_q[IndexWidth-1:0]]));
        end
      end
      if (u_dut.u_update.state_q == 4'd2 && !u_dut.u_update.item_q.stashed) begin
        a_not_yet_mixed : assert ({u_dut.u_update.item_q.rest, u_dut.u_update.item_q.low} == op_key_q);
      end
      if (holding || u_dut.u_update.state_q == 4'd2) begin
        if (u_dut.u_update.item_q.stashed) begin
          a_of_stash : assert (item_in_stash[u_dut.u_update.item_q.entry]
                               && u_dut.u_stash.entry_q[u_dut.u_update.item_q.entry].value == u_dut.u_update.item_q.value);
        end else begin
          a_operation : assert (u_dut.u_update.item_q.value == op_value_q && u_dut.u_update.op_q == op_q
                                && op_q inside {OpInsert, OpDelete, OpRead});
        end
      end
      if (u_dut.u_update.state_q == 4'd4) a_wait : assert (b_word1 == at_item);
      if (u_dut.u_update.state_q inside {4'd5, 4'd6, 4'd7, 4'd8}) a_compare : assert (b_word1 == at_item && b_word2 == at_item);
      if (u_dut.u_update.state_q inside {4'd6}) begin
        for (int t = 0; t < Tables; t++) begin
          a_found_flag : assert (u_dut.u_update.found_q[t] == (at_item[t].present && at_item[t].rest == u_dut.u_update.item_q.rest));
          a_empty_flag : assert (u_dut.u_update.empty_q[t] == !at_item[t].present);
        end
        a_stash_flag : assert (u_dut.up_hit == (item_in_stash != '0) && (!u_dut.up_hit || item_in_stash[u_dut.up_hit_entry]));
      end
      if (u_dut.u_update.state_q inside {4'd7, 4'd8}) begin
        a_victim : assert (at_item[u_dut.u_update.table_q].present && victim_rest == at_item[u_dut.u_update.table_q].rest
                           && u_dut.u_update.victim_q.value == at_item[u_dut.u_update.table_q].value);
        if (!u_dut.u_update.item_q.stashed) begin
          a_new : assert (item_places == '0 && op_q == OpInsert && u_dut.stash_free);
        end
      end
      if (u_dut.u_update.state_q == 4'd8) begin
        for (int t = 0; t < Tables; t++) begin
          a_victim_index : assert (u_dut.u_update.victim_q.index[t] == (u_dut.u_update.victim_q.low ^ f[victim_rest][t]));
        end
        a_victim_low : assert (u_dut.u_update.victim_q.index[u_dut.u_update.table_q]
                               == u_dut.u_update.item_q.index[u_dut.u_update.table_q]);
        a_victim_entry : assert (u_dut.u_update.victim_q.stashed
                                 && u_dut.u_update.victim_q.entry == (u_dut.u_update.item_q.stashed ? u_dut.u_update.item_q.entry
                                                                                                  : u_dut.free_entry));
      end

      // Useful work is possible. A move from reset on is too far away for a solver: the tests count moves, and faults in them are seen here.
      c_deleted : cover (ended && op_key_q == key_q && u_dut.u_update.done == DoneDeleted && asked_q[3]);
    end
  end

endmodule
