// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pst_memory_spread with the memories behind it, without data, cycle by cycle and FIFO by FIFO as the RTL has them: chunk n lies in memory
// n modulo their number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "blocks/deadline/model/edfr_model.hpp"
#include "designs/deadline_port/model/device_settings.hpp"
#include "penstock/engine/memory_model.hpp"
#include "penstock/engine/stepped_memory.hpp"

namespace penstock::engine {

class PortMemories {
  public:
    // `memories` with what is behind those that are DRAM; the first of them is memory `first` of the device.
    PortMemories(const DeadlinePortSettings& settings, std::span<const MemorySettings> memories,
                 std::vector<std::unique_ptr<DramAccess>> drams, unsigned first, std::uint64_t seed)
        : chunk_bytes_(settings.chunk_bytes),
          chunk_beats_(settings.chunk_bytes / EdfrSettings::kBeatBytes),
          write_(memories.size(), std::max(settings.reads, settings.writes), 2 * chunk_beats_),
          read_(memories.size(), std::max(settings.reads, settings.writes), 2 * chunk_beats_) {
        asked_.resize(memories.size());
        ports_.reserve(memories.size());
        for (unsigned m = 0; m < memories.size(); ++m) ports_.emplace_back(memories[m], std::move(drams[m]), first + m, seed);
    }

    // Nothing is under way between port and memories, and none of them owes anything.
    bool idle() const { return under_way_ == 0; }
    // In each cycle: step(), then clock() with what the port offered. `cycle` counts from power-on, `now` is that of the run.
    EdfrMemoryIn step(std::int64_t cycle, std::int64_t now) {
        EdfrMemoryIn in;
        in.awready = write_.address.ready();
        in.wready = write_.beats.ready();
        in.arready = read_.address.ready();
        if (idle()) return in;
        for (SteppedPort& port : ports_) port.step(cycle, now);
        if (write_.route.valid() && write_.behind[write_.route.front()].valid()) {
            in.bvalid = true;
            in.berror = write_.behind[write_.route.front()].front().error;
        }
        if (read_.beats.valid()) {
            in.rvalid = true;
            in.rerror = read_.beats.front().error;
            in.rlast = read_.beats.front().last;
        }
        return in;
    }

    void clock(const EdfrMemoryIn& in, const EdfrMemoryOut& out, std::int64_t cycle, std::int64_t now) {
        const bool aw = out.awvalid && in.awready, ar = out.arvalid && in.arready;
        if (idle()) {
            if (!aw && !ar) return;
            for (SteppedPort& port : ports_) port.step(cycle, now);  // they have rested
        }
        clock_writes(in, out);
        clock_reads(in, out);
        if (aw) write_.address.push({out.aw_chunk, out.aw_beats});
        if (ar) read_.address.push({out.ar_chunk, chunk_beats_});
        under_way_ += aw + ar;
    }

    // Memories that owe answers or are about to be asked, as at the beginning of a cycle: bit m.
    std::uint32_t outstanding() const {
        std::uint32_t found = 0;
        for (std::uint32_t m = 0; m < ports_.size(); ++m) {
            const bool busy = write_.addresses[m].valid() || write_.data[m].valid() || read_.addresses[m].valid() || asked_[m] != 0;
            found |= std::uint32_t{busy} << m;
        }
        return found;
    }

    const MemoryCounts& counts(unsigned memory) const { return ports_[memory].counts; }

  private:
    struct Burst {
        std::uint32_t chunk, beats;
    };
    struct Beat {
        bool last = false, error = false;
    };
    static constexpr std::uint32_t kSkid = 2, kAddresses = 16;

    // One direction.
    struct Way {
        Way(std::size_t memories, std::uint32_t bursts, std::uint32_t fifo)
            : address(kSkid), beats(kSkid), route(bursts), data_route(bursts), owed(memories, EdfrRing<std::uint32_t>(64)) {
            for (std::size_t m = 0; m < memories; ++m) {
                addresses.emplace_back(std::min(bursts, kAddresses));
                data.emplace_back(fifo);
                behind.emplace_back(bursts);
            }
        }
        EdfrFifo<Burst> address;                    // skid buffer at the port
        EdfrFifo<Beat> beats;                       // the same of data
        EdfrFifo<std::uint32_t> route, data_route;  // memory of each burst: of its responses, or of what is read; of the data of writes
        std::vector<EdfrFifo<Burst>> addresses;     // that wait for each memory
        std::vector<EdfrFifo<Beat>> data, behind;   // beats; responses
        std::vector<EdfrRing<std::uint32_t>> owed;  // beats of the bursts that each memory reads
    };

