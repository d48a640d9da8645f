// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The map of the memories: which descriptors and which byte addresses belong to which memory.
//
// Per-memory parameters are packed arrays of any length up to MaxMemories; a module pads them with zeros
// (`pages_t'(MemPages)`) to call these functions, all of which are constant functions.
package pst_memory_pkg;

  localparam int unsigned MaxMemories = 32;          // an HBM2 stack has 32 pseudo channels
  localparam int unsigned DataBytes   = 64;          // one beat of every AXI4 and AXI4-Stream data path; unit of page sizes
  localparam int unsigned DataWidth   = 8 * DataBytes;
  localparam int unsigned BoundaryBytes = 4096;      // AXI4: no burst crosses it (IHI 0022, A3.4.1)

  // Beats of the longest frame, less one: the length of a frame in beats always fits.
  localparam int unsigned BeatsWidth = pst_pkg::LenWidth - $clog2(DataBytes) + 1;
  typedef logic [BeatsWidth-1:0] beats_t;

  typedef logic [MaxMemories-1:0][31:0] pages_t;     // MemPages or MemPageBytes
  typedef logic [MaxMemories-1:0][63:0] bytes_t;     // MemBytes

  // First descriptor of `memory`; with MaxMemories: the number of descriptors.
  function automatic int unsigned desc_base(pages_t pages, int unsigned memory);
    desc_base = 0;
    for (int unsigned k = 0; k < MaxMemories; k++) if (k < memory) desc_base += pages[k];
  endfunction

  // First byte of `memory` in the single address range; with MaxMemories: the size of the range.
  function automatic logic [63:0] byte_base(bytes_t bytes, int unsigned memory);
    byte_base = 0;
    for (int unsigned k = 0; k < MaxMemories; k++) if (k < memory) byte_base += bytes[k];
  endfunction

  // Beats that hold `len` bytes (len >= 1).
  function automatic beats_t beats(pst_pkg::len_t len);
    return beats_t'((32'(len) + DataBytes - 1) / DataBytes);
  endfunction

endpackage
