// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Batcher's odd-even merge sort: Ports words a cycle, in ascending order of their highest KeyWidth bits.
//
// log2(Ports) (log2(Ports) + 1) / 2 stages of compare-and-swap units; latency in cycles is the number of ones in Registers. Not stable: words of
// equal keys leave in an order that the network fixes (units swap only what is out of order). Reset clears the highest bit of each
// word (a valid bit). tap_o are the keys after TapStage stages, for a module that counts them and does not need them sorted.
module pst_batcher_sort #(
    parameter int unsigned Ports = 8,     // words, a power of two, 2..64
    parameter int unsigned Width = 16,    // bits of a word, >= KeyWidth
    parameter int unsigned KeyWidth = 4,  // bits compared, >= 1
    parameter int unsigned TapStage = 0,  // 0 (the input)..number of stages
    parameter logic [pst_fabric_pkg::MaxStages-1:0] Registers = '1  // bit i: stage i ends in a register
) (
    input  logic                               clk_i,
    input  logic                               rst_i,
    input  logic [Ports-1:0][   Width-1:0]     words_i,
    output logic [Ports-1:0][KeyWidth-1:0]     tap_o,
    output logic [Ports-1:0][   Width-1:0]     words_o
);

  localparam int unsigned Stages = pst_fabric_pkg::sort_stages(Ports);

  if (Ports < 2 || Ports > pst_fabric_pkg::MaxPorts || Ports != 2 ** $clog2(Ports)) begin : g_bad_ports
    $error("pst_batcher_sort: Ports is %0d, must be a power of two, 2..64", Ports);
  end
  if (KeyWidth < 1 || KeyWidth > Width || TapStage > Stages) begin : g_bad_size
    $error("pst_batcher_sort: KeyWidth is %0d (1..Width), TapStage %0d (0..%0d)", KeyWidth, TapStage, Stages);
  end

  // Stage s belongs to the merge of runs of merge_length(s) words and compares words at distance(s).
  function automatic int unsigned merge_length(int unsigned stage);
    int unsigned level = 0;
    while ((level + 1) * (level + 2) / 2 <= stage) level++;
    return 2 ** level;
  endfunction

  function automatic int unsigned distance(int unsigned stage);
    int unsigned level = $clog2(merge_length(stage));
    return 2 ** (level - (stage - level * (level + 1) / 2));
  endfunction

  // Word x of a stage is compared with word x + distance.
  function automatic bit is_low(int unsigned stage, int unsigned x);
    int unsigned p = merge_length(stage), k = distance(stage), first = k % p;
    return x + k < Ports && x >= first && (x - first) % (2 * k) < k && x / (2 * p) == (x + k) / (2 * p);
  endfunction

  for (genvar s = 0; s < Stages; s++) begin : g_stage
    localparam int unsigned Distance = distance(s);
    logic [Ports-1:0][Width-1:0] from, to, sorted;

    if (s == 0) begin : g_first
      assign from = words_i;
    end else begin : g_next
      assign from = g_stage[s-1].to;
    end

    for (genvar x = 0; x < Ports; x++) begin : g_word
      if (is_low(s, x)) begin : g_low
        logic swap;
        assign swap = from[x][Width-1-:KeyWidth] > from[x+Distance][Width-1-:KeyWidth];
        assign sorted[x] = swap ? from[x+Distance] : from[x];
        assign sorted[x+Distance] = swap ? from[x] : from[x+Distance];
      end else if (x < Distance || !is_low(s, x < Distance ? 0 : x - Distance)) begin : g_pass
        assign sorted[x] = from[x];
      end

      pst_fabric_register #(
          .Width(Width),
          .ResetWidth(1),
          .Enable(Registers[s])
      ) u_register (
          .clk_i,
          .rst_i,
          .d_i(sorted[x]),
          .q_o(to[x])
      );
    end
  end

  for (genvar x = 0; x < Ports; x++) begin : g_out
    assign words_o[x] = g_stage[Stages-1].to[x];
    if (TapStage == 0) begin : g_tap
      assign tap_o[x] = words_i[x][Width-1-:KeyWidth];
    end else begin : g_tap
      assign tap_o[x] = g_stage[TapStage-1].to[x][Width-1-:KeyWidth];
    end
  end

endmodule
