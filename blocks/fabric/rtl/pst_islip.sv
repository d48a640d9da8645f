// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// iSLIP: in every cycle a matching of inputs and outputs, found by rotating arbiters in request, grant and accept.
//
// After N. McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM Trans. Networking 7(2), 1999, sections III (one
// iteration), IV (several) and VI.A (priorities). Pointers move one beyond what they chose, and only where a grant of the first
// iteration was accepted; each class has pointers of its own. Class 0 is the highest.
//
// Latency 0: match_o belongs to request_i of the same cycle. All iterations run in one cycle, one behind the other, so that every cycle
// has a match: an iteration for each cycle instead would divide the rate of every port by the number of iterations.
// A match is taken as carried out: the pointers move in every cycle with a request. Reset puts them to port 0.
module pst_islip #(
    parameter int unsigned Ports = 4,       // >= 2
    parameter int unsigned Classes = 1,     // >= 1
    parameter int unsigned Iterations = 1   // >= 1; more than Ports never find more
) (
    input  logic                                     clk_i,
    input  logic                                     rst_i,
    // [input][output][class]: a cell waits there that can be sent now
    input  logic [Ports-1:0][Ports-1:0][Classes-1:0] request_i,
    // [input]: the output it is matched with, one-hot, or none; and the class that goes, one-hot
    output logic [Ports-1:0][Ports-1:0]              match_o,
    output logic [Ports-1:0][Classes-1:0]            class_o
);

  if (Ports < 2 || Classes < 1 || Iterations < 1) begin : g_bad_size
    $error("pst_islip: Ports is %0d, allowed: from 2; Classes (%0d) and Iterations (%0d): from 1", Ports, Classes, Iterations);
  end

  typedef logic [Ports-1:0] ports_t;
  typedef logic [Classes-1:0] classes_t;

  // A pointer is the mask of the ports from it upwards. No port at all means port 0, like all of them, so that "one beyond the last"
  // needs no exception.
  ports_t [Ports-1:0][Classes-1:0] grant_mask_d, grant_mask_q, accept_mask_d, accept_mask_q;

  function automatic ports_t first_port(ports_t bits);
    return bits & (~bits + 1'b1);
  endfunction

  function automatic classes_t first_class(classes_t bits);
    return bits & (~bits + 1'b1);
  endfunction

  function automatic ports_t from_pointer(ports_t bits, ports_t mask);
    return (bits & mask) != '0 ? first_port(bits & mask) : first_port(bits);
  endfunction

  function automatic ports_t beyond(ports_t chosen);
    return ~(chosen | (chosen - 1'b1));
  endfunction

  ports_t input_free, output_free;                                   // not matched yet
  ports_t [Ports-1:0] grant, accept;                                 // [output]: input, [input]: output
  classes_t [Ports-1:0] grant_class, accept_class;
  ports_t [Ports-1:0] first_grant, first_accept;                     // those of the first iteration
  classes_t [Ports-1:0] first_grant_class, first_accept_class;

  always_comb begin
    input_free         = '1;
    output_free        = '1;
    match_o            = '0;
    class_o            = '0;
    grant              = '0;
    grant_class        = '0;
    accept             = '0;
    accept_class       = '0;
    first_grant        = '0;
    first_grant_class  = '0;
    first_accept       = '0;
    first_accept_class = '0;
    for (int n = 0; n < Iterations; n++) begin
      // Grant: each free output takes the first input from its pointer on among those that ask with its highest class.
      for (int j = 0; j < Ports; j++) begin
        automatic ports_t candidates = '0;
        automatic ports_t mask = '0;
        automatic classes_t wanted = '0;
        for (int i = 0; i < Ports; i++) if (input_free[i] && output_free[j]) wanted |= request_i[i][j];
        grant_class[j] = first_class(wanted);
        for (int i = 0; i < Ports; i++) candidates[i] = input_free[i] && (request_i[i][j] & grant_class[j]) != '0;
        for (int c = 0; c < Classes; c++) if (grant_class[j][c]) mask |= grant_mask_q[j][c];
        grant[j] = from_pointer(candidates, mask);
      end
      // Accept: the same at each input, among the grants that it has.
      for (int i = 0; i < Ports; i++) begin
        automatic ports_t candidates = '0;
        automatic ports_t mask = '0;
        automatic classes_t granted = '0;
        for (int j = 0; j < Ports; j++) if (grant[j][i]) granted |= grant_class[j];
        accept_class[i] = first_class(granted);
        for (int j = 0; j < Ports; j++) candidates[j] = grant[j][i] && (grant_class[j] & accept_class[i]) != '0;
        for (int c = 0; c < Classes; c++) if (accept_class[i][c]) mask |= accept_mask_q[i][c];
        accept[i] = from_pointer(candidates, mask);
      end
      for (int i = 0; i < Ports; i++) begin
        match_o[i] |= accept[i];
        class_o[i] |= accept_class[i];
        output_free &= ~accept[i];
        if (accept[i] != '0) input_free[i] = 1'b0;
      end
      if (n == 0) begin
        first_grant        = grant;
        first_grant_class  = grant_class;
        first_accept       = accept;
        first_accept_class = accept_class;
      end
    end
  end

  always_comb begin
    grant_mask_d  = grant_mask_q;
    accept_mask_d = accept_mask_q;
    for (int i = 0; i < Ports; i++) begin
      for (int c = 0; c < Classes; c++) begin
        if (first_accept_class[i][c]) accept_mask_d[i][c] = beyond(first_accept[i]);
      end
      for (int j = 0; j < Ports; j++) begin
        for (int c = 0; c < Classes; c++) begin
          if (first_accept[i][j] && first_grant_class[j][c]) grant_mask_d[j][c] = beyond(first_grant[j]);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    grant_mask_q  <= grant_mask_d;
    accept_mask_q <= accept_mask_d;
    if (rst_i) begin
      grant_mask_q  <= '0;
      accept_mask_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      for (int i = 0; i < Ports; i++) begin
        a_input_matched_once : assert ($onehot0(match_o[i])) else $error("input %0d is matched twice", i);
        a_free_or_matched : assert (input_free[i] == (match_o[i] == '0)) else $error("input %0d is both free and matched", i);
        for (int j = 0; j < Ports; j++) begin
          if (match_o[i][j]) a_match_was_requested : assert ((request_i[i][j] & class_o[i]) != '0) else $error("a match without a request");
          for (int k = 0; k < i; k++) a_output_matched_once : assert (!(match_o[i][j] && match_o[k][j]))
            else $error("output %0d is matched twice", j);
        end
      end
    end
  end
`endif

endmodule
