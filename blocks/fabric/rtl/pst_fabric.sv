// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Cell switch with the combined parallel round-robin arbiter: every cycle a cell at each input, spread evenly over Ports x Ports output FIFOs.
//
// Papaphilippou, Meng, Luk, "High-Performance FPGA Network Switch Architecture", FPGA 2020. Latency: pst_fabric_pkg::pipeline_cycles (the
// paper's Table 1) to the FIFOs, and one cycle in them. Rate: Ports cells per cycle in, one per cycle and output out.
// Order: cells of one input, output and class leave in the order in which they came; with the rotating arbiter as long as nothing is dropped.
// BackPressure = 0: every cell is taken, those that meet a full FIFO are dropped and counted. 1: nothing is dropped, a cell waits at its input
// when a FIFO of its output and class is nearly full; s_cell_ready_o depends on s_cell_dest_i and s_cell_class_i.
// Reset loses all cells.
module pst_fabric #(
    parameter int unsigned Ports = 8,       // a power of two, 2..64
    parameter int unsigned Width = 64,      // bits of a cell's payload, >= 1
    parameter int unsigned Stages = 1,      // S of the paper: every S-th pipeline stage ends in a register; 1, 2, 4
    parameter int unsigned FifoDepth = 32,  // cells of each FIFO (of each class), >= 1; with BackPressure >= pipeline cycles + 2
    parameter int unsigned Classes = 1,     // 1..256; class 0 is sent first; more than one needs the full arbiter
    parameter bit BackPressure = 1'b0,
    parameter bit Arbiter = !BackPressure || Classes > 1,  // 0: rotating (the paper's), 1: full (order holds through drops)
    localparam int unsigned PortWidth = $clog2(Ports),
    localparam int unsigned ClassWidth = Classes > 1 ? $clog2(Classes) : 1
) (
    input  logic                             clk_i,
    input  logic                             rst_i,
    // cells in, by input
    input  logic [Ports-1:0]                 s_cell_valid_i,
    output logic [Ports-1:0]                 s_cell_ready_o,
    input  logic [Ports-1:0][ PortWidth-1:0] s_cell_dest_i,
    input  logic [Ports-1:0][ClassWidth-1:0] s_cell_class_i,  // less than Classes
    input  logic [Ports-1:0][     Width-1:0] s_cell_data_i,
    // cells out, by output
    output logic [Ports-1:0]                 m_cell_valid_o,
    input  logic [Ports-1:0]                 m_cell_ready_i,
    output logic [Ports-1:0][     Width-1:0] m_cell_data_o,
    // cells dropped at each output: how many in this cycle (they met the FIFO one cycle ago)
    output logic [Ports-1:0][   PortWidth:0] ev_drop_count_o
);

  import pst_fabric_pkg::*;

  localparam int unsigned Latency = pipeline_cycles(Ports, Stages);
  localparam int unsigned Reserve = BackPressure ? Latency + 2 : 0;  // cells that can be on their way to one FIFO

  if (Ports < 2 || Ports > MaxPorts || Ports != 2 ** PortWidth) begin : g_bad_ports
    $error("pst_fabric: Ports is %0d, must be a power of two, 2..64", Ports);
  end
  if (Stages != 1 && Stages != 2 && Stages != 4) begin : g_bad_stages
    $error("pst_fabric: Stages is %0d, allowed: 1, 2, 4", Stages);
  end
  if (Width < 1 || FifoDepth < 1 || Classes < 1 || Classes > 256) begin : g_bad_size
    $error("pst_fabric: Width (%0d) and FifoDepth (%0d) must be at least 1, Classes (%0d) 1..256", Width, FifoDepth, Classes);
  end
  if (FifoDepth < Reserve) begin : g_bad_depth
    $error("pst_fabric: FifoDepth is %0d, BackPressure needs at least %0d (pipeline cycles + 2)", FifoDepth, Reserve);
  end
  if (Classes > 1 && !Arbiter) begin : g_bad_arbiter
    $error("pst_fabric: Classes is %0d; more than one class needs the full arbiter (Arbiter = 1)", Classes);
  end

  localparam logic [MaxStages-1:0] Registers = registers(Ports, Stages);
  localparam int unsigned PayloadWidth = Width + (Classes > 1 ? ClassWidth : 0);
  localparam int unsigned KeyWidth = 1 + PortWidth;
  localparam int unsigned WordWidth = KeyWidth + PayloadWidth;
  localparam int unsigned SortStages = sort_stages(Ports);
  localparam int unsigned RotateStart = rotate_start(Ports);

  typedef struct packed {
    logic                 valid;
    logic [PortWidth-1:0] dest;
  } sort_key_t;

  typedef struct packed {
    sort_key_t               key;
    logic [PayloadWidth-1:0] payload;  // {class, data}; with one class the data alone
  } word_t;

  // --- input

  word_t [Ports-1:0] words_in;
  logic [Ports-1:0][Classes-1:0] nearly_full;

  for (genvar i = 0; i < Ports; i++) begin : g_input
    if (BackPressure) begin : g_wait
      assign s_cell_ready_o[i] = !nearly_full[s_cell_dest_i[i]][Classes > 1 ? s_cell_class_i[i] : 0];
    end else begin : g_take
      assign s_cell_ready_o[i] = 1'b1;
      logic unused;
      assign unused = &{1'b0, nearly_full};
    end
    assign words_in[i].key = {s_cell_valid_i[i] && s_cell_ready_o[i], s_cell_dest_i[i]};
    if (Classes > 1) begin : g_class
      assign words_in[i].payload = {s_cell_class_i[i], s_cell_data_i[i]};
    end else begin : g_plain
      assign words_in[i].payload = s_cell_data_i[i];
      logic unused;
      assign unused = &{1'b0, s_cell_class_i[i]};
    end
  end

  // --- sorting network, and the offsets beside it

  word_t [Ports-1:0] sorted, batch;
  sort_key_t [Ports-1:0] keys;
  logic [Ports-1:0][PortWidth-1:0] rotations;

  pst_batcher_sort #(
      .Ports(Ports),
      .Width(WordWidth),
      .KeyWidth(KeyWidth),
      .TapStage(offset_start(Ports)),
      .Registers(Registers)
  ) u_sort (
      .clk_i,
      .rst_i,
      .words_i(words_in),
      .tap_o  (keys),
      .words_o(sorted)
  );

  pst_fabric_offsets #(
      .Ports(Ports),
      .Registers(Registers >> offset_start(Ports))
  ) u_offsets (
      .clk_i,
      .rst_i,
      .keys_i     (keys),
      .rotations_o(rotations)
  );

  // Up to 8 ports the sorted batch waits for its offsets.
  if (RotateStart == SortStages) begin : g_no_wait
    assign batch = sorted;
  end else begin : g_delay
    for (genvar s = SortStages; s < RotateStart; s++) begin : g_stage
      word_t [Ports-1:0] from, to;
      if (s == SortStages) begin : g_first
        assign from = sorted;
      end else begin : g_next
        assign from = g_stage[s-1].to;
      end
      for (genvar i = 0; i < Ports; i++) begin : g_word
        pst_fabric_register #(
            .Width(WordWidth),
            .ResetWidth(1),
            .Enable(Registers[s])
        ) u_register (
            .clk_i,
            .rst_i,
            .d_i(from[i]),
            .q_o(to[i])
        );
      end
    end
    assign batch = g_stage[RotateStart-1].to;
  end

  // --- for each output a rotator, and the FIFOs behind it

  for (genvar d = 0; d < Ports; d++) begin : g_output
    word_t [Ports-1:0] rotated;
    logic [Ports-1:0] valid;
    logic [Ports-1:0][PortWidth-1:0] dest;
    logic [Ports-1:0][ClassWidth-1:0] of_class;
    logic [Ports-1:0][Width-1:0] data;

    pst_rotator #(
        .Ports(Ports),
        .Width(WordWidth),
        .Registers(Registers >> RotateStart)
    ) u_rotator (
        .clk_i,
        .rst_i,
        .words_i   (batch),
        .rotation_i(rotations[d]),
        .words_o   (rotated)
    );

    for (genvar q = 0; q < Ports; q++) begin : g_word
      assign valid[q] = rotated[q].key.valid;
      assign dest[q]  = rotated[q].key.dest;
      assign data[q]  = rotated[q].payload[Width-1:0];
      if (Classes > 1) begin : g_class
        assign of_class[q] = rotated[q].payload[PayloadWidth-1-:ClassWidth];
      end else begin : g_plain
        assign of_class[q] = '0;
      end
    end

    pst_fabric_output #(
        .Ports(Ports),
        .Width(Width),
        .FifoDepth(FifoDepth),
        .Classes(Classes),
        .Reserve(Reserve),
        .Full(Arbiter)
    ) u_output (
        .clk_i,
        .rst_i,
        .output_i       (PortWidth'(d)),
        .s_valid_i      (valid),
        .s_dest_i       (dest),
        .s_class_i      (of_class),
        .s_data_i       (data),
        .nearly_full_o  (nearly_full[d]),
        .m_valid_o      (m_cell_valid_o[d]),
        .m_ready_i      (m_cell_ready_i[d]),
        .m_data_o       (m_cell_data_o[d]),
        .ev_drop_count_o(ev_drop_count_o[d])
    );
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && BackPressure) a_nothing_is_dropped : assert (ev_drop_count_o == '0);
  end
`endif

endmodule
