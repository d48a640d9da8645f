// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Memory of the chunks that are being filled: data and headers of two slots of each class.
//
// Unit k of every beat lies in lane k, a RAM of its own with its own address. So a beat of data that begins at any unit is written in one
// cycle: each lane takes one unit of it, those behind the end of the line one line further, or at the beginning of the class's other slot.
//
// Latency: 2 cycles from a write to the memory, a read in any later cycle finds it; 2 cycles from a read to its data.
// Throughput: a beat and a header in, a beat of either out, per cycle. Reset: what is on its way is not written; the memory stays.
module pst_deadline_lanes
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes     = 64,  // 2..256
    parameter int unsigned ChunkBeats  = 64,  // 8..64
    parameter int unsigned HeaderBeats = 8,   // beats of meta and headers that a chunk has at most
    localparam int unsigned ClassWidth  = $clog2(Classes),
    localparam int unsigned BeatWidth   = $clog2(ChunkBeats),
    localparam int unsigned FrameWidth  = $clog2(BeatUnits * HeaderBeats),
    localparam int unsigned DataWidth   = pst_memory_pkg::DataWidth
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    // a beat: the first `split` units behind unit `line`, `lane` of the slot, the others at the beginning of the other slot
    input  logic                  s_data_valid_i,
    input  logic [ClassWidth-1:0] s_class_i,
    input  logic                  s_slot_i,
    input  logic [ BeatWidth-1:0] s_line_i,
    input  logic [           2:0] s_lane_i,
    input  logic [           3:0] s_units_i,        // 1..8 of the beat
    input  logic [           3:0] s_split_i,        // up to s_units_i; below it only if these end with their line
    input  logic [ DataWidth-1:0] s_data_i,
    // a header of the same class
    input  logic                  s_header_valid_i,
    input  logic                  s_header_slot_i,
    input  logic [FrameWidth-1:0] s_header_at_i,    // unit behind the meta
    input  header_t               s_header_i,
    // read of a whole beat
    input  logic                  read_valid_i,
    input  logic [ClassWidth-1:0] read_class_i,
    input  logic                  read_slot_i,
    input  logic                  read_header_i,    // of meta and headers; else of data
    input  logic [ BeatWidth-1:0] read_beat_i,
    output logic [ DataWidth-1:0] read_data_o       // 2 cycles later; unit 0 of the first beat of headers is not written here
);

  localparam int unsigned DataDepth   = 2 ** (ClassWidth + 1 + BeatWidth);
  localparam int unsigned HeaderWidth = HeaderBeats > 1 ? $clog2(HeaderBeats) : 1;  // of a beat of headers
  localparam int unsigned HeaderDepth = 2 ** (ClassWidth + 1 + HeaderWidth);

  typedef struct packed {
    logic [ClassWidth-1:0] class_id;
    logic                  slot;
    logic [BeatWidth-1:0]  line;
  } data_at_t;

  typedef struct packed {
    logic [ClassWidth-1:0]  class_id;
    logic                   slot;
    logic [HeaderWidth-1:0] line;
  } header_at_t;

  // ---- Stage 1: each unit to its lane; stage 2: into the RAMs ----
  localparam int unsigned Lanes = BeatUnits;

  logic [Lanes-1:0][UnitWidth-1:0] in_units, lane_unit_d, lane_unit_q;
  logic [Lanes-1:0] lane_we_d, lane_we_q, header_we_d, header_we_q;
  data_at_t [Lanes-1:0] lane_at_d, lane_at_q;
  header_at_t header_at_d, header_at_q;
  header_t header_q;

  assign in_units = s_data_i;

  always_comb begin
    for (int unsigned k = 0; k < Lanes; k++) begin
      logic [2:0] unit;
      unit           = 3'(k) - s_lane_i;
      lane_unit_d[k] = in_units[unit];
      lane_we_d[k]   = s_data_valid_i && 4'(unit) < s_units_i;
      lane_at_d[k]   = '{class_id: s_class_i, slot: s_slot_i, line: s_line_i + BeatWidth'(3'(k) < s_lane_i)};
      if (4'(unit) >= s_split_i) begin
        lane_at_d[k].slot = !s_slot_i;
        lane_at_d[k].line = '0;
      end
    end
    // Headers stand behind the meta, which is unit 0 of their first beat.
    header_at_d = '{class_id: s_class_i, slot: s_header_slot_i, line: HeaderWidth'((32'(s_header_at_i) + 1) >> $clog2(Lanes))};
    header_we_d = '0;
    header_we_d[3'(s_header_at_i)+1'b1] = s_header_valid_i;
  end

  always_ff @(posedge clk_i) begin
    lane_unit_q <= lane_unit_d;
    lane_at_q   <= lane_at_d;
    lane_we_q   <= rst_i ? '0 : lane_we_d;
    header_q    <= s_header_i;
    header_at_q <= header_at_d;
    header_we_q <= rst_i ? '0 : header_we_d;
  end

  // ---- Reads: both memories, and which of them was asked for ----
  logic header_asked_q, header_asked_q2;
  data_at_t read_data_at;
  header_at_t read_header_at;

  assign read_data_at   = '{class_id: read_class_i, slot: read_slot_i, line: read_beat_i};
  assign read_header_at = '{class_id: read_class_i, slot: read_slot_i, line: HeaderWidth'(read_beat_i)};

  always_ff @(posedge clk_i) begin
    header_asked_q  <= read_header_i;
    header_asked_q2 <= header_asked_q;
  end

  for (genvar k = 0; k < Lanes; k++) begin : g_lane
    logic [UnitWidth-1:0] data_word, header_word;

    pst_ram_1r1w #(
        .Width(UnitWidth),
        .Depth(DataDepth),
        .ReadLatency(2)
    ) u_data (
        .clk_i,
        .we_i   (lane_we_q[k]),
        .waddr_i(lane_at_q[k]),
        .wdata_i(lane_unit_q[k]),
        .re_i   (read_valid_i && !read_header_i),
        .raddr_i(read_data_at),
        .rdata_o(data_word)
    );

    pst_ram_1r1w #(
        .Width(UnitWidth),
        .Depth(HeaderDepth),
        .ReadLatency(2)
    ) u_headers (
        .clk_i,
        .we_i   (header_we_q[k]),
        .waddr_i(header_at_q),
        .wdata_i(header_q),
        .re_i   (read_valid_i && read_header_i),
        .raddr_i(read_header_at),
        .rdata_o(header_word)
    );

    assign read_data_o[k*UnitWidth+:UnitWidth] = header_asked_q2 ? header_word : data_word;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && s_data_valid_i) begin
      a_units_in_range : assert (s_units_i >= 4'd1 && s_units_i <= 4'd8 && s_split_i <= s_units_i);
      a_split_at_a_line : assert (s_split_i == s_units_i || 3'(s_lane_i + 3'(s_split_i)) == '0);
    end
    if (!rst_i && s_header_valid_i) a_header_has_room : assert (32'(s_header_at_i) + 1 < Lanes * HeaderBeats);
  end
`endif

endmodule
