// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What became of the frames of one direction, from its three clocks into one stream of clk_i for the counters; and the state of its PHY.
//
// The state of the PHY is sent every 64 cycles of its clock; when none has come for 4,096 cycles of clk_i, the clock is taken to be missing.
// The clocks may be one and the same.
// Nothing is lost: frames end so far apart that no store here is full, if s_ready of the stream is low for some cycles at most.
//
// Latency:  some 8 cycles. One frame per cycle. The order of frames of different pulses is not kept. Reset forgets what is on its way.
module pst_bridge_tally
  import pst_pkg::len_t;
  import pst_bridge_pkg::count_t, pst_bridge_pkg::phy_t, pst_bridge_pkg::link_t;
  import pst_bridge_values_pkg::*;
#(
    parameter int unsigned Bytes = 1,    // to the transmitter per cycle, a power of two
    localparam int unsigned CountWidth = Bytes > 1 ? $clog2(Bytes) : 1
) (
    // clock of the PHY, and what it says of itself
    input  logic        phy_clk_i,
    input  logic        phy_rst_i,
    input  phy_t        phy_i,
    // clock of the receiver: pulses of pst_bridge_receive
    input  logic        rx_clk_i,
    input  logic        rx_rst_i,
    input  logic        kept_i,
    input  logic        damaged_i,
    input  logic        short_i,
    input  logic        long_i,
    input  logic        no_room_i,
    input  logic        control_i,
    input  logic [11:0] len_i,
    // clock of the transmitter: what it takes
    input  logic        tx_clk_i,
    input  logic        tx_rst_i,
    input  logic        sent_i,         // a word
    input  logic        sent_last_i,    // it is a frame's last one
    input  logic [CountWidth-1:0] sent_count_i,    // its bytes less one, 0 if Bytes is 1
    // clock of the queues: pulses of pst_bridge_queues
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        no_cell_i,
    input  logic        overflow_i,
    input  logic        codel_i,
    input  len_t        no_cell_len_i,
    input  len_t        overflow_len_i,
    input  len_t        codel_len_i,
    // frames for the counters, the link
    output logic        m_count_valid_o,
    input  logic        m_count_ready_i,
    output count_t      m_count_o,
    output link_t       link_o
);

  localparam int unsigned Sources = 5;    // receiver, transmitter, and three of the queues

  logic [Sources-1:0] valid, ready;
  count_t [Sources-1:0] count;

  // --- clock of the PHY

  logic [5:0] phy_wait_q;
  logic phy_due_q, phy_ready, phy_valid;
  phy_t phy_q, phy;

  always_ff @(posedge phy_clk_i) begin
    phy_q      <= phy_i;
    phy_wait_q <= phy_wait_q + 6'd1;
    if (phy_wait_q == '1) phy_due_q <= 1'b1;
    else if (phy_ready) phy_due_q <= 1'b0;
    if (phy_rst_i) begin
      phy_wait_q <= '0;
      phy_due_q  <= 1'b0;
    end
  end

  pst_async_fifo #(
      .Width($bits(phy_t)), .Depth(4)
  ) u_phy (
      .s_clk_i(phy_clk_i), .s_rst_i(phy_rst_i), .s_valid_i(phy_due_q), .s_ready_o(phy_ready), .s_data_i(phy_q),
      .m_clk_i(clk_i), .m_rst_i(rst_i), .m_valid_o(phy_valid), .m_ready_i(1'b1), .m_data_o(phy)
  );

  // --- clock of the receiver

  count_t received;
  logic ended, rx_ready;

  assign ended = kept_i || damaged_i || short_i || long_i || no_room_i;

  always_comb begin
    received = '{counter: CounterIn, len: len_t'(len_i)};
    if (kept_i && control_i) received.counter = CounterControl;
    if (damaged_i) received.counter = CounterBadFrame;
    if (short_i) received.counter = CounterRunt;
    if (long_i) received.counter = CounterOversize;
    if (no_room_i) received.counter = CounterNoRoom;
  end

  pst_async_fifo #(
      .Width($bits(count_t)), .Depth(16)
  ) u_received (
      .s_clk_i(rx_clk_i), .s_rst_i(rx_rst_i), .s_valid_i(ended), .s_ready_o(rx_ready), .s_data_i(received),
      .m_clk_i(clk_i), .m_rst_i(rst_i), .m_valid_o(valid[0]), .m_ready_i(ready[0]), .m_data_o(count[0])
  );

  // --- clock of the transmitter

  len_t sent_q, sent_d, tx_len_q;    // bytes of a frame so far; all of them
  logic tx_ready, tx_end_q;

  assign sent_d = sent_q + len_t'(sent_count_i) + len_t'(1);

  always_ff @(posedge tx_clk_i) begin
    tx_end_q <= sent_i && sent_last_i;
    tx_len_q <= sent_d;
    if (sent_i) sent_q <= sent_last_i ? '0 : sent_d;
    if (tx_rst_i) begin
      sent_q   <= '0;
      tx_end_q <= 1'b0;
    end
  end

  pst_async_fifo #(
      .Width($bits(len_t)), .Depth(16)
  ) u_sent (
      .s_clk_i(tx_clk_i), .s_rst_i(tx_rst_i), .s_valid_i(tx_end_q), .s_ready_o(tx_ready), .s_data_i(tx_len_q),
      .m_clk_i(clk_i), .m_rst_i(rst_i), .m_valid_o(valid[1]), .m_ready_i(ready[1]), .m_data_o(count[1].len)
  );

  // --- clock of the queues

  logic [4:2] pulse, room;
  len_t [4:2] pulse_len;

  assign count[1].counter = CounterOut;
  assign count[2].counter = CounterNoPage;
  assign count[3].counter = CounterFlowOverflow;
  assign count[4].counter = CounterAqm;
  assign pulse     = {codel_i, overflow_i, no_cell_i};
  assign pulse_len = {codel_len_i, overflow_len_i, no_cell_len_i};

  for (genvar n = 2; n < Sources; n++) begin : g_queues
    pst_fifo #(
        .Width($bits(len_t)), .Depth(8)
    ) u_pulses (
        .clk_i, .rst_i, .s_valid_i(pulse[n]), .s_ready_o(room[n]), .s_data_i(pulse_len[n]),
        .m_valid_o(valid[n]), .m_ready_i(ready[n]), .m_data_o(count[n].len), .level_o()
    );
  end

  // The queues' pulses first: their stores are the smaller ones.
  always_comb begin
    m_count_valid_o = |valid;
    m_count_o       = count[0];
    ready           = '0;
    ready[0]        = m_count_ready_i;
    for (int unsigned n = 1; n < Sources; n++) begin
      if (valid[n]) begin
        m_count_o = count[n];
        ready     = '0;
        ready[n]  = m_count_ready_i;
      end
    end
  end

  logic [12:0] silent_q;    // cycles since the state of the PHY came
  always_ff @(posedge clk_i) begin
    if (!silent_q[12]) silent_q <= silent_q + 13'd1;
    if (phy_valid) begin
      silent_q <= '0;
      link_o   <= '{clock: 1'b1, phy: phy};
    end else if (silent_q[12]) begin
      link_o <= '0;
    end
    if (rst_i) begin
      silent_q <= '0;
      link_o   <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge rx_clk_i) begin
    if (!rx_rst_i) a_received_is_counted : assert (!ended || rx_ready);
  end
  always_ff @(posedge tx_clk_i) begin
    if (!tx_rst_i) a_sent_is_counted : assert (!tx_end_q || tx_ready);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) a_dropped_is_counted : assert ((pulse & ~room) == '0);
  end
`endif

endmodule
