// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/dram_port.hpp"

#include <algorithm>
#include <stdexcept>

namespace penstock::engine {

namespace {
__extension__ using Wide = __int128;
}

DramPort::DramPort(const DramSettings& settings) : settings_(settings), accesses_(0), controller_(settings) {
    if (settings.access_bytes == 0 || kBeatBytes % settings.access_bytes != 0)
        throw std::invalid_argument("an access to DRAM must be a part of 64 bytes");
    accesses_ = kBeatBytes / settings.access_bytes;
    if (settings.ticks == 0 || settings.per_cycles == 0) throw std::invalid_argument("the clock of a DRAM must run");
    if (settings.read_queue < accesses_ || settings.write_queue < accesses_ || settings.bursts == 0 || settings.reorder_beats == 0)
        throw std::invalid_argument("the queues of a DRAM's port must hold something");
    if (settings.write_latency == 0) throw std::invalid_argument("a DRAM's write latency must be a cycle at least");
}

// The first cycle that does not begin before `tick`.
std::int64_t DramPort::cycle_of(std::int64_t tick) const {
    const auto ticks = static_cast<Wide>(settings_.ticks);
    return static_cast<std::int64_t>((static_cast<Wide>(tick) * settings_.per_cycles + ticks - 1) / ticks);
}

void DramPort::collect() {
    for (const DramController::Done& done : controller_.done()) {
        Beat& beat = beats_[done.token - given_];
        --beat.left;
        beat.ready = std::max(beat.ready, cycle_of(done.tick) + settings_.read_latency);
    }
    controller_.done().clear();
}

void DramPort::step() {
    ++cycle_;
    const auto tick = static_cast<std::int64_t>(static_cast<Wide>(cycle_) * settings_.ticks / settings_.per_cycles);
    controller_.advance(tick);
    if (beat_in_) {
        for (std::uint32_t a = 0; a < accesses_; ++a) controller_.write(beat_address_ + std::uint64_t{a} * settings_.access_bytes, tick);
        beat_in_ = false;
    }
    if (!read_bursts_.empty() && beats_.size() < settings_.reorder_beats && controller_.read_room() >= accesses_) {
        Burst& burst = read_bursts_.front();
        const std::uint64_t token = given_ + beats_.size();
        beats_.push_back({accesses_, 0});
        for (std::uint32_t a = 0; a < accesses_; ++a)
            controller_.read(burst.address + std::uint64_t{a} * settings_.access_bytes, token, tick);
        burst.address += kBeatBytes;
        if (--burst.beats == 0) read_bursts_.pop_front();
    }
    if (!controller_.done().empty()) collect();
}

void DramPort::step_to(std::int64_t cycle) {
    while (cycle_ < cycle) {
        if (idle()) cycle_ = cycle - 1;  // refreshes are caught up with
        step();
    }
}

void DramPort::take_w() {
    Burst& burst = write_bursts_.front();
    beat_in_ = true;
    beat_address_ = burst.address;
    burst.address += kBeatBytes;
    if (--burst.beats != 0) return;
    write_bursts_.pop_front();
    answers_.push_back(std::max(cycle_ + settings_.write_latency, answers_.empty() ? 0 : answers_.back() + 1));
}

}  // namespace penstock::engine
