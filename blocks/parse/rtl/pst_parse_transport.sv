// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads what is behind the IP header: TCP, UDP, SCTP, ICMP, ESP, and with Tunnels GTP-U and L2TP.
//
// Throughput: a window per cycle. Latency: 3 cycles. Order: as they come. Reset: what is inside is forgotten.
module pst_parse_transport
  import pst_parse_pkg::*;
#(
    parameter int unsigned WindowBytes = 128,
    parameter bit          Tunnels     = 1'b1,    // GTP-U and L2TP are read
    localparam int unsigned RestBytes = WindowBytes - 14
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  logic                      valid_i,
    input  step_t                     step_i,     // NextUpper or NextNone
    input  logic [5:0]                words_i,    // words of 4 bytes from the IP header to the transport header
    input  logic [RestBytes-1:0][7:0] rest_i,     // from the IP header on
    output logic                      valid_o,
    output headers_t                  headers_o
);

  localparam logic [7:0] Icmp4 = 8'd1, Tcp = 8'd6, Udp = 8'd17, Esp = 8'd50, Icmp6 = 8'd58, NoNext = 8'd59, L2tp = 8'd115, Sctp = 8'd132;
  localparam logic [15:0] PortGtpu = 16'd2152, PortL2tp = 16'd1701;
  localparam int unsigned Rows = (RestBytes + 15) / 16;   // of 16 bytes

  logic [3:1] valid_q;
  step_t step1_q, step2_d, step2_q;
  headers_t headers_d, headers_q;

  // ---- 1: the rows of 16 bytes in which the header is

  logic [(Rows+2)*16-1:0][7:0] padded;
  logic [27:0][7:0] row_d, row_q;       // the first 16 bytes of the header begin with one of the first 4 words
  logic [1:0] word1_q;
  logic deep_d, deep_q;

  always_comb begin
    padded = '0;
    padded[RestBytes-1:0] = rest_i;
    row_d = '0;
    for (int unsigned i = 0; i < Rows; i++) if (words_i[5:2] == 4'(i)) row_d = padded[16*i+:28];
    unique case (step_i.headers.protocol)
      8'd0, 8'd43, 8'd44, 8'd51, 8'd60: deep_d = step_i.headers.ip == 3'd6;
      default: deep_d = 1'b0;
    endcase
  end

  // ---- 2: the transport header

  typedef enum logic [1:0] {
    InNone = 2'd0,
    InGtpu = 2'd1,
    InL2tp = 2'd2
  } in_e;

  logic [15:0][7:0] head;
  logic [7:0][7:0] above_q;             // the first bytes behind the UDP header
  logic [7:0] protocol;
  logic [4:0] size;
  transport_e transport;
  logic fits;
  in_e in_d, in_q;

  always_comb begin
    step2_d   = step1_q;
    head      = row_q[15:0];
    for (int unsigned i = 1; i < 4; i++) if (word1_q == 2'(i)) head = row_q[4*i+:16];
    protocol  = step1_q.headers.protocol;
    transport = TransportNone;
    size      = 5'd8;
    in_d      = InNone;
    unique case (protocol)
      Icmp4:   if (step1_q.headers.ip == 3'd4) transport = TransportIcmp;
      Icmp6:   if (step1_q.headers.ip == 3'd6) transport = TransportIcmp;
      Tcp: begin
        transport = TransportTcp;
        size      = 5'd20;
      end
      Udp:     transport = TransportUdp;
      Sctp: begin
        transport = TransportSctp;
        size      = 5'd12;
      end
      Esp:     transport = TransportEsp;
      L2tp:    size = 5'd4;
      default: ;
    endcase
    fits = step1_q.left >= 12'(size) && step1_q.room >= 8'(size);
    if (step1_q.next == NextUpper) begin
      step2_d.left = bounded(step1_q.left, {head[4], head[5]}) - 12'd8;
      step2_d.room = step1_q.room - 8'd8;
      if (deep_q) step2_d.headers.ending = EndDeep;
      else if (protocol == NoNext) step2_d.headers.ending = step1_q.headers.ip == 3'd6 ? EndDone : EndUnknown;
      else if (transport == TransportNone && !(Tunnels && protocol == L2tp)) step2_d.headers.ending = EndUnknown;
      else if (!fits) step2_d.headers.ending = step1_q.left < 12'(size) ? EndCut : EndBeyond;
      else if (transport == TransportTcp && head[12][7:4] < 4'd5) step2_d.headers.ending = EndBadLength;
      else if (transport == TransportUdp && {head[4], head[5]} < 16'd8) step2_d.headers.ending = EndBadLength;
      else begin
        step2_d.headers.transport_at = 8'(WindowBytes) - step1_q.room;
        if (transport != TransportNone) begin
          step2_d.headers.transport      = transport;
          step2_d.headers.transport_word = {head[0], head[1], head[2], head[3]};
        end else begin
          step2_d.headers.tunnel    = TunnelL2tp3;
          step2_d.headers.tunnel_id = {head[0], head[1], head[2], head[3]};
        end
        if (Tunnels && transport == TransportUdp) begin
          if ({head[2], head[3]} == PortGtpu) in_d = InGtpu;
          else if ({head[2], head[3]} == PortL2tp) in_d = InL2tp;
        end
      end
    end
  end

  // ---- 3: the tunnel's header behind UDP

  logic [15:0] flags;
  logic control, short_id;

  always_comb begin
    headers_d = step2_q.headers;
    flags    = {above_q[0], above_q[1]};
    control  = flags[15];
    short_id = flags[3:0] == 4'd2 && !flags[14];   // L2TPv2 without a length: six bytes
    if (in_q != InNone) begin
      if (step2_q.left < (in_q == InL2tp ? 12'd2 : 12'd8)) headers_d.ending = EndCut;
      else if (step2_q.room < (in_q == InL2tp ? 8'd2 : 8'd8)) headers_d.ending = EndBeyond;
      else if (in_q == InGtpu && above_q[0][7:4] != 4'b0011) headers_d.ending = EndBadVersion;
      else if (in_q == InL2tp && flags[3:0] != 4'd2 && flags[3:0] != 4'd3) headers_d.ending = EndBadVersion;
      else if (step2_q.left < (short_id && in_q == InL2tp ? 12'd6 : 12'd8)) headers_d.ending = EndCut;
      else if (step2_q.room < (short_id && in_q == InL2tp ? 8'd6 : 8'd8)) headers_d.ending = EndBeyond;
      else if (in_q == InGtpu) begin
        headers_d.tunnel    = TunnelGtpu;
        headers_d.tunnel_id = {above_q[4], above_q[5], above_q[6], above_q[7]};
      end else begin
        headers_d.tunnel         = flags[3:0] == 4'd2 ? TunnelL2tp2 : TunnelL2tp3;
        headers_d.tunnel_control = control;
        headers_d.tunnel_id      = short_id ? {above_q[2], above_q[3], above_q[4], above_q[5]}
                                                  : {above_q[4], above_q[5], above_q[6], above_q[7]};
      end
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[2:1], valid_i};
    step1_q <= step_i;
    row_q   <= row_d;
    word1_q <= words_i[1:0];
    deep_q  <= deep_d;
    step2_q <= step2_d;
    above_q <= head[15:8];
    in_q    <= in_d;
    headers_q <= headers_d;
    if (rst_i) valid_q <= '0;
  end

  logic unused;
  assign unused = &{1'b0, head[7:6], flags[13:4], step2_q.next};

  assign valid_o   = valid_q[3];
  assign headers_o = headers_q;

endmodule
