// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Finds the first profile that fits a frame's headers, and makes of them the key of a subscriber and a class.
//
// Throughput: a header vector per cycle. Latency: 2 cycles, of a prefix 1; with SplitStages 4 and 3. Order: as they come.
// Reset:      all profiles are off; vectors inside are forgotten. Classes stay, so software writes those that it uses.
// A vector sees profiles and classes that were written in the cycles before it came, and may see a class written in the cycle after, with
// SplitStages in the three after.
module pst_profile
  import pst_parse_pkg::headers_t;
  import pst_profile_pkg::*;
#(
    parameter int unsigned Profiles = 8,          // 1 .. 16, the first that fits counts
    parameter bit          SplitStages = 1'b0,    // each stage is two
    localparam int unsigned IndexWidth = Profiles > 1 ? $clog2(Profiles) : 1
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // a profile, and the class of a value of 0 .. 63 in a profile
    input  logic                   profile_we_i,
    input  logic [ IndexWidth-1:0] profile_index_i,
    input  profile_t               profile_i,
    input  logic                   class_we_i,
    input  logic [ IndexWidth-1:0] class_profile_i,
    input  logic [            5:0] class_value_i,
    input  logic [            3:0] class_i,
    // header vectors, and the input port of the frame
    input  logic                   s_headers_valid_i,
    input  headers_t               s_headers_i,
    input  logic [            3:0] s_port_i,
    // what the profile makes of them
    output logic                   m_choice_valid_o,
    output logic                   m_choice_fits_o,       // a profile fits; else all below is 0
    output logic [ IndexWidth-1:0] m_choice_profile_o,
    output logic                   m_choice_routed_o,     // by the longest prefix
    output logic [   KeyWidth-1:0] m_choice_key_o,        // 0 if by prefix
    output logic [            3:0] m_choice_class_o,
    // a cycle earlier
    output logic                   m_prefix_valid_o,
    output logic [PrefixWidth-1:0] m_prefix_o             // of a frame that is not by prefix any one
);

  if (Profiles < 1 || Profiles > 16) begin : g_bad_profiles
    $error("pst_profile: Profiles is %0d, allowed: 1..16", Profiles);
  end

  // ---- cycle 0: which kinds the headers have, so which profiles fit; the first of these

  // A frame takes all profiles with it, as they are now.
  typedef struct packed {
    logic [Profiles-1:0]     fits;
    profile_t [Profiles-1:0] profiles;
    headers_t                headers;
    logic [19:0]             last_label;   // that was read
  } fitting_t;

  profile_t [Profiles-1:0] profile_q;
  logic [15:0] has;
  fitting_t fitting, t0;
  logic valid0;
  logic [IndexWidth-1:0] first;

  always_comb begin
    has                         = '0;
    has[KindAny]                = 1'b1;
    has[KindTwoTags]            = s_headers_i.tags == 2'd2;
    has[KindOuterTag]           = s_headers_i.tags != 2'd0;
    has[KindSessionSource]      = s_headers_i.pppoe;
    has[KindSessionDestination] = s_headers_i.pppoe;
    has[KindMacSource]          = s_headers_i.ethernet;
    has[KindMacDestination]     = s_headers_i.ethernet;
    has[KindIpv4Source]         = s_headers_i.ip == 3'd4;
    has[KindIpv4Destination]    = s_headers_i.ip == 3'd4;
    has[KindIpv6Source]         = s_headers_i.ip == 3'd6;
    has[KindIpv6Destination]    = s_headers_i.ip == 3'd6;
    has[KindTopLabel]           = s_headers_i.labels != 3'd0;
    has[KindLastLabel]          = s_headers_i.labels != 3'd0;
    has[KindRoutedSource]       = s_headers_i.ip != 3'd0;
    has[KindRoutedDestination]  = s_headers_i.ip != 3'd0;
    fitting.profiles            = profile_q;
    fitting.headers             = s_headers_i;
    fitting.last_label          = s_headers_i.label[2'(s_headers_i.labels - 3'd1)].label;
    for (int unsigned i = 0; i < Profiles; i++) fitting.fits[i] = has[profile_q[i].kind] && profile_q[i].ports[s_port_i];
  end

  pst_stage #(
      .Width($bits(fitting_t)),
      .Registered(SplitStages)
  ) u_fitting (
      .clk_i,
      .rst_i,
      .valid_i(s_headers_valid_i),
      .data_i (fitting),
      .valid_o(valid0),
      .data_o (t0)
  );

  always_comb begin
    first = '0;
    for (int i = int'(Profiles) - 1; i >= 0; i--) begin
      if (t0.fits[i]) first = IndexWidth'(unsigned'(i));
    end
  end

  // ---- cycle 1: key, prefix and what gives the class; the class

  typedef struct packed {
    logic                  valid;
    logic                  fits;
    logic [IndexWidth-1:0] index;
  } chosen_t;

  typedef struct packed {
    logic                   fits;
    logic [IndexWidth-1:0]  index;
    logic                   routed;
    logic [3:0]             space;
    logic [63:0]            fields;
    logic [PrefixWidth-1:0] prefix;
    logic [5:0]             value;         // that gives the class
  } key_t;

  chosen_t chosen_q, chosen_q2;
  profile_t chosen_profile_q;
  headers_t headers_q;
  logic [19:0] last_label_q;
  logic routed_q2, valid1;
  logic [127:0] address;
  logic [KeyWidth-1:0] key_q2;
  key_t made, t1;

  always_comb begin
    address     = chosen_profile_q.kind == KindRoutedSource ? headers_q.source : headers_q.destination;
    made.fits   = chosen_q.fits;
    made.index  = chosen_q.index;
    made.routed = chosen_q.fits && chosen_profile_q.kind inside {KindRoutedSource, KindRoutedDestination};
    made.space  = chosen_profile_q.space;
    made.prefix = headers_q.ip == 3'd6 ? {1'b1, address[127:64]} : {1'b0, address[31:0], 32'd0};
    made.fields = '0;
    unique case (chosen_profile_q.kind)
      KindTwoTags:            made.fields[23:0] = {headers_q.outer_tag.id, headers_q.inner_tag.id};
      KindOuterTag:           made.fields[11:0] = headers_q.outer_tag.id;
      KindSessionSource:      made.fields = {headers_q.session, headers_q.source_mac};
      KindSessionDestination: made.fields = {headers_q.session, headers_q.destination_mac};
      KindMacSource:          made.fields[47:0] = headers_q.source_mac;
      KindMacDestination:     made.fields[47:0] = headers_q.destination_mac;
      KindIpv4Source:         made.fields[31:0] = headers_q.source[31:0];
      KindIpv4Destination:    made.fields[31:0] = headers_q.destination[31:0];
      KindIpv6Source:         made.fields = headers_q.source[127:64];
      KindIpv6Destination:    made.fields = headers_q.destination[127:64];
      KindTopLabel:           made.fields[19:0] = headers_q.label[0].label;
      KindLastLabel:          made.fields[19:0] = last_label_q;
      default:                made.fields = '0;
    endcase
    unique case (chosen_profile_q.class_of)
      ClassDscp:     made.value = headers_q.dscp;
      ClassOuterPcp: made.value = {3'd0, headers_q.outer_tag.pcp};
      ClassInnerPcp: made.value = {3'd0, headers_q.inner_tag.pcp};
      ClassTraffic:  made.value = {3'd0, headers_q.label[0].traffic_class};
      ClassEcn:      made.value = {4'd0, headers_q.ecn};
      default:       made.value = '0;
    endcase
  end

  pst_stage #(
      .Width($bits(key_t)),
      .Registered(SplitStages)
  ) u_key (
      .clk_i,
      .rst_i,
      .valid_i(chosen_q.valid),
      .data_i (made),
      .valid_o(valid1),
      .data_o (t1)
  );

  logic [3:0] class_found;

  pst_ram_1r1w #(
      .Width(4),
      .Depth(64 * 2 ** IndexWidth),
      .Style("distributed")
  ) u_classes (
      .clk_i,
      .we_i   (class_we_i),
      .waddr_i({class_profile_i, class_value_i}),
      .wdata_i(class_i),
      .re_i   (1'b1),
      .raddr_i({t1.index, t1.value}),
      .rdata_o(class_found)
  );

  always_ff @(posedge clk_i) begin
    if (profile_we_i) profile_q[profile_index_i] <= profile_i;
    chosen_q         <= '{valid: valid0, fits: valid0 && t0.fits != '0, index: first};
    chosen_profile_q <= t0.profiles[first];
    headers_q        <= t0.headers;
    last_label_q     <= t0.last_label;
    chosen_q2        <= '{valid: valid1, fits: t1.fits, index: t1.index};
    routed_q2        <= t1.routed;
    key_q2           <= t1.fits && !t1.routed ? {t1.space, 12'd0, t1.fields} : '0;
    if (rst_i) begin
      profile_q       <= '0;
      chosen_q.valid  <= 1'b0;
      chosen_q2.valid <= 1'b0;
    end
  end

  assign m_choice_valid_o   = chosen_q2.valid;
  assign m_choice_fits_o    = chosen_q2.fits;
  assign m_choice_profile_o = chosen_q2.fits ? chosen_q2.index : '0;
  assign m_choice_routed_o  = routed_q2;
  assign m_choice_key_o     = key_q2;
  assign m_choice_class_o   = chosen_q2.fits ? class_found : '0;
  assign m_prefix_valid_o   = valid1;
  assign m_prefix_o         = t1.prefix;

  logic unused;                            // most headers make no key
  assign unused = &{1'b0, chosen_profile_q.ports, headers_q, address};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_profile_is_there : assert (!profile_we_i || 32'(profile_index_i) < Profiles)
      else $error("profile %0d of %0d is written", profile_index_i, Profiles);
    end
  end
`endif

endmodule
