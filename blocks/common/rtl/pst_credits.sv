// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Counter of credits: places that are free somewhere else, less what is on its way there.
//
// Whether a credit is taken, and how many come back, is often known last in a cycle: it only chooses between what the count would become.
// Latency: 1 cycle. Reset: all credits are here.
module pst_credits #(
    parameter int unsigned Credits = 32,    // >= 1, with Late >= 2
    parameter bit          Late = 1'b0,     // take_i says what was used in the cycle before, so the last credit is kept back
    localparam int unsigned CountWidth = $clog2(Credits + 1)
) (
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       take_i,    // one is used; only if any_o (in the cycle before, if Late)
    input  logic [1:0] give_i,    // so many come back
    output logic       any_o
);

  if (Credits < 32'(Late) + 1) begin : g_bad_credits
    $error("pst_credits: Credits is %0d, allowed: %0d and more", Credits, 32'(Late) + 1);
  end

  typedef logic [CountWidth-1:0] count_t;

  // Written out, since synthesis would share one adder for all results and add last what is known last.
  function automatic count_t up(count_t count);
    for (int i = 0; i < int'(CountWidth); i++) up[i] = count[i] ^ ((count | count_t'({CountWidth{1'b1}} << i)) == '1);
  endfunction

  function automatic count_t down(count_t count);
    for (int i = 0; i < int'(CountWidth); i++) down[i] = count[i] ^ ((count & ~count_t'({CountWidth{1'b1}} << i)) == '0);
  endfunction

  count_t count_q, count_d, count_up, count_down;
  logic one;

  assign count_up   = up(count_q);
  assign count_down = down(count_q);
  assign one        = count_q == count_t'(1);

  always_comb begin
    case ({give_i, take_i})
      {2'd0, 1'b0}, {2'd1, 1'b1}: count_d = count_q;
      {2'd0, 1'b1}:               count_d = count_down;
      {2'd1, 1'b0}, {2'd2, 1'b1}: count_d = count_up;
      {2'd2, 1'b0}, {2'd3, 1'b1}: count_d = up(count_up);
      default:                    count_d = up(up(count_up));
    endcase
  end

  always_ff @(posedge clk_i) begin
    count_q <= count_d;
    any_o   <= Late ? count_d > count_t'(1) : give_i > 2'(take_i) || (any_o && !(one && take_i && give_i == '0));
    if (rst_i) begin
      count_q <= count_t'(Credits);
      any_o   <= 1'b1;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_any_says_so : assert (any_o == (count_q > count_t'(Late))) else $error("%0d credits, any_o is %0d", count_q, any_o);
      a_taken_while_there_is_one : assert (count_q != '0 || !take_i) else $error("a credit is taken, and there is none");
      a_no_credit_too_many : assert (int'(count_q) + int'(give_i) <= int'(Credits) + int'(take_i))
      else $error("more than %0d credits", Credits);
    end
  end
`endif

endmodule
