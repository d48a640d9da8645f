// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What a profile looks for in the headers of a frame, and what comes of it. model/profile.hpp has the same values.
package pst_profile_pkg;

  // Fields that make the key, and so the headers that a frame must have for the profile to fit.
  typedef enum logic [3:0] {
    KindOff               = 4'd0,   // fits no frame
    KindAny               = 4'd1,   // fits every frame; the key is 0
    KindTwoTags           = 4'd2,   // two VLAN tags: {outer id, inner id}
    KindOuterTag          = 4'd3,   // one VLAN tag or two: outer id
    KindSessionSource     = 4'd4,   // PPPoE: {session, source MAC}, from the subscriber
    KindSessionDestination = 4'd5,  // PPPoE: {session, destination MAC}, to the subscriber
    KindMacSource         = 4'd6,
    KindMacDestination    = 4'd7,
    KindIpv4Source        = 4'd8,
    KindIpv4Destination   = 4'd9,
    KindIpv6Source        = 4'd10,  // upper 64 bits
    KindIpv6Destination   = 4'd11,  // upper 64 bits
    KindTopLabel          = 4'd12,  // first MPLS label
    KindLastLabel         = 4'd13,  // last MPLS label that was read
    KindRoutedSource      = 4'd14,  // IPv4 or IPv6, by the longest prefix
    KindRoutedDestination = 4'd15   // IPv4 or IPv6, by the longest prefix
  } kind_e;

  // What gives the class.
  typedef enum logic [2:0] {
    ClassNone     = 3'd0,  // value 0
    ClassDscp     = 3'd1,
    ClassOuterPcp = 3'd2,
    ClassInnerPcp = 3'd3,
    ClassTraffic  = 3'd4,  // traffic class of the first MPLS label
    ClassEcn      = 3'd5   // ECN field: L4S or Classic (RFC 9331)
  } class_e;

  typedef struct packed {
    logic [15:0] ports;     // bit p: it looks at frames of input port p
    kind_e       kind;
    logic [3:0]  space;     // upper bits of the key, so that keys of one kind do not meet those of another
    class_e      class_of;
  } profile_t;

  localparam int unsigned KeyWidth = 80;        // {space, 12 zeros, 64 bits of fields}
  localparam int unsigned PrefixWidth = 65;     // {whether IPv6, upper 64 bits of the address or an IPv4 address and 32 zeros}
  localparam int unsigned QueueWidth = 28;

  // A subscriber: the value of a key or prefix.
  typedef struct packed {
    logic [3:0]            last_class;  // classes above it count as it
    logic [QueueWidth-1:0] base;        // queue of class 0
  } subscriber_t;

  // What became of a key that comes, goes or is read.
  typedef struct packed {
    pst_lookup_pkg::done_e done;
    subscriber_t           value;         // that it had, 0 if it was not there
  } key_done_t;

  // What becomes of frames without a subscriber.
  typedef struct packed {
    logic                  drop;
    logic [QueueWidth-1:0] target;        // a queue
  } miss_t;

  typedef enum logic [1:0] {
    FoundSubscriber = 2'd0,
    FoundNoKey      = 2'd1,  // a profile fits, and its key is not there
    FoundNoProfile  = 2'd2
  } found_e;

  // A setting of pst_find_queue: what `index`, `value` and `word` are.
  typedef enum logic [2:0] {
    SetProfile = 3'd0,  // profile; profile_t
    SetClass   = 3'd1,  // {profile, value of 6 bits}; class
    SetMiss    = 3'd2,  // profile, or Profiles: frames without one; miss_t
    SetSeed    = 3'd3,  // {chunk, index of 6 bits}; word: a random word of pst_lookup
    SetMpls    = 3'd4,  // -; pst_parse_pkg::mpls_e
    SetSeparator = 3'd5,  // {level of 8 bits, node of 22, number of 2}; word: a separator of pst_lookup_prefix. Number 2 writes the node
    SetInterval  = 3'd6,  // interval; subscriber_t, word: bit 0 whether there is one
    SetBank      = 3'd7   // -; bit 0: the bank that lookups use
  } set_e;

  // A counter of pst_find_queue: {kind, index of 4 bits}.
  typedef enum logic [1:0] {
    CountHits    = 2'd0,  // by profile
    CountMisses  = 2'd1,  // by profile: it fits, and the key is not there
    CountEndings = 2'd2,  // by pst_parse_pkg::end_e: why reading ended
    CountNone    = 2'd3   // index 0: frames without a profile
  } count_e;

endpackage
