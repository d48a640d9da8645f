// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// How many counters there are: shared by pst_folded_counters and whoever has it.
package pst_count_pkg;

  typedef bit [7:0][3:0] bank_kinds_t;    // of each of up to 8 banks: how many counters an entry has there

  // Counters of the banks before `bank`.
  function automatic int unsigned counters_before(bank_kinds_t kinds, int unsigned bank);
    counters_before = 0;
    for (int unsigned b = 0; b < bank; b++) counters_before += 32'(kinds[b]);
  endfunction

  // Bits below `count` that are set.
  function automatic int unsigned ones_before(logic [31:0] bits, int unsigned count);
    ones_before = 0;
    for (int unsigned b = 0; b < count; b++) ones_before += 32'(bits[b]);
  endfunction

endpackage
