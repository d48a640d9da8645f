// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The scan for the busiest queues: beside pst_control it reads the counters of what was sent, or looks into queues, one after the other.
//
// What pst_control asks for goes first; while a read of the scan is under way (5 cycles at most) it waits. One read is under way at a time, of
// both, so an answer is of the one that asked.
//
// Latency: none for what pst_control asks. Reset: ends a scan.
module pst_access_edge_scan
  import pst_pkg::LimitBytesWidth;
#(
    parameter int unsigned Queues = 16,          // >= 2
    parameter int unsigned Busiest = 0,          // places of the table; 0: there is no scan
    parameter int unsigned ByteWidth = 56,       // of the counters
    parameter int unsigned ValueWidth = 38,      // see pst_busiest; at most ByteWidth
    parameter string       RamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    // scans; what the registers show of them
    input  logic                       s_start_valid_i,
    input  logic                       s_start_level_i,    // backlog, else bytes sent since the scan before
    input  logic [7:0]                 show_i,
    output logic                       busy_o,
    output logic                       level_o,
    output logic [15:0]                number_o,
    output logic [31:0]                window_o,
    output logic [31:0]                shown_queue_o,
    output logic [ValueWidth-1:0]      shown_value_o,
    // what pst_control asks
    input  logic [QueueIdWidth-1:0]    s_index_i,
    input  logic                       s_out_valid_i,
    output logic                       s_out_ready_o,
    output logic                       m_out_valid_o,      // the answer is its
    input  logic                       s_look_valid_i,
    output logic                       s_look_ready_o,
    output logic                       m_look_valid_o,
    // to the counters of what was sent, and to the core; their answers
    output logic [QueueIdWidth-1:0]    m_out_index_o,
    output logic                       m_read_out_valid_o,
    input  logic                       m_read_out_ready_i,
    input  logic                       s_answer_out_valid_i,
    input  logic [ByteWidth-1:0]       s_answer_out_bytes_i,
    output logic [QueueIdWidth-1:0]    m_look_index_o,
    output logic                       m_ask_look_valid_o,
    input  logic                       m_ask_look_ready_i,
    input  logic                       s_answer_look_valid_i,
    input  logic [LimitBytesWidth-1:0] s_answer_look_bytes_i
);

  if (Busiest == 0) begin : g_none
    assign busy_o             = 1'b0;
    assign level_o            = 1'b0;
    assign number_o           = '0;
    assign window_o           = '0;
    assign shown_queue_o      = '0;
    assign shown_value_o      = '0;
    assign s_out_ready_o      = m_read_out_ready_i;
    assign m_out_valid_o      = s_answer_out_valid_i;
    assign s_look_ready_o     = m_ask_look_ready_i;
    assign m_look_valid_o     = s_answer_look_valid_i;
    assign m_out_index_o      = s_index_i;
    assign m_read_out_valid_o = s_out_valid_i;
    assign m_look_index_o     = s_index_i;
    assign m_ask_look_valid_o = s_look_valid_i;

    logic unused;
    assign unused = ^{clk_i, rst_i, s_start_valid_i, s_start_level_i, show_i, s_answer_out_bytes_i, s_answer_look_bytes_i};
  end else begin : g_scan
    localparam int unsigned KeepWidth = Busiest > 1 ? $clog2(Busiest) : 1;
    logic ask, ask_level, take, answer;
    logic under_way_q, scan_q;    // a read is under way; it is the scan's
    logic [QueueIdWidth-1:0] index, shown;
    logic [ValueWidth-1:0] value, shown_value;

    pst_busiest #(
        .Entries(Queues), .Keep(Busiest), .ValueWidth(ValueWidth), .Style(RamStyle)
    ) u_busiest (
        .clk_i, .rst_i,
        .s_start_valid_i, .s_start_level_i, .busy_o,
        .m_read_valid_o(ask), .m_read_ready_i(take), .m_read_index_o(index), .m_read_level_o(ask_level),
        .s_value_valid_i(answer && scan_q), .s_value_i(value),
        .show_i(show_i[KeepWidth-1:0]), .shown_index_o(shown), .shown_value_o(shown_value), .level_o, .window_o, .number_o
    );

    assign shown_queue_o = int'(show_i) < int'(Busiest) ? 32'(shown) : '0;
    assign shown_value_o = int'(show_i) < int'(Busiest) ? shown_value : '0;

    // The scan asks in a cycle in which pst_control does not.
    logic may_scan;
    assign may_scan           = ask && !under_way_q && !s_out_valid_i && !s_look_valid_i;
    assign take               = may_scan && (ask_level ? m_ask_look_ready_i : m_read_out_ready_i);
    assign m_read_out_valid_o = (s_out_valid_i && !under_way_q) || (may_scan && !ask_level);
    assign m_ask_look_valid_o = (s_look_valid_i && !under_way_q) || (may_scan && ask_level);
    assign s_out_ready_o      = m_read_out_ready_i && !under_way_q;
    assign s_look_ready_o     = m_ask_look_ready_i && !under_way_q;
    assign m_out_index_o      = s_out_valid_i ? s_index_i : index;
    assign m_look_index_o     = s_look_valid_i ? s_index_i : index;
    assign answer             = s_answer_out_valid_i || s_answer_look_valid_i;
    assign m_out_valid_o      = s_answer_out_valid_i && !scan_q;
    assign m_look_valid_o     = s_answer_look_valid_i && !scan_q;
    assign value              = s_answer_look_valid_i ? ValueWidth'(s_answer_look_bytes_i) : s_answer_out_bytes_i[ValueWidth-1:0];

    always_ff @(posedge clk_i) begin
      if (answer) under_way_q <= 1'b0;
      if ((m_read_out_valid_o && m_read_out_ready_i) || (m_ask_look_valid_o && m_ask_look_ready_i)) begin
        under_way_q <= 1'b1;
        scan_q      <= may_scan;
      end
      if (rst_i) under_way_q <= 1'b0;
    end

    logic unused_high;
    assign unused_high = ^s_answer_out_bytes_i;

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        a_answer_is_of_a_read : assert (!answer || under_way_q) else $error("pst_access_edge_scan: an answer to no read");
        a_one_answer : assert (!(s_answer_out_valid_i && s_answer_look_valid_i)) else $error("pst_access_edge_scan: two answers at once");
      end
    end
`endif
  end

endmodule
