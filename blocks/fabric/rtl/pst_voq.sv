// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Virtual output queues of one input of a crossbar: a FIFO for each output and class, all in one RAM.
//
// One cell in and one out per cycle. A cell can be popped from the cycle after its push on; its data are there three cycles after the pop.
// Order: FIFO for each output and class. Reset empties all; words are not reset.
// A push to a full queue is ignored: the writer looks at s_full_o. The word of a pop counts until it has been read, a cycle after it.
module pst_voq #(
    parameter int unsigned Width = 64,     // bits of a cell, >= 1
    parameter int unsigned Outputs = 4,    // >= 2
    parameter int unsigned Classes = 1,    // >= 1
    parameter int unsigned Depth = 16,     // cells of each queue, >= 1; memory is taken for the next power of two
    parameter string       Style = "auto",  // RAM style, as in pst_ram_1r1w
    localparam int unsigned PortWidth = $clog2(Outputs),
    localparam int unsigned ClassWidth = Classes > 1 ? $clog2(Classes) : 1
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    // cell in
    input  logic                              s_valid_i,
    input  logic [PortWidth-1:0]              s_dest_i,
    input  logic [ClassWidth-1:0]             s_class_i,
    input  logic [Width-1:0]                  s_data_i,
    output logic                              s_full_o,       // the queue of s_dest_i and s_class_i is; an existing one, see below
    // [output][class]: a cell waits
    output logic [Outputs-1:0][Classes-1:0]   backlogged_o,
    // pop, one-hot or none; the queue is backlogged
    input  logic [Outputs-1:0]                pop_output_i,
    input  logic [Classes-1:0]                pop_class_i,
    // its data, three cycles later
    output logic [Width-1:0]                  m_data_o
);

  if (Outputs < 2 || Classes < 1 || Depth < 1 || Width < 1) begin : g_bad_size
    $error("pst_voq: Outputs is %0d, allowed: from 2; Classes (%0d), Depth (%0d) and Width (%0d): from 1", Outputs, Classes, Depth, Width);
  end

  localparam int unsigned Queues = Outputs * Classes;
  localparam int unsigned IdWidth = $clog2(Queues);
  localparam int unsigned AddrWidth = Depth > 1 ? $clog2(Depth) : 1;
  localparam int unsigned CountWidth = $clog2(Depth + 1);

  typedef logic [AddrWidth-1:0] addr_t;
  typedef logic [CountWidth-1:0] count_t;

  addr_t [Queues-1:0] write_q, read_q;
  count_t [Queues-1:0] count_q;      // cells that can be popped
  logic [Queues-1:0] backlogged_q;   // there are some; a register of its own, for a match begins here
  logic [Queues-1:0] full, push, pop, pop_q;
  logic [IdWidth-1:0] push_id, pop_id;
  logic read;

  function automatic addr_t next_of(addr_t addr);
    return addr == addr_t'(Depth - 1) ? '0 : addr + 1'b1;
  endfunction

  assign push_id  = IdWidth'(s_dest_i) * IdWidth'(Classes) + (Classes > 1 ? IdWidth'(s_class_i) : '0);
  assign s_full_o = full[push_id];

  always_comb begin
    pop_id = '0;
    for (int o = 0; o < Outputs; o++) begin
      for (int c = 0; c < Classes; c++) begin
        backlogged_o[o][c] = backlogged_q[o*Classes+c];
        pop[o*Classes+c]   = pop_output_i[o] && pop_class_i[c];
      end
    end
    for (int q = 0; q < Queues; q++) begin
      // What was popped in the cycle before is read in this one; until then it must not be written over.
      full[q] = count_q[q] == count_t'(Depth) || (pop_q[q] && count_q[q] == count_t'(Depth - 1));
      push[q] = s_valid_i && push_id == IdWidth'(q) && !full[q];
      if (pop_q[q]) pop_id |= IdWidth'(q);
    end
    read = pop_q != '0;
  end

  always_ff @(posedge clk_i) begin
    pop_q <= pop;
    for (int q = 0; q < Queues; q++) begin
      if (push[q]) write_q[q] <= next_of(write_q[q]);
      if (pop_q[q]) read_q[q] <= next_of(read_q[q]);
      count_q[q] <= count_q[q] + count_t'(push[q]) - count_t'(pop[q]);
      backlogged_q[q] <= push[q] || count_q[q] > count_t'(1) || (backlogged_q[q] && !pop[q]);
    end
    if (rst_i) begin
      pop_q        <= '0;
      write_q      <= '0;
      read_q       <= '0;
      count_q      <= '0;
      backlogged_q <= '0;
    end
  end

  pst_ram_1r1w #(
      .Width(Width), .Depth(Queues * 2 ** $clog2(Depth)), .ReadLatency(2), .Style(Style)
  ) u_cells (
      .clk_i,
      .we_i   (push != '0),
      .waddr_i(word(push_id, write_q[push_id])),
      .wdata_i(s_data_i),
      .re_i   (read),
      .raddr_i(word(pop_id, read_q[pop_id])),
      .rdata_o(m_data_o)
  );

  // Address of a word of a queue; with Depth = 1 the queue's number alone.
  localparam int unsigned WordWidth = $clog2(Queues) + $clog2(Depth);
  function automatic logic [WordWidth-1:0] word(logic [IdWidth-1:0] id, addr_t addr);
    return WordWidth'({id, addr} >> (AddrWidth - $clog2(Depth)));
  endfunction

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int q = 0; q < Queues; q++) begin
        a_backlog_flag : assert (backlogged_q[q] == (count_q[q] != '0)) else $error("queue %0d does not tell whether it has cells", q);
        a_cells_fit : assert (count_q[q] <= count_t'(Depth)) else $error("queue %0d has too many cells", q);
        a_pop_finds_a_cell : assert (!(pop[q] && count_q[q] == '0)) else $error("pop of queue %0d, which is empty", q);
      end
    end
  end
`endif

endmodule
