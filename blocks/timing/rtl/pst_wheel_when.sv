// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// When an entry's turn is, as pst_timing_wheel wants to know it. Beside the wheel, so that it can be known of all that may be placed in a
// cycle before it is known which one is.
//
// Combinational.
module pst_wheel_when #(
    parameter int unsigned Slots = 256,           // of the wheel
    parameter int unsigned SlotCycles = 32,
    parameter int unsigned TimeWidth = 32,        // bits of a time in cycles
    localparam int unsigned SlotShift = $clog2(SlotCycles),
    localparam int unsigned SlotWidth = $clog2(Slots)
) (
    input  logic [          TimeWidth-1:0] now_i,
    input  logic [TimeWidth-SlotShift-1:0] cursor_i,    // slot that the wheel is at: not after that of now_i
    input  logic [          TimeWidth-1:0] hold_i,      // last cycle in which it has to wait
    output logic                           due_o,       // that is over
    output logic                           beyond_o,    // its slot is beyond the horizon
    output logic [          SlotWidth-1:0] slot_o
);

  typedef logic [TimeWidth-SlotShift-1:0] slot_t;

  slot_t slot, before_horizon;

  assign slot           = hold_i[TimeWidth-1:SlotShift];
  assign before_horizon = slot - (cursor_i + slot_t'(Slots));
  assign due_o    = $signed(hold_i - now_i) < 0;
  assign beyond_o = !before_horizon[TimeWidth-SlotShift-1];    // a slot that is not due is before it, or beyond
  assign slot_o   = slot[SlotWidth-1:0];

  logic unused;
  assign unused = ^before_horizon;

endmodule
