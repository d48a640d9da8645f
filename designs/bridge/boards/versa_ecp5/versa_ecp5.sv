// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The bridge on a Lattice ECP5 Versa: pins, clocks, two MACs with RGMII (LiteEth), a bridge for each direction, shaped or not, LEDs.
//
// clk100_i becomes the 125 MHz of both transmitters and the 62.5 MHz of the queues. Each receiver has its PHY's clock. The PHYs are released 8.4 ms after the PLL has locked.
module versa_ecp5
  import pst_bridge_pkg::setting_t;
#(
    parameter int unsigned WaitBits = 20,               // cycles until the PHYs are released, as a power of two
    parameter bit          Shaped = 1'b0,               // frames pass shaped queues
    parameter int unsigned Queues = 16,                 // Shaped: of each direction, and so on, as in pst_bridge_shaped
    parameter int unsigned Flows = 1024,
    parameter int unsigned Cells = 512,
    parameter int unsigned TickShift = 6,
    parameter int unsigned AgeCycles = 6103,
    parameter setting_t [1:0] Setting = {2{pst_bridge_pkg::unshaped()}}    // Shaped: of queues of frames from port p
) (
    input  logic            clk100_i,
    input  logic            rst_ni,
    output logic [7:0]      led_o,
    input  logic [1:0]      rgmii_rx_clk_i,
    input  logic [1:0]      rgmii_rx_ctl_i,
    input  logic [1:0][3:0] rgmii_rx_data_i,
    output logic [1:0]      rgmii_tx_clk_o,
    output logic [1:0]      rgmii_tx_ctl_o,
    output logic [1:0][3:0] rgmii_tx_data_o,
    output logic [1:0]      phy_run_o
);

  logic clk, clk_queues, locked, run_q;
  logic [WaitBits:0] wait_q;

  versa_ecp5_pll u_pll (.clkin(clk100_i), .clkout0(clk), .clkout1(clk_queues), .locked);

  // Released after the wait; `locked` and the button end it at once.
  logic awake_n;
  assign awake_n = !(locked && rst_ni);
  always_ff @(posedge clk or posedge awake_n) begin
    if (awake_n) wait_q <= '0;
    else if (!wait_q[WaitBits]) wait_q <= wait_q + 1'b1;
  end
  always_ff @(posedge clk or posedge awake_n) begin
    if (awake_n) run_q <= 1'b0;
    else run_q <= wait_q[WaitBits];
  end
  assign phy_run_o = {2{run_q}};

  // Of direction p, from port p to the other one: its two resets, the bytes of both ends, what became of its frames.
  logic [1:0] rx_rst, tx_rst, rx_valid, rx_last, rx_error, tx_valid, tx_ready, tx_last;
  logic [1:0][7:0] rx_data, tx_data;
  logic [1:0] kept, damaged, short_frame, long_frame, no_room, lost;    // lost: in the queues, an LED is on

  for (genvar p = 0; p < 2; p++) begin : g_port
    logic queues_rst;
    pst_crossing_reset #(
        .Domains(3)
    ) u_reset (
        .clk_i({clk, clk_queues, rgmii_rx_clk_i[p]}), .rst_ni(run_q), .rst_o({tx_rst[p], queues_rst, rx_rst[p]})
    );

    bridge_mac u_mac (
        .rx_clk(rgmii_rx_clk_i[p]), .rx_rst(rx_rst[p]), .tx_clk(clk), .tx_rst(tx_rst[1-p]),
        .rgmii_rx_ctl(rgmii_rx_ctl_i[p]), .rgmii_rx_data(rgmii_rx_data_i[p]),
        .rgmii_tx_clk(rgmii_tx_clk_o[p]), .rgmii_tx_ctl(rgmii_tx_ctl_o[p]), .rgmii_tx_data(rgmii_tx_data_o[p]),
        .rx_valid(rx_valid[p]), .rx_data(rx_data[p]), .rx_last(rx_last[p]), .rx_error(rx_error[p]),
        .tx_valid(tx_valid[1-p]), .tx_ready(tx_ready[1-p]), .tx_data(tx_data[1-p]), .tx_last(tx_last[1-p])
    );

    if (Shaped) begin : g_shaped
      logic queued, no_cell, overflow, codel;
      logic [21:0] lost_q;

      pst_bridge_shaped #(
          .Queues(Queues), .Flows(Flows), .Cells(Cells), .TickShift(TickShift), .AgeCycles(AgeCycles), .Setting(Setting[p])
      ) u_bridge (
          .rx_clk_i(rgmii_rx_clk_i[p]), .rx_rst_i(rx_rst[p]),
          .s_valid_i(rx_valid[p]), .s_data_i(rx_data[p]), .s_last_i(rx_last[p]), .s_error_i(rx_error[p]),
          .kept_o(kept[p]), .damaged_o(damaged[p]), .short_o(short_frame[p]), .long_o(long_frame[p]), .no_room_o(no_room[p]),
          .clk_i(clk_queues), .rst_i(queues_rst), .queued_o(queued), .no_cell_o(no_cell), .overflow_o(overflow), .codel_o(codel),
          .tx_clk_i(clk), .tx_rst_i(tx_rst[p]),
          .m_valid_o(tx_valid[p]), .m_ready_i(tx_ready[p]), .m_data_o(tx_data[p]), .m_last_o(tx_last[p])
      );

      always_ff @(posedge clk_queues) begin
        if (queues_rst) lost_q <= '0;
        else if (no_cell || overflow || codel) lost_q <= 22'h20_0000;
        else if (lost_q[21]) lost_q <= lost_q + 1'b1;
      end
      assign lost[p] = lost_q[21];

      logic unused;
      assign unused = queued;
    end else begin : g_unshaped
      pst_bridge u_bridge (
          .rx_clk_i(rgmii_rx_clk_i[p]), .rx_rst_i(rx_rst[p]),
          .s_valid_i(rx_valid[p]), .s_data_i(rx_data[p]), .s_last_i(rx_last[p]), .s_error_i(rx_error[p]),
          .kept_o(kept[p]), .damaged_o(damaged[p]), .short_o(short_frame[p]), .long_o(long_frame[p]), .no_room_o(no_room[p]),
          .tx_clk_i(clk), .tx_rst_i(tx_rst[p]),
          .m_valid_o(tx_valid[p]), .m_ready_i(tx_ready[p]), .m_data_o(tx_data[p]), .m_last_o(tx_last[p])
      );
      assign lost[p] = 1'b0;

      logic unused;
      assign unused = queues_rst;
    end

    // LEDs light when low, each for 2^22 cycles (34 ms) from its event on.
    logic [3:0][22:0] shine_q;
    logic [3:0] events;
    assign events = {no_room[p], damaged[p] || short_frame[p] || long_frame[p], kept[p], 1'b0};
    always_ff @(posedge rgmii_rx_clk_i[p]) begin
      for (int unsigned n = 1; n < 4; n++) begin
        if (rx_rst[p]) shine_q[n] <= '0;
        else if (events[n]) shine_q[n] <= 23'h40_0000;
        else if (shine_q[n][22]) shine_q[n] <= shine_q[n] + 1'b1;
      end
    end
    assign led_o[4*p+:4] = ~{shine_q[3][22] || lost[p], shine_q[2][22], shine_q[1][22], !rx_rst[p]};
  end

endmodule
