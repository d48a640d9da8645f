// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The memories of a bench: what its job says of them, and their pins at a verilated top that has arrays m_axi_* with an element for each.
// Benches of blocks that keep frames in memory include it (shim_memory.cpp, shim_skipfifo.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "penstock/engine/memory_model.hpp"
#include "shim_axi.hpp"

extern "C" {

// Written down once more by penstock.benches.memory_job.Memories.
struct pst_bench_memories {
    uint64_t bytes;              // of each memory
    uint64_t ticks, per_cycles;  // from here to `timing`: DramSettings, where dram != 0
    uint32_t access_bytes, groups, banks, row_accesses, fields, of[32], bits[32], hash_groups, row_bus, read_queue, write_queue, batch,
        drain_from, drain_after, hit_limit, close_rows, forward, bursts, reorder_beats;
    uint32_t read_latency, write_latency;  // of ideal memories, too
    penstock::engine::DramTiming timing;
    uint32_t first_refresh[32];
    uint32_t dram, channels;
    uint32_t crossbar, crossbar_mapping;  // from here on HbmSwitchSettings, where crossbar != 0: all memories share it
    uint64_t crossbar_ticks, crossbar_per_cycles;
    uint32_t crossbar_one_id, crossbar_fragment_beats, crossbar_beat_ticks, crossbar_turn_ticks, crossbar_request, crossbar_answer;
    uint32_t hop_request[penstock::engine::HbmSwitchSettings::kBoundaries], hop_answer[penstock::engine::HbmSwitchSettings::kBoundaries];
};

// What they have done; of several runs of cycles the difference.
struct pst_bench_memory_counts {
    uint64_t read_beats, write_beats;
    uint64_t reads, writes, forwarded, activates, refreshes, turns;  // of the DRAM
    uint64_t beats[32];                                              // read and written, by memory
};
}

namespace penstock::shim {

inline engine::MemorySettings memory_of(const pst_bench_memories& job, uint32_t channel) {
    engine::MemorySettings memory;
    memory.bytes = job.bytes;
    if (!job.dram) {
        memory.read_latency = job.read_latency;
        memory.write_latency = job.write_latency;
        return memory;
    }
    engine::DramSettings dram;
    dram.ticks = job.ticks;
    dram.per_cycles = job.per_cycles;
    dram.access_bytes = job.access_bytes;
    dram.groups = job.groups;
    dram.banks = job.banks;
    dram.row_accesses = job.row_accesses;
    for (uint32_t i = 0; i < job.fields; ++i) dram.mapping.push_back({static_cast<engine::DramField::Of>(job.of[i]), job.bits[i]});
    dram.hash_groups = job.hash_groups;
    dram.timing = job.timing;
    dram.row_bus = job.row_bus;
    dram.read_queue = job.read_queue;
    dram.write_queue = job.write_queue;
    dram.batch = job.batch;
    dram.drain_from = job.drain_from;
    dram.drain_after = job.drain_after;
    dram.hit_limit = job.hit_limit;
    dram.close_rows = job.close_rows;
    dram.forward = job.forward;
    dram.bursts = job.bursts;
    dram.reorder_beats = job.reorder_beats;
    dram.read_latency = job.read_latency;
    dram.write_latency = job.write_latency;
    dram.first_refresh = job.first_refresh[channel];
    memory.dram = dram;
    if (job.crossbar) {
        engine::HbmSwitchSettings crossbar;
        crossbar.ticks = job.crossbar_ticks;
        crossbar.per_cycles = job.crossbar_per_cycles;
        crossbar.mapping = static_cast<engine::HbmSwitchSettings::Mapping>(job.crossbar_mapping);
        crossbar.one_id = job.crossbar_one_id;
        crossbar.fragment_beats = job.crossbar_fragment_beats;
        crossbar.beat_ticks = job.crossbar_beat_ticks;
        crossbar.turn_ticks = job.crossbar_turn_ticks;
        crossbar.request = job.crossbar_request;
        crossbar.answer = job.crossbar_answer;
        for (unsigned b = 0; b < engine::HbmSwitchSettings::kBoundaries; ++b) {
            crossbar.hop_request[b] = job.hop_request[b];
            crossbar.hop_answer[b] = job.hop_answer[b];
        }
        memory.crossbar = crossbar;
        memory.crossbar_ports = job.channels;
    }
    return memory;
}

template <unsigned AddrWidth>
class BenchMemories {
  public:
    BenchMemories(const pst_bench_memories& job, uint64_t seed) : axi_(job.channels) {
        std::vector<engine::MemorySettings> settings;
        for (uint32_t m = 0; m < job.channels; ++m) settings.push_back(memory_of(job, m));
        auto drams = engine::dram_accesses(settings);
        for (uint32_t m = 0; m < job.channels; ++m) {
            memories_.push_back(std::make_unique<engine::MemoryModel>(settings[m], std::move(drams[m]), m, seed));
            axi_[m].awsize_o = axi_[m].arsize_o = 6;
            axi_[m].awburst_o = axi_[m].arburst_o = 1;
        }
    }

    // Before and after the top is evaluated.
    template <typename Top>
    void drive(Top& top, uint64_t now) {
        for (uint32_t m = 0; m < axi_.size(); ++m) {
            memories_[m]->drive(axi_[m], static_cast<int64_t>(now));
            drive_memory(top, m, axi_[m]);
        }
    }
    template <typename Top>
    void sample(const Top& top, uint64_t now) {
        for (uint32_t m = 0; m < axi_.size(); ++m) {
            sample_memory<AddrWidth>(top, m, axi_[m]);
            memories_[m]->sample(axi_[m], static_cast<int64_t>(now));
        }
    }

    pst_bench_memory_counts counts() const {
        pst_bench_memory_counts sum{};
        for (uint32_t m = 0; m < memories_.size(); ++m) {
            const engine::MemoryCounts& c = memories_[m]->counts();
            sum.read_beats += c.read_beats;
            sum.write_beats += c.write_beats;
            sum.beats[m] = c.read_beats + c.write_beats;
            if (const engine::DramCounts* d = memories_[m]->dram_counts()) {
                sum.reads += d->reads, sum.writes += d->writes, sum.forwarded += d->forwarded;
                sum.activates += d->activates, sum.refreshes += d->refreshes, sum.turns += d->turns;
            }
        }
        return sum;
    }

  private:
    std::vector<std::unique_ptr<engine::MemoryModel>> memories_;
    std::vector<pst_axi_pins> axi_;
};

// What was done between two moments.
inline pst_bench_memory_counts operator-(pst_bench_memory_counts to, const pst_bench_memory_counts& from) {
    uint64_t pst_bench_memory_counts::* const counts[] = {&pst_bench_memory_counts::read_beats, &pst_bench_memory_counts::write_beats,
                                                          &pst_bench_memory_counts::reads,      &pst_bench_memory_counts::writes,
                                                          &pst_bench_memory_counts::forwarded,  &pst_bench_memory_counts::activates,
                                                          &pst_bench_memory_counts::refreshes,  &pst_bench_memory_counts::turns};
    for (const auto count : counts) to.*count -= from.*count;
    for (uint32_t m = 0; m < 32; ++m) to.beats[m] -= from.beats[m];
    return to;
}

}  // namespace penstock::shim
