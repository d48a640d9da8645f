// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Lateness of the frames of a run: from a frame's first bit at the ideal server to its first bit at the device's output, rounded up to
// cycles, 0 when the device was earlier. Both servers get a frame when the device's queue manager takes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "designs/access_edge/model/ideal_server.hpp"

namespace penstock {

class Lateness {
  public:
    // Frames that leave before cycle `from` are not counted. The device was reset `age` cycles ago, when its time stamps began.
    // `tolerance`: of the shapers, cycles.
    Lateness(std::vector<uint64_t> shapers, const LinkClock& link, int64_t from, int64_t age, int64_t tolerance)
        : ideal_(std::move(shapers), link, IdealServer::Time{-age} * (1 << Shaper::kFraction), tolerance), from_(from) {}

    // The queue took frame `id`; cycles do not decrease.
    void enqueued(int64_t cycle, uint32_t queue, uint32_t id, uint32_t len) {
        advance(cycle);
        if (id >= waiting_.size()) waiting_.resize(id + 1, kNone);
        waiting_[id] = ideal_.enqueued(cycle, queue, len);
    }

    // Frame `id` left. False: before its earliest departure time.
    bool departed(int64_t first_bit, uint32_t id) {
        advance(first_bit);
        const uint32_t at_ideal = std::exchange(waiting_[id], kNone);
        const IdealServer::Packet packet = ideal_.packet(at_ideal);
        ideal_.release(at_ideal);
        if (first_bit >= from_) ++counts_[packet.start == IdealServer::kNotYet ? 0 : late(packet, first_bit)];
        return first_bit >= packet.earliest;
    }

    // The run ends: frames whose time had come and that did not leave are late by as much as has been seen of it.
    void close(int64_t cycle) {
        advance(cycle);
        for (const uint32_t at_ideal : waiting_) {
            if (at_ideal == kNone) continue;
            const IdealServer::Packet& packet = ideal_.packet(at_ideal);
            if (packet.start != IdealServer::kNotYet && late(packet, cycle) > 0) ++counts_[late(packet, cycle)], ++left_;
        }
    }

    // How many frames were late by how many cycles.
    const std::map<int64_t, uint64_t>& counts() const { return counts_; }
    // How many of them had not left at the end.
    uint64_t left() const { return left_; }

  private:
    void advance(int64_t cycle) {
        now_ = std::max(now_, cycle);
        ideal_.advance(now_);
    }
    int64_t late(const IdealServer::Packet& packet, int64_t cycle) const {
        const LinkClock& link = ideal_.link();
        return link.cycles_up(link.units(cycle) - packet.start);
    }

    IdealServer ideal_;
    std::vector<uint32_t> waiting_;  // frames in the device by id: what the ideal server knows them by
    std::map<int64_t, uint64_t> counts_;
    int64_t from_, now_ = 0;
    uint64_t left_ = 0;
};

}  // namespace penstock
