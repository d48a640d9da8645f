// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Settings of the queues of one direction: software writes and reads them, and a walk takes one after the other.
//
// A queue that was not written has Setting. While shape_i is low the walk gets the unshaped setting for each queue; what is written is kept.
//
// Latency: 1 cycle from an access or another queue_i to the answer. A write takes the cycle of the memory's read; accesses go before the walk.
// Reset:   every queue has Setting.
module pst_bridge_settings
  import pst_bridge_pkg::setting_t, pst_bridge_pkg::access_t;
#(
    parameter int unsigned Queues = 16,    // 2 .. 4096, a power of two
    parameter setting_t    Setting = pst_bridge_pkg::unshaped(),
    localparam int unsigned QueueWidth = $clog2(Queues)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    // software; the queue exists
    input  logic                  shape_i,
    input  access_t               access_i,
    output logic                  back_valid_o,    // pulse: the setting that was read
    output setting_t              back_o,
    // the walk
    input  logic [QueueWidth-1:0] queue_i,
    output logic                  setting_valid_o,
    output setting_t              setting_o
);

  if (Queues < 2 || Queues != 2 ** QueueWidth || QueueWidth > 12) begin : g_bad_queues
    $error("pst_bridge_settings: Queues is %0d, allowed: powers of two from 2 to 4096", Queues);
  end

  typedef logic [QueueWidth-1:0] queue_t;

  logic [Queues-1:0] written_q;
  logic back_q, walk_q, own_q;    // the word is for software, for the walk; its queue was written
  queue_t queue, walk_queue_q;
  setting_t word, found;

  assign queue = access_i.read || access_i.write ? queue_t'(access_i.queue_) : queue_i;

  pst_ram_1r1w #(
      .Width($bits(setting_t)), .Depth(Queues), .Style("distributed")
  ) u_settings (
      .clk_i, .we_i(access_i.write), .waddr_i(queue), .wdata_i(access_i.setting), .re_i(!access_i.write), .raddr_i(queue), .rdata_o(word)
  );

  always_ff @(posedge clk_i) begin
    back_q       <= access_i.read;
    walk_q       <= !access_i.read && !access_i.write;
    walk_queue_q <= queue;
    own_q        <= written_q[queue];
    if (access_i.write) written_q[queue] <= 1'b1;
    if (rst_i) begin
      back_q    <= 1'b0;
      walk_q    <= 1'b0;
      written_q <= '0;
    end
  end

  assign found           = own_q ? word : Setting;
  assign back_valid_o    = back_q;
  assign back_o          = found;
  assign setting_valid_o = walk_q && walk_queue_q == queue_i;
  assign setting_o       = shape_i ? found : pst_bridge_pkg::unshaped();

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_one_access : assert (!(access_i.read && access_i.write));
      a_queue_in_range : assert (!(access_i.read || access_i.write) || 32'(access_i.queue_) < Queues);
    end
  end
`endif

endmodule
