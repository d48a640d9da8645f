// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Stands between the memory fabric and one memory, and answers for it when it does not any more.
//
// A memory that is waited for through more than timeout_i cycles in a row, by reads or by writes, is lost, and stays so until reset.
// From then on every request is answered with SLVERR by the guard, those under way first, each with as many beats as it asked for. Towards
// the memory AXI4 is kept: what was on offer stays until it is taken, the data that is owed is sent (without strobes), and what the memory
// may still answer is taken and forgotten.
//
// A memory is not waited for while it offers an answer that is not taken, or keeps an address waiting whose data has not come: a memory
// that stands behind another one that stalls is not blamed for it.
//
// Latency:    none, nothing is registered; of a lost memory one cycle from its request to the first answer.
// Throughput: one burst, and one beat, per cycle and direction, lost or not.
// Ordering:   answers of one id, in the order of the requests, as the memory's.
// Reset:      the memory is not lost; what is under way is forgotten, and the memory has to be reset with it.
module pst_memory_guard #(
    parameter int unsigned AddrWidth      = 32,  // bits
    parameter int unsigned MaxOutstanding = 32,  // bursts under way per direction; >= 2
    parameter int unsigned TimeoutWidth   = 32,  // bits
    parameter int unsigned DataWidth      = pst_memory_pkg::DataWidth,  // bits; others than this for proofs alone
    localparam int unsigned StrbWidth     = DataWidth / 8
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // cycles in a row that a memory may be waited for; 0: for ever
    input  logic [TimeoutWidth-1:0] timeout_i,
    output logic                    lost_o,
    // AXI4 slave
    input  logic                    s_axi_awvalid_i,
    output logic                    s_axi_awready_o,
    input  logic [AddrWidth-1:0]    s_axi_awaddr_i,
    input  logic [7:0]              s_axi_awlen_i,
    input  logic                    s_axi_wvalid_i,
    output logic                    s_axi_wready_o,
    input  logic [DataWidth-1:0]    s_axi_wdata_i,
    input  logic [StrbWidth-1:0]    s_axi_wstrb_i,
    input  logic                    s_axi_wlast_i,
    output logic                    s_axi_bvalid_o,
    input  logic                    s_axi_bready_i,
    output logic [1:0]              s_axi_bresp_o,
    input  logic                    s_axi_arvalid_i,
    output logic                    s_axi_arready_o,
    input  logic [AddrWidth-1:0]    s_axi_araddr_i,
    input  logic [7:0]              s_axi_arlen_i,
    output logic                    s_axi_rvalid_o,
    input  logic                    s_axi_rready_i,
    output logic [DataWidth-1:0]    s_axi_rdata_o,
    output logic [1:0]              s_axi_rresp_o,
    output logic                    s_axi_rlast_o,
    // AXI4 master, to the memory
    output logic                    m_axi_awvalid_o,
    input  logic                    m_axi_awready_i,
    output logic [AddrWidth-1:0]    m_axi_awaddr_o,
    output logic [7:0]              m_axi_awlen_o,
    output logic                    m_axi_wvalid_o,
    input  logic                    m_axi_wready_i,
    output logic [DataWidth-1:0]    m_axi_wdata_o,
    output logic [StrbWidth-1:0]    m_axi_wstrb_o,
    output logic                    m_axi_wlast_o,
    input  logic                    m_axi_bvalid_i,
    output logic                    m_axi_bready_o,
    input  logic [1:0]              m_axi_bresp_i,
    output logic                    m_axi_arvalid_o,
    input  logic                    m_axi_arready_i,
    output logic [AddrWidth-1:0]    m_axi_araddr_o,
    output logic [7:0]              m_axi_arlen_o,
    input  logic                    m_axi_rvalid_i,
    output logic                    m_axi_rready_o,
    input  logic [DataWidth-1:0]    m_axi_rdata_i,
    input  logic [1:0]              m_axi_rresp_i,
    input  logic                    m_axi_rlast_i
);

  typedef logic [TimeoutWidth-1:0] timeout_t;

  logic write_waiting, read_waiting, lost_q;
  timeout_t write_waited_q, read_waited_q;  // cycles in a row, the last one before this; they stay at their largest value

  function automatic timeout_t waited(timeout_t so_far, logic waiting);
    return !waiting ? '0 : so_far == '1 ? so_far : so_far + 1'b1;
  endfunction

  always_ff @(posedge clk_i) begin
    write_waited_q <= waited(write_waited_q, write_waiting);
    read_waited_q  <= waited(read_waited_q, read_waiting);
    if (timeout_i != '0 && (write_waited_q >= timeout_i || read_waited_q >= timeout_i)) lost_q <= 1'b1;
    if (rst_i) begin
      write_waited_q <= '0;
      read_waited_q  <= '0;
      lost_q         <= 1'b0;
    end
  end

  assign lost_o = lost_q;

  pst_guard_write #(
      .AddrWidth(AddrWidth),
      .MaxOutstanding(MaxOutstanding),
      .DataWidth(DataWidth)
  ) u_write (
      .clk_i,
      .rst_i,
      .lost_i(lost_q),
      .waiting_o(write_waiting),
      .s_axi_awvalid_i,
      .s_axi_awready_o,
      .s_axi_awaddr_i,
      .s_axi_awlen_i,
      .s_axi_wvalid_i,
      .s_axi_wready_o,
      .s_axi_wdata_i,
      .s_axi_wstrb_i,
      .s_axi_wlast_i,
      .s_axi_bvalid_o,
      .s_axi_bready_i,
      .s_axi_bresp_o,
      .m_axi_awvalid_o,
      .m_axi_awready_i,
      .m_axi_awaddr_o,
      .m_axi_awlen_o,
      .m_axi_wvalid_o,
      .m_axi_wready_i,
      .m_axi_wdata_o,
      .m_axi_wstrb_o,
      .m_axi_wlast_o,
      .m_axi_bvalid_i,
      .m_axi_bready_o,
      .m_axi_bresp_i
  );

  pst_guard_read #(
      .AddrWidth(AddrWidth),
      .MaxOutstanding(MaxOutstanding),
      .DataWidth(DataWidth)
  ) u_read (
      .clk_i,
      .rst_i,
      .lost_i(lost_q),
      .waiting_o(read_waiting),
      .s_axi_arvalid_i,
      .s_axi_arready_o,
      .s_axi_araddr_i,
      .s_axi_arlen_i,
      .s_axi_rvalid_o,
      .s_axi_rready_i,
      .s_axi_rdata_o,
      .s_axi_rresp_o,
      .s_axi_rlast_o,
      .m_axi_arvalid_o,
      .m_axi_arready_i,
      .m_axi_araddr_o,
      .m_axi_arlen_o,
      .m_axi_rvalid_i,
      .m_axi_rready_o,
      .m_axi_rdata_i,
      .m_axi_rresp_i,
      .m_axi_rlast_i
  );

endmodule
