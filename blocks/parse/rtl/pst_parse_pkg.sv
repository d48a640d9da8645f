// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The header vector that pst_parse gives for each frame, and what its stages hand to each other.
//
// A field of a header that was not read is 0. model/parse.hpp has the same fields in the same order.
package pst_parse_pkg;

  // Why reading ended.
  typedef enum logic [2:0] {
    EndDone       = 3'd0,  // all headers up to a transport header were read, or what follows has none (a later fragment)
    EndUnknown    = 3'd1,  // a header follows that is not read
    EndCut        = 3'd2,  // the frame, or the length in a header around, ends before the next header does
    EndBeyond     = 3'd3,  // the next header ends behind the window
    EndDeep       = 3'd4,  // a third VLAN tag, a fifth MPLS label, or more extension headers than there are stages
    EndBadVersion = 3'd5,  // a version that does not fit what the header before said
    EndBadLength  = 3'd6,  // a length that is shorter than its own header, or an EtherType of 1501 to 1535
    EndBadPppoe   = 3'd7   // version, type or code of a PPPoE session header
  } end_e;

  // What is below the last MPLS label.
  typedef enum logic [1:0] {
    MplsByNibble    = 2'd0,  // 4: IPv4, 6: IPv6, 0: a control word and Ethernet (RFC 4928), all else is unknown
    MplsIp          = 2'd1,  // 4: IPv4, 6: IPv6, all else is unknown
    MplsEthernet    = 2'd2,  // Ethernet
    MplsControlWord = 2'd3   // 0: a control word and Ethernet, all else is unknown
  } mpls_e;

  typedef enum logic [1:0] {
    Tpid8100 = 2'd0,
    Tpid88A8 = 2'd1,
    Tpid9100 = 2'd2
  } tpid_e;

  typedef enum logic [1:0] {
    FragmentNone  = 2'd0,
    FragmentFirst = 2'd1,
    FragmentLater = 2'd2
  } fragment_e;

  typedef enum logic [2:0] {
    TransportNone = 3'd0,
    TransportTcp  = 3'd1,
    TransportUdp  = 3'd2,
    TransportSctp = 3'd3,
    TransportIcmp = 3'd4,
    TransportEsp  = 3'd5
  } transport_e;

  typedef enum logic [1:0] {
    TunnelNone  = 2'd0,
    TunnelGtpu  = 2'd1,
    TunnelL2tp2 = 2'd2,
    TunnelL2tp3 = 2'd3
  } tunnel_e;

  typedef struct packed {
    tpid_e       tpid;
    logic [2:0]  pcp;
    logic        dei;
    logic [11:0] id;
  } tag_t;

  typedef struct packed {
    logic [19:0] label;
    logic [2:0]  traffic_class;
    logic        bottom;
    logic [7:0]  ttl;
  } label_t;

  typedef struct packed {
    end_e         ending;
    // link
    logic         ethernet;               // the Ethernet header was read
    logic [47:0]  destination_mac;
    logic [47:0]  source_mac;
    logic [1:0]   tags;                   // VLAN tags that were read, 0 .. 2
    tag_t         outer_tag;
    tag_t         inner_tag;
    logic         snap;                   // 802.3 with LLC and SNAP
    logic [15:0]  ethertype;              // behind the last tag that was read, or of SNAP; below 1536 the length of an 802.3 frame
    logic         pppoe;                  // a PPPoE session header was read
    logic [15:0]  session;
    logic [15:0]  ppp;                    // PPP protocol
    logic [2:0]   labels;                 // MPLS labels that were read, 0 .. 4; label 0 is the top of the stack
    label_t [3:0] label;
    logic         control_word;
    logic         inner_ethernet;         // an Ethernet header below the labels was read
    logic [47:0]  inner_destination_mac;
    logic [47:0]  inner_source_mac;
    logic [15:0]  inner_ethertype;
    // network
    logic [2:0]   ip;                     // 4, 6; 0: no IP header was read
    logic [5:0]   dscp;
    logic [1:0]   ecn;
    logic [7:0]   protocol;               // what the last header that was read says of the next one
    logic [127:0] source;                 // an IPv4 address in the low bits
    logic [127:0] destination;
    fragment_e    fragment;
    logic [7:0]   network_at;             // byte of the frame at which the IP header begins
    // transport
    transport_e   transport;
    logic [31:0]  transport_word;         // source and destination port; of ICMP type, code and checksum; of ESP the SPI
    logic [7:0]   transport_at;           // byte of the frame at which the transport header begins
    tunnel_e      tunnel;
    logic         tunnel_control;         // an L2TP control message
    logic [31:0]  tunnel_id;              // TEID; L2TPv2: tunnel and session; L2TPv3: session, or control connection
  } headers_t;

  // Bytes up to where a frame or a length around ends; as large as it gets where that is behind the window.
  localparam int unsigned LeftWidth = 12;

  // The next header.
  typedef enum logic [2:0] {
    NextNone  = 3'd0,
    NextMpls  = 3'd1,
    NextInner = 3'd2,
    NextIpv4  = 3'd3,
    NextIpv6  = 3'd4
  } next_e;

  // What is read behind the IP header: the last part of the vector.
  typedef struct packed {
    end_e        ending;
    logic [7:0]  protocol;
    fragment_e   fragment;
    transport_e  transport;
    logic [31:0] transport_word;
    logic [7:0]  transport_at;
    tunnel_e     tunnel;
    logic        tunnel_control;
    logic [31:0] tunnel_id;
  } upper_t;

  // Between two stages up to the IP header: what was read, the next header, and how many bytes there are from its first one on.
  typedef struct packed {
    headers_t             headers;
    next_e                next;
    logic [3:0]           words;  // of 4 bytes from byte 14 of the frame to its first one
    logic [LeftWidth-1:0] left;
  } step_t;

  // Between two stages behind it.
  typedef struct packed {
    end_e                 ending;
    logic                 going;  // a header follows, by `protocol`
    logic                 six;    // of IPv6
    logic [7:0]           protocol;
    fragment_e            fragment;
    logic [LeftWidth-1:0] left;
    logic [7:0]           at;     // its first byte in the frame, an even one
    logic [5:0]           even;   // word of the frame whose first two bytes are among its first four
  } upper_step_t;

  function automatic logic is_tag(input logic [15:0] ethertype);
    return ethertype == 16'h8100 || ethertype == 16'h88A8 || ethertype == 16'h9100;
  endfunction

  function automatic tag_t tag(input logic [15:0] ethertype, input logic [15:0] control);
    return '{tpid: ethertype == 16'h8100 ? Tpid8100 : ethertype == 16'h88A8 ? Tpid88A8 : Tpid9100, pcp: control[15:13], dei: control[12],
             id: control[11:0]};
  endfunction

  // What an EtherType announces, of the headers that may follow any of them.
  function automatic next_e next_of(input logic [15:0] ethertype);
    unique case (ethertype)
      16'h0800:           return NextIpv4;
      16'h86DD:           return NextIpv6;
      16'h8847, 16'h8848: return NextMpls;
      default:            return NextNone;
    endcase
  endfunction

  function automatic next_e next_of_ppp(input logic [15:0] protocol);
    unique case (protocol)
      16'h0021:           return NextIpv4;
      16'h0057:           return NextIpv6;
      16'h0281, 16'h0283: return NextMpls;
      default:            return NextNone;
    endcase
  endfunction

  // Of a multiplexer of `count` inputs whose selector has more values: the input of value `i`. Where there is none it is another one, such
  // that the tree stays small.
  function automatic int unsigned input_of(input int unsigned i, input int unsigned count);
    int unsigned found;
    found = i;
    for (int b = $clog2(count) - 2; b >= 0; b--) if (found >= count) found &= ~(32'd1 << b);
    return found;
  endfunction

  // The least of `left` and a length of 16 bits.
  function automatic logic [LeftWidth-1:0] bounded(input logic [LeftWidth-1:0] left, input logic [15:0] length);
    return 16'(left) > length ? length[LeftWidth-1:0] : left;
  endfunction

endpackage
