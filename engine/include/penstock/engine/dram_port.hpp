// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A channel of DRAM behind an AXI4 port of 512 bits with one id, in cycles of the device, without data. Both engines have it: behind the
// pins of the RTL (memory_model.hpp), and in the model's memory fabric (stepped_memory.hpp).
//
// In each cycle: step(), then what the port offers (*_ready, *_valid), then what was handed over (take_*, give_*).
//
// A write is confirmed when its last beat is in the controller's queue, write_latency cycles later; from then on a read finds it. Reads are
// answered in order: each beat has its place in the reorder buffer before it goes to the controller, so the memory never waits for
// `rready`.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "penstock/engine/dram_controller.hpp"

namespace penstock::engine {

class DramPort {
  public:
    explicit DramPort(const DramSettings& settings);

    // Goes on to the next cycle; the first call, to cycle 0.
    void step();
    // step() until cycle `cycle`.
    void step_to(std::int64_t cycle);
    std::int64_t cycle() const { return cycle_; }
    // Nothing is under way: until something is taken, step() changes nothing that can be seen.
    bool idle() const {
        return write_bursts_.empty() && read_bursts_.empty() && beats_.empty() && answers_.empty() && !beat_in_ && controller_.idle();
    }

    bool aw_ready() const { return write_bursts_.size() < settings_.bursts; }
    bool w_ready() const { return !write_bursts_.empty() && controller_.write_room() >= accesses_; }
    bool ar_ready() const { return read_bursts_.size() < settings_.bursts; }
    bool b_valid() const { return !answers_.empty() && answers_.front() <= cycle_; }
    bool r_valid() const { return !beats_.empty() && beats_.front().left == 0 && beats_.front().ready <= cycle_; }

    void take_aw(std::uint64_t address, std::uint32_t beats) { write_bursts_.push_back({address, beats}); }
    void take_w();
    void take_ar(std::uint64_t address, std::uint32_t beats) { read_bursts_.push_back({address, beats}); }
    void give_b() { answers_.pop_front(); }
    void give_r() {
        beats_.pop_front();
        ++given_;
    }
    const DramCounts& counts() const { return controller_.counts(); }
    void log_to(std::vector<DramController::Command>* log) { controller_.log_to(log); }

  private:
    static constexpr std::uint32_t kBeatBytes = 64;
    struct Burst {
        std::uint64_t address;
        std::uint32_t beats;  // that are still to come
    };
    struct Beat {
        std::uint32_t left;  // accesses of which the data has not come
        std::int64_t ready;
    };

    void collect();
    std::int64_t cycle_of(std::int64_t tick) const;

    DramSettings settings_;
    std::uint32_t accesses_;  // of a beat
    DramController controller_;
    std::int64_t cycle_ = -1;
    std::deque<Burst> write_bursts_, read_bursts_;
    std::deque<Beat> beats_;
    std::uint64_t given_ = 0;  // beats before the front one
    std::deque<std::int64_t> answers_;
    bool beat_in_ = false;  // a beat was taken in this cycle, and goes to the controller in the next one
    std::uint64_t beat_address_ = 0;
};

}  // namespace penstock::engine
