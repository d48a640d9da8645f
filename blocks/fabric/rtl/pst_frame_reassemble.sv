// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Output side of the frame switch: puts frames together from cells that come mixed, by source and class, and sends them whole.
//
// A frame leaves when its last cell is there, never before, so the output never waits inside a frame. The highest class goes first (0), within a
// class the sources take turns frame by frame. Frames of one source and class leave in the order in which they were sent.
// A frame that misses a cell, finds no room or carries the error flag is forgotten as a whole, and counted once, with one of three reasons.
//
// Cells are always taken. Rate: one cell per cycle in and one beat per cycle out, frames of one beat included.
// Latency 5 cycles from the last cell to the first beat. Room: RoomCells for each source and class, in one RAM. Reset loses everything.
module pst_frame_reassemble #(
    parameter int unsigned Ports = 4,         // sources, >= 2
    parameter int unsigned DataBytes = 32,    // of a beat, >= 1
    parameter int unsigned Classes = 8,       // >= 1; 0 is the highest
    parameter int unsigned MaxCells = 300,    // of the longest frame, >= 1, as in pst_frame_segment
    parameter int unsigned NumberWidth = 16,  // as in pst_frame_segment
    parameter int unsigned RoomCells = 512,   // for each source and class, a power of two >= 2; longer frames never pass
    parameter string       RamStyle = "auto",  // as in pst_ram_1r1w
    localparam int unsigned PortWidth = $clog2(Ports),
    localparam int unsigned ClassWidth = Classes > 1 ? $clog2(Classes) : 1,
    localparam int unsigned IndexWidth = MaxCells > 1 ? $clog2(MaxCells) : 1,
    localparam int unsigned BytesWidth = $clog2(DataBytes + 1),
    localparam int unsigned CellWidth = PortWidth + ClassWidth + NumberWidth + IndexWidth + 2 + BytesWidth + 8 * DataBytes
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // cells in
    input  logic                   s_cell_valid_i,
    output logic                   s_cell_ready_o,    // always
    input  logic [CellWidth-1:0]   s_cell_data_i,
    // frames out
    output logic [8*DataBytes-1:0] m_axis_tdata_o,
    output logic [DataBytes-1:0]   m_axis_tkeep_o,
    output logic                   m_axis_tlast_o,
    output logic [PortWidth-1:0]   m_axis_tid_o,      // source
    output logic [ClassWidth-1:0]  m_axis_tuser_o,    // class
    output logic                   m_axis_tvalid_o,
    input  logic                   m_axis_tready_i,
    // a cell has left its room
    output logic                   m_credit_valid_o,
    output logic [PortWidth-1:0]   m_credit_source_o,
    output logic [ClassWidth-1:0]  m_credit_class_o,
    // frames that were forgotten: how many lost cells on the way here, whether one found no room, whether one had the error flag
    output logic [NumberWidth:0]   ev_lost_o,
    output logic                   ev_no_room_o,
    output logic                   ev_bad_o
);

  localparam int unsigned Flows = Ports * Classes;
  localparam int unsigned FlowWidth = $clog2(Flows);
  localparam int unsigned AddrWidth = $clog2(RoomCells);

  if (Ports < 2 || DataBytes < 1 || Classes < 1 || MaxCells < 1 || NumberWidth < 1) begin : g_bad_size
    $error("pst_frame_reassemble: Ports is %0d, allowed: from 2; DataBytes (%0d), Classes (%0d), MaxCells (%0d), NumberWidth (%0d): from 1",
           Ports, DataBytes, Classes, MaxCells, NumberWidth);
  end
  if (RoomCells < 2 || RoomCells != 2 ** AddrWidth) begin : g_bad_room
    $error("pst_frame_reassemble: RoomCells is %0d, must be a power of two and at least 2", RoomCells);
  end

  typedef logic [PortWidth-1:0] port_t;
  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [NumberWidth-1:0] number_t;
  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [FlowWidth-1:0] flow_t;     // source * Classes + class
  typedef logic [AddrWidth:0] ptr_t;        // one bit more than an address: differences are exact

  typedef struct packed {
    port_t                 source;
    class_t                cls;
    number_t               number;
    index_t                index;
    logic                  last;
    logic                  error;
    logic [BytesWidth-1:0] bytes;
  } header_t;                               // the same in pst_frame_segment

  typedef struct packed {
    logic [BytesWidth-1:0]  bytes;
    logic [8*DataBytes-1:0] data;
  } word_t;

  function automatic flow_t flow_of(port_t source, class_t cls);
    return Classes == 1 ? flow_t'(source) : flow_t'(source) * flow_t'(Classes) + flow_t'(cls);
  endfunction

  // --- a register in front

  logic cell_valid_q;
  header_t header_q;
  logic [8*DataBytes-1:0] data_q;

  assign s_cell_ready_o = 1'b1;

  always_ff @(posedge clk_i) begin
    cell_valid_q       <= s_cell_valid_i;
    {header_q, data_q} <= s_cell_data_i;
    if (rst_i) cell_valid_q <= 1'b0;
  end

  // --- write side: where each flow stands

  ptr_t [Flows-1:0] write_q, commit_q, read_q;
  number_t [Flows-1:0] number_q;            // of the last frame of which something came
  index_t [Flows-1:0] index_q;              // of the cell that comes next in it
  logic [Flows-1:0] open_q;                 // it is under way; otherwise its fate is counted and its cells are ignored

  flow_t flow;
  logic same, in_turn, room, forget, take, commit;
  ptr_t base;

  always_comb begin
    flow    = flow_of(header_q.source, header_q.cls);
    same    = header_q.number == number_q[flow];
    base    = same ? write_q[flow] : commit_q[flow];  // a new frame takes the place of an old one that has lost its end
    room    = base - read_q[flow] != ptr_t'(RoomCells);
    in_turn = same ? open_q[flow] && header_q.index == index_q[flow] : header_q.index == '0;
    forget  = header_q.last && header_q.error;
    take    = cell_valid_q && in_turn && room && !forget;
    commit  = take && header_q.last;
  end

  always_ff @(posedge clk_i) begin
    if (cell_valid_q) begin
      number_q[flow] <= header_q.number;
      index_q[flow]  <= header_q.index + 1'b1;
      open_q[flow]   <= take && !header_q.last;
      write_q[flow]  <= take ? base + 1'b1 : commit_q[flow];
      if (commit) commit_q[flow] <= base + 1'b1;
    end
    if (rst_i) begin
      number_q <= '1;
      open_q   <= '0;
      write_q  <= '0;
      commit_q <= '0;
    end
  end

  // Frames whose fate this cell decides: those that never came and the one that it cuts off, and its own.
  always_ff @(posedge clk_i) begin
    ev_lost_o    <= '0;
    ev_no_room_o <= cell_valid_q && in_turn && !room && !forget;
    ev_bad_o     <= cell_valid_q && in_turn && forget;
    if (cell_valid_q && !same) begin
      ev_lost_o <= (NumberWidth + 1)'(number_t'(header_q.number - number_q[flow] - 1'b1)) + (NumberWidth + 1)'(open_q[flow])
          + (NumberWidth + 1)'(!in_turn);
    end else if (cell_valid_q && open_q[flow] && !in_turn) begin
      ev_lost_o <= (NumberWidth + 1)'(1);
    end
    if (rst_i) begin
      ev_lost_o    <= '0;
      ev_no_room_o <= 1'b0;
      ev_bad_o     <= 1'b0;
    end
  end

  // --- read side: which frame is next; chosen anew in every cycle until it is taken

  ptr_t [Flows-1:0] frames_q;               // complete ones
  logic [Flows-1:0] has_frame;
  logic [Classes-1:0][Ports-1:0] turn_q;    // ports from the one whose turn it is; none is the same as all
  logic next_valid_d, next_valid_q, start;
  port_t next_source_d, next_source_q;
  class_t next_class_d, next_class_q;
  flow_t next_flow_q;

  always_comb begin
    automatic logic [Ports-1:0] waiting = '0;
    automatic logic [Ports-1:0] turn = '0;
    automatic logic [Ports-1:0] candidates;
    for (int f = 0; f < Flows; f++) has_frame[f] = frames_q[f] > ptr_t'(start && next_flow_q == flow_t'(f));
    next_valid_d = has_frame != '0;
    next_class_d = '0;
    for (int c = Classes - 1; c >= 0; c--) begin
      automatic logic [Ports-1:0] of_class = '0;
      for (int s = 0; s < Ports; s++) of_class[s] = has_frame[s*Classes+c];
      if (of_class != '0) begin
        waiting      = of_class;
        next_class_d = class_t'(c);
        turn         = start && next_class_q == class_t'(c) ? beyond(next_source_q) : turn_q[c];
      end
    end
    candidates    = (waiting & turn) != '0 ? waiting & turn : waiting;
    next_source_d = '0;
    for (int s = Ports - 1; s >= 0; s--) if (candidates[s]) next_source_d = port_t'(s);
  end

  function automatic logic [Ports-1:0] beyond(port_t source);
    for (int p = 0; p < Ports; p++) beyond[p] = p > int'(source);
  endfunction

  // --- RAM -> its read register (fetched) -> output register; each stage moves when the next one is free or moves

  word_t fetched, out_q;
  logic fetched_q, fetched_last, ongoing, read, advance, out_valid_q, out_last_q;
  port_t read_source, fetched_source_q, out_source_q;
  class_t read_class, fetched_class_q, out_class_q;
  flow_t read_flow, fetched_flow_q;
  ptr_t read_ptr, follow_q;                 // follow_q: of the cell behind the fetched one

  always_comb begin
    ongoing      = fetched_q && !fetched_last;
    advance     = fetched_q && (!out_valid_q || m_axis_tready_i);
    read        = (ongoing || next_valid_q) && (!fetched_q || advance);
    start       = read && !ongoing;
    read_source = ongoing ? fetched_source_q : next_source_q;
    read_class  = ongoing ? fetched_class_q : next_class_q;
    read_flow   = ongoing ? fetched_flow_q : next_flow_q;
    read_ptr    = ongoing ? follow_q : read_q[next_flow_q];
  end

  always_ff @(posedge clk_i) begin
    next_valid_q  <= next_valid_d;
    next_source_q <= next_source_d;
    next_class_q  <= next_class_d;
    next_flow_q   <= flow_of(next_source_d, next_class_d);
    for (int f = 0; f < Flows; f++) begin
      frames_q[f] <= frames_q[f] + ptr_t'(commit && flow == flow_t'(f)) - ptr_t'(start && next_flow_q == flow_t'(f));
    end
    if (start) turn_q[next_class_q] <= beyond(next_source_q);
    if (read) begin
      read_q[read_flow] <= read_ptr + 1'b1;
      follow_q          <= read_ptr + 1'b1;
      fetched_source_q  <= read_source;
      fetched_class_q   <= read_class;
      fetched_flow_q    <= read_flow;
    end
    fetched_q   <= read || (fetched_q && !advance);
    out_valid_q <= advance || (out_valid_q && !m_axis_tready_i);
    if (advance) begin
      out_q        <= fetched;
      out_last_q   <= fetched_last;
      out_source_q <= fetched_source_q;
      out_class_q  <= fetched_class_q;
    end
    m_credit_valid_o  <= read;
    m_credit_source_o <= read_source;
    m_credit_class_o  <= read_class;
    if (rst_i) begin
      next_valid_q     <= 1'b0;
      frames_q         <= '0;
      turn_q           <= '0;
      read_q           <= '0;
      fetched_q        <= 1'b0;
      out_valid_q      <= 1'b0;
      m_credit_valid_o <= 1'b0;
    end
  end

  localparam int unsigned Depth = Flows * RoomCells;
  typedef logic [$clog2(Depth)-1:0] addr_t;

  // A cell is read when its frame is complete, a cycle after it was written at the earliest.
  pst_ram_1r1w #(
      .Width($bits(word_t)), .Depth(Depth), .Style(RamStyle)
  ) u_cells (
      .clk_i,
      .we_i(take), .waddr_i(addr_t'({flow, base[AddrWidth-1:0]})), .wdata_i({header_q.bytes, data_q}),
      .re_i(read), .raddr_i(addr_t'({read_flow, read_ptr[AddrWidth-1:0]})), .rdata_o(fetched)
  );

  // Where a frame ends decides in the next cycle what is read then, so this bit comes from a RAM with a fast read register.
  pst_ram_1r1w #(
      .Width(1), .Depth(Depth), .Style("distributed")
  ) u_lasts (
      .clk_i,
      .we_i(take), .waddr_i(addr_t'({flow, base[AddrWidth-1:0]})), .wdata_i(header_q.last),
      .re_i(read), .raddr_i(addr_t'({read_flow, read_ptr[AddrWidth-1:0]})), .rdata_o(fetched_last)
  );

  assign m_axis_tvalid_o = out_valid_q;
  assign m_axis_tdata_o  = out_q.data;
  assign m_axis_tlast_o  = out_last_q;
  assign m_axis_tid_o    = out_source_q;
  assign m_axis_tuser_o  = out_class_q;
  always_comb for (int b = 0; b < DataBytes; b++) m_axis_tkeep_o[b] = 32'(out_q.bytes) > b;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int f = 0; f < Flows; f++) begin
        a_cells_fit_the_room : assert (write_q[f] - read_q[f] <= ptr_t'(RoomCells)) else $error("flow %0d has more cells than room", f);
        a_frames_have_cells : assert (commit_q[f] - read_q[f] >= frames_q[f]) else $error("flow %0d has more frames than cells", f);
      end
      if (next_valid_q) a_next_has_a_frame : assert (frames_q[next_flow_q] != '0)
        else $error("flow %0d is next without a frame", next_flow_q);
    end
  end
`endif

endmodule
