// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The shared package with short lengths, for the scheduler's proof only: the multiplier is not what is proved.
package pst_pkg;

  localparam int unsigned LenWidth = 2;
  typedef logic [LenWidth-1:0] len_t;

  typedef struct packed {
    logic [27:0] burst;
    logic [4:0]  exponent;
    logic [15:0] mantissa;
  } shaper_cfg_t;

endpackage
