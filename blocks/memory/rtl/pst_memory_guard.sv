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
    parameter int unsigned TimeoutWidth   = 32   // bits
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // cycles in a row that a memory may be waited for; 0: for ever
    input  logic [TimeoutWidth-1:0] timeout_i,
    output logic                    lost_o,
    // AXI4 slave
    input  pst_axi_pkg::write_req_t s_axi_write_i,
    output pst_axi_pkg::write_rsp_t s_axi_write_o,
    input  pst_axi_pkg::read_req_t  s_axi_read_i,
    output pst_axi_pkg::read_rsp_t  s_axi_read_o,
    // AXI4 master, to the memory
    output pst_axi_pkg::write_req_t m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t m_axi_write_i,
    output pst_axi_pkg::read_req_t  m_axi_read_o,
    input  pst_axi_pkg::read_rsp_t  m_axi_read_i
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
      .MaxOutstanding(MaxOutstanding)
  ) u_write (
      .clk_i,
      .rst_i,
      .lost_i(lost_q),
      .waiting_o(write_waiting),
      .s_axi_write_i,
      .s_axi_write_o,
      .m_axi_write_o,
      .m_axi_write_i
  );

  pst_guard_read #(
      .AddrWidth(AddrWidth),
      .MaxOutstanding(MaxOutstanding)
  ) u_read (
      .clk_i,
      .rst_i,
      .lost_i(lost_q),
      .waiting_o(read_waiting),
      .s_axi_read_i,
      .s_axi_read_o,
      .m_axi_read_o,
      .m_axi_read_i
  );

endmodule
