// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A deadline port as a job describes it (key `device`), and what its device tells the engine besides its events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/engine/amount.hpp"

namespace penstock::engine {

inline constexpr std::uint8_t kDropMissed = 12;  // as designs/deadline_port/contract.yaml has it

struct DeadlinePortSettings {
    std::string library;  // empty: the model
    std::uint32_t classes = 2;
    bool class_from_user = false, fifo = false;
    bool any_class = false;  // a frame may be of another class than its source says
    std::uint32_t chunk_bytes = 4096, chunks = 4096, places = 4, lines = 16, reads = 16, writes = 16, decided = 4;
    std::uint32_t min_frame_bytes = 60, max_frame_bytes = 1522, store_beats = 512;
    std::uint32_t tick_cycles = 3662, stamps = 64, default_cycles = 100'000;
};

// Frames that were skipped or lost, as the device has told, but not yet which ones: of each class.
struct HeldBack {
    Amount missed, lost;
};

// What stands between a device, whatever makes it, and the kind that judges it.
struct DeadlineBook {
    std::int64_t deadline = 0;       // of the frame that the observer is told of next (Observer::enqueued), an absolute cycle
    std::int64_t began = 0;          // cycle in which the first beat of the frame that leaves was offered
    std::vector<HeldBack> held;      // by class; empty: nothing is ever held back
    std::uint64_t wrong = 0;         // findings,
    std::vector<std::string> words;  // the first of them in words

    void finding(std::int64_t cycle, const std::string& what) {
        ++wrong;
        if (words.size() < 16) words.push_back("cycle " + std::to_string(cycle) + ": " + what);
    }
};

}  // namespace penstock::engine
