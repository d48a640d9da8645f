// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bytes of frames that are on their way through a device: until each copy of a frame has had its fate, and for a while longer: a
// measurement compares with those that left last, however many were dropped since, and a frame may be dropped before its next copy comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace penstock::engine {

template <typename Own>  // what the owner knows of a frame besides
class KeptFrames {
  public:
    struct Kept {
        std::vector<std::uint8_t> bytes;  // stay where they are until the frame is forgotten
        Own own;
        std::uint32_t copies = 0;  // that have arrived and had no fate yet
        std::uint32_t recent = 0;  // that are among the last ones that left, or were dropped
    };

    Kept& add(std::uint64_t number, std::vector<std::uint8_t> bytes, Own own = {}) {
        return kept_.emplace(number, Kept{std::move(bytes), std::move(own)}).first->second;
    }
    // Null for a frame that is not here: the device has made it, or its last copy has had its fate.
    Kept* find(std::uint64_t number) {
        const auto found = kept_.find(number);
        return found == kept_.end() ? nullptr : &found->second;
    }
    // The frame has arrived, or a copy of it.
    void arrived(std::uint64_t number) {
        if (Kept* kept = find(number)) ++kept->copies;
    }
    // The frame has had its fate, or a copy of it: it has left, or was dropped.
    void fate(std::uint64_t number, bool left) {
        Kept* kept = find(number);
        if (!kept) return;
        if (kept->copies) --kept->copies;
        ++kept->recent;
        std::deque<std::uint64_t>& last = left ? left_ : dropped_;
        last.push_back(number);
        if (last.size() <= kLonger) return;
        const auto oldest = kept_.find(last.front());
        last.pop_front();
        if (oldest != kept_.end() && --oldest->second.recent == 0 && oldest->second.copies == 0) kept_.erase(oldest);
    }
    // The frame never came to the device.
    void lost(std::uint64_t number) { kept_.erase(number); }
    std::size_t size() const { return kept_.size(); }

  private:
    static constexpr std::size_t kLonger = 64;  // more than a measurement remembers of those that left last

    std::unordered_map<std::uint64_t, Kept> kept_;  // by number
    std::deque<std::uint64_t> left_, dropped_;      // the last ones, oldest first
};

}  // namespace penstock::engine
