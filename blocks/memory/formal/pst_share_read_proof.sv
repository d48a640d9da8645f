// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_share_read. By induction: a port that asks waits for at most one burst of each other port. Bounded (Follow = 1): each
// port's bursts reach the memory as they were offered, and data goes to the port whose burst it is for, none lost or doubled.
module pst_share_read_proof #(
    parameter int unsigned Ports  = 3,
    parameter bit          Follow = 1'b0
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic [Ports-1:0] arvalid_i,
    input logic             arready_i,
    input logic             rvalid_i,
    input logic             rlast_i
);

  localparam int unsigned MaxOutstanding = 3;
  localparam int unsigned PortWidth = $clog2(Ports);
  localparam int unsigned Most = 4;  // bursts that are followed

  // A word says of which port and which burst it is.
  typedef struct packed {
    logic [3-PortWidth:0] number;
    logic [PortWidth-1:0] port;
  } word_t;

  logic [Ports-1:0] arready, rvalid;
  word_t [Ports-1:0] address;
  word_t m_address, answer, data;
  logic m_arvalid, rready, last;
  pst_axi_pkg::read_req_t [Ports-1:0] req;
  pst_axi_pkg::read_rsp_t [Ports-1:0] rsp;
  pst_axi_pkg::read_req_t m_req;

  pst_share_read #(
      .Ports(Ports),
      .AddrWidth(4),
      .MaxOutstanding(MaxOutstanding)
  ) u_dut (
      .clk_i,
      .rst_i,
      .s_axi_read_i(req),
      .s_axi_read_o(rsp),
      .m_axi_read_o(m_req),
      .m_axi_read_i('{arready: arready_i, rvalid: rvalid_i, rdata: 8'(answer), rresp: 2'b00, rlast: rlast_i})
  );

  for (genvar p = 0; p < int'(Ports); p++) begin : g_port
    assign req[p]     = '{arvalid: arvalid_i[p], araddr: address[p], arlen: '0, rready: 1'b1};
    assign arready[p] = rsp[p].arready;
    assign rvalid[p]  = rsp[p].rvalid;
  end

  assign m_arvalid = m_req.arvalid;
  assign m_address = m_req.araddr;
  assign rready    = m_req.rready;
  assign data      = 4'(rsp[0].rdata);    // the same at every port
  assign last      = rsp[0].rlast;

  logic seen_q;
  initial seen_q = 1'b0;
  always_ff @(posedge clk_i) seen_q <= 1'b1;

  // ---- What the ports and the memory may do ----
  logic [Ports-1:0] held_q;
  logic rheld_q, rlast_q;
  logic [Ports-1:0][3-PortWidth:0] number_q;
  logic [3:0] addresses_q, bursts_q;  // at the memory; answered by it
  word_t [Most-1:0] asked_q;          // at the memory, in order

  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) address[p] = {number_q[p], PortWidth'(p)};
  end
  assign answer = asked_q[bursts_q[1:0]];

  always_ff @(posedge clk_i) begin
    held_q  <= arvalid_i & ~arready;
    rheld_q <= rvalid_i && !rready;
    rlast_q <= rlast_i;
    for (int unsigned p = 0; p < Ports; p++) if (arvalid_i[p] && arready[p]) number_q[p] <= number_q[p] + 1'b1;
    if (m_arvalid && arready_i) begin
      asked_q[addresses_q[1:0]] <= m_address;
      addresses_q               <= addresses_q + 1'b1;
    end
    if (rvalid_i && rready && rlast_i) bursts_q <= bursts_q + 1'b1;
    if (rst_i) begin
      held_q      <= '0;
      rheld_q     <= 1'b0;
      number_q    <= '0;
      addresses_q <= '0;
      bursts_q    <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      m_held : assume ((held_q & ~arvalid_i) == '0 && (!rheld_q || (rvalid_i && rlast_i == rlast_q)));
      // A memory answers what it has been asked.
      if (rvalid_i) m_answer : assume (bursts_q != addresses_q);
    end
  end

  // ---- Turns: how many bursts of others were taken since a port has offered one ----
  logic [Ports-1:0][3:0] waited_q, ahead;

  // Ports that are before p in turn.
  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      ahead[p] = '0;
      for (int unsigned k = 0; k < Ports; k++) begin
        if (k != p && (u_dut.later_q[k] == u_dut.later_q[p] ? k < p : u_dut.later_q[k])) ahead[p] += 4'd1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Ports; p++) begin
      if (!arvalid_i[p] || arready[p]) waited_q[p] <= '0;
      else if (arready != '0) waited_q[p] <= waited_q[p] + 1'b1;
    end
    if (rst_i) waited_q <= '0;
    if (seen_q && !rst_i) begin
      for (int unsigned p = 0; p < Ports; p++) begin
        if (p + 1 < Ports) a_later_is_a_tail : assert (!u_dut.later_q[p] || u_dut.later_q[p+1]);
        a_turn : assert (32'(waited_q[p]) + 32'(ahead[p]) <= Ports - 1 || waited_q[p] == '0);
        a_waits_for_each_once : assert (32'(waited_q[p]) <= Ports - 1);
      end
      a_room : assert (32'(u_dut.u_order.level_q) <= MaxOutstanding);
      c_all_under_way : cover (32'(u_dut.u_order.level_q) == MaxOutstanding);
      c_second_turn : cover (bursts_q == 4'd3);
    end
  end

  // ---- What arrives at the memory, and at the ports ----
  if (Follow) begin : g_follow
    word_t [Most-1:0] taken_q;  // the bursts in the order in which they were taken
    logic [3:0] count_q, given_q;
    logic inside_q;

    always_ff @(posedge clk_i) begin
      for (int unsigned p = 0; p < Ports; p++) begin
        if (arvalid_i[p] && arready[p] && count_q < 4'(Most)) begin
          taken_q[count_q[1:0]] <= address[p];
          count_q               <= count_q + 1'b1;
        end
      end
      if (rvalid != '0) begin
        inside_q <= !last;
        given_q  <= given_q + 4'(last);
      end
      if (rst_i) begin
        count_q  <= '0;
        given_q  <= '0;
        inside_q <= 1'b0;
      end
      if (seen_q && !rst_i && count_q != 4'(Most)) begin
        if (m_arvalid) a_address : assert (addresses_q < count_q && m_address == taken_q[addresses_q[1:0]]);
        if (rvalid != '0) begin
          a_data : assert (given_q < count_q && data == taken_q[given_q[1:0]] && rvalid == Ports'(1) << data.port);
        end
        a_taken : assert (rready);
        c_long_burst : cover (inside_q && rvalid != '0 && last && given_q == 4'd2);
      end
    end
  end

endmodule
