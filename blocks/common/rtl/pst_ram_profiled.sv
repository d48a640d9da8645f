// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// RAM of words that many addresses have in common: for each address the number of a profile, for each profile its word.
//
// Profiles = 0: each address has its own word, and this is a pst_ram_1r1w.
//
// Latency:  a read 1 cycle to profile_o, 2 cycles to rdata_o.
// Read during write of the same address: undefined, as of pst_ram_1r1w.
// Reset:    none; a module that needs cleared contents walks through all addresses, and gives them a profile that is fresh.
module pst_ram_profiled #(
    parameter int unsigned Width = 32,        // bits per word, >= 1
    parameter int unsigned Depth = 512,       // addresses, >= 2
    parameter int unsigned Profiles = 0,      // profiles, power of two, 2 .. 65,536; 0: each address has its own word
    parameter string       Style = "auto",    // see pst_ram_1r1w
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input  logic                 clk_i,
    // write port
    input  logic                 we_i,
    input  logic [AddrWidth-1:0] waddr_i,
    input  logic [         15:0] profile_i,    // the address has this profile from now on; 0 without Profiles
    input  logic                 fresh_i,      // no address has it, and wdata_i becomes its word; else it has one, which is equal
    input  logic [    Width-1:0] wdata_i,
    // read port
    input  logic [AddrWidth-1:0] raddr_i,
    output logic [         15:0] profile_o,    // one cycle later; 0 without Profiles
    output logic [    Width-1:0] rdata_o
);

  if (Profiles == 1 || Profiles > 65536 || (Profiles & (Profiles - 1)) != 0) begin : g_bad_profiles
    $error("pst_ram_profiled: Profiles is %0d, allowed: 0, or a power of two from 2 to 65,536", Profiles);
  end

  if (Profiles == 0) begin : g_own
    pst_ram_1r1w #(
        .Width(Width), .Depth(Depth), .ReadLatency(2), .Style(Style)
    ) u_words (
        .clk_i, .we_i, .waddr_i, .wdata_i, .re_i(1'b1), .raddr_i, .rdata_o
    );

    assign profile_o = '0;

    logic unused;
    assign unused = &{1'b0, profile_i, fresh_i};
  end else begin : g_profiled
    localparam int unsigned ProfileWidth = $clog2(Profiles);

    typedef logic [ProfileWidth-1:0] profile_t;

    profile_t profile;

    pst_ram_1r1w #(
        .Width(ProfileWidth), .Depth(Depth), .Style(Style)
    ) u_profiles (
        .clk_i, .we_i, .waddr_i, .wdata_i(profile_i[ProfileWidth-1:0]), .re_i(1'b1), .raddr_i, .rdata_o(profile)
    );

    pst_ram_1r1w #(
        .Width(Width), .Depth(Profiles), .Style(Style)
    ) u_words (
        .clk_i, .we_i(we_i && fresh_i), .waddr_i(profile_i[ProfileWidth-1:0]), .wdata_i, .re_i(1'b1), .raddr_i(profile), .rdata_o
    );

    assign profile_o = 16'(profile);

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      if (we_i) a_profile_in_range : assert (int'(profile_i) < Profiles) else $error("profile %0d of %0d", profile_i, Profiles);
    end
`endif
  end

endmodule
