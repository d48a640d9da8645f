// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The bridge on a board with an ECP5: pins, clocks, two MACs with RGMII (LiteEth), a bridge for each direction, shaped or not, registers
// behind a UART (LiteX), LEDs. Boards differ by the parameters and the PLL (penstock.hardware.board).
//
// clk_i becomes the 125 MHz of both transmitters and the slower clock of queues and registers. With Bytes = 1 all but these has the clocks of
// the PHYs' sides, each receiver that of its PHY; with more, all but the part of the MAC beside the PHY has the slower clock. The PHYs are
// released 8.4 ms after the PLL has locked.
module bridge_board
  import pst_pkg::len_t;
  import pst_bridge_pkg::setting_t, pst_bridge_pkg::access_t, pst_bridge_pkg::count_t, pst_bridge_pkg::phy_t, pst_bridge_pkg::link_t;
#(
    parameter int unsigned Bytes = 1,                   // of frames per cycle, 1 or 4
    parameter int unsigned Leds = 8,                    // 8, or 1
    parameter int unsigned PhyResets = 2,               // pins that release PHYs, 1 or 2
    parameter int unsigned WaitBits = 20,               // cycles until the PHYs are released, as a power of two
    parameter bit          Shaped = 1'b0,               // frames pass shaped queues
    parameter int unsigned Queues = 16,                 // Shaped: of each direction, and so on, as in pst_bridge_shaped
    parameter int unsigned Flows = 1024,
    parameter int unsigned Cells = 512,
    parameter int unsigned TickShift = 6,
    parameter int unsigned AgeCycles = 6103,
    parameter setting_t [1:0] Setting = {2{pst_bridge_pkg::unshaped()}},    // Shaped: of queues of frames from port p, until they are set
    parameter int unsigned ClockHz = 62_500_000         // of the queues, shown in a register
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    output logic [Leds-1:0] led_o,
    input  logic            uart_rx_i,
    output logic            uart_tx_o,
    input  logic [1:0]      rgmii_rx_clk_i,
    input  logic [1:0]      rgmii_rx_ctl_i,
    input  logic [1:0][3:0] rgmii_rx_data_i,
    output logic [1:0]      rgmii_tx_clk_o,
    output logic [1:0]      rgmii_tx_ctl_o,
    output logic [1:0][3:0] rgmii_tx_data_o,
    output logic [PhyResets-1:0] phy_run_o
);

  localparam int unsigned CountWidth = Bytes > 1 ? $clog2(Bytes) : 1;

  logic clk, clk_queues, locked, run_q;
  logic [WaitBits:0] wait_q;

  bridge_pll u_pll (.clkin(clk_i), .clkout0(clk), .clkout1(clk_queues), .locked);

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
  assign phy_run_o = {PhyResets{run_q}};

  // Of direction p, from port p to the other one: resets of the clocks of its receiver's PHY, of the queues and of the transmitters; clocks
  // and resets of the words of both ends, these words, what became of its frames.
  logic [1:0] phy_rst, queues_rst, send_rst;
  logic [1:0] rx_clk, rx_rst, tx_rst, rx_valid, rx_last, rx_error, tx_valid, tx_ready, tx_last;
  logic [1:0][8*Bytes-1:0] rx_data, tx_data;
  logic [1:0][CountWidth-1:0] rx_count, tx_count;
  logic tx_clk;

  assign tx_clk = Bytes == 1 ? clk : clk_queues;
  assign tx_rst = Bytes == 1 ? send_rst : queues_rst;
  assign rx_clk = Bytes == 1 ? rgmii_rx_clk_i : {2{clk_queues}};
  assign rx_rst = Bytes == 1 ? phy_rst : queues_rst;

  logic [1:0] kept, damaged, short_frame, long_frame, no_room, control_frame, lost;    // lost: in the queues, an LED is on
  logic [1:0][11:0] len;
  phy_t [1:0] phy;

  // Registers: their reset, and of direction p what they count, show and set.
  logic control_rst;
  logic [1:0] dropped;    // frames, some time ago
  logic [1:0] count_valid, count_ready, shape, back_valid;
  count_t [1:0] count;
  link_t [1:0] link;
  access_t [1:0] access;
  setting_t [1:0] back;

  pst_crossing_reset #(
      .Domains(1)
  ) u_control_reset (
      .clk_i(clk_queues), .rst_ni(run_q), .rst_o(control_rst)
  );

  for (genvar p = 0; p < 2; p++) begin : g_port
    pst_crossing_reset #(
        .Domains(3)
    ) u_reset (
        .clk_i({clk, clk_queues, rgmii_rx_clk_i[p]}), .rst_ni(run_q), .rst_o({send_rst[p], queues_rst[p], phy_rst[p]})
    );

    pst_bridge_mac #(
        .Bytes(Bytes)
    ) u_mac (
        .phy_rx_clk_i(rgmii_rx_clk_i[p]), .phy_rx_rst_i(phy_rst[p]), .phy_tx_clk_i(clk), .phy_tx_rst_i(send_rst[1-p]),
        .rgmii_rx_ctl_i(rgmii_rx_ctl_i[p]), .rgmii_rx_data_i(rgmii_rx_data_i[p]),
        .rgmii_tx_clk_o(rgmii_tx_clk_o[p]), .rgmii_tx_ctl_o(rgmii_tx_ctl_o[p]), .rgmii_tx_data_o(rgmii_tx_data_o[p]), .status_o(phy[p]),
        .rx_clk_i(rx_clk[p]), .rx_rst_i(rx_rst[p]), .rx_valid_o(rx_valid[p]), .rx_data_o(rx_data[p]), .rx_count_o(rx_count[p]),
        .rx_last_o(rx_last[p]), .rx_error_o(rx_error[p]),
        .tx_clk_i(tx_clk), .tx_rst_i(tx_rst[1-p]), .tx_valid_i(tx_valid[1-p]), .tx_ready_o(tx_ready[1-p]), .tx_data_i(tx_data[1-p]),
        .tx_count_i(tx_count[1-p]), .tx_last_i(tx_last[1-p])
    );

    logic no_cell, overflow, codel;
    len_t no_cell_len, overflow_len, codel_len;

    pst_bridge_tally #(
        .Bytes(Bytes)
    ) u_tally (
        .phy_clk_i(rgmii_rx_clk_i[p]), .phy_rst_i(phy_rst[p]), .phy_i(phy[p]),
        .rx_clk_i(rx_clk[p]), .rx_rst_i(rx_rst[p]), .kept_i(kept[p]), .damaged_i(damaged[p]), .short_i(short_frame[p]),
        .long_i(long_frame[p]), .no_room_i(no_room[p]), .control_i(control_frame[p]), .len_i(len[p]),
        .tx_clk_i(tx_clk), .tx_rst_i(tx_rst[p]), .sent_i(tx_valid[p] && tx_ready[p]), .sent_last_i(tx_last[p]), .sent_count_i(tx_count[p]),
        .clk_i(clk_queues), .rst_i(queues_rst[p]), .no_cell_i(no_cell), .overflow_i(overflow), .codel_i(codel),
        .no_cell_len_i(no_cell_len), .overflow_len_i(overflow_len), .codel_len_i(codel_len),
        .m_count_valid_o(count_valid[p]), .m_count_ready_i(count_ready[p]), .m_count_o(count[p]), .link_o(link[p])
    );

    if (Shaped) begin : g_shaped
      logic queued;
      logic [21:0] lost_q;

      pst_bridge_shaped #(
          .Bytes(Bytes), .Queues(Queues), .Flows(Flows), .Cells(Cells), .TickShift(TickShift), .AgeCycles(AgeCycles), .Setting(Setting[p])
      ) u_bridge (
          .rx_clk_i(rx_clk[p]), .rx_rst_i(rx_rst[p]),
          .s_valid_i(rx_valid[p]), .s_data_i(rx_data[p]), .s_count_i(rx_count[p]), .s_last_i(rx_last[p]), .s_error_i(rx_error[p]),
          .kept_o(kept[p]), .damaged_o(damaged[p]), .short_o(short_frame[p]), .long_o(long_frame[p]), .no_room_o(no_room[p]),
          .control_o(control_frame[p]), .len_o(len[p]),
          .clk_i(clk_queues), .rst_i(queues_rst[p]), .queued_o(queued), .no_cell_o(no_cell), .overflow_o(overflow), .codel_o(codel),
          .no_cell_len_o(no_cell_len), .overflow_len_o(overflow_len), .codel_len_o(codel_len),
          .settings_rst_i(control_rst), .shape_i(shape[p]), .access_i(access[p]), .back_valid_o(back_valid[p]), .back_o(back[p]),
          .tx_clk_i(tx_clk), .tx_rst_i(tx_rst[p]), .m_valid_o(tx_valid[p]), .m_ready_i(tx_ready[p]), .m_data_o(tx_data[p]),
          .m_count_o(tx_count[p]), .m_last_o(tx_last[p])
      );

      always_ff @(posedge clk_queues) begin
        if (queues_rst[p]) lost_q <= '0;
        else if (no_cell || overflow || codel) lost_q <= 22'h20_0000;
        else if (lost_q[21]) lost_q <= lost_q + 1'b1;
      end
      assign lost[p] = lost_q[21];

      logic unused;
      assign unused = queued;
    end else begin : g_unshaped
      pst_bridge #(
          .Bytes(Bytes)
      ) u_bridge (
          .rx_clk_i(rx_clk[p]), .rx_rst_i(rx_rst[p]),
          .s_valid_i(rx_valid[p]), .s_data_i(rx_data[p]), .s_count_i(rx_count[p]), .s_last_i(rx_last[p]), .s_error_i(rx_error[p]),
          .kept_o(kept[p]), .damaged_o(damaged[p]), .short_o(short_frame[p]), .long_o(long_frame[p]), .no_room_o(no_room[p]),
          .control_o(control_frame[p]), .len_o(len[p]),
          .tx_clk_i(tx_clk), .tx_rst_i(tx_rst[p]),
          .m_valid_o(tx_valid[p]), .m_ready_i(tx_ready[p]), .m_data_o(tx_data[p]), .m_count_o(tx_count[p]), .m_last_o(tx_last[p])
      );
      assign lost[p]       = 1'b0;
      assign no_cell       = 1'b0;
      assign overflow      = 1'b0;
      assign codel         = 1'b0;
      assign no_cell_len   = '0;
      assign overflow_len  = '0;
      assign codel_len     = '0;
      assign back_valid[p] = 1'b0;
      assign back[p]       = '0;

      logic unused;
      assign unused = shape[p] ^ (^access[p]);
    end

    // LEDs light when low; each event is shown for 2^22 cycles (34 or 67 ms).
    logic [3:0][22:0] shine_q;
    logic [3:0] events;
    assign events = {no_room[p], damaged[p] || short_frame[p] || long_frame[p], kept[p], 1'b0};
    always_ff @(posedge rx_clk[p]) begin
      for (int unsigned n = 1; n < 4; n++) begin
        if (rx_rst[p]) shine_q[n] <= '0;
        else if (events[n]) shine_q[n] <= 23'h40_0000;
        else if (shine_q[n][22]) shine_q[n] <= shine_q[n] + 1'b1;
      end
    end
    assign dropped[p] = shine_q[3][22] || shine_q[2][22] || lost[p];
    if (Leds == 8) begin : g_leds
      assign led_o[4*p+:4] = ~{shine_q[3][22] || lost[p], shine_q[2][22], shine_q[1][22], !rx_rst[p]};
    end
  end

  // A single LED: both directions are out of reset, and none has dropped a frame just now.
  if (Leds == 1) begin : g_led
    assign led_o = ~1'(rx_rst == '0 && dropped == '0);
  end

  // --- registers

  pst_axi_pkg::lite_req_t lite_req;
  pst_axi_pkg::lite_rsp_t lite_rsp;
  logic [31:12] unused_aw, unused_ar;

  bridge_uart u_uart (
      .clk(clk_queues), .rst(control_rst), .uart_rx(uart_rx_i), .uart_tx(uart_tx_o),
      .axil_awvalid(lite_req.awvalid), .axil_awready(lite_rsp.awready), .axil_awaddr({unused_aw, lite_req.awaddr}),
      .axil_awprot(lite_req.awprot), .axil_wvalid(lite_req.wvalid), .axil_wready(lite_rsp.wready), .axil_wdata(lite_req.wdata),
      .axil_wstrb(lite_req.wstrb), .axil_bvalid(lite_rsp.bvalid), .axil_bready(lite_req.bready), .axil_bresp(lite_rsp.bresp),
      .axil_arvalid(lite_req.arvalid), .axil_arready(lite_rsp.arready), .axil_araddr({unused_ar, lite_req.araddr}),
      .axil_arprot(lite_req.arprot), .axil_rvalid(lite_rsp.rvalid), .axil_rready(lite_req.rready), .axil_rdata(lite_rsp.rdata),
      .axil_rresp(lite_rsp.rresp)
  );

  pst_bridge_control #(
      .Queues(Shaped ? Queues : 0), .Flows(Shaped ? Flows : 0), .Cells(Shaped ? Cells : 0), .ClockHz(ClockHz), .TickShift(TickShift)
  ) u_control (
      .clk_i(clk_queues), .rst_i(control_rst), .s_axil_i(lite_req), .s_axil_o(lite_rsp),
      .s_count_valid_i(count_valid), .s_count_ready_o(count_ready), .s_count_i(count), .link_i(link), .shape_o(shape),
      .access_o(access), .back_valid_i(back_valid), .back_i(back)
  );

endmodule
