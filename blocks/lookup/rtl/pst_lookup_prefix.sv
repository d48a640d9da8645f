// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Longest prefix match: finds the value of the longest prefix that a key begins with.
//
// Software makes a search tree of the prefixes (model/prefix.hpp): up to 4^Levels - 1 separators in order, three in each node, and a value
// for each interval between them. Any 2^(2 * Levels - 1) - 1 prefixes fit. There are two banks: lookups use one, software writes the other
// and changes over; a lookup stays in the bank in which it began, so it sees all of one set of prefixes or all of another.
//
// Throughput: a lookup per cycle. Latency: 2 * Levels + 1 cycles. Order: as they come.
// Reset:      lookups inside are forgotten; the memories stay as they are, so software writes a bank before the first lookup counts.
module pst_lookup_prefix #(
    parameter int unsigned KeyWidth   = 65,     // bits of a key: with IPv4 and upper halves of IPv6 addresses in one table one says which
    parameter int unsigned ValueWidth = 32,     // bits of a value
    parameter int unsigned Levels     = 7,      // of the tree, 2 .. 9; 7 for 8,191 prefixes
    localparam int unsigned NodeWidth  = 2 * Levels,
    localparam int unsigned WordWidth  = 3 * KeyWidth > ValueWidth + 1 ? 3 * KeyWidth : ValueWidth + 1,
    localparam int unsigned LevelWidth = $clog2(Levels + 1)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic                  bank_i,          // that lookups use from the next cycle on
    // writes into the other bank, not within 2 * Levels + 2 cycles after a change of bank_i
    input  logic                  s_write_valid_i,
    input  logic [LevelWidth-1:0] s_write_level_i, // Levels: {whether there is a value, the value} of an interval
    input  logic [ NodeWidth-1:0] s_write_node_i,
    input  logic [ WordWidth-1:0] s_write_word_i,  // of a node its separators, the least in the low bits
    // lookups
    input  logic                  s_key_valid_i,
    input  logic [  KeyWidth-1:0] s_key_i,
    output logic                  m_value_valid_o,
    output logic                  m_value_hit_o,
    output logic [ValueWidth-1:0] m_value_o        // 0 without a hit
);

  if (Levels < 2 || Levels > 9) begin : g_bad_levels
    $error("pst_lookup_prefix: Levels is %0d, allowed: 2..9", Levels);
  end
  if (KeyWidth < 2 || ValueWidth < 1) begin : g_bad_width
    $error("pst_lookup_prefix: KeyWidth (%0d) must be at least 2, ValueWidth (%0d) at least 1", KeyWidth, ValueWidth);
  end

  // Before each level, and before the values: a lookup and the node that it has come to.
  typedef struct packed {
    logic                 valid;
    logic                 bank;
    logic [KeyWidth-1:0]  key;
    logic [NodeWidth-1:0] node;
  } walk_t;

  walk_t walk[Levels+1];
  logic bank_q;                         // that lookups use: its root has been read

  always_ff @(posedge clk_i) bank_q <= bank_i;

  assign walk[0] = '{valid: s_key_valid_i, bank: bank_q, key: s_key_i, node: '0};

  for (genvar level = 0; level < int'(Levels); level++) begin : g_level
    localparam int unsigned Nodes = 4 ** level;
    localparam int unsigned AddrWidth = $clog2(2 * Nodes);

    logic [2:0][KeyWidth-1:0] separators;
    walk_t here, next_q;
    logic [1:0] child;

    if (level == 0) begin : g_root
      pst_ram_1r1w #(
          .Width(3 * KeyWidth),
          .Depth(2),
          .Style("distributed")
      ) u_nodes (
          .clk_i,
          .we_i   (s_write_valid_i && s_write_level_i == LevelWidth'(level)),
          .waddr_i(!bank_i),
          .wdata_i(s_write_word_i[3*KeyWidth-1:0]),
          .re_i   (1'b1),
          .raddr_i(bank_i),
          .rdata_o(separators)
      );

      assign here = walk[level];
    end else begin : g_node
      walk_t read_q;

      pst_ram_1r1w #(
          .Width(3 * KeyWidth),
          .Depth(2 * Nodes),
          .Style(Nodes < 64 ? "distributed" : "auto")
      ) u_nodes (
          .clk_i,
          .we_i   (s_write_valid_i && s_write_level_i == LevelWidth'(level)),
          .waddr_i({!bank_i, s_write_node_i[AddrWidth-2:0]}),
          .wdata_i(s_write_word_i[3*KeyWidth-1:0]),
          .re_i   (1'b1),
          .raddr_i({walk[level].bank, walk[level].node[AddrWidth-2:0]}),
          .rdata_o(separators)
      );

      always_ff @(posedge clk_i) begin
        read_q <= walk[level];
        if (rst_i) read_q.valid <= 1'b0;
      end

      assign here = read_q;
    end

    always_comb begin
      child = 2'd0;
      for (int unsigned i = 0; i < 3; i++) if (here.key >= separators[i]) child = 2'(i + 1);
    end

    always_ff @(posedge clk_i) begin
      next_q      <= here;
      next_q.node <= {here.node[NodeWidth-3:0], child};
      if (rst_i) next_q.valid <= 1'b0;
    end

    assign walk[level+1] = next_q;
  end

  logic [1:0] valid_q;
  logic hit;
  logic [ValueWidth-1:0] value;

  pst_ram_1r1w #(
      .Width(ValueWidth + 1),
      .Depth(2 * 4 ** Levels),
      .ReadLatency(2)
  ) u_values (
      .clk_i,
      .we_i   (s_write_valid_i && s_write_level_i == LevelWidth'(Levels)),
      .waddr_i({!bank_i, s_write_node_i}),
      .wdata_i(s_write_word_i[ValueWidth:0]),
      .re_i   (1'b1),
      .raddr_i({walk[Levels].bank, walk[Levels].node}),
      .rdata_o({hit, value})
  );

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[0], walk[Levels].valid};
    if (rst_i) valid_q <= '0;
  end

  assign m_value_valid_o = valid_q[1];
  assign m_value_hit_o   = valid_q[1] && hit;
  assign m_value_o       = m_value_hit_o ? value : '0;

  logic unused;
  assign unused = &{1'b0, walk[Levels].key};

`ifndef SYNTHESIS
  int unsigned since_q;                 // cycles since bank_i has changed
  always_ff @(posedge clk_i) begin
    since_q <= bank_i != bank_q ? 1 : since_q + 1;
    if (rst_i) since_q <= 2 * Levels + 2;
    if (!rst_i) begin
      a_old_lookups_are_out : assert (!s_write_valid_i || (bank_i == bank_q && since_q >= 2 * Levels + 1))
      else $error("a write %0d cycles after a change of the bank", since_q);
    end
  end
`endif

endmodule
