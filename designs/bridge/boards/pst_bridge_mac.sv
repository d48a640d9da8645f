// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A gigabit MAC with RGMII, of LiteEth's parts (penstock.hardware.liteeth_mac): frames without preamble and FCS.
//
// With Bytes = 1 the words have the clocks of the PHY's two sides. With more they have a slower clock, and little is left in those of the
// PHY: pins, preamble and gap, one byte per cycle, a width converter, a crossing. FCS and preamble to send are made in the slower clock.
//
// Received words cannot wait. A frame to send must come without a gap in it. Throughput: a gigabit per second each way.
module pst_bridge_mac #(
    parameter int unsigned Bytes = 1,    // per word, 1 or 4; the first one is in the low bits
    localparam int unsigned CountWidth = Bytes > 1 ? $clog2(Bytes) : 1
) (
    // clocks of the PHY's sides, 125 MHz: its own, and ours
    input  logic                  phy_rx_clk_i,
    input  logic                  phy_rx_rst_i,
    input  logic                  phy_tx_clk_i,
    input  logic                  phy_tx_rst_i,
    // pins
    input  logic                  rgmii_rx_ctl_i,
    input  logic [3:0]            rgmii_rx_data_i,
    output logic                  rgmii_tx_clk_o,
    output logic                  rgmii_tx_ctl_o,
    output logic [3:0]            rgmii_tx_data_o,
    // phy_rx_clk_i: what the PHY says between frames
    output pst_bridge_pkg::phy_t  status_o,
    // received words; count is the bytes of one less one; error counts at the last one
    input  logic                  rx_clk_i,
    input  logic                  rx_rst_i,
    output logic                  rx_valid_o,
    output logic [8*Bytes-1:0]    rx_data_o,
    output logic [CountWidth-1:0] rx_count_o,
    output logic                  rx_last_o,
    output logic                  rx_error_o,
    // words to send
    input  logic                  tx_clk_i,
    input  logic                  tx_rst_i,
    input  logic                  tx_valid_i,
    output logic                  tx_ready_o,
    input  logic [8*Bytes-1:0]    tx_data_i,
    input  logic [CountWidth-1:0] tx_count_i,
    input  logic                  tx_last_i
);

  // Bit of a word's last byte, 0 before the last word, to its bytes less one, and back.
  function automatic logic [CountWidth-1:0] count_of(input logic [Bytes-1:0] ends);
    count_of = CountWidth'(Bytes - 1);
    for (int unsigned n = 0; n < Bytes; n++) if (ends[n]) count_of = CountWidth'(n);
  endfunction

  function automatic logic [Bytes-1:0] ends_of(input logic last, input logic [CountWidth-1:0] count);
    return last ? Bytes'(1) << count : '0;
  endfunction

  typedef struct packed {
    logic                  last;
    logic [CountWidth-1:0] count;
    logic [8*Bytes-1:0]    data;
  } word_t;

  logic byte_rx_valid, byte_rx_last, byte_tx_valid, byte_tx_ready, byte_tx_last;
  logic [7:0] byte_rx_data, byte_tx_data;
  logic rx_valid, tx_valid, tx_ready;
  word_t rx, tx;
  logic [Bytes-1:0] rx_end, tx_end;

  bridge_phy u_phy (
      .rx_clk(phy_rx_clk_i), .rx_rst(phy_rx_rst_i), .tx_clk(phy_tx_clk_i), .tx_rst(phy_tx_rst_i),
      .rgmii_rx_ctl(rgmii_rx_ctl_i), .rgmii_rx_data(rgmii_rx_data_i),
      .rgmii_tx_clk(rgmii_tx_clk_o), .rgmii_tx_ctl(rgmii_tx_ctl_o), .rgmii_tx_data(rgmii_tx_data_o),
      .rx_valid(byte_rx_valid), .rx_data(byte_rx_data), .rx_last(byte_rx_last), .rx_status(status_o),
      .tx_valid(byte_tx_valid), .tx_ready(byte_tx_ready), .tx_data(byte_tx_data), .tx_last(byte_tx_last)
  );

  bridge_fcs u_fcs (
      .rx_clk(rx_clk_i), .rx_rst(rx_rst_i), .tx_clk(tx_clk_i), .tx_rst(tx_rst_i),
      .rx_in_valid(rx_valid), .rx_in_data(rx.data), .rx_in_last(rx.last), .rx_in_end(ends_of(rx.last, rx.count)),
      .rx_valid(rx_valid_o), .rx_data(rx_data_o), .rx_last(rx_last_o), .rx_end(rx_end), .rx_error(rx_error_o),
      .tx_valid(tx_valid_i), .tx_ready(tx_ready_o), .tx_data(tx_data_i), .tx_last(tx_last_i), .tx_end(ends_of(tx_last_i, tx_count_i)),
      .tx_out_valid(tx_valid), .tx_out_ready(tx_ready), .tx_out_data(tx.data), .tx_out_last(tx.last), .tx_out_end(tx_end)
  );

  assign rx_count_o = rx_last_o ? count_of(rx_end) : CountWidth'(Bytes - 1);
  assign tx.count   = tx.last ? count_of(tx_end) : CountWidth'(Bytes - 1);

  if (Bytes == 1) begin : g_bytes
    assign rx_valid      = byte_rx_valid;
    assign rx            = '{last: byte_rx_last, count: '0, data: byte_rx_data};
    assign byte_tx_valid = tx_valid;
    assign byte_tx_data  = tx.data;
    assign byte_tx_last  = tx.last;
    assign tx_ready      = byte_tx_ready;
  end else begin : g_words
    logic wide_valid, wide_ready, crossed_valid, crossed_ready, narrow_ready;
    logic byte_valid_q, byte_last_q;
    logic [7:0] byte_q;
    logic [1:0] unused_user;
    logic unused_keep;
    logic [Bytes-1:0] keep;
    word_t wide, crossed;

    // A register of its own between the search for the start of a frame and the words. A word never waits for the crossing, which reads
    // twice as fast as words come: so no byte waits for what the crossing says, which would be the longest path.
    always_ff @(posedge phy_rx_clk_i) begin
      byte_valid_q <= byte_rx_valid && !phy_rx_rst_i;
      byte_last_q  <= byte_rx_last;
      byte_q       <= byte_rx_data;
    end

    pst_mac_width #(
        .InBytes(1), .OutBytes(Bytes)
    ) u_gather (
        .clk_i(phy_rx_clk_i), .rst_i(phy_rx_rst_i),
        .s_axis_tdata_i(byte_q), .s_axis_tkeep_i(1'b1), .s_axis_tlast_i(byte_last_q), .s_axis_tuser_i(1'b0),
        .s_axis_tvalid_i(byte_valid_q), .s_axis_tready_o(narrow_ready),
        .m_axis_tdata_o(wide.data), .m_axis_tkeep_o(keep), .m_axis_tlast_o(wide.last), .m_axis_tuser_o(unused_user[0]),
        .m_axis_tvalid_o(wide_valid), .m_axis_tready_i(1'b1)
    );

    always_comb begin
      wide.count = '0;
      for (int unsigned n = 1; n < Bytes; n++) if (keep[n]) wide.count = CountWidth'(n);
    end

    pst_async_fifo #(
        .Width($bits(word_t)), .Depth(16)
    ) u_received (
        .s_clk_i(phy_rx_clk_i), .s_rst_i(phy_rx_rst_i), .s_valid_i(wide_valid), .s_ready_o(wide_ready), .s_data_i(wide),
        .m_clk_i(rx_clk_i), .m_rst_i(rx_rst_i), .m_valid_o(rx_valid), .m_ready_i(1'b1), .m_data_o(rx)
    );

    pst_async_fifo #(
        .Width($bits(word_t)), .Depth(16)
    ) u_sent (
        .s_clk_i(tx_clk_i), .s_rst_i(tx_rst_i), .s_valid_i(tx_valid), .s_ready_o(tx_ready), .s_data_i(tx),
        .m_clk_i(phy_tx_clk_i), .m_rst_i(phy_tx_rst_i), .m_valid_o(crossed_valid), .m_ready_i(crossed_ready), .m_data_o(crossed)
    );

    pst_mac_width #(
        .InBytes(Bytes), .OutBytes(1)
    ) u_bytes (
        .clk_i(phy_tx_clk_i), .rst_i(phy_tx_rst_i),
        .s_axis_tdata_i(crossed.data), .s_axis_tkeep_i(Bytes'(2 ** (32'(crossed.count) + 1) - 1)), .s_axis_tlast_i(crossed.last),
        .s_axis_tuser_i(1'b0), .s_axis_tvalid_i(crossed_valid), .s_axis_tready_o(crossed_ready),
        .m_axis_tdata_o(byte_tx_data), .m_axis_tkeep_o(unused_keep), .m_axis_tlast_o(byte_tx_last), .m_axis_tuser_o(unused_user[1]),
        .m_axis_tvalid_o(byte_tx_valid), .m_axis_tready_i(byte_tx_ready)
    );

`ifndef SYNTHESIS
    always_ff @(posedge phy_rx_clk_i) begin
      if (!phy_rx_rst_i) a_received_is_taken : assert ((!byte_valid_q || narrow_ready) && (!wide_valid || wide_ready));
    end
`endif
  end

endmodule
