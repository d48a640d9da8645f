// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Asks for pause out of what waits: by class as PFC does, and for all of it. A request begins at the high threshold and ends at the low one.
//
// Latency 2 cycles from an event to the request. Throughput: one frame that comes and two that go per cycle. Reset: nothing waits.
module pst_pause_watch #(
    parameter int unsigned Classes = 8,    // 1..8
    parameter int unsigned Width   = 24    // of what waits, pages or bytes; 2^Width is more than can wait
) (
    input  logic                         clk_i,
    input  logic                         rst_i,
    // a frame comes to wait, one leaves, one is dropped: its class, and how much it is
    input  logic                         come_valid_i,
    input  logic [          2:0]         come_class_i,
    input  logic [    Width-1:0]         come_amount_i,
    input  logic                         left_valid_i,
    input  logic [          2:0]         left_class_i,
    input  logic [    Width-1:0]         left_amount_i,
    input  logic                         gone_valid_i,
    input  logic [          2:0]         gone_class_i,
    input  logic [    Width-1:0]         gone_amount_i,
    // thresholds of each class, and of all; high 0: never
    input  logic [Classes-1:0][Width-1:0] high_i,
    input  logic [Classes-1:0][Width-1:0] low_i,
    input  logic [    Width-1:0]         all_high_i,
    input  logic [    Width-1:0]         all_low_i,
    // what waits; requests, bit 8: for all, as CMAC's ctl_tx_pause_req
    output logic [Classes-1:0][Width-1:0] waits_o,
    output logic [    Width-1:0]         all_waits_o,
    output logic [          8:0]         request_o
);

  if (Classes < 1 || Classes > 8 || Width < 1) begin : g_bad_size
    $error("pst_pause_watch: Classes is %0d (1 to 8), Width is %0d (1 and more)", Classes, Width);
  end

  typedef logic [Width-1:0] amount_t;

  logic [Classes:0][Width-1:0] waits_q;    // the last one: all
  logic [Classes:0] request_q;

  // What this cycle's events change of a class, or of all.
  function automatic amount_t change(logic come, logic left, logic gone);
    return (come ? come_amount_i : '0) - (left ? left_amount_i : '0) - (gone ? gone_amount_i : '0);
  endfunction

  function automatic logic next(logic now, amount_t waits, amount_t high, amount_t low);
    return high != '0 && (waits >= high || (now && waits > low));
  endfunction

  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < Classes; c++) begin
      waits_q[c]   <= waits_q[c] + change(come_valid_i && come_class_i == 3'(c), left_valid_i && left_class_i == 3'(c),
                                          gone_valid_i && gone_class_i == 3'(c));
      request_q[c] <= next(request_q[c], waits_q[c], high_i[c], low_i[c]);
    end
    waits_q[Classes]   <= waits_q[Classes] + change(come_valid_i, left_valid_i, gone_valid_i);
    request_q[Classes] <= next(request_q[Classes], waits_q[Classes], all_high_i, all_low_i);
    if (rst_i) begin
      waits_q   <= '0;
      request_q <= '0;
    end
  end

  assign waits_o     = waits_q[Classes-1:0];
  assign all_waits_o = waits_q[Classes];
  assign request_o   = {request_q[Classes], 8'(request_q[Classes-1:0])};

`ifndef SYNTHESIS
  // With two bits more nothing wraps.
  function automatic logic [Width+1:0] wide(logic valid, amount_t amount);
    return valid ? (Width + 2)'(amount) : '0;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_no_more_leaves_than_waits : assert (wide(1'b1, waits_q[Classes]) + wide(come_valid_i, come_amount_i)
                                            >= wide(left_valid_i, left_amount_i) + wide(gone_valid_i, gone_amount_i))
      else $error("pst_pause_watch: more leaves than waits");
    end
  end
`endif

endmodule
