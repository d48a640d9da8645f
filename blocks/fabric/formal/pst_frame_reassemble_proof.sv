// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_frame_reassemble: whatever cells are lost, no torso comes out, frames of one source leave in order, each once, and every
// frame that was let in whole comes out.
//
// The bench is the sources: each sends frames of any length, cell by cell, and the solver loses any of them. A cell's data say what it is: the true
// number of its frame (wider than the header's), its index, whether it is the last, and how many frames of its source were complete before.
// The output is judged by these data alone. It is allowed that fewer than 2**NumberWidth frames in a row are lost.
// The inductive invariant says what the room of each source holds: whole frames in order, then the beginning of the one under way.
module pst_frame_reassemble_proof #(
    localparam int unsigned Ports = 2,
    localparam int unsigned DataBytes = 2,
    localparam int unsigned MaxCells = 3,
    localparam int unsigned NumberWidth = 2,
    localparam int unsigned RoomCells = 4,
    localparam int unsigned CellWidth = 1 + 1 + NumberWidth + 2 + 2 + 2 + 8 * DataBytes
) (
    input logic clk_i,
    input logic rst_i,
    input logic send_i,
    input logic lose_i,
    input logic source_i,
    input logic last_i,
    input logic error_i,
    input logic ready_i
);

  typedef struct packed {
    logic [3:0] number;
    logic [1:0] index;
    logic       last;
    logic [2:0] prior;     // frames of this source that were complete before it
  } data_t;

  typedef struct packed {
    logic                   source;
    logic                   cls;
    logic [NumberWidth-1:0] number;
    logic [1:0]             index;
    logic                   last;
    logic                   error;
    logic [1:0]             bytes;
    logic [5:0]             none;
    data_t                  data;
  } cell_t;

  // --- sources

  logic [1:0][3:0] number_q;
  logic [1:0][1:0] index_q;
  logic [1:0][NumberWidth-1:0] since_q;   // frames begun after the one of the last cell that arrived
  logic [1:0][3:0] arrived_q;             // its number
  logic [1:0][2:0] complete_q;            // frames that the module has kept whole
  logic [1:0][2:0] complete;              // with that of this cycle
  cell_t s_cell;
  logic arrives, last;

  assign last    = last_i || index_q[source_i] == 2'(MaxCells - 1);
  assign arrives = send_i && !lose_i;

  always_comb begin
    complete = complete_q;
    if (u_dut.commit) complete[u_dut.flow] += 1'b1;
    s_cell = '{source: source_i, cls: 1'b0, number: number_q[source_i][NumberWidth-1:0], index: index_q[source_i], last: last,
               error: error_i, bytes: 2'd2, none: '0,
               data: '{number: number_q[source_i], index: index_q[source_i], last: last, prior: complete[source_i]}};
  end

  always_ff @(posedge clk_i) begin
    complete_q <= complete;
    if (send_i) begin
      index_q[source_i] <= last ? '0 : index_q[source_i] + 1'b1;
      if (last) number_q[source_i] <= number_q[source_i] + 1'b1;
      since_q[source_i] <= (lose_i ? since_q[source_i] : '0) + NumberWidth'(last);
      if (!lose_i) arrived_q[source_i] <= number_q[source_i];
      m_bounded_loss : assume (!(lose_i && last && since_q[source_i] == '1));
    end
    if (rst_i) begin
      number_q   <= '0;
      index_q    <= '0;
      since_q    <= {2{NumberWidth'(1)}};
      arrived_q  <= '1;
      complete_q <= '0;
    end
  end

  // --- the module

  logic [8*DataBytes-1:0] m_data;
  logic m_valid, m_last, m_source, s_ready;
  data_t m_cell;

  pst_frame_reassemble #(
      .Ports(Ports),
      .DataBytes(DataBytes),
      .Classes(1),
      .MaxCells(MaxCells),
      .NumberWidth(NumberWidth),
      .RoomCells(RoomCells)
  ) u_dut (
      .clk_i,
      .rst_i,
      .s_cell_valid_i(arrives),
      .s_cell_ready_o(s_ready),
      .s_cell_data_i(CellWidth'(s_cell)),
      .m_axis_tdata_o(m_data),
      .m_axis_tkeep_o(),
      .m_axis_tlast_o(m_last),
      .m_axis_tid_o(m_source),
      .m_axis_tuser_o(),
      .m_axis_tvalid_o(m_valid),
      .m_axis_tready_i(ready_i),
      .m_credit_valid_o(),
      .m_credit_source_o(),
      .m_credit_class_o(),
      .ev_lost_o(),
      .ev_no_room_o(),
      .ev_bad_o()
  );

  assign m_cell = data_t'(m_data);

  // --- the output: what came last, and how many frames of each source are out

  logic within_q, source_q;
  data_t before_q;
  logic [1:0][2:0] out_q;

  always_ff @(posedge clk_i) begin
    if (m_valid && ready_i) begin
      within_q <= !m_last;
      source_q <= m_source;
      before_q <= m_cell;
      if (m_last) out_q[m_source] <= out_q[m_source] + 1'b1;
    end
    if (rst_i) begin
      within_q <= 1'b0;
      out_q    <= '0;
    end
  end

  // What may follow a cell of a frame of `source`, or the end of one.
  function automatic logic follows(logic partway, logic was_source, data_t was, logic source, data_t now, logic [2:0] frames);
    if (partway) return source == was_source && now.number == was.number && now.index == was.index + 1'b1 && now.prior == frames;
    return now.index == '0 && now.prior == frames;
  endfunction

  logic seen_q;
  initial seen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      // what a user relies on
      a_ready : assert (s_ready);
      if (m_valid) a_no_torso : assert (follows(within_q, source_q, before_q, m_source, m_cell, out_q[m_source]) && m_last == m_cell.last);
      c_two : cover (m_valid && ready_i && m_last && out_q[0] == 3'd1 && out_q[1] != '0 && m_cell.index == 2'd2);
      c_after_loss : cover (m_valid && m_cell.number == 4'd3 && out_q[m_source] == 3'd1);
    end
  end

  // --- what the induction needs: the same along the whole way, from the output backwards

  // The chain of each source: after the output register comes the fetched word, after it the room.
  data_t looked_cell;                            // in the module's first register
  assign looked_cell = data_t'(u_dut.data_q);

  logic out_within, fetched_within, out_source, fetched_source;
  data_t out_cell, fetched_cell;
  logic [1:0][2:0] out_frames, fetched_frames;   // frames that are out when the register, and the fetched word, have left

  always_comb begin
    out_within = within_q;
    out_source = source_q;
    out_cell   = before_q;
    out_frames = out_q;
    if (m_valid) begin
      out_within = !m_cell.last;
      out_source = m_source;
      out_cell   = m_cell;
      if (m_cell.last) out_frames[m_source] += 1'b1;
    end
    fetched_within = out_within;
    fetched_source = out_source;
    fetched_cell   = out_cell;
    fetched_frames = out_frames;
    if (u_dut.fetched_q) begin
      fetched_source = u_dut.fetched_source_q;
      fetched_cell   = data_t'(u_dut.fetched.data);
      fetched_within = !fetched_cell.last;
      if (fetched_cell.last) fetched_frames[fetched_source] += 1'b1;
    end
  end

  for (genvar f = 0; f < 2; f++) begin : g_flow
    data_t [RoomCells-1:0] stored;             // from the oldest on
    logic [2:0] used, committed, under_way;
    logic [RoomCells-1:0] first_of_frame;
    logic [2:0] whole;                         // frames whose first cell is still in the room
    logic mid;                                 // the room begins inside a frame

    always_comb begin
      used      = u_dut.write_q[f] - u_dut.read_q[f];
      committed = u_dut.commit_q[f] - u_dut.read_q[f];
      under_way = u_dut.write_q[f] - u_dut.commit_q[f];
      mid       = fetched_within && fetched_source == 1'(f);
      whole     = '0;
      for (int k = 0; k < RoomCells; k++) begin
        automatic logic [1:0] at = u_dut.read_q[f][1:0] + 2'(k);
        stored[k]         = data_t'(u_dut.u_cells.mem[{1'(f), at}][$bits(data_t)-1:0]);
        first_of_frame[k] = stored[k].index == '0;
        if (3'(k) < committed && first_of_frame[k]) whole += 1'b1;
      end
    end

    // The last cell that the module has looked at, or has in its first register.
    logic here;
    logic [3:0] looked_number;
    assign here = u_dut.cell_valid_q && u_dut.header_q.source == 1'(f);
    // Its true number: what is in the register carries it; before that, the bench remembers what arrived.
    logic [3:0] looked_q;
    always_ff @(posedge clk_i) begin
      if (here) looked_q <= looked_number;
      if (rst_i) looked_q <= '1;
    end
    assign looked_number = here ? looked_cell.number : looked_q;

    always_ff @(posedge clk_i) begin
      if (seen_q && !rst_i) begin
        a_room : assert (used <= 3'(RoomCells) && committed <= used);
        // the frame under way
        a_open : assert (u_dut.open_q[f] == (under_way != '0));
        if (u_dut.open_q[f]) a_next_index : assert (3'(u_dut.index_q[f]) == under_way && under_way < 3'(MaxCells));
        a_number : assert (u_dut.number_q[f] == looked_q[NumberWidth-1:0]);
        // numbers of source and module belong together
        a_arrived : assert (looked_number == arrived_q[f]);
        a_sent : assert (number_q[f] == arrived_q[f] + 4'(since_q[f]));
        if (since_q[f] == '0) a_index_of_the_first : assert (index_q[f] != '0);
        if (here) begin
          a_header_number : assert (u_dut.header_q.number == looked_cell.number[NumberWidth-1:0]
              && u_dut.header_q.index == looked_cell.index);
          a_header_last : assert (u_dut.header_q.last == looked_cell.last && looked_cell.prior == complete_q[f]
              && u_dut.header_q.bytes == 2'd2);
          a_header_near : assert (4'(looked_cell.number - looked_q) < 4'd4);
          a_header_in_range : assert (u_dut.header_q.cls == 1'b0 && u_dut.header_q.index < 2'(MaxCells));
          a_header_ends : assert (u_dut.header_q.last || u_dut.header_q.index < 2'(MaxCells - 1));
          if (!u_dut.header_q.last && since_q[f] == '0) a_header_before_the_next : assert (index_q[f] > u_dut.header_q.index);
        end
        a_index_in_range : assert (index_q[f] < 2'(MaxCells));
        // cells in the room
        for (int k = 0; k < RoomCells; k++) begin
          automatic logic [1:0] at = u_dut.read_q[f][1:0] + 2'(k);
          if (3'(k) < used) begin
            a_stored_last : assert (u_dut.u_lasts.mem[{1'(f), at}] == stored[k].last);
            a_stored_in_range : assert (stored[k].index < 2'(MaxCells));
            if (k == 0) a_follows_the_fetched : assert (follows(mid, 1'(f), fetched_cell, 1'(f), stored[0], fetched_frames[f]));
            else a_follows_the_stored : assert (follows(!stored[k-1].last, 1'(f), stored[k-1], 1'(f), stored[k],
                stored[k-1].prior + 3'(stored[k-1].last)));
            if (3'(k) >= committed) begin
              a_uncommitted_of_the_frame : assert (!stored[k].last && stored[k].number == looked_q && stored[k].prior == complete_q[f]);
              a_uncommitted_index : assert (3'(stored[k].index) == 3'(k) - committed);
            end
            if (3'(k) + 3'd1 == committed) a_committed_ends_a_frame : assert (stored[k].last && stored[k].prior + 3'd1 == complete_q[f]);
          end
        end
        if (committed == '0) a_empty_is_complete : assert (fetched_frames[f] == complete_q[f] && !mid);
        a_whole_frames : assert (3'(u_dut.frames_q[f]) == whole);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      if (u_dut.fetched_q) begin
        a_fetched_last : assert (u_dut.fetched_last == fetched_cell.last && u_dut.fetched_flow_q == u_dut.fetched_source_q);
        a_fetched_follows : assert (follows(out_within, out_source, out_cell, u_dut.fetched_source_q, fetched_cell,
            out_frames[u_dut.fetched_source_q]));
        a_fetched_next : assert (u_dut.follow_q == u_dut.read_q[u_dut.fetched_source_q]);
        a_fetched_in_range : assert (fetched_cell.index < 2'(MaxCells));
      end else begin
        a_inside_a_frame_is_a_next_word : assert (!out_within);   // inside a frame there is always a next word
      end
      if (m_valid) a_out_in_range : assert (m_cell.index < 2'(MaxCells));
      if (u_dut.next_valid_q) a_next_has_a_frame : assert (u_dut.frames_q[u_dut.next_flow_q] != '0);
      a_next_is_of_its_source : assert (u_dut.next_flow_q == u_dut.next_source_q || !u_dut.next_valid_q);
    end
  end

endmodule
