// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A scheduler for tests: everything that it is told goes into a hash, and every output is some of its bits. So whatever reaches it wrong, or
// in another cycle than its model, changes all decisions from there on. It keeps to the rules, and to nothing else.
//
// Throughput: up to a decision per cycle. Reset: the hash is Seed; no queue has packets.
module fickle
  import pst_pkg::len_t, pst_pkg::LimitBytesWidth, pst_pkg::shaper_cfg_t;
#(
    parameter int unsigned Queues = 16,    // 2..256
    parameter int unsigned Credits = 32,   // packets that fit downstream
    parameter int unsigned Seed = 1,
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned WordWidth = $bits(shaper_cfg_t)
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    input  logic [               31:0] now_i,
    input  logic                       s_active_valid_i,
    output logic                       s_active_ready_o,
    input  logic [   QueueIdWidth-1:0] s_active_queue_i,
    input  len_t                       s_active_len_i,
    input  logic                       s_enq_valid_i,
    input  logic [   QueueIdWidth-1:0] s_enq_queue_i,
    input  len_t                       s_enq_len_i,
    input  logic [LimitBytesWidth-1:0] s_enq_backlog_i,
    output logic                       m_deq_valid_o,
    output logic [   QueueIdWidth-1:0] m_deq_queue_o,
    output logic                       m_deq_take_o,
    input  logic                       s_ret_valid_i,
    input  logic [   QueueIdWidth-1:0] s_ret_queue_i,
    input  len_t                       s_ret_len_i,
    input  logic                       s_ret_backlogged_i,
    input  logic [LimitBytesWidth-1:0] s_ret_left_i,
    input  len_t                       s_ret_head_i,
    input  logic                       credit_i,
    input  logic                       s_cfg_valid_i,
    output logic                       s_cfg_ready_o,
    input  logic [   QueueIdWidth-1:0] s_cfg_queue_i,
    input  logic [      WordWidth-1:0] s_cfg_word_i,
    output logic                       init_done_o
);

  typedef logic [31:0] hash_t;

  function automatic hash_t mixed(hash_t hash, hash_t a, hash_t b, hash_t c);
    return ({hash[26:0], hash[31:27]} ^ a) + {b[15:0], b[31:16]} + c * 32'd2654435761;
  endfunction

  hash_t hash_q, hash_d;
  logic [Queues-1:0] has_q, busy_q;         // may be asked for but for what is under way; it is
  logic ask1_q, ask2_q, again_q;
  logic [QueueIdWidth-1:0] queue1_q, queue2_q, again_queue_q;
  logic [$clog2(Credits+1)-1:0] credits_q;
  logic left;

  assign init_done_o      = 1'b1;
  assign s_active_ready_o = hash_q[0] || hash_q[1];
  assign s_cfg_ready_o    = hash_q[2] || hash_q[3];
  assign m_deq_queue_o    = QueueIdWidth'(32'(hash_q[15:8]) % Queues);
  assign m_deq_valid_o    = has_q[m_deq_queue_o] && !busy_q[m_deq_queue_o] && credits_q != '0;
  assign m_deq_take_o     = hash_q[4] || hash_q[5] || hash_q[6];
  assign left             = ask2_q && !m_deq_take_o;

  always_comb begin
    hash_d = mixed(hash_q, now_i, 32'd1, 32'(credit_i));
    if (s_active_valid_i && s_active_ready_o) hash_d = mixed(hash_d, 32'(s_active_queue_i), 32'(s_active_len_i), 32'd2);
    if (s_enq_valid_i) hash_d = mixed(hash_d, 32'(s_enq_queue_i), 32'(s_enq_len_i), 32'(s_enq_backlog_i));
    if (s_ret_valid_i) begin
      hash_d = mixed(hash_d, 32'(s_ret_queue_i), 32'(s_ret_len_i), 32'(s_ret_left_i));
      hash_d = mixed(hash_d, 32'(s_ret_head_i), 32'(s_ret_backlogged_i), 32'd3);
    end
    if (s_cfg_valid_i && s_cfg_ready_o) hash_d = mixed(hash_d, 32'(s_cfg_queue_i), s_cfg_word_i[31:0], 32'(s_cfg_word_i >> 32));
  end

  always_ff @(posedge clk_i) begin
    hash_q        <= hash_d;
    ask1_q        <= m_deq_valid_o;
    queue1_q      <= m_deq_queue_o;
    ask2_q        <= ask1_q;
    queue2_q      <= queue1_q;
    again_q       <= s_ret_valid_i;
    again_queue_q <= s_ret_queue_i;
    credits_q     <= credits_q + $bits(credits_q)'(credit_i) + $bits(credits_q)'(left) - $bits(credits_q)'(m_deq_valid_o);
    if (again_q) busy_q[again_queue_q] <= 1'b0;
    if (left) busy_q[queue2_q] <= 1'b0;
    if (m_deq_valid_o) busy_q[m_deq_queue_o] <= 1'b1;
    // A queue that ran empty may have been announced again before the answer that it did.
    if (ask2_q && m_deq_take_o) has_q[queue2_q] <= 1'b0;
    if (s_ret_valid_i && s_ret_backlogged_i) has_q[s_ret_queue_i] <= 1'b1;
    if (s_active_valid_i && s_active_ready_o) has_q[s_active_queue_i] <= 1'b1;
    if (rst_i) begin
      hash_q    <= Seed;
      ask1_q    <= 1'b0;
      ask2_q    <= 1'b0;
      again_q   <= 1'b0;
      has_q     <= '0;
      busy_q    <= '0;
      credits_q <= $bits(credits_q)'(Credits);
    end
  end

endmodule
