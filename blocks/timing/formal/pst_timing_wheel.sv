// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The timing wheel as its users' proofs see it: anything at all, within the assumptions that the proof bench makes on these ports: it shows
// only what was placed, once. pst_sched_lists.sby proves that of the lists it is made of. The `any_*` are not driven: the solver picks them.
module pst_timing_wheel #(
    parameter int unsigned Entries = 64,
    parameter int unsigned Slots = 256,
    parameter int unsigned SlotCycles = 32,
    parameter int unsigned TimeWidth = 32,
    parameter string       RamStyle = "auto",
    localparam int unsigned IdWidth = Entries > 1 ? $clog2(Entries) : 1,
    localparam int unsigned SlotTimeWidth = TimeWidth - $clog2(SlotCycles)
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    input  logic [SlotTimeWidth-1:0] now_slot_i,
    input  logic                 turn_i,
    output logic [SlotTimeWidth-1:0] cursor_o,
    input  logic                 s_place_valid_i,
    output logic                 s_place_ready_o,
    input  logic [  IdWidth-1:0] s_place_id_i,
    input  logic                 s_place_due_i,
    input  logic                 s_place_beyond_i,
    input  logic [$clog2(Slots)-1:0] s_place_slot_i,
    output logic                 m_due_valid_o,
    input  logic                 m_due_ready_i,
    output logic [  IdWidth-1:0] m_due_id_o,
    output logic                 init_done_o
);

  // Registers, for an undriven wire might be something else for each of its readers.
  logic place_ready_q, due_valid_q, init_done_q, any_place_ready, any_due_valid, any_init_done;
  logic [IdWidth-1:0] due_id_q, any_due_id;
  logic [SlotTimeWidth-1:0] cursor_q, any_cursor;

  always_ff @(posedge clk_i) begin
    place_ready_q <= any_place_ready;
    due_valid_q   <= any_due_valid;
    due_id_q      <= any_due_id;
    init_done_q   <= any_init_done;
    cursor_q      <= any_cursor;
  end

  assign s_place_ready_o = place_ready_q;
  assign m_due_valid_o   = due_valid_q;
  assign m_due_id_o      = due_id_q;
  assign init_done_o     = init_done_q;
  assign cursor_o        = cursor_q;

endmodule
