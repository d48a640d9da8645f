// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// When the packet memories take and give data: rx handler, memory fabric, memories, tx handler without their data.
//
// Everything on these ways is a FIFO in order. So each step's cycle follows from the steps before it: a word leaves one cycle after it came
// at the earliest, one a cycle, and enters a FIFO of depth d one cycle after the d-th before it left. These recurrences are exact; nothing
// is stepped cycle by cycle. The names are those of the RTL (blocks/memory/rtl). That needs memories of which it is known beforehand when
// they answer: ideal ones without gaps. stepped_memory.hpp has all others.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "penstock/engine/frame.hpp"
#include "penstock/engine/memory_model.hpp"

namespace penstock::engine {

// Depths and latencies of blocks/memory/rtl; a change there is a change here.
namespace memory_timing {
inline constexpr unsigned kOutstanding = 64;  // MaxOutstanding, unless said: frames and bursts under way in each direction
inline constexpr unsigned kLeastOutstanding = 2, kMostOutstanding = 512;
inline constexpr unsigned kSkid = 2;         // words in a pst_skid_buffer, and in the handlers' address FIFOs
inline constexpr unsigned kJobs = 4;         // bursts whose data is still to be sent (pst_rx_handler)
inline constexpr unsigned kEnqueues = 4;     // frames that are stored, and have not been taken from the rx handler
inline constexpr unsigned kRefused = 2;      // pages that the rx handler gives back, as the memory has refused their frames
inline constexpr unsigned kFreed = 4;        // pages that the tx handler gives back, and that have not been taken
inline constexpr unsigned kPortBeats = 32;   // data FIFO of the fabric at each memory
inline constexpr unsigned kPortBursts = 16;  // address FIFO of the fabric at each memory
inline constexpr unsigned kBeatBytes = 64;
inline constexpr unsigned kBoundaryBeats = 64;  // no burst crosses 4 KiB
}  // namespace memory_timing

// The cycles of the last `depth` events of a kind, `Most` of them at most; before the first ones: long ago.
template <unsigned Most>
class Past {
  public:
    explicit Past(unsigned depth = Most) : depth_(depth) { cycles_.fill(INT64_MIN / 2); }
    // The depth-th event before the next one.
    std::int64_t oldest() const { return cycles_[(at_ - depth_) % Most]; }
    std::int64_t last() const { return cycles_[(at_ - 1) % Most]; }
    void push(std::int64_t cycle) { cycles_[at_++ % Most] = cycle; }

  private:
    static_assert((Most & (Most - 1)) == 0);
    std::array<std::int64_t, Most> cycles_;
    unsigned at_ = 0, depth_;
};

struct PageLayout {
    std::uint64_t memory_base = 0;  // byte address of the memory in the whole range
    std::uint32_t page_bytes = 0, first_descriptor = 0;
};

// One ideal memory, as in memory_model.hpp.
struct MemoryTimes {
    MemorySettings settings;
    Past<memory_timing::kPortBursts> ar;
    Past<memory_timing::kPortBeats> x;    // read data taken from the port
    std::int64_t answer = INT64_MIN / 2;  // last write response
    std::int64_t given = INT64_MIN / 2;   // last beat of read data
    MemoryCounts counts;
};

// The three stages of pst_burst_splitter.
struct SplitterTimes {
    std::int64_t page_left = INT64_MIN / 2, start_left = INT64_MIN / 2, burst_left = INT64_MIN / 2;

    // A frame that enters in cycle `in` (at the earliest page_left): its first burst is offered from the returned cycle on.
    std::int64_t enter(std::int64_t in) {
        page_left = std::max(in + 1, start_left);
        start_left = std::max(page_left + 1, burst_left);
        return start_left + 1;
    }
};

class WriteTimes {
  public:
    // outstanding: frames, and bursts, under way at most.
    WriteTimes(std::vector<MemoryTimes>& memories, const std::vector<PageLayout>& layout, unsigned outstanding)
        : memories_(memories), layout_(layout), frames_(outstanding), bursts_(outstanding) {}

    // When a grant that is there from `from` on is taken.
    std::int64_t grant(std::int64_t from) const { return std::max({from, frames_.oldest() + 1, splitter_.page_left}); }

    // Stores a frame whose grant is taken in cycle `granted`. memory < 0: there was no page. beat_taken(cycle): one of its beats is taken
    // from the input buffer. Returns the first cycle in which its enqueue is offered.
    template <typename BeatTaken>
    std::int64_t store(std::int64_t granted, int memory, std::uint32_t descriptor, std::uint32_t length, BeatTaken&& beat_taken);

  private:
    std::vector<MemoryTimes>& memories_;
    const std::vector<PageLayout>& layout_;
    SplitterTimes splitter_;
    Past<memory_timing::kMostOutstanding> frames_, bursts_;  // answered
    Past<memory_timing::kJobs> jobs_;                        // last beat taken
    std::int64_t beat_ = INT64_MIN / 2;                      // last beat taken from the input buffer
    std::int64_t answered_ = INT64_MIN / 2;                  // last burst's answer taken
};

class ReadTimes {
  public:
    ReadTimes(std::vector<MemoryTimes>& memories, const std::vector<PageLayout>& layout, unsigned outstanding)
        : memories_(memories), layout_(layout), frames_(outstanding), bursts_(outstanding) {}

