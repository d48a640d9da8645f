// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The FIFO of the MAC in front of an input: frames that the device has not taken wait in it, and one that finds no room is lost, whole.
#pragma once

#include <cstdint>
#include <deque>

namespace penstock::engine {

struct LostFrames {
    std::uint64_t packets = 0, bytes = 0;

    LostFrames& operator+=(const LostFrames& other) {
        packets += other.packets;
        bytes += other.bytes;
        return *this;
    }
};

class IngressFifo {
  public:
    // `bytes`: what it holds, without heads; 0: without end.
    explicit IngressFifo(std::uint32_t bytes) : capacity_(bytes) {}

    bool bounded() const { return capacity_ != 0; }
    void restart() { *this = IngressFifo(capacity_); }
    // Whether a frame finds room, the last bit of which comes in cycle `cycle`; if not it is counted as lost. In the order of arrival, when
    // of all frames before it is known when they are taken. A frame takes its room until its last beat has been taken.
    bool takes(std::int64_t cycle, std::uint32_t length) {
        if (capacity_ == 0) return true;
        while (!waiting_.empty() && waiting_.front().taken <= cycle) {
            held_ -= waiting_.front().length;
            waiting_.pop_front();
        }
        if (held_ + length <= capacity_) return true;
        ++lost_.packets;
        lost_.bytes += length;
        return false;
    }
    // The last beat of the frame that was let in last is taken in cycle `cycle`.
    void taken(std::int64_t cycle, std::uint32_t length) {
        if (capacity_ == 0) return;
        waiting_.push_back({cycle, length});
        held_ += length;
    }
    const LostFrames& lost() const { return lost_; }

  private:
    struct Waiting {
        std::int64_t taken;
        std::uint32_t length;
    };
    std::uint32_t capacity_, held_ = 0;
    std::deque<Waiting> waiting_;
    LostFrames lost_;
};

}  // namespace penstock::engine
