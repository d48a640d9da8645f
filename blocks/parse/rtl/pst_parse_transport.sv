// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads what is behind the IP header: TCP, UDP, SCTP, ICMP, ESP, and with Tunnels GTP-U and L2TP.
//
// Throughput: a window per cycle. Latency: 3 cycles, 4 with SplitStages. Order: as they come. Reset: what is inside is forgotten.
module pst_parse_transport
  import pst_parse_pkg::*;
#(
    parameter int unsigned WindowBytes = 128,
    parameter bit          Tunnels     = 1'b1,    // GTP-U and L2TP are read
    parameter bit          SplitStages = 1'b0,    // the second stage is two
    localparam int unsigned RestBytes = WindowBytes - 14
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  logic                      valid_i,
    input  upper_step_t               step_i,
    input  logic [RestBytes-1:0][7:0] rest_i,     // the window from byte 14 on
    output logic                      valid_o,
    output upper_t                    upper_o
);

  localparam logic [7:0] Icmp4 = 8'd1, Tcp = 8'd6, Udp = 8'd17, Esp = 8'd50, Icmp6 = 8'd58, NoNext = 8'd59, L2tp = 8'd115, Sctp = 8'd132;
  localparam logic [15:0] PortGtpu = 16'd2152, PortL2tp = 16'd1701;
  localparam int unsigned First = 32;   // byte of the window where the first row begins: a header begins at 34 at the earliest
  localparam int unsigned Rows = (WindowBytes - First + 15) / 16;   // of 16 bytes
  localparam int unsigned RowWidth = $clog2(Rows);

  logic valid1_q, valid2_q, valid3_q, valid2;
  upper_step_t step1_q;
  upper_t upper2_d, upper2_q, upper3_d, upper3_q;
  logic [LeftWidth-1:0] left2_d, left2_q;     // behind a UDP header
  logic [7:0] at2_q;

  // ---- 1: the rows of 16 bytes in which the header is

  logic [(Rows+1)*16-1:0][7:0] padded;
  logic [2**RowWidth-1:0][29:0][7:0] rows;
  logic [29:0][7:0] row_q;              // the first 16 bytes of the header begin at one of the first 8 half words
  logic deep_d, deep_q;

  always_comb begin
    padded = '0;
    padded[WindowBytes-First-1:0] = rest_i[RestBytes-1:First-14];
    unique case (step_i.protocol)
      8'd0, 8'd43, 8'd44, 8'd51, 8'd60: deep_d = step_i.six;
      default: deep_d = 1'b0;
    endcase
  end

  for (genvar i = 0; i < int'(2 ** RowWidth); i++) begin : g_row
    assign rows[i] = padded[16*input_of(i, Rows)+:30];
  end

  // ---- 2: which header it is, and its bytes; what it says

  typedef enum logic [1:0] {
    InNone = 2'd0,
    InGtpu = 2'd1,
    InL2tp = 2'd2
  } in_e;

  typedef struct packed {
    upper_step_t      step;
    logic             deep;
    logic [15:0][7:0] head;
    transport_e       transport;
    logic             tunnelled;        // L2TP behind IP
    logic             whole, in_window;
  } known_t;

  known_t known, t;
  logic [7:0][15:0][7:0] heads;
  logic [15:0][7:0] head;
  logic [7:0][7:0] above_q;             // the first bytes behind the UDP header
  in_e in_d, in_q;

  for (genvar i = 0; i < 8; i++) begin : g_head
    assign heads[i] = row_q[2*i+:16];
  end

  always_comb begin
    known.step      = step1_q;
    known.deep      = deep_q;
    known.head      = heads[step1_q.at[3:1]];
    known.transport = TransportNone;
    known.tunnelled = 1'b0;
    known.whole     = step1_q.left >= 12'd8;
    known.in_window = step1_q.at <= 8'(WindowBytes - 8);
    unique case (step1_q.protocol)
      Icmp4:   if (!step1_q.six) known.transport = TransportIcmp;
      Icmp6:   if (step1_q.six) known.transport = TransportIcmp;
      Tcp: begin
        known.transport = TransportTcp;
        known.whole     = step1_q.left >= 12'd20;
        known.in_window = step1_q.at <= 8'(WindowBytes - 20);
      end
      Udp:     known.transport = TransportUdp;
      Sctp: begin
        known.transport = TransportSctp;
        known.whole     = step1_q.left >= 12'd12;
        known.in_window = step1_q.at <= 8'(WindowBytes - 12);
      end
      Esp:     known.transport = TransportEsp;
      L2tp: begin
        known.tunnelled = Tunnels;
        known.whole     = step1_q.left >= 12'd4;
        known.in_window = step1_q.at <= 8'(WindowBytes - 4);
      end
      default: ;
    endcase
  end

  pst_stage #(
      .Width($bits(known_t)),
      .Registered(SplitStages)
  ) u_stage (
      .clk_i,
      .rst_i,
      .valid_i(valid1_q),
      .data_i (known),
      .valid_o(valid2),
      .data_o (t)
  );

  always_comb begin
    head              = t.head;
    in_d              = InNone;
    upper2_d          = '0;
    upper2_d.ending   = t.step.ending;
    upper2_d.protocol = t.step.protocol;
    upper2_d.fragment = t.step.fragment;
    left2_d           = bounded(t.step.left, {head[4], head[5]}) - 12'd8;
    if (t.step.going) begin
      if (t.deep) upper2_d.ending = EndDeep;
      else if (t.step.protocol == NoNext) upper2_d.ending = t.step.six ? EndDone : EndUnknown;
      else if (t.transport == TransportNone && !t.tunnelled) upper2_d.ending = EndUnknown;
      else if (!t.whole) upper2_d.ending = EndCut;
      else if (!t.in_window) upper2_d.ending = EndBeyond;
      else if (t.transport == TransportTcp && head[12][7:4] < 4'd5) upper2_d.ending = EndBadLength;
      else if (t.transport == TransportUdp && {head[4], head[5]} < 16'd8) upper2_d.ending = EndBadLength;
      else begin
        upper2_d.transport_at = t.step.at;
        if (t.transport != TransportNone) begin
          upper2_d.transport      = t.transport;
          upper2_d.transport_word = {head[0], head[1], head[2], head[3]};
        end else begin
          upper2_d.tunnel    = TunnelL2tp3;
          upper2_d.tunnel_id = {head[0], head[1], head[2], head[3]};
        end
        if (Tunnels && t.transport == TransportUdp) begin
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
    upper3_d = upper2_q;
    flags    = {above_q[0], above_q[1]};
    control  = flags[15];
    short_id = flags[3:0] == 4'd2 && !flags[14];   // L2TPv2 without a length: six bytes
    if (in_q != InNone) begin
      if (left2_q < (in_q == InL2tp ? 12'd2 : 12'd8)) upper3_d.ending = EndCut;
      else if (at2_q > 8'(WindowBytes) - (in_q == InL2tp ? 8'd2 : 8'd8)) upper3_d.ending = EndBeyond;
      else if (in_q == InGtpu && above_q[0][7:4] != 4'b0011) upper3_d.ending = EndBadVersion;
      else if (in_q == InL2tp && flags[3:0] != 4'd2 && flags[3:0] != 4'd3) upper3_d.ending = EndBadVersion;
      else if (left2_q < (short_id && in_q == InL2tp ? 12'd6 : 12'd8)) upper3_d.ending = EndCut;
      else if (at2_q > 8'(WindowBytes) - (short_id && in_q == InL2tp ? 8'd6 : 8'd8)) upper3_d.ending = EndBeyond;
      else if (in_q == InGtpu) begin
        upper3_d.tunnel    = TunnelGtpu;
        upper3_d.tunnel_id = {above_q[4], above_q[5], above_q[6], above_q[7]};
      end else begin
        upper3_d.tunnel         = flags[3:0] == 4'd2 ? TunnelL2tp2 : TunnelL2tp3;
        upper3_d.tunnel_control = control;
        upper3_d.tunnel_id      = short_id ? {above_q[2], above_q[3], above_q[4], above_q[5]}
                                                 : {above_q[4], above_q[5], above_q[6], above_q[7]};
      end
    end
  end

  always_ff @(posedge clk_i) begin
    valid1_q <= valid_i;
    valid2_q <= valid2;
    valid3_q <= valid2_q;
    if (valid_i) begin
      step1_q <= step_i;
      row_q   <= rows[RowWidth'(step_i.at[7:4] - 4'(First / 16))];
      deep_q  <= deep_d;
    end
    if (valid2) begin
      upper2_q <= upper2_d;
      left2_q  <= left2_d;
      at2_q    <= t.step.at + 8'd8;
      above_q  <= head[15:8];
      in_q     <= in_d;
    end
    if (valid2_q) upper3_q <= upper3_d;
    if (rst_i) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, rest_i, head[7:6], flags[13:4], t.step.even};

  assign valid_o = valid3_q;
  assign upper_o = upper3_q;

endmodule