    // From which cycle on a frame is taken from the queues.
    std::int64_t ready_from() const { return std::max(frames_.oldest() + 1, splitter_.page_left); }
    bool ready(std::int64_t now) const { return now >= ready_from(); }

    // Fetches and sends a frame taken in cycle `now`. send(cycle, bytes, last): a beat is there from `cycle` on; returns when it is sent.
    // Returns the cycle in which the page has been read.
    template <typename Send>
    std::int64_t fetch(std::int64_t now, int memory, std::uint32_t descriptor, std::uint32_t length, Send&& send);

  private:
    std::vector<MemoryTimes>& memories_;
    const std::vector<PageLayout>& layout_;
    SplitterTimes splitter_;
    Past<memory_timing::kMostOutstanding> frames_, bursts_;  // last beat taken by the tx handler; by the fabric's output
    Past<memory_timing::kSkid> address_, route_, y_, z_;
    std::int64_t x_ = INT64_MIN / 2;
};

// First line (64 bytes) of a page, in the whole range.
inline std::uint64_t first_line(const PageLayout& layout, std::uint32_t descriptor) {
    return (layout.memory_base + std::uint64_t{descriptor - layout.first_descriptor} * layout.page_bytes) / memory_timing::kBeatBytes;
}

template <typename BeatTaken>
std::int64_t WriteTimes::store(std::int64_t granted, int memory, std::uint32_t descriptor, std::uint32_t length, BeatTaken&& beat_taken) {
    using namespace memory_timing;
    std::uint32_t beats = (length + kBeatBytes - 1) / kBeatBytes;
    std::uint64_t line = memory < 0 ? 0 : first_line(layout_[memory], descriptor);
    std::int64_t offered = splitter_.enter(granted);
    while (true) {
        const auto room = static_cast<std::uint32_t>(kBoundaryBeats - line % kBoundaryBeats);
        const std::uint32_t burst = memory < 0 ? beats : std::min(beats, room);
        const std::int64_t taken = std::max({offered, jobs_.oldest() + 1, bursts_.oldest() + 1});
        std::int64_t answer = taken;  // without a page: from the next cycle on
        if (memory < 0) {
            for (std::uint32_t b = 0; b < burst; ++b) {
                beat_ = std::max(beat_ + 1, taken + 1);
                beat_taken(beat_);
            }
        } else {
            // Nothing ever waits behind the handler's data: a beat is at its memory three cycles later.
            MemoryTimes& m = memories_[memory];
            for (std::uint32_t b = 0; b < burst; ++b) {
                beat_ = std::max(beat_ + 1, taken + 1);
                beat_taken(beat_);
            }
            m.answer = answer = std::max(beat_ + 3 + m.settings.write_latency, m.answer + 1);
            ++m.counts.write_bursts;
            m.counts.write_beats += burst;
        }
        jobs_.push(beat_);
        splitter_.burst_left = taken;
        answered_ = std::max(answer + 1, answered_ + 1);
        bursts_.push(answered_);
        beats -= burst;
        line += burst;
        if (beats == 0) break;
        offered = taken + 1;
    }
    frames_.push(answered_);
    if (memory >= 0) ++memories_[memory].counts.frames;
    return answered_ + 1;
}

template <typename Send>
std::int64_t ReadTimes::fetch(std::int64_t now, int memory, std::uint32_t descriptor, std::uint32_t length, Send&& send) {
    using namespace memory_timing;
    MemoryTimes& m = memories_[memory];
    std::uint32_t beats = (length + kBeatBytes - 1) / kBeatBytes;
    std::uint64_t line = first_line(layout_[memory], descriptor);
    std::int64_t offered = splitter_.enter(now);
    std::int64_t y = y_.last();
    while (beats) {
        const std::uint32_t burst = std::min(beats, static_cast<std::uint32_t>(kBoundaryBeats - line % kBoundaryBeats));
        const std::int64_t taken = std::max(offered, address_.oldest() + 1);
        const std::int64_t address = std::max({taken + 1, address_.last() + 1, route_.oldest() + 1});
        const std::int64_t routed = std::max({address + 1, route_.last() + 1, bursts_.oldest() + 1, m.ar.oldest() + 1});
        const std::int64_t ar = std::max(routed + 1, m.ar.last() + 1);
        address_.push(address);
        route_.push(routed);
        m.ar.push(ar);
        const std::int64_t first = ar + m.settings.read_latency;
        for (std::uint32_t b = 0; b < burst; ++b) {
            m.given = std::max({first, m.given + 1, m.x.oldest() + 1});
            x_ = std::max({m.given + 1, x_ + 1, y_.oldest() + 1});
            m.x.push(x_);
            y = std::max({x_ + 1, y_.last() + 1, z_.oldest() + 1});
            y_.push(y);
            const bool last = b + 1 == beats;
            z_.push(send(std::max(y + 1, z_.last() + 1), last ? length - (length - 1) / kBeatBytes * kBeatBytes : kBeatBytes, last));
        }
        ++m.counts.read_bursts;
        m.counts.read_beats += burst;
        bursts_.push(x_);
        splitter_.burst_left = taken;
        beats -= burst;
        line += burst;
        offered = taken + 1;
    }
    frames_.push(y);
    return y;
}

}  // namespace penstock::engine
