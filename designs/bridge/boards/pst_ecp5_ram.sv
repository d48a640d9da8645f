// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A block RAM of ECP5 (DP16KD) for the simulation of a netlist: two ports, each with a clock and a width, on 2,048 bytes of nine bits.
//
// Address bits are those of single bits; a port that is wider has the enables of its bytes in the lowest ones. A width of 36 takes the data
// pins of both ports: port A writes so, port B reads. Without its output registers, which Yosys does not use.
// Latency: 1 cycle. Read during write of the same byte by the other port: the byte is wrong, as the device promises nothing.
module pst_ecp5_ram #(
    parameter int unsigned WidthA = 18,    // 1, 2, 4, 9, 18 or 36
    parameter int unsigned WidthB = 18,
    parameter string WriteModeA = "NORMAL",    // what the writing port reads: nothing new; WRITETHROUGH: what it writes; READBEFOREWRITE
    parameter string WriteModeB = "NORMAL",
    parameter logic [2047:0][8:0] Init = '0    // what the bytes are when the device begins
) (
    input  logic        clk_a_i,
    input  logic        rst_a_i,
    input  logic        ce_a_i,
    input  logic        we_a_i,
    input  logic [13:0] addr_a_i,
    input  logic [17:0] wdata_a_i,
    output logic [17:0] rdata_a_o,
    input  logic        clk_b_i,
    input  logic        rst_b_i,
    input  logic        ce_b_i,
    input  logic        we_b_i,
    input  logic [13:0] addr_b_i,
    input  logic [17:0] wdata_b_i,
    output logic [17:0] rdata_b_o
);

  if (!(WidthA inside {1, 2, 4, 9, 18, 36}) || !(WidthB inside {1, 2, 4, 9, 18, 36})) begin : g_bad_width
    $error("pst_ecp5_ram: widths are %0d and %0d, must be 1, 2, 4, 9, 18 or 36", WidthA, WidthB);
  end

  typedef logic [3:0][8:0] bytes_t;

  logic [8:0] mem[2048];
  initial for (int unsigned n = 0; n < 2048; n++) mem[n] = Init[n];

  // The first byte of an address, the bytes of a word, which of them are written, and the bits of a byte below nine that one has.
  function automatic logic [10:0] first(input logic [13:0] addr, input int unsigned width);
    return addr[13:3] & (width == 36 ? 11'h7fc : width == 18 ? 11'h7fe : 11'h7ff);
  endfunction

  function automatic logic [3:0] enables(input logic [13:0] addr, input int unsigned width);
    return width == 36 ? addr[3:0] : width == 18 ? {2'b0, addr[1:0]} : 4'd1;
  endfunction

  function automatic int unsigned count(input int unsigned width);
    return width == 36 ? 4 : width == 18 ? 2 : 1;
  endfunction

  // A byte with what a port of less than nine bits writes, and what such a port reads of it.
  function automatic logic [8:0] with_bits(input logic [8:0] old, input logic [8:0] data, input logic [2:0] bit_, input int unsigned width);
    logic [8:0] mask;
    mask = 9'((1 << width) - 1) << bit_;
    return width >= 9 ? data : (old & ~mask) | (data << bit_ & mask);
  endfunction

  function automatic logic [8:0] bits_of(input logic [8:0] whole, input logic [2:0] bit_, input int unsigned width);
    return width >= 9 ? whole : whole >> bit_ & 9'((1 << width) - 1);
  endfunction

  function automatic logic [2:0] bit_at(input logic [13:0] addr, input int unsigned width);
    return width == 4 ? {addr[2], 2'b0} : width == 2 ? {addr[2:1], 1'b0} : width == 1 ? addr[2:0] : 3'd0;
  endfunction

  bytes_t write_a, write_b, read_a_q, read_b_q;
  assign write_a = WidthA == 36 ? {wdata_b_i, wdata_a_i} : {18'b0, wdata_a_i};
  assign write_b = {18'b0, wdata_b_i};

  logic [10:0] at_a, at_b;
  assign at_a = first(addr_a_i, WidthA);
  assign at_b = first(addr_b_i, WidthB);

  always @(posedge clk_a_i) begin
    for (int unsigned n = 0; n < count(WidthA); n++) begin
      if (ce_a_i && we_a_i && enables(addr_a_i, WidthA)[n]) begin
        mem[at_a+11'(n)] <= with_bits(mem[at_a+11'(n)], write_a[n], bit_at(addr_a_i, WidthA), WidthA);
      end
      if (ce_a_i && (!we_a_i || WriteModeA != "NORMAL")) begin
        read_a_q[n] <= bits_of(mem[at_a+11'(n)], bit_at(addr_a_i, WidthA), WidthA);
        if (we_a_i && WriteModeA == "WRITETHROUGH") read_a_q[n] <= write_a[n];
        if (clk_b_i && ce_b_i && we_b_i && written_by_b(at_a + 11'(n))) read_a_q[n] <= ~bits_of(write_b[0], '0, WidthA);
      end
    end
    if (rst_a_i) read_a_q <= '0;
  end

  always @(posedge clk_b_i) begin
    for (int unsigned n = 0; n < count(WidthB); n++) begin
      if (ce_b_i && we_b_i && enables(addr_b_i, WidthB)[n]) begin
        mem[at_b+11'(n)] <= with_bits(mem[at_b+11'(n)], write_b[n], bit_at(addr_b_i, WidthB), WidthB);
      end
      if (ce_b_i && (!we_b_i || WriteModeB != "NORMAL")) begin
        read_b_q[n] <= bits_of(mem[at_b+11'(n)], bit_at(addr_b_i, WidthB), WidthB);
        if (we_b_i && WriteModeB == "WRITETHROUGH") read_b_q[n] <= write_b[n];
        if (clk_a_i && ce_a_i && we_a_i && written_by_a(at_b + 11'(n))) read_b_q[n] <= ~bits_of(write_a[0], '0, WidthB);
      end
    end
    if (rst_b_i) read_b_q <= '0;
  end

  function automatic logic written_by_a(input logic [10:0] at);
    return at >= at_a && at < at_a + 11'(count(WidthA)) && enables(addr_a_i, WidthA)[2'(at-at_a)];
  endfunction

  function automatic logic written_by_b(input logic [10:0] at);
    return at >= at_b && at < at_b + 11'(count(WidthB)) && enables(addr_b_i, WidthB)[2'(at-at_b)];
  endfunction

  assign rdata_a_o = WidthB == 36 ? {read_b_q[1], read_b_q[0]} : {read_a_q[1], read_a_q[0]};
  assign rdata_b_o = WidthB == 36 ? {read_b_q[3], read_b_q[2]} : {read_b_q[1], read_b_q[0]};

`ifndef SYNTHESIS
  always_ff @(posedge clk_a_i) begin
    a_one_writer : assert (!(clk_b_i && ce_a_i && we_a_i && ce_b_i && we_b_i && written_by_a(at_b)));
  end
`endif

endmodule
