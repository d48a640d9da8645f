// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_fq_hosts: what a flow gets for a turn where hosts share a queue first.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "fq_map.hpp"

namespace penstock {

using FqHosts = std::array<std::uint32_t, 2>;  // of a flow: its source's and its destination's

// A packet's bucket and hosts in one word.
struct FqHashes {
    static constexpr std::uint32_t kSourceAt = 10, kDestinationAt = 20, kMostHost = 1023;

    static std::uint32_t pack(std::uint32_t bucket, const FqHosts& hosts) {
        return bucket | hosts[0] << kSourceAt | hosts[1] << kDestinationAt;
    }
    static std::uint32_t bucket(std::uint32_t word) { return word & ((1u << kSourceAt) - 1); }
    static FqHosts hosts(std::uint32_t word) { return {word >> kSourceAt & kMostHost, word >> kDestinationAt & kMostHost}; }
};

class FqHostShares {
  public:
    static constexpr std::uint32_t kMostFlows = 63;   // more flows of a host count as this
    static constexpr std::uint32_t kLeastGrant = 16;  // bytes, or the quantum

    explicit FqHostShares(const FqSizes& s)
        : bits_(s.host_bits), clear_(bits_ ? s.queues << bits_ : 0), words_(bits_ ? s.flows : 0), grants_(bits_ ? s.flows : 0) {
        for (auto& side : counts_) side.resize(clear_);
    }

    void reset() {
        words_.assign(words_.size(), {});
        for (auto& side : counts_) side.assign(side.size(), 0);
        waiting_.clear();
    }

    std::uint32_t clear_cycles() const { return clear_; }

    // Before anything else in a cycle: grants that are there now.
    void begin(std::uint64_t now) {
        for (; !waiting_.empty() && waiting_.front().due <= now; waiting_.pop_front())
            grants_[waiting_.front().flow] = waiting_.front().grant;
    }

    std::uint32_t grant(std::uint32_t flow, std::uint32_t quantum) const { return bits_ ? grants_[flow] : quantum; }

    // The flow comes to the new list.
    void append(std::uint64_t now, std::uint32_t queue, std::uint32_t flow, const FqHosts& hosts, std::uint32_t quantum,
                std::uint32_t sides) {
        if (!bits_) return;
        for (std::size_t s = 0; s < 2; s++) words_[flow].hosts[s] = hosts[s] & ((1u << bits_) - 1);
        words_[flow].bulk = false;
        divide(now, queue, flow, quantum, sides);
    }

    // Its credits were used up.
    void spent(std::uint64_t now, std::uint32_t queue, std::uint32_t flow, std::uint32_t quantum, std::uint32_t sides) {
        if (!bits_) return;
        if (!words_[flow].bulk) count(queue, flow, 1);
        words_[flow].bulk = true;
        divide(now, queue, flow, quantum, sides);
    }

    // It leaves the old list.
    void remove(std::uint32_t queue, std::uint32_t flow) {
        if (!bits_) return;
        if (words_[flow].bulk) count(queue, flow, -1);
        words_[flow].bulk = false;
    }

  private:
    struct Word {
        bool bulk = false;
        FqHosts hosts{};
    };
    struct Waiting {
        std::uint64_t due = 0;
        std::uint32_t flow = 0, grant = 0;
    };

    std::size_t place(std::uint32_t queue, std::uint32_t flow, std::size_t side) const {
        return std::size_t{queue} << bits_ | words_[flow].hosts[side];
    }

    void count(std::uint32_t queue, std::uint32_t flow, int by) {
        for (std::size_t s = 0; s < 2; s++) counts_[s][place(queue, flow, s)] += static_cast<std::uint32_t>(by);
    }

    void divide(std::uint64_t now, std::uint32_t queue, std::uint32_t flow, std::uint32_t quantum, std::uint32_t sides) {
        std::uint32_t most = 1;
        for (std::size_t s = 0; s < 2; s++) {
            if (sides >> s & 1) most = std::max(most, counts_[s][place(queue, flow, s)]);
        }
        const std::uint64_t part = 65536 / std::min(most, kMostFlows);
        waiting_.push_back(
            {now + fq_timing::kGrant, flow, std::max(std::min(quantum, kLeastGrant), static_cast<std::uint32_t>(quantum * part >> 16))});
    }

    std::uint32_t bits_, clear_;
    std::vector<Word> words_;
    std::vector<std::uint32_t> grants_;
    std::array<std::vector<std::uint32_t>, 2> counts_;
    std::deque<Waiting> waiting_;
};

}  // namespace penstock
