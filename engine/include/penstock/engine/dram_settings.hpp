// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What a channel of DRAM and its controller are: geometry, timing, queues. The named kinds (ddr4_2400, ...), with the source of every
// value, are in engine/memories.yaml; here are only numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::engine {

// A field of an address; fields are given from the least significant one on, behind the bytes of an access.
struct DramField {
    enum class Of : std::uint8_t { Column, Group, Bank, Row };
    Of of = Of::Row;
    std::uint32_t bits = 0;
};

// Cycles of the memory clock ("ticks"), by the names of JESD79-4 and JESD235; from command to command on one channel of one rank.
struct DramTiming {
    std::uint32_t burst = 4;          // BL / 2: data of an access
    std::uint32_t cl = 17, cwl = 12;  // to the first data of a read, of a write
    std::uint32_t rcd_read = 17, rcd_write = 17;
    std::uint32_t rp = 17, ras = 39;     // precharge; activate to precharge
    std::uint32_t rrd_s = 4, rrd_l = 6;  // activate to activate, of another bank group, of the same one
    std::uint32_t faw = 26;              // four activates
    std::uint32_t ccd_s = 4, ccd_l = 6;  // column to column
    std::uint32_t wtr_s = 3, wtr_l = 9;  // end of write data to read
    std::uint32_t rtw = 11;              // read to write
    std::uint32_t rtp = 9, wr = 18;      // read, end of write data to precharge
    std::uint32_t rfc = 420, refi = 9360;
};

struct DramSettings {
    std::uint64_t ticks = 4, per_cycles = 1;  // the memory clock makes so many ticks in so many cycles of the device
    std::uint32_t access_bytes = 64;          // of one column command; divides a beat of 64
    std::uint32_t groups = 4, banks = 4;      // bank groups, banks in each: powers of two, at most 64 banks in all
    std::uint32_t row_accesses = 128;         // accesses in a row, a power of two
    std::vector<DramField> mapping;           // without the row, which has all bits above
    bool hash_groups = true;                  // the group is XORed with all address bits above it: pages do not all begin in one group
    DramTiming timing;
    bool row_bus = false;  // activates and precharges go beside column commands (HBM), not in between (DDR4)

    // Controller: first ready, first come first served, in batches of reads and of writes.
    std::uint32_t read_queue = 64, write_queue = 64;  // accesses
    std::uint32_t batch = 32;                         // accesses in one direction while the other one waits
    std::uint32_t drain_from = 16;                    // writes that are worth a turn of the bus when no read waits
    std::uint32_t drain_after = 256;                  // ticks after which fewer writes are written as well
    std::uint32_t hit_limit = 32;                     // accesses to an open row while an older one of its bank waits for another row
    bool forward = false;                             // a read of what is in the write queue is answered from there; else it waits for it
    bool close_rows = false;                          // a row that no queued access needs is closed with its last access

    // The port: AXI4 in order, all beats of 64 bytes.
    std::uint32_t bursts = 16;           // addresses that wait, in each direction
    std::uint32_t reorder_beats = 128;   // read data under way and waiting to be taken
    std::uint32_t read_latency = 17;     // cycles of the device from the end of the data at the memory to the beat
    std::uint32_t write_latency = 8;     // from the last beat to its response, >= 1
    std::uint32_t first_refresh = 9360;  // tick of the first refresh, so that channels do not refresh together
};

// What a channel has done.
struct DramCounts {
    std::uint64_t reads = 0, writes = 0, forwarded = 0;  // accesses; forwarded: reads that found their data in the write queue
    std::uint64_t activates = 0, refreshes = 0, turns = 0;
};

}  // namespace penstock::engine
