// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// In front of the register block: the writes of an AXI4-Lite bus, of which it answers some with an error.
//
// In the window (0x800 to 0x87F) a write has to have all byte strobes and the address of a setting, which is that of a register in front of
// the window plus 0x800. Any other one becomes a write to address 0, which has a register that cannot be written, and its answer an error.
// A write without any strobe, as width converters emit them, writes nothing anywhere: it goes to address 0, too, and is answered with OKAY.
//
// Latency:  none. Address and data of a write are taken in the same cycle.
// Ordering: answers come in the order of the writes.
// Reset:    forgets what is under way, as the register block does.
module pst_control_bus #(
    parameter int unsigned Under = 4  // writes under way behind it at most; 2, 4, 8, ...
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // AXI4-Lite
    input  pst_axi_pkg::lite_req_t s_axil_i,
    output pst_axi_pkg::lite_rsp_t s_axil_o,
    // the same, to the register block
    output pst_axi_pkg::lite_req_t m_axil_o,
    input  pst_axi_pkg::lite_rsp_t m_axil_i
);

  localparam int unsigned CountWidth = $clog2(Under + 1);
  localparam int unsigned PlaceWidth = $clog2(Under);
  localparam logic [1:0] SlaveError = 2'b10;
  // Of each word of the window: whether it stands for a setting.
  localparam logic [31:0] Settings = 32'h7bde_0000;

  if (Under < 2 || (Under & (Under - 1)) != 0) begin : g_bad_under
    $error("pst_control_bus: Under is %0d, allowed: 2, 4, 8, ...", Under);
  end

  logic in_window, empty, bad, take, answered;
  logic [Under-1:0] bad_q;            // of the writes under way
  logic [PlaceWidth-1:0] put_q, get_q;
  logic [CountWidth-1:0] count_q;

  assign in_window = s_axil_i.awaddr[11:7] == 5'b10000;
  assign empty     = s_axil_i.wstrb == '0;
  assign bad       = in_window && !empty && !(s_axil_i.wstrb == '1 && Settings[s_axil_i.awaddr[6:2]]);
  // The register block has room for both in the same cycles, as it takes both at once.
  assign take      = s_axil_i.awvalid && s_axil_i.wvalid && m_axil_i.awready && m_axil_i.wready && count_q != CountWidth'(Under);
  assign answered  = m_axil_i.bvalid && s_axil_i.bready;

  always_comb begin
    m_axil_o         = s_axil_i;    // reads and data go past
    m_axil_o.awvalid = take;
    m_axil_o.wvalid  = take;
    m_axil_o.awaddr  = bad || empty ? '0 : s_axil_i.awaddr;

    s_axil_o         = m_axil_i;
    s_axil_o.awready = take;
    s_axil_o.wready  = take;
    s_axil_o.bresp   = bad_q[get_q] ? SlaveError : m_axil_i.bresp;
  end

  always_ff @(posedge clk_i) begin
    if (take) bad_q[put_q] <= bad;
    put_q   <= put_q + PlaceWidth'(take);
    get_q   <= get_q + PlaceWidth'(answered);
    count_q <= count_q + CountWidth'(take) - CountWidth'(answered);
    if (rst_i) begin
      put_q   <= '0;
      get_q   <= '0;
      count_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_room_for_both : assert (m_axil_i.awready == m_axil_i.wready)
      else $error("pst_control_bus: the register block takes an address without its data");
      a_answer_to_a_write : assert (!(m_axil_i.bvalid && count_q == '0))
      else $error("pst_control_bus: an answer without a write");
    end
  end
`endif

endmodule
