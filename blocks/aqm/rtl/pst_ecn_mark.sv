// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Sets Congestion Experienced in frames that are to be marked (RFC 3168), IPv4 and IPv6, behind up to two VLAN tags.
//
// Throughput: one beat per cycle. Latency: 2 cycles. Ordering: in order.
// Reset:      forgets the beats under way; the next beat is the first of a frame.
//
// A frame that is not ECN-capable (ECT(0) or ECT(1)) passes as it is, and so does every byte but the ECN field and IPv4's
// header checksum, which changes by the difference (RFC 1624, equation 3).
module pst_ecn_mark #(
    parameter int unsigned UserWidth = 1      // bits that go along with each beat (tuser, tid), >= 1
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
    input  logic                 s_mark_i,           // mark this frame; counts with its first beat
    input  logic [        511:0] s_axis_tdata_i,
    input  logic [         63:0] s_axis_tkeep_i,
    input  logic                 s_axis_tlast_i,
    input  logic [UserWidth-1:0] s_axis_tuser_i,
    input  logic                 s_axis_tvalid_i,
    output logic                 s_axis_tready_o,
    output logic [        511:0] m_axis_tdata_o,
    output logic [         63:0] m_axis_tkeep_o,
    output logic                 m_axis_tlast_o,
    output logic [UserWidth-1:0] m_axis_tuser_o,
    output logic                 m_axis_tvalid_o,
    input  logic                 m_axis_tready_i
);

  if (UserWidth < 1) begin : g_bad_user
    $error("pst_ecn_mark: UserWidth is %0d, must be at least 1", UserWidth);
  end

  localparam int unsigned EthernetBytes = 14, TagBytes = 4, ChecksumOffset = 10;

  typedef struct packed {
    logic [511:0]         data;
    logic [63:0]          keep;
    logic                 last;
    logic [UserWidth-1:0] user;
  } beat_t;

  typedef struct packed {
    beat_t      beat;
    logic       mark;      // in this beat
    logic       ipv4;
    logic [1:0] tags;
  } found_t;

  found_t found, found_q;
  beat_t marked, out;
  logic first_q, ect, found_valid, found_ready;

  // --- where the field is

  pst_ecn_detect u_detect (
      .data_i(s_axis_tdata_i),
      .keep_i(s_axis_tkeep_i),
      .ect_o (ect),
      .ce_o  (),
      .ipv4_o(found.ipv4),
      .tags_o(found.tags)
  );

  assign found.beat = '{data: s_axis_tdata_i, keep: s_axis_tkeep_i, last: s_axis_tlast_i, user: s_axis_tuser_i};
  assign found.mark = s_mark_i && first_q && ect;

  always_ff @(posedge clk_i) begin
    if (s_axis_tvalid_i && s_axis_tready_o) first_q <= s_axis_tlast_i;
    if (rst_i) first_q <= 1'b1;
  end

  pst_skid_buffer #(
      .Width($bits(found_t))
  ) u_found (
      .clk_i,
      .rst_i,
      .s_valid_i(s_axis_tvalid_i),
      .s_ready_o(s_axis_tready_o),
      .s_data_i (found),
      .m_valid_o(found_valid),
      .m_ready_i(found_ready),
      .m_data_o (found_q)
  );

  // --- set both bits; IPv4: take what the word has grown by from its checksum

  logic [15:0] checksum, reduced;
  logic [16:0] sum;
  logic [1:0] growth;

  always_comb begin
    marked   = found_q.beat;
    growth   = '0;
    checksum = '0;
    sum      = '0;
    reduced  = '0;
    for (int unsigned t = 0; t < 3; t++) begin
      if (found_q.mark && found_q.tags == 2'(t)) begin
        if (found_q.ipv4) begin
          growth   = 2'b11 - found_q.beat.data[8*(EthernetBytes+TagBytes*t+1)+:2];
          checksum = {found_q.beat.data[8*(EthernetBytes+TagBytes*t+ChecksumOffset)+:8],
                      found_q.beat.data[8*(EthernetBytes+TagBytes*t+ChecksumOffset+1)+:8]};
          sum      = 17'(16'(~checksum)) + 17'(growth);
          reduced  = ~(sum[15:0] + 16'(sum[16]));
          marked.data[8*(EthernetBytes+TagBytes*t+1)+:2] = 2'b11;
          marked.data[8*(EthernetBytes+TagBytes*t+ChecksumOffset)+:8] = reduced[15:8];
          marked.data[8*(EthernetBytes+TagBytes*t+ChecksumOffset+1)+:8] = reduced[7:0];
        end else begin
          marked.data[8*(EthernetBytes+TagBytes*t+1)+4+:2] = 2'b11;
        end
      end
    end
  end

  pst_skid_buffer #(
      .Width($bits(beat_t))
  ) u_marked (
      .clk_i,
      .rst_i,
      .s_valid_i(found_valid),
      .s_ready_o(found_ready),
      .s_data_i (marked),
      .m_valid_o(m_axis_tvalid_o),
      .m_ready_i(m_axis_tready_i),
      .m_data_o (out)
  );

  assign m_axis_tdata_o = out.data;
  assign m_axis_tkeep_o = out.keep;
  assign m_axis_tlast_o = out.last;
  assign m_axis_tuser_o = out.user;

`ifndef SYNTHESIS
  logic waits_q;
  logic [$bits(beat_t)-1:0] waiting_q;
  always_ff @(posedge clk_i) begin
    waits_q   <= m_axis_tvalid_o && !m_axis_tready_i && !rst_i;
    waiting_q <= out;
    if (waits_q && !rst_i) a_beat_waits : assert (m_axis_tvalid_o && out == waiting_q);
  end
`endif

endmodule
