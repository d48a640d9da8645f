// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The scheduler's lists as their users' proofs see them: anything at all, within the assumptions that the proof bench makes on these
// ports. pst_sched_lists.sby proves of the real lists what is assumed. The `any_*` are not driven: the solver picks them.
module pst_sched_lists #(
    parameter int unsigned Queues = 64,
    parameter int unsigned Slots = 256,
    parameter int unsigned Stripes = 4,
    parameter string       LinkRamStyle = "auto",
    parameter string       SlotRamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues),
    localparam int unsigned SlotWidth = Slots > 1 ? $clog2(Slots) : 1
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic                    s_op_valid_i,
    output logic                    s_op_ready_o,
    input  logic                    s_op_splice_i,
    input  logic                    s_op_wheel_i,
    input  logic                    s_op_direct_i,
    input  logic [QueueIdWidth-1:0] s_op_queue_i,
    input  logic [   SlotWidth-1:0] s_op_slot_i,
    input  logic [   SlotWidth-1:0] s_peek_slot_i,
    output logic                    peek_any_o,
    output logic                    m_ready_valid_o,
    input  logic                    m_ready_ready_i,
    output logic [QueueIdWidth-1:0] m_ready_queue_o,
    output logic                    init_done_o
);

  // Registers, for an undriven wire might be something else for each of its readers.
  logic op_ready_q, ready_valid_q, peek_any_q, init_done_q, any_op_ready, any_ready_valid, any_peek_any, any_init_done;
  logic [QueueIdWidth-1:0] ready_queue_q, any_ready_queue;

  always_ff @(posedge clk_i) begin
    op_ready_q    <= any_op_ready;
    ready_valid_q <= any_ready_valid;
    ready_queue_q <= any_ready_queue;
    peek_any_q    <= any_peek_any;
    init_done_q   <= any_init_done;
  end

  assign s_op_ready_o    = op_ready_q;
  assign peek_any_o      = peek_any_q;
  assign m_ready_valid_o = ready_valid_q;
  assign m_ready_queue_o = ready_queue_q;
  assign init_done_o     = init_done_q;

endmodule
