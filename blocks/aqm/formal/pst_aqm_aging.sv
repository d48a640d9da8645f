// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The contract of pst_aqm_aging for proofs: any state may be too old. `any` is not driven: the solver picks it.
module pst_aqm_aging #(
    parameter int unsigned Queues = 64,
    parameter int unsigned WriteCycles = 9,
    parameter bit          FirstTag = 1'b1,
    parameter string       RamStyle = "auto",
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [             3:0] epoch_i,
    input  logic                    look_valid_i,
    input  logic [QueueIdWidth-1:0] look_queue_i,
    output logic                    mark_o,
    input  logic                    write_valid_i,
    input  logic [QueueIdWidth-1:0] write_queue_i,
    input  logic                    write_tag_i,
    input  logic                    clear_i,
    input  logic [QueueIdWidth-1:0] clear_queue_i
);

  logic any;

  // A register, for an undriven wire might be something else for each of its readers.
  always_ff @(posedge clk_i) mark_o <= any;

endmodule
