// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
module pst_deadline_stamps
  import pst_deadline_pkg::*;
#(
    parameter int unsigned              Classes = 64,                  // 2..256
    parameter logic [Classes-1:0][15:0] Stamps  = {Classes{16'd64}},   // of each class, >= 2; see below
    parameter int unsigned              Skips   = 4,                   // skips that wait for the head, >= 2
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    output logic                  init_done_o,
    input  time_t                 now_i,            // this cycle's number; counts in every cycle
    input  logic                  tick_i,           // pulse: each class is noted once
    // how long frames of a class may wait: each one's deadline is set by the setting of its first beat's cycle
    input  logic                  s_set_valid_i,
    output logic                  s_set_ready_o,
    input  logic [ClassWidth-1:0] s_set_class_i,
    input  logic [          31:0] s_set_cycles_i,   // below 2^30
    // the tail's look port: answered 2 cycles later
    output logic                  look_valid_o,
    output logic [ClassWidth-1:0] look_class_o,
    input  logic                  look_any_i,
    input  stamp_t                look_i,
    // what is over
    output logic                  m_skip_valid_o,
    input  logic                  m_skip_ready_i,
    output logic [ClassWidth-1:0] m_skip_class_o,
    output stamp_t                m_skip_o
);
endmodule
