// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the modules of a bridge hand to each other.
package pst_bridge_pkg;

  // What the receiver's side has found out about a frame.
  typedef struct packed {
    logic [11:0]         vlan;      // id of the first VLAN tag, 0 without one
    pst_fq_pkg::bucket_t bucket;    // the hash of its flow
    pst_pkg::len_t       len;       // bytes without FCS
  } about_t;

  // To the packet store: eight bytes of a frame, the first one in the low bits; behind the last of them a word that says about the frame.
  typedef struct packed {
    logic        ends;    // data is an about_t in the low bits
    logic [63:0] data;
  } in_word_t;

  // From the packet store.
  typedef struct packed {
    logic        last;
    logic [2:0]  count;    // bytes less one; 7 before the last word
    logic [63:0] data;
  } out_word_t;

  // How every queue is set.
  typedef struct packed {
    pst_pkg::shaper_cfg_t shaper;
    pst_pkg::aqm_cfg_t    aqm;
    pst_pkg::len_t        quantum;    // bytes of a flow's turn
  } setting_t;

  // Software writes or reads the setting of a queue. At most one of the first two; an answer to `read` comes in a later cycle.
  typedef struct packed {
    logic        write;
    logic        read;
    logic [11:0] queue_;
    setting_t    setting;
  } access_t;

  // A frame for a counter.
  typedef struct packed {
    pst_bridge_values_pkg::counter_e counter;
    pst_pkg::len_t                   len;        // bytes without FCS
  } count_t;

  // What a PHY says between frames (RGMII in-band status), from the low bit on: link, speed, full duplex. And that its clock runs.
  typedef struct packed {
    logic                          full_duplex;
    pst_bridge_values_pkg::speed_e speed;
    logic                          up;
  } phy_t;

  typedef struct packed {
    logic clock;
    phy_t phy;
  } link_t;

  // No rate, no CoDel.
  function automatic setting_t unshaped();
    return '{shaper: 1, aqm: '0, quantum: 1514};
  endfunction

endpackage
