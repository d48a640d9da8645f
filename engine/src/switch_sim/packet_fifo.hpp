// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A FIFO of packets that grows by doubling up to its limit: nothing is allocated once it has seen its longest backlog.
#pragma once

#include <cstdint>
#include <memory>

namespace penstock::switch_sim {

constexpr std::uint32_t kUnlimited = 0xFFFF'FFFF;  // depth of a FIFO without limit

// A waiting packet in one word: its slot of arrival, and its source.
class Packet {
  public:
    Packet() = default;
    Packet(std::uint64_t slot, unsigned source) : word_(slot << 8 | source) {}
    std::uint64_t slot() const { return word_ >> 8; }
    unsigned source() const { return word_ & 0xFF; }

  private:
    std::uint64_t word_;
};

class PacketFifo {
  public:
    PacketFifo() : packets_(std::make_unique_for_overwrite<Packet[]>(kFirst)) {}

    std::uint32_t size() const { return tail_ - head_; }
    bool empty() const { return tail_ == head_; }
    void push(Packet packet) {
        if (size() > mask_) [[unlikely]]
            grow();
        packets_[tail_++ & mask_] = packet;
    }
    Packet pop() { return packets_[head_++ & mask_]; }

  private:
    static constexpr std::uint32_t kFirst = 16;

    void grow() {
        const std::uint32_t held = size();
        auto larger = std::make_unique_for_overwrite<Packet[]>(2 * held);
        for (std::uint32_t place = 0; place < held; ++place) larger[place] = packets_[(head_ + place) & mask_];
        packets_ = std::move(larger);
        mask_ = 2 * held - 1;
        head_ = 0;
        tail_ = held;
    }

    std::unique_ptr<Packet[]> packets_;
    std::uint32_t mask_ = kFirst - 1, head_ = 0, tail_ = 0;  // head and tail count on and wrap
};

}  // namespace penstock::switch_sim
