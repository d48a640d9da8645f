// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Brings the pages that several modules free to the one free port of the page pools: port 0 first, the others taking turns.
//
// Latency:    1 cycle.
// Throughput: one page per cycle in all, which is enough: pages are not taken faster. Port 0 never waits for another port, so the module
//             behind it, which sends frames, is never held up. The others wait for as long as it gives back a page in each cycle.
module pst_free_merge #(
    parameter int unsigned Ports = 2,   // >= 1
    parameter int unsigned Width = 16   // bits of a descriptor
) (
    input  logic                        clk_i,
    input  logic                        rst_i,
    input  logic [Ports-1:0]            s_free_valid_i,
    output logic [Ports-1:0]            s_free_ready_o,
    input  logic [Ports-1:0][Width-1:0] s_free_desc_i,
    output logic                        m_free_valid_o,
    input  logic                        m_free_ready_i,
    output logic [Width-1:0]            m_free_desc_o
);

  logic [Ports-1:0] later_d, later_q;   // ports behind the one of the others that was served last
  logic [Ports-1:0] turn, winner;
  logic valid_q, ready;
  logic [Width-1:0] desc_d, desc_q;

  always_comb begin
    turn    = (s_free_valid_i & later_q) != '0 ? s_free_valid_i & later_q : s_free_valid_i;
    winner  = s_free_valid_i[0] ? Ports'(1) : turn & (~turn + 1'b1);
    ready   = !valid_q || m_free_ready_i;
    desc_d  = '0;
    later_d = later_q;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (winner[p]) desc_d |= s_free_desc_i[p];
      if (winner[p] && ready && p != 0) for (int unsigned k = 0; k < Ports; k++) later_d[k] = k > p;
    end
  end

  assign s_free_ready_o = ready ? winner : '0;
  assign m_free_valid_o = valid_q;
  assign m_free_desc_o  = desc_q;

  always_ff @(posedge clk_i) begin
    if (ready) begin
      valid_q <= |winner;
      desc_q  <= desc_d;
    end
    later_q <= later_d;
    if (rst_i) begin
      valid_q <= 1'b0;
      later_q <= '0;
    end
  end

`ifndef SYNTHESIS
  logic waits_q;
  logic [Width-1:0] waiting_q;
  always_ff @(posedge clk_i) begin
    waits_q   <= m_free_valid_o && !m_free_ready_i && !rst_i;
    waiting_q <= m_free_desc_o;
    if (!rst_i) begin
      a_one_is_served : assert ($onehot0(s_free_ready_o) && (s_free_ready_o & ~s_free_valid_i) == '0);
      if (waits_q) a_descriptor_waits : assert (m_free_valid_o && m_free_desc_o == waiting_q);
    end
  end
`endif

endmodule