    std::uint32_t memory_of(const Burst& burst) const { return burst.chunk & static_cast<std::uint32_t>(ports_.size() - 1); }
    std::uint64_t address_of(const Burst& burst) const {
        return std::uint64_t{burst.chunk / static_cast<std::uint32_t>(ports_.size())} * chunk_bytes_;
    }

    // All that is asked here is as it was at the beginning of the cycle: each FIFO is asked before it changes.
    void clock_writes(const EdfrMemoryIn& in, const EdfrMemoryOut& out) {
        Way& w = write_;
        const bool answered = in.bvalid && out.bready, beat_in = out.wvalid && in.wready;
        const std::uint32_t answers = answered ? w.route.front() : 0;
        const std::uint32_t to = w.data_route.valid() ? w.data_route.front() : 0;
        const bool beat = w.beats.valid() && w.data_route.valid() && w.data[to].ready();
        const bool burst =
            w.address.valid() && w.route.ready() && w.data_route.ready() && w.addresses[memory_of(w.address.front())].ready();
        for (std::uint32_t m = 0; m < ports_.size(); ++m) {
            SteppedPort& port = ports_[m];
            const bool data = w.data[m].valid() && port.w_ready(), address = w.addresses[m].valid() && port.aw_ready(), b = port.b_valid();
            const bool error = port.b_error();
            if (data) {
                w.data[m].pop();
                port.take_w();
            }
            if (address) {
                const Burst& next = w.addresses[m].front();
                port.take_aw(address_of(next), next.beats);
                ++asked_[m];
                w.addresses[m].pop();
            }
            if (b) {
                port.give_b();
                --asked_[m];
            }
            if (answered && answers == m) w.behind[m].pop();
            if (b) w.behind[m].push({true, error});
        }
        if (answered) {
            w.route.pop();
            --under_way_;
        }
        if (beat) {
            const Beat moved = w.beats.front();
            w.data[to].push(moved);
            w.beats.pop();
            if (moved.last) w.data_route.pop();
        }
        if (beat_in) w.beats.push({out.wlast, false});
        if (burst) {
            const Burst moved = w.address.front();
            const std::uint32_t m = memory_of(moved);
            w.address.pop();
            w.addresses[m].push(moved);
            w.route.push(m);
            w.data_route.push(m);
        }
    }

    void clock_reads(const EdfrMemoryIn& in, const EdfrMemoryOut& out) {
        Way& r = read_;
        const bool taken = in.rvalid && out.rready;
        const std::uint32_t from = r.route.valid() ? r.route.front() : 0;
        const bool turn = r.route.valid() && r.data[from].valid() && r.beats.ready();
        const bool burst = r.address.valid() && r.route.ready() && r.addresses[memory_of(r.address.front())].ready();
        for (std::uint32_t m = 0; m < ports_.size(); ++m) {
            SteppedPort& port = ports_[m];
            const bool data = port.r_valid() && r.data[m].ready(), address = r.addresses[m].valid() && port.ar_ready();
            Beat beat;
            if (data) {
                beat = {--r.owed[m].front() == 0, port.r_error()};
                if (beat.last) {
                    r.owed[m].pop();
                    --asked_[m];
                }
                port.give_r();
            }
            if (address) {
                const Burst& next = r.addresses[m].front();
                port.take_ar(address_of(next), next.beats);
                ++asked_[m];
                r.owed[m].push(next.beats);
                r.addresses[m].pop();
            }
            if (turn && from == m) {
                const Beat moved = r.data[m].front();
                r.data[m].pop();
                turned_ = moved;
            }
            if (data) r.data[m].push(beat);
        }
        if (taken) {
            under_way_ -= r.beats.front().last;
            r.beats.pop();
        }
        if (turn) {
            r.beats.push(turned_);
            if (turned_.last) r.route.pop();
        }
        if (burst) {
            const Burst moved = r.address.front();
            const std::uint32_t m = memory_of(moved);
            r.address.pop();
            r.addresses[m].push(moved);
            r.route.push(m);
        }
    }

    std::uint32_t chunk_bytes_, chunk_beats_;
    Way write_, read_;
    std::vector<SteppedPort> ports_;
    std::uint64_t under_way_ = 0;  // bursts
    Beat turned_;
    std::vector<std::uint64_t> asked_;  // bursts that each memory has not answered
};

}  // namespace penstock::engine
