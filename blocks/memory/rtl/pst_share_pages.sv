// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Lets several rx handlers share one set of page pools, the ports taking turns.
//
// Latency:    request 1 cycle, grant 1. Throughput: one page per cycle in all.
// Ordering:   each port's grants in the order of its requests. A port that does not take its grants holds up no other: it has at most `Depth`
//             requests under way, and so many places for grants.
// Reset:      forgets what is under way; pools and handlers have to be reset with it.
module pst_share_pages #(
    parameter int unsigned Ports     = 2,   // >= 1
    parameter int unsigned Memories  = 1,   // 1..32
    parameter int unsigned DescWidth = 16,  // bits of a descriptor
    parameter int unsigned Depth     = 4    // grants of each port under way, >= 1; the rate of a port alone needs 4
) (
    input  logic                           clk_i,
    input  logic                           rst_i,
    // requests: frame length, memories that may give a page
    input  logic [Ports-1:0]               s_req_valid_i,
    output logic [Ports-1:0]               s_req_ready_o,
    input  pst_pkg::len_t [Ports-1:0]      s_req_len_i,
    input  logic [Ports-1:0][Memories-1:0] s_req_memories_i,
    // grants
    output logic [Ports-1:0]               m_gnt_valid_o,
    input  logic [Ports-1:0]               m_gnt_ready_i,
    output logic [Ports-1:0]               m_gnt_ok_o,
    output logic [Ports-1:0][DescWidth-1:0] m_gnt_desc_o,
    // to the pools, and from them; s_gnt_ready_o is always high
    output logic                           m_req_valid_o,
    input  logic                           m_req_ready_i,
    output pst_pkg::len_t                  m_req_len_o,
    output logic [Memories-1:0]            m_req_memories_o,
    input  logic                           s_gnt_valid_i,
    output logic                           s_gnt_ready_o,
    input  logic                           s_gnt_ok_i,
    input  logic [DescWidth-1:0]           s_gnt_desc_i
);

  if (Ports < 1 || Depth < 1) begin : g_bad_size
    $error("pst_share_pages: Ports (%0d) and Depth (%0d) must be at least 1", Ports, Depth);
  end

  localparam int unsigned CountWidth = $clog2(Depth + 1);

  typedef struct packed {
    pst_pkg::len_t       len;
    logic [Memories-1:0] memories;
  } request_t;

  logic [Ports-1:0] later_d, later_q;  // ports behind the one served last
  logic [Ports-1:0] offered, turn, winner, receiver, grant_room;
  logic [Ports-1:0][CountWidth-1:0] under_way_q;  // requests without a grant that the port has taken
  logic start, request_ready, order_ready, order_valid;
  request_t request;

  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) offered[p] = s_req_valid_i[p] && under_way_q[p] != CountWidth'(Depth);
    turn    = (offered & later_q) != '0 ? offered & later_q : offered;
    winner  = turn & (~turn + 1'b1);
    start   = winner != '0 && request_ready && order_ready;
    request = '0;
    later_d = later_q;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (winner[p]) request |= {s_req_len_i[p], s_req_memories_i[p]};
      if (winner[p] && start) for (int unsigned k = 0; k < Ports; k++) later_d[k] = k > p;
    end
  end

  assign s_req_ready_o = start ? winner : '0;

  pst_fifo #(
      .Width($bits(request_t)),
      .Depth(2)
  ) u_request (
      .clk_i,
      .rst_i,
      .s_valid_i(start),
      .s_ready_o(request_ready),
      .s_data_i(request),
      .m_valid_o(m_req_valid_o),
      .m_ready_i(m_req_ready_i),
      .m_data_o({m_req_len_o, m_req_memories_o}),
      .level_o()
  );

  // Whose grant is next. Two requests wait in front of the pools, one grant at their output, so it is never full for long.
  pst_fifo #(
      .Width(Ports),
      .Depth(4)
  ) u_order (
      .clk_i,
      .rst_i,
      .s_valid_i(start),
      .s_ready_o(order_ready),
      .s_data_i(winner),
      .m_valid_o(order_valid),
      .m_ready_i(s_gnt_valid_i),
      .m_data_o(receiver),
      .level_o()
  );

  assign s_gnt_ready_o = 1'b1;

  for (genvar p = 0; p < int'(Ports); p++) begin : g_port
    pst_fifo #(
        .Width(1 + DescWidth),
        .Depth(Depth)
    ) u_grant (
        .clk_i,
        .rst_i,
        .s_valid_i(s_gnt_valid_i && order_valid && receiver[p]),
        .s_ready_o(grant_room[p]),
        .s_data_i({s_gnt_ok_i, s_gnt_desc_i}),
        .m_valid_o(m_gnt_valid_o[p]),
        .m_ready_i(m_gnt_ready_i[p]),
        .m_data_o({m_gnt_ok_o[p], m_gnt_desc_o[p]}),
        .level_o()
    );

    always_ff @(posedge clk_i) begin
      under_way_q[p] <= under_way_q[p] + CountWidth'(start && winner[p]) - CountWidth'(m_gnt_valid_o[p] && m_gnt_ready_i[p]);
      if (rst_i) under_way_q[p] <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    later_q <= later_d;
    if (rst_i) later_q <= '0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && s_gnt_valid_i) begin
      a_grant_has_a_request : assert (order_valid) else $error("pst_share_pages: a grant without a request");
      a_grant_has_room : assert ((receiver & ~grant_room) == '0) else $error("pst_share_pages: a grant is lost");
    end
  end
`endif

endmodule
