// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_share_write. By induction: a port that offers a burst waits for at most one burst of each other port, and every response
// has its burst. Bounded (Follow = 1): at the memory addresses and data are of the same bursts in the same order, no burst is cut by another
// one, each port's bursts come as they were offered, and each response goes to the port whose burst it is for.
module pst_share_write_proof #(
    parameter int unsigned Ports  = 3,
    parameter bit          Follow = 1'b0
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic [Ports-1:0]      awvalid_i,
    input logic [Ports-1:0]      wvalid_i,
    input logic [Ports-1:0]      wlast_i,
    input logic                  awready_i,
    input logic                  wready_i,
    input logic                  bvalid_i
);

  localparam int unsigned MaxOutstanding = 3;
  localparam int unsigned PortWidth = $clog2(Ports);
  localparam int unsigned Most = 4;  // bursts that are followed

  // A word says of which port and which burst it is.
  typedef struct packed {
    logic [3-PortWidth:0] number;
    logic [PortWidth-1:0] port;
  } word_t;

  logic [Ports-1:0] awready, wready, bvalid;
  word_t [Ports-1:0] address, data;
  logic [Ports-1:0][7:0] wide;
  logic m_awvalid, m_wvalid, m_wlast, bready;
  word_t m_address;
  logic [7:0] m_data;
  pst_axi_pkg::write_req_t [Ports-1:0] req;
  pst_axi_pkg::write_rsp_t [Ports-1:0] rsp;
  pst_axi_pkg::write_req_t m_req;

  pst_share_write #(
      .Ports(Ports),
      .AddrWidth(4),
      .MaxOutstanding(MaxOutstanding)
  ) u_dut (
      .clk_i,
      .rst_i,
      .s_axi_write_i(req),
      .s_axi_write_o(rsp),
      .m_axi_write_o(m_req),
      .m_axi_write_i('{awready: awready_i, wready: wready_i, bvalid: bvalid_i, bresp: 2'b00})
  );

  for (genvar p = 0; p < int'(Ports); p++) begin : g_port
    assign req[p] = '{
        awvalid: awvalid_i[p], awaddr: address[p], awlen: '0, wvalid: wvalid_i[p], wdata: wide[p], wstrb: '1, wlast: wlast_i[p],
        bready: 1'b1
    };
    assign awready[p] = rsp[p].awready;
    assign wready[p]  = rsp[p].wready;
    assign bvalid[p]  = rsp[p].bvalid;
  end

  assign m_awvalid = m_req.awvalid;
  assign m_address = m_req.awaddr;
  assign m_wvalid  = m_req.wvalid;
  assign m_data    = m_req.wdata;
  assign m_wlast   = m_req.wlast;
  assign bready    = m_req.bready;

  logic seen_q;
  initial seen_q = 1'b0;
  always_ff @(posedge clk_i) seen_q <= 1'b1;

  // ---- What the ports and the memory may do ----
  logic [Ports-1:0] awheld_q, wheld_q, lastheld_q;
  logic [Ports-1:0][3-PortWidth:0] awcount_q, wcount_q;
  logic [3:0] addresses_q, bursts_q, responses_q;  // at the memory

  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      address[p] = {awcount_q[p], PortWidth'(p)};
      data[p]    = {wcount_q[p], PortWidth'(p)};
      wide[p]    = 8'(data[p]);
    end
  end

  always_ff @(posedge clk_i) begin
    awheld_q   <= awvalid_i & ~awready;
    wheld_q    <= wvalid_i & ~wready;
    lastheld_q <= wlast_i;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (awvalid_i[p] && awready[p]) awcount_q[p] <= awcount_q[p] + 1'b1;
      if (wvalid_i[p] && wready[p] && wlast_i[p]) wcount_q[p] <= wcount_q[p] + 1'b1;
    end
    if (m_awvalid && awready_i) addresses_q <= addresses_q + 1'b1;
    if (m_wvalid && wready_i && m_wlast) bursts_q <= bursts_q + 1'b1;
    if (bvalid_i && bready) responses_q <= responses_q + 1'b1;
    if (rst_i) begin
      awheld_q    <= '0;
      wheld_q     <= '0;
      awcount_q   <= '0;
      wcount_q    <= '0;
      addresses_q <= '0;
      bursts_q    <= '0;
      responses_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!seen_q) m_reset_first : assume (rst_i);
    if (seen_q && !rst_i) begin
      m_held : assume ((awheld_q & ~awvalid_i) == '0 && (wheld_q & ~wvalid_i) == '0 && ((wlast_i ^ lastheld_q) & wheld_q) == '0);
      // A memory answers what it has the address and all data of.
      if (bvalid_i) m_answer : assume (responses_q != addresses_q && responses_q != bursts_q);
    end
  end

  // ---- Turns: how many bursts of others were taken since a port has offered one ----
  logic [Ports-1:0][3:0] waited_q, ahead;
  logic [Ports-1:0] offers;
  assign offers = awvalid_i & wvalid_i;

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
      // A port inside its own burst does not offer one yet: the address that stands there is the next burst's, the data is not.
      if (!offers[p] || u_dut.owner_q[p] || awready[p]) waited_q[p] <= '0;
      else if (awready != '0) waited_q[p] <= waited_q[p] + 1'b1;
    end
    if (rst_i) waited_q <= '0;
    if (seen_q && !rst_i) begin
      a_one_owner : assert ($onehot0(u_dut.owner_q));
      for (int unsigned p = 0; p < Ports; p++) begin
        if (p + 1 < Ports) a_later_is_a_tail : assert (!u_dut.later_q[p] || u_dut.later_q[p+1]);
        a_turn : assert (32'(waited_q[p]) + 32'(ahead[p]) <= Ports - 1 || waited_q[p] == '0);
        a_waits_for_each_once : assert (32'(waited_q[p]) <= Ports - 1);
      end
      a_room : assert (32'(u_dut.u_order.level_q) <= MaxOutstanding);
      c_all_under_way : cover (32'(u_dut.u_order.level_q) == MaxOutstanding);
      c_second_turn : cover (responses_q == 4'd4);
    end
  end

  // ---- What arrives at the memory ----
  if (Follow) begin : g_follow
    word_t [Most-1:0] taken_q;  // the bursts in the order in which they were taken
    logic [3:0] count_q;
    logic inside_q;

    always_ff @(posedge clk_i) begin
      for (int unsigned p = 0; p < Ports; p++) begin
        if (awvalid_i[p] && awready[p] && count_q < 4'(Most)) begin
          taken_q[count_q[1:0]] <= address[p];
          count_q               <= count_q + 1'b1;
        end
      end
      if (m_wvalid && wready_i) inside_q <= !m_wlast;
      if (rst_i) begin
        count_q  <= '0;
        inside_q <= 1'b0;
      end
      if (seen_q && !rst_i && count_q != 4'(Most)) begin
        if (m_awvalid) a_address : assert (addresses_q < count_q && m_address == taken_q[addresses_q[1:0]]);
        if (m_wvalid) a_data : assert (bursts_q < count_q && m_data == 8'(taken_q[bursts_q[1:0]]));
        if (bvalid != '0) begin
          a_responses : assert (responses_q < count_q && bvalid == Ports'(1) << taken_q[responses_q[1:0]].port);
        end
        if (bvalid_i) a_answered : assert (bready && bvalid != '0);
        c_long_burst : cover (inside_q && m_wvalid && m_wlast && bursts_q == 4'd2);
      end
    end
  end

endmodule
