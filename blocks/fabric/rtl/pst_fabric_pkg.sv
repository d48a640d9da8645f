// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Stages of the combined parallel round-robin arbiter's pipeline, and which of them end in a register.
//
// Papaphilippou, Meng, Luk, FPGA 2020, sections 4.1 to 4.3. Stages count from 0. With L = log2(ports) the sorting network has
// L (L + 1) / 2, the offsets 2 L + 1 (adder tree L, prefix sum L, subtractor 1), the rotators L. The shorter of the first two waits.
package pst_fabric_pkg;

  localparam int unsigned MaxPorts = 64;
  localparam int unsigned MaxStages = 27;  // of 64 ports

  function automatic int unsigned sort_stages(int unsigned ports);
    return $clog2(ports) * ($clog2(ports) + 1) / 2;
  endfunction

  function automatic int unsigned offset_stages(int unsigned ports);
    return 2 * $clog2(ports) + 1;
  endfunction

  // Where the offsets' pipeline begins: it reads the sorting network as late as it can (section 4.3).
  function automatic int unsigned offset_start(int unsigned ports);
    return sort_stages(ports) > offset_stages(ports) ? sort_stages(ports) - offset_stages(ports) : 0;
  endfunction

  // Where the rotators begin.
  function automatic int unsigned rotate_start(int unsigned ports);
    return sort_stages(ports) > offset_stages(ports) ? sort_stages(ports) : offset_stages(ports);
  endfunction

  function automatic int unsigned total_stages(int unsigned ports);
    return rotate_start(ports) + $clog2(ports);
  endfunction

  // The stage of the offset counters, whose registers cannot be removed.
  function automatic int unsigned compulsory_stage(int unsigned ports);
    return offset_start(ports) + $clog2(ports);
  endfunction

  // Bit i: stage i ends in a register. Every `keep`-th one does, counted from the compulsory one in both directions.
  function automatic logic [MaxStages-1:0] registers(int unsigned ports, int unsigned keep);
    registers = '0;
    for (int unsigned i = 0; i < total_stages(ports); i++) registers[i] = i % keep == compulsory_stage(ports) % keep;
  endfunction

  // Latency in cycles from the input to the FIFOs.
  function automatic int unsigned pipeline_cycles(int unsigned ports, int unsigned keep);
    return $countones(registers(ports, keep));
  endfunction

endpackage
