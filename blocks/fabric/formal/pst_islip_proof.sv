// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_islip: whatever asks and wherever the pointers are, what comes out is a matching of requests, no request of a higher class
// is passed over at its port, and with Ports iterations no request is left between two free ports (a maximal matching). A request for ever is
// served: with one iteration and one class, a queue that stays backlogged is served within Ports^2 + (Ports - 1)^2 cycles (McKeown 1999: an output
// stays with an input until that accepts, so no connection starves).
module pst_islip_proof #(
    parameter int unsigned Ports = 4,
    parameter int unsigned Classes = 2,
    parameter int unsigned Iterations = 1,
    parameter bit Maximal = 1'b0,      // prove that too: Iterations = Ports
    parameter int unsigned Served = 0  // a request that stays is served within so many cycles; 0: not proved
) (
    input logic clk_i,
    input logic rst_i,
    input logic [Ports-1:0][Ports-1:0][Classes-1:0] request_i
);

  logic [Ports-1:0][Ports-1:0] match;
  logic [Ports-1:0][Classes-1:0] level;

  pst_islip #(
      .Ports(Ports),
      .Classes(Classes),
      .Iterations(Iterations)
  ) u_dut (
      .clk_i,
      .rst_i,
      .request_i,
      .match_o(match),
      .class_o(level)
  );

  logic [Ports-1:0] input_used, output_used;
  always_comb begin
    output_used = '0;
    for (int i = 0; i < Ports; i++) begin
      input_used[i] = match[i] != '0;
      output_used |= match[i];
    end
  end

  logic seen_q;
  initial seen_q = 1'b0;

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    if (!seen_q) m_reset_first : assume (rst_i);
    for (int i = 0; i < Ports; i++) begin
      a_one_output : assert ((match[i] & (match[i] - 1'b1)) == '0);
      a_one_level : assert ((level[i] & (level[i] - 1'b1)) == '0 && (level[i] == '0) == (match[i] == '0));
      for (int j = 0; j < Ports; j++) begin
        if (match[i][j]) begin
          // the highest class of this queue, so one that asks
          a_highest_class : assert (level[i] == (request_i[i][j] & (~request_i[i][j] + 1'b1)) && level[i] != '0);
          for (int k = 0; k < Ports; k++) if (k != i) a_output_once : assert (!match[k][j]);
        end
        if (Maximal && request_i[i][j] != '0) a_maximal : assert (input_used[i] || output_used[j]);
      end
    end
    // what the induction needs: a pointer is a mask of ports from one upwards
    for (int i = 0; i < Ports; i++) begin
      for (int c = 0; c < Classes; c++) begin
        if (seen_q) a_grant_pointer : assert (((u_dut.grant_mask_q[i][c] << 1) & ~u_dut.grant_mask_q[i][c]) == '0);
        if (seen_q) a_accept_pointer : assert (((u_dut.accept_mask_q[i][c] << 1) & ~u_dut.accept_mask_q[i][c]) == '0);
      end
    end
    // One iteration is enough that work is done at all.
    a_some_work : assert ((match != '0) == (request_i != '0));
    c_perfect : cover (seen_q && !rst_i && output_used == '1);
  end

  // --- no request starves. Queues ask until they are served; with requests that come and go unserved there is no bound at all.

  if (Served > 0) begin : g_served
    logic [$clog2(Served+1)-1:0] waited_q;
    logic [Ports-1:0][Ports-1:0] left_q;
    initial left_q = '0;

    always_ff @(posedge clk_i) begin
      left_q <= request_i & ~match;
      if (rst_i) left_q <= '0;
      m_queues : assume ((left_q & ~request_i) == '0);
      waited_q <= request_i[0][0][0] && !match[0][0] ? waited_q + 1'b1 : '0;
      if (rst_i) waited_q <= '0;
      if (seen_q && !rst_i) a_served : assert (32'(waited_q) < Served);
      c_waits : cover (seen_q && waited_q > 2);
    end
  end

endmodule
