// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bytes of frames that are on their way through a device: until each copy of a frame has had its fate, and for a while longer, since the
// measurement compares with those that left last.
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
    // The frame has had its fate, or a copy of it.
    void fate(std::uint64_t number) {
        Kept* kept = find(number);
        if (!kept || --kept->copies) return;
        forgotten_.push_back(number);
        if (forgotten_.size() <= kLonger) return;
        kept_.erase(forgotten_.front());
        forgotten_.pop_front();
    }
    // The frame never came to the device.
    void lost(std::uint64_t number) { kept_.erase(number); }
    std::size_t size() const { return kept_.size(); }

  private:
    static constexpr std::size_t kLonger = 64;  // more than a measurement remembers of those that left last

    std::unordered_map<std::uint64_t, Kept> kept_;  // by number
    std::deque<std::uint64_t> forgotten_;
};

}  // namespace penstock::engine
