// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Packets and bytes of the frames lost for each reason, in registers.
//
// Throughput: four events per cycle, one from each input, of the same reason or of different ones. Reason DropNone is not counted.
// Latency:    an event is in the outputs 2 cycles later. Packets and bytes of one reason always change together.
// Counters wrap around at their width; reset clears them.
module pst_drop_counters
  import pst_pkg::drop_e, pst_pkg::DropOversize, pst_pkg::DropBadFrame;
#(
    parameter int unsigned PacketWidth = 50,  // bits, >= 2
    parameter int unsigned ByteWidth = 56,    // bits, >= 18
    parameter int unsigned Reasons = 7,       // codes 1..Reasons of drop_e have a counter, 1..15
    parameter logic [15:0] Counted = '1       // those that can come, a bit each; the counters of others are 0
) (
    input  logic                                clk_i,
    input  logic                                rst_i,
    // events of the four places where frames are lost
    input  logic                                ev_a_valid_i,
    input  drop_e                               ev_a_reason_i,
    input  logic [       31:0]                  ev_a_len_i,    // more than 65,535 with DropOversize and DropBadFrame only
    input  logic                                ev_b_valid_i,
    input  drop_e                               ev_b_reason_i,
    input  logic [       15:0]                  ev_b_len_i,
    input  logic                                ev_c_valid_i,
    input  drop_e                               ev_c_reason_i,
    input  logic [       15:0]                  ev_c_len_i,
    input  logic                                ev_d_valid_i,
    input  drop_e                               ev_d_reason_i,
    input  logic [       15:0]                  ev_d_len_i,
    // counters by reason
    output logic [  Reasons:1][PacketWidth-1:0] packets_o,
    output logic [  Reasons:1][  ByteWidth-1:0] bytes_o
);

  if (PacketWidth < 2 || ByteWidth < 18) begin : g_bad_width
    $error("pst_drop_counters: PacketWidth is %0d (at least 2), ByteWidth is %0d (at least 18)", PacketWidth, ByteWidth);
  end

`ifndef SYNTHESIS
  localparam logic [15:0] Has = (Counted | 16'd1) & ~(16'hfffe << Reasons);  // DropNone, too
`endif

  for (genvar reason = 1; reason <= Reasons; reason++) begin : g_reason
    if (Counted[reason]) begin : g_counted
      logic hit_a, hit_b, hit_c, hit_d;
      assign hit_a = ev_a_valid_i && ev_a_reason_i == drop_e'(reason);
      assign hit_b = ev_b_valid_i && ev_b_reason_i == drop_e'(reason);
      assign hit_c = ev_c_valid_i && ev_c_reason_i == drop_e'(reason);
      assign hit_d = ev_d_valid_i && ev_d_reason_i == drop_e'(reason);

      // The sum of the events is registered first, so that the wide adders see one small number.
      logic [            2:0] add_packets_q;
      localparam int unsigned AddWidth = reason == int'(DropOversize) || reason == int'(DropBadFrame) ? 33 : 18;
      logic [   AddWidth-1:0] add_bytes_q;
      logic [PacketWidth-1:0] packets_q;
      logic [  ByteWidth-1:0] bytes_q;

      always_ff @(posedge clk_i) begin
        add_packets_q <= 3'(hit_a) + 3'(hit_b) + 3'(hit_c) + 3'(hit_d);
        add_bytes_q   <= (hit_a ? AddWidth'(ev_a_len_i) : '0) + (hit_b ? AddWidth'(ev_b_len_i) : '0)
                         + (hit_c ? AddWidth'(ev_c_len_i) : '0) + (hit_d ? AddWidth'(ev_d_len_i) : '0);
        packets_q     <= packets_q + PacketWidth'(add_packets_q);
        bytes_q       <= bytes_q + ByteWidth'(add_bytes_q);
        if (rst_i) begin
          add_packets_q <= '0;
          add_bytes_q   <= '0;
          packets_q     <= '0;
          bytes_q       <= '0;
        end
      end

      assign packets_o[reason] = packets_q;
      assign bytes_o[reason]   = bytes_q;
    end else begin : g_never
      assign packets_o[reason] = '0;
      assign bytes_o[reason]   = '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_length_in_range : assert (!ev_a_valid_i || ev_a_len_i < 65536 || ev_a_reason_i inside {DropOversize, DropBadFrame})
      else $error("pst_drop_counters: event a has %0d bytes with the reason %0d", ev_a_len_i, ev_a_reason_i);
      a_reason_a_exists : assert (!(ev_a_valid_i && !Has[ev_a_reason_i]))
      else $error("pst_drop_counters: event a has the reason %0d, which does not exist", ev_a_reason_i);
      a_reason_b_exists : assert (!(ev_b_valid_i && !Has[ev_b_reason_i]))
      else $error("pst_drop_counters: event b has the reason %0d, which does not exist", ev_b_reason_i);
      a_reason_c_exists : assert (!(ev_c_valid_i && !Has[ev_c_reason_i]))
      else $error("pst_drop_counters: event c has the reason %0d, which does not exist", ev_c_reason_i);
      a_reason_d_exists : assert (!(ev_d_valid_i && !Has[ev_d_reason_i]))
      else $error("pst_drop_counters: event d has the reason %0d, which does not exist", ev_d_reason_i);
    end
  end
`endif

endmodule
