// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bundles at the ports of pst_schedule. Members have the names of the signals.
package pst_schedule_ports_pkg;

  // Answer of a look at a queue's shaper; with SettingProfiles its profile.
  typedef struct packed {
    logic                 valid;
    logic [15:0]          profile;
    pst_pkg::shaper_cfg_t shaper;
  } look_t;

  // Of the queue whose packet was taken: exponent and mantissa of its period; with SettingProfiles the profile that it has now.
  typedef struct packed {
    logic [15:0]                     profile;
    logic [pst_pkg::PeriodWidth-1:0] period;
  } taken_t;

  // Shaper of a queue; with SettingProfiles as that of a profile, which is fresh or has it already (pst_ram_profiled).
  typedef struct packed {
    pst_pkg::shaper_cfg_t shaper;
    logic [15:0]          profile;
    logic                 fresh;
  } cfg_t;

endpackage
