// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// P x P switch of AXI4-Stream frames of any length, with classes, multicast and broadcast, around a cell switch.
//
// BackPressure = 1: nothing is lost; a source waits while a destination has no room for its frame. BackPressure = 0: sources never wait (but for
// their own copies); the cell switch drops cells at full FIFOs, and the outputs drop every frame that missed one, whole.
// Rate: one beat per port and cycle. Order: frames of one source, destination and class stay in order. Strict priority of class 0 over 1 and so
// on, in the cell switch and at the outputs; a frame that is being sent is not interrupted. Reset loses everything.
module pst_frame_switch #(
    parameter int unsigned Ports = 4,              // a power of two, 2..64
    parameter int unsigned DataBytes = 32,         // of a beat, >= 1
    parameter int unsigned Classes = 8,            // >= 1; 0 is the highest
    parameter int unsigned MaxFrameBytes = 9600,   // frames of more beats than this takes are dropped, >= 1
    parameter int unsigned RoomCells = 512,        // beats of room for a source and class at an output, a power of two
    parameter bit          BackPressure = 1'b1,
    parameter int unsigned FifoDepth = 16,         // cells of the cell switch's FIFOs; see there
    parameter bit          Islip = 1'b0,           // cell switch: 0 pst_fabric, 1 pst_islip_switch
    parameter int unsigned Stages = 1,             // of pst_fabric
    parameter int unsigned Iterations = 1,         // of pst_islip_switch
    parameter int unsigned NumberWidth = BackPressure ? 1 : 16,  // bits of frame numbers; 2**NumberWidth frames lost in a row are not seen
    parameter string       RamStyle = "auto",      // of the room, as in pst_ram_1r1w
    localparam int unsigned PortWidth = $clog2(Ports),
    localparam int unsigned ClassWidth = Classes > 1 ? $clog2(Classes) : 1
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    // frames in, one stream per source; byte 0 is tdata[7:0], tkeep is full but on the last beat
    input  logic [Ports-1:0][8*DataBytes-1:0] s_axis_tdata_i,
    input  logic [Ports-1:0][DataBytes-1:0]   s_axis_tkeep_i,
    input  logic [Ports-1:0]                  s_axis_tlast_i,
    input  logic [Ports-1:0][Ports-1:0]       s_axis_tdest_i,   // first beat: a bit for each destination
    input  logic [Ports-1:0][ClassWidth:0]    s_axis_tuser_i,   // {class at the first beat, error at the last}
    input  logic [Ports-1:0]                  s_axis_tvalid_i,
    output logic [Ports-1:0]                  s_axis_tready_o,
    // frames out, one stream per destination
    output logic [Ports-1:0][8*DataBytes-1:0] m_axis_tdata_o,
    output logic [Ports-1:0][DataBytes-1:0]   m_axis_tkeep_o,
    output logic [Ports-1:0]                  m_axis_tlast_o,
    output logic [Ports-1:0][PortWidth-1:0]   m_axis_tid_o,     // source
    output logic [Ports-1:0][ClassWidth-1:0]  m_axis_tuser_o,   // class
    output logic [Ports-1:0]                  m_axis_tvalid_o,
    input  logic [Ports-1:0]                  m_axis_tready_i,
    // what was dropped in this cycle, by source
    output logic [Ports-1:0]                  ev_refused_o,     // a frame without a destination, or with a class that there is not
    // what was dropped in this cycle, by destination
    output logic [Ports-1:0][PortWidth:0]     ev_drop_count_o,  // cells that the cell switch dropped
    output logic [Ports-1:0][NumberWidth:0]   ev_lost_o,        // frames that lost a cell in the cell switch
    output logic [Ports-1:0]                  ev_no_room_o,     // a frame found no room
    output logic [Ports-1:0]                  ev_bad_o          // a frame had the error flag, or more beats than MaxFrameBytes takes
);

  // With BackPressure a frame must fit into its room.
  localparam int unsigned MaxCells = (MaxFrameBytes + DataBytes - 1) / DataBytes;

  if (BackPressure && RoomCells < MaxCells) begin : g_bad_room
    $error("pst_frame_switch: RoomCells is %0d, BackPressure needs at least the beats of a frame of MaxFrameBytes (%0d): %0d",
           RoomCells, MaxFrameBytes, MaxCells);
  end

  localparam int unsigned IndexWidth = MaxCells > 1 ? $clog2(MaxCells) : 1;
  localparam int unsigned HeaderWidth = PortWidth + ClassWidth + NumberWidth + IndexWidth + 2 + $clog2(DataBytes + 1);
  localparam int unsigned CellWidth = HeaderWidth + 8 * DataBytes;

  logic [Ports-1:0] in_valid, in_ready, out_valid, out_ready, credit_valid;
  logic [Ports-1:0][PortWidth-1:0] in_dest, credit_source;
  logic [Ports-1:0][ClassWidth-1:0] in_class, credit_class;
  logic [Ports-1:0][CellWidth-1:0] in_data, out_data;

  for (genvar i = 0; i < Ports; i++) begin : g_input
    logic [Ports-1:0] credit;
    always_comb for (int j = 0; j < Ports; j++) credit[j] = credit_valid[j] && credit_source[j] == PortWidth'(i);

    pst_frame_segment #(
        .Ports(Ports), .DataBytes(DataBytes), .Classes(Classes), .MaxCells(MaxCells), .NumberWidth(NumberWidth),
        .Credits(BackPressure ? RoomCells : 0)
    ) u_segment (
        .clk_i, .rst_i,
        .source_i(PortWidth'(i)),
        .s_axis_tdata_i(s_axis_tdata_i[i]), .s_axis_tkeep_i(s_axis_tkeep_i[i]), .s_axis_tlast_i(s_axis_tlast_i[i]),
        .s_axis_tdest_i(s_axis_tdest_i[i]), .s_axis_tuser_i(s_axis_tuser_i[i]),
        .s_axis_tvalid_i(s_axis_tvalid_i[i]), .s_axis_tready_o(s_axis_tready_o[i]),
        .m_cell_valid_o(in_valid[i]), .m_cell_ready_i(in_ready[i]), .m_cell_dest_o(in_dest[i]), .m_cell_class_o(in_class[i]),
        .m_cell_data_o(in_data[i]),
        .s_credit_valid_i(credit), .s_credit_class_i(credit_class),
        .ev_refused_o(ev_refused_o[i])
    );
  end

  if (Islip) begin : g_islip
    pst_islip_switch #(
        .Ports(Ports), .Width(CellWidth), .FifoDepth(FifoDepth), .Classes(Classes), .BackPressure(BackPressure), .Iterations(Iterations)
    ) u_switch (
        .clk_i, .rst_i,
        .s_cell_valid_i(in_valid), .s_cell_ready_o(in_ready), .s_cell_dest_i(in_dest), .s_cell_class_i(in_class), .s_cell_data_i(in_data),
        .m_cell_valid_o(out_valid), .m_cell_ready_i(out_ready), .m_cell_data_o(out_data),
        .ev_drop_count_o
    );
  end else begin : g_fabric
    pst_fabric #(
        .Ports(Ports), .Width(CellWidth), .Stages(Stages), .FifoDepth(FifoDepth), .Classes(Classes), .BackPressure(BackPressure)
    ) u_switch (
        .clk_i, .rst_i,
        .s_cell_valid_i(in_valid), .s_cell_ready_o(in_ready), .s_cell_dest_i(in_dest), .s_cell_class_i(in_class), .s_cell_data_i(in_data),
        .m_cell_valid_o(out_valid), .m_cell_ready_i(out_ready), .m_cell_data_o(out_data),
        .ev_drop_count_o
    );
  end

  for (genvar j = 0; j < Ports; j++) begin : g_output
    pst_frame_reassemble #(
        .Ports(Ports), .DataBytes(DataBytes), .Classes(Classes), .MaxCells(MaxCells), .NumberWidth(NumberWidth), .RoomCells(RoomCells),
        .RamStyle(RamStyle)
    ) u_reassemble (
        .clk_i, .rst_i,
        .s_cell_valid_i(out_valid[j]), .s_cell_ready_o(out_ready[j]), .s_cell_data_i(out_data[j]),
        .m_axis_tdata_o(m_axis_tdata_o[j]), .m_axis_tkeep_o(m_axis_tkeep_o[j]), .m_axis_tlast_o(m_axis_tlast_o[j]),
        .m_axis_tid_o(m_axis_tid_o[j]), .m_axis_tuser_o(m_axis_tuser_o[j]),
        .m_axis_tvalid_o(m_axis_tvalid_o[j]), .m_axis_tready_i(m_axis_tready_i[j]),
        .m_credit_valid_o(credit_valid[j]), .m_credit_source_o(credit_source[j]), .m_credit_class_o(credit_class[j]),
        .ev_lost_o(ev_lost_o[j]), .ev_no_room_o(ev_no_room_o[j]), .ev_bad_o(ev_bad_o[j])
    );
  end

`ifndef SYNTHESIS
  if (BackPressure) begin : g_lossless
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        a_back_pressure_loses_nothing : assert (ev_lost_o == '0 && ev_no_room_o == '0 && ev_drop_count_o == '0)
        else $error("a frame is lost in spite of back-pressure");
      end
    end
  end
`endif

endmodule
