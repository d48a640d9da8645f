// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A deadline port as a job describes it (key `device`), and what its device tells the engine besides its events.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "penstock/engine/amount.hpp"

namespace penstock::engine {

inline constexpr std::uint8_t kDropMissed = 12;  // as designs/deadline_port/contract.yaml has it
inline constexpr std::uint8_t kNoPageReason = static_cast<std::uint8_t>(Drop::NoPage),
                              kReadErrorReason = static_cast<std::uint8_t>(Drop::ReadError);

struct DeadlinePortSettings {
    std::string library;  // empty: the model
    std::uint32_t classes = 2;
    bool class_from_user = false, fifo = false;
    bool any_class = false;  // a frame may be of another class than its source says
    std::uint32_t chunk_bytes = 4096, chunks = 4096, places = 4, lines = 16, reads = 16, writes = 16, decided = 4;
    std::uint32_t min_frame_bytes = 60, max_frame_bytes = 1522, store_beats = 512;
    std::uint32_t tick_cycles = 3662, stamps = 64, default_cycles = 100'000;
    std::uint32_t columns = 1;  // of the wide port; `chunks` are those of all of them
    std::uint32_t run_frames = 16, deal_rows = 4096, deal_lists = 1024, deal_records = 512, gather_rows = 4096,
                  gather_ahead = 0;  // of it alone
};

// Frames that were skipped or lost, as the device has told, but not yet which ones: of each class.
struct HeldBack {
    Amount missed, lost;
};

// What stands between a device, whatever makes it, and the kind that judges it.
struct DeadlineBook {
    static constexpr std::int64_t kNone = INT64_MAX;

    std::int64_t deadline = 0;  // of the frame that the observer is told of next (Observer::enqueued), an absolute cycle
    // When the line had brought the oldest frame that the device has and the observer has not been told of; younger ones may be told first.
    std::int64_t awaited = kNone;
    std::vector<HeldBack> held;      // by class; empty: nothing is ever held back
    std::uint64_t wrong = 0;         // findings,
    std::vector<std::string> words;  // the first of them in words

    void finding(std::int64_t cycle, const std::string& what) {
        ++wrong;
        if (words.size() < 16) words.push_back("cycle " + std::to_string(cycle) + ": " + what);
    }

    // The first beat of a frame is offered; they leave in this order.
    void begins(std::uint64_t number, std::int64_t cycle) {
        if (begun.size() == kMostBegun) begun.pop_front();  // nobody asks
        begun.emplace_back(number, cycle);
    }
    // When that of a frame was, which leaves now.
    std::int64_t began(std::uint64_t number) {
        bool found = false;
        while (!begun.empty() && !found) {
            found = begun.front().first == number;
            last = begun.front().second;
            begun.pop_front();
        }
        return last;
    }

    static constexpr std::size_t kMostBegun = 64;  // a word has a few segments
    std::deque<std::pair<std::uint64_t, std::int64_t>> begun;
    std::int64_t last = 0;
};

}  // namespace penstock::engine
