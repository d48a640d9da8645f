// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Cells of ECP5 at the pins and the PLL: ports for synthesis, what they do for simulation.
//
// In simulation a delay is none, the PLL passes its clock on (the test gives it 125 MHz) and halves it, and an input cell shows the two halves
// of a cycle at the rising edge that ends it, as the device does.

(* blackbox *)
module DELAYG #(
    parameter string DEL_MODE  = "USER_DEFINED",
    parameter int    DEL_VALUE = 0
) (
    input  logic A,
    output logic Z
);
`ifndef SYNTHESIS
  assign Z = A;
`endif
endmodule

(* blackbox *)
module IDDRX1F (
    input  logic D,
    input  logic SCLK,
    input  logic RST,
    output logic Q0,
    output logic Q1
);
`ifndef SYNTHESIS
  logic rise_q, fall_q;
  always @(posedge SCLK) rise_q <= D;
  always @(negedge SCLK) fall_q <= D;
  always @(posedge SCLK) begin
    Q0 <= RST ? 1'b0 : rise_q;
    Q1 <= RST ? 1'b0 : fall_q;
  end
`endif
endmodule

(* blackbox *)
module ODDRX1F (
    input  logic D0,
    input  logic D1,
    input  logic SCLK,
    input  logic RST,
    output logic Q
);
`ifndef SYNTHESIS
  logic d0_q, d1_q;
  always @(posedge SCLK) begin
    d0_q <= !RST && D0;
    d1_q <= !RST && D1;
  end
  assign Q = SCLK ? d0_q : d1_q;
`endif
endmodule

`ifdef SYNTHESIS
(* blackbox *)
module EHXPLLL #(
    parameter string PLLRST_ENA = "", parameter string INTFB_WAKE = "", parameter string STDBY_ENABLE = "",
    parameter string DPHASE_SOURCE = "",
    parameter string OUTDIVIDER_MUXA = "", parameter string OUTDIVIDER_MUXB = "", parameter string OUTDIVIDER_MUXC = "",
    parameter string OUTDIVIDER_MUXD = "", parameter int CLKI_DIV = 1, parameter string CLKOP_ENABLE = "", parameter int CLKOP_DIV = 1,
    parameter int CLKOP_CPHASE = 0, parameter int CLKOP_FPHASE = 0, parameter string CLKOS_ENABLE = "", parameter int CLKOS_DIV = 1,
    parameter int CLKOS_CPHASE = 0, parameter int CLKOS_FPHASE = 0, parameter string FEEDBK_PATH = "", parameter int CLKFB_DIV = 1
) (
    input logic CLKI, input logic CLKFB, input logic PHASESEL1, input logic PHASESEL0, input logic PHASEDIR, input logic PHASESTEP,
    input logic PHASELOADREG, input logic STDBY, input logic PLLWAKESYNC, input logic RST, input logic ENCLKOP,
    output logic CLKOP, output logic CLKOS, output logic CLKINTFB, output logic LOCK
);
endmodule
`else
module bridge_pll (
    input  logic clkin,
    output logic clkout0,
    output logic clkout1,
    output logic locked
);
  logic half_q = 1'b0;
  always @(posedge clkin) half_q <= !half_q;
  assign clkout0 = clkin;
  assign clkout1 = half_q;
  assign locked  = 1'b1;
endmodule
`endif
