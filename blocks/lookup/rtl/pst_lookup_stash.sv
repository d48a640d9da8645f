// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The stash: a few keys that are in no table, in registers, compared all at once with the keys of two askers.
//
// Latency: 1 cycle from a key to its answer, 2 with SplitStages, of the contents at the start of the first one. One change per cycle.
// Reset: empties it.
module pst_lookup_stash #(
    parameter int unsigned KeyWidth   = 48,
    parameter int unsigned ValueWidth = 32,
    parameter int unsigned Entries    = 8,        // >= 2
    parameter bit          SplitStages = 1'b0,    // keys are compared in one cycle, and the entry is taken in the next one
    localparam int unsigned EntryWidth = $clog2(Entries)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    // keys of lookups
    input  logic [  KeyWidth-1:0] a_key_i,
    output logic                  a_hit_o,
    output logic [ValueWidth-1:0] a_value_o,      // 0 without a hit
    // keys of updates
    input  logic [  KeyWidth-1:0] b_key_i,
    output logic                  b_hit_o,
    output logic [EntryWidth-1:0] b_entry_o,
    // changes
    input  logic                  set_valid_i,
    input  logic [EntryWidth-1:0] set_entry_i,
    input  logic                  set_present_i,
    input  logic [  KeyWidth-1:0] set_key_i,
    input  logic [ValueWidth-1:0] set_value_i,
    // what is inside
    output logic                  free_o,         // there is room
    output logic [EntryWidth-1:0] free_entry_o,   // the first that is free
    output logic                  any_o,
    input  logic [EntryWidth-1:0] from_i,
    output logic [EntryWidth-1:0] next_entry_o,   // the first one from `from_i` on, round about, that has a key
    input  logic [EntryWidth-1:0] show_key_entry_i,     // of two entries: this one's key, that one's value
    input  logic [EntryWidth-1:0] show_value_entry_i,
    output logic [  KeyWidth-1:0] show_key_o,
    output logic [ValueWidth-1:0] show_value_o
);

  typedef struct packed {
    logic [KeyWidth-1:0]   key;
    logic [ValueWidth-1:0] value;
  } entry_t;

  // Which entries have the keys, and the values of all, as they were in the same cycle.
  typedef struct packed {
    logic [Entries-1:0]                 a, b;
    logic [Entries-1:0][ValueWidth-1:0] values;
  } match_t;

  match_t match, found;
  logic unused_valid;
  logic [Entries-1:0] present_q;
  entry_t [Entries-1:0] entry_q;
  logic [KeyWidth-1:0] shown_key[Entries];      // the same, as two memories, to show a key and a value
  logic [ValueWidth-1:0] shown_value[Entries];
  logic a_hit_q, b_hit_q;
  logic [ValueWidth-1:0] a_value, a_value_q;
  logic [EntryWidth-1:0] b_entry, b_entry_q;

  always_comb begin
    for (int unsigned i = 0; i < Entries; i++) begin
      match.a[i]      = present_q[i] && entry_q[i].key == a_key_i;
      match.b[i]      = present_q[i] && entry_q[i].key == b_key_i;
      match.values[i] = entry_q[i].value;
    end
  end

  pst_stage #(
      .Width($bits(match_t)),
      .Registered(SplitStages)
  ) u_match (
      .clk_i,
      .rst_i,
      .valid_i(1'b1),
      .data_i (match),
      .valid_o(unused_valid),
      .data_o (found)
  );

  always_comb begin
    a_value = '0;
    b_entry = '0;
    for (int unsigned i = 0; i < Entries; i++) begin
      if (found.a[i]) a_value |= found.values[i];
      if (found.b[i]) b_entry |= EntryWidth'(i);
    end
    free_o       = present_q != '1;
    any_o        = present_q != '0;
    free_entry_o = '0;
    next_entry_o = '0;
    for (int i = int'(Entries) - 1; i >= 0; i--) begin
      if (!present_q[i]) free_entry_o = EntryWidth'(i);
      if (present_q[i]) next_entry_o = EntryWidth'(i);
    end
    for (int i = int'(Entries) - 1; i >= 0; i--) if (present_q[i] && EntryWidth'(i) >= from_i) next_entry_o = EntryWidth'(i);
  end

  assign show_key_o   = shown_key[show_key_entry_i];
  assign show_value_o = shown_value[show_value_entry_i];

  always_ff @(posedge clk_i) begin
    a_hit_q   <= found.a != '0;
    a_value_q <= a_value;
    b_hit_q   <= found.b != '0;
    b_entry_q <= b_entry;
    if (set_valid_i) begin
      present_q[set_entry_i] <= set_present_i;
      entry_q[set_entry_i]   <= '{key: set_key_i, value: set_value_i};
      shown_key[set_entry_i]   <= set_key_i;
      shown_value[set_entry_i] <= set_value_i;
    end
    if (rst_i) present_q <= '0;
  end

  assign a_hit_o   = a_hit_q;
  assign a_value_o = a_value_q;
  assign b_hit_o   = b_hit_q;
  assign b_entry_o = b_entry_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) a_once : assert ($countones(match.a) <= 1 && $countones(match.b) <= 1);
  end
`endif

endmodule
