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

  // Page sizes have ranks: 0 is the smallest. The rank of each memory's pages (`memories` of them).
  function automatic pages_t size_ranks(pages_t page_bytes, int unsigned memories);
    size_ranks = '0;
    for (int unsigned k = 0; k < memories; k++) begin
      logic first;
      first = 1'b1;
      for (int unsigned j = 0; j < k; j++) if (page_bytes[j] == page_bytes[k]) first = 1'b0;
      for (int unsigned m = 0; m < memories; m++) if (first && page_bytes[k] < page_bytes[m]) size_ranks[m]++;
    end
  endfunction

  // How many page sizes there are.
  function automatic int unsigned page_sizes(pages_t page_bytes, int unsigned memories);
    pages_t ranks;
    ranks      = size_ranks(page_bytes, memories);
    page_sizes = 0;
    for (int unsigned m = 0; m < memories; m++) if (ranks[m] >= page_sizes) page_sizes = ranks[m] + 1;
  endfunction

  // By rank: `values` of all memories with that page size added up (their pages), or of one of them (its page bytes).
  function automatic pages_t sum_by_size(pages_t values, pages_t page_bytes, int unsigned memories);
    pages_t ranks;
    ranks       = size_ranks(page_bytes, memories);
    sum_by_size = '0;
    for (int unsigned m = 0; m < memories; m++) sum_by_size[ranks[m]] += values[m];
  endfunction

  function automatic pages_t bytes_by_size(pages_t page_bytes, int unsigned memories);
    pages_t ranks;
    ranks         = size_ranks(page_bytes, memories);
    bytes_by_size = '0;
    for (int unsigned m = 0; m < memories; m++) bytes_by_size[ranks[m]] = page_bytes[m];
  endfunction

  // Beats that hold `len` bytes (len >= 1).
  function automatic beats_t beats(pst_pkg::len_t len);
    return beats_t'((32'(len) + DataBytes - 1) / DataBytes);
  endfunction

endpackage
