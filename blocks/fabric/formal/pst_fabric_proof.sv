// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_fabric: nothing is lost, doubled or misrouted on the way to the FIFOs, and the FIFOs of an output are filled evenly.
//
// Always: as many cells as were accepted for an output come to its FIFOs one pipeline later (a_all_arrive), with as many ones in any bit of
// their payloads (a_payload; the pipeline only moves payloads, so what holds for one bit holds for all), and into the FIFOs whose turn it is
// (a_in_turn). As long as nothing was dropped at an output: its FIFOs differ by one cell at most (a_balance), the rotating arbiter looks at
// a FIFO with a cell when any has one (a_in_step), a cell is dropped only when all FIFOs of the output are full. That a FIFO keeps what it is given
// is proved in the stream block.
// The induction is deeper than the pipeline, so whatever is in the pipeline came in within the window.
module pst_fabric_proof #(
    parameter int unsigned Ports = 2,
    parameter int unsigned Stages = 1,
    parameter int unsigned FifoDepth = 2,
    parameter int unsigned Width = 1,
    localparam int unsigned PortWidth = $clog2(Ports)
) (
    input logic                            clk_i,
    input logic                            rst_i,
    input logic [Ports-1:0]                s_valid_i,
    input logic [Ports-1:0][PortWidth-1:0] s_dest_i,
    input logic [Ports-1:0][    Width-1:0] s_data_i,
    input logic [Ports-1:0]                m_ready_i
);

  localparam int unsigned Latency = pst_fabric_pkg::pipeline_cycles(Ports, Stages);
  localparam int unsigned LevelWidth = $clog2(FifoDepth + 1);
  localparam int unsigned SumWidth = $clog2(Ports * FifoDepth + 1);

  logic [Ports-1:0] m_valid;
  logic [Ports-1:0][Width-1:0] m_data;
  logic [Ports-1:0][PortWidth:0] drops;

  pst_fabric #(
      .Ports(Ports),
      .Width(Width),
      .Stages(Stages),
      .FifoDepth(FifoDepth),
      .Arbiter(1'b0)
  ) u_dut (
      .clk_i,
      .rst_i,
      .s_cell_valid_i (s_valid_i),
      .s_cell_ready_o (),
      .s_cell_dest_i  (s_dest_i),
      .s_cell_class_i ('0),
      .s_cell_data_i  (s_data_i),
      .m_cell_valid_o (m_valid),
      .m_cell_ready_i (m_ready_i),
      .m_cell_data_o  (m_data),
      .ev_drop_count_o(drops)
  );

  logic seen_q;
  initial seen_q = 1'b0;
  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    if (!seen_q) m_reset_first : assume (rst_i);
  end

  for (genvar d = 0; d < Ports; d++) begin : g_output
    // --- what must come to the FIFOs: the cells accepted for this output as many cycles ago as the pipeline is long

    logic [PortWidth:0] accepted, arriving, marked, marks;
    logic [PortWidth:0] wait_q[Latency], mark_q[Latency];
    always_comb begin
      accepted = '0;
      marked   = '0;
      for (int unsigned i = 0; i < Ports; i++) begin
        accepted += (PortWidth + 1)'(s_valid_i[i] && 32'(s_dest_i[i]) == d);
        marked   += (PortWidth + 1)'(s_valid_i[i] && 32'(s_dest_i[i]) == d && s_data_i[i][0]);
      end
    end
    always_ff @(posedge clk_i) begin
      wait_q[0] <= accepted;
      mark_q[0] <= marked;
      for (int unsigned s = 1; s < Latency; s++) begin
        wait_q[s] <= wait_q[s-1];
        mark_q[s] <= mark_q[s-1];
      end
      if (rst_i) begin
        for (int unsigned s = 0; s < Latency; s++) begin
          wait_q[s] <= '0;
          mark_q[s] <= '0;
        end
      end
    end
    assign arriving = wait_q[Latency-1];

    // --- the FIFO whose turn it is to be written, to be read, and the cells between

    logic [PortWidth-1:0] write_q, read_q;
    logic [SumWidth-1:0] sum_q;
    logic dropped_q, drop, pop;
    logic [Ports-1:0] written, ones;

    assign written = u_dut.g_output[d].u_output.g_class[0].u_group.s_valid_i;
    for (genvar q = 0; q < Ports; q++) begin : g_ones
      assign ones[q] = written[q] && u_dut.g_output[d].u_output.g_class[0].u_group.s_data_i[q][0];
    end
    assign marks   = mark_q[Latency-1];
    assign drop    = u_dut.g_output[d].u_output.g_class[0].u_group.dropped_o != '0;
    assign pop     = m_valid[d] && m_ready_i[d];

    always_ff @(posedge clk_i) begin
      write_q <= write_q + PortWidth'(arriving);
      if (pop) read_q <= read_q + 1'b1;
      sum_q <= sum_q + SumWidth'(arriving) - SumWidth'(pop);
      if (drop) dropped_q <= 1'b1;
      if (rst_i) begin
        write_q   <= '0;
        read_q    <= '0;
        sum_q     <= '0;
        dropped_q <= 1'b0;
      end
    end

    // Distance of FIFO q from the one that is read next; its level follows from it.
    logic [Ports-1:0][LevelWidth-1:0] level;
    assign level = u_dut.g_output[d].u_output.g_class[0].u_group.level;
    logic [Ports-1:0][SumWidth-1:0] expected;
    always_comb begin
      for (int unsigned q = 0; q < Ports; q++) begin
        expected[q] = sum_q >> PortWidth;
        if (PortWidth'(q - 32'(read_q)) < PortWidth'(sum_q)) expected[q]++;
      end
    end

    logic in_turn, levels, balance, flags;
    always_comb begin
      in_turn = 1'b1;
      levels  = 1'b1;
      balance = 1'b1;
      flags   = 1'b1;
      for (int unsigned q = 0; q < Ports; q++) begin
        if (written[q] && PortWidth'(q - 32'(write_q)) >= arriving[PortWidth-1:0] && !arriving[PortWidth]) in_turn = 1'b0;
        if (u_dut.g_output[d].u_output.g_class[0].u_group.waiting[q] != (level[q] != '0)) flags = 1'b0;
        if (32'(level[q]) > FifoDepth) flags = 1'b0;
        if (SumWidth'(level[q]) != expected[q]) levels = 1'b0;
        for (int unsigned p = 0; p < Ports; p++) if (32'(level[q]) > 32'(level[p]) + 1) balance = 1'b0;
      end
    end

    // The offset counter is ahead of the FIFOs by what is between.
    logic [PortWidth-1:0] ahead, counter;
    assign counter = u_dut.u_offsets.u_offsets.sum_q[d];

    always_ff @(posedge clk_i) begin
      if (seen_q && !rst_i) begin
        a_in_turn : assert (in_turn);
        a_all_arrive : assert ($countones(written) == 32'(arriving));
        a_payload : assert ($countones(ones) == 32'(marks));
        a_flags : assert (flags);
        a_counter : assert (counter == write_q + ahead);
        if (!dropped_q) begin
          a_level : assert (levels);
          a_balance : assert (balance);
          a_in_step : assert (m_valid[d] == (sum_q != '0));
          a_turn : assert (u_dut.g_output[d].u_output.g_class[0].u_group.g_rotating.u_arbiter.turn_q == read_q);
          a_write : assert (write_q == read_q + PortWidth'(sum_q));
          a_sum : assert (32'(sum_q) <= Ports * FifoDepth);
          if (drop) a_drops_only_when_all_are_full : assert (32'(sum_q) + 32'(arriving) - 32'(pop) > Ports * FifoDepth);
        end
        c_full : cover (32'(sum_q) == Ports * FifoDepth && !dropped_q);
      end
    end

    // Cells between the counter and the FIFOs: those that were counted, in the last stages of the wait.
    localparam int unsigned Behind = behind();
    always_comb begin
      ahead = '0;
      for (int unsigned s = Latency - Behind; s < Latency; s++) ahead += PortWidth'(wait_q[s]);
    end
  end

  // Registers of the pipeline from the offset counters on: how many batches are counted but not written.
  function automatic int unsigned behind();
    int unsigned n = 0;
    for (int unsigned i = pst_fabric_pkg::compulsory_stage(Ports); i < pst_fabric_pkg::total_stages(Ports); i++) begin
      if (((pst_fabric_pkg::registers(Ports, Stages) >> i) & 1) != 0) n++;
    end
    return n;
  endfunction

endmodule
