// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Input side of the frame switch: cuts frames into cells, one a beat, and sends each cell to every destination of its frame.
//
// A cell is a header and one beat. The header numbers the frames of each {destination, class} and the cells of a frame, so that pst_frame_reassemble
// sees whatever is missing. A frame with k destinations takes k cycles for each beat, lowest port first, and nothing else does.
//
// With Credits a cell goes only when its destination has room for it (one credit a cell, returned when the cell leaves the switch); the input
// waits until then. Without, cells go as fast as the fabric takes them. A frame of more than MaxCells beats is cut off there: its last cell
// carries the error flag, and the output forgets it all.
// Latency 1 cycle. Rate: one cell per cycle. Order: as frames came. Reset loses what is inside.
module pst_frame_segment #(
    parameter int unsigned Ports = 4,         // destinations, >= 2
    parameter int unsigned DataBytes = 32,    // of a beat, >= 1
    parameter int unsigned Classes = 8,       // >= 1; 0 is the highest
    parameter int unsigned MaxCells = 300,    // beats of the longest frame, >= 1
    parameter int unsigned NumberWidth = 16,  // bits of frame numbers, >= 1
    parameter int unsigned Credits = 512,     // cells of room for this source at each destination and class, >= MaxCells; 0: not counted
    localparam int unsigned PortWidth = $clog2(Ports),
    localparam int unsigned ClassWidth = Classes > 1 ? $clog2(Classes) : 1,
    localparam int unsigned IndexWidth = MaxCells > 1 ? $clog2(MaxCells) : 1,
    localparam int unsigned BytesWidth = $clog2(DataBytes + 1),
    localparam int unsigned CellWidth = PortWidth + ClassWidth + NumberWidth + IndexWidth + 2 + BytesWidth + 8 * DataBytes
) (
    input  logic                             clk_i,
    input  logic                             rst_i,
    input  logic [PortWidth-1:0]             source_i,          // this input's number, a constant
    // frames in
    input  logic [8*DataBytes-1:0]           s_axis_tdata_i,
    input  logic [DataBytes-1:0]             s_axis_tkeep_i,    // a 0 below a 1, or before the last beat: an error
    input  logic                             s_axis_tlast_i,
    input  logic [Ports-1:0]                 s_axis_tdest_i,    // first beat: a bit for each destination
    input  logic [ClassWidth:0]              s_axis_tuser_i,    // {class, which counts at the first beat; error, which counts at the last}
    input  logic                             s_axis_tvalid_i,
    output logic                             s_axis_tready_o,
    // cells out
    output logic                             m_cell_valid_o,
    input  logic                             m_cell_ready_i,
    output logic [PortWidth-1:0]             m_cell_dest_o,
    output logic [ClassWidth-1:0]            m_cell_class_o,
    output logic [CellWidth-1:0]             m_cell_data_o,
    // credits back: one cell of this source has left, by destination
    input  logic [Ports-1:0]                 s_credit_valid_i,
    input  logic [Ports-1:0][ClassWidth-1:0] s_credit_class_i,
    // a frame was thrown away whole: no destination, or no such class
    output logic                             ev_refused_o
);

  if (Ports < 2 || DataBytes < 1 || Classes < 1 || MaxCells < 1 || NumberWidth < 1) begin : g_bad_size
    $error("pst_frame_segment: Ports is %0d, allowed: from 2; DataBytes (%0d), Classes (%0d), MaxCells (%0d), NumberWidth (%0d): from 1",
           Ports, DataBytes, Classes, MaxCells, NumberWidth);
  end
  if (Credits != 0 && Credits < MaxCells) begin : g_bad_credits
    $error("pst_frame_segment: Credits is %0d, must be 0 or at least MaxCells (%0d), or a long frame waits for ever", Credits, MaxCells);
  end

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [NumberWidth-1:0] number_t;
  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    logic [PortWidth-1:0]  source;
    class_t                cls;
    number_t               number;   // of the frame among those of its source, destination and class
    index_t                index;    // of the cell in its frame
    logic                  last;
    logic                  error;    // with last: the frame is to be forgotten
    logic [BytesWidth-1:0] bytes;
  } header_t;                        // the same in pst_frame_reassemble

  typedef struct packed {
    logic [8*DataBytes-1:0] data;
    logic [BytesWidth-1:0]  bytes;
    logic                   last;
    logic                   error;
    class_t                 cls;
    logic [Ports-1:0]       dest;
  } beat_t;

  // --- a register in front, which cuts ready as well

  beat_t s_beat, beat;
  logic beat_valid, beat_done;
  logic hole, holes_q;    // a 0 in tkeep below a 1, or before the last beat; a beat of this frame had one before

  always_comb begin
    hole = !s_axis_tlast_i && !s_axis_tkeep_i[DataBytes-1];
    for (int b = 0; b + 1 < DataBytes; b++) if (!s_axis_tkeep_i[b] && s_axis_tkeep_i[b+1]) hole = 1'b1;
    s_beat = '{data: s_axis_tdata_i, bytes: '0, last: s_axis_tlast_i, error: s_axis_tuser_i[0] || hole || holes_q,
               cls: s_axis_tuser_i[ClassWidth:1], dest: s_axis_tdest_i};
    for (int b = 0; b < DataBytes; b++) if (s_axis_tkeep_i[b]) s_beat.bytes = BytesWidth'(b + 1);
  end

  pst_skid_buffer #(
      .Width($bits(beat_t))
  ) u_input (
      .clk_i, .rst_i,
      .s_valid_i(s_axis_tvalid_i), .s_ready_o(s_axis_tready_o), .s_data_i(s_beat),
      .m_valid_o(beat_valid), .m_ready_i(beat_done), .m_data_o(beat)
  );

  always_ff @(posedge clk_i) begin
    if (s_axis_tvalid_i && s_axis_tready_o) holes_q <= !s_axis_tlast_i && (hole || holes_q);
    if (rst_i) holes_q <= 1'b0;
  end

  // --- the frame under way

  logic first_q;                     // the next beat begins a frame
  logic swallow_q;                   // the rest of this frame is thrown away
  logic copied_q;                    // some copies of this beat are sent, left_q are not
  logic [Ports-1:0] dest_q, left_q;
  class_t class_q;
  index_t index_q;

  logic refuse, swallow, cut, last, error, sent;
  logic [Ports-1:0] dest, todo, chosen, left;
  logic [PortWidth-1:0] port;
  class_t cls;
  number_t number;
  logic credit;
  header_t header;

  always_comb begin
    dest    = first_q ? beat.dest : dest_q;
    cls     = Classes == 1 ? '0 : first_q ? beat.cls : class_q;
    refuse  = first_q && (dest == '0 || 32'(cls) >= Classes);
    swallow = swallow_q || refuse;
    cut     = index_q == index_t'(MaxCells - 1) && !beat.last;
    last    = beat.last || cut;
    error   = cut || (beat.last && beat.error);

    todo   = copied_q ? left_q : dest;
    chosen = todo & (~todo + 1'b1);
    left   = todo & ~chosen;
    port   = '0;
    for (int p = 0; p < Ports; p++) if (chosen[p]) port |= PortWidth'(p);

    header = '{source: source_i, cls: cls, number: number, index: index_q, last: last, error: error, bytes: beat.bytes};
    m_cell_valid_o = beat_valid && !swallow && credit;
    m_cell_dest_o  = port;
    m_cell_class_o = cls;
    m_cell_data_o  = {header, beat.data};
    sent           = m_cell_valid_o && m_cell_ready_i;
    beat_done      = swallow || (sent && left == '0);
    ev_refused_o   = beat_valid && refuse;
  end

  always_ff @(posedge clk_i) begin
    if (sent) left_q <= left;
    if (sent) copied_q <= left != '0;
    if (beat_valid && beat_done) begin
      first_q   <= beat.last;
      swallow_q <= !beat.last && (swallow || cut);
      index_q   <= beat.last || cut ? '0 : index_q + 1'b1;
      dest_q    <= dest;
      class_q   <= cls;
    end
    if (rst_i) begin
      first_q   <= 1'b1;
      swallow_q <= 1'b0;
      copied_q  <= 1'b0;
      index_q   <= '0;
    end
  end

  // --- frame numbers and credits, by destination and class

  number_t [Ports-1:0][Classes-1:0] number_q;

  assign number = number_q[port][cls];

  always_ff @(posedge clk_i) begin
    if (sent && last) number_q[port][cls] <= number + 1'b1;
    if (rst_i) number_q <= '0;
  end

  if (Credits == 0) begin : g_no_credits
    assign credit = 1'b1;
    logic unused;
    assign unused = &{1'b0, s_credit_valid_i, s_credit_class_i};
  end else begin : g_credits
    typedef logic [$clog2(Credits + 1)-1:0] credit_t;
    credit_t [Ports-1:0][Classes-1:0] credit_q;

    assign credit = credit_q[port][cls] != '0;

    // A frame that ends with an error gives back at once what its cells took: its last cell clears them away at the output before any later
    // cell of this source and class gets there.
    always_ff @(posedge clk_i) begin
      for (int p = 0; p < Ports; p++) begin
        for (int c = 0; c < Classes; c++) begin
          automatic credit_t change = credit_t'(s_credit_valid_i[p] && s_credit_class_i[p] == class_t'(c));
          if (sent && chosen[p] && cls == class_t'(c)) change += last && error ? credit_t'(index_q) : '1;
          credit_q[p][c] <= credit_q[p][c] + change;
        end
      end
      if (rst_i) credit_q <= {Ports * Classes{credit_t'(Credits)}};
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        for (int p = 0; p < Ports; p++) begin
          for (int c = 0; c < Classes; c++) a_credits_in_range : assert (credit_q[p][c] <= credit_t'(Credits))
            else $error("too many credits came back");
        end
      end
    end
`endif
  end

endmodule
