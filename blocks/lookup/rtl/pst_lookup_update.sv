// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Inserts, deletes, reads and moves keys, one step at a time, through the second port of the tables; lookups never wait for it.
//
// A step reads the four places of a key, and ends in at most one event: one table word and at most one stash entry change in the same cycle.
// Where an inserted key finds no free place it takes the one of another key, which goes to the stash in that cycle; keys of the stash are
// placed in the same way, from time to time and between operations. So a key is in exactly one place in every cycle.
//
// Latency: 9 cycles from an operation to m_done, 14 where an inserted key takes another one's place. A move takes 9 cycles. With SplitStages
// 12, 19 and 12.
// Events are four cycles apart or more.
// Reset: the tables are emptied, in as many cycles as a table has words; then init_done_o rises.
module pst_lookup_update
  import pst_lookup_pkg::*;
#(
    parameter int unsigned KeyWidth     = 48,
    parameter int unsigned IndexWidth   = 16,
    parameter int unsigned ValueWidth   = 32,
    parameter int unsigned StashEntries = 8,
    parameter int unsigned MaxMoves     = 64,
    parameter bit          SplitStages  = 1'b0,   // a key of the stash is read while the hash takes it, and events have a stage more
    localparam int unsigned RestWidth = KeyWidth - IndexWidth,
    localparam int unsigned WordWidth = 1 + RestWidth + ValueWidth,
    localparam int unsigned EntryWidth = $clog2(StashEntries),
    localparam int unsigned CountWidth = IndexWidth + 3
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    output logic                              init_done_o,
    // operations
    input  logic                              s_op_valid_i,
    output logic                              s_op_ready_o,
    input  op_e                               s_op_i,
    input  logic [              KeyWidth-1:0] s_op_key_i,
    input  logic [            ValueWidth-1:0] s_op_value_i,
    output logic                              m_done_valid_o,
    output done_e                             m_done_o,
    output logic [            ValueWidth-1:0] m_done_value_o,  // of a key that was read or deleted; before an insert replaced it; else 0
    // counters
    output logic [            CountWidth-1:0] keys_o,
    output logic [                      31:0] moves_o,
    // the hash
    output logic                              mix_valid_o,
    output logic                              mix_mixed_o,
    output logic [              KeyWidth-1:0] mix_key_o,
    input  logic                              mix_valid_i,
    input  logic [            IndexWidth-1:0] mix_low_i,
    input  logic [             RestWidth-1:0] mix_rest_i,
    input  logic [Tables-1:0][IndexWidth-1:0] mix_index_i,
    // the tables
    output logic                              ram_read_o,      // all of them
    output logic [                Tables-1:0] ram_write_o,     // and not in the same cycle
    output logic [Tables-1:0][IndexWidth-1:0] ram_addr_o,
    output logic [             WordWidth-1:0] ram_word_o,
    input  logic [ Tables-1:0][WordWidth-1:0] ram_word_i,
    // the stash
    output logic [              KeyWidth-1:0] stash_key_o,
    input  logic                              stash_hit_i,
    input  logic [            EntryWidth-1:0] stash_hit_entry_i,
    output logic                              stash_set_o,
    output logic [            EntryWidth-1:0] stash_set_entry_o,
    output logic                              stash_set_present_o,
    output logic [              KeyWidth-1:0] stash_set_key_o,
    output logic [            ValueWidth-1:0] stash_set_value_o,
    input  logic                              stash_free_i,
    input  logic [            EntryWidth-1:0] stash_free_entry_i,
    input  logic                              stash_any_i,
    output logic [            EntryWidth-1:0] stash_from_o,
    input  logic [            EntryWidth-1:0] stash_next_i,
    output logic [       1:0][EntryWidth-1:0] stash_show_entry_o, // {of the value, of the key}
    input  logic [   KeyWidth+ValueWidth-1:0] stash_show_word_i   // {key, value}
);

  localparam int unsigned TableWidth = $clog2(Tables);
  localparam int unsigned MoveWidth = $clog2(MaxMoves + 1);

  typedef enum logic [3:0] {
    Clear   = 4'd0,
    Idle    = 4'd1,
    Mix     = 4'd2,                     // the key on hand is mixed
    Read    = 4'd3,                     // its four places are read
    Wait    = 4'd4,
    Compare = 4'd5,
    Decide  = 4'd6,                     // an event, or a victim is chosen
    Victim  = 4'd7,                     // where else the victim may be
    Swap    = 4'd8,                     // an event: the key on hand into the victim's place, the victim into the stash, and on hand
    Decided = 4'd9,                     // SplitStages: what Decide said happens
    Swapped = 4'd10                     // SplitStages: what Swap said happens
  } state_e;

  typedef struct packed {
    logic                  present;
    logic [RestWidth-1:0]  rest;
    logic [ValueWidth-1:0] value;
  } word_t;

  // The key on hand.
  typedef struct packed {
    logic                              stashed;  // it is in the stash; else it is that of the operation
    logic [EntryWidth-1:0]             entry;
    logic                              moved;    // it comes from table `from`
    logic [TableWidth-1:0]             from;
    logic [RestWidth-1:0]              rest;
    logic [IndexWidth-1:0]             low;
    logic [ValueWidth-1:0]             value;
    logic [Tables-1:0][IndexWidth-1:0] index;
  } item_t;

  state_e state_d, state_q;
  item_t item_d, item_q, victim_d, victim_q;
  op_e op_q;
  logic start_d, start_q;               // the first cycle of Mix or Victim
  logic turn_d, turn_q;                 // the stash before the next operation
  logic [MoveWidth-1:0] moves_left_d, moves_left_q;
  logic [EntryWidth-1:0] from_d, from_q;
  logic [TableWidth-1:0] table_d, table_q;      // of the victim
  logic [15:0] random_q;
  logic [Tables-1:0] found_q, empty_q;
  word_t [Tables-1:0] words;
  logic [KeyWidth-1:0] shown_key;
  logic [ValueWidth-1:0] shown_value;
  logic [EntryWidth-1:0] shown_entry;   // that which is or will be on hand
  logic take;
  logic [IndexWidth-1:0] low_of_victim;

  logic clearing;
  logic [IndexWidth-1:0] clear_addr;

  pst_clear_walk #(
      .Depth(2 ** IndexWidth)
  ) u_clear (
      .clk_i,
      .rst_i,
      .busy_o(clearing),
      .addr_o(clear_addr)
  );

  assign words              = ram_word_i;
  assign init_done_o        = state_q != Clear;
  assign s_op_ready_o       = state_q == Idle && !(stash_any_i && turn_q);
  assign take               = s_op_valid_i && s_op_ready_o;
  assign stash_key_o        = {item_q.rest, item_q.low};
  assign stash_from_o       = from_q;
  // The hash waits for the key, so its entry comes from a register with SplitStages; the value's may be known late.
  assign shown_entry        = SplitStages ? item_q.entry : stash_next_i;
  assign stash_show_entry_o = {state_q == Decide ? stash_hit_entry_i : shown_entry, shown_entry};
  assign {shown_key, shown_value} = stash_show_word_i;

  // What happens, at once: to the tables, the stash, and the operation.
  typedef struct packed {
    logic [Tables-1:0]                 write;
    logic [Tables-1:0][IndexWidth-1:0] addr;
    word_t                             word;
    logic                              stash_set, stash_present;
    logic [EntryWidth-1:0]             stash_entry;
    logic [KeyWidth-1:0]               stash_key;
    logic [ValueWidth-1:0]             stash_value;
    logic                              done_valid;
    done_e                             done;
    logic [ValueWidth-1:0]             done_value;
    logic                              moved;          // a key from one place to another
  } event_t;

  event_t event_d, happens;
  logic event_valid, happens_valid, done_valid;
  done_e done;
  logic found, empty;                                  // the key on hand, a place for it
  logic [Tables-1:0] first_empty;
  logic [ValueWidth-1:0] found_value;                  // of the key on hand, where it was found
  logic [15:0] random_d;
  logic [TableWidth-1:0] drawn;                        // of the cycle of the event

  assign found       = found_q != '0 || stash_hit_i;
  assign empty       = empty_q != '0;
  assign first_empty = empty_q & (~empty_q + 1'b1);
  assign random_d    = {random_q[14:0], random_q[15] ^ random_q[13] ^ random_q[12] ^ random_q[10]};
  assign drawn       = SplitStages ? random_d[TableWidth-1:0] : random_q[TableWidth-1:0];

  always_comb begin
    found_value = stash_hit_i ? shown_value : '0;
    for (int unsigned t = 0; t < Tables; t++) if (found_q[t]) found_value |= words[t].value;
  end

  always_comb begin
    state_d      = state_q;
    item_d       = item_q;
    victim_d     = victim_q;
    start_d      = 1'b0;
    turn_d       = turn_q;
    moves_left_d = moves_left_q;
    from_d       = from_q;
    table_d      = table_q;

    event_valid         = 1'b0;
    event_d             = '0;
    event_d.addr        = item_q.index;
    event_d.word        = '{present: 1'b1, rest: item_q.rest, value: item_q.value};  // without a key the rest does not count
    event_d.stash_entry = item_q.entry;
    event_d.stash_key   = {item_q.rest, item_q.low};
    event_d.stash_value = item_q.value;
    event_d.done        = DoneAdded;
    event_d.done_value  = found_value;
    low_of_victim       = item_q.index[table_q] ^ mix_index_i[table_q];

    mix_valid_o = start_q;
    mix_mixed_o = item_q.stashed;
    mix_key_o   = {item_q.rest, item_q.low};
    if (SplitStages && item_q.stashed) mix_key_o = shown_key;
    if (state_q == Victim) begin        // with low = 0 the addresses are F
      mix_mixed_o = 1'b1;
      mix_key_o   = {victim_q.rest, IndexWidth'(0)};
    end

    unique case (state_q)
      Clear: if (!clearing) state_d = Idle;

      Idle: begin
        moves_left_d = MoveWidth'(MaxMoves);
        if (take) begin
          state_d        = Mix;
          start_d        = 1'b1;
          turn_d         = 1'b1;
          item_d.stashed = 1'b0;
          item_d.moved   = 1'b0;
          item_d.value   = s_op_value_i;
          {item_d.rest, item_d.low} = s_op_key_i;
        end else if (stash_any_i) begin
          state_d        = Mix;
          start_d        = 1'b1;
          turn_d         = 1'b0;
          item_d.stashed = 1'b1;
          item_d.entry   = stash_next_i;
          item_d.moved   = 1'b0;
          item_d.value   = shown_value;
          {item_d.rest, item_d.low} = shown_key;
        end
      end

      Mix: begin
        if (SplitStages && item_q.stashed) item_d.value = shown_value;
        if (mix_valid_i) begin
          state_d      = Read;
          item_d.rest  = mix_rest_i;
          item_d.low   = mix_low_i;
          item_d.index = mix_index_i;
        end
      end

      Read:    state_d = Wait;
      Wait:    state_d = Compare;
      Compare: state_d = Decide;
      Decided: state_d = Idle;
      Swapped: state_d = Read;

      Decide: begin
        state_d     = SplitStages ? Decided : Idle;
        event_valid = 1'b1;
        if (!item_q.stashed && found) begin
          event_d.done_valid    = 1'b1;
          event_d.done          = op_q == OpDelete ? DoneDeleted : op_q == OpRead ? DoneRead : DoneReplaced;
          event_d.write         = !stash_hit_i && op_q != OpRead ? found_q : '0;
          event_d.word.present  = op_q == OpInsert;
          event_d.stash_set     = stash_hit_i && op_q != OpRead;
          event_d.stash_entry   = stash_hit_entry_i;
          event_d.stash_present = op_q == OpInsert;
        end else if (!item_q.stashed && op_q != OpInsert) begin
          event_d.done_valid = 1'b1;
          event_d.done       = DoneAbsent;
        end else if (empty) begin
          event_d.done_valid = !item_q.stashed;
          event_d.write      = first_empty;
          event_d.stash_set  = item_q.stashed;
          if (item_q.stashed) from_d = item_q.entry + 1'b1;
        end else if (!item_q.stashed && !stash_free_i) begin
          event_d.done_valid = 1'b1;
          event_d.done       = DoneFull;
        end else if (moves_left_q == '0) begin
          from_d = item_q.entry + 1'b1;
        end else begin
          state_d        = Victim;
          start_d        = 1'b1;
          table_d        = item_q.moved && drawn == item_q.from ? item_q.from ^ TableWidth'(1) : drawn;
          victim_d.rest  = words[table_d].rest;
          victim_d.value = words[table_d].value;
        end
      end

      Victim: if (mix_valid_i) begin
        state_d          = Swap;
        victim_d.stashed = 1'b1;
        victim_d.entry   = item_q.stashed ? item_q.entry : stash_free_entry_i;
        victim_d.moved   = 1'b1;
        victim_d.from    = table_q;
        victim_d.low     = low_of_victim;
        for (int unsigned t = 0; t < Tables; t++) victim_d.index[t] = mix_index_i[t] ^ low_of_victim;
      end

      Swap: begin
        state_d                = SplitStages ? Swapped : Read;
        event_valid            = 1'b1;
        event_d.write[table_q] = 1'b1;
        event_d.stash_set      = 1'b1;
        event_d.stash_present  = 1'b1;
        event_d.stash_entry    = victim_q.entry;
        event_d.stash_key      = {victim_q.rest, victim_q.low};
        event_d.stash_value    = victim_q.value;
        event_d.done_valid     = !item_q.stashed;
        event_d.done_value     = '0;
        event_d.moved          = 1'b1;
        item_d                 = victim_q;
        moves_left_d           = moves_left_q - 1'b1;
      end

      default: state_d = Clear;
    endcase
  end

  pst_stage #(
      .Width($bits(event_t)),
      .Registered(SplitStages)
  ) u_event (
      .clk_i,
      .rst_i,
      .valid_i(event_valid),
      .data_i (event_d),
      .valid_o(happens_valid),
      .data_o (happens)
  );

  assign done_valid          = happens_valid && happens.done_valid;
  assign done                = happens.done;
  assign stash_set_o         = happens_valid && happens.stash_set;
  assign stash_set_entry_o   = happens.stash_entry;
  assign stash_set_present_o = happens.stash_present;
  assign stash_set_key_o     = happens.stash_key;
  assign stash_set_value_o   = happens.stash_value;

  always_comb begin
    ram_read_o  = state_q == Read;
    ram_write_o = happens_valid ? happens.write : '0;
    ram_addr_o  = happens_valid ? happens.addr : item_q.index;
    ram_word_o  = happens.word;
    if (clearing) begin
      ram_write_o = '1;
      ram_addr_o  = {Tables{clear_addr}};
      ram_word_o  = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    state_q      <= state_d;
    item_q       <= item_d;
    victim_q     <= victim_d;
    start_q      <= start_d;
    turn_q       <= turn_d;
    moves_left_q <= moves_left_d;
    from_q       <= from_d;
    table_q      <= table_d;
    random_q     <= random_d;
    if (take) op_q <= s_op_i;
    for (int unsigned t = 0; t < Tables; t++) begin
      found_q[t] <= words[t].present && words[t].rest == item_q.rest;
      empty_q[t] <= !words[t].present;
    end
    m_done_valid_o <= done_valid;
    m_done_o       <= done;
    m_done_value_o <= done_valid ? happens.done_value : '0;
    if (done_valid && done == DoneAdded) keys_o <= keys_o + 1'b1;
    if (done_valid && done == DoneDeleted) keys_o <= keys_o - 1'b1;
    if (happens_valid && happens.moved) moves_o <= moves_o + 1'b1;
    if (rst_i) begin
      state_q        <= Clear;
      start_q        <= 1'b0;
      turn_q         <= 1'b0;
      from_q         <= '0;
      random_q       <= 16'hACE1;
      m_done_valid_o <= 1'b0;
      keys_o         <= '0;
      moves_o        <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && state_q == Decide) begin
      a_found_once : assert (item_q.stashed || $countones(found_q) + 32'(stash_hit_i) <= 1);
      a_not_in_a_table : assert (!item_q.stashed || found_q == '0);
      a_operation_exists : assert (op_q inside {OpInsert, OpDelete, OpRead});
    end
  end
`endif

endmodule
